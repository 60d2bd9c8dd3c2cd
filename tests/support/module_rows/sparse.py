"""Tables of vectors."""

from __future__ import annotations

from typing import Any

from module_cases import Case


def words(torch: Any) -> Any:
    return torch.tensor([[1, 0, 3], [3, 3, 2]])


def line(torch: Any) -> Any:
    return torch.tensor([1, 0, 3, 3, 2])


def offsets(torch: Any) -> Any:
    return torch.tensor([0, 2, 2])


ROWS = {
    "Embedding": Case(lambda nn: nn.Embedding(4, 3), words),
    "Embedding with padding": Case(lambda nn: nn.Embedding(4, 3, padding_idx=-1), words),
    "Embedding with a norm": Case(lambda nn: nn.Embedding(4, 3, max_norm=1.0, norm_type=1.0), words),
    "Embedding by frequency": Case(lambda nn: nn.Embedding(4, 3, scale_grad_by_freq=True), words),
    **{
        f"EmbeddingBag, {mode}": Case(lambda nn, mode=mode: nn.EmbeddingBag(4, 3, mode=mode), words)
        for mode in ("sum", "mean", "max")
    },
    "EmbeddingBag with offsets": Case(lambda nn: nn.EmbeddingBag(4, 3, max_norm=1.0), line, offsets),
    "EmbeddingBag with the last offset": Case(
        lambda nn: nn.EmbeddingBag(4, 3, mode="max", include_last_offset=True),
        line,
        lambda torch: torch.tensor([0, 2, 2, 5]),
    ),
    "EmbeddingBag with padding": Case(lambda nn: nn.EmbeddingBag(4, 3, padding_idx=3), words),
    "EmbeddingBag by frequency": Case(lambda nn: nn.EmbeddingBag(4, 3, scale_grad_by_freq=True), words),
    "EmbeddingBag with weights": Case(
        lambda nn: nn.EmbeddingBag(4, 3, mode="sum"),
        line,
        offsets,
        (5,),
    ),
}
