"""Random programs over a module that looks like torch, made to find where two such modules differ.

A program is a seed and a length. Each step is chosen when it is reached: a function of fuzz_steps.py, the tensors it is
given, its numbers, all drawn from a source of its own, `Random(f"{seed}.{step}")`, and from what the program has made
so far. So two modules that agree run the same program, every seed is one, and a step can be left out, by which
`shortened` finds out which of them matter. What a step shows goes into a log: the shape, strides, dtype, history and
values of what it made, or the error it ended in.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import fuzz_graph_steps
import fuzz_steps

Torch = Any  # torch or leafgrad
Tensor = Any

STORED = Path(__file__).parents[1] / "data" / "fuzz.json.gz"
STORED_SEEDS = range(120)
LENGTH = 14  # steps of a program
MOST = 12  # tensors that it keeps
# Times the largest value. That of float32 is for the second derivative of tanh, a small difference to one; that of
# bfloat16 for the exponential of 7 whose last bits are others: PyTorch's rsqrt of a few elements rounds twice.
TOLERANCE = {"float16": 1e-2, "bfloat16": 1.2e-1, "float32": 2e-4, "complex64": 2e-4}


@dataclass
class Entry:
    """What one step shows."""

    step: int
    text: str
    seen: list[Any] = field(default_factory=list)
    derived: bool = False  # are they gradients? How those were computed is nobody's business.
    single: bool = False  # was it given tensors with dimensions of one element?

    def __str__(self) -> str:
        return f"{self.step}: {self.text}\n      " + "\n      ".join([short(each) for each in self.seen])


@dataclass
class Seen:
    """What can be seen of a tensor."""

    facts: dict[str, Any]
    values: Any


def short(value: Any) -> str:
    if isinstance(value, Seen):
        facts = ", ".join([f"{name} {fact}" for name, fact in value.facts.items()])
        return f"{facts}: {np.array2string(value.values, precision=5, threshold=12)}".replace("\n", "")
    return str(value)


def look_at(value: Any, with_history: bool = True) -> Any:
    """A tensor as Seen; everything else as it is."""
    if not hasattr(value, "detach"):
        return value
    facts = {
        "shape": tuple(value.shape),
        "dtype": str(value.dtype),
        "strides": tuple([step for size, step in zip(value.shape, value.stride()) if size > 1 and value.numel()]),
        "view": value._is_view(),
        "leaf": attempt(lambda: value.is_leaf),
        "grad_fn": attempt(lambda: None if value.grad_fn is None else value.grad_fn.name()),
        "requires_grad": attempt(lambda: value.requires_grad),
    }
    if not with_history:
        del facts["grad_fn"], facts["strides"], facts["view"]
    return Seen(facts, numbers(value))


def attempt(question: Any) -> Any:
    """The answer, or the error."""
    try:
        return question()
    except RuntimeError as error:
        return first_sentence(error)


def numbers(value: Tensor) -> Any:
    """The values of a tensor, in NumPy's widest type of their kind."""
    plain = value.detach().resolve_conj()
    if str(plain.dtype) in ("torch.bfloat16", "torch.float16"):
        plain = plain.float()
    elif str(plain.dtype) == "torch.complex32":  # PyTorch's
        plain = plain.to(dtype=plain.real.float().add(0j).dtype)
    array = plain.numpy(force=True)  # PyTorch may have a tensor of zeros without memory
    return array.astype({"c": np.complex128, "f": np.float64}.get(array.dtype.kind, array.dtype))


def is_small(value: Tensor) -> bool:
    """Few elements, and not so large that functions of them are all rounding errors."""
    if value.numel() > 64:
        return False
    array = numbers(value)
    return array.dtype.kind not in "fc" or bool((np.abs(array[np.isfinite(array)]) < 8).all())


class Program:
    """A running program: its tensors and its log."""

    def __init__(self, torch: Torch, seed: int) -> None:
        self.torch = torch
        self.seed = seed
        self.pool: list[Tensor] = []
        self.leaves: list[Tensor] = []
        self.log: list[Entry] = []
        self.calls: list[Any] = []  # what hooks have seen since the last step
        self.picked: list[Tensor] = []  # what the step was given

    def run(self, skipped: frozenset[int] = frozenset()) -> list[Entry]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.step(0, fuzz_steps.start)
            for number in range(1, LENGTH):
                if number not in skipped:
                    self.step(number, None)
            self.step(LENGTH, fuzz_graph_steps.end)
        return self.log

    def forget(self, tensor: Tensor) -> None:
        self.pool = [each for each in self.pool if each is not tensor]
        self.leaves = [each for each in self.leaves if each is not tensor]

    def step(self, number: int, action: Any) -> None:
        r = Random(f"{self.seed}.{number}")
        if action is None:
            kinds, weights = zip(*fuzz_graph_steps.STEPS)
            action = r.choice(r.choices(kinds, weights)[0])
        entry = Entry(number, action.__name__)
        self.log.append(entry)
        self.picked = []
        try:
            made = action(self, r, entry)
        except Exception as error:
            entry.seen.append(f"{type(error).__name__}: {first_sentence(error)}")
            made = self.calls = []
            for tensor in self.pool:  # which histories of views an unfinished step has brought up to date is left open
                found = attempt(lambda tensor=tensor: tensor.grad_fn)
                if "INTERNAL ASSERT FAILED" in str(found):  # after which PyTorch takes it for a leaf
                    entry.seen.append(found)
            for leaf in self.leaves:  # which of them an unfinished pass has reached is left open
                leaf.grad = None
        entry.single = any([1 in tuple(tensor.shape) for tensor in self.picked])
        self.pool = [tensor for tensor in [*self.pool, *made] if is_small(tensor)]
        entry.seen += [look_at(tensor, not entry.derived) for tensor in made] + self.calls
        if action in fuzz_graph_steps.BACKWARD:  # of those that are retained, how they were computed is left open
            entry.seen += [look_at(leaf.grad, attempt(lambda leaf=leaf: leaf.is_leaf) is True) for leaf in self.leaves]
        self.calls = []
        if len(self.pool) > MOST:
            del self.pool[r.randrange(len(self.pool) - MOST // 2)]


def first_sentence(error: Exception) -> str:
    """The first sentence of a message, without the shape of a saved tensor that was modified, because PyTorch may have
    saved a view of what leafgrad saves; without the names of a view that cannot be followed and of the function behind
    a gradient of the wrong shape, and without the order of operands."""
    text = re.split(r"\. |\n", str(error))[0]
    text = re.sub(r"(inplace operation): .*", r"\1", text)
    text = re.sub(r"^Output \d+ of \w+", "Output", text)
    text = re.sub(r"^Function( \S+)? returned an invalid gradient(:| at index \d+ -)", "invalid gradient:", text)
    return re.sub(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", sizes_in_order, text)


def sizes_in_order(found: re.Match[str]) -> str:
    return f"tensors must match: {sorted(found.groups())}"


def difference(ours: list[Entry], theirs: list[Entry]) -> str:
    """How the first step at which two logs differ does so; "" if they agree. From the first value of low precision
    on, all values may have come from it."""
    tolerance = 1e-9
    for a, b in zip(ours, theirs, strict=True):
        failed = "INTERNAL ASSERT FAILED" in str(b.seen)  # which may be so before the text is complete
        if a.text != b.text and not failed:
            return f"step {a.step}: another program, {a.text}, not {b.text}"
        tolerance = max([tolerance, *[precision_of(y) for y in b.seen]])
        # half precision rounds by the size of what a sum was made of: of gradients, that of the others of the pass
        scale = max([largest_of(y) for y in b.seen], default=1.0) if tolerance >= TOLERANCE["float16"] else 1.0
        for x, y in itertools.zip_longest(a.seen, b.seen, fillvalue="nothing"):
            if found := unequal(x, y, tolerance, scale):
                return f"step {a.step}, {a.text.split('(')[0]}{' of single elements' * a.single}: {found}"
    return ""


def precision_of(seen: Any) -> float:
    return TOLERANCE.get(seen.facts["dtype"].removeprefix("torch."), 0.0) if isinstance(seen, Seen) else 0.0


def largest_of(seen: Any) -> float:
    """The largest finite number in a tensor, but at least 1."""
    if not isinstance(seen, Seen) or seen.values.dtype.kind not in "fc":
        return 1.0
    return float(np.max(np.abs(seen.values[np.isfinite(seen.values)]), initial=1.0))


def unequal(ours: Any, theirs: Any, tolerance: float, scale: float = 1.0) -> str:
    """How two things differ; values by at most `tolerance` times the largest of them, or times `scale`."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return next((found for x, y in zip(ours, theirs) if (found := unequal(x, y, tolerance, scale))), "")
    if not (isinstance(ours, Seen) and isinstance(theirs, Seen)):
        return "" if type(ours) is type(theirs) and ours == theirs else f"{short(ours)}, not {short(theirs)}"
    for name, fact in theirs.facts.items():
        if ours.facts[name] != fact:
            shape = f" of shape {ours.facts['shape']}" if name == "strides" else ""
            return f"{name} {ours.facts[name]}{shape}, not {fact}"
    a, b = ours.values, theirs.values
    finite = np.isfinite(b) & np.isfinite(a) if b.dtype.kind in "fc" else np.ones(b.shape, bool)
    largest = max([scale, *np.abs(b[finite]).reshape(-1)]) if b.size else scale
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return f"values {short(ours)}, not {short(theirs)}"
    if b.dtype.kind == "b" or b.dtype.kind in "iu":
        return "" if np.array_equal(a, b) else f"values {short(ours)}, not {short(theirs)}"
    close = np.abs(a[finite] - b[finite]) <= tolerance * largest
    return "" if close.all() else f"values {short(ours)}, not {short(theirs)}"


# -- stored logs ------------------------------------------------------------------------------------------------------


def as_json(log: list[Entry]) -> Any:
    return [[entry.step, entry.text, [plain(each) for each in entry.seen]] for entry in log]


def plain(seen: Any) -> Any:
    if isinstance(seen, list):
        return [plain(each) for each in seen]
    if not isinstance(seen, Seen):
        return list(seen) if isinstance(seen, tuple) else seen
    flat = np.ascontiguousarray(seen.values).reshape(-1)
    pairs = flat.view(np.float64) if flat.dtype.kind == "c" else flat
    return {**seen.facts, "kind": seen.values.dtype.str, "values": [float(f"{x:.12g}") for x in pairs.tolist()]}


def stored() -> dict[int, list[Entry]]:
    """What PyTorch shows (tests/data/make_fuzz.py)."""
    return {int(seed): from_json(log) for seed, log in json.loads(gzip.decompress(STORED.read_bytes())).items()}


def from_json(stored: Any) -> list[Entry]:
    return [Entry(step, text, [rich(each) for each in seen]) for step, text, seen in stored]


def rich(seen: Any) -> Any:
    if isinstance(seen, list):
        return [rich(each) for each in seen]
    if not isinstance(seen, dict):
        return seen
    facts = {name: tuple(fact) if isinstance(fact, list) else fact for name, fact in seen.items()}
    kind, values = np.dtype(facts.pop("kind")), np.array(facts.pop("values"), np.float64)
    values = values.view(np.complex128) if kind.kind == "c" else values.astype(kind)
    return Seen(facts, values.reshape(facts["shape"]))


# -- comparing --------------------------------------------------------------------------------------------------------


def compared(ours: Torch, theirs: Torch, seed: int, skipped: frozenset[int] = frozenset()) -> str:
    """How two modules differ on a program."""
    return difference(Program(ours, seed).run(skipped), Program(theirs, seed).run(skipped))


def shortened(ours: Torch, theirs: Torch, seed: int) -> frozenset[int]:
    """The steps that a program can do without and still show the difference it ends in."""
    kind = what_kind(compared(ours, theirs, seed))
    skipped: frozenset[int] = frozenset()
    for number in reversed(range(1, LENGTH)):
        less = skipped | {number}
        if what_kind(compared(ours, theirs, seed, less)) == kind:
            skipped = less
    return skipped


def what_kind(found: str) -> str:
    """A difference without its numbers: by this, differences are told apart."""
    words = re.sub(r"^step \d+[,:] ", "", found)
    return " ".join([word for word in words.split()[:6] if not any([c.isdigit() for c in word])])


GIVES = r"(?!\w*Error: )"  # a result, or nothing, but no error
MODIFIED = (
    r"RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
)
FREED = r"RuntimeError: Trying to backward through the graph a second time"
SHAPE_OR_DTYPE = (
    r"\w*Error: (.*not implemented for|.*not supported for|The size of tensors must match|mat1 and mat2 shapes|"
    r"Expected size for|dot : |Dimension out of range|zero-dimensional tensor|expected .* dtype|"
    r"expected scalar type|inconsistent tensor size|addmv input tensors|t\(\) expects a tensor|size mismatch|"
    r".*does not support complex|Unlike NumPy, torch.sign|Tensor must have a last dimension with stride 1|"
    r".* with a bool tensor is not supported|select\(\) cannot be applied)"
)
# In which step, what leafgrad shows, what PyTorch shows, and the row of docs/differences.md that says why.
EXPLAINED = [
    ("", SHAPE_OR_DTYPE,
     r"RuntimeError: (Inference tensors cannot be saved|.* is a view and its base|A view was created)",
     "two mistakes in one call"),
    ("backward|grad|end", rf"{MODIFIED}|{FREED}",
     r"RuntimeError: (Trying to use a saved tensor that has been detached in-place|Output is a view and its base)",
     "two mistakes in one call"),
    ("nested", r"RuntimeError: Output is a view and its base", r"ValueError: vmap", "two mistakes in one call"),
    ("", r"dtype torch.complex64", r"torch.complex32", "small floats"),
    ("", r"\w*Error: .*ComplexFloat", r"\w*Error: .*ComplexHalf", "small floats"),
    ("backward|grad|end|nested", rf"{GIVES}|{MODIFIED}|{FREED}", r"RuntimeError: invalid gradient",
     "mistakes of PyTorch"),
    ("", r".", r".*INTERNAL ASSERT FAILED", "mistakes of PyTorch"),
    ("nested linearize", rf"{GIVES}", r"TypeError: unsupported operand", "mistakes of PyTorch"),
    ("backward|grad|end", r".", r"RuntimeError: ZeroTensors are immutable", "mistakes of PyTorch"),
    ("backward|grad|end", rf"{GIVES}", rf"{FREED}", "what nodes save"),
    ("backward|grad|end|nested", r"\[[\d, ]+\]$", r"\[[\d, ]+\]$", "mistakes of PyTorch"),  # see `same_elements`
    ("backward|end", r"shape \(.*\b1\b", r"\(", "mistakes of PyTorch"),  # a gradient in another shape than its tensor
    ("", r"values .* dtype torch.complex.*inf", r".*\bnan", "sums of infinite complex numbers"),
    ("(binary|ternary|joined) .* of single elements", r"strides", r"\(", "strides of dimensions of one element"),
    ("hook posthook", r"NotImplementedError: \w+ passes its gradient on to \w+, but leafgrad computes",
     "nothing", "what is one operation"),
]  # fmt: skip


def explanation(found: str) -> str:
    """Why it may be so: the row of docs/differences.md; "" if there is none."""
    step, _, shown = re.sub(r"^step \d+, ", "", found).partition(": ")
    ours, _, theirs = shown.partition(", not ")
    for where, a, b, row in EXPLAINED:
        if re.match(where, step) and re.match(a, ours) and re.match(b, theirs):
            return row if not a.startswith(r"\[") or same_elements(ours, theirs) else ""
    return ""


def same_elements(ours: str, theirs: str) -> bool:
    """May the shapes that a hook has seen be those of a tensor before and after a change of its shape in place?"""
    a, b = [sorted([int(n) for n in re.findall(r"\d+", shape) if n != "1"]) for shape in (ours, theirs)]
    return a == b
