"""rearrange: the dimensions of a tensor in another order, split and joined, by a pattern: "b (h p) w -> b p h w"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.ops.shape.join import stack

Groups = list[list[str]]  # the names in each dimension; none: a dimension of size one
DOTS = "..."
OPEN_DOTS = [DOTS]  # this very list stands for dots that are in no parentheses


class DimensionBindError(Exception):
    """The sizes of a tensor do not go together with those that its dimensions were given."""


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """rearrange(tensor, pattern, **axes_lengths): a tensor with its dimensions as the pattern has them on the right.
    Several tensors are stacked before. Parentheses join dimensions, or split one, of which all sizes but one must be
    given.

        rearrange(images, "b h w c -> b c h w")
        rearrange(images, "b (h p) (w q) c -> b (h w) (p q c)", p=8, q=8)
    """
    if not isinstance(tensor, TensorBase):
        tensor = stack.function(list(tensor))
    left, right = sides(pattern)
    check_names(left, right, axes_lengths)
    shape = tensor.array.shape
    names = [name for group in left for name in group]
    if DOTS in names:
        count = len(shape) - len(left) + 1
        least = sum([not group for group in left]) + len(names) - 1
        if least > len(shape):
            raise ValueError(
                f"Number of dimensions in pattern ({least}) must be less than or equal to the number of dimensions in "
                f"the tensor ({len(shape)})"
            )
        rest = [f".{i}" for i in range(count)]  # no name of the pattern begins like this
        left, right = with_names_for_dots(left, rest), with_names_for_dots(right, rest)
    elif len(left) != len(shape):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    if not left:
        return tensor
    sizes = dict(axes_lengths)
    for group, size in zip(left, shape, strict=True):
        find_sizes(group, size, sizes)
    unnamed = [i for i, group in enumerate(left) if not group]
    if unnamed:
        tensor = tensor.sum(unnamed)
    order = [name for group in left for name in group]
    wanted = [name for group in right for name in group]
    split = tensor.reshape([sizes[name] for name in order]).permute([order.index(name) for name in wanted])
    return split.reshape([math.prod([sizes[name] for name in group]) for group in right])


def sides(pattern: str) -> tuple[Groups, Groups]:
    """A pattern, read."""
    parts = pattern.split("->")
    if len(parts) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = read(parts[0]), read(parts[1])
    if DOTS in parts[1] and DOTS not in parts[0]:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if re.search(r"\([^)]*\.\.\.", parts[0]):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return left, right


def read(side: str) -> Groups:
    """One side of a pattern."""
    if "." in side and DOTS not in side:
        raise ValueError("Expression may contain dots only inside ellipsis (...)")
    if "." in side and side.count(".") != 3:
        raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
    groups: Groups = []
    inside: list[str] | None = None
    seen: set[str] = set()
    for word in re.findall(r"\.\.\.|\w+|[^\s]", side):
        if word == "(":
            if inside is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            inside = []
        elif word == ")":
            if inside is None:
                raise ValueError("Brackets are not balanced")
            groups.append(inside)
            inside = None
        else:
            check_name(word, seen)
            seen.add(word)
            name = [] if word == "1" else [word]
            if inside is None:
                groups.append(OPEN_DOTS if word == DOTS else name)
            else:
                inside += name
    if inside is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    return groups


def check_name(word: str, seen: set[str]) -> None:
    if word == "1":
        return
    if word in seen:
        raise ValueError(f"Indexing expression contains duplicate dimension '{word}'")
    if word == DOTS:
        return
    if not re.fullmatch(r"\w+", word):
        raise ValueError(f"Unknown character '{word}'")
    if word.isdecimal():
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if not word.isidentifier():
        raise ValueError(f"Invalid axis identifier: {word}\nnot a valid python identifier")
    if word[0] == "_" or word[-1] == "_":
        raise ValueError(f"Invalid axis identifier: {word}\naxis name should should not start or end with underscore")


def check_names(left: Groups, right: Groups, sizes: dict[str, int]) -> None:
    for size in sizes.values():
        if type(size) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(size)}")
    before, after = {name for group in left for name in group}, {name for group in right for name in group}
    if before ^ after:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {before ^ after}")
    if unknown := sizes.keys() - before:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def with_names_for_dots(groups: Groups, rest: Sequence[str]) -> Groups:
    """The same with the dimensions that `...` stands for."""
    found: Groups = []
    for group in groups:
        if group is OPEN_DOTS:
            found += [[name] for name in rest]
        else:
            found.append([each for name in group for each in (rest if name == DOTS else [name])])
    return found


def find_sizes(group: list[str], size: int, sizes: dict[str, int]) -> None:
    """Adds the size of the dimension in a group that has none yet; all of them together have `size`."""
    unknown = [name for name in group if name not in sizes]
    if len(unknown) > 1:
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {unknown[0]} and {unknown[1]}")
    known = math.prod([sizes[name] for name in group if name in sizes])
    if unknown:
        if known == 0 or size % known:
            given = tuple([sizes.get(name, "?") for name in group])
            raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {given}")
        sizes[unknown[0]] = size // known
    elif group and known != size:
        raise DimensionBindError(
            f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack ({', '.join(group)})"
        )


__all__ = ["DimensionBindError", "rearrange"]
