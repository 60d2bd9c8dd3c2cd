"""no_grad, enable_grad, set_grad_enabled and inference_mode: as context managers and as decorators."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from typing import Any

import pytest

import leafgrad as lg
from leafgrad import is_grad_enabled

no_grad: Any = lg.no_grad  # decorators change what a name is, which the types do not tell
enable_grad: Any = lg.enable_grad
set_grad_enabled: Any = lg.set_grad_enabled
inference_mode: Any = lg.inference_mode
X = lg.ones(2, requires_grad=True)


def recorded() -> bool:
    """Is an operation recorded now? What is_grad_enabled says, and what happens, must agree."""
    assert (X * 2).requires_grad == is_grad_enabled()
    return is_grad_enabled()


@pytest.fixture(autouse=True)
def recording_is_on_before_and_after() -> Generator[None]:
    assert recorded()
    yield
    assert recorded() and not lg.is_inference_mode_enabled()


# -- context managers -------------------------------------------------------------------------------------------------


def test_nothing_is_recorded_under_no_grad() -> None:
    with no_grad():
        y = X * 2
        assert not recorded() and not y.requires_grad and y.is_leaf and y.grad_fn is None
        made = lg.ones(2, requires_grad=True)
        assert made.requires_grad
    assert (made * 2).requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.sum().backward()


def test_modes_nest() -> None:
    with no_grad():
        assert not recorded()
        with enable_grad():
            assert recorded()
            with no_grad():
                assert not recorded()
                with set_grad_enabled(True):
                    assert recorded()
                assert not recorded()
            assert recorded()
        assert not recorded()


def test_the_same_object_again_and_inside_itself() -> None:
    off = no_grad()
    with off:
        with off:
            assert not recorded()
        assert not recorded()
    assert recorded()
    with off:
        assert not recorded()


def test_entering_gives_nothing() -> None:
    with no_grad() as a, enable_grad() as b, set_grad_enabled(True) as c, inference_mode() as d:
        assert a is b is c is d is None


@pytest.mark.parametrize("mode", [no_grad, inference_mode, lambda: set_grad_enabled(False)])
def test_an_exception_restores_recording(mode: Any) -> None:
    with pytest.raises(KeyError), mode():
        raise KeyError
    assert recorded()
    with enable_grad(), pytest.raises(KeyError), mode(), enable_grad():
        raise KeyError


def test_set_grad_enabled_acts_at_once() -> None:
    set_grad_enabled(False)
    assert not recorded()
    set_grad_enabled(True)
    assert recorded()
    with set_grad_enabled(False):
        assert not recorded()
    assert recorded()
    later = set_grad_enabled(False)
    with later:
        assert not recorded()
    assert recorded()
    with pytest.raises(TypeError, match="must be bool, not int"):
        set_grad_enabled(1)
    with pytest.raises(TypeError):
        set_grad_enabled()


def test_backward_works_without_recording() -> None:
    x = lg.ones(2, requires_grad=True)
    y = (x * x).sum()
    with no_grad():
        y.backward(retain_graph=True)
        (g,) = lg.autograd.grad(y, x, create_graph=True)
        assert not is_grad_enabled()
    assert x.grad.tolist() == [2.0, 2.0] and g.requires_grad


# -- inference_mode ---------------------------------------------------------------------------------------------------


def test_inference_mode() -> None:
    assert not lg.is_inference_mode_enabled()
    with inference_mode():
        assert lg.is_inference_mode_enabled() and not recorded()
        y = X * 2
        with enable_grad():
            assert not (X * 2).requires_grad
        with inference_mode(False):
            assert recorded() and not lg.is_inference_mode_enabled()
        with no_grad():
            assert lg.is_inference_mode_enabled()
    assert not y.requires_grad and not lg.is_inference_mode_enabled()
    with no_grad():
        with inference_mode(mode=False):
            assert recorded()
        assert not recorded()


# -- decorators -------------------------------------------------------------------------------------------------------


def test_decorators_with_and_without_parentheses() -> None:
    @no_grad
    def bare() -> bool:
        return recorded()

    @no_grad()
    def called() -> bool:
        return recorded()

    @enable_grad
    def bare_on() -> bool:
        return recorded()

    @enable_grad()
    def called_on() -> bool:
        return recorded()

    @set_grad_enabled(False)
    def off() -> bool:
        return recorded()

    @inference_mode
    def bare_inference() -> bool:
        return recorded() or not lg.is_inference_mode_enabled()

    @inference_mode()
    def called_inference() -> bool:
        return recorded() or not lg.is_inference_mode_enabled()

    @inference_mode(False)
    def no_inference() -> bool:
        return recorded() and not lg.is_inference_mode_enabled()

    assert recorded()  # decorating changes nothing
    assert not any([bare(), called(), off(), bare_inference(), called_inference()])
    with no_grad():
        assert bare_on() and called_on() and no_inference()


def test_a_decorated_function_keeps_its_name_arguments_and_errors() -> None:
    @no_grad()
    def named(a: int, *, b: int = 2) -> tuple[int, int]:
        """What it says."""
        if a < 0:
            raise ValueError(a)
        return a, b

    assert named.__name__ == "named" and named.__doc__ == "What it says." and named(1, b=5) == (1, 5)
    with pytest.raises(ValueError, match="-1"):
        named(-1)


def test_recursion_and_methods() -> None:
    class Model:
        @no_grad()
        def countdown(self, n: int) -> list[bool]:
            below = self.countdown(n - 1) if n else []
            return [*below, recorded()]

        @staticmethod
        @enable_grad()
        def on() -> bool:
            return recorded()

    assert Model().countdown(3) == [False] * 4
    with no_grad():
        assert Model.on() and not recorded()


def test_generators_run_in_their_mode_and_their_callers_in_theirs() -> None:
    ended: list[bool] = []

    @no_grad()
    def steps() -> Generator[Any, Any, str]:
        try:
            got = yield recorded()
            try:
                yield got, recorded()
            except ValueError:
                yield "caught", recorded()
            return "done"
        finally:
            ended.append(recorded())

    g = steps()
    assert next(g) is False and recorded()
    assert g.send("sent") == ("sent", False) and recorded()
    assert g.throw(ValueError()) == ("caught", False) and recorded()
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value == "done" and ended == [False]

    g = steps()
    next(g)
    g.close()
    assert ended == [False, False]

    g = steps()
    next(g)
    next(g)
    with pytest.raises(KeyError):
        g.throw(KeyError())
    assert ended == [False] * 3 and recorded()

    def outer() -> Generator[Any, Any, Any]:
        return (yield from steps())

    assert list(outer()) == [False, (None, False)]


def test_decorating_a_class_decorates_its_constructor() -> None:
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @no_grad()
        class Old:
            def __init__(self) -> None:
                self.seen = recorded()

            def method(self) -> bool:
                return recorded()

    assert not Old().seen and Old().method()


def test_a_clone_is_independent() -> None:
    first = no_grad()
    second = first.clone()
    assert type(second) is no_grad and second is not first
    with first, second:
        assert not recorded()
    off = set_grad_enabled(False)
    with off:
        pass
    with off.clone():
        assert not recorded()


def test_modes_are_in_autograd_too() -> None:
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "is_grad_enabled"):
        assert getattr(lg.autograd, name) is getattr(lg, name)


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with no_grad(), inference_mode(), enable_grad(), set_grad_enabled(False):
            X * 2
