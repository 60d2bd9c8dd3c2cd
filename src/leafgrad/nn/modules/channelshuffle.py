"""Channels in another order."""

from __future__ import annotations

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.linear import _Layer

__all__ = ["ChannelShuffle"]


class ChannelShuffle(_Layer):
    """ChannelShuffle(groups): of channels in groups, the first of each group, then the second, and so on."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
