"""More steps of random programs (see fuzz_steps.py): conversions, memory formats, `out=`, elements by index, losses,
Functions of one's own, modules with hooks."""

from __future__ import annotations

from importlib import import_module
from random import Random
from typing import Any

from fuzz_steps import (
    dim_of,
    does_not_overlap,
    has_dims,
    is_complex,
    is_float,
    is_full,
    is_inexact,
    name_of,
    pick,
    settled,
    shares_memory,
)  # fmt: skip

# -- conversions, formats, memory -------------------------------------------------------------------------------------

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def converted(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, lambda x: x.element_size() > 2 or not is_complex(x))
    kind = r.choice(["complex64", "complex128"] if is_complex(x) else [*FLOATS, "float64", "float32", "int64", "bool"])
    form = r.choice(["to", "type", "method", "add"])
    if kind in ("int64", "bool", "float16", "bfloat16") and not is_finite(x):
        kind = "float64"  # which integers inf becomes is up to the machine
    entry.text += f" {form} {kind}({name_of(p, x)})"
    dtype = getattr(p.torch, kind)
    if form == "to":
        return [x.to(dtype)]
    if form == "type":
        return [x.type(dtype)]
    if form == "add" and not is_complex(x):
        return [x + p.torch.ones(1, dtype=dtype)]
    methods = {"int64": "long", "float32": "float", "float64": "double", "float16": "half", "complex64": "cfloat",
               "complex128": "cdouble"}  # fmt: skip
    return [getattr(x, methods.get(kind, kind))()]


def is_finite(x: Any) -> bool:
    return bool(x.detach().isfinite().all())


def bytes_seen(p: Any, r: Random, entry: Any) -> list[Any]:
    """The same memory as another dtype, and back; changed through the one or the other."""
    torch = p.torch
    x = pick(
        p, r, is_full, has_dims, is_float, lambda x: x.element_size() > 2 and x.is_contiguous() and 1 not in x.shape
    )
    kind = getattr(torch, r.choice(["int32", "float32", "int64", "float64", "uint8", "complex64"]))
    entry.text += f" view({name_of(p, x)}, {kind})"
    seen = x.detach().view(kind)
    again = seen.view(x.dtype)
    if r.random() < 0.5 and seen.dtype != torch.uint8:
        seen.zero_()
    return [again]


AS_PAIRS = {"float32": "complex64", "float64": "complex128", "complex64": "float32", "complex128": "float64"}


def seen_as(p: Any, r: Random, entry: Any) -> list[Any]:
    """Complex numbers as pairs of real ones and back, by `view(dtype)`, which is not recorded, and by recorded views;
    expanded and changed on the way."""
    torch = p.torch
    x = pick(p, r, is_full, lambda x: str(x.dtype).removeprefix("torch.") in AS_PAIRS)
    name = r.choice(["view", "expanded", "changed", "parts", "pairs"])
    entry.text += f" {name}({name_of(p, x)})"
    if name == "view" and 1 not in x.shape:
        return [x.view(getattr(torch, AS_PAIRS[str(x.dtype).removeprefix("torch.")]))]
    if not is_complex(x):
        x = torch.view_as_complex(torch.stack([x, x * 2], -1))
    if name == "expanded":
        return [torch.view_as_real(x.expand(2, *x.shape)), x.imag.expand(2, *x.shape)]
    if name == "changed":
        y = x * 1
        part = y.imag if r.random() < 0.5 else torch.view_as_real(y)[..., 0]
        shown = r.choice([lambda: part.expand(2, *part.shape), lambda: torch.view_as_real(y), lambda: y.reshape(-1)])()
        with torch.enable_grad() if r.random() < 0.8 else torch.no_grad():
            (part if r.random() < 0.5 else y).mul_(2)
        return [y, part, shown]
    if name == "parts":
        return [x.real.unsqueeze(0), x.imag.reshape(-1)]
    return [torch.view_as_complex(torch.view_as_real(x).expand(2, *x.shape, 2)), torch.view_as_real(x).transpose(0, -1)]


def scattered(p: Any, r: Random, entry: Any) -> list[Any]:
    """Parts of a copy replaced, out of place."""
    torch = p.torch
    x = pick(p, r, has_dims, is_full)
    dim = dim_of(r, x)
    part = (x * 2).select(dim, 0) if x.dtype != torch.bool else ~x.select(dim, 0)
    made = {
        # copies, because PyTorch keeps the gaps between elements
        "select": lambda: torch.select_scatter(x.clone(), part, dim, 0),
        "slice": lambda: torch.slice_scatter(x.clone(), part.unsqueeze(dim), dim, 0, 1),
        "index_put": lambda: x.index_put((torch.tensor([0]),), x.reshape(-1)[0]),
        "index_copy": lambda: x.index_copy(dim, torch.tensor([0]), part.unsqueeze(dim)),
        "masked_scatter": lambda: x.masked_scatter(x == x, x * 1),
        "lerp": lambda: x.lerp(x * 2, 0.25),
        "addcmul": lambda: torch.addcmul(x, x, x, value=2),
    }
    name = r.choice([*made])
    entry.text += f" {name}({name_of(p, x)}, {dim})"
    return [made[name]()]


def formatted(p: Any, r: Random, entry: Any) -> list[Any]:
    torch = p.torch
    x = pick(p, r, is_full)
    name = r.choice(["channels_last", "contiguous", "preserve", "like", "permuted", "moved", "unfold", "strided"])
    entry.text += f" {name}({name_of(p, x)})"
    if name == "channels_last":
        images = x.reshape(1, 1, -1, x.shape[-1] if x.dim() else 1).expand(2, 2, -1, -1)
        return [images.contiguous(memory_format=torch.channels_last)]
    if name == "contiguous":
        return [x.contiguous()]
    if name == "preserve":
        return [x.clone(memory_format=torch.preserve_format)]
    if name == "like":
        return [torch.zeros_like(x), torch.ones_like(x, memory_format=torch.contiguous_format)]
    if name == "permuted":
        return [x.swapaxes(dim_of(r, x), dim_of(r, x))]
    if name == "moved":
        return [x.movedim(dim_of(r, x), dim_of(r, x))]
    if name == "unfold":
        return [x.unfold(dim_of(r, x), 1, 1)]
    return [x.as_strided((2, 2), (1, 0)) if x.numel() > 1 and x.is_contiguous() else x.view(x.shape)]


def into(p: Any, r: Random, entry: Any) -> list[Any]:
    """`out=`, of the right shape or without elements."""
    torch = p.torch
    x = pick(p, r, is_inexact, lambda x: not x.is_inference())
    name = r.choice(["add", "mul", "sin", "neg", "sum", "where", "clamp", "tanh"])
    given = {"add": (x, 2), "mul": (x, x), "sum": (x, 0), "where": (x == x, x, x), "clamp": (x, -1, 1)}.get(name, (x,))
    others = [y for y in p.pool if y.shape == x.shape and y.dtype == x.dtype and does_not_overlap(y)]
    others = [y for y in others if not (shares_memory(x, y) or y.is_inference())]
    out = r.choice(others) if others and name != "sum" and r.random() < 0.6 else torch.empty(0, dtype=x.dtype)
    entry.text += f" {name}({name_of(p, x)}, out={name_of(p, out)})"
    try:
        with torch.no_grad() if r.random() < 0.7 else torch.enable_grad():
            return [getattr(torch, name)(*given, out=out)]
    except Exception:
        p.forget(out)
        raise


def by_index(p: Any, r: Random, entry: Any) -> list[Any]:
    torch = p.torch
    x = pick(p, r, has_dims, is_full)
    dim = dim_of(r, x)
    size = x.shape[dim]
    at = torch.tensor([r.randrange(size) for _ in range(2)])
    everywhere = torch.zeros(tuple(x.shape), dtype=torch.int64)
    x = x.clone()  # which PyTorch often saves for the sake of its shape
    made = {
        "index_select": lambda: x.index_select(dim, at),
        "gather": lambda: x.gather(dim, everywhere),
        "scatter": lambda: x.scatter(dim, everywhere[..., :1], 0.5),
        "scatter_add": lambda: x.scatter_add(dim, everywhere, x),
        "index_add": lambda: x.index_add(dim, at, x.index_select(dim, at)),
        "index_fill": lambda: x.index_fill(dim, at, 2),
        "take_along_dim": lambda: x.take_along_dim(everywhere, dim),
        "roll": lambda: x.roll(1, dim),
        "flip": lambda: x.flip(dim),
        "tril": lambda: x.tril(),
        "masked_select": lambda: x.masked_select(x == x),
        "repeat_interleave": lambda: x.repeat_interleave(2, dim),
        "repeat_interleave by at": lambda: x.repeat_interleave(torch.arange(size), dim),
        "repeat": lambda: x.repeat(2, *[1] * (x.dim() - 1)),
        "diag_embed": lambda: x.diag_embed(),
    }
    name = r.choice([*made])
    entry.text += f" {name}({dim})"
    return [made[name]()]


def loss(p: Any, r: Random, entry: Any) -> list[Any]:
    """Losses and layers; with their second derivative, if it can be had."""
    F = import_module(f"{p.torch.__name__}.nn.functional")
    torch = p.torch
    x = pick(p, r, is_full, is_float, has_dims, lambda x: x.element_size() > 2)
    scores = x.clone().reshape(-1, x.shape[-1])  # cross_entropy saves them, and PyTorch what it makes of them
    classes = torch.arange(scores.shape[0]) % scores.shape[1]
    reduction = r.choice(["mean", "sum", "none"])
    made = {
        "mse": lambda: F.mse_loss(x, x.detach() * 2, reduction=reduction),
        "l1": lambda: F.l1_loss(x, x.detach() * 2 + 1, reduction=reduction),
        "smooth": lambda: F.smooth_l1_loss(x, x.detach() * 2, reduction=reduction),
        "nll": lambda: F.nll_loss(scores, classes, reduction=reduction),
        "cross_entropy": lambda: F.cross_entropy(scores, classes, reduction=reduction),
        "bce": lambda: F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction=reduction),
        "linear": lambda: F.linear(scores, scores.detach() + 1),
    }
    name = r.choice([*made])
    entry.text += f" {name}({name_of(p, x)}, {reduction})"
    return with_derivatives(p, r, made[name](), x)


def with_derivatives(p: Any, r: Random, value: Any, x: Any) -> list[Any]:
    """A value and perhaps its first and second derivative."""
    torch = p.torch
    if not value.requires_grad or not x.requires_grad or r.random() < 0.5:
        return [value]
    (g,) = torch.autograd.grad((torch.view_as_real(value) if is_complex(value) else value).sum(), x, create_graph=True)
    second, calls = None, len(p.calls)
    if g.requires_grad:
        (second,) = torch.autograd.grad((g * g).sum(), x, allow_unused=True, retain_graph=True)
    if second is None or not second.any():  # PyTorch may or may not have recorded it, and called hooks
        del p.calls[calls:]
    derivatives = [g.detach(), torch.zeros_like(x) if second is None else second]
    return [value, *[settled(p, each) for each in derivatives]]


def layer(p: Any, r: Random, entry: Any) -> list[Any]:
    """Layers and transforms, in whatever layout. They are given copies, because PyTorch saves other values than
    leafgrad does."""
    F = import_module(f"{p.torch.__name__}.nn.functional")
    torch = p.torch
    x = pick(p, r, is_full, is_float, has_dims, is_finite, lambda x: x.element_size() > 2)
    # not the same values again and again, of which norms leave rounding errors only
    t = x.clone() if x.dim() == 3 else x.reshape(1, 1, -1) * torch.tensor([[1, 2], [-1, 3]]).unsqueeze(-1)
    if r.random() < 0.5:
        t = t.transpose(r.randrange(3), r.randrange(3))
    channels, length = t.shape[1:]
    ones = torch.ones(channels, dtype=t.dtype)
    other = (t.detach() * 0.5).clone(memory_format=torch.contiguous_format)
    dim = r.randrange(3)
    made = {
        "batch_norm": lambda: F.batch_norm(t, None, None, ones, training=True, eps=0.1),
        "batch_norm by known": lambda: F.batch_norm(t, ones * 0.5, ones, ones * 2),
        "group_norm": lambda: F.group_norm(t, 1, ones, eps=0.1),
        "layer_norm": lambda: F.layer_norm(t, (length,), eps=0.1),
        "instance_norm": lambda: F.instance_norm(t, eps=0.1),
        # not the tanh of large numbers, whose second derivatives are all rounding errors
        "activation": lambda: r.choice(
            [F.logsigmoid, F.gelu, F.silu, F.softplus, F.mish, lambda t: F.tanhshrink(t * 0.1)]
        )(t),
        "pool": lambda: r.choice([F.avg_pool1d, F.adaptive_avg_pool1d, F.max_pool1d])(t, 1 + (length > 1)),
        "pad": lambda: F.pad(t, (1, 0), r.choice(["constant", "replicate", "circular"])),
        "interpolate": lambda: F.interpolate(t, scale_factor=2, mode="linear"),
        "conv": lambda: F.conv1d(t, other[:1, :, :1]),
        "attention": lambda: F.scaled_dot_product_attention(t, t, t),
        "embedding": lambda: F.embedding(torch.tensor([[0, 1], [1, 0]]).t() % t.shape[0], t[..., 0].contiguous()),
        # at 0 a norm has no second derivative, and of multiples of one number no first one but rounding errors
        "normalize": lambda: F.normalize(t.abs() + torch.arange(t.numel(), 0, -1).reshape(t.shape), dim=dim),
        "huber": lambda: F.huber_loss(t, other, reduction="none"),
        "smooth": lambda: F.smooth_l1_loss(t, other, reduction="none", beta=0.5),
        "bce": lambda: F.binary_cross_entropy_with_logits(t, other, reduction="none"),
        "kl_div": lambda: F.kl_div(t, other.abs() + 1, reduction="none"),
        "fft": lambda: torch.fft.fft(t * t, dim=dim),
        "rfft": lambda: torch.fft.rfft(t * t, dim=dim),
        "ifft": lambda: torch.fft.fftn(t * t, dim=(0, dim) if dim else (1,)),
        "irfft": lambda: torch.fft.irfft(t * t, length + 1, dim=2),
    }
    name = r.choice([*made])
    entry.text += f" {name}({name_of(p, x)}, {dim})"
    value = made[name]()
    # weighted, because the sum of what a norm returns does not depend on its input
    weights = torch.arange(1, value.numel() + 1).reshape(value.shape)
    found = with_derivatives(p, r, value * weights, x)
    # of norms over samples PyTorch has a wrong third derivative (docs/differences.md): nothing more is recorded
    return [found[0].detach(), *found[1:]] if name in ("batch_norm", "instance_norm") else found


# -- Functions and modules --------------------------------------------------------------------------------------------


def of_ones_own(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, is_inexact)
    name = r.choice(["saves_input", "saves_result", "two_results", "no_gradient", "in_place", "as_is", "view", "setup"])
    entry.text += f" {name}({name_of(p, x)})"
    if name == "setup":
        made = function_with_setup(p, r.random() < 0.5, r.random() < 0.5).apply(x, 2)
        return list(made)
    made = function_of(p, name).apply(x.clone() if name == "in_place" else x)
    return list(made) if isinstance(made, tuple) else [made]


def function_of(p: Any, name: str) -> Any:
    """A Function that doubles its argument, or squares it, in one way or another."""

    class Function(p.torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            if name == "in_place":
                ctx.mark_dirty(x)
                return x.mul_(2)
            if name in ("as_is", "view"):
                return x if name == "as_is" else x.view(x.shape)
            y = x * x
            ctx.save_for_backward(y if name == "saves_result" else x)
            if name == "no_gradient":
                flags = x == x
                ctx.mark_non_differentiable(flags)
                return y, flags
            return (y, x * 3) if name == "two_results" else y

        @staticmethod
        def backward(ctx: Any, g: Any, *others: Any) -> Any:
            if name in ("in_place", "as_is", "view"):
                return g * 2
            (kept,) = ctx.saved_tensors
            return g * kept.conj() * 2 + (others[0] * 3 if name == "two_results" else 0)

    return Function


def function_with_setup(p: Any, once: bool, materialized: bool) -> Any:
    """A Function with `setup_context`, whose backward may be given None and may be refused a second derivative."""
    torch = p.torch

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        (kept,) = ctx.saved_tensors
        p.calls.append(["gradients that are None", g is None, h is None])
        found = torch.zeros_like(kept)
        for each, factor in ((g, kept.conj() * 2), (h, ctx.factor)):
            if each is not None:
                found = found + each * factor
        return found, None

    class Function(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(x: Any, factor: Any) -> Any:
            return x * x, x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])
            ctx.factor = inputs[1]
            ctx.set_materialize_grads(materialized)

    once_only = import_module(f"{torch.__name__}.autograd.function").once_differentiable
    Function.backward = staticmethod(once_only(backward) if once else backward)
    return Function


def module(p: Any, r: Random, entry: Any) -> list[Any]:
    """A module with hooks; its parameters are no leaves of the program, what its hooks see is."""
    nn = import_module(f"{p.torch.__name__}.nn")
    torch = p.torch
    x = pick(p, r, is_full, is_float, has_dims, lambda x: x.element_size() > 2)
    name = r.choice(["forward", "pre", "backward", "backward_pre", "replaced"])
    entry.text += f" {name}({name_of(p, x)})"
    layer = nn.Linear(x.shape[-1], 2, dtype=x.dtype)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(layer.weight.numel()).reshape(layer.weight.shape) * 0.1 - 0.2)
        layer.bias.fill_(0.3)
    model = nn.Sequential(layer, nn.Tanh())

    def note(*given: Any) -> None:
        p.calls.append([f"module of step {entry.step}", *[p.seen_by_hook(g) for g in given]])

    if name == "forward":
        model.register_forward_hook(lambda module, args, result: note(*args, result))
    elif name == "pre":
        model.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    elif name == "backward":
        model.register_full_backward_hook(lambda module, inner, outer: note(*inner, *outer))
    elif name == "backward_pre":
        layer.register_full_backward_pre_hook(lambda module, outer: tuple([g * 2 for g in outer]))
    else:
        layer.register_full_backward_hook(
            lambda module, inner, outer: tuple([None if g is None else g * 2 for g in inner])
        )
    # PyTorch saves a copy of what is not contiguous, leafgrad the tensor
    return [model(x.clone(memory_format=torch.contiguous_format))]
