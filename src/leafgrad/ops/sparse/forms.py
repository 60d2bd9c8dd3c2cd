"""Which public functions and methods have a sparse form, and what becomes of calls that a sparse tensor takes part in.

Such calls leave the usual way where classes of arguments are looked at (`overridden` in leafgrad/_core/overrides.py)
and come here, to `called`. A sparse form is a function with the parameters of the public one:

    @sparse_form("mm", "spmm")
    def mm(input, mat2): ...

The in-place forms and `out=` follow from it. Operations whose block says `keeps_zero` have one of themselves. What says
`passes` works on sparse tensors as it is, and so do methods of Tensor that are no operations. Operations without a form
are refused in PyTorch's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._core.inplace import count_change
from leafgrad._core.overrides import UNCHANGED
from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.thread_state import state
from leafgrad._device import sparse_coo
from leafgrad._dtypes import can_cast, from_numpy_dtype
from leafgrad.ops import names
from leafgrad.ops.registry import composites, registry
from leafgrad.ops.sparse.arrays import not_for_sparse
from leafgrad.ops.sparse.blocks import apply, is_sparse, sparse_layout, sparse_to_dense
from leafgrad.ops.sparse.layouts import CompressedArray, Form

Function = Callable[..., Any]
FORMS: dict[str, Function] = {}
AS_THEY_ARE: set[str] = set()  # forms that take compressed layouts themselves
PASSING: set[str] = set()
looked_up: dict[str, int] = {}  # how many operations there were when a name was last looked for among them
keeping_zero: list[Function] = []  # leafgrad.ops.sparse.elementwise: makes the form of an operation that keeps zero


def sparse_form(*functions: str, any_layout: bool = False) -> Callable[[Function], Function]:
    """The sparse form of public functions and methods, or of attributes. `any_layout` says that it takes compressed
    layouts as they are; for others these are converted, and so are its results."""

    def register(form: Function) -> Function:
        for name in functions:
            FORMS[name] = form
            if any_layout:
                AS_THEY_ARE.add(name)
        return form

    return register


def passes(*functions: str) -> None:
    """These functions work on sparse tensors as they are."""
    PASSING.update(functions)


def public_name(function: Any) -> str:
    """The name by which users know a function, a method or an attribute; "" for what sets an attribute."""
    owner = getattr(function, "__self__", None)
    if owner is not None and function.__name__ in ("__get__", "__set__", "__delete__"):
        return str(owner.__name__) if function.__name__ == "__get__" else ""
    return str(function.__name__)


operations: set[str] = set()


def is_operation(name: str) -> bool:
    if not operations:
        tables = (names.FUNCTIONS, names.METHODS, *names.PLACES.values())
        operations.update(
            [n for table in tables for at, found in table.items() if at[:4] == "ops." for n in found.split()]
        )
    return name in operations


def called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What becomes of a call with a sparse tensor among its arguments; UNCHANGED if the function does it as it is."""
    name = public_name(function)
    state.recording  # noqa: B018  a thread's first look at its state silences NumPy in it
    if form_of(name) is not None:
        return in_coordinates(name, FORMS[name], args, kwargs)
    if name in PASSING:
        return UNCHANGED
    if name.endswith("_") and form_of(name[:-1]) is not None:
        return changed(name, args, kwargs)
    if name.startswith("__i") and (forward := f"__{name[3:]}") in FORMS:
        return changed(forward + "_", args, kwargs)
    if not is_operation(name):
        return UNCHANGED
    found = [a for a in (*args, *kwargs.values()) if is_tensor(a) and is_sparse(a)]
    raise not_for_sparse(name, found[0].array.layout if found else sparse_coo)


def form_of(name: str) -> Function | None:
    """The sparse form of a function: one that was declared, or that of an operation whose block says `keeps_zero`."""
    count = len(registry) + len(composites)
    if name not in FORMS and looked_up.get(name) != count and is_operation(name):
        looked_up[name] = count
        for entry in (*registry.values(), *composites.values()):
            if entry.keeps_zero and (name == entry.public_name or name in entry.aliases):
                FORMS[name] = keeping_zero[0](entry)
    return FORMS.get(name)


def is_tensor(value: Any) -> bool:
    return isinstance(value, TensorBase)


def in_coordinates(name: str, form: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a form. Compressed layouts it gets as coordinates, and its sparse results are brought back."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    if name in AS_THEY_ARE:
        result = form(*args, **kwargs)
    else:
        forms: list[Form] = []
        given = [as_coordinates(a, forms) for a in args]
        named = {key: as_coordinates(a, forms) for key, a in kwargs.items()}
        result = form(*given, **named)
        if forms:
            result = brought_back(result, forms[0])
    return result if out is None else put_into(out, result)


def as_coordinates(value: Any, forms: list[Form]) -> Any:
    if isinstance(value, (list, tuple)):
        return (
            type(value)([as_coordinates(each, forms) for each in value]) if value.__class__ in (list, tuple) else value
        )
    if is_tensor(value) and isinstance(value.array, CompressedArray):
        forms.append(Form.of(value.array))
        return apply(sparse_layout, value, Form(sparse_coo, value.array.ndim - len(value.array.dense_shape)))
    return value


def brought_back(result: Any, form: Form) -> Any:
    if not is_tensor(result) or not is_sparse(result):
        return result
    return apply(sparse_layout, result, form) if result.array.coo().sparse_dim >= 2 else result


def put_into(out: Any, result: Any) -> Any:
    """`out=`: the result takes the place of what was there."""
    if is_sparse(result) != is_sparse(out):
        out.copy_(to_strided(result)) if is_sparse(result) else take_place(out, result)
    elif is_sparse(out):
        take_place(out, result)
    else:
        if out.shape != result.shape:
            out.resize_(result.shape)
        out.copy_(result)
    return out


def changed(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], form: Function | None = None) -> Any:
    """The in-place form of a function that has a sparse form."""
    first = args[0]
    if not is_sparse(first):  # the others are sparse: their dense form does it
        others = [to_strided(a) if is_tensor(a) and is_sparse(a) else a for a in args[1:]]
        named = {key: to_strided(a) if is_tensor(a) and is_sparse(a) else a for key, a in kwargs.items()}
        return getattr(first, name)(*others, **named)
    if first.needs_grad and first.node is None and state.recording:
        raise errors.mistake(
            RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation.",
            ("tensor", errors.describe(first)),
            fix="with torch.no_grad():",
        )
    return take_place(first, in_coordinates(name[:-1], form or FORMS[name[:-1]], args, kwargs))


def take_place(t: Any, result: Any) -> Any:
    """A sparse tensor becomes, in place, what another one is."""
    own, found = [from_numpy_dtype(each.array.dtype) for each in (t, result)]
    if not can_cast(found, own):
        first = f"result type {found.alias} can't be cast to the desired output type {own.alias}"
        raise errors.mistake(RuntimeError, first)
    t.array = result.array.astype(t.array.dtype) if result.array.dtype != t.array.dtype else result.array
    if state.recording:
        t.node, t.needs_grad = result.node, result.needs_grad or t.needs_grad
    count_change(t)
    return t


def to_strided(t: Any) -> Any:
    """A sparse tensor as a dense one."""
    return apply(sparse_to_dense, t, True)


links.sparse_call = called
