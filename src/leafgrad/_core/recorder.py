"""The recorder: tensors, and what happens when an operation is applied to them.

This is the hot path, a few hundred nanoseconds an operation, so it does little: run the kernel, and if a gradient
may be wanted leave a `Node` behind. The public `Tensor` (leafgrad/_tensor/tensor.py) is an ordinary Python class on top
of `TensorBase`; this file is written so that mypyc can compile it as it stands.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from leafgrad._core import origin, thread_state
from leafgrad._core.node import UNCHANGING, Node, Version, output_of, take_order
from leafgrad._core.op import KEEP_A, KEEP_B, KEEP_OUT, NOTHING, OPTION, OUT, SHAPE, UNREAD, Op
from leafgrad._core.origin import COMPILED, internal_files

try:
    from mypy_extensions import mypyc_attr
except ImportError:  # only the compiler needs it
    from leafgrad._build import mypyc_attr  # type: ignore[assignment]

Array = Any
# Final, because the compiler turns these into C variables; other module variables are dictionary look-ups.
ndarray: Final[Any] = np.ndarray
asarray: Final[Any] = np.asarray
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)
_bool: Final[Any] = np.dtype(np.bool_)
state: Final[Any] = thread_state.state
_getframe: Final[Any] = sys._getframe
_PAIR_DEPTH: Final = 0 if COMPILED else 2  # binary and the operator lie between


@mypyc_attr(allow_interpreted_subclasses=True)
class TensorBase:
    """The fields of a tensor. `array` holds the numbers (and shape, strides and dtype); the rest is autograd's."""

    __slots__ = ("_grad", "array", "extra", "needs_grad", "node", "version")

    array: Any
    node: Node | None  # the operation it came from; None for a leaf
    needs_grad: bool
    version: Version  # counts in-place changes; shared with every view of the same memory
    _grad: Any
    extra: Extra | None

    def __neg__(self) -> Any:
        if self.array.dtype is _bool:
            return late.negative(self)  # which refuses bools
        return single(operators.neg, self)

    def __add__(self, other: Any) -> Any:
        return binary(operators.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return binary(operators.add, self, other)

    def __sub__(self, other: Any) -> Any:
        return binary(operators.sub, self, other)

    def __mul__(self, other: Any) -> Any:
        return binary(operators.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary(operators.mul, self, other)

    def __truediv__(self, other: Any) -> Any:
        return binary(operators.div, self, other)


class Operators:
    """The Ops behind the operators, put here by leafgrad.ops."""

    __slots__ = ("add", "div", "mul", "neg", "sub")

    neg: Op
    add: Op
    sub: Op
    mul: Op
    div: Op


operators: Final = Operators()


class Extra:
    """What few tensors have: a base that they are a view of, hooks, a reason why their graph ends, tangents."""

    __slots__ = ("cut", "hooks", "inference", "retains_grad", "tangents", "view")

    def __init__(self) -> None:
        self.view: View | None = None
        self.hooks: Any = None
        self.retains_grad: bool = False
        self.cut: Cut | None = None
        self.inference: bool = False  # made in inference_mode: never part of a graph
        self.tangents: dict[int, Any] | None = None  # forward mode: the derivative for each open level


class Cut:
    """Why a tensor has no graph behind it: what ended the graph, and where."""

    __slots__ = ("code", "lasti", "reason")

    def __init__(self, reason: str) -> None:
        frame = origin.user_frame()
        self.reason = reason
        self.code = frame.f_code
        self.lasti: int = frame.f_lasti


class View:
    """How a tensor looks at the memory of another: `base` seen through `steps`, each an Op with its options."""

    __slots__ = ("base", "restriction", "seen", "silent", "steps")

    def __init__(self, base: TensorBase, steps: tuple[Any, ...], restriction: str | None) -> None:
        self.base = base
        self.steps = steps
        self.seen: int = base.version[0]  # the version for which the view's own node is right
        self.restriction = restriction  # why an in-place change of it cannot be differentiated, if so
        # made under no_grad of a base that requires grad: as in PyTorch it requires grad as well, but gets none
        self.silent: bool = False


# -- making tensors ---------------------------------------------------------------------------------------------------

_new: Final[Any] = TensorBase.__new__


class Late:
    """What modules further up provide when they are imported, and one value that is known late."""

    __slots__ = (
        "accumulation", "anomaly", "batched", "batched_array", "batched_backward", "batched_rule", "batching",
        "checkpoints", "in_new_thread", "inference", "intercepting", "leaf_hooks", "mixed_binary", "mutation",
        "negative", "recorded", "refuse_change", "refuse_in_transform", "refuse_inference", "replay_view", "tangents",
        "tensor_class", "transforms", "user_code",
    )  # fmt: skip

    def __init__(self) -> None:
        self.tensor_class: Any = TensorBase  # leafgrad.tensor: results are instances of the public class
        self.negative: Any = None  # leafgrad.ops.pointwise.elementwise: the public neg
        self.mixed_binary: Any = None  # leafgrad.ops.promotion: other dtypes, operands that are no tensors
        self.replay_view: Any = None  # leafgrad.ops.shape.views: the history of a view whose memory was changed
        self.anomaly: Any = None  # leafgrad.autograd.anomaly_mode: runs rules under supervision, while that mode is on
        self.accumulation: Any = None  # leafgrad._profiler.recording: measures how gradients are added to `.grad`
        self.recorded: Any = None  # leafgrad.autograd.saved_tensor_hooks: is told of every node, if somebody asked
        self.tangents: Any = None  # leafgrad.autograd.forward_ad: carries tangents along, while a level is open
        self.refuse_inference: Any = None  # leafgrad.autograd.grad_mode: an inference tensor cannot be saved
        self.in_new_thread: Any = None  # leafgrad._core.new_thread
        self.mutation: Any = None  # leafgrad._core.node: is told before memory changes, if somebody asked
        self.leaf_hooks: bool = False  # has a leaf ever had a hook? Then the time at which it is called matters
        self.checkpoints: dict[int, bool] = {}  # leafgrad.utils: while there are any, backward passes say who they are
        self.intercepting: bool = False  # leafgrad.utils: is `batched` a function that looks at every operation?
        self.inference: int = 0  # threads in inference_mode
        self.batching: int = 0  # vmaps that are running, and graphs that one of them left behind
        self.transforms: int = 0  # functions that leafgrad.func is transforming now
        self.refuse_change: Any = None  # leafgrad.func: is asked before memory changes while functions are transformed
        self.refuse_in_transform: Any = None  # leafgrad.func: what such a function must not do
        self.batched: Any = None  # leafgrad.func: computes operations on arrays that hold many samples
        self.batched_array: Any = None  # leafgrad.func: the class of such arrays
        self.batched_backward: Any = None  # leafgrad.func: runs gradient rules on them
        self.batched_rule: Any = None  # leafgrad.func: runs the gradient rule of a node on them
        self.user_code: Any = None  # the code that recorded last: known to be the user's, and often the next as well


late: Final = Late()
_NOTHING_SAVED: Final = (None, None, None)


def wrap(array: Array) -> Any:
    """A new tensor around an array, with no history."""
    t: TensorBase = _new(late.tensor_class)
    t.array = array if array.__class__ is ndarray else as_array(array)
    t.node = None
    t.needs_grad = False
    t.version = [0]
    t._grad = None
    t.extra = None
    if late.inference != 0 and state.inference:
        t.extra = Extra()
        t.extra.inference = True
    return t


def as_array(value: Any) -> Array:
    """What a kernel returned, as an array: without dimensions NumPy returns scalars. Samples stay what they are."""
    return value if value.__class__ is late.batched_array else asarray(value)


def compute(op: Op, arrays: Sequence[Array], options: tuple[Any, ...]) -> Any:
    """What the kernel of an operation makes of arrays, also of those that hold many samples."""
    if late.batched is not None:
        return late.batched(op, arrays, options)
    return op.forward(*arrays, *options)


def wrap_node(array: Array, node: Node) -> Any:
    """A new tensor that came out of `node`."""
    t: TensorBase = _new(late.tensor_class)
    t.array = array
    t.node = node
    t.needs_grad = True
    t.version = [0]
    t._grad = None
    t.extra = None
    return t


number: Final[TensorBase] = wrap(0)  # stands for any Python number where an operand is expected: never changes


# -- applying operations ----------------------------------------------------------------------------------------------


def single(op: Op, a: TensorBase, options: tuple[Any, ...] = ()) -> Any:
    """Apply an operation of one tensor."""
    recording = state.grad_enabled  # first of all: a thread's first look at its state silences NumPy in it
    if a.extra is not None or late.batched is not None:
        return apply(op, (a,), options)
    x = a.array
    forward = op.forward  # in two steps: to find a function in a slot and to call it is slower in one
    out = forward(x, *options) if options else forward(x)
    if out.__class__ is not ndarray:
        out = asarray(out)
    if not a.needs_grad:
        return wrap(out)
    return record(op, (a,), (x,), options, out) if recording else unrecorded(op, (a,), out)


def pair(op: Op, a: TensorBase, b: TensorBase) -> Any:
    """Apply an operation of two tensors, which somebody has looked at before."""
    recording = state.grad_enabled  # first of all, see single
    if a.extra is not None or b.extra is not None or late.batched is not None:
        return apply(op, (a, b), ())
    x = a.array
    y = b.array
    forward = op.forward
    out = forward(x, y)
    if out.__class__ is not ndarray:
        out = asarray(out)
    if not a.needs_grad and not b.needs_grad:
        return wrap(out)
    return record(op, (a, b), (x, y), (), out) if recording else unrecorded(op, (a, b), out)


def binary(op: Op, a: TensorBase, b: Any) -> Any:
    """Apply an elementwise operation of two operands: both float32 or both float64 here, the rest elsewhere.

    These are the most frequent operations by far, so `make_node` is written out here for two operands: what is saved
    has fixed places, (a, b, result), and nothing is looped over.
    """
    recording = state.grad_enabled  # first of all, see single
    if late.intercepting:
        return late.mixed_binary(op, a, b)
    x = a.array
    kind = x.dtype
    if isinstance(b, TensorBase):
        y = b.array
        if kind is not y.dtype or not (kind is _f32 or kind is _f64):
            return late.mixed_binary(op, a, b)
    elif (kind is _f32 or kind is _f64) and (b.__class__ is float or b.__class__ is int):
        y = constant(b, kind)
        b = number
    else:
        return late.mixed_binary(op, a, b)
    forward = op.forward  # see single
    try:
        out = forward(x, y)
    except ValueError:
        return late.mixed_binary(op, a, b)  # which finds the words for it
    if out.__class__ is not ndarray:
        out = asarray(out)
    if a.extra is not None or b.extra is not None:
        return finish(op, (a, b), (x, y), (), out)
    edge_a: Any = None
    edge_b: Any = None
    mask = 0
    if a.needs_grad:
        mask = 1
        edge_a = a.node
        if edge_a is None:
            edge_a = a
    if b.needs_grad:
        mask += 2
        edge_b = b.node
        if edge_b is None:
            edge_b = b
    if mask == 0:
        return wrap(out)
    if recording is not True:  # off, or somebody wants to know of every node
        return finish(op, (a, b), (x, y), (), out)
    try:
        frame = _getframe(_PAIR_DEPTH)
    except ValueError:
        frame = _getframe(0)
    code = frame.f_code
    if code is not late.user_code:
        if internal_files.get(code.co_filename, True):
            frame = origin.outside(frame)
            code = frame.f_code
        late.user_code = code
    node = Node()
    kept = op.keeps[mask]  # KEEP_A + KEEP_B + KEEP_OUT; the frequent sums first
    version: Version = [0]
    if kept == 2:
        of_b = b.version
        node.saved = (None, y, None)
        node.versions = (of_b, of_b[0])
    elif kept == 3:
        of_a = a.version
        of_b = b.version
        node.saved = (x, y, None)
        node.versions = (of_a, of_a[0], of_b, of_b[0])
    elif kept == 0:
        node.saved = _NOTHING_SAVED
        node.versions = None
    else:
        if kept == UNREAD:
            kept = op.keep(mask)
        node.saved = (x if kept & KEEP_A else None, y if kept & KEEP_B else None, out if kept & KEEP_OUT else None)
        versions: list[Any] = []
        for bit, of in ((KEEP_A, a.version), (KEEP_B, b.version), (KEEP_OUT, version)):
            if kept & bit:
                versions.append(of)
                versions.append(of[0])
        node.versions = tuple(versions) or None
    node.op = op
    node.inputs = (edge_a, edge_b)
    node.order = take_order()
    node.shape = out.shape
    node.dtype = kind
    node.code = code
    node.lasti = frame.f_lasti
    node.hooks = None
    result: TensorBase = _new(late.tensor_class)
    result.array = out
    result.node = node
    result.needs_grad = True
    result.version = version
    result._grad = None
    result.extra = None
    return result


_constants: Final[dict[Any, Any]] = {}


def constant(value: Any, kind: Any) -> Any:
    """A Python number as a zero-dimensional array: NumPy converts that much faster than the number itself."""
    key = (value, kind)
    found = _constants.get(key)
    if found is None:
        found = asarray(value, kind)
        # 0.0 and -0.0 are equal keys but different numbers
        if value != 0 and len(_constants) < 1000:
            found.setflags(write=False)
            _constants[key] = found
    return found


def apply(op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    """Apply an operation with one result to tensors (None for one that is absent) and options."""
    recording = needs_recording(tensors)  # before the kernel runs, see single
    arrays = [None if t is None else t.array for t in tensors]
    out = op.forward(*arrays, *options) if late.batched is None else late.batched(op, arrays, options)
    if out.__class__ is not ndarray:
        out = as_array(out)
    result = record(op, tensors, arrays, options, out) if recording else unrecorded(op, tensors, out)
    if late.tangents is not None:
        late.tangents(op, tensors, arrays, options, (result,))
    return result


def finish(op: Op, tensors: Sequence[Any], arrays: Sequence[Array], options: tuple[Any, ...], out: Array) -> Any:
    """The result `out` of an operation as a tensor: recorded if one of its inputs needs a gradient."""
    recording = needs_recording(tensors)
    result = record(op, tensors, arrays, options, out) if recording else unrecorded(op, tensors, out)
    if late.tangents is not None:
        late.tangents(op, tensors, arrays, options, (result,))
    return result


def needs_recording(tensors: Sequence[Any]) -> bool:
    """Is recording on, and does one of the tensors need a gradient?"""
    needed = False
    for t in tensors:
        if t is not None:
            if t.extra is not None:
                settle(t)
            if t.needs_grad:
                needed = True
    return bool(state.grad_enabled) and needed


def record(op: Op, tensors: Sequence[Any], arrays: Sequence[Array], options: tuple[Any, ...], out: Array) -> Any:
    """Leave a node behind for `out = op(*arrays, *options)`, and return `out` as a tensor that hangs on it."""
    kind = out.dtype
    if kind is not _f32 and kind is not _f64 and kind.kind in "biu":
        return unrecorded(op, tensors, out)
    version: Version = [0]
    result: TensorBase = _new(late.tensor_class)
    result.array = out
    result.node = make_node(op, tensors, arrays, options, (out,), (version,), out.shape, kind)
    result.needs_grad = True
    result.version = version
    result._grad = None
    result.extra = None
    return result


def make_node(
    op: Op,
    tensors: Sequence[Any],
    arrays: Sequence[Array],
    options: tuple[Any, ...],
    outs: Sequence[Array],
    out_versions: Sequence[Version],
    shape: Any,
    kind: Any,
) -> Node:
    """The node of an operation: the edges to where its inputs came from, and the values that its rule will need."""
    frame = origin.user_frame()
    edges: list[Any] = []
    mask = 0
    bit = 1
    for t in tensors:
        if t is not None and t.needs_grad:
            mask |= bit
            node = t.node
            edges.append(t if node is None else node)
        else:
            edges.append(None)
        bit <<= 1
    if kind is not _f32 and kind is not _f64 and op.conjugated is not None and is_complex(kind):
        op = op.conjugated
    plan = op.plans.get(mask)
    if plan is None:
        plan = op.plan(mask)
    saved: list[Any] = []
    versions: list[Any] | None = None
    for place in plan:
        if place >= SHAPE:
            saved.append(arrays[place - SHAPE].shape)
        elif place >= OPTION:
            value = options[place - OPTION]
            saved.append(value)
            if versions is None and value.__class__ is ndarray:
                versions = []  # an index tensor: our own copy, so it does not change, but it is freed like the others
        elif place == NOTHING:
            saved.append(None)
        else:
            if versions is None:
                versions = []
            if place >= 0:
                saved.append(arrays[place])
                t = tensors[place]
                if t is not None:  # a Python number cannot change
                    if t.extra is not None and t.extra.inference:
                        late.refuse_inference(t)
                    versions.append(t.version)
                    versions.append(t.version[0])
            else:
                version = out_versions[OUT - place]
                saved.append(outs[OUT - place])
                versions.append(version)
                versions.append(version[0])
    made = Node().fill(
        op,
        tuple(edges),
        tuple(saved),
        None if versions is None else tuple(versions) or UNCHANGING,
        shape,
        kind,
        frame.f_code,
        frame.f_lasti,
    )
    if late.recorded is not None:
        late.recorded(made, tensors, out_versions)
    return made


def is_complex(kind: Any) -> bool:
    """Is this the dtype (or, for several results, are these the dtypes) of complex numbers?"""
    if isinstance(kind, tuple):
        return any([k.kind == "c" for k in kind])
    return bool(kind.kind == "c")


def edge(t: Any) -> Any:
    """Where a gradient of `t` goes: the node it came from, or `t` itself if it is a leaf (or already such a place)."""
    if isinstance(t, Node):
        return t
    if t.extra is not None:
        settle(t)
    node = t.node
    if node is None:
        return t
    return node


def settle(t: TensorBase) -> None:
    """If the memory behind a view was changed through another tensor, the view's history is now the base's."""
    assert t.extra is not None
    view = t.extra.view
    if view is None or (view.seen == t.version[0] and t.needs_grad):
        return
    if view.base.needs_grad or view.restriction == "custom":  # a Function's result may be a view of its own copy
        late.replay_view(t, view)


def unrecorded(op: Op, tensors: Sequence[Any], out: Array) -> Any:
    """A result with no graph behind it, which remembers why, for the error message of a later backward()."""
    result: TensorBase = wrap(out)
    for t in tensors:
        if t is not None and t.needs_grad:
            if result.extra is None:
                result.extra = Extra()
            mode = "inference_mode" if state.inference else "no_grad"
            result.extra.cut = Cut(op.name if state.grad_enabled else mode)
            return result
    for t in tensors:
        if t is not None and t.extra is not None and t.extra.cut is not None:
            if result.extra is None:
                result.extra = Extra()
            result.extra.cut = t.extra.cut
            return result
    return result


def apply_many(op: Op, tensors: tuple[Any, ...], options: tuple[Any, ...]) -> list[Any]:
    """Apply an operation with several results. Integer results (indices) carry no gradient."""
    recording = needs_recording(tensors)
    arrays = [None if t is None else t.array for t in tensors]
    outs = [o if o.__class__ is ndarray else as_array(o) for o in compute(op, arrays, options)]
    if not recording:
        results: list[Any] = [unrecorded(op, tensors, out) for out in outs]
        if late.tangents is not None:
            late.tangents(op, tensors, arrays, options, results)
        return results
    results = [wrap(out) for out in outs]
    shapes = tuple([out.shape for out in outs])
    kinds = tuple([out.dtype for out in outs])
    node = make_node(op, tensors, arrays, options, outs, [t.version for t in results], shapes, kinds)
    for index, result in enumerate(results):
        if kinds[index].kind not in "biu":
            result.node = output_of(node, index, shapes[index], kinds[index])
            result.needs_grad = True
    if late.tangents is not None:
        late.tangents(op, tensors, arrays, options, results)
    return results
