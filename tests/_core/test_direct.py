"""In-place operations that compute straight into memory: the same values, history and errors as the general way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core import inplace as direct
from leafgrad.autograd import forward_ad
from leafgrad.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 1e-40, 1e30]
UNARY = ["neg", "exp", "log", "sqrt", "sin", "cos", "tanh", "reciprocal", "relu", "sigmoid"]
BINARY = ["add", "sub", "mul", "div", "true_divide", "subtract", "multiply", "divide"]
FLOATS = ["float32", "float64"]


def tensor(values: Any, dtype: str = "float32") -> Any:
    return lg.tensor(values, dtype=getattr(lg, dtype))


def layouts(dtype: str) -> list[Any]:
    """The same special values in all kinds of memory."""
    flat = np.array(SPECIAL, dtype)
    wide = np.repeat(flat, 2)
    return [
        lg.tensor(flat), lg.tensor(flat.reshape(3, 3)), lg.tensor(flat.reshape(3, 3)).t(), lg.tensor(wide)[::2],
        lg.tensor(flat)[1:], lg.tensor(flat[:0]), lg.tensor(flat[5:6]), lg.tensor(flat[6]),
        lg.tensor(wide).view(2, 9)[1], lg.tensor(np.tile(flat, 8000)),
    ]  # fmt: skip


def same(a: Any, b: Any) -> None:
    """Equal to the last bit, but for the signs of nan."""
    assert a.dtype == b.dtype and a.shape == b.shape
    a, b = a.numpy(), b.numpy()
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)])


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which calls were done directly, of those that change anything."""
    from leafgrad.ops import inplace

    answers: list[bool] = []

    def watched(*args: Any) -> bool:
        done = direct.change(*args)
        if args[1].numel():
            answers.append(done)
        return done

    monkeypatch.setattr(inplace, "change", watched)
    return answers


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name: str, dtype: str, taken: list[bool]) -> None:
    for x in layouts(dtype):
        expected = getattr(x, name)()
        strides, version, memory = x.stride(), x._version, x.data_ptr()
        assert getattr(x, name + "_")() is x
        same(x, expected)
        assert (x.stride(), x._version, x.data_ptr()) == (strides, version + 1, memory)
    assert all(taken)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name: str, dtype: str, taken: list[bool]) -> None:
    for x in layouts(dtype):
        others = [
            2.0,
            3,
            -0.0,
            x,
            x + 1,
            tensor(1.5, dtype),
            tensor(np.array(SPECIAL)[: x.shape[-1] if x.dim() else 1], dtype),
        ]
        for other in others if x.dim() and x.numel() < 1000 else others[:-1]:
            expected = getattr(x, name)(other)
            version = x._version
            assert getattr(x, name + "_")(other) is x
            same(x, expected)
            assert x._version == version + 1
    assert all(taken)


@pytest.mark.parametrize("alpha", [1, 2, -1, 0.3, 0.0, -0.0, float("nan")])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub"])
def test_a_factor_for_the_second_operand(name: str, dtype: str, alpha: float, taken: list[bool]) -> None:
    for x in layouts(dtype):
        other = x * 0.7 + 1
        expected = getattr(x, name)(other, alpha=alpha)
        getattr(x, name + "_")(other, alpha=alpha)
        same(x, expected)
    assert all(taken)


def test_operators_are_the_same() -> None:
    x = lg.ones(3)
    y = x
    y += 1
    y *= x
    y -= 0.5
    y /= 2
    assert y is x and x.tolist() == [1.75, 1.75, 1.75] and x._version == 4


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float16", "bfloat16", "complex64", "complex128"])
def test_other_dtypes_go_the_general_way(dtype: str, taken: list[bool]) -> None:
    x = tensor([1, 2, 3], dtype)
    x.add_(x.clone()).mul_(2).sub_(1)
    assert x.tolist() == [3, 7, 11] and taken == [False] * 3


@pytest.mark.parametrize("other", ["int64", "float64", "bool"])
def test_operands_of_other_dtypes_go_the_general_way(other: str, taken: list[bool]) -> None:
    x = lg.ones(3)
    x.add_(tensor([1, 0, 1], other))
    assert x.tolist() == [2, 1, 2] and x.dtype == lg.float32 and taken == [False]


# -- what is refused changes nothing ----------------------------------------------------------------------------------


REFUSED: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], type[Exception]]] = {
    "shape": (lambda: lg.ones(3), lambda x: x.add_(lg.ones(4)), RuntimeError),
    "larger": (lambda: lg.ones(3), lambda x: x.add_(lg.ones(2, 3)), RuntimeError),
    "single": (lambda: lg.ones(1), lambda x: x.add_(lg.ones(1, 1)), RuntimeError),
    "single and many": (lambda: lg.ones(1), lambda x: x.mul_(lg.ones(5)), RuntimeError),
    "single and none": (lambda: lg.ones(1), lambda x: x.mul_(lg.ones(0)), RuntimeError),
    "number and vector": (lambda: lg.ones(()), lambda x: x.mul_(lg.ones(1)), RuntimeError),
    "complex": (lambda: lg.ones(3), lambda x: x.add_(1j), RuntimeError),
    "expanded": (lambda: lg.ones(1).expand(3), lambda x: x.add_(1.0), RuntimeError),
    "None": (lambda: lg.ones(3), lambda x: x.add_(None), TypeError),
    "text": (lambda: lg.ones(3), lambda x: x.add_("1"), TypeError),
    "nothing": (lambda: lg.ones(3), lambda x: x.add_(), TypeError),
    "too much": (lambda: lg.ones(3), lambda x: x.mul_(1.0, 2.0), TypeError),
    "keyword": (lambda: lg.ones(3), lambda x: x.add_(1.0, beta=2), TypeError),
    "alpha of mul": (lambda: lg.ones(3), lambda x: x.mul_(1.0, alpha=2), TypeError),
    "alpha None": (lambda: lg.ones(3), lambda x: x.add_(lg.ones(3), alpha=None), TypeError),
    "alpha bool": (lambda: lg.ones(3), lambda x: x.add_(lg.ones(3), alpha=True), RuntimeError),
    "argument of exp": (lambda: lg.ones(3), lambda x: x.exp_(1), TypeError),
    "leaf": (lambda: lg.ones(3, requires_grad=True), lambda x: x.add_(1.0), RuntimeError),
    "view of a leaf": (lambda: lg.ones(3, requires_grad=True)[1:], lambda x: x.exp_(), RuntimeError),
    "several views": (lambda: (lg.ones(3, requires_grad=True) * 1).unbind()[0], lambda x: x.exp_(), RuntimeError),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_changes_nothing(name: str) -> None:
    make, attempt, kind = REFUSED[name]
    x = make()
    with pytest.raises(kind):
        attempt(x)
    assert (x.detach() == 1).all() and x._version == 0


def test_memory_that_is_read_in_another_place() -> None:
    x = lg.arange(5.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(x[:-1])
    assert x.tolist() == [0, 1, 2, 3, 4] and x._version == 0
    x.add_(x.data.flip(0))  # a copy
    x[1:].add_(x.data[:-1])  # nobody knows of it, and all is read before anything is written
    assert x.tolist() == [4, 8, 8, 8, 8]


def test_tensors_of_inference_mode_cannot_be_changed_outside() -> None:
    with lg.inference_mode():
        x = lg.ones(3)
        x.add_(1.0)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.add_(1.0)
    assert x.tolist() == [2, 2, 2]
    y = lg.ones(3, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y.mul_(x)
    assert y.tolist() == [1, 1, 1] and y._version == 0


# -- history ----------------------------------------------------------------------------------------------------------


def results(change: Callable[[Any, Any], Any], a: Any, b: Any) -> tuple[Any, ...]:
    """Names of nodes, value and gradients of a computation with `change`, which returns what it made of a copy of a."""
    a, b = a.clone().requires_grad_(), b.clone().requires_grad_()
    x = change(a * 1, b)
    grads = lg.autograd.grad((x * x).sum(), (a, b), allow_unused=True)
    return (x.grad_fn.name(), x.detach().tolist(), *[None if g is None else g.tolist() for g in grads])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("shape", [(3,), (1,), (2, 3), ()])
def test_recorded_functions_of_two(name: str, dtype: str, shape: tuple[int, ...], taken: list[bool]) -> None:
    lg.manual_seed(0)
    plain, in_place = name, name + "_"
    a = lg.rand(shape, dtype=getattr(lg, dtype)) + 0.5
    for b in [a * 2 + 1, tensor(1.7, dtype), *([lg.rand(3, dtype=a.dtype) + 0.5] if shape[-1:] == (3,) else [])]:
        for operand in (lambda b: b, lambda b: b.detach(), lambda b: 1.3, lambda b: 2):
            expected = results(lambda x, b, f=operand: getattr(x, plain)(f(b)), a, b)
            assert results(lambda x, b, f=operand: getattr(x, in_place)(f(b)), a, b) == expected
            # a target without history gets one from the operand
            if operand(b) is b and b.shape == a.shape:
                expected = results(lambda x, b: getattr(x.detach().clone(), plain)(b), a, b)
                assert results(lambda x, b: getattr(x.detach().clone(), in_place)(b), a, b) == expected
    assert all(taken)


@pytest.mark.parametrize("shape", [(3,), (1,), ()])
@pytest.mark.parametrize("name", UNARY)
def test_recorded_functions_of_one(name: str, shape: tuple[int, ...], taken: list[bool]) -> None:
    a = lg.full(shape, 0.75)
    expected = results(lambda x, b: getattr(x, name)(), a, a)
    assert results(lambda x, b: getattr(x, name + "_")(), a, a) == expected
    assert taken == [True]


def test_recorded_with_a_factor(taken: list[bool]) -> None:
    a, b = lg.rand(3), lg.rand(3)
    for operand in (lambda b: b, lambda b: b.detach()):
        expected = results(lambda x, b, f=operand: x.add(f(b), alpha=0.3), a, b)
        assert results(lambda x, b, f=operand: x.add_(f(b), alpha=0.3), a, b) == expected
    assert taken == [False, True]  # the product with alpha is recorded only in the general way


def test_old_values_survive_and_saved_results_are_guarded() -> None:
    a, b = lg.tensor([2.0, 3.0], requires_grad=True), lg.tensor([5.0, 7.0], requires_grad=True)
    x = a * 1
    x.mul_(b)
    assert x.grad_fn._saved_self.tolist() == [2, 3]
    x.add_(1.0)  # the old values were copied
    x.sum().backward()
    assert b.grad.tolist() == [2, 3] and a.grad.tolist() == [5, 7]
    x = (a * 1).exp_()
    assert x.grad_fn._saved_result.data_ptr() == x.data_ptr()
    x.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.sum().backward()
    x = (a * 1).add_(1.0)
    y = x * x
    x.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_second_operand_is_guarded() -> None:
    a, b = lg.ones(3, requires_grad=True), lg.ones(3)
    x = (a * 1).mul_(b)
    b.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.sum().backward()


def test_gradients_of_gradients() -> None:
    a = lg.tensor([0.5, 2.0], requires_grad=True)
    (g,) = lg.autograd.grad((a * 1).mul_(a).exp_().sum(), a, create_graph=True)
    (gg,) = lg.autograd.grad(g.sum(), a)
    x = a.detach()
    close(g.detach(), 2 * x * (x * x).exp())
    close(gg, (2 + 4 * x * x) * (x * x).exp())


def test_views_of_what_has_a_history(taken: list[bool]) -> None:
    a = lg.ones(4, requires_grad=True)
    base = a * 1
    part = base[:2]
    part.mul_(3.0)
    part.add_(base[2:].detach().clone())
    assert base.tolist() == [4, 4, 1, 1] and base.grad_fn.name().endswith("CopySlices")
    base.sum().backward()
    assert a.grad.tolist() == [3, 3, 1, 1] and taken == [False, False]
    free = lg.zeros(4)
    free[:2].add_(1.0)
    with lg.no_grad():
        a[1:].sub_(a.grad[1:], alpha=0.5)
    assert free.tolist() == [1, 1, 0, 0] and free._version == 1 and taken[2:] == [True, True]
    assert a.tolist() == [1, -0.5, 0.5, 0.5] and a._version == 1


def test_an_operand_whose_base_has_got_a_history() -> None:
    a, base = lg.ones(2, requires_grad=True), lg.zeros(4)
    part = base[:2]
    base.add_(lg.cat([a, a]))
    x = lg.ones(2).mul_(part)
    x.sum().backward()
    assert a.grad.tolist() == [1, 1]


def test_retained_gradients_belong_to_the_newest_value() -> None:
    a = lg.ones(2, requires_grad=True)
    x = a * 2
    x.retain_grad()
    x.mul_(3.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [12, 12] and a.grad.tolist() == [72, 72]


def test_the_line_of_the_change_is_known() -> None:
    a = lg.ones(2, requires_grad=True)
    x = a.exp()
    x.add_(1.0)
    with pytest.raises(RuntimeError) as caught:
        x.sum().backward()
    assert "x.add_(1.0)" in str(caught.value)


# -- those who watch --------------------------------------------------------------------------------------------------


def test_hooks_for_saved_tensors_see_the_old_values(taken: list[bool]) -> None:
    a, b = lg.tensor([2.0], requires_grad=True), lg.tensor([5.0], requires_grad=True)
    packed: list[Any] = []
    with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        x = (a * 1).mul_(b)
    x.backward()
    assert sorted(t.item() for t in packed) == [2, 5] and b.grad.item() == 2 and taken == [False]


def test_changes_of_saved_tensors_may_be_allowed(taken: list[bool]) -> None:
    a = lg.tensor([2.0, 3.0], requires_grad=True)
    with allow_mutation_on_saved_tensors():
        b = a.clone()
        y = b * b
        b.add_(1.0)
        y.sum().backward()
    assert a.grad.tolist() == [4, 6] and taken == [False]


def test_forward_mode(taken: list[bool]) -> None:
    with forward_ad.dual_level():
        x = forward_ad.make_dual(lg.tensor([2.0]), lg.tensor([1.0])) * 1
        x.mul_(x.detach()).exp_()
        _, tangent = forward_ad.unpack_dual(x)
    assert tangent.item() == pytest.approx(2 * float(np.exp(4.0)), rel=1e-6) and taken == [False, False]


def test_maps() -> None:
    def f(x: Any) -> Any:
        return x.clone().add_(1.0).mul_(x).exp_()

    x = lg.rand(4, 3)
    close(lg.func.vmap(f)(x), ((x + 1) * x).exp())
    plain = lg.zeros(3)
    with pytest.raises(RuntimeError, match="vmap"):
        lg.func.vmap(lambda row: plain.add_(row))(x)
    assert plain.tolist() == [0, 0, 0]
    close(lg.func.grad(lambda x: x.clone().mul_(x).sum())(x), 2 * x)


def test_a_profile_shows_the_same() -> None:
    x, y = lg.ones(3), lg.ones(3)
    with lg.autograd.profiler.profile() as profile:
        x.add_(y)
        x.exp_()
    names = [event.name for event in profile.function_events]
    assert "aten::add_" in names and "aten::exp_" in names and (x.numpy() == np.exp(np.float32(2))).all()
    x.add_(y)
    assert x._version == 3


def test_a_thread_is_quiet_from_its_first_change_on() -> None:
    x = lg.zeros(3)
    seen: list[Any] = []

    def work() -> None:
        x.log_()
        seen.append(np.geterr()["divide"])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["ignore"] and x.tolist() == [-np.inf] * 3


# -- replacing values -------------------------------------------------------------------------------------------------

KINDS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("dtype", [*KINDS, "complex128"])
def test_zeros_fills_and_copies(dtype: str) -> None:
    kind = getattr(lg, dtype)
    for shape in [(), (1,), (0,), (2, 3), (3, 0)]:
        for turned in (False, True):
            x = lg.ones(shape, dtype=kind)
            x = x.t() if turned and x.dim() == 2 else x
            strides, memory = x.stride(), x.data_ptr()
            assert x.zero_() is x and (x == 0).all()
            assert x.fill_(1) is x and (x == 1).all()
            assert x.copy_(lg.full(x.shape, 2).to(kind)) is x and (x == lg.tensor(2).to(kind)).all()
            assert x.copy_(lg.tensor(0)) is x and (x == 0).all()
            assert (x.stride(), x.data_ptr(), x._version, x.dtype) == (strides, memory, 4, kind)


def test_numbers_that_do_not_fit_are_refused() -> None:
    x, integers = lg.zeros(3), lg.zeros(3, dtype=lg.int32)
    for number in (1e39, -1e39, 10**400):
        for write in (x.fill_, lambda v: x.__setitem__(0, v), lambda v: x.__setitem__(slice(1, 2), v)):
            with pytest.raises((RuntimeError, ValueError, OverflowError)):
                write(number)
    for write in (integers.fill_, lambda v: integers.__setitem__(0, v)):
        with pytest.raises(RuntimeError, match="without overflow"):
            write(2**40)
    assert x.tolist() == [0, 0, 0] and integers.tolist() == [0, 0, 0] and x._version == 0 == integers._version
    x.fill_(float("inf"))
    x[0] = float("nan")
    x[1] = -0.0
    assert np.isnan(x.numpy()[0]) and np.signbit(x.numpy()[1]) and x[2] == np.inf


INDICES: list[Any] = [
    0, -1, 2, slice(None), slice(1, 3), slice(-2, None), slice(None, None, 2), ..., None, True, (0, 1), (0, ...),
    (slice(None), 1), (slice(1, 2), slice(0, 2)), (..., -1), (None, 1), (), [0, 2], np.array([1, 1]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_assignments(index: Any, dtype: str) -> None:
    kind = getattr(lg, dtype)
    for base in (lg.zeros(3, 2, dtype=kind), lg.zeros(2, 3, dtype=kind).t(), lg.zeros(6, 2, dtype=kind)[::2]):
        plain = np.zeros((3, 2), dtype)
        place = None if index is True else index
        for value in (1, True, lg.ones((), dtype=kind), lg.ones(1, dtype=kind), lg.ones(base[index].shape, dtype=kind)):
            base.zero_()
            version = base._version
            base[index] = value
            plain[...] = 0
            plain[place] = 1
            assert (base.numpy() == plain).all() and base._version == version + 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "float16", "bfloat16", "bool", "complex64"])
def test_masks_and_index_tensors(dtype: str) -> None:
    kind = getattr(lg, dtype)
    lg.manual_seed(0)
    for shape in [(5,), (3, 4), (0,), (100, 100), (4096,), (8192,)]:
        for share in (0.0, 0.02, 0.5, 1.0):
            chosen = lg.rand(shape) < share
            for mask, start in ((chosen, lg.ones(shape, dtype=kind)), (chosen.t() if len(shape) > 1 else chosen, None)):
                x = lg.ones(mask.shape, dtype=kind) if start is None else start
                other = x.clone()
                x[mask] = 0
                assert ((x == 0) == mask).all() and x._version == 1
                assert ((other.masked_fill_(mask, 0) == 0) == mask).all() and other._version == 1
                assert ((lg.ones(mask.shape, dtype=kind).masked_fill(mask, 0) == 0) == mask).all()
                other[mask] = lg.ones((), dtype=kind)
                assert (other == 1).all()
    x = lg.zeros(4, 2, dtype=kind)
    x[lg.tensor([0, -1])] = lg.ones(2, 2, dtype=kind)
    x[lg.tensor([1])] = 1
    assert (x == lg.tensor([[1, 1], [1, 1], [0, 0], [1, 1]]).to(kind)).all()


def test_masked_values_to_the_last_bit() -> None:
    values = np.tile(np.array(SPECIAL, np.float32), 1000)
    mask = np.random.default_rng(0).random(values.size) < 0.5
    for value in (0.0, -0.0, float("nan"), 2.5, float("inf")):
        x = lg.tensor(values)
        x[lg.tensor(mask)] = value
        y = lg.tensor(values).masked_fill_(lg.tensor(mask), value)
        expected = np.where(mask, np.float32(value), values)
        assert x.numpy().tobytes() == y.numpy().tobytes() == expected.tobytes()


WRONG: dict[str, Callable[[Any], Any]] = {
    "too large": lambda x: x.__setitem__(3, 1.0),
    "too large in a tuple": lambda x: x.__setitem__((0, 2), 1.0),
    "too many": lambda x: x.__setitem__((0, 0, 0), 1.0),
    "one of several": lambda x: x.__setitem__(lg.tensor([0, 1, 3]), 1.0),
    "shape": lambda x: x.__setitem__(0, lg.ones(3)),
    "shape of rows": lambda x: x.__setitem__(lg.tensor([0, 1]), lg.ones(3, 2)),
    "mask": lambda x: x.__setitem__(lg.tensor([True, False]), 1.0),
    "text": lambda x: x.__setitem__(0, "1"),
    "mask of fill": lambda x: x.masked_fill_(lg.tensor([1.0, 2.0]), 1.0),
    "dtype": lambda x: x.__setitem__(lg.tensor([0, 1]), lg.ones(2, 2, dtype=lg.float64)),
    "overlap": lambda x: x[1:].copy_(x[:-1]),
}


@pytest.mark.parametrize("name", WRONG)
def test_assignments_that_are_refused_change_nothing(name: str) -> None:
    x = lg.zeros(3, 2)
    with pytest.raises((IndexError, RuntimeError, TypeError)):
        WRONG[name](x)
    assert (x == 0).all() and x._version == 0


def test_assignments_with_history() -> None:
    a = lg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        a[0] = 1.0
    with lg.no_grad():
        a[0] = 5.0
        a[lg.tensor([False, True, False])] = 6.0
        a.data[2] = 7.0
    assert a.tolist() == [5, 6, 7] and a._version == 2
    x = a * 1
    x[0] = 0.0
    x[lg.tensor([False, True, False])] = 0.0
    x.sum().backward()
    assert a.grad.tolist() == [0, 0, 1]
    free = lg.zeros(3)
    free[0] = a[0] * 2
    free[1:].copy_(a[1:])
    a.grad = None
    free.sum().backward()
    assert a.grad.tolist() == [2, 1, 1]
    free = lg.zeros(3)
    part = free[1:]
    free[0] = a[0]
    with pytest.raises(RuntimeError, match="leaf"):  # as in PyTorch: a view of what now has a history, but none itself
        part.zero_()
    part[0] = 1.0
    assert part.requires_grad and free.tolist() == [5, 1, 0]


def test_assignments_in_forward_mode_and_maps() -> None:
    with forward_ad.dual_level():
        x = forward_ad.make_dual(lg.zeros(2), lg.ones(2)) * 1
        x[0] = 3.0
        x[1] = forward_ad.make_dual(lg.tensor(1.0), lg.tensor(5.0))
        assert forward_ad.unpack_dual(x).tangent.tolist() == [0, 5]

    def f(row: Any) -> Any:
        out = row.clone()
        out[0] = 9.0
        out[1:].zero_()
        return out.masked_fill_(row > 5, -1.0)

    mapped = lg.func.vmap(f)(lg.tensor([[1.0, 2.0], [3.0, 6.0]]))
    assert mapped.tolist() == [[9, 0], [9, -1]]
    with allow_mutation_on_saved_tensors():
        a = lg.tensor([2.0, 3.0], requires_grad=True)
        b = a.clone()
        y = b * b
        b[0] = 0.0
        y.sum().backward()
    assert a.grad.tolist() == [4, 6]


@pytest.mark.parametrize("dtype", [*FLOATS, "float16", "bfloat16", "int64"])
def test_clamp(dtype: str) -> None:
    for x in layouts(dtype) if dtype in FLOATS else [tensor([-3, 0, 1, 7], dtype)]:
        for bounds in [{"min": -1}, {"max": 2}, {"min": 0, "max": 1}, {"min": 3, "max": 1}, {"min": tensor(0, dtype)}]:
            for change in ("clamp_", "clip_"):
                y, expected = x.clone(), x.clamp(**bounds)
                assert getattr(y, change)(**bounds) is y and y._version == 1
                same(y.to(lg.float64), expected.to(lg.float64))
                assert y.dtype == x.dtype
    x = lg.tensor([-0.0, 0.0, float("nan"), 5.0])
    same(x.clone().clamp_(float("-inf"), 2.0), x.clamp(max=2.0))
    same(x.clone().clamp_(float("nan"), 2.0), x.clamp(float("nan"), 2.0))
    for wrong in [(), ("a",), (1, 2, 3), (1j,)]:
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            x.clamp_(*wrong)
    with pytest.raises(RuntimeError, match="leaf"):
        lg.ones(2, requires_grad=True).clamp_(0, 1)
    a = lg.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    (a * 1).clamp_(0, 1).sum().backward()
    assert a.grad.tolist() == [0, 1, 0] and x._version == 0
    with lg.no_grad():
        assert a.clamp_(min=0).tolist() == [0, 0.5, 2] and a[1:].clamp_(max=1).tolist() == [0.5, 1] and a._version == 2
