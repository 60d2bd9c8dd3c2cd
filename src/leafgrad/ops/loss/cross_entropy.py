"""Losses of classifiers: the negative log likelihood, alone or in one step with log_softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import binary, bind, bind_finding
from leafgrad._core.fused import only_values
from leafgrad._core.tensor import TensorBase, is_batched, wrap
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.fused import losses as fused
from leafgrad.kernels.moving import total_of_targets
from leafgrad.ops.index.checks import outside
from leafgrad.ops.loss.options import check_smoothing, checked_reduction, refuse_gradient
from leafgrad.ops.pointwise.elementwise import BY_A_NUMBER, mul, true_div
from leafgrad.ops.pointwise.fill import zero
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import (
    F32,
    F64,
    Dims,
    add_reduce,
    is_half,
    refused,
    starts_of_rows,
    total_of_all,
)  # fmt: skip
from leafgrad.ops.reduce.softmax import log_softmax, softmax
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly, transposed
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph

INT64 = np.dtype(np.int64)

# -- shapes and targets -----------------------------------------------------------------------------------------------
# Scores have the classes in dimension 1: (N, C) or (N, C, d1, ...); a single row (C,) has them in dimension 0.


def check_shapes(x: Any, target: TensorBase, weight: Any) -> None:
    """Complain, in PyTorch's words, about a target or weights that do not go with scores of this shape."""
    own, t = x.shape, target.array.shape
    if weight is None and len(own) == 2 and t == own[:1] and target.array.dtype is INT64:
        return  # nearly always
    if not own:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(own) > 1 and (not t or own[0] != t[0]):
        raise ValueError(
            f"Expected input batch_size ({own[0]}) to match target batch_size ({t[0] if t else 0}).\n"
            f"  at {errors.here()}"
        )
    if len(own) <= 2:
        if len(t) > 1:
            column = len(t) == 2 and t[1] == 1
            first = "0D or 1D target tensor expected, multi-target not supported"
            raise errors.wrong_target(target, first, "squeeze(1)" if column else "argmax(1)")
        if len(own) == 1 and t not in ((), (1,)):
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t[0]}")
    elif len(own) == 4:
        if len(t) != 3:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(t)}"
            )
        if t[1:] != own[2:]:
            raise RuntimeError(f"size mismatch (got input: {errors.size(own)} , target: {errors.size(t)}")
    elif t[1:] != own[2:]:
        raise RuntimeError(f"Expected target size {errors.size(own[:1] + own[2:])}, got {errors.size(t)}")
    if target.array.dtype != INT64 and target.array.dtype != np.uint8:
        alias = from_numpy_dtype(target.array.dtype).alias
        raise errors.wrong_target(target, f"expected target dtype to be Long or Byte, but got {alias}", "long()")
    if weight is not None:
        check_weight(x, weight, "")


def check_weight(x: Any, weight: TensorBase, where_from: str) -> None:
    classes = x.shape[class_dim(x.shape)]
    if weight.array.shape != (classes,):
        raise RuntimeError(
            f"{where_from}weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {errors.size(weight.array.shape)}"
        )


def class_dim(shape: Dims) -> int:
    return 0 if len(shape) == 1 else 1


def as_rows(x: Any) -> Any:
    """Scores as a contiguous matrix, one row for each decision."""
    if x.ndim > 2:
        x = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
    elif x.ndim == 1:
        x = x.reshape(1, -1)
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def from_rows(rows: Any, shape: Dims) -> Any:
    """The matrix of `as_rows` in the shape that it came from."""
    if len(shape) <= 2:
        return rows.reshape(shape)
    return np.moveaxis(rows.reshape(shape[:1] + shape[2:] + shape[1:2]), -1, 1)


def losses_shape(shape: Dims) -> Dims:
    """The shape of the losses of single decisions."""
    return shape[:1] + shape[2:] if len(shape) > 1 else ()


def read_targets(target: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """(the class of each decision, which decisions count); the latter is None if all do. What does not count gets
    class 0."""
    t = target if target.ndim == 1 else target.reshape(-1)
    if t.dtype is not INT64 and t.dtype != INT64:
        t = t.astype(INT64)
    if not 0 <= ignore_index < classes and outside(t, 0, classes) is None:
        return t, None
    counts = t != ignore_index
    wrong = t[counts & ((t < 0) | (t >= classes))]
    if wrong.size:
        raise IndexError(
            f"Target {wrong[0]} is out of bounds.\n"
            f"  there are {classes} classes, 0 to {classes - 1}, at {errors.here()}"
        )
    return np.where(counts, t, 0), counts


def combine(losses: Any, total_weight: float, reduction: str, shape: Dims, kind: Any) -> Any:
    """The losses of single decisions, or their sum, or their mean."""
    if reduction == "none":
        return losses.reshape(losses_shape(shape)).astype(kind, copy=False)
    out = total_of_all(losses) if losses.dtype is F32 or losses.dtype is F64 else add_reduce(losses)
    if reduction == "mean":
        out = out / total_weight
    return out if out.dtype is kind else np.asarray(out, kind)


OF_MORE = (
    "NllLoss2DBackward0(input)",
    "NllLoss2DBackward0(ViewBackward0(input))",
    "ViewBackward0(NllLoss2DBackward0(ViewBackward0(input)))",
)

# -- nll_loss ---------------------------------------------------------------------------------------------------------


@op
class nll_loss(Family):
    """nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'):
    -weight[target] * input[target] of log-probabilities `input`; the mean is weighted."""

    autocast = "float32"
    inputs = ("input", "target", "weight")
    options = ("ignore_index", "reduction")
    constants = ("weight",)
    public_name = ""
    reference = "nn.functional.nll_loss"
    aten_function = "nll_loss_nd"
    # of scores with further dimensions: two; another number, of which PyTorch makes two; the same, copied first
    node_names = (*OF_MORE, *[each.replace("input", "CloneBackward0(input)") for each in OF_MORE[1:]])
    aten = {
        "NllLossBackward0": "nll_loss_forward", "NllLoss2DBackward0": "nll_loss2d_forward",
        "ViewBackward0": "nll_loss2d_forward",
    }  # fmt: skip

    def kernel(x: A, target: A, weight: A, ignore_index: int, reduction: str) -> A:
        if weight is None and ignore_index < 0 and reduction != "none":  # the usual case
            found = total_of_targets(x, target, reduction == "mean")
            if found is not None:
                return found
        rows = as_rows(x)
        chosen, factors, total_weight = decisions(rows.shape[1], target, weight, ignore_index, x.dtype)
        taken = rows.take(starts_of_rows(*rows.shape) + chosen)
        losses = -taken if reduction == "none" and x.ndim > 1 else 0 - taken  # a sum of nothing is no negative zero
        losses = losses.astype(F32) if is_half(x.dtype) else losses
        if factors is not None:
            losses = np.where(factors == 0, 0, losses * factors)  # ignored infinities are ignored
        return combine(losses, total_weight, reduction, x.shape, x.dtype)

    def call(
        input: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> Tensor:
        reduction = checked_reduction(reduction, size_average, reduce)
        return negative_log_likelihood(input, target, weight, ignore_index, reduction)

    def vjp_input(g: A, input: A, target: A, weight: A, ignore_index: A, reduction: A) -> A:
        back = nll_loss_backward(g, target, weight, input.shape, ignore_index, reduction)
        # It depends on the input, in PyTorch as well; subtracted, because -0.0 + 0.0 is another number.
        return back - zero(input) if isinstance(input, TensorBase) else back

    def passes_on(name: A, g: A, input: A, target: A, weight: A, ignore_index: A, reduction: A) -> A:
        return passed_on(name, g, target, weight, input.shape, ignore_index, reduction)

    def vmap(batch: A, x: A, target: A, weight: A, ignore_index: int, reduction: str) -> A:
        dim = class_dim(x.shape)
        classes, factors = _batched_decisions(batch, target, weight, ignore_index, x.dtype)
        if is_half(x.dtype) or not (np.all(classes >= 0) and np.all(classes < x.shape[dim])):
            return NotImplemented  # the kernel knows how to round, and the words for what is wrong
        chosen = np.take_along_axis(x, np.expand_dims(classes, dim), dim).squeeze(dim)
        losses = np.where(factors == 0, 0, -chosen * factors)
        if reduction == "none":
            return losses
        total = np.add.reduce(losses, axis=None)
        return total / np.add.reduce(factors, axis=None) if reduction == "mean" else total

    samples = lambda t: [
        S(t(3, 4), t(3, dtype="int64", low=0, high=4)),
        S(t(4), t(dtype="int64", low=0, high=4)),
        S(t(2, 4, 3), t(2, 3, dtype="int64", low=0, high=4), reduction="sum"),
        S(t(2, 4, 3, 2), t(2, 3, 2, dtype="int64", low=0, high=4), t(4, low=0.1), reduction="none"),
        S(t(3, 4), t(3, dtype="int64", low=0, high=4), ignore_index=1, reduction="sum"),
    ]


@op
class nll_loss_backward(Family):
    """nll_loss_backward(g, target, weight, shape, ignore_index, reduction): the gradient of the negative log likelihood
    of log-probabilities of this shape. It is linear, and its own gradient is the negative log likelihood."""

    inputs = ("g", "target", "weight")
    options = ("shape", "ignore_index", "reduction")
    public_name = ""

    def kernel(g: A, target: A, weight: A, shape: Dims, ignore_index: int, reduction: str) -> A:
        classes = shape[class_dim(shape)]
        chosen, factors, total_weight = decisions(classes, target, weight, ignore_index, g.dtype)
        shares = g / -total_weight if reduction == "mean" else -g.reshape(-1)
        if factors is not None:
            shares = np.where(factors == 0, 0, shares * factors)
        rows = np.zeros((len(chosen), classes), g.dtype)
        rows.reshape(-1)[starts_of_rows(*rows.shape) + chosen] = shares
        return from_rows(rows, shape)

    def vjp_g(g: A, target: A, weight: A, ignore_index: A, reduction: A) -> A:
        return nll_loss(g, target, weight, ignore_index, reduction)

    def vmap(batch: A, g: A, target: A, weight: A, shape: Dims, ignore_index: int, reduction: str) -> A:
        if is_half(g.dtype):
            return NotImplemented
        dim = class_dim(shape)
        classes, factors = _batched_decisions(batch, target, weight, ignore_index, g.dtype)
        shares = -g / np.add.reduce(factors, axis=None) if reduction == "mean" else -g
        shares = np.where(factors == 0, 0, shares * factors)
        all_classes = np.arange(shape[dim]).reshape((-1,) + (1,) * (len(shape) - dim - 1))
        return np.where(np.expand_dims(classes, dim) == all_classes, np.expand_dims(shares, dim), 0)

    def reference(torch: Any, g: Any, target: Any, weight: Any, shape: Any, ignore_index: int, reduction: str) -> Any:
        known = {"ignore_index": ignore_index, "reduction": reduction}
        return transposed(torch, lambda x: torch.nn.functional.nll_loss(x, target, weight, **known), shape, g)

    samples = lambda t: [
        S(t(), t(3, dtype="int64", low=0, high=4), None, (3, 4), -100, "mean"),
        S(t(), t(3, dtype="int64", low=0, high=4), None, (3, 4), 1, "sum"),
        S(t(2, 3), t(2, 3, dtype="int64", low=0, high=4), None, (2, 4, 3), -100, "none"),
    ]


def passed_on(name: str, g: Any, target: Any, weight: Any, shape: Dims, ignore_index: int, reduction: str) -> Any:
    """The gradient that the last of the nodes which PyTorch records for a loss passes on to the one before, `name`. Of
    scores with further dimensions PyTorch makes (N, C, 1, ...), and (N, 1, ...) are the losses then."""
    if name == "NllLoss2DBackward0":
        return g.reshape(shape[0], 1, -1)
    back = nll_loss_backward(g, target, weight, shape, ignore_index, reduction)
    return back.reshape(shape[0], shape[1], 1, -1) if name == "ViewBackward0" else back


def decisions(classes: int, target: Any, weight: Any, ignore_index: int, kind: Any) -> tuple[Any, Any, float]:
    """(the class of each decision, how much it counts, how much all of them count); the second is None if each counts
    as one."""
    chosen, counts = read_targets(target, classes, ignore_index)
    if weight is None and counts is None:
        return chosen, None, len(chosen)
    wide = F32 if is_half(kind) else kind
    factors = np.ones(len(chosen), wide) if weight is None else weight[chosen].astype(wide, copy=False)
    if counts is not None:
        factors = factors * counts
    return chosen, factors, add_reduce(factors)


def _batched_decisions(batch: A, target: A, weight: A, ignore_index: int, kind: Any) -> tuple[Any, Any]:
    """The first two of these for many samples."""
    counts = target != ignore_index
    classes = np.where(counts, target, 0)
    factors = counts.astype(kind)
    return classes, factors if weight is None else factors * batch.take(weight, classes, 0)


def negative_log_likelihood(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    x = input.array
    check_shapes(x, target, weight)
    if x.dtype.kind in "biuc":
        raise refused("nll_loss_out_frame", input)
    if weight is not None:
        if weight.array.dtype != x.dtype:
            own, found = [from_numpy_dtype(v.dtype).alias for v in (x, weight.array)]
            raise RuntimeError(f"expected scalar type {own} but found {found}")
        refuse_gradient("nll_loss_forward", weight=weight)
    core = nll_loss.core
    if x.ndim > 2:
        name = of_more(x, reduction)
        copied = name != OF_MORE[0] and not x.flags.c_contiguous
        core = nll_loss.named[name.replace("input", "CloneBackward0(input)") if copied else name]
    return bind(core, (input, target, weight), (ignore_index, reduction))


def of_more(x: Any, reduction: str) -> str:
    """The nodes of a loss of scores that have further dimensions."""
    return OF_MORE[0 if x.ndim == 4 else 2 if reduction == "none" else 1]


# -- cross_entropy ----------------------------------------------------------------------------------------------------


@op
class cross_entropy(Family):
    """cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean',
    label_smoothing=0.0): the negative log likelihood of classes, or of probabilities, under softmax(input)."""

    autocast = "float32"
    inputs = ("input", "target")
    options = ("ignore_index", "reduction")
    finds = "kept"  # largest numbers, sums of exponentials, ...: what the gradient would have to compute again
    constants = ("weight",)
    public_name = ""
    reference = "nn.functional.cross_entropy"
    aten = "cross_entropy_loss"
    node_name = "NllLossBackward0(LogSoftmaxBackward0(input))"
    node_names = tuple([each.replace("input", "LogSoftmaxBackward0(input)") for each in OF_MORE])

    def kernel(x: A, target: A, ignore_index: int, reduction: str) -> tuple[A, Any]:
        rows = as_rows(x)
        kind = rows.dtype
        if is_half(kind):
            rows = rows.astype(F32)
        count, classes = rows.shape
        chosen, counts = read_targets(target, classes, ignore_index)
        if not count:
            return combine(rows.reshape(-1), 0.0, reduction, x.shape, kind), None
        chosen = chosen.reshape(-1, 1)
        losses, largest, sums = fused.cross_entropy(rows, chosen)
        losses = losses.reshape(-1)
        if reduction == "none" and x.ndim > 1:
            losses[losses == 0] = -0.0  # as in nll_loss: a single loss is its negated log-probability
        if counts is not None:
            losses = np.where(counts, losses, 0)  # not even infinite ones
            count = int(np.count_nonzero(counts))
        return combine(losses, count, reduction, x.shape, kind), (largest, sums, chosen, counts, count)

    def call(
        input: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> Tensor:
        if reduction != "mean" or size_average is not None or reduce is not None:
            reduction = checked_reduction(reduction, size_average, reduce)
        silence_numpy()
        x = input.array
        if x.shape == target.array.shape:
            return _of_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
        if label_smoothing > 0:
            return _smoothed(input, target, weight, ignore_index, reduction, label_smoothing)
        if weight is not None or is_batched(x) or is_batched(target.array):
            scores = log_softmax.function(input, class_dim(x.shape))
            return negative_log_likelihood(scores, target, weight, ignore_index, reduction)
        if x.dtype.kind in "biuc":
            raise refused("log_softmax_lastdim_kernel_impl", input)
        check_shapes(x, target, None)
        core = cross_entropy.core
        if x.ndim > 2:
            core = cross_entropy.named[of_more(x, reduction).replace("input", "LogSoftmaxBackward0(input)")]
        return bind_finding(core, (input, target), (ignore_index, reduction))

    def vjp_input(g: A, input: A, target: A, ignore_index: A, reduction: A, kept: A, input_shape: A) -> A:
        if not kept:
            return 0 * input
        if isinstance(g, TensorBase) and not only_values(g, input):
            # the same with operations that can be recorded: the rules of nll_loss and of log_softmax
            dim = class_dim(input_shape)
            back = nll_loss_backward(g, target, None, input_shape, ignore_index, reduction)
            return back - softmax(input, dim) * back.sum(dim, True)
        return scores_gradient(g, input, reduction, kept)

    def passes_on(name: A, g: A, target: A, input_shape: A, ignore_index: A, reduction: A) -> A:
        return passed_on(name, g, target, None, input_shape, ignore_index, reduction)

    samples = lambda t: [
        S(t(3, 4), t(3, dtype="int64", low=0, high=4)),
        S(t(4), t(dtype="int64", low=0, high=4)),
        S(t(2, 4, 3), t(2, 3, dtype="int64", low=0, high=4), reduction="sum"),
        S(t(2, 4, 3, 2), t(2, 3, 2, dtype="int64", low=0, high=4), reduction="none"),
        S(t(3, 4), t(3, dtype="int64", low=0, high=4), ignore_index=1, reduction="sum"),
        S(t(3, 4), t(3, dtype="int64", low=0, high=4), t(4, low=0.1)),
        S(t(3, 4), t(3, dtype="int64", low=0, high=4), label_smoothing=0.1),
        S(t(3, 4), t(3, 4, low=0, high=1)),
    ]


def _gradient_of_cross_entropy(torch: Any, x: Any) -> Any:
    x = x.detach().requires_grad_()
    return torch.autograd.grad(torch.nn.functional.cross_entropy(x, torch.tensor([1, 0, 3])), x)[0]


@op
class scores_gradient(Family):
    """scores_gradient(g, input, reduction, kept): the gradient of the cross entropy, from what its kernel has found."""

    inputs = ("g", "input")
    options = ("reduction", "kept")
    differentiable = False
    public_name = ""

    def kernel(g: A, x: A, reduction: str, kept: Any) -> A:
        largest, sums, chosen, counts, count = kept
        shares = np.empty_like(sums)
        shares[:, 0] = g.reshape(-1)
        if reduction == "mean":
            shares /= count
        if counts is not None:
            shares[~counts] = 0
        rows = as_rows(x).astype(sums.dtype, copy=False)
        back = fused.cross_entropy_backward(shares, rows, chosen, largest, sums)
        return from_rows(back, x.shape).astype(x.dtype, copy=False)

    samples = ValuesOnly("takes what another kernel has found", lambda t: [S(t(3, 4))], _gradient_of_cross_entropy)


def _of_probabilities(
    input: Any, target: Any, weight: Any, ignore_index: int, reduction: str, label_smoothing: float
) -> Any:
    """The cross entropy of targets that are a probability for each class."""
    kind, shape = from_numpy_dtype(target.array.dtype), input.array.shape
    if not kind.is_floating_point:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {kind.alias}\n  at {errors.here()}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    check_smoothing(label_smoothing)
    dim = class_dim(shape)
    if weight is not None:
        check_weight(input.array, weight, "cross_entropy: ")
    scores = log_softmax.function(input, dim)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / shape[dim]
    products = scores * target
    if weight is not None:
        products = products * _for_classes(weight, shape)
    if reduction == "none":
        return -products.sum(dim)
    total = -products.sum()
    if reduction == "sum":
        return total
    count = input.array.size // shape[dim] if input.array.size else 0
    return binary(true_div.named["DivBackward1(input)"], total, count)


def _for_classes(weight: Any, shape: Dims) -> Any:
    """Weights of the classes in a shape that can be multiplied with scores."""
    return weight.reshape(tuple([-1 if i == class_dim(shape) else 1 for i in range(len(shape))]))


def _smoothed(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str, label_smoothing: float) -> Any:
    """The cross entropy of class numbers, mixed with that of equal probabilities for all classes."""
    check_smoothing(label_smoothing)
    shape = input.array.shape
    dim = class_dim(shape)
    scores = log_softmax.function(input, dim)
    likelihood = negative_log_likelihood(scores, target, weight, ignore_index, reduction)
    even = -(scores if weight is None else scores * _for_classes(weight, shape)).sum(dim)
    counts = target.array.reshape(even.array.shape) != ignore_index
    even = even.masked_fill(wrap(~counts), 0.0)
    if reduction != "none":
        even = even.sum()
    if reduction == "mean":
        each = wrap(counts.reshape(-1))
        if weight is not None:
            each = each * weight.index_select(0, where(each, target.reshape(-1), 0))
        even = even / each.sum()
    scaled = mul.named[BY_A_NUMBER]
    return binary(scaled, likelihood, 1 - label_smoothing) + binary(scaled, even, label_smoothing / shape[dim])
