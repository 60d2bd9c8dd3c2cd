"""Pictures are complete and tidy: nothing overlaps, no arrow crosses a box, everything is in the legend."""

from __future__ import annotations

import itertools
import json
import random
import re
import webbrowser
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad._explain.graph.contents import KINDS
from leafgrad._explain.graph.layout import Arrow, Level, Size, Sizes, place, routes
from leafgrad._explain.graph.look import CHARACTER, LABEL, SMALL, TITLE
from transformer import Transformer, transformer_loss

SVG = "{http://www.w3.org/2000/svg}"


class Drawn(NamedTuple):
    kind: str
    lines: list[str]
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Drawn) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


def layer(svg: str, name: str) -> list[ET.Element]:
    """The groups in a layer of the picture: frames, edges, label or boxes."""
    (found,) = [group for group in ET.fromstring(svg).iter(f"{SVG}g") if group.get("class") == name]
    return list(found)


def moved(group: ET.Element) -> tuple[float, float]:
    x, y = re.findall(r"[-\d.]+", group.get("transform", "0 0"))
    return float(x), float(y)


def boxes_of(svg: str, name: str = "boxes") -> list[Drawn]:
    found = []
    for group in layer(svg, name):
        x, y = moved(group)
        outline = next(part for part in group if part.get("class") == "shape" and not part.get("x"))
        numbers = [float(n) for n in re.findall(r"[\d.]+", outline.get("points", ""))]
        width = float(outline.get("width") or max(numbers[::2]))
        height = float(outline.get("height") or max(numbers[1::2]))
        lines = [text.text or "" for text in group.iter(f"{SVG}text")]
        found.append(Drawn(str(group.get("class")).split()[0], lines, x, y, x + width, y + height))
    return found


def labels_of(svg: str) -> list[Drawn]:
    found = []
    for part in layer(svg, "label"):
        x0, y0 = moved(part) if part.tag.endswith("g") else (0.0, 0.0)
        text = part if part.tag.endswith("text") else part[0]
        words = text.text or ""
        font = TITLE if text.get("class") == "title" else LABEL
        x, y, width = x0 + float(text.get("x", 0)), y0 + float(text.get("y", 0)), len(words) * CHARACTER * font
        if text.get("text-anchor") == "end":
            x -= width
        found.append(Drawn("label", [words], x, y - font * 0.8, x + width, y + font * 0.15))
    return found


def points_of(svg: str) -> list[tuple[float, float]]:
    """Points on all arrows, densely. A vertical piece is a bend whose four points are on a line."""
    points = []
    for path in layer(svg, "edges"):
        if not str(path.get("class")).startswith("edge"):
            continue
        x = y = 0.0
        for command, numbers in re.findall(r"([MVC])([^MVC]+)", path.get("d", "")):
            values = [float(number) for number in numbers.split()]
            if command == "M":
                x, y = values
                continue
            ends = values if command == "C" else [x, y, x, values[0], x, values[0]]
            for step in range(31):
                t = step / 30
                weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]
                xs, ys = [x, *ends[0::2]], [y, *ends[1::2]]
                points.append((sum(map(float.__mul__, weights, xs)), sum(map(float.__mul__, weights, ys))))
            x, y = ends[-2:]
    return points


def check_tidy(svg: str) -> list[Drawn]:
    boxes, labels = boxes_of(svg), labels_of(svg)
    for a, b in itertools.combinations(boxes, 2):
        assert not a.meets(b), (a, b)
    for a, b in itertools.combinations(labels, 2):
        assert not a.meets(b), (a, b)
    for label, box in itertools.product(labels, boxes):
        assert not label.meets(box), (label, box)
    for x, y in points_of(svg):
        for box in boxes:
            assert not (box.left + 0.3 < x < box.right - 0.3 and box.top + 0.3 < y < box.bottom - 0.3), (x, y, box)
    for box in boxes:
        for size, line in zip([TITLE] + [SMALL] * 9, box.lines, strict=False):
            assert len(line) * size * CHARACTER < box.right - box.left, box
    sizes = re.search(r'<svg.* width="(\d+)" height="(\d+)"(?s:.*?)translate\((\S+) (\S+)\)', svg)
    assert sizes
    width, height, dx, dy = map(float, sizes.groups())
    for box in [*boxes, *boxes_of(svg, "frames")]:
        assert box.left >= 0 and box.top >= 0 and box.right + dx < width and box.bottom + dy < height
    legend = ET.tostring(next(g for g in ET.fromstring(svg).iter(f"{SVG}g") if g.get("class") == "legend")).decode()
    for kind in {box.kind for box in boxes}:
        assert f'class="{kind}"' in legend
    return boxes


class Random(nn.Module):
    """Random operations, some of them in modules."""

    def __init__(self, seed: int, depth: int) -> None:
        super().__init__()
        self.choose = random.Random(seed)
        self.inner = nn.ModuleList([Random(seed * 7 + i, depth - 1) for i in range(2)] if depth else [])
        self.weight = nn.Parameter(torch.randn(3))
        self.longer_name_of_a_scale = nn.Parameter(torch.randn(1, 3))

    def forward(self, *inputs: Any) -> Any:
        things = [*inputs, self.weight, self.longer_name_of_a_scale]
        for _ in range(self.choose.randint(2, 7)):
            a, b = self.choose.choices(things[-4:], k=2)
            kind = self.choose.randrange(6 if self.inner else 4)
            if kind == 0:
                things += (a + b).reshape(-1).unbind()
            else:
                things.append([a * b, a.tanh(), (a - b).reshape(1, -1)][kind % 3])
            if kind > 3:
                things.append(self.choose.choice(list(self.inner))(a, b))
        return sum([thing.sum() for thing in things[-3:]])


@pytest.mark.parametrize("seed", range(12))
def test_any_graph_is_drawn_tidily(seed: int) -> None:
    model = Random(seed, 2)
    x, y = torch.ones(3), torch.ones(3, requires_grad=True)
    loss = model(x, y).sum()
    graph = torch.graph(loss, model)
    for most in (1, 15, 1000):
        check_tidy(graph.svg(most=most))
    loss.backward()
    check_tidy(graph.svg(saved=True))


def test_all_operations_and_leaves_are_drawn() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    loss = nn.functional.mse_loss(model(x), y)
    graph = torch.graph(loss, model)
    boxes = {(box.kind, *box.lines[:2]) for box in check_tidy(graph.svg())}
    assert [box.lines[0] for box in check_tidy(graph.svg())].count("Addmm") == 2
    assert {("leaf", "0.weight", "(8, 4) float32"), ("leaf", "2.bias", "(1,) float32")} < boxes
    assert {("input", "x", "(32, 4) float32"), ("input", "y", "(32, 1) float32")} < boxes
    titles = [box.lines[0] for box in labels_of(graph.svg())]
    assert {"model: Sequential", "0: Linear", "2: Linear", "(32, 8)", "(32, 1)"} <= set(titles)
    closed = check_tidy(graph.svg(most=1))
    assert ("module", "model: Sequential", "3 operations, 4 parameters") in {(b.kind, *b.lines[:2]) for b in closed}
    loss.backward()
    filled = [box for box in check_tidy(graph.svg()) if box.kind == "filled"]
    assert len(filled) == 4 and all(box.lines[-1].startswith("grad norm ") for box in filled)
    top = {box.lines[0]: box.top for box in boxes_of(graph.svg())}
    assert top["loss"] < top["MseLoss"] < top["Relu"] < top["x"]


def test_width_of_lines_is_the_size_of_the_gradient() -> None:
    small = torch.full((1,), 1e-3, requires_grad=True)
    large = torch.ones(1, requires_grad=True)
    nan = torch.full((1,), float("nan"), requires_grad=True)
    loss = (small * 100 + large * 1e-3 + nan.sqrt() * 0).sum()
    loss.backward()
    drawn = [
        (path.get("class"), float(path.get("stroke-width", 0))) for path in layer(torch.graph(loss).svg(), "edges")
    ]
    widths = [width for kind, width in drawn if kind == "edge"]
    assert max(widths) == 7.0 and min(widths) == 1.3
    assert ("edge nan", 7.0) in drawn
    inner = [path.get("class") for path in layer(torch.graph((large * 2).sum(), inner_gradients=True).svg(), "edges")]
    assert "edge" in inner


def test_saved_tensors_are_listed_when_asked_for() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    loss = x.exp().sum()
    graph = torch.graph(loss)
    assert "result (2, 3), 24 B" in graph.svg(saved=True)
    assert "<title>Exp\n" in graph.svg() and "saves result (2, 3), 24 B" in graph.svg()
    assert 'class="saved"' not in graph.svg()


def test_text_is_escaped_and_long_names_are_shortened() -> None:
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    long = "encoder.layers.11.self_attention.output_projection.weight"
    loss = x * y
    graph = torch.graph(loss, {'<b>&"\x00\x1b</script>': x, long: y})
    titles = [box.lines[0] for box in check_tidy(graph.svg())]
    assert '<b>&"\ufffd\ufffd</script>' in titles
    assert any(len(title) < len(long) and title.startswith("encoder.") and title.endswith("weight") for title in titles)
    assert long in graph.svg()  # in the tooltip
    assert graph.html().count("</script>") == 1


def test_wide_characters_get_room() -> None:
    narrow, wide = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    boxes = check_tidy(torch.graph(narrow * wide, {"a" * 20: narrow, "重" * 20: wide}).svg())
    widths = {box.lines[0][0]: box.right - box.left for box in boxes}
    assert widths["重"] > 1.5 * widths["a"]


def test_many_operations_are_put_into_blocks() -> None:
    h, w = torch.ones(1, 2), torch.ones(2, 2, requires_grad=True)
    for _ in range(200):
        h = (h @ w).tanh() * 0.5
    boxes = check_tidy(torch.graph(h).svg())
    blocks = [box for box in boxes if box.kind == "block"]
    assert 10 < len(blocks) < 20 and len(boxes) < 25
    assert blocks[0].lines[:2] == ["steps 1 – 39", "39 operations"]  # whole rounds of the loop
    assert sum([int(box.lines[1].split()[0]) for box in blocks]) == 600


def test_unreached_parameters_are_put_together() -> None:
    used = torch.ones(1, requires_grad=True)
    loss = used * 2
    many = {f"p{n}": torch.ones(n, requires_grad=True) for n in range(30)}
    boxes = check_tidy(torch.graph(loss, many).svg())
    assert [box.lines[0] for box in boxes if box.kind == "block"] == ["30 parameters not reached"]
    few = {f"p{n}": torch.ones(n, requires_grad=True) for n in range(3)}
    assert [box.lines[0] for box in check_tidy(torch.graph(loss, few).svg()) if box.kind == "unreached"] == [*few]


def test_several_roots() -> None:
    x = torch.ones(2, requires_grad=True)
    hidden = x.exp()
    deep = hidden.sin().sum()
    boxes = check_tidy(torch.graph([deep, hidden, x]).svg())
    assert [box.lines[0] for box in boxes if box.kind == "output"] == ["deep", "hidden", "x"]


def test_a_transformer_opens_closed() -> None:
    model = Transformer()
    graph = torch.graph(transformer_loss(model), model)
    boxes = check_tidy(graph.svg())
    assert len(boxes) < 20 and "blocks.2: Block" in [box.lines[0] for box in boxes]
    assert len(check_tidy(graph.svg(most=10_000))) > 150
    data = json.loads(re.findall(r"const DATA = (.*);\n", graph.html())[0])
    assert len(data["boxes"]) > 200 and len(data["opened"]) == 1


def test_writing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(1, requires_grad=True)
    graph = torch.graph(x * 2)
    assert graph.save(tmp_path / "graph.svg").read_text(encoding="utf-8") == graph.svg()
    assert graph.save(str(tmp_path / "graph.HTML")).read_text(encoding="utf-8") == graph.html()
    assert graph.save(tmp_path / "graph.dot").read_text(encoding="utf-8").startswith("digraph {")
    assert graph.save(tmp_path / "graph.txt").read_text(encoding="utf-8") == graph.text()
    for name in ("graph.png", "graph", "svg"):
        with pytest.raises(ValueError, match=r"saved as \.svg, \.html, \.dot or \.txt"):
            graph.save(tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 4
    seen: list[str] = []
    monkeypatch.setattr(webbrowser, "open", seen.append)
    file = graph.show()
    assert seen == [file.as_uri()] and file.read_text(encoding="utf-8") == graph.html()
    file.unlink()


def test_notebooks_show_it() -> None:
    x = torch.ones(1, requires_grad=True)
    graph = torch.graph(x * 2)
    frame = ET.fromstring(graph._repr_html_())
    assert frame.tag == "iframe" and frame.get("srcdoc") == graph.html().replace("\n", " ")  # XML reads it so
    assert graph._repr_svg_() == graph.svg() and repr(graph) == str(graph)


def test_the_page_needs_no_network() -> None:
    page = torch.graph(torch.ones(1, requires_grad=True) * 2).html()
    assert "default-src 'none'" in page and not re.search(r"https?://|@import|\bsrc=|url\(", page)


def test_every_kind_is_explained() -> None:
    from leafgrad._explain.graph.look import COLOURS

    assert set(KINDS) == set(COLOURS)


def test_dot_has_everything() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    x = torch.ones(1, 2)
    text = torch.graph(model(x), model).dot()
    assert text.count("subgraph cluster_") == 2 and text.count("->") == 5
    assert 'label="0.weight\\n(2, 2) float32' in text and "style=dashed" in text


# -- layout -----------------------------------------------------------------------------------------------------------


def sizes_of(count: int) -> Sizes:
    return Sizes([Size(40.0, 20.0)] * count, lambda box, value: 0.0, lambda box, value: 0.0)


def test_long_arrows_of_one_value_are_merged() -> None:
    layers = 30
    arrows = [Arrow(n, n + 1, n) for n in range(layers)] + [Arrow(n, layers + 1, 99) for n in range(layers)]
    level = Level(layers + 2, arrows)
    placed = place(level, sizes_of(layers + 2))
    assert placed.size.width < 40 * 2 + 60
    assert sum(way.arrives for way in level.ways if way.arrow.value == 99) <= 2
    assert len(list(routes(level, placed, sizes_of(layers + 2)))) == 2 * layers


def test_nothing_to_lay_out_is_fine() -> None:
    assert place(Level(0, []), sizes_of(0)).size == (0.0, 0.0)


def test_boxes_without_arrows_stand_in_rows_below() -> None:
    level = Level(9, [Arrow(0, 1, 0)])
    assert [level.layer[box] for box in range(9)] == [0, 1, 2, 2, 2, 2, 2, 3, 3]
    placed = place(level, sizes_of(9))
    assert placed.x[0] == pytest.approx(placed.size.width / 2)
