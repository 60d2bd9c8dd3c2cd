"""Runs random programs with PyTorch and with leafgrad and shows where they differ.

    python tools/fuzz.py                    20,000 programs (several minutes), both modules in one process
    python tools/fuzz.py --programs 500 --first 7000
    python tools/fuzz.py --show 1234        one program, step by step, without the steps that do not matter

PyTorch has to be installed. Differences that docs/differences.md explains are counted and not shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import torch

import fuzz
import leafgrad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--show", type=int, metavar="SEED")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.show is not None:
        show(options.show)
        return 0
    found: dict[str, list[int]] = {}
    explained: Counter[str] = Counter()
    began = time.monotonic()
    for done, seed in enumerate(range(options.first, options.first + options.programs), 1):
        text = fuzz.compared(leafgrad, torch, seed)
        if text and (reason := fuzz.explanation(text)):
            explained[reason] += 1
        elif text:
            seeds = found.setdefault(fuzz.what_kind(text), [])
            seeds.append(seed)
            if len(seeds) == 1:
                print(f"\r{seed}: {text}")
        if done % 50 == 0 or done == options.programs:
            speed = done / (time.monotonic() - began)
            print(f"\r{done:,} programs, {speed:.0f} in a second, {len(found)} differences ", end="", flush=True)
    print()
    for kind, seeds in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(seeds):6}  {kind}   seeds {', '.join(map(str, seeds[:5]))}")
    for reason, count in explained.most_common():
        print(f"{count:6}  explained: {reason}")
    return bool(found)


def show(seed: int) -> None:
    skipped = fuzz.shortened(leafgrad, torch, seed)
    ours, theirs = [fuzz.Program(module, seed).run(skipped) for module in (leafgrad, torch)]
    print(fuzz.difference(ours, theirs) or "no difference")
    for a, b in zip(ours, theirs):
        print(a)
        if fuzz.difference([a], [b]):
            print(f"  PyTorch\n{b}")
            break


if __name__ == "__main__":
    sys.exit(main())
