"""Scenarios of functions that cut, join and rearrange tensors: their refusals, what is a view and what is recorded.
See scenarios.py."""

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


def facts(t: Any) -> list[Any]:
    name = None if t.grad_fn is None else t.grad_fn.name()
    return [name, t._is_view(), tuple(t.shape), t.stride(), str(t.dtype)]


def all_facts(made: Any) -> Any:
    return [facts(t) for t in made] if isinstance(made, (tuple, list)) else facts(made)


def leaf(T: Any, *shape: int) -> Any:
    return T.ones(shape, requires_grad=True)


@scenario
def windows(T: Any) -> Any:
    x, s, flat = leaf(T, 4, 6), leaf(T), T.arange(1.0, 8)
    base = T.zeros(5)
    base.unfold(0, 2, 3)[1] = 7
    return [
        [facts(v) for v in (x.unfold(1, 3, 2), x.t().unfold(0, 2, 1), s.unfold(0, 1, 1), s.unfold(0, 0, 1))],
        facts(x.unfold(1, 0, 2)),
        base,
        [attempt(flat.unfold, *given) for given in ((0, -1, 1), (0, 1, -1), (0, 1, 0), (1, 1, 1), (0, 9, 1))],
        [attempt(s.unfold, *given) for given in ((0, 2, 1), (1, 1, 1))],
        T.ops.aten.unfold_backward(T.ones(2, 3), [6], 0, 3, 3),
        attempt(lambda: T.ops.aten.unfold_backward(T.ones(2, 3), [6], 0, 3, 0)),
        attempt(lambda: T.ops.aten.unfold_backward(T.ones(2, 3), [6], 0, -1, 1)),
    ]


@scenario
def pieces(T: Any) -> Any:
    x, v, y, s = leaf(T, 4, 6), leaf(T, 3), leaf(T, 2, 4, 6), leaf(T)
    made = [x.hsplit(2), v.hsplit(3), x.vsplit((1, 3)), y.dsplit(2), y.dsplit((2,)), T.hsplit(x, [1, 2])]
    made += [T.unsafe_chunk(x, 2), T.unsafe_split(x, 3), x.unsafe_split_with_sizes((1, 3))]
    calls = [
        lambda: s.hsplit(1), lambda: v.vsplit(1), lambda: x.vsplit(3), lambda: x.hsplit(4), lambda: v.hsplit(2),
        lambda: x.dsplit(2), lambda: y.dsplit(5), lambda: y.dsplit(0),
    ]  # fmt: skip
    unsafe = (x * 1).unsafe_split(2)
    unsafe[0].mul_(3)  # which no view among several would allow
    return [[all_facts(m) for m in made], [attempt(call) for call in calls], facts(unsafe[0]), x.ravel(), x.t().ravel()]


@scenario
def diagonals(T: Any) -> Any:
    x, v, y, s = leaf(T, 4, 6), leaf(T, 3), leaf(T, 2, 4, 6), leaf(T)
    made = [T.diag(x), T.diag(x, 1), T.diag(v), T.diag(v, -1), T.diag_embed(v), T.diag_embed(x, 1, 0, 2)]
    made += [
        T.diag_embed(x, -1),
        T.diagflat(x),
        T.diagflat(v, 1),
        T.diagflat(s),
        T.block_diag(x, v, s),
        T.block_diag(x),
    ]
    made += [T.block_diag(), T.block_diag(T.ones(2, 2, dtype=T.int32), T.ones(1)), x.trace()]
    made += [T.trace(T.ones(2, 2, dtype=T.int32)), T.trace(T.ones(2, 2, dtype=T.float16))]
    made += [T.block_diag(T.ones(0), T.ones(2)), T.diagonal_scatter(x, T.ones(4), 1)]
    calls = [
        lambda: v.trace(), lambda: T.trace(T.ones(2, 2, dtype=T.bool)), lambda: T.diag(s), lambda: T.diag(y),
        lambda: T.diag_embed(x, 0, 1, 1), lambda: T.diag_embed(s), lambda: T.block_diag(y),
        lambda: T.diagonal_scatter(x, T.ones(5)), lambda: T.zeros(2, 2, 3).fill_diagonal_(1),
        lambda: T.zeros(2).fill_diagonal_(1),
    ]  # fmt: skip
    filled = [T.zeros(3, 2).fill_diagonal_(1), T.zeros(7, 3).fill_diagonal_(1, wrap=True)]
    filled += [T.zeros(7, 3).fill_diagonal_(1), T.zeros(2, 2, 2).fill_diagonal_(1), T.zeros(2, 5).t().fill_diagonal_(2)]
    changed = x * 1
    changed.fill_diagonal_(5)
    return [[facts(m) for m in made], [attempt(c) for c in calls], filled, T.autograd.grad(changed.sum(), x)]


@scenario
def combinations_of_elements(T: Any) -> Any:
    x, v = leaf(T, 2, 3), leaf(T, 3)
    made = [T.cartesian_prod(v, v), T.cartesian_prod(v), T.combinations(v), T.combinations(v, 2, True)]
    made += [T.combinations(v, 0), T.combinations(v, 5), T.combinations(v, 1)]
    calls = [
        lambda: T.cartesian_prod(x), lambda: T.cartesian_prod(v, T.arange(2)), lambda: T.cartesian_prod(),
        lambda: T.combinations(x), lambda: T.combinations(v, -1),
    ]  # fmt: skip
    return [[facts(m) for m in made], [attempt(c) for c in calls]]


@scenario
def copies_of_views(T: Any) -> Any:
    x, v, c = leaf(T, 4, 6), leaf(T, 3), T.ones(2, dtype=T.complex64, requires_grad=True)
    made = [
        T.view_copy(x, (2, 12)), T.view_copy(x.detach(), T.int32), T.select_copy(x, 0, 1), T.slice_copy(x, 0, 1, 3),
        T.diagonal_copy(x), T.split_copy(x, 2), T.split_with_sizes_copy(x, (1, 3)), T.unbind_copy(v), T.t_copy(x),
        T.permute_copy(x, (1, 0)), T.transpose_copy(x, 0, 1), T.expand_copy(v, (2, 3)), T.alias_copy(x),
        T.unsqueeze_copy(x, 0), T.squeeze_copy(x), T.squeeze_copy(x, 0), T.unfold_copy(x, 1, 2, 1),
        T.view_as_real_copy(c), T.as_strided_copy(x, (2, 2), (1, 2)), T.narrow_copy(x, 1, 2, 2),
    ]  # fmt: skip
    out, parts = T.empty(2), (T.empty(2), T.empty(2))
    T.diagonal_copy(T.ones(2, 2), out=out)
    T.split_copy(T.arange(4.0), 2, out=parts)
    changed = T.view_copy(x, (24,)).mul_(2)
    return [[all_facts(m) for m in made], out, parts, x, T.autograd.grad(changed.sum(), x)]


@scenario
def shapes_that_broadcast(T: Any) -> Any:
    given: list[Any] = [((3, 1), (4,)), ((1,), 3, [2, 1]), (), ((0,), (1,)), (5,), ((3, 1), (4, 2)), ((0,), (2,))]
    given += [((3, 1), -1), (2.0,), ((2, 3), (3,), (4, 3))]
    return [attempt(lambda shapes=shapes: tuple(T.broadcast_shapes(*shapes))) for shapes in given]


@scenario
def positions_in_each_dimension(T: Any) -> Any:
    calls = [
        lambda: T.unravel_index(T.tensor([5, 7, -1, 99]), (3, 4)), lambda: T.unravel_index(T.tensor(5), 4),
        lambda: T.unravel_index(T.tensor([5, 7], dtype=T.int32), T.Size((3, 4))),
        lambda: T.unravel_index(T.tensor([5]), ()), lambda: T.unravel_index(T.tensor([], dtype=T.int64), (0, 2)),
        lambda: T.unravel_index(T.tensor(5), (2, -1)), lambda: T.unravel_index(T.tensor([1]), (0, 2)),
        lambda: T.unravel_index(T.tensor(0.5), (2, 2)), lambda: T.unravel_index(T.tensor(True), (2, 2)),
        lambda: T.unravel_index(T.tensor([1]), (1, 2.0)), lambda: T.unravel_index(T.tensor([1]), T.tensor([1, 2])),
    ]  # fmt: skip
    return [str(attempt(call)).split(":")[0] + str(attempt(call)).split(":")[-1][:40] for call in calls]


@scenario
def starts_that_are_tensors(T: Any) -> Any:
    x = T.arange(9).view(3, 3)
    starts = [T.tensor(1), T.tensor(-2), T.tensor([1]), T.tensor(1.0), T.tensor([0, 1]), T.tensor(True)]
    return [attempt(x.narrow, 0, start, 1) for start in starts]


@scenario
def complex_numbers_of_nothing(T: Any) -> Any:
    shapes = [(0, 2), (3, 0, 2), (0,), (2, 0), (0, 3)]
    single = T.arange(6.0).view(3, 2, 1).transpose(1, 2)  # the stride of one element means nothing
    return [*[attempt(lambda s=s: all_facts(T.view_as_complex(T.empty(s)))) for s in shapes], T.view_as_complex(single)]


@scenario
def indices_of_the_dispatcher(T: Any) -> Any:
    x, at = T.arange(6.0).view(2, 3), T.tensor([0, 2])
    mask = T.tensor([[True, False], [False, True]])
    v = T.arange(1, 5).view(1, 2, 2, 1)
    return [
        T.ops.aten.index(x, [None, at]),
        T.ops.aten.index.Tensor(x, [T.tensor([1])]),
        attempt(lambda: T.ops.aten.index(x, [])),
        T.ops.aten.index_put(x, [None, at], T.tensor(9.0)),
        T.ops.aten.index_put_(v, [None, mask, None], T.tensor(0)),
        v,
        attempt(lambda: x.index_put((None, at), T.tensor(1.0))),
        attempt(lambda: T.rand([]).index_put([], T.tensor([1.0]), True)).split(":")[0],
        x.sparse_dim(),
        x.dense_dim(),
    ]


@scenario
def views_that_are_conjugated_when_read(T: Any) -> Any:
    x = T.tensor([[1 + 2j, 3 - 1j], [0.5j, 2.0]])
    c = x.conj()
    made = {
        "conj": c, "select": c[0], "t": c.t(), "H": x.H, "mH": x.mH, "adjoint": x.adjoint(), "twice": c.conj(),
        "clone": c.clone(), "real": c.real, "imag": c.imag, "part of imag": c.imag[0], "imag of x": x.imag,
        "contiguous": c.contiguous(), "copied": c.t().contiguous(), "same dtype": c.to(T.complex64),
        "other dtype": c.to(T.complex128), "sum": c + 0, "resolved": c.resolve_conj(), "physical": T.conj_physical(c),
        "resolved imag": c.imag.resolve_neg(), "flat": c.reshape(-1), "expand": c.expand(2, 2, 2), "mm": c @ c,
        "zeros_like": T.zeros_like(c), "unbind": c.unbind()[0], "diagonal": c.diagonal(), "index": c[T.tensor([0])],
        "of a function": T.resolve_conj(c), "real H": T.ones(2, 2).H,
    }  # fmt: skip
    calls = [
        lambda: c.numpy(), lambda: c.imag.numpy(), lambda: c.view(T.float32), lambda: c.imag.view(T.int32),
        lambda: T.view_as_real(c), lambda: c.__dlpack__(),
    ]  # fmt: skip
    y = x.clone().requires_grad_()
    return [
        {name: (t.is_conj(), t.is_neg(), t._is_view(), t._base is x, t.tolist()) for name, t in made.items()},
        [T.is_conj(c), T.is_neg(c.imag), x.resolve_conj() is x, x.real.resolve_neg()._base is x],
        [attempt(call) for call in calls],
        c.numpy(force=True).tolist(),
        y.conj().resolve_conj().grad_fn.name(),
        T.autograd.grad(y.conj().abs().sum(), y, create_graph=True)[0].resolve_conj(),
        [c.detach().is_conj(), c.data.is_conj()],
    ]


@scenario
def names_of_what_is_not_there(T: Any) -> Any:
    names = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
    dtypes = [getattr(T, name) for name in names]
    return [
        [(str(d), d.itemsize, d.is_floating_point, d.is_signed, d.is_complex) for d in dtypes],
        [T.accelerator.is_available(), T.accelerator.device_count(), T.accelerator.current_accelerator()],
        attempt(T.accelerator.synchronize),
    ]
