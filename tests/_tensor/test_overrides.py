"""`__torch_function__` beyond what the scenarios compare with PyTorch (tests/support/override_scenarios.py): threads,
other ways to call, and that plain tensors are left alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

import leafgrad as lg
from leafgrad import _missing, zeros
from leafgrad._core import overrides
from leafgrad._core.bind import TensorOperators
from leafgrad._tensor import install, overridable
from leafgrad.ops import names
from leafgrad.overrides import BaseTorchFunctionMode, TorchFunctionMode, get_testing_overrides


class Seen(TorchFunctionMode):
    """Remembers the names of what it sees."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(overrides.name_of(func))
        return func(*args, **(kwargs or {}))


class Called:
    """Takes every call over, and returns what it was called with."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func, [a if not isinstance(a, cls) else "it" for a in args], sorted(kwargs or {})


class Sub(lg.Tensor):
    """A subclass that says nothing."""


IT = Called()


def test_plain_tensors_have_the_methods_themselves() -> None:
    x = lg.ones(2)
    assert type(x).__mro__[-2:] == lg.Tensor.__mro__[-2:] and Sub.__mro__[2] is lg.Tensor
    assert vars(lg.Tensor).get("__add__") is None and lg.Tensor.__mro__.index(TensorOperators) > 0
    assert x.exp.__func__ is lg.Tensor.exp.__wrapped__ is not lg.Tensor.exp  # type: ignore[attr-defined]
    assert x.as_subclass(Sub).exp.__func__ is lg.Tensor.exp is Sub.exp  # type: ignore[attr-defined]


def test_a_mode_leaves_the_class_as_it_was() -> None:
    before, own = lg.Tensor.__bases__, dict(vars(lg.Tensor))
    with Seen(), Seen():
        assert lg.Tensor.__bases__ != before
    with pytest.raises(ZeroDivisionError), Seen():
        raise ZeroDivisionError
    assert lg.Tensor.__bases__ == before and dict(vars(lg.Tensor)) == own and not overrides.modes_of_all_threads


def test_a_mode_belongs_to_a_thread() -> None:
    inside, outside = threading.Event(), threading.Event()
    results: list[Any] = []

    def other() -> None:
        inside.wait()
        x = lg.ones(2)
        results.append((x + x.exp()).shape)
        outside.set()

    thread = threading.Thread(target=other)
    thread.start()
    with Seen() as seen:
        inside.set()
        outside.wait()
        lg.ones(2)
    thread.join()
    assert seen.names == ["torch.ones"] and results == [(2,)]


def test_switching_off_belongs_to_a_thread() -> None:
    x, kinds = lg.ones(2).as_subclass(Sub), []
    with lg._C.DisableTorchFunctionSubclass():
        thread = threading.Thread(target=lambda: kinds.append(type(x + 1)))
        thread.start()
        thread.join()
        kinds.append(type(x + 1))
    assert kinds == [Sub, lg.Tensor]


def test_functions_that_were_imported_by_their_names() -> None:
    with Seen() as seen:
        zeros(2)
    assert seen.names == ["torch.zeros"]


@pytest.mark.parametrize(
    "call, args, kwargs",
    [
        (lambda: lg.sum(IT, 0), ["it", 0], []),
        (lambda: lg.sum(IT, dim=0), ["it"], ["dim"]),
        (lambda: lg.sum(IT, dim=None), ["it"], ["dim"]),  # also if it is the default
        (lambda: lg.sum(input=IT, keepdim=True, dim=0), [], ["dim", "input", "keepdim"]),
        (lambda: lg.sum(*[IT, 0]), ["it", 0], []),
        (lambda: lg.max(IT, axis=0), ["it"], ["axis"]),
        (lambda: lg.nn.functional.softmax(IT, dim=0), ["it"], ["_stacklevel", "dim", "dtype"]),
    ],
)
def test_arguments_are_handed_on_as_they_were_given(
    call: Callable[[], Any], args: list[Any], kwargs: list[str]
) -> None:
    for _ in range(2):  # the first call writes the function
        _, *given = call()
        assert given == [args, kwargs]


def test_the_function_is_the_public_one() -> None:
    x = lg.ones(2)
    assert lg.add(IT, 1)[0] is lg.add and lg.nn.functional.relu(IT)[0] is lg.nn.functional.relu
    assert (x + IT)[0] is lg.Tensor.add and x.add(IT)[0] is lg.Tensor.add and x.add_(IT)[0] is lg.Tensor.add_
    assert lg.zeros_like(IT)[0] is lg.zeros_like and lg.reshape(IT, (2,))[0] is lg.reshape
    assert lg.concat([IT])[0] is lg.concat and x[IT][0] is lg.Tensor.__getitem__


def test_a_handler_may_call_the_function_with_tensors_of_others() -> None:
    seen = []

    class Outer(lg.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append("outer")
            return func(*[a.as_subclass(Inner) if isinstance(a, Outer) else a for a in args], **(kwargs or {}))

    class Inner(lg.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append("inner")
            return super().__torch_function__(func, types, args, kwargs)

    x = lg.ones(2).as_subclass(Outer)
    assert [type(y) for y in (x.exp(), x + 1, lg.add(x, 1))] == [Inner] * 3
    assert x.shape == (2,) and seen == ["outer", "inner"] * 4


def test_a_method_where_a_classmethod_should_be() -> None:
    class Old:
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return self

    old, x = Old(), lg.ones(2)
    overridable.warned.clear()
    with pytest.warns(UserWarning, match="as a plain method is deprecated"):
        assert x + old is old
    assert lg.exp(old) is old  # warned once


def test_training_of_subclasses() -> None:
    module = lg.nn.Linear(2, 1)
    module.scale = lg.nn.Parameter(lg.ones(2).as_subclass(Sub))
    optimizer = lg.optim.Adam(module.parameters(), lr=0.1)
    before = module.scale.tolist()
    loss = module(lg.ones(3, 2) * module.scale).sum()
    loss.backward()
    optimizer.step()
    assert type(loss) is Sub and type(module.scale) is Sub and module.scale.tolist() != before
    assert type(module.scale.grad) is lg.Tensor and len(list(module.parameters())) == 3


def test_a_mode_that_changes_nothing() -> None:
    x = lg.ones(2, requires_grad=True)
    with BaseTorchFunctionMode():
        y = lg.nn.functional.relu(x * 2).sum()
        y.backward()
    assert x.grad is not None and x.grad.tolist() == [2, 2] and y.grad_fn.name() == "SumBackward0"


def test_what_can_be_taken_over_has_a_dummy() -> None:
    dummies = get_testing_overrides()
    assert dummies[lg.add](1, 2) == -1 and lg.Tensor.add in dummies and lg.nn.functional.linear in dummies


def test_the_compiled_part_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"module 'torch._C' has no attribute '_gathered'"):
        lg._C._gathered


def test_forms_follow_what_is_installed_again() -> None:
    shape, transposed = lg.Tensor.shape, lg.Tensor.T
    place = next(place for place, found in names.METHODS.items() if "T" in found.split())
    install.install(_missing.part(place))  # as the first use of a function of the module does
    assert lg.Tensor.T is transposed and lg.Tensor.shape is shape and lg.ones(2, 3).as_subclass(Sub).T.shape == (3, 2)


def test_another_method_in_place_of_one_of_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    def exp(self: Any) -> str:
        return "mine"

    monkeypatch.setattr(lg.Tensor, "exp", exp)
    x = lg.ones(2)
    assert lg.Tensor.exp is exp and x.exp() == x.as_subclass(Sub).exp() == "mine"
    with Seen():
        assert x.exp() == "mine"
    monkeypatch.undo()
    assert lg.Tensor.exp is not exp and x.as_subclass(Sub).exp().tolist() == x.exp().tolist()


def test_every_function_is_found_by_its_name() -> None:
    for functions in lg.overrides.get_overridable_functions().values():
        for function in functions:
            name = lg.overrides.resolve_name(function)
            assert name is not None
            assert attrgetter(name.removeprefix("torch."))(lg) == function, name


def test_modes_of_a_thread_and_their_mistakes() -> None:
    class Mode(lg.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    class Mistaken(lg.overrides.TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
            return func(*args, **(kwargs or {}))

    assert lg.overrides._get_current_function_mode() is None
    with Mode() as outer, Mode() as inner:
        assert lg.overrides._get_current_function_mode_stack() == [outer, inner]
        assert lg.overrides._get_current_function_mode() is inner
    x = lg.ones(2)
    refused = pytest.raises(
        RuntimeError, match="`__torch_function__` as a classmethod is not supported, please make it"
    )
    with refused, Mistaken():
        x + x
    with pytest.raises(TypeError, match="expected a sequence"):
        lg.overrides.has_torch_function(object())  # type: ignore[arg-type]


def test_gradients_of_what_is_like_a_tensor() -> None:
    class Like:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return args

    x = Like()
    assert lg.autograd.grad(x, x) == ((x,), (x,))  # type: ignore[comparison-overlap]
