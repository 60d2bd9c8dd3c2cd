"""The steps of random programs (fuzz.py). A step is a function of the running program, a source of random numbers and
its entry in the log, whose `text` it completes before anything can go wrong. It returns the tensors it has made.

No step may do what two versions of PyTorch itself would do differently: divide by what may be 0, sort equal elements,
write to memory that overlaps itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from random import Random
from typing import Any

SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (2, 1, 3), (2, 2), (3, 1), (2, 2, 2), (0, 3), (1, 3, 2), (1, 1), (4,), (2, 0)]
DTYPES = (
    ["float32"] * 5
    + ["float64"] * 5
    + ["complex64", "complex128", "complex128", "float16", "bfloat16", "int64", "int32", "uint8", "bool"]
)
# How far values may differ, times the largest. That of float32 is for the second derivative of tanh, a small difference
# to one. Where they differ by more, it is measured how far last bits reach in that program: see `reach_of_last_bits`.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "complex64": 1e-5}
EXACT = 1e-9  # and those of other dtypes


def name_of(p: Any, x: Any) -> str:
    return next((f"t{i}" for i, each in enumerate(p.pool) if each is x), "t?")


def pick(p: Any, r: Random, *conditions: Callable[[Any], Any]) -> Any:
    """A tensor of the program that fulfils all conditions."""
    found = [x for x in p.pool if all([condition(x) for condition in conditions])]
    if not found:
        raise LookupError("no such tensor")
    p.picked.append(r.choice(found[-6:]))
    return p.picked[-1]


def has_dims(x: Any) -> bool:
    return bool(x.dim())


def is_float(x: Any) -> bool:
    return bool(x.is_floating_point())


def is_complex(x: Any) -> bool:
    return bool(x.is_complex())


def is_inexact(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


def is_full(x: Any) -> bool:
    return bool(x.numel())


def settled(p: Any, derivative: Any) -> Any:
    """Without what is left open: the layout, whether it is a view, the signs of zeros, and whether a sum that cancels
    is a zero or a rounding error, by which later steps would decide."""
    plain = derivative.clone(memory_format=p.torch.contiguous_format)
    within = TOLERANCE.get(str(plain.dtype).removeprefix("torch."), EXACT)
    return plain.masked_fill(plain.detach().abs() < within, 0)


def dim_of(r: Random, x: Any) -> int:
    n = max(x.dim(), 1)
    return r.randrange(-n, n)


# -- leaves -----------------------------------------------------------------------------------------------------------


def start(p: Any, r: Random, entry: Any) -> list[Any]:
    made = [leaf(p, r) for _ in range(r.randint(2, 4))]
    p.leaves = [x for x in made if x.requires_grad]
    return made


def leaf(p: Any, r: Random) -> Any:
    torch = p.torch
    dtype, shape = r.choice(DTYPES), r.choice(SHAPES)
    x = tensor_of(torch, r, dtype, shape)
    if r.random() < 0.3 and len(shape) > 1:  # columns lie together
        x = tensor_of(torch, r, dtype, shape[::-1]).permute(*range(len(shape))[::-1]).clone()
    elif r.random() < 0.15 and shape:
        return tensor_of(torch, r, dtype, (*shape[:-1], shape[-1] * 2))[..., ::2]  # a view, and so no leaf
    return x.requires_grad_() if is_inexact(x) and r.random() < 0.8 else x


def tensor_of(torch: Any, r: Random, dtype: str, shape: tuple[int, ...]) -> Any:
    """No element is zero, and no two are equal, up to signs and as far as the dtype allows; and sums of products do not
    happen to be 0, where rounding would decide about signs."""
    count = math.prod(shape)
    values = [(i + 1 + 0.2 * r.random()) * 2.0 / (count + 1) * r.choice([-1, 1]) for i in r.sample(range(count), count)]
    if dtype == "bool":
        values = [value > 0 for value in values]
    elif dtype in ("int64", "int32", "uint8"):
        values = [int(4 * (abs(value) if dtype == "uint8" else value)) for value in values]
    elif dtype.startswith("complex"):
        values = [complex(value, r.choice([-0.75, 0.5, 1.25])) for value in values]
    return torch.tensor(values, dtype=getattr(torch, dtype)).reshape(shape).clone()


# -- functions --------------------------------------------------------------------------------------------------------

# fmt: off
SMOOTH = [
    "sin", "cos", "tanh", "exp", "sigmoid", "neg", "square", "abs", "sgn", "reciprocal", "relu", "clone", "real",
]
ROUGH = ["floor", "ceil", "round", "trunc", "sign", "isnan", "isfinite", "logical_not"]
REDUCTIONS = [
    "sum", "mean", "prod", "amax", "amin", "var", "norm", "any", "all", "logsumexp", "cumsum", "cumprod", "softmax",
    "log_softmax",
]
CHANGES = [
    "add_", "mul_", "sub_", "copy_", "fill_", "zero_", "neg_", "sin_", "relu_", "sigmoid_", "clamp_", "setitem",
    "masked_fill_", "exp_", "t_", "unsqueeze_", "squeeze_", "div_", "masked", "transpose_", "pow_", "lerp_", "addcmul_",
    "index_fill_", "index_add_", "square_",
]
# fmt: on


def unary(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r)
    name = r.choice(SMOOTH * 3 + ROUGH)
    if name == "reciprocal" and is_inexact(x) and bool((x.detach().abs() < 1e-6).any()):
        name = "neg"  # of what may be a rounding error
    entry.text += f" {name}({name_of(p, x)})"
    return [getattr(p.torch, name)(x) if name == "real" or r.random() < 0.5 else getattr(x, name)()]


def positive(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, is_inexact)
    name = r.choice(["sqrt", "log", "rsqrt"])
    entry.text += f" {name}(abs({name_of(p, x)}) + 0.5)"
    return [getattr(x.abs() + 0.5, name)()]


NUMBERS = [2, -1, 0.5, 3, True, -1.5, 1 + 1j]


def number(r: Random, x: Any) -> Any:
    """A Python number. With a complex one, a tensor of halves would become one of complex halves."""
    found = r.choice(NUMBERS)
    if x.element_size() == 2:
        return r.choice([2, 1e5]) if isinstance(found, complex) else found
    return found


def binary(p: Any, r: Random, entry: Any) -> list[Any]:
    x, y = pick(p, r), pick(p, r)
    name = r.choice(["add", "sub", "mul", "true_divide", "maximum", "minimum", "eq", "lt", "ge", "ne", "rsub"])
    if r.random() < 0.4:
        y = number(r, x)
        if name in ("maximum", "minimum"):
            name = "mul"
    if name == "true_divide" and not isinstance(y, (int, float, complex)):
        y = y.abs() + 1
    entry.text += f" {name}({name_of(p, x)}, {y if isinstance(y, (int, float, complex)) else name_of(p, y)})"
    return [getattr(p.torch, name)(x, y)]


def operator_of(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r)
    other = number(r, x)
    which = r.randrange(6)
    entry.text += f" {which}({name_of(p, x)}, {other})"
    return [[lambda: x + other, lambda: other - x, lambda: other * x, lambda: x / other, lambda: -x,
             lambda: x**2][which]()]  # fmt: skip


def ternary(p: Any, r: Random, entry: Any) -> list[Any]:
    x, y = pick(p, r), pick(p, r)
    which = r.choice(["where", "clamp", "masked_fill"])
    entry.text += f" {which}({name_of(p, x)}, {name_of(p, y)})"
    if which == "where":
        if is_complex(x) != is_complex(y):  # PyTorch's rule gives complex gradients to real tensors, and is refused
            y = x
        return [p.torch.where(p.torch.real(x) > 0 if is_complex(x) else x > 0, x, y)]
    if which == "masked_fill":
        first = x.reshape(-1)[:1].sum().to(x.dtype)
        same = p.torch.isclose(x, first, rtol=1e-3, atol=1e-3)  # rounding shall not decide
        return [x.masked_fill(~same, r.choice([0.5, 2]))]
    return [x.clamp(-0.7, 1.1)]


def matrices(p: Any, r: Random, entry: Any) -> list[Any]:
    x, y = pick(p, r, has_dims, is_full), pick(p, r, has_dims, is_full)
    entry.text += f" matmul({name_of(p, x)}, {name_of(p, y)})"
    repeated = x.shape[:-2] != y.shape[:-2] or is_repeated(x) or is_repeated(y)
    if max(x.dim(), y.dim()) > 2 and (repeated or 1 in x.shape or 1 in y.shape):
        # PyTorch repeats the matrices and saves those, leafgrad these; strides of single elements decide about layouts
        x, y = [t.clone(memory_format=p.torch.contiguous_format) for t in (x, y)]
    return [x @ y]


def reduction(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, lambda x: is_full(x) or is_float(x))  # PyTorch is undecided about others without elements
    name = r.choice(REDUCTIONS)
    if name == "var" and 1 in (x.numel(), *x.shape) and any([is_complex(y) for y in p.pool]):
        name = "mean"  # its gradient is nan, see the sums of complex numbers on the page of differences
    if name in ("cumsum", "cumprod", "softmax", "log_softmax", "logsumexp"):
        given: tuple[Any, ...] = (dim_of(r, x),)
    elif r.random() < 0.3:
        given = ()
    else:
        given = (2, dim_of(r, x)) if name == "norm" else (dim_of(r, x),)
    keeps = given and name not in ("cumsum", "cumprod", "softmax", "log_softmax")
    keep = {"keepdim": True} if keeps and r.random() < 0.4 else {}
    entry.text += f" {name}({name_of(p, x)}, {given}, {keep})"
    return [getattr(x, name)(*given, **keep)]


def several(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r, has_dims, is_full)
    dim = dim_of(r, x)
    which = r.choice(["max", "sort", "topk", "split", "unbind", "chunk"])
    if which == "topk" and len({f"{element:.3g}" for element in x.reshape(-1).tolist()}) < x.numel():
        which = "sort"  # which of equal elements topk takes is up to the module, and rounding shall not decide
    if which in ("sort", "max") and is_float(x) and has_close_elements(x):
        which = "split"
    entry.text += f" {which}({name_of(p, x)}, {dim})"
    if which == "max":
        return list(x.max(dim))
    if which == "sort":
        return list(x.sort(dim=dim, stable=True))
    if which == "topk":
        return list(x.topk(1, dim))
    if which == "unbind":
        return list(x.unbind(dim))
    return list(getattr(x, which)(2 if which == "chunk" else 1, dim))[:3]


def has_close_elements(x: Any) -> bool:
    """Might rounding decide about the order of two elements?"""
    values = sorted(x.detach().double().reshape(-1).tolist())
    return any([abs(a - b) < 1e-3 for a, b in itertools.pairwise(values)])


def joined(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r)
    others = [y for y in p.pool if y.shape == x.shape][-2:]
    p.picked += others
    name = r.choice(["cat", "stack"])
    dim = dim_of(r, x)
    entry.text += f" {name}({[name_of(p, y) for y in [x, *others]]}, {dim})"
    made = getattr(p.torch, name)([x, *others], dim)
    return [made.clone() if any([y.is_inference() for y in [x, *others]]) else made]  # of these it may be a view


# -- views ------------------------------------------------------------------------------------------------------------


def index_of(p: Any, r: Random, x: Any) -> Any:
    """An index of `x`: ints, slices, None, ..., tensors."""
    found: list[Any] = []
    for size in tuple(x.shape):
        kind = r.random()
        if kind < 0.35 and size:
            found.append(r.randrange(-size, size))
        elif kind < 0.8:
            found.append(
                slice(r.choice([None, 0, 1]), r.choice([None, size, -1 if size else None]), r.choice([None, 1, 2]))
            )
        elif kind < 0.9 and size and not any([hasattr(part, "shape") for part in found]):
            found.append(p.torch.tensor([r.randrange(size) for _ in range(2)]))
        else:
            break
    if r.random() < 0.2:
        found.insert(r.randrange(len(found) + 1), None)
    if r.random() < 0.2:
        found.append(...)
    return tuple(found)


def view(p: Any, r: Random, entry: Any) -> list[Any]:
    x = pick(p, r)
    n = x.dim()
    made = {
        "t": lambda: x.t(),
        "transpose": lambda: x.transpose(dim_of(r, x), dim_of(r, x)),
        "permute": lambda: x.permute(*r.sample(range(n), n)),
        "unsqueeze": lambda: x.unsqueeze(r.randrange(n + 1)),
        "squeeze": lambda: x.squeeze(),
        "flatten": lambda: x.flatten(),
        "view": lambda: x.view(-1),
        "reshape": lambda: x.reshape(*tuple(x.shape)[::-1]),
        "select": lambda: x.select(dim_of(r, x), 0),
        "narrow": lambda: x.narrow(dim_of(r, x), 0, 1),
        "expand": lambda: x.expand(2, *x.shape),
        "expand_as": lambda: x.expand(*[3 if size == 1 else size for size in x.shape]),
        "getitem": lambda: x[index_of(p, r, x)],
        # PyTorch allows to change what is detached from an inference tensor
        "detach": lambda: x.view_as(x) if x.is_inference() else x.detach(),
        "view_as": lambda: x.view_as(x),
        "diagonal": lambda: x.diagonal(),
        "unflatten": lambda: x.reshape(-1).view(-1, 1),
        "mT": lambda: x.mT,
        "squeeze at": lambda: x.squeeze(dim_of(r, x)),
        "unfold": lambda: x.unfold(dim_of(r, x), 2, 1),
        "broadcast_to": lambda: x.unsqueeze(-1).broadcast_to(*x.shape, 2),
        "tensor_split": lambda: x.tensor_split(2, dim_of(r, x))[0],
        "split_with_sizes": lambda: x.reshape(-1).split_with_sizes([1, x.numel() - 1])[1],
        "as_strided": lambda: x.as_strided((x.numel(),), (1,)) if x.is_contiguous() else x.view(*x.shape),
    }
    name = r.choice([*made])
    entry.text += f" {name}({name_of(p, x)})"
    return [made[name]()]


def complex_view(p: Any, r: Random, entry: Any) -> list[Any]:
    torch = p.torch
    pairs = [x for x in p.pool if is_float(x) and is_full(x) and x.dim() and x.shape[-1] == 2 and x.element_size() > 2]
    name = r.choice(["view_as_real", "real", "imag"] + ["view_as_complex"] * 2 * bool(pairs))
    x = r.choice(pairs) if name == "view_as_complex" else pick(p, r, is_complex, is_full)
    entry.text += f" {name}({name_of(p, x)})"
    return [getattr(torch, name)(x)]


# -- changes in place -------------------------------------------------------------------------------------------------


def does_not_overlap(x: Any) -> bool:
    """Does no element of memory appear twice? (False also in rare cases where none does.)"""
    reach = -1
    for step, size in sorted([(step, size) for size, step in zip(x.shape, x.stride()) if size > 1]):
        if step <= max(reach, 0):
            return not x.numel()
        reach = max(reach, 0) + step * (size - 1)
    return True


def is_repeated(x: Any) -> bool:
    """Is it expanded? Then changes are refused."""
    return 0 in [step for size, step in zip(x.shape, x.stride()) if size > 1]


def in_place(p: Any, r: Random, entry: Any) -> list[Any]:
    torch = p.torch
    x = pick(p, r, is_full, does_not_overlap if r.random() < 0.95 else is_repeated)
    others = [y for y in p.pool if y is not x and not shares_memory(x, y)]
    y = r.choice(others) if others and r.random() < 0.5 else r.choice([2, 0.5, -1])
    name = r.choice(CHANGES)
    if is_repeated(x):  # others are refused in words of their own, or in the backward pass
        name = r.choice(["add_", "mul_", "sub_", "copy_", "neg_", "sin_"])
    reshaped = name in ("t_", "squeeze_", "unsqueeze_", "transpose_")
    # gradients of leaves keep their shape, and PyTorch registers further hooks of the tensor where the first ones are
    if reshaped and (x._is_view() or (x.is_leaf and x.requires_grad) or x._backward_hooks):
        name = "mul_"
    if name in ("t_", "transpose_") and is_float(x) and 2 in x.shape:  # PyTorch does not find complex views of it again
        name = "squeeze_"
    if name == "clamp_" and x.element_size() == 1:  # bools are refused, in words of their own
        name = "zero_"
    recorded = r.random() < 0.75 or (reshaped and x.requires_grad)
    entry.text += f" {name}({name_of(p, x)}, {y if isinstance(y, (int, float)) else name_of(p, y)}, {recorded})"
    before = x._version
    try:
        with torch.enable_grad() if recorded else torch.no_grad():
            change(p, r, name, x, y)
    except Exception:
        p.forget(x)  # nobody promises what it is after that
        raise
    entry.seen.append(x._version - before)
    return [x]


def change(p: Any, r: Random, name: str, x: Any, y: Any) -> None:
    if name in ("zero_", "neg_", "sin_", "relu_", "sigmoid_", "exp_", "t_", "squeeze_", "square_"):
        getattr(x, name)()
    elif name == "transpose_":
        x.transpose_(0, -1)
    elif name == "pow_":
        x.pow_(2)
    elif name == "lerp_" and is_inexact(x):
        x.lerp_(y if not isinstance(y, (int, float)) else x.detach() * 2, 0.5)
    elif name == "addcmul_" and is_inexact(x):
        x.addcmul_(*[y if not isinstance(y, (int, float)) else x.detach().clone()] * 2)
    elif name == "index_fill_":
        x.index_fill_(0, p.torch.tensor([0]), 0.5)
    elif name == "index_add_":
        x.index_add_(0, p.torch.tensor([0]), x.detach().clone()[:1])
    elif name == "unsqueeze_":
        x.unsqueeze_(0)
    elif name == "setitem":
        x[index_of(p, r, x)] = 1 if is_tensor_with_grad(y) and not has_same_category(x, y) else y
    elif name == "masked":
        x[x != x] = 1
    elif name == "masked_fill_":
        x.masked_fill_(x == x, 0.25)
    elif name == "clamp_" and is_inexact(x):
        x.clamp_(-0.5, 0.9)
    elif name == "fill_" and not isinstance(y, (int, float)):
        x.fill_(y.reshape(-1)[0] if y.numel() and has_same_category(x, y) else 1)
    elif name == "div_":
        x.div_(y if isinstance(y, (int, float)) else y.abs() + 1)
    elif name == "clamp_":
        x.clamp_(0, 1)
    else:
        getattr(x, "mul_" if name in ("lerp_", "addcmul_") else name)(y)


def has_same_category(x: Any, y: Any) -> bool:
    """If values with a history are written to others, PyTorch gives integers one as well, and its gradients of real
    values of complex numbers are complex, and refused."""
    return is_inexact(x) and is_complex(x) == is_complex(y)


def is_tensor_with_grad(y: Any) -> bool:
    return not isinstance(y, (int, float)) and bool(y.requires_grad)


def shares_memory(x: Any, y: Any) -> bool:
    """Do the stretches of memory that two tensors lie in have anything in common?"""
    ends = []
    for t in (x, y):
        length = 1 + sum([(size - 1) * step for size, step in zip(t.shape, t.stride())]) if t.numel() else 0
        ends.append((t.data_ptr(), t.data_ptr() + length * t.element_size()))
    return bool(ends[0][0] < ends[1][1] and ends[1][0] < ends[0][1])
