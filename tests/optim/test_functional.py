"""Optimisers as functions: the step of the class, with state that the program keeps."""

import importlib

import pytest

import leafgrad

CASES = {
    "adadelta": ("Adadelta", dict(lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.1, maximize=False)),
    "adafactor": ("Adafactor", dict(lr=0.01, d=1.0, beta2_decay=-0.8, weight_decay=0, eps=(None, 0.1), maximize=True)),
    "adagrad": ("Adagrad", dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, eps=1e-10, maximize=False)),
    "adam": ("Adam", dict(lr=0.1, betas=(0.8, 0.9), eps=1e-8, weight_decay=0.1, amsgrad=True, maximize=False)),
    "adamax": ("Adamax", dict(lr=0.1, betas=(0.8, 0.9), eps=1e-8, weight_decay=0.1, maximize=True)),
    "adamw": ("AdamW", dict(lr=0.1, betas=(0.8, 0.9), eps=1e-8, weight_decay=0.1, amsgrad=False, maximize=False)),
    "asgd": ("ASGD", dict(lr=0.1, lambd=1e-4, alpha=0.75, t0=2.0, weight_decay=0.1)),
    "nadam": ("NAdam", dict(lr=0.1, betas=(0.8, 0.9), eps=1e-8, weight_decay=0.1, momentum_decay=4e-3)),
    "radam": ("RAdam", dict(lr=0.1, betas=(0.8, 0.9), eps=1e-8, weight_decay=0.1)),
    "rmsprop": ("RMSprop", dict(lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.1, momentum=0.5, centered=True)),
    "rprop": ("Rprop", dict(etas=(0.5, 1.2), step_sizes=(1e-6, 50))),
    "sgd": ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.2, weight_decay=0.1, nesterov=False, maximize=False)),
}  # fmt: skip
SPLIT = {"betas": ("beta1", "beta2"), "etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")}


def split(name, options):
    """The options as single numbers, which the functions take."""
    result = {}
    for key, value in options.items():
        names = ("eps1", "eps2") if (name, key) == ("adafactor", "eps") else SPLIT.get(key)
        result.update(zip(names, value) if names else {key: value})
    return result


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_that_of_the_optimiser(name):
    module = importlib.import_module(f"leafgrad.optim.{name}")
    function, (kind, options) = getattr(module, name), CASES[name]
    leafgrad.manual_seed(0)
    start, grads = leafgrad.randn(3, 4), [leafgrad.randn(3, 4) for _ in range(3)]
    p = start.clone()
    optimizer = getattr(leafgrad.optim, kind)([p], **options)
    q, lists = start.clone(), None
    for g in grads:
        p.grad = g
        if lists is not None:
            function([q], [g], *lists, **split(name, options))
            optimizer.step()
        else:  # the state after a first step, which programs make as they like
            optimizer.step()
            state = {key: value.clone() for key, value in optimizer.state[p].items()}
            lists = [[state[key]] if key in state else [] for key in keys_of(name)]
            q = p.clone()
        assert leafgrad.equal(p, q) and q.grad is None
        for key, values in zip(keys_of(name), lists):
            assert not values or leafgrad.equal(values[0], optimizer.state[p][key])


def keys_of(name):
    """What the lists of a function are in the state, in their order."""
    return {
        "adadelta": ("square_avg", "acc_delta", "step"),
        "adafactor": ("row_var", "col_var", "variance", "step"),
        "adagrad": ("sum", "step"),
        "adam": ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step"),
        "adamax": ("exp_avg", "exp_inf", "step"),
        "adamw": ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step"),
        "asgd": ("ax", "mu", "eta", "step"),
        "nadam": ("exp_avg", "exp_avg_sq", "mu_product", "step"),
        "radam": ("exp_avg", "exp_avg_sq", "step"),
        "rmsprop": ("square_avg", "grad_avg", "momentum_buffer", "step"),
        "rprop": ("prev", "step_size", "step"),
        "sgd": ("momentum_buffer",),
    }[name]


def test_a_first_step_of_sgd_fills_the_list():
    p, g, buffers = leafgrad.ones(2), leafgrad.tensor([1.0, 2.0]), [None]
    options = dict(weight_decay=0, momentum=0.9, lr=0.5, dampening=0, nesterov=False, maximize=False)
    leafgrad.optim.sgd.sgd([p], [g], buffers, **options)
    assert p.tolist() == [0.5, 0.0] and buffers[0].tolist() == [1.0, 2.0]


def test_arguments_that_do_not_fit_are_refused():
    from leafgrad.optim.adam import adam

    p, g = leafgrad.ones(2), leafgrad.ones(2)
    options = dict(amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0, eps=1e-8, maximize=False)
    with pytest.raises(RuntimeError, match="state_steps"):
        adam([p], [g], [g.clone()], [g.clone()], [], [1], **options)
    with pytest.raises(AssertionError):
        adam([p], [g], [g.clone()], [g.clone()], [], [leafgrad.tensor(1.0)], grad_scale=leafgrad.ones(()), **options)
    with pytest.raises(TypeError):
        adam([p], [g], [], [], [], [])


def test_scaled_gradients_and_steps_that_are_left_out():
    from leafgrad.optim.adam import adam

    options = dict(amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0, eps=1e-8, maximize=False, fused=True)
    results = []
    for scale, found in ((None, None), (4.0, 0.0), (4.0, 1.0)):
        p, g = leafgrad.ones(2), leafgrad.tensor([1.0, 2.0])
        lists = [leafgrad.zeros(2)], [leafgrad.zeros(2)], [], [leafgrad.tensor(0.0)]
        extra = {} if scale is None else dict(grad_scale=leafgrad.tensor(scale), found_inf=leafgrad.tensor(found))
        adam([p], [g if scale is None else g * scale], *lists, **extra, **options)
        results.append((p.tolist(), lists[3][0].item()))
    assert results[0] == results[1] and results[2] == ([1.0, 1.0], 0.0)


def test_an_optimiser_with_other_parameters_for_a_while():
    layers = [leafgrad.nn.Linear(2, 1) for _ in range(2)]
    optimizers = [leafgrad.optim.Adam(layer.parameters(), lr=0.1) for layer in layers]
    for layer, optimizer in zip(layers, optimizers):
        layer(leafgrad.ones(1, 2)).sum().backward()
        optimizer.step()
    (own, other), (mine, its) = layers, optimizers
    before, own_values = its.state_dict(), [p.detach().clone() for p in own.parameters()]
    swapped = {name: p.detach().clone() for name, p in other.named_parameters()}
    for name, p in other.named_parameters():
        swapped[name].grad = p.grad
    state = {"state": {k: {n: t.clone() for n, t in v.items()} for k, v in before["state"].items()},
             "param_groups": [{**group, "lr": 0.5} for group in before["param_groups"]]}  # fmt: skip
    with leafgrad.optim.swap_in_optimizer_params_and_state(mine, swapped, state):
        assert mine.param_groups[0]["lr"] == 0.5
        mine.step()
    its.param_groups[0]["lr"] = 0.5
    its.step()
    assert all(leafgrad.equal(swapped[name], p) for name, p in other.named_parameters())
    assert state["state"][0]["step"].item() == 2 and mine.state[own.weight]["step"].item() == 1
    assert mine.param_groups[0]["lr"] == 0.1
    assert all(leafgrad.equal(a, b) for a, b in zip(own_values, own.parameters()))
    with (
        pytest.raises(ValueError, match="expected 2 parameters"),
        leafgrad.optim.swap_in_optimizer_params_and_state(mine, {}, state),
    ):
        pass
