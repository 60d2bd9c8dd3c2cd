"""Sparse tensors: their arrays, the operations on them, and which public functions have a sparse form.

May import what `ops` may.
"""
