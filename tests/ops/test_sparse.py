"""Sparse tensors beside dense ones of the same numbers: results, gradients, layouts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad.autograd import gradcheck, gradgradcheck

Function = Callable[..., Any]


def numbers(*shape: int, seed: int = 0, density: float = 0.5) -> Any:
    """A dense tensor of which a part is zero."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 2, shape) * rng.choice([-1, 1], shape)
    return torch.tensor(np.where(rng.uniform(size=shape) < density, values, 0))


def uncoalesced(x: Any, sparse_dim: int | None = None) -> Any:
    """The same numbers in another order, some of them in two parts."""
    own = x.to_sparse() if sparse_dim is None else x.to_sparse(sparse_dim)
    indices, values = own.indices(), own.values()
    order = torch.arange(indices.shape[1] - 1, -1, -1)
    both = torch.cat([indices[:, order], indices], 1), torch.cat([values[order] * 0.25, values * 0.75])
    return torch.sparse_coo_tensor(*both, x.shape)


SHAPES = [(3, 4), (1, 5), (4, 1), (0, 3), (3, 0)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("made", [lambda x: x.to_sparse(), uncoalesced], ids=["coalesced", "uncoalesced"])
def test_computes_what_dense_tensors_do(shape: tuple[int, int], made: Function) -> None:
    x, y, z = numbers(*shape), numbers(*shape, seed=1), numbers(shape[1], 2, seed=2, density=1)
    s, t = made(x), made(y)
    pairs = [
        (s, x), (s + t, x + y), (s - t, x - y), (y + s, x + y), (s * t, x * y), (s * y, x * y), (s * 3, x * 3),
        (-s, -x),
        (s / 2, x / 2), (s @ z, x @ z), (z.t() @ s.t(), z.t() @ x.t()), (s @ t.t(), x @ y.t()),
        (s @ z[:, 0], x @ z[:, 0]),
        (s.t(), x.t()), (s.sum(), x.sum()), (s.sum(0), x.sum(0)), (s.sum(1, keepdim=True), x.sum(1, keepdim=True)),
        (torch.cat([s, t]), torch.cat([x, y])), (torch.stack([s, t], 1), torch.stack([x, y], 1)),
        (s.unsqueeze(1), x.unsqueeze(1)),
        (s.sin(), x.sin()), (s**2, x**2), (s.abs(), x.abs()), (s.double(), x), (s.clone(), x), (s.coalesce(), x),
        (s * torch.ones(2, *shape), x * torch.ones(2, *shape)), (s * y[:1], x * y[:1]), (s * z[:, 0], x * z[:, 0]),
        (y.sparse_mask(s), torch.where(x != 0, y, y * 0)) if made is not uncoalesced else (s, x),
        (s.to_sparse_csr(), x), (s.to_sparse_csc(), x), (s.to_sparse_bsr((1, 1)), x), (s.to_sparse_bsc((1, 1)), x),
    ]  # fmt: skip
    for found, expected in pairs:
        np.testing.assert_allclose(found.to_dense().numpy(), expected.numpy(), rtol=1e-12, atol=1e-12)
        assert found.shape == expected.shape and found.dtype == expected.dtype


def test_some_dimensions_are_dense() -> None:
    x, y = numbers(4, 3, 2, density=0.4), numbers(4, 3, 2, seed=1, density=0.4)
    for count in (1, 2, 3):
        for s, t in ((x.to_sparse(count), y.to_sparse(count)), (uncoalesced(x, count), y.to_sparse(1))):
            assert s.sparse_dim() == count and s.dense_dim() == 3 - count
            at = torch.tensor([2, 0, 0])
            pairs = [
                (s + t, x + y), (s * t, x * y), (s * y, x * y), (y + s, x + y), (s.sum(2), x.sum(2)),
                (s.sum((0, 2)), x.sum((0, 2))),
                (s.index_select(0, at), x.index_select(0, at)), (s[1], x[1]), (s.select(2, 1), x.select(2, 1)),
                (torch.cat([s, s], 2), torch.cat([x, x], 2)), (s.unsqueeze(3), x.unsqueeze(3)),
                (s.unsqueeze(0), x.unsqueeze(0)),
                (torch.sparse.sum(s, 0), x.sum(0)),
            ]  # fmt: skip
            for found, expected in pairs:
                np.testing.assert_allclose(found.to_dense().numpy(), expected.numpy(), atol=1e-12)


FUNCTIONS: dict[str, Function] = {
    "to_dense": lambda s: s,
    "add": lambda s: s + s.t().t() * 2,
    "with dense": lambda s: torch.ones(3, 4, dtype=torch.float64) - s,
    "mul": lambda s: s * s,
    "mul dense": lambda s: s * torch.arange(12.0, dtype=torch.float64).reshape(3, 4),
    "mul broadcast": lambda s: s * torch.arange(4.0, dtype=torch.float64),
    "div": lambda s: s / 3,
    "sin": lambda s: s.sin(),
    "sqrt": lambda s: (s * s).sqrt(),
    "pow": lambda s: s**3,
    "mm": lambda s: torch.sparse.mm(s, torch.arange(8.0, dtype=torch.float64).reshape(4, 2)),
    "mm of sparse": lambda s: torch.sparse.mm(s, s.t()),
    "mv": lambda s: s @ torch.arange(4.0, dtype=torch.float64),
    "sum": lambda s: s.sum(),
    "sum 0": lambda s: torch.sparse.sum(s, 0),
    "softmax": lambda s: torch.sparse.softmax(s, 0),
    "log_softmax": lambda s: torch.sparse.log_softmax(s, 1),
    "cat": lambda s: torch.cat([s, s * 2], 1),
    "index_select": lambda s: s.index_select(0, torch.tensor([2, 0, 2])),
    "select": lambda s: s[1],
    "unsqueeze": lambda s: s.unsqueeze(1),
    "values": lambda s: s.coalesce().values() ** 2,
    "mask": lambda s: s.sparse_mask(numbers(3, 4, seed=5).to_sparse()),
    "csr": lambda s: s.to_sparse_csr() if s.is_sparse else s.to_sparse(),
    "norm": lambda s: s.norm(),
    "dtype": lambda s: s.to(torch.complex128),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    function = FUNCTIONS[name]
    x = numbers(3, 4)
    assert gradcheck(lambda s: function(s).to_dense(), (x.to_sparse().requires_grad_(),), masked=True)
    csr = x.to_sparse_csr().requires_grad_()
    if name not in ("sum 0", "select", "unsqueeze", "mask", "values"):
        assert gradcheck(lambda s: function(s).to_dense(), (csr,), masked=True)


@pytest.mark.parametrize("name", ["add", "mul", "mm", "sin", "softmax", "cat", "to_dense", "sum"])
def test_second_derivatives(name: str) -> None:
    values = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    places = torch.tensor([[0, 1, 2], [3, 0, 1]])

    def function(v: Any) -> Any:
        return FUNCTIONS[name](torch.sparse_coo_tensor(places, v, (3, 4))).to_dense() ** 2

    assert gradgradcheck(function, (values,))


def test_complex_numbers() -> None:
    values = torch.tensor([1 + 2j, -2j, 0.5], dtype=torch.complex128, requires_grad=True)
    d = torch.tensor(np.arange(6).reshape(3, 2) * (1 - 0.5j), requires_grad=True)

    def function(v: Any, d: Any) -> Any:
        s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], v, (2, 3))
        return torch.sparse.mm(s * s.conj() + s * 2j, d)

    assert gradcheck(function, (values, d))


def test_compressed_layouts_compute_as_coordinates_do() -> None:
    x, z = numbers(4, 6), numbers(6, 3, seed=1, density=1)
    for s in (x.to_sparse_csr(), x.to_sparse_csc(), x.to_sparse_bsr((2, 3)), x.to_sparse_bsc((2, 2))):
        assert torch.allclose(s @ z, x @ z)
        doubled = s * 2
        assert doubled.layout == s.layout and torch.equal(doubled.to_dense(), x * 2)
        assert (s + s).layout == s.layout and torch.equal((s + s).to_dense(), x * 2)
        assert torch.equal(s.to_sparse().to_dense(), x) and s.to_sparse().coalesce()._nnz() >= 12
    batch = torch.stack([x, x * 2]).to_sparse_csr()
    assert batch.crow_indices().shape == (2, 5) and torch.equal(batch.to_dense()[1], x * 2)
    assert torch.equal(batch.transpose(0, 0).to_dense(), batch.to_dense())


def test_values_share_memory() -> None:
    s = numbers(3, 4).to_sparse()
    s._values().zero_()
    assert not s.to_dense().any() and s._nnz()
    values = torch.ones(2)
    t = torch.sparse_coo_tensor([[0, 1]], values, (3,))
    values += 1
    assert t.to_dense().tolist() == [2, 2, 0]


def test_results_that_are_saved_must_not_change() -> None:
    s = numbers(3, 4).to_sparse().requires_grad_() * 1
    out = (s * s).to_dense().sum()
    with torch.no_grad():
        s.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_functions_of_other_classes_and_modes_see_sparse_tensors() -> None:
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    s = torch.eye(2).to_sparse()
    with Mode():
        torch.mm(s, s)
        s + s
    assert seen == ["mm", "add"]


def test_threads_share_nothing_that_changes() -> None:
    s, d = numbers(20, 20).to_sparse(), numbers(20, 20, seed=1, density=1).requires_grad_()
    expected = torch.autograd.grad((s @ d).sum(), d)[0]
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(torch.autograd.grad((s @ d).sum(), d)[0])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all([torch.equal(g, expected) for g in found])


def test_clipping_and_averages_of_sparse_gradients() -> None:
    table = nn.Embedding(5, 2, sparse=True)
    (table(torch.tensor([1, 3, 1])) * 3).sum().backward()
    dense = table.weight.grad.to_dense()
    total = nn.utils.clip_grad_norm_(table.parameters(), 1.0)
    assert torch.allclose(total, dense.norm()) and table.weight.grad.is_sparse
    assert torch.allclose(table.weight.grad.to_dense(), dense / (dense.norm() + 1e-6))


@pytest.mark.parametrize("optimizer", ["SGD", "Adagrad", "SparseAdam"])
def test_sparse_steps_change_only_what_was_used(optimizer: str) -> None:
    torch.manual_seed(0)
    table = nn.Embedding(6, 3, sparse=True)
    before = table.weight.detach().clone()
    steps = getattr(torch.optim, optimizer)(table.parameters(), lr=0.1)
    for _ in range(3):
        steps.zero_grad()
        (table(torch.tensor([1, 4])) ** 2).sum().backward()
        steps.step()
    changed = (table.weight.detach() != before).any(1)
    assert changed.tolist() == [False, True, False, False, True, False]
    with torch.no_grad():
        assert table.weight[[1, 4]].abs().sum() < before[[1, 4]].abs().sum()


def test_refusals_name_the_operation_and_the_fix() -> None:
    s = torch.eye(2).to_sparse()
    with pytest.raises(
        NotImplementedError, match="Could not run 'aten::exp' with arguments from the 'SparseCPU' backend"
    ):
        s.exp()
    with pytest.raises(NotImplementedError, match=r"(?s)'aten::logsumexp'.*SparseCsrCPU.*fix  x.to_dense\(\)"):
        torch.logsumexp(s.to_sparse_csr(), 0)
    with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
        np.asarray(s)
    with pytest.raises(RuntimeError, match="size is inconsistent with indices: for dim 0, size is 2 but found index 5"):
        torch.sparse_coo_tensor([[5]], [1.0], (2,))


def test_a_large_product_takes_memory_for_its_elements_only() -> None:
    count = 20_000
    places = torch.stack([torch.arange(count), torch.arange(count).flip(0)])
    s = torch.sparse_coo_tensor(places, torch.ones(count), (count, count))
    v = torch.arange(float(count)).requires_grad_()
    out = s @ v
    assert torch.equal(out.detach(), v.detach().flip(0))
    out.sum().backward()
    assert torch.equal(v.grad, torch.ones(count))
    assert (s @ s)._nnz() == count and torch.sparse.sum(s).item() == count


def test_the_sparse_gradient_of_gather_at_a_single_place() -> None:
    x = torch.arange(4.0, requires_grad=True)
    torch.gather(x, 0, torch.tensor(3), sparse_grad=True).backward()
    assert x.grad.is_sparse and x.grad.to_dense().tolist() == [0.0, 0.0, 0.0, 1.0]
    x = torch.tensor(2.0, requires_grad=True)
    torch.gather(x, 0, torch.tensor(0), sparse_grad=True).backward()
    assert x.grad.to_dense().item() == 1.0


def test_gradients_of_sparse_tensors_by_autograd_grad() -> None:
    x = torch.eye(2, requires_grad=True)
    (g,) = torch.autograd.grad(x.to_sparse().sum(), x)
    assert g.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    s = x.detach().to_sparse().requires_grad_()
    (g,) = torch.autograd.grad((s * s).to_dense().sum(), s)
    assert g.is_sparse and g.to_dense().tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_divisors_are_single_numbers() -> None:
    dense, sparse = torch.eye(2), torch.eye(2).to_sparse()
    assert sparse.clone().div_(2).to_dense().tolist() == [[0.5, 0.0], [0.0, 0.5]]
    for divide in (lambda: sparse / sparse, lambda: dense.div_(sparse), lambda: sparse.clone().div_(dense)):
        with pytest.raises(RuntimeError, match=r"zero-dim dense tensor divisor \(got shape \[2, 2\]"):
            divide()
    with pytest.raises(RuntimeError, match="got a sparse divisor"):
        sparse / torch.tensor(2.0).to_sparse()
    assert dense.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_complex_numbers_of_sparse_tensors_as_pairs() -> None:
    z = torch.tensor([[1 + 2j, 0], [0, 3j]]).to_sparse().requires_grad_()
    pairs = torch.view_as_real(z)
    assert pairs.is_sparse and pairs.shape == (2, 2, 2) and pairs.values().tolist() == [[1, 2], [0, 3]]
    assert torch.view_as_complex(pairs).to_dense().tolist() == z.to_dense().tolist()
    assert (z.real + z.imag).to_dense().tolist() == [[3, 0], [0, 3]]
    (pairs.to_dense() * torch.arange(8.0).reshape(2, 2, 2)).sum().backward()
    assert z.grad.to_dense().tolist() == [[1j, 0], [0, 6 + 7j]]
    with pytest.raises(RuntimeError, match="view_as_complex_sparse is only supported"):
        torch.view_as_complex(torch.ones(2, 2).to_sparse())
    with pytest.raises(RuntimeError, match="view_as_real_sparse is only supported for complex"):
        torch.view_as_real(torch.ones(2, 2).to_sparse())


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64])
def test_rows_are_added_in_place(kind: Any) -> None:
    """To dense tensors of any layout, each as often as it is named."""
    at, rows = torch.tensor([[3, 1, 3, 0]]), torch.arange(8).reshape(4, 2).to(kind)
    sparse = torch.sparse_coo_tensor(at, rows, (5, 2))
    expected = torch.ones(5, 2, dtype=kind) + 2 * sparse.to_dense()
    for dense in (torch.ones(5, 2), torch.ones(2, 5).t(), torch.ones(10, 4)[::2, 1:3]):
        memory = dense = dense.to(kind)
        for part in (dense, dense.view(dense.shape)):
            before = part.clone()
            assert part.add_(sparse, alpha=2) is part
            assert part.equal(expected + before - 1) and memory._version > 0
        dense += sparse
        assert dense is memory and dense.equal(expected + expected - 1 + sparse.to_dense())


def test_what_is_added_in_place_besides_rows() -> None:
    none = torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.int64), torch.ones(0), (3,))
    assert torch.ones(3).add_(none).tolist() == [1, 1, 1]
    places = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 1]]), torch.ones(2), (2, 2))
    assert torch.zeros(2, 2).add_(places, alpha=3).tolist() == [[0, 3], [0, 3]]
    assert torch.zeros(2, 2).add_(places.to_sparse_csr()).tolist() == [[0, 1], [0, 1]]
    doubles = torch.sparse_coo_tensor(torch.tensor([[0]]), torch.ones(1, dtype=torch.float64), (2,))
    assert torch.zeros(2).add_(doubles).tolist() == [1, 0]
    special = torch.sparse_coo_tensor(torch.tensor([[0, 1, 2]]), torch.tensor([float("nan"), float("inf"), -0.0]), (3,))
    assert str(torch.full((3,), -0.0).add_(special).tolist()) == "[nan, inf, -0.0]"
    x = torch.ones(2, requires_grad=True)
    (x * 2).add_(doubles.float()).pow(2).sum().backward()
    assert x.grad.tolist() == [12, 8]
    with pytest.raises(RuntimeError, match=r"self has size \[3\] while other has size \[2\]"):
        torch.zeros(3).add_(doubles)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(doubles.float())
