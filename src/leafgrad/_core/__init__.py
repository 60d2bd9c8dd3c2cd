"""The compiled core: tensors, the graph, the executor that runs every kernel, modes, the backward engine.

May import `kernels`, `_dtypes` and `_build`; inside functions also `errors`, to explain a failure. Files named in
`HOT_MODULES` of setup.py are compiled by mypyc as they stand.
"""
