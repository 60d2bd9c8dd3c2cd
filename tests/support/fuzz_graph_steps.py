"""The steps of random programs that have to do with the graph: hooks, modes, transforms, gradients."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

import fuzz_derivative_steps
import fuzz_more_steps
import fuzz_steps
from fuzz_steps import has_dims, is_complex, is_float, is_full, is_inexact, name_of, pick, settled

Step = Callable[[Any, Random, Any], list[Any]]

# -- hooks, graphs, modes ---------------------------------------------------------------------------------------------


def hook(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, lambda x: x.requires_grad)
    name = r.choice(["scale", "watch", "retain_grad", "prehook", "posthook", "accumulated"])
    entry.text += f" {name}({name_of(p, x)})"
    node = x.grad_fn
    label = f"{name} of step {entry.step}"

    def watch(*given: Any) -> None:
        p.calls.append([label, *[p.seen_by_hook(g) for g in flat(given)]])

    if name == "scale":
        x.register_hook(lambda g: g * 2)
    elif name == "watch":
        x.register_hook(watch)
    elif name == "retain_grad":
        x.retain_grad()
        p.leaves.append(x)
    elif name == "accumulated":
        x.register_post_accumulate_grad_hook(lambda t: watch(t.grad))
    elif node is not None:
        # In PyTorch, what else is computed beside the wanted gradients differs from node to node.
        node.register_prehook(watch) if name == "prehook" else node.register_hook(lambda inner, outer: watch(outer))
    return []


def flat(values: Any) -> list[Any]:
    return [each for v in values for each in (flat(v) if isinstance(v, tuple) else [v])]


def flags(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, lambda x: not x._is_view())
    name = r.choice(["requires_grad_", "detach_", "zero_grad"])
    if any([x is each for each in p.recomputed]):  # if it requires grad then, PyTorch may mix up what nodes have saved
        name = "zero_grad"
    entry.text += f" {name}({name_of(p, x)})"
    if name == "zero_grad":
        x.grad = None
    else:
        getattr(x, name)()
    return [x]


def block(p: Any, r: Random, x: Any) -> Any:
    """A small function of one tensor."""
    which = r.randrange(6)
    torch = p.torch
    return [
        lambda t: (t * t * 0.1).sin(),  # far from zero, a sine is all rounding errors
        lambda t: t.exp() * t,
        lambda t: (t * 2 + 1).tanh().sum(),
        lambda t: torch.cat([t.reshape(-1), t.reshape(-1) * 3]),
        lambda t: (t.clone().mul_(t) * 0.5).reshape(-1),
        lambda t: t.sigmoid() * t.detach(),
    ][which]


def under(p: Any, r: Random, entry: Any) -> list[Any]:
    torch = p.torch
    x = pick(p, r, is_inexact)
    name = r.choice(["no_grad", "enable_grad", "inference_mode", "saved_tensors_hooks", "scaled_saved", "anomaly"])
    entry.text += f" {name}({name_of(p, x)})"
    f = block(p, r, x)
    graph = torch.autograd.graph
    modes = {
        "no_grad": torch.no_grad,
        "enable_grad": torch.enable_grad,
        "inference_mode": torch.inference_mode,
        "anomaly": lambda: torch.autograd.detect_anomaly(check_nan=False),
        "saved_tensors_hooks": lambda: graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t),
        "scaled_saved": lambda: graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t),
    }
    with modes[name]():
        made = f(x)
    return [made]


def checkpointed(p: Any, r: Random, entry: Any) -> list[Any]:
    checkpoint = import_module(f"{p.torch.__name__}.utils.checkpoint").checkpoint
    x = pick(p, r, is_inexact)
    reentrant = r.random() < 0.3
    entry.text += f" checkpoint({name_of(p, x)}, {reentrant})"
    return [checkpoint(block(p, r, x), x, use_reentrant=reentrant)]


def nested(p: Any, r: Random, entry: Any) -> list[Any]:
    """Modes, checkpoints and transforms inside of each other."""
    torch = p.torch
    func, utils = [import_module(f"{torch.__name__}.{name}") for name in ("func", "utils.checkpoint")]
    x = pick(p, r, is_float, is_full, has_dims, lambda x: x.element_size() > 2)
    x = x if fuzz_steps.does_not_overlap(x) else x.clone()
    f = block(p, r, x)
    saving = torch.autograd.graph.saved_tensors_hooks
    doubled = lambda t: f(t * 2)
    kept = {
        "checkpoints": lambda t: utils.checkpoint(lambda u: utils.checkpoint(f, u, use_reentrant=False) * 2, t,
                                                  use_reentrant=False),
        "saved in a checkpoint": lambda t: utils.checkpoint(saved, t, use_reentrant=False),
        "a checkpoint in saved": lambda t: saved(lambda u: utils.checkpoint(f, u, use_reentrant=False), t),
        "no_grad in a checkpoint": lambda t: utils.checkpoint(quiet, t, use_reentrant=r.random() < 0.3),
    }  # fmt: skip

    def saved(*given: Any) -> Any:
        with saving(lambda t: t.detach().clone(), lambda t: t):
            return given[0](given[1]) if len(given) > 1 else f(given[0])

    def quiet(t: Any) -> Any:
        with torch.no_grad():
            factor = t.sin()
        return f(t) * factor.sum()

    derived = {
        "vmap of jacrev": lambda: func.vmap(func.jacrev(f))(x),
        "jvp of grad": lambda: func.jvp(func.grad(lambda t: doubled(t).sum()), (x,), (torch.ones_like(x),))[1],
        "grad of grad": lambda: func.grad(lambda t: (func.grad(lambda u: doubled(u).sum())(t) ** 2).sum())(x),
        "vmap of vmap": lambda: func.vmap(func.vmap(f))(x),
        "vmap by the last": lambda: func.vmap(f, in_dims=-1, out_dims=-1)(x),
        "vjp of jvp": lambda: func.vjp(lambda t: func.jvp(f, (t,), (t,))[1].sum(), x)[1](torch.ones((), dtype=x.dtype))[
            0
        ],
        "linearize": lambda: func.linearize(f, x.detach().clone())[1](x),  # PyTorch takes it for a constant
        "grad and value": lambda: func.grad_and_value(lambda t: doubled(t).sum())(x)[0],
    }
    name = r.choice([*kept, *derived])
    entry.text += f" {name}({name_of(p, x)})"
    return [kept[name](x)] if name in kept else observed(p, derived[name](), x)


def transformed(p: Any, r: Random, entry: Any) -> list[Any]:
    func = import_module(f"{p.torch.__name__}.func")
    x = pick(
        p, r, is_float, is_full, has_dims, lambda x: x.element_size() > 2
    )  # PyTorch's tangents of numbers become float64
    x = x if fuzz_steps.does_not_overlap(x) else x.clone()  # it has no tangents for expanded tensors
    f = block(p, r, x)
    name = r.choice(["grad", "vjp", "jvp", "vmap", "jacrev", "jacfwd", "vmap_grad", "hessian"])
    entry.text += f" {name}({name_of(p, x)})"
    total = lambda t: f(t).sum()
    made = {
        "grad": lambda: func.grad(total)(x),
        "vjp": lambda: func.vjp(total, x)[1](p.torch.ones((), dtype=x.dtype))[0],
        "jvp": lambda: func.jvp(f, (x,), (p.torch.ones_like(x),))[1],
        "vmap": lambda: func.vmap(f)(x),
        "jacrev": lambda: func.jacrev(f)(x),
        "jacfwd": lambda: func.jacfwd(f)(x),
        "vmap_grad": lambda: func.vmap(func.grad(total))(x),
        "hessian": lambda: func.hessian(total)(x),
    }
    return observed(p, made[name](), x)


def observed(p: Any, made: Any, x: Any) -> list[Any]:
    """The values of a derivative, and its own gradient. Where that is zero, PyTorch may or may not have recorded it,
    called hooks, and retained it."""
    found = None
    calls, grads = len(p.calls), [leaf.grad for leaf in p.leaves]
    if made.requires_grad and x.requires_grad:
        try:
            (found,) = p.torch.autograd.grad(made.sum(), x, allow_unused=True, retain_graph=True)
        except RuntimeError as error:  # by a hook of several tensors, which may not be called at all
            if "A leaf node was passed" not in str(error):
                raise
    if found is None or not found.any():
        del p.calls[calls:]
        for leaf, before in zip(p.leaves, grads):
            leaf.grad = before
    return [settled(p, each) for each in (made.detach(), p.torch.zeros_like(x) if found is None else found)]


# -- gradients --------------------------------------------------------------------------------------------------------


def scalar_of(p: Any, r: Random, x: Any) -> Any:
    """A real number with the history of a tensor."""
    return (p.torch.view_as_real(x) if is_complex(x) else x).double().sum()


def backward(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, lambda x: x.requires_grad, is_full)
    keep = r.random() < 0.6
    entry.text += f" backward({name_of(p, x)}, {keep})"
    scalar_of(p, r, x).backward(retain_graph=keep)
    return []


def grad(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, lambda x: x.requires_grad, is_full)
    wanted = [y for y in p.pool if y.requires_grad][:3]
    create, unused, zeros = r.random() < 0.5, r.random() < 0.8, r.random() < 0.2
    entry.text += f" grad({name_of(p, x)}, {[name_of(p, y) for y in wanted]}, {create}, {unused}, {zeros})"
    made = p.torch.autograd.grad(
        scalar_of(p, r, x), wanted, retain_graph=True, create_graph=create, allow_unused=unused or zeros,
        materialize_grads=zeros,
    )  # fmt: skip
    entry.seen.append([g is None for g in made])
    entry.derived = True
    return [settled(p, g) for g in made if g is not None]


def passes(p: Any, r: Random, entry: Any) -> list[Any]:
    """Backward passes from several tensors, with given gradients, to some leaves, through the graphs of gradients."""
    torch = p.torch
    x, y = [pick(p, r, lambda x: x.requires_grad, is_full) for _ in range(2)]
    name = r.choice(["several", "to some", "batched", "twice", "given"])
    keep = r.random() < 0.8
    entry.text += f" {name}({name_of(p, x)}, {name_of(p, y)}, {keep})"
    ones = [torch.ones_like(t, memory_format=torch.contiguous_format) for t in (x, y)]
    if name == "several":
        torch.autograd.backward([x, y], [ones[0] * 2, ones[1]], retain_graph=keep)
    elif name == "to some":
        wanted = [t for t in p.leaves if t.is_leaf and t.requires_grad][:2]
        torch.autograd.backward(x, ones[0], inputs=wanted, retain_graph=keep)
    elif name == "given":
        x.backward(ones[0] * 3, retain_graph=keep)
    elif name == "batched":
        point = (
            x.detach().clone().requires_grad_()
        )  # without the hooks of the program, which look at what they are given
        made = fuzz_derivative_steps.viewing(p, r)(point)
        many = torch.stack([torch.ones_like(made), torch.ones_like(made) * 2])
        entry.derived = True
        return [settled(p, g) for g in torch.autograd.grad(made, point, many, is_grads_batched=True)]
    else:
        (first,) = torch.autograd.grad(x, y, ones[0], create_graph=True, allow_unused=True)
        entry.derived = True
        if first is None or not first.requires_grad:
            return []
        (second,) = torch.autograd.grad(first, y, torch.ones_like(first), retain_graph=keep, allow_unused=True)
        return [settled(p, g.detach()) for g in (first, torch.zeros_like(y) if second is None else second)]
    return []


def end(p: Any, r: Random, entry: Any) -> list[Any]:
    roots = [x for x in p.pool if x.requires_grad and is_full(x)]
    if roots:
        total = sum([scalar_of(p, r, x) * (i + 1) for i, x in enumerate(roots)])
        total.backward()
    return []


BACKWARD = {backward, passes, end}
CHECKPOINTS = {checkpointed, nested, fuzz_derivative_steps.checkpoints}
TRANSFORMS = {transformed, nested, *fuzz_derivative_steps.DERIVATIVES}

# groups of steps, and how often each is drawn
STEPS: list[tuple[list[Step], int]] = [
    ([fuzz_steps.unary, fuzz_steps.unary, fuzz_steps.positive], 14),
    ([fuzz_steps.binary, fuzz_steps.binary, fuzz_steps.operator_of, fuzz_steps.ternary], 16),
    ([fuzz_steps.reduction, fuzz_steps.several, fuzz_steps.joined, fuzz_steps.matrices], 12),
    ([fuzz_steps.view], 20),
    ([fuzz_steps.complex_view, fuzz_more_steps.seen_as], 12),
    ([fuzz_steps.in_place], 20),
    ([hook, flags], 8),
    ([under, checkpointed, transformed, nested], 12),
    ([fuzz_more_steps.converted, fuzz_more_steps.bytes_seen, fuzz_more_steps.formatted, fuzz_more_steps.into], 10),
    ([fuzz_more_steps.by_index, fuzz_more_steps.loss, fuzz_more_steps.layer, fuzz_more_steps.scattered], 14),
    ([fuzz_more_steps.of_ones_own, fuzz_more_steps.module], 8),
    (fuzz_derivative_steps.DERIVATIVES, 8),
    ([fuzz_derivative_steps.checkpoints, fuzz_derivative_steps.hooks], 8),
    ([backward, grad, passes], 12),
]
