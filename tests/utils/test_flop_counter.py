"""torch.utils.flop_counter: the counts that PyTorch has for the same programs."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad.nn import functional as F
from leafgrad.utils._python_dispatch import TorchDispatchMode
from leafgrad.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
from leafgrad.utils.module_tracker import ModuleTracker

mm, addmm, bmm, baddbmm = "aten.mm", "aten.addmm", "aten.bmm", "aten.baddbmm"
conv, conv_backward = "aten.convolution", "aten.convolution_backward"

# a function, the shapes of its arguments, the counts of its call, and those of the call and its gradients
COUNTED: list[tuple[str, Any, Any, dict[str, int], dict[str, int]]] = [
    ("mm", torch.mm, [(2, 3), (3, 4)], {mm: 48}, {mm: 144}),
    ("stack and matrix", torch.matmul, [(5, 2, 3), (3, 4)], {mm: 240}, {mm: 720}),
    ("matrix and stack", torch.matmul, [(2, 3), (5, 3, 4)], {mm: 240}, {mm: 720}),
    ("stacks", torch.matmul, [(6, 1, 2, 3), (5, 3, 4)], {bmm: 1440}, {bmm: 4320}),
    ("vector and matrix", torch.matmul, [(3,), (3, 4)], {mm: 24}, {mm: 72}),
    ("stack and vector", torch.matmul, [(5, 2, 3), (3,)], {}, {}),
    ("mv", torch.mv, [(2, 3), (3,)], {}, {}),
    ("addmm", torch.addmm, [(4,), (2, 3), (3, 4)], {addmm: 48}, {addmm: 48, mm: 96}),
    ("baddbmm", torch.baddbmm, [(5, 2, 4), (5, 2, 3), (5, 3, 4)], {baddbmm: 240}, {baddbmm: 240, bmm: 480}),
    ("linear", F.linear, [(5, 2, 3), (4, 3), (4,)], {addmm: 240}, {addmm: 240, mm: 480}),
    ("linear without bias", F.linear, [(2, 3), (4, 3)], {mm: 48}, {mm: 144}),
    ("einsum", lambda a, b: torch.einsum("ij,jk->ik", a, b), [(2, 3), (3, 4)], {bmm: 48}, {bmm: 144}),
    ("conv2d", F.conv2d, [(2, 3, 8, 8), (4, 3, 3, 3), (4,)], {conv: 15552}, {conv: 15552, conv_backward: 31104}),
    ("groups", lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=2), [(2, 4, 8, 8), (4, 2, 3, 3)],
     {conv: 4608}, {conv: 4608, conv_backward: 13824}),
    ("conv_transpose2d", lambda x, w: F.conv_transpose2d(x, w, stride=2, groups=2), [(2, 4, 8, 8), (4, 3, 3, 3)],
     {conv: 27648}, {conv: 27648, conv_backward: 82944}),
    ("GRU", lambda x: nn.GRU(3, 4)(x)[0], [(5, 2, 3)], {addmm: 1680}, {addmm: 1680, mm: 3168}),
    ("RNN", lambda x: nn.RNN(3, 4)(x)[0], [(5, 2, 3)], {addmm: 560}, {addmm: 560, mm: 1056}),
    ("LSTMCell", lambda x: nn.LSTMCell(3, 4)(x)[0], [(2, 3)], {addmm: 448}, {addmm: 448, mm: 640}),
    ("attention", lambda x: nn.MultiheadAttention(8, 2)(x, x, x)[0], [(5, 2, 8)], {addmm: 5120, bmm: 1600},
     {addmm: 5120, bmm: 4800, mm: 10240}),
]  # fmt: skip


def counted(counter: FlopCounterMode, module: str = "Global") -> dict[str, int]:
    return {str(packet): count for packet, count in counter.get_flop_counts().get(module, {}).items()}


@pytest.mark.parametrize(("function", "shapes", "call", "both"), [c[1:] for c in COUNTED], ids=[c[0] for c in COUNTED])
def test_counts_are_those_of_pytorch(function: Any, shapes: Any, call: dict[str, int], both: dict[str, int]) -> None:
    tensors = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    with FlopCounterMode(display=False) as counter:
        out = function(*tensors)
        assert counted(counter) == call
        out.sum().backward()
    assert counted(counter) == both
    assert counter.get_total_flops() == sum(both.values())


def test_gradients_that_nobody_needs_are_not_counted() -> None:
    weight = torch.randn(4, 3, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        F.linear(torch.randn(2, 3), weight).sum().backward()
    assert counted(counter) == {mm: 96}
    out = F.linear(torch.randn(2, 3, requires_grad=True), weight).sum()
    with FlopCounterMode(display=False) as counter:  # of a graph from before
        out.backward()
    assert counted(counter) == {mm: 96}


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x))


TABLE = """\
Module             FLOP    % Total
--------------  -------  ---------
Two             46.080K    100.00%
 - aten.addmm   15.360K     33.33%
 - aten.mm      30.720K     66.67%
 Two.first      30.720K     66.67%
  - aten.addmm  10.240K     22.22%
  - aten.mm     20.480K     44.44%
 Two.rest       15.360K     33.33%
  - aten.addmm   5.120K     11.11%
  - aten.mm     10.240K     22.22%"""


def test_modules_and_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.randn(40, 8, requires_grad=True)
    with FlopCounterMode(depth=2) as counter:
        Two()(x).sum().backward()
    assert capsys.readouterr().out == TABLE + "\n"
    assert counted(counter, "Two.rest.1") == {addmm: 5120, mm: 10240}
    assert [line.split() for line in counter.get_table(1).splitlines()[2:]] == [
        line.split() for line in TABLE.splitlines()[2:5]
    ]
    assert [line.split()[0] for line in counter.get_table(0).splitlines()[2:]] == ["Global", "-", "-"]
    with counter:  # starts anew
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "Module        FLOP    % Total",
        "----------  ------  ---------",
        "Global          48    100.00%",
        " - aten.mm      48    100.00%",
    ]
    with counter:
        pass
    assert capsys.readouterr().out.splitlines()[-1] == "Global         0         0%"


def test_formulas_of_ones_own() -> None:
    aten = torch.ops.aten
    with FlopCounterMode(
        display=False, custom_mapping={aten.mul: lambda a, b, out_shape: out_shape.numel()}
    ) as counter:
        torch.ones(2, 3) * torch.ones(3)
    assert counted(counter) == {"aten.mul": 6}

    seen = []

    @register_flop_formula(aten.exp, get_raw=True)
    def of_exp(x: Any, out_val: Any = None) -> int:
        seen.append((x.tolist(), out_val.shape))
        return 7

    try:
        with FlopCounterMode(display=False) as counter:
            torch.zeros(2).exp()
        assert counted(counter) == {"aten.exp": 7} and seen == [([0.0, 0.0], (2,))]
        with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.exp"):
            register_flop_formula(aten.exp)(of_exp)
    finally:
        del flop_registry[aten.exp]
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(torch.exp)(of_exp)
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(nn.Linear(2, 2))


def test_modules_that_are_running_are_known() -> None:
    seen: list[set[str]] = []
    model = Two()
    model.first.register_forward_hook(lambda module, args, out: seen.append(set(tracker.parents)))
    with ModuleTracker() as tracker:
        out = model(torch.randn(2, 8, requires_grad=True))
        assert tracker.parents == {"Global"} and not tracker.is_bw
        model.first.weight.register_hook(lambda g: seen.append(set(tracker.parents)))
        out.sum().backward()
    assert tracker.parents == {"Global"}
    assert seen == [{"Global", "Two"}, {"Global"}]  # hooks of the program run after, and before, those of the tracker


def test_dispatch_modes_see_gradients_with_several_results() -> None:
    class Passing(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    x = torch.randn(5, 8, requires_grad=True)
    layer = nn.LayerNorm(8)
    layer(x).square().sum().backward()
    wanted, x.grad = x.grad, None
    with Passing():
        layer(x).square().sum().backward()
    assert wanted is not None and torch.allclose(x.grad, wanted, atol=1e-6)
