"""Every operation: documented, reachable, and right in every dtype and memory layout.

The tests walk the registry; what is tested is in each operation's own `samples`. Gradients against central differences
are in test_ops_gradients.py, in-place forms in test_ops_inplace.py, comparison with PyTorch in torch/test_ops_torch.py.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.ops.registry import registry
from leafgrad.ops.samples import ValuesOnly
from op_checks import LAYOUTS, Entry, assert_close, cases, entries, is_public, public_name, tolerance
from op_promises import check_layout, check_memory, check_narrow_dtype, outputs_or_refusal

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

# -- names and documentation ------------------------------------------------------------------------------------------


@every_op
def test_the_documentation_begins_with_the_signature(entry: Entry) -> None:
    doc = entry.function.__doc__ or ""
    assert doc.startswith(tuple([f"{name}(" for name in (public_name(entry), entry.name, *entry.places)]))
    assert doc.rstrip().endswith((".", "?"))


@every_op
def test_users_can_reach_it(entry: Entry) -> None:
    name = public_name(entry)
    if name:
        assert callable(getattr(lg, name, None) or getattr(lg.nn.functional, name, None) or getattr(lg.Tensor, name))
        assert not entry.method or hasattr(lg.Tensor, name)
        assert not entry.in_place or callable(getattr(lg.Tensor, name + "_"))
    elif entry.name in lg.nn.functional.__all__:
        function = getattr(lg.nn.functional, entry.name)
        same = function.__wrapped__.__wrapped__ is entry.function.__wrapped__.__wrapped__
        assert same or "inplace" in inspect.signature(function).parameters  # which calls it


@every_op
def test_it_has_samples(entry: Entry) -> None:
    assert bool(cases(entry)) != isinstance(entry.samples, ValuesOnly)  # which has samples for test_op_values.py


@every_op
def test_what_is_not_public_says_what_it_is_in_pytorch(entry: Entry) -> None:
    has_program = isinstance(entry.samples, ValuesOnly) and entry.samples.run is not None
    assert is_public(entry) or entry.reference is not None or has_program


# -- dtypes -----------------------------------------------------------------------------------------------------------

# what is not public is only called with dtypes that its callers have checked
public_ops = pytest.mark.parametrize("entry", [e for e in entries() if is_public(e)], ids=lambda entry: entry.name)


@every_op
def test_narrow_dtypes_give_what_wide_ones_do(entry: Entry) -> None:
    check_narrow_dtype(entry, "float32")
    check_narrow_dtype(entry, "complex64", may_refuse=True)
    for dtype in ("float16", "bfloat16"):
        check_narrow_dtype(entry, dtype, may_refuse="half precision" in entry.exempt)


@public_ops
def test_complex_numbers_without_imaginary_part_are_real_ones(entry: Entry) -> None:
    for case in cases(entry):
        expected = case.outputs()
        case.tensors = case.casts("complex128")
        outputs = outputs_or_refusal(case)
        for found, real in zip(outputs or [], expected if outputs is not None else [], strict=True):
            assert_close(found.array, real.array.astype(found.array.dtype), tolerance(np.dtype("complex128")), case)


@public_ops
def test_integers_and_bools_give_what_floats_do(entry: Entry) -> None:
    for case in [*cases(entry, "int64"), *cases(entry, "bool")]:
        outputs = outputs_or_refusal(case)
        if outputs is None or "integers" in case.exempt:
            continue
        assert not any([t.requires_grad for t in outputs])
        expected = case.outputs(case.casts("float64"))
        for found, real in zip(outputs, expected, strict=True):
            kind = found.array.dtype
            assert_close(found.array, real.array.astype(kind), tolerance(kind), case)


# -- memory -----------------------------------------------------------------------------------------------------------


@every_op
@pytest.mark.filterwarnings("ignore:torch.searchsorted")  # of layouts that cost it a copy
def test_memory_layout_changes_nothing(entry: Entry) -> None:
    for layout in LAYOUTS[1:]:
        check_layout(entry, layout)


@every_op
def test_inputs_stay_as_they_are_and_gradients_are_separate(entry: Entry) -> None:
    for layout in LAYOUTS:
        check_memory(entry, layout)


# -- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [o for o in registry.values() if o.jvp == "elementwise" and is_public(o) and cases(o)],
    ids=lambda o: o.name,
)
def test_elementwise_samples_have_no_elements_once_and_no_dimensions_once(operation: Entry) -> None:
    """The other operations cannot all be called with such tensors."""
    shapes = [t.shape for case in cases(operation) for t in case.tensors]
    assert () in shapes
    assert any([0 in shape for shape in shapes])
