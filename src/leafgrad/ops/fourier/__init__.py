"""Discrete Fourier transforms along any dimensions.

May import what `ops` may.
"""
