"""The update of every optimiser, with given gradients. PyTorch has up to three forms of each, which are timed too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.workload import Step, workload

OPTIMIZERS = "Optimisers, a million parameters"
# PyTorch's other forms, by what its optimisers are told; without being told it takes `single` on a CPU.
FOREACH: Mapping[str, Mapping[str, Any]] = {"foreach": {"form": {"foreach": True}}}
FUSED = {**FOREACH, "fused": {"form": {"fused": True}}}
# name -> (class, its options beside the learning rate, the other forms that PyTorch has)
CHOICES: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Mapping[str, Any]]]] = {
    "SGD": ("SGD", {}, FUSED),
    "SGD with momentum": ("SGD", {"momentum": 0.9}, FUSED),
    "Adam": ("Adam", {}, FUSED),
    "AdamW": ("AdamW", {}, FUSED),
    "Adamax": ("Adamax", {}, FOREACH),
    "NAdam": ("NAdam", {}, FOREACH),
    "RAdam": ("RAdam", {}, FOREACH),
    "RMSprop": ("RMSprop", {}, FOREACH),
    "Rprop": ("Rprop", {}, FOREACH),
    "Adagrad": ("Adagrad", {}, FUSED),
    "Adadelta": ("Adadelta", {}, FOREACH),
    "Adafactor": ("Adafactor", {}, FOREACH),
    "ASGD": ("ASGD", {}, FOREACH),
    "Muon": ("Muon", {}, {}),
}


def parameters(torch: Any, tensors: int, side: int) -> list[Any]:
    """Square matrices, which is what Muon takes, with gradients."""
    torch.manual_seed(0)
    found = [torch.randn(side, side, requires_grad=True) for _ in range(tensors)]
    for parameter in found:
        parameter.grad = torch.randn(side, side)
    return found


def update(torch: Any, optimizer: str, tensors: int, side: int, form: Mapping[str, Any] | None = None) -> Step:
    name, options, _ = CHOICES[optimizer]
    given = parameters(torch, tensors, side)
    chosen = getattr(torch.optim, name)(given, lr=1e-3, **options, **(form or {}))

    def step() -> Any:
        chosen.step()
        return given[0]

    return step


for name, choice in CHOICES.items():
    workload(
        OPTIMIZERS, "{optimizer}, {tensors} tensors",
        {"optimizer": name, "tensors": 4, "side": 500}, {"optimizer": name, "tensors": 400, "side": 50},
        tiny={"tensors": 2, "side": 3}, rivals=choice[2],
    )(update)  # fmt: skip


@workload(
    OPTIMIZERS, "LBFGS, {tensors} tensors", {"tensors": 4, "side": 500}, {"tensors": 400, "side": 50},
    tiny={"tensors": 2, "side": 3},
)  # fmt: skip
def lbfgs(torch: Any, tensors: int, side: int) -> Step:
    """One iteration with ten pairs of history. The gradients are those of a quadratic function, and the steps so short
    that it is never finished."""
    given = parameters(torch, tensors, side)
    scales = [torch.rand(side, side) + 0.5 for _ in given]
    value = torch.tensor(1.0)
    options = {"lr": 1e-4, "max_iter": 1, "history_size": 10, "tolerance_grad": 0.0, "tolerance_change": 0.0}
    chosen = torch.optim.LBFGS(given, **options)

    def closure() -> Any:
        for parameter, scale in zip(given, scales, strict=True):
            parameter.grad = parameter.detach() * scale
        return value

    def step() -> Any:
        chosen.step(closure)
        return given[0]

    return step
