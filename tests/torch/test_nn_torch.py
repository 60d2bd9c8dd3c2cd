"""leafgrad.nn beside torch.nn: the same program on either side, the same numbers, printed forms and errors."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
import leafgrad.nn
import leafgrad.nn.functional
import leafgrad.nn.init
import leafgrad.nn.utils

LIBRARIES = (leafgrad, torch)
torch.set_num_threads(1)  # the tests are small, and several of them run at the same time


def values(tensor: Any) -> Any:
    return np.array(tensor.detach().tolist())


def same(program: Callable[[Any], Any]) -> Any:
    """Run a program with either library; what it returns must be equal. Tensors are compared exactly."""
    ours, theirs = (program(library) for library in LIBRARIES)
    check_equal(ours, theirs)
    return ours


def check_equal(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
        np.testing.assert_array_equal(values(ours), values(theirs))
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            check_equal(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            check_equal(a, b)
    else:
        assert ours == theirs


def outcome(program: Callable[[Any], Any], library: Any) -> tuple[str, str]:
    """What a program ends with: the class and message of its exception. Only the first sentence counts, since
    leafgrad goes on to explain; names of modules are brought to PyTorch's."""
    try:
        program(library)
    except Exception as error:
        text = str(error.args[0]) if error.args else ""
        text = text.replace("leafgrad.", "torch.").replace("torch.nn.modules.", "torch.nn.")
        for ours, theirs in (("containers", "container"), ("activations", "activation")):
            text = text.replace(f"torch.nn.{ours}.", f"torch.nn.{theirs}.")
        return type(error).__name__, text
    return "no error", ""


def same_error(program: Callable[[Any], Any]) -> None:
    ours, theirs = outcome(program, leafgrad), outcome(program, torch)
    assert theirs[0] != "no error"
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1] or ours[1].startswith(theirs[1] + "\n"), f"\n{ours[1]}\n{theirs[1]}"


# -- initial values, dropout ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 12345])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 2), (784, 128), (10, 10), (5, 0)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_linear_starts_with_the_same_numbers(seed: int, sizes: tuple[int, int], bias: bool, dtype: str) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = lib.nn.Linear(*sizes, bias=bias, dtype=getattr(lib, dtype))
        return [*layer.parameters(), lib.rand(1)]

    same(program)


def test_linear_follows_the_default_dtype() -> None:
    def program(lib: Any) -> Any:
        lib.set_default_dtype(lib.float64)
        try:
            lib.manual_seed(0)
            return list(lib.nn.Linear(3, 4).parameters())
        finally:
            lib.set_default_dtype(lib.float32)

    same(program)


INITIALIZERS: list[Callable[[Any, Any], Any]] = [
    lambda init, t: init.uniform_(t),
    lambda init, t: init.uniform_(t, -2.0, 3.0),
    lambda init, t: init.normal_(t),
    lambda init, t: init.normal_(t, 1.0, 0.5),
    lambda init, t: init.constant_(t, 0.3),
    lambda init, t: init.zeros_(t),
    lambda init, t: init.ones_(t),
    lambda init, t: init.eye_(t),
    lambda init, t: init.xavier_uniform_(t),
    lambda init, t: init.xavier_uniform_(t, gain=init.calculate_gain("relu")),
    lambda init, t: init.xavier_normal_(t, 2.0),
    lambda init, t: init.kaiming_uniform_(t),
    lambda init, t: init.kaiming_uniform_(t, a=0.2, mode="fan_out"),
    lambda init, t: init.kaiming_uniform_(t, nonlinearity="relu"),
    lambda init, t: init.kaiming_normal_(t),
    lambda init, t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="tanh"),
]


@pytest.mark.parametrize("number", range(len(INITIALIZERS)))
@pytest.mark.parametrize("shape", [(3, 4), (20, 30)])
def test_initializers(number: int, shape: tuple[int, ...]) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(3)
        parameter = lib.nn.Parameter(lib.empty(*shape))
        returned = INITIALIZERS[number](lib.nn.init, parameter)
        assert returned is parameter and parameter.requires_grad and parameter.is_leaf
        return [parameter, lib.rand(2)]

    same(program)


def test_gains_and_fans() -> None:
    names = ["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]
    names += ["sigmoid", "tanh", "relu", "selu", "leaky_relu"]
    same(lambda lib: [lib.nn.init.calculate_gain(name) for name in names])
    same(lambda lib: lib.nn.init.calculate_gain("leaky_relu", 0.3))
    same(lambda lib: lib.nn.init._calculate_fan_in_and_fan_out(lib.zeros(2, 3, 4, 5)))
    same_error(lambda lib: lib.nn.init.calculate_gain("gelu"))
    same_error(lambda lib: lib.nn.init.calculate_gain("leaky_relu", True))
    same_error(lambda lib: lib.nn.init.xavier_uniform_(lib.zeros(3)))
    same_error(lambda lib: lib.nn.init.kaiming_uniform_(lib.zeros(3, 3), mode="fan"))
    same_error(lambda lib: lib.nn.init.eye_(lib.zeros(3)))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("shape", [(), (3,), (5, 7), (100, 33), (2, 3, 4), (0, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_dropout_has_the_same_mask(p: float, shape: tuple[int, ...], dtype: str) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(7)
        layer = lib.nn.Dropout(p)
        x = lib.ones(shape, dtype=getattr(lib, dtype))
        first = layer(x)
        layer.eval()
        return [first, layer(x), lib.rand(3)]

    same(program)


@pytest.mark.parametrize("inplace", [False, True])
def test_dropout_goes_by_the_order_of_memory(inplace: bool) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(7)
        x = lib.arange(24.0).reshape(2, 3, 4)
        views = [x.transpose(0, 2), x.permute(1, 2, 0), x[:, ::2], x[0].expand(5, 3, 4).clone()]
        return [lib.nn.functional.dropout(v.clone() if inplace else v, 0.5, True, inplace) for v in views]

    same(program)


def test_gradients_through_dropout() -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(7)
        x = lib.arange(12.0).reshape(3, 4).requires_grad_()
        y = lib.nn.functional.dropout(x * 2, 0.3)
        y.sum().backward()
        return [y, x.grad, y.grad_fn.name()]

    same(program)


# -- modules ----------------------------------------------------------------------------------------------------------


def model_of(lib: Any) -> Any:
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self, n: int) -> None:
            super().__init__()
            self.linear = nn.Linear(n, n)
            self.tied = self.linear
            self.register_buffer("mean", lib.zeros(n))
            self.register_buffer("scratch", lib.ones(2), persistent=False)
            self.scale = nn.Parameter(lib.ones(1))
            self.missing = None
            self.register_parameter("absent", None)

        def forward(self, x: Any) -> Any:
            return self.linear(x) * self.scale + self.mean

        def extra_repr(self) -> str:
            return "of a test"

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), Block(3))
            self.blocks = nn.ModuleList([Block(3), Block(3), nn.Identity()])
            self.named = nn.ModuleDict({"a": nn.Linear(3, 2, bias=False), "b": nn.Tanh()})
            self.head = nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            x = self.body(x)
            for block in self.blocks:
                x = block(x)
            return self.head(x) + self.named["b"](self.named["a"](x)).sum()

    lib.manual_seed(0)
    return Model()


REPRS: list[Callable[[Any], Any]] = [
    lambda nn: nn.Linear(3, 4),
    lambda nn: nn.Linear(3, 4, bias=False),
    lambda nn: nn.ReLU(),
    lambda nn: nn.ReLU(inplace=True),
    lambda nn: nn.ReLU(True),
    lambda nn: nn.Tanh(),
    lambda nn: nn.Sigmoid(),
    lambda nn: nn.Softmax(),
    lambda nn: nn.Softmax(dim=1),
    lambda nn: nn.LogSoftmax(-1),
    lambda nn: nn.Identity(3, foo=4),
    lambda nn: nn.Flatten(),
    lambda nn: nn.Flatten(0, 2),
    lambda nn: nn.Dropout(),
    lambda nn: nn.Dropout(0.2, True),
    lambda nn: nn.MSELoss(),
    lambda nn: nn.L1Loss(reduction="sum"),
    lambda nn: nn.NLLLoss(),
    lambda nn: nn.CrossEntropyLoss(),
    lambda nn: nn.Sequential(),
    lambda nn: nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1))),
    lambda nn: nn.Sequential(OrderedDict(first=nn.Linear(1, 2), second=nn.Tanh())),
    lambda nn: nn.ModuleList(),
    lambda nn: nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)]),
    lambda nn: nn.ModuleList([nn.Sequential(nn.Linear(1, 1), nn.ReLU()) for _ in range(3)]),
    lambda nn: nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)}),
    lambda nn: nn.Module(),
]


@pytest.mark.parametrize("number", range(len(REPRS)))
def test_printed_forms(number: int) -> None:
    same(lambda lib: repr(REPRS[number](lib.nn)))


def test_printed_form_of_a_model() -> None:
    same(lambda lib: repr(model_of(lib)))
    same(
        lambda lib: repr(lib.nn.ParameterList([lib.ones(2, 3), lib.nn.Parameter(lib.ones(1, dtype=lib.float64)), "x"]))
    )
    same(lambda lib: repr(lib.nn.ParameterDict({"a": lib.ones(2, 3), "b": lib.nn.Parameter(lib.ones(1))})))


def test_printed_form_of_parameters() -> None:
    def program(lib: Any) -> Any:
        class Own(lib.nn.Parameter):  # type: ignore[name-defined, misc]
            pass

        one, half = lib.nn.Parameter(lib.ones(2)), lib.nn.Parameter(lib.ones(1, 2, dtype=lib.float64), False)
        return [repr(one), str(half), f"{one}", repr(lib.nn.Parameter()), repr(Own(lib.ones(2))), repr(one * 2)]

    same(program)


def test_forward_and_backward_of_a_model() -> None:
    results = []
    for lib in LIBRARIES:
        model = model_of(lib)
        x = lib.randn(5, 4)
        loss = lib.nn.functional.mse_loss(model(x), lib.zeros(5, 1))
        loss.backward()
        results.append([values(loss), *[values(p.grad) for p in model.parameters()]])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


WALKS: list[Callable[[Any], Any]] = [
    lambda m: [name for name, _ in m.named_parameters()],
    lambda m: [name for name, _ in m.named_parameters(remove_duplicate=False)],
    lambda m: [name for name, _ in m.named_parameters(prefix="model", recurse=True)],
    lambda m: [name for name, _ in m.body[2].named_parameters(recurse=False)],
    lambda m: [name for name, _ in m.named_buffers()],
    lambda m: [name for name, _ in m.named_buffers(remove_duplicate=False, prefix="p")],
    lambda m: [name for name, _ in m.named_modules()],
    lambda m: [name for name, _ in m.named_modules(remove_duplicate=False, prefix="p")],
    lambda m: [name for name, _ in m.named_children()],
    lambda m: [name for name, _ in m.body[2].named_children()],
    lambda m: [type(module).__name__ for module in m.modules()],
    lambda m: [type(module).__name__ for module in m.children()],
    lambda m: len(list(m.parameters())),
    lambda m: len(list(m.buffers())),
    lambda m: list(m.state_dict()),
    lambda m: list(m.state_dict(prefix="p.")),
    lambda m: {k: dict(v) for k, v in m.state_dict()._metadata.items()},
    lambda m: m.get_submodule("blocks.1.linear").in_features,
    lambda m: m.get_submodule("") is m,
    lambda m: list(m.get_parameter("body.2.scale").shape),
    lambda m: list(m.get_buffer("body.2.mean").shape),
    lambda m: [name for name in dir(m.body) if not name.startswith("_") and name.isdigit()],
    lambda m: {"body", "head", "named", "training"} <= set(dir(m)),
    lambda m: [p.requires_grad for p in m.requires_grad_(False).parameters()],
    lambda m: [module.training for module in m.eval().modules()],
    lambda m: [module.training for module in m.train().modules()],
]


@pytest.mark.parametrize("number", range(len(WALKS)))
def test_walking_over_a_model(number: int) -> None:
    same(lambda lib: WALKS[number](model_of(lib)))


def broken(what: str) -> Callable[[Any], Any]:
    """The statement `what` about a model `m`, a module class and the library, as a program."""

    def program(lib: Any) -> Any:
        class Forgot(lib.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self, value: Any) -> None:
                self.value = value

        class Strange:
            pass

        exec(what, {"m": model_of(lib), "lib": lib, "nn": lib.nn, "Forgot": Forgot, "Strange": Strange, "np": np})

    return program


@pytest.mark.parametrize(
    "statement",
    [
        "m.nothing",
        "m.body.nothing",
        "del m.nothing",
        "m.head.weight = lib.ones(1, 3)",
        "m.head.weight = 3",
        "m.head.weight = nn.ReLU()",
        "m.head = 3",
        "m.head = lib.ones(1)",
        "m.body[2].mean = 3",
        "m.body[2].mean = 'x'",
        "m.register_parameter('a.b', None)",
        "m.register_parameter('', None)",
        "m.register_parameter(3, None)",
        "m.register_parameter('head', None)",
        "m.register_parameter('training', None)",
        "m.register_parameter('w', lib.ones(1))",
        "m.register_parameter('w', 3)",
        "m.register_buffer('a.b', None)",
        "m.register_buffer('', None)",
        "m.register_buffer(3, None)",
        "m.register_buffer('head', None)",
        "m.register_buffer('w', 3)",
        "m.register_buffer('w', [1.0])",
        "m.add_module('a.b', None)",
        "m.add_module('', None)",
        "m.add_module(3, None)",
        "m.add_module('training', nn.ReLU())",
        "m.add_module('w', 3)",
        "m.add_module('w', lib.ones(1))",
        "m.register_module('w', 'x')",
        "Forgot(nn.Parameter(lib.ones(1)))",
        "Forgot(nn.Linear(1, 1))",
        "Forgot(3).register_buffer('x', None)",
        "Forgot(3).register_parameter('x', None)",
        "nn.Module(3)",
        "nn.Module(3, 4)",
        "nn.Module(a=3)",
        "nn.Module()(3)",
        "nn.ModuleList()(3)",
        "m.get_submodule('body.7')",
        "m.get_submodule('head.weight')",
        "m.get_parameter('head.nothing')",
        "m.get_parameter('head')",
        "m.get_parameter('nothing.weight')",
        "m.get_buffer('head.weight')",
        "m.get_buffer('head.nothing')",
        "m.train(1)",
        "m.to(lib.int64)",
        "m.body[3]",
        "m.body[-4]",
        "m.body[7] = nn.ReLU()",
        "m.body.insert(9, nn.ReLU())",
        "m.body.insert(0, 3)",
        "m.body.append(3)",
        "m.body + [nn.ReLU()]",
        "m.body * 1.5",
        "m.body * 0",
        "nn.Sequential(3)",
        "nn.Sequential(nn.ReLU)",
        "m.blocks[3]",
        "m.blocks[-4]",
        "m.blocks.extend(3)",
        "m.blocks.append(3)",
        "m.named['c']",
        "m.named.update(3)",
        "m.named.update([3])",
        "m.named.update([(1, 2, 3)])",
        "m.named['x.y'] = nn.ReLU()",
        "nn.ParameterList([lib.ones(1)])[1]",
        "nn.ParameterList().extend(3)",
        "nn.ParameterList()(3)",
        "nn.ParameterDict({3: lib.ones(1)})",
        "nn.ParameterDict()(3)",
        "nn.Parameter([1.0])",
        "nn.Parameter(lib.ones(2, dtype=lib.int64))",
        "nn.Parameter(lib.ones(2, dtype=lib.bool))",
        "nn.Dropout(1.5)",
        "nn.Dropout(-0.1)",
        "nn.functional.dropout(lib.ones(1), 2)",
        "m.load_state_dict(3)",
        "m.load_state_dict([])",
        "m.load_state_dict({})",
        "m.load_state_dict({**m.state_dict(), 'x': 3, 'body.0.y': 4, 'body.9.z.w': 5})",
        "m.load_state_dict({**m.state_dict(), 'head.weight': lib.ones(2, 3)})",
        "m.load_state_dict({**m.state_dict(), 'head.weight': lib.ones(2, 3), 'head.x': 1}, strict=False)",
        "m.load_state_dict({**m.state_dict(), 'head.weight': np.ones((1, 3))})",
        "s = m.state_dict(); del s['head.bias'], s['body.2.mean']; s['q'] = 1; s['head.weight'] = lib.ones(3); "
        "m.load_state_dict(s)",
    ],
)
def test_errors(statement: str) -> None:
    same_error(broken(statement))


def test_attributes_change_their_kind() -> None:
    def program(lib: Any) -> Any:
        nn = lib.nn
        module = nn.Module()
        kinds = []

        def note() -> None:
            places = ("_parameters", "_buffers", "_modules")
            kinds.append([[name for name in getattr(module, place)] for place in places] + ["x" in vars(module)])

        for value in (3, nn.ReLU(), None, nn.Tanh(), nn.Parameter(lib.ones(2)), None):
            module.x = value
            note()
        del module.x
        note()
        module.register_buffer("x", lib.ones(1), persistent=False)
        note()
        module.x = lib.zeros(2)
        module.x = None
        note()
        module.x = nn.Parameter(lib.ones(2))
        note()
        kinds.append(list(module.state_dict()))
        del module.x
        module.x = nn.Buffer(lib.ones(2))
        module.y = nn.Buffer(lib.ones(2), persistent=False)
        note()
        kinds.append(list(module.state_dict()))
        return kinds

    same(program)


def test_loading_into_another_model() -> None:
    def program(lib: Any) -> Any:
        first, second = model_of(lib), model_of(lib)
        with lib.no_grad():
            for parameter in first.parameters():
                parameter.mul_(2)
        before = [id(p) for p in second.parameters()]
        result = second.load_state_dict(first.state_dict())
        assert before == [id(p) for p in second.parameters()]
        partial = second.load_state_dict({"head.bias": lib.zeros(1), "x": 1}, strict=False)
        return [repr(result), str(result), repr(partial), partial.missing_keys, dict(second.state_dict())]

    same(program)


def test_loading_casts_and_assigns() -> None:
    def program(lib: Any) -> Any:
        layer, other = lib.nn.Linear(2, 2), lib.nn.Linear(2, 2).double()
        layer.load_state_dict(other.state_dict())
        first = str(layer.weight.dtype)
        layer.weight.requires_grad_(False)
        layer.load_state_dict(other.state_dict(), assign=True)
        shared = layer.weight.data_ptr() == other.weight.data_ptr()
        return [first, str(layer.weight.dtype), shared, layer.weight.requires_grad, type(layer.weight).__name__]

    same(program)


def test_state_goes_from_one_library_to_the_other() -> None:
    theirs, ours = model_of(torch), model_of(leafgrad)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(1)
    ours.load_state_dict({k: leafgrad.from_numpy(v.numpy()) for k, v in theirs.state_dict().items()})
    check_equal(dict(ours.state_dict()), dict(theirs.state_dict()))
    theirs.load_state_dict({k: torch.from_numpy(v.numpy()) * 2 for k, v in ours.state_dict().items()})


def test_state_dict_shares_memory() -> None:
    def program(lib: Any) -> Any:
        layer = lib.nn.Linear(2, 2)
        state = layer.state_dict()
        state["weight"].zero_()
        kept = layer.state_dict(keep_vars=True)
        return [layer.weight, state["weight"].requires_grad, kept["weight"] is layer.weight]

    same(program)


def test_extra_state_and_hooks_of_state() -> None:
    def program(lib: Any) -> Any:
        seen: list[Any] = []

        class Counting(lib.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                super().__init__()
                self.count = 0
                self.linear = lib.nn.Linear(1, 1)

            def get_extra_state(self) -> Any:
                return {"count": self.count}

            def set_extra_state(self, state: Any) -> None:
                self.count = state["count"]

        one, two = Counting(), Counting()
        one.count = 5
        one.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append(("pre", prefix, keep_vars)))
        one.register_state_dict_post_hook(lambda module, state, prefix, metadata: seen.append((prefix, metadata)))
        two.register_load_state_dict_pre_hook(lambda module, state, *rest: seen.append((module is two, list(state))))
        handle = two.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        state = one.state_dict()
        two.load_state_dict(state)
        del state["linear.weight"]
        two.load_state_dict(state)
        handle.remove()
        try:
            two.load_state_dict(state)
        except RuntimeError as error:
            seen.append(str(error))
        return [two.count, seen]

    same(program)


def test_hooks_of_forward() -> None:
    def program(lib: Any) -> Any:
        seen: list[Any] = []
        layer = lib.nn.Identity()
        x = lib.ones(2)
        handles = [
            layer.register_forward_pre_hook(lambda module, args: seen.append(("pre", len(args)))),
            layer.register_forward_pre_hook(lambda module, args: args[0] * 2),
            layer.register_forward_pre_hook(lambda module, args: seen.append("first"), prepend=True),
            layer.register_forward_hook(lambda module, args, out: seen.append(out.tolist())),
            layer.register_forward_hook(lambda module, args, out: out + 1),
            layer.register_forward_hook(
                lambda module, args, kwargs, out: seen.append((out.tolist(), sorted(kwargs))), with_kwargs=True
            ),
            layer.register_forward_hook(lambda module, args, out: seen.append("before all"), prepend=True),
        ]
        seen.append(layer(x).tolist())
        for handle in handles:
            handle.remove()
        seen.append(layer(x).tolist())
        with layer.register_forward_hook(lambda module, args, out: out * 10):
            seen.append(layer(x).tolist())
        seen.append(layer(x).tolist())
        return seen

    same(program)


def test_hooks_with_keywords_and_errors() -> None:
    def program(lib: Any) -> Any:
        seen: list[Any] = []

        class Failing(lib.nn.Module):  # type: ignore[name-defined, misc]
            def forward(self, x: Any, fail: bool = False) -> Any:
                if fail:
                    raise ValueError("as told")
                return x

        layer = Failing()
        layer.register_forward_pre_hook(lambda m, args, kwargs: (args, {"fail": not kwargs["fail"]}), with_kwargs=True)
        layer.register_forward_hook(lambda m, args, out: seen.append(("always", out)), always_call=True)
        layer.register_forward_hook(lambda m, args, out: seen.append(("sometimes", out)))
        for fail in (True, False):
            try:
                layer(1, fail=fail)
            except ValueError as error:
                seen.append(str(error))
        layer.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
        try:
            layer(1, fail=True)
        except RuntimeError as error:
            seen.append(str(error))
        return seen

    same(program)


def test_casting_keeps_the_parameters() -> None:
    def program(lib: Any) -> Any:
        model = model_of(lib)
        model.register_buffer("steps", lib.zeros(1, dtype=lib.int64))
        (model(lib.randn(2, 4)) ** 2).sum().backward()
        before = [id(p) for p in model.parameters()]
        found = []
        for cast in (
            lambda m: m.double(), lambda m: m.half(), lambda m: m.float(), lambda m: m.to(lib.float64),
            lambda m: m.to("cpu"), lambda m: m.to(lib.ones(1)), lambda m: m.to("cpu", lib.float64),
            lambda m: m.bfloat16(), lambda m: m.to(device="cpu", dtype=lib.float32), lambda m: m.type(lib.float64),
        ):  # fmt: skip
            assert cast(model) is model
            tensors = [*model.parameters(), *model.buffers(), *[p.grad for p in model.parameters()]]
            found.append([str(t.dtype) for t in tensors])
        assert before == [id(p) for p in model.parameters()]
        return found

    same(program)


def test_zero_grad() -> None:
    def program(lib: Any) -> Any:
        model = model_of(lib)
        model(lib.ones(2, 4)).sum().backward()
        model.zero_grad(set_to_none=False)
        zeros = [p.grad for p in model.parameters()]
        model.zero_grad()
        return [zeros, [p.grad is None for p in model.parameters()]]

    same(program)


def test_apply_visits_children_first() -> None:
    def program(lib: Any) -> Any:
        seen: list[str] = []
        model_of(lib).apply(lambda module: seen.append(type(module).__name__))
        return seen

    same(program)


def test_copies() -> None:
    def program(lib: Any) -> Any:
        model = model_of(lib)
        model(lib.ones(2, 4)).sum().backward()
        twin = copy.deepcopy(model)
        with lib.no_grad():
            twin.head.weight.zero_()
        return [
            model.head.weight, twin.head.weight, twin.head.weight.grad is None, repr(twin) == repr(model),
            twin.body[2].linear is twin.body[2].tied, twin.head.weight is not model.head.weight,
        ]  # fmt: skip

    same(program)


# -- containers -------------------------------------------------------------------------------------------------------


SEQUENTIALS: list[str] = [
    "s.append(nn.Tanh())",
    "s.insert(1, nn.Tanh())",
    "s.insert(-1, nn.Tanh())",
    "s.extend([nn.Tanh(), nn.ReLU()])",
    "s.pop(1)",
    "s.pop(-1)",
    "del s[0]",
    "del s[-1]",
    "del s[1:]",
    "s[1] = nn.Tanh()",
    "s[-1] = nn.Tanh()",
    "s = s[1:]",
    "s = s[::2]",
    "s = s[:-1]",
    "s += nn.Sequential(nn.Tanh())",
    "s = s + nn.Sequential(nn.Tanh())",
    "s = s * 2",
    "s = 2 * s",
    "s *= 3",
]


@pytest.mark.parametrize("statement", SEQUENTIALS)
def test_changing_a_sequential(statement: str) -> None:
    def program(lib: Any) -> Any:
        nn = lib.nn
        names = {"nn": nn, "s": nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))}
        exec(statement, names)
        s = names["s"]
        return [repr(s), len(s), [type(module).__name__ for module in s], [name for name, _ in s.named_parameters()]]

    same(program)


LISTS: list[str] = [
    "s.append(nn.Tanh())",
    "s.insert(1, nn.Tanh())",
    "s.extend([nn.Tanh(), nn.ReLU()])",
    "s.extend(nn.ModuleList([nn.Tanh()]))",
    "s.pop(1)",
    "del s[0]",
    "del s[-1]",
    "del s[1:]",
    "s[1] = nn.Tanh()",
    "s[-1] = nn.Tanh()",
    "s = s[1:]",
    "s = s[::2]",
    "s += [nn.Tanh()]",
    "s = s + [nn.Tanh()]",
    "s = s + nn.ModuleList([nn.Tanh()])",
]


@pytest.mark.parametrize("statement", LISTS)
def test_changing_a_module_list(statement: str) -> None:
    def program(lib: Any) -> Any:
        nn = lib.nn
        names = {"nn": nn, "s": nn.ModuleList([nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)])}
        exec(statement, names)
        s = names["s"]
        return [repr(s), len(s), [type(module).__name__ for module in s], [name for name, _ in s.named_parameters()]]

    same(program)


def test_module_dict() -> None:
    def program(lib: Any) -> Any:
        nn = lib.nn
        d = nn.ModuleDict([("a", nn.ReLU()), ("b", nn.Linear(1, 1))])
        d["c"] = nn.Tanh()
        d.update({"d": nn.Sigmoid()})
        d.update(nn.ModuleDict({"e": nn.Sigmoid()}))
        popped = type(d.pop("a")).__name__
        del d["c"]
        found = [popped, len(d), list(d), list(d.keys()), [k for k, _ in d.items()], "b" in d, "a" in d]
        names = [type(module).__name__ for module in d.values()]
        d.clear()
        return [found, names, len(d)]

    same(program)


def test_parameter_containers() -> None:
    def program(lib: Any) -> Any:
        nn = lib.nn
        values = nn.ParameterList([lib.ones(1), nn.Parameter(lib.zeros(2))])
        values.append(lib.ones(3))
        values += [lib.ones(4)]
        values[0] = lib.zeros(5)
        named = nn.ParameterDict({"x": lib.ones(1)})
        named["y"] = lib.ones(2)
        popped = named.pop("x")
        lists = [len(values), [n for n, _ in values.named_parameters()], list(values), list(values[1:]), values[-1]]
        return [lists, popped, list(named), list(named.keys()), list(named.values()), named.get("z"), "y" in named]

    same(program)


# -- functions --------------------------------------------------------------------------------------------------------


def close(program: Callable[[Any], Any]) -> None:
    ours, theirs = (program(library) for library in LIBRARIES)
    np.testing.assert_allclose(values(ours), values(theirs), rtol=1e-6, atol=3e-7)


@pytest.mark.parametrize("name", ["ReLU", "Tanh", "Sigmoid", "Softmax", "LogSoftmax"])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5)])
def test_activations(name: str, shape: tuple[int, ...]) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(1)
        layer = getattr(lib.nn, name)(dim=-1) if "oft" in name else getattr(lib.nn, name)()
        x = lib.randn(shape, requires_grad=True)
        y = layer(x)
        (y * lib.randn(shape)).sum().backward()
        return lib.stack([y, x.grad])

    close(program)


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (2, 3, 4, 5)])
def test_softmax_warns_of_an_implicit_dimension(name: str, shape: tuple[int, ...]) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(1)
        with pytest.warns(UserWarning, match="Implicit dimension choice for (log_)?softmax has been deprecated"):
            return getattr(lib.nn, name)()(lib.randn(shape))

    close(program)


def test_relu_in_place() -> None:
    def program(lib: Any) -> Any:
        x = lib.arange(-3.0, 3.0)
        y = lib.nn.ReLU(inplace=True)(x)
        z = lib.nn.functional.relu(lib.arange(-3.0, 3.0), inplace=True)
        return [x, y is x, z]

    same(program)


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_elementwise_losses(name: str, reduction: str) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(1)
        x = lib.randn(4, 3, requires_grad=True)
        loss = getattr(lib.nn, name)(reduction=reduction)(x, lib.randn(4, 3))
        loss.sum().backward()
        return lib.cat([loss.reshape(-1), x.grad.reshape(-1)])

    close(program)


@pytest.mark.parametrize("name", ["NLLLoss", "CrossEntropyLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignore_index", [-100, 1])
def test_class_losses(name: str, reduction: str, weighted: bool, ignore_index: int) -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(1)
        x = lib.randn(6, 3, requires_grad=True)
        weight = lib.rand(3) if weighted else None
        criterion = getattr(lib.nn, name)(weight, ignore_index=ignore_index, reduction=reduction)
        loss = criterion(x.log_softmax(1), lib.randint(0, 3, (6,)))
        loss.sum().backward()
        return lib.cat([loss.reshape(-1), x.grad.reshape(-1)])

    close(program)


def test_label_smoothing_and_probabilities() -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(1)
        x = lib.randn(6, 3)
        one = lib.nn.CrossEntropyLoss(label_smoothing=0.1)(x, lib.randint(0, 3, (6,)))
        two = lib.nn.CrossEntropyLoss()(x, lib.rand(6, 3).softmax(1))
        return lib.stack([one, two])

    close(program)


def test_losses_have_a_weight_in_their_state() -> None:
    same(lambda lib: list(lib.nn.CrossEntropyLoss(lib.ones(3)).state_dict()))
    same(lambda lib: list(lib.nn.CrossEntropyLoss().state_dict()))


def test_old_reduction_arguments() -> None:
    for arguments in ({"size_average": False}, {"reduce": False}, {"size_average": True, "reduce": True}):

        def program(lib: Any, arguments: dict[str, bool] = arguments) -> Any:
            with pytest.warns(UserWarning, match="please use reduction='"):
                return [lib.nn.MSELoss(**arguments).reduction, lib.nn.CrossEntropyLoss(**arguments).reduction]

        same(program)


def test_embedding_and_one_hot() -> None:
    def program(lib: Any) -> Any:
        lib.manual_seed(0)
        index = lib.randint(0, 4, (2, 3))
        return [lib.nn.functional.embedding(index, lib.randn(4, 2)), lib.nn.functional.one_hot(index)]

    same(program)


def test_flatten_and_identity() -> None:
    def program(lib: Any) -> Any:
        x = lib.arange(24.0).reshape(2, 3, 4)
        return [lib.nn.Flatten()(x), lib.nn.Flatten(0, 1)(x), lib.nn.Flatten(0)(x), lib.nn.Identity(1, a=2)(x)]

    same(program)


# -- utilities --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf"), 3.0, 0.5])
@pytest.mark.parametrize("max_norm", [0.1, 1e6])
def test_clipping_by_norm(norm_type: float, max_norm: float) -> None:
    def program(lib: Any) -> Any:
        model = model_of(lib)
        model(lib.randn(5, 4)).sum().backward()
        total = lib.nn.utils.clip_grad_norm_(model.parameters(), max_norm, norm_type)
        return lib.cat([total.reshape(1), *[p.grad.reshape(-1) for p in model.parameters()]])

    ours, theirs = (values(program(library)) for library in LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-7)


def test_other_clipping() -> None:
    def program(lib: Any) -> Any:
        p = lib.nn.Parameter(lib.ones(3))
        p.grad = lib.tensor([-3.0, 0.5, 2.0])
        lib.nn.utils.clip_grad_value_([p], 1.0)
        clipped = p.grad.clone()
        norm = lib.nn.utils.clip_grad_norm_(p, 0.5)
        empty = lib.nn.utils.clip_grad_norm_([lib.nn.Parameter(lib.ones(1))], 1.0)
        return [clipped, norm, empty, lib.nn.utils.get_total_norm([p.grad * 0])]

    same(program)

    def infinite(lib: Any) -> Any:
        p = lib.nn.Parameter(lib.ones(3))
        p.grad = lib.tensor([float("inf"), 0.5, 2.0])
        lib.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)

    same_error(infinite)


def test_parameters_as_a_vector() -> None:
    def program(lib: Any) -> Any:
        model = model_of(lib)
        vector = lib.nn.utils.parameters_to_vector(model.parameters())
        lib.nn.utils.vector_to_parameters(vector * 2, model.parameters())
        return [vector, list(model.parameters())]

    same(program)
    same_error(lambda lib: lib.nn.utils.vector_to_parameters([1.0], []))


# -- signatures -------------------------------------------------------------------------------------------------------


def test_constructors_take_the_same_arguments() -> None:
    for name in leafgrad.nn.__all__:
        ours, theirs = getattr(leafgrad.nn, name), getattr(torch.nn, name)
        if isinstance(ours, type) and name not in ("Parameter", "Buffer", "Identity", "Module", "Sequential"):
            expected = [p for p in inspect.signature(theirs).parameters if p not in ("args", "kwargs")]
            assert list(inspect.signature(ours).parameters) == expected, name


def test_functions_take_the_same_arguments() -> None:
    for module in ("functional", "init", "utils"):
        ours, theirs = getattr(leafgrad.nn, module), getattr(torch.nn, module)
        for name in dir(ours):
            function = getattr(ours, name)
            if inspect.isfunction(function) and not name.startswith("_") and hasattr(theirs, name):
                if inspect.isbuiltin(getattr(theirs, name)):  # written in C: no signature to compare with
                    continue
                expected = list(inspect.signature(getattr(theirs, name)).parameters)
                assert list(inspect.signature(function).parameters) == expected, name
