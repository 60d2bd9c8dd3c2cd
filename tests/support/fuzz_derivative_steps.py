"""Steps of random programs (see fuzz_steps.py) that take derivatives in other ways than by a backward pass through the
program: forward mode, `autograd.functional`, maps over several arguments; and checkpoints and hooks of several tensors.
"""

from __future__ import annotations

from importlib import import_module
from random import Random
from typing import Any

import fuzz_steps
from fuzz_more_steps import is_finite
from fuzz_steps import does_not_overlap, has_dims, is_complex, is_float, is_full, is_inexact, name_of, pick

# -- functions to take derivatives of ---------------------------------------------------------------------------------


def viewing(p: Any, r: Random) -> Any:
    """A small function of one tensor, of views and changes in place."""
    torch = p.torch

    def changed_part(t: Any) -> Any:
        y = t * 1
        (y[..., :1] if y.dim() else y).mul_(3)
        return y * t

    def changed_after(t: Any) -> Any:
        y = t * 2
        part = y.unsqueeze(0).expand(3, *y.shape)  # and not reshape, which may copy for many samples
        y.mul_(t)
        return part * y.sum()

    def parts(t: Any) -> Any:
        if t.element_size() == 2:  # there are no complex halves
            return t.reshape(-1)[::2] * 3
        if is_complex(t):
            z = torch.view_as_real(t * t)
            z[..., 0].mul_(2)
            return (z + 0.3).abs().sum() + z.expand(2, *z.shape).sum()  # not 0, which a square of 1+1j has
        z = torch.view_as_complex(torch.stack([t, t * t + 1], -1))  # not 0, where abs has no derivatives
        z.mul_(2)
        return z.abs().sum() + torch.view_as_real(z).expand(2, *z.shape, 2).sum()

    def written(t: Any) -> Any:
        y = torch.zeros_like(t)
        y.copy_(t)
        y[..., None].sin_()
        return y

    def unrecorded(t: Any) -> Any:
        with torch.no_grad():
            factor = t * 2
        return factor * t * t.detach()

    return r.choice([
        changed_part, changed_after, parts, written, unrecorded,
        lambda t: torch.cat([t.reshape(-1), t.reshape(-1)[:1] ** 2]),
        lambda t: (t.expand(2, *t.shape) * t).transpose(0, -1),
        lambda t: torch.where(t.detach().abs() > 0.7, t * t, t),
        lambda t: t.reshape(-1).cumsum(0) * t.mean(),
        lambda t: t.unsqueeze(0).softmax(-1) ** 2 if not is_complex(t) else t * t.conj() + t,  # not 0j
    ])  # fmt: skip


def settled(p: Any, derivative: Any) -> Any:
    """Without its history, and without what is left open."""
    return fuzz_steps.settled(p, derivative.detach())


def point(p: Any, r: Random, *conditions: Any) -> Any:
    """A tensor to differentiate at: of finite numbers, because formulas of the same derivative differ for others.
    PyTorch has no tangents for tensors that overlap themselves."""
    x = pick(p, r, is_full, is_finite, lambda x: x.element_size() > 2 and not x.is_inference(), *conditions)
    return x if does_not_overlap(x) else x.clone()


# -- derivatives ------------------------------------------------------------------------------------------------------


def dual(p: Any, r: Random, entry: Any) -> list[Any]:
    """Forward mode, over what the program has made so far."""
    forward_ad = import_module(f"{p.torch.__name__}.autograd.forward_ad")
    x = point(p, r, is_inexact)
    which = r.choice(["function", "twice", "changed", "gradient"])
    entry.text += f" {which}({name_of(p, x)})"
    f = viewing(p, r)
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x.detach().clone() if which == "changed" else x * 1, x.detach().cos())
        if which == "changed":
            y.reshape(-1)[:1].mul_(2)
        made = f(f(y).sum() * y) if which == "twice" else f(y)
        if which == "gradient" and made.requires_grad and x.requires_grad and not is_complex(made):
            (made,) = p.torch.autograd.grad(made.sum(), x, retain_graph=True, create_graph=True)
        value, tangent = forward_ad.unpack_dual(made)
        return [settled(p, value), settled(p, p.torch.zeros_like(value) if tangent is None else tangent)]


def functional(p: Any, r: Random, entry: Any) -> list[Any]:
    """The functions of torch.autograd.functional."""
    functional = import_module(f"{p.torch.__name__}.autograd.functional")
    name = r.choice(["jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"])
    x = point(p, r, is_float)
    f = viewing(p, r)
    create, strict, fast = r.random() < 0.4, r.random() < 0.2, r.random() < 0.3
    entry.text += f" {name}({name_of(p, x)}, {create}, {strict}, {fast})"
    total = lambda t: (f(t) ** 2).sum()
    ones = p.torch.ones_like(x)
    if name in ("jacobian", "hessian"):
        options = {"vectorize": True, "strict": False} if fast else {"strict": strict}
        made = getattr(functional, name)(f if name == "jacobian" else total, x, create_graph=create, **options)
        return [settled(p, made)]
    return [settled(p, each) for each in getattr(functional, name)(total, x, ones[()] if name != "vjp" else None,
                                                                   create_graph=create, strict=strict)]  # fmt: skip


def mapped(p: Any, r: Random, entry: Any) -> list[Any]:
    """vmap over one argument and not over the other, in chunks, of derivatives."""
    func = import_module(f"{p.torch.__name__}.func")
    x, y = point(p, r, has_dims, is_inexact), point(p, r, is_inexact)
    f = viewing(p, r)
    dims = (r.randrange(-x.dim(), x.dim()), None)
    name = r.choice(["both", "chunks", "grad", "jvp", "second", "jacfwd"])
    entry.text += f" {name}({name_of(p, x)}, {name_of(p, y)}, {dims})"
    both = lambda t, u: f(t) * u.sum()
    size = lambda t, u: (both(t, u) * both(t, u).conj()).sum().real if is_complex(both(t, u)) else both(t, u).sum()
    made = {
        "both": lambda: func.vmap(both, in_dims=dims)(x, y),
        "chunks": lambda: func.vmap(both, in_dims=dims, chunk_size=2)(x, y),
        "grad": lambda: func.vmap(func.grad(size), in_dims=dims)(x, y),
        "jvp": lambda: func.vmap(lambda t, u: func.jvp(lambda v: both(v, u), (t,), (t,))[1], in_dims=dims)(x, y),
        "second": lambda: func.vmap(func.grad(size, argnums=1), in_dims=dims)(x, y),
        "jacfwd": lambda: func.jacfwd(both, argnums=1)(x, y),
    }
    return [settled(p, made[name]())]


# -- checkpoints and hooks of several tensors -------------------------------------------------------------------------


def checkpoints(p: Any, r: Random, entry: Any) -> list[Any]:
    """Checkpoints of functions with two arguments, views and changes in place."""
    torch = p.torch
    utils = import_module(f"{torch.__name__}.utils.checkpoint")
    x, y = pick(p, r, is_inexact), pick(p, r, is_inexact)
    f = viewing(p, r)
    name = r.choice(["two", "keyword", "to the end", "sequence", "reentrant", "results", "gradient inside"])
    entry.text += f" {name}({name_of(p, x)}, {name_of(p, y)})"
    if name == "sequence":  # not the sine of large numbers, which is all rounding errors
        small = lambda t: t * t.detach().abs().clamp(min=1).reciprocal()
        return [utils.checkpoint_sequential([f, small, torch.sin], 2, x, use_reentrant=False)]
    if name == "results":
        return list(utils.checkpoint(lambda t, u: (f(t), u * u.sum(), 3), x, y, use_reentrant=False))[:2]
    if name == "gradient inside":

        def inner(t: Any) -> Any:
            made = f(t)
            if not (made.requires_grad and t.requires_grad) or is_complex(made):
                return made
            (found,) = torch.autograd.grad(made.sum(), t, create_graph=True)
            return (found * found).sum() * t  # squares, because the gradients of softmax sum to rounding errors

        return [utils.checkpoint(inner, x, use_reentrant=False)]
    with utils.set_checkpoint_early_stop(name != "to the end"):
        if name == "keyword":
            return [utils.checkpoint(lambda t, other: f(t) * other.sum(), x, other=y, use_reentrant=False)]
        return [utils.checkpoint(lambda t, u: f(t) * u.sum(), x, y, use_reentrant=name == "reentrant")]


def hooks(p: Any, r: Random, entry: Any) -> list[Any]:
    """Hooks of several tensors, hooks that are removed, and hooks for what nodes save."""
    torch = p.torch
    graph = torch.autograd.graph
    x, y = pick(p, r, lambda x: x.requires_grad), pick(p, r, lambda x: x.requires_grad)
    name = r.choice(["all", "any", "removed", "kept", "on the way", "on cpu", "mutation"])
    entry.text += f" {name}({name_of(p, x)}, {name_of(p, y)})"
    label = f"{name} of step {entry.step}"
    for t in (x, y):
        t.grad_fn  # without it, hooks of a view whose base has changed end the process of PyTorch

    def note(given: Any) -> None:
        p.calls.append([label, *[p.seen_by_hook(g) for g in (given if isinstance(given, (list, tuple)) else [given])]])

    if name in ("all", "any"):
        graph.register_multi_grad_hook((x, y), note, mode=name)
        return []
    if name == "removed":
        handle = x.register_hook(lambda g: g * 5)
        y.register_hook(note)
        handle.remove()
        return []
    f = viewing(p, r)
    if name == "on the way":
        made = x * 1
        made.register_hook(lambda g: g * 2)
        made.register_hook(note)
        return [made, f(made)]
    unpacked = lambda kept: torch.tensor(kept[1], dtype=kept[2]).reshape(kept[0])
    if name == "on cpu":
        with graph.save_on_cpu():  # which does not copy here: conjugates, views in PyTorch, would change with x
            return [f(x.clone() if is_complex(x) else x)]
    if name == "mutation" and is_full(x):
        with graph.allow_mutation_on_saved_tensors():
            made = x * x
            again = made.sin()
            made.mul_(2)
            (found,) = torch.autograd.grad((torch.view_as_real(again) if is_complex(again) else again).sum(), x)
        return [settled(p, found)]
    with graph.saved_tensors_hooks(lambda t: (t.shape, t.detach().tolist(), t.dtype), unpacked):
        return [f(x)]


DERIVATIVES = [dual, functional, mapped]
