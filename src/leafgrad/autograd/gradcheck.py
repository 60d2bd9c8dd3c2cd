"""gradcheck and gradgradcheck: are the gradients of a function what finite differences say they are?

    gradcheck(func, inputs)       the first derivatives
    gradgradcheck(func, inputs)   the derivatives of the gradients that a backward pass gives

The whole Jacobian is compared number by number. With `fast_mode` one random combination of its rows and columns is
compared instead: as many calls of the function as there are inputs, not as there are numbers in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from leafgrad import _missing
from leafgrad._core.tensor import TensorBase, links, wrap

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """What `gradcheck` and `gradgradcheck` raise if the derivatives are wrong."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, ...): compare the gradients of `func` by those of
    the inputs that require grad with finite differences of step `eps`.

    True if they agree within `atol + rtol * |difference quotient|`; otherwise a GradcheckError that shows both
    Jacobians, or False if not `raise_exception`. The tolerances are meant for float64 and complex128.

        nondet_tol                  how much two equal backward passes may differ
        check_undefined_grad        do backward passes work where an output gets no gradient?
        check_grad_dtypes           do gradients have the dtypes of their inputs?
        check_batched_grad          do they work on a batch of gradients (vmap)?
        check_forward_ad            check forward mode as well; check_batched_forward_grad, that in a batch
        check_backward_ad           False to leave out all that needs backward mode
        fast_mode                   compare a random combination instead of every number
        masked                      differentiate by what sparse tensors hold, alone, not by all their elements

    >>> x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    >>> gradcheck(torch.sin, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    from leafgrad.autograd.gradient_checks import Check

    given = as_tuple(inputs)
    if links.sparse_class is not None:  # programs without sparse tensors do without
        func, given = _missing.part("ops.sparse.namespace").of_values(func, given, bool(masked))
    check = Check(func, given, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        if check.is_constant:
            check.constant()
        else:
            if check_backward_ad:
                check.backward_mode()
            if check_forward_ad:
                check.forward_mode()
            if check_batched_forward_grad:
                check.batched_forward()
            if check_backward_ad:
                if check_batched_grad:
                    check.batched_backward()
                check.zero_gradients()
                if check_undefined_grad:
                    check.undefined_gradients()
            if check_forward_ad and check_undefined_grad:
                check.zero_tangents()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """gradgradcheck(func, inputs, grad_outputs=None, *, ...): compare the gradients of the gradients of `func`, by
    inputs and by `grad_outputs`, with finite differences.

    `grad_outputs` are random numbers unless they are given; `gen_non_contig_grad_outputs` lays those out with gaps
    between them. `check_fwd_over_rev` differentiates the gradients by forward mode, `check_rev_over_rev` by backward
    mode. The other arguments are those of `gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, value in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if value and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(as_tuple(func(*given)))
        starts = tuple([random_start(o, gen_non_contig_grad_outputs) for o in outputs])
    else:
        starts = as_tuple(grad_outputs)

    def gradient(*args: Any) -> tuple[Any, ...]:
        from leafgrad.autograd import grad

        points, given_starts = args[: len(given)], args[len(given) :]
        for x, original in zip(points, given, strict=True):  # forward mode gives them without history
            if isinstance(original, TensorBase) and original.needs_grad and not x.needs_grad:
                x.requires_grad_()
        outputs = differentiable(as_tuple(func(*points)))
        variables: list[Any] = [x for x in points if isinstance(x, TensorBase) and x.needs_grad]
        found = grad(outputs, variables, given_starts, create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(
        gradient if starts else func,  # a function without gradients had better be constant
        given + starts,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def __getattr__(name: str) -> Any:
    if name in ("get_analytical_jacobian", "get_numerical_jacobian"):  # of old programs, so loaded when they are wanted
        return getattr(_missing.part("autograd.jacobians"), name)
    raise _missing.missing_attribute(__name__, name)


def differentiable(outputs: Sequence[Any]) -> list[Any]:
    return [o for o in outputs if o.requires_grad]


def random_start(output: Any, with_gaps: bool) -> Any:
    """A gradient to start a backward pass with: numbers between -1 and 1."""
    from leafgrad.ops.creation.factories import empty

    shape = list(output.shape)
    gaps = with_gaps and output.numel() > 1
    if gaps:
        shape[-1] *= 2
    numbers = empty([*shape, 2] if output.is_complex() else shape, dtype=output.dtype.to_real()).uniform_(-1, 1)
    array = numbers.array.view(output.array.dtype)[..., 0] if output.is_complex() else numbers.array
    return wrap(array[..., 1::2] if gaps else array).requires_grad_()


def as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)
