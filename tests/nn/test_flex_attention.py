"""leafgrad.nn.attention.flex_attention, compared with scaled_dot_product_attention and with drawings of PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch
from leafgrad.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)
from leafgrad.nn.functional import scaled_dot_product_attention

MASKS: dict[str, Callable[..., Any]] = {
    "causal": lambda b, h, q, k: q >= k,
    "window": and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 3),
    "first or far": or_masks(lambda b, h, q, k: q > k + 2, lambda b, h, q, k: k == 0),
    "by head": lambda b, h, q, k: (h == 0) | (q >= k),
}


def operands(heads: int = 2, groups: int = 2, **options: Any) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    shapes = (2, heads, 8, 4), (2, groups, 10, 4), (2, groups, 10, 3)
    q, k, v = (torch.randn(shape, dtype=torch.float64, **options) for shape in shapes)
    return q, k, v


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("size", [4, (2, 3), 128])
def test_masks_are_those_of_dense_attention(name: str, size: Any) -> None:
    mask = create_mask(MASKS[name], None, 2, 8, 10)
    blocks = create_block_mask(MASKS[name], None, 2, 8, 10, BLOCK_SIZE=size)
    q, k, v = operands()
    out, aux = flex_attention(q, k, v, block_mask=blocks, return_aux=AuxRequest(lse=True, max_scores=True))
    torch.testing.assert_close(out, scaled_dot_product_attention(q, k, v, mask))
    scores = (q @ k.mT / 2).masked_fill(~mask, -torch.inf)
    torch.testing.assert_close(aux.lse, scores.logsumexp(-1))
    torch.testing.assert_close(aux.max_scores, scores.amax(-1))
    height, width = blocks.BLOCK_SIZE
    whole = blocks.to_dense().repeat_interleave(height, -2).repeat_interleave(width, -1)[..., :8, :10].bool()
    assert (whole | ~mask).all()  # what counts lies in a block that does


def test_rows_without_keys_are_zero() -> None:
    blocks = create_block_mask(lambda b, h, q, k: q > k, None, None, 8, 10)
    out, lse = flex_attention(*operands(), block_mask=blocks, return_lse=True)
    assert not out[:, :, 0].any() and lse[:, :, 0].isneginf().all() and out[:, :, 1:].all()


def test_functions_of_scores_have_gradients_and_so_has_what_they_use() -> None:
    bias = torch.randn(2, 8, dtype=torch.float64, requires_grad=True)

    def attention(q: Any, k: Any, v: Any, bias: Any) -> Any:
        return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s * 0.5 + bias[h, i] * (i - j).clamp(-2, 2))

    q, k, v = operands(requires_grad=True)
    places = (torch.arange(8).unsqueeze(1) - torch.arange(10)).clamp(-2, 2)
    added = bias.unsqueeze(-1) * places
    torch.testing.assert_close(attention(q, k, v, bias), scaled_dot_product_attention(q, k, v, added, scale=0.25))
    assert torch.autograd.gradcheck(attention, (q, k, v, bias))


def test_heads_share_keys() -> None:
    q, k, v = operands(heads=4)
    expected = scaled_dot_product_attention(q, k, v, enable_gqa=True)
    torch.testing.assert_close(flex_attention(q, k, v, enable_gqa=True), expected)
    with pytest.raises(ValueError, match=r"got Hq=4 and Hkv=2\. Try setting enable_gqa=True for GQA\."):
        flex_attention(q, k, v)


def test_block_masks_are_printed_as_in_pytorch() -> None:
    mask = create_block_mask(MASKS["causal"], 1, 1, 8, 10, BLOCK_SIZE=4)
    assert str(mask) == "BlockMask(shape=(1, 1, 8, 10), sparsity=40.00%, \n(0, 0)\n██    \n████\n)"
    assert repr(mask).endswith(
        "sparsity=40.00%,\n    mask_mod=<lambda>\n)"
    ) and "q_indices=torch.Size([1, 1, 3, 2])" in repr(mask)
    assert mask.kv_num_blocks.tolist() == [[[1, 1]]] and mask.kv_indices.tolist() == [[[[0, 1, 2], [1, 0, 2]]]]
    assert mask.full_kv_num_blocks is not None and mask.full_kv_num_blocks.tolist() == [[[0, 1]]]
    assert mask.q_num_blocks is not None and mask.q_num_blocks.tolist() == [[[1, 1, 0]]]
    assert (
        create_block_mask(MASKS["causal"], 5, 1, 64, 64, BLOCK_SIZE=2).to_string().endswith("a specific batch or head")
    )


def test_parts_of_block_masks() -> None:
    mask = create_block_mask(MASKS["causal"], 2, 3, 8, 10, BLOCK_SIZE=4)
    part = mask[0, -1]
    assert part.shape == (1, 1, 8, 10) and part.to_dense().tolist() == mask.to_dense()[:1, -1:].tolist()
    with pytest.raises(RuntimeError, match="Cannot use mask_mod from a sliced BlockMask"):
        flex_attention(*operands(), block_mask=part)
    smaller = mask._adjust(4, 4)
    assert smaller.shape == (2, 3, 4, 4) and smaller.to_dense().tolist() == [[[[1]]] * 3] * 2
    rebuilt = BlockMask.from_kv_blocks(mask.kv_num_blocks, mask.kv_indices, BLOCK_SIZE=4)
    assert rebuilt.seq_lengths == (8, 12) and len(mask.as_tuple()) == 17


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: flex_attention(*[torch.ones(2, 3, 4)] * 3), NotImplementedError, "NYI: query, key, and value must be 4D"),
    (lambda: create_mask(lambda b, h, q: q, 1, 1, 2, 2), AssertionError, "Expected 4 or 5 positional args, got 3"),
    (lambda: and_masks(3), RuntimeError, "All inputs should be callable mask_mods"),  # type: ignore[arg-type]
    (
        lambda: flex_attention(*operands(), block_mask=create_block_mask(MASKS["causal"], 1, 1, 6, 6)),
        ValueError,
        "was created for a smaller length than you're using it for",
    ),
    (
        lambda: flex_attention(*operands(), block_mask=create_block_mask(MASKS["causal"], 1, 1, 16, 16)),
        ValueError,
        "was created for a larger length than you're using it for",
    ),
    (
        lambda: create_block_mask(MASKS["causal"], 1, 1, 6, 6, compute_dq_write_order=True),
        NotImplementedError,
        "compute_dq_write_order=True is for GPUs",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_mistakes_are_refused(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
