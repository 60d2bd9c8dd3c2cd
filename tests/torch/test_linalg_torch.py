"""Products of matrices and vectors beside PyTorch: results, gradients, and what is refused with which words."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad
from leafgrad.nn import functional

FLOATS = ["float32", "float64", "complex64", "complex128", "float16", "bfloat16"]
DTYPES = [*FLOATS, "int64", "int32", "uint8", "bool"]
TOLERANCE = {"float32": 1e-5, "complex64": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}

sizes = st.integers(0, 3)
shapes = st.lists(sizes, max_size=4).map(tuple)
seeds = st.integers(0, 100)


def values(shape, seed):
    numbers = np.random.RandomState(seed)
    return np.asarray(numbers.randint(-3, 4, shape) + 1j * numbers.randint(-3, 4, shape), "complex128")


def pair(shape, dtype, seed, order="C", grad=False):
    """The same tensor twice: PyTorch's and ours."""
    x = values(shape, seed)
    if "complex" not in dtype:
        x = x.real
    x = np.abs(x) if dtype == "uint8" else x
    x = np.array(x, order=order)
    theirs = torch.from_numpy(x).to(getattr(torch, dtype))
    ours = leafgrad.from_numpy(x).to(getattr(leafgrad, dtype))
    if grad and dtype in FLOATS:
        theirs.requires_grad_()
        ours.requires_grad_()
    return theirs, ours


def as_array(t):
    t = t.detach()
    if "bfloat16" in str(t.dtype):
        t = t.float()
    return t.resolve_conj().numpy()


def assert_same(theirs, ours, dtype="float64"):
    assert str(theirs.dtype) == str(ours.dtype)
    assert tuple(theirs.shape) == tuple(ours.shape)
    tolerance = TOLERANCE.get(dtype, 1e-9)
    np.testing.assert_allclose(as_array(ours), as_array(theirs), rtol=tolerance, atol=tolerance)


def outcome(function, *args, **kwargs):
    """The result, or the kind and first line of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return type(error), str(error).split("\n")[0]


def compare(name, tensors, dtype, **kwargs):
    """Call both; compare results and gradients, or errors."""
    theirs = outcome(theirs_of(name), *[t for t, _ in tensors], **kwargs)
    ours = outcome(ours_of(name), *[t for _, t in tensors], **kwargs)
    if isinstance(theirs, tuple) or isinstance(ours, tuple):
        assert theirs == ours
        return
    assert_same(theirs, ours, dtype)
    assert theirs.requires_grad == ours.requires_grad
    if theirs.requires_grad:
        g = values(tuple(theirs.shape), 5)
        g = g if theirs.is_complex() else g.real
        leaves = [(a, b) for a, b in tensors if a.requires_grad]
        expected = torch.autograd.grad(theirs, [a for a, _ in leaves], torch.from_numpy(g).to(theirs.dtype))
        found = leafgrad.autograd.grad(ours, [b for _, b in leaves], leafgrad.from_numpy(g).to(ours.dtype))
        for a, b in zip(expected, found, strict=True):
            assert_same(a, b, dtype)


def theirs_of(name):
    return torch.nn.functional.linear if name == "linear" else getattr(torch, name)


def ours_of(name):
    return functional.linear if name == "linear" else getattr(leafgrad, name)


TWO = ["matmul", "mm", "mv", "dot", "vdot", "bmm", "outer", "ger", "linear"]


@pytest.mark.parametrize("name", TWO)
@settings(max_examples=300, deadline=None)
@given(a=shapes, b=shapes, dtype=st.sampled_from(DTYPES), seed=seeds)
def test_any_two_shapes(name, a, b, dtype, seed):
    compare(name, [pair(a, dtype, seed, grad=True), pair(b, dtype, seed + 1, grad=True)], dtype)


@st.composite
def fitting(draw):
    """Two shapes that can be multiplied."""
    k, n, m = draw(sizes), draw(sizes), draw(sizes)
    batch = draw(st.lists(sizes, max_size=2))
    other = [draw(st.sampled_from([s, 1])) for s in batch]
    a = draw(st.sampled_from([(k,), (n, k), (*batch, n, k)]))
    b = draw(st.sampled_from([(k,), (k, m), (*other, k, m)]))
    return a, b


@settings(max_examples=500, deadline=None)
@given(shapes=fitting(), dtype=st.sampled_from(DTYPES), orders=st.sampled_from(["CC", "CF", "FC", "FF"]), seed=seeds)
def test_matmul(shapes, dtype, orders, seed):
    a, b = shapes
    compare("matmul", [pair(a, dtype, seed, orders[0], True), pair(b, dtype, seed + 1, orders[1], True)], dtype)


@pytest.mark.parametrize("name", [*TWO, "addmm"])
@settings(max_examples=60, deadline=None)
@given(first=st.sampled_from(DTYPES), second=st.sampled_from(DTYPES), third=st.sampled_from(DTYPES))
def test_different_dtypes(name, first, second, third):
    ranks = {"mv": (2, 1), "dot": (1, 1), "vdot": (1, 1), "bmm": (3, 3), "outer": (1, 1), "ger": (1, 1)}
    shapes = [(2, 2, 2)[:n] for n in ranks.get(name, (2, 2))]
    tensors = [pair(s, d, 3) for s, d in zip(shapes, (first, second))]
    if name in ("addmm", "linear"):
        tensors = [*tensors, pair((2, 2) if name == "addmm" else (2,), third, 4)]
    worst = max((first, second), key=lambda d: TOLERANCE.get(d, 0))
    compare(name, tensors, worst)


@settings(max_examples=300, deadline=None)
@given(
    x=st.lists(sizes, max_size=3).map(tuple),
    n=sizes, k=sizes, m=sizes,
    dtype=st.sampled_from(DTYPES),
    beta=st.sampled_from([1, 0, 2, -0.5, True, 1.5]),
    alpha=st.sampled_from([1, 0, 3, 0.5, 2.5]),
    seed=seeds,
)  # fmt: skip
def test_addmm(x, n, k, m, dtype, beta, alpha, seed):
    if dtype not in FLOATS:
        k = max(k, 1)  # with nothing to multiply PyTorch takes another way, which promotes integers
        beta = abs(beta) if dtype == "uint8" else beta
    shapes = [x, (n, k), (k, m)]
    compare("addmm", [pair(s, dtype, seed + i, grad=True) for i, s in enumerate(shapes)], dtype, beta=beta, alpha=alpha)


@settings(max_examples=300, deadline=None)
@given(
    lead=st.lists(sizes, max_size=3).map(tuple),
    k=sizes, m=sizes, wrong=st.sampled_from([0, 0, 0, 1]),
    bias=st.sampled_from([None, "m", "m", "1", "m+1", "full"]),
    dtype=st.sampled_from(DTYPES),
    orders=st.sampled_from(["CC", "CF", "FC", "FF"]),
    seed=seeds,
)  # fmt: skip
def test_linear(lead, k, m, wrong, bias, dtype, orders, seed):
    if dtype not in FLOATS:
        k = max(k, 1)  # see above
        orders = "CC"  # otherwise what PyTorch says depends on whether a gradient is wanted
    tensors = [pair((*lead, k), dtype, seed, orders[0], True), pair((m, k + wrong), dtype, seed + 1, orders[1], True)]
    if bias is not None:
        shape = {"m": (m,), "1": (1,), "m+1": (m + 1,), "full": (*lead, m)}[bias]
        tensors.append(pair(shape, dtype, seed + 2, grad=True))
    compare("linear", tensors, dtype)


@settings(max_examples=100, deadline=None)
@given(shapes=fitting(), seed=seeds)
def test_second_derivatives(shapes, seed):
    results = []
    for module, which in ((torch, 0), (leafgrad, 1)):
        a, b = (pair(s, "float64", seed + i, grad=True)[which] for i, s in enumerate(shapes))
        first = module.autograd.grad((module.matmul(a, b) ** 3).sum(), (a, b), create_graph=True)
        second = module.autograd.grad((first[0] ** 2).sum() + (first[1] ** 2).sum(), (a, b))
        results.append([*first, *second])
    for theirs, ours in zip(*results, strict=True):
        assert_same(theirs, ours)


@settings(max_examples=60, deadline=None)
@given(lead=st.lists(sizes, max_size=2).map(tuple), k=sizes, m=sizes, with_bias=st.booleans(), seed=seeds)
def test_second_derivatives_of_linear(lead, k, m, with_bias, seed):
    shapes = [(*lead, k), (m, k), (m,)][: 3 if with_bias else 2]
    results = []
    for module, linear, which in ((torch, torch.nn.functional.linear, 0), (leafgrad, functional.linear, 1)):
        leaves = [pair(s, "float64", seed + i, grad=True)[which] for i, s in enumerate(shapes)]
        first = module.autograd.grad((linear(*leaves) ** 3).sum(), leaves, create_graph=True)
        second = module.autograd.grad(sum((g**2).sum() for g in first), leaves)
        results.append([*first, *second])
    for theirs, ours in zip(*results, strict=True):
        assert_same(theirs, ours)


@pytest.mark.parametrize("name", ["T", "mT", "H", "mH", "adjoint"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_transposes(name, shape, dtype):
    theirs, ours = pair(shape, dtype, 1, grad=True)
    get = lambda t: getattr(t, name)() if name == "adjoint" else getattr(t, name)
    a, b = outcome(get, theirs), outcome(get, ours)
    if isinstance(a, tuple) or isinstance(b, tuple):
        assert a == b
    else:
        assert_same(a, b)
        expected = torch.autograd.grad(a.sum(), theirs, torch.ones((), dtype=a.dtype))[0]
        found = leafgrad.autograd.grad(b.sum(), ours, leafgrad.ones((), dtype=b.dtype))[0]
        assert_same(expected, found)


@settings(max_examples=100, deadline=None)
@given(shapes=fitting(), linear=st.booleans(), bias=st.booleans())
def test_names_in_the_graph(shapes, linear, bias):
    a, b = (pair(s, "float32", 1, grad=True) for s in shapes)
    if linear:
        (m,) = shapes[1][:1]
        weights = [pair((m, shapes[0][-1]), "float32", 1, grad=True), pair((m,), "float32", 1, grad=True)]
        args = [a, *weights[: 2 if bias else 1]]
        theirs, ours = (f(*[x[i] for x in args]) for i, f in enumerate((torch.nn.functional.linear, functional.linear)))
    else:
        theirs, ours = torch.matmul(a[0], b[0]), leafgrad.matmul(a[1], b[1])
    # PyTorch ends in a view of one kind or another where there is a batch; ours is one node that says so
    views = {"ViewBackward0", "UnsafeViewBackward0", "CloneBackward0", "SqueezeBackward4", "TransposeBackward0"}
    name, own = type(theirs.grad_fn).__name__, type(ours.grad_fn).__name__
    assert name == own or (name in views and own in views)
