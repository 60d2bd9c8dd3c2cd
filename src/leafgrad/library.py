"""torch.library: operators that programs define themselves.

    @torch.library.custom_op("mylib::sin", mutates_args=())
    def sin(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.sin(x.numpy()))

    sin.register_autograd(backward, setup_context=setup_context)
    torch.ops.mylib.sin(x)

What is registered for compilers (`register_fake`) is kept, and not used: leafgrad does not compile.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from leafgrad import _absent, errors, ops
from leafgrad._device import device
from leafgrad._library.custom_op import KEY_FOR_ALL, CustomOpDef, custom_op, refuse_tensors_by_name
from leafgrad._library.custom_op import register_autograd as _give_gradients
from leafgrad._library.inference import infer_schema
from leafgrad._library.operators import Operator, defined, forgotten, looked_up, namespace
from leafgrad._library.schema import parsed

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

KEYS = {"cpu": "CPU", "default": KEY_FOR_ALL}
RESERVED = ("prim",)
_definitions: set[str] = {"aten"}  # namespaces that somebody defines as a whole


def fallthrough_kernel() -> None:
    """fallthrough_kernel(): stands for no kernel in `Library.impl`."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Library(ns, kind, dispatch_key=""): operators and kernels that are registered together. `kind` is "DEF",
    "FRAGMENT" or "IMPL"; `dispatch_key` stands where `impl` is given none."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF" and ns in _definitions:
            raise RuntimeError(
                f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                f"definitions in a single TORCH_LIBRARY block.\n  fix  Library({ns!r}, 'FRAGMENT')\n"
                f"  at {errors.here()}"
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self.m: Any = None  # PyTorch has its own object there
        self._operators: list[Operator] = []
        self._kernels: list[tuple[Operator, str, Any]] = []
        self._end = weakref.finalize(self, _taken_away, self._operators, self._kernels, ns if kind == "DEF" else "")
        if kind == "DEF":
            _definitions.add(ns)

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """define(schema, alias_analysis="", *, tags=()): a new operator, "sin(Tensor x) -> Tensor"."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        op = defined(parsed(schema, self.ns), tags if isinstance(tags, (list, tuple)) else (tags,))
        self._operators.append(op)
        return op._opname if op._overloadname == "default" else f"{op._opname}.{op._overloadname}"

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """impl(op_name, fn, dispatch_key=""): a kernel: for "CPU", "CompositeImplicitAutograd", "Autograd" ..."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if with_keyset:
            raise NotImplementedError(f"leafgrad has no sets of dispatch keys (with_keyset=True)\n  at {errors.here()}")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = op_name if isinstance(op_name, str) else op_name._name
        op = looked_up(name if "::" in name else f"{self.ns}::{name}")
        self._kernels.append((op, key, op.kernels.get(key)))
        if fn is not fallthrough_kernel:
            op.kernels[key] = fn

    def _destroy(self) -> None:
        """Take away what was registered, which also happens when nobody holds the library any more."""
        self._end()


def _taken_away(operators: list[Operator], kernels: list[tuple[Operator, str, Any]], ns: str) -> None:
    for op, key, before in reversed(kernels):
        op.kernels.pop(key, None)
        if before is not None:
            op.kernels[key] = before
    for op in operators:
        forgotten(op)
    _definitions.discard(ns)


_kept: list[Library] = []  # of those who did not make one


def _library_for(ns: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(ns, "FRAGMENT")
        _kept.append(lib)
    return lib


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A library for the time of a `with` block: operators that were defined under its name meanwhile are taken away."""
    library = Library(*args, **kwargs)
    before = {op for packet in namespace(library.ns).packets.values() for op in packet.forms.values()}
    try:
        yield library
    finally:
        library._destroy()
        for packet in [*namespace(library.ns).packets.values()]:
            for op in [*packet.forms.values()]:
                if op not in before:
                    forgotten(op)


def registering(library: Library, name: Any, key: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of the kernel of an operator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        library.impl(name, function, key) if key else library.impl(name, function)
        return function

    return register


def define(qualname: Any, schema: str, *more: Any, lib: Library | None = None, tags: Any = ()) -> Any:
    """define(qualname, schema, *, lib=None, tags=()): a new operator, define("mylib::sin", "(Tensor x) -> Tensor").

    The older form is a decorator: `@define(library, "sin(Tensor x) -> Tensor")` of its kernel."""
    if isinstance(qualname, Library):
        return registering(qualname, qualname.define(schema, *more), "")
    library, _, name = qualname.partition("::")
    if not name:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    if not re.fullmatch(r"\(.*\) -> .*", schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    _library_for(library, lib).define(name + schema, tags=tags)
    return None


def key_of(kind: str) -> str:
    """What kernels are registered for: a device, or what PyTorch's dispatcher asks for."""
    return kind if kind[:1].isupper() else KEYS.get(kind) or device(kind).type.upper()


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """impl(qualname, types, func=None, *, lib=None): the implementation of an operator for devices, "default" for
    all. The older form is a decorator: `@impl(library, "sin", "CPU")`."""
    if isinstance(qualname, Library):
        return registering(qualname, types, func or "")
    keys = [key_of(each) for each in ([types] if isinstance(types, str) else types)]

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for key in keys:
            op = operator_of("impl", qualname)
            _library_for(op.namespace, lib).impl(op._name, function, key)
        return function

    return register if func is None else register(func)


def operator_of(caller: str, op: Any) -> Operator:
    """The operator that somebody names."""
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, Operator):
        return op
    if not isinstance(op, str):
        raise ValueError(f"{caller}({op}): got unexpected type for op: {type(op)}")
    return looked_up(op)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Library | None = None) -> Any:
    """register_kernel(op, device_types, func=None, /, *, lib=None): the implementation for devices; None: for all."""
    found = operator_of("register_kernel", op)
    single = device_types is None or isinstance(device_types, str)
    types = ["default" if each is None else each for each in ([device_types] if single else device_types)]
    return impl(found, types, func, lib=lib)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Any = None, lib: Library | None = None
) -> None:
    """register_autograd(op, backward, /, *, setup_context=None, lib=None): how gradients of an operator are computed:
    `backward(ctx, *gradients)`, with what `setup_context(ctx, inputs, output)` has saved, as by a Function."""
    found = operator_of("register_autograd", op)
    _give_gradients(found, op if isinstance(op, CustomOpDef) else found, backward, setup_context)


def register_fake(
    op: Any, func: Any = None, /, *, lib: Library | None = None, _stacklevel: int = 1, allow_override: bool = False
) -> Any:
    """register_fake(op, func=None, /, *, lib=None): what the results of an operator look like. It is kept for those who
    ask: leafgrad does not compile."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            operator_of("register_fake", op).fake = function
        except AttributeError:
            if not ops.refused:  # or else the operator is in one of the libraries that could not be loaded
                raise
        return function

    return register if func is None else register(func)


def impl_abstract(qualname: Any, func: Any = None, *, lib: Library | None = None, _stacklevel: int = 1) -> Any:
    """impl_abstract(qualname, func=None, *, lib=None): register_fake, by its old name."""
    errors.warn("`torch.library.impl_abstract` was renamed to `torch.library.register_fake`.", FutureWarning)
    return register_fake(qualname, func, lib=lib)


def register_vmap(op: Any, func: Any = None, /, *, lib: Library | None = None) -> Any:
    """register_vmap(op, func=None, /, *, lib=None): `func(info, in_dims, *args)` computes many samples at once."""

    found = operator_of("register_vmap", op)
    refuse_tensors_by_name("register_vmap", found)

    def register(function: Callable[..., Any]) -> None:
        found.vmap = function

    return register if func is None else register(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> None:
    """register_autocast(op, device_type, cast_inputs, /, *, lib=None): the dtype of its tensors in an autocast
    region."""
    CustomOpDef.register_autocast(_Named(operator_of("register_autocast", op)), device_type, cast_inputs)  # type: ignore[arg-type]


class _Named:
    """An operator where a CustomOpDef is expected."""

    def __init__(self, op: Operator) -> None:
        self._opoverload = op


__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it neither compiles nor traces programs")
