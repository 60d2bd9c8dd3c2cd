"""Random tensors. The numbers come from `distributions`, which draws PyTorch's; here they become tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.inplace import count_change, is_free
from leafgrad._core.modes import changed_in_modes
from leafgrad._core.overrides import UNCHANGED, function_overridden, modes_of_all_threads, plain_tensors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.ops.arguments import checked, declared_and_checked, matched
from leafgrad.ops.creation.factories import asked_dtype, create, like, named, sizes
from leafgrad.ops.creation.fresh import fresh, zeros_like
from leafgrad.ops.inplace import check_writable, rebase
from leafgrad.ops.out import check_no_overlap, resize_output, write_out
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.random.drawing import (
    Drawing,
    distributions,
    drawn,
    for_each_sample,
    for_samples,
    in_memory_order,
    numbers,
    program,
    random_fill,
)  # fmt: skip
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import (
    Declaration,
    Generator,
    LikeOptions,
    OutOptions,
    Shape,
    Sizes,
    Tensor,
    by_name,
    declared,
)

A = Any  # an array, or a tensor under create_graph


# -- new tensors ------------------------------------------------------------------------------------------------------


def draw_or_fill(
    name: str,
    distribution: str,
    generator: Any,
    shape: tuple[int, ...],
    options: dict[str, Any],
    parameters: tuple[Any, ...] = (),
    default: Callable[[], _dtypes.dtype] = _dtypes.get_default_dtype,
) -> Any:
    """A new tensor, or `out`, with random numbers."""
    out = options.get("out")
    if isinstance(out, TensorBase):
        resize_output(out, shape)

    def make(dtype: Any) -> Any:
        if out is not None and not out.array.flags.c_contiguous:
            return drawn(np.empty_like(out.array), distribution, generator, *parameters)
        return getattr(numbers(), distribution)(generator, shape, dtype, *parameters)

    return create(name, options, make, default=default, form=(shape,))


def check_generator(name: str, generator: Any) -> None:
    if generator is not None and not isinstance(generator, numbers().Generator):
        raise TypeError(f"{name}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")


def of_size(name: str, distribution: str, what: str) -> Any:
    def function(
        *args: Sizes, size: Shape | None = None, generator: Generator | None = None, **options: OutOptions
    ) -> Tensor:
        if modes_of_all_threads:
            taken = function_overridden(name, args, {"size": size, "generator": generator, **options})
            if taken is not UNCHANGED:
                return taken
        shape = sizes(name, args, size)
        if generator is None and (dtype := asked_dtype(options)) is not None:  # the usual case
            return wrap(fresh(name, getattr(numbers(), distribution), None, shape, dtype))
        check_generator(name, generator)
        return draw_or_fill(name, distribution, generator, shape, options)

    return named(function, name, f"{name}(*size, generator=None, **options): {what}.")


rand = of_size("rand", "uniform", "uniform numbers in [0, 1)")
randn = of_size("randn", "normal", "numbers of the standard normal distribution")


@declared(
    "(high: int, size: Shape, *, generator: Generator | None = None, **options: OutOptions) -> Tensor",
    "(low: int, high: int, size: Shape, *, generator: Generator | None = None, **options: OutOptions) -> Tensor",
)
def randint(*args: Any, **options: OutOptions) -> Tensor:
    """randint(low=0, high, size, *, generator=None, **options): integers in [low, high), of int64 if nothing else is
    asked for."""
    if modes_of_all_threads and (taken := function_overridden("randint", args, options)) is not UNCHANGED:
        return taken
    if not options and 2 <= len(args) <= 3:
        low, high, size = args if len(args) == 3 else (0, *args)
        if low.__class__ is high.__class__ is int and size.__class__ is tuple:  # the usual case
            shape = sizes("randint", (size,))
            return wrap(fresh("randint", numbers().random_, None, shape, _dtypes.int64.np, low, high))
    given = matched(randint, args, options)
    shape, source, bounds = given.pop("size"), given.pop("generator"), (given.pop("low", 0), given.pop("high"))
    return draw_or_fill("randint", "random_", source, sizes("randint", (shape,)), given, bounds, lambda: _dtypes.int64)


@declared_and_checked
def randperm(n: int, *, generator: Generator | None = None, **options: OutOptions) -> Tensor:
    """randperm(n, *, generator=None, **options): 0, 1, ..., n - 1 in random order, of int64 if nothing else is asked
    for."""
    if not options:  # the usual case
        return wrap(fresh("randperm", numbers().randperm, generator, n))
    return create("randperm", options, numbers().randperm, generator, n, default=lambda: _dtypes.int64, form=((n,),))


def drawn_like(name: str, input: Any, options: dict[str, Any], distribution: str, *args: Any) -> Any:
    """Random numbers in the shape of a tensor."""

    def fill(array: Any) -> Any:
        return drawn(for_each_sample(array), distribution, *args)

    return like(name, input, options, lambda shape, dtype: fill(np.empty(shape, dtype)), fill)


def of_shape_of(name: str, distribution: str, what: str) -> Any:
    def function(input: Tensor, *, generator: Generator | None = None, **options: LikeOptions) -> Tensor:
        if input.__class__ not in plain_tensors or modes_of_all_threads:
            taken = function_overridden(name, (input,), {"generator": generator, **options}, input)
            if taken is not UNCHANGED:
                return taken
        check_generator(name, generator)
        return drawn_like(name, input, options, distribution, generator)

    return named(function, name, f"{name}(input, *, generator=None, **options): {what} in the shape of input.")


rand_like = of_shape_of("rand_like", "uniform", "uniform numbers in [0, 1)")
randn_like = of_shape_of("randn_like", "normal", "numbers of the standard normal distribution")


@declared(
    "(input: Tensor, high: int, *, generator: Generator | None = None, **options: LikeOptions) -> Tensor",
    "(input: Tensor, low: int, high: int, *, generator: Generator | None = None, **options: LikeOptions) -> Tensor",
)
def randint_like(*args: Any, **options: LikeOptions) -> Tensor:
    """randint_like(input, low=0, high, *, generator=None, **options): integers in [low, high) in the shape and dtype of
    input."""
    taken = function_overridden("randint_like", args, options, *args)
    if taken is not UNCHANGED:
        return taken
    given = matched(randint_like, args, options)
    input, source, bounds = given.pop("input"), given.pop("generator"), (given.pop("low", 0), given.pop("high"))
    return drawn_like("randint_like", input, given, "random_", source, *bounds)


# -- around given tensors ---------------------------------------------------------------------------------------------
# Results are recorded as computed from the tensors with their parameters, with the gradient zero.


@op
class draw_normal(Drawing):
    """draw_normal(mean, std, source): standard normal numbers times `std` plus `mean`, rounded twice, as PyTorch does
    it."""

    inputs = ("mean", "std")
    options = ("source",)
    differentiable = True
    node_name = "NormalBackward3"
    aten = "normal"
    vjp_mean = vjp_std = zeros_like
    samples = program(
        lambda torch, mean, std: torch.normal(mean, std),
        lambda t: [S(t(3, 4), t(4, low=0.1)), S(t(5), 0.5), S(0.5, t(3, low=0.1))],
    )

    @staticmethod
    def kernel(mean: A, std: A, source: Generator | None) -> A:
        kind = (mean if hasattr(mean, "dtype") else std).dtype
        if not hasattr(std, "dtype"):
            return numbers(mean).normal(source, mean.shape, kind, 0.0, float(std)) + mean
        if std.dtype.kind == "c":
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if np.any(std < 0):
            raise RuntimeError("normal expects all elements of std >= 0.0")
        try:
            shape = np.broadcast_shapes(np.shape(mean), std.shape)
        except ValueError as error:
            raise errors.broadcast_mismatch("normal", (mean, std)) from error
        values = numbers(mean, std).normal(source, shape, kind)
        return (values * std).astype(kind) + (mean.astype(kind) if hasattr(mean, "dtype") else kind.type(mean))


@declared(
    "(mean: Tensor, std: Tensor | float = 1.0, *, generator: Generator | None = None, "
    "out: Tensor | None = None) -> Tensor",
    "(mean: float, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor",
    "(mean: float, std: float, size: Shape, *, generator: Generator | None = None, **options: OutOptions) -> Tensor",
)
def normal(*args: Any, **options: Any) -> Tensor:
    """normal(mean, std=1.0, size=None, *, generator=None, out=None): normally distributed numbers around `mean`, which
    like `std` may be a tensor; if both are numbers, `size` is needed and dtype=, device=, ... are allowed."""
    usual = (
        not options and len(args) == 2 and isinstance(args[0], TensorBase) and isinstance(args[1], (TensorBase, float))
    )
    given = dict(mean=args[0], std=args[1], generator=None, out=None) if usual else matched(normal, args, options)
    mean, std, source = given.pop("mean"), given.pop("std"), given.pop("generator")
    if "size" in given:
        shape = sizes("normal", (given.pop("size"),))
        return draw_or_fill("normal", "normal", source, shape, given, (mean, std))
    tensors = tuple([p if isinstance(p, TensorBase) else None for p in (mean, std)])
    arrays = [p.array if isinstance(p, TensorBase) else p for p in (mean, std)]
    if given["out"] is not None:
        return write_out("normal", given["out"], execute(draw_normal.core, arrays, (source,)))
    return bind(draw_normal.core, tensors, (source,), arrays)


@op
class draw_bernoulli(Drawing):
    """draw_bernoulli(input, p, source): ones and zeros."""

    options = ("p", "source")
    differentiable = True
    node_name = "BernoulliBackward0"
    aten = "bernoulli"
    vjp = zeros_like
    samples = program(lambda torch, x: torch.bernoulli(x), lambda t: [S(t(3, 4, low=0.0, high=1.0))])

    @staticmethod
    def kernel(input: A, p: Any, source: Generator | None) -> A:
        if p is None and input.flags.c_contiguous:  # the result needs no order of its own
            return numbers().bernoulli_t(source, input)
        numbers(input)  # inside of vmap: may they be drawn?
        array = for_each_sample(np.empty(input.shape, _dtypes.from_numpy_dtype(input.dtype).np))
        fill_with_bernoulli(array, input if p is None else p, source)
        return array


def fill_with_bernoulli(array: Any, p: Any, source: Generator | None) -> None:
    if not hasattr(p, "ndim"):
        drawn(array, "bernoulli_p", source, float(p))
        return
    p, draw = np.broadcast_to(p, array.shape), numbers(p)
    if (samples := for_samples()) is not None and (whole := samples.whole(array)) is not None:
        array, p, draw = whole, samples.as_whole(p), distributions()
    in_memory_order(array)[...] = draw.bernoulli_t(source, in_memory_order(p, array), array.dtype)


@declared_and_checked
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """bernoulli(input, p=None, *, generator=None, out=None): ones with the probabilities that input gives (or all with
    probability p), zeros elsewhere."""
    if out is not None:
        return write_out("bernoulli", out, execute(draw_bernoulli.core, (input.array,), (p, generator)))
    return bind(draw_bernoulli.core, (input,), (p, generator))


@op
class draw_indices(Drawing):
    """draw_indices(input, num_samples, replacement, source): indices by probability."""

    options = ("num_samples", "replacement", "source")
    aten = "multinomial"
    samples = program(lambda torch, x: torch.multinomial(x.detach().abs() + 1, 2))

    def meta(input: A, num_samples: int, replacement: bool, source: Generator | None) -> Any:
        return np.broadcast_to(np.int64(0), (*input.shape[:-1], num_samples))

    @staticmethod
    def kernel(input: A, num_samples: int, replacement: bool, source: Generator | None) -> A:
        return numbers().multinomial(source, input, num_samples, replacement)


@declared_and_checked
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
    if out is not None and out.array.dtype != np.int64:
        alias = _dtypes.from_numpy_dtype(out.array.dtype).alias
        raise RuntimeError(f"multinomial expects Long tensor out, got: {alias}")
    indices = execute(draw_indices.core, (input.array,), (num_samples, replacement, generator))
    return write_out("multinomial", out, indices) if out is not None else wrap(indices)


# -- in place ---------------------------------------------------------------------------------------------------------


def fill_in_place(self: Any, fill: Callable[..., Any], *args: Any) -> Any:
    """Let `fill(array, *args)` write random numbers into this tensor, which loses its history."""
    has_history = not is_free(self)
    if has_history:
        check_writable(self)
        check_no_overlap(self.array)
        if (samples := for_samples()) is not None:
            samples.check_in_place(self.array, args)
    execute(random_fill.core, (), (fill, args), self.array)
    count_change(self)
    if has_history:
        rebase(self, None)
        changed_in_modes(self, None)
    return self


def in_place(name: str, distribution: str, parameters: str, what: str) -> Any:
    """The method that fills a tensor with numbers of a distribution, whose `parameters` are floats."""

    def method(self: Tensor, *args: Any, generator: Generator | None = None) -> Tensor:
        return fill_in_place(self, drawn, distribution, generator, *args)

    method.__doc__ = f"{name}({parameters.replace('_', '')}, *, generator=None): {what}."
    declared_as = parameters.replace("=", ": float = ") if "=" in parameters else f"{parameters}: float"
    form = f"(self: Tensor, {declared_as}, *, generator: Generator | None = None) -> Tensor"
    return checked(name, method, Declaration(method, (form,), is_method=True))


@declared(
    "(self: Tensor, to: int | None = None, *, generator: Generator | None = None) -> Tensor",
    "(self: Tensor, from_: int, to: int | None, *, generator: Generator | None = None) -> Tensor",
)
def random_(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """random_(from=0, to=None, *, generator=None): integers in [from, to), by default all that the dtype holds."""
    if not options and len(args) == 1 and args[0].__class__ is int:  # the usual case
        return fill_in_place(self, drawn, "random_", None, 0, args[0])
    given = matched(random_, args, options)
    low = given.get("from_", None if given["to"] is None else 0)
    return fill_in_place(self, drawn, "random_", given["generator"], low, given["to"])


@declared_and_checked
def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """bernoulli_(p=0.5, *, generator=None): ones with probability p, a number or a tensor; zeros elsewhere."""
    return fill_in_place(self, fill_with_bernoulli, p.array if isinstance(p, TensorBase) else p, generator)


METHODS: dict[str, Callable[..., Any]] = {
    "bernoulli": bernoulli, "bernoulli_": bernoulli_, "multinomial": multinomial, "random_": random_,
}  # fmt: skip
for _name, _parameters, _what in [
    ("normal_", "mean=0.0, std=1.0", "normally distributed numbers"),
    ("uniform_", "from_=0.0, to=1.0", "uniform numbers in [from, to)"),
    ("exponential_", "lambd=1.0", "numbers of the exponential distribution"),
    ("cauchy_", "median=0.0, sigma=1.0", "numbers of the Cauchy distribution"),
    ("log_normal_", "mean=1.0, std=2.0", "exp of normally distributed numbers"),
    ("geometric_", "p", "how many trials it takes until one of probability p succeeds"),
]:
    METHODS[_name] = in_place(_name, _name[:-1], _parameters, _what)


FUNCTIONS = by_name(
    bernoulli,
    multinomial,
    overridable_function(normal),
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
