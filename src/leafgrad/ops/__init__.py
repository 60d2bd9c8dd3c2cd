"""The operations. Importing this package registers those that tensors have. Losses and `embedding` are functions of
`nn.functional` alone and are registered when that is imported, so that `import leafgrad` need not wait for them.

May import `_core`, `kernels`, `errors`, `_dtypes`, `_device`, `_layouts` and `return_types`; inside functions also
`func`, for random numbers inside vmap. Never the engine.
"""

from typing import Any

from leafgrad.ops import inplace, promotion
from leafgrad.ops.index import gather, getitem, masks, overwrite, parse, scatter, scatter_reduce, slices
from leafgrad.ops.linalg import affine, products
from leafgrad.ops.pointwise import comparison, complex, convert, division, elementwise, fill, powers, select
from leafgrad.ops.reduce import common, extremes, norms, ordering, reductions, softmax, statistics
from leafgrad.ops.shape import arrange, grids, join, resize, strides, views


def __getattr__(name: str) -> Any:
    if name == "aten":  # PyTorch's names for them; imported when first asked for
        from importlib import import_module

        return import_module("leafgrad.ops.aten")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
