"""In-place forms of operations, and what happens when a tensor changes that a gradient rule still needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core.views import MULTI_VIEW
from leafgrad._dtypes import can_cast
from leafgrad.ops.registry import Composite, registry
from leafgrad.ops.samples import S
from op_checks import (
    Case,
    Entry,
    assert_close,
    cases,
    check_gradient,
    check_second_gradient,
    entries,
    gradients,
    is_public,
    overlap,
    public_name,
    raised_by_leafgrad,
    saved_arrays,
    tolerance,
)
from op_promises import check_change

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

# -- in-place forms ---------------------------------------------------------------------------------------------------


def in_place_form(entry: Entry) -> Callable[..., Any]:
    form: Callable[..., Any] = getattr(lg.Tensor, public_name(entry) + "_")
    return form


with_in_place_form = [e for e in entries() if e.in_place and public_name(e) and cases(e)]
every_form = pytest.mark.parametrize("entry", with_in_place_form, ids=lambda entry: entry.name)


def in_place_cases(entry: Entry, dtype: str, change: Callable[..., Any]) -> list[Case]:
    """The samples of an operation whose result fits into the memory of its first argument, as calls of `change`."""
    twin = Composite(change, entry.samples, method=False)
    found = []
    for case, other in zip(cases(entry, dtype), cases(twin, dtype), strict=True):
        try:
            result = case.call(case.tensors)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            assert raised_by_leafgrad(error)
            continue
        first = first_argument(case)
        if not isinstance(first, lg.Tensor):  # a number, which cannot be changed
            continue
        if dtype == "complex128" and "complex in place" in entry.exempt:
            continue
        if "dtype" in entry.exempt and result.dtype != first.dtype:  # the one of the result is required
            continue
        if isinstance(first, lg.Tensor) and result.shape == first.shape and can_cast(result.dtype, first.dtype):
            found.append(other)
    return found


def first_argument(case: Case) -> Any:
    """The first argument of a call."""
    return case.call(case.tensors, lambda *args, **kwargs: args[0])


def on_a_copy(entry: Entry) -> Callable[..., Any]:
    form = in_place_form(entry)

    def change(input: Any, *args: Any, **kwargs: Any) -> Any:
        x = input.clone()
        before = x._version
        result = form(x, *args, **kwargs)
        assert result is x
        assert x._version == before + 1
        return x

    change.__name__ = f"{entry.name}_"
    return change


@every_form
def test_in_place_forms_do_the_same(entry: Entry) -> None:
    for dtype in ("float64", "float32", "complex128", "int64", "bool"):
        for case in in_place_cases(entry, dtype, on_a_copy(entry)):
            plain = cases(entry, dtype)[case.index]
            found, expected = case.call(case.tensors), plain.call(plain.tensors)
            assert found.dtype == first_argument(case).dtype
            assert_close(found.array, expected.array.astype(found.array.dtype), tolerance(found.array.dtype), case)
            for g, e in zip(gradients(case, case.leaves()), gradients(plain, plain.leaves()), strict=True):
                assert_close(g.array, e.array, tolerance(g.array.dtype), "gradient of", case)


@every_form
def test_in_place_forms_have_at_least_one_sample(entry: Entry) -> None:
    assert any([in_place_cases(entry, dtype, on_a_copy(entry)) for dtype in ("float64", "int64")])


@every_form
def test_gradients_of_in_place_forms_are_derivatives(entry: Entry) -> None:
    for case in in_place_cases(entry, "float64", on_a_copy(entry)):
        check_gradient(case)
        check_second_gradient(case)


def on_a_view(entry: Entry) -> Callable[..., Any]:
    """Change the middle one of three copies through a view; the result is all three."""
    form = in_place_form(entry)

    def change(input: Any, *args: Any, **kwargs: Any) -> Any:
        whole = lg.stack([input, input - 1, input]) if input.dtype is not lg.bool else lg.stack([input, input, input])
        before = whole._version
        part = whole[1]
        whole[1] = input  # a change through another view, so that the history of this one has to be brought up to date
        form(part, *args, **kwargs)
        assert part._version == whole._version == before + 2
        assert part.numel() == 0 or np.shares_memory(part.array, whole.array)
        return whole * whole

    change.__name__ = f"{entry.name}_ of a view"
    return change


@every_form
def test_a_change_through_a_view_reaches_the_gradient_of_its_base(entry: Entry) -> None:
    for case in in_place_cases(entry, "float64", on_a_view(entry)):
        check_gradient(case)


@every_form
def test_results_that_do_not_fit_are_refused(entry: Entry) -> None:
    """Neither the value nor the history of a tensor changes if the change is refused."""
    form = in_place_form(entry)
    for dtype in ("float64", "float32", "complex128", "int64", "bool"):
        fitting = [case.index for case in in_place_cases(entry, dtype, on_a_copy(entry))]
        for case in cases(entry, dtype):
            x = first_argument(case)
            if case.index not in fitting and isinstance(x, lg.Tensor):
                before = x.array.tobytes()
                with pytest.raises((RuntimeError, NotImplementedError, TypeError)) as caught:
                    case.call(case.tensors, form)
                assert raised_by_leafgrad(caught.value), f"{case} fails inside: {caught.value!r}"
                assert x.array.tobytes() == before
                assert x._version == 0


def own_operand(name: str) -> Case:
    def change(x: Any) -> Any:
        y = x.clone()
        return getattr(y, name)(y)

    return cases(Composite(change, lambda t: [S(t(3, 2, low=0.4))], method=False))[0]


@pytest.mark.parametrize("name", ["add_", "sub_"])
def test_a_tensor_may_be_its_own_operand(name: str) -> None:
    check_gradient(own_operand(name))
    check_second_gradient(own_operand(name))


@pytest.mark.parametrize("name", ["mul_", "div_", "pow_"])
def test_a_tensor_that_overwrites_its_own_operand_has_no_gradient(name: str) -> None:
    """The rule needs the operand, which is gone. PyTorch refuses it as well."""
    case = own_operand(name)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gradients(case, case.leaves())


# -- saved tensors ----------------------------------------------------------------------------------------------------


def returns_pieces(entry: Entry) -> bool:
    """Are the results pieces of one tensor that come out of one node? Then none of them and not the tensor itself may
    change, as in PyTorch."""
    views = [t.rare.view for case in cases(entry) for t in case.outputs() if t.rare is not None]
    return any([view is not None and view.restriction == MULTI_VIEW for view in views])


def pieces_changed() -> Any:
    return pytest.raises(RuntimeError, match="is a view and its base or another view of its base has been modified")


@pytest.mark.parametrize("entry", [e for e in entries() if cases(e) and is_public(e)], ids=lambda entry: entry.name)
def test_a_changed_tensor_makes_backward_fail_or_does_not_matter(entry: Entry) -> None:
    check_change(entry, pieces_changed if returns_pieces(entry) else None)


NEEDED = {
    # by the gradient of the first argument alone: which arguments (0, 1, ...) and whether the result
    ("add", 2): ((), False),
    ("sub", 2): ((), False),
    ("mul", 2): ((1,), False),
    ("true_div", 2): ((1,), False),
    ("maximum", 2): ((0, 1), False),
    ("atan2", 2): ((0, 1), False),
    ("matmul", 2): ((1,), False),
    ("exp", 1): ((), True),
    ("sqrt", 1): ((), True),
    ("tanh", 1): ((), True),
    ("sigmoid", 1): ((), True),
    ("log", 1): ((0,), False),
    ("sin", 1): ((0,), False),
    ("neg", 1): ((), False),
    ("sum", 1): ((), False),
    ("mean", 1): ((), False),
}


@pytest.mark.parametrize("name", [name for name, _ in NEEDED if name in registry], ids=str)
def test_only_what_the_needed_rules_ask_for_is_saved(name: str) -> None:
    operation = registry[name]
    arguments, result = next(needed for (key, _), needed in NEEDED.items() if key == name)
    square = [lg.rand(3, 3, dtype=lg.float64) for _ in operation.inputs]
    square[0].requires_grad_()
    out = operation.function(*square)
    saved = saved_arrays([out])
    held = [i for i, t in enumerate(square) if any([overlap(t.array, x) for x in saved])]
    assert (tuple(held), any([overlap(out.array, x) for x in saved])) == (arguments, result)


def test_in_place_forms_are_known() -> None:
    """Nothing above would be tested if the forms were not found."""
    assert {"add", "mul", "exp", "clamp", "masked_fill", "pow"} <= {e.name for e in with_in_place_form}


# -- memory that appears several times, or is read and written --------------------------------------------------------

ROW = lg.tensor([0])
SEVERAL = "more than one element of the written-to tensor refers to a single memory location"
SHARED = "some elements of the input tensor and the written-to tensor refer to a single memory location"


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.scatter_(0, lg.zeros(1, 3, dtype=lg.int64), 1.0),
        lambda x: x.scatter_add_(0, lg.zeros(1, 3, dtype=lg.int64), lg.ones(1, 3)),
        lambda x: x.index_add_(0, ROW, lg.ones(1, 3)),
        lambda x: x.index_copy_(0, ROW, lg.ones(1, 3)),
        lambda x: x.put_(ROW, lg.ones(1), accumulate=True),
        lambda x: x.masked_scatter_(x == 0, lg.ones(6)),
    ],
)
def test_indexed_changes_of_expanded_tensors_are_refused(change: Callable[[Any], Any]) -> None:
    x = lg.zeros(3)
    with pytest.raises(RuntimeError, match=SEVERAL):
        change(x.expand(2, 3))
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "name, change, result",
    [
        ("index_fill_", lambda x: x.index_fill_(0, ROW, 1), [1, 1, 1]),
        ("masked_fill_", lambda x: x.masked_fill_(x == 0, 1), [1, 1, 1]),
        ("index_put_", lambda x: x.index_put_((ROW, lg.tensor([1])), lg.tensor(1.0)), [0, 1, 0]),
        ("index_put_", lambda x: x.index_put_((ROW, lg.tensor([1])), lg.tensor(2.0), accumulate=True), [0, 2, 0]),
        ("index_put_", lambda x: x.__setitem__(ROW, 3.0), [3, 3, 3]),
    ],
)
def test_fills_of_expanded_tensors_are_warned_of(name: str, change: Callable[[Any], Any], result: list[float]) -> None:
    x = lg.zeros(3)
    with pytest.warns(UserWarning, match=f"Use of {name} on expanded tensors is deprecated"):
        change(x.expand(2, 3))
    assert x.tolist() == result


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.scatter_(0, lg.arange(5), x),
        lambda x: x.index_copy_(0, lg.arange(4), x[1:]),
        lambda x: x.index_add_(0, lg.arange(5), x),
        lambda x: x.put_(lg.arange(2), x[1:3]),
        lambda x: x.__setitem__(lg.arange(4), x[1:]),
    ],
)
def test_values_in_the_memory_that_is_changed_are_refused(change: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError, match=SHARED):
        change(lg.arange(5.0))


def test_a_mask_may_be_what_it_changes() -> None:
    mask = lg.tensor([True, False, True])
    assert mask.masked_fill_(mask, False).tolist() == [False, False, False]
    with pytest.raises(RuntimeError, match=SHARED):
        mask[1:].masked_fill_(mask[:-1], True)


# -- operators and other operands -------------------------------------------------------------------------------------

OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_in_place_ask_the_other_operand(name: str) -> None:
    x = lg.ones(2, dtype=lg.int64)
    assert getattr(x, f"__i{name}__")(object()) is NotImplemented
    other = type("Other", (), {f"__r{name}__": lambda self, left: "asked"})()
    changed = {"x": x, "other": other}
    sign = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
            "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}[name]  # fmt: skip
    exec(f"x {sign}= other", changed)
    assert changed["x"] == "asked"
    with pytest.raises(TypeError, match="unsupported operand type"):
        exec(f"x {sign}= other", {"x": x, "other": object()})


def test_copy_of_itself() -> None:
    """Nothing is written, but it counts as a change; what has a history is recorded."""
    x = lg.arange(3.0)
    assert x.copy_(x) is x and x._version == 1 and x.tolist() == [0, 1, 2]
    y = x.clone().requires_grad_() * 2
    y.copy_(y)
    assert type(y.grad_fn).__name__ == "CopyBackwards"
