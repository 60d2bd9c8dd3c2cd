"""The graph in the language of the program `dot`, for those who want to draw it themselves."""

from __future__ import annotations

from collections.abc import Iterator

from leafgrad._explain.graph.contents import WITHOUT_GRADIENT, Contents
from leafgrad._explain.graph.groups import Group
from leafgrad._explain.graph.look import COLOURS

SHAPES = {"leaf": "ellipse", "filled": "ellipse", "input": "ellipse", "cut": "octagon", "unreached": "ellipse"}
STYLES = {"input": "filled,dashed", "unreached": "filled,dotted"}


def dot(contents: Contents, whole: Group) -> str:
    lines = ["digraph {", '  node [fontname="monospace", fontsize=10, shape=box]', *inside(whole, "  ")]
    for user, value in contents.edges:
        label = value.shape if value.item.kind == "op" else ""
        dashed = ", style=dashed" if value.item.kind in WITHOUT_GRADIENT else ""
        lines.append(f"  n{user.number} -> n{value.item.number} [label={quoted(label)}, fontsize=8{dashed}]")
    return "\n".join([*lines, "}"]) + "\n"


def inside(group: Group, indent: str) -> Iterator[str]:
    for child in group.children:
        fill, line, _ = COLOURS[child.kind][0]
        if isinstance(child, Group):
            yield f"{indent}subgraph cluster_{child.number} {{"
            yield f'{indent}  label={quoted(child.title)}; color="{line}"; fontname="monospace"; fontsize=11'
            yield from inside(child, indent + "  ")
            yield indent + "}"
        else:
            text = "\n".join([child.title, *child.lines, *([child.place.spot] if child.place else [])])
            shape, style = SHAPES.get(child.kind, "box"), STYLES.get(child.kind, "filled")
            look = f'shape={shape}, style="{style}", fillcolor="{fill}", color="{line}"'
            yield f"{indent}n{child.number} [label={quoted(text)}, {look}]"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
