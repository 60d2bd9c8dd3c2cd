"""`python -m leafgrad explain script.py` and `python -m leafgrad demo`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import leafgrad

SCRIPT = """
import sys
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = [nn.Linear(4, 1)]
    def forward(self, x):
        return self.rest[0](self.first(x).relu())

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
print("trained", step + 1)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "leafgrad", *arguments]
    path = {"PYTHONPATH": str(Path(leafgrad.__file__).parents[1])}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=folder, check=False, env={**os.environ, **path}
    )


def test_the_first_backward_of_a_script_is_explained(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run(tmp_path, "explain", "--seed", "0", "train.py", "3")
    assert (done.returncode, done.stdout) == (0, "trained 3\n")
    assert done.stderr.count("backward() will reach 2 of 2 parameters") == 1
    assert "first.weight" in done.stderr
    assert "train.py:10  self.rest = [nn.Linear(4, 1)]" in done.stderr
    assert "self.rest = nn.ModuleList([nn.Linear(4, 1)])" in done.stderr
    assert (tmp_path / "graph.html").read_text().startswith("<!doctype html>")


def test_the_picture_can_be_left_out_and_modules_are_run_as_well(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run(tmp_path, "explain", "--html", "", "-m", "train", "1")
    assert (done.returncode, done.stdout) == (0, "trained 1\n")
    assert "will reach" in done.stderr
    assert not (tmp_path / "graph.html").exists()


def test_an_error_of_autograd_is_explained(tmp_path: Path) -> None:
    (tmp_path / "cut.py").write_text(
        "import torch\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "value = (w * 2).sum().item()\n"
        "loss = torch.tensor(value)\n"
        "loss.backward()\n"
    )
    done = run(tmp_path, "explain", "cut.py")
    assert done.returncode == 1
    assert "element 0 of tensors does not require grad" in done.stderr
    assert "cut.py:3   value = (w * 2).sum().item()" in done.stderr
    assert "in backward" not in done.stderr, "frames of leafgrad are left out"


def test_several_roots_and_no_model(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(
        "import torch\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "a, b = (w * 2).sum(), (w * 3).sum()\n"
        "torch.autograd.backward([a, b])\n"
        "print(w.grad)\n"
    )
    done = run(tmp_path, "explain", "--html", "", "two.py")
    assert (done.returncode, done.stdout) == (0, "tensor([5., 5.])\n")
    assert "will reach 1 leaf" in done.stderr


def test_the_demo_answers_its_questions(tmp_path: Path) -> None:
    done = run(tmp_path, "demo")
    assert (done.returncode, done.stderr) == (0, "")
    for text in (
        "backward() will reach 3 of 6 parameters",
        "frozen: requires_grad=False since regression.py:16",
        "spare was not called",
        "lost at   metric.py:7",
        "1,024 differences instead of 32",
        "v @ J",
    ):
        assert text in done.stdout
    assert "Regression" in (tmp_path / "demo_graph.html").read_text()
