"""Leaves and what they collect: requires_grad, is_leaf, grad_fn, .grad, and the ways into the engine, backward and
grad. Expected values are worked out by hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.autograd import grad


def leaf(*values: float) -> Any:
    return lg.tensor(values, dtype=lg.float64, requires_grad=True)


def numbers(t: Any) -> Any:
    return t.detach().numpy().tolist()


def graph_of(node: Any) -> Any:
    """A graph as nested lists of names."""
    return [node.name(), *[None if n is None else graph_of(n) for n, _ in node.next_functions]]


LEAF = ["torch::autograd::AccumulateGrad"]

# -- requires_grad and is_leaf ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("recording", [True, False])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "logical_and"])
def test_comparisons_are_not_recorded_and_know_where_the_graph_ended(name: str, recording: bool) -> None:
    x, y, last = leaf(1.0, 2.0), lg.tensor([2.0, 2.0], dtype=lg.float64), leaf(3.0)[0]
    function, numbers = getattr(lg, name), [] if name == "logical_and" else [2.0]
    with lg.set_grad_enabled(recording):
        pairs = [(x, y), (y, x), (last * 1, last), *[(x, n) for n in numbers]]
        results = [function(a, b) for a, b in pairs * 2]
    for result in results:
        assert result.dtype is lg.bool and not result.requires_grad and result.grad_fn is None
        assert result.rare.graph_break is not None


def test_requires_grad_as_argument_attribute_and_method() -> None:
    assert lg.ones(2, requires_grad=True).requires_grad
    assert lg.tensor([1.0], requires_grad=True).requires_grad
    x = lg.ones(2)
    assert not x.requires_grad
    x.requires_grad = True
    assert x.requires_grad
    assert x.requires_grad_(False) is x and not x.requires_grad
    assert x.requires_grad_() is x and x.requires_grad


@pytest.mark.parametrize("kind", [lg.bool, lg.uint8, lg.int8, lg.int16, lg.int32, lg.int64])
def test_integers_cannot_require_grad(kind: Any) -> None:
    x = lg.zeros(2, dtype=kind)
    message = "[Oo]nly Tensors of floating point (and complex )?dtype can require gradients"
    with pytest.raises(RuntimeError, match=message):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match=message):
        x.requires_grad = True
    with pytest.raises(RuntimeError, match=message):
        lg.zeros(2, dtype=kind, requires_grad=True)
    assert not x.requires_grad_(False).requires_grad


@pytest.mark.parametrize("kind", [lg.float16, lg.float32, lg.float64, lg.complex64, lg.complex128])
def test_floating_and_complex_numbers_can(kind: Any) -> None:
    assert lg.zeros(2, dtype=kind, requires_grad=True).requires_grad


def test_only_leaves_can_stop_requiring_grad() -> None:
    x = leaf(1.0)
    y = x * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False
    assert y.requires_grad_() is y and not y.is_leaf


def test_results_require_grad_if_one_input_does() -> None:
    x, c = leaf(1.0), lg.ones(1, dtype=lg.float64)
    assert (x + c).requires_grad and (c + x).requires_grad and not (c + c).requires_grad
    assert not (x > 0).requires_grad and not x.argmax().requires_grad and not x.long().requires_grad


def test_what_is_a_leaf() -> None:
    x, c = leaf(1.0), lg.ones(1)
    assert x.is_leaf and c.is_leaf and (c * 2).is_leaf and x.detach().is_leaf and x.data.is_leaf and (x > 0).is_leaf
    assert not (x * 2).is_leaf and not x.clone().is_leaf and not x[0].is_leaf
    assert x.grad_fn is None and (c * 2).grad_fn is None


def test_a_leaf_that_stopped_requiring_grad_gets_none() -> None:
    x = leaf(1.0)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


# -- grad_fn ----------------------------------------------------------------------------------------------------------


def test_names_and_structure_of_a_graph() -> None:
    x, w, b = lg.ones(4, 3), lg.ones(3, 2, requires_grad=True), lg.zeros(2, requires_grad=True)
    loss = ((x @ w + b).relu() ** 2).mean()
    assert graph_of(loss.grad_fn) == [
        "MeanBackward0", ["PowBackward0", ["ReluBackward0", ["AddBackward0", ["MmBackward0", None, LEAF], LEAF]]],
    ]  # fmt: skip
    assert type(loss.grad_fn).__name__ == "MeanBackward0"
    assert repr(loss.grad_fn).startswith("<MeanBackward0 object at 0x")


def test_grad_fn_is_always_the_same_object() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y + y
    assert y.grad_fn is y.grad_fn
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    assert z.grad_fn.next_functions[1][0] is y.grad_fn
    (first, _), (none, number) = y.grad_fn.next_functions
    assert first.variable is x and first.next_functions == () and none is None and number == 0
    assert first is y.grad_fn.next_functions[0][0]


def test_results_of_one_operation_have_numbers() -> None:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = (x * 2).chunk(2)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    assert [number for _, number in (a + b).grad_fn.next_functions] == [0, 1]
    values, places = x.max(0)
    assert values.grad_fn.name() == "MaxBackward0" and places.grad_fn is None


@pytest.mark.parametrize(
    "change",
    [
        lambda x, value: lg.fill(x, value),
        lambda x, value: x.fill_(value),
        lambda x, value: x.masked_fill(x > 0, value),
        lambda x, value: x.masked_fill_(x > 0, value),
        lambda x, value: x.index_fill(0, lg.tensor([1]), value),
        lambda x, value: x.scatter(0, lg.tensor([1]), value if isinstance(value, float) else value.reshape(1)),
    ],
)
def test_a_number_is_no_input_of_a_node(change: Any) -> None:
    x = lg.ones(3, requires_grad=True)
    assert len(change(x * 2, 1.5).grad_fn.next_functions) == 1
    edges = change(x * 2, lg.tensor(1.5)).grad_fn.next_functions
    assert len(edges) == 2 and edges[1][0] is None


def test_inputs_without_gradient_are_not_shown() -> None:
    x = leaf(1.0, -1.0)
    assert graph_of(lg.where(x > 0, x, 0.0).grad_fn) == ["WhereBackward0", LEAF, None]
    assert graph_of(x.masked_fill(x > 0, 1.0).grad_fn)[:2] == ["MaskedFillBackward0", LEAF]


# -- .grad ------------------------------------------------------------------------------------------------------------


def test_assigned_gradients_are_checked() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = lg.ones(3, dtype=lg.float64)
    with pytest.raises(RuntimeError, match=r"(data of a different type|attempting to assign a gradient with dtype)"):
        x.grad = lg.ones(2, dtype=lg.float32)
    for wrong in ([1.0, 2.0], 1.0):
        with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
            x.grad = wrong
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    assert x.grad is None
    given = lg.ones(2, dtype=lg.float64)
    x.grad = given
    assert x.grad is given
    del x.grad
    assert x.grad is None


def test_gradients_add_up_in_place() -> None:
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    before = first._version
    (x * x).sum().backward()
    assert x.grad is first and numbers(first) == [4.0, 6.0] and first._version == before + 1
    first.zero_()
    (x * 3).sum().backward()
    assert numbers(x.grad) == [3.0, 3.0]
    x.grad = None
    (x * 5).sum().backward()
    assert x.grad is not first and numbers(x.grad) == [5.0, 5.0]


def test_gradients_are_added_to_what_the_user_put_there() -> None:
    x, given = leaf(1.0), lg.tensor([10.0], dtype=lg.float64)
    x.grad = given
    (x * 2).sum().backward()
    assert x.grad is given and numbers(given) == [12.0]


def test_leaves_that_were_not_used_keep_none() -> None:
    x, y = leaf(1.0), leaf(1.0)
    (x * 2).sum().backward()
    assert numbers(x.grad) == [2.0] and y.grad is None


def test_no_two_gradients_share_memory() -> None:
    x, y, g = leaf(1.0, 2.0), leaf(1.0, 2.0), lg.ones(2, dtype=lg.float64)
    (x + y).backward(g)
    x.grad.mul_(5)
    g.mul_(7)
    assert numbers(x.grad) == [5.0, 5.0] and numbers(y.grad) == [1.0, 1.0]
    a, b = grad((x + y).sum(), [x, y])
    c, d = grad(x.sum(), [x, x])
    a.add_(1)
    c.add_(1)
    assert numbers(b) == [1.0, 1.0] and numbers(d) == [1.0, 1.0]


def test_gradients_can_be_changed_while_a_graph_of_vmap_is_alive() -> None:
    w = leaf(1.0, 2.0)
    alive = lg.func.vmap(lambda row: (row * w).sum())(lg.ones(3, 2, dtype=lg.float64))
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    a, b = grad((x + y).sum(), [x, y])
    c, d = grad(x.sum(), [x, x])
    a.add_(1)
    c.add_(1)
    assert numbers(b) == [1.0, 1.0] and numbers(d) == [1.0, 1.0] and alive.requires_grad


def test_gradients_lie_in_memory_as_their_leaves_do() -> None:
    x = lg.ones(3, 2).t().requires_grad_()
    (x * lg.ones(2, 3)).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 2)
    y = lg.ones(2, 3, requires_grad=True)
    y.t().sum().backward()
    y.expand(4, 2, 3).sum().backward()
    assert y.grad.stride() == (3, 1) and (y.grad == 5).all()


def test_retain_grad() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    z = (y * y).sum()
    z.backward(retain_graph=True)
    assert numbers(y.grad) == [4.0, 8.0]
    z.backward()
    assert numbers(y.grad) == [8.0, 16.0] and numbers(x.grad) == [16.0, 32.0]
    x.retain_grad()  # nothing happens: leaves always do
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        lg.ones(2).retain_grad()


def test_reading_the_gradient_of_a_non_leaf_warns() -> None:
    x = leaf(1.0)
    y = x * 2
    y.sum().backward()
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lg.ones(2).grad is None
        y.grad = lg.ones(1, dtype=lg.float64)
        assert numbers(y.grad) == [1.0]


# -- detach, data -----------------------------------------------------------------------------------------------------


def test_detach_shares_memory_and_version() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    d = y.detach()
    assert not d.requires_grad and d.is_leaf and d.grad_fn is None and not d._is_view()
    d.zero_()
    assert numbers(y) == [0.0, 0.0] and y._version == d._version == 1
    (y * 1).sum().backward()
    assert numbers(x.grad) == [2.0, 2.0]


def test_detach_in_place() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    assert y.detach_() is y and not y.requires_grad and y.is_leaf and y.grad_fn is None
    for view in (x[0:1], x.unbind()[0], (x * 2).view(2, 1)):
        with pytest.raises(RuntimeError, match="Can't detach views in-place"):
            view.detach_()
    assert not x.detach_().requires_grad


@pytest.mark.parametrize("reshaped", [False, True])
def test_leaves_that_have_got_a_history(reshaped: bool) -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * 2
    x.detach_().copy_(w * 3)
    if reshaped:
        x.unsqueeze_(0)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.sum().backward()


def test_data_shares_memory_but_no_version() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    d = x.data
    d.mul_(3)
    assert not d.requires_grad and numbers(x) == [3.0, 6.0] and (x._version, d._version) == (0, 1)
    y.sum().backward()  # nobody noticed: the gradient is that of the new values
    assert numbers(x.grad) == [6.0, 12.0]
    x.data = lg.zeros(2, dtype=lg.float64)
    assert numbers(x) == [0.0, 0.0] and x.requires_grad and x.is_leaf and x._version == 0


# -- backward ---------------------------------------------------------------------------------------------------------


def test_backward_from_one_number_needs_no_gradient() -> None:
    x = lg.ones(1, 1, requires_grad=True)
    (x * 2).backward()
    s = lg.tensor(3.0, requires_grad=True)
    s.backward()
    assert numbers(x.grad) == [[2.0]] and numbers(s.grad) == 1.0


def test_backward_with_a_gradient() -> None:
    x = leaf(1.0, 2.0)
    (x * x).backward(lg.tensor([10.0, 100.0], dtype=lg.float64))
    assert numbers(x.grad) == [20.0, 400.0]
    x.backward(lg.ones(2, dtype=lg.float64))
    assert numbers(x.grad) == [21.0, 401.0]
    y = x * 1
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        y.backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        y.backward(lg.ones(3))
    for wrong in ([1, 2], (1.0,)):
        with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
            y.backward(wrong)
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        lg.ones(1).backward()


def test_the_gradient_takes_the_dtype_of_the_value() -> None:
    x, y = lg.ones(2, requires_grad=True), lg.ones(2, dtype=lg.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype is lg.float32 and y.grad.dtype is lg.float64
    half = lg.ones(2, dtype=lg.float16, requires_grad=True)
    (half.float() * 2).backward(lg.ones(2, dtype=lg.float64))
    assert half.grad.dtype is lg.float16 and numbers(half.grad) == [2.0, 2.0]
    real = lg.ones(2, requires_grad=True)
    (real * lg.tensor([3 + 4j, 1j])).abs().sum().backward()
    assert real.grad.dtype is lg.float32 and np.allclose(numbers(real.grad), [5.0, 1.0])


def test_inputs_restricts_who_gets_a_gradient() -> None:
    x, w, other = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(0.0, 0.0)
    y = x * w
    z = (y * y).sum()
    z.backward(inputs=[x], retain_graph=True)
    assert numbers(x.grad) == [18.0, 64.0] and w.grad is None
    z.backward(inputs=w, retain_graph=True)
    assert numbers(x.grad) == [18.0, 64.0] and numbers(w.grad) == [6.0, 32.0]
    z.backward(inputs=[other], retain_graph=True)
    assert other.grad is None
    z.backward(inputs=[x, x], retain_graph=True)
    assert numbers(x.grad) == [36.0, 128.0]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        z.backward(inputs=[])
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        z.backward(inputs=[lg.ones(2)])


def test_inputs_that_are_no_leaves_retain_their_gradient() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    assert y.retains_grad and numbers(y.grad) == [6.0, 12.0] and x.grad is None
    z.backward()
    assert numbers(y.grad) == [12.0, 24.0] and numbers(x.grad) == [18.0, 36.0]


def test_several_roots_share_a_graph() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    lg.autograd.backward([(y * y).sum(), y.sum()])
    assert numbers(x.grad) == [10.0, 18.0]
    y = x * 3
    ones, weights = lg.ones(2, dtype=lg.float64), lg.tensor([1.0, 2.0], dtype=lg.float64)
    lg.autograd.backward((y, y), (ones, weights))
    assert numbers(x.grad) == [16.0, 27.0]
    lg.autograd.backward([x, x.sum()], [ones, None])
    assert numbers(x.grad) == [18.0, 29.0]
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        lg.autograd.backward([y, y], [ones])


def test_create_graph_records_the_backward_pass() -> None:
    x = leaf(2.0)
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (x**3).sum().backward(create_graph=True)
    first = x.grad
    assert numbers(first) == [12.0] and first.requires_grad and not first.is_leaf
    (second,) = grad(first.sum(), x)
    assert numbers(second) == [12.0] and not second.requires_grad
    with pytest.warns(UserWarning, match="reference cycle"):
        (x**2).sum().backward(create_graph=True)
    assert x.grad is not first and numbers(x.grad) == [16.0] and numbers(first) == [12.0]
    x.grad = None


# -- autograd.grad ----------------------------------------------------------------------------------------------------


def test_grad_returns_a_tuple_and_leaves_no_trace() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = (x * w).sum()
    result = grad(z, [x, w], retain_graph=True)
    assert isinstance(result, tuple) and [numbers(g) for g in result] == [[3.0, 4.0], [1.0, 2.0]]
    assert x.grad is None and w.grad is None and not result[0].requires_grad
    (single,) = grad(z, x)
    assert numbers(single) == [3.0, 4.0]


def test_grad_with_respect_to_anything_in_the_graph() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    z = (y * y).sum()
    assert [numbers(g) for g in grad(z, [y, x, y], retain_graph=True)] == [[6.0, 12.0], [18.0, 36.0], [6.0, 12.0]]
    assert numbers(grad(z, z, retain_graph=True)[0]) == 1.0
    given = lg.tensor([5.0, 6.0], dtype=lg.float64)
    assert numbers(grad(y, y, given, retain_graph=True)[0]) == [5.0, 6.0]
    assert numbers(grad(x, x, given)[0]) == [5.0, 6.0]


def test_grad_of_several_outputs_is_the_gradient_of_their_sum() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    weights = lg.tensor([1.0, 10.0], dtype=lg.float64)
    (g,) = grad([y, y.sum(), y * y], x, [weights, None, weights])
    assert numbers(g) == [3.0 + 3.0 + 18.0, 30.0 + 3.0 + 360.0]


def test_inputs_that_were_not_used() -> None:
    x, other = leaf(1.0, 2.0), leaf(1.0, 2.0)
    z = (x * 2).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        grad(z, [x, other], retain_graph=True)
    assert grad(z, [x, other], allow_unused=True, retain_graph=True)[1] is None
    assert numbers(grad(z, [x, other], materialize_grads=True, retain_graph=True)[1]) == [0.0, 0.0]
    with pytest.raises(ValueError, match="allow_unused"):
        grad(z, other, allow_unused=False, materialize_grads=True)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        grad(z, lg.ones(2))
    assert grad(z, x * 5, allow_unused=True) == (None,)  # a result that came after


def test_grad_does_only_what_is_needed() -> None:
    """A rule that is not on the way to an input does not run."""
    x, w = leaf(4.0), leaf(9.0)
    seen: list[str] = []
    a, b = x.sqrt(), w.sqrt()
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    (g,) = grad((a * b).sum(), x)
    assert numbers(g) == [3.0 / 4.0] and seen == ["a"]


def test_hooks_after_accumulation_may_return_their_tensor() -> None:
    p = lg.zeros(2, requires_grad=True)
    handle = p.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-1))
    p.backward(lg.tensor([1.0, 2.0]))
    assert p.tolist() == [-1.0, -2.0]
    handle.remove()
    p.register_post_accumulate_grad_hook(lambda p: p.grad)
    with pytest.raises(RuntimeError, match="Tensor post accumulate grad hooks should return None"):
        p.backward(lg.ones(2))


def test_singular_matrices_are_named_as_in_pytorch() -> None:
    with pytest.raises(lg.linalg.LinAlgError) as caught:
        lg.linalg.inv(lg.zeros(2, 2))
    assert type(caught.value).__name__ == "_LinAlgError" and type(caught.value) is lg._C._LinAlgError
