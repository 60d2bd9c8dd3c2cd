"""How long an import takes, and how much an installation lies on the disk."""

from __future__ import annotations

import importlib
import importlib.metadata
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.rounds import Form

SELDOM = 5  # rounds: PyTorch's import takes as long as ten others


def seconds(form: Form) -> float:
    """From the start of an interpreter that imports the library to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {form.module}"], env=form.environment(), check=True)
    return time.perf_counter() - start


def imports(forms: Mapping[str, Form], rounds: int, show: Callable[[str], None]) -> dict[str, list[float]]:
    """Each import has a new interpreter, and they take turns in random order. `nothing` is to be subtracted."""
    chosen = {"nothing": Form("nothing", "sys"), "numpy": Form("numpy", "numpy")}
    chosen |= {label: form for label, form in forms.items() if label in ("leafgrad", "plain", "torch")}
    found: dict[str, list[float]] = {label: [] for label in chosen}
    for form in chosen.values():
        seconds(form)  # which leaves bytecode and warm files behind
    for turn in range(rounds):
        show(f"imports, round {turn + 1} of {rounds}")
        for label in random.sample(list(chosen), len(chosen)):
            if label != "torch" or turn % SELDOM == 0:
                found[label].append(seconds(chosen[label]))
    return found


def bytes_of_folder(folder: Path) -> int:
    return sum([f.stat().st_size for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts])


def bytes_of(distribution: importlib.metadata.Distribution) -> int:
    files = [file for file in distribution.files or () if "__pycache__" not in file.parts]
    paths = [Path(str(file.locate())) for file in files]
    return sum([path.stat().st_size for path in paths if path.is_file()])


def with_dependencies(name: str, seen: set[str]) -> int:
    """A distribution and all that it needs here, each counted once."""
    requirement = importlib.import_module("packaging.requirements").Requirement  # comes with pytest

    if name.lower() in seen:
        return 0
    seen.add(name.lower())
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return 0
    needed = [requirement(text) for text in distribution.requires or ()]
    wanted = [need.name for need in needed if need.marker is None or need.marker.evaluate({"extra": ""})]
    return bytes_of(distribution) + sum([with_dependencies(other, seen) for other in wanted])


def sizes(forms: Mapping[str, Form]) -> dict[str, dict[str, int]]:
    """Bytes without bytecode: of the package alone, and with everything that it needs."""
    found = {}
    for label in ("leafgrad", "torch"):
        if label in forms:
            path = forms[label].path
            if path is None:
                own = bytes_of(importlib.metadata.distribution(label))
                total = with_dependencies(label, set())
            else:
                own = bytes_of_folder(Path(path) / label)
                total = own + with_dependencies("numpy", set())
            found[label] = {"own": own, "total": total}
    return found
