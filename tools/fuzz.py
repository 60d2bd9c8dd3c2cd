"""Runs random programs with PyTorch and with leafgrad and shows where they differ.

    python tools/fuzz.py                    20,000 programs (several minutes), both modules in one process
    python tools/fuzz.py --programs 500 --first 7000
    python tools/fuzz.py --processes 2      in two processes, each with both modules
    python tools/fuzz.py --show 1234        one program, step by step, without the steps that do not matter

PyTorch has to be installed. Differences that docs/differences.md explains are counted and not shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import torch

import fuzz
import leafgrad

BLOCK = 50  # programs that a process runs at a time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.show is not None:
        show(options.show)
        return 0
    found: dict[str, list[int]] = {}
    explained: Counter[str] = Counter()
    began = time.monotonic()
    seeds_of_all = range(options.first, options.first + options.programs)
    for done, (seed, text) in enumerate(differences(seeds_of_all, options.processes), 1):
        if text and (reason := fuzz.explanation(text)):
            explained[reason] += 1
        elif text:
            seeds = found.setdefault(fuzz.what_kind(text), [])
            seeds.append(seed)
            if len(seeds) == 1:
                print(f"\r{seed}: {text}")
        if done % BLOCK == 0 or done == options.programs:
            speed = done / (time.monotonic() - began)
            print(f"\r{done:,} programs, {speed:.0f} in a second, {len(found)} differences ", end="", flush=True)
    print()
    for kind, seeds in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(seeds):6}  {kind}   seeds {', '.join(map(str, seeds[:5]))}")
    for reason, count in explained.most_common():
        print(f"{count:6}  explained: {reason}")
    return bool(found)


def differences(seeds: range, processes: int) -> Iterator[tuple[int, str]]:
    """Each seed, and how the modules differ on its program."""
    blocks = [seeds[i : i + BLOCK] for i in range(0, len(seeds), BLOCK)]
    if processes == 1:
        for block in blocks:
            yield from run(block)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as executor:
        for found in executor.map(run, blocks):
            yield from found


def run(block: range) -> list[tuple[int, str]]:
    torch.set_num_threads(1)
    return [(seed, fuzz.compared(leafgrad, torch, seed)) for seed in block]


def show(seed: int) -> None:
    skipped = fuzz.shortened(leafgrad, torch, seed)
    ours, theirs = [fuzz.Program(module, seed).run(skipped) for module in (leafgrad, torch)]
    found = fuzz.compared(leafgrad, torch, seed, skipped)
    print(found or "no difference")
    for a, b in zip(ours, theirs):
        print(a)
        if found.startswith((f"step {a.step},", f"step {a.step}:")):
            print(f"  PyTorch\n{b}")
            break


if __name__ == "__main__":
    sys.exit(main())
