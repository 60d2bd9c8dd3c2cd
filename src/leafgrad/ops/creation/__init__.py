"""Making tensors: from data, of a shape, in a range.

May import what `ops` may.
"""
