"""Writes training_curves.json, the losses of examples under PyTorch, and docs/pictures/training_curves.svg, which shows
leafgrad's beside them: python tests/data/make_training_curves.py, with PyTorch and matplotlib installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import training_examples  # noqa: E402

# The examples import leafgrad; here they get PyTorch under its name.
AS_TORCH = """
import json, sys, torch
import torch.distributions, torch.nn.functional
for name in ("", ".nn", ".nn.functional", ".distributions"):
    sys.modules["leafgrad" + name] = sys.modules["torch" + name]
"""


def curves(preamble: str) -> dict[str, list[float]]:
    found = {}
    for name in training_examples.CURVES:
        program = (
            preamble
            + training_examples.FIND
            + training_examples.PROGRAM.format(name=name, steps=training_examples.STEPS)
        )
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout)
    return found


def draw(expected: dict[str, list[float]], found: dict[str, list[float]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "leafgrad"  # the same file every time
    figure, axes = pyplot.subplots(1, len(expected), figsize=(12, 3.5))
    for name, each in zip(expected, axes):
        each.plot(expected[name], color="black", linewidth=3, alpha=0.3, label="PyTorch")
        each.plot(found[name], color="tab:green", linewidth=1, label="leafgrad")
        each.set(title=name.replace("_", " "), xlabel="step", ylabel="loss")
        each.legend()
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "training_curves.svg", metadata={"Date": None})


def main() -> None:
    expected = curves(AS_TORCH)
    text = json.dumps({name: [float(f"{loss:.8g}") for loss in losses] for name, losses in expected.items()})
    training_examples.STORED.write_text(text + "\n", encoding="utf-8")
    draw(expected, curves(""))


if __name__ == "__main__":
    main()
