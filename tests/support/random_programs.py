"""Random programs over a module that looks like torch, for the tests that run the same program twice.

A program is a list of steps. A step names an operation and holds three numbers, from which the interpreter derives
everything else: which values the operation is applied to (counted modulo the number of values there are), which
dimension, which index. So every list of steps is a program, whatever the shapes turn out to be, and it means the same
to every module that computes the same shapes. A step that is refused leaves nothing behind and the program goes on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

Torch = Any  # torch or leafgrad
Tensor = Any
Shape = tuple[int, ...]

SHAPES: list[Shape] = [(3,), (2, 3), (), (2, 2), (1, 3), (4, 1), (2, 1, 2), (3, 3)]


@dataclass(frozen=True)
class Step:
    op: str
    a: int  # the value it is applied to
    b: int  # another value
    k: int  # what else there is to choose
    recorded: bool = True  # False: under no_grad

    def __repr__(self) -> str:
        return f"{self.op}({self.a}, {self.b}, {self.k}{'' if self.recorded else ', no_grad'})"


@dataclass(frozen=True)
class Program:
    leaves: tuple[Shape, ...]
    needs_grad: tuple[bool, ...]
    steps: tuple[Step, ...]

    def start(self) -> list[np.ndarray[Any, Any]]:
        """The values of the leaves: none is zero, no two are equal."""
        numbers = np.random.RandomState(len(self.leaves))
        drawn = [numbers.uniform(0.2, 0.9, shape) * numbers.choice([-1.0, 1.0], shape) for shape in self.leaves]
        return [np.array(values) for values in drawn]


# -- choosing ---------------------------------------------------------------------------------------------------------


def dim_of(x: Tensor, k: int) -> int:
    return k % max(x.dim(), 1)


def broadcasts(a: Shape, b: Shape) -> bool:
    """Do both go together?"""
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def expands(a: Shape, to: Shape) -> bool:
    """Can `a` be broadcast to exactly `to`?"""
    return len(a) <= len(to) and all(m in (n, 1) for m, n in zip(a[::-1], to[::-1]))


def beside(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """x and y, or the mean of y if the shapes do not go together; in the same memory layout, or that of the result
    would depend on the order in which the operands are looked at."""
    if not broadcasts(tuple(x.shape), tuple(y.shape)):
        return x, y.mean()
    if (x.is_contiguous() and y.is_contiguous()) or x.stride() == y.stride():
        return x, y
    return x.contiguous(), y.contiguous()


def on_both(operation: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Torch, Tensor, Tensor, int], Tensor]:
    return lambda torch, x, y, k: operation(*beside(x, y))


def inside(x: Tensor, y: Tensor) -> Tensor:
    """y, or its mean if it cannot be written into x; a copy of y if nobody would notice that they share memory."""
    if not expands(tuple(y.shape), tuple(x.shape)):
        return y.mean()
    if x is not y and not (x.is_contiguous() and y.is_contiguous()) and extents_overlap(x, y):
        return y.clone()
    return y


def extents_overlap(x: Tensor, y: Tensor) -> bool:
    """Do the stretches of memory that two tensors lie in have anything in common?"""
    lengths = [1 + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) for t in (x, y)]
    return bool(x.data_ptr() < y.data_ptr() + 8 * lengths[1] and y.data_ptr() < x.data_ptr() + 8 * lengths[0])


def like(x: Tensor, y: Tensor) -> Tensor:
    """y, or something made of it, in the shape of x."""
    return y if tuple(y.shape) == tuple(x.shape) else (x * 0.5 + y.sum())


def mask(torch: Torch, x: Tensor, k: int) -> Tensor:
    count = int(np.prod(tuple(x.shape)))
    return torch.tensor([(i * 7 + k) % 3 != 0 for i in range(count)], dtype=torch.bool).reshape(tuple(x.shape))


def where(torch: Torch, k: int, x: Tensor, y: Tensor) -> Tensor:
    return torch.where(mask(torch, x, k), x, y)


def part(x: Tensor, k: int) -> Any:
    """An index that gives a view."""
    size = x.shape[0] if x.dim() else 0
    choices: list[Any] = [..., None]
    if size:
        choices += [k // 7 % size, -1, slice(None, None, 2), slice(1, None), slice(0, 1)]
    if x.dim() > 1 and x.shape[1]:
        choices += [(slice(None), k // 7 % x.shape[1]), (..., slice(0, 1)), (0, slice(1, None))]
    return choices[k % len(choices)]


def places(torch: Torch, x: Tensor, k: int) -> Tensor:
    return torch.tensor([k % x.shape[0], 0, (k // 3) % x.shape[0]])


Action = Callable[[Torch, Tensor, Tensor, int], Any]

# -- operations that compute something new ----------------------------------------------------------------------------

SMOOTH: dict[str, Action] = {
    "add": on_both(operator.add),
    "sub": on_both(operator.sub),
    "mul": on_both(operator.mul),
    "div": on_both(lambda x, y: x / (y**2 + 1.5)),
    "add_scalar": lambda torch, x, y, k: x + 0.5,
    "mul_scalar": lambda torch, x, y, k: x * (-1.5, 0.5, 2)[k % 3],
    "rsub_scalar": lambda torch, x, y, k: 1 - x,
    "neg": lambda torch, x, y, k: -x,
    "sin": lambda torch, x, y, k: x.sin(),
    "cos": lambda torch, x, y, k: torch.cos(x),
    "tanh": lambda torch, x, y, k: x.tanh(),
    "exp": lambda torch, x, y, k: x.sin().exp(),
    "log": lambda torch, x, y, k: (x * x + 1).log(),
    "sqrt": lambda torch, x, y, k: (x * x + 1).sqrt(),
    "sigmoid": lambda torch, x, y, k: torch.sigmoid(x),
    "pow": lambda torch, x, y, k: x ** (2 + k % 2),
    "where": lambda torch, x, y, k: where(torch, k, *beside(x, y)),
    "sum": lambda torch, x, y, k: x.sum(),
    "mean": lambda torch, x, y, k: x.mean(),
    "sum_dim": lambda torch, x, y, k: x.sum(dim_of(x, k), keepdim=bool(k // 4 % 2)),
    "cumsum": lambda torch, x, y, k: x.cumsum(dim_of(x, k)),
    "softmax": lambda torch, x, y, k: torch.softmax(x, dim_of(x, k)),
    "log_softmax": lambda torch, x, y, k: torch.log_softmax(x, dim_of(x, k)),
    "matmul": lambda torch, x, y, k: x.reshape(1, -1) @ like(x, y).reshape(-1, 1),
    "outer": lambda torch, x, y, k: torch.outer(x.flatten()[:3], y.flatten()[:3]),
    "cat": lambda torch, x, y, k: torch.cat([x, like(x, y)] if x.dim() else [x[None], y.flatten()], dim_of(x, k)),
    "stack": lambda torch, x, y, k: torch.stack([x, like(x, y)], dim_of(x, k)),
    "gather_rows": lambda torch, x, y, k: x[places(torch, x, k)],
    "masked": lambda torch, x, y, k: x[mask(torch, x, k)],
    "clone": lambda torch, x, y, k: x.clone(),
    "contiguous": lambda torch, x, y, k: x.contiguous(),
    "reshape": lambda torch, x, y, k: x.reshape(-1),
}

VIEWS: dict[str, Action] = {
    "index": lambda torch, x, y, k: x[part(x, k)],
    "select": lambda torch, x, y, k: x.select(dim_of(x, k), 0),
    "narrow": lambda torch, x, y, k: x.narrow(dim_of(x, k), 0, 1),
    "view": lambda torch, x, y, k: x.view(-1),
    "view_row": lambda torch, x, y, k: x.view(1, -1),
    "transpose": lambda torch, x, y, k: x.transpose(dim_of(x, k), dim_of(x, k // 4)),
    "t": lambda torch, x, y, k: x.t(),
    "permute": lambda torch, x, y, k: x.permute(tuple(range(x.dim()))[::-1]),
    "unsqueeze": lambda torch, x, y, k: x.unsqueeze(dim_of(x, k)),
    "squeeze": lambda torch, x, y, k: x.squeeze(),
    "expand": lambda torch, x, y, k: x.expand(2, *x.shape),
    "diagonal": lambda torch, x, y, k: x.diagonal(),
    "flatten": lambda torch, x, y, k: x.flatten(),
    "unbind": lambda torch, x, y, k: x.unbind(dim_of(x, k))[k // 4 % x.shape[dim_of(x, k)]],
    "chunk": lambda torch, x, y, k: x.chunk(2, dim_of(x, k))[-1],
    "split": lambda torch, x, y, k: x.split(1, dim_of(x, k))[0],
}


# -- operations that change something in place ------------------------------------------------------------------------


def unexpanded(x: Tensor) -> Tensor:
    """x, unless its elements share memory: what a change of those does is not for us to say."""
    if any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape)):
        raise ValueError("an expanded tensor")
    return x


def set_part(x: Tensor, y: Tensor, k: int) -> None:
    index = part(x, k)
    value = inside(x[index], y)
    unexpanded(x)[index] = value * 1 if index is None or 1 in x.shape or not x.dim() else value


def set_places(torch: Torch, x: Tensor, y: Tensor, k: int) -> None:
    unexpanded(x)[places(torch, x, k)[:1]] = y.mean()


def set_mask(torch: Torch, x: Tensor, y: Tensor, k: int) -> None:
    unexpanded(x)[mask(torch, x, k)] = y.mean() if k % 2 else 0.25


def add_to_part(x: Tensor, y: Tensor, k: int) -> None:
    index = part(x, k)
    unexpanded(x)[index] += y.mean() if k % 2 else 0.5


IN_PLACE: dict[str, Action] = {
    "add_": lambda torch, x, y, k: x.add_(inside(x, y)),
    "sub_": lambda torch, x, y, k: x.sub_(inside(x, y), alpha=2),
    "mul_": lambda torch, x, y, k: x.mul_(inside(x, y)),
    "div_": lambda torch, x, y, k: x.div_(inside(x, y) ** 2 + 1),
    "add_scalar_": lambda torch, x, y, k: x.add_(0.5),
    "mul_scalar_": lambda torch, x, y, k: x.mul_(0.5).add_(1),
    "neg_": lambda torch, x, y, k: x.neg_(),
    "sin_": lambda torch, x, y, k: x.sin_(),
    "tanh_": lambda torch, x, y, k: x.tanh_(),
    "sigmoid_": lambda torch, x, y, k: x.sigmoid_(),
    "zero_": lambda torch, x, y, k: unexpanded(x).zero_(),
    "fill_": lambda torch, x, y, k: unexpanded(x).fill_(0.75),
    "fill_tensor_": lambda torch, x, y, k: x.fill_(y.mean()),
    "copy_": lambda torch, x, y, k: unexpanded(x).copy_(inside(x, y)),
    "set_part": lambda torch, x, y, k: set_part(x, y, k),
    "set_places": lambda torch, x, y, k: set_places(torch, x, y, k),
    "set_mask": lambda torch, x, y, k: set_mask(torch, x, y, k),
    "add_to_part": lambda torch, x, y, k: add_to_part(x, y, k),
    "masked_fill_": lambda torch, x, y, k: unexpanded(x).masked_fill_(mask(torch, x, k), 0.3),
}

# -- operations with corners, and those that cut a graph: for comparing two modules, not with numbers ------------------


def go_back(x: Tensor, keep: bool) -> None:
    (x if x.dim() == 0 else x.sum()).backward(retain_graph=keep)


CUTS: dict[str, Action] = {
    "detach": lambda torch, x, y, k: x.detach(),
    "detach_": lambda torch, x, y, k: x.clone().detach_(),
    "requires_grad_": lambda torch, x, y, k: x.requires_grad_() if x._base is None else None,
    "retain_grad": lambda torch, x, y, k: x.retain_grad(),
    "backward": lambda torch, x, y, k: go_back(x, bool(k % 2)),
    "abs": lambda torch, x, y, k: x.abs(),
    "relu": lambda torch, x, y, k: torch.relu(x),
    "relu_": lambda torch, x, y, k: x.relu_(),
    "clamp": lambda torch, x, y, k: x.clamp(-0.4, 0.6),
    "clamp_": lambda torch, x, y, k: x.clamp_(-0.4, 0.6),
    "maximum": on_both(lambda x, y: x.maximum(y)),
    "max": lambda torch, x, y, k: x.max(),
    "max_dim": lambda torch, x, y, k: x.max(dim_of(x, k))[0],
    "prod": lambda torch, x, y, k: x.prod(),
    "wild_add": lambda torch, x, y, k: x.contiguous() + y.contiguous(),
    "wild_mul_": lambda torch, x, y, k: x.mul_(y.clone()),
    "wild_matmul": lambda torch, x, y, k: x @ y,
    "wild_view": lambda torch, x, y, k: x.view(2, -1),
    "compare": lambda torch, x, y, k: (x > 0).double(),
    "item": lambda torch, x, y, k: x * float(x.detach().sum()),
    "float": lambda torch, x, y, k: x.float().double(),
}

ALL_OPS: dict[str, Action] = {**SMOOTH, **VIEWS, **IN_PLACE, **CUTS}


# -- running ----------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """What became of a program."""

    leaves: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    born: list[int] = field(default_factory=list)  # the version of each value when it was made
    errors: list[str | None] = field(default_factory=list)  # for each step the type of the exception, if it was refused
    messages: list[str] = field(default_factory=list)


def run(
    torch: Torch,
    program: Program,
    arrays: Sequence[Any],
    *,
    recorded: bool = True,
    skip: Sequence[str | None] = (),
    start: Callable[[int, Tensor], Tensor] = lambda number, leaf: leaf,
) -> Run:
    """Run a program. `recorded=False` computes the values alone, without the steps that `skip` says were refused;
    `start` makes of each leaf, by its number, what the program begins with."""
    result = Run()
    for array, wanted in zip(arrays, program.needs_grad):
        leaf = torch.tensor(np.asarray(array).tolist(), dtype=torch.float64)
        result.leaves.append(leaf.requires_grad_(wanted and recorded))
    result.values = [start(number, leaf) for number, leaf in enumerate(result.leaves)]
    result.born = [0] * len(result.leaves)
    for number, step in enumerate(program.steps):
        if skip and skip[number] is not None:
            continue
        values = result.values
        x, y = values[step.a % len(values)], values[step.b % len(values)]
        try:
            with nullcontext() if step.recorded else torch.no_grad():
                made = ALL_OPS[step.op](torch, x, y, step.k)
        except (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError) as error:
            result.errors.append(type(error).__name__)
            result.messages.append(str(error))
            continue
        result.errors.append(None)
        result.messages.append("")
        if made is not None and made is not x:
            values.append(made)
            result.born.append(made._version)
    return result


def usable(values: Sequence[Tensor]) -> list[bool]:
    """Which values can still take part in a computation? Some views cannot, after their memory was changed."""
    result = []
    for v in values:
        try:
            v.grad_fn
            result.append(True)
        except RuntimeError:
            result.append(False)
    return result


def loss_of(values: Sequence[Tensor], chosen: Sequence[bool]) -> Tensor:
    """One number that depends on the chosen values, on each of them in its own way."""
    total = values[0].detach().sum() * 0
    for i, v in enumerate(values):
        if chosen[i] and v.numel():
            total = total + (v * v).mean() * (0.3 + 0.1 * i) + v.sum() * (0.7 - 0.1 * (i % 3))
    return total


def size_of(values: Sequence[Any]) -> float:
    """The largest absolute value; inf if there is a nan."""
    biggest = [np.abs(v).max() for v in values if v.size]
    return float(np.max(biggest, initial=0.0)) if all(np.isfinite(b) for b in biggest) else float("inf")


# -- generating -------------------------------------------------------------------------------------------------------


def programs(ops: Sequence[str], *, may_cut: bool, longest: int = 12) -> st.SearchStrategy[Program]:
    """Programs of the given operations; with `may_cut`, also under no_grad and with leaves that want no gradient."""
    number = st.integers(0, 40)
    step = st.builds(
        Step,
        op=st.sampled_from(sorted(ops)),
        # mostly the newest values: long chains say more than wide ones
        a=st.one_of(st.just(-1), st.just(-2), number),
        b=number,
        k=st.integers(0, 60),
        recorded=st.sampled_from([True] * 7 + [False]) if may_cut else st.just(True),
    )

    def with_leaves(shapes: list[Shape]) -> st.SearchStrategy[Program]:
        flag = st.sampled_from([True, True, False]) if may_cut else st.just(True)
        flags = st.tuples(*[flag] * len(shapes))
        steps = st.lists(step, min_size=1, max_size=longest)
        return st.builds(lambda f, s: Program(tuple(shapes), f, tuple(s)), flags, steps)

    return st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3).flatmap(with_leaves)


def examples(count: int) -> settings:
    """Settings for `count` examples, the same ones every time."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(derandomize=True, database=None, deadline=None, max_examples=count, suppress_health_check=slow)
