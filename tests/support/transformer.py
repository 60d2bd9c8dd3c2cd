"""A transformer made of the layers there are, as an example of a graph with many modules in it."""

from __future__ import annotations

import math
from typing import Any

import leafgrad as torch
from leafgrad import nn


class Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, x: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.scale + self.shift


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        batch, time, width = x.shape
        parts = self.qkv(x).view(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = Norm(width), Norm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, width: int = 32, heads: int = 4, layers: int = 4, words: int = 50) -> None:
        super().__init__()
        self.embed = nn.Parameter(torch.randn(words, width))
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = Norm(width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens: Any) -> Any:
        x = self.embed[tokens]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def transformer_loss(model: Transformer) -> Any:
    tokens, targets = torch.randint(0, 50, (2, 16)), torch.randint(0, 50, (32,))
    return nn.functional.cross_entropy(model(tokens).view(-1, 50), targets)
