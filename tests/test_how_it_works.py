"""The essay docs/how-it-works.md: its snippets print what it says, and the places it points to exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from documents import FENCED, check_snippets

ROOT = Path(__file__).resolve().parents[1]
ESSAY = ROOT / "docs" / "how-it-works.md"
PACKAGE = ROOT / "src" / "leafgrad"

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
POINTER = re.compile(r"`([\w/.-]+\.py)(?:: ([\w.]+))?`")  # `folder/file.py` or `folder/file.py: name`


# -- the snippets -----------------------------------------------------------------------------------------------------


def test_the_snippets_print_what_the_essay_says() -> None:
    assert check_snippets(ESSAY.read_text(encoding="utf-8")) > 15


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\nx = 1\n```\n\n```text\n1\n```\n",
        "```text\n1\n```\n",
        "```\nprint(1)\n```\n",
    ],
)
def test_another_output_is_noticed(text: str) -> None:
    with pytest.raises(AssertionError):
        check_snippets(text)


def test_snippets_share_their_names() -> None:
    assert check_snippets("```python\nx = 1\n```\ntext\n```python\nprint(x)\n```\n\n```text\n1\n```\n") == 2


def quotations(text: str) -> list[str]:
    """The `py` blocks, which are quoted from leafgrad."""
    return [content for language, content in FENCED.findall(text) if language == "py"]


def test_what_is_quoted_from_leafgrad_is_there() -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    quoted = quotations(ESSAY.read_text(encoding="utf-8"))
    assert quoted
    for block in quoted:
        assert any(block in source for source in sources), f"not in the source any more:\n{block}"


# -- the places -------------------------------------------------------------------------------------------------------


def names_in(path: Path) -> set[str]:
    """What a file defines: functions, classes and variables, and `Class.method`."""
    names: set[str] = set()

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                names.add(prefix + statement.name)
                if isinstance(statement, ast.ClassDef):
                    collect(statement.body, f"{prefix}{statement.name}.")
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names.update([prefix + target.id for target in targets if isinstance(target, ast.Name)])

    collect(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return names


def wrong_places(text: str) -> list[str]:
    """The links and pointers that lead nowhere. Pointers are relative to the package or to the repository."""
    prose = FENCED.sub("", text)
    wrong = []
    for label, target in LINK.findall(prose):
        if target.startswith(("https://", "#")):
            continue
        if not (ESSAY.parent / target).exists():
            wrong.append(target)
        elif (pointer := POINTER.fullmatch(label)) and (ESSAY.parent / target).resolve() != file_of(pointer[1]):
            wrong.append(f"{label} links to {target}")
    for path, name in POINTER.findall(prose):
        if not file_of(path).exists():
            wrong.append(path)
        elif name and name not in names_in(file_of(path)):
            wrong.append(f"{path}: {name}")
    return wrong


def file_of(path: str) -> Path:
    inside = PACKAGE / path
    return inside if inside.exists() else ROOT / path


def test_every_place_exists() -> None:
    text = ESSAY.read_text(encoding="utf-8")
    assert wrong_places(text) == []
    assert len(POINTER.findall(FENCED.sub("", text))) > 15


def test_a_missing_place_is_noticed() -> None:
    assert wrong_places("[here](../README.md), `errors/form.py: mistake`, [`_cli.py`](../src/leafgrad/_cli.py)") == []
    assert wrong_places("[here](../nowhere.md)") == ["../nowhere.md"]
    assert wrong_places("`errors/nowhere.py`") == ["errors/nowhere.py"]
    assert wrong_places("`errors/form.py: nothing`") == ["errors/form.py: nothing"]
    assert len(wrong_places("[`errors/form.py`](../README.md)")) == 1
