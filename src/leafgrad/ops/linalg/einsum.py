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
from leafgrad.ops.shape.view_history import view_of
from leafgrad.ops.shape.views import permute, reshape
from leafgrad.ops.signature import Tensor

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ELLIPSIS = "..."
Shape = tuple[int, ...]


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
    return contracted(equation, operands)


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


def spelled_out(labels: list[str], ndim: int, number: int, dots: list[str]) -> list[str]:
    """The labels of an operand with one for each dimension that an ellipsis stands for: the last of `dots`."""
    named = len([label for label in labels if label != ELLIPSIS])
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


class Operand(NamedTuple):
    """How an operand gets the dimensions of all labels, in order: of size 1 where it has none, the diagonal where it
    has two."""

    diagonals: list[tuple[int, int]]  # which dimensions become one, the last
    order: tuple[int, ...]
    shape: Shape | None  # None if no dimension is missing


class Matrices(NamedTuple):
    """How a product summed over some dimensions is one of many matrices."""

    first_order: tuple[int, ...]
    first_shape: Shape
    second_order: tuple[int, ...]
    second_shape: Shape
    shape: Shape
    order: tuple[int, ...]


class Step(NamedTuple):
    """The product of what there is with the next operand."""

    sums_before: list[int]  # dimensions that only the one has and nobody needs any more
    sums_of_next: list[int]
    matrices: Matrices | None  # None if there is nothing to sum


class Contraction(NamedTuple):
    """All that is done to operands of known shapes."""

    operands: list[Operand]
    steps: list[Step]
    kept: int  # how many dimensions the result has
    summed: tuple[int, ...]


def contracted(equation: str, operands: Sequence[Any]) -> Any:
    for i, operand in enumerate(operands):
        if not isinstance(operand, TensorBase):
            read(equation, len(operands))
            raise errors.not_a_tensor("einsum", "operands", i + 1, operand)
    known = contraction(equation, tuple([tuple(operand.array.shape) for operand in operands]))
    total, *rest = [in_order(operand, how) for operand, how in zip(operands, known.operands, strict=True)]
    for other, step in zip(rest, known.steps, strict=True):
        total = multiplied(total, other, step)
    if not known.summed:
        return total
    if rest:  # they are of size 1 by now
        return reshape(total, total.array.shape[: known.kept])
    return sum_.function(total, known.summed)


@functools.lru_cache(1000)
def contraction(equation: str, shapes: tuple[Shape, ...]) -> Contraction:
    """Remembered, because it takes longer than small products: half of the time of "ij,jk->ik" for ten numbers."""
    known = read(equation, len(shapes))
    named = [len([label for label in labels if label != ELLIPSIS]) for labels in known.operands]
    covered = [
        len(shape) - n if ELLIPSIS in labels else 0
        for shape, n, labels in zip(shapes, named, known.operands, strict=True)
    ]
    dots = [f".{i}" for i in range(max(covered, default=0))]
    labelled = [
        spelled_out(labels, len(shape), i, dots)
        for i, (labels, shape) in enumerate(zip(known.operands, shapes, strict=True))
    ]
    result = result_labels(known, labelled, dots)
    summed = sorted({label for labels in labelled for label in labels} - set(result), key=place_in_order)
    order = [*result, *summed]
    found = [aligned(shape, labels, order, i) for i, (shape, labels) in enumerate(zip(shapes, labelled))]
    operands, sizes = [each for each, _ in found], [shape for _, shape in found]
    check_sizes(sizes, labelled, order)
    total, steps = sizes[0], []
    for i, other in enumerate(sizes[1:], 1):
        step, total = step_of(total, other, len(result), sizes[i + 1 :])
        steps.append(step)
    return Contraction(operands, steps, len(result), tuple(range(len(result), len(order))))


def place_in_order(label: str) -> int:
    return LETTERS.find(label)


def result_labels(equation: Equation, labelled: list[list[str]], dots: list[str]) -> list[str]:
    """What the equation says; if it does not, the ellipsis and the letters that stand there once, in their order."""
    if equation.result is not None:
        return [each for label in equation.result for each in (dots if label == ELLIPSIS else [label])]
    every = [label for labels in labelled for label in labels]
    once = sorted({label for label in every if every.count(label) == 1 and label not in dots}, key=place_in_order)
    return [*dots, *once]


def aligned(shape: Shape, labels: list[str], order: list[str], number: int) -> tuple[Operand, Shape]:
    """What is done to an operand before it is multiplied, and its shape after that."""
    labels, diagonals = list(labels), []
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if shape[first] != shape[second]:
                refuse(
                    f"subscript {label} is repeated for operand {number} but the sizes don't match, {shape[second]} != "
                    f"{shape[first]}"
                )
            diagonals.append((first, second))
            others = [i for i in range(len(labels)) if i not in (first, second)]
            labels, shape = [labels[i] for i in others] + [label], (*[shape[i] for i in others], shape[first])
    places = tuple([labels.index(label) for label in order if label in labels])
    sizes = dict(zip(labels, shape))
    whole = tuple([sizes.get(label, 1) for label in order])
    return Operand(diagonals, places, None if len(whole) == len(labels) else whole), whole


def check_sizes(sizes: list[Shape], labelled: list[list[str]], order: list[str]) -> None:
    for place, label in enumerate(order):
        seen = 1
        for number, shape in enumerate(sizes):
            size = shape[place]
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


def step_of(mine: Shape, others: Shape, kept: int, later: list[Shape]) -> tuple[Step, Shape]:
    """The product of two operands, summed over the dimensions from `kept` on that no later operand has, and the shape
    of what results."""
    free = [d for d in range(kept, len(mine)) if all([shape[d] == 1 for shape in later])]
    shared = [d for d in free if mine[d] != 1 and others[d] != 1]
    before = [d for d in free if others[d] == 1 and mine[d] != 1]
    of_next = [d for d in free if mine[d] == 1 and others[d] != 1]
    mine = tuple([1 if d in before else size for d, size in enumerate(mine)])
    others = tuple([1 if d in of_next else size for d, size in enumerate(others)])
    whole = [other if size == 1 else size for size, other in zip(mine, others)]
    shape = tuple([1 if d in shared else size for d, size in enumerate(whole)])
    return Step(before, of_next, matrices_of(mine, others, shared) if shared else None), shape


def matrices_of(mine: Shape, others: Shape, summed: list[int]) -> Matrices:
    rest = [d for d in range(len(mine)) if d not in summed]
    both = [d for d in rest if mine[d] != 1 and others[d] != 1]
    left = [d for d in rest if d not in both and others[d] == 1]
    right = [d for d in rest if d not in both and d not in left]

    def size(shape: Shape, dims: list[int]) -> int:
        return math.prod([shape[d] for d in dims])

    count, inner = size(mine, both), size(mine, summed)
    order = both + left + right + summed
    return Matrices(
        (*both, *left, *summed, *right),
        (count, size(mine, left), inner),
        (*both, *summed, *right, *left),
        (count, inner, size(others, right)),
        (*[mine[d] for d in both + left], *[others[d] for d in right], *[1 for _ in summed]),
        tuple([order.index(d) for d in range(len(order))]),
    )


def in_order(operand: Any, how: Operand) -> Any:
    for first, second in how.diagonals:
        operand = diagonal.function(operand, 0, first, second)
    operand = view_of(permute, operand, how.order)  # always: the result is a tensor of its own
    return operand if how.shape is None else reshape(operand, how.shape)


def multiplied(a: Any, b: Any, step: Step) -> Any:
    for d in step.sums_before:
        a = sum_.function(a, d, True)
    for d in step.sums_of_next:
        b = sum_.function(b, d, True)
    how = step.matrices
    if how is None:
        return mul.function(a, b)
    first = reshape(view_of(permute, a, how.first_order), how.first_shape)
    second = reshape(view_of(permute, b, how.second_order), how.second_shape)
    return view_of(permute, reshape(bmm.function(first, second), how.shape), how.order)
