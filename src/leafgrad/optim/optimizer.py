"""Optimizer: parameter groups, state, and the loop that all optimisers share.

An optimiser is an update, an operation with one formula (leafgrad/optim/update.py), applied to every parameter. What
they have in common is done once, here, by `Optimizer.step`: find the parameters that have a gradient and what is kept
for each, let the update change all of them in place, count the version.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial, wraps
from inspect import signature
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from leafgrad import errors
from leafgrad._core import origin
from leafgrad._core.bind import execute
from leafgrad._core.events import ZERO_GRAD, noted_again
from leafgrad._core.modes import about_to_change, call_in_modes, switches
from leafgrad._core.tensor import TensorBase, constant, is_meta, links, ndarray
from leafgrad._core.thread_state import shared_modes
from leafgrad._core.thread_state import state as thread
from leafgrad._settings import typename
from leafgrad._tensor.autograd import clear_grad
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import enable_grad
from leafgrad.optim.hooks import (
    Hooked,
    global_post_hooks,
    global_pre_hooks,
)
from leafgrad.optim.hooks import (
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
)
from leafgrad.optim.hooks import (
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)
from leafgrad.optim.states import YOUNGER_OPTIONS, count_in_tensors, loaded, step_counter, zeros_for
from leafgrad.optim.states import State as State

Array = Any
Group = dict[str, Any]
Params = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Group]

_getframe = sys._getframe


class _Required:
    """Stands for a default that a group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _Required()


Method = TypeVar("Method", bound=Callable[..., Any])


def announced(method: Method) -> Method:
    """The `step` of somebody's own optimiser, of whose calls modes are told."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._stepped = True
        if (global_pre_hooks or global_post_hooks) and self._step_pre_hooks is None:
            self._watch_step()
            return self.step(*args, **kwargs)
        if not thread.in_modes:
            return method(self, *args, **kwargs)
        return announce(self, method.__name__, lambda: method(self, *args, **kwargs))

    return call  # type: ignore[return-value]


def announce(optimizer: Any, name: str, function: Callable[[], Any]) -> Any:
    """Call a function of which the modes are told, under the name that PyTorch's profiles have for it."""
    return call_in_modes(optimizer, f"Optimizer.{name}#{type(optimizer).__name__}.{name}", False, function)


class Optimizer(Hooked):
    """Optimizer(params, defaults): the base class.

    `params` are parameters, pairs (name, parameter), or groups: dictionaries with 'params' and options of their own.
    A subclass says what its `_update` is and what that needs (`_kept`, `_prepare`), or overrides `step`.
    """

    _update: Any = None  # the operation that is one step of a parameter, an Update
    _options: Callable[[Group], tuple[Any, ...]]  # its options, the learning rate first
    _counts: bool  # is there one more, which `_prepare` tells?

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = announced(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
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
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _start(self) -> None:
        """What is not part of the state: it is made again where an optimiser is unpickled or copied."""
        self._stepped = False
        self._watched_step = None
        self._start_without_hooks()
        if self._update is not None:
            self._core = self._update.core
            self._all_kept: tuple[str, ...] = self._update.inputs[2:]
            self._asked = tuple(self._update.kernel.only_if.values())  # options by which some of these are left out
            names = [name for name in self._update.options if name in self.defaults]
            self._options = itemgetter(*names)
            self._counts = len(names) < len(self._update.options)

    # -- the step -----------------------------------------------------------------------------------------------------

    def _kept(self, group: Group) -> tuple[str, ...]:
        """What is updated beside a parameter: names in its state, in the order of the inputs of the update."""
        if self._update is None:
            raise NotImplementedError(f"{type(self).__name__} defines neither an update nor step()")
        if not self._asked:
            return self._all_kept
        if len(self._all_kept) == 1:  # SGD, whose steps are the shortest
            return self._all_kept if group[self._asked[0]] else ()
        only_if = self._update.kernel.only_if
        return tuple([name for name in self._all_kept if name not in only_if or group[only_if[name]]])

    def _first(self, name: str, p: Any, group: Group) -> Any:
        """What is kept for a parameter, before its first step."""
        return zeros_for(p)

    def _prepare(self, p: Any, kept: tuple[str, ...], group: Group) -> tuple[State, Any]:
        """The state of a parameter, made at its first step, and how many steps it has had, this one included; more than
        that where the update needs it."""
        state = self.state[p]
        if not state:
            state["step"] = step_counter()
            for name in kept:
                state[name] = self._first(name, p, group)
        counter = state["step"].array
        if switches.modes and thread.in_modes:  # somebody sees operations
            execute(links.add, (counter, constant(1, counter.dtype)), (), counter)
        else:  # NumPy takes a microsecond for the same, a quarter of a small update
            counter[()] = counter.item() + 1
        return state, counter.item()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """step(closure=None): update all parameters that have a gradient. A closure computes the loss again."""
        if (global_pre_hooks or global_post_hooks) and self._step_pre_hooks is None:
            self._watch_step()
            return self.step() if closure is None else self.step(closure)
        if switches.modes and (thread.modes or shared_modes):
            return announce(self, "step", partial(self._step, closure, True))
        return self._step(closure, False)

    def _step(self, closure: Callable[[], Any] | None, watched: bool) -> Any:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._stepped = True
        if self.defaults.get("differentiable"):
            with enable_grad():
                self._recorded_steps()
            return loss
        frame = origin.user_frame(_getframe(2))  # behind `step`
        here = (frame.f_code, frame.f_lasti)
        for group in self.param_groups:
            if group.get("capturable"):
                refuse_to_step(self, group)
            kept = self._kept(group)
            plain = links.tensor_class
            arrays: list[Array] = []  # of parameters that have had equally many steps: nearly always all of them
            last: Any = 0
            for p in group["params"]:
                gradient = p._grad
                if gradient is None:
                    continue
                if watched:
                    about_to_change(p)
                if gradient.__class__ is not plain and gradient.is_sparse:
                    self._sparse_step(p, gradient, group)
                    p.version[1] = here
                    continue
                if kept:
                    state, count = self._prepare(p, kept, group)
                    if count != last:
                        if arrays:
                            self._execute(arrays, group, last)
                            arrays = []
                        last = count
                arrays.append(p.array)
                arrays.append(gradient.array)
                for name in kept:
                    arrays.append(state[name].array)
                version = p.version
                version[0] += 1
                version[1] = here
            if arrays:
                self._execute(arrays, group, last)
        return loss

    _instead_for_sparse = ""  # which optimiser takes sparse gradients

    def _sparse_step(self, p: Any, gradient: Any, group: Group) -> None:
        """The step of a parameter that has a sparse gradient; few optimisers know one."""
        name = "Adam" if self._instead_for_sparse else type(self).__name__
        raise errors.mistake(RuntimeError, f"{name} does not support sparse gradients{self._instead_for_sparse}")

    def _execute(self, arrays: list[Array], group: Group, count: Any) -> None:
        """One step of parameters, each given with its gradient and what is kept for it."""
        if arrays[0].__class__ is not ndarray and is_meta(arrays[0]):
            return
        options = (*self._options(group), count) if self._counts else self._options(group)
        if options[0].__class__ is not float:
            options = (float(options[0]), *options[1:])  # of a tensor
        execute(self._core, arrays, options, arrays)

    def _recorded_steps(self) -> None:
        """The formula on tensors, for differentiable=True: after the step each parameter has a history that leads
        through its gradient, the learning rate and earlier steps. So it cannot be a leaf; it is a computed tensor, such
        as a clone, whose `.grad` was set or retained. Options like the learning rate may be tensors."""
        for group in self.param_groups:
            refuse_to_step(self, group)
            kept = self._kept(group)
            for p in group["params"]:
                if p._grad is not None:
                    state, count = self._prepare(p, kept, group) if kept else ({}, 0)
                    last = [self._recorded_count(state, count)] if self._counts else []
                    tensors = [p, *[state[name] if name in kept else None for name in self._update.inputs[2:]]]
                    # copies, because all of them change before the step is differentiated
                    copy, *copies = [None if t is None else t.clone() for t in tensors]
                    results = self._update.function(copy, p._grad, *copies, *self._options(group), *last)
                    for t, new in zip(tensors, results):
                        if t is not None:
                            t.copy_(new)

    def _recorded_count(self, state: State, count: Any) -> Any:
        return count

    def _watch_order(self) -> None:
        """Asked for by the first schedule: was there a step since then, and is `step` still what it was?"""
        if self._watched_step is None:
            self._watched_step = vars(self).get("step", Optimizer.step)
            # a function of somebody's own, which stands where ours would, does not say whether it was called
            self._stepped = "step" in vars(self) and self._step_pre_hooks is None

    def _step_was_replaced(self) -> bool:
        return vars(self).get("step", Optimizer.step) is not self._watched_step

    def zero_grad(self, set_to_none: bool = True) -> None:
        """zero_grad(set_to_none=True): forget the gradients of all parameters, or set them to zero."""
        noted_again(ZERO_GRAD, self, _getframe(1))
        if switches.modes and thread.in_modes:
            announce(self, "zero_grad", partial(self._clear, set_to_none))
        elif set_to_none:  # written out: in plain Python the call is a fifth of it
            for group in self.param_groups:
                for p in group["params"]:
                    p._grad = None
        else:
            self._clear(False)

    def _clear(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                clear_grad(p, set_to_none)

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
        refuse_contradictions(group)
        if len(set(map(id, group["params"]))) != len(group["params"]):
            errors.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information"
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
        self._run_hooks("before saving")
        numbers: dict[int, int] = {}
        groups: list[Group] = []
        for group in self.param_groups:
            start = sum(len(g["params"]) for g in groups)
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(p)] if isinstance(p, TensorBase) else p: values for p, values in self.state.items()}
        return self._state_by_hooks("after saving", {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another optimiser was. Parameters are matched by their order."""
        state_dict = self._state_by_hooks("before loading", state_dict.copy())
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
        self._run_hooks("after loading")

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_stepped" not in self.__dict__:
            self._start()
        self.defaults.setdefault("differentiable", False)
        if self._update is None:
            return
        known = signature(type(self)).parameters
        younger = {name: default for name, default in YOUNGER_OPTIONS.items() if name in known}
        for group in self.param_groups:
            for name, default in younger.items():
                group.setdefault(name, default)
        count_in_tensors(self.state)

    # -- printing -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {i}\n{''.join(options)}"
        return text + ")"


# -- helpers ----------------------------------------------------------------------------------------------------------


def refuse_contradictions(group: Group) -> None:
    """`foreach` and `fused` only choose between equal implementations."""
    if group.get("foreach") and group.get("fused"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if group.get("fused") and group.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`")


def refuse_to_step(optimizer: Optimizer, group: Group) -> None:
    """Options that PyTorch's constructors take and its steps on the CPU do not: graphs are captured on GPUs."""
    if group.get("differentiable") and group.get("foreach") and type(optimizer).__name__ != "SGD":
        raise errors.mistake(AssertionError, "_foreach ops don't support autograd", fix="foreach=None")
    if group.get("capturable"):
        more = {"ASGD": "params, mus, etas, and state_steps", "NAdam": "params, mu_products and state_steps"}
        what = more.get(type(optimizer).__name__, "params and state_steps")
        devices = "['cuda', 'xpu', 'hpu', 'privateuseone']"
        raise errors.mistake(
            AssertionError,
            f"If capturable=True, {what} must be on supported devices: {devices}.",
            fix="capturable=False   # it is about CUDA graphs, and leafgrad computes on the CPU",
        )


def check_betas(betas: Any) -> None:
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_options(lr: Any, **options: float) -> None:
    """The checks that all constructors make: nothing may be negative."""
    if isinstance(lr, TensorBase) and lr.array.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")
