"""Reading and writing some of the elements: indexing, gather and scatter, masks.

May import what `ops` may.
"""
