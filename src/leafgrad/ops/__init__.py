"""The operations. Importing this package registers all of them."""

from leafgrad.ops import (
    convert,
    elementwise,
    fill,
    indexing,
    inplace,
    joining,
    linalg,
    losses,
    promotion,
    reductions,
    select,
    softmax,
    views,
)

__all__ = [
    "convert",
    "elementwise",
    "fill",
    "indexing",
    "inplace",
    "joining",
    "linalg",
    "losses",
    "promotion",
    "reductions",
    "select",
    "softmax",
    "views",
]
