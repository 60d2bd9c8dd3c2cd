"""Every operation under vmap gives what a loop over the samples gives, and so do its gradients."""

from __future__ import annotations

import pytest

from op_checks import Entry, entries
from vmap_checks import check, samples_of

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
pytestmark = [
    pytest.mark.filterwarnings("ignore:There is a performance drop"),
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
]


@every_op
def test_values(entry: Entry) -> None:
    wrong = [what for same in samples_of(entry) for what in check(same, gradients=False)]
    assert not wrong, "\n".join(wrong)


@every_op
def test_gradients(entry: Entry) -> None:
    wrong = [what for same in samples_of(entry) for what in check(same, gradients=True)]
    assert not wrong, "\n".join(wrong)
