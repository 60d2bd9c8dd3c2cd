"""Products of matrices and vectors: values, gradients, dtypes, memory layouts, errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.nn.functional import linear
from numeric_gradients import check_gradients

F64 = torch.float64


def make(*shape, dtype="float64", seed=0):
    x = np.random.RandomState(seed + len(shape)).uniform(-2, 2, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * np.random.RandomState(seed + 9).uniform(-2, 2, shape)
    return np.asarray(x).astype(dtype)


def tensor(x, grad=False):
    t = torch.from_numpy(np.array(x)) if np.ndim(x) else torch.tensor(x.item(), dtype=F64)
    return t.requires_grad_() if grad else t


MATMUL_SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((3,), (5, 3, 2)),
    ((2, 3), (5, 3, 2)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (3, 3, 2)),
    ((2, 1, 2, 3), (3,)),
    ((2, 1, 2, 3), (3, 2)),
]
EMPTY_SHAPES = [
    ((0,), (0,)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
    ((2, 0), (0,)),
    ((4, 2, 0), (0, 3)),
    ((0, 2, 3), (3, 2)),
    ((0, 2, 3), (0, 3, 2)),
    ((2, 2, 0), (2, 0, 3)),
    ((2, 0, 3), (3,)),
]


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), MATMUL_SHAPES + EMPTY_SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64", "uint8"])
def test_matmul_is_numpys(a, b, dtype):
    x, y = make(*a).astype(dtype), make(*b, seed=1).astype(dtype)
    out = tensor(x) @ tensor(y)
    assert out.numpy().dtype == x.dtype
    np.testing.assert_allclose(out.numpy(), np.matmul(x, y), rtol=1e-4, atol=1e-5)


def test_by_hand():
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]])
    assert torch.mm(a, b).tolist() == [[19, 22], [43, 50]]
    assert torch.mv(a, b[0]).tolist() == [17, 39]
    assert torch.dot(a[0], b[0]).item() == 17
    assert torch.outer(a[0], b[0]).tolist() == [[5, 6], [10, 12]]
    assert torch.ger(a[0], b[0]).tolist() == [[5, 6], [10, 12]]
    assert torch.addmm(torch.tensor([1.0, 10.0]), a, b, beta=2, alpha=3).tolist() == [[59, 86], [131, 170]]
    assert torch.bmm(a[None], b[None]).tolist() == [[[19, 22], [43, 50]]]
    assert linear(a, b, torch.tensor([0.5, -0.5])).tolist() == [[17.5, 22.5], [39.5, 52.5]]
    assert torch.vdot(torch.tensor([1 + 2j]), torch.tensor([3 + 1j])).item() == (1 - 2j) * (3 + 1j)


def test_integers_wrap_around():
    a = torch.tensor([200, 200, 200], dtype=torch.uint8)
    assert torch.dot(a, torch.ones(3, dtype=torch.uint8)).item() == 600 % 256
    m = torch.tensor([[2**40, 3], [5, 7]])
    assert (m @ m).tolist() == [[2**80 % 2**64 + 15, 3 * 2**40 + 21], [5 * 2**40 + 35, 64]]


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize(("a", "b"), MATMUL_SHAPES)
def test_half_precision_is_rounded_once(kind, a, b):
    kind = getattr(torch, kind)
    x, y = tensor(make(*a)).to(kind), tensor(make(*b, seed=1)).to(kind)
    out = x @ y
    assert out.dtype is kind
    exact = (x.float() @ y.float()).to(kind)
    assert out.float().tolist() == exact.float().tolist()


def test_half_precision_with_something_added():
    x, w, b = (tensor(make(*s)).half() for s in ((2, 3), (4, 3), (4,)))
    exact = (x.float() @ w.float().T + b.float()).half()
    assert linear(x, w, b).tolist() == exact.tolist()
    assert linear(x[None], w, b)[0].tolist() == exact.tolist()
    assert torch.addmm(b, x, w.T).tolist() == exact.tolist()


def test_addmm_ignores_its_input_if_beta_is_zero():
    nan = torch.full((4,), float("nan"))
    assert torch.addmm(nan, torch.ones(2, 3), torch.ones(3, 4), beta=0).tolist() == [[3.0] * 4] * 2
    assert torch.addmm(nan, torch.ones(2, 0), torch.ones(0, 4), beta=0).tolist() == [[0.0] * 4] * 2


def test_addmm_of_integers_takes_whole_factors():
    one = lambda *shape: torch.ones(*shape, dtype=torch.int32)
    assert torch.addmm(one(4), one(2, 3), one(3, 4), alpha=1.7, beta=2.5).tolist() == [[5] * 4] * 2


def test_layouts_do_not_matter():
    x, y = make(6, 8), make(8, 10, seed=1)
    plain = x @ y
    a, b = tensor(x), tensor(y)
    fortran = tensor(np.asfortranarray(x))
    every_second = tensor(np.repeat(x, 2, axis=1))[:, ::2]
    for left in (a, fortran, a.T.contiguous().T, every_second):
        np.testing.assert_allclose((left @ b).numpy(), plain)
        np.testing.assert_allclose(linear(left, tensor(y.T)).numpy(), plain)
    expanded = torch.ones(1, 8, dtype=F64).expand(6, 8)
    np.testing.assert_allclose((expanded @ b).numpy(), np.ones((6, 8)) @ y)


def test_results_own_their_memory():
    x, w = torch.randn(2, 3, 4), torch.randn(5, 4)
    for out in (linear(x, w), x @ w.T, linear(x, w, torch.zeros(5))):
        assert out.is_contiguous()
        assert out.array.base is None


# -- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), MATMUL_SHAPES + EMPTY_SHAPES)
def test_gradients_of_matmul(a, b):
    check_gradients(torch.matmul, a, b)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (torch.mm, [(2, 3), (3, 4)]),
        (torch.mv, [(2, 3), (3,)]),
        (torch.dot, [(3,), (3,)]),
        (torch.vdot, [(3,), (3,)]),
        (torch.bmm, [(2, 3, 4), (2, 4, 2)]),
        (torch.outer, [(2,), (3,)]),
        (torch.addmm, [(2, 4), (2, 3), (3, 4)]),
        (lambda x, a, b: torch.addmm(x, a, b, beta=0.5, alpha=-2), [(4,), (2, 3), (3, 4)]),
        (lambda x, a, b: torch.addmm(x, a, b, beta=0), [(2, 1), (2, 3), (3, 4)]),
        (torch.addmm, [(), (2, 3), (3, 4)]),
        (linear, [(2, 3), (4, 3), (4,)]),
        (linear, [(2, 3), (4, 3)]),
        (linear, [(3,), (4, 3), (4,)]),
        (linear, [(3,), (4, 3)]),
        (linear, [(2, 2, 3), (4, 3), (4,)]),
        (linear, [(2, 2, 3), (4, 3)]),
        (linear, [(2, 3), (4, 3), (2, 4)]),
        (linear, [(2, 3), (4, 3), (1,)]),
        (linear, [(2, 2, 3), (4, 3), (2, 4)]),
        (linear, [(2, 3), (3,)]),
        (linear, [(2, 2, 3), (3,), ()]),
        (linear, [(0, 3), (4, 3), (4,)]),
        (linear, [(2, 0), (4, 0), (4,)]),
        (lambda x: x.T @ x, [(3, 2)]),
        (lambda x: x.mT @ x, [(2, 3, 2)]),
        (lambda x: x @ x, [(3, 3)]),
    ],
)
def test_gradients(function, shapes):
    check_gradients(function, *shapes)


def test_gradients_of_linear_are_the_formulas():
    x, w, b = (tensor(make(*s), grad=True) for s in ((5, 3), (4, 3), (4,)))
    g = make(5, 4, seed=3)
    linear(x, w, b).backward(tensor(g))
    np.testing.assert_allclose(w.grad.numpy(), g.T @ x.detach().numpy())
    np.testing.assert_allclose(b.grad.numpy(), g.sum(0))
    np.testing.assert_allclose(x.grad.numpy(), g @ w.detach().numpy())


def test_complex_gradients():
    # d(conj(L)) conventions: the gradient of a holomorphic product is g @ b^H, a^H @ g
    a, b = (tensor(make(*s, dtype="complex128"), grad=True) for s in ((2, 3), (3, 4)))
    g = make(2, 4, dtype="complex128", seed=5)
    (a @ b).backward(torch.from_numpy(g))
    np.testing.assert_allclose(a.grad.numpy(), g @ b.detach().numpy().conj().T)
    np.testing.assert_allclose(b.grad.numpy(), a.detach().numpy().conj().T @ g)
    u, v = (tensor(make(3, dtype="complex128", seed=s), grad=True) for s in (1, 2))
    torch.vdot(u, v).backward(torch.tensor(2 + 1j, dtype=torch.complex128))
    np.testing.assert_allclose(u.grad.numpy(), (2 - 1j) * v.detach().numpy())
    np.testing.assert_allclose(v.grad.numpy(), (2 + 1j) * u.detach().numpy())


def test_only_what_is_needed_is_saved():
    x, w, b = torch.randn(2, 3), torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)
    out = linear(x, w, b)
    w2 = w.detach()
    w2.add_(1)  # the weight is not needed: x wants no gradient
    out.sum().backward()
    frozen = torch.randn(4, 3)
    y = torch.randn(2, 3, requires_grad=True)
    out = linear(y, frozen)
    with torch.no_grad():
        y.add_(1)  # nor is y: the weight wants none
    out.sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), frozen.sum(0).expand(2, 3).numpy(), rtol=1e-5)


def test_changing_what_is_needed_is_noticed():
    x, w = torch.randn(2, 3), torch.randn(4, 3, requires_grad=True)
    out = linear(x, w)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_names_in_the_graph():
    grad = lambda *shape: torch.ones(*shape, requires_grad=True)
    name = lambda t: type(t.grad_fn).__name__
    assert name(grad(2, 3) @ grad(3, 4)) == "MmBackward0"
    assert name(grad(3) @ grad(3)) == "DotBackward0"
    assert name(grad(2, 3) @ grad(3)) == "MvBackward0"
    assert name(grad(3) @ grad(3, 4)) == "SqueezeBackward4"
    assert name(grad(2, 2, 3) @ grad(3, 4)) == "UnsafeViewBackward0"
    assert name(torch.bmm(grad(2, 2, 3), grad(2, 3, 4))) == "BmmBackward0"
    assert name(linear(grad(2, 3), grad(4, 3), grad(4))) == "AddmmBackward0"
    assert name(linear(grad(2, 3), grad(4, 3))) == "MmBackward0"
    assert name(torch.outer(grad(2), grad(3))) == "MulBackward0"


# -- operators and attributes -----------------------------------------------------------------------------------------


def test_operators():
    a, b = torch.ones(2, 3), torch.ones(3, 2)
    assert (a @ b.numpy()).tolist() == (a.numpy() @ b).tolist() == [[3, 3], [3, 3]]
    assert b.__rmatmul__(a).tolist() == [[3, 3], [3, 3]]
    c = a
    c @= b
    assert c.shape == (2, 2)
    assert a.shape == (2, 3)
    for other in (3, "x", [[1.0]]):
        with pytest.raises(TypeError, match="unsupported operand type"):
            a @ other
        with pytest.raises(TypeError, match="unsupported operand type"):
            other @ a


def test_transposes_are_views():
    x = torch.arange(6.0).reshape(2, 3)
    for y in (x.T, x.mT, x.H, x.mH, x.t(), x.adjoint()):
        assert y.tolist() == [[0, 3], [1, 4], [2, 5]]
        assert y._base is x._base
        assert y.data_ptr() == x.data_ptr()
    z = torch.tensor([[1 + 2j, 3j]])
    assert z.H.tolist() == z.mH.tolist() == [[1 - 2j], [-3j]]
    assert z.T.tolist() == z.mT.tolist() == [[1 + 2j], [3j]]
    assert torch.zeros(2, 3, 4).mT.shape == (2, 4, 3)


def test_transposes_of_other_dimensions():
    with pytest.warns(UserWarning, match="dimension other than 2"):
        assert torch.zeros(2, 3, 4).T.shape == (4, 3, 2)
    with pytest.warns(UserWarning, match=r"Tensor.T is deprecated on 0-D"):
        assert torch.tensor(1.0).T.shape == ()
    for name in ("mT", "H", "mH"):
        with pytest.warns(UserWarning, match=f"Tensor.{name} is deprecated on 0-D"):
            getattr(torch.tensor(1.0), name)
        with pytest.raises(RuntimeError, match=f"tensor.{name} is only supported on matrices .*Got 1-D tensor"):
            getattr(torch.zeros(3), name)
    with pytest.raises(RuntimeError, match=r"Got 3-D tensor. For batches of matrices, consider using tensor.mH"):
        torch.zeros(2, 3, 4).H
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.zeros(2, 3).T


# -- errors -----------------------------------------------------------------------------------------------------------

z = torch.zeros


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: z(2, 3) @ z(2, 3), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        (lambda: z(5, 2, 3) @ z(4, 2), r"mat1 and mat2 shapes cannot be multiplied \(10x3 and 4x2\)"),
        (lambda: z(3) @ z(4, 2), r"mat1 and mat2 shapes cannot be multiplied \(1x3 and 4x2\)"),
        (lambda: z(3) @ z(4), r"inconsistent tensor size, expected tensor \[3\] and src \[4\]"),
        (lambda: z(2, 3) @ z(4), r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
        (lambda: z(2, 3, 4) @ z(3, 4, 5), r"The size of tensor a \(2\) must match the size of tensor b \(3\) at non-"),
        (lambda: z(2, 3, 4) @ z(2, 3, 5), r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\]"),
        (lambda: z(4) @ z(2, 3, 5), r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\] but got"),
        (lambda: z(2) @ z(()), r"both arguments to matmul need to be at least 1D, but they are 1D and 0D"),
        (lambda: z(2, 3) @ z(3, 4).double(), r"expected m1 and m2 to have the same dtype, but got: float != double"),
        (lambda: z(3).long() @ z(3), r"dot : expected both vectors to have same dtype, but found Long and Float"),
        (lambda: z(2, 3) @ z(3).half(), r"addmv input tensors must have the same dtype, but got Half, Float, and Half"),
        (lambda: z(2, 2, 3) @ z(2, 3, 2).double(), r"expected scalar type Float but found Double"),
        (lambda: torch.mm(z(2), z(2, 3)), r"self must be a matrix"),
        (lambda: torch.mm(z(2, 3), z(3)), r"mat2 must be a matrix"),
        (lambda: torch.mv(z(2), z(2)), r"vector \+ matrix @ vector expected, got 1, 1, 1"),
        (lambda: torch.dot(z(2, 2), z(2)), r"1D tensors expected, but got 2D and 1D tensors"),
        (lambda: torch.bmm(z(2, 3), z(2, 3, 4)), r"batch1 must be a 3D tensor"),
        (lambda: torch.bmm(z(2, 3, 4), z(3, 4)), r"batch2 must be a 3D tensor"),
        (lambda: torch.bmm(z(2, 3, 4), z(3, 4, 5)), r"to be: \[2, 4\] but got: \[3, 4\]"),
        (lambda: torch.outer(z(2, 2), z(2)), r"outer: Expected 1-D argument self, but got 2-D"),
        (lambda: torch.outer(z(2), z(())), r"outer: Expected 1-D argument vec2, but got 0-D"),
        (lambda: torch.addmm(z(5), z(2, 3), z(3, 4)), r"The expanded size of the tensor \(4\) must match the existing"),
        (lambda: torch.addmm(z(4), z(3), z(3, 4)), r"mat1 must be a matrix, got 1-D tensor"),
        (lambda: torch.addmm(z(4).double(), z(2, 3), z(3, 4)), r"self and mat2 must have the same dtype, but got Dou"),
        (lambda: torch.addmm(z(4), z(2, 3).double(), z(3, 4)), r"mat1 and mat2 must have the same dtype, but got Dou"),
        (lambda: torch.addmm(z(4), z(2, 3), z(3, 4), beta=1j), r"value cannot be converted to type float without ove"),
        (lambda: linear(z(2, 2), z(4, 3), z(4)), r"mat1 and mat2 shapes cannot be multiplied \(2x2 and 3x4\)"),
        (lambda: linear(z(5, 2, 2), z(4, 3)), r"mat1 and mat2 shapes cannot be multiplied \(10x2 and 3x4\)"),
        (lambda: linear(z(2, 3), z(4, 3), z(5)), r"The expanded size of the tensor \(4\) must match the existing size"),
        (lambda: linear(z(2, 3), z(4, 3).double()), r"expected m1 and m2 to have the same dtype, but got: float != do"),
        (lambda: linear(z(2, 3), z(4, 3), z(4).double()), r"self and mat2 must have the same dtype, but got Double an"),
        (lambda: linear(z(2, 3), z(2, 4, 3)), r"t\(\) expects a tensor with <= 2 dimensions, but self is 3D"),
        (lambda: linear(z(()), z(4, 3)), r"both arguments to linear need to be at least 1D, but they are 0D and 2D"),
    ],
)
def test_refused(call, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        call()
    assert "test_linalg.py" in str(caught.value)


def test_bool_is_not_implemented():
    b = torch.ones(2, 2, dtype=torch.bool)
    for call in (lambda: b @ b, lambda: linear(b, b), lambda: torch.dot(b[0], b[0]), lambda: torch.mv(b, b[0])):
        with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
            call()


def test_not_tensors():
    with pytest.raises(TypeError, match=r"mm\(\): argument 'mat2' \(position 2\) must be Tensor, not int"):
        torch.mm(z(2, 2), 3)
    with pytest.raises(TypeError, match=r"linear\(\): argument 'bias' \(position 3\) must be Tensor, not int"):
        linear(z(2, 3), z(4, 3), 3)


def test_an_error_tells_shapes_dimension_and_line():
    x, weight = z(2, 2), z(4, 3)
    with pytest.raises(RuntimeError) as caught:
        linear(x, weight)  # this line
    text = str(caught.value)
    assert "linear    'x' [2, 2] and 'weight' [4, 3]" in text
    assert "dimension 1 of the input is 2, but dimension 1 of the weight is 3" in text
    assert "linear(x, weight)" in text


def test_the_gradient_of_a_bias_is_summed_precisely():
    for n in (1, 1000, 2049, 100_000):
        x, w, b = torch.zeros(n, 1), torch.zeros(3, 1), torch.zeros(3, requires_grad=True)
        g = np.random.RandomState(0).uniform(0, 1, (n, 3)).astype("float32")
        linear(x, w, b).backward(torch.from_numpy(g))
        np.testing.assert_allclose(b.grad.numpy(), g.astype("float64").sum(0), rtol=1e-6)


def test_a_complex_cholesky_factor_keeps_the_phase_of_its_gradient() -> None:
    """Of a Hermitian matrix the diagonal is real, and PyTorch's gradient says what a complex one would change."""
    matrix = torch.tensor([[2.0 + 0j, 1j], [-1j, 3.0]], dtype=torch.complex128, requires_grad=True)
    weights = torch.tensor([[1j, 0.0], [0.5, 1.0]], dtype=torch.complex128)
    (gradient,) = torch.autograd.grad(torch.linalg.cholesky(matrix), matrix, weights)
    wanted = [
        [0.079056941504 + 0.441941738242j, 0.176776695297 - 0.158113883008j],
        [0.176776695297 + 0.158113883008j, 0.316227766017],
    ]
    assert torch.allclose(gradient, torch.tensor(wanted, dtype=torch.complex128))


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (2, 6, 6)])
def test_a_matrix_of_low_rank_is_found_again(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    *stack, rows, columns = shape
    matrix = torch.randn(*stack, rows, 2, dtype=torch.float64) @ torch.randn(*stack, 2, columns, dtype=torch.float64)
    u, s, v = torch.svd_lowrank(matrix, 3)
    assert torch.allclose((u * s.unsqueeze(-2)) @ v.mT, matrix) and torch.allclose(u.mT @ u, torch.eye(3).double())
    mean = matrix.mean(-2, keepdim=True)
    u, s, v = torch.pca_lowrank(matrix, 2)
    assert torch.allclose((u * s.unsqueeze(-2)) @ v.mT, matrix - mean)
    taken_away = torch.svd_lowrank(matrix, 3, M=mean)[1]
    assert torch.allclose(taken_away[..., :2], s) and torch.allclose(taken_away[..., 2], torch.zeros(()).double())


@pytest.mark.parametrize("hermitian", [False, True])
def test_equations_are_solved_by_an_ldl_factor(hermitian: bool) -> None:
    torch.manual_seed(0)
    matrix = torch.randn(20, 6, 6, dtype=torch.complex128)
    matrix.diagonal(dim1=-2, dim2=-1).mul_(0.01)  # so that pivots come from elsewhere, also in pairs
    matrix = matrix + (matrix.mH if hermitian else matrix.mT)
    factor, pivots = torch.linalg.ldl_factor(matrix, hermitian=hermitian)
    b = torch.randn(6, 2, dtype=torch.complex128)
    solution = torch.linalg.ldl_solve(factor, pivots, b, hermitian=hermitian)
    assert torch.allclose(matrix @ solution, b.expand(20, 6, 2)) and (pivots < 0).any() and (pivots > 0).any()


def test_a_pivot_that_is_zero_is_told() -> None:
    zeros = torch.zeros(2, 3, 3)
    assert torch.linalg.ldl_factor_ex(zeros).info.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"torch.linalg.ldl_factor: \(Batch element 0\): Unknown error code: 1"):
        torch.linalg.ldl_factor(zeros)
    with pytest.raises(RuntimeError, match="ldl_factor_ex"):
        torch.linalg.ldl_factor_ex(zeros[0], check_errors=True)


def test_equal_points_have_no_distance_and_no_gradient():
    for count in (3, 40):  # by differences, and by a product of matrices
        x = torch.arange(2.0 * count).view(count, 2).requires_grad_()
        distances = torch.cdist(x, x)
        distances.sum().backward()
        assert x.grad.isfinite().all() and distances.diagonal().eq(0).all()
        y = x.detach() + 1
        (gradient,) = torch.autograd.grad(torch.cdist(x, y).pow(2).sum(), x)
        torch.testing.assert_close(gradient, 2 * (count * x.detach() - y.sum(0)))


def test_addr_of_other_dtypes():
    ones = torch.ones(2, dtype=torch.int64)
    assert torch.addr(torch.ones(2, 2), ones, ones).dtype is torch.float32
    assert torch.addr(torch.ones(2, 2, dtype=torch.int64), ones.double(), ones).dtype is F64
    with pytest.raises(RuntimeError, match="argument beta must not be a floating point number"):
        torch.addr(torch.ones(2, 2, dtype=torch.int64), ones, ones, beta=0.5)
    with pytest.raises(RuntimeError, match="Float can't be cast to the desired output type Long"):
        torch.ones(2, 2, dtype=torch.int64).addr_(ones.float(), ones)


def test_orders_of_norms_are_real():
    for norm, name in ((torch.linalg.vector_norm, "vector_norm"), (torch.linalg.matrix_norm, "matrix_norm")):
        with pytest.raises(RuntimeError, match=f"linalg.{name}: Expected a non-complex scalar"):
            norm(torch.ones(2, 2), 1j)


def test_dtypes_of_products_in_batches():
    with pytest.raises(
        RuntimeError, match="Input dtypes must be the same, got: input double, batch1: float, batch2: f"
    ):
        torch.baddbmm(torch.ones(1, 2, 2, dtype=F64), torch.ones(1, 2, 2), torch.ones(1, 2, 2))


def test_inverses_that_do_not_exist_are_refused():
    with pytest.raises(torch.linalg.LinAlgError, match=r"^cholesky_inverse: The diagonal element 2 is zero"):
        torch.cholesky_inverse(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    with pytest.raises(torch.linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 1 is zero"):
        torch.cholesky_inverse(torch.stack([torch.eye(2), torch.zeros(2, 2)]))
    with pytest.raises(RuntimeError, match="rtol tensor of complex type is not supported"):
        torch.linalg.pinv(torch.eye(2), rtol=torch.tensor(1j))


@pytest.mark.parametrize(
    "equation", ["ij,kj->ik", "ij,kj->ki", "bij,bjk->bik", "bij,bjk->kbi", "ij,ij", "i,i->", "aij,jik->ka"]
)
def test_einsum_of_two_without_and_with_a_graph(equation):
    """What is not recorded takes fewer steps, and has the same values and strides."""
    left, right = equation.split("->")[0].split(",")
    sizes = dict(zip("abijk", (2, 3, 4, 5, 6)))
    a, b = [torch.tensor(make(*[sizes[x] for x in part], seed=7)) for part in (left, right)]
    expected = torch.einsum(equation, a.clone().requires_grad_(), b)
    found = torch.einsum(equation, a, b)
    assert found.shape == expected.shape and found.stride() == expected.stride()
    torch.testing.assert_close(found, expected.detach())
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, a.numpy(), b.numpy()))
    with pytest.raises(RuntimeError, match="does not broadcast"):
        torch.einsum("ij,kj->ik", torch.ones(2, 3), torch.ones(2, 4))


def test_einsum_of_one_equation_and_several_shapes():
    """What is remembered of an equation is remembered for its shapes: sizes of 1 are broadcast, samples of maps not."""
    for shapes in (((2, 3), (3, 4)), ((2, 1), (3, 4)), ((0, 3), (3, 4)), ((2, 3), (1, 1)), ((2, 3), (3, 4))):
        a, b = [torch.tensor(make(*shape), requires_grad=True) for shape in shapes]
        whole = a.detach().numpy() * np.ones((1, max(a.shape[1], b.shape[0])))
        expected = whole @ (b.detach().numpy() * np.ones((whole.shape[1], 1)))
        np.testing.assert_allclose(torch.einsum("ij,jk->ik", a, b).detach().numpy(), expected)
        with pytest.raises(RuntimeError, match="does not match the number of dimensions"):
            torch.einsum("ij,jk->ik", a, b[0])
    a, b = [torch.tensor(make(5, 2, 2, seed=seed), requires_grad=True) for seed in (1, 2)]
    found = torch.vmap(lambda x, y: torch.einsum("ij,jk->ik", x, y))(a, b)
    torch.testing.assert_close(found, torch.einsum("bij,bjk->bik", a, b))


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (8,), (5, 6), (6, 5), (3, 4, 5), (1, 1)])
def test_whole_transforms_of_real_numbers(shape):
    x = torch.tensor(make(*shape))
    for dims in (tuple(range(len(shape))), (0,), tuple(reversed(range(len(shape))))):
        np.testing.assert_allclose(torch.fft.fftn(x, dim=dims).numpy(), np.fft.fftn(x.numpy(), axes=dims), atol=1e-12)
        np.testing.assert_allclose(torch.fft.ifftn(x, dim=dims).numpy(), np.fft.ifftn(x.numpy(), axes=dims), atol=1e-12)


OF_VECTORS = [
    [-2.77366030894, -0.206712627997, -1.88051795017],
    [-0.206712627997, 0.166722919424, 0.374349149849],
    [-1.88051795017, 0.374349149849, 2.60693738951],
]
SECOND_OF_VECTORS = [
    [24.9600239743, 1.73353346488, 15.204381894],
    [1.73353346488, 1.38764828448, 3.39116361964],
    [15.204381894, 3.39116361964, -26.3476722587],
]
SECOND_OF_VALUES = [
    [-0.940742633611, 1.88464397285, -0.995912544834],
    [1.88464397285, 1.40248859961, 3.79167272788],
    [-0.995912544834, 3.79167272788, -0.461745965995],
]


def test_the_gradient_of_eigenvectors_is_symmetric() -> None:
    """PyTorch's values. Of a gradient of eigenvectors only the part counts that turns them."""
    a = torch.tensor([[2.0, 1.0, 0.5], [1.0, -1.0, 0.25], [0.5, 0.25, 3.0]], dtype=F64, requires_grad=True)
    weights = torch.arange(9.0, dtype=F64).reshape(3, 3)
    for half in "LU":
        _, vectors = torch.linalg.eigh(a, half)
        signs = vectors.detach()[0].sign()
        (g,) = torch.autograd.grad((vectors * signs * weights).sum(), a, create_graph=True)
        assert torch.allclose(g, torch.tensor(OF_VECTORS, dtype=F64))
        (second,) = torch.autograd.grad((g * weights).sum(), a)
        assert torch.allclose(second, torch.tensor(SECOND_OF_VECTORS, dtype=F64))
        values = torch.linalg.eigvalsh(a, half)
        (g,) = torch.autograd.grad((values * torch.tensor([1.0, 2.0, 5.0])).sum(), a, create_graph=True)
        (second,) = torch.autograd.grad((g * weights).sum(), a)
        assert torch.allclose(second, torch.tensor(SECOND_OF_VALUES, dtype=F64))


def test_the_gradient_of_complex_eigenvectors_is_hermitian() -> None:
    a = torch.tensor([[2.0, 1j], [-1j, 3.0]], dtype=torch.complex128, requires_grad=True)
    _, vectors = torch.linalg.eigh(a)
    (g,) = torch.autograd.grad((vectors[0].abs() ** 2 * torch.tensor([1.0, 3.0])).sum(), a)
    assert torch.allclose(g, g.mH)


def test_solutions_lie_in_memory_column_by_column() -> None:
    a, b = torch.eye(3) + 1, torch.arange(12.0).reshape(3, 4)
    lu, pivots = torch.linalg.lu_factor(a)
    found = {
        "eigenvectors": torch.linalg.eig(a).eigenvectors,
        "lstsq": torch.linalg.lstsq(a, b).solution,
        "lstsq of fewer rows": torch.linalg.lstsq(a[:2], b[:2]).solution,
        "lstsq of fewer columns": torch.linalg.lstsq(a[:, :2], b).solution,
        "solve": torch.linalg.solve(a, b),
        "lu_solve": torch.linalg.lu_solve(lu, pivots, b),
        "adjoint": torch.linalg.lu_solve(lu, pivots, b, adjoint=True),
    }
    assert {name: x.stride() for name, x in found.items()} == dict.fromkeys(found, (1, 3))
    assert torch.linalg.lstsq(a.expand(2, 3, 3), b.expand(2, 3, 4)).solution.stride() == (12, 1, 3)
    assert torch.linalg.solve(a.expand(2, 3, 3), torch.ones(2, 3)).stride() == (1, 2)
    assert torch.linalg.solve(a, b[:, 0]).stride() == (1,)
