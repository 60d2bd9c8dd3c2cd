"""What a `Function` saves with save_for_backward, until its backward asks for `ctx.saved_tensors`. Hot, compiled."""

from __future__ import annotations

import weakref
from typing import Any, Final

import leafgrad.errors.functions as refusals
from leafgrad import errors
from leafgrad._core.function import Context, result_of
from leafgrad._core.modes import switches
from leafgrad._core.node import Node
from leafgrad._core.recorder import make_node, settle
from leafgrad._core.saved import was_detached
from leafgrad._core.tensor import TensorBase, links, wrap, wrap_node
from leafgrad.autograd.saved_tensor_hooks import Packed, innermost

ref: Final[Any] = weakref.ref
NO_RESULT: Final = -1


class SavedTensor:
    """One saved tensor: enough of it to have it again, connected to the same history.

    A leaf is kept as it is. Of others the array and the node are kept, because the tensor may get another history, one
    that leads here. A result is kept as an array and a number: to hold its node would be to hold what holds this.
    """

    version: Any = None  # None: what was saved is None
    count: int = 0
    result: int = NO_RESULT  # the number of the result that it is
    leaf: Any = None
    array: Any = None
    node: Any = None
    itself: Any = None  # a weak reference to a tensor that is neither a leaf nor a result
    packed: Any = None  # if hooks take care of it

    def keep(self, t: TensorBase, result: int) -> None:
        if t.rare is not None:
            if t.rare.inference:
                raise errors.inference_saved(t)
            settle(t)  # a view may have got a history since it was last used
        self.version = t.version
        self.count = t.version[0]
        if result != NO_RESULT:
            self.result = result
            self.array = t.array
        elif t.node is None:
            self.leaf = t
        else:
            self.array = t.array
            self.node = t.node
            self.itself = ref(t)

    def pack(self, tensor: Any, pack_hook: Any, unpack_hook: Any) -> None:
        """Hand it over to a pair of hooks. `tensor` is what they are given."""
        self.packed = Packed(tensor, pack_hook, unpack_hook)
        if self.leaf is not None:
            self.node = self.leaf if self.leaf.needs_grad else None
        self.leaf = self.array = None

    def tensor(self, node: Any) -> Any:
        """The tensor. `node` is a weak reference to the node that saved it, if one did."""
        if self.version is None:
            return None
        if self.packed is not None:
            made = self.packed.unpack()
            if self.node is None and self.result == NO_RESULT and not made.needs_grad:
                return made
            return self.connected(made.array, made.version, node)
        if self.version[0] != self.count:
            raise refusals.saved_changed(None if node is None else node(), self)
        if self.leaf is not None:
            return self.leaf
        if self.itself is not None:
            itself = self.itself()
            if itself is not None and itself.array is self.array:
                if itself.node is self.node or (itself.node is None and node is not None):  # it was detached in place
                    return itself
        if switches.detached and was_detached(self.node, self.array):
            if node is None:
                raise errors.saved_tensor_detached(None)
            self.node = None  # where a Function saved the tensor, it is what it has become
        return self.connected(self.array, self.version, node)

    def connected(self, array: Any, version: Any, node: Any) -> Any:
        """An array as a tensor with the history that the saved one had."""
        if self.result != NO_RESULT:
            tensor = wrap_node(array, result_of(node(), self.result, array))
        elif self.node is None:
            tensor = wrap(array)
        elif isinstance(self.node, Node):
            tensor = wrap_node(array, self.node)
        elif not self.node.needs_grad:  # a leaf that was one of a gradient when it was saved; now nobody wants it
            tensor = wrap(array)
            tensor.needs_grad = True
        elif self.node.array is array:
            return self.node
        else:  # other values for a leaf, which its gradient goes to all the same
            copied = make_node(links.clone, (self.node,), (array,), (), (), (), array.shape, array.dtype)
            tensor = wrap_node(array, copied)
        tensor.version = version
        return tensor


def save(tensor: Any, result: int) -> SavedTensor:
    """Save a tensor, or None, in the care of the hooks for saved tensors if there are any."""
    saved = SavedTensor()
    if tensor is not None:
        saved.keep(tensor, result)
        hooks = innermost()
        if hooks is not None:
            saved.pack(tensor, hooks.pack_hook, hooks.unpack_hook)
    return saved


def refuse_saved(record: Any) -> None:
    """Raise if what was saved is gone."""
    if record.freed is not None:
        raise errors.graph_was_freed(record.node(), record.freed)
    if record.accessed:
        raise refusals.saved_twice()


def saved_tensors(ctx: Context) -> tuple[Any, ...]:
    """What ctx.saved_tensors is: the tensors again, or the error that tells why they cannot be had."""
    record = ctx._record
    if record.for_jvp is not None:
        return record.for_jvp  # type: ignore[no-any-return]
    if record.freed is not None or record.accessed:
        refuse_saved(record)
    tensors: list[Any] = []
    for one in record.saved:
        saved: SavedTensor = one  # for the compiler
        tensors.append(saved.tensor(record.node))
    if record.saved and ctx._forward_cls.clear_saved_tensors_on_access:  # type: ignore[attr-defined]  # see function_backward.py
        record.saved = ()
        record.accessed = True
    return tuple(tensors)
