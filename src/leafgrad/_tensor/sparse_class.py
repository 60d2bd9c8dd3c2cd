"""The class of sparse tensors. To users they are Tensors; the class is there so that calls with one of them are taken
over, as those of subclasses are, and find their sparse forms (leafgrad/ops/sparse/forms.py)."""

from __future__ import annotations

from typing import Any

from leafgrad import _dtypes, errors
from leafgrad._core import overrides
from leafgrad._core.tensor import links, wrap
from leafgrad._device import check_device, sparse_coo, strided
from leafgrad._tensor import printing
from leafgrad._tensor.conversions import CONVERSIONS, asked_of_to
from leafgrad._tensor.methods import type_of
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.sparse import methods  # noqa: F401  the forms that are declared there
from leafgrad.ops.sparse.arrays import AnySparse, SparseArray, not_for_sparse, nothing
from leafgrad.ops.sparse.blocks import apply, is_sparse, sparse_copied
from leafgrad.ops.sparse.elementwise import in_dtype
from leafgrad.ops.sparse.forms import passes, sparse_form, to_strided
from leafgrad.ops.sparse.layouts import BY_ROWS, COMPRESSED, CompressedArray


class SparseTensor(Tensor):
    """A tensor whose array is a sparse one."""


SparseTensor.__torch_function__ = overrides.disabled  # type: ignore[method-assign]
SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"
SparseTensor.__module__ = "leafgrad"
links.sparse_class = SparseTensor

# -- attributes and methods of Tensor that are no operations ----------------------------------------------------------


@sparse_form("layout", any_layout=True)
def layout(self: Any) -> Any:
    return self.array.layout if is_sparse(self) else strided


@sparse_form("is_sparse", any_layout=True)
def is_coo(self: Any) -> bool:
    return layout(self) is sparse_coo


@sparse_form("is_sparse_csr", any_layout=True)
def is_csr(self: Any) -> bool:
    return str(layout(self)) == "torch.sparse_csr"


@sparse_form("stride", any_layout=True)
def stride(self: Any, dim: int | None = None) -> Any:
    if not is_coo(self):
        name = str(self.array.layout).removeprefix("torch.sparse_").capitalize()
        raise errors.mistake(RuntimeError, f"Sparse{name} tensors do not have strides")
    steps = (0,) * self.array.ndim
    return steps if dim is None else steps[dim]


@sparse_form("storage_offset", any_layout=True)
def storage_offset(self: Any) -> int:
    return 0


@sparse_form("equal", "allclose", "isclose", "eq", "__eq__", "ne", "__ne__", any_layout=True)
def not_compared(input: Any, other: Any, *args: Any, **options: Any) -> Any:
    raise not_for_sparse("eq.Tensor", (input if is_sparse(input) else other).array.layout)


@sparse_form("is_contiguous", any_layout=True)
def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    return False


@sparse_form("contiguous", any_layout=True)
def contiguous(self: Any, memory_format: Any = None) -> Any:
    raise errors.mistake(RuntimeError, "unsupported memory format option Contiguous")


@sparse_form("data_ptr", "tolist", "apply_", "map_", any_layout=True)
def without_pointer(self: Any, *args: Any) -> Any:
    raise errors.mistake(
        RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage", fix="x.to_dense()"
    )


@sparse_form("storage", "untyped_storage", "_typed_storage", "share_memory_", any_layout=True)
def without_storage(self: Any, *args: Any) -> Any:
    raise errors.mistake(NotImplementedError, "Cannot access storage of SparseTensorImpl", fix="x.to_dense()")


@sparse_form("numpy", "__array__", any_layout=True)
def numpy(self: Any, *args: Any, **options: Any) -> Any:
    raise errors.mistake(
        TypeError,
        "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.",
        fix="x.to_dense().numpy()",
    )


@sparse_form("nbytes", any_layout=True)
def nbytes(self: Any) -> int:
    raise errors.mistake(
        RuntimeError,
        "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the nbytes "
        "of the "
        "indices and values.  If you want the size of the  equivalent dense tensor, multiply numel() by element_size()",
    )


@sparse_form("reshape", "flatten", "ravel", any_layout=True)
def reshape(self: Any, *args: Any, **options: Any) -> Any:
    raise errors.mistake(RuntimeError, "reshape is not implemented for sparse tensors", fix="x.to_dense()")


@sparse_form("expand", any_layout=True)
def expand(self: Any, *args: Any, **options: Any) -> Any:
    raise errors.mistake(RuntimeError, "expand is unsupported for Sparse tensors", fix="x.to_dense()")


def on_dense(name: str) -> Any:
    """A method that asks for one number, which a dense tensor knows as well."""
    return lambda self, *args: getattr(Tensor, name)(to_strided(self.detach()), *args)


for _name in ("item", "__bool__", "__float__", "__int__", "__complex__", "__index__", "is_nonzero"):
    sparse_form(_name)(on_dense(_name))


# -- conversions ------------------------------------------------------------------------------------------------------


@sparse_form("to", any_layout=True)
def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    if not is_sparse(self):  # beside a sparse tensor whose dtype is wanted
        _, kind, _, copy = asked_of_to(args, kwargs)
        return self.to(kind, copy=copy)
    _, kind, _, copy = asked_of_to(args, kwargs)
    result = self if kind is None else in_dtype(self, kind)
    return apply(sparse_copied, self) if copy and result is self else result


def conversion(kind: Any) -> Any:
    return lambda self, memory_format=None: in_dtype(self, kind)


for _name, _kind in CONVERSIONS.items():
    sparse_form(_name, any_layout=True)(conversion(_kind))


@sparse_form("cpu", any_layout=True)
def cpu(self: Any, memory_format: Any = None) -> Any:
    return self


@sparse_form("type", any_layout=True)
def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    if dtype is None:
        if not is_coo(self):
            raise errors.mistake(RuntimeError, "Unimplemented backend SparseCsrCPU")
        return f"torch.sparse.{self.dtype.alias}Tensor"
    return type_of(self, dtype, non_blocking)


@sparse_form("type_as", any_layout=True)
def type_as(self: Any, other: Any) -> Any:
    if layout(self) is not layout(other):
        own, wanted = ["Sparse" if is_sparse(t) else "Strided" for t in (self, other)]
        raise errors.mistake(
            RuntimeError,
            f"to(options) doesn't support converting to a different layout, but got self.layout being {own} and "
            f"options.layout set as {wanted}",
        )
    return in_dtype(self, other.dtype)


@sparse_form("zeros_like", "empty_like", any_layout=True)
def zeros_like(input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
               pin_memory: bool = False, memory_format: Any = None) -> Any:  # fmt: skip
    check_device(device)
    kind = dtype or input.dtype
    own: AnySparse = input.array
    if layout is strided:
        return links.functions["zeros"](own.shape, dtype=kind, requires_grad=requires_grad)
    if isinstance(own, SparseArray):
        made = wrap(nothing(own.shape, kind.np, own.sparse_dim))
    else:
        made = wrap(own.with_values((own.values * 0).astype(kind.np)))
    return made.requires_grad_() if requires_grad else made


@sparse_form("ones_like", any_layout=True)
def ones_like(input: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Any:
    own: AnySparse = input.array
    if isinstance(own, SparseArray):
        raise not_for_sparse("fill_.Scalar", own.layout)
    made = wrap(own.with_values((own.values * 0 + 1).astype((dtype or input.dtype).np)))
    return made.requires_grad_() if requires_grad else made


@sparse_form("new_zeros", "new_empty", "new")
def new_zeros(
    self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **options: Any
) -> Any:
    check_device(device)
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    kind = (dtype or self.dtype).np
    made = wrap(nothing(tuple(shape) or (0,), kind))
    return made.requires_grad_() if requires_grad else made


@sparse_form("tensor", "as_tensor", "asarray", any_layout=True)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **options: Any) -> Any:
    made = apply(sparse_copied, data.detach() if dtype is None else in_dtype(data.detach(), dtype))
    return made.requires_grad_() if requires_grad else made


passes("new_tensor")

# -- copies, files, printed form --------------------------------------------------------------------------------------


@sparse_form("__deepcopy__", any_layout=True)
def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if self.node is not None:
        raise errors.deepcopy_of_non_leaf(self)
    if id(self) in memo:
        return memo[id(self)]
    made = wrap(self.array.copy())
    made.needs_grad = self.needs_grad
    memo[id(self)] = made
    if self._grad is not None:
        made._grad = self._grad.__deepcopy__(memo)
    return made


def rebuilt(layout_name: str, *parts: Any) -> Any:
    """A sparse tensor of the parts of its array."""
    kind = {str(each): each for each in COMPRESSED}.get(layout_name)
    return wrap(SparseArray(*parts) if kind is None else CompressedArray(kind, *parts))


@sparse_form("__reduce_ex__", "__reduce__", any_layout=True)
def reduced(self: Any, protocol: Any = None) -> Any:
    return rebuilt, (str(self.array.layout), *self.array.parts())


@sparse_form("__repr__", "__str__", any_layout=True)
def shown(self: Any, *, tensor_contents: Any = None) -> str:
    own = self.array
    if isinstance(own, CompressedArray):
        names = ("crow_indices", "col_indices") if own.layout in BY_ROWS else ("ccol_indices", "row_indices")
        parts = {names[0]: own.compressed, names[1]: own.plain, "values": own.values}
    else:
        parts = {"indices": own.indices, "values": own.values}
    return printing.sparse_repr(
        parts,
        shape=own.shape,
        nnz=own.nnz,
        layout=str(own.layout),
        dtype_name=self.dtype.name,
        default_dtype_name=_dtypes.get_default_dtype().name,
        requires_grad=self.needs_grad,
        grad_fn_name=None if self.grad_fn is None else type(self.grad_fn).__name__,
        is_parameter=getattr(self, "_is_param", False),
    )
