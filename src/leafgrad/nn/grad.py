"""leafgrad.nn.grad: the gradients of convolutions as functions, for programs that write their own backward passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd import enable_grad, grad, is_grad_enabled
from leafgrad.nn import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

Gradient = Callable[..., Tensor]


def gradients_of(name: str) -> tuple[Gradient, Gradient]:
    """The gradients of a convolution with respect to its input and its weight."""
    convolution: Any = getattr(F, name)

    def through(where: Any, fixed: Any, grad_output: Any, backwards: bool, options: tuple[Any, ...]) -> Tensor:
        # a convolution is linear in both, so its gradient is the same wherever it is taken
        zeros = grad_output.new_zeros(where, requires_grad=True)
        recording = is_grad_enabled()
        with enable_grad():
            output = convolution(*((fixed, zeros) if backwards else (zeros, fixed)), None, *options)
            found: Tensor = grad(output, zeros, grad_output, create_graph=recording)[0]
        return found

    def of_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return through(tuple(input_size), weight, grad_output, False, (stride, padding, dilation, groups))

    def of_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return through(tuple(weight_size), input, grad_output, True, (stride, padding, dilation, groups))

    for function, last in ((of_input, "input"), (of_weight, "weight")):
        function.__name__ = function.__qualname__ = f"{name}_{last}"
        given = "input_size, weight" if last == "input" else "input, weight_size"
        function.__doc__ = (
            f"{name}_{last}({given}, grad_output, stride=1, padding=0, dilation=1, groups=1): the gradient of {name} "
            f"with respect to its {last}."
        )
    return of_input, of_weight


conv1d_input, conv1d_weight = gradients_of("conv1d")
conv2d_input, conv2d_weight = gradients_of("conv2d")
conv3d_input, conv3d_weight = gradients_of("conv3d")
