"""The fields of a tensor. The public `Tensor` (leafgrad/_tensor/tensor.py) is an ordinary Python class on top of
`TensorBase`; this file, like most of `_core`, is written so that mypyc can compile it as it stands."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from leafgrad._build import mypyc_attr
from leafgrad._core import thread_state
from leafgrad._core.events import Event
from leafgrad._core.modes import switches
from leafgrad._core.node import Node, Version

Array = Any
# Final, because the compiler turns these into C variables; other module variables are dictionary look-ups.
ndarray: Final[Any] = np.ndarray
asarray: Final[Any] = np.asarray
state: Final[Any] = thread_state.state


class Links:
    """What the core calls of modules above it, which put it here when they are imported."""

    __slots__ = (
        "add", "add_sparse_gradient", "alias", "apply_in_transform", "as_function_of", "assign", "batching", "clone",
        "copied_gradient", "copy_like", "div", "forward_in_transform", "functions", "give_history", "in_common_order",
        "load_sparse_class", "meta_call", "meta_class", "mixed_binary", "mul", "neg", "negative",
        "new", "rebase", "refresh_copies", "replay_view", "saves_itself", "sparse_call", "sparse_class", "sub",
        "sum_dim", "tensor_class", "to_dtype",
    )  # fmt: skip

    def __init__(self) -> None:
        self.tensor_class: Any = None  # results are instances of the public class,
        self.new: Any = None  # made by the __new__ of the last of its bases that is compiled
        self.mixed_binary: Any = None  # leafgrad.ops.promotion: other dtypes, operands that are no tensors
        self.in_common_order: Any = None  # leafgrad._layouts: the result of several arrays, laid out as in PyTorch
        self.negative: Any = None  # leafgrad.ops.pointwise: the public neg
        # leafgrad.autograd.composition: is an input that a node saved saved as it is by PyTorch, too?
        self.saves_itself: Any = None
        self.replay_view: Any = None  # leafgrad.ops.shape.views: the history of a view whose memory was changed
        self.alias: Any = None  # the same: another tensor on the same memory, a view without history
        self.refresh_copies: Any = None  # leafgrad.ops.inplace: brings conjugates of what was changed since up to date
        self.rebase: Any = None  # leafgrad.ops.inplace: gives a tensor that was changed in place its new history
        self.as_function_of: Any = None  # leafgrad.ops.pointwise.relu: gradients that are constant in an input
        self.give_history: Any = None  # leafgrad.autograd.hooks: makes a node the one that a tensor comes from
        self.sparse_class: Any = None  # leafgrad._tensor.sparse_class: the class of sparse tensors, once there is one
        self.load_sparse_class: Any = None
        self.add_sparse_gradient: Any = None  # leafgrad.ops.sparse: adds to `.grad` of a leaf
        self.sparse_call: Any = None  # leafgrad.ops.sparse: what becomes of a call that one of them takes part in
        self.meta_call: Any = None  # leafgrad.ops.meta: the same for tensors without data
        self.meta_class: Any = None  # leafgrad._tensor.meta_class: the class of those that would be of a given class
        self.functions: dict[str, Any] = {}  # leafgrad: everything that is public there
        self.batching: Any = None  # leafgrad.func: the mode that computes on batches
        self.apply_in_transform: Any = None  # leafgrad.func: a Function of the user inside of a transform
        self.forward_in_transform: Any = None
        self.copied_gradient: Any = None  # leafgrad.ops.pointwise: a gradient that is recorded, as that of a leaf
        self.clone: Any = None  # the Op
        self.neg: Any = None  # and the Ops behind the operators, and behind the engine's additions
        self.add: Any = None
        self.assign: Any = None
        self.to_dtype: Any = None
        self.copy_like: Any = None
        self.sub: Any = None
        self.sum_dim: Any = None
        self.mul: Any = None
        self.div: Any = None


links: Final = Links()


@mypyc_attr(allow_interpreted_subclasses=True)
class TensorBase:
    """The fields of a tensor. `array` holds the numbers (and shape, strides and dtype); the rest is autograd's."""

    __slots__ = ("_grad", "array", "needs_grad", "node", "rare", "version")

    array: Any
    node: Node | None  # the operation it came from; None for a leaf
    needs_grad: bool
    version: Version  # counts in-place changes; shared with every view of the same memory
    _grad: Any
    rare: RareFields | None


OWN_DTYPE: Final[Any] = ()  # the gradient of a leaf has the leaf's dtype, unless another is set, or None for any


class RareFields:
    """What few tensors have: a base that they are a view of, hooks, a reason why their graph ends, tangents."""

    # Defaults of the class: an __init__ that sets them takes plain Python three times as long.
    view: View | None = None
    hooks: Any = None
    grad_dtype: Any = OWN_DTYPE
    accumulates_since: int = 1  # the order of its last set_(): edges of older nodes are no longer its own. 1: never
    retains_grad: bool = False
    graph_break: Event | None = None  # what ended its graph, and where
    inference: bool = False  # made in inference_mode: never part of a graph
    tangents: dict[int, Any] | None = None  # forward mode: the derivative for each open level
    conjugate: Conjugate | None = None


class Conjugate:
    """What is known of a result of conj(): in PyTorch a view of the tensor `base`, conjugated whenever it is read, here
    a copy; of `source`, which may be a view of the base, at this version. `is_set` tells the conjugate bit: conj() of
    conj() has none."""

    __slots__ = ("base", "is_set", "source", "version")

    def __init__(self, base: TensorBase, source: TensorBase | None, version: int, is_set: bool) -> None:
        self.base = base
        self.source = source
        self.version = version
        self.is_set = is_set

    def is_outdated(self) -> bool:
        """Has the tensor been changed since?"""
        return self.version != int(self.base.version[0])


class Parts:
    """What leads to the results of an operation that makes many views at once: the steps `before` it, and as what else
    each of them can be had, an operation with `options_of(number)`. That is looked for when somebody asks."""

    __slots__ = ("before", "operation", "options_of")

    def __init__(self, before: tuple[Any, ...], operation: Any, options_of: Any) -> None:
        self.before = before
        self.operation = operation
        self.options_of = options_of


class View:
    """How a tensor looks at the memory of another: `base` seen through `steps`, each an Op with its options."""

    __slots__ = ("base", "known", "node_version", "number", "restriction", "silent")

    def __init__(self, base: TensorBase, known: Any, restriction: str | None, number: int = 0) -> None:
        self.base = base
        self.known = known  # the steps, or the Parts of which this is the one with `number`
        self.number = number
        self.node_version: int = base.version[0]  # the version for which the view's own node is right
        self.restriction = restriction  # why an in-place change of it cannot be differentiated, if so
        # made under no_grad of a base that requires grad: as in PyTorch it requires grad as well, but gets none
        self.silent: bool = False

    @property
    def steps(self) -> tuple[Any, ...]:
        known = self.known
        if isinstance(known, Parts):
            known = known.before + ((known.operation, known.options_of(self.number)),)
            self.known = known
        steps: tuple[Any, ...] = known
        return steps

    @steps.setter
    def steps(self, steps: tuple[Any, ...]) -> None:
        self.known = steps


def is_silent(t: TensorBase) -> bool:
    """Is it a view that requires grad for its base's sake alone? No edge leads to it, and no gradient reaches it."""
    return t.node is None and t.rare is not None and t.rare.view is not None and t.rare.view.silent


def conjugate_behind(t: TensorBase) -> Conjugate | None:
    """What is known of the conjugate that a tensor is, or is a view of."""
    rare = t.rare
    if rare is None:
        return None
    if rare.conjugate is not None:
        return rare.conjugate
    view = rare.view
    return None if view is None or view.base.rare is None else view.base.rare.conjugate


def note_conjugate(t: TensorBase, other: TensorBase) -> None:
    """`other` shows the memory of `t`: is that the copy that stands for a view in PyTorch?"""
    known = conjugate_behind(t)
    if known is not None:
        other.rare = other.rare or RareFields()
        own = t.rare is not None and t.rare.conjugate is known
        other.rare.conjugate = Conjugate(known.base, known.source if own else None, known.version, known.is_set)


links.tensor_class = TensorBase
links.new = TensorBase.__new__


def wrap(array: Array) -> Any:
    """A new tensor around an array, with no history."""
    t: TensorBase = links.new(links.tensor_class)
    if type(array) is ndarray:  # compiled, to ask for the attribute __class__ takes 15 ns longer
        t.array = array
    else:
        t.array = as_array(array)
        if isinstance(array, ClassedArray):
            in_own_class(t)
    t.node = None
    t.needs_grad = False
    t.version = [0, None]
    t._grad = None
    t.rare = None
    if switches.inference != 0 and state.inference:
        t.rare = RareFields()
        t.rare.inference = True
    return t


def wrap_node(array: Array, node: Node) -> Any:
    """A new tensor that came out of `node`."""
    t: TensorBase = links.new(links.tensor_class)
    t.array = array
    t.node = node
    t.needs_grad = True
    t.version = [0, None]
    t._grad = None
    t.rare = None
    if type(array) is not ndarray and isinstance(array, ClassedArray):
        in_own_class(t)
    return t


def in_own_class(t: Any) -> Any:
    """A tensor that holds a sparse array, or one without data, is of the class that takes its calls over."""
    if isinstance(t.array, MetaArrayBase):
        t.__class__ = links.meta_class(links.tensor_class)
        return t
    if links.sparse_class is None:
        links.load_sparse_class()
    t.__class__ = links.sparse_class
    return t


def with_layout_noted(t: TensorBase) -> Any:
    """A new tensor; with rare fields if it does not lie in memory row by row. Operations look at the layouts of tensors
    that have such fields, as views do, and so the others need not pay for it."""
    if t.rare is None and not t.array.flags.c_contiguous:
        t.rare = RareFields()
    return t


@mypyc_attr(allow_interpreted_subclasses=True)
class OtherArray:
    """The base of what a tensor may hold in the place of an ndarray."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True)
class BatchedArrayBase(OtherArray):
    """The base of the arrays that hold many samples inside vmap (leafgrad.func), which are no ndarrays: what is not
    about vmap asks `is_batched` and nothing else."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True)
class ClassedArray(OtherArray):
    """The base of arrays whose tensors are of a class of their own, which takes calls over."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True)
class SparseArrayBase(ClassedArray):
    """The base of the arrays of sparse tensors (leafgrad.ops.sparse)."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True)
class MetaArrayBase(ClassedArray):
    """The base of arrays that have a shape, strides and a dtype, but no data (leafgrad.ops.meta)."""

    __slots__ = ()


def is_meta(array: Any) -> bool:
    """Is this an array without data?"""
    return type(array) is not ndarray and isinstance(array, MetaArrayBase)


def is_batched(array: Any) -> bool:
    """Does this array hold many samples, inside vmap?"""
    return type(array) is not ndarray and isinstance(array, BatchedArrayBase)


def as_array(value: Any) -> Array:
    """What a kernel returned, as an array: without dimensions NumPy returns scalars. Batches and sparse arrays stay
    what they are."""
    return value if type(value) is ndarray or isinstance(value, OtherArray) else asarray(value)


number: Final[TensorBase] = wrap(0)  # stands for any Python number where an operand is expected: never changes

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
