"""Recurrent layers over padded and packed sequences, and their cells.

May import what `ops` may.
"""
