"""Pictures of graphs. Most tests draw stand-ins for tensors and nodes, since only their public face is looked at."""

from __future__ import annotations

import itertools
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import leafgrad
from leafgrad._explain.drawing import draw
from leafgrad._explain.layout import Edge, arrange
from leafgrad._explain.tree import as_text

SVG = "{http://www.w3.org/2000/svg}"
KINDS = {"output", "op", "leaf", "leaf with grad", "more", "aside"}


class FakeTensor:
    def __init__(self, values: Any = 1.0, grad_fn: FakeNode | None = None, leaf: bool = True) -> None:
        self.values = np.asarray(values)
        self.shape, self.dtype = self.values.shape, self.values.dtype
        self.grad_fn, self.output_nr, self.requires_grad = grad_fn, 0, leaf or grad_fn is not None
        self.grad: FakeTensor | None = None

    def detach(self) -> FakeTensor:
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.values


class FakeNode:
    def __init__(self, name: str, *inputs: Any, origin: tuple[str, int] | None = None) -> None:
        self._name, self.origin = name, origin
        pairs = [pair if isinstance(pair, tuple) else (pair, 0) for pair in inputs]
        self.next_functions = tuple((FakeLeaf(x), 0) if isinstance(x, FakeTensor) else (x, nr) for x, nr in pairs)

    def name(self) -> str:
        return self._name


class FakeLeaf(FakeNode):
    """A new one for every edge, as for a library which makes them on demand: the leaf is still one."""

    def __init__(self, variable: FakeTensor) -> None:
        super().__init__("torch::autograd::AccumulateGrad")
        self.variable = variable


class Drawn(NamedTuple):
    kind: str
    lines: list[str]
    left: float
    top: float
    right: float
    bottom: float


def boxes_of(svg: str) -> list[Drawn]:
    found = []
    for group in groups_of(svg, *KINDS):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        x, y, width, height = (float(rect.get(key, "nan")) for key in ("x", "y", "width", "height"))
        lines = [text.text or "" for text in group.iter(f"{SVG}text")]
        found.append(Drawn(str(group.get("class")), lines, x, y, x + width, y + height))
    return found


def groups_of(svg: str, *names: str) -> list[ET.Element]:
    return [group for group in ET.fromstring(svg).iter(f"{SVG}g") if group.get("class") in names]


def points_of(svg: str) -> list[tuple[float, float]]:
    """Points on all arrows, densely. A vertical piece is a bend whose four points are on a line."""
    points = []
    t = np.linspace(0.0, 1.0, 41)
    for path in groups_of(svg, "edges")[0]:
        x = y = 0.0
        for command, numbers in re.findall(r"([MVC])([^MVC]+)", path.get("d", "")):
            values = [float(number) for number in numbers.split()]
            if command == "M":
                x, y = values
                continue
            ends = values if command == "C" else [x, y, x, values[0], x, values[0]]
            xs, ys = ([start, *ends[axis::2]] for axis, start in enumerate((x, y)))
            weights = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])
            points += list(zip((xs @ weights).tolist(), (ys @ weights).tolist(), strict=True))
            x, y = xs[-1], ys[-1]
    return points


def check_tidy(svg: str) -> list[Drawn]:
    """No overlapping boxes, no arrow through a box, no text wider than its box, nothing outside the card."""
    boxes = boxes_of(svg)
    for a, b in itertools.combinations(boxes, 2):
        assert a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top, (a, b)
    for x, y in points_of(svg):
        for box in boxes:
            assert not (box.left + 0.2 < x < box.right - 0.2 and box.top + 0.2 < y < box.bottom - 0.2), (x, y, box)
    for box in boxes:
        for size, line in zip([12.5] + [10.0] * 9, box.lines, strict=False):
            assert len(line) * size * 0.6 < box.right - box.left, box
    sizes = re.search(r'<svg.* width="(\d+)" height="(\d+)"(?s:.*)translate\((\S+) (\S+)\)', svg)
    assert sizes
    width, height, dx, dy = map(float, sizes.groups())
    for box in boxes:
        assert box.left >= 0 and box.top >= 0 and box.right + dx < width and box.bottom + dy < height
    return boxes


def regression() -> tuple[FakeTensor, dict[str, FakeTensor]]:
    weight, bias = FakeTensor(np.zeros((1, 3), np.float32)), FakeTensor(np.zeros(1, np.float32))
    linear = FakeNode("AddmmBackward0", bias, (None, 0), FakeNode("TBackward0", weight), origin=("/a/b/train.py", 12))
    loss = FakeTensor(np.float32(0.25), FakeNode("MseLossBackward0", linear, (None, 0)))
    return loss, {"weight": weight, "bias": bias}


def random_graph(seed: int) -> tuple[FakeTensor, int]:
    """A root, and how many nodes and leaves are behind it."""
    choose = random.Random(seed)
    things: list[Any] = [FakeTensor(np.zeros(choose.randint(1, 4))) for _ in range(choose.randint(1, 5))]
    for number in range(choose.randint(1, 40)):
        recent = things[-choose.choice([2, 5, 100]) :]
        inputs = [(x, choose.choice([0, 1, 2])) for x in choose.choices(recent, k=choose.randint(1, 4))]
        origin = choose.choice([None, ("file.py", number)])
        things.append(FakeNode(f"Op{'x' * choose.randint(0, 20)}{number}Backward0", *inputs, origin=origin))
    reached, todo = set(), [things[-1]]
    while todo:
        node = todo.pop()
        if id(node) not in reached:
            reached.add(id(node))
            todo += [getattr(x, "variable", x) for x, _ in getattr(node, "next_functions", ())]
    return FakeTensor(np.zeros(3), things[-1]), len(reached)


def test_the_regression() -> None:
    loss, params = regression()
    boxes = check_tidy(draw(loss, params=params | {"loss": loss}))
    assert sorted((box.kind, box.lines) for box in boxes) == [
        ("leaf", ["bias", "(1,) float32", ".grad is None"]),
        ("leaf", ["weight", "(1, 3) float32", ".grad is None"]),
        ("op", ["Addmm", "train.py:12"]),
        ("op", ["MseLoss"]),
        ("op", ["T"]),
        ("output", ["loss", "() float32 = 0.25"]),
    ]
    top = {box.lines[0]: box.top for box in boxes}
    assert top["loss"] < top["MseLoss"] < top["Addmm"] < top["bias"] < top["weight"] and top["T"] < top["weight"]


def test_gradients_are_shown_when_present() -> None:
    loss, params = regression()
    params["weight"].grad = FakeTensor(np.array([[3.0, 4.0, 0.0]]))
    params["bias"].grad = FakeTensor(np.array([1e300, -1e300]))
    drawn = {box.lines[0]: box for box in boxes_of(draw(loss, params=params))}
    assert drawn["weight"].kind == drawn["bias"].kind == "leaf with grad"
    assert drawn["weight"].lines[-1] == "grad norm 5"
    assert drawn["bias"].lines[-1] == "grad norm inf"
    params["bias"].grad = object()  # type: ignore[assignment]  # NumPy cannot hold it, which is no reason to fail
    assert "grad" in next(box.lines for box in boxes_of(draw(loss, params=params)) if box.lines[0] == "bias")


def test_tensors_that_take_no_part_are_drawn_aside() -> None:
    loss, params = regression()
    svg = draw(loss, params=params | {"unused": FakeTensor(np.zeros(4)), "data": FakeTensor(1, leaf=False)})
    aside = [box for box in check_tidy(svg) if box.kind == "aside"]
    assert [box.lines for box in aside] == [
        ["unused", "(4,) float64", "not in this graph"],
        ["data", "() int64", "not in this graph", "requires_grad=False"],
    ]
    assert svg.count('stroke-dasharray="5 4"') == 2
    many = check_tidy(draw(loss, params={f"layer{n}.weight": FakeTensor(np.zeros((n, 2))) for n in range(30)}))
    assert sum(box.kind == "aside" for box in many) == 30
    # What is not drawn because of the limit takes part all the same.
    assert not any(box.kind == "aside" for box in boxes_of(draw(loss, params=params, max_nodes=1)))


def test_names_of_results_and_of_tied_tensors() -> None:
    x = FakeTensor()
    hidden = FakeTensor(1.0, FakeNode("ExpBackward0", x))
    out = FakeTensor(1.0, FakeNode("SinBackward0", hidden.grad_fn))
    boxes = boxes_of(draw(out, params=[("h", hidden), ("x", x), ("tied", x), ("out", out)]))
    assert [box.lines for box in boxes if box.kind == "op"] == [["Sin"], ["Exp", "→ h"]]
    assert [box.lines[0] for box in boxes if box.kind != "op"] == ["out", "x, tied"]


def test_several_roots() -> None:
    x = FakeTensor()
    hidden = FakeNode("ExpBackward0", x)
    deep = FakeNode("SumBackward0", FakeNode("SinBackward0", hidden))
    roots = [FakeTensor(1.0, deep), FakeTensor(1.0, hidden), x, FakeTensor(1.0, leaf=False)]
    boxes = check_tidy(draw(roots))
    outputs = [box for box in boxes if box.kind == "output"]
    assert [box.lines[0] for box in outputs] == ["output 0", "output 1", "output 2", "output 3"]
    assert outputs[3].lines[-1] == "no graph: requires_grad=False"
    assert outputs[0].top < outputs[1].top < outputs[2].top  # each next to where its gradient starts
    assert len(boxes) == 4 + 4


def test_edges_that_coincide_and_several_outputs_are_labelled() -> None:
    x = FakeTensor()
    split = FakeNode("SplitBackward0", x)
    product = FakeNode("MulBackward0", (split, 0), (split, 1))
    svg = draw(FakeTensor(1.0, FakeNode("MulBackward0", product, product)))
    check_tidy(svg)
    assert sorted(str(text.text) for text in groups_of(svg, "labels")[0]) == ["0", "1", "×2"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_any_graph_is_drawn_completely_and_tidily(seed: int) -> None:
    root, count = random_graph(seed)
    assert len(check_tidy(draw(root))) == count + 1
    limit = max(1, count // 2)
    boxes = check_tidy(draw(root, max_nodes=limit))
    assert len(boxes) == 1 + limit + 1
    assert boxes[-1].lines == [f"… {count - limit} more node{'s' * (count - limit > 1)}"]


@pytest.mark.slow
def test_a_very_deep_graph() -> None:
    x = FakeTensor()
    node: Any = x
    for _ in range(100_000):
        node = FakeNode("AddBackward0", node, x)
    root = FakeTensor(1.0, node)
    boxes = check_tidy(draw(root, params={"x": x}, max_nodes=50))
    assert boxes[-1].lines == ["… 99,951 more nodes"]
    assert "99,001 more nodes" in as_text(root)
    long = as_text(root, max_nodes=200_000)
    assert long.count("Add\n") + long.count("Add  ") == 100_000
    assert max(map(len, long.splitlines())) < 200


def test_writing_files(tmp_path: Path) -> None:
    loss, params = regression()
    svg = draw(loss, tmp_path / "graph.svg", params)
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == svg
    assert draw(loss, str(tmp_path / "graph.HTML"), params) == svg
    page = (tmp_path / "graph.HTML").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and svg in page and "<title>autograd graph of output</title>" in page
    for name in ("graph.png", "graph", "svg"):
        with pytest.raises(ValueError, match=r"writes \.svg and \.html files"):
            draw(loss, tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("root", [3.0, None, "loss", [], [FakeTensor(), 3], {"loss": FakeTensor()}])
@pytest.mark.parametrize("look", [draw, as_text])
def test_what_is_not_a_tensor_is_refused(root: Any, look: Any) -> None:
    with pytest.raises(TypeError, match="expected a tensor or several"):
        look(root)
    with pytest.raises(TypeError, match="'weight' is a float"):
        look(FakeTensor(), params={"weight": 3.0})
    with pytest.raises(ValueError, match="max_nodes must be at least 1, got 0"):
        look(FakeTensor(), max_nodes=0)


def test_text_is_escaped_and_long_names_are_shortened() -> None:
    x, y = FakeTensor(), FakeTensor()
    long = "encoder.layers.11.self_attention.output_projection.weight"
    names = {'<b>&"\x00\x1b': x, long: y}
    svg = draw(FakeTensor(1.0, FakeNode("F<T>Backward0", x, y, origin=("<stdin>", 1))), params=names)
    titles = [box.lines[0] for box in check_tidy(svg)]
    assert "F<T>" in titles and '<b>&"\ufffd\ufffd' in titles and "&lt;stdin&gt;:1" in svg
    assert any(len(title) < len(long) and title.startswith("encoder.") and title.endswith("weight") for title in titles)
    assert long in svg  # in the tooltip


def test_wide_characters_get_room() -> None:
    narrow, wide = (boxes_of(draw(FakeTensor(), params={name * 20: FakeTensor()}))[-1] for name in ("a", "重"))
    assert wide.right - wide.left > 1.7 * (narrow.right - narrow.left)


def test_what_counts_as_a_suffix_and_as_a_leaf() -> None:
    names = ["MulBackward0", "MyFunctionBackward", "torch::CopySlices", "BackwardHook", "Backward0", "Exp2Backward13"]
    shown = [boxes_of(draw(FakeTensor(1.0, FakeNode(name, FakeTensor()))))[1].lines[0] for name in names]
    assert shown == ["Mul", "MyFunction", "CopySlices", "BackwardHook", "Backward0", "Exp2"]
    node = FakeNode("MyFunctionBackward", FakeTensor())
    node.variable = FakeTensor()  # type: ignore[attr-defined]  # a saved value that happens to have this name
    assert [box.kind for box in boxes_of(draw(FakeTensor(1.0, node)))] == ["output", "op", "leaf"]


def test_long_arrows_to_one_place_are_merged() -> None:
    layers = 30
    edges = [Edge(n, n + 1) for n in range(layers)] + [Edge(n, layers + 1) for n in range(layers)]
    layout = arrange([(40.0, 20.0)] * (layers + 2), edges)
    assert layout.width < 40 * 2 + 60
    assert sum(route.arrives for route in layout.routes if route.edge.target == layers + 1) <= 2
    assert arrange([], []).rects == []  # and nothing to lay out is fine


def test_as_text() -> None:
    x, unused = FakeTensor(np.zeros(2)), FakeTensor()
    split = FakeNode("SplitBackward0", x, origin=("/home/model.py", 7))
    product = FakeNode("MulBackward0", (split, 0), (split, 1))
    root = FakeTensor(2.0, FakeNode("AddBackward0", product, x))
    assert as_text(root, {"x": x, "unused": unused}) == (
        "output  () float64 = 2\n"
        "└─ Add\n"
        "   ├─ Mul\n"
        "   │  ├─ [1] Split  model.py:7  (output 0)\n"
        "   │  │  └─ [2] x  (2,) float64  .grad is None\n"
        "   │  └─ → [1] Split  (output 1)\n"
        "   └─ → [2] x\n"
        "\n"
        "unused  () float64  not in this graph\n"
    )


def test_a_real_graph_before_and_after_backward() -> None:
    x = leafgrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = leafgrad.tensor([[1.0, 1.0], [2.0, 2.0]], requires_grad=True)
    unused = leafgrad.tensor([1.0], requires_grad=True)
    h = x + (x @ w).tanh()
    loss = (h * h).sum()
    params = {"x": x, "w": w, "h": h, "loss": loss, "unused": unused}
    before = check_tidy(draw(loss, params=params))
    loss.backward()
    after = check_tidy(draw(loss, params=params))
    titles = [box.lines[0] for box in after]
    assert titles == [box.lines[0] for box in before]
    assert titles == ["loss", "Sum", "Mul", "Add", "x", "Tanh", "Mm", "w", "unused"]
    assert [box.kind for box in before].count("leaf") == 2
    assert [box.kind for box in after].count("leaf with grad") == 2
    assert all(box.lines[-1].startswith("test_drawing.py:") for box in after if box.kind == "op")
    assert "→ h" in after[3].lines
    assert f"grad norm {np.linalg.norm(w.grad.numpy()):.4g}" in after[7].lines
    assert "[1] Add  → h" in as_text(loss, params)


def test_a_real_operation_with_several_results() -> None:
    x = leafgrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    a, b = x.unbind()
    boxes = check_tidy(draw([(a * b).sum(), b]))
    assert [box.lines[0] for box in boxes] == ["output 0", "output 1", "Sum", "Unbind", "Mul", "leaf"]
