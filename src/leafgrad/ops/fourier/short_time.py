"""stft and istft: the transforms of overlapping pieces of a signal, each times a window, and the signal of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import is_meta, wrap
from leafgrad._core.views import bind_view
from leafgrad._dtypes import FLOAT, from_numpy_dtype, type_name
from leafgrad.ops.conv.padding import constant_pad_nd, pad_with_own
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.fourier.transforms import factor_of, fft_c2c, fft_c2r, fft_r2c
from leafgrad.ops.index.slices import write_slice
from leafgrad.ops.pointwise.complex import view_as_complex, view_as_real
from leafgrad.ops.reduce.common import is_half
from leafgrad.ops.registry import composite, renamed
from leafgrad.ops.samples import S
from leafgrad.ops.shape.windows import unfold, unfold_backward
from leafgrad.ops.signature import Tensor

NO_HALF = {"half precision": "PyTorch has no transforms of it on CPUs either"}
NO_WINDOW = "A window was not provided. A rectangular window will be applied"
NO_WINDOW_END = (
    "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


written = renamed(write_slice, write_slice.core, "CopySlices")  # in PyTorch, the window is copied in place


class Call:
    """The arguments of a call, as PyTorch's messages repeat them."""

    def __init__(self, name: str, input: Any, n_fft: int, hop_length: Any, win_length: Any, window: Any) -> None:
        self.name = name
        self.input = input
        self.n_fft = n_fft
        self.hop_length: int = n_fft // 4 if hop_length is None else hop_length
        self.win_length: int = n_fft if win_length is None else win_length
        self.window = window
        self.rest: dict[str, Any] = {}

    def refused(self, why: str) -> RuntimeError:
        shown = {"n_fft": self.n_fft, "hop_length": self.hop_length, "win_length": self.win_length}
        window = "None" if self.window is None else f"{type_name(self.window.dtype)}{{{list(self.window.array.shape)}}}"
        rest = {name: value if value is None else int(value) for name, value in self.rest.items()}
        said = ", ".join([f"{name}={value}" for name, value in {**shown, "window": window, **rest}.items()])
        input = f"{type_name(self.input.dtype)}{list(self.input.array.shape)}"
        return errors.mistake(RuntimeError, f"{self.name}({input}, {said}) {why}")

    def sides(self) -> tuple[int, int]:
        """How much longer the pieces are than the window, which stands in the middle of them."""
        left = (self.n_fft - self.win_length) // 2
        return left, self.n_fft - self.win_length - left

    def has_complex(self) -> bool:
        return any([t is not None and t.array.dtype.kind == "c" for t in (self.input, self.window)])


# -- forward ----------------------------------------------------------------------------------------------------------


def check_signal(call: Call, given: bool | None) -> None:
    """What stft takes; `given` is `return_complex` as the user has it."""
    if given is None and not call.has_complex():
        first = (
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
        raise errors.mistake(RuntimeError, first)
    if given is False:
        errors.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )
    x, n_fft = call.input.array, call.n_fft
    if from_numpy_dtype(x.dtype).category < FLOAT:
        raise call.refused(": expected a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        raise call.refused(": expected a 1D or 2D tensor")
    if not 0 < n_fft <= x.shape[-1]:
        raise call.refused(f": expected 0 < n_fft < {x.shape[-1]}, but got n_fft={n_fft}")
    if call.hop_length <= 0:
        raise call.refused(f": expected hop_length > 0, but got hop_length={call.hop_length}")
    if not 0 < call.win_length <= n_fft:
        raise call.refused(f": expected 0 < win_length <= n_fft, but got win_length={call.win_length}")
    if call.window is not None and call.window.array.shape != (call.win_length,):
        raise call.refused(
            f": expected a 1D window tensor of size equal to win_length={call.win_length}, but got window with size "
            f"{list(call.window.array.shape)}"
        )


def centred(input: Any, pad: int, mode: str) -> Any:
    """The signal with `pad` elements more at both ends, so that pieces have their middle where they begin without."""
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise errors.mistake(NotImplementedError, f"Unrecognised padding mode {mode}")
    ndim = input.array.ndim
    input = input.view((*[1] * (3 - ndim), *input.array.shape))
    both = (pad, pad)
    input = constant_pad_nd.function(input, both, 0) if mode == "constant" else pad_with_own.function(input, both, mode)
    return input.view(input.array.shape[-ndim:] if ndim else ())


def placed_window(call: Call) -> Any:
    """The window in the middle of a piece; None if there is nothing to multiply with."""
    if call.window is None:
        errors.warn(
            f"{NO_WINDOW},which is known to cause spectral leakage. Other windows such as torch.hann_window or "
            f"torch.hamming_window are recommended to reduce spectral leakage.{NO_WINDOW_END}"
        )
    if call.win_length == call.n_fft:
        return call.window
    like = call.input if call.window is None else call.window
    window = wrap(np.ones(call.win_length, like.array.dtype)) if call.window is None else like
    left = call.sides()[0]
    zeros = wrap(np.zeros(call.n_fft, like.array.dtype))
    return bind(written, (zeros, window), ((slice(left, left + call.win_length),),))


def _signals(t: Any) -> list[Any]:
    signal: Any = lambda *shape: t(*shape, dtype="float64")
    return [
        S(signal(9), 4, window=signal(4), return_complex=True),
        S(signal(2, 9), 4, 3, 3, signal(3), normalized=True, onesided=False, return_complex=True),
        S(signal(9), 5, 2, 2, signal(2), False, align_to_window=True, return_complex=True),
        S(t(9, dtype="complex128"), 4, 2, 4, signal(4), True, "constant"),
    ]


@composite(
    _signals,
    exempt={**NO_HALF, "observed bits": "on tensors the gradient of a window is added up in another order"},
    autocast="float32",
    in_python=("function", "method"),
)
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect',
    normalized=False, onesided=None, return_complex=None, align_to_window=None): the Fourier transforms of pieces of
    n_fft data points, which begin hop_length apart, times a window: frequencies by times."""
    if center and align_to_window is not None:
        raise errors.mistake(RuntimeError, "stft align_to_window should only be set when center = false")
    if window is None:
        errors.warn_once(
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. "
            "Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral "
            "leakage.To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, "
            "device=<device>)`."
        )
    signal = centred(input, n_fft // 2, pad_mode) if center else input
    call = Call("stft", signal, n_fft, hop_length, win_length, window)
    call.rest = {
        "normalized": normalized, "onesided": onesided, "return_complex": call.has_complex() or bool(return_complex),
        "align_to_window": align_to_window,
    }  # fmt: skip
    check_signal(call, return_complex)
    single = signal.array.ndim == 1
    if single:
        signal = signal.unsqueeze(0)
    if align_to_window and sum(call.sides()):
        signal = constant_pad_nd.function(signal, call.sides(), 0)
    factors = placed_window(call)
    pieces = bind_view(unfold.named["AsStridedBackward0"], unfold, signal, (1, n_fft, call.hop_length))
    if factors is not None:
        pieces = pieces * factors
    out = spectra(pieces, factor_of("ortho" if normalized else "backward", True, n_fft), onesided)
    out.transpose_(1, 2)
    if single:
        out.squeeze_(0)
    return view_as_real.function(out) if return_complex is False else out


def spectra(pieces: Any, factor: float, onesided: bool | None) -> Any:
    kind = from_numpy_dtype(pieces.array.dtype)
    if is_half(kind.np):
        raise errors.mistake(RuntimeError, f"MKL FFT doesn't support tensors of type: {kind.alias}")
    if not kind.is_complex:
        return fft_r2c.record(pieces, (2,), factor, onesided is not False)
    if onesided:
        raise complex_onesided()
    return fft_c2c.record(pieces, (2,), factor, True)


def complex_onesided() -> RuntimeError:
    return errors.mistake(RuntimeError, "Cannot have onesided output if window or input is complex")


# -- back -------------------------------------------------------------------------------------------------------------


def check_spectra(call: Call, onesided: bool | None, return_complex: bool) -> None:
    """What istft takes."""
    x, n_fft = call.input.array, call.n_fft
    if x.dtype.kind != "c":
        first = "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        raise errors.mistake(RuntimeError, first)
    if not x.size:
        raise call.refused(": input tensor cannot be empty.")
    if x.ndim not in (2, 3):
        if x.ndim < 2:
            wrap_dim(-3, x.ndim + 1)  # PyTorch counts a last dimension of real and imaginary parts
        raise call.refused(f": expected a tensor with 3 or 4 dimensions, but got {x.ndim + 1}")
    given = x.shape[-2]
    both = call.window is not None and call.window.array.dtype.kind == "c"
    half = given != n_fft if onesided is None else onesided
    if half and given != n_fft // 2 + 1:
        raise call.refused(
            ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "
            f"onesided=True, but got {given}"
        )
    if not half and given != n_fft:
        raise call.refused(
            ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "
            f"onesided=False, but got {given}"
        )
    if not 0 < call.hop_length <= call.win_length:
        raise call.refused(": expected 0 < hop_length <= win_length")
    if not 0 < call.win_length <= n_fft:
        raise call.refused(": expected 0 < win_length <= n_fft")
    if call.window is not None and call.window.array.shape != (call.win_length,):
        raise call.refused(": Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex and half:
        raise complex_onesided()
    if both and not return_complex:
        raise errors.mistake(RuntimeError, "Complex windows are incompatible with return_complex=False")


def own_window(call: Call) -> Any:
    """The window in the middle of a piece, ones if there is none."""
    if call.window is None:
        errors.warn(
            f"{NO_WINDOW}.Please provide the same window used by stft to make the inversion lossless.{NO_WINDOW_END}"
        )
        window = wrap(np.ones(call.win_length, call.input.array.real.dtype))
    else:
        window = call.window
    return constant_pad_nd.function(window, call.sides(), 0) if call.win_length != call.n_fft else window


def _spectra(t: Any) -> list[Any]:
    spectrum: Any = lambda *shape: t(*shape, dtype="complex128")
    window: Any = lambda n: t(n, dtype="float64", low=0.5, high=2)
    return [
        S(spectrum(3, 4), 4, window=window(4)),
        S(spectrum(2, 3, 4), 5, 2, 3, window(3), length=6, normalized=True),
        S(spectrum(4, 3), 4, 2, 4, window(4), False, onesided=False, return_complex=True),
        S(spectrum(1, 4, 3), 4, 2, window=window(4), length=5),
        S(spectrum(4, 3), 4, 2, window=window(4), onesided=False),
    ]


@composite(_spectra, exempt=NO_HALF, in_python=("method",))
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
    length=None, return_complex=False): the inverse of stft: pieces are added up where they overlap, and divided by the
    sum of the squared windows there."""
    call = Call("istft", input, n_fft, hop_length, win_length, window)
    call.rest = {
        "center": center, "normalized": normalized, "onesided": onesided, "length": length,
        "return_complex": return_complex,
    }  # fmt: skip
    check_spectra(call, onesided, return_complex)
    factors = own_window(call)
    hop, frames = call.hop_length, input.array.shape[-1]
    pieces = signals(input, n_fft, normalized, return_complex) * factors.view((1, 1, n_fft))
    total = n_fft + hop * (frames - 1)
    y = unfold_backward.function(pieces, (pieces.array.shape[0], total), 1, n_fft, hop)
    squares = factors.pow(2).expand(1, frames, n_fft)
    envelope = unfold_backward.function(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - start
    count = max(min(end, total) - start, 0)
    y, envelope = y.narrow(1, start, count), envelope.narrow(1, start, count)
    check_envelope(call, envelope.array)
    y = y / envelope
    if input.array.ndim == 2:
        y = y.squeeze(0)
    if end <= total:
        return y
    errors.warn(
        "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
        "Please check your center and hop_length settings."
    )
    return constant_pad_nd.function(y, (0, end - total), 0)


def check_envelope(call: Call, envelope: Any) -> None:
    """Is there something to divide by everywhere?"""
    if is_meta(envelope):
        return
    while envelope.__class__ is not np.ndarray:  # of many samples
        envelope = envelope.value
    if not envelope.size:
        first = "min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
        raise errors.mistake(RuntimeError, f"{first}the 'dim' argument.")
    if np.abs(envelope).min() < 1e-11:
        raise call.refused("window overlap add min: 1\n[ CPUBoolType{} ]")


def signals(input: Any, n_fft: int, normalized: bool, return_complex: bool) -> Any:
    """The pieces of which these are the transforms: batch by times by data points."""
    x = view_as_real.function(input.resolve_conj())
    x = x.unsqueeze(0) if input.array.ndim == 2 else x
    x = view_as_complex.function(x.transpose(1, 2))
    factor = factor_of("ortho" if normalized else "backward", False, n_fft)
    if return_complex:
        return fft_c2c.record(x, (2,), factor, False)
    if x.array.shape[-1] == n_fft:
        x = x[..., : n_fft // 2 + 1]
    return fft_c2r.record(x, (2,), factor, n_fft)
