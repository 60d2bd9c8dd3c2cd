"""Forward mode of every operation: the derivative along a tangent must agree with the gradient.

For any weights w and tangents t, <w, J t> = <J^T w, t>; and because tangents are recorded, the gradient of J t must
agree with the tangent of the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.autograd import forward_ad
from op_checks import Entry
from registry_cases import as_function, checked, differentiable_cases

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")
every_op = pytest.mark.parametrize("entry", [e for e in checked if not e.pseudo_gradient], ids=lambda e: e.name)


def random_like(rng: Any, t: Any) -> Any:
    values = rng.standard_normal(t.array.shape)
    if t.is_complex():
        values = values + 1j * rng.standard_normal(t.array.shape)
    return lg.from_numpy(np.asarray(values, t.array.dtype))


def inner(a: Any, b: Any) -> float:
    """The real inner product, which is PyTorch's convention for complex numbers as well."""
    return float((a.detach().numpy().conj() * b.detach().numpy()).real.sum())


def along(function: Any, leaves: Any, tangents: Any) -> list[Any]:
    """The values of a function's results and their derivatives along tangents, zeros where there are none."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(leaves, tangents, strict=True)]
        found = [forward_ad.unpack_dual(r) for r in function(*duals)]
        return [(r.primal, lg.zeros_like(r.primal) if r.tangent is None else r.tangent) for r in found]


@every_op
def test_tangents_agree_with_gradients(entry: Entry) -> None:
    rng = np.random.default_rng(0)
    for case in differentiable_cases(entry):
        function, leaves = as_function(case), case.leaves()
        tangents = [random_like(rng, x) for x in leaves]
        results = along(function, leaves, tangents)
        for primal, tangent in results:
            assert tangent.shape == primal.shape and tangent.dtype == primal.dtype, case
        weights = [random_like(rng, primal) for primal, _ in results]
        outputs = [r for r in function(*leaves)]
        pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
        if not pairs:
            continue
        roots, starts = [o for o, _ in pairs], [w for _, w in pairs]
        gradients = lg.autograd.grad(roots, leaves, starts, allow_unused=True)
        forward = sum(inner(w, t) for (_, t), w, o in zip(results, weights, outputs, strict=True) if o.requires_grad)
        backward = sum(inner(g, t) for g, t in zip(gradients, tangents, strict=True) if g is not None)
        assert forward == pytest.approx(backward, rel=1e-7, abs=1e-7), case


@every_op
def test_gradients_of_tangents_agree_with_tangents_of_gradients(entry: Entry) -> None:
    if entry.derivatives < 2:
        return
    rng = np.random.default_rng(1)
    for case in differentiable_cases(entry)[:4]:  # the rest are other shapes of the same
        function, leaves = as_function(case), case.leaves()
        tangents, others = [[random_like(rng, x) for x in leaves] for _ in range(2)]
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, t) for x, t in zip(leaves, tangents, strict=True)]
            results = [r for r in function(*duals) if r.requires_grad]
            if not results:
                continue
            weights = [random_like(rng, r) for r in results]
            gradients = lg.autograd.grad(results, duals, weights, create_graph=True, allow_unused=True)
            of_gradients = [None if g is None else forward_ad.unpack_dual(g).tangent for g in gradients]
            of_results = [forward_ad.unpack_dual(r).tangent for r in results]
        left = sum(inner(t, o) for t, o in zip(of_gradients, others, strict=True) if t is not None)
        recorded = [(t, w) for t, w in zip(of_results, weights, strict=True) if t is not None and t.requires_grad]
        right = 0.0
        if recorded:
            found = lg.autograd.grad([t for t, _ in recorded], leaves, [w for _, w in recorded], allow_unused=True)
            right = sum(inner(g, o) for g, o in zip(found, others, strict=True) if g is not None)
        assert left == pytest.approx(right, rel=1e-6, abs=1e-6), case
