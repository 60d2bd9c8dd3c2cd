"""Every operation: documented, reachable, and right in every dtype and memory layout.

The tests walk the registry; what is tested is in each operation's own `samples`. Gradients against central differences
are in test_ops_gradients.py, in-place forms in test_ops_inplace.py, comparison with PyTorch in torch/test_ops_torch.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from op_checks import (
    LAYOUTS,
    Case,
    Entry,
    assert_close,
    cases,
    entries,
    gradients,
    numpy_dtype,
    overlap,
    public_name,
    raised_by_leafgrad,
    random_like,
    saved_arrays,
    tolerance,
    wide,
)

import leafgrad as lg
from leafgrad._core import wrap
from leafgrad.ops.registry import Operation, composites, registry

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
casts_complex = pytest.mark.filterwarnings("ignore:Casting complex values to real")

# -- names and documentation ------------------------------------------------------------------------------------------

NO_SAMPLES = {
    "constant": "replaces the history of a tensor that was overwritten, which no plain call does",
    "detach": "has no gradient on purpose",
    "polar_change": "is the rule of polar, which covers it",
    "drawn_normal": "belongs to random numbers that were drawn, which do not come out the same twice",
    "drawn_bernoulli": "belongs to random numbers that were drawn, which do not come out the same twice",
}


@every_op
def test_the_documentation_begins_with_the_signature(entry: Entry) -> None:
    doc = entry.function.__doc__ or ""
    assert doc.startswith((f"{public_name(entry)}(", f"{entry.name.removesuffix('_2d')}("))
    assert doc.rstrip().endswith((".", "?"))


@every_op
def test_users_can_reach_it(entry: Entry) -> None:
    name = public_name(entry)
    if name:
        assert callable(getattr(lg, name, None) or getattr(lg.nn.functional, name, None) or getattr(lg.Tensor, name))
        assert not entry.method or hasattr(lg.Tensor, name)
        assert not entry.in_place or callable(getattr(lg.Tensor, name + "_"))
    elif entry.name in vars(lg.nn.functional):
        assert vars(lg.nn.functional)[entry.name] is entry.function


@every_op
def test_it_has_samples(entry: Entry) -> None:
    in_place = isinstance(entry, Operation) is False and entry.name.removesuffix("_") in {**registry, **composites}
    if entry.name in NO_SAMPLES or (entry.name.endswith("_") and in_place):  # in-place forms are tested as such
        assert cases(entry) == []
    else:
        assert len(cases(entry)) > 0


# -- dtypes -----------------------------------------------------------------------------------------------------------

ERRORS = (RuntimeError, TypeError, NotImplementedError, ValueError)


def outputs_or_refusal(case: Case) -> list[Any] | None:
    """The results; None if the dtype is refused, which has to be leafgrad's decision and not an accident in NumPy."""
    try:
        return case.outputs()
    except ERRORS as error:
        assert raised_by_leafgrad(error), f"{case} fails inside: {error!r}"
        return None


NO_HALF = {"nuclear_norm", "polar"}  # singular values in half precision are refused by PyTorch too


@casts_complex
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
@every_op
def test_narrow_dtypes_give_what_wide_ones_do(entry: Entry, dtype: str) -> None:
    reference = "complex128" if dtype == "complex64" else "float64"
    for case, plain in zip(cases(entry, dtype), cases(entry, dtype), strict=True):
        outputs = outputs_or_refusal(case)
        if outputs is None:
            assert dtype == "complex64" or (dtype != "float32" and entry.name in NO_HALF), f"{case} is refused"
            continue
        plain.tensors = plain.casts(reference)
        for found, expected in zip(outputs, plain.outputs(), strict=True):
            assert_close(found.array, expected.array, tolerance(found.array.dtype), case)
        leaves, cotangents = case.leaves(), random_like([t.array for t in outputs if t.array.dtype.kind not in "biu"])
        found_gradients = gradients(case, leaves, [wrap(c) for c in cotangents])
        expected_gradients = gradients(plain, plain.leaves(), [wrap(wide(c)) for c in cotangents])
        for leaf, found, expected in zip(leaves, found_gradients, expected_gradients, strict=True):
            assert found.array.dtype == leaf.array.dtype
            assert_close(found.array, expected.array, tolerance(leaf.array.dtype), f"gradient of {case}")


@casts_complex
@every_op
def test_complex_numbers_without_imaginary_part_are_real_ones(entry: Entry) -> None:
    for case in cases(entry):
        expected = case.outputs()
        case.tensors = case.casts("complex128")
        outputs = outputs_or_refusal(case)
        for found, real in zip(outputs or [], expected if outputs is not None else [], strict=True):
            assert_close(found.array, real.array.astype(found.array.dtype), tolerance(np.dtype("complex128")), case)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
@every_op
def test_integers_and_bools_give_what_floats_do(entry: Entry, dtype: str) -> None:
    for case in cases(entry, dtype):
        outputs = outputs_or_refusal(case)
        if outputs is None:
            continue
        assert not any([t.requires_grad for t in outputs])
        expected = case.outputs(case.casts("float64"))
        for found, real in zip(outputs, expected, strict=True):
            kind = found.array.dtype
            assert_close(found.array, real.array.astype(kind), tolerance(kind), case)


# -- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS[1:])
@every_op
def test_memory_layout_changes_nothing(entry: Entry, layout: str) -> None:
    for case, plain in zip(cases(entry, layout=layout), cases(entry, layout=layout), strict=True):
        plain.tensors = plain.casts("float64")
        within = tolerance(numpy_dtype("float64"))  # sums may be taken in another order
        for found, expected in zip(case.outputs(), plain.outputs(), strict=True):
            assert_close(found.array, expected.array, within, case)
        for found, expected in zip(gradients(case, case.leaves()), gradients(plain, plain.leaves()), strict=True):
            assert_close(found.array, expected.array, within, f"gradient of {case}")


def assert_apart(case: Case, leaves: list[Any], others: list[Any]) -> None:
    """No leaf's gradient shares memory with a tensor of the call, with what was saved, or with another's gradient."""
    grads = [leaf.grad.array for leaf in leaves if leaf.grad is not None]
    for i, g in enumerate(grads):
        assert not any([overlap(g, x) for x in [*others, *grads[:i]]]), f"gradient {i} of {case} is not its own"


@pytest.mark.parametrize("layout", LAYOUTS)
@every_op
def test_inputs_stay_as_they_are_and_gradients_are_separate(entry: Entry, layout: str) -> None:
    for case in cases(entry, layout=layout):
        leaves, before = case.leaves(), [t.array.tobytes() for t in case.tensors]
        results = case.outputs()
        outputs = [t for t in results if t.requires_grad]
        if outputs:
            cotangents = [wrap(c) for c in random_like([t.array for t in outputs])]
            arrays = [t.array for t in [*case.tensors, *results, *cotangents]] + saved_arrays(outputs)
            given = [c.array.copy() for c in cotangents]
            lg.autograd.backward(outputs, cotangents, retain_graph=True)
            assert_apart(case, leaves, arrays)
            once = [None if leaf.grad is None else leaf.grad.array.copy() for leaf in leaves]
            lg.autograd.backward(outputs, cotangents, retain_graph=True)
            lg.autograd.backward(outputs, cotangents)  # may reuse what nobody will need again
            assert_apart(case, leaves, arrays)
            for leaf, g in zip(leaves, once, strict=True):
                if g is not None:
                    assert_close(leaf.grad.array, 3 * g, tolerance(g.dtype), f"three times the gradient of {case}")
            assert all([np.array_equal(c.array, g) for c, g in zip(cotangents, given, strict=True)])
        assert [t.array.tobytes() for t in case.tensors] == before, f"{case} changes its input"
        assert [t._version for t in case.tensors] == [0] * len(before)
