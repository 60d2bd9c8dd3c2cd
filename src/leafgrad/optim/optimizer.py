"""Optimizer: parameter groups, state, and the loop that all optimisers share.

An optimiser is one formula, applied to every parameter. What the formulas have in common is done once, here, by
`Optimizer.step`: find the parameters that have a gradient, add the weight decay, subtract the change that the formula
gives, count the version. Formulas are written for NumPy arrays and work in place, in scratch memory that is kept from
step to step. They go element by element, so a large parameter is handed to them in pieces that fit into the cache.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core import origin
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd.grad_mode import enable_grad
from leafgrad.autograd.hooks import RemovableHandle
from leafgrad.kernels import NATIVE, add, multiply, negative, subtract
from leafgrad.nn.modules._calling import registered
from leafgrad.nn.modules.module import clear_grad
from leafgrad.nn.parameter import typename

Array = Any
Group = dict[str, Any]
Numbers = Sequence[Array]  # the coefficients of a formula, as zero-dimensional arrays

WHOLE = 131072  # elements up to which a parameter is worked on as a whole
PIECE = 32768  # elements of a piece otherwise: five or six pieces fit into a second-level cache
LONGER = 4  # times that, if the formula keeps no buffers

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)


class _Required:
    """Stands for a default that a group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _Required()


class Optimizer:
    """Optimizer(params, defaults): the base class.

    `params` are parameters, pairs (name, parameter), or groups: dictionaries with 'params' and options of their own.
    A subclass says what its formula needs (`prepare`, `coefficients`) and what it is (`change`), or overrides `step`.
    """

    scratches: ClassVar[int] = 3  # how many arrays of scratch memory are there for `step` and `change` together

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._start()
        if isinstance(params, TensorBase):
            raise errors.mistake(
                TypeError,
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{typename(params)}",
                ("tensor", errors.describe(params)),
                fix=f"[{errors.as_code(errors.name_of(params))}]   # a list of one",
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _start(self) -> None:
        """What is not part of the state: it is made again where an optimiser is unpickled or copied."""
        self._stepped = False
        self._step_pre_hooks: Any = None
        self._step_post_hooks: Any = None
        self._memory: dict[Any, list[Array]] = {}
        self._scratch: dict[Any, list[Array]] = {}
        self._arrays: dict[Any, tuple[list[Array], Array | None]] = {}

    # -- the step -----------------------------------------------------------------------------------------------------

    def prepare(self, p: Any, group: Group) -> tuple[Sequence[Array], float]:
        """The arrays that the formula keeps for a parameter, made at its first step, and how many steps it has had,
        this one included, if the coefficients depend on that."""
        raise NotImplementedError(f"{type(self).__name__} defines neither a formula nor step()")

    def coefficients(self, group: Group, count: float) -> tuple[float, ...]:
        """The numbers in the formula, for parameters that have had `count` steps."""
        raise NotImplementedError

    def change(
        self, p: Array, g: Array, buffers: Sequence[Array], scratch: Sequence[Array], numbers: Numbers, group: Group
    ) -> Array:
        """What a step subtracts from the parameter `p` with the gradient `g`. Updates `buffers`; leaves `p` alone."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """step(closure=None): update all parameters that have a gradient. A closure computes the loss again."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._stepped = True
        if self.defaults.get("differentiable"):
            with enable_grad():
                self._recorded_steps()
            return loss
        frame = origin.user_frame()
        code, lasti = frame.f_code, frame.f_lasti
        for group in self.param_groups:
            kind = numbers = decay = last_count = None
            for p in group["params"]:
                gradient = p._grad
                if gradient is None:
                    continue
                x, g = p.array, gradient.array
                buffers, count = self.prepare(p, group)
                if x.dtype is not kind or count != last_count:
                    kind, last_count = x.dtype, count
                    numbers, decay = self._numbers(group, count, kind)
                if (kind is _f32 or kind is _f64) and g.dtype is kind and x.size <= WHOLE:
                    self._update(x, g, buffers, numbers, decay, group)
                else:
                    self._update_by_pieces(x, g, buffers, numbers, decay, group)
                version = p.version
                version[:] = [version[0] + 1, code, lasti]
        return loss

    def recorded_step(self, p: Any, group: Group) -> None:
        """One step of one parameter in tensor operations, for differentiable=True."""
        raise NotImplementedError(f"{type(self).__name__} has no step that can be differentiated")

    def _recorded_steps(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is not None:
                    self.recorded_step(p, group)

    def _update(self, p: Array, g: Array, buffers: Sequence[Array], numbers: Any, decay: Any, group: Group) -> None:
        """One step of one parameter, or of a piece of it."""
        scratch = self._scratch.get((p.shape, p.dtype.char)) or self._scratch_for(p)
        if group.get("maximize"):
            g = negative(g, scratch[0])
        if decay is not None:
            g = add(multiply(p, decay, scratch[1]), g, scratch[0])
        change = self.change(p, g, buffers, scratch, numbers, group)
        if p.size == 1 and not NATIVE:
            p[...] = p - change  # NumPy's in-place operations take three times as long for a single element
        else:
            subtract(p, change, p)

    def _update_by_pieces(
        self, p: Array, g: Array, buffers: Sequence[Array], numbers: Any, decay: Any, group: Group
    ) -> None:
        """`_update` for what is large or unusual: 16-bit floats are computed in float32, complex numbers as pairs of
        real ones, arrays that are no plain block of memory in a copy."""
        arrays = [p, g.astype(p.dtype, copy=False), *buffers]
        flat = [as_real_vector(a) for a in arrays]
        size = PIECE if buffers else LONGER * PIECE
        for start in range(0, flat[0].size, size):
            pieces = [a[start : start + size] for a in flat]
            self._update(pieces[0], pieces[1], pieces[2:], numbers, decay, group)
        for array, vector in zip(arrays, flat):
            if array is not arrays[1] and not np.may_share_memory(array, vector):
                write_back(vector, array)

    def _numbers(self, group: Group, count: float, kind: Any) -> tuple[Any, Any]:
        """The coefficients and the weight decay as arrays: NumPy converts those much faster than Python numbers."""
        decay = 0.0 if group.get("decoupled_weight_decay") else float(group.get("weight_decay", 0))
        values = (*self.coefficients(group, count), decay)
        key = (values, kind)
        found = self._arrays.get(key)
        if found is None:
            if len(self._arrays) > 100:  # some are different in every step
                self._arrays.clear()
            real = _f64 if kind.char in "dD" else _f32
            arrays = [np.array(value, real) for value in values]
            found = self._arrays[key] = (arrays[:-1], arrays[-1] if decay else None)
        return found

    def _scratch_for(self, p: Array) -> list[Array]:
        """Arrays of the form of `p`, all of them in the same memory, which so stays warm."""
        memory = self._memory.get(p.dtype.char)
        if memory is None or memory[0].size < p.size:
            self._scratch.clear()
            memory = [np.empty(p.size, p.dtype) for _ in range(self.scratches)]
            self._memory[p.dtype.char] = memory
        made = self._scratch[p.shape, p.dtype.char] = [part[: p.size].reshape(p.shape) for part in memory]
        return made

    def _has_stepped(self) -> bool:
        """Did somebody call `step`? Unknown, and so True, for a class that has a `step` of its own."""
        return self._stepped or type(self).step is not Optimizer.step

    def zero_grad(self, set_to_none: bool = True) -> None:
        """zero_grad(set_to_none=True): forget the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                else:
                    clear_grad(p, False)

    # -- groups -------------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """add_param_group(param_group): more parameters, with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = param_group
        if isinstance(group["params"], TensorBase):
            group["params"] = [group["params"]]
        elif isinstance(group["params"], set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        group["params"] = list(group["params"])
        self._split_names(group)
        for p in group["params"]:
            if not isinstance(p, TensorBase):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            recorded = self.defaults.get("differentiable")
            if p.node is not None and not (recorded or p.retains_grad):  # type: ignore[attr-defined]
                raise errors.mistake(
                    ValueError,
                    "can't optimize a non-leaf Tensor",
                    ("tensor", errors.describe(p)),
                    ("recorded", errors.recorded(p)),
                    fix="p = (...).detach().requires_grad_()   # the values that training starts with",
                )
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        refuse_unsupported(group)
        if len(set(map(id, group["params"]))) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        self._check_against_other_groups(group)
        self.param_groups.append(group)

    def _split_names(self, group: Group) -> None:
        """Parameters may come as pairs (name, parameter): either all of them or none."""
        pairs = [isinstance(entry, tuple) for entry in group["params"]]
        if all(pairs):
            group["param_names"] = [name for name, _ in group["params"]]
            group["params"] = [p for _, p in group["params"]]
        elif any(pairs):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")

    def _check_against_other_groups(self, group: Group) -> None:
        if self.param_groups and ("param_names" in group) != ("param_names" in self.param_groups[0]):
            which = "with names" if "param_names" in group else "without names"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{which} to the optimizer"
            )
        others = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in others for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    # -- saving and loading -------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): {'state': ..., 'param_groups': ...}, in which numbers stand for the parameters."""
        numbers: dict[int, int] = {}
        groups: list[Group] = []
        for group in self.param_groups:
            start = sum(len(g["params"]) for g in groups)
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(p)] if isinstance(p, TensorBase) else p: values for p, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another optimiser was. Parameters are matched by their order."""
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(saved, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        own = chain.from_iterable(group["params"] for group in self.param_groups)
        parameters = dict(zip(chain.from_iterable(group["params"] for group in saved), own))
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in parameters:
                p = parameters[number]
                state[p] = {name: loaded(name, value, p) for name, value in values.items()}
            else:
                state[number] = values
        groups = []
        for group, mine in zip(saved, self.param_groups):
            group["params"] = mine["params"]
            if "param_names" in mine:
                group.setdefault("param_names", mine["param_names"])
            groups.append({**{k: v for k, v in self.defaults.items() if k not in group}, **group})
        self.__setstate__({"state": state, "param_groups": groups})

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_scratch" not in self.__dict__:
            self._start()

    # -- hooks --------------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_step_pre_hook(hook): call `hook(optimizer, args, kwargs)` before each step; it may return new
        (args, kwargs)."""
        self._watch_step()
        return registered(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_step_post_hook(hook): call `hook(optimizer, args, kwargs)` after each step."""
        self._watch_step()
        return registered(self._step_post_hooks, hook)

    def _watch_step(self) -> None:
        """From the first hook on, `step` is a function that runs them; without hooks there is nothing to pay for."""
        if self._step_pre_hooks is not None:
            return
        self._step_pre_hooks, self._step_post_hooks = OrderedDict(), OrderedDict()
        step = self.step

        def hooked(*args: Any, **kwargs: Any) -> Any:
            args = (self, *args)  # PyTorch's hooks see the optimiser among the arguments
            for hook in list(self._step_pre_hooks.values()):
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            result = step(*args[1:], **kwargs)
            for hook in list(self._step_post_hooks.values()):
                hook(self, args, kwargs)
            return result

        self.step = hooked  # type: ignore[method-assign]

    # -- printing -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {i}\n{''.join(options)}"
        return text + ")"


# -- helpers ----------------------------------------------------------------------------------------------------------


def as_real_vector(array: Array) -> Array:
    """An array as a vector of float32 or float64: the same memory where that is possible, otherwise a copy."""
    vector = array.reshape(-1)
    if array.dtype.kind == "c":
        return vector.view(_f64 if array.dtype.char == "D" else _f32)
    return vector if array.dtype.itemsize > 2 else vector.astype(_f32)


def write_back(vector: Array, array: Array) -> None:
    """Undo `as_real_vector`."""
    if array.dtype.kind == "c":
        vector = vector.view(array.dtype)
    array[...] = vector.reshape(array.shape)


def refuse_unsupported(group: Group) -> None:
    """`foreach` and `fused` only choose between equal implementations."""
    if group.get("foreach") and group.get("fused"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if group.get("fused") and group.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`")
    if group.get("capturable"):
        raise NotImplementedError("capturable=True is about CUDA graphs; leafgrad computes on the CPU only")


def loaded(name: str, value: Any, p: Any) -> Any:
    """A value of a loaded state as the parameter needs it: in its dtype, except for the number of the step."""
    if name == "step":
        return value if isinstance(value, TensorBase) else step_counter(float(value))
    if isinstance(value, TensorBase):
        return value.to(dtype=p.dtype) if p.is_floating_point() else value  # type: ignore[attr-defined]
    return value


def step_counter(count: float = 0.0) -> Any:
    """How many steps a parameter has had: a tensor, as in PyTorch."""
    kind = _f64 if _dtypes.get_default_dtype() is _dtypes.float64 else _f32
    return wrap(np.array(count, kind))


def count_step(state: dict[str, Any]) -> float:
    """Add one to the number of steps in a parameter's state, and return it."""
    counter = state["step"].array
    count: float = counter.item() + 1
    counter[()] = count
    return count


def zeros_for(p: Any) -> Any:
    """A tensor of zeros with the shape, dtype and memory layout of a parameter."""
    return wrap(np.zeros_like(p.array))


def check_options(lr: Any, **options: float) -> None:
    """The checks that all constructors make: nothing may be negative."""
    if isinstance(lr, TensorBase) and lr.array.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")
