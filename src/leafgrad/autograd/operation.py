"""What recorder and engine know of an operation, and how an operation says what has to be saved for its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final


class Op:
    """What recorder and engine know of an operation. Built by the `@op` decorator from one block in `leafgrad.ops`.

    `forward(*arrays, *options)` computes on plain arrays.
    `backward(g, saved, inputs)` returns one gradient for each input; for those where `inputs` has None, anything.
    `saves(mask)` tells what has to be kept for it when the inputs of `mask` (bit i for input i) need a gradient.
    """

    __slots__ = (
        "backward", "conjugated", "consume", "forward", "hidden", "keeps", "name", "node_class", "node_name", "plans",
        "saved_names", "saves",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        node_name: str,
        forward: Callable[..., Any],
        backward: Callable[[Any, tuple[Any, ...], tuple[Any, ...]], Sequence[Any]],
        saves: Callable[[int], tuple[int, ...]],
    ) -> None:
        self.name = name
        self.node_name = node_name
        self.forward = forward
        self.backward = backward
        self.saves = saves
        self.plans: dict[int, tuple[int, ...]] = {}
        # like backward, but free to overwrite g and what else nobody holds: for large arrays that will not be needed
        # again, because the graph is not kept
        self.consume: Callable[[Any, tuple[Any, ...], tuple[Any, ...]], Sequence[Any]] | None = None
        # for operations of two tensors, the same in short: by mask, KEEP_A | KEEP_B | KEEP_OUT
        self.keeps: list[int] = []
        self.conjugated: Op | None = None  # the twin that serves complex numbers, see leafgrad.ops.registry
        self.node_class: Any = None
        self.saved_names: tuple[str, ...] = ()  # what PyTorch calls the saved values, in the order of `saves`
        self.hidden: tuple[int, ...] = ()  # inputs that are never differentiated, which PyTorch does not show


KEEP_A: Final = 1
KEEP_B: Final = 2
KEEP_OUT: Final = 4

# A plan is a tuple of places. i >= 0 is input i, and further:
OUT: Final = -1  # OUT - i: result i of the operation
NOTHING: Final = -1000  # not needed this time
OPTION: Final = 1000  # OPTION + i: option i (a dimension, a flag), kept as it is
SHAPE: Final = 2000  # SHAPE + i: the shape of input i
