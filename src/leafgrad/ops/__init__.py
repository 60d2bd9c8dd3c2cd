"""The operations. Importing this package registers those that tensors have. Losses and `embedding` are functions of
`nn.functional` alone and are registered when that is imported, so that `import leafgrad` need not wait for them."""

from typing import Any

from leafgrad.ops import (
    comparison,
    complexes,
    convert,
    division,
    elementwise,
    extremes,
    fill,
    gathering,
    grids,
    index_reading,
    indexing,
    inplace,
    joining,
    linalg,
    masking,
    norms,
    ordering,
    overwriting,
    powers,
    promotion,
    reducing,
    reducing_scatter,
    reductions,
    reshaping,
    rounding,
    scattering,
    select,
    slicing,
    softmax,
    statistics,
    striding,
    views,
)

__all__ = [
    "comparison",
    "complexes",
    "convert",
    "division",
    "elementwise",
    "extremes",
    "fill",
    "gathering",
    "grids",
    "index_reading",
    "indexing",
    "inplace",
    "joining",
    "linalg",
    "masking",
    "norms",
    "ordering",
    "overwriting",
    "powers",
    "promotion",
    "reducing",
    "reducing_scatter",
    "reductions",
    "reshaping",
    "rounding",
    "scattering",
    "select",
    "slicing",
    "softmax",
    "statistics",
    "striding",
    "views",
]


def __getattr__(name: str) -> Any:
    if name == "aten":  # PyTorch's names for them; imported when first asked for
        from importlib import import_module

        return import_module("leafgrad.ops.aten")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
