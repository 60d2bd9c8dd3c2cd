"""The examples run, in either of two ways, and print what PyTorch prints for the same program."""

from __future__ import annotations

import os

import pytest

import example_runs
import seed_blocks

EXPECTED = example_runs.stored()


def test_every_example_is_tested() -> None:
    others = {"regression"}  # tests/test_cli.py and tests/_explain/graph know what it is about
    assert (
        {path.stem for path in example_runs.EXAMPLES.glob("*.py")} - others == set(example_runs.NAMES) == set(EXPECTED)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", example_runs.NAMES)
def test_prints_what_torch_prints(name: str) -> None:
    before = os.times().children_user
    printed = example_runs.run("-W", "error", str(example_runs.EXAMPLES / f"{name}.py"))
    assert os.times().children_user - before < 10  # seconds of computing, however busy the machine is
    seed_blocks.assert_same_output(printed, EXPECTED[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", example_runs.NAMES)
def test_the_command_runs_them_as_well(name: str) -> None:
    printed = example_runs.run("-m", "leafgrad", "run", str(example_runs.EXAMPLES / f"{name}.py"))
    seed_blocks.assert_same_output(printed, EXPECTED[name])


@pytest.mark.parametrize("name", example_runs.NAMES)
def test_they_are_short(name: str) -> None:
    assert len((example_runs.EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 80


def test_what_they_claim() -> None:
    """The numbers are not only PyTorch's, they are what the texts say."""
    hessian, ode = EXPECTED["hessian"].splitlines(), EXPECTED["neural_ode"].splitlines()
    assert "598 of 40000" in hessian[0] and all(line.endswith("0.0000") for line in hessian[1:4] + hessian[-1:])
    assert ode[0].split(":")[1] == ode[1].split(":")[1]  # the adjoint method and backpropagation
    last = [float(word.strip(",")) for word in EXPECTED["meta_learning"].splitlines()[-2].split() if "." in word]
    assert last[1] < last[0]  # one step helps
    assert EXPECTED["per_sample_gradients"].count("0.0000") == 2
