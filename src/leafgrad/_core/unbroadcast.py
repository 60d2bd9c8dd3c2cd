"""Bringing a gradient to the form of the value it belongs to. Rules need not think of broadcasting or promotion:
the engine undoes both, here, for all of them."""

from __future__ import annotations

from typing import Any

from leafgrad._core.bind import bind, execute
from leafgrad._core.saved import messages
from leafgrad._core.tensor import OWN_DTYPE, TensorBase, links


def unbroadcast(r: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """Bring a gradient to the form of the value it belongs to: undo broadcasting, and promotion."""
    if isinstance(r, TensorBase):
        return unbroadcast_tensor(r, shape, kind)
    if r.shape != shape:
        r = sum_to(r, shape)
    if r.dtype != kind:
        if r.dtype.kind == "c" and kind.kind != "c":
            r = r.real
        r = r.astype(kind)
    return r


def fitted(leaf: Any, r: Any) -> Any:
    """A gradient in the form of its leaf; None if nobody wants it."""
    kind = leaf.array.dtype
    if leaf.rare is not None and leaf.rare.grad_dtype is not OWN_DTYPE:
        kind = leaf.rare.grad_dtype or r.dtype
    if r.dtype is kind and r.shape == leaf.array.shape:
        return r
    try:
        return unbroadcast(r, leaf.array.shape, kind)
    except RuntimeError:
        if leaf.node is not None:
            raise messages().leaf_in_the_interior(leaf) from None
        if leaf.needs_grad:
            raise
        return None  # it was detached and then reshaped, both in place


def stretched(found: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """The dimensions along which a value of `shape` was copied to get one of the shape `found`."""
    extra = len(found) - len(shape)
    if extra < 0 or any([size != 1 and size != found[extra + i] for i, size in enumerate(shape)]):
        from leafgrad import errors

        raise errors.gradient_of_wrong_shape(found, shape)
    return [i for i, size in enumerate(found) if i < extra or (size != 1 and shape[i - extra] == 1)]


def sum_to(r: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: what was copied along a dimension gets the sum of the gradients of its copies."""
    dims = stretched(r.shape, shape)
    if dims:
        r = execute(links.sum_dim, (r,), (tuple(dims), True))
    return r.reshape(shape) if r.ndim != len(shape) else r


def unbroadcast_tensor(r: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """The same for gradients that are tensors, so that it is recorded."""
    if r.array.shape != shape:
        dims = stretched(r.array.shape, shape)
        if not shape:
            r = r.sum()
        elif dims:
            r = bind(links.sum_dim, (r,), (tuple(dims), True))
        if r.array.ndim != len(shape):
            r = r.view(shape)
    if r.array.dtype != kind:
        if r.array.dtype.kind == "c" and kind.kind != "c":
            r = r.real
        r = r._to_array_dtype(kind)
    return r
