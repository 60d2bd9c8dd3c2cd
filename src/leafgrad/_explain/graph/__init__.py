"""`leafgrad.graph`: the graph behind a tensor as a picture, a page, a tree of text.

What is in it (`contents.py`) is put into the modules that recorded it (`groups.py`); `drawing.py` makes boxes of that,
for which `layout.py` finds places.

May import what `_explain` may.
"""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leafgrad._explain.graph.contents import collect
from leafgrad._explain.graph.dot import dot
from leafgrad._explain.graph.drawing import MOST_SEEN, Drawing
from leafgrad._explain.graph.groups import Arranging
from leafgrad._explain.graph.page import page
from leafgrad._explain.graph.svg import StaticPicture
from leafgrad._explain.graph.tree import Line, Tree, remark, short
from leafgrad._explain.names import Names
from leafgrad.errors.naming import is_tensor

__all__ = ["Graph", "graph"]

MOST_LINES = 60


def graph(loss: Any, model: Any = None, *, inner_gradients: bool = False) -> Graph:
    """graph(loss, model=None): what `loss.backward()` will go through, or has gone through.

        leafgrad.graph(loss, model).show()              # in a browser
        leafgrad.graph(loss, model).save("graph.svg")   # or .html, .dot, .txt
        print(leafgrad.graph(loss))                     # as a tree

    `loss` is a tensor, or several. Names are those of the program's variables; those of `model`, a Module or a dict of
    names, come first, and its parameters that the graph does not reach are shown as well. Gradients of leaves are read
    when the graph is drawn, so that one made before backward() shows them afterwards. `inner_gradients=True` computes
    the gradient of every value in between at once, without changing any `.grad`.
    """
    return Graph(tensors_in(loss), model, inner_gradients)


class Graph:
    """A graph to look at. In a notebook it shows itself."""

    def __init__(self, roots: list[Any], model: Any, inner_gradients: bool) -> None:
        names = Names(model)
        self._contents = collect(roots, names, model, inner_gradients)
        self._arranged = Arranging(self._contents, names)

    def _drawing(self, saved: bool = False) -> Drawing:
        self._contents.refresh()
        return Drawing(self._contents, self._arranged, saved)

    def text(self, most: int = MOST_LINES) -> str:
        """text(): a tree, for a terminal. Modules are opened as long as it has no more than `most` lines or so."""
        drawing = self._drawing()
        outputs = [item for item in self._contents.items if item.kind == "output"]
        tree = Tree(self._contents, outputs, drawing.first_open(most))
        behind = {id(value.item) for _, value in self._contents.edges}
        unreached = [item for item in self._contents.items if item.kind == "unreached" and id(item) not in behind]
        if unreached:
            tree.lines += [Line("", ""), Line("not reached:", "")]
            tree.lines += [Line(f"  {short(item)}", remark(item)) for item in unreached]
        freed = self._contents.freed
        return tree.text() + "\n" + (f"\nfreed   {freed}\n" if freed is not None else "")

    def svg(self, *, most: int = MOST_SEEN, saved: bool = False) -> str:
        """svg(): a picture. Modules are open, the outermost first, as long as no more than `most` boxes are seen; with
        `saved`, what operations keep for the backward pass is shown in them."""
        drawing = self._drawing(saved)
        return StaticPicture(drawing, drawing.first_open(most)).text()

    def html(self) -> str:
        """html(): a page on which modules open and close, with search, zoom, and tooltips. It needs no network."""
        return page(self._drawing())

    def dot(self) -> str:
        """dot(): the graph for the program of that name, modules as clusters."""
        self._contents.refresh()
        return dot(self._contents, self._arranged.whole)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """save(path): write .svg, .html, .dot or .txt, by the end of the path."""
        file = Path(path)
        forms = {".svg": self.svg, ".html": self.html, ".dot": self.dot, ".txt": self.text}
        form = forms.get(file.suffix.lower())
        if form is None:
            raise ValueError(f"a graph is saved as .svg, .html, .dot or .txt, not as {file.suffix or 'that'}: {file}")
        file.write_text(form(), encoding="utf-8")
        return file

    def show(self) -> Path:
        """show(): open the page in a browser. Returns the file, which lies in the folder for temporary files."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="graph_", delete=False, encoding="utf-8") as file:
            file.write(self.html())
        path = Path(file.name)
        webbrowser.open(path.as_uri())
        return path

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        # in a frame of its own, so that its style and script do not meet those of the notebook
        return f'<iframe srcdoc="{html.escape(self.html())}" style="width:100%;height:560px;border:0"></iframe>'

    def _repr_svg_(self) -> str:
        return self.svg()


def tensors_in(loss: Any) -> list[Any]:
    if is_tensor(loss):
        return [loss]
    tensors = list(loss) if isinstance(loss, Iterable) and not isinstance(loss, str | Mapping) else []
    if not tensors or not all([is_tensor(tensor) for tensor in tensors]):
        raise TypeError(f"expected a tensor or several tensors to start from, got {type(loss).__name__}")
    return tensors
