"""Who may import whom, read from the sources. Every folder says in the docstring of its `__init__` what it is for and

    May import `_core` and `_dtypes`; inside functions also `errors`, to explain a failure.

A name stands for everything below it, and a folder may always import itself. "What `ops` may" is what the docstring of
`ops` says. Where the code is not yet what it should be, the exact exceptions stand here: a new one fails, and so does
one that is gone but still listed, so that the lists can only get shorter.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import leafgrad
from leafgrad._tensor.install import MODULES
from leafgrad.ops.registry import entries

ROOT = Path(__file__).parents[1] / "src" / "leafgrad"

# The files at the top of the package, which have no folder to speak for them: at module level, and inside functions.
FILES: dict[str, tuple[str, str]] = {
    "__config__": ("_settings", ""),
    "__main__": ("_cli", ""),
    "_build": ("", "_core"),
    "_absent": ("_missing", ""),
    "_assertions": ("_dtypes _tensor ops", ""),
    "_as_torch": ("_missing _torch_places", ""),
    "_cli": ("leafgrad _as_torch _build _core _missing _settings ops", "_explain"),
    "_custom_ops": ("_missing", ""),
    "_device": ("_core _missing", "errors"),
    "_dtypes": ("", ""),
    "__future__": ("nn", ""),
    "_einops": ("", ""),
    "_inductor": ("", ""),
    "_jit_internal": ("_missing compiler", ""),
    "_layouts": ("_core _device kernels", ""),
    "_missing": ("", ""),
    "_prims_common": ("_missing _settings errors", ""),
    "_utils": ("leafgrad _files _missing utils", ""),
    "_torch_places": ("", ""),
    "_vmap_internals": ("_missing func", ""),
    "_symbolic": ("", ""),
    "_settings": ("_core _device _dtypes errors kernels", "_build ops"),
    "accelerator": ("_absent", ""),
    "compiler": ("_absent errors", ""),
    "export": ("_absent", ""),
    "fft": ("_tensor", ""),
    "functional": ("leafgrad", ""),
    "futures": ("", ""),
    "hub": ("_absent", ""),
    "io": ("_core _device _dtypes _files _tensor errors ops", ""),
    "library": ("_absent _device _library errors ops", ""),
    "linalg": ("_tensor ops", ""),  # its exception
    "mps": ("_absent", ""),
    "mtia": ("_absent", ""),
    "masked": ("_tensor", ""),
    "multiprocessing": ("", ""),
    "nested": ("_absent", ""),
    "overrides": ("leafgrad _core _missing _tensor nn ops", ""),
    "profiler": ("autograd errors", ""),
    "quantization": ("_absent", ""),
    "quasirandom": ("leafgrad errors", ""),
    "random": ("ops", ""),
    "return_types": ("", ""),
    "serialization": ("_device _files errors types", ""),
    "sparse": ("_absent ops", ""),
    "special": ("_tensor", ""),
    "storage": ("ops", ""),
    "torch_version": ("", ""),
    "types": ("_device _dtypes _tensor", ""),
    "version": ("torch_version", ""),
    "xpu": ("_absent", ""),
}

# What no docstring may allow. The hot path does not know who uses it; modules and optimizers are built of public ops.
NEVER = {
    "kernels": {"_core", "ops", "autograd", "errors"},
    "_core": {"ops", "_tensor", "nn", "optim", "_explain"},
    "ops": {"_core.engine", "_tensor", "nn", "optim", "_explain"},
    "autograd": {"_tensor", "nn", "optim", "_explain"},
    "nn": {"_core.engine", "_core.node", "_core.saved", "kernels", "optim", "_explain"},
    "optim": {"_core.engine", "_core.node", "_core.saved", "_explain"},
}

# Imports against the arrows that are left: (who, whom).
AGAINST_THE_ARROWS: set[tuple[str, str]] = set()

# Modules that import each other when they are loaded.
CYCLES: list[set[str]] = []

# Imports inside functions. The first number counts those of modules that `import leafgrad` does without, so that it is
# fast; the second those of modules that it loads anyway, which hide a cycle. Neither may grow.
INSIDE_FUNCTIONS = {
    "_core": (0, 4),
    "_tensor": (2, 6),
    "autograd": (10, 7),
    "errors": (0, 1),
    "kernels": (1, 0),
    "leafgrad": (3, 3),
    "nn": (2, 1),
    "ops": (7, 3),
}

# What else functions may import: packages that are optional, and parts of Python and NumPy that take long to load.
SLOW_OR_OPTIONAL = {
    "PIL", "copy", "ctypes", "difflib", "einops", "importlib", "importlib.util", "inspect", "matplotlib",
    "matplotlib.backends.backend_agg", "ml_dtypes", "numpy", "numpy.random", "platform", "safetensors", "threading",
    "traceback",
}  # fmt: skip

PROFILER_FACES = {"profiler", "autograd.profiler", "autograd.profiler_util"}

LONGEST = 80  # lines of a function in `_core` and `autograd`

# Public files and folders at the top that PyTorch does not have.
OWN_NAMES = {"errors", "io", "kernels"}
TORCH_NAMES = {
    "accelerator", "autograd", "cuda", "func", "nn", "ops", "optim", "overrides", "profiler", "random", "return_types",
}  # fmt: skip
TORCH_NAMES |= {"fft", "linalg", "serialization", "special", "storage", "utils"}
TORCH_NAMES |= {"amp", "backends", "compiler", "cpu", "distributed", "export", "fx", "hub", "jit", "library", "mps"}
TORCH_NAMES |= {"distributions", "mtia", "multiprocessing", "onnx", "testing", "torch_version", "version", "xpu"}
TORCH_NAMES |= {"ao", "functional", "futures", "masked", "nested", "quantization", "quasirandom", "signal"}
TORCH_NAMES |= {"sparse", "types"}


class Import(NamedTuple):
    importer: str  # names without the leading "leafgrad."; the package itself is "leafgrad"
    target: str
    function: str  # in which it stands, or "" at module level
    line: int


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "leafgrad"


SOURCES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}
FOLDERS = sorted(name for name, path in SOURCES.items() if path.name == "__init__.py" and name != "leafgrad")


@functools.cache
def tree(module: str) -> ast.Module:
    return ast.parse(SOURCES[module].read_text(encoding="utf-8"))


def targets(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules that a statement imports; "numpy.random" and the like keep their names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        assert node.level == 0 and node.module, "imports name the whole path"
        whole = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if name.removeprefix("leafgrad.") in SOURCES else str(node.module) for name in whole]
    python_own = {name for name in names if name in SOURCES and name != "leafgrad"}  # `multiprocessing`, not our own
    yield from {f"<{name}>" if name in python_own else name.removeprefix("leafgrad.") for name in names}


def imports_below(node: ast.AST, importer: str, function: str = "") -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield from (Import(importer, target, function, child.lineno) for target in targets(child))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports_below(child, importer, child.name)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":  # never executed, but for `else`
            for other in child.orelse:
                yield from imports_below(ast.Module([other], []), importer, function)
        elif not isinstance(child, ast.expr):  # in which there is no import
            yield from imports_below(child, importer, function)


@functools.cache
def imports() -> list[Import]:
    return [found for module in SOURCES for found in imports_below(tree(module), module)]


def of_leafgrad() -> list[Import]:
    native = {module_name(path) for path in ROOT.rglob("*.pyi")}
    return [i for i in imports() if i.target in SOURCES or i.target in native]


def below(name: str, tops: set[str]) -> bool:
    return any(name == top or name.startswith(f"{top}.") for top in tops)


def top_of(module: str) -> str:
    return module.partition(".")[0]


# -- what folders declare ---------------------------------------------------------------------------------------------


class Allowed(NamedTuple):
    at_module_level: set[str]
    inside_functions: set[str]  # in addition


@functools.cache
def allowed(folder: str) -> Allowed:
    """What a folder, or a file at the top of the package, may import."""
    if folder in FILES:
        return Allowed(*(set(names.split()) for names in FILES[folder]))
    text = " ".join((ast.get_docstring(tree(folder)) or "").split())
    if other := re.search(r"May import what `(\w+)` may\.", text):
        return allowed(other[1])
    said = re.search(r"May import (.*?)(?:; inside functions also (.*?))?\.(?= |$)", text)
    assert said, f"the docstring of {folder}/__init__.py does not say what it may import"
    return Allowed(*(set(re.findall(r"`(\w+)`", part or "")) for part in said.groups()))


def folder_of(module: str) -> str:
    return module if module in FOLDERS or "." not in module else module.rpartition(".")[0]


def is_allowed(found: Import) -> bool:
    folder = folder_of(found.importer)
    if folder == "leafgrad" or top_of(found.target) == top_of(found.importer):
        return True
    may = allowed(folder)
    names = may.at_module_level | {"_missing"}  # which makes the __getattr__ of modules
    if found.function:
        names = names | may.inside_functions
    if found.importer in PROFILER_FACES:
        names = names | {"_profiler"}
    return below(found.target, names) and not below(found.target, NEVER.get(top_of(folder), set()))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_says_what_it_is_for_and_what_it_may_import(folder: str) -> None:
    text = ast.get_docstring(tree(folder)) or ""
    assert len(text.partition("May import")[0].split()) >= 4, "what is it for?"
    may = allowed(folder)
    known = {top_of(module) for module in SOURCES}
    assert may.at_module_level | may.inside_functions <= known, "names that do not exist (any more)"


def test_every_file_at_the_top_is_in_the_table() -> None:
    assert {path.stem for path in ROOT.glob("*.py")} - {"__init__"} == set(FILES)


def test_imports_follow_the_arrows() -> None:
    against = {(i.importer, i.target) for i in of_leafgrad() if not is_allowed(i)}
    assert against - AGAINST_THE_ARROWS == set(), "against the arrows"
    assert AGAINST_THE_ARROWS - against == set(), "gone: take them out of AGAINST_THE_ARROWS"


def cycles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Sets of nodes that reach each other."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        found: set[str] = set()
        waiting = list(edges[start])
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += edges.get(node, ())
        reached[start] = found
    groups = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in edges if a in reached[a]}
    return sorted((set(group) for group in groups), key=sorted)


def test_the_arrows_point_one_way() -> None:
    """No folder may import one that may import it, directly or by way of others."""
    tops = {top_of(folder) for folder in FOLDERS} | set(FILES) - {"__main__", "_cli", "_as_torch"}
    assert cycles({top: allowed(top).at_module_level for top in tops}) == []


def test_modules_do_not_import_each_other() -> None:
    edges: dict[str, set[str]] = {module: set() for module in SOURCES}
    for i in of_leafgrad():
        if not i.function and i.target not in (i.importer, "leafgrad"):
            edges[i.importer].add(i.target)
    found = cycles(edges)
    assert [group for group in found if group not in CYCLES] == [], "modules that import each other"
    assert [group for group in CYCLES if group not in found] == [], "gone: take them out of CYCLES"


# -- imports inside functions -----------------------------------------------------------------------------------------


def loaded_at_start() -> set[str]:
    """The modules that `import leafgrad` loads."""
    loaded: set[str] = set()
    waiting = ["leafgrad"]
    while waiting:
        module = waiting.pop()
        if module in SOURCES and module not in loaded:
            loaded.add(module)
            waiting += [i.target for i in imports() if i.importer == module and not i.function]
            waiting.append(module.rpartition(".")[0])
    return loaded


def test_functions_import_no_more_than_they_did() -> None:
    start = loaded_at_start()
    counts: dict[str, list[int]] = {}
    for i in of_leafgrad():
        if i.function:
            top = "leafgrad" if top_of(i.importer) in FILES else top_of(i.importer)
            counts.setdefault(top, [0, 0])[i.target in start] += 1
    found = {top: (late, cyclic) for top, (late, cyclic) in counts.items()}
    changed = {
        top: f"{found.get(top)}, not {INSIDE_FUNCTIONS.get(top)}"
        for top in found.keys() | INSIDE_FUNCTIONS.keys()
        if found.get(top) != INSIDE_FUNCTIONS.get(top)
    }
    assert changed == {}, "more: import at module level; fewer: lower the numbers in INSIDE_FUNCTIONS"


def test_what_else_functions_import_is_slow_or_optional() -> None:
    ours = set(of_leafgrad())
    others = {i.target for i in imports() if i.function and i not in ours}
    assert others == SLOW_OR_OPTIONAL


def test_no_import_is_hidden_in_a_call() -> None:
    """Only what imports names when they are asked for, and the alias of `run`, import by a string."""
    by_string = re.compile(r"\b(import_module|__import__)\b")
    callers = {module for module, path in SOURCES.items() if by_string.search(path.read_text(encoding="utf-8"))}
    assert {module for module in callers if SOURCES[module].name != "__init__.py"} == {"_as_torch", "_missing"}


# -- what a program loads ---------------------------------------------------------------------------------------------


def test_the_profiler_is_loaded_by_its_faces_only() -> None:
    importers = {i.importer for i in of_leafgrad() if below(i.target, {"_profiler"})}
    assert {name for name in importers if not below(name, {"_profiler"})} <= PROFILER_FACES


def test_nobody_but_the_command_line_imports_explain() -> None:
    importers = {i.importer for i in of_leafgrad() if below(i.target, {"_explain"})}
    assert {name for name in importers if not below(name, {"_explain"})} == {"_cli"}


TRAINING = """
import sys
import leafgrad as torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.nn.functional.mse_loss(model(torch.ones(3, 2)), torch.zeros(3, 1)).backward()
optimizer.step()
print(*sorted(name for name in sys.modules if name.startswith("leafgrad.")))
"""


def test_training_loads_neither_messages_nor_pictures_nor_profiler() -> None:
    command = [sys.executable, "-c", TRAINING]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.split()
    assert "leafgrad._core.engine" in loaded and "leafgrad.optim.sgd" in loaded
    unneeded = ("leafgrad.errors.", "leafgrad._explain", "leafgrad._profiler", "leafgrad.func", "leafgrad.utils")
    assert [name for name in loaded if name.startswith(unneeded)] == []


# -- names and sizes --------------------------------------------------------------------------------------------------


def test_files_at_the_top_have_pytorchs_names_or_an_underscore() -> None:
    """tests/torch/test_architecture_torch.py asks the same of all names in the package."""
    public = {top_of(module) for module in SOURCES if not module.startswith("_")} - {"leafgrad"}
    assert public - TORCH_NAMES == OWN_NAMES


def test_functions_of_the_core_fit_on_a_screen() -> None:
    long = {
        (module, node.name)
        for module in SOURCES
        if below(module, {"_core", "autograd"})
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST
    }
    assert long == set(), f"over {LONGEST} lines"


def test_files_have_one_subject_and_less_than_500_lines() -> None:
    lines = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in SOURCES.items()}
    assert {module: count for module, count in lines.items() if count > 500} == {}


# -- what belongs to an operation stands in its block -----------------------------------------------------------------


# Lists of names that are not those of operations, or not of ours: (module, where in it), and why.
EXEMPT_LISTS = {
    ("ops.aten", "OVERLOADS"): "PyTorch's names of overloads, some of which are names of methods as well",
    ("ops.names", "PLACES"): "written by tools/make_stubs.py from the blocks",
    ("distributions", "FILES"): "files of distributions, some of which have the name of a function that draws",
    ("_tensor.overridable", "BINARY"): "Python's operators, with the signs that its messages have for them",
    ("_tensor.overridable", "COMPARISONS"): "the same",
    ("errors.cuts", "SENTENCES"): "ways out of a graph, which are no operations, and what is said of them",
    ("errors.rewriting", "LEAVING"): "the same, as methods that are left out of a line",
    ("errors.rewriting", "MAKERS"): "functions that make tensors of numbers, which are left out of a line",
    ("errors.rewriting", "TO_INTEGERS"): "methods that convert to integers, which are left out of a line",
    ("func.batched_array", "_REDUCTIONS"): "methods of NumPy's arrays",
    ("func.batched_array", "_OPERATORS"): "Python's operators, for arrays",
    ("func.batched_array", "_COMPARISONS"): "the same",
    ("func.messages", "REFUSALS"): "what a tensor is asked for when it refuses, not only by the method of that name",
    ("kernels.translator.values", "CALLS"): "the functions of the language of kernels, which are in vector_math.h",
    ("kernels.translator.values", "IN_C_LIBRARY"): "those of them that C has as well",
    ("kernels.translator.values", "TAKEN"): "words of C",
    ("nn.init", "calculate_gain"): "the values of an argument",
    ("nn.parameter", "HARMLESS"): "methods that look at no element, which a tensor without a shape has as well",
    ("ops.index.scatter_reduce", "_UFUNCS"): "the values of an argument",
    ("ops.pointwise.foreach", "OF_ONE"): "of which methods PyTorch has a form for lists of tensors",
    ("ops.pointwise.foreach", "OF_TWO"): "the same",
    ("ops.names", "ATTRIBUTES"): "made from the blocks by tools/make_stubs.py",
    ("ops.signature", "OPTION_KINDS"): "keywords of the functions that make tensors",
    ("optim.trace", "SIGNS"): "NumPy's ufuncs",
}

# What a module exports, what an object has, and which functions that are no operations it puts where.
DECLARATIONS = {"__all__", "__slots__", "FUNCTIONS", "METHODS"}


def is_block(node: ast.AST) -> bool:
    """Is this the block of an operation, or a function composed of some, with all that is said of it?"""
    decorators = [ast.unparse(each).partition("(")[0] for each in getattr(node, "decorator_list", ())]
    return "op" in decorators or "composite" in decorators


def outside_of_blocks(node: ast.AST, place: str = "") -> Iterator[tuple[str, ast.AST]]:
    """The nodes of a module without its blocks and its DECLARATIONS, each with the name of what it stands in."""
    for child in ast.iter_child_nodes(node):
        name = ""
        if isinstance(child, ast.Assign | ast.AnnAssign):
            name = ast.unparse(child.targets[0] if isinstance(child, ast.Assign) else child.target)
        elif isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = child.name
        if not is_block(child) and name not in DECLARATIONS:
            yield place or name, child
            yield from outside_of_blocks(child, place or name)


def names_in(node: ast.AST) -> list[str]:
    """The strings in a literal list, tuple, set or dictionary (its keys or its values, whichever name more operations),
    or in a text that is split into some."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        text = node.func.value
        return text.value.split() if isinstance(text, ast.Constant) and isinstance(text.value, str) else []
    several = [node.keys, node.values] if isinstance(node, ast.Dict) else [getattr(node, "elts", [])]
    strings = [
        [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)] for parts in several
    ]
    return max(strings, key=lambda found: len(names_of_operations().intersection(found)))


@functools.cache
def names_of_operations() -> set[str]:
    """Of operations, of the functions of `leafgrad`, and of methods and operators of Tensor."""
    found = {name for each in entries() for name in (each.name, *each.aliases)}
    on_tensor = {name for name in dir(leafgrad.Tensor) if name[0] != "_" or is_operator(name)}
    return {*found, *[name + "_" for name in found], *on_tensor, *MODULES}


def is_operator(name: str) -> bool:
    """`__add__` and `__radd__`, which are `add` in the module `operator`; `__and__`, which is `and_` there."""
    words = [form.strip("_") for form in (name, name.replace("__r", "__", 1))]
    return any([word in operator.__all__ or f"{word}_" in operator.__all__ for word in words])


def lists_of_operations(module: ast.Module) -> dict[str, list[str]]:
    """Literals that name four operations or more, by where they stand."""
    known = names_of_operations()
    named = [(where, [name for name in names_in(node) if name in known]) for where, node in outside_of_blocks(module)]
    return {where: found for where, found in named if len(found) > 3}


def test_no_list_of_operations_outside_of_their_blocks() -> None:
    found = {(module, where): names for module in SOURCES for where, names in lists_of_operations(tree(module)).items()}
    assert {key: names for key, names in found.items() if key not in EXEMPT_LISTS} == {}
    assert EXEMPT_LISTS.keys() - found.keys() == set(), "gone: take them out of EXEMPT_LISTS"


# Lists that there have been, each of facts about operations that are now in their blocks.
FORMER_LISTS = [
    'IN_PYTHON = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "meshgrid", "norm", "split"}',
    'IN_PYTHON = OPERATORS | {"__len__", "backward", "is_shared", "norm", "register_hook", "split", "unflatten"}',
    'OPERATORS_IN_PYTHON = {"__floordiv__", "__ipow__", "__pow__", "__rdiv__", "__rfloordiv__", "__rlshift__"}',
    'NAMES: dict[str, str] = {"__abs__": "abs", "__add__": "add", "__ge__": "ge", "__iadd__": "add_"}',
    'ATTRIBUTES = name in ("H", "T", "imag", "mH", "mT", "real")',
    'IGNORED = {"from_numpy", "is_tensor", "tensor", "as_tensor", "asarray", "arange", "empty", "eye"}',
    'def f():\n    return {"sigmoid": 1, "logsumexp": 2, "relu_": 3, "exp": 4}',
    'NAMES = {0: "add", 1: "sub", 2: "mul", 3: "div"}',
    'TESTS = "isnan isinf isfinite isreal".split()',
]


@pytest.mark.parametrize("text", FORMER_LISTS)
def test_such_a_list_would_be_found(text: str) -> None:
    assert lists_of_operations(ast.parse(text)) != {}


def test_a_block_may_name_operations() -> None:
    names = "('sigmoid', 'logsumexp', 'softmax', 'relu')"
    assert lists_of_operations(ast.parse(f"@op\nclass relu(Unary):\n    node_names = {names}\n")) == {}
    assert lists_of_operations(ast.parse(f"@composite(samples, aliases={names})\ndef relu6(x):\n    pass\n")) == {}
    assert lists_of_operations(ast.parse(f"METHODS = dict.fromkeys({names})\n")) == {}
