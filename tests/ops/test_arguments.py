"""Arguments are looked at against the declaration: PyTorch's messages, NumPy's names, integers of other kinds."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from argument_cases import CASES, first_line

x = torch.ones(2, 3)


@pytest.mark.parametrize("expression", CASES)
def test_message(expression: str) -> None:
    assert first_line(expression, torch, np) == CASES[expression]


def test_forms_are_listed() -> None:
    with pytest.raises(TypeError) as found:
        torch.sum(x, dim="rows")
    assert str(found.value).split("\n")[1:3] == [
        " * (Tensor input, *, torch.dtype dtype = None, Tensor out = None)",
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)",
    ]


def test_names_of_numpy() -> None:
    assert torch.softmax(x=x, axis=1).tolist() == x.softmax(1).tolist()
    assert x.sum(axis=1, keepdims=True).shape == (2, 1) == torch.amax(a=x, axis=(1,), keepdims=True).shape
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        x.cumsum(0, axis=0)


@pytest.mark.parametrize("one", [np.int64(1), torch.tensor(1)], ids=["NumPy", "tensor"])
def test_integers_of_other_kinds(one: Any) -> None:
    assert x.cumsum(one).tolist() == x.cumsum(1).tolist()
    assert x.sum((0, one)).tolist() == 6.0


def test_a_subclass_and_out() -> None:
    parameter, out = torch.nn.Parameter(x.clone()), torch.empty(2, 3)
    assert torch.softmax(parameter, 1).requires_grad
    assert torch.softmax(x, 1, out=out) is out and out.tolist() == x.softmax(1).tolist()


def test_a_function_is_written_once() -> None:
    assert torch.tril(x).tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    before = torch.tril.__code__
    assert torch.tril(x, 1).tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]] and torch.tril.__code__ is before


MATRIX, VECTOR = [[0.0, 1.0], [2.0, 3.0]], [1.0, -2.0]
OLD_FORMS = {
    "addmm": (MATRIX, MATRIX, MATRIX),
    "addmv": (VECTOR, MATRIX, VECTOR),
    "addr": (MATRIX, VECTOR, VECTOR),
    "addbmm": (MATRIX, [MATRIX], [MATRIX]),
    "baddbmm": ([MATRIX], [MATRIX], [MATRIX]),
}


@pytest.mark.parametrize("name", OLD_FORMS)
def test_factors_before_tensors(name: str) -> None:
    """addmm(beta, input, alpha, mat1, mat2), and input.addmm_(beta, alpha, mat1, mat2), as old programs have it."""
    x, a, b = [torch.tensor(values) for values in OLD_FORMS[name]]
    function, method = getattr(torch, name), getattr(torch.Tensor, name)
    in_place = getattr(torch.Tensor, f"{name}_")
    once, twice = function(x, a, b, beta=0.5), function(x, a, b, beta=0.5, alpha=2)
    forms = [(function, (0.5, x), ()), (function, (0.5, x), (2,)), (method, (x, 0.5), ()), (method, (x, 0.5), (2,))]
    forms += [(in_place, (x.clone(), 0.5), ()), (in_place, (x.clone(), 0.5), (2,))]
    for call, first, alpha in forms:
        with pytest.warns(UserWarning, match=f"This overload of {name}_? is deprecated"):
            assert call(*first, *alpha, a, b).tolist() == (twice if alpha else once).tolist()
    for wrong in [lambda: function(0.5, x, a), lambda: function("a", x, a, b), lambda: method(x, 1, 2, 3, a, b)]:
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_a_value_before_tensors(name: str) -> None:
    x, a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), torch.tensor([2.0, 8.0])
    expected = getattr(torch, name)(x, a, b, value=0.5).tolist()
    for call, given in [
        (getattr(torch, name), x),
        (getattr(torch.Tensor, name), x),
        (getattr(torch.Tensor, f"{name}_"), x.clone()),
    ]:
        with pytest.warns(UserWarning, match=f"This overload of {name}_? is deprecated"):
            assert call(given, 0.5, a, b).tolist() == expected


NOT_TENSORS: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("relu", (None,), TypeError, "relu(): argument 'input' (position 1) must be Tensor, not NoneType"),
    ("elu", ([1.0],), TypeError, "elu(): argument 'input' (position 1) must be Tensor, not list"),
    ("dropout", ((1,),), TypeError, "dropout(): argument 'input' (position 1) must be Tensor, not tuple"),
    ("alpha_dropout", (3,), TypeError, "alpha_dropout(): argument 'input' (position 1) must be Tensor, not int"),
    ("kl_div", (3, torch.ones(2)), TypeError, "kl_div(): argument 'input' (position 1) must be Tensor, not int"),
    ("kl_div", (torch.ones(2), 3), TypeError, "kl_div(): argument 'target' (position 2) must be Tensor, not int"),
    ("cross_entropy", (torch.ones(2, 3), 1), TypeError, "cross_entropy_loss(): argument 'target' (position 2) must be"),
    ("unfold", ("x", 2), TypeError, "im2col(): argument 'input' (position 1) must be Tensor, not str"),
    ("mse_loss", (torch.ones(2), 2), AttributeError, "'int' object has no attribute 'size'"),
    ("softmax", ([1.0], 0), AttributeError, "'list' object has no attribute 'softmax'"),
    ("interpolate", (None, 4), AttributeError, "'NoneType' object has no attribute 'dim'"),
    ("adaptive_avg_pool1d", (1, 2), TypeError, "adaptive_avg_pool1d(): argument 'input' (position 1) must be Tensor"),
    ("adaptive_avg_pool2d", (1, 2), AttributeError, "'int' object has no attribute 'size'"),
]


@pytest.mark.parametrize(("name", "arguments", "kind", "words"), NOT_TENSORS)
def test_functions_of_layers_refuse_what_is_no_tensor(
    name: str, arguments: tuple[Any, ...], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        getattr(torch.nn.functional, name)(*arguments)
    assert str(caught.value).startswith(words)


def test_numbers_may_stand_for_targets_where_pytorch_computes_with_them() -> None:
    assert torch.nn.functional.gaussian_nll_loss(torch.ones(2), 1, torch.ones(2)).item() == 0
    assert torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 2), 1).item() > 0


def test_optional_tensors_are_looked_at_as_well() -> None:
    with pytest.raises(TypeError, match=r"^cross_entropy_loss\(\): argument 'weight' \(position 3\) must be Tensor"):
        torch.nn.functional.cross_entropy(torch.ones(1, 2), torch.tensor([1]), [1.0, 2.0])
    with pytest.raises(TypeError, match=r"^cross_entropy_loss\(\): argument 'weight' \(position 3\) must be Tensor"):
        torch.nn.functional.cross_entropy(torch.ones(1, 2), torch.tensor([1]), 2.0)


def test_none_stands_for_all_dimensions_and_for_the_size_of_windows() -> None:
    assert torch.amax(x, None).shape == x.amin(dim=None).shape == ()
    assert x.amax(None, keepdim=True).shape == (1, 1)
    line, plane, space = [torch.ones(1, *[4] * n) for n in (1, 2, 3)]
    for pool, given in ((torch.max_pool1d, line), (torch.max_pool2d, plane[None]), (torch.max_pool3d, space[None])):
        assert set(pool(given, 2, None).shape[-1:]) == {2}
    assert torch.avg_pool1d(line, 2, None).shape == (1, 2)


NEED_A_TENSOR = [
    *["remainder", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "xlogy"],
    *["pow", "special.zeta", "special.xlog1py", "special.chebyshev_polynomial_t", "special.hermite_polynomial_h"],
]


@pytest.mark.parametrize("name", NEED_A_TENSOR)
def test_two_numbers_are_refused(name: str) -> None:
    function = attrgetter(name)(torch)
    with pytest.raises(TypeError, match=r"\(\) received an invalid combination of arguments - got \(int, float\), but"):
        function(6, 3.0)
    assert function(6, torch.tensor(3)).shape == function(torch.tensor(6), 3).shape == ()


@pytest.mark.parametrize(
    "name, wanted",
    [("add", 9), ("sub", 3), ("mul", 18), ("div", 2.0), ("true_divide", 2.0), ("floor_divide", 2)],
)
def test_arithmetic_makes_a_tensor_of_two_numbers(name: str, wanted: Any) -> None:
    assert getattr(torch, name)(6, 3).item() == wanted


def test_div_of_two_numbers_is_rounded() -> None:
    assert torch.div(7, 2, rounding_mode="floor").item() == 3 and torch.div(-7, 2, rounding_mode="trunc").item() == -3


def test_narrow_copy_has_another_error_for_dimensions_than_narrow() -> None:
    with pytest.raises(RuntimeError, match=r"^Expected dim < static_cast<int64_t>\(self_sizes.size\(\)\) to be true"):
        torch.narrow_copy(torch.ones(2, 3), 2, 0, 1)


def test_resize_as_is_a_function_too() -> None:
    x = torch.arange(4)
    assert torch.resize_as_(x, torch.ones(2, 2)) is x and x.tolist() == [[0, 1], [2, 3]]
    image = torch.resize_as_(torch.arange(4), torch.ones(1, 2, 2, 1), memory_format=torch.channels_last)
    assert image.is_contiguous(memory_format=torch.channels_last)
