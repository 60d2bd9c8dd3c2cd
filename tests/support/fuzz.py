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
import fuzz_more_steps
import fuzz_steps
from fuzz_steps import EXACT, TOLERANCE

Torch = Any  # torch or leafgrad
Tensor = Any
Reach = dict[tuple[int, int], float]  # by step, and which of the things it shows
PROGRAM = -1  # in place of the latter: what the step does

STORED = Path(__file__).parents[1] / "data" / "fuzz.json.gz"
STORED_SEEDS = range(120)
LENGTH = 14  # steps of a program
MOST = 12  # tensors that it keeps
LAST_BIT = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "complex64": 2**-23}
NUDGED_RUNS = 5
STEPS_WITHIN = 8  # operations that a step may consist of, each of which rounds
CHANGING = {fuzz_steps.in_place, fuzz_more_steps.into, fuzz_more_steps.bytes_seen}  # tensors that were there before


@dataclass
class Entry:
    """What one step shows."""

    step: int
    text: str
    seen: list[Any] = field(default_factory=list)
    derived: bool = False  # are they gradients? How those were computed is nobody's business.
    strides: list[Any] = field(default_factory=list)  # of the tensors with dimensions of one element that it was given

    def __str__(self) -> str:
        return f"{self.step}: {self.text}\n      " + "\n      ".join([short(each) for each in self.seen])


@dataclass
class Seen:
    """What can be seen of a tensor."""

    facts: dict[str, Any]
    values: Any


def short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join([short(each) for each in value])
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
        "retains_grad": value.retains_grad,
        "inference": value.is_inference(),
        "offset": value.storage_offset() if value.numel() and value._is_view() else 0,
        "output_nr": value.output_nr,
        "next": attempt(lambda: edges_of(value.grad_fn)),
    }
    if not with_history:
        for name in ("strides", "view", "grad_fn", "offset", "output_nr", "next"):
            del facts[name]
    return Seen(facts, numbers(value))


CHANGED_VIEWS = ("CopySlices", "AsStridedBackward0", "ViewAsRealBackward0", "ViewAsComplexBackward0")


def edges_of(node: Any) -> Any:
    """What the graph shows behind a node, where leafgrad shows the same: not behind changed views, see the page of
    differences."""
    if node is None or node.name().endswith(CHANGED_VIEWS):
        return None
    return ", ".join([f"{index} of {inner.name()}" if inner else "None" for inner, index in node.next_functions])


def attempt(question: Any) -> Any:
    """The answer, or the error."""
    try:
        return question()
    except RuntimeError as error:
        return first_sentence(error)


def numbers(value: Tensor) -> Any:
    """The values of a tensor, in NumPy's widest type of their kind."""
    if getattr(value, "_is_zerotensor", bool)():  # PyTorch's, without memory: to look at a part of it ends the process
        return np.zeros(tuple(value.shape), np.complex128 if value.is_complex() else np.float64)
    plain = value.detach().resolve_conj()
    if str(plain.dtype) in ("torch.bfloat16", "torch.float16"):
        plain = plain.float()
    elif str(plain.dtype) == "torch.complex32":  # PyTorch's
        plain = plain.to(dtype=plain.real.float().add(0j).dtype)
    array = plain.numpy()
    return array.astype({"c": np.complex128, "f": np.float64}.get(array.dtype.kind, array.dtype))


def is_small(value: Tensor) -> bool:
    """Few elements, and not so large that functions of them are all rounding errors."""
    if value.numel() > 64:
        return False
    array = numbers(value)
    return array.dtype.kind not in "fc" or bool((np.abs(array[np.isfinite(array)]) < 8).all())


def nudge(torch: Torch, value: Tensor, r: Random, derived: bool) -> None:
    """Change the elements of a tensor of low precision by their last bit, behind the back of autograd; those of higher
    derivatives by as much as may have become of a last bit on the way."""
    step = LAST_BIT.get(str(value.dtype).removeprefix("torch."))
    if step is None or value._is_view() or not fuzz_steps.does_not_overlap(value):
        return
    signs = np.array([r.choice([-1, 0, 1]) for _ in range(value.numel())]).reshape(tuple(value.shape))
    if value.element_size() > 2:
        array = value.detach().numpy()
        if derived:
            array += TOLERANCE["float32"] * signs * max([1.0, *np.abs(array[np.isfinite(array)])])
        else:
            array *= 1 + step * signs
    else:  # NumPy may not know them, but the next number is that with the next bits, except at zero and infinity
        array = value.detach().view(torch.int16).numpy()
        array += ((array & 0x7FFF > 0xFF) & (array & 0x7FFF < 0x7B00)) * signs.astype(array.dtype)


class Program:
    """A running program: its tensors and its log."""

    def __init__(self, torch: Torch, seed: int, nudges: Random | None = None) -> None:
        self.torch = torch
        self.seed = seed
        self.nudges = nudges  # changes the last bit of what steps make
        self.pool: list[Tensor] = []
        self.leaves: list[Tensor] = []
        self.log: list[Entry] = []
        self.calls: list[Any] = []  # what hooks have seen since the last step
        self.picked: list[Tensor] = []  # what the step was given
        self.recomputed: list[Tensor] = []  # what checkpoints were given

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

    def seen_by_hook(self, value: Any) -> Any:
        """What a hook was given; values as they are now, because PyTorch may add to them later."""
        if value is None:
            return None
        array = numbers(value)
        return Seen({"shape": tuple(value.shape), "dtype": str(value.dtype)}, array.copy())

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
        entry.strides = [tuple(tensor.stride()) for tensor in self.picked if 1 in tuple(tensor.shape)]
        if self.nudges is not None:
            for tensor in made:
                nudge(self.torch, tensor, self.nudges, action in fuzz_graph_steps.TRANSFORMS)
        if action in fuzz_graph_steps.CHECKPOINTS:
            self.recomputed += self.picked
        kept = [tensor for tensor in self.pool if is_small(tensor)] if action in CHANGING else self.pool
        self.pool = kept + [tensor for tensor in made if is_small(tensor)]
        entry.seen += [look_at(tensor, not entry.derived) for tensor in made] + self.calls
        if action in fuzz_graph_steps.BACKWARD:  # of those that are retained, how they were computed is left open
            entry.seen += [look_at(leaf.grad, attempt(lambda leaf=leaf: leaf.is_leaf) is True) for leaf in self.leaves]
        self.calls = []
        if len(self.pool) > MOST:
            del self.pool[r.randrange(len(self.pool) - MOST // 2)]


def first_sentence(error: Exception) -> str:
    """The first sentence of a message, without the shape of a saved tensor that was modified, because PyTorch may have
    saved a view of what leafgrad saves, and by how many versions rather than from which one, because PyTorch may have
    composed the tensor by changes in place; without the names of a view that cannot be followed and of the function
    behind a gradient of the wrong shape, and without the order of operands."""
    text = re.split(r"\. |\n", str(error))[0]
    text = re.sub(r"is at version (\d+); expected version (\d+)", versions_between, text)
    text = re.sub(r"(inplace operation): .*?( is \d+ versions.*)?$", r"\1\2", text)
    text = re.sub(r"^Output \d+ of \w+", "Output", text)
    text = re.sub(r"^Function( \S+)? returned an invalid gradient(:| at index \d+ -)", "invalid gradient:", text)
    return re.sub(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", sizes_in_order, text)


def versions_between(found: re.Match[str]) -> str:
    return f"is {int(found[1]) - int(found[2])} versions behind"


def sizes_in_order(found: re.Match[str]) -> str:
    return f"tensors must match: {sorted(found.groups())}"


def difference(ours: list[Entry], theirs: list[Entry], reach: Reach | None = None) -> str:
    """How the first step at which two logs differ does so; "" if they agree. From the first value of low precision
    on, all values may have come from it. `reach` says how much more values may differ; what is made of a tensor that
    is nothing but rounding errors may have any values."""
    tolerance = EXACT
    noise = False
    for a, b in zip(ours, theirs, strict=True):
        words = [str(each.facts if isinstance(each, Seen) else each) for each in b.seen]
        failed = "INTERNAL ASSERT FAILED" in " ".join(words)  # which may be so before the text is complete
        if a.text != b.text and not failed:
            if reach and (noise or (a.step, PROGRAM) in reach):
                return ""
            return f"step {a.step}: another program, {a.text}, not {b.text}"
        shown = [tensor for y in b.seen for tensor in tensors_in(y)]
        tolerance = max([tolerance, *[precision_of(y) for y in shown]])
        single = " of single elements" if a.strides else ""  # by whose strides PyTorch may have decided
        if a.strides != b.strides:
            single += " that lie elsewhere"
        # half precision rounds by the size of what a sum was made of: of gradients, that of the others of the pass
        scale = max([largest(y) for y in shown], default=1.0) if tolerance >= TOLERANCE["float16"] else 1.0
        for i, (x, y) in enumerate(itertools.zip_longest(a.seen, b.seen, fillvalue="nothing")):
            way = reach.get((a.step, i), 0.0) if reach else 0.0
            found = unequal(x, y, tolerance, scale, way)
            if found and not (noise and found.startswith("values")):
                return f"step {a.step}, {a.text.split('(')[0]}{single}: {found}"
            noise = noise or any([0 < largest(each, at_least=0.0) < way for each in tensors_in(y)])
    return ""


def precision_of(seen: Seen) -> float:
    return TOLERANCE.get(seen.facts["dtype"].removeprefix("torch."), 0.0)


def largest(seen: Seen, at_least: float = 1.0) -> float:
    """The largest finite number in a tensor."""
    if seen.values.dtype.kind not in "fc":
        return at_least
    return float(np.max(np.abs(seen.values[np.isfinite(seen.values)]), initial=at_least))


def reach_of_last_bits(torch: Torch, seed: int, skipped: frozenset[int] = frozenset()) -> Reach:
    """How far the values that a program shows move if the last bits of what its steps make are others, and where it
    becomes another program by that."""
    log = Program(torch, seed).run(skipped)
    reach: Reach = {}
    for run in range(NUDGED_RUNS):
        for a, b in zip(log, Program(torch, seed, Random(f"{seed}.{run}")).run(skipped)):
            if a.text != b.text or len(a.seen) != len(b.seen):
                reach[a.step, PROGRAM] = np.inf
                break
            for i, (x, y) in enumerate(zip(a.seen, b.seen)):
                for mine, other in zip(tensors_in(x), tensors_in(y)):
                    if mine.values.shape == other.values.shape:
                        way = STEPS_WITHIN * farthest(mine.values, other.values)
                        reach[a.step, i] = max(reach.get((a.step, i), 0.0), way)
    return reach


def tensors_in(seen: Any) -> list[Seen]:
    """What a step shows is a tensor, or what a hook was given: tensors, in a list."""
    return [each for each in (seen if isinstance(seen, list) else [seen]) if isinstance(each, Seen)]


def farthest(a: Any, b: Any) -> float:
    if a.dtype.kind not in "fc":
        return 0.0
    finite = np.isfinite(a) & np.isfinite(b)
    return float(np.max(np.abs(a[finite] - b[finite]), initial=0.0))


def unequal(ours: Any, theirs: Any, tolerance: float, scale: float = 1.0, reach: float = 0.0) -> str:
    """How two things differ; values by at most `tolerance` times the largest of them, or times `scale`, or `reach`."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return next((found for x, y in zip(ours, theirs) if (found := unequal(x, y, tolerance, scale, reach))), "")
    if not (isinstance(ours, Seen) and isinstance(theirs, Seen)):
        return "" if type(ours) is type(theirs) and ours == theirs else f"{short(ours)}, not {short(theirs)}"
    for name, fact in theirs.facts.items():
        if ours.facts[name] != fact:
            shape = f" of shape {ours.facts['shape']}" if name == "strides" else ""
            return f"{name} {ours.facts[name]}{shape}, not {fact}"
    a, b = ours.values, theirs.values
    finite = np.isfinite(b) & np.isfinite(a) if b.dtype.kind in "fc" else np.ones(b.shape, bool)
    largest = max([scale, *np.abs(b[finite]).reshape(-1)]) if b.size else scale
    if not same_infinite(a[~finite], b[~finite], tolerance):
        return f"values {short(ours)}, not {short(theirs)}"
    if b.dtype.kind == "b" or b.dtype.kind in "iu":
        return "" if np.array_equal(a, b) else f"values {short(ours)}, not {short(theirs)}"
    close = np.abs(a[finite] - b[finite]) <= max(tolerance * largest, reach)
    return "" if close.all() else f"values {short(ours)}, not {short(theirs)}"


def same_infinite(a: Any, b: Any, tolerance: float) -> bool:
    """Are infinite numbers and nan the same? The finite part of a complex one may be rounded otherwise."""
    if a.dtype.kind != "c" or b.dtype.kind != "c":
        return np.array_equal(a, b, equal_nan=True)
    parts = [np.isclose(x, y, tolerance, tolerance, equal_nan=True) for x, y in ((a.real, b.real), (a.imag, b.imag))]
    return bool(np.all((np.isnan(a) & np.isnan(b)) | (parts[0] & parts[1])))


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
    return compared_with(ours, seed, Program(theirs, seed).run(skipped), skipped)


def compared_with(ours: Torch, seed: int, theirs: list[Entry], skipped: frozenset[int] = frozenset()) -> str:
    """How a program with `ours` differs from a log. Values that are not close are looked at again, with regard to how
    far last bits reach."""
    log = Program(ours, seed).run(skipped)
    found = difference(log, theirs)
    by_values = re.match(r"step \d+(, .*: values|: another program)", found)
    return difference(log, theirs, reach_of_last_bits(ours, seed, skipped)) if by_values else found


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
    r".* with a bool tensor is not supported|select\(\) cannot be applied|view size is not compatible|"
    r"shape '.*' is invalid for input|The expanded size of the tensor|Sizes of tensors must match|"
    r"stack expects each tensor to be equal size|Tensor must have a last dimension of size 2|"
    r"index .* (is )?out of (range|bounds)|Number of dimensions of repeat dims|diagonal dimensions cannot be identical|"
    r"maximum size for tensor at dimension|split_with_sizes expects|"
    r"Tensor must have a (storage_offset|stride) divisible by 2|"
    r"unsupported operation: more than one element|self\..* must be .* to view)"
)
# In which step, what leafgrad shows, what PyTorch shows, and the row of docs/differences.md that says why.
EXPLAINED = [
    ("", SHAPE_OR_DTYPE,
     r"RuntimeError: (Inference tensors cannot be saved|.* is a view and its base|A view was created)",
     "two mistakes in one call"),
    ("in_place", r"RuntimeError: unsupported operation: more than one element", r"RuntimeError: .* bool tensor",
     "two mistakes in one call"),
    ("backward|grad|end|passes", rf"{MODIFIED}|{FREED}",
     r"RuntimeError: (Trying to use a saved tensor that has been detached in-place|Output is a view and its base)",
     "two mistakes in one call"),
    ("nested", r"RuntimeError: Output is a view and its base", r"ValueError: vmap", "two mistakes in one call"),
    ("", r"dtype torch.complex64", r"torch.complex32", "small floats"),
    ("", r"\w*Error: .*ComplexFloat|.*dtype torch.complex64", r"\w*Error: .*ComplexHalf", "small floats"),
    ("backward|grad|end|passes|nested", rf"{GIVES}|{MODIFIED}|{FREED}", r"RuntimeError: invalid gradient",
     "mistakes of PyTorch"),
    ("", r".", r".*INTERNAL ASSERT FAILED", "mistakes of PyTorch"),
    ("functional|passes batched", rf"{GIVES}", r"RuntimeError: vmap: Calling Tensor.as_strided is not supported",
     "derivatives that PyTorch lacks"),
    ("scattered", rf"{GIVES}", r"RuntimeError: \w+_scatter does not support automatic differentiation for outputs with",
     "derivatives that PyTorch lacks"),
    ("nested linearize", rf"{GIVES}", r"TypeError: unsupported operand", "mistakes of PyTorch"),
    ("backward|grad|end|passes", r"all of step", r"(?!all of step)", "mistakes of PyTorch"),
    ("backward|grad|end|passes", r".", r"RuntimeError: ZeroTensors are immutable", "mistakes of PyTorch"),
    # a gradient in another shape than its tensor, or what a hook is given; see `same_elements`
    ("backward|grad|end|passes|nested", r"shape \(", r"\([\d, ]*\)$", "mistakes of PyTorch"),
    ("", r"values .* dtype torch.complex.*(inf|nan)", r".*\bnan", "sums of infinite complex numbers and of nan"),
    ("complex_view", r"values .*(inf|nan)", r".*\bnan", "sums of infinite complex numbers and of nan"),
    (".* of single elements that lie elsewhere", r"strides", r"\(", "strides of dimensions of one element"),
    ("(binary|ternary|joined|view getitem|by_index roll).* of single elements", r"strides", r"\(",
     "strides of dimensions of one element"),
    ("hook posthook", r"NotImplementedError: \w+ passes its gradient on to \w+, but leafgrad computes",
     "nothing", "what is one operation"),
]  # fmt: skip


def explanation(found: str) -> str:
    """Why it may be so: the row of docs/differences.md; "" if there is none."""
    step, _, shown = re.sub(r"^step \d+, ", "", found).partition(": ")
    ours, _, theirs = shown.partition(", not ")
    for where, a, b, row in EXPLAINED:
        if re.match(where, step) and re.match(a, ours) and re.match(b, theirs):
            return row if not a.startswith("shape") or same_elements(ours, theirs) else ""
    return ""


def same_elements(ours: str, theirs: str) -> bool:
    """May these be the shapes of a tensor before and after a change of its shape in place?"""
    a, b = [sorted([int(n) for n in re.findall(r"\d+", shape) if n != "1"]) for shape in (ours, theirs)]
    return a == b
