"""Optimizer: parameter groups, state, and the loop that all optimisers share.

An optimiser is one formula, applied to every parameter. What the formulas have in common is done once, here, by
`Optimizer.step`: find the parameters that have a gradient, add the weight decay, subtract the change that the formula
gives, count the version. Formulas are written for NumPy arrays and work in place, in scratch memory that is kept from
step to step. They go element by element, so a large parameter is handed to them in pieces that fit into the cache.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from leafgrad import dtypes
from leafgrad._core import TensorBase, wrap
from leafgrad.autograd import graph
from leafgrad.autograd.hooks import RemovableHandle
from leafgrad.autograd.modes import enable_grad
from leafgrad.nn.calling import registered
from leafgrad.nn.module import clear_grad
from leafgrad.nn.parameter import typename

Array = Any
Group = dict[str, Any]
Numbers = Sequence[Array]  # the coefficients of a formula, as zero-dimensional arrays

WHOLE = 131072  # elements up to which a parameter is worked on as a whole
PIECE = 32768  # elements of a piece otherwise: five or six pieces fit into a second-level cache

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)
add, multiply, negative, subtract = np.add, np.multiply, np.negative, np.subtract


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
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{typename(params)}\n  fix: put the parameter in a list: [parameter]"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _start(self) -> None:
        """What is not part of the state: it is made again where an optimiser is unpickled or copied."""
        self._step_pre_hooks: Any = None
        self._step_post_hooks: Any = None
        self._memory: dict[Any, list[Array]] = {}
        self._scratch: dict[Any, list[Array]] = {}
        self._arrays: dict[Any, list[Array]] = {}

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
        frame = graph.user_frame()
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

    def _update(self, p: Array, g: Array, buffers: Sequence[Array], numbers: Any, decay: Any, group: Group) -> None:
        """One step of one parameter, or of a piece of it."""
        scratch = self._scratch.get((p.shape, p.dtype.char)) or self._scratch_for(p)
        if group["maximize"]:
            g = negative(g, scratch[0])
        if decay is not None:
            g = add(multiply(p, decay, scratch[1]), g, scratch[0])
        change = self.change(p, g, buffers, scratch, numbers, group)
        if p.size == 1:
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
        for start in range(0, flat[0].size, PIECE):
            pieces = [a[start : start + PIECE] for a in flat]
            self._update(pieces[0], pieces[1], pieces[2:], numbers, decay, group)
        for array, vector in zip(arrays, flat):
            if array is not arrays[1] and not np.may_share_memory(array, vector):
                write_back(vector, array)

    def _numbers(self, group: Group, count: float, kind: Any) -> tuple[Any, Any]:
        """The coefficients and the weight decay as arrays: NumPy converts those much faster than Python numbers."""
        decay = 0.0 if group.get("decoupled_weight_decay") else float(group["weight_decay"])
        values = (*self.coefficients(group, count), decay)
        key = (values, kind)
        found = self._arrays.get(key)
        if found is None:
            if len(self._arrays) > 100:  # some are different in every step
                self._arrays.clear()
            real = _f64 if kind.char in "dD" else _f32
            found = self._arrays[key] = [np.array(value, real) for value in values]
        return found[:-1], found[-1] if decay else None

    def _scratch_for(self, p: Array) -> list[Array]:
        """Arrays of the form of `p`, all of them in the same memory, which so stays warm."""
        memory = self._memory.get(p.dtype.char)
        if memory is None or memory[0].size < p.size:
            self._scratch.clear()
            memory = [np.empty(p.size, p.dtype) for _ in range(self.scratches)]
            self._memory[p.dtype.char] = memory
        made = self._scratch[p.shape, p.dtype.char] = [part[: p.size].reshape(p.shape) for part in memory]
        return made

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
        params = group["params"]
        if isinstance(params, TensorBase):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        group["params"] = params = list(params)
        self._split_names(group, params)
        for p in group["params"]:
            if not isinstance(p, TensorBase):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
            if p.node is not None and not p.extra_retains_grad if False else p.node is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
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
