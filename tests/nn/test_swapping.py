"""How modules replace their parameters: new values, new parameters, or parameters that change places."""

import pytest

import leafgrad
from leafgrad import nn


@pytest.fixture
def swaps():
    leafgrad.__future__.set_swap_module_params_on_conversion(True)
    yield
    leafgrad.__future__.set_swap_module_params_on_conversion(False)


def test_two_tensors_change_places():
    a, b = nn.Parameter(leafgrad.ones(2)), leafgrad.zeros(3, dtype=leafgrad.int64)
    a.grad, a.note = leafgrad.full((2,), 5.0), "a"
    leafgrad.utils.swap_tensors(a, b)
    assert type(b) is nn.Parameter and b.tolist() == [1, 1] and b.grad.tolist() == [5, 5] and b.note == "a"
    assert type(a) is leafgrad.Tensor and a.tolist() == [0, 0, 0] and a.grad is None and not hasattr(a, "note")


def test_conversion_keeps_the_objects(swaps):
    layer = nn.Linear(2, 3)
    weight, before = layer.weight, layer.weight.tolist()
    layer.weight.grad = leafgrad.ones(3, 2)
    layer.double()
    assert layer.weight is weight and weight.dtype is leafgrad.float64 and weight.grad.dtype is leafgrad.float64
    assert weight.tolist() == before and weight.requires_grad and isinstance(weight, nn.Parameter)
    layer.float()
    layer(leafgrad.ones(1, 2)).sum().backward()


@pytest.mark.parametrize("assign", [False, True])
def test_loading_keeps_the_objects(swaps, assign):
    layer, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    with leafgrad.no_grad():
        other.weight.fill_(7)
    kept = layer.weight, layer.running_mean
    layer.load_state_dict(other.state_dict(), assign=assign)
    assert (layer.weight, layer.running_mean) == kept or all(a is b for a, b in zip(kept, layer.parameters()))
    assert layer.weight is kept[0] and layer.weight.tolist() == [7, 7] and layer.weight.requires_grad


def test_a_subclass_decides_what_is_loaded(swaps):
    class Doubled(leafgrad.Tensor):
        def module_load(self, other, assign=False):
            return (other * 2).as_subclass(Doubled)

    layer = nn.Module()
    layer.register_buffer("x", leafgrad.ones(2).as_subclass(Doubled))
    layer.load_state_dict({"x": leafgrad.tensor([1.0, 3.0])})
    assert layer.x.tolist() == [2, 6] and type(layer.x) is Doubled


def test_conversion_that_makes_new_parameters():
    leafgrad.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        layer = nn.Linear(2, 2)
        weight = layer.weight
        layer.double()
        assert layer.weight is not weight and weight.dtype is leafgrad.float32
        assert layer.weight.dtype is leafgrad.float64 and isinstance(layer.weight, nn.Parameter)
    finally:
        leafgrad.__future__.set_overwrite_module_params_on_conversion(False)
