"""How the things in a picture look: colours, shapes, and how much room their text takes."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

from leafgrad._explain.graph.layout import Size

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
TITLE, SMALL, LABEL = 12.5, 10.0, 9.0  # font sizes
CHARACTER = 0.61  # width of a monospace character, as a part of the font size
LONGEST = 40  # characters in a line of a box
THINNEST, THICKEST = 1.3, 7.0  # lines, by the size of the gradient
DECADES = 4.0  # powers of ten between the thickest line and the thinnest

# Kind -> fill, line and title; on a light page and on a dark one.
COLOURS = {
    "output": (("#fff3c4", "#b58105", "#4d2d00"), ("#4a3a10", "#d9a520", "#ffe9a8")),
    "op": (("#ffffff", "#8c959f", "#1f2328"), ("#22272e", "#768390", "#dfe5ec")),
    "module": (("#eaeefb", "#6b7fd7", "#1d2b6b"), ("#262d47", "#8595e0", "#d3dbff")),
    "block": (("#f0eef6", "#9a8fb5", "#43386b"), ("#2e2a3a", "#9a8fb5", "#e0d8f5")),
    "leaf": (("#ffffff", "#2da44e", "#116329"), ("#1c2620", "#3fb950", "#aff0bd")),
    "filled": (("#c9f2d3", "#2da44e", "#0b4a1e"), ("#1d4a2b", "#3fb950", "#d5ffde")),
    "input": (("#f2f2f2", "#8c8c8c", "#555555"), ("#2b2b2b", "#858585", "#bdbdbd")),
    "cut": (("#ffe3e0", "#d1242f", "#82061e"), ("#4b1a1d", "#f85149", "#ffd0cc")),
    "unreached": (("#ffffff", "#a8a8a8", "#777777"), ("#202020", "#6a6a6a", "#9a9a9a")),
    "saved": (("#ffe8cc", "#d9730d", "#7a3e00"), ("#4a2f10", "#e08a3c", "#ffdcb8")),
}
DASHED = {"input": "5 3", "cut": "none", "unreached": "2 3"}
# background, lines and arrow heads, small text, lines of a nan gradient
PAGE = (("#ffffff", "#6e7781", "#57606a", "#d1242f"), ("#16191d", "#8b949e", "#a3abb5", "#ff6b63"))


def css(dark: str = "") -> str:
    """The rules for everything that is drawn. A dark page is one on which the selector `dark` matches something;
    without one, that which the system prefers."""
    shared = [
        f".leafgrad text{{font-family:{FONT};font-size:{SMALL:g}px}}",
        f".leafgrad .title{{font-size:{TITLE:g}px}}",
        f".leafgrad .label text{{font-size:{LABEL:g}px;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}}",
        f".leafgrad .label .title{{font-size:{TITLE:g}px;stroke-width:6px}}",
        ".leafgrad .edge{fill:none}.leafgrad .edge.none{stroke-dasharray:4 3}",
        ".leafgrad .frame>.shape{fill-opacity:.35}",
        *[f".leafgrad .{kind}>.shape{{stroke-dasharray:{dashes}}}" for kind, dashes in DASHED.items()],
    ]
    by_night = "\n".join(_colours(1, f"{dark} .leafgrad" if dark else ".leafgrad"))
    return "\n".join(
        [*shared, *_colours(0, ".leafgrad"), by_night if dark else f"@media (prefers-color-scheme:dark){{{by_night}}}"]
    )


def _colours(page: int, inside: str) -> Iterable[str]:
    background, line, text, nan = PAGE[page]
    yield f"{inside} .page{{fill:{background}}}{inside} .edge{{stroke:{line}}}{inside} .head{{fill:{line}}}"
    yield f"{inside} text{{fill:{text}}}{inside} .label text{{stroke:{background}}}"
    yield f"{inside} .edge.nan{{stroke:{nan}}}{inside} .head.nan{{fill:{nan}}}"
    for kind, colours in COLOURS.items():
        fill, border, title = colours[page]
        yield f"{inside} .{kind}>.shape{{fill:{fill};stroke:{border}}}{inside} .{kind}>.title{{fill:{title}}}"
        yield f"{inside} .{kind}>.mark{{stroke:{border}}}"


def shape(kind: str, width: float, height: float) -> str:
    """The outline of a box, from (0, 0) on."""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    if kind == "cut":  # a piece that was torn off: its corners are cut
        c = min(9.0, height / 3)
        points = [(c, 0), (width - c, 0), (width, c), (width, height - c), (width - c, height), (c, height)]
        corners = " ".join([f"{x:.1f},{y:.1f}" for x, y in [*points, (0, height - c), (0, c)]])
        return f'<polygon class="shape" points="{corners}" stroke-width="2"/>'
    if kind in ("leaf", "filled", "input", "unreached"):
        return f'<rect class="shape" {size} rx="{min(height / 2, 16):.1f}" stroke-width="1.4"/>'
    if kind == "output":
        inner = f'x="3" y="3" width="{width - 6:.1f}" height="{height - 6:.1f}" rx="4"'
        return f'<rect class="shape" {size} rx="7" stroke-width="1.4"/><rect class="shape" {inner} stroke-width="0.8"/>'
    if kind in ("module", "block"):  # a stack
        behind = f'<rect class="shape" x="4" y="4" {size} rx="6" stroke-width="1"/>'
        return f'{behind}<rect class="shape" {size} rx="6" stroke-width="1.4"/>'
    if kind == "saved":
        fold = f"M0 0H{width - 6:.1f}L{width:.1f} 6V{height:.1f}H0Z"
        return f'<path class="shape" d="{fold}" stroke-width="1"/>'
    return f'<rect class="shape" {size} rx="3" stroke-width="1.2"/>'


def text_width(text: str, font: float) -> float:
    if text.isascii():
        return CHARACTER * font * len(text)
    wide = sum([2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text])
    return CHARACTER * font * wide


def box_size(kind: str, lines: Sequence[str], saved: Sequence[str] = ()) -> Size:
    title, *small = [shortened(line) for line in lines]
    mark = 18 if kind in ("module", "block") else 0
    widths = [text_width(title, TITLE) + 26 + mark, *[text_width(line, SMALL) + 22 for line in small]]
    widths += [text_width(shortened(line), SMALL) + 34 for line in saved]
    return Size(max(widths), 27.0 + 13.0 * len(small) + 19.0 * len(saved) + (4.0 if small or saved else 0.0))


def box(kind: str, lines: Sequence[str], size: Size, saved: Sequence[str] = ()) -> str:
    """A closed box, from (0, 0) on."""
    centre, y = size.width / 2, 18.0
    title = escaped(shortened(lines[0]))
    mark = ""
    if kind in ("module", "block"):
        mark = f'<path class="mark" d="M{size.width - 14:.1f} 9h7M{size.width - 10.5:.1f} 5.5v7"/>'
    parts = [
        shape(kind, *size),
        f'<text class="title" x="{centre:.1f}" y="{y:g}" text-anchor="middle">{title}</text>',
        mark,
    ]
    for line in lines[1:]:
        y += 13
        parts.append(f'<text x="{centre:.1f}" y="{y + 2:g}" text-anchor="middle">{escaped(shortened(line))}</text>')
    y += 8
    for line in saved:
        width = text_width(shortened(line), SMALL) + 16
        text = f'<text class="title" x="8" y="11.5" style="font-size:{SMALL:g}px">{escaped(shortened(line))}</text>'
        place = f'transform="translate({centre - width / 2:.1f} {y:.1f})"'
        parts.append(f'<g class="saved" {place}>{shape("saved", width, 16)}{text}</g>')
        y += 19
    return "".join(parts)


def shortened(line: str) -> str:
    """Long names keep both ends, which tell more than the middle; the tooltip has the whole."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2 - 1]}…{line[-LONGEST // 2 :]}"


def escaped(text: str) -> str:
    """For use in XML, which cannot hold some control characters at all."""
    return html.escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text))
