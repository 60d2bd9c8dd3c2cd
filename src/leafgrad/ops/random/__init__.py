"""Random numbers: generators, distributions on arrays, and the functions on tensors.

May import what `ops` may.
"""
