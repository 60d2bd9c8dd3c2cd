"""einsum: sums of products, written with a letter for each dimension.

Every letter of the equation becomes one dimension that all operands have, those of the result first; where an operand
has no such letter its size is 1. Then the operands are multiplied one after the other: dimensions that only one of them
has are summed at once, those that two share and nobody needs any more by a product of matrices.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import execute
from leafgrad._core.modes import switches
from leafgrad._core.overrides import plain_tensors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.thread_state import state
from leafgrad.ops.linalg.products import bmm
from leafgrad.ops.pointwise.elementwise import mul
from leafgrad.ops.reduce.reductions import sum as sum_
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.shape.split import diagonal
from leafgrad.ops.shape.views import permute, reshape
from leafgrad.ops.signature import Tensor

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ELLIPSIS = "..."


class Equation(NamedTuple):
    """The labels of each operand, and those of the result if the equation names them."""

    operands: list[list[str]]
    result: list[str] | None


def refuse(text: str) -> NoReturn:
    raise RuntimeError(f"einsum(): {text}\n  at {errors.here()}")


@composite(
    lambda t: [
        *[S("ij->", t(2, 3)), S("ij->ji", t(2, 3)), S("ii->i", t(3, 3)), S("ii", t(3, 3)), S("i j -> j", t(2, 3))],
        *[S("ij,jk", t(2, 3), t(3, 4)), S("bij,bkj->bik", t(2, 3, 4), t(2, 5, 4)), S("i,j->ij", t(2), t(3))],
        *[S("i,i->i", t(3), t(3)), S("i,i", t(3), t(3)), S("ij,jk,kl->il", t(2, 3), t(3, 2), t(2, 4))],
        *[S("...i,i", t(2, 2, 3), t(3)), S("b...,b...->...", t(2, 3), t(2, 1)), S("ij,kl->", t(2, 2), t(3, 1))],
        *[S("iij,j->i", t(2, 2, 3), t(3)), S("ij,ij->j", t(2, 3), t(1, 3)), S("ij,jk", t(0, 3), t(3, 2))],
    ],
    method=False,
    in_python=("function",),
    signatures=("(equation: str, *operands: Tensor) -> Tensor",),
)
def einsum(*args: Any) -> Tensor:
    """einsum(equation, *operands): the sum of products that an equation names: "ij,jk->ik" is a product of matrices,
    "ii" a trace, "...ij->...ji" a transpose of many. Letters that are missing on the right are summed over; without an
    arrow those are the ones that stand there twice. Also einsum(operand, [0, 1], ..., [1, 0]), with numbers."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            f"subscripts list\n  at {errors.here()}"
        )
    equation, operands = from_lists(args) if isinstance(args[0], TensorBase) else (args[0], args[1:])
    if not isinstance(equation, str):
        got = type(equation).__name__
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {got}\n  at {errors.here()}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if len(operands) == 2 and is_simple(*operands):
        plan = plan_of_product(equation, operands[0].array.shape, operands[1].array.shape)
        if plan is not None:
            return planned(plan, *operands)
    return contracted(read(equation, len(operands)), operands)


# -- the equation -----------------------------------------------------------------------------------------------------


def from_lists(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The form with numbers, 0 to 51, in place of letters."""
    texts = []
    for numbers in (*args[1::2], *(args[-1:] if len(args) % 2 else ())):
        for n in numbers:
            if n is not Ellipsis and not 0 <= n < len(LETTERS):
                raise ValueError(
                    "einsum(): subscript in subscript list is not within the valid range [0, 52)\n  got "
                    f"{n}, at {errors.here()}"
                )
        texts.append("".join([ELLIPSIS if n is Ellipsis else LETTERS[n] for n in numbers]))
    operands = args[0 : len(args) - len(args) % 2 : 2]
    return ",".join(texts[: len(operands)]) + "".join([f"->{text}" for text in texts[len(operands) :]]), operands


def read(equation: str, count: int) -> Equation:
    """The labels of an equation for `count` operands."""
    left, arrow, right = equation.partition("->")
    sides = left.split(",")
    if len(sides) < count:
        refuse("more operands were provided than specified in the equation")
    if len(sides) > count:
        refuse("fewer operands were provided than specified in the equation")
    offset, operands = 0, []
    for number, side in enumerate(sides):
        operands.append(labels_in(side, offset, f"operand {number}"))
        offset += len(side) + 1
    if not arrow:
        return Equation(operands, None)
    result = labels_in(right, len(left) + 2, "the output")
    for label in result:
        if label != ELLIPSIS and result.count(label) > 1:
            refuse(f"output subscript {label} appears more than once in the output")
        if label != ELLIPSIS and not any([label in labels for labels in operands]):
            refuse(f"output subscript {label} does not appear in the equation for any input operand")
    return Equation(operands, result)


def labels_in(text: str, offset: int, place: str) -> list[str]:
    labels: list[str] = []
    i = 0
    while i < len(text):
        if text[i] == ".":
            if text[i : i + 3] != ELLIPSIS:
                refuse(f"found '.' for {place} that is not part of any ellipsis")
            if ELLIPSIS in labels:
                refuse(f"found '.' for {place} for which an ellipsis was already found")
            labels.append(ELLIPSIS)
            i += 2
        elif text[i] in LETTERS:
            labels.append(text[i])
        elif text[i] != " ":
            refuse(
                f"invalid subscript given at index {offset + i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        i += 1
    return labels


def spelled_out(labels: list[str], operand: Any, number: int, dots: list[str]) -> list[str]:
    """The labels of an operand with one for each dimension that an ellipsis stands for: the last of `dots`."""
    ndim, named = operand.array.ndim, len([label for label in labels if label != ELLIPSIS])
    if ELLIPSIS not in labels and named != ndim:
        refuse(
            f"the number of subscripts in the equation ({named}) does not match the number of dimensions ({ndim}) for "
            f"operand {number} and no ellipsis was given"
        )
    if named > ndim:
        refuse(
            f"the number of subscripts in the equation ({named}) is more than the number of dimensions ({ndim}) for "
            f"operand {number}"
        )
    covered = dots[len(dots) - (ndim - named) :]
    return [each for label in labels for each in (covered if label == ELLIPSIS else [label])]


# -- products of two, of which nothing is recorded --------------------------------------------------------------------


class Plan(NamedTuple):
    """How the sum over a product of two operands is a product of many matrices."""

    first_order: tuple[int, ...]
    first_shape: tuple[int, ...]
    second_order: tuple[int, ...]
    second_shape: tuple[int, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...]  # of its dimensions in the result


def is_simple(a: Any, b: Any) -> bool:
    """Can the steps between two operands and their product be left out, because nobody sees them?"""
    recording = state.recording
    if (recording is not True and recording is not False) or switches.autocasts:
        return False
    classes = a.__class__, b.__class__
    if classes[0] not in plain_tensors or classes[1] not in plain_tensors:
        return False
    if a.rare is not None or b.rare is not None:
        return False
    if a.array.__class__ is not np.ndarray or b.array.__class__ is not np.ndarray or a.array.dtype is not b.array.dtype:
        return False
    return a.array.dtype.kind == "f" and not (recording and (a.needs_grad or b.needs_grad))


@functools.lru_cache(1000)
def plan_of_product(equation: str, mine: tuple[int, ...], others: tuple[int, ...]) -> Plan | None:
    """None for sums over one operand, diagonals, an ellipsis, sizes that are broadcast, and what has to be refused."""
    known = read(equation, 2)
    a, b = known.operands
    if (
        ELLIPSIS in a + b
        or len(a) != len(set(a))
        or len(b) != len(set(b))
        or len(a) != len(mine)
        or len(b) != len(others)
    ):
        return None
    sizes = dict(zip(a, mine)) | dict(zip(b, others))
    if 1 in mine + others or any([sizes[label] != size for label, size in zip(a, mine)]):
        return None
    result = result_labels(known, [a, b], [])
    summed = sorted([label for label in a if label in b and label not in result], key=place_in_order)
    both = [label for label in result if label in a and label in b]
    left, right = [x for x in result if x not in b], [x for x in result if x not in a]
    if not summed or len(a) != len(both + left + summed) or len(b) != len(both + summed + right):
        return None
    count, rows, inner, columns = [math.prod([sizes[x] for x in part]) for part in (both, left, summed, right)]
    found = both + left + right
    return Plan(
        tuple([a.index(x) for x in both + left + summed]),
        (count, rows, inner),
        tuple([b.index(x) for x in both + summed + right]),
        (count, inner, columns),
        tuple([sizes[x] for x in found]),
        tuple([found.index(x) for x in result]),
    )


def planned(plan: Plan, a: Any, b: Any) -> Any:
    first = a.array.transpose(plan.first_order).reshape(plan.first_shape)
    second = b.array.transpose(plan.second_order).reshape(plan.second_shape)
    product = execute(bmm.core, (first, second)).reshape(plan.shape)
    return permute.function(wrap(product), plan.order)  # a view of the product, as in PyTorch


# -- the computation --------------------------------------------------------------------------------------------------


def contracted(equation: Equation, operands: Sequence[Any]) -> Any:
    for i, operand in enumerate(operands):
        if not isinstance(operand, TensorBase):
            raise errors.not_a_tensor("einsum", "operands", i + 1, operand)
    named = [len([label for label in labels if label != ELLIPSIS]) for labels in equation.operands]
    covered = [
        operand.array.ndim - n if ELLIPSIS in labels else 0
        for operand, n, labels in zip(operands, named, equation.operands, strict=True)
    ]
    dots = [f".{i}" for i in range(max(covered, default=0))]
    labelled = [
        spelled_out(labels, operand, i, dots)
        for i, (labels, operand) in enumerate(zip(equation.operands, operands, strict=True))
    ]
    result = result_labels(equation, labelled, dots)
    summed = sorted({label for labels in labelled for label in labels} - set(result), key=place_in_order)
    order = [*result, *summed]
    aligned = [in_order(operand, labels, order, i) for i, (operand, labels) in enumerate(zip(operands, labelled))]
    check_sizes(aligned, labelled, order)
    total, rest = aligned[0], aligned[1:]
    for i, other in enumerate(rest):
        total = multiplied(total, other, len(result), rest[i + 1 :])
    if not summed:
        return total
    if rest:  # they are of size 1 by now
        return reshape(total, total.array.shape[: len(result)])
    return sum_.function(total, tuple(range(len(result), len(order))))


def place_in_order(label: str) -> int:
    return LETTERS.find(label)


def result_labels(equation: Equation, labelled: list[list[str]], dots: list[str]) -> list[str]:
    """What the equation says; if it does not, the ellipsis and the letters that stand there once, in their order."""
    if equation.result is not None:
        return [each for label in equation.result for each in (dots if label == ELLIPSIS else [label])]
    every = [label for labels in labelled for label in labels]
    once = sorted({label for label in every if every.count(label) == 1 and label not in dots}, key=place_in_order)
    return [*dots, *once]


def in_order(operand: Any, labels: list[str], order: list[str], number: int) -> Any:
    """An operand with the dimensions of all labels, in order: of size 1 where it has none, the diagonal where it has
    two."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            shape = operand.array.shape
            if shape[first] != shape[second]:
                refuse(
                    f"subscript {label} is repeated for operand {number} but the sizes don't match, {shape[second]} != "
                    f"{shape[first]}"
                )
            operand = diagonal.function(operand, 0, first, second)  # which puts it last
            labels = [each for i, each in enumerate(labels) if i not in (first, second)] + [label]
    places = [labels.index(label) for label in order if label in labels]
    operand = permute.function(operand, places)  # always: the result is a tensor of its own
    sizes = iter(operand.array.shape)
    shape = [next(sizes) if label in labels else 1 for label in order]
    return operand if len(shape) == len(labels) else reshape(operand, shape)


def check_sizes(aligned: list[Any], labelled: list[list[str]], order: list[str]) -> None:
    for place, label in enumerate(order):
        seen = 1
        for number, operand in enumerate(aligned):
            size = operand.array.shape[place]
            if label in labelled[number] and size != 1:
                if seen not in (1, size):
                    if label[0] == ".":
                        dots = [each for each in labelled[number] if each[0] == "."]
                        refuse(
                            f"dimension {dots.index(label)} covered by ellipsis in operand {number}has size {size} "
                            f"which does not broadcast with previously seen ellipsis with size {seen} for the "
                            "respective dimension"
                        )
                    refuse(
                        f"subscript {label} has size {size} for operand {number} which does not broadcast with "
                        f"previously seen size {seen}"
                    )
                seen = size


def multiplied(a: Any, b: Any, kept: int, later: Sequence[Any]) -> Any:
    """The product of two operands, summed over the dimensions from `kept` on that no later operand has."""
    needed = [any([each.array.shape[d] != 1 for each in later]) for d in range(a.array.ndim)]
    free = [d for d in range(kept, a.array.ndim) if not needed[d]]
    mine, others = a.array.shape, b.array.shape
    for d in free:  # only one of them has it
        if mine[d] == 1 and others[d] != 1:
            b = sum_.function(b, d, True)
        elif others[d] == 1 and mine[d] != 1:
            a = sum_.function(a, d, True)
    shared = [d for d in free if mine[d] != 1 and others[d] != 1]
    return product_over(a, b, shared) if shared else mul.function(a, b)


def product_over(a: Any, b: Any, summed: list[int]) -> Any:
    """The product summed over some dimensions, as one of many matrices."""
    mine, others = a.array.shape, b.array.shape
    rest = [d for d in range(len(mine)) if d not in summed]
    both = [d for d in rest if mine[d] != 1 and others[d] != 1]
    left = [d for d in rest if d not in both and others[d] == 1]
    right = [d for d in rest if d not in both and d not in left]

    def size(shape: tuple[int, ...], dims: list[int]) -> int:
        return math.prod([shape[d] for d in dims])

    count, inner = size(mine, both), size(mine, summed)
    first = reshape(permute.function(a, both + left + summed + right), (count, size(mine, left), inner))
    second = reshape(permute.function(b, both + summed + right + left), (count, inner, size(others, right)))
    found = bmm.function(first, second)
    order = both + left + right + summed
    shape = [mine[d] for d in both + left] + [others[d] for d in right] + [1] * len(summed)
    return permute.function(reshape(found, shape), [order.index(d) for d in range(len(order))])
