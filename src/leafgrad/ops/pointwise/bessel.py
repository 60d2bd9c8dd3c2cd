"""Bessel functions. PyTorch differentiates those modified ones of the first kind that have short names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad._core.tensor import wrap
from leafgrad._dtypes import COMPLEX
from leafgrad.kernels import bessel_functions as kernels
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Unary, sgn
from leafgrad.ops.pointwise.error_function import Special
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.registry import Operation, op
from leafgrad.ops.samples import ValuesOnly, real
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


@op
class i0(Unary):
    """i0(input): the modified Bessel function of the first kind, of order 0, of each element."""

    kernel = kernels.i0
    kernel_name = "i0_vml_cpu"
    refuses = (COMPLEX,)
    places = ("special.i0",)

    def vjp(g: A, input: A) -> A:
        return g * special_i1(input)


class Modified(Special, family=True):
    refuses = (COMPLEX,)
    exempt: dict[str, str] = {}
    samples = staticmethod(real(0.2, 3))


def _over(out: A, input: A, at_zero: float) -> A:
    """out / input, and its limit at zero."""
    is_zero = input == 0
    one = zeros_like(input) + 1
    return where(is_zero, one * at_zero, out / where(is_zero, one, input))


@op
class special_i0e(Modified):
    """special_i0e(input): exp(-|x|) i0(x) of each element."""

    kernel = kernels.i0e
    kernel_name = "i0e_cpu"
    node_name = "SpecialI0EBackward0"
    places = ("special.i0e",)

    def vjp(g: A, input: A, out: A) -> A:
        return g * (special_i1e(input) - sgn(input) * out)


@op
class special_i1(Modified):
    """special_i1(input): the modified Bessel function of the first kind, of order 1, of each element."""

    kernel = kernels.i1
    kernel_name = "i1_cpu"
    places = ("special.i1",)

    def vjp(g: A, input: A, out: A) -> A:
        return g * (i0(input) - _over(out, input, 0.5))


@op
class special_i1e(Modified):
    """special_i1e(input): exp(-|x|) i1(x) of each element."""

    kernel = kernels.i1e
    kernel_name = "i1e_cpu"
    node_name = "SpecialI1EBackward0"
    places = ("special.i1e",)

    def vjp(g: A, input: A, out: A) -> A:
        return g * (special_i0e(input) - sgn(input) * out - _over(out, input, 0.5))


# -- without a derivative ---------------------------------------------------------------------------------------------


class NotDifferentiated(Special, family=True):
    """Results do not require grad, whatever their arguments do."""

    differentiable = False
    jvp = "transpose"

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        apply = Special.public(operation, body)

        def function(input: Tensor) -> Tensor:
            return apply(wrap(input.array))

        return function


def _constant(name: str, kernel: Any, doc: str) -> Any:
    body = {
        "__module__": __name__,
        "__doc__": f"special_{name}(input): {doc}",
        "kernel": kernel,
        "kernel_name": f"{name}_cpu",
        "places": (f"special.{name}",),
        # PyTorch's own lose digits from 2 on
        "samples": ValuesOnly("not differentiated", real(0.2, 1.5)),
    }
    return op(Operation(f"special_{name}", NotDifferentiated, body))


_KINDS = (
    ("bessel_j{}", "j{}", "Bessel's function of the first kind, of order {}."),
    ("bessel_y{}", "y{}", "Bessel's function of the second kind, of order {}."),
    ("modified_bessel_i{}", "i{}", "the modified Bessel function of the first kind, of order {}."),
    ("modified_bessel_k{}", "k{}", "the modified Bessel function of the second kind, of order {}."),
    (
        "scaled_modified_bessel_k{}",
        "k{}e",
        "exp(x) times that of the second kind, of order {}.",
    ),
)
for _name, _kernel, _doc in _KINDS:
    for _order in (0, 1):
        _constant(_name.format(_order), getattr(kernels, _kernel.format(_order)), _doc.format(_order))
_constant("spherical_bessel_j0", kernels.spherical_j0, "sin(x) / x, the spherical Bessel function of order 0.")
_constant("airy_ai", kernels.airy_ai, "Airy's function Ai.")
