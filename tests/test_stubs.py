"""The stubs that are checked in (and those that are installed) say what the declarations say."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import pytest

import leafgrad


def load_script() -> Any:
    path = Path(__file__).resolve().parents[1] / "tools" / "make_stubs.py"
    spec = importlib.util.spec_from_file_location("make_stubs", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = load_script()
STUBS: dict[Path, str] = SCRIPT.stubs()


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.name)
def test_stub_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == STUBS[path], "run python tools/make_stubs.py"


def test_every_public_name_is_in_the_stub() -> None:
    tree = ast.parse(STUBS[SCRIPT.PACKAGE / "__init__.pyi"])
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(ast.unparse(node.target))
        elif isinstance(node, ast.ImportFrom):
            names.update([alias.asname for alias in node.names if alias.asname])
    assert {name for name, _ in SCRIPT.public_names()} <= names
    assert names - {"StorageType", "TensorType"} <= set(dir(leafgrad)) | set(leafgrad._LATER)


def functions_of(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(STUBS[path])) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.name)
def test_every_function_says_what_it_takes_and_returns(path: Path) -> None:
    documented = set()
    for function in functions_of(path):
        known = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        assert all([p.annotation is not None or p.arg == "self" for p in known]), function.name
        assert function.returns is not None and ast.unparse(function.returns) != "Any", function.name
        if ast.get_docstring(function):
            documented.add(function.name)
    if path.name != "return_types.pyi":
        missing = {f.name for f in functions_of(path) if not f.name.startswith("__")} - documented
        assert not missing


def test_py_typed_is_there() -> None:
    assert (SCRIPT.PACKAGE / "py.typed").exists()
