"""autograd.Function against PyTorch's, side by side: `python benchmarks/function_apply.py` (see run.py).

What is timed is a call of an operation that the user wrote, forward alone and with its backward pass. The operations do
next to nothing, so it is the cost of the call: one that saves nothing, one that saves its argument, the same with a
setup_context, one that saves its result, and a product of two tensors with an option.
"""

from __future__ import annotations

from typing import Any

from run import arguments, compare, worker
from workloads import Step, Workloads


def doubling(torch: Any) -> Any:
    class Doubling(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2.0

    return Doubling


def square(torch: Any) -> Any:
    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    return Square


def square_in_two_parts(torch: Any) -> Any:
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

    return Square


def exponential(torch: Any) -> Any:
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

    return Exp


def product(torch: Any) -> Any:
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

    return Product


def forward(torch: Any, make: Any, n: int) -> Step:
    """A call that is recorded."""
    function, given = make(torch), leaves(torch, make, n)
    return lambda: function.apply(*given)


def forward_and_backward(torch: Any, make: Any, n: int) -> Step:
    """The same, and the backward pass through it."""
    function, given, ones = make(torch), leaves(torch, make, n), torch.ones(n)

    def step() -> None:
        function.apply(*given).backward(ones)
        for x in given[:2]:
            x.grad = None

    return step


def leaves(torch: Any, make: Any, n: int) -> list[Any]:
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)
    return [x, torch.rand(n, requires_grad=True), 3.0] if make is product else [x]


OPERATIONS = {
    "saves nothing": doubling,
    "saves x": square,
    "setup_context": square_in_two_parts,
    "saves exp(x)": exponential,
    "saves a, b": product,
}
# name -> (function, its arguments, steps in one timing), as in workloads.py
FUNCTIONS: Workloads = {
    f"{name}, {n:,}, {part}": (step, (make, n), 300)
    for n in (1, 1_000)
    for name, make in OPERATIONS.items()
    for part, step in (("forward", forward), ("forward and backward", forward_and_backward))
}


def main() -> None:
    options = arguments(__doc__).parse_args()
    if options.worker:
        worker(options.worker, options.threads, FUNCTIONS)
    else:
        compare(__file__, FUNCTIONS, options)


if __name__ == "__main__":
    main()
