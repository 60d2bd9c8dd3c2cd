"""The pages of docs/: their programs print what the pages say, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import documents

EVERY_PAGE = [documents.README, *sorted(documents.DOCS.rglob("*.md"))]
QUESTIONS = sorted((documents.DOCS / "questions").glob("*.md"))


@pytest.mark.parametrize(
    "page", [documents.README, documents.DOCS / "explaining.md", *QUESTIONS], ids=lambda page: page.stem
)
def test_the_programs_print_what_the_page_says(page: Path) -> None:
    assert documents.check_snippets(page.read_text(encoding="utf-8")) > 0


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.stem)
def test_links_and_pictures_are_there(page: Path) -> None:
    text = documents.FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_question_is_on_the_first_page() -> None:
    first = (documents.DOCS / "index.md").read_text(encoding="utf-8")
    assert len(QUESTIONS) == 4
    for page in QUESTIONS:
        assert f"questions/{page.name}" in first
