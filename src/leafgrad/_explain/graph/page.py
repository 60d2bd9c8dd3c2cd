"""The interactive page: one HTML file with everything in it, which asks the network for nothing."""

from __future__ import annotations

import json
from importlib import resources
from string import Template

from leafgrad._explain.graph import drawing, layout
from leafgrad._explain.graph.drawing import Drawing, title_of
from leafgrad._explain.graph.look import css, escaped, shape


def page(picture: Drawing) -> str:
    legend = [
        f'<li><svg viewBox="-2 -2 24 16"><g class="{kind}">{shape(kind, 20, 12)}</g></svg>{escaped(text)}</li>'
        for kind, text in picture.legend()
    ]
    saved = any(item.saved for item in picture.contents.items)
    return Template(part("page.html")).substitute(
        title=escaped(title_of(picture)),
        css=part("page.css") + css("[data-theme=dark]"),
        saved='<button id="saved" aria-pressed="false">saved tensors</button>' if saved else "",
        legend="\n".join(legend),
        notes="\n".join([f"<div>{escaped(note)}</div>" for note in picture.notes()]),
        data=as_script(picture.description() | {"constants": constants()}),
        script=part("page.js"),
    )


def part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def as_script(value: object) -> str:
    """JSON that may stand in a script: `</script>` in a name must not end it."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def constants() -> dict[str, float]:
    """The measures that `page.js` shares with the static picture."""
    ours = ("MARGIN", "PADDING", "HEADER", "HEAD")
    theirs = ("BOX_GAP", "LINE_GAP", "STRIP", "BORDER_STRIP", "PLACE_SWEEPS")
    return {name: getattr(drawing, name) for name in ours} | {name: getattr(layout, name) for name in theirs}
