"""Results of every operation lie in memory as PyTorch's do, whatever the layouts of its operands, also where these
disagree."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad as lg
from op_checks import Case, Entry, cases, is_public, laid_out
from op_torch import compared, identity, in_torch, tensors

Layout = Callable[[Any], Any]


def rotated(values: Any) -> Any:
    """The first dimension is the fastest in memory."""
    order = (*range(1, values.ndim), 0)[: values.ndim]
    return values.transpose(order).copy().transpose(np.argsort(order))


def expanded_in_front(values: Any) -> Any:
    """The first of all rows, again and again."""
    if not values.ndim or not values.size:
        return values.copy()
    one = values[:1].copy()
    return np.lib.stride_tricks.as_strided(one, values.shape, (0, *one.strides[1:]))


LAYOUTS: dict[str, Layout] = {
    "plain": lambda x: laid_out(x, "contiguous"),
    "transposed": lambda x: laid_out(x, "transposed"),
    "stepped": lambda x: laid_out(x, "stepped"),
    "expanded": lambda x: laid_out(x, "expanded"),
    "rotated": rotated,
    "transposed, stepped": lambda x: laid_out(x.T, "stepped").T,
    "expanded in front": expanded_in_front,
}
# of the first tensor, and of all others
PAIRS = [
    *[(name, name) for name in LAYOUTS],
    *[(name, "plain") for name in LAYOUTS if name != "plain"],
    *[("plain", name) for name in LAYOUTS if name != "plain"],
    ("transposed", "rotated"), ("rotated", "transposed"), ("expanded", "transposed"), ("transposed", "expanded"),
]  # fmt: skip

GAPS = "PyTorch copies the memory between the elements as well"
COLUMNS = "PyTorch's are those of LAPACK, which knows columns only"
DIFFERENT = {
    "select_scatter": GAPS,
    "slice_scatter": GAPS,
    "diagonal_scatter": GAPS,
    "as_strided_scatter": "describes the memory, which is another one in each layout",
    "view_as_complex_copy": "is compared with the view",
    "linalg_solve": COLUMNS,
    "linalg_solve_ex": COLUMNS,
    "linalg_lu_factor": "the matrices of some layouts are singular",
    "kron": "a product of views whose dimensions of one element have strides of NumPy's choice",
}


def laid(case: Case, first: str, others: str) -> list[Any]:
    return [LAYOUTS[others if i else first](t.array) for i, t in enumerate(case.tensors)]


def shown(outputs: list[Any]) -> list[Any]:
    """Shapes and strides; the stride of a single element means nothing."""
    return [
        (tuple(t.shape), [step for step, size in zip(t.stride(), t.shape) if size > 1] if t.numel() else None)
        for t in outputs
    ]


def differences(entry: Entry, dtype: str) -> Iterator[str]:
    for case in cases(entry, dtype):
        for first, others in PAIRS:
            if first != others and len(case.tensors) < 2:
                continue
            ours: list[Any] = []
            theirs: list[Any] = []
            with torch.no_grad(), lg.no_grad():
                try:
                    given = [torch.from_numpy(array) for array in laid(case, first, others)]
                    tensors(case.call(given, in_torch(entry)), theirs)
                except (RuntimeError, IndexError, ValueError):
                    continue  # a view that would need a copy, a dtype that is refused
                try:
                    tensors(case.call([lg.from_numpy(array) for array in laid(case, first, others)]), ours)
                except NotImplementedError:
                    continue  # a dtype that PyTorch does not look at where there is nothing to compute
            if shown(ours) != shown(theirs):
                yield f"{case}, {first} and {others}: {shown(ours)}, in PyTorch {shown(theirs)}"


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("entry", [e for e in compared if is_public(e) and e.name not in DIFFERENT], ids=identity)
def test_results_lie_as_in_pytorch(entry: Entry, dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(differences(entry, dtype))
    assert not found, "\n".join(found)


# -- operands whose layouts disagree ----------------------------------------------------------------------------------

SHAPE = (2, 3, 4)
PAIRED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, a, b: a + b,
    "greater": lambda m, a, b: a > b,
    "where": lambda m, a, b: m.where(a > b, a, b),
    "where with a broadcast condition": lambda m, a, b: m.where(m.ones(4) > 0, a, b),
    "mixed dtypes": lambda m, a, b: a * b.long(),
    "maximum": lambda m, a, b: m.maximum(a, b),
    "broadcast": lambda m, a, b: a[:, :1] - b[:1],
    "addition of a vector": lambda m, a, b: m.arange(4.0) + a,
    "clone": lambda m, a, b: a.clone(),
    "exp": lambda m, a, b: a.exp(),
    "number": lambda m, a, b: a * 2,
    "rot90": lambda m, a, b: m.rot90(a, 1, (1, 2)),
    "cat": lambda m, a, b: m.cat([a, b], 1),
    "index": lambda m, a, b: a[:, m.tensor([0, 2])],
    "index in front": lambda m, a, b: a[m.tensor([1, 0, 1])],
    "index at the end": lambda m, a, b: a[..., m.tensor([1, 0])],
    "index by two": lambda m, a, b: a[m.tensor([1, 0]), :, m.tensor([1, 3])],
    "index by neighbours": lambda m, a, b: a[:, m.tensor([1, 0]), m.tensor([1, 3])],
    "index by a matrix": lambda m, a, b: a[:, m.tensor([[1, 0], [2, 2]])],
    "index_select": lambda m, a, b: a.index_select(2, m.tensor([1, 0])),
    "sum": lambda m, a, b: a.sum(1, keepdim=True),
    "cumsum": lambda m, a, b: a.cumsum(1),
    "softmax": lambda m, a, b: a.softmax(1),
}


def in_order(module: Any, order: tuple[int, ...], expanded: int | None) -> Any:
    """Numbers in the shape (2, 3, 4), the dimensions in an order in memory, one of them perhaps expanded."""
    back = [order.index(d) for d in range(3)]
    sizes = [1 if d == expanded else SHAPE[d] for d in order]
    return module.arange(float(np.prod(sizes))).reshape(sizes).permute(*back).expand(*SHAPE)


@pytest.mark.parametrize("name", PAIRED)
def test_operands_that_disagree(name: str) -> None:
    orders = [(order, expanded) for order in itertools.permutations(range(3)) for expanded in (None, 0, 1, 2)]
    for one, other in itertools.product(orders, orders[::3] if name in ("add", "where") else orders[::5]):
        found = [PAIRED[name](m, in_order(m, *one), in_order(m, *other)) for m in (torch, lg)]
        assert shown(found[1:]) == shown(found[:1]), (one, other)
        assert np.allclose(found[1].numpy(), found[0].numpy())


# -- layers -----------------------------------------------------------------------------------------------------------

FORMATS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: x,
    "reversed": lambda x: x.permute(*range(x.dim())[::-1]).contiguous().permute(*range(x.dim())[::-1]),
    "last two": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "first two": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "channels last": lambda x: x.movedim(1, -1).contiguous().movedim(-1, 1),
}
LAYERS: dict[str, Callable[[Any, Any, int], Any]] = {
    "batch_norm": lambda F, x, dims: F.batch_norm(x, None, None, training=True),
    "batch_norm by known": lambda F, x, dims: F.batch_norm(x, x.new_zeros(4), x.new_ones(4), x.new_ones(4)),
    "group_norm": lambda F, x, dims: F.group_norm(x, 2),
    "layer_norm": lambda F, x, dims: F.layer_norm(x, x.shape[-1:]),
    "logsigmoid": lambda F, x, dims: F.logsigmoid(x),
    "dropout": lambda F, x, dims: F.dropout(x),
    "one_hot": lambda F, x, dims: F.one_hot(x.long()),
    "embedding": lambda F, x, dims: F.embedding(x.long(), x.new_ones(800, 3)),
    "max_pool": lambda F, x, dims: getattr(F, f"max_pool{dims}d")(x, 2),
    "max_pool to be differentiated": lambda F, x, dims: getattr(F, f"max_pool{dims}d")(x.requires_grad_(), 2),
    "avg_pool": lambda F, x, dims: getattr(F, f"avg_pool{dims}d")(x, 2),
    "adaptive_avg_pool": lambda F, x, dims: getattr(F, f"adaptive_avg_pool{dims}d")(x, 2),
    "adaptive_max_pool": lambda F, x, dims: getattr(F, f"adaptive_max_pool{dims}d")(x, 2),
    "conv": lambda F, x, dims: getattr(F, f"conv{dims}d")(x, x.new_ones(3, 4, *[2] * dims)),
    "interpolate": lambda F, x, dims: F.interpolate(x, scale_factor=2),
    **{f"pad, {mode}": lambda F, x, dims, mode=mode: F.pad(x, (1, 1) * dims, mode)
       for mode in ("constant", "reflect", "replicate", "circular")},
    "pixel_shuffle": lambda F, x, dims: F.pixel_shuffle(x, 2) if dims == 2 else x,
    "pixel_unshuffle": lambda F, x, dims: F.pixel_unshuffle(x, 2) if dims == 2 else x,
    "attention": lambda F, x, dims: F.scaled_dot_product_attention(x, x, x),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    for shape, (layout, laid) in itertools.product([(2, 4, 6), (2, 4, 6, 4), (2, 4, 4, 6, 4)], FORMATS.items()):
        found = []
        for module in (torch, lg):
            x = laid(module.arange(float(np.prod(shape))).reshape(shape)).detach()
            found.append(LAYERS[name](module.nn.functional, x, len(shape) - 2))
        assert shown(found[1:]) == shown(found[:1]), (shape, layout)


# -- channels last ----------------------------------------------------------------------------------------------------

IMAGES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, a, b: a + b,
    "add to plain": lambda m, a, b: a.contiguous() + b,
    "add plain": lambda m, a, b: a + b.contiguous(),
    "relu": lambda m, a, b: a.relu(),
    "equal": lambda m, a, b: a == b,
    "add a bias": lambda m, a, b: a + m.ones(3, 1, 1),
    "cat": lambda m, a, b: m.cat([a, b]),
    "cat of channels": lambda m, a, b: m.cat([a, b], 1),
    "cat with plain": lambda m, a, b: m.cat([a, b.contiguous()], 1),
    "cat to plain": lambda m, a, b: m.cat([a.contiguous(), b], 1),
    "cat of one": lambda m, a, b: m.cat([a], 1),
    "stack": lambda m, a, b: m.stack([a, b]),
    "slice": lambda m, a, b: a[:, 1:].clone(),
    "mean": lambda m, a, b: a.mean((2, 3), keepdim=True),
    "softmax": lambda m, a, b: a.softmax(1),
    "flip": lambda m, a, b: a.flip(1),
    "double": lambda m, a, b: a.double(),
    "zeros_like": lambda m, a, b: m.zeros_like(a),
    "where": lambda m, a, b: m.where(a > 0, a, b),
    "masked_fill": lambda m, a, b: a.masked_fill(a > 3, 0),
    "clamp": lambda m, a, b: a.clamp(0, 3),
    "roll": lambda m, a, b: a.roll(1, 2),
    "index": lambda m, a, b: a[m.tensor([1, 0])],
    "index of channels": lambda m, a, b: a[:, m.tensor([1, 0])],
    "one channel": lambda m, a, b: m.cat([a[:, :1], b[:, :1]], 1),
}


@pytest.mark.parametrize("name", IMAGES)
def test_channels_last(name: str) -> None:
    found = []
    for module in (torch, lg):
        a, b = [
            module.arange(48.0).reshape(2, 3, 4, 2).flip(d).contiguous(memory_format=module.channels_last)
            for d in (0, 1)
        ]
        found.append(IMAGES[name](module, a, b))
    assert found[1].stride() == found[0].stride()
    assert np.allclose(found[1].numpy(), found[0].numpy())


# -- strides of views, also of single elements ------------------------------------------------------------------------

VIEWS: dict[str, Callable[[Any], Any]] = {
    "None": lambda x: x[None],
    "None and a slice": lambda x: x[None, 1:],
    "None and a step": lambda x: x[None, ::2],
    "None and a number": lambda x: x[None, 0],
    "None after a number": lambda x: x[0, None],
    "None between": lambda x: x[:, None, 1:],
    "None at the end": lambda x: x[..., None],
    "None twice": lambda x: x[None, :, None],
    "two of None": lambda x: x[None, None],
    "two of None at the end": lambda x: x[..., None, None],
    "None of a number": lambda x: x[0, 0, 0][None],
    "unsqueeze": lambda x: x.unsqueeze(0),
    "unsqueeze in the middle": lambda x: x.unsqueeze(1),
    "unsqueeze at the end": lambda x: x.unsqueeze(-1),
    "expand": lambda x: x.expand(1, *x.shape),
    "expand twice": lambda x: x.expand(1, 1, *x.shape),
    "expand more": lambda x: x.expand(2, 1, *x.shape),
    "expand one element": lambda x: x[:1].expand(1, *x.shape[1:]),
    "expand to several": lambda x: x[:1].expand(5, *x.shape[1:]),
    "empty slice": lambda x: x[1:1],
    "empty slice in the middle": lambda x: x[:, 1:1],
    "empty slice at the end": lambda x: x[..., 2:0],
    "empty select": lambda x: x[:, 1:1, 0],
    "slice to one": lambda x: x[:, :1],
    "squeeze": lambda x: x[:, :1].squeeze(),
    "squeeze one": lambda x: x[:, :1, :1].squeeze(1),
    "permute": lambda x: x[:, :1].permute(2, 1, 0),
    "select": lambda x: x[:, 0],
    "diagonal": lambda x: x.diagonal(0, 0, 1),
    "unfold": lambda x: x.unfold(0, 1, 1),
    "movedim": lambda x: x.movedim(0, 2),
    "view": lambda x: x[:, :1].reshape(x.shape[0], 1, 1, -1),
    "narrow": lambda x: x.narrow(1, 0, 1),
    "split": lambda x: x.split(1)[0],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "unbind": lambda x: x.unbind(1)[0],
}
SEEN: dict[str, Callable[[Any], Any]] = {
    "plain": lambda m: m.arange(60.0).reshape(3, 4, 5),
    "transposed": lambda m: m.arange(60.0).reshape(5, 4, 3).permute(2, 1, 0),
    "stepped": lambda m: m.arange(480.0).reshape(6, 8, 10)[::2, ::2, ::2],
    "expanded": lambda m: m.arange(15.0).reshape(3, 1, 5).expand(3, 4, 5),
    "rotated": lambda m: m.arange(60.0).reshape(4, 5, 3).permute(2, 0, 1),
}


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("view", VIEWS)
def test_strides_of_views(view: str, seen: str) -> None:
    theirs, ours = VIEWS[view](SEEN[seen](torch)), VIEWS[view](SEEN[seen](lg))
    assert (tuple(ours.shape), ours.stride()) == (tuple(theirs.shape), theirs.stride())
