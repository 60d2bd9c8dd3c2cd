"""Which functions arguments can take over by `__torch_function__`, beside PyTorch's own tables."""

from __future__ import annotations

import torch

import leafgrad as lg
from leafgrad._tensor.install import MODULES

# Functions of tensors that PyTorch's table leaves out all the same, although subclasses do take them over.
LEFT_OUT = {"as_strided", "fill", "normal", "rand_like", "randint_like", "randn_like", "result_type", "vander"}


def test_the_functions_that_arguments_cannot_take_over() -> None:
    both = [name for name in MODULES if hasattr(torch, name) and not isinstance(getattr(torch, name), type)]
    ours = {name for name in both if getattr(lg, name) in lg.overrides.get_ignored_functions()}
    theirs = {name for name in both if getattr(torch, name) in torch.overrides.get_ignored_functions()}
    assert theirs - ours == LEFT_OUT
    assert ours - theirs == {"from_dlpack"}  # which does not ask in PyTorch either
