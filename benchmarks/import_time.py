"""How long does `import leafgrad` take, and `import numpy`? `python benchmarks/import_time.py` (and PyTorch, if there).

Every import has a new interpreter, and an interpreter that imports nothing is subtracted. They take turns in random
order, because one import may be half as long again as the next on a machine that does other things as well; best and
median of all rounds are shown.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from run import SOURCES, clean_environment

PYTORCH_EVERY = 10  # rounds: it takes as long as ten others


def milliseconds(module: str, path: str | None) -> float:
    """From the start of an interpreter that imports `module` to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], env=clean_environment(path), check=True)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60, help="how often they take turns (default 60)")
    parser.add_argument("--compiled-from", default=None, help="where the compiled leafgrad is, if it is not installed")
    options = parser.parse_args()
    imports: dict[str, tuple[str, str | None]] = {
        "nothing": ("sys", None),
        "numpy": ("numpy", None),
        "leafgrad, compiled": ("leafgrad", options.compiled_from),
        "leafgrad, plain": ("leafgrad", str(SOURCES)),
    }
    if importlib.util.find_spec("torch"):
        imports["torch"] = ("torch", None)
    found: dict[str, list[float]] = {label: [] for label in imports}
    for module, path in imports.values():
        milliseconds(module, path)  # which leaves bytecode and warm files behind
    for turn in range(options.rounds):
        print(f"\rround {turn + 1} of {options.rounds}  ", end="", file=sys.stderr, flush=True)
        for label in random.sample(list(imports), len(imports)):
            if label != "torch" or turn % PYTORCH_EVERY == 0:
                found[label].append(milliseconds(*imports[label]))
    print("\r" + " " * 30 + "\r", end="", file=sys.stderr)
    print("| import | best, ms | to numpy | median, ms | to numpy |\n|---|---|---|---|---|")
    measures: list[Callable[[list[float]], float]] = [min, statistics.median]
    for label in list(imports)[1:]:
        cells = [label]
        for measure in measures:
            own, numpy = (measure(found[name]) - measure(found["nothing"]) for name in (label, "numpy"))
            cells += [f"{own:,.0f}", f"{own / numpy:.2f}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
