"""What `torch.library.custom_op` returns: an operator, and the methods that say what else it can do."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._device import device
from leafgrad._library.gradients import flattened
from leafgrad._library.inference import infer_schema
from leafgrad._library.operators import defined, forgotten, namespace
from leafgrad._library.schema import parsed
from leafgrad._library.tags import Tag
from leafgrad.amp.autocast_mode import is_autocast_available

log = logging.getLogger(__name__)
KEY_FOR_ALL = "CompositeExplicitAutograd"


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Sequence[Any] | None = None,
) -> Any:
    """custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None): make an operator of a
    function, as a decorator or not.

        @torch.library.custom_op("mylib::sin", mutates_args=())
        def sin(x: torch.Tensor) -> torch.Tensor:
            return torch.from_numpy(np.sin(x.numpy()))

        @sin.register_autograd ...
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        changed = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
        written = infer_schema(function, mutates_args=changed) if schema is None else schema
        made = CustomOpDef(name, written, function, tags or ())
        if schema is not None:
            aliases = [(a.name, a.alias_info) for a in made._opoverload._schema.arguments]
            expected = {name for name, alias in aliases if alias is not None and alias.is_write}
            if expected != {*changed}:
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The "
                    f"schema suggests that the op mutates {expected}which is different from what was provided to us in "
                    "`mutates_args`. Please make these consistent."
                )
        made.register_kernel(device_types, function)
        return made

    return make if fn is None else make(fn)


class CustomOpDef:
    """An operator that a program has defined; call it as the function."""

    def __init__(self, name: str, schema: str, fn: Callable[..., Any], tags: Sequence[Any]) -> None:
        self._namespace, _, self._name = name.partition("::")
        self._schema = schema
        self._init_fn = fn
        self._abstract_fn: Any = None
        self._disabled_kernel: set[str] = set()
        self._backend_fns: dict[str | None, Callable[..., Any]] = {}
        whole = parsed(self._name + schema, self._namespace)
        if any([a.type.is_tensor for a in whole.keywords]):
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
                f"{self._name}{schema}"
            )
        known = namespace(self._namespace).packets.get(self._name)
        if known is not None and "default" in known.forms:  # defined again, as in a notebook
            forgotten(known.forms["default"])
        self._opoverload = defined(whole, (Tag.pt2_compliant_tag, *tags))
        self._opoverload.give_gradients(None, None)

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """register_kernel(device_types, fn=None, /): the implementation for devices; None: for all."""
        single = device_types is None or isinstance(device_types, str)
        types: list[str | None] = [device_types] if single else [*device_types]
        takes = self._opoverload._schema.arguments
        if device_types is not None and not any([a.type.is_tensor or a.type.base == "Device" for a in takes]):
            raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            for each in types:
                key = KEY_FOR_ALL if each is None else device(each).type.upper()
                self._backend_fns[each] = function
                self._opoverload.kernels[key] = self.checked(each, function)
            return function

        return register if fn is None else register(fn)

    def checked(self, device_type: str | None, function: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel that returns new memory only, and can be switched off."""

        def kernel(*args: Any, **kwargs: Any) -> Any:
            result = (self._init_fn if device_type in self._disabled_kernel else function)(*args, **kwargs)
            refuse_aliases(self._name, function, args, kwargs, result)
            return result

        return kernel

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """set_kernel_enabled(device_type, enabled=True): with it off, the function that the operator was made of
        computes instead."""
        before = set(self._disabled_kernel)
        what = "enable" if enabled else "disable"
        if device_type not in self._backend_fns:
            log.warning("Attempted to %s kernel for %s but no kernel was registered for this device type.", what,
                        device_type)  # fmt: skip
        elif enabled != (device_type in before):
            log.warning("Attempted to %s kernel for %s but it was already %sd.", what, device_type, what)
        (self._disabled_kernel.discard if enabled else self._disabled_kernel.add)(device_type)
        try:
            yield
        finally:
            self._disabled_kernel = before

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """register_fake(fn, /): what the results look like. Kept for those who ask: leafgrad does not compile."""
        self._abstract_fn = self._opoverload.fake = fn
        return fn

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Any = None) -> None:
        """register_autograd(backward, /, *, setup_context=None): how gradients are computed, as by a Function."""
        register_autograd(self._opoverload, self, backward, setup_context)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """register_vmap(func=None): `func(info, in_dims, *args)` computes many samples at once."""

        def register(function: Callable[..., Any]) -> None:
            self._opoverload.vmap = function

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """register_autocast(device_type, cast_inputs): the dtype of its tensors in an autocast region."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise ValueError(f"Device type '{device_type}' does not support autocast.")
        if device_type == "cpu":
            self._opoverload.cast_to = cast_inputs


def register_autograd(op: Any, shown: Any, backward: Callable[..., Any], setup_context: Any) -> None:
    if op._schema.is_mutable:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {shown} with schema {op._schema}. Please "
            f"create a functional operator and register an autograd formula for that.\n  at {errors.here()}"
        )
    refuse_tensors_by_name("register_autograd", op)
    op.give_gradients(backward, setup_context)


def refuse_tensors_by_name(caller: str, op: Any) -> None:
    if any([a.type.is_tensor for a in op._schema.keywords]):
        raise NotImplementedError(
            f"{caller} with kwarg-only Tensor args. In the original definition of the op, please make your tensors not "
            f"kwarg-only. Got: {op._schema}\n  at {errors.here()}"
        )


def refuse_aliases(name: str, function: Any, args: Any, kwargs: Any, result: Any) -> None:
    """Results are new tensors, in memory that neither the arguments nor the other results have."""
    seen = {memory_of(t) for t in flattened([*args, *kwargs.values()])[0] if isinstance(t, TensorBase)} - {None}
    results = flattened(result if isinstance(result, tuple) else (result,))[0]
    for tensor in results:
        memory = memory_of(tensor) if isinstance(tensor, TensorBase) else None
        if memory is not None and memory in seen:
            raise errors.mistake(
                RuntimeError,
                f"{name} (with implementation in {inspect.getmodule(function)}): The output of this custom operator "
                "(1) must not also be an input to this custom operator and (2) may not alias any inputs to this custom "
                "operator or other returns. The most common way to trigger this error is if we have y = custom_op(x) "
                "and y and x are the same Tensor. Please instead return a clone of the offending output tensor(s) "
                "(e.g. return x.clone()) or refactor the custom operator to not return y.",
            )
        seen.add(memory)


def memory_of(tensor: TensorBase) -> int | None:
    """What stands for the memory of a tensor; None if it has none."""
    array = tensor.array
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return id(array) if tensor.array.size else None
