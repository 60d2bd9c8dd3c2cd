"""leafgrad.nn without PyTorch: attributes, state, hooks, printed forms and initial numbers of modules."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.nn.functional as F


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.act = nn.Tanh()
        self.second = nn.Linear(4, 2, bias=False)
        self.scale = nn.Parameter(lg.ones(1))
        self.register_buffer("mean", lg.zeros(2))
        self.register_buffer("scratch", lg.zeros(2), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.second(self.act(self.first(x))) * self.scale + self.mean


KEYS = ["scale", "mean", "first.weight", "first.bias", "second.weight"]


# -- parameters -------------------------------------------------------------------------------------------------------


def test_a_parameter_is_a_leaf_that_shares_memory() -> None:
    data = lg.ones(2)
    p = nn.Parameter(data)
    assert isinstance(p, lg.Tensor) and isinstance(p, nn.Parameter)
    assert p.requires_grad and p.is_leaf and p.grad is None
    data.add_(1)
    assert p.tolist() == [2.0, 2.0] and p._version == 1
    computed = nn.Parameter(p * 2)
    assert computed.is_leaf and computed.grad_fn is None
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert type(p * 2) is lg.Tensor and type(p.data) is lg.Tensor and type(p.detach()) is lg.Tensor
    assert not isinstance(data, nn.Parameter)


def test_parameters_are_copied_without_their_gradient() -> None:
    p = nn.Parameter(lg.ones(2))
    p.sum().backward()
    twin = copy.deepcopy(p)
    assert type(twin) is nn.Parameter and twin.grad is None and twin.tolist() == [1.0, 1.0] and twin is not p
    q, r = copy.deepcopy([p, p])
    assert q is r


def test_parameters_are_pickled() -> None:
    p = nn.Parameter(lg.arange(3.0), requires_grad=False)
    back = pickle.loads(pickle.dumps(p))
    assert type(back) is nn.Parameter and back.tolist() == [0.0, 1.0, 2.0] and not back.requires_grad


def test_printed_parameters() -> None:
    assert repr(nn.Parameter(lg.ones(2))) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(nn.Parameter(lg.ones(1), False)) == "Parameter containing:\ntensor([1.])"


def test_what_cannot_be_a_parameter() -> None:
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        nn.Parameter(lg.ones(2, dtype=lg.int64))
    with pytest.raises(AttributeError, match=r"'list' object has no attribute 'detach'(?s:.*)fix +lg.tensor"):
        nn.Parameter([1.0])


def test_buffers() -> None:
    b = nn.Buffer(lg.ones(2))
    assert isinstance(b, nn.Buffer) and isinstance(b, lg.Tensor) and not isinstance(lg.ones(2), nn.Buffer)
    module = nn.Module()
    module.kept, module.forgotten = b, nn.Buffer(lg.ones(1), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "forgotten"]
    assert list(module.state_dict()) == ["kept"]


# -- attributes -------------------------------------------------------------------------------------------------------


def test_attributes_are_sorted_by_kind() -> None:
    net = Net()
    assert list(net._parameters) == ["scale"]
    assert list(net._buffers) == ["mean", "scratch"]
    assert list(net._modules) == ["first", "act", "second"]
    net.number = 3
    assert vars(net)["number"] == 3
    assert {"first", "scale", "mean", "number", "forward"} <= set(dir(net))
    del net.scale, net.first, net.mean, net.number
    for name in ("scale", "first", "mean", "number"):
        assert not hasattr(net, name)


def test_an_attribute_may_become_something_else() -> None:
    module = nn.Module()
    module.x = 3
    module.x = nn.Parameter(lg.ones(1))
    assert "x" in module._parameters and "x" not in vars(module)
    module.x = None
    assert module.x is None and list(module.parameters()) == []
    del module.x
    module.x = nn.ReLU()
    module.x = nn.Parameter(lg.ones(2))
    assert not module._modules and module.x.shape == (2,)


def test_errors_of_attributes() -> None:
    net = Net()
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'frist'") as caught:
        net.frist
    assert caught.value.name == "frist" and caught.value.obj is net  # so that Python can say "Did you mean"
    with pytest.raises(TypeError, match=r"cannot assign 'torch.FloatTensor' as parameter 'scale'"):
        net.scale = lg.ones(1)
    with pytest.raises(TypeError, match=r"cannot assign 'int' as child module 'first' \(torch.nn.Module or None"):
        net.first = 3
    with pytest.raises(TypeError, match="cannot assign 'int' as buffer 'mean'"):
        net.mean = 3
    with pytest.raises(KeyError, match="attribute 'first' already exists"):
        net.register_buffer("first", None)
    with pytest.raises(KeyError, match=r"parameter name can.+t contain"):
        net.register_parameter("a.b", None)
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        computed = nn.Parameter(lg.ones(1))
        computed.node = (net.scale * 2).node
        net.w = computed
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)


def test_forgetting_to_call_init() -> None:
    class Forgot(nn.Module):
        def __init__(self) -> None:
            self.linear = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Forgot()


# -- walking ----------------------------------------------------------------------------------------------------------


def test_tied_weights_count_once() -> None:
    module = nn.Module()
    module.a, module.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    module.b.weight = module.a.weight
    assert [name for name, _ in module.named_parameters()] == ["a.weight"]
    assert [name for name, _ in module.named_parameters(remove_duplicate=False)] == ["a.weight", "b.weight"]
    assert list(module.state_dict()) == ["a.weight", "b.weight"]
    twin = copy.deepcopy(module)
    assert twin.a.weight is twin.b.weight and twin.a.weight is not module.a.weight
    again = pickle.loads(pickle.dumps(module))
    assert again.a.weight is again.b.weight


def test_paths() -> None:
    net = nn.Sequential(OrderedDict(body=Net(), head=nn.Identity()))
    assert [name for name, _ in net.named_modules()] == ["", "body", "body.first", "body.act", "body.second", "head"]
    assert [name for name, _ in net.named_parameters()] == [
        *["body.scale", "body.first.weight", "body.first.bias", "body.second.weight"],
    ]
    assert net.get_submodule("body.first") is net.body.first
    assert net.get_parameter("body.scale") is net.body.scale
    assert net.get_buffer("body.mean") is net.body.mean
    with pytest.raises(AttributeError, match="Net has no attribute `third`"):
        net.get_submodule("body.third")


def test_modes_and_apply() -> None:
    net = Net()
    assert not any(module.training for module in net.eval().modules())
    assert all(module.training for module in net.train().modules())
    seen: list[str] = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "Tanh", "Linear", "Net"]
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())


def test_casting_keeps_parameters_and_casts_gradients() -> None:
    net = Net()
    net.register_buffer("count", lg.zeros(1, dtype=lg.int64))
    net(lg.ones(1, 3)).sum().backward()
    before = list(net.parameters())
    assert net.double() is net
    assert all(p is q for p, q in zip(before, net.parameters(), strict=True))
    assert all(p.dtype is lg.float64 and p.grad.dtype is lg.float64 for p in net.parameters())
    assert net.mean.dtype is lg.float64 and net.count.dtype is lg.int64
    net(lg.ones(1, 3, dtype=lg.float64)).sum().backward()
    assert net.to("cpu").to(lg.float32).mean.dtype is lg.float32
    with pytest.raises(TypeError, match=r"nn.Module.to only accepts floating point or complex dtypes"):
        net.to(lg.int64)
    with pytest.raises(AssertionError, match="leafgrad computes on the CPU only"):
        net.to("cuda")


def test_zero_grad() -> None:
    net = Net()
    net(lg.ones(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(p.grad is not None and not p.grad.array.any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_a_module_dies_with_its_last_reference() -> None:
    gc.collect()
    gc.disable()
    try:
        net = Net()
        net(lg.ones(1, 3)).sum().backward()
        gone = weakref.ref(net)
        del net
        assert gone() is None
    finally:
        gc.enable()


# -- state ------------------------------------------------------------------------------------------------------------


def test_state_round_trip() -> None:
    lg.manual_seed(0)
    one, two = Net(), Net()
    state = one.state_dict()
    assert list(state) == KEYS and not any(t.requires_grad for t in state.values())
    pointers = [p.data_ptr() for p in two.parameters()]
    result = two.load_state_dict(state)
    assert repr(result) == "<All keys matched successfully>"
    assert result.missing_keys == [] and result.unexpected_keys == []
    assert pointers == [p.data_ptr() for p in two.parameters()]
    for name, tensor in two.state_dict().items():
        assert tensor.tolist() == state[name].tolist()
    x = lg.randn(5, 3)
    assert one(x).tolist() == two(x).tolist()


def test_state_survives_pickling() -> None:
    one, two = Net(), Net()
    two.load_state_dict(pickle.loads(pickle.dumps(one.state_dict())))
    assert two.first.weight.tolist() == one.first.weight.tolist()


def test_state_shares_memory_and_keeps_vars() -> None:
    net = Net()
    net.state_dict()["scale"].zero_()
    assert net.scale.tolist() == [0.0]
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    assert list(net.state_dict(prefix="net.")) == ["net." + key for key in KEYS]


def test_what_does_not_fit_is_listed() -> None:
    net = Net()
    state = net.state_dict()
    del state["first.bias"]
    state["third.weight"] = lg.ones(1)
    state["scale"] = lg.ones(2)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "first.bias". \n'
        '\tUnexpected key(s) in state_dict: "third.weight". \n'
        "\tsize mismatch for scale: copying a param with shape torch.Size([2]) from checkpoint, the shape in current "
        "model is torch.Size([1])."
    )
    state["scale"] = lg.ones(1)
    result = net.load_state_dict(state, strict=False)
    assert result.missing_keys == ["first.bias"] and result.unexpected_keys == ["third.weight"]


def test_assigning_takes_the_tensors_themselves() -> None:
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    two.load_state_dict(one.state_dict(), assign=True)
    assert two.weight.data_ptr() == one.weight.data_ptr() and isinstance(two.weight, nn.Parameter)


def test_models_are_pickled_and_copied() -> None:
    model = nn.Sequential(Net(), nn.ReLU(), nn.Softmax(dim=-1), nn.Dropout(0.3))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert repr(twin) == repr(model)
        assert twin[0].first.weight.tolist() == model[0].first.weight.tolist()
        assert twin[0].first.weight is not model[0].first.weight
        x = lg.ones(2, 3)
        assert twin.eval()(x).tolist() == model.eval()(x).tolist()


# -- hooks ------------------------------------------------------------------------------------------------------------


def test_forward_hooks() -> None:
    seen: list[Any] = []
    layer = nn.Identity()
    first = layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    second = layer.register_forward_hook(lambda module, args, out: seen.append((args[0].item(), out.item())))
    third = layer.register_forward_hook(lambda module, args, out: out + 1)
    assert layer(lg.tensor(3.0)).item() == 7.0 and seen == [(6.0, 6.0)]
    for handle in (first, second, third):
        handle.remove()
    assert layer(lg.tensor(3.0)).item() == 3.0 and len(seen) == 1


def test_a_hook_may_remove_itself() -> None:
    layer = nn.Identity()
    seen: list[int] = []

    def once(module: Any, args: Any, out: Any) -> None:
        seen.append(1)
        handle.remove()

    handle = layer.register_forward_hook(once)
    layer(lg.ones(1))
    layer(lg.ones(1))
    assert seen == [1]


# -- containers -------------------------------------------------------------------------------------------------------


def test_sequential() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert len(model) == 3 and isinstance(model[-1], nn.Linear) and isinstance(model[:2], nn.Sequential)
    assert model(lg.ones(4, 2)).shape == (4, 1)
    model.insert(1, nn.Tanh()).append(nn.Sigmoid())
    assert [type(layer).__name__ for layer in model] == ["Linear", "Tanh", "ReLU", "Linear", "Sigmoid"]
    assert list(model.state_dict()) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    del model[1]
    assert list(model._modules) == ["0", "1", "2", "3"]
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    assert named.a is named[0] and list(named._modules) == ["a", "b"]
    with pytest.raises(IndexError, match="index 9 is out of range"):
        named[9]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.Sequential(3)  # type: ignore[arg-type]


def test_module_list_and_dict() -> None:
    layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(2)])
    layers.extend([nn.ReLU()])
    layers += [nn.Tanh()]
    assert len(layers) == 4 and len(list(layers.parameters())) == 4 and isinstance(layers[1:], nn.ModuleList)
    choice = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
    assert "a" in choice and list(choice) == ["a", "b"] and len(list(choice.parameters())) == 2
    choice.pop("a")
    assert list(choice.keys()) == ["b"]


def test_parameter_containers() -> None:
    values = nn.ParameterList([lg.ones(1), nn.Parameter(lg.ones(2))])
    values.append(lg.ones(3))
    assert [name for name, _ in values.named_parameters()] == ["0", "1", "2"]
    named = nn.ParameterDict({"w": lg.ones(1)})
    assert named["w"] is next(named.parameters())


def test_printed_forms() -> None:
    model = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(inplace=True), nn.ModuleList([nn.Tanh(), nn.Tanh()]))
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=False)\n"
        "  (1): ReLU(inplace=True)\n"
        "  (2): ModuleList(\n"
        "    (0-1): 2 x Tanh()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Softmax(dim=1)) == "Softmax(dim=1)"
    assert repr(nn.Dropout(0.2)) == "Dropout(p=0.2, inplace=False)"
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.MSELoss()) == "MSELoss()"


# -- layers -----------------------------------------------------------------------------------------------------------


def test_linear_starts_with_pytorchs_numbers() -> None:
    lg.manual_seed(0)
    layer = nn.Linear(3, 2)
    assert layer.weight.tolist() == [
        [-0.004322517663240433, 0.3097158372402191, -0.4751853346824646],
        [-0.4248946011066437, -0.2223689705133438, 0.15482072532176971],
    ]
    assert layer.bias.tolist() == [-0.011439144611358643, 0.45777493715286255]


def test_initializers_give_pytorchs_numbers() -> None:
    lg.manual_seed(1)
    t = lg.empty(2, 3)
    assert nn.init.kaiming_normal_(t).tolist() == [
        [0.5399917960166931, 0.21794261038303375, 0.050359271466732025],
        [0.5073034763336182, -0.36897966265678406, -0.13564476370811462],
    ]
    assert nn.init.xavier_uniform_(t).tolist() == [
        [0.40008744597435, -0.4268960952758789, -0.07986754924058914],
        [-0.09862000495195389, 0.1587781459093094, -0.004376108758151531],
    ]


def test_dropout_has_pytorchs_mask() -> None:
    lg.manual_seed(0)
    kept = [0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert F.dropout(lg.ones(12), 0.4).tolist() == [k * 1.6666666269302368 for k in kept]
    layer = nn.Dropout(0.9).eval()
    assert layer(lg.ones(5)).tolist() == [1.0] * 5
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 2"):
        nn.Dropout(2)


def test_linear_whose_weight_is_replaced() -> None:
    """As weight normalisation does: the parameter goes, a tensor that is computed anew takes its name."""
    layer = nn.Linear(2, 1, bias=False)
    del layer.weight
    layer.weight = lg.ones(1, 2) * 3
    assert layer(lg.ones(1, 2)).tolist() == [[6.0]]
    layer = nn.Linear(2, 1)
    layer.bias = None
    assert layer(lg.zeros(1, 2)).tolist() == [[0.0]]


def test_activations_are_classes_like_any_other() -> None:
    assert nn.ReLU.__name__ == "ReLU" and nn.ReLU.__doc__ == "ReLU(inplace=False): max(0, x), element by element."

    class Doubled(nn.ReLU):
        def forward(self, input: Any) -> Any:
            return super().forward(input) * 2

    assert Doubled()(lg.tensor([-1.0, 2.0])).tolist() == [0.0, 4.0]
    with pytest.raises(TypeError, match=r"Tanh.__init__\(\) takes 1 positional argument but 2 were given"):
        nn.Tanh(3)
    x = lg.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]


def test_softmax_asks_for_a_dimension() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        y = nn.Softmax()(lg.zeros(2, 4))
    assert y.tolist() == [[0.25] * 4] * 2


def test_losses() -> None:
    x, y = lg.tensor([1.0, 3.0], requires_grad=True), lg.tensor([0.0, 0.0])
    assert nn.MSELoss()(x, y).item() == 5.0 and nn.MSELoss(reduction="sum")(x, y).item() == 10.0
    assert nn.L1Loss()(x, y).item() == 2.0 and nn.L1Loss(reduction="none")(x, y).tolist() == [1.0, 3.0]
    logits = lg.tensor([[0.0, np.log(3.0)]])
    assert nn.CrossEntropyLoss()(logits, lg.tensor([1])).item() == pytest.approx(np.log(4 / 3))
    assert nn.NLLLoss()(logits.log_softmax(1), lg.tensor([0])).item() == pytest.approx(np.log(4))


# -- utilities --------------------------------------------------------------------------------------------------------


def test_clipping() -> None:
    p, q = nn.Parameter(lg.zeros(2)), nn.Parameter(lg.zeros(1))
    p.grad, q.grad = lg.tensor([3.0, 0.0]), lg.tensor([4.0])
    assert nn.utils.clip_grad_norm_([p, q], 1.0).item() == 5.0
    assert p.grad.tolist() == pytest.approx([0.6, 0.0]) and q.grad.tolist() == pytest.approx([0.8])
    assert nn.utils.clip_grad_norm_([p, q], 10.0, norm_type=float("inf")).item() == pytest.approx(0.8)
    nn.utils.clip_grad_value_([p, q], 0.5)
    assert p.grad.tolist() == [0.5, 0.0] and q.grad.tolist() == [0.5]


def test_parameters_as_a_vector() -> None:
    layer = nn.Linear(2, 1)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (3,)
    nn.utils.vector_to_parameters(lg.tensor([1.0, 2.0, 3.0]), layer.parameters())
    assert layer.weight.tolist() == [[1.0, 2.0]] and layer.bias.tolist() == [3.0]


# -- the namespace ----------------------------------------------------------------------------------------------------


def test_everything_public_is_documented() -> None:
    for name in nn.__all__:
        assert getattr(nn, name).__doc__, name
    for name in F.__all__:
        assert getattr(F, name).__doc__.startswith(f"{name}("), name


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match=r"leafgrad does not have torch.nn.CrossMapLRN2d"):
        nn.CrossMapLRN2d
    with pytest.raises(AttributeError, match=r"leafgrad does not have torch.nn.functional.scaled_mm"):
        F.scaled_mm


def test_nn_and_optim_are_imported_when_they_are_needed() -> None:
    program = """
import sys, leafgrad as torch
assert "leafgrad.nn" not in sys.modules and "leafgrad.optim" not in sys.modules
print(torch.nn.Linear(1, 2), torch.optim.SGD.__name__, torch.nn.functional.relu.__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Linear(in_features=1, out_features=2, bias=True) SGD relu\n"
