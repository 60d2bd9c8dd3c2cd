"""Methods of tensors, arithmetic at its edges, `out=` and the exchange of memory, against PyTorch."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad
from compare import DTYPES, check, difference, run
from leafgrad.ops.registry import entries


def test_replacing_values() -> None:
    check(
        """
        torch.ones(2, 3).copy_(torch.arange(3.))
        torch.ones(2, 3).copy_(torch.arange(4.))
        torch.ones(2, 3).copy_(3)
        torch.ones(2, 3).copy_([1., 2., 3.])
        torch.ones(3, 2).t().copy_(torch.arange(3))
        torch.zeros(2, 3).copy_(torch.ones(3, requires_grad=True))
        torch.ones(3, requires_grad=True).copy_(torch.ones(3))
        torch.ones(1).expand(3).copy_(torch.ones(3))
        torch.ones(2).fill_(2)
        torch.ones(2).fill_(torch.tensor(2))
        torch.ones(2).fill_(torch.ones(2))
        torch.ones(2).fill_(1j)
        torch.ones(2, dtype=torch.uint8).fill_(300)
        torch.ones(2, dtype=torch.uint8).fill_(torch.tensor(300))
        torch.ones(1).expand(3).fill_(2)
        torch.ones(1).expand(3).zero_()
        torch.ones(1).expand(3).add_(2)
        torch.fill(torch.ones(2), 3)
        torch.fill(torch.ones(2), torch.tensor(2., requires_grad=True))
        torch.zero_(torch.ones(2))
        torch.ones(4).resize_(2, 2)
        torch.ones(4).resize_(2)
        torch.ones(2, requires_grad=True).resize_(3)
        torch.ones(4).resize_as_(torch.ones(2, 2))
        torch.ones(2).set_(torch.ones(3))
        torch.ones(2).is_set_to(torch.ones(2))
        """,
        messages=True,
    )


def test_conversions() -> None:
    check(
        """
        torch.ones(2).type()
        torch.ones(2).type('torch.LongTensor')
        torch.ones(2).type(torch.LongTensor)
        torch.ones(2).type(torch.int32)
        torch.ones(2).type('a')
        torch.ones(2).type_as(torch.ones(1).int())
        torch.ones(2).to(torch.ones(2).double())
        torch.ones(2).to('cpu', torch.float64)
        torch.ones(2).to(torch.float64, True, True)
        torch.ones(2).to(dtype=torch.int32, device='cpu')
        torch.ones(2).to()
        torch.ones(2).cpu()
        torch.ones(2, requires_grad=True).double()
        torch.ones(2, requires_grad=True).int()
        torch.ones(2).is_pinned()
        torch.ones(4, 2, 3).permute(2, 0, 1).clone()
        torch.ones(4, 2, 3).permute(2, 0, 1).double()
        torch.ones(4, 4)[:, ::2].clone()
        torch.ones(1, 3).expand(2, 3).clone()
        torch.ones(1, 3).expand(2, 3).double()
        torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
        torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
        torch.ones(2, 3, 4, 5).clone(memory_format=torch.channels_last)
        torch.ones(2, 3, 4, 5).clone(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)
        torch.ones(2, 3, 4, 5).is_contiguous(memory_format=torch.channels_last)
        torch.ones(2, 3).clone(memory_format=torch.channels_last)
        torch.tensor([300., -1.]).byte()
        torch.tensor([1e10]).int()
        torch.tensor([nan, inf]).int()
        torch.tensor([nan, 0.]).bool()
        torch.tensor([2.00049, 1e-8, 65520.], dtype=torch.float64).half()
        torch.tensor([1.00390625 + 2**-30], dtype=torch.float64).bfloat16()
        float(torch.ones(2))
        int(torch.tensor(nan))
        float(torch.tensor(1j))
        complex(torch.tensor(1.5))
        torch.tensor([1.5]).__index__()
        [1, 2, 3][torch.tensor(1)]
        torch.ones(2).item()
        bool(torch.tensor([]))
        bool(torch.ones(2))
        1 in torch.tensor([1, 2])
        'a' in torch.tensor([1])
        len(torch.tensor(1))
        torch.ones(2).sum_to_size(3)
        torch.ones(2, 3).sum_to_size(1, 3)
        torch.ones(2, 3).sum_to_size((3,))
        """,
        messages=True,
    )


def test_questions() -> None:
    check(
        """
        torch.equal(torch.ones(2, 3), torch.ones(3))
        torch.equal(torch.ones(2), torch.ones(2).int())
        torch.equal(torch.tensor([nan]), torch.tensor([nan]))
        torch.allclose(torch.ones(2, 3), torch.ones(3))
        torch.allclose(torch.ones(2), torch.ones(2).double())
        torch.allclose(torch.ones(2), 3)
        torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 3]))
        torch.isclose(torch.tensor([1, 200000]), torch.tensor([1, 200001]))
        torch.isclose(torch.tensor([True, False]), torch.tensor([True, True]))
        torch.isclose(torch.tensor([inf, nan, -inf]), torch.tensor([inf, nan, inf]))
        torch.isclose(torch.tensor([inf, nan]), torch.tensor([inf, nan]), equal_nan=True)
        torch.isclose(torch.tensor([1 + 1j, 1j]), torch.tensor([1 + 1.000001j, 1.1j]))
        torch.isclose(torch.ones(2), torch.ones(2) + 1e-3, atol=1e-2)
        torch.isclose(torch.ones(2), torch.ones(2), rtol=-1)
        torch.isclose(torch.ones(2), torch.tensor([1., 2.]), rtol=0, atol=0)
        torch.is_tensor(3)
        torch.numel(torch.ones(2, 3))
        torch.numel(3)
        torch.is_floating_point(torch.ones(2))
        torch.is_complex(torch.ones(2))
        torch.is_nonzero(torch.tensor(3.))
        torch.is_nonzero(torch.ones(2))
        torch.is_same_size(torch.ones(2), torch.ones(3))
        torch.result_type(torch.ones(2), torch.tensor(3., dtype=torch.float64))
        torch.result_type(1, 1.5)
        torch.can_cast(torch.double, torch.float)
        torch.can_cast(torch.float, torch.int)
        torch.can_cast(torch.int, torch.uint8)
        torch.typename(torch.ones(2))
        torch.typename(3)
        torch.get_default_device()
        """,
        messages=True,
    )


@pytest.mark.parametrize("a", DTYPES)
def test_promote_types_and_can_cast(a: str) -> None:
    for b in DTYPES:
        assert not difference(lambda m, b=b: str(m.promote_types(getattr(m, a), getattr(m, b))))
        assert not difference(lambda m, b=b: m.can_cast(getattr(m, a), getattr(m, b)))


ARITHMETIC = """
    torch.tensor([255, 1], dtype=torch.uint8) == -1
    torch.tensor([255, 1], dtype=torch.uint8) > 1000
    torch.tensor([255, 1], dtype=torch.uint8) + 300
    torch.tensor([1], dtype=torch.int8) < 200
    torch.tensor([1]) + 2**63
    torch.tensor([1]) + 2**70
    torch.tensor([1.]) * 1e300
    torch.add(torch.ones(1).int(), torch.ones(1).int(), alpha=1.5)
    torch.add(torch.tensor([True]), torch.tensor([True]), alpha=2)
    torch.add(torch.ones(1), torch.ones(1), alpha=True)
    torch.add(torch.ones(1), torch.ones(1), alpha=1j)
    torch.add(torch.ones(1), None)
    torch.add('a', torch.ones(1))
    torch.add(1, torch.ones(1))
    torch.sub(2, torch.ones(1))
    torch.ones(1) + 'a'
    torch.ones(1) == None
    torch.ones(1) != 'a'
    torch.ones(1) < None
    torch.rsub(torch.ones(2), 2, alpha=3)
    2 - torch.arange(3.)
    2 / torch.arange(3.)
    2 ** torch.arange(3.)
    2 // torch.tensor([1., -2.])
    2 % torch.tensor([3, -3])
    torch.tensor([5, -5]) / 2
    torch.div(torch.tensor([5, -5]), 2, rounding_mode='trunc')
    torch.div(torch.tensor([5, -5]), 2, rounding_mode='floor')
    torch.div(torch.tensor([5., -5., 0.]), 0., rounding_mode='floor')
    torch.div(torch.tensor([5., -5., 0.]), 0., rounding_mode='trunc')
    torch.div(torch.tensor([5, -5]), 0, rounding_mode='floor')
    torch.div(torch.ones(2), 2, rounding_mode='a')
    torch.tensor([-7, 7, 7, -7]) // torch.tensor([2, -2, 2, -2])
    torch.div(torch.tensor([-7, 7, 7, -7]), torch.tensor([2, -2, 2, -2]), rounding_mode='trunc')
    torch.tensor([-7., 7.]) % torch.tensor([3., -3.])
    torch.tensor([-1., 1.]) % inf
    torch.tensor([-1., 1.]) // inf
    torch.tensor([7]) % 0
    torch.tensor([7.]) % 0
    torch.tensor([True]) // torch.tensor([True])
    torch.tensor([True]) ** True
    torch.tensor([2]) ** -1
    torch.tensor([2]) ** -1.0
    torch.tensor([2]) ** 63
    torch.tensor([-1, 1, 0, 2]) ** torch.tensor([-1, -3, -1, -2])
    torch.tensor([2], dtype=torch.uint8) ** torch.tensor([-1])
    (-2) ** torch.tensor([0.5])
    0 ** torch.tensor([0., -1.])
    torch.pow(torch.tensor([2], dtype=torch.int8), 300)
    torch.pow(2, torch.tensor([2], dtype=torch.int8))
    torch.pow(2, 2)
    torch.pow(input=torch.ones(2), exponent=2)
    torch.tensor([1]) << 64
    torch.tensor([1]) << -1
    torch.tensor([-8]) >> 70
    torch.tensor([1], dtype=torch.int8) << 7
    torch.tensor([1.]) << 1
    torch.tensor([1, 2]) & 1.5
    ~torch.tensor([1, 2])
    ~torch.ones(2)
    abs(torch.tensor([-128], dtype=torch.int8))
    abs(torch.tensor([True]))
    +torch.tensor(True)
    torch.neg(torch.tensor([True]))
    torch.relu(torch.tensor([True]))
    torch.square(torch.tensor([True]))
    torch.reciprocal(torch.tensor([2, 0]))
    torch.sign(torch.tensor([True]))
    torch.sign(torch.tensor([1j]))
    torch.sgn(torch.tensor([3 + 4j, 0j]))
    torch.floor(torch.tensor([1j]))
    torch.round(torch.tensor([2.5, 3.5, -0.5]))
    torch.round(torch.tensor([1.255, 123.456]), decimals=2)
    torch.round(torch.tensor([123.456]), decimals=-1)
    torch.round(torch.tensor([1, 2]), decimals=1)
    torch.maximum(torch.ones(1), 2)
    torch.maximum(torch.tensor([1j]), torch.tensor([1j]))
    torch.maximum(torch.tensor([nan, 1.]), torch.tensor([1., nan]))
    torch.clamp(torch.tensor([nan, 3.]), 0, 1)
    torch.clamp(torch.tensor([1.]), nan)
    torch.clamp(torch.ones(2), min=1, max=0)
    torch.clamp(torch.ones(2))
    torch.clamp(torch.tensor([1., 2.]), torch.tensor([nan, 1.]))
    torch.clamp(torch.tensor([1, 2], dtype=torch.uint8), -1, 300)
    torch.clamp(torch.tensor([1, 2, 3]), 0.5, 2.5)
    torch.clamp(torch.tensor([1]), min=torch.tensor([[0], [3]]))
    torch.clamp_min(torch.tensor([1]), 1.5)
    torch.clamp(torch.tensor([1j]), 0, 1)
    torch.where(torch.tensor([True]), torch.tensor([1], dtype=torch.int8), 300)
    torch.where(torch.tensor([True]), 1, 0)
    torch.where(torch.tensor([True]), 1., 0)
    torch.where(torch.ones(1), torch.ones(1), torch.ones(1))
    torch.where(torch.tensor([1], dtype=torch.uint8), torch.ones(1), torch.ones(1))
    torch.where(torch.tensor([True, False, True]), torch.ones(2), torch.ones(3))
    torch.ones(2).where(torch.tensor([True, False]), 3)
    torch.ones(2, dtype=torch.int64).add_(0.5)
    torch.ones(2, dtype=torch.bool).add_(1)
    torch.ones(2).add_(torch.ones(3, 2))
    torch.ones(2).add_(1j)
    torch.tensor([1j]).abs_()
    torch.ones(2).maximum_
    torch.ones(2).isnan_
    torch.imag(torch.ones(2))
    torch.tensor([1 + 2j]).real
    torch.tensor([1 + 2j]).conj()
"""


def test_arithmetic() -> None:
    check(ARITHMETIC, tolerance=1e-6, messages=True)


def test_node_names() -> None:
    expressions = """
        x**2, x**x, 2**x, 2-x, 2/x, x/2, torch.div(x,2,rounding_mode='floor'), x.square(), x.clamp(0,1), x.clamp_min(0),
        x.clone(), x.double(), x.t().clone(), x.round(), torch.complex(x,x), x//2, x%2, torch.rsub(x,2), x.floor(),
        torch.fill(x,2.), (x*1).zero_(), (x*1).copy_(x), torch.maximum(x,x), torch.where(x>0,x,2.), x.rsqrt(), x.sign()
    """
    for expression in expressions.replace("\n", " ").split(", "):
        names = []
        for m in (torch, leafgrad):
            result = eval(expression.strip(), {"torch": m, "x": m.ones(2, 2, requires_grad=True)})
            names.append(result.grad_fn.name())
        assert names[0] == names[1], expression


def gradients(m: Any, function: Any, *values: Any) -> list[Any]:
    inputs = [m.tensor(v, dtype=m.float64, requires_grad=True) for v in values]
    out = function(m, *inputs)
    return [g.clone() for g in m.autograd.grad(out.sum(), inputs)]


EDGES = [-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, float("inf"), float("-inf"), float("nan")]


@pytest.mark.parametrize(
    "function",
    [
        *[lambda m, x, p=p: x**p for p in (0, 1, 2, 3, 0.5, -1, -2, 1.5)],
        *[lambda m, x, p=p: p**x for p in (0.0, 1.0, 2.0, -2.0)],
        lambda m, x: x.abs(),
        lambda m, x: x.clamp(-1, 1),
        lambda m, x: x.clamp_min(0.0),
        lambda m, x: x.clamp_max(0.0),
        lambda m, x: m.clamp(x, m.zeros_like(x), m.ones_like(x)),
        lambda m, x: m.where(x > 0, x, 2 * x),
        lambda m, x: 1 / x,
        lambda m, x: 3 - x,
        lambda m, x: x.sign() * x,
        lambda m, x: m.div(x, 2, rounding_mode="trunc") + x,
        lambda m, x: x % 1.5,
        lambda m, x: m.round(x) + x,
    ],
)
def test_gradients_at_the_edges(function: Any) -> None:
    assert not difference(lambda m: gradients(m, function, EDGES), tolerance=1e-12)


@pytest.mark.parametrize("name", ["maximum", "minimum", "pow", "mul", "div", "remainder", "sub"])
def test_gradients_of_pairs_at_the_edges(name: str) -> None:
    a, b = [list(v) for v in zip(*[(x, y) for x in EDGES for y in EDGES])]
    assert not difference(lambda m: gradients(m, lambda m, x, y: getattr(m, name)(x, y), a, b), tolerance=1e-12)


def test_out() -> None:
    check(
        """
        torch.add(torch.ones(2, 3), 1, out=torch.zeros(2, 3))
        torch.add(torch.ones(2, 3), 1, out=torch.zeros(3))
        torch.add(torch.ones(2, 3), 1, out=torch.zeros(0))
        torch.add(torch.ones(2), 1, out=torch.zeros(2, dtype=torch.int64))
        torch.add(torch.ones(2), 1, out=torch.zeros(2, dtype=torch.float64))
        torch.add(torch.ones(2, requires_grad=True), 1, out=torch.zeros(2))
        torch.add(torch.ones(2), 1, out=torch.zeros(2, requires_grad=True))
        torch.add(torch.ones(2), 1, out=torch.ones(1).expand(2))
        torch.eq(torch.ones(2), 1, out=torch.zeros(2))
        torch.exp(torch.ones(2, 3), out=torch.zeros(3, 2).t())
        torch.sum(torch.ones(2, 3), 0, out=torch.zeros(3))
        torch.max(torch.ones(2, 3), 0, out=(torch.zeros(3), torch.zeros(3, dtype=torch.int64)))
        torch.matmul(torch.ones(2, 2), torch.ones(2, 2), out=torch.zeros(2, 2))
        torch.arange(3, out=torch.zeros(2))
        """,
        tolerance=1e-6,
        messages=True,
    )


def candidates(m: Any, name: str = "") -> list[tuple[Any, ...]]:
    """Arguments for a call of any function: those that suit it are found by trying."""
    x, y = m.tensor([[0.5, 0.25], [0.75, 0.125]]), m.tensor([[0.5, 0.5], [0.25, 0.75]])
    i, j = m.tensor([[3, 4], [5, 6]]), m.tensor([[1, 0], [1, 1]])
    v, k, mask = m.tensor([0.5, 2.0]), m.tensor([1, 0]), m.tensor([[True, False], [True, True]])
    return [
        (x,), (x, y), (i,), (i, j), (v, v), (x, v), (x, 0), (x, 1), ([x, y],), (x, mask), (x, k), (x, 0, j), (x, j, 0),
        (x, 0, k), (x, 0, j, y), (x, 0, k, y), (mask, x, y), (x, x, y), (x[None], y[None]), (x, 2, 1), (x, i, 0.5),
    ] + ([] if "_copy" not in name else [  # of views
        (x, (4, 1)), (x, 0, 1, 1), (x, (2, 2), (1, 2)), (x, (1, 0)), (x, (1, 1)), (v[None], (2, 2)), (x, 0, 1),
        (m.tensor([1 + 2j]),),
    ]) + {
        "addbmm": [(x, y[None], x[None]), (v, y[None], x[None])],
        "baddbmm": [(x[None], y[None], x[None]), (v, y[None], x[None])],
        "addmv": [(v, x, v), (v[0], x, v), (k, i, k)],
        "addr": [(x, v, v), (v, v, v), (i, k, k)],
        "cholesky": [(x @ x.mT,), (x @ x.mT, True)],
        "cross": [(m.eye(3), m.ones(3, 3)), (m.eye(3), m.ones(3, 3), 1), (m.arange(3), m.arange(3) + 1)],
        "index_reduce": [(x, 0, k, y, "amax"), (x, 1, k, y, "prod")],
        "lu_solve": [(y, *m.linalg.lu_factor(x)), (y[None], *m.linalg.lu_factor(x[None]))],
        "lu_unpack": [m.linalg.lu_factor(x), m.linalg.lu_factor(x[None])],
        "ormqr": [(*m.geqrf(x), y), (*m.geqrf(x), y, False, True)],
        "polygamma": [(0, x), (1, x), (2, x.t()), (1, i)],
        "renorm": [(x, 2, 0, 0.5), (x, 1, 1, 0.5), (x.t(), 2, -1, 0.5)],
        "scatter_reduce": [(x, 0, j, y, "amax"), (x, 1, j, y, "prod"), (x.t(), 1, j, y, "mean")],
    }.get(name, [])  # fmt: skip


@pytest.mark.parametrize("name", sorted({e.name for e in entries() if e.out} & set(dir(leafgrad))))
def test_out_of_every_function(name: str) -> None:
    """What takes `out` in leafgrad takes it in PyTorch, with the same result."""
    tried = 0
    for index, arguments in enumerate(candidates(torch, name)):
        if name in ("add", "sub", "subtract") and len(arguments) > 2:
            continue  # PyTorch still has the old add(input, alpha, other)
        if name in ("addcmul", "addcdiv") and len(arguments) > 3:
            continue  # and addcmul(input, value, tensor1, tensor2), which leafgrad does not take

        def call(m: Any, index: int = index) -> Any:
            arguments = candidates(m, name)[index]
            plain = getattr(m, name)(*arguments)
            out = m.empty_like(plain) if isinstance(plain, m.Tensor) else tuple([m.empty_like(p) for p in plain])
            made = getattr(m, name)(*arguments, out=out)
            return out if made is None else made  # PyTorch returns nothing if there are several

        if isinstance(run(call, torch)[0], Exception):
            continue
        tried += 1
        assert not difference(call, tolerance=1e-5), index
    assert tried, "none of the calls was right for it"


def test_memory_is_exchanged() -> None:
    ours, theirs = leafgrad.arange(6.0).reshape(2, 3).t(), torch.arange(6.0).reshape(2, 3).t()
    there, here = torch.from_dlpack(ours), leafgrad.from_dlpack(theirs)
    assert there.stride() == ours.stride() and here.stride() == theirs.stride()
    ours[0, 0] = 7
    theirs[0, 0] = 8
    assert there[0, 0] == 7 and here[0, 0].item() == 8
    here[1, 1] = 9  # and back
    assert theirs[1, 1] == 9
    for name in DTYPES:
        if name != "bfloat16":
            t = leafgrad.from_dlpack(torch.ones(3).to(getattr(torch, name)))
            assert str(t.dtype) == f"torch.{name}" and str(torch.from_dlpack(t).dtype) == f"torch.{name}"
    assert torch.from_numpy(ours.numpy()).data_ptr() == ours.data_ptr()
    with pytest.raises(BufferError):
        torch.from_dlpack(leafgrad.ones(2, requires_grad=True))


def test_copies() -> None:
    def facts(m: Any) -> list[Any]:
        x = m.ones(3, requires_grad=True)
        x.grad = m.ones(3)
        shallow, deep, pickled = copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))
        whole, part = copy.deepcopy([m.arange(4), m.arange(4)[1:]])
        base = m.arange(4)
        a, b = copy.deepcopy([base, base[1:]])
        b[0] = 9
        return [
            shallow, deep, pickled, shallow.data_ptr() == x.data_ptr(), deep.data_ptr() == x.data_ptr(), shallow.grad,
            deep.grad, pickled.grad, whole, part, a, pickle.loads(pickle.dumps(x * 2)), copy.copy(x * 2),
        ]  # fmt: skip

    assert not difference(facts)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.floats(width=32), min_size=1, max_size=6),
    st.lists(st.floats(width=32), min_size=1, max_size=6),
    st.sampled_from(("add", "sub", "mul", "div", "remainder", "floor_divide", "maximum", "minimum", "eq", "lt")),
)
def test_pairs_of_floats(a: list[float], b: list[float], name: str) -> None:
    n = min(len(a), len(b))
    assert not difference(lambda m: getattr(m, name)(m.tensor(a[:n]), m.tensor(b[:n])), tolerance=1e-6)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=6),
    st.integers(-1000, 1000),
    st.sampled_from(("int8", "int16", "int32", "int64", "uint8")),
    st.sampled_from(
        ("add", "sub", "mul", "remainder", "floor_divide", "eq", "lt", "bitwise_and", "bitwise_left_shift")
    ),
)
def test_integers_wrap_around(a: list[int], b: int, dtype: str, name: str) -> None:
    def call(m: Any) -> Any:
        return getattr(m, name)(m.tensor(a).to(getattr(m, dtype)), b)

    if name in ("remainder", "floor_divide") and np.array(b).astype(dtype) in (0, -1):
        return  # PyTorch ends the process where the smallest integer is divided by -1
    assert not difference(call)


SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 3.0]
CHOOSING: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda T, x: x.relu(),
    "clamp": lambda T, x: x.clamp(-1, 1),
    "clamp from zero": lambda T, x: x.clamp(0.0, 2.0),
    "clamp to zero": lambda T, x: x.clamp(-2.0, 0.0),
    "clamp the wrong way round": lambda T, x: x.clamp(1, -1),
    "clamp to nan": lambda T, x: x.clamp(0.0, float("nan")),
    "clamp_min": lambda T, x: x.clamp_min(0),
    "clamp_max": lambda T, x: x.clamp_max(0),
    "where": lambda T, x: T.where(x > 0, x, T.zeros_like(x)),
}


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", CHOOSING)
@pytest.mark.parametrize("size", [1, 8, 64, 40_000])
def test_choosing_among_special_values(name: str, kind: str, size: int) -> None:
    """Values with their signs, and gradients that are special themselves; a few elements and many."""

    def values(T: Any) -> Any:
        x = T.tensor(SPECIAL, dtype=getattr(T, kind)).repeat(size // 8 + 1)[:size].requires_grad_()
        y = CHOOSING[name](T, x)
        y.backward(T.tensor([*SPECIAL[::-1], 2.0], dtype=x.dtype).repeat(size // 9 + 1)[:size])
        return y, x.grad, 1 / y.detach(), 1 / x.grad  # which tells 0.0 from -0.0

    assert not difference(values)
