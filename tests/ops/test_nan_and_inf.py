"""nan and inf go through everything silently, in every thread: no crash, and no warning even where warnings are errors
(as they are in all of these tests)."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from op_checks import Entry, cases, entries

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
# complex numbers made real say so, as PyTorch does
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

REFUSALS = (RuntimeError, ValueError, IndexError, TypeError, AssertionError)  # NotImplementedError is one of the first


def in_a_new_thread(work: Callable[[], Any]) -> Any:
    """Does it in a thread that has not used leafgrad before, so that NumPy has its usual settings there."""
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def special(shape: tuple[int, ...], dtype: Any, first: int) -> Any:
    """An array of the numbers that make trouble, beginning with another one each time."""
    info = np.finfo(dtype if dtype.kind == "f" else np.float32)
    numbers = [0.0, np.inf, np.nan, float(info.max), -np.inf, -0.0, float(info.tiny), float(info.min), 1.0, -1.5]
    with np.errstate(all="ignore"):
        return np.resize(np.roll(np.array(numbers), -first), shape).astype(dtype)


@every_op
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_every_operation(entry: Entry, dtype: str) -> None:
    for one in cases(entry, dtype):
        for first in range(4):
            variable = [one.tensors[i].array for i in one.variable()]
            there = one.at([special(x.shape, x.dtype, first + i) for i, x in enumerate(variable)])

            def forward_and_backward(there: Any = there) -> None:
                try:
                    leaves = there.leaves()
                    outputs = [t for t in there.outputs() if t.requires_grad]
                except REFUSALS:
                    return  # of values that PyTorch refuses as well: probabilities above one, and the like
                if leaves and outputs:
                    torch.autograd.backward(outputs, [torch.ones_like(t) for t in outputs])

            in_a_new_thread(forward_and_backward)


INF = torch.tensor([0.0, float("inf"), float("nan"), 3e38])


@pytest.mark.parametrize(
    "work",
    [
        lambda: INF / 0,
        lambda: INF * INF,
        lambda: INF // INF,
        lambda: INF % 0,
        lambda: INF**1000,
        lambda: INF + 1e300,
        lambda: INF > INF,
        lambda: INF.half(),
        lambda: INF.double() * 1e300,
        lambda: INF.long(),
        lambda: INF.bool(),
        lambda: (INF.double() * 1e300).float(),
        lambda: INF.clone().mul_(1e30),
        lambda: INF.clone().div_(0),
        lambda: INF.clone().fill_(float("inf")),
        lambda: torch.tensor([1e39]),
        lambda: torch.tensor([1e39], dtype=torch.float16),
        lambda: torch.full((2,), 1e300, dtype=torch.float64).float(),
        lambda: torch.linspace(0, float("inf"), 3),
        lambda: torch.arange(3.0) / torch.zeros(3),
        lambda: torch.arange(3) / 0,
        lambda: torch.isclose(INF, INF),
        lambda: torch.allclose(INF, INF, equal_nan=True),
        lambda: torch.equal(INF, INF),
        lambda: repr(INF),
        lambda: repr(INF.half()),
        lambda: f"{INF[1]:.2f}",
        lambda: [INF[2].item(), INF.tolist(), float(INF[1])],
        lambda: torch.nn.functional.cross_entropy(INF.view(1, 4), torch.tensor([0])),
        lambda: torch.nn.functional.mse_loss(INF, -INF),
        lambda: torch.nn.functional.dropout(INF, 0.5),
        lambda: torch.nn.Linear(4, 2)(INF),
        lambda: torch.randn(3) * float("inf"),
    ],
)
def test_further_ways(work: Callable[[], Any]) -> None:
    in_a_new_thread(work)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_optimizers(optimizer: str) -> None:
    def train() -> None:
        w = torch.tensor([0.0, 1.0, 2.0, 3.0], requires_grad=True)
        steps = getattr(torch.optim, optimizer)([w], lr=0.1)
        for _ in range(2):
            steps.zero_grad()
            (w * INF).sum().backward()
            steps.step()

    in_a_new_thread(train)


def test_a_program_whose_warnings_are_errors() -> None:
    program = """
import leafgrad as torch
x = torch.tensor([0.0, float("inf"), float("nan"), -1.0], requires_grad=True)
y = (x / 0 + torch.log(x) * torch.sqrt(x) + torch.exp(x * 1000)).sum()
y.backward()
print(y.item(), x.grad.tolist())
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.startswith("nan ")


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_relu_keeps_the_sign_of_zero_and_nan(dtype: Any, size: int) -> None:
    x = torch.full((size,), -0.0, dtype=dtype)
    found = x.relu()
    assert found.dtype is dtype and (1 / found.float() == -float("inf")).all()
    assert torch.full((size,), float("nan"), dtype=dtype).relu().isnan().all()
