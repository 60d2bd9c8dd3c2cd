"""Views share memory, version and history with their base; in-place changes rewrite that history, and values that a
gradient rule has saved are guarded by version counters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.autograd import grad

CHANGED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def leaf(*shape: int) -> Any:
    """1, 2, 3, ... in a shape."""
    return lg.tensor(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape), requires_grad=True)


def numbers(t: Any) -> Any:
    return t.detach().numpy().tolist()


def tensor(values: Any) -> Any:
    return lg.tensor(values, dtype=lg.float64)


# -- versions ---------------------------------------------------------------------------------------------------------


def test_versions_count_changes() -> None:
    x = lg.zeros(4)
    assert x._version == 0 and (x + 1)._version == 0
    changes: list[Callable[[], Any]] = [
        lambda: x.add_(1), lambda: x.__iadd__(1), lambda: x.__setitem__(0, 5.0), lambda: x[1:].mul_(2),
        lambda: x.view(2, 2)[0].zero_(), lambda: x.detach().fill_(3), lambda: x.copy_(lg.ones(4)),
        lambda: x.__setitem__(..., 2.0), lambda: x.__setitem__(x > 0, 1.0), lambda: x.__setitem__(lg.tensor([0]), 1.0),
        lambda: x.clamp_(0, 1), lambda: x.masked_fill_(x > 5, 0.0), lambda: x.normal_(), lambda: x.exp_(),
    ]  # fmt: skip
    for count, change in enumerate(changes, 1):
        change()
        assert x._version == count
    x.data.add_(1)
    with lg.no_grad():
        x.add_(1)
    assert x._version == len(changes) + 1


def test_views_and_detached_tensors_share_the_counter() -> None:
    x = lg.zeros(2, 3)
    relatives = [x[0], x.t(), x.view(-1), x.detach(), x.expand(2, 2, 3), x.unbind()[1], x.diagonal(), x[None], x[...]]
    strangers = [x.clone(), x + 0, x.data, x[lg.tensor([0])], x.reshape(-1).contiguous().clone()]
    x.add_(1)
    relatives[1].add_(1)
    assert [t._version for t in (x, *relatives)] == [2] * 10
    assert [t._version for t in strangers] == [0] * 5


# -- saved values -----------------------------------------------------------------------------------------------------

NEEDS_INPUT: dict[str, Any] = {
    "mul": lambda x: x * x, "div": lambda x: x.detach().clone() / x, "pow": lambda x: x**3, "log": lambda x: x.log(),
    "sin": lambda x: x.sin(),
    "abs": lambda x: x.abs(), "clamp": lambda x: x.clamp(0, 2), "prod": lambda x: x.prod(), "var": lambda x: x.var(),
    "maximum": lambda x: lg.maximum(x, x.detach() + 1), "dot": lambda x: x.dot(x),
}  # fmt: skip
NEEDS_RESULT: dict[str, Any] = {
    "exp": lambda x: x.exp(), "tanh": lambda x: x.tanh(), "sigmoid": lambda x: x.sigmoid(), "sqrt": lambda x: x.sqrt(),
    "relu": lambda x: x.relu(), "softmax": lambda x: x.softmax(0), "log_softmax": lambda x: x.log_softmax(0),
}  # fmt: skip
NEEDS_NOTHING: dict[str, Any] = {
    "add": lambda x: x + x, "sub": lambda x: 1 - x, "neg": lambda x: -x, "sum": lambda x: x.sum(),
    "mul": lambda x: x * 2,
    "div": lambda x: x / 4, "mean": lambda x: x.mean(), "cat": lambda x: lg.cat([x, x]), "clone": lambda x: x.clone(),
    "index": lambda x: x[lg.tensor([0, 0])], "cumsum": lambda x: x.cumsum(0), "expand": lambda x: x.expand(2, 3) + 0,
}  # fmt: skip

CHANGES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda t: t.add_(0.25),
    "a view": lambda t: t.view(-1)[0:1].add_(0.25),
    "detached": lambda t: t.detach().add_(0.25),
    "without recording": lambda t: lg.no_grad()(lambda: t.mul_(2))(),
    "an element": lambda t: t.view(-1).__setitem__(0, 0.25),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", NEEDS_INPUT)
def test_a_changed_input_is_detected(name: str, how: str) -> None:
    x = leaf(3)
    y = x * 1
    z = NEEDS_INPUT[name](y)
    CHANGES[how](y)
    with pytest.raises(RuntimeError, match=CHANGED):
        z.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", NEEDS_RESULT)
def test_a_changed_result_is_detected(name: str, how: str) -> None:
    x = leaf(3)
    z = NEEDS_RESULT[name](x * 1)
    CHANGES[how](z)
    with pytest.raises(RuntimeError, match=CHANGED):
        z.sum().backward()


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", NEEDS_RESULT)
def test_a_changed_input_does_not_matter_if_the_result_was_saved(name: str, how: str) -> None:
    x = leaf(3)
    y = x * 1
    z = NEEDS_RESULT[name](y)
    (expected,) = grad(z.sum(), x, retain_graph=True)
    CHANGES[how](y)
    z.sum().backward()
    assert numbers(x.grad) == numbers(expected)


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", NEEDS_NOTHING)
def test_changes_do_not_matter_if_nothing_was_saved(name: str, how: str) -> None:
    x = leaf(3)
    y = x * 1
    z = NEEDS_NOTHING[name](y)
    (expected,) = grad(z.sum(), x, retain_graph=True)
    CHANGES[how](y)
    z.sum().backward()
    assert numbers(x.grad) == numbers(expected)


def test_the_other_operand_and_constants_are_guarded_too() -> None:
    x, c = leaf(2), tensor([3.0, 4.0])
    for z, target in ((x * c, c), (c * x, c), (x / c, c), (x.dot(c), c)):
        target.add_(1)
        with pytest.raises(RuntimeError, match=CHANGED):
            z.sum().backward()
    z = x * c  # x itself is not needed: c wants no gradient
    with lg.no_grad():
        x.add_(1)
    z.sum().backward()
    assert numbers(x.grad) == numbers(c)


def test_a_change_through_data_is_not_detected() -> None:
    x = leaf(2)
    z = x * x
    x.data.mul_(10)
    z.sum().backward()
    assert numbers(x.grad) == [20.0, 40.0]


def test_an_index_may_be_changed_after_use() -> None:
    x, at = leaf(3), lg.tensor([0, 2])
    y = x[at] * 1
    at.fill_(1)
    y.sum().backward()
    assert numbers(x.grad) == [1.0, 0.0, 1.0]


# -- in place on tensors that are no views ----------------------------------------------------------------------------


def test_a_chain_of_in_place_operations() -> None:
    x = leaf(2)
    y = x * 1
    for _ in range(100):
        assert y.mul_(2).add_(1).div_(2) is y
    assert y.grad_fn.name() == "DivBackward0" and y._version == 300
    y.sum().backward()
    assert numbers(x.grad) == [1.0, 1.0] and numbers(y) == [51.0, 52.0]


def test_old_values_are_kept_where_a_rule_needs_them() -> None:
    x, w = leaf(2), tensor([5.0, 7.0]).requires_grad_()
    y = x * 1
    y.mul_(w).sin_().mul_(w)
    y.sum().backward()
    inner = np.array([5.0, 14.0])
    np.testing.assert_allclose(numbers(x.grad), np.cos(inner) * [25.0, 49.0])
    np.testing.assert_allclose(numbers(w.grad), np.sin(inner) + np.cos(inner) * inner)


def test_results_from_before_keep_their_history() -> None:
    x = leaf(2)
    y = x * 2
    z = y + 1
    y.mul_(5)
    (z + y).sum().backward()
    assert numbers(x.grad) == [12.0, 12.0] and numbers(z) == [3.0, 5.0]


def test_an_in_place_operation_with_itself() -> None:
    x = leaf(2)
    y = x * 1
    y.add_(y)
    y.sum().backward()
    assert numbers(x.grad) == [2.0, 2.0]
    y = x * 1
    y.mul_(y)
    with pytest.raises(RuntimeError, match=CHANGED):
        y.sum().backward()


@pytest.mark.parametrize(
    ("erase", "name"),
    [
        (lambda y: y.zero_(), "ZeroBackward0"),
        (lambda y: y.fill_(0), "FillBackward2"),
        (lambda y: y.copy_(tensor([0.0, 0.0])), "torch::autograd::CopyBackwards"),
        (lambda y: y.__setitem__(..., 0.0), "FillBackward3"),
        (lambda y: y.__setitem__(slice(None), tensor([0.0, 0.0])), "torch::autograd::CopyBackwards"),
    ],
)
def test_values_that_were_overwritten_get_zeros(erase: Any, name: str) -> None:
    x = leaf(2)
    y = x * 1
    erase(y)
    assert y.grad_fn.name() == name
    (1 / y).sum().backward()  # an infinite gradient: zero times it would not be zero
    assert numbers(x.grad) == [0.0, 0.0]


def test_the_written_values_get_the_gradient() -> None:
    x, w, s = leaf(2, 2), tensor([10.0, 20.0]).requires_grad_(), tensor(3.0).requires_grad_()
    y = x * 1
    y.copy_(w)
    (y * tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert numbers(w.grad) == [4.0, 6.0] and numbers(x.grad) == [[0.0, 0.0], [0.0, 0.0]]
    z = lg.zeros(3, dtype=lg.float64).fill_(s)
    z.sum().backward()
    assert numbers(s.grad) == 3.0 and z.grad_fn.name() == "FillBackward3"
    single = lg.zeros(2, 2).copy_(w)
    single.sum().backward()
    assert numbers(w.grad) == [6.0, 8.0] and w.grad.dtype is lg.float64


def test_in_place_without_recording_changes_values_only() -> None:
    x = leaf(2)
    y = x * 2
    with lg.no_grad():
        y.mul_(5)
        x.mul_(3)
    assert y.grad_fn.name() == "MulBackward0" and x.is_leaf and x.requires_grad
    y.sum().backward()
    assert numbers(x.grad) == [2.0, 2.0] and numbers(y) == [10.0, 20.0] and numbers(x) == [3.0, 6.0]


LEAF_CHANGES: dict[str, Callable[[Any], Any]] = {
    "add_": lambda x: x.add_(1), "+=": lambda x: x.__iadd__(1), "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(1),
    "copy_": lambda x: x.copy_(tensor([1.0, 2.0])), "x[...]": lambda x: x.__setitem__(..., 1.0),
    "normal_": lambda x: x.normal_(),
    "mask": lambda x: x.__setitem__(x.detach() > 0, 1.0), "index": lambda x: x.__setitem__(lg.tensor([0]), 1.0),
}  # fmt: skip
LEAF_VIEW_CHANGES: dict[str, Callable[[Any], Any]] = {
    "select": lambda x: x[0].add_(1), "slice": lambda x: x[:1].mul_(2), "view": lambda x: x.view(2, 1).zero_(),
    "x[0]": lambda x: x.__setitem__(0, 1.0), "view of a view": lambda x: x[None].t().add_(1),
}  # fmt: skip


@pytest.mark.parametrize("name", [*LEAF_CHANGES, *LEAF_VIEW_CHANGES])
def test_leaves_and_their_views_refuse_changes(name: str) -> None:
    x = leaf(2)
    view = "a view of " if name in LEAF_VIEW_CHANGES else ""
    change = {**LEAF_CHANGES, **LEAF_VIEW_CHANGES}[name]
    with pytest.raises(RuntimeError, match=f"^{view}a leaf Variable that requires grad is being used in an in-place"):
        change(x)
    assert numbers(x) == [1.0, 2.0] and x._version == 0
    with lg.no_grad():
        change(x)
    assert x._version == 1 and x.is_leaf and x.requires_grad


# -- in place through views -------------------------------------------------------------------------------------------

VIEWS: dict[str, Callable[[Any], Any]] = {
    "select": lambda y: y[1], "slice": lambda y: y[:, 1:], "step": lambda y: y[:, ::2], "view": lambda y: y.view(4, 3),
    "transpose": lambda y: y.transpose(0, 1), "t": lambda y: y.t(), "permute": lambda y: y.permute(1, 0),
    "diagonal": lambda y: y.diagonal(), "unsqueeze": lambda y: y.unsqueeze(1), "squeeze": lambda y: y[None].squeeze(),
    "narrow": lambda y: y.narrow(1, 1, 2), "flatten": lambda y: y.flatten(), "expand": lambda y: y.expand(2, 3, 4)[1],
    "of a view": lambda y: y.view(2, 6).t()[2:5, 1],
    "deeper": lambda y: y[1:].view(2, 2, 2).permute(2, 0, 1)[0].diagonal(),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_a_change_through_a_view_reaches_the_base_and_other_views(name: str) -> None:
    weights = np.arange(1.0, 13.0).reshape(3, 4)
    x = leaf(3, 4)
    y = x * 1
    other = y.view(-1)
    view = VIEWS[name](y)
    factors = lg.arange(2.0, 2.0 + view.numel(), dtype=lg.float64).reshape(view.shape)
    view.mul_(factors)

    expected = np.ones((3, 4))
    part = np.arange(12.0).reshape(3, 4)
    places = VIEWS[name](lg.tensor(part)).numpy().astype(int)
    expected.reshape(-1)[places.reshape(-1)] = factors.numpy().reshape(-1)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert view.grad_fn.name() == other.grad_fn.name() == "AsStridedBackward0"
    np.testing.assert_array_equal(numbers(y), expected * weights)
    for through in (y, other):
        x.grad = None
        (through * lg.tensor(weights).reshape(through.shape)).sum().backward(retain_graph=True)
        np.testing.assert_array_equal(numbers(x.grad), expected * weights)
    x.grad = None
    view.sum().backward()
    inside = np.zeros(12)
    inside[places.reshape(-1)] = 1
    np.testing.assert_array_equal(numbers(x.grad), expected * inside.reshape(3, 4))


def test_changes_through_several_views_in_turn() -> None:
    x = leaf(4)
    y = x * 1
    a, b = y[:2], y.view(2, 2)
    c = b.t()
    a.mul_(2)
    b[0].add_(1)
    c.mul_(3)
    y[3] = 7.0
    c[1, 0].mul_(5)
    (y * tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward(retain_graph=True)
    assert numbers(x.grad) == [6.0, 300.0, 300.0, 0.0] and numbers(y) == [9.0, 75.0, 9.0, 7.0]
    x.grad = None
    (c * tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert numbers(x.grad) == [6.0, 3000.0, 30.0, 0.0] and y._version == c._version == 5


def test_a_view_taken_before_the_base_is_changed() -> None:
    x = leaf(4)
    y = x * 1
    view = y[1:3]
    y.mul_(tensor([1.0, 2.0, 3.0, 4.0]))
    (view * tensor([10.0, 100.0])).sum().backward()
    assert numbers(x.grad) == [0.0, 20.0, 300.0, 0.0] and numbers(view) == [4.0, 9.0]


def test_a_base_without_gradient_gets_one_from_what_is_written() -> None:
    base, w = lg.zeros(3, dtype=lg.float64), tensor([2.0, 3.0]).requires_grad_()
    view, other = base[1:], base[:2]
    view.copy_(w * 2)
    assert base.requires_grad and not base.is_leaf and view.requires_grad and other.requires_grad
    (base * tensor([1.0, 10.0, 100.0])).sum().backward(retain_graph=True)
    assert numbers(w.grad) == [20.0, 200.0]
    other.sum().backward()
    assert numbers(w.grad) == [22.0, 200.0]


def test_filling_element_by_element() -> None:
    w = tensor([2.0, 3.0]).requires_grad_()
    out = lg.zeros(2, 3, dtype=lg.float64)
    for i in range(2):
        for j in range(3):
            out[i, j] = w[i] * (j + 1)
    (out * out).sum().backward()
    assert numbers(w.grad) == [2 * 2.0 * 14, 2 * 3.0 * 14]


def test_augmented_assignment_to_parts() -> None:
    x = leaf(3)
    y = x * 1
    y[0] += 5
    y[1:] *= x[1:]
    y[lg.tensor([0, 2])] -= 1
    y[y > 100] = 0.0
    y.sum().backward()
    assert numbers(y) == [5.0, 4.0, 8.0] and numbers(x.grad) == [1.0, 4.0, 6.0]


def test_memory_that_is_not_in_the_usual_order() -> None:
    x = leaf(3, 2)
    y = (x * 1).t().contiguous().t()  # columns one after the other
    y.t().view(-1)[:4].mul_(10)
    (y * x.detach()).sum().backward()
    assert numbers(x.grad) == [[10.0, 20.0], [30.0, 4.0], [50.0, 6.0]]


def test_in_place_changes_are_differentiated_twice() -> None:
    x = leaf(4)
    y = x * x
    row = y.view(2, 2)[0]
    row.mul_(x[:2])
    y[3] = x[0] * x[1]
    (g,) = grad((y * y).sum(), x, create_graph=True)  # y = x0^3, x1^3, x2^2, x0 x1
    assert numbers(g) == [6.0 + 2 * 1 * 4, 6 * 32.0 + 2 * 2.0, 4 * 27.0, 0.0]
    (h,) = grad(g.sum(), x)  # d/dx of 6 x0^5 + 2 x0 x1^2 + 6 x1^5 + 2 x0^2 x1 + 4 x2^3
    assert numbers(h) == [30 + 2 * 4 + 4 * 2, 4 * 2 + 30 * 16 + 2, 12 * 9, 0.0]


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("take", [lambda y: y.unbind(), lambda y: y.chunk(2), lambda y: y.split([1, 1]), tuple])
def test_one_of_several_views_refuses_changes(take: Callable[[Any], Any]) -> None:
    many = "is a view and (is being|its base or another view of its base has been) modified inplace"
    y = leaf(2, 3) * 2
    first, second = take(y)
    for change in (lambda: first.add_(1), lambda: first[..., :1].zero_(), lambda: first.__setitem__(..., 0.0)):
        with pytest.raises(RuntimeError, match=many):
            change()
    assert y._version == 0
    second.sum().backward()
    y.add_(1)  # allowed, but the parts cannot follow
    with pytest.raises(RuntimeError, match=many):
        first * 2
    with pytest.raises(RuntimeError, match=many):
        first.grad_fn
    assert first.requires_grad and (first.detach() == y.detach()[0].reshape(first.shape)).all()
    with lg.no_grad():
        first.add_(1)
    base = lg.zeros(2, 3)
    part, _ = take(base)
    part.add_(1)
    assert base.sum().item() == 3.0


def test_views_made_without_recording() -> None:
    x = leaf(2, 3)
    y = x * 2
    with lg.no_grad():
        view, of_leaf = y[0], x[0]
    assert view.requires_grad and view.is_leaf and view.grad_fn is None and view._base is y
    for t in (view, of_leaf):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
            t.add_(1)
    (of_leaf * 2).sum().backward()  # recorded, but it leads nowhere
    assert x.grad is None
    with lg.no_grad():
        view.mul_(3)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        view * 2


def test_a_change_is_recorded_for_the_sake_of_a_view_whose_base_has_got_a_history() -> None:
    with lg.no_grad():
        target = lg.zeros(2).view(2)
    base = lg.zeros(4)
    source = base[::2]
    base.copy_(leaf(4))
    for change in (target.copy_, target.add_, lambda part: target.__setitem__(0, part[0])):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
            change(source)


def test_bytes_are_counted_before_it_matters_how_they_lie() -> None:
    for x, refused in (
        (lg.ones(3, 2), "self.size(-1) must be divisible by 2"),
        (lg.ones(2, 3), "self.stride(-1) must be 1"),
    ):
        with pytest.raises(RuntimeError, match=f"{re.escape(refused)} to view Float as ComplexFloat"):
            x.t().view(lg.complex64)


def test_expanded_memory_refuses_changes() -> None:
    base = lg.ones(3)
    y = leaf(3) * 1
    for t in (base.expand(2, 3), y.expand(2, 3)):
        for change in (lambda t=t: t.add_(1), lambda t=t: t.copy_(lg.ones(2, 3)), lambda t=t: t[0:2].sin_()):
            with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single"):
                change()


def test_memory_that_is_read_and_written_in_different_order() -> None:
    x = lg.arange(6.0)
    for change in (
        lambda: x[:4].add_(x[1:5]), lambda: x.copy_(x[0]), lambda: x.view(2, 3).t().add_(x.view(3, 2)),
        lambda: x.__setitem__(slice(0, 3), x[1:4]), lambda: x.view(2, 3).mul_(x[:3]), lambda: x.detach().mul_(x[:1]),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to"):
            change()
    assert x._version == 0
    x.add_(x)
    x.view(2, 3).mul_(x.view(2, 3))
    x[:3].copy_(x[3:])
    assert numbers(x) == [36.0, 64.0, 100.0, 36.0, 64.0, 100.0]


def test_the_shape_and_dtype_stay() -> None:
    x, i = lg.ones(3), lg.ones(3, dtype=lg.int64)
    with pytest.raises(RuntimeError, match="output with shape"):
        x.add_(lg.ones(2, 3))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        i.add_(0.5)
    assert numbers(x.add_(i)) == [2.0] * 3 and x._version == 1 and i._version == 0


# -- views that are leaves --------------------------------------------------------------------------------------------


def test_a_view_can_be_a_leaf() -> None:
    base = lg.zeros(4, dtype=lg.float64)
    v = base[:2].requires_grad_()
    w = lg.arange(6.0).view(2, 3).requires_grad_()
    (v * 3).sum().backward()
    (w * w).sum().backward()
    w[0].sum().backward()
    assert numbers(v.grad) == [3.0, 3.0] and v.is_leaf and not base.requires_grad
    assert numbers(w.grad) == [[1.0, 3.0, 5.0], [6.0, 8.0, 10.0]]
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        v.add_(1)


@pytest.mark.parametrize("dtype", [lg.float32, lg.complex64])
def test_a_number_that_was_filled_in_is_no_part_of_the_graph(dtype: Any) -> None:
    y = lg.ones(2, dtype=dtype, requires_grad=True) * 2
    before = y.grad_fn
    y.fill_(0)
    assert y.grad_fn.next_functions == ((before, 0),)


def test_gradients_of_views_without_elements_are_constants() -> None:
    x = lg.zeros(0, 3, requires_grad=True)
    (gradient,) = lg.autograd.grad(x.as_strided((0, 3), (3, 1)).sin().sum(), x, create_graph=True)
    assert gradient.shape == (0, 3) and not gradient.requires_grad


def test_pieces_know_how_they_see_the_base() -> None:
    """Many views are made at once, and the steps to each are found when somebody asks."""
    cuts: list[Callable[[Any], Any]] = [lambda t: t.split(2), lambda t: t.unbind(), lambda t: t.chunk(2, -1)]
    for cut in cuts:
        base: Any = lg.arange(24.0).reshape(6, 4).clone()
        for piece in cut(base[1:5]):
            for t in (piece, piece[:1]):
                seen = base.array
                for operation, options in t.rare.view.steps:
                    seen = operation.core.kernel(seen, *options)
                assert t.rare.view.base is base and t.version is base.version
                assert seen.tolist() == t.tolist() and np.shares_memory(seen, t.array)
