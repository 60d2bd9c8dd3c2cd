"""Operations on batched arrays whose kernels NumPy cannot run as they are, or not as fast as one can.

A rule takes the operation, the level to take off, the arrays and the options, and returns the result; NO_RULE if this
case is for the kernel. Most of them put the samples in front, move the dimensions in the options one further, and
compute the same operation on what is then an array of one level less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad.func import batched_array as b
from leafgrad.func import messages, numpy_rules
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.level_marks import plain

Array = Any
Rule = Callable[[Any, int, tuple[Any, ...], tuple[Any, ...]], Any]
NO_RULE: Any = object()
RULES: dict[str, Rule] = {}
compute: Any = None  # leafgrad.func.batching


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(made: Rule) -> Rule:
        for name in names:
            RULES[name] = made
        return made

    return register


def rule_of(name: str) -> Rule | None:
    """The rule of an operation, if it has one."""
    found = RULES.get(name)
    if found is None:
        from leafgrad.ops.registry import registry

        known = registry.get(name)
        if known is not None and (known.jvp == "elementwise" or known.is_pair):
            found = RULES[name] = elementwise
    return found


def dynamic(name: str) -> str:
    return messages.DYNAMIC.format(name=name)


def operation(name: str) -> Any:
    from leafgrad.ops.registry import registry

    return registry[name].core


def made(result: Any, level: int) -> Any:
    """The result of an operation on the samples, or its results."""
    if isinstance(result, (tuple, list)):
        return [BatchedArray(r, level) for r in result]
    return BatchedArray(result, level)


# -- elementwise ------------------------------------------------------------------------------------------------------

# Beside those that say so themselves: their tangents are treated element by element, or they take two operands.
ELEMENTWISE = (
    "sgn", "abs", "where", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "logical_not", "bitwise_not",
    "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "logical_and", "logical_or", "logical_xor", "clone", "to_dtype", "conj", "real_part",
    "imag_part", "complex", "polar_form", "constant", "zero", "differentiated",
)  # fmt: skip


def elementwise(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    if options and b.highest(options):
        return NO_RULE
    return made(compute(op, b.lined_up(arrays, level), options), level)


for _name in ELEMENTWISE:
    RULES[_name] = elementwise

# -- one tensor, dimensions among the options -------------------------------------------------------------------------

# What to do with each option: d, a dimension; D, several (None: all); s, a shape; -, nothing.
DIMENSIONS = {
    "sum_dim": "D-", "mean_dim": "D-", "prod_dim": "d-", "shift": "-d-", "cumsum": "d-", "all": "D-", "any": "D-",
    "count_nonzero": "D", "softmax": "d", "log_softmax": "d", "logsumexp": "D-", "max_dim": "d-", "min_dim": "d-",
    "amax": "D-", "amin": "D-", "diagonal": "-dd", "put_diagonal": "-dds", "flip": "D", "rot90": "-D",
    "vector_norm": "-D-", "nuclear_norm": "dd", "polar": "dd", "sort": "d-", "argsort": "d-", "topk": "-d-",
    "kthvalue": "-d-", "var": "D--", "std": "D--", "nansum": "D-", "split": "d-", "split_with_sizes": "d-",
    "unbind": "d", "transpose": "dd", "tril": "-", "triu": "-",
}  # fmt: skip


def further(dim: int) -> int:
    """A dimension of a sample as one of all samples: one further from the front, as far from the end."""
    return dim + 1 if dim >= 0 else dim


def along_dimensions(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    if len(arrays) != 1 or b.highest(options):
        return NO_RULE
    x = arrays[0]
    ndim, value = x.ndim, x.value
    size = value.shape[0]
    if not ndim:  # a number counts as one dimension of size one, which is taken away again
        value = value.reshape((size, 1))
    moved: list[Any] = []
    for what, option in zip(DIMENSIONS[op.name], options, strict=True):
        if what == "d" and option is not None:
            moved.append(further(option))
        elif what == "d":
            return NO_RULE
        elif what == "D":
            dims = range(ndim) if option is None else option
            moved.append(tuple([further(d) for d in dims]) if ndim or option is not None else (1,))
        elif what == "s":
            moved.append((size, *option))
        else:
            moved.append(option)
    out = compute(op, (value,), tuple(moved))
    if not ndim:
        keep = [o.reshape((size,)) for o in (out if isinstance(out, (tuple, list)) else (out,))]
        out = keep if isinstance(out, (tuple, list)) else keep[0]
    return made(out, level)


for _name in DIMENSIONS:
    RULES[_name] = along_dimensions


def of_all(to: str, keepdim: bool = True) -> Rule:
    """A reduction of all elements, as one along the dimension that they make."""

    def reduce(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
        x = arrays[0]
        flat = x.value.reshape((x.batch_size, x.size))
        along: Any = 1 if to == "prod_dim" else (1,)
        return made(compute(operation(to), (flat,), (along, False)), level)

    return reduce


for _name, _to in (("sum", "sum_dim"), ("mean", "mean_dim"), ("prod", "prod_dim"), ("max", "amax"), ("min", "amin")):
    RULES[_name] = of_all(_to)


@rule("argmax", "argmin")
def argmax(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (dim, keepdim) = arrays[0], options
    flat = dim is None or not x.ndim
    value = x.value.reshape((x.batch_size, x.size)) if flat else x.value
    out = compute(op, (value,), (1 if flat else dim % x.ndim + 1, keepdim and not flat))
    if flat and keepdim:
        out = out.reshape((x.batch_size,) + (1,) * x.ndim)
    return made(out, level)


# -- views ------------------------------------------------------------------------------------------------------------


@rule("expand")
def expand(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (shape,) = arrays[0], options
    return made(compute(op, (b.widened(x, len(shape)),), ((x.batch_size, *shape),)), level)


@rule("view")
def view(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    return arrays[0].reshape(options[0])


@rule("view_as_real", "view_as_complex")
def in_place_of_pairs(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    return made(compute(op, (arrays[0].value,), ()), level)


@rule("fill")
def fill(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, number = arrays
    return np.zeros_like(x) + number.astype(x.dtype) if x.__class__ is BatchedArray and x.level == level else NO_RULE


@rule("repeat")
def repeat(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (repeats,) = arrays[0], options
    return made(compute(op, (b.widened(x, len(repeats)),), ((1, *repeats),)), level)


@rule("around")
def around(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    shape, at = options
    x = arrays[0]
    return made(compute(op, (x.value,), ((x.batch_size, *shape), (slice(None), *at))), level)


@rule("copy_slices")
def copy_slices(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    """The base as it is with its samples, copied; the steps of the view are operations, which find the samples."""
    base, part = arrays
    steps, axes = options
    size = b.size_at(arrays, level)
    assert size is not None
    order = None if axes is None or not len(axes) else (0, *[int(a) + 1 for a in axes])
    value = b.spread(base, level, size)
    if value.__class__ is BatchedArray:
        copy = value.copy()
    else:
        from leafgrad.ops.shape.views import copy_in_order

        copy = copy_in_order(value, order)
    whole = BatchedArray(copy, level)
    from leafgrad.ops.shape.views import see

    see(whole, steps)[...] = part
    return whole


@rule("unseen")
def unseen(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    """Through steps that repeat nothing: zeros with the part put where the steps lead."""
    from leafgrad.ops.shape.views import see

    steps, (shape, kind, axes) = options
    x = arrays[0]
    order = range(len(shape)) if axes is None or not len(axes) else [int(a) for a in axes]
    in_memory = x.as_many(np.zeros([shape[d] for d in order], plain(kind)))
    out = in_memory.transpose([int(a) for a in np.argsort(order)]) if len(shape) else in_memory
    part = see(out, steps)
    if 0 in part.strides:
        return NO_RULE
    part[...] = x
    return out


@rule("roll")
def roll(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (shifts, dims) = arrays[0], options
    if dims:
        return made(compute(op, (x.value,), (shifts, tuple([further(d) for d in dims]))), level)
    flat = x.value.reshape((x.batch_size, x.size))
    return made(compute(op, (flat,), (shifts, (1,))).reshape(x.value.shape), level)


@rule("masked_fill")
def masked_fill(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, mask, value = arrays
    return np.where(mask, value.astype(x.dtype), x)


# -- joining ----------------------------------------------------------------------------------------------------------


@rule("cat", "stack")
def join(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    size = b.size_at(arrays, level)
    assert size is not None
    dim, *rest = options
    return made(compute(op, [b.spread(x, level, size) for x in arrays], (dim + 1, *rest)), level)


# -- products ---------------------------------------------------------------------------------------------------------


@rule("mm", "mv", "bmm", "matmul")
def product(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    return np.matmul(*arrays)


@rule("linear")
def linear(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, weight, bias = arrays
    if b.highest((weight, bias)) < level:
        return made(compute(op, (x.value, weight, bias), options), level)
    turned = weight.T if weight.ndim == 2 else weight
    out = np.matmul(x, turned)
    return out if bias is None else out + bias


@rule("addmm")
def addmm(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    start, left, right = arrays
    beta, alpha = options
    out = np.matmul(left, right)
    out = out if alpha == 1 else (out * alpha).astype(out.dtype)
    return out if beta == 0 else out + (start if beta == 1 else (start * beta).astype(out.dtype))


@rule("dot", "vdot")
def dot(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    a, c = arrays
    return np.add.reduce((np.conjugate(a) if op.name == "vdot" else a) * c, axis=0)


# -- losses -----------------------------------------------------------------------------------------------------------


@rule("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
def loss(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    """The losses of all elements at once, then their mean or sum for each sample."""
    place = 0
    reduction = options[place]
    each = made(compute(op, b.lined_up(arrays, level), ("none", *options[1:])), level)
    if reduction == "none":
        return each
    return compute(operation("mean" if reduction == "mean" else "sum"), (each,), ())


@rule("nll_loss", "nll_loss_2d")
def nll_loss(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, target, weight = arrays
    ignore_index, reduction = options
    dim = 0 if x.ndim == 1 else 1
    counts = target != ignore_index
    classes = np.where(counts, target, 0)
    if x.dtype.itemsize == 2 or not (np.all(classes >= 0) and np.all(classes < x.shape[dim])):
        return NO_RULE  # the kernel knows how to round, and the words for what is wrong
    chosen = np.take_along_axis(x, np.expand_dims(classes, dim), dim).squeeze(dim)
    factors = counts.astype(x.dtype)
    if weight is not None:
        factors = factors * (numpy_rules.take if b.highest((weight, classes)) else np.take)(weight, classes, 0)
    losses = np.where(factors == 0, 0, -chosen * factors)
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    return total / np.add.reduce(factors, axis=None) if reduction == "mean" else total


# -- what has no shape before it is known -----------------------------------------------------------------------------


@rule("nonzero")
def nonzero(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    raise RuntimeError(dynamic("nonzero"))


@rule("masked_select")
def masked_select(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    mask = arrays[1]
    if b.highest(mask) == level:
        raise RuntimeError(messages.MASKED_SELECT)
    return b.by_sample(lambda *args: compute(op, args, options), arrays, {})
