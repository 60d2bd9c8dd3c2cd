"""The compiled heart: tensors, the graph, the executor that runs every kernel, the modes, the engine.

Imports only `kernels` and `_dtypes`. Files named in `HOT_MODULES` of setup.py are compiled by mypyc as they stand.
"""
