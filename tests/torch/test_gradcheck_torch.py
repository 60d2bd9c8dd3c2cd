"""gradcheck and gradgradcheck, compared with the installed PyTorch: what they find wrong, and what they say."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest
import torch

import leafgrad
from scenarios import first_sentence


def functions(lib: Any) -> dict[str, Any]:
    """Operations of a user's own, most of them wrong in one way."""

    def doubling(name: str, backward: Any, jvp: Any = None, materialize: bool = True) -> Any:
        """x * 2 with this backward."""

        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2

        members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        if jvp is not None:
            members["jvp"] = staticmethod(jvp)
        return type(name, (lib.autograd.Function,), members).apply

    calls = [0]

    def drifting(ctx: Any, g: Any) -> Any:
        calls[0] += 1
        return g * (2 + 1e-7 * calls[0])

    def raising(kind: type[Exception], when_undefined: bool) -> Any:
        def backward(ctx: Any, g: Any) -> Any:
            if g is None or not when_undefined:
                raise kind("refused")
            return g * 2

        return backward

    class Cube(lib.autograd.Function):  # type: ignore[name-defined, misc]
        """Its gradient is right, the gradient of that is half of what it should be."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x.detach()

    class Pair(lib.autograd.Function):  # type: ignore[name-defined, misc]
        """Two results, whose backward cannot deal with a missing gradient."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g * 2 + h * 3

    right = lambda ctx, g: g * 2
    return {
        "tripled": doubling("Tripled", lambda ctx, g: g * 3),
        "missing": doubling("Missing", lambda ctx, g: None),
        "shifted": doubling("Shifted", lambda ctx, g: g * 2 + 1e-9),
        "drifting": doubling("Drifting", drifting),
        "single": doubling("Single", lambda ctx, g: (g * 2).to(lib.float32)),
        "ones_if_undefined": doubling(
            "Ones", lambda ctx, g: lib.ones(2, dtype=lib.float64) if g is None else g * 2, materialize=False
        ),
        "none_if_undefined": doubling("Nones", lambda ctx, g: None if g is None else g * 2, materialize=False),
        "error_if_undefined": doubling("Errors", raising(RuntimeError, True), materialize=False),
        "type_error_if_undefined": doubling("TypeErrors", raising(TypeError, True), materialize=False),
        "error": doubling("Raises", raising(ValueError, False)),
        "wrong_forward": doubling("WrongForward", right, jvp=lambda ctx, t: t * 3),
        "right_forward": doubling("RightForward", right, jvp=lambda ctx, t: t * 2),
        "wrong_both": doubling("WrongBoth", lambda ctx, g: g * 3, jvp=lambda ctx, t: t * 4),
        "no_forward": doubling("NoForward", right),
        "no_batches": doubling("NoBatches", lambda ctx, g: lib.tensor((g * 2).tolist(), dtype=lib.float64)),
        "cube": Cube.apply,
        "pair": Pair.apply,
    }


def names(lib: Any) -> dict[str, Any]:
    """What the expressions below may use."""
    double = lib.float64
    return {
        **functions(lib),
        "torch": lib,
        "G": lib.autograd.gradcheck,
        "GG": lib.autograd.gradgradcheck,
        "x": lib.tensor([1.0, 2.0], dtype=double, requires_grad=True),
        "y": lib.tensor([[0.5], [1.5], [2.5]], dtype=double, requires_grad=True),
        "z": lib.tensor([1 + 1j, 2 - 1j], dtype=lib.complex128, requires_grad=True),
        "single_x": lib.tensor([1.0, 2.0], requires_grad=True),
        "ones": lib.ones(2, dtype=double),
        "integers": lib.tensor([1, 0]),
    }


def numbers(text: str) -> list[str]:
    """The Jacobians of a message; of numbers only as many digits as both libraries find, and no sign if they are 0."""
    text = re.sub(r",\s+grad_fn=<\w+>", "", text)
    lines = [line for line in text.split("\n") if re.match(r"(numerical|analytical):| +\[", line)]
    lines = [re.sub(r"(\d\.\d{3})\d*", r"\1", line) for line in lines]
    return [re.sub(r"[ +-]+(0\.0*(?!\d))", r"\1", line).replace(" ", "") for line in lines]


def outcome(expression: str, lib: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        try:
            lib.manual_seed(0)
            result: Any = eval(expression, names(lib))
        except Exception as error:
            text = str(error)
            jacobians = numbers(text) if "mismatch" in text else []
            result = type(error).__name__, first_sentence(text), jacobians
    return result, [first_sentence(str(w.message)) for w in caught]


def compare(expression: str) -> None:
    expected, got = outcome(expression, torch), outcome(expression, leafgrad)
    assert got == expected, f"{expression}\nleafgrad: {got}\nPyTorch:  {expected}"


CALLS = """
G(torch.sin, x)
G(torch.sin, (x,))
G(torch.sin, [x])
G(lambda a, b: a * b.sum(), (x, y))
G(lambda a, b: a * b.sum(), (x, y.detach()))
G(lambda a, n: a * n, (x, 3))
G(lambda a, i: a[i], (x, integers))
G(lambda a, b: a * b, (x, x))
G(lambda a: a, (x,))
G(lambda a: (a * 2, a.sum(), a[:0]), (x,))
G(lambda a: [a * 2, a * 3], (x,))
G(lambda a: (a * 2, a.argmax()), (x,))
G(lambda a: a.max(0), (x,))
G(lambda a: a.argmax(), (x,))
G(lambda a: (), (x,))
G(lambda a: torch.ones(2), (x,))
G(lambda a: a.detach(), (x,))
G(lambda a: a.detach() * 0, (x,))
G(lambda a: (a * 2, a.detach() * 3), (x,))
G(lambda a: a > 1, (x,))
G(lambda a: None, (x,))
G(lambda a: 1.0, (x,))
G(lambda a: (a * 2, 1.0), (x,))
G(lambda a: {"a": a}, (x,))
G(torch.sin, (x.detach(),))
G(torch.sin, ())
G(torch.sin, (ones,))
G(torch.sin, (integers,))
G(torch.sin, (single_x,))
G(lambda a: a.double() * 2, (single_x,))
G(lambda a: tripled(a).double(), (single_x,), eps=1e-2)
G(lambda a: tripled(a).float(), (x,), eps=1e-2)
G(lambda a, b: a * b, (x, single_x), atol=0.1, rtol=0.1)
G(torch.sin, (torch.ones(1, dtype=torch.float64).expand(3).requires_grad_(),))
G(lambda a, b: a * b, (x, torch.ones(1, dtype=torch.float64).expand(2)))
G(lambda a: a * a, (y.detach().expand(3, 2).contiguous().t().requires_grad_(),))
G(lambda a: a * a, (x[::2],))
G(lambda a: a * a, (x * 2,))
G(lambda a: a * 2, (torch.ones(0, dtype=torch.float64, requires_grad=True),))
G(tripled, (torch.ones(0, 3, dtype=torch.float64, requires_grad=True),))
G(lambda a: a.clone().mul_(2), (x,))
G(lambda a: a.mul_(2), (x,))
G(lambda a: a + x.detach(), (x,))
G(tripled, (x,))
G(tripled, (torch.tensor(1.5, dtype=torch.float64, requires_grad=True),))
G(tripled, (x,), raise_exception=False)
G(tripled, (x,), atol=10)
G(tripled, (x,), rtol=0.6)
G(lambda a: tripled(a).sum(), (x,))
G(lambda a: tripled(a)[:, 0], (y,))
G(lambda a: (a * 2, tripled(a)), (x,))
G(lambda a, b: a * tripled(b), (x, x.detach().clone().requires_grad_()))
G(lambda n, c, a: tripled(a) + c, (3, ones, x))
G(tripled, (z,))
G(lambda a: tripled(a).real, (z,))
G(lambda a: tripled(a).abs(), (z,))
G(lambda a: torch.complex(tripled(a), a), (x,))
G(lambda a: torch.complex(a, tripled(a)), (x,))
G(lambda a: (tripled(a), a * 1j), (x,))
G(lambda a: (a * 1j, tripled(a)), (x,))
G(lambda a: (a, tripled(a) * 1j), (x,))
G(lambda a: a * a.conj(), (z,))
G(lambda a: a.abs(), (z,))
G(lambda a: a * 1j, (x,))
G(lambda a: (a * 2, a * 1j), (x,))
G(lambda a, b: a * 2, (x, z))
G(lambda a: a**3, (x,), eps=1.0)
G(lambda a: a * float("nan"), (x,))
G(lambda a: a * float("inf"), (x,))
G(lambda a: (a - 1).abs(), (x,))
G(missing, (x,))
G(lambda a: missing(a) * 0, (x,))
G(lambda a, b: a * 2, (x, y))
G(shifted, (x,))
G(shifted, (x,), raise_exception=False)
G(drifting, (x,))
G(drifting, (x,), nondet_tol=1e-3)
G(drifting, (x,), raise_exception=False)
G(drifting, (z,))
G(single, (x,), check_grad_dtypes=True)
G(lambda a: a.abs(), (z,), check_grad_dtypes=True)
G(pair, (x,))
G(pair, (x,), check_undefined_grad=False)
G(lambda a: sum(pair(a)), (x,))
G(ones_if_undefined, (x,))
G(ones_if_undefined, (x,), raise_exception=False)
G(ones_if_undefined, (x,), check_undefined_grad=False)
G(lambda a: ones_if_undefined(a) * 2, (x,))
G(none_if_undefined, (x,))
G(error_if_undefined, (x,))
G(error_if_undefined, (x,), raise_exception=False)
G(error_if_undefined, (x,), check_undefined_grad=False)
G(type_error_if_undefined, (x,))
G(error, (x,))
G(error, (x,), raise_exception=False)
G(torch.sin, (x,), masked=True)
torch.no_grad()(lambda: G(torch.sin, (x,)))()
G(torch.sin, (x,), check_backward_ad=False)
G(torch.sin, (x,), check_batched_forward_grad=True)
G(torch.sin, (x,), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True)
G(torch.sin, (x,), 1e-6)
G(torch.sin, (x,), foo=1)
G(torch.sin, (x,), check_forward_ad=True)
G(torch.sin, (x,), check_forward_ad=True, check_backward_ad=False)
G(lambda a, b: a * b.sum(), (x, z), check_forward_ad=True)
G(lambda a: a.abs(), (z,), check_forward_ad=True)
G(right_forward, (x,), check_forward_ad=True)
G(wrong_forward, (x,), check_forward_ad=True)
G(wrong_forward, (x,), check_forward_ad=True, raise_exception=False)
G(wrong_forward, (x,), check_forward_ad=True, check_backward_ad=False)
G(wrong_forward, (z,), check_forward_ad=True)
G(lambda a: wrong_forward(a) * 1j, (x,), check_forward_ad=True)
G(lambda a: wrong_forward(a).real, (z,), check_forward_ad=True)
G(lambda a, b: a * wrong_forward(b), (x, z), check_forward_ad=True)
G(lambda a, b: wrong_forward(a) * b, (x, z), check_forward_ad=True)
G(wrong_both, (x,), check_forward_ad=True)
G(no_forward, (x,), check_forward_ad=True)
G(torch.sin, (x,), check_batched_grad=True)
G(lambda a: (a.sum(), a * 2, a**2), (x,), check_batched_grad=True)
G(no_batches, (x,), check_batched_grad=True, raise_exception=False)
G(torch.sin, (x,), check_forward_ad=True, check_batched_forward_grad=True)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_gradcheck(line: str) -> None:
    compare(line)


# Here PyTorch fails to multiply numbers of two dtypes, and it takes other random directions for complex inputs.
OTHERWISE_IN_FAST_MODE = re.compile(r"\.double\(\)|\.float\(\)|foo=1|wrong_forward.*z.*forward_ad")
FAST = [line for line in CALLS.strip().splitlines() if not OTHERWISE_IN_FAST_MODE.search(line)]


@pytest.mark.parametrize("line", FAST)
def test_gradcheck_in_fast_mode(line: str) -> None:
    closing = line.index(")()") if line.endswith(")()") else len(line)
    compare(f"{line[: closing - 1]}, fast_mode=True){line[closing:]}")


SECOND = """
GG(torch.sin, x)
GG(torch.sin, (x,))
GG(torch.sin, (z,))
GG(lambda a: a * 2, (x,))
GG(lambda a, b: a * b.sum(), (x, y))
GG(lambda a: (a * a, a.sin().sum()), (x,))
GG(lambda a: a.max(0), (x,))
GG(lambda a: (a * a, a.detach()), (x,))
GG(lambda a, b: a * a, (x, y))
GG(torch.sin, (x,), ones)
GG(torch.sin, (x,), (ones,))
GG(torch.sin, (x,), ones.clone().requires_grad_())
GG(lambda a: (a * a, a.sin()), (x,), ones)
GG(lambda a: (a * a, a.sin()), (x,), (ones, ones))
GG(torch.sin, (x,), torch.ones(3, dtype=torch.float64))
GG(torch.sin, (x,), gen_non_contig_grad_outputs=True)
GG(torch.sin, (z,), gen_non_contig_grad_outputs=True)
GG(lambda a: a.sin().sum(), (x,), gen_non_contig_grad_outputs=True)
GG(lambda a: a.sin().t(), (y,), gen_non_contig_grad_outputs=True)
GG(cube, (x,))
GG(cube, (x,), raise_exception=False)
GG(cube, (x,), atol=1e3)
GG(cube, (x,), ones)
GG(cube, (z,))
GG(cube, (x,), gen_non_contig_grad_outputs=True)
GG(torch.sin, (x.detach(),))
GG(lambda a: a.float() * a.float(), (x,), raise_exception=False)
GG(missing, (x,))
GG(torch.sin, (x,), check_rev_over_rev=False)
GG(torch.sin, (x,), check_fwd_over_rev=True)
GG(torch.sin, (x,), check_fwd_over_rev=True, check_rev_over_rev=False)
GG(torch.sin, (x,), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False)
GG(torch.sin, (x,), check_rev_over_rev=False, check_batched_grad=True, check_fwd_over_rev=True)
GG(cube, (x,), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False)
GG(torch.sin, (z,), check_fwd_over_rev=True)
GG(torch.sin, (x,), check_batched_grad=True)
GG(lambda a, b: a * b, (x, x.detach().clone().requires_grad_()), check_undefined_grad=True)
GG(torch.sin, (x,), None, 1e-6)
GG(torch.sin, (x,), foo=1)
"""


@pytest.mark.parametrize("line", SECOND.strip().splitlines())
def test_gradgradcheck(line: str) -> None:
    compare(line)


@pytest.mark.parametrize("line", [line for line in SECOND.strip().splitlines() if "foo=1" not in line])
def test_gradgradcheck_in_fast_mode(line: str) -> None:
    compare(line[:-1] + ", fast_mode=True)")


@pytest.mark.parametrize("fast_mode", [False, True])
def test_the_function_is_called_as_often_and_with_the_same_numbers(fast_mode: bool) -> None:
    seen: list[list[Any]] = []
    for lib in (torch, leafgrad):
        x: Any = lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=True)
        calls: list[Any] = []

        def function(a: Any, x: Any = x, calls: list[Any] = calls, lib: Any = lib) -> Any:
            calls.append((a is x, a.tolist(), a._version, lib.is_grad_enabled()))
            return (a * a).sum()

        state = lib.get_rng_state().tolist()
        lib.autograd.gradcheck(function, (x,), fast_mode=fast_mode)
        seen.append([*calls, x.tolist(), x.grad, lib.get_rng_state().tolist() == state])
    assert seen[0] == seen[1]
