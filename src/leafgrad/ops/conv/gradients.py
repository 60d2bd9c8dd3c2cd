"""The gradients of pooling and convolution as functions, which PyTorch has in its dispatcher alone: `torch.ops.aten.
max_pool2d_with_indices_backward`. Each checks what it is given and computes the rule of its operation."""

from __future__ import annotations

from typing import Any

from leafgrad._dtypes import from_numpy_dtype
from leafgrad._layouts import format_of
from leafgrad.kernels.convolution import Geometry
from leafgrad.ops.conv.avg_pooling import bin_maps
from leafgrad.ops.conv.axis_maps import along_axes
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.convolution import convolution_weight, input_gradient
from leafgrad.ops.conv.max_pooling import back_to_places
from leafgrad.ops.conv.pool_checks import pool_sizes

Tensor = Any


def same_dtype(name: str, argument: str, g: Tensor, input: Tensor) -> None:
    given, expected = [str(from_numpy_dtype(t.array.dtype)).rpartition(".")[2] for t in (g, input)]
    if given != expected:
        names = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16"}
        given, expected = names.get(given, given), names.get(expected, expected)
        raise refused(f"{name}xpected dtype {expected} for `{argument}` but got dtype {given}")


def of_adaptive_avg(dims: int, argument: str) -> Any:
    name = f"adaptive_avg_pool{dims}d_backward_out_cpu_template: E"

    def gradient(grad_output: Tensor, input: Tensor) -> Tensor:
        shape, given = input.shape, grad_output.shape
        if len(shape) not in (dims + 1, dims + 2):
            raise refused(f"{name}xpected {dims + 1}D or {dims + 2}D tensor, but got {list(shape)}")
        if len(given) != len(shape):
            raise refused(f"{name}xpected dimensions {len(shape)} for `{argument}` but got dimensions {len(given)}")
        same_dtype(name, argument, grad_output, input)
        maps = bin_maps(tuple(shape[-dims:]), tuple(given[-dims:]))
        return along_axes(grad_output, tuple([each.transpose for each in maps]))

    return gradient


def of_adaptive_max(dims: int, argument: str) -> Any:
    def gradient(grad_output: Tensor, input: Tensor, indices: Tensor) -> Tensor:
        at, given = tuple(indices.shape), tuple(grad_output.shape)
        for dim in range(1, len(given)):
            if given[dim] == 0:
                raise refused(
                    f"adaptive_max_pool{dims}d_backward(): Expected grad_output to have non-zero size for non-batch "
                    f"dimensions, but grad_output has sizes {list(given)} with dimension {dim} being empty"
                )
        same_dtype("e", argument, grad_output, input)
        if len(at) != len(input.shape):
            raise refused(f"expected dimensions {len(input.shape)} for `indices` but got dimensions {len(at)}")
        if given != at:
            raise refused(f"expected sizes {list(at)} for `{argument}` but got sizes {list(given)}")
        return back_to_places(grad_output, indices, tuple(input.shape), dims)

    return gradient


def of_fractional(dims: int) -> Any:
    name = "fractional_max_pool2d_backward()" if dims == 2 else "fractional_max_pool3d_backward_out()"

    def gradient(grad_output: Tensor, input: Tensor, kernel_size: Any, output_size: Any, indices: Tensor) -> Tensor:
        given, expected = tuple(grad_output.shape), (*input.shape[:-dims], *output_size)
        if given != expected:
            axes = {-1: "width", -2: "height", -3: "time"}
            wrong = [axes[i] for i in (-3, -2, -1) if len(given) + i < 0 or given[i] != expected[i]]
            what = "sizes" if dims == 2 or not wrong else wrong[0]
            raise refused(f"{name}: gradOutput {what} unexpected")
        return back_to_places(grad_output, indices, tuple(input.shape), dims)

    return gradient


def of_max(dims: int) -> Any:
    def gradient(
        grad_output: Tensor, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool, indices: Tensor,
    ) -> Tensor:  # fmt: skip
        window, around, apart = [spread(value, dims) for value in (kernel_size, padding, dilation)]
        step = spread(stride, dims) or window
        same_dtype("e", "gradOutput", grad_output, input)
        sizes = pool_sizes(tuple(input.shape[-dims:]), window, step, around, apart, ceil_mode)
        expected = (*input.shape[:-dims], *sizes)
        for each in (grad_output, indices):
            given = tuple(each.shape)
            for dim in range(len(expected) - dims - 1, len(expected)):
                if len(given) != len(expected) or given[dim] != expected[dim]:
                    raise refused(
                        f"Expected a tensor of dimension {len(expected)} and tensor.size[{dim}] == {expected[dim]} but "
                        f"got: dimension {len(given)} and tensor.size[{dim}] = {given[dim]}"
                    )
        found = back_to_places(grad_output, indices, tuple(input.shape), dims)
        return found.contiguous(memory_format=format_of(input.array)) if input.ndim == dims + 2 else found

    return gradient


def spread(value: Any, dims: int) -> tuple[int, ...]:
    found = (value,) if isinstance(value, int) else tuple(value)
    return found * dims if len(found) == 1 else found


def of_convolution(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Any,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients by input, weight and bias, of which `output_mask` names those that are wanted."""
    dims = len(input.shape) - 2
    steps, pads, apart = [spread(each, dims) for each in (stride, padding, dilation)]
    geometry = Geometry(steps, pads, apart, groups)
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        found[0] = input_gradient(grad_output, weight, tuple(input.shape[2:]), geometry, transposed)
    if output_mask[1]:
        pair = (grad_output, input) if transposed else (input, grad_output)
        found[1] = convolution_weight(*pair, tuple(weight.shape[2:]), steps, pads, apart, groups)
    if output_mask[2]:
        found[2] = grad_output.sum((0, *range(2, dims + 2)))
    return found[0], found[1], found[2]


GRADIENTS = {
    "convolution_backward": of_convolution,
    "_adaptive_avg_pool2d_backward": of_adaptive_avg(2, "grad_output"),
    "_adaptive_avg_pool3d_backward": of_adaptive_avg(3, "gradOutput_"),
    "adaptive_max_pool2d_backward": of_adaptive_max(2, "grad_output"),
    "adaptive_max_pool3d_backward": of_adaptive_max(3, "gradOutput"),
    "fractional_max_pool2d_backward": of_fractional(2),
    "fractional_max_pool3d_backward": of_fractional(3),
    "max_pool2d_with_indices_backward": of_max(2),
    "max_pool3d_with_indices_backward": of_max(3),
}
