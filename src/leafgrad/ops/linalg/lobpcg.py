"""A few eigenvalues of large symmetric matrices, found step by step: the locally optimal block preconditioned conjugate
gradient method (Knyazev, 2001). A step looks for the best vectors in the span of those it has, of their preconditioned
residuals, and of the directions of the step before, in an orthonormal basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_many
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import FLOAT, float32
from leafgrad.ops.linalg.matrices import NO_HALF, OfMatrices, added, adjoint, column, row, times
from leafgrad.ops.linalg.spectra import linalg_eigh
from leafgrad.ops.random.functions import randn
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any


EXACTLY = ValuesOnly(
    "draws random numbers, and vectors have any sign",
    lambda t: [S(t(9, 9), 2), S(t(2, 7, 7), 1, largest=False), S(t(6, 6), 2, method="basic")],
    lambda torch, x, k, **options: found(torch, x, k, options),
)


def found(torch: Any, x: Any, k: int, options: Any) -> Any:
    """What is found for symmetric matrices with eigenvalues far apart, to the last digit."""
    torch.manual_seed(0)
    matrices = (x + x.mT) / 8 + torch.diag(torch.arange(1, x.shape[-1] + 1, dtype=x.dtype) ** 2)
    values, vectors = torch.lobpcg(matrices, k, tol=1e-15, niter=40, **options)
    return values, vectors[..., :2, :] ** 2


def product(matrix: Array | None, x: Array) -> Array:
    """The product, where None stands for the identity."""
    return x if matrix is None else matrix @ x


class Search:
    """The search for the eigenvectors of one matrix, which a tracker may watch, and stop by `bvars['force_stop']`."""

    def __init__(self, a: Array, b: Array | None, x: Array, preconditioner: Array | None, options: Any) -> None:
        self.iparams, self.fparams, self.bparams, self.method, self.tracker = options
        self.ivars = {"istep": 0, "iterations_left": self.iparams["niter"], "converged_count": 0, "converged_end": 0}
        self.fvars: dict[str, float] = {}
        self.bvars: dict[str, bool] = {}
        self.a, self.b, self.x, self.preconditioner = a, b, x, preconditioner
        self.values = np.zeros(x.shape[1], a.dtype)
        self.residual = self.span = self.errors = x
        size = np.linalg.norm(x)
        self.fvars["X_norm"] = float(size)
        self.fvars["A_norm"] = float(np.linalg.norm(a @ x) / size)
        self.fvars["B_norm"] = float(np.linalg.norm(product(b, x)) / size)

    E = property(lambda self: wrap(self.values))
    X = property(lambda self: wrap(self.x))
    R = property(lambda self: wrap(self.residual))
    S = property(lambda self: wrap(self.span))
    A = property(lambda self: wrap(self.a))
    B = property(lambda self: None if self.b is None else wrap(self.b))
    iK = property(lambda self: None if self.preconditioner is None else wrap(self.preconditioner))
    tvars = property(lambda self: {"rerr": wrap(self.errors)})

    def run(self) -> tuple[Array, Array]:
        n, k = self.x.shape[1], self.iparams["k"]
        self.x = orthonormal(self.x, self.b, self.fparams["ortho_tol_drop"])
        self.choose(self.x, n)
        directions = self.x[:, :0]
        while not self.finished():
            residuals = product(self.preconditioner, self.residual[:, self.ivars["converged_count"] :])
            self.span = self.basis(np.concatenate([residuals, directions], 1))
            found = self.choose(self.span, n)
            directions = self.span[:, n:] @ found[n:]
        return self.values[:k], self.x[:, :k]

    def choose(self, span: Array, n: int) -> Array:
        """The n best vectors in a span, in its basis."""
        values, vectors = np.linalg.eigh(span.T @ (self.a @ span))
        chosen = np.argsort(-values if self.bparams["largest"] else values, kind="stable")[:n]
        self.values, found = values[chosen], vectors[:, chosen]
        self.x = span @ found
        self.residual = self.a @ self.x - product(self.b, self.x) * self.values
        return found

    def finished(self) -> bool:
        k, variables = self.iparams["k"], self.ivars
        bound = self.fvars["A_norm"] + np.abs(self.values[:k]) * self.fvars["B_norm"]
        sizes = np.linalg.norm(self.x[:, :k], axis=0) * bound
        self.errors = np.linalg.norm(self.residual[:, :k], axis=0) / sizes
        good = self.errors < self.fparams["tol"]
        variables["converged_count"] = count = int(k if good.all() else good.argmin())
        variables["converged_end"] = self.span.shape[1]
        stop: bool = count >= k or variables["iterations_left"] == 0
        if not stop:
            variables["istep"] += 1
            variables["iterations_left"] -= 1
            if self.tracker is not None:
                self.tracker(self)
                stop = self.bvars.get("force_stop", False)
        return stop

    def basis(self, others: Array) -> Array:
        """The vectors, and what others add to their span."""
        drop = self.fparams["ortho_tol_drop"]
        for _ in range(1 if self.method == "basic" else self.iparams["ortho_i_max"]):
            others = others - self.x @ (self.x.T @ product(self.b, others))
            others = orthonormal(others, self.b, drop)
            shared = self.x.T @ product(self.b, others)
            if not shared.size or np.abs(shared).max() <= self.fparams["ortho_tol"]:
                break
        room = self.x.shape[0] - self.x.shape[1]  # rounding may leave more columns than there are dimensions
        return np.concatenate([self.x, others[:, -room:] if room else others[:, :0]], 1)


def orthonormal(u: Array, b: Array | None, drop: float) -> Array:
    """Vectors with the same span whose products by way of b are those of the identity: twice, because the first time
    leaves errors where vectors are nearly dependent. Those that are nearly in the span of others are left out."""
    for _ in range(2):
        u = u[:, np.linalg.norm(u, axis=0) > 0]
        gram = u.T @ product(b, u)
        scale = 1 / np.sqrt(np.diagonal(gram))
        values, vectors = np.linalg.eigh(gram * scale * scale[:, None])
        kept = values > drop * (values[-1] if values.size else 1)
        u = (u * scale) @ (vectors[:, kept] / np.sqrt(values[kept]))
    return u


@op
class lobpcg_pairs(OfMatrices):
    """lobpcg_pairs(A, search, generalized): eigenvalues and eigenvectors that `search(matrix, number)` finds."""

    inputs = ("A",)
    options = ("search", "generalized")
    results = 2
    node_name = "LOBPCGAutogradFunctionBackward"
    vmap = "kernel"

    def kernel(x: Array, search: Any, generalized: bool) -> Any:
        stack = x.reshape((-1, *x.shape[-2:]))
        pairs = [search(matrix, number) for number, matrix in enumerate(stack)]
        values, vectors = [np.stack(each) for each in zip(*pairs)]
        lead = x.shape[:-2]
        return values.reshape((*lead, *values.shape[1:])), vectors.reshape((*lead, *vectors.shape[1:]))

    def vjp(g: A, A: A, generalized: A, out: A, out1: A) -> A:
        if generalized:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        g_values, g_vectors = g
        by_values = None if g_values is None else times(out1 * row(g_values), adjoint(out1))
        if g_vectors is None:
            return by_values
        values, vectors = linalg_eigh(A, "L")
        gaps = row(out) - column(values)
        # the gap of a value to itself, which the vectors cannot turn into
        far = np.abs(raw(gaps))
        own = (far <= far.min(-2, keepdims=True)).astype(far.dtype)
        inner = times(adjoint(vectors), g_vectors) * (1 - own) / (gaps + own)
        return added(by_values, times(vectors, inner, adjoint(out1)))

    samples = EXACTLY


@composite(EXACTLY, method=False, exempt=NO_HALF, in_python=("function",))
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """lobpcg(A, k=1, B=None, X=None, n=None, iK=None, niter=1000, tol=None, largest=True, method='ortho', ...): the k
    largest or smallest eigenvalues of A x = λ B x, and the eigenvectors, for symmetric A and positive definite B. X is
    where the search begins, of n random vectors otherwise; iK a preconditioner, about the inverse of A."""
    size = check_matrix(A)
    kind = A.dtype if A.dtype.category >= FLOAT else float32
    count = (1 if X is None else X.array.shape[-1]) if k is None else k
    n = (count if n is None else n) if X is None else X.array.shape[-1]
    if size < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    if X is not None and X.array.shape[-2:] != (size, n):
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(size, n)}")
    eps = {"f": 1.2e-07, "d": 2.23e-16}.get(A.array.dtype.char)
    if eps is None:
        raise errors.mistake(RuntimeError, f"expected float or double, but got: {A.dtype.alias.lower()}")
    tol = eps**0.5 if tol is None else tol
    integers = {"m": size, "n": n, "k": min(count, n), "niter": niter or 1000, "ortho_i_max": 3, "ortho_j_max": 3}
    floats = {"tol": tol, "ortho_tol": tol or eps, "ortho_tol_drop": eps, "ortho_tol_replace": eps}
    flags = {"largest": largest is not False, "ortho_use_drop": False}
    given = [ortho_iparams or {}, ortho_fparams or {}, ortho_bparams or {}]
    settings = (integers | given[0], floats | given[1], flags | given[2], method, tracker)
    starts = [randn(size, n, dtype=kind) for _ in range(A.array[..., 0, 0].size)] if X is None else []

    def search(matrix: Array, number: int) -> tuple[Array, Array]:
        start = starts[number].array if X is None else at(X.array, number)
        b, inverse = [None if m is None else at(m.array, number) for m in (B, iK)]
        return Search(matrix, b, start, inverse, settings).run()

    if A.requires_grad:
        A = (A + A.mT) / 2
    values, vectors = bind_many(lobpcg_pairs.core, (A,), (search, B is not None))
    return values, vectors


def at(stack: Array, number: int) -> Array:
    """The matrix of this number, of one or of many."""
    return stack if stack.ndim == 2 else stack.reshape((-1, *stack.shape[-2:]))[number]


def check_matrix(a: Any) -> int:
    if a.array.ndim < 2:
        raise IndexError("tuple index out of range")
    if a.array.shape[-1] != a.array.shape[-2]:
        raise AssertionError(f"A must be square, got shape {a.shape}")
    return int(a.array.shape[-1])
