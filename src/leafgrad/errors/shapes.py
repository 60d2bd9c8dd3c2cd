"""Shapes that do not fit together, or not to what is asked of them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import from_numpy_dtype, type_name
from leafgrad.errors.backward import out_of_place
from leafgrad.errors.form import describe, describe_array, mistake, size
from leafgrad.errors.naming import as_code, find, here, name_of, statement

Shape = tuple[int, ...]

# -- broadcasting -----------------------------------------------------------------------------------------------------


def broadcast_mismatch(op: str, arrays: Any) -> RuntimeError:
    x, y = arrays[0], arrays[1]
    a, b = x.shape, y.shape
    longest = max(len(a), len(b))
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            one, other, dim = a[-back], b[-back], longest - back
            break
    else:
        return in_place_shape(op, a, np.broadcast_shapes(a, b))  # which is not the shape of the first
    return mistake(
        RuntimeError,
        f"The size of tensor a ({one}) must match the size of tensor b ({other}) at non-singleton dimension {dim}",
        (op, f"{describe_array(x)} and {describe_array(y)}"),
        ("mismatch", f"dimension {dim}: {one} and {other}; sizes must be equal, or 1, counted from the last"),
        fix=_fitting(x, y),
    )


def in_place_shape(op: str, own: Any, out: Any) -> RuntimeError:
    return mistake(
        RuntimeError,
        f"output with shape {size(own)} doesn't match the broadcast shape {size(out)}",
        (op, f"in place on shape {size(own)}, which would have to become {size(out)}"),
        fix=out_of_place(statement(here().source)),
    )


def _fitting(x: Any, y: Any) -> str:
    """A way to bring two shapes together, if there is a simple one."""
    for array, other in ((y, x), (x, y)):
        found = find(lambda t, array=array: t.array is array)  # type: ignore[misc]
        name = as_code(found.name if found else None, "b" if array is y else "a")
        if _broadcasts(array.shape[::-1], other.shape) and array.ndim == 2:
            return f"{name}.T   # if that is what is meant: shape {size(array.shape[::-1])}"
        if array.ndim and array.ndim < other.ndim and _broadcasts((*array.shape, 1), other.shape):
            return f"{name}.unsqueeze(-1)   # if that is what is meant: shape {size((*array.shape, 1))}"
    return ""


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all([m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b))])


# -- view, reshape, expand --------------------------------------------------------------------------------------------


def dimension_range(dim: int, limit: int) -> IndexError:
    first = f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})"
    return IndexError(f"{first}\n  at {here()}")


def not_sizes(op: str, args: tuple[Any, ...]) -> TypeError:
    """Something else where the sizes of a shape are asked for."""
    if op == "view":
        kinds = ", ".join([type(a).__name__ for a in args])
        first = f"view() received an invalid combination of arguments - got ({kinds}), but expected one of:"
    else:
        argument = "shape" if op == "reshape" else "size"
        first = f"{op}(): argument '{argument}' (position 1) must be tuple of ints, not {type(args[0]).__name__}"
    return mistake(TypeError, first, ("sizes", ", ".join([repr(a)[:40] for a in args])), fix="integers: int(...)")


def wrong_count(op: str, tensor: TensorBase, target: Shape) -> RuntimeError:
    """view or reshape to a shape with another number of elements."""
    count = tensor.array.size
    asked = size(target) if -1 in target else f"{size(target)}, {prod(target)} elements"
    fix = ""
    for i in range(len(target)):
        others = prod(target[:i] + target[i + 1 :])
        if -1 not in target and others and count % others == 0:
            open_ended = ", ".join(map(str, (*target[:i], -1, *target[i + 1 :])))
            fitting = (*target[:i], count // others, *target[i + 1 :])
            fix = f"{as_code(name_of(tensor))}.{op}({open_ended})   # shape {size(fitting)}"
            break
    return mistake(
        RuntimeError,
        f"shape '{size(target)}' is invalid for input of size {count}",
        ("tensor", f"{describe(tensor)}, {count} elements"),
        (op, asked),
        fix=fix,
    )


def view_needs_copy(tensor: TensorBase, target: Shape) -> RuntimeError:
    strides = tuple([s // tensor.array.itemsize for s in tensor.array.strides])
    return mistake(
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead.",
        ("tensor", f"{describe(tensor)}, strides {strides}"),
        ("view", f"{size(target)}: these elements do not lie in memory in this order"),
        fix=f"{as_code(name_of(tensor))}.reshape({', '.join(map(str, target))})   # copies",
    )


def expand_mismatch(tensor: TensorBase, target: Shape) -> RuntimeError:
    """expand to a shape that broadcasting does not lead to."""
    first, why = not_expandable(tensor.array, target)
    return mistake(RuntimeError, first, ("tensor", describe(tensor)), ("expand", f"{size(target)}: {why}"))


def not_expandable(array: Any, target: Shape) -> tuple[str, str]:
    """PyTorch's sentence for such a shape, and the reason."""
    own = array.shape
    lead = len(target) - len(own)
    if lead < 0:
        kind = type_name(from_numpy_dtype(array.dtype))
        first = (
            f"expand({kind}{{{size(own)}}}, size={size(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(own)})"
        )
        return first, f"{len(own)} dimensions cannot become {len(target)}"
    wrong = [i for i, s in enumerate(target) if i >= lead and s != -1 and own[i - lead] not in (1, s)]
    if not wrong:
        dim = lead - 1 - target[:lead][::-1].index(-1)
        first = f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {dim}"
        return first, f"dimension {dim} is a new one, which needs a size"
    dim = wrong[-1]  # PyTorch looks from the end
    first = (
        f"The expanded size of the tensor ({target[dim]}) must match the existing size ({own[dim - lead]}) at "
        f"non-singleton dimension {dim}.  Target sizes: {size(target)}.  Tensor sizes: {size(own)}"
    )
    why = f"dimension {dim} is {own[dim - lead]}, and only a dimension of size 1 can be expanded to {target[dim]}"
    return first, why
