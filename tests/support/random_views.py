"""Random programs that take views of views and change them in place, to be run with PyTorch and with leafgrad."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from scenarios import attempt, plain

View = Callable[[Any, Any, int], Any]
Change = Callable[[Any, Any, Any], Any]

VIEWS: dict[str, View] = {
    "flat or turned": lambda T, t, n: t.view(-1) if t.is_contiguous() else t.transpose(0, -1),
    "slice": lambda T, t, n: t[n % max(t.shape[0], 1) :] if t.dim() else t.view(1),
    "select": lambda T, t, n: t[n % t.shape[0]] if t.dim() and t.shape[0] else t.unsqueeze(0),
    "every second": lambda T, t, n: t[::2] if t.dim() else t.unsqueeze(0),
    "transpose": lambda T, t, n: t.transpose(0, -1) if t.dim() else t.unsqueeze(0),
    "unsqueeze": lambda T, t, n: t.unsqueeze(n % (t.dim() + 1)),
    "squeeze": lambda T, t, n: t.squeeze(),
    "diagonal": lambda T, t, n: t.diagonal() if t.dim() == 2 else t.unsqueeze(0),
    "expand": lambda T, t, n: t.unsqueeze(0).expand(2, *t.shape),
    "as_strided": lambda T, t, n: t.as_strided((1,), (1,)),
    "as_strided further on": lambda T, t, n: t.as_strided((2,), (1,), t.storage_offset() + 1) if large(t) else t[...],
    "unbind": lambda T, t, n: t.unbind()[0] if t.dim() and t.shape[0] else t.unsqueeze(0),
    "detach": lambda T, t, n: t.detach(),
    "not recorded": lambda T, t, n: T.no_grad()(lambda: t[...])(),
    "reshape": lambda T, t, n: t.reshape(-1),
}
CHANGES: dict[str, Change] = {
    "mul_": lambda T, t, other: t.mul_(2),
    "mul_ by another": lambda T, t, other: t.mul_(other),
    "add_": lambda T, t, other: t.add_(other),
    "with itself": lambda T, t, other: t.mul_(t),
    "copy_": lambda T, t, other: t.copy_(other),
    "sin_": lambda T, t, other: t.sin_(),
    "zero_": lambda T, t, other: t.mul_(0) if 0 in t.stride() else t.zero_(),
    "t_": lambda T, t, other: t.t_(),
    "transpose_": lambda T, t, other: t.transpose_(0, -1),
    "unsqueeze_": lambda T, t, other: t.unsqueeze_(0),
    "squeeze_": lambda T, t, other: t.squeeze_(),
    "assignment": lambda T, t, other: t.__setitem__(0, other),
    "not recorded": lambda T, t, other: T.no_grad()(t.mul_)(2),
    "unsqueeze_ not recorded": lambda T, t, other: T.no_grad()(t.unsqueeze_)(0),
}
Step = tuple[str, str, float, int]


def large(t: Any) -> bool:
    return bool(t.numel() > 2 and t.is_contiguous())


def program(seed: int) -> list[Step]:
    """(what, which, of which tensor, a number) for each step."""
    draw = random.Random(seed)
    steps: list[Step] = []
    for _ in range(draw.randint(3, 10)):
        kind = draw.choices(["view", "change", "compute"], [9, 9, 2])[0]
        names = list(VIEWS) if kind == "view" else list(CHANGES) if kind == "change" else ["2", "w", "sin"]
        steps.append((kind, draw.choice(names), draw.random(), draw.randrange(6)))
    return steps


def run(T: Any, steps: list[Step], constant: bool) -> Any:
    """What the program shows: flags and versions after each step; values and gradients at the end."""
    x = T.arange(1.0, 13.0, dtype=T.float64, requires_grad=True)
    w = T.tensor(1.5, dtype=T.float64, requires_grad=True)
    base = x.detach().clone().view(3, 4).clone() if constant else (x * 1).view(3, 4) * 1
    tensors, seen = [base], []
    for kind, name, which, number in steps:
        t = tensors[int(which * len(tensors))]
        try:
            if kind == "view":
                tensors.append(VIEWS[name](T, t, number))
            elif kind == "change":
                CHANGES[name](T, t, w * (number + 1))
            else:
                tensors.append({"2": lambda t=t: t * 2, "w": lambda t=t: t * w, "sin": lambda t=t: t.sin()}[name]())
            seen.append(name)
        except Exception as error:
            seen.append(f"{name}: {type(error).__name__}")
        seen.append([(attempt(lambda t=t: (t.is_leaf, t.requires_grad)), t._version, tuple(t.shape)) for t in tensors])
    seen.append([t.detach() for t in tensors])
    for t in tensors:
        seen.append(kept(attempt(lambda t=t: T.autograd.grad((t * t).sum(), (x, w), None, True, allow_unused=True))))

    def second_order() -> Any:
        first = T.autograd.grad((base**3).sum(), (x, w), create_graph=True, allow_unused=True)
        return T.autograd.grad(sum((g * g).sum() for g in first if g is not None), (x, w), allow_unused=True)

    return plain([*seen, kept(attempt(second_order))])


def kept(shown: Any) -> Any:
    """Of an error its type: programs with several mistakes may be told of another one first."""
    return shown.split(":")[0] if isinstance(shown, str) else shown


def close(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)):
        return (
            isinstance(b, (list, tuple)) and len(a) == len(b) and all([close(p, q) for p, q in zip(a, b, strict=True)])
        )
    if isinstance(a, complex) and isinstance(b, complex):
        return a == b or abs(a - b) <= 1e-6 * max(1.0, abs(a)) or (a != a and b != b)
    return bool(a == b)
