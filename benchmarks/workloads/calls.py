"""Calls of an autograd.Function that the user wrote. These do next to nothing, so it is the cost of the call."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Step, gradient_step, workload

CALLS = "autograd.Function, forward and backward"


def call(torch: Any, function: Any, count: int = 1, *others: Any) -> Step:
    """A step that applies it to leaves of one element."""
    torch.manual_seed(0)
    leaves = [torch.rand(1, requires_grad=True) for _ in range(count)]
    return gradient_step(lambda: function.apply(*leaves, *others), *leaves)


@workload(CALLS, "Function that saves nothing")
def doubling(torch: Any) -> Step:
    class Doubling(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2.0

    return call(torch, Doubling)


@workload(CALLS, "Function that saves its argument")
def square(torch: Any) -> Step:
    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    return call(torch, Square)


@workload(CALLS, "Function with setup_context")
def square_in_two_parts(torch: Any) -> Step:
    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    return call(torch, Square)


@workload(CALLS, "Function that saves its result")
def exponential(torch: Any) -> Step:
    class Exp(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * y

    return call(torch, Exp)


@workload(CALLS, "Function of two tensors and a number")
def product(torch: Any) -> Step:
    class Product(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, factor: float) -> Any:
            ctx.save_for_backward(a, b)
            ctx.factor = factor
            return a * b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            a, b = ctx.saved_tensors
            return g * b, g * a, None

    return call(torch, Product, 2, 3.0)
