"""For mkdocs: links from a page to files of the repository that are no pages get the address of the repository."""

from __future__ import annotations

import posixpath
import re
from typing import Any


def on_page_markdown(markdown: str, page: Any, config: Any, **others: Any) -> str:
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def whole(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        return match[0] if path.startswith("docs/") else f"]({config.repo_url.rstrip('/')}/blob/main/{path})"

    return re.sub(r"\]\((?![a-z]+:|#)([^)\s#]+)\)", whole, markdown)
