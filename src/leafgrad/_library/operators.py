"""`torch.ops.mylib.sin`: operators that programs have defined, and how a call of one goes.

    autocast     converts the arguments, if that was registered
    autograd     a kernel for the key "Autograd"; or what register_autograd was given, as a Function (gradients.py)
    kernel       that of the CPU, or the one for all devices

An operator with a kernel for the CPU and nothing for autograd is run as it is, and its backward warns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from leafgrad import errors, ops
from leafgrad._core.bind import execute
from leafgrad._core.modes import in_transform
from leafgrad._core.op import Op
from leafgrad._core.overrides import UNCHANGED, overridden
from leafgrad._core.tensor import TensorBase, as_array, wrap
from leafgrad._core.thread_state import state
from leafgrad._library.gradients import Call, flattened, function_of, together
from leafgrad._library.schema import Kind, Schema
from leafgrad.amp.autocast_mode import autocast, is_autocast_enabled
from leafgrad.autograd.function import Function
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.autograd.graph import increment_version
from leafgrad.ops import aten

Kernel = Callable[..., Any]
ON_CPU = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd")


class Settings(threading.local):
    """Of one thread: do calls go straight to the kernels (inside of `_AutoDispatchBelowAutograd`)?"""

    below_autograd = False


settings = Settings()
fallback = {"mode": "warn"}  # what becomes of operators that nothing was registered for autograd: warn, nothing, error


class Operator(aten.Overload):
    """One form of an operator."""

    def __init__(self, packet: OperatorPacket, schema: Schema, tags: Sequence[Any] = ()) -> None:
        super().__init__(packet, schema.overload_name or "default")
        self._schema = schema
        self._name = self.name()
        self.tags = list(tags)
        self.kernels: dict[str, Kernel] = {}
        self.backward: Any = None
        self.setup_context: Any = None
        self.function: Any = None  # for autograd
        self.vmap: Any = None
        self._defined_in_python = True
        self.fake: Any = None
        self.cast_to: Any = None  # in an autocast region
        aten.of_libraries[self._name] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        taken = overridden(lambda: self, args, kwargs)
        if taken is not UNCHANGED:
            return taken
        call = aten.pending.calls[-1] if aten.pending.calls else None
        if call is not None and call.func is self and len(args) == len(call.args) and not kwargs:
            return call.run(args)
        args, kwargs = self._schema.bound(args, kwargs)
        if self.cast_to is not None and is_autocast_enabled("cpu"):
            with autocast("cpu", enabled=False):
                return self.called(tuple([lowered(a, self.cast_to) for a in args]), kwargs)
        return self.called(args, kwargs)

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose arguments are in their places."""
        if settings.below_autograd:
            return self.computed(args, kwargs)
        own = self.kernels.get("Autograd") or self.kernels.get("AutogradCPU")
        if own is not None:
            return own(*args, **kwargs)
        if self.function is not None:
            if self._schema.is_mutable:
                return self.changing(args, kwargs)
            if in_transform() or (state.recording and needs_gradient(args)):
                call = Call(args, kwargs)
                return call.results(self.function.apply(*call.flat, call))
            return self.computed(args, kwargs)
        if self.vmap is not None and in_transform():
            call = Call(args, kwargs)
            return call.results(function_of(self).apply(*call.flat, call))
        if self.kernel() is self.kernels.get("CompositeImplicitAutograd"):
            return self.kernel()(*args, **kwargs)
        return without_formula(self, args, self.computed(args, kwargs))

    def changing(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One that changes its arguments, which autograd is not told of."""
        given, named = self._schema.filled(args, kwargs)
        values = dict(zip([a.name for a in self._schema.positional], given, strict=False)) | named
        for argument in self._schema.arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = values[argument.name]
                for tensor in value if isinstance(value, list) else [value]:
                    if isinstance(tensor, TensorBase):
                        increment_version(tensor)
        with no_grad():
            return self.computed(args, kwargs)

    def kernel(self) -> Kernel:
        found = next((self.kernels[key] for key in ON_CPU if key in self.kernels), None)
        if found is None:
            raise errors.mistake(
                NotImplementedError,
                f"Could not run '{self._name}' with arguments from the 'CPU' backend. This could be because the "
                "operator doesn't exist for this backend, or was omitted during the selective/custom build process "
                f"(if using custom build). '{self._name}' is only available for these backends: {[*self.kernels]}.",
                fix=f'torch.library.register_kernel("{self._name}", "cpu", function)',
            )
        return found

    def computed(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """What the kernel returns."""
        kernel = self.kernel()
        return self.shown_to_modes(kernel, args, kwargs) if state.in_modes else kernel(*args, **kwargs)

    def shown_to_modes(self, kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The same as an operation on arrays, which modes may see, and replace."""
        flat, form = flattened(args)
        places = [i for i, value in enumerate(flat) if isinstance(value, TensorBase)]

        def run(*given: Any) -> Any:
            again, rest = list(flat), iter(given[len(places) :])
            for i, value in enumerate(flat):
                if i in places:
                    array = given[places.index(i)]
                    again[i] = value if value.array is array else wrap(array)
                else:
                    again[i] = next(rest)
            result = kernel(*together(again, form), **kwargs)
            values = flattened(result if isinstance(result, tuple) else () if result is None else (result,))[0]
            found = [v.array if isinstance(v, TensorBase) else v for v in values]
            return found[0] if self.has_one_result() else found

        options = tuple([value for i, value in enumerate(flat) if i not in places])
        op = Op(self._name, self._name, run, no_rules)
        found = execute(op, [flat[i].array for i in places], options)
        return self.results([found] if self.has_one_result() else list(found))

    def has_one_result(self) -> bool:
        return len(self._schema.returns) == 1 and self._schema.returns[0].type.suffix == ""

    def results(self, found: list[Any]) -> Any:
        """Arrays as the tensors that the schema promises; of results that are lists there may be one."""
        kinds = [r.type for r in self._schema.returns]
        rest = len(found) - len(kinds) + 1  # the length of the list
        values: list[Any] = []
        for kind in kinds:
            count = rest if kind.suffix == "[]" else 1
            taken, found = found[:count], found[count:]
            if kind.is_tensor:
                made = [wrap(as_array(array)) for array in taken]
            else:
                made = [v.item() if isinstance(v, (np.ndarray, np.generic)) else v for v in taken]
            values.append(made if kind.suffix == "[]" else made[0])
        if len(values) == 1 and not self._schema.in_tuple:
            return values[0]
        return tuple(values) if values else None

    def give_gradients(self, backward: Any, setup_context: Any) -> None:
        """What register_autograd was given."""
        self.backward, self.setup_context = backward, setup_context
        if self.function is None:
            self.function = function_of(self)

    def redispatch(self, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        """redispatch(keyset, *args, **kwargs): the kernel itself, whatever the keys."""
        return self.computed(*self._schema.bound(args, kwargs))


def no_rules() -> Any:
    raise AssertionError("an operator is recorded as a Function")


def needs_gradient(args: Sequence[Any]) -> bool:
    return any([isinstance(t, TensorBase) and t.requires_grad for t in flattened(args)[0]])  # type: ignore[attr-defined]


def lowered(value: Any, wanted: Any) -> Any:
    """Tensors of floats, but not of float64, in another dtype."""
    if isinstance(value, list):
        return [lowered(each, wanted) for each in value]
    if isinstance(value, TensorBase) and value.array.dtype.kind in "fV" and value.array.dtype.itemsize < 8:
        return value.to(wanted)  # type: ignore[attr-defined]
    return value


# -- operators that autograd knows nothing of -------------------------------------------------------------------------


def without_formula(op: Operator, args: Sequence[Any], result: Any) -> Any:
    """Say so in the backward pass. Where the kernel has recorded what it computed, that is the history."""
    if fallback["mode"] == "nothing" or not state.recording or not needs_gradient(args):
        return result
    tensors = [t for t in flattened(args)[0] if isinstance(t, TensorBase)]
    returns = op._schema.returns
    if len(returns) == 1:
        return connected(op, returns[0].type, tensors, result)
    pairs = zip(returns, () if result is None else result, strict=False)
    return tuple([connected(op, r.type, tensors, each) for r, each in pairs]) if returns else result


def connected(op: Operator, kind: Kind, tensors: Sequence[Any], result: Any) -> Any:
    """A result that warns. What was changed in place has the history that it had, and so its base warns as well."""
    if isinstance(result, (list, tuple)):
        return [connected(op, kind, tensors, each) for each in result]
    if not isinstance(result, TensorBase) or result.array.dtype.kind not in "fcV":
        return result
    made: Any = result
    changed = kind.alias_info is not None and kind.alias_info.is_write
    if made.requires_grad:
        base = made._base if changed else None
        for each in (made, base):
            if each is not None and each.requires_grad:
                each.register_hook(lambda g: warn_not_registered(op._name))
        return made
    return made if changed else WarnNotImplemented.apply(op._name, made, *tensors)


class WarnNotImplemented(Function):
    """The history of a result that has none: it leads to the arguments, and gives them no gradient."""

    @staticmethod
    def forward(ctx: Any, name: str, result: Any, *tensors: Any) -> Any:
        ctx.name_of_op = name
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        warn_not_registered(ctx.name_of_op)
        return (None,) * len(ctx.needs_input_grad)


def warn_not_registered(name: str) -> None:
    text = (
        f"{name}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through "
        "it. This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future "
        "version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd kernel "
        "to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your "
        "operator is not differentiable, or to squash this warning and use the previous behavior, please register "
        "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
    )
    if fallback["mode"] == "error":
        raise RuntimeError(text)
    errors.warn(text)


# -- names ------------------------------------------------------------------------------------------------------------


class OperatorPacket(aten.Packet):
    """All forms of an operator."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self._name = self.__name__ = name
        self._qualified_op_name = f"{namespace}::{name}"
        self.forms: dict[str, Operator] = {}

    def __getattr__(self, overload: str) -> Any:
        form = self.__dict__.get("forms", {}).get(overload)
        if form is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        return form

    def overloads(self) -> list[str]:
        """overloads(): the names of its forms."""
        return [*self.forms]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        forms = [*self.forms.values()]
        for form in forms[:-1]:
            try:
                form._schema.bound(args, kwargs)
            except RuntimeError:
                continue
            return form(*args, **kwargs)
        return forms[-1](*args, **kwargs)


class Namespace:
    """`torch.ops.mylib`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.packets: dict[str, OperatorPacket] = {}

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("packets", {}).get(name)
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        return found

    def __dir__(self) -> list[str]:
        return [*self.packets]


namespaces: dict[str, Namespace] = {}


def namespace(name: str) -> Any:
    """The one of a name. It is an attribute of `torch.ops`, so that it can be deleted there."""
    found = namespaces.setdefault(name, Namespace(name))
    if name not in vars(ops):
        setattr(ops, name, found)
    return found


ops.libraries = namespace


def defined(schema: Schema, tags: Sequence[Any] = ()) -> Operator:
    """A new operator."""
    library, _, name = schema.name.partition("::")
    packets = namespace(library).packets
    packet = packets.setdefault(name, OperatorPacket(library, name))
    part = vars(ops).get(library)
    if isinstance(part, ModuleType):  # a library with the name of a part of leafgrad.ops
        setattr(part, name, packet)
    overload = schema.overload_name or "default"
    if overload in packet.forms:
        raise RuntimeError(
            f"Tried to register an operator ({schema}) with the same name and overload name multiple times. Each "
            f"overload's schema should only be registered with a single call to def(). Original registration: "
            f"{packet.forms[overload]._schema}.\n  at {errors.here()}"
        )
    made = packet.forms[overload] = Operator(packet, schema, tags)
    return made


def forgotten(op: Operator) -> None:
    """Take an operator away again."""
    packets = namespace(op.namespace).packets
    packet = packets.get(op._opname)
    if packet is not None and packet.forms.get(op._overloadname) is op:
        del packet.forms[op._overloadname]
        if not packet.forms:
            del packets[op._opname]
        aten.of_libraries.pop(op._name, None)


def looked_up(name: str) -> Operator:
    """An operator by its name, mylib::sin or mylib::sin.default."""
    library, _, rest = name.partition("::")
    own, _, overload = rest.partition(".")
    form: Operator = getattr(getattr(namespace(library), own), overload or "default")
    return form
