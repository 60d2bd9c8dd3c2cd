"""Tensors without data (`device="meta"`): their arrays, and how the form of a result is found without computing it.

May import what `ops` may.
"""
