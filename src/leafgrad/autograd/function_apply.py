"""`Function.apply`: a call of an operation that the user wrote. Hot, compiled.

Nearly all calls are alike: forward makes one new tensor of floats, and no mode is on. Those are recorded here; whatever
else forward may return or mark is handled in function_results.py.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, Final

import numpy as np

import leafgrad.errors.functions as refusals
from leafgrad._core import thread_state
from leafgrad._core.function import CallNode, Context, Record
from leafgrad._core.modes import call_in_modes, in_transform
from leafgrad._core.node import UNCHANGING
from leafgrad._core.origin import COMPILED, internal_files, user_frame
from leafgrad._core.recorder import settle
from leafgrad._core.tensor import TensorBase, links, with_layout_noted
from leafgrad._core.thread_state import RECORD_IN_MODES, SKIP_IN_MODES
from leafgrad.autograd.function_methods import FunctionMethods, arity, with_defaults, without_keywords
from leafgrad.autograd.function_node import operation
from leafgrad.autograd.function_results import all_results
from leafgrad.autograd.function_saved import NO_RESULT, SavedTensor

state: Final[Any] = thread_state.state
shared_modes: Final[list[Any]] = thread_state.shared_modes
ref: Final[Any] = weakref.ref
_getframe: Final[Any] = sys._getframe
_CALLER: Final = 0 if COMPILED else 2  # seen from `record_call`: `apply` lies between
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)
_YES: Final[Any] = (True,)
_NO: Final[Any] = (False,)
_no_setup_context: Final[Any] = FunctionMethods.setup_context


def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """apply(*args): run forward, and record it if one of the tensors needs a gradient."""
    two_parts = cls.setup_context is not _no_setup_context
    if two_parts or kwargs:
        args = placed(cls, args, kwargs, two_parts)
    switches: dict[str, Any] = state.__dict__  # of this thread, which is looked for once instead of ten times
    modes: list[Any] = switches["modes"]
    if modes and in_transform():
        mapped = links.apply_in_transform(cls, args)
        if mapped is not None:
            return mapped[0]
    ctx: Context = cls._context_class()
    ctx._record = Record()
    edges = look_at_one(args[0], ctx) if len(args) == 1 else look_at(args, ctx)
    if not switches["recording"]:
        edges = None
    ctx._record.edges = edges
    if modes:
        output = call_in_modes(cls, cls.__name__, True, lambda: run_forward(cls, ctx, args, two_parts, switches))
    else:
        output = run_forward(cls, ctx, args, two_parts, switches)
    if not modes and not shared_modes and isinstance(output, TensorBase) and is_ordinary(output, ctx, args):
        if edges is not None:
            record_call(cls, ctx, edges, output)
        elif output.needs_grad:  # forward has recorded
            output.node = None
            output.needs_grad = False
        ctx.to_save = None
        return output
    return all_results(cls, ctx, args, edges, output)


def placed(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], two_parts: bool) -> tuple[Any, ...]:
    """The arguments of forward in their places."""
    forward = cls.forward
    if not two_parts:
        return without_keywords(forward, args, kwargs)
    known: tuple[Any, int] = cls._arity
    if known[0] is not forward:
        known = cls._arity = (forward, arity(forward))
    if not kwargs and len(args) == known[1]:
        return args  # all of them are there: a signature takes as long as the rest of `apply`
    return with_defaults(forward, args, kwargs)


def look_at(args: tuple[Any, ...], ctx: Context) -> tuple[Any, ...] | None:
    """Note which arguments are tensors, and which need a gradient. Returns the edges to the arguments, or None if no
    argument needs one."""
    tensors: list[bool] = []
    needed: list[bool] = []
    edges: list[Any] = []
    anything = False
    for a in args:
        is_tensor = isinstance(a, TensorBase)
        needs_grad = False
        edge: Any = None
        if is_tensor:
            if a.rare is not None:
                settle(a)
            if a.needs_grad:
                anything = needs_grad = True
                edge = a if a.node is None else a.node
        tensors.append(is_tensor)
        needed.append(needs_grad)
        edges.append(edge)
    ctx._record.is_tensor = tuple(tensors)
    ctx.needs_input_grad = tuple(needed)
    return tuple(edges) if anything else None


def look_at_one(a: Any, ctx: Context) -> tuple[Any, ...] | None:
    """The same for the only argument."""
    if not isinstance(a, TensorBase):
        ctx._record.is_tensor = ctx.needs_input_grad = _NO
        return None
    if a.rare is not None:
        settle(a)
    ctx._record.is_tensor = _YES
    if not a.needs_grad:
        ctx.needs_input_grad = _NO
        return None
    ctx.needs_input_grad = _YES
    node = a.node
    return (a if node is None else node,)


def run_forward(cls: Any, ctx: Context, args: tuple[Any, ...], two_parts: bool, switches: dict[str, Any]) -> Any:
    """Run forward without recording and without tangents: gradients come from backward, tangents from jvp."""
    recording = bool(switches["recording"])
    forward_mode = switches["forward_mode"]
    switch_recording(switches, False)
    switches["forward_mode"] = False
    try:
        if not two_parts:
            return cls.forward(ctx, *args)
        transformed = switches["modes"] and in_transform()
        output = links.forward_in_transform(cls, args) if transformed else cls.forward(*args)
        cls.setup_context(ctx, args, output)
        return output
    finally:
        switch_recording(switches, recording)
        switches["forward_mode"] = forward_mode


def switch_recording(switches: dict[str, Any], on: bool) -> None:
    """`state.record`, compiled. Not in one expression: the compiler would make an int of a bool beside an int."""
    if switches["in_modes"]:
        switches["recording"] = RECORD_IN_MODES if on else SKIP_IN_MODES
    else:
        switches["recording"] = on


def is_ordinary(t: TensorBase, ctx: Context, args: tuple[Any, ...]) -> bool:
    """Is this what forward nearly always returns: a new tensor of floats, without marks, hooks or a base?"""
    kind = t.array.dtype
    if kind is not _f32 and kind is not _f64:
        return False
    if ctx.dirty_tensors is not None or ctx.non_differentiable is not None or ctx.saved_for_forward is not None:
        return False
    rare = t.rare
    if rare is not None:  # it may have a graph_break, of forward's own no_grad
        if rare.view is not None or rare.hooks is not None or rare.retains_grad or rare.inference:
            return False
    for a in args:
        if a is t:
            return False
    return True


def record_call(cls: Any, ctx: Context, edges: tuple[Any, ...], t: TensorBase) -> None:
    """Record a call whose one result is `t`."""
    try:
        frame = _getframe(_CALLER)
    except ValueError:  # nobody called
        frame = user_frame()
    if internal_files.get(frame.f_code.co_filename, True):
        frame = user_frame(frame)
    op = cls._op
    if op is None:
        op = cls._op = operation(cls)
    node: CallNode = cls._backward_cls()
    array = t.array
    # what a call saves can be freed, so it has a version, although one that never changes
    node.fill(op, edges, (ctx,), UNCHANGING, array.shape, array.dtype, frame.f_code, frame.f_lasti)
    node.context = ctx
    record = ctx._record
    record.node = ref(node)
    if record.hooks is not None:
        node.hooks = record.hooks
    t.node = node
    t.needs_grad = True
    t.rare = None
    if array.ndim > 1:
        with_layout_noted(t)
    to_save = ctx.to_save
    if not to_save:
        return
    saved: list[SavedTensor] = []
    for position, s in enumerate(to_save):
        one = SavedTensor()
        if isinstance(s, TensorBase):
            one.keep(s, 0 if s is t else NO_RESULT)
        elif s is not None:
            raise refusals.saved_kind(ctx, position, s)
        saved.append(one)
    record.saved = saved
