"""bilinear: a product of two vectors and a table of matrices."""

from __future__ import annotations

from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Tensor


@composite(
    lambda t: [
        S(t(2, 3), t(2, 4), t(5, 3, 4), t(5)),
        S(t(3), t(4), t(5, 3, 4)),
        S(t(2, 2, 3), t(2, 2, 4), t(5, 3, 4), None),
        S(t(0, 3), t(0, 4), t(5, 3, 4), t(5)),
    ],
    method=False,
    places=("nn.functional.bilinear",),
)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """bilinear(input1, input2, weight, bias=None): the sum over i and j of input1[..., i] weight[o, i, j]
    input2[..., j], plus bias[o]."""
    _check_sizes(input1, input2, weight, bias)
    outputs, i, j = weight.shape
    rows = input1.reshape(-1, i) @ weight.permute(1, 0, 2).reshape(i, outputs * j)
    products = rows.reshape(-1, outputs, j) * input2.reshape(-1, 1, j)
    out = products.sum(2, dtype=products.dtype).reshape(*input1.shape[:-1], outputs)
    return out if bias is None else out + bias


def _check_sizes(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    a, b = input1.shape, input2.shape
    if len(a) != len(b):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(a)} and {len(b)}")
    for dim, (one, other) in enumerate(zip(a[:-1], b[:-1], strict=True)):
        if one != other:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {one} and {other}")
    for name, size, place in (("input1", a[-1], 1), ("input2", b[-1], 2)):
        if size != weight.shape[place]:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {size} but expected {weight.shape[place]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
