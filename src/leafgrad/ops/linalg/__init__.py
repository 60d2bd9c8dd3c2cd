"""Products of matrices and vectors.

May import what `ops` may.
"""
