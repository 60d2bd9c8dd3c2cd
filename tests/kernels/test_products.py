"""Products of matrices: natively they are NumPy's, for all layouts, and BLAS keeps the threads that it had."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafgrad.kernels import available_cores, products, use_threads

SIZES = st.sampled_from([1, 2, 3, 5, 16, 17, 33])


def matrix(stack: tuple[int, ...], rows: int, columns: int, layout: str, dtype: Any, seed: int) -> Any:
    """Numbers of this shape that lie in rows, in columns, with gaps, or are one matrix several times."""
    generator = np.random.default_rng(seed)
    if layout == "columns":
        return generator.normal(size=(*stack, columns, rows)).astype(dtype).swapaxes(-1, -2)
    if layout == "gaps":
        return generator.normal(size=(*stack, rows, 2 * columns)).astype(dtype)[..., ::2]
    if layout == "wider":
        return generator.normal(size=(*stack, rows, columns + 3)).astype(dtype)[..., :columns]
    if layout == "repeated":
        return np.broadcast_to(generator.normal(size=(rows, columns)).astype(dtype), (*stack, rows, columns))
    return generator.normal(size=(*stack, rows, columns)).astype(dtype)


LAYOUTS = st.sampled_from(["rows", "columns", "gaps", "wider", "repeated"])


@settings(max_examples=300, deadline=None)
@given(
    stack=st.sampled_from([(), (1,), (4,), (2, 3), (0,)]),
    sizes=st.tuples(SIZES, SIZES, SIZES),
    layouts=st.tuples(LAYOUTS, LAYOUTS),
    dtype=st.sampled_from([np.float32, np.float64]),
    bias=st.sampled_from(["none", "vector", "matrix"]),
    flat=st.booleans(),
)
def test_products_are_numpys(stack: Any, sizes: Any, layouts: Any, dtype: Any, bias: str, flat: bool) -> None:
    m, k, n = sizes
    a = matrix(stack, m, k, layouts[0], dtype, 0)
    b = matrix(() if flat else stack, k, n, layouts[1], dtype, 1)
    vector, full = matrix((), 1, n, "rows", dtype, 2)[0], matrix((), m, n, "columns", dtype, 2)
    added = {"none": (), "vector": (vector,), "matrix": (full,)}
    expected = np.matmul(a, b) + (added[bias][0] if bias != "none" else 0)
    found = products.product(a, b, *added[bias])
    assert found.shape == expected.shape and found.dtype == expected.dtype and found.flags.c_contiguous
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("bias", ["none", "vector", "matrix"])
@pytest.mark.parametrize("columns", [64, 129, 700])
@pytest.mark.parametrize("rows", [1, 3, 8, 31, 32, 33])
def test_few_rows_times_the_weight_of_a_layer(rows: int, columns: int, bias: str) -> None:
    """From 2,048 results on these go by way of the transposed product."""
    for k in (1, 40, 300):
        a, b = matrix((), rows, k, "wider", np.float32, 0), matrix((), k, columns, "columns", np.float32, 1)
        full = matrix((), rows, columns, "rows", np.float32, 2)
        added: Any = {"none": (), "vector": (full[0],), "matrix": (full,)}[bias]
        for left in (a, np.ascontiguousarray(a)):
            found = products.product(left, b, *added)
            exact = np.matmul(a.astype(np.float64), b.astype(np.float64)) + (added[0] if added else 0)
            assert found.flags.c_contiguous and found.dtype == np.float32
            np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(700, 300, 500), (64, 800, 1200), (1200, 800, 64)])
def test_large_products_on_any_number_of_threads(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b = matrix((), m, k, "rows", np.float64, 0), matrix((), k, n, "columns", np.float64, 1)
    expected = a @ b
    try:
        for threads in (1, 2, 3):
            use_threads(threads)
            np.testing.assert_allclose(products.product(a, b), expected, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(products.product(a, b, b[0]), expected + b[0], rtol=1e-10, atol=1e-10)
    finally:
        use_threads(available_cores())


def test_several_threads_at_once() -> None:
    a = matrix((), 300, 300, "rows", np.float64, 0)
    expected = products.product(a, a)
    wrong: list[int] = []

    def work() -> None:
        for i in range(10):
            if not np.allclose(products.product(a, a), expected):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("layout", ["turned", "gaps", "repeated", "wider"])
def test_large_products_of_arrays_that_lie_otherwise(layout: str, flat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of them are multiplied on our threads; NumPy would have BLAS use its own."""
    products.product(np.ones((2, 2)), np.ones((2, 2)))  # looks for BLAS
    copied: list[Any] = []
    laid_out = products.laid_out
    monkeypatch.setattr(products, "laid_out", lambda x, stack: copied.append(x) or laid_out(x, stack))
    if layout == "turned":  # the batch is the second dimension
        a = matrix((), 40 * 12, 64, "rows", np.float32, 0).reshape(40, 12, 64).swapaxes(0, 1)
    else:
        a = matrix((12,), 40, 64, layout, np.float32, 0)
    b = matrix(() if flat else (12,), 64, 96, "columns", np.float32, 1)
    bias = matrix((), 1, 96, "rows", np.float32, 2)[0]
    found = products.product(a, b, bias)
    np.testing.assert_allclose(found, np.matmul(a, b) + bias, rtol=1e-4, atol=1e-4)
    taken = not flat and layout in ("turned", "repeated", "wider")
    assert len(copied) == (2 if products.NATIVE and products.find_blas() and not taken else 0)
    with pytest.raises(ValueError):
        products.product(a, b, np.ones(5, np.float32))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((4, 1), (3,)),
        ((1,), (4,)),
        ((), (4,)),
        ((2, 1, 3), (1, 2, 3)),
        ((5, 1), (1, 2)),
        ((0, 1), (3,)),
        ((2,), (3, 1)),
    ],
)
def test_large_products_whose_stacks_are_broadcast(first: Any, second: Any) -> None:
    a, b = matrix(first, 70, 64, "rows", np.float32, 0), matrix(second, 64, 80, "columns", np.float32, 1)
    found, expected = products.product(a, b), np.matmul(a, b)
    assert found.shape == expected.shape and found.flags.c_contiguous
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_blas_keeps_the_threads_that_it_had() -> None:
    path = products.find_blas() if products.NATIVE else ""
    if not path:  # NumPy has another BLAS, and computes products itself
        assert products.product(np.ones((2, 2)), np.ones((2, 2))).tolist() == [[2, 2], [2, 2]]
        return
    import ctypes

    library = ctypes.CDLL(path)
    get = next(getattr(library, t.format("get")) for _, t, _ in products.NAMES if hasattr(library, t.format("get")))
    before = get()
    a = matrix((), 300, 300, "rows", np.float32, 0)
    for _ in range(3):
        products.product(a, a)
    assert get() == before


def test_shapes_that_do_not_fit_are_refused_as_by_numpy() -> None:
    with pytest.raises(ValueError):
        products.product(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError):
        products.product(np.ones((2, 3)), np.ones((3, 2)), np.ones(5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("count", [0, 1, 1000, 100_001])
@pytest.mark.parametrize("many", [1, 6])
def test_products_and_sums_of_many_vectors(count: int, dtype: Any, many: int) -> None:
    a, b, *vectors = np.random.default_rng(count).normal(size=(many + 2, count)).astype(dtype)
    weights = np.linspace(-1, 1, many)
    exact = [v.astype(np.float64) for v in vectors]
    expected = [[v @ a.astype(np.float64), v @ b.astype(np.float64)] for v in exact]
    found = products.two_products(a, b, *vectors)
    assert found.dtype == np.float64
    # products of float32 are exact as float64; NumPy adds up short runs of them in float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 if dtype is np.float64 else 1e-3)
    total = products.weighted(a, -0.5, weights, *vectors)
    assert total.dtype == dtype
    expected_sum = -0.5 * a.astype(np.float64) + sum(w * v for w, v in zip(weights, exact, strict=True))
    tolerance = {np.float16: 4e-3, np.float32: 2e-6, np.float64: 1e-14}[dtype]
    np.testing.assert_allclose(total, expected_sum, rtol=tolerance, atol=tolerance)


def test_sums_of_vectors_that_are_no_block_of_memory() -> None:
    a, b, c = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32).T
    expected = np.array([[c.astype(float) @ a, c.astype(float) @ b]])
    np.testing.assert_allclose(products.two_products(a, b, c), expected, atol=1e-3)
    np.testing.assert_allclose(products.weighted(a, 2.0, np.array([3.0]), c), 2 * a + 3 * c, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 8192, 8193, 20_000, 300_001])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_product_of_two_vectors(count: int, kind: str) -> None:
    numbers = np.random.default_rng(count)
    a, b = [numbers.standard_normal(count).astype(kind) for _ in range(2)]
    expected = float(a.astype(np.longdouble) @ b.astype(np.longdouble))
    found = products.dot(a, b)
    assert found.dtype == kind and found.shape == ()
    np.testing.assert_allclose(float(found), expected, rtol=1e-5, atol=1e-4 if kind == "float32" else 1e-9)
    np.testing.assert_allclose(products.dot(a[::2], b[::2]), a[::2] @ b[::2], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_product_of_a_matrix_and_a_vector(kind: str) -> None:
    numbers = np.random.default_rng(0)
    for rows, columns in ((3, 4), (400, 1001), (2, 200_000), (1000, 300)):
        a, b = numbers.standard_normal((rows, 2 * columns)).astype(kind), numbers.standard_normal(columns).astype(kind)
        for matrix in (a[:, :columns], a[:, ::2], a[:, :columns].copy(), a[:, :columns].copy(order="F")):
            found = products.times_vector(matrix, b)
            assert found.dtype == kind and found.shape == (rows,)
            expected = matrix.astype(np.float64) @ b.astype(np.float64)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3 if kind == "float32" else 1e-9)


@settings(max_examples=150, deadline=None)
@given(
    stack=st.sampled_from([(), (1,), (3,), (2, 2)]),
    sizes=st.tuples(st.sampled_from([1, 2, 5, 33, 130]), st.sampled_from([1, 2, 7, 70, 200])),
    dtype=st.sampled_from([np.float32, np.float64, np.complex64]),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    layout=st.sampled_from(["rows", "columns", "gaps"]),
)
def test_triangular_systems_are_solved(stack: Any, sizes: Any, dtype: Any, flags: Any, layout: str) -> None:
    (n, count), (upper, left, unit) = sizes, flags
    rng = np.random.default_rng(n + count)
    a = (rng.normal(size=(*stack, n, n)) / n + 2 * np.eye(n)).astype(dtype)
    b = rng.normal(size=(*stack, *((n, count) if left else (count, n)))).astype(dtype)
    if layout == "columns":
        a = np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    elif layout == "gaps":
        a = np.repeat(a, 2, axis=-1)[..., ::2]
    products.find_blas()
    x = np.array(b.swapaxes(-1, -2), order="C")
    x = products.substitute(a, x, upper, left, unit).swapaxes(-1, -2)
    triangle = np.triu(a) if upper else np.tril(a)
    if unit:
        triangle = triangle * (1 - np.eye(n, dtype=dtype)) + np.eye(n, dtype=dtype)
    tolerance = 1e-11 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(triangle @ x if left else x @ triangle, b, rtol=tolerance, atol=tolerance)
