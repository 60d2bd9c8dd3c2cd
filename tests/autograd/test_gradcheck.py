"""gradcheck and gradgradcheck find what is wrong with a gradient, and only that."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.autograd import Function, gradcheck, gradgradcheck
from leafgrad.autograd.gradcheck import GradcheckError

both_modes = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


def real(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def complex_numbers(*values: complex) -> Any:
    return torch.tensor(values, dtype=torch.complex128, requires_grad=True)


def squaring(
    backward: Callable[[Any, Any], Any], jvp: Callable[[Any, Any], Any] | None = None, materialize: bool = True
) -> Any:
    """x * x, with a rule of one's own: backward(x, g), jvp(x, t)."""

    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return backward(x, g)

    if jvp is not None:
        Square.jvp = staticmethod(lambda ctx, t: jvp(ctx.saved_tensors[0], t))  # type: ignore[assignment]
    return Square.apply


right = squaring(lambda x, g: g * 2 * x.conj(), lambda x, t: 2 * x * t)
too_large = squaring(lambda x, g: g * 3 * x.conj())


# -- what is right ----------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    "function, inputs",
    [
        (right, [real(1.0, -2.0)]),
        (right, [complex_numbers(1 + 1j, -2j)]),
        (lambda a, b: a @ b, [real(1.0, 2.0, 3.0), real(0.5, -1.0, 2.0)]),
        (lambda a, b: (a * b.sum(), b.exp()), [real(1.0, 2.0), complex_numbers(0.5j)]),
        (lambda z: (z.abs(), z.real * z.imag), [complex_numbers(1 + 2j, -1 - 1j)]),
        (lambda a: torch.complex(a.sin(), a.cos()), [real(0.3, 2.0)]),
        (lambda a: a.sort(), [real(3.0, 1.0, 2.0)]),
        (lambda a, n, i: a[i] * n, [real(3.0, 1.0, 2.0), 2.5, torch.tensor([2, 2, 0])]),
        (lambda a: a.t(), [torch.arange(6.0, dtype=torch.float64).reshape(2, 3).t().requires_grad_()]),
        (lambda a: a * 2, [torch.ones(0, 3, dtype=torch.float64, requires_grad=True)]),
        (lambda a: a, [real(1.0)]),
        (lambda a: torch.ones(3), [real(1.0)]),
    ],
)
def test_right_gradients_pass(function: Any, inputs: list[Any], fast_mode: bool) -> None:
    before = [x.detach().clone() for x in inputs if isinstance(x, torch.Tensor)]
    assert gradcheck(function, inputs, fast_mode=fast_mode) is True
    assert gradcheck(function, tuple(inputs), fast_mode=fast_mode, check_forward_ad=True)
    for x, old in zip([x for x in inputs if isinstance(x, torch.Tensor)], before, strict=True):
        assert torch.equal(x.detach(), old), "an input was changed"
        assert x.grad is None
        assert x._version == 0


@both_modes
def test_right_second_gradients_pass(fast_mode: bool) -> None:
    for function in (lambda a: a.sin() * a, lambda a: a * 2, lambda a: (a**3, a.sum()), right):
        for x in (real(0.5, 2.0), complex_numbers(0.5 + 1j, 2.0)):
            assert gradgradcheck(function, (x,), fast_mode=fast_mode)
            assert gradgradcheck(function, (x,), fast_mode=fast_mode, gen_non_contig_grad_outputs=True)
            assert gradgradcheck(function, (x,), fast_mode=fast_mode, check_fwd_over_rev=True, check_batched_grad=True)


# -- what is wrong ----------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    "function, x, label",
    [
        (too_large, real(1.0, -2.0), "Jacobian mismatch for output 0 with respect to input 0"),
        (lambda a: (a * 2, too_large(a)), real(1.0), "Jacobian mismatch for output 1"),
        (too_large, complex_numbers(1 + 1j), "While considering the imaginary part of complex outputs only, Jacobian"),
        (lambda a: torch.complex(too_large(a), a), real(1.0), "While considering the real part of complex outputs onl"),
        (squaring(lambda x, g: None), real(1.0), "Jacobian mismatch"),
        (squaring(lambda x, g: g * 2 * x), complex_numbers(1 + 1j), "Jacobian mismatch"),
        (lambda a: a.detach() * 2, real(1.0), "Numerical gradient for function expected to be zero"),
        (squaring(lambda x, g: g * 2 * x + 1e-9), real(1.0), "backward not multiplied by grad_output"),
    ],
)
def test_wrong_gradients_fail(function: Any, x: Any, label: str, fast_mode: bool) -> None:
    with pytest.raises(GradcheckError, match=label):
        gradcheck(function, (x,), fast_mode=fast_mode)
    assert gradcheck(function, (x,), fast_mode=fast_mode, raise_exception=False) is False


@both_modes
def test_wrong_second_gradients_fail(fast_mode: bool) -> None:
    torch.manual_seed(0)  # the fast mode compares along random directions, and some of them hide a mistake
    half = squaring(lambda x, g: g * (x + x.detach()))
    assert gradcheck(half, (real(1.0, 2.0),), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(half, (real(1.0, 2.0),), fast_mode=fast_mode)
    assert not gradgradcheck(half, (real(1.0, 2.0),), fast_mode=fast_mode, raise_exception=False)
    with pytest.raises(GradcheckError, match="Numerical gradient"):
        gradgradcheck(lambda a: a.detach(), (real(1.0),), fast_mode=fast_mode)


@both_modes
def test_wrong_forward_mode_fails(fast_mode: bool) -> None:
    wrong = squaring(lambda x, g: g * 2 * x.conj(), lambda x, t: 3 * x * t)
    assert gradcheck(wrong, (real(1.0),), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(wrong, (real(1.0),), check_forward_ad=True, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex inputs only, Jacobian"):
        gradcheck(wrong, (complex_numbers(1.0 + 1j),), check_forward_ad=True, fast_mode=fast_mode)
    always_one = squaring(lambda x, g: g * 2 * x, lambda x, t: 2 * x * t if t.abs().sum() > 0 else torch.ones_like(x))
    with pytest.raises(GradcheckError, match="tangent"):
        gradcheck(always_one, (real(1.0),), check_forward_ad=True, fast_mode=fast_mode)
    assert gradcheck(always_one, (real(1.0),), check_forward_ad=True, check_undefined_grad=False)


@both_modes
def test_a_rule_that_cannot_be_run_in_batches_fails(fast_mode: bool) -> None:
    one_by_one = squaring(lambda x, g: torch.tensor(g.tolist(), dtype=torch.float64) * 2 * x)
    assert gradcheck(one_by_one, (real(1.0),), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="While computing batched gradients, got"):
        gradcheck(one_by_one, (real(1.0),), check_batched_grad=True, fast_mode=fast_mode)
    assert gradcheck(right, (real(1.0),), check_batched_grad=True, fast_mode=fast_mode)
    assert gradcheck(torch.sin, (real(1.0),), check_forward_ad=True, check_batched_forward_grad=True)


@both_modes
def test_a_backward_pass_must_give_the_same_twice(fast_mode: bool) -> None:
    calls = [0]

    def drifting(x: Any, g: Any) -> Any:
        calls[0] += 1
        return g * x * (2 + 1e-8 * calls[0])

    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(squaring(drifting), (real(1.0),), fast_mode=fast_mode)
    assert gradcheck(squaring(drifting), (real(1.0),), fast_mode=fast_mode, nondet_tol=1e-3)


def test_a_function_must_deal_with_missing_gradients() -> None:
    ones = squaring(lambda x, g: torch.ones_like(x) if g is None else g * 2 * x, materialize=False)
    with (
        pytest.warns(UserWarning, match="undefined gradient support"),
        pytest.raises(GradcheckError, match="Expected all"),
    ):
        gradcheck(ones, (real(1.0),))
    assert gradcheck(ones, (real(1.0),), check_undefined_grad=False)

    def refusing(x: Any, g: Any) -> Any:
        if g is None:
            raise RuntimeError("no gradient")
        return g * 2 * x

    refuses = squaring(refusing, materialize=False)
    with (
        pytest.warns(UserWarning),
        pytest.raises(GradcheckError, match="Expected backward function to handle undefined"),
    ):
        gradcheck(lambda a: refuses(a) + 1, (real(1.0),))
    assert gradcheck(refuses, (real(1.0),), check_undefined_grad=False)


# -- what it says -----------------------------------------------------------------------------------------------------


def test_the_message_shows_both_jacobians_and_where_they_differ() -> None:
    x = real(1.0, 2.0)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda a: torch.stack([a[0] ** 2, too_large(a[1])]), (x,))
    text = str(caught.value)
    assert "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 4.0000]]" in text
    assert "analytical:tensor([[2., 0.],\n        [0., 6.]]" in text
    assert "d output[1] / d input[1] is 4.0" in text and "not 6.0" in text
    assert "'x', shape [2]" in text
    assert "test_gradcheck.py" in text


def test_fast_mode_shows_them_too() -> None:
    with pytest.raises(GradcheckError) as caught:
        gradcheck(too_large, (real(1.0, 2.0),), fast_mode=True)
    text = str(caught.value)
    assert "Numerical:\n tensor([[2.0000, 0.0000]," in text
    assert "Analytical:\ntensor([[3., 0.]," in text
    assert re.search(r"The max per-element difference \(slow mode\) is: (2\.000|1\.999)", text)


def test_errors_that_cancel_are_no_failure_in_slow_mode_only() -> None:
    slightly = torch.tensor([[1.0009, 0.9991]], dtype=torch.float64)

    class Difference(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 1e6 * (x[:1] - x[1:])

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (torch.tensor([1e6, -1e6], dtype=torch.float64) * slightly[0]) * g

    assert gradcheck(Difference.apply, (real(1.0, 2.0),))
    with pytest.raises(GradcheckError, match="element-wise differences are small"):
        gradcheck(Difference.apply, (real(1.0, 2.0),), fast_mode=True)


# -- arguments --------------------------------------------------------------------------------------------------------


def test_tolerances() -> None:
    x = real(1.0, -2.0)
    assert gradcheck(too_large, (x,), atol=3.0)
    assert gradcheck(too_large, (x,), rtol=0.6)
    assert not gradcheck(too_large, (x,), rtol=0.4, raise_exception=False)
    assert not gradcheck(lambda a: a**3, (x,), eps=0.1, raise_exception=False)
    # sums over n * n numbers may be wrong by so much more
    many = torch.ones(30, dtype=torch.float64, requires_grad=True)
    shifted = squaring(lambda x, g: g * 2 * x + g.sum() * 9e-6)
    assert gradcheck(shifted, (many,), rtol=0, fast_mode=True)
    assert not gradcheck(shifted, (many,), rtol=0, atol=8e-6, fast_mode=True, raise_exception=False)


def test_nan_is_never_right() -> None:
    assert not gradcheck(lambda a: a * float("nan"), (real(1.0),), raise_exception=False)
    assert not gradcheck(squaring(lambda x, g: g * float("nan")), (real(1.0),), raise_exception=False, nondet_tol=1)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (
            lambda x: gradcheck(torch.sin, (x.detach(),)),
            ValueError,
            "expects at least one input tensor to require grad",
        ),
        (lambda x: gradcheck(torch.sin, ()), ValueError, "expects at least one input tensor to require grad"),
        (lambda x: gradcheck(torch.sin, (x, x), 1e-6), TypeError, "positional"),
        (
            lambda x: gradcheck(torch.sin, (x,), check_backward_ad=False),
            AssertionError,
            "Expected at least one of check",
        ),
        (
            lambda x: gradcheck(
                torch.sin, (x,), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True
            ),
            AssertionError,
            "Setting check_batched_grad=True requires check_backward_ad",
        ),
        (
            lambda x: gradcheck(torch.sin, (x,), check_batched_forward_grad=True),
            AssertionError,
            "Setting check_batched_forward_grad=True requires check_forward_ad",
        ),
        (
            lambda x: gradgradcheck(torch.sin, (x,), check_rev_over_rev=False),
            AssertionError,
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev",
        ),
        (
            lambda x: gradcheck(torch.sin, (x.detach()[:1].expand(3).requires_grad_(),)),
            RuntimeError,
            "The 0th input has a dimension with stride 0",
        ),
        (lambda x: gradcheck(lambda a: a.mul_(2), (x,)), RuntimeError, "a leaf Variable that requires grad"),
        (lambda x: gradcheck(lambda a: 1.0, (x,)), AttributeError, "requires_grad"),
        (lambda x: gradgradcheck(torch.sin, (x,), (x, x)), RuntimeError, "got 1 tensors and 2 gradients"),
    ],
)
def test_mistakes_are_errors_even_if_failures_are_not(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(real(1.0, 2.0))


def test_single_precision_gives_a_warning() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    with pytest.warns(UserWarning, match="Input #1 requires gradient and is not a double precision") as caught:
        gradcheck(lambda a, b: a * b, (real(1.0), x), atol=1.0)
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradcheck(lambda a, b: a * b, (real(1.0), x.detach()))


def test_given_gradients_are_used() -> None:
    seen: list[Any] = []

    def function(a: Any) -> Any:
        out = a * a
        out.register_hook(lambda g: seen.append(g.detach().numpy().copy()))
        return out

    start = torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert gradgradcheck(function, (real(1.0, 2.0),), start)
    assert np.array_equal(seen[0], [3.0, 4.0])


def test_random_numbers_of_the_user_are_left_alone() -> None:
    torch.manual_seed(1)
    state = torch.get_rng_state()
    gradcheck(torch.sin, (real(1.0),), fast_mode=True, check_batched_grad=True)
    assert torch.equal(torch.get_rng_state(), state)
