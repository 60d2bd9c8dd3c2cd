"""lobpcg finds what eigh does, without decomposing the matrix."""

import pytest

import leafgrad as lg


def symmetric(n, *lead):
    lg.manual_seed(3)
    x = lg.randn(*lead, n, n, dtype=lg.float64)
    return x @ x.mT + lg.diag(lg.arange(n, dtype=lg.float64))


@pytest.mark.parametrize("method", ["ortho", "basic"])
@pytest.mark.parametrize("largest", [True, False])
def test_the_outer_eigenvalues(method, largest):
    a = symmetric(60, 2)
    values, vectors = lg.lobpcg(a, k=3, largest=largest, method=method)
    expected = lg.linalg.eigvalsh(a)
    expected = expected.flip(-1)[..., :3] if largest else expected[..., :3]
    assert lg.allclose(values, expected, 1e-6) and vectors.shape == (2, 60, 3)
    assert lg.allclose(a @ vectors, vectors * values.unsqueeze(-2), 1e-4, 1e-4 * values.max().item())


def test_generalized_with_a_start_and_a_preconditioner():
    a, b = symmetric(30), symmetric(30).flip(0, 1) + 30 * lg.eye(30, dtype=lg.float64)
    start = lg.randn(30, 4, dtype=lg.float64)
    values, vectors = lg.lobpcg(a, 2, b, start, iK=lg.linalg.inv(a), largest=False)
    assert values.shape == (2,) and lg.allclose(vectors.mT @ b @ vectors, lg.eye(2, dtype=lg.float64), 1e-6, 1e-6)
    expected = lg.linalg.eigvals(lg.linalg.solve(b, a)).real.sort().values[:2]
    assert lg.allclose(values, expected, 1e-6)


def test_a_tracker_may_stop_the_search():
    seen = []

    def tracker(worker):
        seen.append((worker.ivars["istep"], worker.E.shape, worker.X.shape, worker.tvars["rerr"].shape))
        worker.bvars["force_stop"] = worker.ivars["istep"] == 2

    lg.lobpcg(symmetric(40), k=2, tracker=tracker)
    assert seen == [(1, (2,), (40, 2), (2,)), (2, (2,), (40, 2), (2,))]


def test_gradients():
    a = symmetric(9).requires_grad_()
    assert lg.autograd.gradcheck(lambda a: [t**2 for t in lg.lobpcg((a + a.mT) / 2, 2, tol=1e-14)], (a,))
    values, _ = lg.lobpcg(a, 2, B=lg.eye(9, dtype=lg.float64))
    with pytest.raises(ValueError, match="does not support backward with B"):
        values.sum().backward()


def test_refusals():
    with pytest.raises(ValueError, match="smaller than 3 x"):
        lg.lobpcg(symmetric(6), 3)
    with pytest.raises(AssertionError, match="square"):
        lg.lobpcg(lg.ones(3, 9))
    with pytest.raises(RuntimeError, match="float or double"):
        lg.lobpcg(lg.ones(9, 9, dtype=lg.int64))
