"""leafgrad.func beyond what a comparison with PyTorch shows: what is left behind, what it costs, what it says."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn.functional as F
from leafgrad._core.modes import switches
from leafgrad._core.thread_state import state
from leafgrad.autograd import forward_ad
from leafgrad.func import (
    debug_unwrap,
    functional_call,
    functionalize,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    replace_all_batch_norm_modules_,
    vjp,
    vmap,
)
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.batching import batching
from leafgrad.func.level_marks import SampleShape
from leafgrad.func.levels import running


def values(*shape: int, seed: int = 0) -> Any:
    return lg.tensor(np.random.default_rng(seed).normal(size=shape))


def close(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool(np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12))


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Any:
    gc.collect()
    before = switches.batched_graphs
    yield
    gc.collect()
    assert not running()
    assert not state.modes
    assert switches.batched_graphs == before  # also no graph that a map left behind


# -- gradients of each sample -----------------------------------------------------------------------------------------


def mlp() -> Any:
    lg.manual_seed(0)
    return lg.nn.Sequential(
        lg.nn.Linear(4, 8), lg.nn.Tanh(), lg.nn.Linear(8, 8), lg.nn.ReLU(), lg.nn.Linear(8, 3)
    ).double()


def loss(model: Any, parameters: Any, x: Any, y: Any) -> Any:
    return F.cross_entropy(functional_call(model, parameters, (x.unsqueeze(0),)), y.unsqueeze(0))


def test_gradients_of_each_sample_of_an_mlp() -> None:
    model = mlp()
    x, y = values(5, 4), lg.tensor([0, 1, 2, 1, 0])
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing of it goes sample by sample
        found = vmap(grad(lambda p, a, b: loss(model, p, a, b)), (None, 0, 0))(parameters, x, y)
    for i in range(5):
        model.zero_grad()
        F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]).backward()
        for name, p in model.named_parameters():
            assert close(found[name][i], p.grad), name
    assert not any(g.requires_grad for g in found.values())


def test_the_mean_of_the_gradients_is_the_gradient_of_the_mean() -> None:
    model = mlp()
    x, y = values(6, 4), lg.tensor([0, 1, 2, 1, 0, 2])
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    each = vmap(grad(lambda p, a, b: loss(model, p, a, b)), (None, 0, 0))(parameters, x, y)
    whole = grad(lambda p: vmap(lambda a, b: loss(model, p, a, b))(x, y).mean())(parameters)
    assert all(close(each[name].mean(0), whole[name]) for name in parameters)


def test_parameters_of_the_user_get_their_gradient_through_a_map() -> None:
    w = values(4, seed=1).requires_grad_()
    x = values(5, 4)
    vmap(lambda a: (a * w).tanh().sum())(x).sum().backward()
    assert close(w.grad, ((1 - (x * w).tanh() ** 2) * x).sum(0))
    w.grad = None
    vmap(vmap(lambda a: (a * w).sum()), (None,))  # made, not called
    vmap(lambda a: vmap(lambda b: (a * b * w).sum())(x))(x).sum().backward()
    assert close(w.grad, lg.einsum("ik,jk->k", x, x) if hasattr(lg, "einsum") else x.sum(0) ** 2)


# -- what a function sees ---------------------------------------------------------------------------------------------


def test_a_sample_looks_like_a_sample() -> None:
    seen: list[Any] = []

    def look(a: Any) -> Any:
        seen.append((a.shape, a.dim(), a.numel(), a.dtype, a.stride(), a.is_contiguous(), len(a), a.requires_grad))
        return a

    vmap(look, in_dims=1)(values(3, 2, 4))
    assert seen == [((3, 4), 2, 12, lg.float64, (8, 1), False, 3, False)]


def test_how_a_sample_prints() -> None:
    shown: list[str] = []
    vmap(vmap(lambda a: (shown.append(repr(a)), a)[1]))(lg.ones(1, 2))
    assert shown == [
        "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n        tensor([[1., 1.]])\n"
        "    )\n)"
    ]


def test_the_function_runs_once() -> None:
    calls: list[int] = []
    vmap(lambda a: (calls.append(1), a)[1])(lg.ones(100, 2))
    assert len(calls) == 1
    calls.clear()
    vmap(lambda a: (calls.append(1), a)[1], chunk_size=30)(lg.ones(100, 2))
    assert len(calls) == 4


def test_names_of_functions_stay() -> None:
    def squared(a: Any) -> Any:
        """a * a"""
        return a * a

    for made in (vmap(squared), grad(squared), jacrev(squared), jacfwd(squared)):
        assert (made.__name__, made.__doc__) == ("squared", "a * a")


def test_what_has_no_rule_goes_sample_by_sample_and_says_so() -> None:
    x, mask = values(3, 4), lg.tensor([True, False, True, True])
    with pytest.warns(UserWarning, match="There is a performance drop .* aten::masked_scatter"):
        got = vmap(lambda a: a.masked_scatter(mask, a * 10))(x)
    assert close(got, lg.stack([a.masked_scatter(mask, a * 10) for a in x]))


# -- what leaves a transform ------------------------------------------------------------------------------------------


def test_results_require_grad_only_if_something_outside_does() -> None:
    x, w = values(3), values(3, seed=1).requires_grad_()
    assert not grad(lambda a: (a**3).sum())(x).requires_grad
    assert not vjp(lambda a: a**2, x)[0].requires_grad
    assert not jacrev(lambda a: a**2)(x).requires_grad
    assert not jvp(lambda a: a**2, (x,), (x,))[1].requires_grad
    assert not linearize(lambda a: a**2, x)[1](x).requires_grad
    assert not grad(lambda a: (a * a).sum() + w.sum())(x).requires_grad
    assert grad(lambda a: (a * a * w).sum())(x).requires_grad
    with lg.no_grad():
        assert not grad(lambda a: (a * a * w).sum())(x).requires_grad
        assert close(grad(lambda a: (a**3).sum())(x), 3 * x**2)


def test_no_grad_inside_is_respected() -> None:
    def f(a: Any) -> Any:
        with lg.no_grad():
            constant = a**2
        return (a * constant).sum()

    x = values(3)
    assert close(grad(f)(x), x**2)


def test_the_arguments_of_the_user_are_left_alone() -> None:
    x = values(3).requires_grad_()
    grad(lambda a: (a**2).sum())(x)
    hessian(lambda a: (a**2).sum())(x)
    assert x.grad is None and x.is_leaf


def test_a_graph_of_a_map_frees_everything_when_it_dies() -> None:
    x = values(3, 2).requires_grad_()
    before = switches.batched_graphs
    y = vmap(lambda a: a.exp())(x)
    assert switches.batched_graphs > before  # the engine knows
    y.sum().backward()
    assert close(x.grad, x.exp())
    del y
    assert switches.batched_graphs == before


def test_errors_leave_nothing_running() -> None:
    def fail(a: Any) -> Any:
        raise KeyError("mine")

    for transform in (vmap(fail), grad(fail), jacrev(fail), jacfwd(fail), lambda a: vjp(fail, a)):
        with pytest.raises(KeyError, match="mine"):
            transform(values(3))


# -- derivatives against formulas -------------------------------------------------------------------------------------


def test_hessian_of_a_quadratic_form() -> None:
    a, x = values(4, 4), values(4, seed=1)
    symmetric = a + a.T
    assert close(hessian(lambda v: v @ a @ v)(x), symmetric)
    assert close(jacfwd(grad(lambda v: v @ a @ v))(x), symmetric)
    assert close(jacrev(grad(lambda v: v @ a @ v))(x), symmetric)
    assert close(vmap(hessian(lambda v: v @ a @ v))(values(3, 4)), lg.stack([symmetric] * 3))


def test_hessian_of_a_network_by_both_modes() -> None:
    w, b, u, x = values(5, 3), values(5, seed=1), values(2, 5, seed=2), values(3, seed=3)

    def f(x: Any, w: Any, b: Any) -> Any:
        return F.linear(F.linear(x, w, b).tanh(), u)

    for argnums in (0, 1, 2):
        assert close(hessian(f, argnums)(x, w, b), jacrev(jacrev(f, argnums), argnums)(x, w, b))


@pytest.mark.parametrize("changing", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3)])
def test_tangents_of_linear(shape: tuple[int, ...], changing: tuple[int, ...]) -> None:
    arguments = [values(*shape), values(5, 3, seed=1), values(5, seed=2)]
    changes = [values(*a.shape, seed=3 + i) for i, a in enumerate(arguments)]

    def f(*chosen: Any) -> Any:
        given = dict(zip(changing, chosen, strict=True))
        return F.linear(*[given.get(i, a) for i, a in enumerate(arguments)])

    x, w, _ = arguments
    parts = [changes[0] @ w.T, x @ changes[1].T, changes[2].expand(*shape[:-1], 5)]
    point, direction = tuple([arguments[i] for i in changing]), tuple([changes[i] for i in changing])
    assert close(jvp(f, point, direction)[1], sum([parts[i] for i in changing]))
    many = tuple([lg.stack([c, 2 * c]) for c in direction])
    one = jvp(f, point, direction)[1]
    assert close(vmap(lambda *c: jvp(f, point, c)[1])(*many), lg.stack([one, 2 * one]))


def test_tangents_of_complex_products_are_not_conjugated() -> None:
    a, b, c, d = (lg.complex(values(3, 3, seed=i), values(3, 3, seed=i + 4)) for i in range(4))
    assert close(jvp(lg.matmul, (a, b), (c, d))[1], c @ b + a @ d)
    a, b, c, d = a[0], b[0], c[0], d[0]
    assert close(jvp(lg.dot, (a, b), (c, d))[1], lg.dot(c, b) + lg.dot(a, d))
    assert close(jvp(lg.vdot, (a, b), (c, d))[1], lg.vdot(c, b) + lg.vdot(a, d))


def test_jacobians_by_rows_by_columns_and_in_portions_agree() -> None:
    a = values(3, 4)

    def f(v: Any) -> Any:
        return (a @ v).tanh() * v[:3].exp()

    x = values(4, seed=2)
    whole = jacrev(f)(x)
    assert close(whole, jacfwd(f)(x))
    assert close(whole, jacrev(f, chunk_size=2)(x))
    assert close(whole, lg.stack([jvp(f, (x,), (e,))[1] for e in lg.eye(4, dtype=lg.float64)], 1))
    assert close(whole, lg.stack([linearize(f, x)[1](e) for e in lg.eye(4, dtype=lg.float64)], 1))
    assert close(whole, lg.stack([vjp(f, x)[1](e)[0] for e in lg.eye(3, dtype=lg.float64)]))


def test_linearize_runs_a_function_once_that_changes_something_in_place() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(x)
        c = x.clone()
        c.mul_(x)
        c.add_(c)
        return c * x

    x = lg.tensor([2.0, 3.0], dtype=lg.float64)
    jvp_fn = linearize(f, x)[1]
    for t in ([1.0, -2.0], [2.0, -4.0], [0.0, 1.0]):
        tangent = lg.tensor(t, dtype=lg.float64)
        assert close(jvp_fn(tangent), 6 * x**2 * tangent)
    assert len(calls) == 1


def test_an_output_without_elements_has_an_empty_jacobian() -> None:
    assert jacrev(lambda a: a[:0])(values(3)).shape == (0, 3)


def test_complex_numbers() -> None:
    z = lg.tensor([1 + 2j, 3 - 1j])
    got = vmap(grad(lambda a: (a * a.conj()).real))(z)
    assert np.allclose(got.numpy(), 2 * z.numpy())


def test_half_precision() -> None:
    x = values(3, 4).half()
    assert vmap(lambda a: a.softmax(0))(x).dtype is lg.float16
    assert np.allclose(vmap(lambda a: a.sum())(x).numpy(), x.sum(1).numpy(), rtol=1e-2)


# -- threads, cost ----------------------------------------------------------------------------------------------------


def test_threads_do_not_see_each_others_maps() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            x = values(8, 3, seed=seed)
            for _ in range(20):
                assert close(vmap(grad(lambda a: (a**3).sum()))(x), 3 * x**2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    x = values(3).requires_grad_()
    for _ in range(20):
        x.grad = None
        (x**2).sum().backward()  # a backward pass of one thread is no business of the others'
        assert close(x.grad, 2 * x)
    for thread in threads:
        thread.join()
    assert not failures


def test_who_does_not_use_it_does_not_load_it() -> None:
    code = (
        "import sys, leafgrad as lg; x = lg.ones(2, requires_grad=True); (x * 2).sum().backward(); "
        "assert not [m for m in sys.modules if m.startswith('leafgrad.func')]; "
        "assert lg._core.tensor.links.batching is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- batched arrays ---------------------------------------------------------------------------------------------------


def test_a_batched_array_never_becomes_a_plain_one_by_accident() -> None:
    array = BatchedArray(np.arange(6.0).reshape(3, 2), 1)
    for convert in (np.asarray, np.array, np.ascontiguousarray, lambda a: np.zeros(2).__setitem__(..., a)):
        with pytest.raises(RuntimeError, match="cannot be done for all samples at once"):
            convert(array)
    assert array.dtype == np.float64
    assert array.dtype is not np.dtype(np.float64)
    assert isinstance(array.shape, SampleShape)
    assert array.shape == (2,)


def test_functions_of_numpy_on_batched_arrays() -> None:
    whole = np.random.default_rng(0).normal(size=(3, 4, 5))
    array = BatchedArray(whole, 1)
    for function in (
        lambda a: np.exp(a) + a * 2 - np.ones(5),
        lambda a: a.sum(),
        lambda a: a.sum(axis=0, keepdims=True),
        lambda a: a.max(axis=-1),
        lambda a: np.add.accumulate(a, axis=1),
        lambda a: np.moveaxis(a, 0, 1),
        lambda a: a.T @ a,
        lambda a: a[1:, None, 2],
        lambda a: a[np.array([0, 2, 2])],
        lambda a: a[:, np.array([0, 2]), None],
        lambda a: a[np.array([0, 1]), :, None],
        lambda a: np.where(a > 0, a, 0),
        lambda a: np.concatenate([a, np.zeros((2, 5))]),
        lambda a: np.stack([a, a], axis=-1),
        lambda a: np.sort(a, axis=0),
        lambda a: np.argmax(a),
        lambda a: np.median(a, axis=0),
        lambda a: np.broadcast_to(a, (2, 4, 5)),
        lambda a: np.take(a, [3, 0], axis=1),
        lambda a: np.linalg.norm(a, axis=0),
    ):
        with batching():
            got = function(array)
        assert np.allclose(got.value, np.stack([function(sample) for sample in whole]))


def test_samples_that_disagree_are_not_one_value() -> None:
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        bool(BatchedArray(np.array([True, False]), 1))
    assert bool(BatchedArray(np.array([True, True]), 1))
    assert int(BatchedArray(np.array([4, 4]), 1)) == 4


# -- smaller parts ----------------------------------------------------------------------------------------------------


def test_functionalize_changes_nothing() -> None:
    x = values(2, 3)
    changed = functionalize(lambda a: a.add_(1), remove="mutations_and_views")(x)
    assert changed is x
    with pytest.raises(RuntimeError, match="received invalid argument for remove=foo"):
        functionalize(lambda a: a, remove="foo")


def test_debug_unwrap_shows_all_samples() -> None:
    x = values(2, 3)
    seen: list[Any] = []

    def look(a: Any) -> Any:
        seen.append((debug_unwrap(a), repr(debug_unwrap(a, recurse=False))))
        return a

    vmap(vmap(look))(x)
    assert close(seen[0][0], x)
    assert seen[0][1].startswith("BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[")
    assert debug_unwrap(x) is x
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        debug_unwrap(3)


def test_batch_norm_forgets_its_running_statistics() -> None:
    class BatchNorm1d(lg.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.track_running_stats = True
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, lg.zeros(2))

    model = lg.nn.Sequential(BatchNorm1d(), lg.nn.Linear(2, 2))
    assert replace_all_batch_norm_modules_(model) is model
    assert [*model.state_dict()] == ["1.weight", "1.bias"]
    assert model[0].running_mean is None and not model[0].track_running_stats


def test_derivatives_under_anomaly_detection() -> None:
    x, w = values(3, 2), values(2, seed=1).requires_grad_()
    with pytest.warns(UserWarning, match="Anomaly Detection"), lg.autograd.detect_anomaly():
        vmap(lambda a: (a * w).sum())(x).sum().backward()
    assert close(w.grad, x.sum(0))


def test_second_derivatives_of_rules_that_go_sample_by_sample() -> None:
    index = lg.tensor([[0, 1, 1], [2, 2, 0]])

    def f(w: Any, at: Any) -> Any:
        return (lg.ones(3, dtype=lg.float64).scatter_reduce(0, at, w, "prod") ** 2).sum()

    w = values(3) + 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = vmap(grad(lambda v, at: (grad(f)(v, at) ** 2).sum()), (None, 0))(w, index)
        outside = grad(lambda v: vmap(lambda at: (grad(f)(v, at) ** 2).sum())(index).sum())(w)
    expected = [grad(lambda v, at=at: (grad(f)(v, at) ** 2).sum())(w) for at in index]
    assert close(got, lg.stack(expected))
    assert close(outside, expected[0] + expected[1])


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_of_as_strided_whatever_the_layout() -> None:
    def total(a: lg.Tensor) -> lg.Tensor:
        return a.as_strided((2, 2), (1, 2)).pow(2).sum()

    flat = lg.arange(24.0).reshape(4, 6)
    wanted = 2 * flat * lg.tensor([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    assert lg.equal(vmap(grad(total))(flat), wanted)
    stacked = flat.reshape(4, 3, 2)
    assert lg.equal(vmap(grad(lambda a: total(a.t())))(stacked), wanted.reshape(4, 3, 2))
    assert hessian(lambda a: total(a.t()))(stacked[0]).sum() == 8


def test_samples_of_a_tangent_are_written_to_a_tensor_that_had_none() -> None:
    """Inside vmap a tensor from outside may get a tangent with many samples, as long as its value has one."""
    base, given = lg.zeros(2, 2), lg.arange(8.0).view(2, 2, 2)
    for seen, transposed in ((base, False), (base.view_as(base), False), (base.t(), True)):

        def tangents(t: Any, seen: Any = seen) -> Any:
            with forward_ad.dual_level():
                seen.copy_(forward_ad.make_dual(lg.ones(2, 2), t))
                return forward_ad.unpack_dual(seen).tangent, forward_ad.unpack_dual(base).tangent

        own, of_base = lg.vmap(tangents)(given)
        assert own.tolist() == given.tolist()
        assert of_base.tolist() == (given.mT if transposed else given).tolist()


def test_a_tensor_that_escaped_from_a_map() -> None:
    kept = []

    def keep(x: Any) -> Any:
        kept.append(x)
        return x * 2

    vmap(keep)(values(2, 3))
    for use in (lambda: kept[0].sin(), lambda: kept[0] + 1, lambda: kept[0].mul_(2), lambda: kept[0].sum()):
        with pytest.raises(RuntimeError, match="your tensor may have escaped from inside a function being vmapped"):
            use()
    assert kept[0].shape == (3,) and "BatchedTensor" in repr(kept[0])


def test_data_must_not_be_replaced_inside_a_map() -> None:
    def replace(x: Any) -> Any:
        x.data = lg.ones(3)
        return x

    with pytest.raises(RuntimeError, match=r"^mutating directly with `.data` under vmap transform is not allowed"):
        vmap(replace)(values(2, 3))


# -- random numbers ---------------------------------------------------------------------------------------------------

AROUND = {
    "normal": lambda x: lg.normal(x, x),
    "normal, mean": lambda x: lg.normal(x, 0.5),
    "normal, std": lambda x: lg.normal(0.0, x),
    "binomial": lambda x: lg.binomial(x, x / 2),
    "bernoulli": lambda x: lg.bernoulli(x / 2),
    "bernoulli, p": lambda x: lg.bernoulli(x, 0.5),
    "poisson": lambda x: lg.poisson(x),
}


@pytest.mark.parametrize("name", AROUND)
def test_numbers_drawn_around_mapped_tensors(name: str) -> None:
    draw, ones = AROUND[name], lg.ones(4, 3, 50)
    lg.manual_seed(0)
    expected = draw(ones)
    lg.manual_seed(0)
    assert lg.equal(vmap(draw, randomness="different")(ones), expected)
    with pytest.raises(RuntimeError, match="does not currently support same randomness with a batched tensor input"):
        vmap(draw, randomness="same")(ones)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(draw)(ones)


IN_PLACE = {
    "normal_": lambda x: x.normal_(),
    "uniform_": lambda x: x.uniform_(),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "bernoulli_, tensor": lambda x: x.bernoulli_(lg.full(x.shape, 0.5)),
    "randn_like": lg.randn_like,
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_numbers_are_drawn_in_the_order_of_memory(name: str) -> None:
    """Also where the samples are not the first dimension."""
    draw = IN_PLACE[name]
    for in_dim in (0, 1, -1):
        lg.manual_seed(0)
        expected = draw(lg.ones(4, 5, 6).movedim(in_dim, 0))
        lg.manual_seed(0)
        assert lg.equal(vmap(draw, in_dim, randomness="different")(lg.ones(4, 5, 6)), expected)
        lg.manual_seed(0)
        first = draw(lg.ones_like(expected[0]))
        lg.manual_seed(0)
        same = vmap(draw, in_dim, randomness="same")(lg.ones(4, 5, 6))
        assert all([lg.equal(each, first) for each in same])


def test_probabilities_of_samples_do_not_fit_into_one() -> None:
    with pytest.raises(RuntimeError, match="that has more elements than `self`"):
        vmap(lambda x, p: x.bernoulli_(p), (None, 0), randomness="different")(lg.ones(3), lg.ones(4, 3))
    with pytest.raises(RuntimeError, match="we do not yet support aten::rrelu"):
        vmap(lambda x: lg.rrelu(x, training=True), randomness="different")(lg.ones(3, 2))


# -- modules with other tensors ---------------------------------------------------------------------------------------


class WithAttributes(lg.nn.Module):
    """A parameter, and tensors that are neither parameters nor buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = lg.nn.Parameter(lg.ones(2))
        self.shift = lg.ones(2)
        self.power = 2.0

    def forward(self, x: Any) -> Any:
        shift = self.shift if hasattr(self, "shift") else 0
        extra = self.extra if hasattr(self, "extra") else 0
        weight = 1 if self.weight is None else self.weight
        return weight * x + shift + extra


def test_functional_call_replaces_attributes_as_well() -> None:
    module, x = WithAttributes(), lg.ones(2)
    own = module.shift
    given = {"weight": lg.full((2,), 3.0), "shift": lg.zeros(2), "extra": lg.full((2,), 10.0)}
    assert functional_call(module, given, x).tolist() == [13.0, 13.0]
    assert module.shift is own and not hasattr(module, "extra") and list(module._parameters) == ["weight"]
    assert functional_call(module, {"weight": None, "shift": lg.zeros(2)}, x).tolist() == [1.0, 1.0]
    assert functional_call(module, {}, kwargs={"x": x}).tolist() == [2.0, 2.0]
    nested = lg.nn.Sequential(module)
    assert functional_call(nested, {"0.shift": lg.zeros(2)}, x).tolist() == [1.0, 1.0] and module.shift is own


def test_functional_call_of_wrong_names() -> None:
    module, x = WithAttributes(), lg.ones(2)
    for given, kind, message in (
        ({"power": x}, TypeError, "attribute `power`: 2.0 is not an instance of torch.Tensor"),
        ({"weight": 3.0}, TypeError, "3.0 is not an instance of torch.Tensor"),
        ({"part.weight": x}, AttributeError, "WithAttributes has no attribute `part`"),
    ):
        with pytest.raises(kind, match=message):
            functional_call(module, {"shift": lg.zeros(2), **given}, x)
        assert module.shift.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError) as caught:
        functional_call(module, {"b": x, "a": x}, x, strict=True)
    wanted = "WithAttributes:\n\tUnexpected key(s): 'a', 'b'.\n\tMissing key(s): 'weight'."
    assert str(caught.value) == "Error(s) in reparametrizing for " + wanted


def test_functional_call_of_a_module_that_contains_itself() -> None:
    module = WithAttributes()
    module.again = module
    given = {"again.weight": lg.full((2,), 3.0), "weight": lg.full((2,), 5.0)}
    assert functional_call(module, given, lg.ones(2), tie_weights=False).tolist() == [6.0, 6.0]
    assert module.weight.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_second_derivatives_leave_no_cycles(outer: Any, inner: Any) -> None:
    """A graph that was recorded in a map slows down every backward pass as long as it lives."""
    second, x = outer(inner(lambda x: (x.tanh() * x).sum())), values(3)
    second(x)
    gc.collect()
    before = switches.batched_graphs
    gc.disable()
    try:
        second(x)
        assert switches.batched_graphs == before
        assert gc.collect() == 0
    finally:
        gc.enable()
