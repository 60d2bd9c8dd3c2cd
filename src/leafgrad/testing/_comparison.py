"""assert_close: two values are equal up to the precision of their dtype, or an error says where they are not."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import SparseArrayBase, TensorBase
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import BOOL, INTEGER, dtype, from_numpy_dtype
from leafgrad._tensor.methods import close_arrays
from leafgrad.ops.creation.from_data import as_tensor
from leafgrad.ops.promotion import cast

# the relative and the absolute tolerance of a floating dtype
TOLERANCES = {
    _dtypes.float16: (1e-3, 1e-5),
    _dtypes.bfloat16: (1.6e-2, 1e-5),
    _dtypes.float32: (1.3e-6, 1e-5),
    _dtypes.float64: (1e-7, 1e-7),
}
OLD_TOLERANCES = {
    _dtypes.float16: (1e-3, 1e-3),
    _dtypes.float32: (1e-4, 1e-5),
    _dtypes.float64: (1e-5, 1e-8),
}
NUMBERS: tuple[type, ...] = (int, float, complex, np.number)


class Options(NamedTuple):
    """What a comparison was asked for."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, *kinds: dtype) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [TOLERANCES.get(kind.to_real(), (0.0, 0.0)) for kind in kinds]
        return max([rtol for rtol, _ in known]), max([atol for _, atol in known])


class Difference(Exception):
    """Two values differ: the message, and where in containers they are."""

    def __init__(self, message: str, place: str = "", error: type[Exception] = AssertionError) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.error = error

    def inside(self, key: Any) -> Difference:
        return Difference(self.message, f"[{key!r}]{self.place}", self.error)

    def text(self) -> str:
        return f"{self.message}\n\nThe failure occurred for item {self.place}" if self.place else self.message


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """assert_close(actual, expected, *, rtol=None, atol=None, equal_nan=False, check_dtype=True, msg=None, ...): raises
    an AssertionError unless |actual - expected| <= atol + rtol * |expected| for tensors, numbers, and what is in
    sequences and mappings. Without tolerances, those of the dtype."""
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    options = Options(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride)
    silence_numpy()
    try:
        compare(actual, expected, options)
    except Difference as found:
        if found.error is not AssertionError:
            raise found.error(found.text()) from None
        text = found.text() if msg is None else msg(found.text()) if callable(msg) else msg
        raise AssertionError(text) from None


def compare(actual: Any, expected: Any, options: Options) -> None:
    """Raise the difference of two values of any kind."""
    if is_sequence(actual) and is_sequence(expected):
        if len(actual) != len(expected):
            raise Difference(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        compare_items(actual, expected, range(len(actual)), options)
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        compare_mappings(actual, expected, options)
    elif actual is None or expected is None:
        if actual is not expected:
            raise Difference(f"None mismatch: {actual} is not {expected}")
    elif isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_):
        if bool(actual) is not bool(expected):
            raise Difference(f"Booleans mismatch: {actual} is not {expected}")
    elif isinstance(actual, NUMBERS) and isinstance(expected, NUMBERS):
        compare_numbers(actual, expected, options)
    else:
        compare_tensors(as_tensors(actual, expected, options), options)


def is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def compare_items(actual: Any, expected: Any, keys: Any, options: Options) -> None:
    for key in keys:
        try:
            compare(actual[key], expected[key], options)
        except Difference as found:
            raise found.inside(key) from None


def compare_mappings(actual: Any, expected: Any, options: Options) -> None:
    missing, further = set(expected) - set(actual), set(actual) - set(expected)
    if missing or further:
        raise Difference(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing)}\n"
            f"Additional keys in the actual mapping: {sorted(further)}"
        )
    try:
        keys = sorted(actual)
    except TypeError:
        keys = list(actual)
    compare_items(actual, expected, keys, options)


# -- numbers -----------------------------------------------------------------------------------------------------------


def compare_numbers(actual: Any, expected: Any, options: Options) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        raise Difference(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    actual, expected = [x.item() if isinstance(x, np.number) else x for x in (actual, expected)]
    rtol, atol = options.tolerances(*[_dtypes.PYTHON_DTYPES[type(x)] for x in (actual, expected)])
    both_nan = options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)
    if both_nan or actual == expected:
        return
    distance = abs(actual - expected)
    if not (math.isfinite(distance) and distance <= atol + rtol * abs(expected)):
        raise Difference(of_numbers(actual, expected, rtol, atol))


def of_numbers(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    distance = abs(actual - expected)
    relative = math.inf if expected == 0 else distance / abs(expected)
    return "\n".join(
        [
            f"Scalars are not {'equal' if rtol == atol == 0 else 'close'}!\n",
            f"Expected {expected} but got {actual}.",
            f"Absolute difference: {distance}{allowed(atol, rtol, atol)}",
            f"Relative difference: {relative}{allowed(rtol, rtol, atol)}",
        ]
    )


def allowed(tolerance: float, rtol: float, atol: float) -> str:
    return "" if rtol == atol == 0 else f" (up to {tolerance} allowed)"


# -- tensors -----------------------------------------------------------------------------------------------------------


def as_tensors(actual: Any, expected: Any, options: Options) -> list[Any]:
    """Tensors of two values that go together: of one class, or of classes of which one is derived from the other."""
    kinds = type(actual), type(expected)
    related = issubclass(kinds[0], kinds[1]) or issubclass(kinds[1], kinds[0])
    refused = f"No comparison pair was able to handle inputs of type {kinds[0]} and {kinds[1]}."
    if not related or (not options.allow_subclasses and kinds[0] is not kinds[1]):
        raise Difference(refused, error=TypeError)
    try:
        return [x if isinstance(x, TensorBase) else as_tensor(x) for x in (actual, expected)]
    except Exception:
        raise Difference(refused, error=TypeError) from None


def compare_tensors(tensors: list[Any], options: Options) -> None:
    actual, expected = tensors

    def attributes(name: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            raise Difference(f"The values for attribute '{name}' do not match: {ours} != {theirs}.")

    attributes("shape", actual.shape, expected.shape)
    if options.check_dtype:
        attributes("dtype", actual.dtype, expected.dtype)
    if options.check_stride:
        attributes("stride()", actual.stride(), expected.stride())
    if options.check_device:
        attributes("device", actual.device, expected.device)
    if options.check_layout:
        attributes("layout", actual.layout, expected.layout)
    if any([isinstance(t.array, SparseArrayBase) for t in tensors]):
        compare_sparse(tensors, options)
        return
    if actual.is_meta or expected.is_meta:
        return  # there is nothing to compare
    a, b = [x.detach().resolve_conj().array for x in (actual, expected)]
    compare_arrays(a, b, options)


def compare_sparse(tensors: list[Any], options: Options) -> None:
    """The parts of sparse tensors; as dense ones if their layouts differ."""
    if tensors[0].layout != tensors[1].layout:
        a, b = [t.detach().to_dense().array for t in tensors]
        compare_arrays(a, b, options)
        return
    ours, theirs = [t.detach().array.coalesce() for t in tensors]
    name = str(ours.layout).removeprefix("torch.sparse_").upper()
    if ours.nnz != theirs.nnz:
        first = f"The number of specified values in sparse {name} tensors does not match"
        raise Difference(f"{first}: {ours.nnz} != {theirs.nnz}")
    parts = PARTS[name]
    for place, (what, a, b) in enumerate(zip(parts, ours.parts(), theirs.parts())):
        exactly = options._replace(rtol=0.0, atol=0.0) if place < len(parts) - 1 else options
        compare_arrays(a, b, exactly, f"Sparse {name} {what}")


PARTS = {
    "COO": ("indices", "values"),
    **dict.fromkeys(("CSR", "BSR"), ("crow_indices", "col_indices", "values")),
    **dict.fromkeys(("CSC", "BSC"), ("ccol_indices", "row_indices", "values")),
}


def compare_arrays(a: Any, b: Any, options: Options, what: str = "Tensor-likes") -> None:
    rtol, atol = options.tolerances(from_numpy_dtype(a.dtype), from_numpy_dtype(b.dtype))
    if a.dtype != b.dtype:
        common = _dtypes.promote_types(from_numpy_dtype(a.dtype), from_numpy_dtype(b.dtype))
        a, b = cast(a, common), cast(b, common)
    close = close_arrays(a, b, rtol, atol, options.equal_nan)
    if not close.all():
        raise Difference(of_arrays(a, b, close, rtol, atol).replace("Tensor-likes", what, 1))


def of_arrays(a: Any, b: Any, close: Any, rtol: float, atol: float) -> str:
    """Where two arrays differ most."""
    if a.ndim == 0:
        values = [x.astype(np.float32) if x.dtype.name == "bfloat16" else x for x in (a, b)]
        return of_numbers(values[0].item(), values[1].item(), rtol, atol)
    kind = from_numpy_dtype(a.dtype)
    if kind.category in (BOOL, INTEGER):
        a, b = a.astype(np.int64), b.astype(np.int64)
    distance = np.where(close, 0, np.abs(a - b))
    parts = [distance, np.abs(b)]
    if distance.dtype.kind == "i":  # a quotient of integers is of the default dtype
        parts = [part.astype(_dtypes.get_default_dtype().np) for part in parts]
    relative = np.where(close, 0, parts[0] / parts[1])
    wrong = close.size - int(np.count_nonzero(close))
    lines = [
        f"Tensor-likes are not {'equal' if rtol == atol == 0 else 'close'}!\n",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
    ]
    found: list[tuple[str, Any, float]] = [("absolute", distance, atol), ("relative", relative, rtol)]
    for name, values, tolerance in found:
        at = first_largest(values)
        place = tuple([int(i) for i in np.unravel_index(at, values.shape)])
        value = values.reshape(-1)[at]
        shown = float(value) if values.dtype.kind not in "biu" else int(value)
        lines.append(f"Greatest {name} difference: {shown} at index {place}{allowed(tolerance, rtol, atol)}")
    return "\n".join(lines)


def first_largest(values: Any) -> int:
    """Where the largest number is; nan counts as larger than any."""
    wide = values.astype(np.float64) if values.dtype.kind not in "biu" else values
    return int(np.argmax(wide))


# -- the old name ------------------------------------------------------------------------------------------------------


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""): assert_close by its old name,
    with wider tolerances, whatever the dtypes."""
    errors.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
    )
    actual = actual if isinstance(actual, TensorBase) else as_tensor(actual)
    if not isinstance(expected, TensorBase):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        known = [OLD_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (actual, expected)]
        rtol, atol = max([r for r, _ in known]), max([a for _, a in known])
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
