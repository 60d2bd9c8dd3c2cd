"""The products that PyTorch composes some operations of, for those who count them (leafgrad.utils.flop_counter).

leafgrad has one operation for `linear`, `matmul` or a recurrent layer; PyTorch's dispatcher sees `addmm`, `mm`, `bmm`.
The blocks name one of these functions as `products`: of the shapes of the arguments and the options they make a list of
`Product`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

Shape = tuple[int, ...]


class Product(NamedTuple):
    """A call of `name` with the product of `a` and `b`. The gradients by them are computed if one of the inputs of the
    operation with these numbers has a gradient."""

    name: str
    a: Shape
    b: Shape
    a_from: Sequence[int] = (0,)
    b_from: Sequence[int] = (1,)
    bias: Shape | None = None

    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the arguments of the call."""
        return (self.a, self.b) if self.bias is None else (self.bias, self.a, self.b)

    def out(self) -> Shape:
        return (*self.a[:-1], self.b[-1])

    def gradients(self, needs: Sequence[bool]) -> list[Product]:
        """The products of the backward pass; `needs` says which inputs have a gradient."""
        name = {"addmm": "mm", "baddbmm": "bmm"}.get(self.name, self.name)
        found = []
        if any(needs[i] for i in self.b_from):
            found.append(Product(name, turned(self.a), self.out()))
        if any(needs[i] for i in self.a_from):
            found.append(Product(name, self.out(), turned(self.b)))
        return found


def turned(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


def of_matmul(shapes: Sequence[Any], options: Sequence[Any]) -> list[Product]:
    """A matrix or a vector is multiplied with all rows of a stack at once. Products with a vector are no such calls,
    unless it stands before a matrix."""
    a, b = shapes
    if len(a) == 1 and len(b) == 2:
        return [Product("mm", (1, *a), b)]
    if len(a) <= 1 or len(b) <= 1:
        return []
    if len(a) == 2 == len(b):
        return [Product("mm", a, b)]
    if len(b) == 2:
        return [Product("mm", (prod(a[:-1]), a[-1]), b)]
    if len(a) == 2:
        rows = (*b[:-2], b[-1], b[-2])
        return [Product("mm", (prod(rows[:-1]), rows[-1]), a[::-1], (1,), (0,))]
    size = prod(np.broadcast_shapes(a[:-2], b[:-2]))
    return [Product("bmm", (size, *a[-2:]), (size, *b[-2:]))]


def of_linear(shapes: Sequence[Any], options: Sequence[Any]) -> list[Product]:
    x, weight, bias = shapes
    return [Product("mm" if bias is None else "addmm", (prod(x[:-1]), x[-1]), weight[::-1], bias=bias)]


def of_sequence(shapes: Sequence[Any], options: Sequence[Any]) -> list[Product]:
    """One product for all inputs of a recurrent layer, then one for each step, of states that come from all inputs."""
    *first, w_ih, w_hh, b_ih, b_hh = shapes
    at = len(first)
    name = "mm" if b_ih is None else "addmm"
    sizes, reverse = options[-2:]
    steps = list(reversed(sizes) if reverse else sizes)
    found = [Product(name, first[0], w_ih[::-1], (0,), (at,), b_ih)]
    for number, size in enumerate(steps):
        states_from = [1] if not number else range(len(shapes))
        found.append(Product(name, (size, first[1][1]), w_hh[::-1], states_from, (at + 1,), b_hh))
    return found
