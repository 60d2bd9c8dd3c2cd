"""Scenarios of forward mode. See scenarios.py."""

# ruff: noqa: B023  (functions made in a loop are called in that round)

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection, make

SCENARIOS, scenario = collection()


def values(T: Any) -> tuple[Any, Any]:
    return T.tensor([0.3, -0.7, 1.2]), T.tensor([1.0, 2.0, -0.5])


def forward(T: Any) -> Any:
    return T.autograd.forward_ad


def tangent(T: Any, t: Any) -> Any:
    return forward(T).unpack_dual(t).tangent


def along(T: Any, functions: list[Any], x: Any, t: Any) -> list[Any]:
    """The value and the tangent of each function at x."""
    F = forward(T)
    with F.dual_level():
        return [F.unpack_dual(function(F.make_dual(x, t))) for function in functions]


@scenario
def duals(T: Any) -> Any:
    F = forward(T)
    x, t = values(T)
    seen: list[Any] = [attempt(F.make_dual, x, t)]
    with F.dual_level() as level:
        dual = F.make_dual(x, t)
        same = F.unpack_dual(x)
        seen += [level, F.unpack_dual(dual), same.primal is x, same.tangent, type(same).__name__, same._fields]
        seen += [tangent(T, dual) is t, F.unpack_dual(dual * 2), F.unpack_dual(dual.detach()).tangent]
        seen += [attempt(F.make_dual, dual, t), attempt(F.make_dual, x, T.ones(2)), dual._is_view()]
        seen += [attempt(F.make_dual, T.tensor([1]), t), attempt(F.make_dual, x, T.tensor([1, 2, 3]))]
        seen += [attempt(F.enter_dual_level), tangent(T, dual.argmax()), tangent(T, dual > 0)]
    seen += [tangent(T, dual), attempt(F.exit_dual_level)]
    return seen


@scenario
def switching_forward_mode(T: Any) -> Any:
    F = forward(T)
    x, t = values(T)
    with F.dual_level():
        dual = F.make_dual(x, t)
        with T.no_grad():
            quiet = tangent(T, dual * 2)
        with F._set_fwd_grad_enabled(False):
            off = tangent(T, dual * 2)
        return [quiet, off, F._is_fwd_grad_enabled(), tangent(T, dual * 2), repr(dual), repr(dual.view(3, 1))]


@scenario
def programs(T: Any) -> Any:
    x, t = values(T)
    matrix = T.tensor([[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]])

    def several(d: Any) -> Any:
        return d.max(0)[0] + d.sort()[0][0] + d.split(1)[2].sum()

    functions = [
        lambda d: (d.sin() * d).exp().sum(), lambda d: d.softmax(0), lambda d: matrix @ d,
        lambda d: d.view(3, 1) @ d[None],
        lambda d: T.cat([d, d * 2]), lambda d: d[[0, 0, 2]], lambda d: d[1:], lambda d: d / (d + 2), lambda d: d**3,
        lambda d: T.where(d > 0, d, d * d), lambda d: d.clamp(-0.5, 1.0), lambda d: d.cumsum(0), lambda d: d.var(),
        lambda d: d.norm(), lambda d: d.log_softmax(0), lambda d: T.nn.functional.mse_loss(d, d * 2), several,
        lambda d: T.stack([d, d.abs()]).prod(0), lambda d: d.expand(2, 3).sum(1), lambda d: T.outer(d, d).T,
        lambda d: T.nn.functional.linear(d, matrix), lambda d: d.repeat(2).reshape(2, 3).mean(0), lambda d: d.double(),
        lambda d: T.maximum(d, d.flip(0)), lambda d: d.gather(0, T.tensor([2, 0])), lambda d: d.masked_fill(d > 0, 2.0),
    ]  # fmt: skip
    return along(T, functions, x, t)


@scenario
def changes_in_place(T: Any) -> Any:
    F = forward(T)
    seen: list[Any] = []
    with F.dual_level():
        x, t = values(T)
        dual = F.make_dual(x.clone(), t.clone())
        view = dual.view(3, 1)
        view.mul_(3)
        seen += [F.unpack_dual(dual), F.unpack_dual(view)]
        plain = T.zeros(3)
        plain.copy_(dual)
        seen.append(F.unpack_dual(plain))
        base = T.zeros(2, 3)
        base[0].copy_(dual)
        seen.append(F.unpack_dual(base))
        dual[0] = 5.0
        seen.append(F.unpack_dual(dual))
        other = T.ones(3)
        other[1:] = dual[:2]
        seen.append(F.unpack_dual(other))
        dual.zero_()
        seen.append(F.unpack_dual(dual))
        filled = T.ones(3)
        filled.add_(F.make_dual(x, t))
        seen.append(F.unpack_dual(filled))
        filled.masked_fill_(T.tensor([True, False, False]), 1.0)
        seen.append(F.unpack_dual(filled))
    return seen


@scenario
def forward_over_reverse(T: Any) -> Any:
    F = forward(T)
    x, t = values(T)
    x.requires_grad_()
    with F.dual_level():
        dual = F.make_dual(x, t)
        loss = ((dual.sin() * dual).exp() / (dual * dual + 1)).sum()
        (g,) = T.autograd.grad(loss, dual, create_graph=True)
        hessian_vector = tangent(T, g)
        along = tangent(T, loss)
    (again,) = T.autograd.grad(along, x)
    return [along, hessian_vector, again, dual.is_leaf, dual.requires_grad]


@scenario
def complex_numbers(T: Any) -> Any:
    x, t = T.tensor([0.3 + 1j, -0.7 - 0.2j]), T.tensor([1.0 - 1j, 0.5j])
    functions = [
        lambda d: d * d, lambda d: d.exp(), lambda d: d.abs(), lambda d: d.conj() * d, lambda d: d.real,
        lambda d: d.sum(),
        lambda d: d / (d + 2), lambda d: T.view_as_real(d), lambda d: d.imag * d, lambda d: d.sqrt(),
    ]  # fmt: skip
    return along(T, functions, x, t)


@scenario
def functions_with_jvp(T: Any) -> Any:
    F = forward(T)

    class Square(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_forward(x)
            ctx.factor = factor
            return x * x * factor

        @staticmethod
        def jvp(ctx: Any, t: Any, _: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * t * ctx.factor

    Without = make(T, lambda ctx, x: x * 2)

    x, t = values(T)
    with F.dual_level():
        dual = F.make_dual(x, t)
        return [F.unpack_dual(Square.apply(dual, 3.0)), attempt(lambda: Without.apply(dual))]


@scenario
def more_changes_in_place(T: Any) -> Any:
    F = forward(T)
    x, t = values(T)
    seen: list[Any] = []
    with F.dual_level():
        dual = F.make_dual(x, t)
        matrix = T.zeros(2, 3)
        matrix[1] = dual
        matrix[:, 0] = dual[1]
        seen.append(tangent(T, matrix.clone()))
        matrix[0].copy_(dual * 2)
        seen.append(tangent(T, matrix))
        with T.no_grad():
            quiet = dual.clone()
            quiet.mul_(2)
        seen += [tangent(T, quiet), tangent(T, dual.clone().detach_()), tangent(T, dual.data)]
        total = T.zeros(3)
        total.add_(dual, alpha=2)
        seen += [F.unpack_dual(total), tangent(T, dual.clone().sin_()), attempt(F.unpack_dual, 1)]
    return seen


@scenario
def gradients_of_duals(T: Any) -> Any:
    F = forward(T)
    _, t = values(T)
    with F.dual_level():
        x = T.ones(3, requires_grad=True)
        (F.make_dual(x, t) ** 3).sum().backward()
        kept = [x.grad, tangent(T, x.grad)]
        dual = F.make_dual(x, t)
        (with_graph,) = T.autograd.grad((dual**3).sum(), x, create_graph=True)
        (without,) = T.autograd.grad((dual**3).sum(), x)
        weight = T.ones(2, 3, requires_grad=True)
        along = tangent(T, T.nn.functional.linear(dual, weight))
        return [*kept, tangent(T, with_graph), tangent(T, without), T.autograd.grad(along.sum(), weight)]


@scenario
def forward_mode_switched_off(T: Any) -> Any:
    ad = T.autograd.forward_ad
    x, out = T.tensor([1.0, 2.0]), []
    with ad.dual_level():
        dual = ad.make_dual(x, x * 3)
        with ad._set_fwd_grad_enabled(False):
            out.append([ad.unpack_dual(dual).tangent, ad.unpack_dual(dual * 2).tangent])
        with T.inference_mode():
            out.append([ad._is_fwd_grad_enabled(), ad.unpack_dual(dual).tangent, ad.unpack_dual(dual * 2).tangent])
        out.append([ad._is_fwd_grad_enabled(), ad.unpack_dual(dual).tangent])
        for into, source in ((T.zeros(2), dual), (dual, x)):
            out.append(attempt(lambda: T.add(source, 1, out=into)))
    return out


@scenario
def tangents_lie_in_memory_as_their_tensors(T: Any) -> Any:
    F = forward(T)

    def forms() -> list[Any]:
        rows = T.arange(12.0).reshape(4, 3)
        return [rows[:2].clone(), T.ones(3, 2).t(), rows[:2], rows.reshape(12)[1:7].view(2, 3), T.ones(2, 6)[:, ::2],
                rows[:2].detach()]  # fmt: skip

    seen: list[Any] = [F._current_level]
    with F.dual_level():
        seen.append(F._current_level)
        for x in forms():
            for given in forms():
                found = tangent(T, F.make_dual(x, given))
                seen += [found is given, found.stride(), found.storage_offset(), found.untyped_storage().nbytes()]
        x = T.ones(2, dtype=T.complex64)
        for a in (x, x.conj()):
            for b in (x * 2, (x * 2).conj()):
                seen.append(tangent(T, F.make_dual(a, b)) is b)
        part = T.ones(5)[:4].detach()
        whole = F.make_dual(part, leaf_of(T, [1.0, 2.0, 3.0, 4.0]))
        seen += [tangent(T, whole), tangent(T, whole.as_strided((5,), (1,), 0))]
        dual = F.make_dual(T.ones(2), T.ones(2))
        seen += [attempt(F.make_dual, T.ones(2), dual), attempt(F.make_dual, dual, T.ones(2))]
    return [*seen, F._current_level]


def leaf_of(T: Any, numbers: list[float]) -> Any:
    return T.tensor(numbers, requires_grad=True)


@scenario
def what_jvp_must_return(T: Any) -> Any:
    F = forward(T)

    def first_two(change: Any) -> Any:
        class Part(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, n: Any) -> Any:
                return x.narrow(0, 0, 2)

            @staticmethod
            def jvp(ctx: Any, t: Any, _: Any) -> Any:
                return change(t, t.narrow(0, 0, 2))

        return Part

    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t if Twice.lazy else t.mul_(2)

    class Both(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, n: Any) -> Any:
            return x * 2, n.clone()

        @staticmethod
        def jvp(ctx: Any, t: Any, of_integers: Any) -> Any:
            return t * 2, of_integers

    seen = []
    changes = [lambda t, v: v, lambda t, v: v.clone(), lambda t, v: v.clone().view_as(v), lambda t, v: v[:]]
    x, given = values(T)
    with F.dual_level():
        for change in changes:
            dual = F.make_dual(x, given)
            for each in (dual, dual.view_as(dual)):
                seen.append(attempt(lambda: F.unpack_dual(first_two(change).apply(each, 1)).tangent))
        for Twice.lazy in (True, False):
            direction = T.ones(3)
            dual = F.make_dual(x.clone(), direction)
            out = attempt(lambda: F.unpack_dual(Twice.apply(dual)).tangent is direction)
            seen += [out, direction]
        seen.append([F.unpack_dual(r).tangent for r in Both.apply(F.make_dual(x, given), T.tensor([1, 2]))])
    return seen


@scenario
def operations_without_a_rule_for_tangents(T: Any) -> Any:
    """The older name of vmap is there as well."""
    ad = T.autograd.forward_ad
    with ad.dual_level():
        dual = ad.make_dual(T.ones(2), T.ones(2))
        refused = attempt(lambda: T.igamma(dual, dual))
    mapped = T._vmap_internals._vmap(T.sin, 0, 1)(T.zeros(2, 3))
    return [refused, mapped]
