"""Modules and containers of leafgrad.nn beside those of torch.nn: the same program on either side, the same numbers,
printed forms and errors."""

from __future__ import annotations

import copy
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
from both_libraries import LIBRARIES, check_equal, model_of, same, same_error, values

# -- modules ----------------------------------------------------------------------------------------------------------


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
