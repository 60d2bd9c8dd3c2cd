"""Linear algebra: products of matrices and vectors, decompositions, systems of equations, norms, distances.

May import what `ops` may.
"""
