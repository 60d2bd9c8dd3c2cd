"""Calls of `_foreach_...`, functions of lists of tensors: the arguments after the list, as functions of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad.ops.pointwise.foreach import OF_ONE

Arguments = Callable[[Any], tuple[Any, ...]]


def tensors(library: Any, seed: int = 0) -> list[Any]:
    """Three tensors of positive numbers below one."""
    shapes = [(2, 3), (4,), ()]
    made = []
    for i, shape in enumerate(shapes):
        count = 1
        for size in shape:
            count *= size
        numbers = [((7 * k + 3 * i + 5 * seed) % 11 + 1) / 13 for k in range(count)]
        made.append(library.tensor(numbers, dtype=library.float64).reshape(shape))
    return made


def lists(*seeds: int) -> Arguments:
    return lambda library: tuple([tensors(library, seed) for seed in seeds])


def plain(*values: Any) -> Arguments:
    return lambda library: values


NUMBERS = [0.5, 2, 3.0]
ARGUMENTS: dict[str, list[Arguments]] = {name: [plain()] for name in (*OF_ONE, "clone", "max", "zero")}
ARGUMENTS |= {
    name: [plain(0.5), plain(NUMBERS), lists(1)]
    for name in ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_max", "clamp_min")
}
for _name in ("add", "mul", "div"):
    ARGUMENTS[_name].append(lambda library: (library.tensor(0.7, dtype=library.float64),))
for _name in ("addcmul", "addcdiv"):
    ARGUMENTS[_name] = [
        lists(1, 2),
        lambda library: (tensors(library, 1), tensors(library, 2), 0.5),
        lambda library: (tensors(library, 1), tensors(library, 2), NUMBERS),
        lambda library: (tensors(library, 1), tensors(library, 2), library.tensor(NUMBERS)),
    ]
ARGUMENTS["lerp"] = [
    lists(1, 2),
    lambda library: (tensors(library, 1), 0.3),
    lambda library: (tensors(library, 1), [0.1, 0.6, 0.9]),
]
ARGUMENTS["norm"] = [plain(), plain(1), plain(float("inf"))]
ARGUMENTS["powsum"] = [plain(), plain(3)]
ARGUMENTS["copy"] = [lists(1)]
WITHOUT_IN_PLACE = {"clone", "max", "norm", "powsum"}
IN_PLACE_ONLY = {"copy", "zero"}
CASES = [(name, i) for name, calls in ARGUMENTS.items() for i in range(len(calls))]
