"""Calls of operations that are refused, for the tests with and without PyTorch: tests/data/make_refused_calls.py stores
the exception and the first line of what PyTorch says to each."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

STORED = Path(__file__).resolve().parents[1] / "data" / "refused_calls.json"

# `x` has ten elements, `w` four, `z` is three by six complex numbers.
SHORT_TIME = """
    stft(x, 4) stft(x.long(), 4, return_complex=True) stft(x[None, None], 4, center=False, return_complex=True)
    stft(x, 0, return_complex=True) stft(x, 12, center=False, return_complex=True)
    stft(x, 4, 0, return_complex=True) stft(x, 4, 2, 5, return_complex=True)
    stft(x, 4, 2, 3, w, return_complex=True) stft(x, 4, 2, 4, w + 0j, onesided=True, return_complex=True)
    stft(x, 24, return_complex=True) stft(x, 4, align_to_window=True, return_complex=True)
    stft(x.half(), 4, 2, 4, w.half(), return_complex=True) stft(x, 4, pad_mode='none', return_complex=True)
    istft(z.real, 4) istft(z, 4, 5, window=w) istft(z, 4, 2, 5, w) istft(z, 4, 2, 4, torch.zeros(4))
    istft(z, 4, 2, 4, torch.ones(3)) istft(z, 4, 2, 4, w, onesided=False) istft(z, 4, 2, 4, w, return_complex=True)
    istft(z, 4, 2, 4, w + 0j) istft(z[0], 4) istft(z[None, None], 4) istft(z[:, :0], 4)
    istft(z, 4, 2, 4, torch.hann_window(4), False) istft(z, 4, 2, 4, w, length=0)
"""

WINDOWS = """
    signal.windows.hann(-1) signal.windows.bartlett(5, dtype=torch.int64) signal.windows.kaiser(4, dtype=torch.half)
    signal.windows.cosine(4, layout=torch.sparse_coo) signal.windows.exponential(5, tau=-1)
    signal.windows.exponential(5, center=2.0) signal.windows.gaussian(5, std=0) signal.windows.kaiser(5, beta=-1)
    signal.windows.general_cosine(5, a=3) signal.windows.general_cosine(5, a=[]) signal.windows.blackman(-2)
"""
MASKED = """
    masked.sum(x, (0, 0)) masked.sum(x, 1) masked.sum(x, mask=torch.ones(1, 10)) masked.mean(x.long())
    masked.mean(x, dtype=torch.int64) masked.amax(x > 0, mask=x > 0) masked.amin(x + 0j, mask=x > 0)
    masked.median(x.long(), mask=x < 0) masked.var(x, 0, True, correction=1) cumprod(x > 0, 0, dtype=torch.bool)
"""

# `a` is a matrix of four by three, `s` a symmetric one of four by four, `t` has three elements.
REFLECTIONS = """
    ormqr(a, t, a.T) ormqr(a[0], t, a) ormqr(a, t, a[0]) ormqr(a[None], t[None], a)
    ormqr(a[None], t[None], a[None].expand(2, 4, 3)) ormqr(a, t.double(), a) ormqr(a, t, a.double())
    ormqr(a, t, a, left=False) ormqr(a, t[:2], a) ormqr(a.half(), t.half(), a.half()) ormqr(a[None], t, a[None])
"""
LOW_RANK = """
    linalg.ldl_factor(s[:3]) linalg.ldl_factor(s[0]) linalg.ldl_factor(s.long()) linalg.ldl_factor(s.half())
    linalg.ldl_solve(s, x[:4].int(), a.double()) linalg.ldl_solve(s, x[:2].int(), a)
    linalg.ldl_solve(s, x[:4].int(), a[:3]) linalg.ldl_solve(s, x[:4], a) linalg.ldl_solve(s, x[:4].int(), a[0])
    linalg.ldl_solve(s[:2], x[:2].int(), a) linalg.ldl_solve(s.requires_grad_(), x[:4].int(), a).sum().backward()
    linalg.ldl_factor(s.requires_grad_()).LD.sum().backward() pca_lowrank(a, 9) pca_lowrank(a, -1)
    pca_lowrank(a, niter=-1) pca_lowrank(a.long()) svd_lowrank(a.long()) svd_lowrank(a[0])
"""

# `i` is 4, 2, 4.
BINS = """
    segment_reduce(x, 'most', lengths=i) segment_reduce(x, 'sum') segment_reduce(x, 'sum', lengths=i[:2])
    segment_reduce(x, 'sum', lengths=i, axis=1) segment_reduce(x, 'sum', lengths=i.float())
    segment_reduce(x.long(), 'sum', lengths=i) segment_reduce(x, 'sum', lengths=-i) segment_reduce(x, 'sum', indices=i)
    segment_reduce(a, 'sum', lengths=i, axis=1) segment_reduce(x + 0j, 'sum', lengths=i)
    histogramdd(a, [2]) histogramdd(a, [2, 0, 1]) histogramdd(x, [2]) histogramdd(a, 2, range=[0, 1])
    histogramdd(a.long(), 2) histogramdd(a, 2, weight=t) histogramdd(a, 2, weight=w.double()) histogramdd(a, [x])
    histogramdd(a, 2, range=[1, 0, 0, 1, 0, 1]) histogramdd(a, [x.double()] * 3) histogramdd(a, [a] * 3)
"""

OTHERS = """
    hash_tensor(x + 0j) hash_tensor(x, mode=1) hash_tensor(x[:0]) hash_tensor(x[:0], 0)
    native_group_norm(a, None, None, 4, 3, 2, 1, 0.1) eig(a) symeig(a) lstsq(a, a) solve(a, a) matrix_rank(a)
    Tensor.eig(a) Tensor.solve(a, a)
"""

SHARED_MEMORY = """
    add(x[:4], 1, out=x[1:5]) exp(x[:4], out=x[1:5]) mul(s, s.T, out=s.T) where(s > 1, s, s.T, out=s)
    gather(x, 0, i, out=x[:3]) gather(i, 0, i[1:] // 4, out=i[:2]) index_select(x, 0, i, out=x[:3])
    index_select(a, 0, i[1:2].repeat(2), out=t.expand(2, 3)) take(x, i, out=x[:3]) masked_select(x, x > 0, out=x)
    kthvalue(x, 5, out=(x[0], torch.empty((), dtype=torch.int64))) topk(x, 2, out=(x[:2], i[:2]))
    cat([x[:4], x[:4]], out=x[:8]) cat([x[:4], w], out=x[2:]) stack([x[:4], x[:4]], out=x[:8].view(2, 4))
    kthvalue(x, 5, out=(t[0], torch.empty(())))
    addcmul(x[:4], w, w, out=x[1:5]) pow(x[:4], 2, out=x[1:5]) logical_not(x[:4], out=x[1:5])
"""
CHUNKS = """
    _chunk_cat([a, x], -1, 3) _chunk_cat([a, x], 1, 3) _chunk_cat([a[None], a], 1, 3) _chunk_cat([], 0, 3)
    _chunk_cat([x[:0], x], 0, 1) _chunk_cat([a], 5, 1) _chunk_cat([a, a.double()], 0, 1) _chunk_cat([a], 0, 0)
"""
MARGINS = """
    nn.functional.multi_margin_loss(a, w) nn.functional.multi_margin_loss(a, w.int())
    nn.functional.multi_margin_loss(a, w.long(), weight=w) nn.functional.multi_margin_loss(a, w, weight=w)
    nn.functional.multi_margin_loss(a, w * 9, weight=t) nn.functional.multi_margin_loss(a, w.long(), weight=t.double())
    nn.functional.multi_margin_loss(t, i[0] - 4, weight=w) nn.functional.multilabel_margin_loss(a, a.int())
"""
COPIES = """
    narrow_copy(a, 0, 0, -1) narrow_copy(a, 0, 1, 5) narrow_copy(a, -3, 0, 0) lu(s, out=s) lu(s, out=(s,))
    lu(s, get_infos=True, out=(s, i)) nanmean(x, out=i[0]) index_reduce(x, 0, i, t, 'prod', out=i + 0)
    scatter_reduce(x, 0, i, t, 'sum', out=i + 0) nn.functional.avg_pool2d(a[None], 2, out=i)
"""
MASKS_OF_ATTENTION = """
    nn.functional.scaled_dot_product_attention(a, a, a, s.double())
    nn.functional.scaled_dot_product_attention(a, a, a, s.half())
    nn.functional.scaled_dot_product_attention(a, a, a, s.int())
    nn.functional.scaled_dot_product_attention(a, a, a, s.byte())
    nn.functional.scaled_dot_product_attention(a, a, a, s + 0j)
    nn.functional.scaled_dot_product_attention(a.half(), a.half(), a.half(), s.double())
"""
ALL = (
    SHORT_TIME, WINDOWS, MASKED, REFLECTIONS, LOW_RANK, BINS, OTHERS, SHARED_MEMORY, CHUNKS, MARGINS, COPIES,
    MASKS_OF_ATTENTION,
)  # fmt: skip


def calls() -> list[str]:
    """Each of them as an expression."""
    found = []
    for text in ALL:
        words, depth = "", 0
        for letter in " ".join(text.split()) + " ":
            depth += (letter in "([{") - (letter in ")]}")
            if letter == " " and not depth and words.endswith(")"):
                found.append("torch." + words.strip())
                words = ""
            else:
                words += letter
    return found


def said(torch: Any, call: str) -> str:
    """The exception and its first line, or that there was none."""
    known = {
        "torch": torch,
        "x": torch.ones(10),
        "w": torch.ones(4),
        "z": torch.ones(3, 6) + 0j,
        "a": torch.ones(4, 3),
        "s": torch.ones(4, 4) + torch.eye(4),
        "t": torch.ones(3),
        "i": torch.tensor([4, 2, 4]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, known)
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "nothing"


def stored() -> dict[str, str]:
    known: dict[str, str] = json.loads(STORED.read_text(encoding="utf-8"))
    return known
