"""Products of matrices with something added: addmm, and linear, the layer of most networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import is_batched
from leafgrad.kernels.halves import converted, widened
from leafgrad.kernels.products import product
from leafgrad.ops.linalg import checks, folding
from leafgrad.ops.linalg.checks import alike, factor
from leafgrad.ops.linalg.products import (
    any_product,
    combined,
    flops_of_product,
    form,
    half_product,
    is_half,
    matmul,
    rows,
    shape_of_product,
    times,
)
from leafgrad.ops.pointwise.elementwise import add
from leafgrad.ops.products_of_torch import of_linear
from leafgrad.ops.reduce.common import total
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.views import t
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)
ndarray: Any = np.ndarray


@op
class addmm(Family):
    """addmm(input, mat1, mat2, *, beta=1, alpha=1): beta * input + alpha * (mat1 @ mat2)."""

    shows = dict.fromkeys(
        ("beta", "alpha", "mat1_sym_sizes", "mat1_sym_strides", "mat2_sym_sizes", "mat2_sym_strides"), ...
    )
    autocast = "lower"
    inputs = ("input", "mat1", "mat2")
    options = ("beta", "alpha")
    in_place = True
    out = True
    flops = lambda shapes: flops_of_product(shapes[1:])

    def meta(x: A, a: A, b: A, beta: Any, alpha: Any) -> Any:
        return shape_of_product(a, b)

    def kernel(x: A, a: A, b: A, beta: Any, alpha: Any) -> A:
        if is_half(a.dtype):
            return converted(combined(widened(x), half_product(a, b), beta, alpha), a.dtype)
        if alpha == beta == 1 and x.ndim:
            return product(a, b, x)
        return combined(x, product(a, b), beta, alpha)

    def call(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        x, a, b = input.array, mat1.array, mat2.array
        # nearly always a bias, or as much as there are products
        if not (
            alike(a, b) and x.dtype is a.dtype and a.ndim == 2 == b.ndim and a.shape[1] == b.shape[0]
            and (x.shape == b.shape[1:] or x.shape == (a.shape[0], b.shape[1]))
        ):  # fmt: skip
            checks.check_addmm(x, a, b)
        if beta.__class__ is not int or alpha.__class__ is not int or not alike(a, b):
            beta, alpha = [factor(v, a.dtype) for v in (beta, alpha)]
        return bind(addmm.core, (input, mat1, mat2), (beta, alpha))

    def vjp_input(g: A, beta: A) -> A:
        return g if beta == 1 else g * beta

    def vjp_mat1(g: A, mat2: A, alpha: A) -> A:
        r = times(g, mat2.T)
        return r if alpha == 1 else r * alpha

    def vjp_mat2(g: A, mat1: A, alpha: A) -> A:
        r = times(mat1.T, g)
        return r if alpha == 1 else r * alpha

    def vmap(batch: A, x: A, a: A, b: A, beta: Any, alpha: Any) -> A:
        out = batch.product(a, b)
        out = out if alpha == 1 else (out * alpha).astype(out.dtype)
        return out if beta == 0 else out + (x if beta == 1 else (x * beta).astype(out.dtype))

    samples = lambda t: [
        S(t(2, 4), t(2, 3), t(3, 4)),
        S(t(4), t(2, 3), t(3, 4), beta=2, alpha=3),
        S(t(2, 1), t(2, 3), t(3, 4), beta=0),
        S(t(), t(2, 3), t(3, 4), alpha=2),
        S(t(2, 4), t(2, 0), t(0, 4), beta=3),
        S(t(0, 4), t(0, 3), t(3, 4)),
    ]


TRANSPOSED = "TBackward0(weight)"
WITHOUT_BIAS = "MmBackward0(input, TBackward0(weight))"
OF_BATCH = f"UnsafeViewBackward0(MmBackward0(ViewBackward0(input), {TRANSPOSED}))"
OF_VECTOR = "SqueezeBackward4(MmBackward0(UnsqueezeBackward0(input), TBackward0(weight)))"  # without a bias
OF_MORE = "ViewBackward0(AddmmBackward0(bias, ViewBackward0(input), TBackward0(weight)))"  # or less than a matrix
ADDED = f"AddBackward0({OF_VECTOR}, bias)"  # of a vector whose elements do not lie side by side


@op
class linear(Family):
    """linear(input, weight, bias=None): input @ weight.T + bias, for inputs (..., k) and a weight (m, k)."""

    autocast = "lower"
    inputs = ("input", "weight", "bias")
    jvp = "product"
    public_name = ""  # nn.functional has it
    node_name = "AddmmBackward0(bias, input, TBackward0(weight))"
    node_names = (WITHOUT_BIAS, OF_MORE, OF_VECTOR, OF_BATCH, ADDED)
    aten = {
        "AddmmBackward0": "addmm", "MmBackward0": "mm", "ViewBackward0": "addmm", "UnsafeViewBackward0": "mm",
        "SqueezeBackward4": "mm", "AddBackward0": "mm",
    }  # fmt: skip
    saves_view_of = "weight"
    method = False
    flops = lambda shapes: flops_of_product((shapes[0], shapes[1][::-1]))
    products = of_linear

    def meta(x: A, weight: A, bias: A) -> Any:
        return NotImplemented if x.shape[-1] != weight.shape[-1] else (*x.shape[:-1], *weight.shape[:-1])

    def kernel(x: A, weight: A, bias: A) -> A:
        kind = x.dtype
        if bias is None:
            return any_product(x, weight.T)
        if kind is not _f32 and kind is not _f64 and is_half(kind):
            return converted(half_product(x, weight.T) + widened(bias), kind)
        if x.ndim > 1:
            return product(x, weight.T, bias)
        out = any_product(x, weight.T)
        out += bias
        return out

    def call(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        try:
            x, w = input.array, weight.array
            b = None if bias is None else bias.array
        except AttributeError:
            raise checks.not_tensors(input, weight, bias) from None
        kind, shape, sizes = x.dtype, x.shape, w.shape
        n = len(shape)
        if (
            n == 0 or len(sizes) != 2 or shape[-1] != sizes[1]
            or kind is not w.dtype or not (kind is _f32 or kind is _f64)
            or (b is not None and (b.shape != sizes[:1] or b.dtype is not kind))
        ):  # fmt: skip
            if not (is_batched(x) or is_batched(w)) or not checks.fit_in_map(x, w, b):
                checks.check_linear(x, w, b)
            if w.ndim == 1 or (b is not None and b.ndim != 1 and n != 2):
                return _linear_unusual(input, weight, bias)
        if n == 2:
            core = linear.core if b is not None else linear.named[WITHOUT_BIAS]
        elif is_batched(x) or x.flags.c_contiguous:
            core = linear.named[OF_MORE if b is not None else OF_VECTOR if n == 1 else OF_BATCH]
        elif n == 1 or not needs_recording((input, weight, bias)) or is_batched(w):
            core = linear.named[OF_VECTOR if b is None else ADDED]
        else:
            nodes = folding.composition(x, input.needs_grad, w.T, weight.needs_grad).replace("other", TRANSPOSED)
            core = form(linear, nodes if b is None else f"AddBackward0({nodes}, bias)")
        return bind(core, (input, weight, bias), (), (x, w, b))

    def vjp_input(g: A, weight: A) -> A:
        if g.__class__ is ndarray:
            return times(g, weight) if g.ndim == 2 else any_product(g, weight)
        return matmul.record(g, weight)

    def vjp_weight(g: A, input: A) -> A:
        if g.ndim != 2:
            g, input = rows(g), rows(input)
        return times(g.T, input)

    def vjp_bias(g: A, bias_shape: A) -> A:
        if g.__class__ is ndarray and bias_shape == g.shape[-1:]:
            return total(g if g.ndim == 2 else rows(g), (0,), False)
        return g  # the engine sums what was broadcast

    def vmap(batch: A, x: A, weight: A, bias: A) -> A:
        if not batch.holds(weight, bias):
            return batch.apply((batch.value(x), weight, bias), ())
        out = batch.product(x, weight.T if weight.ndim == 2 else weight)
        return out if bias is None else out + bias

    samples = lambda t: [
        S(t(2, 3), t(4, 3), t(4)),
        S(t(2, 3), t(4, 3)),
        S(t(3), t(4, 3), t(4)),
        S(t(3), t(4, 3)),
        S(t(2, 5, 3), t(4, 3), t(4)),
        S(t(2, 5, 3), t(4, 3), None),
        S(t(2, 3), t(4, 3), t(2, 4)),
        S(t(2, 3), t(3)),
        S(t(0, 3), t(4, 3), t(4)),
        S(t(2, 0), t(4, 0), t(4)),
    ]


def _linear_unusual(input: Any, weight: Any, bias: Any) -> Any:
    """A weight that is a vector, or a bias that is none: composed of other operations."""
    if weight.array.ndim == 1:
        if bias is not None and input.array.ndim == 2:
            call = checks.Call("linear", input.array, weight.array)
            raise call.refused("mat2 must be a matrix, got 1-D tensor", "with a bias, the weight must be a matrix")
        result = matmul.function(input, t.function(weight))
        return result if bias is None else add.function(result, bias)
    if checks.adds_before_unfolding(input.array, bias.array):
        folded = linear.function(rows(input), weight, bias)
        return folded.reshape((*input.shape[:-1], weight.array.shape[0]))
    return add.function(linear.function(input, weight), bias)
