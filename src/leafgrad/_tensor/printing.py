"""Text of a tensor: what ``repr(tensor)`` shows, byte for byte as PyTorch writes it.

The work goes in four steps. An array too large to show whole is first cut down to its edges, so that nothing
below ever looks at an element that is not shown. Every remaining element becomes a piece of text (a *cell*), in one
notation shared by all of them. The cells are then bracketed axis by axis, from the innermost outwards. Last come the
suffixes that hold what the numbers do not tell: size, dtype and the tensor's place in the autograd graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["get_printoptions", "printoptions", "set_printoptions", "tensor_repr"]


_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80, "sci_mode": None},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80, "sci_mode": None},
}
_options = _PROFILES["default"].copy()

# A float array is written in scientific notation once its magnitudes leave this range or spread wider than the ratio.
_SCI_ABOVE = 1e8
_SCI_BELOW = 1e-4
_SCI_RATIO = 1000.0


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed. An option left at None keeps its value, except `sci_mode`.

    Args:
        precision: digits after the decimal point (4 by default).
        threshold: an array with more elements than this is summarised (1000).
        edgeitems: how many elements a summary shows at each end of an axis (3).
        linewidth: characters per line before a row is broken (80).
        profile: a set of values to start from: 'default', 'short' or 'full' (which never summarises). As in PyTorch,
            an unknown name is ignored.
        sci_mode: True or False forces scientific notation on or off, None lets the values decide. As in PyTorch,
            every call sets it, so a call that does not name it goes back to None.
    """
    if profile is not None and profile in _PROFILES:
        _options.update(_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The current options, as keyword arguments for `set_printoptions`."""
    return dict(_options)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """`set_printoptions` for the length of a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_repr(
    array: NDArray[Any],
    *,
    dtype_name: str,
    default_dtype_name: str,
    requires_grad: bool,
    grad_fn_name: str | None,
    class_name: str = "tensor",
    tangent: str | None = None,
) -> str:
    """The repr of a tensor that holds `array`. Names of dtypes come without ``torch.``; the default one and the complex
    one that goes with it are not spelled out. `class_name` is the word before the parenthesis, but a 'Parameter' has a
    header line, then a plain ``tensor(``; `tangent` is the repr of what a dual tensor carries in forward mode."""
    header = ""
    if class_name == "Parameter":
        header, class_name = "Parameter containing:\n", "tensor"
    opening = class_name + "("

    suffixes = []
    # An empty vector is the one empty shape that `[]` describes; and without edge items a summary shows no extents.
    if array.ndim != 1 if array.size == 0 else not _options["edgeitems"]:
        suffixes.append(f"size={array.shape}")
    if dtype_name not in _implied_dtypes(default_dtype_name, empty=array.size == 0):
        suffixes.append(f"dtype=torch.{dtype_name}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")

    return header + _with_suffixes(opening + _contents(array, len(opening)), suffixes, len(opening))


def sparse_repr(
    parts: dict[str, NDArray[Any]],
    *,
    shape: tuple[int, ...],
    nnz: int,
    layout: str,
    dtype_name: str,
    default_dtype_name: str,
    requires_grad: bool,
    grad_fn_name: str | None,
    is_parameter: bool = False,
) -> str:
    """The repr of a sparse tensor: its parts by their names, then what is said of all of it."""
    opening = "tensor("
    texts = []
    for name, array in parts.items():
        before = f"{name}=tensor("
        size = f", size={array.shape}" if array.size == 0 else ""
        texts.append(before + _contents(array, len(opening) + len(before)) + size + ")")
    text = opening + (",\n" + " " * len(opening)).join(texts)
    suffixes = [f"size={shape}", f"nnz={nnz}"]
    if dtype_name not in _implied_dtypes(default_dtype_name, empty=False):
        suffixes.append(f"dtype=torch.{dtype_name}")
    suffixes.append(f"layout={layout}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    header = "Parameter containing:\n" if is_parameter else ""
    return header + _with_suffixes(text, suffixes, len(opening), on_new_line="indices" in parts)


def meta_repr(
    shape: tuple[int, ...],
    *,
    dtype_name: str,
    default_dtype_name: str,
    requires_grad: bool,
    grad_fn_name: str | None,
    class_name: str = "tensor",
) -> str:
    """The repr of a tensor without data: what is known of it."""
    suffixes = ["device='meta'", f"size={shape}"]
    if dtype_name != default_dtype_name:
        suffixes.append(f"dtype=torch.{dtype_name}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(f"{class_name}(...", suffixes, len(class_name) + 1)


def _implied_dtypes(default: str, *, empty: bool) -> tuple[str, ...]:
    """The dtypes that a reader of the numbers would assume anyway. With no numbers to read, only the default is."""
    if empty:
        return (default,)
    return (default, "complex128" if default == "float64" else "complex64", "int64", "bool")


def _python_ready(array: NDArray[Any]) -> NDArray[Any]:
    """`array` in a dtype whose elements convert to Python numbers: the extension floats (bfloat16) become float32."""
    return array if array.dtype.kind in "biufc" else array.astype(np.float32)


def _contents(array: NDArray[Any], indent: int) -> str:
    """The numbers of `array` in brackets, for a text that starts in column `indent`."""
    if array.size == 0:
        return "[]"
    summarised = array.size > _options["threshold"]
    edge = _options["edgeitems"]
    if summarised and array.ndim > 0 and not edge:
        return "[...]"

    cut = [summarised and length > 2 * edge for length in array.shape]
    shown = _python_ready(_edges(array, cut, edge) if any(cut) else array)
    pieces, width = _cells(shown.reshape(-1))

    # Pieces are merged one axis at a time: first cells into rows, then rows into matrices, and so on outwards.
    for axis in reversed(range(shown.ndim)):
        innermost = axis == shown.ndim - 1
        column = indent + axis + 1  # where the items inside this axis's bracket start
        length = shown.shape[axis]
        # The deeper the items nest, the more blank lines set them apart.
        separator = "," + "\n" * (shown.ndim - 1 - axis) + " " * column
        merged = []
        for start in range(0, len(pieces), length):
            items = pieces[start : start + length]
            if cut[axis]:
                items.insert(edge, " ..." if innermost else "...")
            merged.append("[" + (_fill_lines(items, width, column) if innermost else separator.join(items)) + "]")
        pieces = merged
    return pieces[0]


def _edges(array: NDArray[Any], cut: list[bool], edge: int) -> NDArray[Any]:
    """The elements a summary shows: the first and last `edge` along the axes that are `cut`, everything along others.

    All axes are indexed at once, so the copy is as small as the result.
    """
    kept = [
        [*range(edge), *range(length - edge, length)] if is_cut else range(length)
        for length, is_cut in zip(array.shape, cut, strict=True)
    ]
    edges: NDArray[Any] = array[np.ix_(*kept)]
    return edges


def _cells(values: NDArray[Any]) -> tuple[list[str], int]:
    """The text of every element of a flat array, and the width that rows are planned with."""
    if values.dtype.kind == "f":
        texts, width = _float_texts(values)
    elif values.dtype.kind == "c":
        # Real and imaginary parts each choose their own notation. Only the real ones are aligned, and the planned
        # width leaves out the plus sign: both are what PyTorch does.
        reals, real_width = _float_texts(values.real)
        imags, imag_width = _float_texts(values.imag)
        texts = [
            f"{real:>{real_width}}{'' if imag.startswith('-') else '+'}{imag}j"
            for real, imag in zip(reals, imags, strict=True)
        ]
        return texts, real_width + imag_width + 1
    else:
        texts = [str(value) for value in values.tolist()]
        width = max(map(len, texts))
    return [text.rjust(width) for text in texts], width


def _float_texts(values: NDArray[Any]) -> tuple[list[str], int]:
    """The unpadded texts of a flat array of floats, and the width to pad them to."""
    values = values.astype(np.float64)  # exact, and the limits below would overflow a half
    # Zeros and non-finite values say nothing about magnitude. They have no say in the width either, so that a row of
    # short numbers with an `inf` in it comes out unaligned, as in PyTorch.
    counted = np.isfinite(values) & (values != 0)
    magnitudes = np.abs(values[counted])

    integral, scientific = True, False
    if magnitudes.size:
        integral = bool((magnitudes == np.floor(magnitudes)).all())
        if _options["sci_mode"] is not None:
            scientific = _options["sci_mode"]
        else:
            # Python floats, whose quotient overflows to inf without a warning
            low, high = float(magnitudes.min()), float(magnitudes.max())
            scientific = high > _SCI_ABOVE or low < _SCI_BELOW or high / low > _SCI_RATIO

    precision = _options["precision"]
    if scientific:
        texts = [f"{value:.{precision}e}" for value in values.tolist()]
    elif integral:
        # The bare point marks the number as a float; inf and nan need no mark.
        texts = [f"{value:.0f}." if math.isfinite(value) else f"{value}" for value in values.tolist()]
    else:
        texts = [f"{value:.{precision}f}" for value in values.tolist()]
    width = max((len(text) for text, counts in zip(texts, counted.tolist(), strict=True) if counts), default=1)
    return texts, width


def _fill_lines(items: list[str], width: int, column: int) -> str:
    """A row's items joined by commas, on as many lines as the line width asks for, all starting in `column`."""
    separator = ", "
    room = _options["linewidth"] - (column - 1)  # the opening bracket takes its column from the first line's room
    per_line = max(1, math.floor(room / (width + len(separator))))
    lines = [separator.join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return (",\n" + " " * column).join(lines)


def _with_suffixes(text: str, suffixes: list[str], indent: int, on_new_line: bool = False) -> str:
    """`text` closed by its suffixes, each on the current line if it fits and otherwise on a new, indented one."""
    # PyTorch counts two characters more than the last line has; this decides which suffixes still fit.
    used = len(text) - (text.rfind("\n") + 1) + 2
    for suffix in suffixes:
        if on_new_line or used + len(", ") + len(suffix) > _options["linewidth"]:
            on_new_line = False
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(", ") + len(suffix)
    return text + ")"
