"""What PyTorch computes for every sample of every operation, kept in files for tests that run without PyTorch.

`tests/data/make_op_values.py` writes the files, one for each folder of operations. They hold results only: the tensors
of samples and the cotangents come from sample_numbers.py, the same ones everywhere. For each operation and dtype there
is a list with one item for each sample, None if PyTorch refuses the sample in that dtype, or else

    [results, first gradients, second gradients]

First gradients: one for each tensor that can have one, of the results with fixed cotangents; second gradients: the
same for those tensors and then for the cotangents, of the first gradients. None where PyTorch has none to offer.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import leafgrad as lg
from leafgrad._core.tensor import wrap
from leafgrad.ops.samples import ValuesOnly
from op_checks import Array, Case, Entry, assert_close, cases, is_public, random_like, tolerance

FOLDER = Path(__file__).parent.parent / "data" / "op_values"
HINT = "run tests/data/make_op_values.py, with PyTorch installed"

# For which dtypes there are values, and up to which derivative.
ORDERS = {"float64": 2, "complex128": 2, "float32": 1, "int64": 0, "bool": 0}
# What is not public is only called with dtypes that its callers have checked.
INTERNAL = ("float64", "complex128", "float32")

KINDS = ("result", "gradient", "second gradient")

# Multiples of op_checks.tolerance. Second gradients are made of a dozen roundings and more: half the simple tolerance
# was seen here, and other processors round differently.
DIGITS = {"result": 1, "gradient": 1, "second gradient": 2}
# What is divided by singular values, of which the small ones enlarge the rounding errors of the decomposition; up to
# 1.2 times the tolerance was seen, and up to 6 times where several decompositions follow each other.
ILL_CONDITIONED = dict.fromkeys(
    ("linalg_svd", "svd", "linalg_eig", "linalg_eigvals", "linalg_eigh", "norm", "linalg_norm", "linalg_cond"), 8
) | dict.fromkeys(("svd_lowrank", "pca_lowrank"), 16)
# A search goes on until residuals are small, by ways that differ; PyTorch's ends up to 1e-11 away in the vectors.
ILL_CONDITIONED |= dict.fromkeys(("lobpcg", "lobpcg_pairs"), 2**14)
# In PyTorch the gradient of binary_cross_entropy is divided by x * (1 - x) + 1e-12, so its own gradient lacks digits.
LOOSE = {("binary_cross_entropy", "second gradient"): 1e-10}


class Values(NamedTuple):
    """What one sample gives, as far as derivatives go: [results, first gradients, second gradients]."""

    results: list[Array]
    first: list[Array] | None = None
    second: list[Array] | None = None


class Library(NamedTuple):
    """One of the two libraries: its module, arrays in and out, an operation's own function, and `autograd.grad`."""

    module: Any
    tensor: Callable[[Array], Any]
    array: Callable[[Any], Array]
    function: Callable[[Entry], Callable[..., Any]]
    grad: Callable[..., Any]


LEAFGRAD = Library(lg, wrap, lambda t: t.array, lambda entry: entry.function, lg.autograd.grad)


def dtypes_of(entry: Entry) -> tuple[str, ...]:
    return tuple(ORDERS) if is_public(entry) else INTERNAL


def samples_of(entry: Entry, dtype: str) -> list[Case]:
    """All samples, also those that no other test takes."""
    own = entry.samples
    return cases(entry, dtype, samples=own.samples if isinstance(own, ValuesOnly) else own)


def function_of(library: Library, entry: Entry) -> Callable[..., Any]:
    """How a sample is called: by the operation's function, or by a program that uses the operation."""
    program = entry.samples.run if isinstance(entry.samples, ValuesOnly) else None
    return library.function(entry) if program is None else functools.partial(program, library.module)


def computed(library: Library, case: Case, order: int) -> Values:
    """One sample in one of the libraries: results, and gradients up to an order."""
    tensors = [library.tensor(t.array.copy()) for t in case.tensors]
    leaves = [tensors[i].requires_grad_() for i in case.variable()] if order else []
    outputs: list[Any] = []
    collect(case.call(tensors, function_of(library, case.entry)), outputs)
    results = [library.array(t) for t in outputs]
    roots = [t for t in outputs if t.requires_grad]
    if not order or not roots:
        return Values(results)
    given = random_like([library.array(t) for t in roots])
    cotangents = [library.tensor(c).requires_grad_(order > 1) for c in given]
    first = library.grad(roots, leaves, cotangents, create_graph=order > 1, allow_unused=True)
    first_arrays = arrays(library, first, leaves)
    if order == 1:
        return Values(results, first_arrays)
    variables = [*leaves, *cotangents]
    outer = [library.tensor(c) for c in random_like(first_arrays, seed=2)]
    used = [i for i, g in enumerate(first) if g is not None and g.requires_grad]
    none = [None] * len(variables)
    second = library.grad([first[i] for i in used], variables, [outer[i] for i in used], allow_unused=True)
    return Values(results, first_arrays, arrays(library, second if used else none, variables))


def collect(value: Any, found: list[Any]) -> None:
    """All tensors in a result, of either library."""
    if hasattr(value, "requires_grad"):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for one in value:
            collect(one, found)


def arrays(library: Library, gradients: Sequence[Any], variables: Sequence[Any]) -> list[Array]:
    """Gradients as arrays; none at all is as good as zeros."""
    pairs = zip(gradients, variables, strict=True)
    return [np.zeros_like(library.array(x)) if g is None else library.array(g) for g, x in pairs]


# -- the file ---------------------------------------------------------------------------------------------------------


def encoded(array: Array) -> str:
    little = array.astype(array.dtype.newbyteorder("<"), order="C")
    return f"{array.dtype.name} {list(array.shape)} {base64.b64encode(little.tobytes()).decode()}"


def decoded(text: str) -> Array:
    head, data = text.rsplit(" ", 1)
    name, shape = head.split(" ", 1)
    kind = np.dtype(name)
    return np.frombuffer(base64.b64decode(data), kind.newbyteorder("<")).astype(kind).reshape(json.loads(shape))


Stored = dict[str, dict[str, list[Any]]]  # operation, dtype, number of the sample


def file_of(entry: Entry) -> Path:
    """Where the values of an operation are: "reduce.json.gz" for leafgrad/ops/reduce/..., "optim.json.gz"."""
    _, package, *rest = entry.module.split(".")
    return FOLDER / f"{rest[0] if package == 'ops' else package}.json.gz"


def write(file: Path, stored: dict[str, dict[str, list[Values | None]]]) -> None:
    """One line for each operation; no time in the header, so that the same values make the same file."""

    def plain(values: Values | None) -> Any:
        return values and [part and [encoded(a) for a in part] for part in values]

    lines = [
        f"{json.dumps(name)}:{json.dumps({d: [plain(v) for v in of] for d, of in stored[name].items()})}"
        for name in sorted(stored)
    ]
    file.write_bytes(gzip.compress(("{" + ",\n".join(lines) + "}\n").encode(), 9, mtime=0))


@functools.cache
def stored_values() -> Stored:
    found: Stored = {}
    for file in sorted(FOLDER.glob("*.json.gz")):
        found.update(json.loads(gzip.decompress(file.read_bytes())))
    return found


def stored(name: str, dtype: str) -> list[Values | None]:
    """The values of an operation's samples in one dtype."""

    def read(item: Any) -> Values | None:
        return item and Values(*[part and [decoded(text) for text in part] for part in item])

    return [read(item) for item in stored_values().get(name, {}).get(dtype, [])]


# -- checks -----------------------------------------------------------------------------------------------------------


def check(entry: Entry, kind: str, library: Library = LEAFGRAD) -> int:
    """Compare one kind of values, of all samples in all dtypes, with the file; how many there were. The results are
    looked at each time, because an operation that is recorded may take another way."""
    count, order = 0, KINDS.index(kind)
    for dtype in dtypes_of(entry):
        samples, known = samples_of(entry, dtype), stored(entry.name, dtype)
        assert len(samples) == len(known), f"{entry.name} has {len(samples)} samples, {len(known)} are stored: {HINT}"
        for case, values in zip(samples, known, strict=True):
            expected = None if values is None else values[order]
            if values is not None and expected is not None:
                found = computed(library, case, order)
                compare(case, dtype, "result", found.results, values.results)
                compare(case, dtype, kind, found[order], expected)
                count += len(expected)
    return count


def check_replay(entry: Entry) -> None:
    """A view is made without its kernel where the memory is at hand. The kernels of the steps that it remembers give
    the same."""
    for dtype in dtypes_of(entry):
        for case, values in zip(samples_of(entry, dtype), stored(entry.name, dtype), strict=True):
            if values is not None:
                outputs: list[Any] = []
                collect(case.call(case.tensors, function_of(LEAFGRAD, entry)), outputs)
                found = [replayed(t) if t.rare is not None and t.rare.view is not None else t.array for t in outputs]
                compare(case, dtype, "result", found, values.results)


def replayed(t: Any) -> Array:
    view = t.rare.view
    x = view.base.array
    for operation, options in view.steps:
        x = operation(x, *options)
    return x


def compare(case: Case, dtype: str, kind: str, found: list[Array] | None, expected: list[Array]) -> None:
    """Equal dtypes and shapes, and equal numbers but for rounding."""
    name = case.entry.name
    assert found is not None and len(found) == len(expected), f"number of {kind}s of {case}"
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert a.dtype == b.dtype, f"{kind} {i} of {case} is {a.dtype}, expected {b.dtype}"
        if case.entry.finds_any and dtype in ("int64", "bool") and i == 1:  # the floats of samples are all different
            assert a.shape == b.shape, case
        else:
            within = DIGITS[kind] * ILL_CONDITIONED.get(name, 1) * tolerance(b.dtype) + LOOSE.get((name, kind), 0.0)
            assert_close(a, b, within, kind, i, "of", case)
