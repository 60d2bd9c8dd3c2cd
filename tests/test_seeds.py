"""Every code block of the four documents runs unchanged and prints what PyTorch prints for the same seed."""

from __future__ import annotations

import pytest

import seed_blocks

pytestmark = pytest.mark.slow  # each block runs in a process of its own

EXPECTED = seed_blocks.stored()
RUNS = [name for name in seed_blocks.NAMES if EXPECTED[name].error is None]


def test_every_block_has_stored_values() -> None:
    assert sorted(EXPECTED) == seed_blocks.NAMES
    assert len(EXPECTED) == 12
    assert sorted(set(EXPECTED) - set(RUNS)) == ["001_1", "002_3"]


@pytest.mark.parametrize("name", RUNS)
def test_prints_what_torch_prints(name: str) -> None:
    outcome = seed_blocks.run_with_leafgrad(name)
    assert outcome.error is None, outcome.message
    seed_blocks.assert_same_output(outcome.stdout, EXPECTED[name].stdout)


@pytest.mark.parametrize("name", ["002_2", "003_2"])
def test_a_caught_error_still_explains_itself(name: str) -> None:
    printed = seed_blocks.run_with_leafgrad(name).stdout
    for fix in (".sum()", ".mean()", "gradient="):
        assert fix in printed


def test_grad_of_a_non_leaf_warns() -> None:
    errors = seed_blocks.process_with_leafgrad("001_2").stderr
    warning = "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."
    assert f"001_2.py:17: {warning}" in errors
    assert f"001_2.py:18: {warning}" in errors


def assert_refused_as_torch_refuses(name: str) -> str:
    """Returns the whole message, explanation included."""
    outcome, expected = seed_blocks.run_with_leafgrad(name), EXPECTED[name]
    assert outcome.error == expected.error == "RuntimeError"
    assert outcome.first_line == expected.first_line
    seed_blocks.assert_same_output(outcome.stdout, expected.stdout)
    assert outcome.message is not None
    return outcome.message


def test_targets_that_hang_on_the_graph_of_the_inputs_are_refused() -> None:
    message = assert_refused_as_torch_refuses("001_1")
    assert message.startswith("Trying to backward through the graph a second time")
    explanation = message.split("\n", 1)[1]
    assert "`y`" in explanation or "'y'" in explanation
    assert "001_1.py:16" in explanation  # where `y = 2 * X + ...` stands
    assert ".detach()" in explanation


def test_backward_of_a_vector_is_refused() -> None:
    message = assert_refused_as_torch_refuses("002_3")
    assert message.startswith("grad can be implicitly created only for scalar outputs")
    assert "002_3.py:1" in message  # the lines 13 and 14: where z2 was made, and where it went backward
