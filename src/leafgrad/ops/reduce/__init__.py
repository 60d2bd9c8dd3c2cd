"""Operations over dimensions: sums, extremes, statistics, norms, sorting, softmax.

May import what `ops` may.
"""
