"""Parameters that are computed from others: `register_parametrization(module, "weight", Symmetric())` makes
`module.weight` the result of a module, applied to what the parameter was before."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn.modules.container import ModuleDict, ModuleList
from leafgrad.nn.modules.module import Module
from leafgrad.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip


class _Cache:
    """The values of parametrized tensors, while `cached()` is on."""

    depth = 0
    values: dict[tuple[int, str], Any] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """cached(): a context in which each parametrized tensor is computed once."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values = {}


def _keep(owner: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        owner.register_parameter(name, tensor)
    else:
        owner.register_buffer(name, tensor)


def _put(original: Any, new: Any, what: str, name: str) -> None:
    """Give an original the value that `right_inverse` returned for it."""
    if original.dtype != new.dtype:
        raise ValueError(
            f"{what} returned by `right_inverse` has dtype {new.dtype} while `{name}` has dtype {original.dtype}"
        )
    original.data = new


class ParametrizationList(ModuleList):
    """ParametrizationList(modules, original, unsafe=False): the modules that make a tensor, one after the other, of
    `original`, or of several (`original0`, `original1`, ...) if the first of them takes several."""

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):  # then the value is no guide for what it was made of
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, TensorBase)
        if not self.is_tensor and not isinstance(new, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        self._take_originals(original, new)
        if not unsafe:
            self._check(self(), shape, dtype)

    def _take_originals(self, original: Any, new: Any) -> None:
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            original.data = new.detach()
            _keep(self, "original", original)
            return
        for i, each in enumerate(new):
            if not isinstance(each, TensorBase):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{i} of the sequence with type {type(each).__name__}."
                )
            own: Any = Parameter(each, original.requires_grad) if isinstance(original, Parameter) else each
            _keep(self, f"original{i}", own.requires_grad_(original.requires_grad))

    def _check(self, made: Any, shape: Any, dtype: Any) -> None:
        if not isinstance(made, TensorBase):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        for what, before, after in (("dtype", dtype, made.dtype), ("shape", shape, made.shape)):  # type: ignore[attr-defined]
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def _originals(self) -> list[Any]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """right_inverse(value): change the originals so that they make this value."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, TensorBase):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                _put(self.original, value, "The tensor", "original")
                return
            if not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                    f"length {len(value)}."
                )
            for i, (original, new) in enumerate(zip(self._originals(), value, strict=True)):
                if not isinstance(new, TensorBase):
                    raise ValueError(
                        "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                        f"{i} of type {type(new).__name__}."
                    )
                _put(original, new, f"Tensor {i}", f"original{i}")

    def forward(self) -> Any:
        first, *rest = list(self)
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


# -- on modules -------------------------------------------------------------------------------------------------------


def _make_class(module: Module) -> None:
    """Give a module a class of its own, on which properties can stand."""
    before = type(module)

    def __deepcopy__(self: Any, memo: Any) -> Any:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = self.__new__(type(self))
            made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    def __getstate__(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    body: dict[str, Any] = {"__getstate__": __getstate__, "__module__": ParametrizationList.__module__}
    if not hasattr(before, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{before.__name__}", (before,), body)


def _make_property(module: Module, name: str) -> None:
    def get(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _Cache.depth:
            return parametrization()
        key = (id(self), name)
        if key not in _Cache.values:
            _Cache.values[key] = parametrization()
        return _Cache.values[key]

    def change(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, change))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """register_parametrization(module, tensor_name, parametrization, *, unsafe=False): from now on the parameter, or
    buffer, is what `parametrization` makes of its former value (or of what the one registered before has made)."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known: Any = module.parametrizations[tensor_name]
        if not unsafe:
            now = getattr(module, tensor_name)
            _check_further(parametrization, now, tensor_name)
        known.append(parametrization)
        known.unsafe = known.unsafe or unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _make_class(module)
            module.parametrizations = ModuleDict()
        _make_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(parametrization: Any, now: Any, name: str) -> None:
    """Refuse one more parametrization of a tensor if it, or its right inverse, changes the form of its value."""
    made: Any = parametrization(now)
    if not isinstance(made, TensorBase):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(made, what) != getattr(now, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{what}: {getattr(now, what)}\n"
                f"parametrization(module.{name}).{what}: {getattr(made, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back: Any = parametrization.right_inverse(made)
    except NotImplementedError:
        return
    if not isinstance(back, TensorBase):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(now, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}.\n"
                f"module.{name}.{what}: {getattr(now, what)}\nreturned {what}: {getattr(back, what)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """is_parametrized(module, tensor_name=None): is this tensor, or any of the module, computed from others?"""
    found = getattr(module, "parametrizations", None)
    if found is None or not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """remove_parametrizations(module, tensor_name, leave_parametrized=True): an ordinary parameter again, with the
    value that it has now or, if not `leave_parametrized`, with what it was made of."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations: Any = module.parametrizations[tensor_name]
    with no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else None
    if parametrizations.is_tensor:
        original = parametrizations.original
        if value is not None:
            original.data = value
    elif value is not None:
        wanted = any([each.requires_grad for each in parametrizations._originals()])
        original = Parameter(value) if wanted else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """type_before_parametrizations(module): its class, as if nothing were parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """transfer_parametrizations_and_params(from_module, to_module, tensor_name=None): the same parametrizations on
    another module, which has the originals in common with the first one."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        for place in [n for n, _ in (*source.named_parameters(recurse=False), *source.named_buffers(recurse=False))]:
            setattr(target, place, getattr(source, place))
    return to_module
