"""Hooks for saved tensors: users decide in which form the values that a graph saves are kept until they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.modes import Mode, push
from leafgrad._core.node import UNCHANGING, Node, plan_of
from leafgrad._core.op import NOTHING, OPTION, OUT, SHAPE
from leafgrad._core.saved import output_tensor
from leafgrad._core.tensor import TensorBase, number, wrap
from leafgrad._core.thread_state import state
from leafgrad.autograd.hooks import of_node, quietly

Pack = Callable[[Any], Any]


class Packed:
    """One saved tensor in the form its pack hook gave it."""

    __slots__ = ("form", "unpack_hook")

    def __init__(self, tensor: Any, pack_hook: Pack, unpack_hook: Pack) -> None:
        before = tensor.version[0]
        form = quietly(False, pack_hook, tensor)
        if tensor.version[0] != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
                "an issue if you need to perform in-place operations on the input to a pack hook.\n"
                f"  at {errors.here()}"
            )
        # kept without its history: a result holds the node that would hold it here
        self.form = wrap(tensor.array) if form is tensor and tensor.node is not None else form
        self.unpack_hook = unpack_hook

    def unpack(self) -> Any:
        tensor = quietly(False, self.unpack_hook, self.form)
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}\n  at {errors.here()}"
            )
        return tensor


def pack_one(node: Node, index: int, tensor: Any, pack_hook: Pack, unpack_hook: Pack) -> None:
    """Hand one saved value of a node over to a pair of hooks."""
    of_node(node).packed[index] = Packed(tensor, pack_hook, unpack_hook)
    assert isinstance(node.saved, tuple)
    node.saved = (*node.saved[:index], None, *node.saved[index + 1 :])


def innermost() -> Any:
    """The hooks that are in force in this thread, or None."""
    for mode in reversed(state.modes):
        if mode.keeps_saved:
            return mode
    return None


class saved_tensors_hooks(Mode):
    """saved_tensors_hooks(pack_hook, unpack_hook): inside, every tensor that an operation saves for the backward pass
    is given to `pack_hook`, and what that returns is kept; `unpack_hook` makes a tensor of it again."""

    keeps_saved = True

    def __init__(self, pack_hook: Pack, unpack_hook: Pack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if state.saved_hooks_refused is not None:
            raise RuntimeError(state.saved_hooks_refused)
        push(self)

    def recorded(self, node: Node, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
        """Hand the saved values of a node over, if no other hooks are further in."""
        if node.versions is None or innermost() is not self:
            return
        assert isinstance(node.saved, tuple)
        names = node.op.gradient_rules().saved_names
        places = list(enumerate(plan_of(node)))
        places.sort(key=lambda one: (one[1] < 0, names[one[0]] if one[0] < len(names) else ""))  # PyTorch's order
        for index, place in places:
            value = node.saved[index]
            if place == NOTHING or place >= SHAPE or not isinstance(value, np.ndarray):
                continue
            if place >= OPTION:
                tensor = wrap(value)
            elif place >= 0:
                tensor = tensors[place]
                if tensor is None or tensor is number:
                    continue
            else:
                tensor = output_tensor(node, OUT - place, value)
                tensor.version = out_versions[OUT - place]
            pack_one(node, index, tensor, self.pack_hook, self.unpack_hook)
        node.versions = UNCHANGING  # what hooks do with a tensor, its version cannot tell


class save_on_cpu(saved_tensors_hooks):
    """save_on_cpu(pin_memory=False, device_type="cuda"): keep saved tensors in the CPU's memory, where they are
    already; for programs written for other devices."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """disable_saved_tensors_hooks(error_message): inside, saved_tensors_hooks is refused with this message."""
    if innermost() is not None:
        raise RuntimeError(error_message)
    before, state.saved_hooks_refused = state.saved_hooks_refused, error_message
    try:
        yield
    finally:
        state.saved_hooks_refused = before
