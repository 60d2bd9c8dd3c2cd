"""Layers that give numbers the mean 0 and the variance 1, as functions.

May import what `ops` may.
"""
