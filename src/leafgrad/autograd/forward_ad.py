"""Forward mode: derivatives that are computed together with the values.

Inside a level, a dual tensor has a tangent beside its value: the derivative in one direction. Every operation on a dual
tensor also computes the tangent of its result, by the rules of the block that has its gradient
(leafgrad/autograd/tangent_rules.py).

Tangents are tensors and their computation is recorded, so derivatives can be taken of them in turn. Levels have
numbers; a tensor may have a tangent for each. The tangent of one level is computed from values that know nothing of
this level, but still carry the tangents of those opened before it: that is how forward mode nests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from leafgrad import errors
from leafgrad._core.modes import Mode, share
from leafgrad._core.node import Output, plan_of
from leafgrad._core.op import NOTHING, OPTION, OUT, Op
from leafgrad._core.saved import alias_of_leaf
from leafgrad._core.tensor import RareFields, TensorBase, is_batched, number, wrap
from leafgrad._core.thread_state import every_thread, state
from leafgrad._missing import missing_attribute
from leafgrad.autograd.grad_mode import Switch
from leafgrad.autograd.hooks import Hooks, of_node
from leafgrad.autograd.tangent_rules import known_tangents, zeros_like

open_levels: list[int] = []
always_recorded: set[int] = set()  # levels whose tangents are recorded inside no_grad as well, for `func.linearize`
# The nodes, by their hooks, that keep tangents of a level. Those are computed from the node's inputs, so the graph of a
# tangent leads back to the node: without this both would stay until Python looks for cycles.
_keepers: dict[int, WeakSet[Hooks]] = {}
_numbers = iter(range(1, 1 << 62))


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns."""

    primal: Any
    tangent: Any


# -- levels -----------------------------------------------------------------------------------------------------------


def open_level() -> int:
    """Open a level, inside those that are open. `func.jvp` nests; users of this module may not."""
    level = next(_numbers)
    with every_thread:
        open_levels.append(level)
        share(tangents_mode, True)
    return level


def close_level(level: int) -> None:
    with every_thread:
        open_levels.remove(level)
        always_recorded.discard(level)
        if not open_levels:
            share(tangents_mode, False)
    for hooks in _keepers.pop(level, ()):
        for kept in hooks.tangents.values():
            kept.pop(level, None)


_entered: list[int] = []  # the level that users have opened; PyTorch allows one
_current_level = -1  # what PyTorch calls it, 0 then


def __getattr__(name: str) -> Any:
    if name == "_current_level":  # a private name of PyTorch's by which programs find out whether a level is open
        return len(open_levels) - 1
    raise missing_attribute(__name__, name)


def enter_dual_level() -> int:
    """enter_dual_level(): open a level and return its number, always 0."""
    global _current_level
    if _entered:
        raise RuntimeError(f"Nested forward mode AD is not supported at the moment\n  at {errors.here()}")
    _entered.append(open_level())
    _current_level = 0
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """exit_dual_level(): close the level; tangents are forgotten."""
    global _current_level
    if not _entered or (level is not None and level < 0):
        raise RuntimeError(f"Dual level must be a positive number.\n  at {errors.here()}")
    if level is not None and level != 0:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported.\n"
            f"  at {errors.here()}"
        )
    close_level(_entered.pop())
    _current_level = -1


@contextmanager
def dual_level() -> Iterator[int]:
    """dual_level(): a level for `make_dual`, as a context manager."""
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level()


def _is_fwd_grad_enabled() -> bool:
    return bool(state.forward_mode)


class _set_fwd_grad_enabled(Switch):
    switch = "forward_mode"


# -- dual tensors -----------------------------------------------------------------------------------------------------


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """make_dual(tensor, tangent): a view of `tensor` with a derivative of its own."""
    if level is None and not _entered:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() "
            f"first.\n  at {errors.here()}"
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    own = level or _entered[-1]
    if own in tangents_of(tensor):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            f"supported.\n  at {errors.here()}"
        )
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.array.shape)} while the given forward gradient is of size "
            f"{list(tangent.array.shape)}.\n  at {errors.here()}"
        )
    if own in tangents_of(tangent):
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.\n"
            f"  at {errors.here()}"
        )
    dual = tensor.view_as(tensor)
    set_tangent(dual, own, tangent if lies_alike(tensor, tangent) else laid_out_as(tensor, tangent))
    return dual


def lies_alike(tensor: Any, tangent: Any) -> bool:
    """Does a tangent lie in memory as its tensor does? Views of the tensor will have the same views of the tangent."""
    a, b = tensor.array, tangent.array
    if is_batched(a) or is_batched(b):
        return True
    if tensor.is_conj() != tangent.is_conj() or tensor.is_neg() != tangent.is_neg():
        return False
    if a.size == 0 or (a.base is None and b.base is None and a.flags.c_contiguous and b.flags.c_contiguous):
        return True
    steps = [(m, n) for size, m, n in zip(a.shape, tensor.stride(), tangent.stride(), strict=True) if size > 1]
    if any([m != n for m, n in steps]) or tensor.storage_offset() != tangent.storage_offset():
        return False
    sizes = [len(t.untyped_storage()) // t.array.itemsize for t in (tensor, tangent)]
    return bool(sizes[0] == sizes[1])


def laid_out_as(tensor: Any, tangent: Any) -> Any:
    """A copy of a tangent that lies in memory as its tensor does, in as much memory."""
    size = len(tensor.untyped_storage()) // tensor.array.itemsize
    memory = wrap(np.zeros(size, tangent.array.dtype))
    place = memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return place.detach().copy_(tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """unpack_dual(tensor): its value without the tangent, and the tangent; None if it has none."""
    got = type(tensor)
    if not issubclass(got, TensorBase):
        name = got.__name__ if got.__module__ == "builtins" else f"{got.__module__}.{got.__name__}"
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {name}")
    own = level or (_entered[-1] if _entered else None)
    tangent = tangents_of(tensor).get(own) if own is not None and state.forward_mode else None
    if tangent is None:
        return UnpackedDualTensor(tensor.view_as(tensor), None)
    primal = below(tensor, own)
    return UnpackedDualTensor(primal.view_as(primal), tangent)


@contextmanager
def recording() -> Iterator[None]:
    """Inside no_grad tangents are computed as well, and recorded if the level is one of `always_recorded`."""
    before = bool(state.recording)
    if before or not always_recorded:
        yield
        return
    state.record(True)
    try:
        yield
    finally:
        state.record(before)


def tangents_of(t: Any) -> dict[int, Any]:
    """The tangents of a tensor for levels that are open, by level."""
    rare = t.rare
    if rare is None:
        return {}
    known = {level: tangent for level, tangent in (rare.tangents or {}).items() if level in open_levels}
    return known if rare.view is None or rare.view.base.rare is None else seen_tangents(t, known)


def set_tangent(t: Any, level: int, tangent: Any) -> None:
    if t.rare is None:
        t.rare = RareFields()
    t.rare.tangents = {**tangents_of(t), level: tangent}


def below(t: Any, level: Any) -> Any:
    """The tensor as it is for an outer level: the same memory and history, but no tangents from `level` on."""
    known = tangents_of(t)
    kept = {inner: tangent for inner, tangent in known.items() if inner < level}
    if len(kept) == len(known):
        return t
    if t.node is None and t.needs_grad:
        same = alias_of_leaf(t)
    else:
        same = wrap(t.array)
        same.node, same.needs_grad, same.version = t.node, t.needs_grad, t.version
    if kept:
        same.rare = same.rare or RareFields()
        same.rare.tangents = kept
    return same


# -- operations -------------------------------------------------------------------------------------------------------


class Tangents(Mode):
    """The mode that is on in all threads while a level is open."""

    wants_tensors = True
    keeps_saved = True  # tangents are recorded with the values that an operation in place is about to change

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        """An operation was applied: give its results their tangents."""
        if not state.forward_mode:
            return
        levels: set[int] = set()
        for t in tensors:
            if t is not None and t is not number and t.rare is not None:
                levels.update(tangents_of(t))
        if not levels:  # as with most operations of a backward pass
            return
        # Python numbers have no tensor of their own, but rules ask for their values
        tensors = [
            wrap(arrays[i]) if t is number or (t is None and arrays[i] is not None) else t
            for i, t in enumerate(tensors)
        ]
        for level in sorted(levels):
            given = [None if t is None else tangents_of(t).get(level) for t in tensors]
            with recording():
                primals = [None if t is None else below(t, level) for t in tensors]
                found = tangents(op, primals, given, options, [below(r, level) for r in results])
                for result, tangent in zip(results, found, strict=True):
                    if tangent is not None and result.array.dtype.kind not in "biu":
                        set_tangent(result, level, separate(tangent, given, result, tensors))
        remember(tensors, results)

    def linked(self, result: Any, t: Any, operation: Any, options: tuple[Any, ...]) -> None:
        """`result` is a view of `t`, so its tangents are views of those of `t`."""
        from leafgrad._core.views import link

        sources = tangents_of(t)
        for level, tangent in (result.rare.tangents or {}).items():
            if level in sources and tangent is not sources[level]:
                with recording():
                    link(tangent, sources[level], operation, options, None)

    def changed(self, x: Any, result: Any) -> None:
        """`x` has been given the value of `result`, in place: its tangents follow, in place as well, because views of
        `x` have tangents that are views of these."""
        self.changed_part(x, ..., result)

    def changed_part(self, x: Any, index: Any, part: Any) -> None:
        """The same for `x[index] = part`."""
        if not state.forward_mode:
            return
        new = {} if part is None else tangents_of(part)
        for level in sorted({*new, *tangents_of(x)}):
            tangent = new.get(level)
            old = own_tangent(x, level, tangent)
            if old is None:
                old = zeros_for(x, tangent)
                set_tangent(x, level, old)
            if tangent is not old:
                with recording():
                    old[index] = 0.0 if tangent is None else tangent

    def reshaped(self, x: Any, operation: Any, options: tuple[Any, ...]) -> None:
        for level, tangent in list(tangents_of(x).items()):
            with recording():
                set_tangent(x, level, operation.record(tangent, *options))

    def stood_in(self, old: Any, x: Any) -> None:
        if found := tangents_of(x):  # copies: the tangents of x will change in place as well
            old.rare = old.rare or RareFields()
            if always_recorded:  # the nodes of tangents save values, which are about to change
                old.array = old.array.copy(order="K")
            with recording():
                old.rare.tangents = {level: tangent.clone() for level, tangent in found.items()}


tangents_mode = Tangents()


def separate(tangent: Any, given: Sequence[Any], result: Any, tensors: Sequence[Any]) -> Any:
    """A tangent may share memory with those it was computed from only where the values do, in a view: it will be
    changed in place when its value is."""
    for t, old in zip(tensors, given, strict=True):
        if old is not None and shares(tangent, old) and not shares(result, t):
            return tangent.clone()
    return tangent


def shares(a: Any, b: Any) -> bool:
    if isinstance(a.array, np.ndarray) and isinstance(b.array, np.ndarray):
        return bool(np.may_share_memory(a.array, b.array))
    return a is b or a.array is b.array  # batches, which are not changed in place by views of each other


def remember(tensors: Sequence[Any], results: Sequence[Any]) -> None:
    """Values that the node has saved keep their tangents too: the gradient may be differentiated in forward mode."""
    place = next((r.node for r in results if r.node is not None), None)
    if place is None:
        return
    node = place.parent if isinstance(place, Output) else place
    hooks = of_node(node)
    for index, where in enumerate(plan_of(node)):
        if where >= OPTION or where == NOTHING:
            continue
        source = tensors[where] if where >= 0 else results[OUT - where]
        if source is not None and (kept := tangents_of(source)):
            # copies: a later change of the tensor in place changes its tangents as well, but not what was saved
            hooks.tangents[index] = {level: tangent.clone() for level, tangent in kept.items()}
            for level in kept:
                _keepers.setdefault(level, WeakSet()).add(hooks)


def tangents(
    op: Op, primals: list[Any], given: list[Any], options: tuple[Any, ...], results: list[Any]
) -> Sequence[Any]:
    """The derivative of the results of an operation in the direction of the given tangents (None: zero)."""
    nested = any([t is not None and t.rare is not None and bool(tangents_of(t)) for t in (*primals, *given)])
    try:
        return known_tangents(op, primals, given, options, results, nested)
    except NotImplementedError as error:
        if not str(error).startswith("the derivative for"):
            raise
    first = f"Trying to use forward AD with {op.name} that does not support it because it has not been implemented yet."
    raise errors.mistake(NotImplementedError, first)


# -- changes in place -------------------------------------------------------------------------------------------------


def zeros_for(x: Any, tangent: Any) -> Any:
    """A tangent for a tensor that had none, in which another one will be written: for each sample, if that has many."""
    if tangent is not None and is_batched(tangent.array) and not is_batched(x.array):
        return tangent.new_zeros(x.array.shape)
    return zeros_like(x)


def own_tangent(x: Any, level: int, tangent: Any) -> Any:
    """The tangent of a tensor that may be written to; that of a view is a view of its base's. None if it has none."""
    old = tangents_of(x).get(level)
    view = x.rare.view if x.rare is not None else None
    if old is None and view is not None:
        set_tangent(view.base, level, zeros_for(view.base, tangent))
        old = tangents_of(x)[level]
    return old


# -- views ------------------------------------------------------------------------------------------------------------


def seen_tangents(t: Any, known: dict[int, Any]) -> dict[int, Any]:
    """The tangents of a view: also those that its base has got since, by a change in place."""
    from leafgrad.ops.shape.view_history import current_steps, view_of

    for level, tangent in tangents_of(t.rare.view.base).items():
        if level not in known:
            for operation, options in current_steps(t, t.rare.view):
                tangent = view_of(operation, tangent, *options)
            known[level] = tangent
            t.rare.tangents = known
    return known
