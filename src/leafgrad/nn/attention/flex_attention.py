"""leafgrad.nn.attention.flex_attention: attention whose scores a function changes and another one masks.

Both are functions of numbers: a score and its place. `vmap` makes functions of whole matrices of them, so that they
have gradients here, those of tensors that they use included.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import leafgrad as torch
from leafgrad import Tensor, _missing, errors
from leafgrad.nn.attention._block_mask import (
    _DEFAULT_SPARSE_BLOCK_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE,
)
from leafgrad.nn.attention._block_mask import BlockMask, Mod, mask_of_a_part, noop_mask, ordered

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention",
    "noop_mask", "or_masks",
]  # fmt: skip


class AuxRequest(NamedTuple):
    """AuxRequest(lse=False, max_scores=False): what else to return."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithm of the sum of the exponentials of each row of scores, and the largest of them."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def for_all_places(function: Mod, of_scores: bool) -> Callable[..., Tensor]:
    """A function of one place, of all of them: of ranges of batches, heads, queries and keys, and perhaps of scores."""
    for dimension in (3, 2, 1, 0):
        places = [None] * 4
        places[dimension] = 0  # type: ignore[call-overload]
        function = torch.func.vmap(function, in_dims=((0, *places) if of_scores else tuple(places)))
    return function


def ranges(shape: tuple[int, ...]) -> list[Tensor]:
    return [torch.arange(n) for n in shape]


def argument_count(function: Callable[..., Any]) -> int:
    """How many arguments it needs: five if it changes scores, four if it masks them."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is inspect.Parameter.empty]
    if len(needed) not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {len(needed)}")
    return len(needed)


def create_mask(mod_fn: Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None): which scores a function of places masks, or sets to -inf,
    as a tensor of bools. None stands for one batch or head."""
    shape = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if argument_count(mod_fn) == 5:
        changed = for_all_places(mod_fn, True)(torch.zeros(shape, device=device), *ranges(shape))
        return ~torch.isneginf(changed)
    return for_all_places(mod_fn, False)(*ranges(shape))


def create_block_mask(
    mask_mod: Mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128): the blocks in which a function of
    places lets scores count."""
    if argument_count(mask_mod) != 4:
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    if compute_dq_write_order:
        raise errors.mistake(
            NotImplementedError, "compute_dq_write_order=True is for GPUs, which leafgrad does not use"
        )
    height, width = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    mask = torch.nn.functional.pad(mask, (0, -KV_LEN % width, 0, -Q_LEN % height))
    count = mask.unflatten(-1, (-1, width)).unflatten(-3, (-1, height)).sum((-3, -1))
    full: tuple[Any, Any] = (None, None)
    partial = count > 0
    if separate_full_blocks:
        full = ordered(count == height * width)
        partial = partial & (count < height * width)
    return BlockMask.from_kv_blocks(
        *ordered(partial), *full, BLOCK_SIZE=(height, width), mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN)
    )


def and_masks(*mask_mods: Mod) -> Mod:
    """and_masks(*mask_mods): the mask of keys that count by all of these."""
    check_callable(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=torch.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: Mod) -> Mod:
    """or_masks(*mask_mods): the mask of keys that count by one of these."""
    check_callable(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=torch.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def check_callable(mask_mods: tuple[Any, ...]) -> None:
    if not all(callable(each) for each in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False,
    return_lse=False, kernel_options=None, *, return_aux=None): softmax(score_mod(query @ key.mT * scale)) @ value,

    of the scores that `block_mask` lets count. Rows without any are zero. `kernel_options` are for kernels of GPUs and
    change nothing."""
    check_shapes(query, key, value, enable_gqa, block_mask)
    check_lengths(query, key, block_mask)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    groups = query.size(1) // key.size(1)
    keys, values = (t.repeat_interleave(groups, 1) if groups > 1 else t for t in (key, value))
    precision = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = query.to(precision) @ keys.to(precision).mT * scale
    places = ranges(tuple(scores.shape))
    if score_mod is not None:
        scores = for_all_places(score_mod, True)(scores, *places)
    if block_mask is not None and block_mask.mask_mod is not noop_mask:
        scores = scores.masked_fill(~for_all_places(block_mask.mask_mod, False)(*places), -math.inf)
    largest = scores.detach().amax(-1, keepdim=True)
    nothing = torch.isneginf(largest)
    weights = scores.softmax(-1).masked_fill(nothing, 0)
    out = weights.to(query.dtype) @ values.to(query.dtype)
    if return_aux is None and not return_lse:
        return out
    total = scores.logsumexp(-1)
    if return_aux is None:
        return out, total
    return out, AuxOutput(total if return_aux.lse else None, largest.squeeze(-1) if return_aux.max_scores else None)


def check_shapes(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool, block_mask: BlockMask | None) -> None:
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise ValueError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype}, key.dtype: "
            f"{key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.size(-1)} and E={key.size(-1)}."
        )
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, groups = query.size(1), key.size(1)
    if not enable_gqa and heads != groups:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={groups}. "
            "Try setting enable_gqa=True for GQA."
        )
    if heads % groups:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={groups}."
        )
    if query.size(0) != key.size(0) and block_mask is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but got "
            f"block_mask=None, Bq={query.size(0)}, and Bkv={key.size(0)}."
        )


def check_lengths(query: Tensor, key: Tensor, block_mask: BlockMask | None) -> None:
    if block_mask is None:
        return
    if block_mask.mask_mod is mask_of_a_part:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")
    lengths = (query.size(-2), key.size(-2))
    if lengths == block_mask.seq_lengths:
        return
    words = (
        f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={lengths[0]} and "
        f"kv_len={lengths[1]}. As the block mask was created for a "
    )
    if lengths[0] > block_mask.seq_lengths[0] or lengths[1] > block_mask.seq_lengths[1]:
        words += "smaller length than you're using it for, you likely need to create a new block mask."
    else:
        words += (
            "larger length than you're using it for, you can either 1. create a new block mask with the correct "
            "length, or 2. 'adjust' the existing block mask to the correct length by calling "
            "block_mask._adjust(q_len, kv_len). This essentially 'crops' the block mask to the upper left corner, "
            "which does not work for all mask_mods!"
        )
    raise ValueError(words)


__getattr__ = _missing.attributes_of(__name__)
