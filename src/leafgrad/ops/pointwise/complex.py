"""Complex numbers out of pairs of real ones, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, as_array, conjugate_behind, is_batched
from leafgrad._layouts import steps_of
from leafgrad.ops.out import SAME_DTYPE
from leafgrad.ops.pointwise.convert import ComplexView, clone, conj, imag_part
from leafgrad.ops.pointwise.elementwise import sgn
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.strides import offset_in_memory
from leafgrad.ops.shape.view_history import view_of
from leafgrad.ops.signature import Tensor, by_name, declared

A = Any  # an array, or a tensor under create_graph


# -- views that PyTorch computes when they are read -------------------------------------------------------------------


@declared()
def is_conj(input: Tensor) -> bool:
    """is_conj(input): is it a view, made by conj(), that PyTorch conjugates when it is read? Here it is a copy."""
    known = None if input.rare is None else conjugate_behind(input)
    return known is not None and known.is_set and input.array.dtype.kind == "c"


@declared()
def is_neg(input: Tensor) -> bool:
    """is_neg(input): is it the imaginary part of such a view, which PyTorch negates when it is read?"""
    known = None if input.rare is None else conjugate_behind(input)
    if known is None or not known.is_set or input.array.dtype.kind == "c" or input.rare.view is None:
        return False
    return any([operation is imag_part for operation, _ in input.rare.view.steps])


@declared()
def resolve_conj(input: Tensor) -> Tensor:
    """resolve_conj(input): the tensor itself, or a copy if it is conjugated when it is read."""
    return clone.record(input) if is_conj(input) else input


@declared()
def resolve_neg(input: Tensor) -> Tensor:
    """resolve_neg(input): the tensor itself, or a copy if it is negated when it is read."""
    return clone.record(input) if is_neg(input) else input


FUNCTIONS = METHODS = by_name(is_conj, is_neg, resolve_conj, resolve_neg)

# -- numbers of two parts ---------------------------------------------------------------------------------------------


class FromParts(Family, family=True):
    """Complex numbers of two real ones each."""

    holomorphic = False
    vmap = "elementwise"
    follows_layout = True
    method = False
    exempt = {"half precision": "there are no complex numbers of it, as in PyTorch"}
    out = "Expected object of scalar type {wanted.alias} but got scalar type {given.alias} for argument 'out'"


@op
class complex_(FromParts):
    """complex(real, imag): complex numbers with these parts."""

    inputs = ("real", "imag")
    jvp = "linear"

    def kernel(real: A, imag: A) -> A:
        wide = np.result_type(real.dtype, np.float32)
        out = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(wide, np.complex64))
        out.real, out.imag = real, imag
        return out

    def call(real: Tensor, imag: Tensor) -> Tensor:
        return of_parts(complex_, "complex", real, imag)

    def vjp_real(g: A) -> A:
        return g.real

    def vjp_imag(g: A) -> A:
        return g.imag

    samples = staticmethod(lambda t: [S(t(3, 2), t(3, 2)), S(t(3, 1), t(2)), S(t(), t())])


def of_parts(operation: Any, name: str, first: TensorBase, second: TensorBase) -> Any:
    """The operation on two tensors of real numbers, which have the same dtype."""
    kinds = [_dtypes.from_numpy_dtype(t.array.dtype) for t in (first, second)]
    if not all([k in (_dtypes.float16, _dtypes.float32, _dtypes.float64) for k in kinds]):
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {kinds[0].alias} and {kinds[1].alias}"
        )
    if kinds[0] is not kinds[1]:
        raise RuntimeError(
            f"Expected object of scalar type {kinds[0].alias} but got scalar type {kinds[1].alias} for second argument"
        )
    try:
        return operation.record(first, second)
    except ValueError:
        raise errors.broadcast_mismatch(name, (first.array, second.array)) from None


@op
class polar_form(FromParts):
    """polar(abs, angle): complex numbers with these absolute values and angles."""

    autocast = "float32"
    inputs = ("abs", "angle")
    public_name = "polar"
    node_name = "PolarBackward0"

    def kernel(abs: A, angle: A) -> A:
        return complex_.kernel(abs * np.cos(angle), abs * np.sin(angle))

    def call(abs: Tensor, angle: Tensor) -> Tensor:
        if abs.array.dtype == angle.array.dtype == np.float16:
            raise NotImplementedError("\"polar_cpu\" not implemented for 'Half'")
        return of_parts(polar_form, "polar", abs, angle)

    def vjp_abs(g: A, out: A) -> A:
        return (g.conj() * sgn(out)).real

    def vjp_angle(g: A, out: A) -> A:
        return (g.conj() * (out * 1j)).real

    samples = staticmethod(
        lambda t: [S(t(3, 2, low=0.3), t(3, 2)), S(t(3, 1, low=0.3), t(2)), S(t(low=0.3), t()), S(t(0), t(0))]
    )


@op
class view_as_real(ComplexView):
    """view_as_real(input): the memory of complex numbers as pairs of real ones, in a new last dimension."""

    def kernel(x: A) -> A:
        x = as_array(x)  # a gradient may be a NumPy scalar, which is no memory to look at
        return x[..., None].view(_dtypes.from_numpy_dtype(x.dtype).to_real().np)

    def call(input: Tensor) -> Tensor:
        if input.array.dtype.kind != "c":
            raise RuntimeError("view_as_real is only supported for complex tensors")
        if is_conj(input):
            raise errors.mistake(
                RuntimeError,
                "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you "
                "can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT "
                "alias the original.",
            )
        return view_of(view_as_real, input)

    def vjp(g: A) -> A:
        return view_as_complex(g.contiguous() if isinstance(g, TensorBase) else np.ascontiguousarray(g))  # type: ignore[attr-defined]

    samples = staticmethod(lambda t: [S(t(3, 2, dtype="complex128")), S(t(dtype="complex128"))])


@op
class view_as_complex(ComplexView):
    """view_as_complex(input): the memory of pairs of real numbers, the last dimension, as complex ones."""

    autocast = "float32"
    exempt = FromParts.exempt

    def kernel(x: A) -> A:
        return x.view(_dtypes.widened_to_complex(_dtypes.from_numpy_dtype(x.dtype)).np)[..., 0]

    def call(input: Tensor) -> Tensor:
        array = input.array
        kind = _dtypes.from_numpy_dtype(array.dtype)
        if kind not in (_dtypes.float32, _dtypes.float64):
            raise RuntimeError(
                "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar "
                f"type: {kind.alias}"
            )
        if not array.ndim:
            raise RuntimeError("Input tensor must have one or more dimensions")
        if array.shape[-1] != 2:
            raise RuntimeError("Tensor must have a last dimension of size 2")
        steps = steps_of(array)
        if steps[-1] != 1:
            raise RuntimeError("Tensor must have a last dimension with stride 1")
        if any([step % 2 for step, size in zip(steps[:-1], array.shape) if size > 1]):
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
        if not is_batched(array) and offset_in_memory(array) % 2:
            raise RuntimeError("Tensor must have a storage_offset divisible by 2")
        return view_of(view_as_complex, input)

    def vjp(g: A) -> A:
        return view_as_real(g)

    samples = staticmethod(lambda t: [S(t(3, 2, contiguous=True)), S(t(2, contiguous=True))])


@composite(lambda t: [S(t(3, 2))], in_place=True, in_place_function=True, out=SAME_DTYPE)
def conj_physical(input: Tensor) -> Tensor:
    """conj_physical(input): the complex conjugate, computed at once."""
    return input if input.array.dtype.kind != "c" else bind(conj.named["ConjPhysicalBackward0"], (input,))
