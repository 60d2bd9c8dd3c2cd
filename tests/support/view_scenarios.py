"""Scenarios of views and of changes in place. See scenarios.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


def leaf(T: Any, count: int = 12) -> Any:
    return T.arange(float(count), requires_grad=True)


def facts(t: Any, *others: Any) -> list[Any]:
    """What can be seen of a tensor; and is one of the others its base?"""
    name = None if t.grad_fn is None else t.grad_fn.name()
    seen = [name, t._is_view(), t.is_leaf, t.requires_grad, t._version, tuple(t.shape), t.stride(), t.storage_offset()]
    return seen + [t._base is other for other in others]


def weighted(T: Any, t: Any) -> Any:
    """A number to differentiate in which every element counts differently."""
    return (t * T.arange(1.0, 1 + t.numel()).view(t.shape)).sum()


def gradient(T: Any, t: Any, x: Any) -> Any:
    seen = attempt(lambda: T.autograd.grad(weighted(T, t), x, retain_graph=True))
    return seen[:100] if isinstance(seen, str) else seen


# -- every view, changed through itself and through its base ----------------------------------------------------------

VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "view": lambda T, b: b.view(3, 4),
    "view of a view": lambda T, b: b.view(3, 4)[1:],
    "reshape": lambda T, b: b.reshape(2, 6),
    "flatten": lambda T, b: b.view(3, 4).flatten(),
    "unflatten": lambda T, b: b.unflatten(0, (3, 4)),
    "t": lambda T, b: b.view(3, 4).t(),
    "T": lambda T, b: b.view(3, 4).T,
    "mT": lambda T, b: b.view(3, 4).mT,
    "transpose": lambda T, b: b.view(3, 2, 2).transpose(0, 2),
    "permute": lambda T, b: b.view(3, 2, 2).permute(2, 0, 1),
    "movedim": lambda T, b: b.view(3, 2, 2).movedim(0, 1),
    "swapaxes": lambda T, b: b.view(3, 4).swapaxes(0, 1),
    "squeeze": lambda T, b: b.view(1, 12).squeeze(),
    "unsqueeze": lambda T, b: b.unsqueeze(1),
    "select": lambda T, b: b.view(3, 4)[1],
    "select last": lambda T, b: b.view(3, 4)[..., -1],
    "one element": lambda T, b: b[5],
    "slice": lambda T, b: b[2:9:3],
    "all": lambda T, b: b[...],
    "narrow": lambda T, b: b.narrow(0, 2, 3),
    "diagonal": lambda T, b: b.view(3, 4).diagonal(1),
    "unbind": lambda T, b: b.view(3, 4).unbind()[1],
    "split": lambda T, b: b.split(5)[1],
    "chunk": lambda T, b: b.chunk(3)[0],
    "view_as": lambda T, b: b.view_as(T.zeros(4, 3)),
    "as_strided": lambda T, b: b.as_strided((2, 3), (4, 1), 2),
    "as_strided of a view": lambda T, b: b.view(3, 4).t()[1:].as_strided((2, 2), (4, 1)),
    "as_strided beyond a view": lambda T, b: b.view(3, 4).t()[1:].as_strided((2, 2), (4, 1), 0),
    "as_strided over gaps": lambda T, b: b[::2].as_strided((6,), (1,)),
    "as_strided twice": lambda T, b: b.as_strided((2, 6), (6, 1)).as_strided((3,), (5,), 1),
    "view of as_strided": lambda T, b: b.as_strided((2, 6), (6, 1)).t()[1:3],
    "as_strided of an element": lambda T, b: b.as_strided((), (), 3),
    "as_strided of expand": lambda T, b: b[:2].expand(3, 2).as_strided((2,), (1,)),
    "expand": lambda T, b: b[:2].expand(3, 2),
    "expand nothing": lambda T, b: b.expand(12),
    "detach": lambda T, b: b.detach(),
    "data": lambda T, b: b.data,
    "contiguous": lambda T, b: b.view(3, 4).t().contiguous(),
    "index": lambda T, b: b[T.tensor([1, 2])],
    "to": lambda T, b: b.to(T.float32),
}


@scenario
def views_changed(T: Any) -> Any:
    seen = []
    for make in VIEWS.values():
        x = leaf(T)
        base = x * 1
        view = make(T, base)
        seen += [facts(view, base), gradient(T, view, x)]
        seen += [attempt(lambda view=view: facts(view.mul_(2))), facts(base), base, attempt(lambda view=view: view + 0)]
        seen += [gradient(T, base * base, x), gradient(T, view, x)]
        base.mul_(3)
        seen += [attempt(lambda view=view: facts(view)), view.detach(), gradient(T, view, x), gradient(T, base, x)]
    return seen


# There PyTorch's second derivative lacks what the input of as_strided did not show.
WRONG_IN_PYTORCH = {"as_strided beyond a view", "as_strided over gaps"}


@scenario
def views_differentiated_twice(T: Any) -> Any:
    seen = []
    for make in [view for name, view in VIEWS.items() if name not in WRONG_IN_PYTORCH]:
        x = leaf(T)
        base = x * 1
        view = make(T, base)
        if view.requires_grad:
            seen.append(attempt(lambda base=base: base[3:5].mul_(2) * 1))
            cubed = attempt(lambda view=view, x=x: T.autograd.grad((view**3).sum(), x, create_graph=True)[0])
            seen.append(cubed)
        x = leaf(T)
        base = x * 1
        view = make(T, base)
        seen.append(attempt(lambda view=view, x=x: view.mul_(x.sum()).sum()))
        (g,) = T.autograd.grad((base**3).sum(), x, create_graph=True)
        seen += [g, T.autograd.grad(g.sum(), x)]
    return seen


@scenario
def views_of_leaves(T: Any) -> Any:
    seen = []
    for make in VIEWS.values():
        x = leaf(T)
        view = make(T, x)
        seen += [facts(view, x), attempt(lambda view=view: facts(view.mul_(2)))]
        with T.no_grad():
            seen.append(attempt(lambda view=view: facts(view.mul_(2))))
        seen += [attempt(lambda view=view: facts(view)), gradient(T, x * x, x), gradient(T, view, x)]
    return seen


@scenario
def views_made_without_recording(T: Any) -> Any:
    seen = []
    for make in VIEWS.values():
        x = leaf(T)
        base = x * 1
        with T.no_grad():
            view = make(T, base)
        seen += [facts(view, base), attempt(lambda view=view: facts(view.mul_(2)))]
        with T.no_grad():
            seen += [attempt(lambda view=view: facts(view.mul_(2))), attempt(lambda view=view: facts(view))]
        inner = attempt(lambda view=view, base=base: facts(view.unsqueeze(-1), base))
        seen += [inner, attempt(lambda view=view: view.unsqueeze(-1).mul_(2))]
        base.mul_(2)
        seen += [attempt(lambda view=view: facts(view)), gradient(T, base, x)]
    return seen


@scenario
def views_of_constants(T: Any) -> Any:
    seen = []
    for make in VIEWS.values():
        base, w = T.arange(12.0), T.ones(1, requires_grad=True)
        view, other = make(T, base), base.view(3, 4)[0]
        seen += [facts(view, base), attempt(lambda view=view, w=w: facts(view.mul_(w)))]
        seen += [facts(base), attempt(lambda other=other: facts(other)), attempt(lambda view=view: facts(view))]
        seen += [gradient(T, t, w) if t.requires_grad else None for t in (base, other)]
    return seen


# -- in place, that changes a shape -----------------------------------------------------------------------------------

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "t_": lambda T, a: a.t_(),
    "transpose_": lambda T, a: a.transpose_(0, 1),
    "swapaxes_": lambda T, a: a.swapaxes_(0, 1),
    "swapdims_": lambda T, a: a.swapdims_(0, -1),
    "squeeze_": lambda T, a: a.squeeze_(),
    "squeeze_(0)": lambda T, a: a.squeeze_(0),
    "squeeze_((0, 1))": lambda T, a: a.squeeze_((0, 1)),
    "unsqueeze_": lambda T, a: a.unsqueeze_(0),
    "unsqueeze_(-1)": lambda T, a: a.unsqueeze_(-1),
    "unsqueeze_ and squeeze_": lambda T, a: a.unsqueeze_(1).squeeze_(1),
    "t_ twice": lambda T, a: a.t_().t_(),
    "as_strided_": lambda T, a: a.as_strided_((2, 2), (1, 2)),
    "resize_": lambda T, a: a.resize_(3, 2),
    "resize_as_": lambda T, a: a.resize_as_(T.ones(3, 2)),
    "unsqueeze_(9)": lambda T, a: a.unsqueeze_(9),
    "transpose_(0, 9)": lambda T, a: a.transpose_(0, 9),
    "detach_": lambda T, a: a.detach_(),
}


@scenario
def reshaped_in_place(T: Any) -> Any:
    seen = []
    for form in FORMS.values():
        constant, x = T.arange(6.0).view(2, 3).clone(), leaf(T, 6)
        seen += [attempt(lambda t=constant, form=form: form(T, t) is t), facts(constant), constant]
        of_leaf = T.arange(6.0).view(2, 3).clone().requires_grad_()
        seen.append(attempt(lambda t=of_leaf, form=form: facts(form(T, t))))
        with T.no_grad():
            seen.append(attempt(lambda t=of_leaf, form=form: facts(form(T, t))))
        seen.append(attempt(lambda t=of_leaf: T.autograd.grad((t * t).sum(), t)) if of_leaf.requires_grad else None)
        result = x.view(2, 3) * 1
        seen += [attempt(lambda t=result, form=form: form(T, t) is t), facts(result), result, gradient(T, result, x)]
        seen.append(
            attempt(lambda t=result, x=x: T.autograd.grad(T.autograd.grad((t**3).sum(), x, None, True, True), x))
        )
    return seen


@scenario
def views_reshaped_in_place(T: Any) -> Any:
    seen = []
    for name, form in FORMS.items():
        x = leaf(T)
        seen.append(attempt(lambda x=x, form=form: facts(form(T, x.view(4, 3)[:2]))))
        base = x * 1
        view, other = base.view(2, 6)[:, :3], base.view(4, 3)[1]
        seen += [attempt(lambda view=view, form=form: form(T, view) is view), facts(view, base), facts(base)]
        seen += [view, facts(other), gradient(T, view, x), gradient(T, other, x), gradient(T, base, x)]
        if name == "detach_":
            continue
        view.mul_(2)
        seen += [facts(view), facts(base), base, gradient(T, base * base, x), facts(other), gradient(T, other, x)]
        base.mul_(3)
        seen += [facts(view), view, gradient(T, view, x)]
    return seen


@scenario
def bases_reshaped_in_place(T: Any) -> Any:
    seen = []
    for name, form in FORMS.items():
        if name in ("detach_", "as_strided_"):
            continue
        x = leaf(T, 6)
        base = x.view(2, 3) * 1
        row, column, inner = base[0], base[:, 1], base.view(-1)[1:].view(5, 1)
        seen.append(attempt(lambda base=base, form=form: facts(form(T, base))))
        for view in (row, column, inner):
            seen += [facts(view, base), view, gradient(T, view, x)]
        column.mul_(2)
        seen += [facts(column), facts(base), base, gradient(T, base, x), gradient(T, row, x), gradient(T, inner, x)]
        base.mul_(base)
        seen += [gradient(T, column, x), gradient(T, base, x), facts(inner.mul_(3)), gradient(T, base, x), base]
    return seen


@scenario
def saved_and_reshaped_in_place(T: Any) -> Any:
    seen = []
    for form in (FORMS[name] for name in ("t_", "transpose_", "squeeze_", "unsqueeze_", "as_strided_")):
        x = leaf(T, 6)
        base = x.view(2, 3) * 1
        squared = base * base
        form(T, base)
        seen.append(attempt(squared.sum().backward)[:100])
    return seen


# -- as_strided, set_, resize_ ----------------------------------------------------------------------------------------


@scenario
def as_strided_refused(T: Any) -> Any:
    x = leaf(T)
    calls: list[Any] = [
        lambda: x.as_strided((2,), (-1,)), lambda: x.as_strided((20,), (1,)), lambda: x.as_strided((2,), (11,), 1),
        lambda: x.as_strided((2, 3), (1,)), lambda: x.as_strided((-2,), (1,)), lambda: x.as_strided((2,), (1,), -1),
        lambda: T.as_strided(x, "a", (1,)), lambda: T.as_strided(x, (2,), 1.5),
        lambda: T.as_strided(x, size=(2,), stride=(1,), storage_offset=1),
        lambda: T.as_strided(T.arange(6), (2, 2), (1, 2)),
        lambda: x[2:].as_strided((2,), (1,)), lambda: x[2:].as_strided((2,), (1,), 0),
        lambda: x.as_strided((0, 2), (1, 1)).shape, lambda: T.zeros(2, 3)[:, 1].as_strided((), ()).shape,
        lambda: T.ones(3, dtype=T.complex64).as_strided((2,), (2,)),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def as_strided_of_other_layouts(T: Any) -> Any:
    x = leaf(T)
    base = (x.view(3, 4) * 1).t().contiguous().t()  # column by column
    view = base.as_strided((4,), (2,))
    seen = [facts(view), view, gradient(T, view, x)]
    view.mul_(3)
    seen += [base, facts(base), gradient(T, base * base, x), gradient(T, view, x)]
    overlapping = (x * 1).as_strided((4, 3), (2, 1))
    seen += [overlapping, gradient(T, overlapping, x)]
    (g,) = T.autograd.grad((overlapping**3).sum(), x, create_graph=True)
    return [*seen, g, T.autograd.grad(g.sum(), x)]


@scenario
def set_to_other_memory(T: Any) -> Any:
    a, b = T.zeros(3), T.arange(6.0)
    seen = [a.set_(b) is a, facts(a)]
    b[0] = 9
    a[1] = 7
    seen += [
        a,
        b,
        a._version,
        b._version,
        facts(a.set_(b, 1, (2, 2), (2, 1))),
        a,
        a.set_(b, 1, (2, 2)),
        a.set_(b, 1, (7,)).shape,
    ]
    a[5:] = 0  # what came with the larger memory could be anything
    x = leaf(T, 3)
    w = x * 1
    seen += [facts(T.zeros(3).set_()), attempt(T.zeros(3).set_, T.arange(3)), attempt(x.set_, T.zeros(3))]
    seen += [facts(w.set_(T.zeros(4))), attempt(w.sum().backward), facts(T.zeros(2).set_(x * 1)), facts(b.set_(b))]
    with T.no_grad():
        x.set_(T.zeros(5))
    (x * 2).sum().backward()
    base = T.zeros(6)
    view = base[:3]
    view.set_(T.ones(2))
    return [*seen, facts(x), x.grad, facts(view, base), view, base, attempt(T.zeros(1).set_, 3)[:60]]


@scenario
def resized(T: Any) -> Any:
    turned, a = T.arange(6.0).view(2, 3).t(), T.arange(6.0)
    seen = [facts(turned.resize_(2, 2)), turned]
    part = a[2:]
    part.resize_(2, 2)[0, 0] = 50.0
    seen += [facts(part), part.clone(), a.clone(), facts(a.resize_(3)), a.clone(), a.resize_(6).clone()]
    seen += [facts(a.resize_(8)), a[:6].clone(), a.resize_(8)._version]  # what else is there now is left open
    x = leaf(T, 6)
    calls: list[Any] = [
        lambda: T.zeros(2).resize_(-1), lambda: a.resize_(), lambda: a.resize_("a"), lambda: a.resize_as_(3),
        lambda: T.arange(6.0).resize_((2, 3)), lambda: T.arange(6.0).resize_(T.Size([3, 2])),
        lambda: T.zeros(0).resize_(2, 2).shape,
        lambda: x.resize_(2), lambda: (x * 1).resize_(2), lambda: x[:2].resize_(1), lambda: x.detach().resize_(2, 3),
        lambda: x.data.resize_(3), lambda: T.no_grad()(x.resize_)(2), lambda: T.arange(6.0).resize_as_(T.ones(3, 2)),
    ]  # fmt: skip
    return [*seen, *[attempt(call) for call in calls], x.shape]


@scenario
def detached_and_data(T: Any) -> Any:
    x = leaf(T, 4)
    w = x * 1
    detached, data = w.detach(), w.data
    seen = [facts(detached), facts(data), facts(detached.add_(1)), facts(data.add_(1)), w, w._version]
    part = w[:2].detach()
    part.mul_(0)
    seen += [w, w._version, facts(part)]
    changes: list[Any] = [
        lambda t: t.t_(), lambda t: t.unsqueeze_(0), lambda t: t.squeeze_(), lambda t: t.set_(T.ones(2)),
        lambda t: t.resize_(2, 2), lambda t: t.as_strided_((2,), (1,)), lambda t: t.transpose_(0, 0),
        lambda t: t.requires_grad_(),
    ]  # fmt: skip
    for start in (lambda: w.detach(), lambda: w.data, lambda: x.detach(), lambda: x[1:].detach()):
        seen += [attempt(lambda change=change, start=start: facts(change(start()))) for change in changes]
    return [*seen, facts(w), facts(x), w]


@scenario
def views_of_what_was_detached(T: Any) -> Any:
    seen: list[Any] = []
    for again in (False, True):
        x = leaf(T, 3)
        base = T.ones(3).sub_(x)
        view = base.view(3, 1)
        base.detach_()
        seen.append((view.requires_grad, view.grad_fn.name()))
        base.requires_grad_(again)
        with T.no_grad():
            base.mul_(2)
        seen += [view.requires_grad, view.grad_fn.name(), [f for f, _ in view.grad_fn.next_functions] == [None]]
        seen.append(T.autograd.grad(view.sum(), [x, *[base] * again], allow_unused=True))
    part = T.arange(6.0).view(2, 3).requires_grad_()  # a leaf that is a view of what needs no gradient
    view = part.view(6)
    with T.no_grad():
        part.mul_(2)
    return [*seen, view.requires_grad, T.autograd.grad(view.sum(), part, allow_unused=True)]


@scenario
def gradients_can_be_changed(T: Any) -> Any:
    x = T.tensor([[0.3, 0.7], [0.2, 0.1]], dtype=T.float64, requires_grad=True)
    hessian = T.func.hessian(lambda t: (t * t).sin().sum())(x)
    (g,) = T.autograd.grad(hessian.sum(), x)
    return g.mul_(x), g.requires_grad


@scenario
def views_of_several_that_cannot_be_followed(T: Any) -> Any:
    x = leaf(T, 4) * 1
    first, second = x.split(2)
    x.mul_(2)
    return [attempt(lambda: first == second), attempt(lambda: first + second), attempt(lambda: first.long())]


@scenario
def names_of_indexing(T: Any) -> Any:
    x = T.zeros(2, 2, requires_grad=True)
    two = slice(0, 2)
    indices: list[Any] = [
        two, slice(None), slice(0, 9), (two, two), (two, slice(0, 9)), (0, two), (two, 0), (..., two), (..., 0, two),
        (None, two), (two, None), (slice(0, 1), two), (0, slice(None, None, 2)), (slice(0, 1), slice(0, 1)), ...,
    ]  # fmt: skip
    return [x[index].grad_fn.name() for index in indices]


@scenario
def arguments_of_shapes_that_do_not_fit(T: Any) -> Any:
    number, row, pair = T.tensor(1.0), T.zeros(3), T.zeros(2, 3)
    calls: list[Any] = [
        lambda: number.permute(), lambda: number.reshape(), lambda: number.expand(), lambda: number.repeat(),
        lambda: number.tile(), lambda: number.flip(), lambda: T.zeros(()).copy_(row), lambda: row.copy_(pair),
        lambda: row.copy_(T.zeros(2, 4)), lambda: pair.copy_(T.zeros(1, 2, 3)),
        lambda: row.__setitem__(0, T.zeros(1, 1, 2, 3)), lambda: pair.__setitem__(T.tensor([0]), T.zeros(1, 2, 1, 4)),
        lambda: T.zeros(0, 2).amax(-2), lambda: pair.cfloat() < T.zeros(2, 2),
        lambda: T.zeros(2, 2, 2, requires_grad=True).t_(), lambda: T.view_as_complex(T.arange(6.0)[1:3]),
    ]  # fmt: skip
    return [attempt(call) for call in calls]
