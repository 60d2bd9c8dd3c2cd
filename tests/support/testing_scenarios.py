"""Scenarios of torch.testing: what is close, what is said of what is not, and random tensors. See scenarios.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from scenarios import collection

SCENARIOS, scenario = collection()

# calls of assert_close, as `check`; `t` makes a tensor
COMPARED = """
    check(t([1.,2,3]),t([1.,2,4]))
    check(t([1.,2,3]),t([1.,2,3+1e-6]))
    check(t([[1.,2],[3,4]]),t([[1.,0],[3,5]]))
    check(t([1,2,3]),t([1,2,5]))
    check(t([1,2,3]),t([1,2,5]),rtol=0,atol=1)
    check(t([1.]),t([1.,2]))
    check(t([1.]),t([1]))
    check(t([1.]),t([1]),check_dtype=False)
    check(t([1.1]),t([1]),check_dtype=False)
    check(1.0,1.1)
    check(1.0,1.0+1e-9)
    check(1,2)
    check(1,1.0)
    check(1,1.0,check_dtype=False)
    check(1j,2j)
    check(True,False)
    check(None,1)
    check(None,None)
    check('a','a')
    check('a','b')
    check(t(1.),1.0)
    check([t(1.)],[t(1.),t(2.)])
    check([t(1.),t(3.)],[t(1.),t(2.)])
    check((t(1.),),[t(1.)])
    check({'a':t(1.)},{'a':t(2.)})
    check({'a':t(1.)},{'b':t(2.)})
    check({'a':[t(1.)]},{'a':[t(2.)]})
    check(t(nan),t(nan))
    check(t([nan,1.]),t([nan,1.]),equal_nan=True)
    check(t([inf,1.]),t([inf,1.]))
    check(t([inf,1.]),t([-inf,1.]))
    check(t([0.]),t([1.]))
    check(t([1.]),t([0.]))
    check(t([True,False]),t([True,True]))
    check(t([1.,2]),t([1.,3]),msg='mine')
    check(t([1.,2]),t([1.,3]),msg=lambda m: 'Header\n\n'+m)
    check(t([1.,2]),t([1.,3]),rtol=1.)
    check(t([1.,2]),t([1.,3]),rtol=.1,atol=.2)
    check(t([1.,2]),t([1.,3]),rtol=0,atol=0)
    check(T.ones(2,3).t(),T.ones(3,2),check_stride=True)
    check(t([1.,2],dtype=T.float64),t([1.,2+1e-6],dtype=T.float64))
    check(t([1.,2],dtype=T.float16),t([1.,2.1],dtype=T.float16))
    check(t([1.,2],dtype=T.bfloat16),t([1.,2.1],dtype=T.bfloat16))
    check(t([1j,2]),t([1j,3]))
    check(np.array([1.,2]),np.array([1.,3]))
    check(np.array([1.,2]),t([1.,3]))
    check([1.0,2.0],[1.0,2.5])
    check(T.empty(0),T.empty(0))
    check(T.nn.Parameter(t([1.])),t([1.]))
    check(T.nn.Parameter(t([1.])),t([1.]),allow_subclasses=False)
    check(t(1.),t(2.))
    check(nan,nan)
    check(nan,nan,equal_nan=True)
    check(inf,inf)
    check(t([1],dtype=T.uint8),t([255],dtype=T.uint8))
    check(t([2**53]),t([2**53+1]))
    check([[t(1.)],[t(2.),t(5.)]],[[t(1.)],[t(2.),t(4.)]])
    check(t([1.]),'a')
    check(object(),object())
    check(np.float32(1.0),np.float32(1.5))
    check(t([1.,2.,3.,4.]),t([2.,2.,5.,4.]),rtol=0.1,atol=0.1)
"""


@scenario
def comparisons(T: Any) -> Any:
    names = {"T": T, "np": np, "t": T.tensor, "check": T.testing.assert_close, "inf": float("inf"), "nan": float("nan")}
    return [(call.strip(), said(call, names)) for call in COMPARED.strip().splitlines()]


def said(call: str, names: dict[str, Any]) -> str:
    """All that an error says, with PyTorch's names of classes."""
    try:
        return str(eval(call, names))
    except (AssertionError, TypeError, ValueError) as error:
        text = str(error).replace("leafgrad._tensor.tensor.", "torch.").replace("leafgrad.", "torch.")
        return f"{type(error).__name__}: {text}"


@scenario
def the_old_comparison(T: Any) -> Any:
    T.testing.assert_allclose(T.ones(2), [1.0, 1.00001])
    T.testing.assert_allclose(T.ones(2, dtype=T.float64), T.ones(2))
    try:
        T.testing.assert_allclose(T.ones(2), [1.0, 1.1])
    except AssertionError as error:
        return str(error)


MADE = """
    dtype=T.float32
    dtype=T.float32, low=0, high=1
    dtype=T.int64
    dtype=T.uint8
    dtype=T.bool
    dtype=T.float16
    dtype=T.float64, low=2
    dtype=T.complex64
    dtype=T.float32, noncontiguous=True
    dtype=T.int32, low=0, high=3, exclude_zero=True
    dtype=T.float32, low=-1e38, high=3e38
    dtype=T.float32, requires_grad=True
    dtype=T.float32, low=1, high=0
    dtype=T.float32, low=float("nan")
    dtype=T.int64, requires_grad=True
    dtype=T.uint8, low=300, high=400
    dtype=T.float32, noncontiguous=True, memory_format=T.channels_last
"""


@scenario
def random_tensors(T: Any) -> Any:
    T.manual_seed(3)
    seen = []
    for options in MADE.strip().splitlines():
        try:
            made = eval(f"T.testing.make_tensor((2, 3), device='cpu', {options})", {"T": T})
            seen.append((options, made.tolist(), made.stride(), made.requires_grad))
        except ValueError as error:
            seen.append((options, str(error)))
    return seen, tuple(T.testing.make_tensor(2, 3, dtype=T.float32, device="cpu").shape)
