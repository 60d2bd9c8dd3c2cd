"""autograd.grad(is_grads_batched=True): one backward pass for many gradients at once, by vmap over the pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase


def grad_of_batch(
    backward: Callable[..., Sequence[Any]], outputs: Sequence[Any], grad_outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """What `backward(*gradients)` returns for each of the gradients along the first dimension of `grad_outputs`,
    stacked; None where that gives None."""
    from leafgrad.func import vmap

    for i, (output, g) in enumerate(zip(outputs, grad_outputs, strict=False)):
        if isinstance(g, TensorBase):
            check_shape(i, output, g)
        elif g is not None:
            raise errors.mistake(TypeError, f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif output.numel() != 1:
            raise errors.not_scalar(output)
        else:
            raise errors.mistake(ValueError, f"grad_outputs[{i}] is None, which is no batch of gradients.")
    present: list[bool] = []

    def existing(*gradients: Any) -> tuple[Any, ...]:
        found = backward(*gradients)
        present[:] = [g is not None for g in found]
        # vmap wants tensors, and at least one
        return (*[g for g in found if g is not None], gradients[0])

    stacked = iter(vmap(existing)(*grad_outputs))
    return tuple([next(stacked) if is_there else None for is_there in present])


def check_shape(index: int, output: Any, g: Any) -> None:
    one = g[0]  # an error of its own if there is none
    if one.shape != output.shape:
        raise errors.mistake(
            RuntimeError,
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{index}] has a shape of {g.shape} and output[{index}] has a shape of "
            f"{output.shape}.",
            ("output", errors.describe(output)),
            ("gradient", errors.describe(g)),
        )
