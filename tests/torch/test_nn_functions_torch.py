"""Initial values, functions, losses and utilities of leafgrad.nn beside those of torch.nn: the same program on either
side, the same numbers and signatures."""

from __future__ import annotations

import inspect
import warnings
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
from both_libraries import LIBRARIES, model_of, same, same_error, values

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


def gradients_of_all_kinds(lib: Any) -> list[Any]:
    """Parameters with gradients of several dtypes and layouts, some of many elements, and one that two share."""
    lib.manual_seed(0)
    shapes = [(3,), (), (0, 2), (70, 50), (3000,), (300, 500)]
    given = [lib.randn(s, dtype=kind) for kind in (lib.float32, lib.float64) for s in shapes]
    given += [lib.randn(4, 6).t(), lib.randn(8)[::2], lib.randn(5).to(lib.float16), lib.randn(2, dtype=lib.complex64)]
    parameters = [lib.nn.Parameter(lib.zeros_like(g)) for g in given]
    for p, g in zip(parameters, given, strict=True):
        p.grad = g
    again = lib.nn.Parameter(lib.zeros(3))
    again.grad = given[0]
    return [*parameters, again]


def test_clipping_of_many_gradients() -> None:
    def by_norm(lib: Any) -> Any:
        parameters = gradients_of_all_kinds(lib)
        versions = [p.grad._version for p in parameters]
        total = lib.nn.utils.clip_grad_norm_(parameters, 2.0)
        changes = [p.grad._version - v for p, v in zip(parameters, versions, strict=True)]
        return [total, lib.tensor(changes), *[p.grad.resolve_conj() for p in parameters]]

    def by_value(lib: Any) -> Any:
        parameters = [p for p in gradients_of_all_kinds(lib) if not p.is_complex()]
        parameters[3].grad[0, 0] = float("nan")
        parameters[3].grad[0, 1] = float("inf")
        lib.nn.utils.clip_grad_value_(parameters, 0.25)
        found = [p.grad.clone() for p in parameters]
        lib.nn.utils.clip_grad_value_(parameters, -0.1)
        return [*found, *[p.grad for p in parameters]]

    for ours, theirs in zip(*[by_norm(library) for library in LIBRARIES], strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(values(ours), values(theirs), rtol=1e-6)
    same(by_value)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf"), 0.0])
def test_total_norm_is_real(norm_type: float) -> None:
    def program(lib: Any) -> Any:
        mixed = [lib.tensor([3 + 4j, 1j]), lib.tensor([1.0, -2.0])]
        halves = [lib.tensor([3.0, 4.0], dtype=lib.float16), lib.tensor([5.0], dtype=lib.float16)]
        return [lib.nn.utils.get_total_norm(tensors, norm_type) for tensors in (mixed, halves)]

    same(program)


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
            found, expected = [
                [p for p in inspect.signature(one).parameters if p not in ("args", "kwargs")] for one in (ours, theirs)
            ]
            assert found == expected or not expected, name  # some of PyTorch's take whatever they are given


def test_functions_take_the_same_arguments() -> None:
    for module in ("functional", "init", "utils"):
        ours, theirs = getattr(leafgrad.nn, module), getattr(torch.nn, module)
        for name in dir(ours):
            function = getattr(ours, name)
            if inspect.isfunction(function) and not name.startswith("_") and hasattr(theirs, name):
                if inspect.isbuiltin(getattr(theirs, name)):  # written in C: no signature to compare with
                    continue
                expected = list(inspect.signature(getattr(theirs, name)).parameters)
                if expected != ["args", "kwargs"]:  # as those that choose among several functions
                    assert list(inspect.signature(function).parameters) == expected, name
