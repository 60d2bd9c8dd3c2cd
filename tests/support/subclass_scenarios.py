"""Scenarios of classes that are derived from Tensor and Parameter: what is made of their tensors. See scenarios.py."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from override_scenarios import kind, name_of
from scenarios import attempt, collection

SCENARIOS, scenario = collection()


@scenario
def subclasses_that_say_nothing(T: Any) -> Any:
    class A(T.Tensor):
        pass

    class B(T.Tensor):
        pass

    class A2(A):
        pass

    a, b, a2 = T.ones(2).as_subclass(A), T.ones(2).as_subclass(B), T.ones(2).as_subclass(A2)
    x = T.ones(2)
    calls = [lambda: a + b, lambda: a + a2, lambda: a2 + a, lambda: T.add(x, a2), lambda: T.add(a, b)]
    calls += [lambda: T.stack([a, a2]), lambda: a.to(b)]
    mixed = [attempt(lambda call: kind(call()), call) for call in calls]
    return mixed, kind(a.max(0)), kind(a.sort()), kind(a.shape), kind(a.split(1)), kind(a.tolist()), kind(a.numpy())


@scenario
def gradients_of_subclasses(T: Any) -> Any:
    class P(T.Tensor):
        pass

    base = T.tensor([1.0, 2.0], requires_grad=True)
    p = base.as_subclass(P)
    y = (p * 3).sum()
    names = [p.is_leaf, p.grad_fn.name(), y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), kind(y)]
    y.backward()
    leaf = T.Tensor._make_subclass(P, T.ones(2), True)
    (leaf * 2).sum().backward()
    gradients = T.autograd.grad((leaf * leaf).sum(), leaf)
    leaf.grad.add_(1)
    return (
        names,
        kind(base.grad),
        base.grad.tolist(),
        kind(leaf.grad),
        leaf.grad.tolist(),
        leaf.is_leaf,
        kind(gradients),
    )


@scenario
def detached_and_data_of_subclasses(T: Any) -> Any:
    class P(T.Tensor):
        pass

    p = T.tensor([1.0, 2.0]).as_subclass(P)
    p.data.add_(1)
    p.detach().add_(1)
    return kind(p.data), kind(p.detach()), p.tolist(), kind(p._base), kind(p.view(1, 2)._base), kind(p.clone().t())


@scenario
def classes_that_take_nothing_over(T: Any) -> Any:
    class E(T.Tensor):
        __torch_function__ = T._C._disabled_torch_function_impl

    e = T.ones(2).as_subclass(E)
    results = [
        e + 1,
        T.add(e, 1),
        e.data,
        e[0],
        e.clone(),
        e.detach(),
        e.add_(1),
        T.ones(2) + e,
        T.cat([e]),
        e.t(),
        e.sum(),
    ]
    p = T.nn.Parameter(T.ones(2))
    results += [p * 2, p.detach(), p.data, p.clone(), p[0], T.exp(p), p.view(2), p.grad]
    return [kind(r) for r in results], T.overrides.has_torch_function((e, p))


@scenario
def parameters_of_subclasses(T: Any) -> Any:
    class P(T.Tensor):
        pass

    class Q(T.nn.Parameter):
        pass

    class E(T.Tensor):
        __torch_function__ = T._C._disabled_torch_function_impl

    base = T.tensor([1.0, 2.0])
    p, q = T.nn.Parameter(base.as_subclass(P)), Q(base)
    module = T.nn.Module()
    module.p, module.q = p, q
    (module.p * 2).sum().backward()
    flags = [isinstance(p, T.nn.Parameter), isinstance(p, P), p.is_leaf, p.requires_grad, kind(p * 2), kind(p.grad)]
    flags += [isinstance(q, T.nn.Parameter), kind(q * 2), kind(copy.deepcopy(q)), kind(q.data), kind(q.detach())]
    flags += [isinstance(base, T.nn.Parameter), isinstance(T.ones(1).as_subclass(P), T.nn.Parameter)]
    names = [name for name, _ in module.named_parameters()]
    refused = attempt(lambda: T.nn.Parameter(base.as_subclass(E)))
    return kind(p), kind(q), flags, names, repr(p), repr(T.nn.Parameter(base)), p.grad.tolist(), refused


@scenario
def copies_of_subclasses(T: Any) -> Any:
    class P(T.Tensor):
        pass

    class N(T.Tensor):
        def new_empty(self, *args: Any, **options: Any) -> Any:
            return super().new_empty(*args, **options).as_subclass(N)

    P.__qualname__, P.__module__ = "P", __name__
    globals()["P"] = P
    p, n = T.tensor([1.0, 2.0]).as_subclass(P), T.tensor([1.0, 2.0]).as_subclass(N)
    p.note = n.note = [1]
    again, shallow, deep = pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(n)
    shallow.add_(1)
    return [
        kind(again), again.tolist(), again.note, kind(shallow), p.tolist(), shallow.note is p.note,
        kind(deep), deep.tolist(), deep.note, deep.note is n.note, attempt(copy.deepcopy, p),
    ]  # fmt: skip


@scenario
def subclasses_are_made(T: Any) -> Any:
    class P(T.Tensor):
        pass

    x = T.tensor([1.0, 2.0])
    made = [P([1.0, 2.0]), P(3), P(), x.as_subclass(P), T.Tensor._make_subclass(P, x), P(x)]
    refused = [
        attempt(lambda: x.as_subclass(int)), attempt(lambda: x.as_subclass(3)),
        attempt(lambda: T.Tensor._make_subclass(int, x)),
        attempt(lambda: T.Tensor._make_subclass(P, T.tensor([1]), True)),
    ]  # fmt: skip
    shared = x.as_subclass(P)
    shared.add_(1)
    texts = [repr(x.as_subclass(P)), str(T.ones(2, 2).as_subclass(P)), f"{x.as_subclass(P)}"]
    return [(kind(m), tuple(m.shape)) for m in made], refused, x.tolist(), texts, isinstance(shared, P)


@scenario
def super_and_methods_of_their_own(T: Any) -> Any:
    seen: list[str] = []

    class P(T.Tensor):
        def add(self, other: Any) -> Any:
            seen.append("add")
            return super().add(other)

        def __sub__(self, other: Any) -> Any:
            seen.append("sub")
            return super().__sub__(other)

        @property
        def shape(self) -> Any:
            return "shape"

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(name_of(T, func))
            return super().__torch_function__(func, types, args, kwargs)

    p = T.ones(2).as_subclass(P)
    p.add(1)
    p - 1
    p + 1
    T.add(p, 1)
    return seen, p.shape, T.Tensor.shape.__get__(p), P.sub is T.Tensor.sub
