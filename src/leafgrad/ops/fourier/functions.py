"""torch.fft: transforms along one dimension or several, forward and back, of real and complex numbers; frequencies, and
the order in which they lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._device import names_meta
from leafgrad._dtypes import FLOAT, from_numpy_dtype, get_default_dtype
from leafgrad._dtypes import dtype as Dtype
from leafgrad.ops.conv.padding import constant_pad_nd
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.fourier.transforms import by_stride, factor_of, fft_c2c, fft_c2r, fft_r2c
from leafgrad.ops.out import CASTS, SameKind
from leafgrad.ops.pointwise.complex import conj_physical
from leafgrad.ops.pointwise.convert import conj, to_dtype
from leafgrad.ops.reduce.common import is_half
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.arrange import roll
from leafgrad.ops.signature import Device, Dim, DimOrDims, Layout, Shape, Tensor

NO_HALF = {"half precision": "PyTorch has no transforms of it on CPUs either"}

# -- arguments --------------------------------------------------------------------------------------------------------


def floats(t: Any) -> Any:
    """Integers become floats."""
    kind = from_numpy_dtype(t.array.dtype)
    if is_half(kind.np):
        raise errors.mistake(RuntimeError, f"Unsupported dtype {kind.alias}")
    return to_dtype.function(t, get_default_dtype()) if kind.category < FLOAT else t


def complexes(t: Any) -> Any:
    t = floats(t)
    wide = np.result_type(t.array.dtype, np.complex64)
    return to_dtype.function(t, from_numpy_dtype(wide))


def reals(name: str, t: Any, what: str = "a real") -> Any:
    if t.array.dtype.kind == "c":
        first = f"{name} expects {what} input tensor, but got {from_numpy_dtype(t.array.dtype).alias}"
        raise errors.mistake(RuntimeError, first)
    return floats(t)


def check_norm(norm: str | None) -> str:
    if norm not in (None, "backward", "forward", "ortho"):
        raise errors.mistake(RuntimeError, f'Invalid normalization mode: "{norm}"')
    return norm or "backward"


def check_size(size: int) -> int:
    if size < 1:
        raise errors.mistake(RuntimeError, f"Invalid number of data points ({size}) specified")
    return size


def one_dim(t: Any, dim: int) -> int:
    if not t.array.ndim:
        raise errors.mistake(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, t.array.ndim)


def resized(t: Any, dims: Sequence[int], sizes: Sequence[int]) -> Any:
    """Cut to these sizes, or zeros put behind."""
    shape = t.array.shape
    if all([shape[dim] == size for dim, size in zip(dims, sizes, strict=True)]):
        return t
    pad = [0] * (2 * t.array.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        own = t.array.shape[dim]
        if size < own:
            t = t.narrow(dim, 0, size)
        pad[2 * (t.array.ndim - 1 - dim) + 1] = max(size - own, 0)
    return constant_pad_nd.function(t, tuple(pad)) if any(pad) else t


def dims_and_sizes(t: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """The dimensions of a transform along several, and how many data points there are in each."""
    ndim, shape = t.array.ndim, t.array.shape
    given = (dim,) if isinstance(dim, int) else dim
    wanted = (s,) if isinstance(s, int) else s
    if given and not ndim:
        raise errors.mistake(IndexError, f"Dimension specified as {given[0]} but tensor has no dimensions")
    if given is not None:
        dims = tuple([wrap_dim(d, ndim) for d in given])
        if len(set(dims)) != len(dims):
            raise errors.mistake(RuntimeError, "FFT dims must be unique")
        if wanted is not None and len(wanted) != len(dims):
            first = "When given, dim and shape arguments must have the same length"
            raise errors.mistake(RuntimeError, first)
    elif wanted is not None:
        if len(wanted) > ndim:
            first = f"Got shape with {len(wanted)} values but input tensor only has {ndim} dimensions."
            raise errors.mistake(RuntimeError, first)
        dims = tuple(range(ndim - len(wanted), ndim))
    else:
        dims = tuple(range(ndim))
    sizes = [shape[d] if wanted is None or wanted[i] == -1 else wanted[i] for i, d in enumerate(dims)]
    return dims, sizes


# -- along one dimension ----------------------------------------------------------------------------------------------


def along_one(t: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    t = floats(t)
    dim = one_dim(t, dim)
    size = check_size(t.array.shape[dim] if n is None else n)
    factor = factor_of(check_norm(norm), forward, size)
    t = resized(t, (dim,), (size,))
    if t.array.dtype.kind == "c":
        return fft_c2c.record(t, (dim,), factor, forward)
    out = fft_r2c.record(t, (dim,), factor, False)
    return out if forward else conj.record(out)


def half_of(name: str, t: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """The first half of the transform of real numbers."""
    t = reals(name, t)
    dim = one_dim(t, dim)
    size = check_size(t.array.shape[dim] if n is None else n)
    out = fft_r2c.record(resized(t, (dim,), (size,)), (dim,), factor_of(check_norm(norm), forward, size), True)
    return out if forward else conj.record(out)


def from_half(t: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """Real numbers of the first half of their transform."""
    t = complexes(t)
    dim = one_dim(t, dim)
    size = check_size(2 * (t.array.shape[dim] - 1) if n is None else n)
    t = resized(t, (dim,), (size // 2 + 1,))
    t = conj.record(t) if forward else t
    return fft_c2r.record(t, (dim,), factor_of(check_norm(norm), forward, size), size)


def _lines(t: Any) -> list[Any]:
    return [
        *[S(t(4)), S(t(2, 5), norm="ortho"), S(t(3, 4), 3, 0, "forward"), S(t(4), n=6), S(t(2, 3, 2), dim=1)],
    ]


def _real_lines(t: Any) -> list[Any]:
    shapes: list[tuple[int, ...]] = [(4,), (2, 5), (3, 4), (4,)]
    one, two, three, four = [t(*shape, dtype="float64") for shape in shapes]
    return [S(one), S(two, norm="ortho"), S(three, 3, 0, "forward"), S(four, n=6)]


def output(name: str) -> SameKind:
    """What is said of an `out` of another kind than the result of a transform."""
    kind = "floating point" if name.startswith(("irfft", "hfft")) else "complex"
    return SameKind(f"{name} expects a {kind} output tensor, but got {{given.alias}}")


@composite(_lines, places=("fft.fft",), public_name="", out=output("fft"), exempt=NO_HALF, autocast="float32")
def fft_fft(input: Tensor, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Tensor:
    """fft.fft(input, n=None, dim=-1, norm=None): the sums over x of input[x] exp(-2 pi i k x / n)."""
    return along_one(input, n, dim, norm, True)


@composite(_lines, places=("fft.ifft",), public_name="", out=output("ifft"), exempt=NO_HALF, autocast="float32")
def fft_ifft(input: Tensor, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Tensor:
    """fft.ifft(input, n=None, dim=-1, norm=None): the inverse of fft."""
    return along_one(input, n, dim, norm, False)


@composite(_real_lines, places=("fft.rfft",), public_name="", out=output("rfft"), exempt=NO_HALF, autocast="float32")
def fft_rfft(input: Tensor, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Tensor:
    """fft.rfft(input, n=None, dim=-1, norm=None): the first half of the fft of real numbers."""
    return half_of("rfft", input, n, dim, norm, True)


@composite(_lines, places=("fft.irfft",), public_name="", out=output("irfft"), exempt=NO_HALF, autocast="float32")
def fft_irfft(input: Tensor, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Tensor:
    """fft.irfft(input, n=None, dim=-1, norm=None): the inverse of rfft; n is the number of real numbers."""
    return from_half(input, n, dim, norm, False)


@composite(_lines, places=("fft.hfft",), public_name="", out=output("hfft"), exempt=NO_HALF, autocast="float32")
def fft_hfft(input: Tensor, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Tensor:
    """fft.hfft(input, n=None, dim=-1, norm=None): the fft of a Hermitian signal, of which the first half is given: real
    numbers, n of them."""
    return from_half(input, n, dim, norm, True)


@composite(_real_lines, places=("fft.ihfft",), public_name="", out=output("ihfft"), exempt=NO_HALF, autocast="float32")
def fft_ihfft(input: Tensor, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Tensor:
    """fft.ihfft(input, n=None, dim=-1, norm=None): the inverse of hfft."""
    return half_of("ihfft", input, n, dim, norm, False)


# -- along several dimensions -----------------------------------------------------------------------------------------


def along_many(t: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    dims, sizes = dims_and_sizes(t, s, dim)
    factor = factor_of(check_norm(norm), forward, math.prod([check_size(size) for size in sizes]))
    x = t.array
    real = x.dtype.kind != "c" and x.__class__ is np.ndarray and x.flags.c_contiguous
    if forward and dims and real and not t.needs_grad:
        t = resized(floats(t), dims, sizes)  # PyTorch makes complex numbers of them: twice the work
        return fft_r2c.record(t, tuple(by_stride(t.array, dims)), factor, False)
    return fft_c2c.record(resized(complexes(t), dims, sizes), dims, factor, forward)


def some_dims(name: str, t: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    dims, sizes = dims_and_sizes(t, s, dim)
    if not dims:
        raise errors.mistake(RuntimeError, f"{name} must transform at least one axis")
    return dims, sizes


def last_is_given(s: Any) -> bool:
    return s is not None and (s if isinstance(s, int) else s[-1]) != -1


def half_of_many(t: Any, s: Any, dim: Any, norm: str | None) -> Any:
    t = reals("rfftn", t, "a real-valued")
    dims, sizes = some_dims("rfftn", t, s, dim)
    factor = factor_of(check_norm(norm), True, math.prod([check_size(size) for size in sizes]))
    return fft_r2c.record(resized(t, dims, sizes), dims, factor, True)


def from_half_of_many(t: Any, s: Any, dim: Any, norm: str | None) -> Any:
    t = complexes(t)
    dims, sizes = some_dims("irfftn", t, s, dim)
    size = sizes[-1] if last_is_given(s) else 2 * (sizes[-1] - 1)
    count = math.prod([check_size(n) for n in (*sizes[:-1], size)])
    t = resized(t, dims, [*sizes[:-1], size // 2 + 1])
    return fft_c2r.record(t, dims, factor_of(check_norm(norm), False, count), size)


def hermitian(t: Any, s: Any, dim: Any, norm: str | None) -> Any:
    t = complexes(t)
    dims, sizes = some_dims("hfftn", t, s, dim)
    size = sizes[-1] if last_is_given(s) else 2 * (sizes[-1] - 1)
    mode = check_norm(norm)
    t = resized(t, dims, [*[check_size(n) for n in sizes[:-1]], check_size(size) // 2 + 1])
    if len(dims) > 1:
        t = fft_c2c.record(t, dims[:-1], factor_of(mode, True, math.prod(sizes[:-1])), True)
    return fft_c2r.record(conj.record(t), dims[-1:], factor_of(mode, True, size), size)


def inverse_hermitian(t: Any, s: Any, dim: Any, norm: str | None) -> Any:
    t = reals("ihfftn", t)
    dims, sizes = some_dims("ihfftn", t, s, dim)
    mode = check_norm(norm)
    t = resized(t, dims, [check_size(n) for n in sizes])
    half = fft_r2c.record(t, dims[-1:], factor_of(mode, False, sizes[-1]), True)
    if len(dims) == 1:
        return conj.record(half)
    factor = factor_of(mode, False, math.prod(sizes[:-1]))
    return fft_c2c.record(conj_physical(half), dims[:-1], factor, False)


def _grids(t: Any) -> list[Any]:
    return [S(t(3, 4)), S(t(2, 3, 4), norm="ortho"), S(t(3, 4), (2, 6)), S(t(3, 2, 2), dim=(0, 2), norm="forward")]


def _real_grids(t: Any) -> list[Any]:
    return _grids(lambda *shape: t(*shape, dtype="float64"))


def _of_many(name: str, transform: Any, what: str, samples: Any, *rest: Any) -> None:
    """A transform along any dimensions, and along the last two."""

    def along_any(
        input: Tensor, s: Shape | int | None = None, dim: DimOrDims | None = None, norm: str | None = None
    ) -> Tensor:
        return transform(input, s, dim, norm, *rest)

    def along_two(
        input: Tensor, s: Shape | int | None = None, dim: DimOrDims = (-2, -1), norm: str | None = None
    ) -> Tensor:
        return transform(input, s, dim, norm, *rest)

    for function, suffix, default in ((along_any, "n", "None"), (along_two, "2", "(-2, -1)")):
        function.__name__ = function.__qualname__ = f"fft_{name}{suffix}"
        which = "some dimensions, or all" if suffix == "n" else "two dimensions"
        function.__doc__ = f"fft.{name}{suffix}(input, s=None, dim={default}, norm=None): {what} along {which}."
        autocast = None if name in ("hfft", "ihfft") else "float32"  # as PyTorch, which left these two out
        composite(
            samples,
            places=(f"fft.{name}{suffix}",),
            public_name="",
            out=output("fftn" if name == "ifft" else f"{name}n"),
            exempt=NO_HALF,
            autocast=autocast,
        )(function)


_of_many("fft", along_many, "the Fourier transform", _grids, True)
_of_many("ifft", along_many, "the inverse of fft", _grids, False)
_of_many("rfft", half_of_many, "the first half of the Fourier transform of real numbers", _real_grids)
_of_many("irfft", from_half_of_many, "the inverse of rfft", _grids)
_of_many("hfft", hermitian, "the Fourier transform of a Hermitian signal, of which half is given,", _grids)
_of_many("ihfft", inverse_hermitian, "the inverse of hfft", _real_grids)


# -- frequencies ------------------------------------------------------------------------------------------------------


def _frequencies(
    name: str, make: Any, n: int, d: float, dtype: Dtype | None, layout: Any, device: Any, requires_grad: bool
) -> Any:
    kind = dtype or get_default_dtype()
    if kind.category < FLOAT:
        raise errors.mistake(RuntimeError, f"{name} requires a floating point or complex dtype")
    steps = fresh(name, make, n)
    made = wrap(steps.astype(kind.np) * np.asarray(1.0 / (n * d) if n else 1.0, kind.np))
    if names_meta(device):
        made, device = made.to(device), None
    for given, known in ((layout, made.layout), (device, made.device)):
        if given is not None and str(given) not in (str(known), getattr(known, "type", "")):
            raise errors.mistake(RuntimeError, f"{name}: there are tensors of {known} only, not of {given}")
    return made.requires_grad_() if requires_grad else made


def _frequency_samples(name: str) -> Any:
    return ValuesOnly(
        "takes no tensor",
        lambda t: [S(t(1))],
        lambda torch, x: [x * getattr(torch.fft, name)(n, 0.5, dtype=x.dtype) for n in (4, 5)],
    )


def _whole(n: int) -> Any:
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])


@composite(_frequency_samples("fftfreq"), places=("fft.fftfreq",), public_name="", method=False, out=CASTS)
def fft_fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """fft.fftfreq(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False): the frequencies of an fft of
    n data points that are d apart."""
    return _frequencies("fftfreq", _whole, n, d, dtype, layout, device, requires_grad)


@composite(_frequency_samples("rfftfreq"), places=("fft.rfftfreq",), public_name="", method=False, out=CASTS)
def fft_rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """fft.rfftfreq(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False): the frequencies of an rfft
    of n data points that are d apart."""
    half = lambda n: np.arange(n // 2 + 1)
    return _frequencies("rfftfreq", half, n, d, dtype, layout, device, requires_grad)


def _shifted(t: Any, dim: Any, by: Any) -> Any:
    dims = tuple(range(t.array.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    dims = tuple([wrap_dim(d, t.array.ndim) for d in dims])
    return roll.function(t, tuple([by(t.array.shape[d]) for d in dims]), dims) if dims else t.clone()


@composite(lambda t: [S(t(5)), S(t(2, 3)), S(t(4, 3), 1)], places=("fft.fftshift",), public_name="")
def fft_fftshift(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """fft.fftshift(input, dim=None): an fft with the frequency zero in the middle."""
    return _shifted(input, dim, lambda n: n // 2)


@composite(lambda t: [S(t(5)), S(t(2, 3)), S(t(4, 3), 1)], places=("fft.ifftshift",), public_name="")
def fft_ifftshift(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """fft.ifftshift(input, dim=None): the inverse of fftshift."""
    return _shifted(input, dim, lambda n: (n + 1) // 2)
