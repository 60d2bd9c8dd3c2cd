"""Sparse tensors from their parts: `sparse_coo_tensor`, `sparse_csr_tensor`, ... and the old constructors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._device import Size, check_device, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from leafgrad._device import layout as layout_class
from leafgrad.ops.creation.from_data import copied
from leafgrad.ops.creation.legacy import TYPES, TensorType
from leafgrad.ops.public_forms import checked_functions
from leafgrad.ops.signature import Device, Dtype, Layout, Shape, Tensor, by_name, declared
from leafgrad.ops.sparse import methods
from leafgrad.ops.sparse.arrays import SparseArray, nothing
from leafgrad.ops.sparse.blocks import apply, sparse_fill
from leafgrad.ops.sparse.layouts import IN_BLOCKS, CompressedArray, Form


class Invariants:
    """Are the parts of new sparse tensors looked at, if a call does not say so?"""

    checked = False


def as_tensor(data: Any, kind: Any = None) -> Any:
    """Values as they were given, with their history, or a list of them."""
    if isinstance(data, TensorBase):
        return data if kind is None or data.array.dtype == kind.np else data.to(kind)  # type: ignore[attr-defined]
    return wrap(copied(data, kind))


def with_option(made: Any, requires_grad: bool) -> Any:
    return made.detach().requires_grad_() if requires_grad else made


@declared(
    "(indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, device: Device | None = "
    "None, "
    "pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None, "
    "is_coalesced: bool | None = None) -> Tensor",
    "(size: Shape, *, dtype: Dtype | None = None, device: Device | None = None, requires_grad: bool = False) -> Tensor",
)
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """sparse_coo_tensor(indices, values, size=None, *, dtype=None, requires_grad=False, is_coalesced=None): a sparse
    tensor that has `values` at `indices`, a row for each sparse dimension. Gradients flow to the values."""
    check_device(device)
    if values is None:
        shape = tuple(indices if size is None else size)
        return with_option(wrap(nothing(shape, (dtype or _dtypes.get_default_dtype()).np)), requires_grad)
    entries = as_tensor(values, dtype)
    places = np.asarray(as_tensor(indices).array, np.int64)
    numbers = entries.array
    if places.ndim != 2:
        raise errors.mistake(RuntimeError, f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if numbers.ndim == 0:
        entries = entries.expand(places.shape[1])
        numbers = entries.array
    if places.shape[1] != numbers.shape[0]:
        raise errors.mistake(
            RuntimeError,
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from values: "
            f"{numbers.shape[0]}",
        )
    shape = inferred_shape(places, numbers) if size is None else tuple([int(n) for n in size])
    if len(shape) != places.shape[0] + numbers.ndim - 1:
        raise errors.mistake(
            RuntimeError,
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{places.shape[0]}, dense_dim = {numbers.ndim - 1}",
        )
    check_places(places, numbers, shape)
    form = SparseArray(places, numbers, shape, bool(is_coalesced))
    if is_coalesced and (check_invariants or Invariants.checked) and (np.diff(form.keys()) <= 0).any():
        first = "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
        raise errors.mistake(RuntimeError, first)
    return with_option(apply(sparse_fill, entries, form), requires_grad)


def zeros_in(name: str, shape: Any, kind: Any, layout: Any, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False, out: Any = None) -> Any:  # fmt: skip
    """zeros and empty in a sparse layout."""
    check_device(device)
    if isinstance(out, TensorBase):
        own = methods.layout_of(out)
        if own is not layout:
            names = methods.NAMES
            raise RuntimeError(f"layout {names[layout]} does not match layout of out parameter ({names[own]})")
        raise errors.mistake(RuntimeError, f"{name}() does not write into a sparse tensor", fix="out.zero_()")
    if name not in ("zeros", "empty"):
        raise errors.mistake(RuntimeError, f"{name}(...) is not implemented for sparse layout", fix=".to_sparse()")
    made = nothing(tuple(shape), kind.np)
    found = made if layout is sparse_coo else Form(layout, len(shape)).of_array(made)
    return with_option(wrap(found), requires_grad)


def inferred_shape(places: Any, numbers: Any) -> tuple[int, ...]:
    """The smallest shape that holds all places."""
    if places.shape[1] == 0 and places.shape[0]:
        return (*(0,) * places.shape[0], *numbers.shape[1:])
    if (places < 0).any():
        dim, at = np.argwhere(places < 0)[0]
        raise errors.mistake(RuntimeError, f"found negative index {places[dim, at]} for dim {dim}")
    return (*[int(n) + 1 for n in places.max(axis=1)], *numbers.shape[1:])


def check_places(places: Any, numbers: Any, shape: tuple[int, ...]) -> None:
    """Every index is inside. (PyTorch looks only if it is told to, and else reads other memory later.)"""
    for dim, row in enumerate(places):
        if row.size and row.min() < 0:
            raise errors.mistake(RuntimeError, f"found negative index {row.min()} for dim {dim}")
        if row.size and row.max() >= shape[dim]:
            raise errors.mistake(
                RuntimeError,
                f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but found index {row.max()}",
            )
    if numbers.shape[1:] != shape[len(places) :]:
        sparse = len(places)
        raise errors.mistake(
            RuntimeError,
            f"values has incorrect size, expected {[numbers.shape[0], *shape[sparse:]]}, got {list(numbers.shape)}",
        )


# -- compressed layouts ------------------------------------------------------------------------------------------------


def compressed_tensor(
    kind: layout_class, compressed: Any, plain: Any, values: Any, size: Any, dtype: Any, requires_grad: bool
) -> Any:
    entries = as_tensor(values, dtype)
    begins, others = [np.asarray(as_tensor(part).array) for part in (compressed, plain)]
    if begins.dtype.kind not in "iu":
        raise errors.mistake(RuntimeError, "crow_indices and col_indices must be an int32 or int64 type")
    if begins.dtype not in (np.int32, np.int64) or begins.dtype != others.dtype:
        begins, others = begins.astype(np.int64), others.astype(np.int64)
    numbers = entries.array
    form = CompressedArray(kind, begins, others, numbers, () if size is None else tuple([int(n) for n in size]))
    if size is None:
        form.shape = compressed_shape(form, len(numbers.shape))
    check_compressed(form)
    return with_option(apply(sparse_fill, entries, form), requires_grad)


def compressed_shape(form: CompressedArray, ndim: int) -> tuple[int, ...]:
    """The smallest shape that holds all places."""
    by_rows = form.layout in (sparse_csr, sparse_bsr)
    height, width = form.block
    along = form.compressed.shape[-1] - 1
    across = int(form.plain.max()) + 1 if form.plain.size else 0
    rows, columns = (along, across) if by_rows else (across, along)
    after = len(form.batch) + 1 + 2 * (form.layout in IN_BLOCKS)
    return (*form.batch, rows * height, columns * width, *form.values.shape[after:ndim])


def check_compressed(form: CompressedArray) -> None:
    """Do the parts fit together?"""
    by_rows = form.layout in (sparse_csr, sparse_bsr)
    names = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    begins, others = form.compressed, form.plain
    if begins.shape[:-1] != others.shape[:-1]:
        raise errors.mistake(RuntimeError, f"number of batch dimensions of {names[0]} and {names[1]} must be the same")
    dims = [len(form.batch), len(form.batch) + 1]
    sides = [form.shape[d] // size for d, size in zip(dims, form.block)]
    along, across = sides if by_rows else reversed(sides)
    if begins.shape[-1] != along + 1:
        what = "nrows" if by_rows else "ncols"
        raise errors.mistake(
            RuntimeError,
            f"{names[0]}.shape[-1] must be equal to the number of {what[1:]} + 1 ({along + 1}), but got "
            f"{begins.shape[-1]}",
        )
    if others.shape[-1] != form.values.shape[len(form.batch)]:
        raise errors.mistake(
            RuntimeError,
            f"number of dimensions of indices and values must be consistent: {others.shape[-1]} {names[1]}, "
            f"{form.values.shape[len(form.batch)]} values",
        )
    if begins.size and ((begins[..., 0] != 0).any() or (begins[..., -1] != others.shape[-1]).any()):
        raise errors.mistake(
            RuntimeError, f"`{names[0]}[..., 0] == 0` and `{names[0]}[..., -1] == nnz` are not satisfied."
        )
    if others.size and (others.min() < 0 or others.max() >= across):
        raise errors.mistake(RuntimeError, f"`0 <= {names[1]} < {'ncols' if by_rows else 'nrows'}` is not satisfied.")
    if prod(form.batch) and (np.diff(begins, axis=-1) < 0).any():
        raise errors.mistake(RuntimeError, f"`{names[0]}` must not decrease.")


def constructor(kind: layout_class, compressed: str, plain: str) -> Any:
    """sparse_csr_tensor and its like."""
    name = f"{kind.name}_tensor"

    def function(*args: Any, **options: Any) -> Any:
        names = (compressed, plain, "values", "size")
        given = {**dict(zip(names, args)), **options}
        check_device(given.get("device"))
        begins, others, values, size = [given.get(each) for each in names]
        requires_grad = bool(given.get("requires_grad"))
        return compressed_tensor(kind, begins, others, values, size, given.get("dtype"), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}({compressed}, {plain}, values, size=None, *, dtype=None): a sparse tensor of its parts."
    form = (
        f"({compressed}: Any, {plain}: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, "
        "layout: Layout | None = None, device: Device | None = None, pin_memory: bool = False, requires_grad: bool = "
        "False, "
        "check_invariants: bool | None = None) -> Tensor"
    )
    return declared(form)(function)


sparse_csr_tensor = constructor(sparse_csr, "crow_indices", "col_indices")
sparse_csc_tensor = constructor(sparse_csc, "ccol_indices", "row_indices")
sparse_bsr_tensor = constructor(sparse_bsr, "crow_indices", "col_indices")
sparse_bsc_tensor = constructor(sparse_bsc, "ccol_indices", "row_indices")


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Shape | None = None,
    *,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None): a
    sparse tensor of the parts of one of the compressed layouts."""
    check_device(device)
    if layout is None:
        raise errors.mistake(RuntimeError, "expected sparse compressed tensor layout but got none")
    return compressed_tensor(layout, compressed_indices, plain_indices, values, size, dtype, requires_grad)


# -- old constructors --------------------------------------------------------------------------------------------------


def warn_of_old(given: str) -> None:
    """Once for each form of the call."""
    old = f"{given}, *, device=" if given else ""
    new = f"{given}, dtype=, device=" if given else "(0,), dtype="
    errors.warn_once(f"torch.sparse.SparseTensor({old}) is deprecated.  Please use torch.sparse_coo_tensor({new})")


class SparseType(type):
    """The class of `torch.sparse.FloatTensor` and its like: calling one makes a sparse tensor."""

    dtype: Any

    def __call__(cls, *args: Any, **options: Any) -> Any:
        check_device(options.pop("device", None))
        if len(args) >= 2 and isinstance(args[0], TensorBase):
            warn_of_old("indices, values, shape" if len(args) > 2 else "indices, values")
            return sparse_coo_tensor(*args, **options)
        warn_of_old("shape" if args else "")
        if len(args) == 1 and isinstance(args[0], (Size, tuple, list)):
            args = tuple(args[0])
        return wrap(nothing(tuple([int(n) for n in args]) or (0,), cls.dtype.np))

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and instance.array.dtype == cls.dtype.np and is_coo(instance)

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


def is_coo(t: Any) -> bool:
    return getattr(t.array, "layout", None) is sparse_coo


def sparse_type(name: str, kind: TensorType) -> SparseType:
    doc = f"{name}(indices, values, size): a sparse tensor."
    return SparseType(name, (), {"dtype": kind.dtype, "__doc__": doc, "__module__": "leafgrad.sparse"})


SPARSE_TYPES = {name: sparse_type(name, kind) for name, kind in TYPES.items()}

FUNCTIONS = {
    **by_name(sparse_coo_tensor, sparse_csr_tensor, sparse_csc_tensor, sparse_bsr_tensor, sparse_bsc_tensor),
    **checked_functions(sparse_compressed_tensor),
}
