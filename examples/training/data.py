"""Data that need no network: points in the plane, small images drawn by code, waves, and a short text.

All random numbers come from torch's generator, so that a seed gives the same data everywhere.
"""

import math
from pathlib import Path

import leafgrad as torch

# Seven rows of five dots for each digit, as on a display.
DIGITS = """
01110 00100 01110 11110 00010 11111 01110 11111 01110 01110
10001 01100 10001 00001 00110 10000 10000 00001 10001 10001
10011 00100 00001 00001 01010 11110 10000 00010 10001 10001
10101 00100 00110 01110 10010 00001 11110 00100 01110 01111
11001 00100 01000 00001 11111 00001 10001 00100 10001 00001
10001 00100 10000 00001 00010 10001 10001 01000 10001 00010
01110 01110 11111 11110 00010 01110 01110 01000 01110 01100
"""
SIZE = 12  # of an image, in pixels


def glyphs():
    """The digits as images of 7 x 5 pixels."""
    rows = [[[float(dot) for dot in dots] for dots in line.split()] for line in DIGITS.split("\n") if line]
    return torch.tensor(rows).transpose(0, 1).contiguous()


def digits(count):
    """Images [count, 1, 12, 12] of digits at random places under noise, and which digits they are."""
    labels = torch.randint(0, 10, (count,))
    tops, lefts = torch.randint(0, SIZE - 6, (count,)), torch.randint(0, SIZE - 4, (count,))
    images = 0.25 * torch.randn(count, 1, SIZE, SIZE)
    known = glyphs()
    for image, label, top, left in zip(images, labels.tolist(), tops.tolist(), lefts.tolist()):
        image[0, top : top + 7, left : left + 5] += known[label]
    return images, labels


def two_moons(count, noise=0.1):
    """Points [count, 2] of two half circles that lie in each other, and to which they belong."""
    labels = torch.arange(count) % 2
    angle = math.pi * torch.rand(count)
    sign = 1.0 - 2.0 * labels
    points = torch.stack([torch.cos(angle) * sign + labels, torch.sin(angle) * sign + 0.5 * labels], 1)
    return points + noise * torch.randn(count, 2), labels


def spirals(count, arms=3, noise=0.05):
    """Points [count, 2] of the arms of a spiral, and to which they belong."""
    labels = torch.arange(count) % arms
    radius = torch.rand(count).sqrt()
    angle = 4.0 * radius + labels * (2 * math.pi / arms)
    points = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 1)
    return points + noise * torch.randn(count, 2), labels


def waves(count, length):
    """Waves [count, length, 1], each the sum of a slow one and a fast one."""
    t = torch.arange(length) / 2.0
    slow = torch.sin(0.5 * t + 6.28 * torch.rand(count, 1))
    fast = torch.sin(2.0 * t + 6.28 * torch.rand(count, 1))
    return (slow + 0.5 * fast).unsqueeze(-1)


def text():
    """The text as a tensor of indices, and the characters that they stand for."""
    written = (Path(__file__).parent / "text.txt").read_text(encoding="utf-8")
    characters = sorted(set(written))
    index = {character: i for i, character in enumerate(characters)}
    return torch.tensor([index[character] for character in written]), characters
