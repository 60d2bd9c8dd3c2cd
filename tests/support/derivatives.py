"""Comparing leafgrad with an installed PyTorch, derivatives included: the same call on the same numbers, then values,
gradients, and gradients of gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import leafgrad

CLOSE = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-5, "complex64": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0, ties: bool = False) -> Any:
    """Random numbers that every dtype can hold exactly."""
    rng = np.random.default_rng([seed, *shape])
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if dtype == "bool":
        x = rng.integers(0, 2, shape)
    elif kind.kind in "iu":
        x = rng.integers(0 if dtype == "uint8" else -4, 5, shape)
    else:
        x = rng.integers(-3, 4, shape) / 2 if ties else rng.integers(-64, 64, shape) / 32 + 1 / 64
    if kind.kind == "c":
        x = x + 1j * rng.integers(-64, 64, shape) / 32
    return np.asarray(x).astype(kind)


def to_torch(x: Any) -> torch.Tensor:
    if x.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(x.copy())


def to_numpy(t: Any) -> Any:
    if isinstance(t, torch.Tensor):
        t = t.detach().resolve_conj()
        return t.float().numpy().astype(ml_dtypes.bfloat16) if t.dtype == torch.bfloat16 else t.numpy(force=True)
    return t.detach().numpy()


def wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x


def same(ours: Any, theirs: torch.Tensor, tolerance: float, what: object) -> None:
    a, b = to_numpy(ours), to_numpy(theirs)
    assert str(ours.dtype) == str(theirs.dtype), what
    assert a.shape == b.shape, what
    if a.dtype == np.float32:
        tolerance = max(tolerance, 1e-6)  # of integers that became floats
    np.testing.assert_allclose(wide(a), wide(b), rtol=tolerance, atol=tolerance, err_msg=str(what))


def outputs(result: Any) -> list[Any]:
    return [result] if hasattr(result, "requires_grad") else list(result)


def compare(call: Callable[..., Any], *arrays: Any, double: bool = True, transposed: bool = False) -> None:
    """`call(library, *tensors)` with either library: results, gradients, and gradients of gradients."""
    sides: list[tuple[Any, list[Any], list[Any]]] = []
    for lib in (leafgrad, torch):
        tensors = []
        for x in arrays:
            x = np.ascontiguousarray(x.T).T if transposed else x
            t: Any = leafgrad.from_numpy(x.copy(order="K")) if lib is leafgrad else to_torch(x)
            tensors.append(t.requires_grad_() if t.is_floating_point() or t.is_complex() else t)
        sides.append((lib, tensors, outputs(call(lib, *tensors))))
    kind = str(arrays[0].dtype)
    tolerance = max([CLOSE.get(str(x.dtype), 1e-9) for x in arrays])
    what = (kind, [x.shape for x in arrays])
    for ours, theirs in zip(sides[0][2], sides[1][2], strict=True):
        same(ours, theirs, tolerance, what)
        assert ours.requires_grad == theirs.requires_grad, what
    if any(o.requires_grad for o in sides[1][2]):
        precise = all(str(x.dtype) in ("float64", "complex128", "int64") for x in arrays)
        first = [gradients(*side, create_graph=double and precise) for side in sides]
        for ours, theirs in zip(*first, strict=True):
            if ours is not None and theirs is not None:
                same(ours, theirs, tolerance, ("gradient", *what))
            else:
                all_zero(ours, theirs)
        if double and precise and any(t is not None and t.requires_grad for t in first[1]):
            seconds = [gradients(side[0], side[1], found) for side, found in zip(sides, first, strict=True)]
            for ours, theirs in zip(*seconds, strict=True):
                if ours is not None and theirs is not None:
                    same(ours, theirs, 1e-7, ("second", *what))
                else:
                    all_zero(ours, theirs)


def all_zero(*found: Any) -> None:
    """No gradient is as good as one of zeros."""
    for v in found:
        assert v is None or not wide(to_numpy(v)).any()


def gradients(lib: Any, tensors: list[Any], results: list[Any], create_graph: bool = False) -> list[Any]:
    """Gradients of the results, weighted with fixed numbers, with respect to those tensors that have one."""
    results = [r for r in results if r is not None and r.requires_grad]
    weights = []
    for i, r in enumerate(results):
        w = numbers(tuple(r.shape), str(r.dtype).removeprefix("torch."), 7 + i)
        weights.append(leafgrad.from_numpy(w) if lib is leafgrad else to_torch(w))
    wanted = [t for t in tensors if t.requires_grad]
    found: Any = lib.autograd.grad(results, wanted, weights, create_graph=create_graph, allow_unused=True)
    return list(found)


def same_refusal_or(check: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs()
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            check()
        assert first_sentence(caught.value) == first_sentence(error)
    else:
        check()


def first_sentence(error: BaseException) -> str:
    return str(error).split("\n")[0].split(" - got")[0].strip()


# -- errors and warnings ----------------------------------------------------------------------------------------------

LOOSE = ("received an invalid combination", "must be int", "missing 1 required")  # the type is enough for these


def check_error(call: Callable[[Any], Any]) -> None:
    """The same type of error and the same first sentence."""
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(type(theirs.value)) as ours:
        call(leafgrad)
    assert type(ours.value) is type(theirs.value)
    if not any(words in str(theirs.value) for words in LOOSE):
        assert first_sentence(ours.value) == first_sentence(theirs.value)


def check_warning(call: Callable[[Any], Any], filename: str) -> None:
    """The same warning, once, and it points to the file that made the call."""
    texts = []
    for lib in (leafgrad, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(lib)
        assert [w.category for w in caught] == [UserWarning]
        assert lib is torch or caught[0].filename == filename
        texts.append(str(caught[0].message).split(" (Triggered")[0])
    assert texts[0] == texts[1]
