"""Joining, splitting and rearranging beside PyTorch: results, views, gradients, and what is refused and how."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad

FLOATS = ["float32", "float64", "complex128", "float16", "bfloat16"]
DTYPES = [*FLOATS, "int64", "uint8", "bool"]

sizes = st.integers(0, 3)
shapes = st.lists(sizes, max_size=4).map(tuple)
dims = st.integers(-5, 4)
small = st.integers(-4, 5)


def values(shape, seed):
    numbers = np.random.RandomState(seed)
    return np.asarray(numbers.randint(-5, 6, shape) + 1j * numbers.randint(-5, 6, shape), "complex128")


def pair(shape, dtype="float64", seed=0, grad=True, order="C"):
    """The same tensor twice: PyTorch's and ours."""
    x = np.array(values(shape, seed), order=order)
    x = x if "complex" in dtype else np.array(np.abs(x.real) if dtype == "uint8" else x.real, order=order)
    theirs = torch.from_numpy(x).to(getattr(torch, dtype))
    ours = leafgrad.from_numpy(x).to(getattr(leafgrad, dtype))
    if grad and dtype in FLOATS:
        theirs.requires_grad_()
        ours.requires_grad_()
    return theirs, ours


def as_array(t):
    t = t.detach()
    return (t.float() if "bfloat16" in str(t.dtype) else t).resolve_conj().numpy()


def assert_same(theirs, ours):
    assert str(theirs.dtype) == str(ours.dtype)
    assert tuple(theirs.shape) == tuple(ours.shape)
    assert theirs.requires_grad == ours.requires_grad
    np.testing.assert_array_equal(as_array(ours), as_array(theirs))


def outcome(function, *args, **kwargs):
    """The results, or the kind and first line of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            return type(error), str(error).split("\n")[0]
    return list(result) if isinstance(result, (tuple, list)) else [result]


def compare(function, tensors, use=lambda i: True, names=True):
    """Call `function(module, *tensors)` with both; compare results and gradients (of the results that `use` chooses),
    or errors."""
    theirs = outcome(function, torch, *[t for t, _ in tensors])
    ours = outcome(function, leafgrad, *[t for _, t in tensors])
    if isinstance(theirs, tuple) or isinstance(ours, tuple):
        assert theirs == ours
        return
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours):
        assert_same(a, b)
        assert a._is_view() == b._is_view()
        assert names is False or type(a.grad_fn).__name__ == type(b.grad_fn).__name__
    used = [i for i, a in enumerate(theirs) if a.requires_grad and a.grad_fn is not None and use(i)]
    leaves = [(a, b) for a, b in tensors if a.requires_grad]
    if used and leaves:
        seeds = [values(tuple(theirs[i].shape), i) for i in used]
        results = []
        for module, outs, which in ((torch, theirs, 0), (leafgrad, ours, 1)):
            given = [
                module.from_numpy(np.array(g if outs[i].is_complex() else g.real)).to(outs[i].dtype)
                for i, g in zip(used, seeds)
            ]
            chosen = [outs[i] for i in used]
            results.append(module.autograd.grad(chosen, [x[which] for x in leaves], given, allow_unused=True))
        for a, b in zip(*results, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert_same(a, b)


# -- joining ----------------------------------------------------------------------------------------------------------


@settings(max_examples=500, deadline=None)
@given(
    lead=shapes,
    changes=st.lists(st.tuples(st.integers(0, 3), sizes), min_size=0, max_size=4),
    dim=dims,
    dtypes=st.lists(st.sampled_from(DTYPES), min_size=5, max_size=5),
    same_dtype=st.booleans(),
    function=st.sampled_from(["cat", "cat", "cat", "stack", "concat", "concatenate"]),
)
def test_cat(lead, changes, dim, dtypes, same_dtype, function):
    """Tensors that differ in one size each; most of them do not fit, some do."""
    all_shapes = [lead]
    for place, size in changes:
        changed = list(lead)
        if changed:
            changed[place % len(changed)] = size
        all_shapes.append(tuple(changed) if size or place else (0,))
    tensors = [pair(shape, dtypes[0] if same_dtype else dtypes[i % 5], seed=i) for i, shape in enumerate(all_shapes)]
    compare(lambda m, *ts: getattr(m, function)(ts, dim), tensors)


@settings(max_examples=300, deadline=None)
@given(
    shape=st.lists(sizes, min_size=1, max_size=3),
    along=st.integers(0, 2),
    others=st.lists(sizes, min_size=1, max_size=3),
    dtypes=st.lists(st.sampled_from(DTYPES), min_size=4, max_size=4),
)
def test_cat_of_fitting_tensors(shape, along, others, dtypes):
    along %= len(shape)
    tensors = [pair((*shape[:along], n, *shape[along + 1 :]), d, seed=n) for n, d in zip(others, dtypes)]
    compare(lambda m, *ts: m.cat(list(ts), along), tensors)
    compare(lambda m, *ts: m.stack([ts[0], ts[0], ts[0]], along), tensors[:1])


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack", "row_stack"])
@settings(max_examples=100, deadline=None)
@given(all_shapes=st.lists(shapes, max_size=3), equal=st.booleans())
def test_relatives(name, all_shapes, equal):
    if equal and all_shapes:
        all_shapes = [all_shapes[0]] * len(all_shapes)
    compare(lambda m, *ts: getattr(m, name)(ts), [pair(s, seed=i) for i, s in enumerate(all_shapes)])


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors"])
@settings(max_examples=60, deadline=None)
@given(all_shapes=st.lists(st.lists(st.sampled_from([1, 1, 2]), max_size=4).map(tuple), min_size=1, max_size=3))
def test_several_to_several(name, all_shapes):
    compare(lambda m, *ts: getattr(m, name)(*ts), [pair(s, seed=i) for i, s in enumerate(all_shapes)])


# -- splitting and rearranging ----------------------------------------------------------------------------------------

ints = st.lists(small, max_size=4).map(tuple)
CALLS = {
    "split": st.tuples(st.one_of(small, st.lists(small, max_size=4)), dims),
    "split_with_sizes": st.tuples(st.lists(sizes, max_size=4), dims),
    "chunk": st.tuples(small, dims),
    "tensor_split": st.tuples(st.one_of(small, ints), dims),
    "unbind": st.tuples(dims),
    "select": st.tuples(dims, small),
    "narrow": st.tuples(dims, small, small),
    "diagonal": st.tuples(small, dims, dims),
    "movedim": st.one_of(st.tuples(dims, dims), st.tuples(ints, ints)),
    "swapaxes": st.tuples(dims, dims),
    "transpose": st.tuples(dims, dims),
    "broadcast_to": st.tuples(st.lists(st.integers(-1, 3), max_size=4).map(tuple)),
    "unflatten": st.tuples(dims, st.lists(st.integers(-1, 3), max_size=3).map(tuple)),
    "tile": st.tuples(st.lists(st.integers(-1, 2), max_size=4).map(tuple)),
    "flip": st.tuples(ints),
    "fliplr": st.tuples(),
    "flipud": st.tuples(),
    "rot90": st.tuples(small, st.tuples(dims, dims)),
    "unsqueeze": st.tuples(dims),
    "squeeze": st.one_of(st.tuples(), st.tuples(dims), st.tuples(ints)),
    "flatten": st.tuples(dims, dims),
    "permute": st.tuples(ints),
    "t": st.tuples(),
}
METHODS = {
    "repeat": st.tuples(st.lists(st.integers(-1, 2), max_size=4).map(tuple)),
    "expand": st.tuples(st.lists(st.integers(-1, 3), max_size=4).map(tuple)),
    "view": st.tuples(st.lists(st.integers(-1, 4), max_size=4).map(tuple)),
    "reshape": st.tuples(st.lists(st.integers(-1, 4), max_size=4).map(tuple)),
}


def usable(name, shape, args):
    """Without what PyTorch itself stumbles over: it speaks of an overflow, or fails in the backward pass."""
    if (name in ("expand", "broadcast_to") and shape == ()) or (name in ("tile", "repeat") and 0 in shape):
        return (tuple(abs(n) for n in args[0]),)
    return args


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_functions(name, data):
    shape = data.draw(shapes)
    args = usable(name, shape, data.draw(CALLS[name]))
    dtype, order = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from("CF"))
    step = data.draw(st.integers(1, 3))
    compare(lambda m, x: getattr(m, name)(x, *args), [pair(shape, dtype, order=order)], use=lambda i: i % step == 0)


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_methods(name, data):
    shape = data.draw(shapes)
    args = usable(name, shape, data.draw(METHODS[name]))
    dtype, order = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from("CF"))
    compare(lambda m, x: getattr(x, name)(*args), [pair(shape, dtype, order=order)])


@pytest.mark.parametrize("name", ["expand_as", "view_as", "reshape_as"])
@settings(max_examples=100, deadline=None)
@given(a=st.lists(st.sampled_from([1, 2, 2, 4]), max_size=3), b=st.lists(st.sampled_from([1, 2, 4]), max_size=3))
def test_shapes_of_others(name, a, b):
    compare(lambda m, x, y: getattr(x, name)(y), [pair(tuple(a)), pair(tuple(b), grad=False)])


@settings(max_examples=100, deadline=None)
@given(shape=shapes, shifts=st.one_of(small, ints), along=st.one_of(st.none(), dims, ints))
def test_roll(shape, shifts, along):
    compare(lambda m, x: m.roll(x, shifts) if along is None else m.roll(x, shifts, along), [pair(shape)])


# -- in place ---------------------------------------------------------------------------------------------------------

PIECES = {
    "split": lambda x: x.split(1),
    "split sizes": lambda x: x.split([1] * x.shape[0]),
    "chunk": lambda x: x.chunk(2),
    "unbind": lambda x: x.unbind(),
    "tensor_split": lambda x: x.tensor_split(2),
    "narrow": lambda x: [x.narrow(0, i, 1) for i in range(x.shape[0])],
    "select": lambda x: [x.select(0, i) for i in range(x.shape[0])],
    "diagonal": lambda x: [x.diagonal(i) for i in range(2)],
    "movedim": lambda x: [x.movedim(0, 1), x.transpose(0, 1).select(0, 1)],
}
ACTIONS = ["scale piece", "scale base", "add to piece", "view of piece", "use piece", "copy into piece"]


@pytest.mark.parametrize("which", PIECES)
@settings(max_examples=100, deadline=None)
@given(actions=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 1)), max_size=4), leaf=st.booleans())
def test_changes_in_place(which, actions, leaf):
    """Take views, change them and their base in any order, use both: the same values, gradients and refusals."""
    results = []
    for module in (torch, leafgrad):
        x = module.from_numpy(values((3, 3), 1).real.copy()).requires_grad_()
        w = module.from_numpy(values((3, 3), 2).real.copy()).requires_grad_()
        base = x * 1 if leaf else module.zeros(3, 3, dtype=module.float64)
        pieces = PIECES[which](base)
        log = []
        for action, i in actions:
            piece = pieces[i]
            try:
                if action == "scale piece":
                    piece.mul_(2)
                elif action == "scale base":
                    base.mul_(3)
                elif action == "add to piece":
                    piece.add_(w.flatten()[i])
                elif action == "view of piece":
                    piece.unsqueeze(0).mul_(1.5)
                elif action == "copy into piece":
                    piece.copy_(w.sum())
                else:
                    base = base * 0.5 + piece.sum() * 0.25
                    pieces = PIECES[which](base)
                log.append("done")
            except RuntimeError as error:
                log.append(str(error).split(" This view")[0].split("\n")[0])
        total = (base * base).sum() + 2
        if total.requires_grad:
            total.backward()
        arrays = [base.detach().numpy(), *[np.zeros(0) if t.grad is None else t.grad.numpy() for t in (x, w)]]
        results.append(((log, base._version), arrays))
    assert results[0][0] == results[1][0]
    for theirs, ours in zip(results[0][1], results[1][1]):
        np.testing.assert_allclose(ours, theirs)
