"""Pages of docs/ with programs in them: every `python` block is run, and prints what the `text` block after it says.

The blocks of a page share their names. A comment in the first line of a block may name the file that it is shown as in
messages. They run in a thread of their own that was started by Python's library, so that no frame of a test is taken
for a part of the user's program."""

from __future__ import annotations

import code
import contextlib
import io
import linecache
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README = DOCS.parent / "README.md"
PAGES = [README, DOCS / "how-it-works.md", DOCS / "explaining.md", *sorted((DOCS / "questions").glob("*.md"))]


class Snippet(NamedTuple):
    """A block of Python in a page, the line it begins at, and what it is to print."""

    line: int
    source: str
    printed: str


def snippets(text: str) -> list[Snippet]:
    """Every `python` block, with the `text` block that comes next if one does before another block of Python."""
    found: list[Snippet] = []
    answered = True
    for match in FENCED.finditer(text):
        language, content = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        if language == "python":
            found.append(Snippet(line, content, ""))
            answered = False
        elif language == "text":
            assert not answered, f"line {line}: output that no snippet prints"
            found[-1] = found[-1]._replace(printed=content)
            answered = True
        else:
            assert language == "py", f"line {line}: a block is `python`, `text` or (quoted from leafgrad) `py`"
    return found


def outputs(page: list[Snippet], name: str = "page.py") -> list[str]:
    """What the snippets of a page print, one after the other."""
    interpreter = code.InteractiveInterpreter({"__name__": "__main__"})
    printed: list[str] = []
    files: set[str] = set()
    with ThreadPoolExecutor(1) as thread, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of PyTorch, which pages explain better
        try:
            for snippet in page:
                named = re.match(r"# (\w+\.py)\n", snippet.source)
                file = named[1] if named else name
                lines = snippet.source.splitlines(keepends=True)
                linecache.cache[file] = (len(snippet.source), None, lines, file)
                files.add(file)
                captured = io.StringIO()
                with contextlib.redirect_stdout(captured), contextlib.redirect_stderr(captured):
                    thread.submit(interpreter.runcode, compile(snippet.source, file, "exec")).result()
                printed.append(captured.getvalue())
        finally:
            for file in files:
                linecache.cache.pop(file, None)
    return printed


def without_trailing_spaces(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def comparable(text: str) -> list[str]:
    """The lines of an output without the sizes of whole graphs: compiled nodes have another size."""
    return without_trailing_spaces(re.sub(r"\([\d.]+ [kM]?B, about [\d.]+ [kM]?B more a step\)", "(...)", text))


def check_snippets(text: str) -> int:
    """Run all snippets of a page, and return how many there are."""
    page = snippets(text)
    for snippet, printed in zip(page, outputs(page), strict=True):
        assert comparable(printed) == comparable(snippet.printed), (
            f"the snippet at line {snippet.line} printed\n{printed}"
        )
    return len(page)


def with_outputs(text: str) -> str:
    """A page whose `text` blocks say what the programs print now."""
    answers = iter(outputs(snippets(text)))
    answer = ""

    def filled(match: re.Match[str]) -> str:
        nonlocal answer
        if match[1] == "python":
            answer = next(answers)
        if match[1] != "text":
            return match[0]
        return "```text\n" + "\n".join(without_trailing_spaces(answer)) + "\n```"

    return FENCED.sub(filled, text)
