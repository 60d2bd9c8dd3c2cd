"""The softmax of many classes, most of which are rare: those are in clusters, each with a smaller layer of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.container import ModuleList, Sequential
from leafgrad.nn.modules.linear import Linear
from leafgrad.nn.modules.module import Module
from leafgrad.ops.signature import Device, Dtype

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probabilities of the targets, and minus their mean."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None,
    dtype=None): classes below cutoffs[0] are in the head; the others, between two cutoffs each, in clusters whose
    layers have div_value times fewer numbers from one to the next."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs) or any([int(c) != c for c in cutoffs])
        ):  # fmt: skip
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inner = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, device=device, dtype=dtype),
                    Linear(inner, size, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """reset_parameters(): draw new numbers."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        input, target = _with_batch(input_, target_)
        low, high = int(target.min()), int(target.max())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] were "
                "found. "
            )
        scores = F.log_softmax(self.head(input), dim=1)
        # the place of each target in the head: its own, or that of its cluster
        places = target.clone()
        output: Any = input.new_zeros(target.shape)
        for i, cluster in enumerate(self.tail):
            inside = (target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])
            rows = inside.nonzero().squeeze(1)
            if rows.numel():
                places = places.masked_fill(inside, self.shortlist_size + i)
                within = F.log_softmax(cluster(input.index_select(0, rows)), dim=1)
                chosen = within.gather(1, (target[rows] - self.cutoffs[i]).unsqueeze(1))
                output = output.index_copy(0, rows, chosen.squeeze(1))
        output = output + scores.gather(1, places.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if target_.ndim else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Any:
        head = F.log_softmax(head_output, dim=1)
        out: Any = input.new_empty((head_output.shape[0], self.n_classes))
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for i, cluster in enumerate(self.tail):
            within = F.log_softmax(cluster(input), dim=1)
            start, end = self.cutoffs[i], self.cutoffs[i + 1]
            out[:, start:end] = within + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Any:
        """log_prob(input): the log-probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Any:
        """predict(input): the most likely classes."""
        return self.log_prob(input).argmax(dim=1)


def _with_batch(input: Any, target: Any) -> tuple[Any, Any]:
    """Both, with a dimension for samples."""
    if target.ndim == 1:
        if input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.ndim != 2:
            raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with size {input.size()}")
        return input, target
    if target.ndim == 0:
        if input.ndim != 1:
            raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input.size()}")
        return input.unsqueeze(0), target.unsqueeze(0)
    raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
