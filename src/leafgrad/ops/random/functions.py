"""Random tensors. The numbers come from `leafgrad.random`, which draws PyTorch's; here they become tensors.

`distributions` is imported when the first number is drawn, so that `import leafgrad` does not wait for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.inplace import count_change, is_free
from leafgrad._core.modes import changed_in_modes, in_vmap
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.ops.creation.factories import asked_dtype, create, is_int, like, sizes
from leafgrad.ops.creation.fresh import fresh, zeros_like
from leafgrad.ops.inplace import check_writable, rebase
from leafgrad.ops.out import check_no_overlap, resize_output, write_out
from leafgrad.ops.registry import Family, Operation, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Dtype, MemoryFormat, Options, Shape, Sizes, Tensor, declared

if TYPE_CHECKING:
    from leafgrad.ops.random.distributions import Generator

A = Any  # an array, or a tensor under create_graph


@functools.cache
def distributions() -> ModuleType:
    """The distributions on arrays. An import statement takes longer than drawing a few numbers."""
    from leafgrad.ops.random import distributions

    return distributions


def numbers() -> Any:
    """The distributions; inside of vmap those for all samples."""
    return distributions() if not in_vmap() else for_samples() or distributions()


def for_samples() -> Any:
    """Inside of vmap, what draws for all samples at once; otherwise None."""
    if not in_vmap():
        return None
    from leafgrad.func import randomness

    return randomness.for_samples(distributions())


# -- the state --------------------------------------------------------------------------------------------------------


@declared()
def manual_seed(seed: Any) -> Generator:
    """manual_seed(seed): start the default generator anew."""
    generator: Generator = numbers().manual_seed(int(seed))
    return generator


@declared()
def seed() -> int:
    """seed(): start the default generator anew with a number from the operating system, which is returned."""
    return int(numbers().seed())


@declared()
def initial_seed() -> int:
    """initial_seed(): the number with which the default generator was started."""
    return int(numbers().initial_seed())


@declared()
def get_rng_state() -> Tensor:
    """get_rng_state(): the state of the default generator, a tensor of bytes."""
    return numbers().get_rng_state()


@declared()
def set_rng_state(new_state: Tensor) -> None:
    """set_rng_state(new_state): go on from a state that get_rng_state() returned."""
    numbers().set_rng_state(new_state)


def checked(name: str, generator: Any) -> Generator | None:
    """The argument `generator`."""
    if generator is not None and not isinstance(generator, numbers().Generator):
        raise TypeError(f"{name}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator


# -- new tensors ------------------------------------------------------------------------------------------------------


def drawn_tensor(
    name: str,
    distribution: str,
    generator: Any,
    shape: tuple[int, ...],
    parameters: tuple[Any, ...],
    dtype: Any,
    out: Any,
    options: dict[str, Any],
    default: Callable[[], _dtypes.dtype] = _dtypes.get_default_dtype,
) -> Any:
    """A new tensor, or `out`, with random numbers."""
    source = checked(name, generator)
    if out is not None:
        resize_output(out, shape)

    def make(kind: _dtypes.dtype) -> Any:
        if out is not None and not out.array.flags.c_contiguous:
            return drawn(np.empty_like(out.array), distribution, source, *parameters)
        return getattr(numbers(), distribution)(source, shape, kind.np, *parameters)

    return create(name, make, dtype, out, options, default)


@declared()
def rand(
    *args: Sizes,
    size: Shape | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """rand(*size, generator=None, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): uniform numbers in [0, 1)."""
    shape = sizes("rand", args, size)
    if generator is None and (kind := asked_dtype(dtype, out, options)) is not None:  # the usual case
        return wrap(fresh("rand", numbers().uniform, None, shape, kind))
    return drawn_tensor("rand", "uniform", generator, shape, (), dtype, out, options)


@declared()
def randn(
    *args: Sizes,
    size: Shape | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """randn(*size, generator=None, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): numbers of the standard normal distribution."""
    shape = sizes("randn", args, size)
    if generator is None and (kind := asked_dtype(dtype, out, options)) is not None:  # the usual case
        return wrap(fresh("randn", numbers().normal, None, shape, kind))
    return drawn_tensor("randn", "normal", generator, shape, (), dtype, out, options)


@declared(
    "(high: int, size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, "
    "dtype: Dtype | None = None, **options: Options) -> Tensor",
    "(low: int, high: int, size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, "
    "dtype: Dtype | None = None, **options: Options) -> Tensor",
)
def randint(
    *args: Any,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """randint(low=0, high, size, *, generator=None, out=None, dtype=torch.int64, layout=strided, device=None,
    requires_grad=False, pin_memory=False): integers in [low, high)."""
    if len(args) == 3 and not options:  # as most calls are: nothing to be put in order
        return _integers(*args, generator, out, dtype, options)
    named: dict[str, Any] = {name: options.pop(name) for name in ("low", "high", "size") if name in options}
    if len(args) + len(named) == 2 and "low" not in named:
        named["low"] = 0
    names = [name for name in ("low", "high", "size") if name not in named]
    given: dict[str, Any] = dict(zip(names, args))
    given.update(named)
    if len(args) > len(names) or len(given) < 3:
        missing = [f'"{name}"' for name in ("high", "size") if name not in given]
        raise TypeError(f"randint() missing {len(missing)} required positional argument: {', '.join(missing)}")
    return _integers(given["low"], given["high"], given["size"], generator, out, dtype, options)


def _integers(low: Any, high: Any, size: Any, generator: Any, out: Any, dtype: Any, options: dict[str, Any]) -> Any:
    if low.__class__ is not int or high.__class__ is not int:
        for name, value in (("low", low), ("high", high)):
            if not is_int(value):
                raise TypeError(f"randint(): argument '{name}' must be int, not {type(value).__name__}")
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    shape, bounds = sizes("randint", (size,)), (int(low), int(high))
    if generator is None and dtype is None and asked_dtype(None, out, options) is not None:  # the usual case
        return wrap(fresh("randint", numbers().random_, None, shape, _dtypes.int64.np, *bounds))
    return drawn_tensor("randint", "random_", generator, shape, bounds, dtype, out, options, _int64)


def _int64() -> _dtypes.dtype:
    return _dtypes.int64


@declared()
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """randperm(n, *, generator=None, out=None, dtype=torch.int64, layout=strided, device=None, requires_grad=False,
    pin_memory=False): 0, 1, ..., n - 1 in random order."""
    if not is_int(n):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    source, count = checked("randperm", generator), int(n)
    if dtype is None and asked_dtype(None, out, options) is not None:  # the usual case
        return wrap(fresh("randperm", numbers().randperm, source, count, _dtypes.int64.np))
    make = lambda kind: numbers().randperm(source, count, kind.np)
    return create("randperm", make, dtype, out, options, _int64)


@declared()
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    memory_format: MemoryFormat | None = None,
    **options: Options,
) -> Tensor:
    """rand_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
    memory_format=preserve_format): uniform numbers in [0, 1) in the shape of input."""
    make = lambda array: drawn(for_each_sample(array), "uniform", checked("rand_like", generator))
    return like("rand_like", input, dtype, memory_format, options, make)


@declared()
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    memory_format: MemoryFormat | None = None,
    **options: Options,
) -> Tensor:
    """randn_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
    memory_format=preserve_format): numbers of the standard normal distribution in the shape of input."""
    make = lambda array: drawn(for_each_sample(array), "normal", checked("randn_like", generator))
    return like("randn_like", input, dtype, memory_format, options, make)


@declared(
    "(input: Tensor, high: int, *, generator: Generator | None = None, dtype: Dtype | None = None, "
    "memory_format: MemoryFormat | None = None, **options: Options) -> Tensor",
    "(input: Tensor, low: int, high: int, *, generator: Generator | None = None, dtype: Dtype | None = None, "
    "memory_format: MemoryFormat | None = None, **options: Options) -> Tensor",
)
def randint_like(
    input: Tensor,
    low: int = 0,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    memory_format: MemoryFormat | None = None,
    **options: Options,
) -> Tensor:
    """randint_like(input, low=0, high, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
    memory_format=preserve_format): integers in [low, high) in the shape and dtype of input."""
    first, last = (0, low) if high is None else (low, high)
    for name, value in (("low", first), ("high", last)):
        if not is_int(value):
            raise TypeError(f"randint_like(): argument '{name}' must be int, not {type(value).__name__}")
    make = lambda array: drawn(
        for_each_sample(array), "random_", checked("randint_like", generator), int(first), int(last)
    )
    return like("randint_like", input, dtype, memory_format, options, make)


def for_each_sample(array: Any) -> Any:
    """New memory, inside of vmap as much of it as different numbers for each sample need."""
    samples = for_samples() if in_vmap() else None
    return array if samples is None else samples.repeated(array)


def drawn(array: Any, distribution: str, generator: Generator | None, *parameters: Any) -> Any:
    """Fill `array` with random numbers, in the order in which its elements lie in memory, and return it."""
    draw = getattr(numbers(), distribution)
    if array.flags.carray:  # as most are: they are filled directly
        return draw(generator, array.shape, array.dtype, *parameters, out=array)
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    in_memory_order = array.transpose(order)
    options: dict[str, Any] = {}
    if distribution == "normal":
        options["contiguous"] = bool(array.flags.c_contiguous)
    in_memory_order[...] = draw(generator, in_memory_order.shape, array.dtype, *parameters, **options)
    return array


def run_samples(t: Any) -> list[Any]:
    return [S(t(3, 4)), S(t(20))]


def seeded(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same program, from the same state of the generator."""

    def program(torch: Any, *args: Any) -> Any:
        torch.manual_seed(0)
        return run(torch, *args)

    return program


def random_kernel(
    name: str,
    inputs: tuple[str, ...],
    options: tuple[str, ...],
    doc: str,
    kernel: Any,
    run: Callable[..., Any],
    **more: Any,
) -> Any:
    """An operation that draws: what its kernel computes depends on the state of a generator, and has no gradient. `run`
    is a program that uses it, for the tests."""
    body: dict[str, Any] = {
        "__doc__": f"{name}({', '.join((*inputs, *options))}): {doc}",
        "inputs": inputs,
        "options": options,
        "public_name": "",
        "differentiable": False,
        "samples": ValuesOnly("draws", run_samples, seeded(run)),
        "kernel": staticmethod(kernel),
        "call": staticmethod(lambda *args: None),
    }
    return op(Operation(name, Family, {**body, **more}))


def _filled(fill: Callable[..., Any], args: tuple[Any, ...], out: Any) -> Any:
    fill(out, *args)
    return out


random_fill = random_kernel(
    "random_fill", (), ("fill", "args"), "let fill(out, *args) draw.", _filled,
    lambda torch, x: x.clone().uniform_(), writes_into=True,
)  # fmt: skip


# -- around given tensors ---------------------------------------------------------------------------------------------


def no_gradient_through(
    name: str, inputs: Sequence[str], doc: str, node_name: str, aten: str, samples: ValuesOnly
) -> Any:
    """An operation whose result was drawn at random: it hangs on the graph of its parameters, with gradient zero."""
    body: dict[str, Any] = {
        "__doc__": f"{name}({', '.join(inputs)}, values): {doc}",
        "inputs": tuple(inputs),
        "options": ("values",),
        "node_name": node_name,
        "aten": aten,
        "public_name": "",
        "samples": samples,
        "kernel": staticmethod(lambda *args: args[-1]),
        "call": staticmethod(lambda *args: None),
    }
    for input in inputs:
        body["vjp" if len(inputs) == 1 else f"vjp_{input}"] = staticmethod(zeros_like)
    return op(Operation(name, Family, body))


drawn_normal = no_gradient_through(
    "drawn_normal",
    ("mean", "std"),
    "what `normal` drew.",
    "NormalBackward3",
    "normal",
    ValuesOnly(
        "does not come out the same twice",
        lambda t: [S(t(3, 4), t(4, low=0.1)), S(t(5), 0.5), S(0.5, t(3, low=0.1))],
        lambda torch, mean, std: torch.normal(mean, std, generator=torch.Generator().manual_seed(0)),
    ),
)
drawn_bernoulli = no_gradient_through(
    "drawn_bernoulli",
    ("input",),
    "what `bernoulli` drew.",
    "BernoulliBackward0",
    "bernoulli",
    ValuesOnly(
        "does not come out the same twice",
        lambda t: [S(t(3, 4, low=0.0, high=1.0))],
        lambda torch, x: torch.bernoulli(x, generator=torch.Generator().manual_seed(0)),
    ),
)


@declared(
    "(mean: Tensor, std: Tensor | float = 1.0, *, generator: Generator | None = None, "
    "out: Tensor | None = None) -> Tensor",
    "(mean: float, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor",
    "(mean: float, std: float, size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, "
    "dtype: Dtype | None = None, **options: Options) -> Tensor",
)
def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Shape | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    **options: Options,
) -> Tensor:
    """normal(mean, std=1.0, size=None, *, generator=None, out=None): normally distributed numbers around `mean`, which
    like `std` may be a tensor; if both are numbers, `size` is needed and dtype=, device=, ... are allowed."""
    source = checked("normal", generator)
    if not isinstance(mean, TensorBase) and not isinstance(std, TensorBase):
        if not isinstance(size, (tuple, list)):
            raise TypeError("normal() of two numbers needs the argument 'size', a tuple of ints")
        shape, dtype = sizes("normal", (size,)), options.pop("dtype", None)
        make = lambda kind: numbers().normal(source, shape, kind.np, float(mean), float(std))
        return create("normal", make, dtype, out, options)
    if size is not None or options:
        raise TypeError(f"normal() with a tensor does not take {'size' if size is not None else next(iter(options))!r}")
    parameters = tuple([p if isinstance(p, TensorBase) else None for p in (mean, std)])
    values = execute(
        draw_normal.core, tuple([p.array if isinstance(p, TensorBase) else p for p in (mean, std)]), (source,)
    )
    if out is not None:
        return write_out("normal", out, values)
    return bind(drawn_normal.core, parameters, (values,))


def _normal_around(mean: Any, std: Any, source: Generator | None) -> Any:
    """Standard normal numbers times `std` plus `mean`, rounded twice, as PyTorch does it."""
    arrays = (mean, std)
    kind = (mean if hasattr(mean, "dtype") else std).dtype
    if not hasattr(std, "dtype"):
        return numbers().normal(source, arrays[0].shape, kind, 0.0, float(std)) + arrays[0]
    if arrays[1].dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if np.any(arrays[1] < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    try:
        shape = np.broadcast_shapes(np.shape(arrays[0]), arrays[1].shape)
    except ValueError as error:
        raise errors.broadcast_mismatch("normal", arrays) from error
    values = numbers().normal(source, shape, kind)
    return (values * arrays[1]).astype(kind) + np.asarray(arrays[0], kind)


@declared()
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """bernoulli(input, p=None, *, generator=None, out=None): ones with the probabilities that input gives (or all with
    probability p), zeros elsewhere."""
    if not isinstance(input, TensorBase):
        raise errors.not_a_tensor("bernoulli", "input", 1, input)
    source = checked("bernoulli", generator)
    array = execute(draw_bernoulli.core, (input.array,), (p, source))
    if out is not None:
        return write_out("bernoulli", out, array)
    return bind(drawn_bernoulli.core, (input,), (array,))


def _drawn_bernoulli(input: Any, p: Any, source: Generator | None) -> Any:
    if p is None and input.flags.c_contiguous:  # the result needs no order of its own
        return numbers().bernoulli_t(source, input)
    array = for_each_sample(np.empty(input.shape, _dtypes.from_numpy_dtype(input.dtype).np))
    _draw_bernoulli(array, input if p is None else p, source)
    return array


def _draw_bernoulli(array: Any, p: Any, source: Generator | None) -> None:
    if not hasattr(p, "ndim"):
        drawn(array, "bernoulli_p", source, float(p))
        return
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    probabilities = np.broadcast_to(p, array.shape).transpose(order)
    array.transpose(order)[...] = numbers().bernoulli_t(source, probabilities, array.dtype)


draw_bernoulli = random_kernel(
    "draw_bernoulli", ("input",), ("p", "source"), "ones and zeros.", _drawn_bernoulli,
    lambda torch, x: torch.bernoulli(x.abs() / 4), aten="bernoulli",
)  # fmt: skip
draw_normal = random_kernel(
    "draw_normal", ("mean", "std"), ("source",), "normal numbers.", _normal_around,
    lambda torch, x: torch.normal(x, x.detach().abs()), aten="normal",
)  # fmt: skip


def _indices(input: Any, num_samples: int, replacement: bool, source: Generator | None) -> Any:
    return numbers().multinomial(source, input, num_samples, replacement)


draw_indices = random_kernel(
    "draw_indices", ("input",), ("num_samples", "replacement", "source"), "indices by probability.", _indices,
    lambda torch, x: torch.multinomial(x.detach().abs() + 1, 2), aten="multinomial",
)  # fmt: skip


@declared()
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """multinomial(input, num_samples, replacement=False, *, generator=None, out=None): indices drawn with
    probabilities in proportion to each row of input."""
    if not isinstance(input, TensorBase):
        raise errors.not_a_tensor("multinomial", "input", 1, input)
    source = checked("multinomial", generator)
    indices = execute(draw_indices.core, (input.array,), (num_samples, replacement, source))
    return write_out("multinomial", out, indices) if out is not None else wrap(indices)


# -- in place ---------------------------------------------------------------------------------------------------------


def _in_place(self: Any, fill: Callable[..., Any], *args: Any) -> Any:
    """Let `fill(array, *args)` write random numbers into this tensor, which loses its history."""
    if is_free(self):  # the usual case: there is none
        execute(random_fill.core, (), (fill, args), self.array)
        count_change(self)
        return self
    check_writable(self)
    check_no_overlap(self.array)
    if (samples := for_samples()) is not None:
        samples.check_in_place(self.array)
    execute(random_fill.core, (), (fill, args), self.array)
    count_change(self)
    rebase(self, None)
    changed_in_modes(self, None)
    return self


@declared()
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """normal_(mean=0, std=1, *, generator=None): normally distributed numbers."""
    source = checked("normal_", generator)
    return _in_place(self, drawn, "normal", source, float(mean), float(std))


@declared(
    "(self: Tensor, low: float = 0.0, to: float = 1.0, /, *, generator: Generator | None = None) -> Tensor",
    "(self: Tensor, /, *, generator: Generator | None = None, **bounds: float) -> Tensor",
)
def uniform_(self: Tensor, *args: Any, generator: Generator | None = None, **bounds: Any) -> Tensor:
    """uniform_(from=0, to=1, *, generator=None): uniform numbers in [from, to)."""
    low, high = _bounds("uniform_", args, bounds, (0.0, 1.0)) if args or bounds else (0.0, 1.0)
    source = checked("uniform_", generator)
    return _in_place(self, drawn, "uniform", source, float(low), float(high))


@declared(
    "(self: Tensor, to: int | None = None, /, *, generator: Generator | None = None) -> Tensor",
    "(self: Tensor, low: int, to: int | None, /, *, generator: Generator | None = None) -> Tensor",
    "(self: Tensor, /, *, generator: Generator | None = None, **bounds: int | None) -> Tensor",
)
def random_(self: Tensor, *args: Any, generator: Generator | None = None, **bounds: Any) -> Tensor:
    """random_(from=0, to=None, *, generator=None): integers in [from, to), by default all that the dtype holds."""
    if len(args) == 1 and not bounds:
        args = (0, args[0])  # one number is the upper end
    low, high = _bounds("random_", args, bounds, (None, None))
    if low is None and high is not None:
        low = 0
    source = checked("random_", generator)
    return _in_place(self, drawn, "random_", source, low, high)


def _bounds(name: str, args: tuple[Any, ...], bounds: dict[str, Any], defaults: tuple[Any, Any]) -> tuple[Any, Any]:
    """The arguments `from` (a keyword of Python, so no name for a parameter) and `to`."""
    if len(args) > 2:
        raise TypeError(f"{name}() takes at most 2 positional arguments ({len(args)} given)")
    given = dict(zip(("from", "to"), args))
    for key, value in bounds.items():
        if key not in ("from", "to") or key in given:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        given[key] = value
    return given.get("from", defaults[0]), given.get("to", defaults[1])


@declared()
def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """bernoulli_(p=0.5, *, generator=None): ones with probability p, a number or a tensor; zeros elsewhere."""
    source = checked("bernoulli_", generator)
    probability = p.array if isinstance(p, TensorBase) else p
    return _in_place(self, _draw_bernoulli, probability, source)


@declared()
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """exponential_(lambd=1, *, generator=None): numbers of the exponential distribution."""
    source = checked("exponential_", generator)
    return _in_place(self, drawn, "exponential", source, float(lambd))


@declared()
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """cauchy_(median=0, sigma=1, *, generator=None): numbers of the Cauchy distribution."""
    source = checked("cauchy_", generator)
    return _in_place(self, drawn, "cauchy", source, float(median), float(sigma))


@declared()
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """log_normal_(mean=1, std=2, *, generator=None): exp of normally distributed numbers."""
    source = checked("log_normal_", generator)
    return _in_place(self, drawn, "log_normal", source, float(mean), float(std))


@declared()
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """geometric_(p, *, generator=None): how many trials it takes until one of probability p succeeds."""
    source = checked("geometric_", generator)
    return _in_place(self, drawn, "geometric", source, float(p))


METHODS: dict[str, Callable[..., Any]] = {
    "normal_": normal_, "uniform_": uniform_, "random_": random_, "bernoulli_": bernoulli_,
    "exponential_": exponential_, "cauchy_": cauchy_, "log_normal_": log_normal_, "geometric_": geometric_,
    "bernoulli": bernoulli, "multinomial": multinomial,
}  # fmt: skip
