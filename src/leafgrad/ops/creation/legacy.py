"""The old constructors: `Tensor(2, 3)`, `Tensor([1, 2])`, `LongTensor(...)`, and the types that go by such names."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._core.tensor import TensorBase, is_meta, wrap
from leafgrad._core.views import bind_view
from leafgrad._device import Size, device
from leafgrad._dtypes import dtype as Dtype
from leafgrad.ops.arguments import REFUSED, as_int
from leafgrad.ops.creation.factories import sizes
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.creation.from_data import copied, without_history
from leafgrad.ops.index.slices import alias
from leafgrad.ops.shape.storage import StorageBase, shown_by
from leafgrad.ops.signature import Tensor, by_name, declared

FORMS = """
 * (*, torch.device device = None)
 * (torch.Storage storage)
 * (Tensor other)
 * (tuple of ints size, *, torch.device device = None)
 * (object data, *, torch.device device = None)"""


def constructed(kind: Dtype, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The tensor for `Tensor(...)`: of a size without set values, with the values of a sequence, or with the memory of
    another tensor."""
    if len(args) == 1 and isinstance(args[0], TensorBase) and not options:
        return bind_view(alias.core, alias, args[0], ((...,),))
    wanted = options.pop("device", None)
    if wanted is not None and len(args) == 1 and isinstance(args[0], TensorBase):
        raise RuntimeError(
            "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
            "torch.tensor(...) or torch.as_tensor(...) instead."
        )
    if wanted is not None and (kind_of_device := device(wanted).type) != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {kind_of_device} was passed")
    if isinstance(options.get("size"), (tuple, list)) and len(options) == 1 and not args:
        args, options = (Size(options["size"]),), {}
    given = dict(options)
    data = options.pop("data", args[0] if len(args) == 1 else None)
    if options or (len(args) > 1 and as_int(args[0]) is REFUSED) or ("data" in given and args):
        kinds = [*[type(arg).__name__ for arg in args], *[f"{name}={type(v).__name__}" for name, v in given.items()]]
        got = ", ".join(kinds) + ", " * (not args)
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({got}), but expected one of:{FORMS}"
        )
    if isinstance(data, StorageBase):
        return wrap(shown_by(data, kind))
    if data is None and not args and not given:
        return wrap(fresh("empty", np.empty, (0,), kind.np))
    if len(args) > 1 or isinstance(data, Size) or as_int(data) is not REFUSED:
        return wrap(fresh("empty", np.empty, sizes("new", args), kind.np))
    if isinstance(data, (int, float, complex)) or not hasattr(data, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return without_history(wrap(copied(data, kind)), data)


def legacy_tensor(cls: type, *args: Any, **options: Any) -> Any:
    """Tensor(*size), Tensor(sequence), Tensor(other): a tensor of the default dtype; of `other`, the same memory."""
    made = constructed(_dtypes.get_default_dtype(), args, options)
    made.__class__ = cls
    return made


@declared(
    "(self: Tensor, *size: int, device: Device | None = None) -> Tensor",
    "(self: Tensor, data: Sequence[Any] | Tensor, *, device: Device | None = None) -> Tensor",
)
def new(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """new(*size), new(sequence): the old constructor in the dtype of this tensor."""
    return constructed(_dtypes.from_numpy_dtype(self.array.dtype), args, options)


class TensorType(type):
    """The class of `FloatTensor`, `LongTensor`, ...: calling one makes a tensor, isinstance looks at the dtype."""

    dtype: Dtype

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], TensorBase) and not isinstance(args[0], cls):
            own = _dtypes.from_numpy_dtype(args[0].array.dtype)
            raise TypeError(
                f"expected a tensor of dtype {cls.dtype} (got {own})\n  fix: x.to({cls.dtype}), which converts"
            )
        return constructed(cls.dtype, args, options)

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, TensorBase) or is_meta(instance.array):
            return False
        return bool(instance.array.dtype == cls.dtype.np)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def make_type(kind: Dtype) -> TensorType:
    name = f"{kind.alias}Tensor"
    doc = f"{name}(*size), {name}(sequence): a tensor of {kind}."
    return TensorType(name, (), {"dtype": kind, "__doc__": doc, "__module__": "leafgrad"})


TYPES: dict[str, TensorType] = {f"{kind.alias}Tensor": make_type(kind) for kind in _dtypes.ALL if not kind.is_complex}


FUNCTIONS = TYPES
METHODS = by_name(new)
