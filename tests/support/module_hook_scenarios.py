"""Scenarios of the backward hooks of modules, hooks of all modules, and utils.hooks. See scenarios.py."""

from __future__ import annotations

import collections
import importlib
import warnings
from typing import Any

from scenarios import attempt, collection, leaf

SCENARIOS, scenario = collection()


Pair = collections.namedtuple("Pair", "a b")


def module_of(T: Any, function: Any) -> Any:
    """A module whose forward is a function."""

    class Made(T.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    return Made()


def tensors_in(result: Any, T: Any) -> list[Any]:
    values = [result] if isinstance(result, T.Tensor) else result.values() if isinstance(result, dict) else result
    return [v for v in values if isinstance(v, T.Tensor)]


def run(T: Any, function: Any, *args: Any, hook: Any = None, pre: Any = None, **kwargs: Any) -> Any:
    """What full backward hooks of a module see, and the gradients of its arguments."""
    module = module_of(T, function)
    seen: list[Any] = []

    def on_inputs(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append(("hook", grad_input, grad_output))
        return hook and hook(grad_input)

    def on_outputs(module: Any, grad_output: Any) -> Any:
        seen.append(("pre", grad_output))
        return pre and pre(grad_output)

    module.register_full_backward_hook(on_inputs)
    module.register_full_backward_pre_hook(on_outputs)
    result = module(*args, **kwargs)
    outs = tensors_in(result, T)
    if any(out.requires_grad for out in outs):
        sum(out.sum() for out in outs).backward()
    names = [out.grad_fn.name() if out.grad_fn is not None else None for out in outs]
    return seen, [a.grad for a in args if isinstance(a, T.Tensor)], type(result).__name__, names


@scenario
def arguments(T: Any) -> Any:
    x = lambda: leaf(T, [1.0, 2.0])
    w = x()
    same = x()
    return [
        run(T, lambda a: a * 2, x()),
        run(T, lambda a, b: a * b, x(), T.ones(2)),
        run(T, lambda a, n: a * n, x(), 3),
        run(T, lambda a, b: a * 2, x(), x()),
        run(T, lambda a, i: a[i], x(), T.tensor([0])),
        run(T, lambda a, b: a * b, same, same),
        run(T, lambda a: a * w, T.ones(2)),
        run(T, lambda a: a[0] * 2, (x(),)),
        run(T, lambda a=None: a * w, a=x()),
        run(T, lambda: w * 2),
        run(T, lambda a: a * 2, T.ones(2)),
    ]


@scenario
def results(T: Any) -> Any:
    x = lambda: leaf(T, [1.0, 2.0])
    return [
        run(T, lambda a: (a * 2, a * 3), x()),
        run(T, lambda a: (a * 2, 5, a.detach()), x()),
        run(T, lambda a: [a * 2, a * 3], x()),
        run(T, lambda a: {"k": a * 2}, x()),
        run(T, lambda a: Pair(a * 2, a * 3), x()),
        run(T, lambda a: a, x()),
        run(T, lambda a: a.view(2, 1), x()),
    ]


@scenario
def what_hooks_return(T: Any) -> Any:
    x = lambda: leaf(T, [1.0, 2.0])
    w = x()
    ones = T.ones
    replies: list[Any] = [
        lambda g: (g[0] * 10,),
        lambda g: g[0] * 10,
        lambda g: (g[0], g[0]),
        lambda g: (None,),
        lambda g: "a",
        lambda g: (ones(3),),
        lambda g: (),
        lambda g: (g[0].double(),),
    ]
    return [
        *[attempt(lambda r=r: run(T, lambda a: a * 2, x(), hook=r)) for r in replies],
        *[attempt(lambda r=r: run(T, lambda a: a * 2, x(), pre=r)) for r in replies[:3]],
        attempt(lambda: run(T, lambda a, b: a * b, x(), ones(2), hook=lambda g: (g[0], ones(2)))),
        attempt(lambda: run(T, lambda a: a * w, ones(2), hook=lambda g: (None,))),
        attempt(lambda: run(T, lambda a: a * w, ones(2), hook=lambda g: (ones(2),))),
        attempt(lambda: run(T, lambda a: a * 2, x(), hook=lambda g: 1 / 0)),
    ]


@scenario
def passes(T: Any) -> Any:
    seen: list[Any] = []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> None:
        seen.append((grad_input, grad_output, T.is_grad_enabled()))

    module = module_of(T, lambda a: a * a)
    handle = module.register_full_backward_hook(hook)
    x = leaf(T, [1.0, 2.0])
    y = module(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    module(module(x)).sum().backward()
    T.autograd.grad((module(x) ** 2).sum(), x, create_graph=True)
    y = module(x)
    T.autograd.grad(y.sum(), y)
    count = len(seen)
    with T.no_grad():
        seen.append(module(x))
    late = module(x).sum()
    handle.remove()
    late.backward()
    module(x).sum().backward()
    parts = module_of(T, lambda a: (a * 2, a * 3))
    parts.register_full_backward_hook(hook)
    parts.register_full_backward_pre_hook(lambda module, grad_output: seen.append(grad_output))
    parts(x)[0].sum().backward()
    doubled = module_of(T, lambda a: a * a * a)
    doubled.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 2,))
    (g,) = T.autograd.grad(doubled(x).sum(), x, create_graph=True)
    return [*seen, count, x.grad, g, T.autograd.grad(g.sum(), x)]


@scenario
def order_of_hooks(T: Any) -> Any:
    M = importlib.import_module(f"{T.__name__}.nn.modules.module")
    seen: list[Any] = []

    def says(word: str) -> Any:
        return lambda *args: seen.append(word)

    module = module_of(T, lambda a: a * 2)
    module.register_full_backward_hook(says("one"))
    module.register_full_backward_hook(says("two"))
    module.register_full_backward_hook(says("prepended"), prepend=True)
    module.register_full_backward_pre_hook(says("pre"))
    module.register_full_backward_pre_hook(says("pre, prepended"), prepend=True)
    module.register_forward_hook(says("forward"))
    module.register_forward_pre_hook(says("before forward"))
    handles = [
        M.register_module_full_backward_hook(says("everywhere")),
        M.register_module_full_backward_pre_hook(says("everywhere, pre")),
        M.register_module_forward_hook(says("everywhere, forward")),
        M.register_module_forward_pre_hook(says("everywhere, before forward")),
    ]
    module(leaf(T, [1.0])).sum().backward()
    for handle in handles:
        handle.remove()
    seen.append("|")
    module(leaf(T, [1.0])).sum().backward()
    return [seen, attempt(M.register_module_backward_hook, print)]


@scenario
def forward_hooks_of_all_modules(T: Any) -> Any:
    M = importlib.import_module(f"{T.__name__}.nn.modules.module")
    seen: list[Any] = []
    module = module_of(T, lambda a, b=1: a)
    with M.register_module_forward_hook(
        lambda m, args, kwargs, out: seen.append((args, kwargs, out)), with_kwargs=True
    ):
        module(1, b=2)
    with M.register_module_forward_hook(lambda m, args, out: seen.append(out), always_call=True):
        seen.append(attempt(module_of(T, lambda a: 1 / 0), 1))
    with M.register_module_forward_hook(lambda m, args, out: seen.append("not called")):
        seen.append(attempt(module_of(T, lambda a: 1 / 0), 1))
    with M.register_module_forward_pre_hook(lambda m, args: (args[0] + 1,)):
        seen.append(module(1))
    with M.register_module_forward_pre_hook(lambda m, args: args[0] + 2):
        seen.append(module(1))
    with M.register_module_forward_hook(lambda m, args, out: out + 3):
        seen.append(module(1))
    return [*seen, module(1)]


@scenario
def hooks_of_registration(T: Any) -> Any:
    M, nn = importlib.import_module(f"{T.__name__}.nn.modules.module"), T.nn
    seen: list[Any] = []

    def says(what: str) -> Any:
        return lambda module, name, value: seen.append((what, name, type(value).__name__))

    with (
        M.register_module_buffer_registration_hook(says("buffer")),
        M.register_module_module_registration_hook(says("module")),
        M.register_module_parameter_registration_hook(says("parameter")),
    ):
        module = nn.Linear(2, 2)
        module.register_buffer("q", T.ones(1))
        module.c = nn.ReLU()
        module.q = T.zeros(1)
        module.c = nn.Tanh()
        module.weight = nn.Parameter(T.ones(2, 2))
        module.register_buffer("nothing", None)
        module.add_module("z", None)
        nn.Sequential(nn.ReLU())
        module.weight = None
    nn.Linear(1, 1)
    with M.register_module_buffer_registration_hook(lambda module, name, value: value + 1):
        module.register_buffer("more", T.zeros(1))
    return [*seen, module.more]


@scenario
def the_old_form(T: Any) -> Any:
    def old(function: Any, *args: Any, reply: Any = None) -> Any:
        module = module_of(T, function)
        seen: list[Any] = []

        def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
            seen.append((grad_input, grad_output))
            return reply

        module.register_backward_hook(hook)
        outs = tensors_in(module(*args), T)
        if outs[0].requires_grad:
            sum(out.sum() for out in outs).backward()
        return seen, [a.grad for a in args if isinstance(a, T.Tensor) and a.is_leaf]

    x = lambda: leaf(T, [1.0, 2.0])
    return [
        old(lambda a: a * 2, x()),
        old(lambda a: (a * 2).exp(), x()),
        old(lambda a: a.exp(), x() * 1),
        old(lambda a: (a * 2, a * 3), x()),
        old(lambda a: T.unbind(a), x()),
        old(lambda a: [a * 2], x()),
        old(lambda a: {"k": a * 2, "j": a * 3}, x()),
        old(lambda a, b: a * b, x(), x()),
        old(lambda a, n: a * n, x(), 3),
        old(lambda a: a * 2, T.ones(2)),
        old(lambda a: a * 2, x(), reply=(T.full((2,), 7.0), None)),
    ]


@scenario
def both_forms(T: Any) -> Any:
    def both(first: str, second: str) -> Any:
        module = module_of(T, lambda a: a * 2)
        getattr(module, first)(lambda *args: None)
        getattr(module, second)(lambda *args: None)

    old, full = "register_backward_hook", "register_full_backward_hook"
    pre = "register_full_backward_pre_hook"
    seen: list[Any] = []
    module = module_of(T, lambda a: a * 2)
    module.register_backward_hook(lambda module, *gradients: seen.append(gradients))
    module.register_full_backward_pre_hook(lambda module, gradients: seen.append(gradients))
    module(leaf(T, [1.0])).sum().backward()
    pairs = [(old, full), (full, old), (old, pre), (pre, full), (full, full), (old, old)]
    return [*[attempt(both, *pair) for pair in pairs], *seen]


@scenario
def changes_in_place_around_hooks(T: Any) -> Any:
    def around(function: Any, x: Any) -> Any:
        module = module_of(T, function)
        module.register_full_backward_hook(lambda *args: None)
        return module(x)

    return [
        attempt(lambda: around(lambda a: a * 2, leaf(T, [1.0])).add_(1)),
        attempt(lambda: around(lambda a: a.add_(1), leaf(T, [1.0]) * 2)),
        attempt(lambda: around(lambda a: a.clone().add_(1), leaf(T, [1.0])).clone().add_(1)),
    ]


@scenario
def in_checkpoints(T: Any) -> Any:
    checkpoint = importlib.import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    seen: list[Any] = []
    module = module_of(T, lambda a: a.sin().exp())
    module.register_full_backward_hook(lambda module, *gradients: seen.append(gradients))
    x = leaf(T, [1.0, 2.0])
    for reentrant in (True, False):
        checkpoint(module, x, use_reentrant=reentrant).sum().backward()
    return [*seen, x.grad]


@scenario
def marks_of_hooks(T: Any) -> Any:
    H = importlib.import_module(f"{T.__name__}.utils.hooks")

    def hook(g: Any) -> Any:
        return g

    seen = []
    for each in (hook, H.unserializable_hook(lambda g: g)):
        x = leaf(T, [1.0])
        x.register_hook(each)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            H.warn_if_has_hooks(x)
        seen.append([str(w.message).split(" on tensor")[1] for w in caught])
        seen.append(getattr(each, "__torch_unserializable__", None))
    H.warn_if_has_hooks(T.ones(1))
    dictionary: Any = collections.OrderedDict()
    with H.RemovableHandle(dictionary) as handle:
        dictionary[handle.id] = hook
        seen.append(len(dictionary))
    return [*seen, len(dictionary), sorted(H.__all__)]


@scenario
def backward_hook_by_hand(T: Any) -> Any:
    H = importlib.import_module(f"{T.__name__}.utils.hooks")
    seen: list[Any] = []
    around = H.BackwardHook(
        None,
        [lambda module, inner, outer: seen.append((inner, outer))],
        [lambda module, outer: seen.append(outer)],
    )
    x = leaf(T, [1.0, 2.0])
    (a, n) = around.setup_input_hook((x, 3))
    y = around.setup_output_hook(a * n)
    y.sum().backward()
    return [*seen, x.grad, a.grad_fn.name(), y.grad_fn.name()]


@scenario
def hooks_of_all_modules_reset_by_assignment(T: Any) -> Any:
    module = importlib.import_module(f"{T.__name__}.nn.modules.module")
    seen: list[str] = []
    identity = T.nn.Identity()
    module.register_module_forward_hook(lambda *args: seen.append("forward"))
    module.register_module_forward_pre_hook(lambda *args: seen.append("pre"))
    identity(T.ones(1))
    counts = [len(module._global_forward_hooks), len(module._global_forward_pre_hooks)]
    module._global_forward_hooks = collections.OrderedDict()
    identity(T.ones(1))
    module._global_forward_pre_hooks = collections.OrderedDict({-1: lambda *args: seen.append("mine")})
    identity(T.ones(1))
    module._global_forward_pre_hooks = collections.OrderedDict()
    identity(T.ones(1))
    return seen, counts


@scenario
def marks_of_removed_hooks(T: Any) -> Any:
    module = T.nn.Identity()
    handles = [
        module.register_forward_pre_hook(lambda *args: None, with_kwargs=True),
        module.register_forward_hook(lambda *args: None, with_kwargs=True, always_call=True),
    ]
    names = ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
    before = [len(getattr(module, name)) for name in names]
    for handle in handles:
        handle.remove()
    return before, [len(getattr(module, name)) for name in names]
