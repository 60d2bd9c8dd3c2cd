"""Users derive classes from Tensor and Parameter: their instances are tensors, and keep class and attributes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import leafgrad as lg


class Tagged(lg.Tensor):
    """A tensor with a method and attributes of its own."""

    kind = "tagged"

    def doubled(self) -> Any:
        return self * 2

    def new_empty(self, *args: Any, **options: Any) -> Any:  # which deepcopy asks for, as in PyTorch
        return lg.Tensor.new_empty(self, *args, **options).as_subclass(Tagged)


class Frozen(lg.nn.Parameter):
    """A parameter that says how often it was asked."""

    def __new__(cls, data: Any) -> Any:
        made = super().__new__(cls, data, requires_grad=False)
        made.asked = 0
        return made

    def ask(self) -> int:
        self.asked += 1
        return int(self.asked)


def test_a_subclass_of_tensor() -> None:
    base = lg.tensor([1.0, 2.0], requires_grad=True)
    t = base.as_subclass(Tagged)
    t.note = "hello"
    assert isinstance(t, Tagged) and isinstance(t, lg.Tensor) and lg.is_tensor(t)
    assert t.kind == "tagged" and t.note == "hello" and t.doubled().tolist() == [2.0, 4.0]
    assert t.requires_grad and t.shape == (2,) and t.data_ptr() == base.data_ptr()
    t.doubled().sum().backward()
    assert (t.grad if t.is_leaf else base.grad).tolist() == [2.0, 2.0]


def test_tensors_take_attributes() -> None:
    t = lg.ones(2)
    t.name_of_mine = "x"
    assert t.name_of_mine == "x" and not hasattr(lg.ones(2), "name_of_mine")
    with pytest.raises(AttributeError):
        t.another


def test_a_parameter() -> None:
    data = lg.ones(2)
    p = lg.nn.Parameter(data)
    assert isinstance(p, lg.Tensor) and isinstance(p, lg.nn.Parameter)
    assert p.requires_grad and p.is_leaf and p.data_ptr() == data.data_ptr()
    assert type(p * 2) is lg.Tensor and type(p.detach()) is lg.Tensor and type(p.data) is lg.Tensor
    (p * 3).sum().backward()
    assert p.grad.tolist() == [3.0, 3.0] and type(p.grad) is lg.Tensor
    assert not lg.nn.Parameter(data, requires_grad=False).requires_grad
    history = lg.nn.Parameter((p * 2).sum())
    assert history.is_leaf and history.grad_fn is None


def test_a_subclass_of_parameter() -> None:
    f = Frozen(lg.ones(3))
    assert isinstance(f, Frozen) and isinstance(f, lg.nn.Parameter) and not f.requires_grad
    assert f.ask() == 1 and f.ask() == 2
    module = lg.nn.Module()
    module.weight = f
    assert dict(module.named_parameters())["weight"] is f


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_class_values_flags_and_attributes(protocol: int) -> None:
    tagged = lg.tensor([1.0, 2.0]).as_subclass(Tagged).requires_grad_()
    tagged.note = [1, 2]
    frozen = Frozen(lg.ones(3))
    frozen.ask()
    for t in (tagged, frozen, lg.ones(2, 3).t(), lg.tensor([1, 2]), lg.nn.Parameter(lg.zeros(1))):
        again = pickle.loads(pickle.dumps(t, protocol))
        assert type(again) is type(t) and again.tolist() == t.tolist() and again.dtype is t.dtype
        assert again.requires_grad == t.requires_grad and again.is_leaf and vars(again) == vars(t)
        again_changed = again.detach()
        again_changed.add_(1)
        assert again.tolist() != t.tolist()


def test_deepcopy_keeps_class_gradient_and_attributes() -> None:
    tagged = lg.tensor([1.0, 2.0]).as_subclass(Tagged).requires_grad_()
    tagged.note = [1, 2]
    (tagged * 3).sum().backward()
    again = copy.deepcopy(tagged)
    assert type(again) is Tagged and again.note == [1, 2] and again.note is not tagged.note
    assert again.grad.tolist() == [3.0, 3.0] and again.grad is not tagged.grad and again.requires_grad
    pair = copy.deepcopy([tagged, tagged])
    assert pair[0] is pair[1]
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(tagged * 2)


def test_a_subclass_may_have_its_own_constructor() -> None:
    class Counter(lg.Tensor):
        def __new__(cls, start: float) -> Any:
            made = lg.Tensor._make_subclass(cls, lg.tensor([start]), True)
            made.start = start
            return made

        def __init__(self, start: float) -> None:
            self.ready = True

    c = Counter(5.0)
    assert type(c) is Counter and c.start == 5.0 and c.ready and c.requires_grad and c.tolist() == [5.0]
    (c * c).sum().backward()
    assert c.grad.tolist() == [10.0]
