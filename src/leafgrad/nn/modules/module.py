"""Module: the base of everything that has parameters."""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Self

from leafgrad import _dtypes, errors
from leafgrad._core.events import ZERO_GRAD, noted
from leafgrad._core.tensor import TensorBase, is_meta
from leafgrad._device import names_meta
from leafgrad._missing import part
from leafgrad._settings import typename
from leafgrad._tensor.autograd import clear_grad
from leafgrad._tensor.conversions import asked_of_to
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn.modules import _global_hooks
from leafgrad.nn.modules._calling import Called
from leafgrad.nn.modules._conversion import replaced
from leafgrad.nn.modules._global_hooks import *  # noqa: F403  what PyTorch has here
from leafgrad.nn.modules._state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from leafgrad.nn.modules._state import Stateful
from leafgrad.nn.modules._state import _IncompatibleKeys as _IncompatibleKeys
from leafgrad.nn.parameter import Buffer, Parameter
from leafgrad.ops.creation.factories import empty_like

__all__ = ["Module"]
__all__ += _global_hooks.__all__


class Module(Called, Stateful):
    """The base class of all models and layers.

        class Regression(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(1, 1)

            def forward(self, x):
                return self.linear(x)

    Parameters, buffers and modules that are assigned as attributes are kept in `_parameters`, `_buffers` and
    `_modules`, by name; everything else is an ordinary attribute.
    """

    training: bool
    call_super_init = False  # shall Module.__init__ pass its arguments on, for multiple inheritance?
    dump_patches = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        self.__dict__.update(training=True, _parameters={}, _buffers={}, _modules={}, **without_hooks())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A module from a file, which may be so old that there were not all kinds of hooks yet."""
        self.__dict__.update({**without_hooks(), **state})

    # -- attributes ---------------------------------------------------------------------------------------------------

    # Called for names that are no ordinary attributes. It looks in __dict__, because a subclass that forgot
    # super().__init__() has none of the three, and asking for them would end up here again.
    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_modules" in own:
            if name in (parameters := own["_parameters"]):
                return parameters[name]
            if name in (modules := own["_modules"]):
                return modules[name]
            if name in (buffers := own["_buffers"]):
                return buffers[name]
        first = f"'{type(self).__name__}' object has no attribute '{name}'"
        if "_modules" not in own and name.startswith("_") and not name.startswith("__"):  # set by Module.__init__
            raise errors.before_init(self, first)
        raise AttributeError(first, name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if "_modules" not in own:
            if isinstance(value, (Parameter, Module)):
                what = "parameters" if isinstance(value, Parameter) else "module"
                raise errors.before_init(self, f"cannot assign {what} before Module.__init__() call")
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name, own, self._buffers, self._modules)
            self.register_parameter(name, value)
        elif name in own["_parameters"]:
            self._clear("parameter", "Parameter", own["_parameters"], name, value)
        elif isinstance(value, Module):
            self._forget(name, own, self._buffers)
            own["_modules"][name] = _global_hooks.replaced(_global_hooks.module_registration_hooks, self, name, value)
        elif name in own["_modules"]:
            self._clear("child module", "Module", own["_modules"], name, value)
        elif name in own["_buffers"] or (isinstance(value, TensorBase) and isinstance(value, Buffer)):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _clear(self, what: str, kind: str, place: dict[str, Any], name: str, value: Any) -> None:
        if value is not None:
            expected = f"(torch.nn.{kind} or None expected)"
            raise TypeError(f"cannot assign '{typename(value)}' as {what} '{name}' {expected}")
        place[name] = None

    def _forget(self, name: str, *places: dict[str, Any]) -> None:
        """Free a name that is about to mean something else."""
        for place in places:
            place.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, TensorBase):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        own = type(self).register_buffer
        if own is Module.register_buffer or "persistent" in inspect.signature(own).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:  # a subclass whose method is older than the argument
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent parameter is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        for place in (self._parameters, self._buffers, self._modules):
            if name in place:
                del place[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[0].isdigit()})

    def _check_name(self, kind: str, name: Any, place: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in place and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """register_parameter(name, param): the same as assigning it as an attribute; None reserves the name."""
        if "_parameters" not in self.__dict__:
            raise errors.before_init(self, "cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.node is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = _global_hooks.replaced(_global_hooks.parameter_registration_hooks, self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """register_buffer(name, tensor, persistent=True): a tensor that belongs to the module and is not learnt. A
        persistent one is part of the state_dict."""
        if "_buffers" not in self.__dict__:
            raise errors.before_init(self, "cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _global_hooks.replaced(_global_hooks.buffer_registration_hooks, self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """add_module(name, module): the same as assigning it as an attribute."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = _global_hooks.replaced(_global_hooks.module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """register_module(name, module): another name of add_module."""
        self.add_module(name, module)

    # -- walking ------------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """named_modules(memo=None, prefix='', remove_duplicate=True): this module and all below, with their paths."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """modules(): this module and all below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """named_children(): the modules directly below, with their names."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """children(): the modules directly below."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, members: Callable[[Module], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """What `members` finds in this module and, if `recurse`, below it; a tensor with two names comes once."""
        seen: set[int] = set()
        places = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in places:
            for name, tensor in members(module):
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """named_parameters(prefix='', recurse=True, remove_duplicate=True): all parameters with their paths."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """parameters(recurse=True): all parameters, as an optimiser wants them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """named_buffers(prefix='', recurse=True, remove_duplicate=True): all buffers with their paths."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """buffers(recurse=True): all buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """get_submodule(target): the module at a dotted path; '' is this module."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """set_submodule(target, module, strict=False): put a module at a dotted path; with `strict` there must be one
        already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_member(self, target: str) -> tuple[Module, str, Any]:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target: str) -> Parameter:
        """get_parameter(target): the parameter at a dotted path."""
        _, name, found = self._get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Any:
        """get_buffer(target): the buffer at a dotted path."""
        module, name, found = self._get_member(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # -- changing all of it -------------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """apply(fn): call `fn` with every module below this one, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """train(mode=True): training mode (dropout drops) or, if False, evaluation mode."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """eval(): train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """requires_grad_(requires_grad=True): shall gradients of the parameters be computed?"""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """zero_grad(set_to_none=True): forget the gradients of all parameters, or set them to zero."""
        noted(ZERO_GRAD, self, None)
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the values of all parameters, gradients and buffers by `fn` of them. Parameters stay the same
        objects, because optimisers hold on to them, unless `__future__` says otherwise."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for name, parameter in self._parameters.items():
                if parameter is not None:
                    given = fn(parameter)
                    gradient = None if parameter._grad is None else fn(parameter._grad)
                    self._parameters[name] = replaced(parameter, given, gradient)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """to(device), to(dtype), to(tensor), to(device, dtype, non_blocking=False), each with memory_format=None: cast
        all floating tensors, and lay out those of 4 or 5 dimensions in this format."""
        device, wanted, layout, _ = asked_of_to(args, kwargs, takes_copy=False)
        if wanted is not None and not (wanted.is_floating_point or wanted.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}"
            )
        if wanted is not None and wanted.is_complex:
            errors.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules "
                "might not work as expected when using complex tensors as parameters or buffers."
            )

        def converted(t: Any) -> Any:
            dtype = wanted if t.is_floating_point() or t.is_complex() else None
            wide = layout is not None and t.dim() in (4, 5)
            if device is not None and is_meta(t.array) and not names_meta(device):
                raise errors.mistake(
                    NotImplementedError,
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device.",
                    fix=f"module.to_empty(device={str(device)!r})",
                )
            return t.to(device=device, dtype=dtype, memory_format=layout if wide else None)

        stays = device is None or (not names_meta(device) and not self._has_meta())
        return self if wanted is None and layout is None and stays else self._apply(converted)

    def _has_meta(self) -> bool:
        """Is there a parameter or buffer without data?"""
        return any([is_meta(t.array) for t in (*self.parameters(), *self.buffers())])

    def type(self, dst_type: Any) -> Self:
        """type(dst_type): cast all parameters and buffers."""
        return self._apply(lambda t: t.type(dst_type))

    def _cast_floats(self, kind: _dtypes.dtype) -> Self:
        return self._apply(lambda t: t.to(kind) if t.is_floating_point() else t)

    def float(self) -> Self:
        """float(): cast all floating tensors to float32."""
        return self._cast_floats(_dtypes.float32)

    def double(self) -> Self:
        """double(): cast all floating tensors to float64."""
        return self._cast_floats(_dtypes.float64)

    def half(self) -> Self:
        """half(): cast all floating tensors to float16."""
        return self._cast_floats(_dtypes.float16)

    def bfloat16(self) -> Self:
        """bfloat16(): cast all floating tensors to bfloat16."""
        return self._cast_floats(_dtypes.bfloat16)

    def cpu(self) -> Self:
        """cpu(): the module itself; it is there already."""
        return self._apply(lambda t: t.cpu()) if self._has_meta() else self

    def cuda(self, device: Any = None) -> Self:
        """cuda(): refused, as every device but the CPU."""
        return self.to("cuda")

    def xpu(self, device: Any = None) -> Self:
        """xpu(): refused, as every device but the CPU."""
        return self.to("xpu")

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """to_empty(*, device, recurse=True): parameters and buffers with new memory, whose values are not set."""
        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def share_memory(self) -> Self:
        """share_memory(): `share_memory_` of all parameters and buffers."""
        for tensor in (*self.parameters(), *self.buffers()):
            tensor.share_memory_()
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """compile(...): as torch.compile, whose arguments it takes: the module runs as it is."""
        part("compiler").compile(self, *args, **kwargs)

    # -- printing -----------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """extra_repr(): what stands in the parentheses of the printed form."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = "".join(f"\n  {line}" for line in lines + children)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def without_hooks() -> dict[str, Any]:
    """What a module has of hooks, and of marks on its members, when it is new."""
    kinds = (
        "forward",
        "forward_pre",
        "backward",
        "backward_pre",
        "state_dict",
        "state_dict_pre",
        "load_state_dict_pre",
    )
    places = [f"_{kind}_hooks" for kind in (*kinds, "load_state_dict_post")]
    places += ["_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"]
    marks: dict[str, Any] = {"_is_full_backward_hook": None, "_non_persistent_buffers_set": set()}
    return {**marks, **{place: OrderedDict() for place in places}}


def indented(text: str) -> str:
    """A text of several lines as part of another: all lines but the first move to the right."""
    return text.replace("\n", "\n  ")


sys.modules[__name__].__class__ = _global_hooks.WithHooks
