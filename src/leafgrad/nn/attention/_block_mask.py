"""BlockMask: which blocks of a matrix of attention scores count. A block counts as a whole (full), in parts, or not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import leafgrad as torch
from leafgrad import Tensor

Mod = Callable[..., Tensor]  # of the batch, the head, the places of a query and a key: does this key count?

_DEFAULT_SPARSE_BLOCK_SIZE = 128
TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices",
    "full_q_num_blocks", "full_q_indices",
)  # fmt: skip


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """noop_mask(batch, head, token_q, token_kv): every key counts."""
    return batch.new_ones((), dtype=torch.bool)


def mask_of_a_part(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    """Stands for the function of a mask that was indexed: its places are no longer those that the function knows."""
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")


def ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of each row count, and all columns of it, those that count first."""
    dense = dense.to(torch.int32)
    return dense.sum(-1).to(torch.int32), dense.argsort(dim=-1, descending=True, stable=True).to(torch.int32)


def dense_blocks(counts: Tensor, indices: Tensor) -> Tensor:
    """The opposite: 1 for blocks that count, 0 for others."""
    counts_there = torch.arange(indices.shape[-1]) < counts.unsqueeze(-1)
    dense: Tensor = torch.zeros_like(indices).scatter(-1, indices.long(), counts_there.to(torch.int32))
    return dense


def transposed(counts: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    if counts is None or indices is None:
        return None, None
    return ordered(dense_blocks(counts, indices).mT)


def cropped(counts: Tensor | None, indices: Tensor | None, rows: int, columns: int) -> tuple[Any, Any]:
    """The same blocks without those to the right and below."""
    if counts is None or indices is None:
        return None, None
    return ordered(dense_blocks(counts, indices)[..., :rows, :columns])


class BlockMask:
    """BlockMask(seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num_blocks, q_indices,
    full_q_num_blocks, full_q_indices, BLOCK_SIZE=(128, 128), mask_mod=noop_mask): as `create_block_mask` makes it. For
    each row of blocks, how many count and which; the same by columns; and the same of those that count as a whole."""

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Mod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for side, count, index in (
            ("kv", full_kv_num_blocks, full_kv_indices),
            ("q", full_q_num_blocks, full_q_indices),
        ):
            if (count is None) != (index is None):
                raise AssertionError(f"full_{side}_num_blocks and full_{side}_indices must be both provided or omitted")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Mod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """from_kv_blocks(kv_num_blocks, kv_indices, full_kv_num_blocks=None, full_kv_indices=None, BLOCK_SIZE=128,
        mask_mod=None, seq_lengths=None, compute_q_blocks=True): of what each row has; columns are found."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        by_column: list[Any] = [None] * 4
        if compute_q_blocks:
            by_column = [*transposed(kv_num_blocks, kv_indices), *transposed(full_kv_num_blocks, full_kv_indices)]
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        tensors = dict(zip(TENSORS, [kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_column]))
        return cls(seq_lengths, **tensors, BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """numel(): how many scores there are, whether they count or not."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """sparsity(): how many of a hundred scores lie in blocks that do not count."""
        blocks = self.kv_num_blocks.sum()
        if self.full_kv_num_blocks is not None:
            blocks = blocks + self.full_kv_num_blocks.sum()
        return float(100 * (1 - blocks.item() * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel()))

    def to_dense(self) -> Tensor:
        """to_dense(): for each block 1 if it counts, 0 if not."""
        dense = dense_blocks(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            dense = dense | dense_blocks(self.full_kv_num_blocks, self.full_kv_indices)
        return dense

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """to_string(grid_size=(20, 20), limit=4): a drawing of the blocks of each head, of several blocks at once where
        there are more than the grid has."""
        dense = self.to_dense()
        *heads, rows, columns = dense.shape
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        height, width = (max(1, -(-n // fit)) for n, fit in zip((rows, columns), most))
        drawings: list[str] = []
        for position in itertools.product(*map(range, heads)):
            if len(drawings) == limit:
                drawings += [
                    "...", "To print out more, set BlockMask.to_string(limit=N)",
                    "You can also index (BlockMask[batch, head]) to choose a specific batch or head",
                ]  # fmt: skip
                break
            drawn = f"{position}\n"
            for r in range(0, rows, height):
                for c in range(0, columns, width):
                    share = dense[(*position, slice(r, r + height), slice(c, c + width))].float().mean().item()
                    drawn += {0.0: " ", 1.0: "█"}.get(share, "░") * 2
                drawn += "\n"
            drawings.append(drawn)
        return "\n".join(drawings)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        values = [getattr(self, name) for name in TENSORS]
        facts = [f"{name}={None if t is None else t.shape}" for name, t in zip(TENSORS, values)]
        facts += [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}", f"sparsity={self.sparsity():.2f}%"]
        facts.append(f"mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}")
        return "BlockMask(\n    " + ",\n    ".join(facts) + "\n)"

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """as_tuple(flatten=True): the lengths, the tensors, the sizes of a block and the function."""
        tensors = [getattr(self, name) for name in TENSORS]
        unused = (None,) * 4  # orders in which a kernel for GPUs writes
        if flatten:
            return (*self.seq_lengths, *tensors, *unused, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *tensors, *unused, self.BLOCK_SIZE, self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """The blocks of some batches, heads and rows. A number keeps its dimension."""
        given = index if isinstance(index, tuple) else (index,)
        whole = (*given, slice(None), slice(None), slice(None))[:3]
        parts = tuple(
            slice(i % n, i % n + 1)
            if isinstance(i, int) and -n <= i < n
            else slice(i, i + 1)
            if isinstance(i, int)
            else i
            for i, n in zip(whole, self.kv_num_blocks.shape[:3])
        )
        tensors = [None if t is None else t[parts] for t in (getattr(self, name) for name in TENSORS[:4])]
        return self._with(tensors, mask_of_a_part, self.seq_lengths)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left part of a mask, for fewer queries and keys."""
        rows, columns = (-(-n // size) for n, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE))
        partial = cropped(self.kv_num_blocks, self.kv_indices, rows, columns)
        full = cropped(self.full_kv_num_blocks, self.full_kv_indices, rows, columns)
        return self._with([*partial, *full], self.mask_mod, (new_q_len, new_kv_len))

    def _with(self, tensors: list[Any], mask_mod: Mod, seq_lengths: tuple[int, int]) -> BlockMask:
        by_row = dict(zip(TENSORS, tensors))
        by_column = self.q_indices is not None
        return self.from_kv_blocks(
            **by_row, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=mask_mod, seq_lengths=seq_lengths, compute_q_blocks=by_column
        )

    def to(self, device: Any) -> BlockMask:
        """to(device): the same on this device."""
        tensors = {name: getattr(self, name) for name in TENSORS}
        moved: Any = {name: None if t is None else t.to(device) for name, t in tensors.items()}
        return BlockMask(self.seq_lengths, **moved, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)
