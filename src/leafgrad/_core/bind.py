"""The executor: runs the kernel of an operation and wraps its result in a tensor.

    execute(op, arrays, options, out)      runs a kernel on arrays: forward, in place, into `out`, in a gradient rule on
                                           tensors, in an optimiser's step, in a random fill
    bind(op, tensors, options, arrays)     the same on tensors: runs the kernel and records a node if an input requires
                                           grad. `arrays` are the values, where they are not the tensors' own
    bind_many                              for operations with several results
    binary                                 the short cut for two operands

This is the hot path, a few hundred nanoseconds an operation. It asks one question: is any mode on? If not, the kernel
runs. If so, the modes of the thread are asked, the innermost first (leafgrad/_core/modes.py).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from leafgrad._build import mypyc_attr
from leafgrad._core import origin, thread_state
from leafgrad._core.modes import applied_in_modes, execute_in_modes, switches
from leafgrad._core.node import Node, Version, take_order
from leafgrad._core.op import UNREAD, Op
from leafgrad._core.origin import COMPILED, internal_files, last_user
from leafgrad._core.recorder import needs_recording, only_inference, record, record_many, settle, unrecorded
from leafgrad._core.tensor import (
    Array,
    TensorBase,
    as_array,
    asarray,
    constant,
    in_own_class,
    is_meta,
    links,
    ndarray,
    number,
    with_layout_noted,
    wrap,
)

state: Final[Any] = thread_state.state
copyto: Final[Any] = np.copyto
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)
_bool: Final[Any] = np.dtype(np.bool_)
_getframe: Final[Any] = sys._getframe
_PAIR_DEPTH: Final = 0 if COMPILED else 2  # binary and the operator lie between
_NOTHING_SAVED: Final = (None, None, None)


# -- on arrays --------------------------------------------------------------------------------------------------------


def execute(op: Op, arrays: Sequence[Array], options: tuple[Any, ...] = (), out: Any = None) -> Any:
    """What the kernel of an operation makes of arrays. With `out`, an array (or several, for several results), the
    result is written there; it may be the memory of an input."""
    recording = state.recording  # first of all: a thread's first look at its state silences NumPy in it
    if recording is not True and recording is not False:
        return execute_in_modes(run, op, arrays, options, out)
    try:
        if out is not None and not op.writes_into:
            return run(op, arrays, options, out)
        kernel = op.kernel  # in two steps: to find a function in a slot and to call it is slower in one
        arguments = tuple(arrays) + options  # with two stars they would become a list first
        return kernel(*arguments) if out is None else kernel(*arguments, out)
    except MemoryError as error:
        raise out_of_memory(error) from error


def out_of_memory(error: MemoryError) -> Exception:
    """The error that PyTorch raises where NumPy finds no memory."""
    from leafgrad import errors

    return errors.out_of_memory(error)


def run(op: Op, arrays: Sequence[Array], options: tuple[Any, ...], out: Any) -> Any:
    """Run the kernel itself, at the bottom of all modes."""
    kernel = op.kernel
    if out is None:
        return kernel(*arrays, *options)
    if op.writes_into:
        return kernel(*arrays, *options, out)
    copyto(out, kernel(*arrays, *options), casting="unsafe")
    return out


# -- on tensors -------------------------------------------------------------------------------------------------------


def bind(op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...] = (), arrays: Sequence[Array] | None = None) -> Any:
    """Apply an operation with one result to tensors (None for one that is absent, or that is no tensor)."""
    recording = state.recording  # first of all, see execute
    if recording is not True and recording is not False:
        return bind_in_modes(op, tensors, options, arrays)
    kernel = op.kernel  # see execute
    t: TensorBase | None
    try:
        if len(tensors) == 1:  # a fifth of the time of an operation on few elements
            t = tensors[0]
            if t is not None and (t.rare is None or not switches.conjugated):
                x = t.array if arrays is None else arrays[0]
                n = len(options)  # most have two at most: no tuple is made for those
                if n == 0:
                    out = kernel(x)
                elif n == 1:
                    out = kernel(x, options[0])
                elif n == 2:
                    out = kernel(x, options[0], options[1])
                else:
                    out = kernel(x, *options)
                if type(out) is not ndarray:
                    out = as_array(out)
                if t.rare is not None:
                    return bind_unusual(op, tensors, options, (x,), out, recording)
                if not t.needs_grad:
                    return wrap(out)
                return record(op, tensors, (x,), options, out) if recording else unrecorded(op, tensors, out)
        if arrays is None:
            arrays = arrays_in(tensors)
        if switches.conjugated:
            links.refresh_copies(tensors)
        arguments = tuple(arrays) + options  # see execute
        out = kernel(*arguments)
    except MemoryError:
        return bind_in_modes(op, tensors, options, arrays)  # whose `execute` raises PyTorch's error
    if type(out) is not ndarray:
        out = as_array(out)
    needed = False
    for t in tensors:
        if t is not None:
            if t.rare is not None:
                return bind_unusual(op, tensors, options, arrays, out, recording)
            if t.needs_grad:
                needed = True
    if needed:
        return record(op, tensors, arrays, options, out) if recording else unrecorded(op, tensors, out)
    return wrap(out)


def bind_unusual(
    op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...], arrays: Sequence[Array], out: Array, recording: Any
) -> Any:
    """A result as a tensor, recorded or not, if one of the operands is a view or has other rare fields."""
    kind = out.dtype
    has_history = kind is _f32 or kind is _f64 or kind.kind not in "biu"  # integers and bools are not differentiable
    needed = False
    t: TensorBase | None
    for t in tensors:
        if t is not None:
            if has_history and t.rare is not None:
                settle(t)
            if t.needs_grad:
                needed = True
    dimensions: int = out.ndim
    if dimensions > 1 and op.follows_layout:
        out = links.in_common_order(arrays, out)
    if not needed or not recording or (switches.inference_used and only_inference(tensors)):
        result = unrecorded(op, tensors, out)
    else:
        result = record(op, tensors, arrays, options, out)
    return with_layout_noted(result) if dimensions else result


def arrays_in(tensors: tuple[Any, ...]) -> list[Array]:
    """The arrays of tensors, some of which may be None."""
    arrays: list[Array] = []
    t: TensorBase | None
    for t in tensors:
        arrays.append(None if t is None else t.array)
    return arrays


def arrays_of_plain(tensors: Sequence[Any]) -> list[Array]:
    """The arrays of those that are tensors of no other class."""
    plain = links.tensor_class
    arrays = []
    given: tuple[Any, ...] = tuple(tensors)  # typed: a loop over a sequence of any kind takes twice as long
    for each in given:
        if type(each) is plain:
            t: TensorBase = each
            arrays.append(t.array)
    return arrays


def bind_in_modes(op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...], arrays: Sequence[Array] | None) -> Any:
    """`bind` while a mode wants to see operations."""
    recording = needs_recording(tensors)
    if switches.conjugated:
        links.refresh_copies(tensors)
    if arrays is None:
        arrays = arrays_in(tensors)
    out = as_array(execute(op, arrays, options))
    if op.follows_layout:
        out = links.in_common_order(arrays, out)
    return bind_result(op, tensors, options, arrays, out, recording)


def bind_result(
    op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...], arrays: Sequence[Array], out: Array, recording: bool
) -> Any:
    """A result as a tensor, recorded or not, of which the modes are told."""
    result = record(op, tensors, arrays, options, out) if recording else unrecorded(op, tensors, out)
    if type(out) is ndarray:
        with_layout_noted(result)
    elif is_meta(out):
        with_layout_noted(in_own_class(result))
    if state.in_modes:
        applied_in_modes(op, tensors, arrays, options, (result,))
    return result


def bind_finding(op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...] = ()) -> Any:
    """`bind` for an operation whose kernel returns its result and what else it has found, which the rule gets as one
    more option."""
    recording = needs_recording(tensors)
    if switches.conjugated:
        links.refresh_copies(tensors)
    arrays = arrays_in(tensors)
    pair = execute(op, arrays, options)
    return bind_result(op, tensors, options + (pair[1],), arrays, as_array(pair[0]), recording)


@mypyc_attr(allow_interpreted_subclasses=True)
class Applicable:
    """An operation as gradient rules call it, with normalised arguments: on arrays, or recorded on tensors."""

    core: Op
    option_count: int
    has_many: bool  # does it have several results?

    def __call__(self, *args: Any) -> Any:
        n = len(args) - self.option_count
        for i in range(n):
            if isinstance(args[i], TensorBase):
                return self.applied(args, n)
        return execute(self.core, args[:n], args[n:])

    def record(self, *args: Any) -> Any:
        """Apply to tensors and normalised options; what is no tensor among the inputs becomes one."""
        return self.applied(args, len(args) - self.option_count)

    def applied(self, args: tuple[Any, ...], n: int) -> Any:
        tensors = args[:n]
        for t in tensors:
            if t is not None and not isinstance(t, TensorBase):
                tensors = tuple([t if t is None or isinstance(t, TensorBase) else wrap(t) for t in tensors])
                break
        return bind_many(self.core, tensors, args[n:]) if self.has_many else bind(self.core, tensors, args[n:])


def bind_many(
    op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...] = (), arrays: Sequence[Array] | None = None
) -> list[Any]:
    """Apply an operation with several results."""
    recording = needs_recording(tensors)
    if switches.conjugated:
        links.refresh_copies(tensors)
    if arrays is None:
        arrays = arrays_in(tensors)
    outs = [o if type(o) is ndarray else as_array(o) for o in execute(op, arrays, options)]
    if recording:
        results = record_many(op, tensors, arrays, options, outs)
    else:
        results = [unrecorded(op, tensors, out) for out in outs]
    for t in tensors:
        if t is not None and t.rare is not None:  # results lie in memory row by row if all inputs do
            for i, out in enumerate(outs):
                if out.ndim > 1 and type(out) is ndarray:
                    with_layout_noted(results[i])
            break
    if state.recording is not True and state.recording is not False:
        applied_in_modes(op, tensors, arrays, options, results)
    return results


def binary(op: Op, a: TensorBase, other: Any) -> Any:
    """Apply an elementwise operation of two operands: both float32 or both float64 here, the rest elsewhere.

    These are the most frequent operations by far, so `bind` and `make_node` are written out for them: what is saved has
    fixed places, (a, b, result), without a loop. It saves a third of the time on few elements, half if compared."""
    recording = state.recording  # first of all, see execute
    x = a.array
    kind = x.dtype
    b: TensorBase  # typed, so that its fields are read as those of a C struct
    if isinstance(other, TensorBase):
        b = other
        y = b.array
        if y.dtype is not kind or not (kind is _f32 or kind is _f64):
            return links.mixed_binary(op, a, other)
    elif (kind is _f32 or kind is _f64) and (type(other) is float or type(other) is int):
        b = number
        y = constant(other, kind)
    else:
        return links.mixed_binary(op, a, other)
    if a.rare is not None or b.rare is not None or (recording is not True and recording is not False):
        if not (are_settled_vectors(a, x, b, y) and (recording is True or recording is False)):
            return unusual_binary(op, a, b, x, y)
    kernel = op.kernel  # see bind
    try:
        out = kernel(x, y)
    except (ValueError, MemoryError):
        return links.mixed_binary(op, a, other)  # which raises PyTorch's error
    edge_a: Any = None
    edge_b: Any = None
    mask = 0
    if a.needs_grad:
        mask = 1
        edge_a = a.node or a
    if b.needs_grad:
        mask += 2
        edge_b = b.node or b
    if mask == 0:
        return wrap(out)
    if type(out) is not ndarray:
        out = asarray(out)  # a scalar: batches have dtypes of their own and do not come here
    if not recording or not op.differentiable:
        return unrecorded(op, (a, b), out)
    try:
        frame = _getframe(_PAIR_DEPTH)
    except ValueError:
        frame = _getframe(0)
    code = frame.f_code
    if code is not last_user.code:
        if internal_files.get(code.co_filename, True):
            frame = origin.user_frame(frame)
            code = frame.f_code
        last_user.code = code
    node = Node()
    result: TensorBase = links.new(links.tensor_class)
    result.array = out
    result.node = node
    result.needs_grad = True
    result.version = [0, None]
    result._grad = result.rare = node.hooks = None
    kept = op.keeps[mask]  # 1 for a, 2 for b, 4 for the result; the frequent sums first
    if kept == 2:
        node.saved = (None, y, None)
        node.versions = (b.version, b.version[0])
    elif kept == 3:
        node.saved = (x, y, None)
        node.versions = (a.version, a.version[0], b.version, b.version[0])
    elif kept == 0:
        node.saved = _NOTHING_SAVED
        node.versions = None
    else:
        save_operands(node, op, mask, (x, y, out), (a.version, b.version, result.version))
    node.op = op
    node.inputs = (edge_a, edge_b)
    node.order = take_order()
    node.shape = out.shape
    node.dtype = kind
    node.code = code
    node.lasti = frame.f_lasti
    return result


def are_settled_vectors(a: TensorBase, x: Array, b: TensorBase, y: Array) -> bool:
    """Can `binary` take two operands, some of which have rare fields, as any others? They are views whose history is up
    to date and that require grad, and make a vector, for which there is one layout only."""
    if switches.conjugated or not (is_settled(a) and is_settled(b)):
        return False
    first: int = x.ndim
    second: int = y.ndim
    return first < 2 and second < 2


def is_settled(t: TensorBase) -> bool:
    rare = t.rare
    if rare is None:
        return True
    view = rare.view
    if view is None or view.silent or rare.inference or not t.needs_grad:
        return False
    return view.node_version == int(t.version[0])


def save_operands(node: Node, op: Op, mask: int, arrays: tuple[Array, ...], versions: tuple[Version, ...]) -> None:
    """Save those of (a, b, result) that the rules of `op` need, and their versions."""
    kept = op.keeps[mask]
    if kept == UNREAD:
        kept = op.keep(mask)
    saved: list[Any] = []
    counts: list[Any] = []
    for i in range(3):
        wanted = (kept >> i) & 1 != 0
        saved.append(arrays[i] if wanted else None)
        if wanted:
            counts.append(versions[i])
            counts.append(versions[i][0])
    node.saved = tuple(saved)
    node.versions = tuple(counts) or None


def unusual_binary(op: Op, a: TensorBase, b: TensorBase, x: Array, y: Array) -> Any:
    """`binary` while a mode wants to see operations, and for views and other tensors with rare fields."""
    recording = state.recording
    try:
        if switches.conjugated or (recording is not True and recording is not False):
            return bind(op, (a, b), (), (x, y))
        kernel = op.kernel  # see bind
        out = kernel(x, y)
    except ValueError:
        return links.mixed_binary(op, a, b)
    except MemoryError:
        return bind_in_modes(op, (a, b), (), (x, y))  # see bind
    return bind_unusual(op, (a, b), (), (x, y), out if type(out) is ndarray else as_array(out), recording)


@mypyc_attr(allow_interpreted_subclasses=True)
class TensorOperators(TensorBase):
    """The operators that programs use most."""

    __slots__ = ()

    def __neg__(self) -> Any:
        if self.array.dtype is _bool:
            return links.negative(self)  # which refuses bools
        return bind(links.neg, (self,))

    def __add__(self, other: Any) -> Any:
        return binary(links.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return binary(links.add, self, other)

    def __sub__(self, other: Any) -> Any:
        return binary(links.sub, self, other)

    def __mul__(self, other: Any) -> Any:
        return binary(links.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary(links.mul, self, other)

    def __truediv__(self, other: Any) -> Any:
        return binary(links.div, self, other)


links.tensor_class = TensorOperators
links.new = TensorOperators.__new__
