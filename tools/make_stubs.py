"""Writes the stubs that type checkers and editors read for what is put together at run time: the functions of
`leafgrad` and of its namespaces, the methods of Tensor that are operations, and the named results.
And leafgrad/ops/names.py, which knows in which module each of them is.

    python tools/make_stubs.py           writes them
    python tools/make_stubs.py --check   says which of them are not up to date

All of it comes from the declarations (leafgrad/ops/signature.py), so a new operation needs nothing here.
"""

from __future__ import annotations

import functools
import re
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import Signature
from pathlib import Path
from typing import Any

import leafgrad
import leafgrad.return_types
from leafgrad import _missing
from leafgrad._device import layout, memory_format
from leafgrad._missing import Absent, Later
from leafgrad._tensor import install
from leafgrad._tensor.op_methods import OpMethods
from leafgrad.ops.creation.legacy import TensorType
from leafgrad.ops.registry import entries
from leafgrad.ops.shape.storage import StorageType
from leafgrad.ops.signature import Declaration, Text

PACKAGE = Path(leafgrad.__file__).parent
NOTE = "# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.\n"
WORDS = "Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape"
# Modules and tensors have attributes called `int`, `float`, `bool`, ..., which would be found first.
BUILTIN = re.compile(r"(?<![\w.\"'])(bool|complex|float|int|object|str|type)(?![\w\"'])")

FUNCTIONAL = [*PACKAGE.glob("nn/_functional/[!_]*.py")]

# What the operators take; those that are not here take a tensor or a number.
OPERATORS = {
    "__neg__": "", "__pos__": "", "__invert__": "", "__abs__": "",
    "__matmul__": ", other: Tensor", "__rmatmul__": ", other: Tensor",
    "__getitem__": ", index: Any", "__setitem__": ", index: Any, value: Tensor | Number", "__delitem__": ", index: Any",
}  # fmt: skip
OF_TENSOR_BASE = ("__add__", "__radd__", "__sub__", "__mul__", "__rmul__", "__truediv__", "__neg__")
OLD_PYTHON = ("__div__", "__rdiv__", "__idiv__")


def main() -> int:
    stale = [path for path, text in stubs().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} is not up to date: run python tools/make_stubs.py")
        return bool(stale)
    for path in stale:
        path.write_text(stubs()[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


def stubs() -> dict[Path, str]:
    """The text of each stub."""
    for place in places():
        install.install(import_module(f"leafgrad.{place}"))
    return {
        PACKAGE / "__init__.pyi": functions_stub(),
        PACKAGE / "_tensor" / "op_methods.pyi": methods_stub(),
        PACKAGE / "nn" / "__init__.pyi": classes_stub("nn"),
        **{namespace_file(name): namespace_stub(name) for name in placed() if name != "nn"},
        PACKAGE / "return_types.pyi": results_stub(),
        PACKAGE / "ops" / "names.py": names_module(),
    }


# -- where they are ---------------------------------------------------------------------------------------------------


def places() -> list[str]:
    """The modules that have operations, or functions or methods that are none."""
    files = [*PACKAGE.glob("ops/*/*.py"), *PACKAGE.glob("ops/*.py"), *PACKAGE.glob("_tensor/*.py")]
    found = [file.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".") for file in sorted(files)]
    modules = {
        place: import_module(f"leafgrad.{place}") for place in found if not place.endswith((".__init__", ".names"))
    }
    return [
        place
        for place, module in modules.items()
        if entries(module.__name__) or hasattr(module, "FUNCTIONS") or hasattr(module, "METHODS")
    ]


@functools.cache
def placed() -> dict[str, dict[str, dict[str, Any]]]:
    """What is in namespaces such as `leafgrad.linalg`, by their names and by the modules that have it."""
    layers = [file.relative_to(PACKAGE) for file in sorted([*PACKAGE.glob("nn/modules/[!_]*.py"), *FUNCTIONAL])]
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for place in [*places(), *[file.with_suffix("").as_posix().replace("/", ".") for file in layers]]:
        for namespace, there in install.placed_in(import_module(f"leafgrad.{place}")).items():
            if there:
                found.setdefault(namespace, {})[place] = there
    return dict(sorted(found.items()))


def names_module() -> str:
    modules = {place: import_module(f"leafgrad.{place}") for place in places()}
    functions = {place: found for place, m in modules.items() if (found := set(install.functions_in(m)))}
    on_tensor = {place: install.methods_in(module) for place, module in modules.items()}
    attributes = {name for found in on_tensor.values() for name, value in found.items() if isinstance(value, property)}
    methods = {place: set(found) for place, found in on_tensor.items() if found}
    others = [place for place, found in on_tensor.items() if not found]
    doc = "Which module has a function of `leafgrad`, or a method of Tensor: it is imported when one is first used."
    text = [NOTE, f'"""{doc}"""\n', "# fmt: off"]
    for title, found in (("FUNCTIONS", functions), ("METHODS", methods)):
        text += [f"{title}: dict[str, str] = {{", *[row(place, names) for place, names in found.items()], "}"]
    text += ["OTHERS = (  # the modules without methods", *[f'    "{line} "' for line in wrapped(others)], ")"]
    text.append("PLACES: dict[str, dict[str, str]] = {  # the same for namespaces")
    for namespace, there in placed().items():
        rows = [textwrap.indent(row(place, set(names)), "    ") for place, names in there.items()]
        text += [f'    "{namespace}": {{', *rows, "    },"]
    text.append("}")
    there = {name for cls in leafgrad.Tensor.__mro__ for name in vars(cls) if not isinstance(vars(cls)[name], Absent)}
    absent = [name for name in _missing.torch_names()["torch.Tensor"] if name not in there]
    text += ["ABSENT = (  # methods of PyTorch's tensors", *[f'    "{line} "' for line in wrapped(absent)], ")"]
    text.append(f"ATTRIBUTES = {tuple(sorted(attributes))}  # of METHODS, those that are no methods")
    return "\n".join(text) + "\n"


def wrapped(names: Iterable[str]) -> list[str]:
    return textwrap.wrap(" ".join(sorted(names)), 104)


def row(place: str, names: set[str]) -> str:
    """The names that a module has, in lines that are not too long."""
    lines = wrapped(names) or [""]
    if len(lines) == 1 and len(place) + len(lines[0]) < 106:
        return f'    "{place}": "{lines[0]}",'
    return "\n".join([f'    "{place}": (', *[f'        "{line} "' for line in lines], "    ),"])


# -- functions --------------------------------------------------------------------------------------------------------


def functions_stub() -> str:
    imports = {"leafgrad._tensor.tensor": ["Tensor"], "leafgrad.ops.creation.legacy": ["TensorType"]}
    imports["leafgrad.ops.shape.storage"] = ["StorageType"]
    names: list[str] = []
    functions: list[str] = []
    for name, value in public_names():
        if value is None and name != "newaxis":
            imports.setdefault("leafgrad", []).append(name)
        elif isinstance(value, types.FunctionType) and isinstance(getattr(value, "__wrapped__", None), Declaration):
            functions += function_stub(name, value, value.__wrapped__.as_method(False))
        elif isinstance(value, (type, types.FunctionType)) and not isinstance(value, (TensorType, StorageType)):
            imports.setdefault(value.__module__, []).append(name)
        else:
            names.append(f"{name}: {type_of(value)}")
    text = [NOTE, "import builtins", "from collections.abc import Sequence"]
    text += ["from typing import Any, Literal, overload\n"]
    for module, imported in sorted(imports.items()):
        text += [f"from {module} import {name} as {name}" for name in sorted(set(imported))]
    text += [f"from leafgrad.ops.signature import {WORDS}\n"]
    return "\n".join([*text, *names, "", *functions]) + "\n"


def public_names() -> Iterator[tuple[str, Any]]:
    """The names of `leafgrad` for users and what they mean; of modules (which are None here) those that a program need
    not import itself."""
    modules = {"autograd", "ops", "return_types", *[name for name, place in leafgrad._LATER.items() if name == place]}
    for name in sorted({*vars(leafgrad), *leafgrad._LATER} - {"Any", "annotations"}):
        if name in modules:
            yield name, None
        elif not name.startswith("_") and not isinstance(getattr(leafgrad, name), types.ModuleType):
            yield name, getattr(leafgrad, name)
    yield "__version__", leafgrad.__version__


def type_of(value: Any) -> str:
    """The type of a constant."""
    known: tuple[type, ...] = (leafgrad.dtype, layout, memory_format, TensorType, StorageType, leafgrad.Generator)
    for kind in known:
        if isinstance(value, kind):
            return kind.__name__
    return "None" if value is None else f"builtins.{type(value).__name__}"


def function_stub(name: str, function: Any, declaration: Declaration, indent: str = "") -> list[str]:
    """The definition of a function, once for each form of its call, the documentation with the first."""
    found = declaration.all_signatures()
    lines = []
    for number, signature in enumerate(found):
        if len(found) > 1:
            lines.append(f"{indent}@overload")
        body = " ..." if number else f'\n{indent}    """{one_line(function.__doc__)}"""'
        lines.append(f"{indent}def {name}{parameters_text(name, signature)}:{body}")
    return lines


def parameters_text(name: str, signature: Signature) -> str:
    """The parameters and the result as they are written in a stub. What ends in an underscore returns its tensor."""
    in_place = "self" in signature.parameters and name.endswith("_")
    text = str(signature.replace(return_annotation=Text("Self")) if in_place else signature)
    return BUILTIN.sub(r"builtins.\1", text).replace("Tensors", "Sequence[Tensor]")


def one_line(doc: str | None) -> str:
    """The documentation without the parameters that stand before it, in one line."""
    text = " ".join((doc or "").split())
    return re.sub(r"^(\w+\([^:]*\)(, )?)+(, each with [^:]*)?: ", "", text).replace('"', "'")


def namespace_file(namespace: str) -> Path:
    return PACKAGE / f"{namespace.replace('.', '/')}.pyi"


def namespace_stub(namespace: str) -> str:
    """The functions of a namespace."""
    text = [
        NOTE,
        "import builtins",
        "from collections.abc import Sequence",
        "from typing import Any, Literal, overload\n",
    ]
    text += ["from leafgrad import return_types", "from leafgrad._tensor.tensor import Tensor"]
    text += [f"from leafgrad.ops.signature import {WORDS}", "from leafgrad.random import Generator\n"]
    functions = {name: function for there in placed()[namespace].values() for name, function in there.items()}
    for name in sorted(functions):
        text += function_stub(name, functions[name], declaration_of(functions[name]))
    return "\n".join(text) + "\n"


def classes_stub(namespace: str) -> str:
    """The modules and classes of a package: where each of them is."""
    folder = PACKAGE / namespace
    files = [file.stem for file in folder.glob("[!_]*.py")]
    files += [file.parent.name for file in folder.glob("[!_]*/__init__.py")]
    text = [NOTE, *[f"from leafgrad.{namespace} import {name} as {name}" for name in sorted(files)]]
    package = import_module(f"leafgrad.{namespace}")
    here = {name: value for there in placed()[namespace].values() for name, value in there.items()}
    classes = {**{name: value for name, value in vars(package).items() if name in package.__all__}, **here}
    for name, value in sorted(classes.items()):
        if not isinstance(value, types.ModuleType):
            text.append(f"from {value.__module__} import {name} as {name}")
    return "\n".join(text) + "\n"


def declaration_of(function: Any) -> Declaration:
    found = getattr(function, "__wrapped__", None)
    return found.as_method(False) if isinstance(found, Declaration) else Declaration(function)


# -- methods ----------------------------------------------------------------------------------------------------------


def methods_stub() -> str:
    text = [
        NOTE,
        "import builtins",
        "from collections.abc import Sequence",
        "from typing import Any, Literal, Self, overload\n",
        "from leafgrad import return_types",
        "from leafgrad._tensor.tensor import Tensor",
        "from leafgrad.ops.shape.storage import StorageType, TypedStorage, UntypedStorage",
        f"from leafgrad.ops.signature import {WORDS}",
        "from leafgrad.random import Generator\n",
        "class OpMethods:",
    ]
    found = {**{name: None for name in OF_TENSOR_BASE}, **vars(OpMethods)}
    found = {name: value for name, value in found.items() if not isinstance(value, (Absent, Later))}  # gone
    for name in sorted(found):
        value = found[name]
        if isinstance(value, property):
            text += ["    @property", f"    def {name}(self) -> Tensor:", f'        """{one_line(value.__doc__)}"""']
        elif name.startswith("__"):
            text += operator_stub(name) if value is None or callable(value) else []
        else:
            declaration = getattr(value, "__wrapped__", None)
            if not isinstance(declaration, Declaration):
                raise TypeError(f"the method {name} is not declared")
            text += function_stub(name, value, declaration.as_method(), "    ")
    return "\n".join(text) + "\n"


def operator_stub(name: str) -> list[str]:
    if name in OLD_PYTHON:
        return []
    takes = OPERATORS.get(name, ", other: Tensor | Number")
    in_place = name.startswith("__i") and name != "__invert__"
    returns = "None" if name in ("__setitem__", "__delitem__") else "Self" if in_place else "Tensor"
    ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    return [f"    def {name}(self{takes}) -> {returns}: ...{ignored}"]


# -- named results ----------------------------------------------------------------------------------------------------


def results_stub() -> str:
    text = [NOTE, "from leafgrad._tensor.tensor import Tensor\n", "class NamedResult(tuple[Tensor, ...]):"]
    text += ["    n_fields: int", "    n_sequence_fields: int", "    n_unnamed_fields: int"]
    text += ["\ndef named_result(name: str, *fields: str) -> type[NamedResult]: ..."]
    for name, kind in sorted(vars(leafgrad.return_types).items()):
        fields = getattr(kind, "__match_args__", ())
        if fields:
            text.append(f"\nclass {name}(NamedResult, tuple[{', '.join(['Tensor'] * len(fields))}]):")
            text += [line for field in fields for line in ("    @property", f"    def {field}(self) -> Tensor: ...")]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    sys.exit(main())
