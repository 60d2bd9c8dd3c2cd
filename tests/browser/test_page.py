"""The page of `leafgrad.graph(...)` in a real browser, without a window: `make test-browser`."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import leafgrad as torch
from leafgrad import nn
from leafgrad._explain.graph.svg import StaticPicture
from transformer import Transformer, transformer_loss

NAMES = ("chromium", "chromium-browser", "google-chrome")
# As root there is no sandbox. The others keep the browser itself from calling home.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    assert program, "no Chromium: install it, or name it in the environment variable CHROMIUM"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a graph, and fails if it complains or asks the network for anything."""
    complaints: list[str] = []
    asked: list[str] = []
    contexts = []

    def opened(graph: Any, scheme: Any = "light") -> Page:
        file = graph.save(tmp_path / f"graph{len(contexts)}.html")
        contexts.append(browser.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 800}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        return page

    yield opened
    assert complaints == []
    assert [url for url in asked if not url.startswith("file://")] == [] and len(asked) == len(contexts)
    for context in contexts:
        context.close()


def regression() -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    loss = nn.functional.mse_loss(model(x), y)
    return torch.graph(loss, model)


def transformer() -> Any:
    model = Transformer()
    return torch.graph(transformer_loss(model), model)


def titles(page: Page) -> list[str]:
    return page.locator(".box:not(.frame) > .title").all_text_contents()


def press(page: Page, title: str) -> None:
    """Click on a module, after moving there as a reader would."""
    box = page.locator(".module.box:not(.frame)", has_text=title).first
    page.evaluate("(number) => centre(number)", int(box.get_attribute("data-box") or -1))
    box.click()


def check_no_overlap(page: Page) -> None:
    """Closed boxes and labels are apart, as the browser measures them."""
    places: list[list[float]] = page.evaluate(
        """() => [...document.querySelectorAll(".box:not(.frame) > .shape:last-of-type, .label text")].map((e) => {
            const { left, top, right, bottom } = e.getBoundingClientRect(), near = 0.1 * (bottom - top);
            return [left, top + near, right, bottom - near] })"""
    )
    for a, b in itertools.combinations(places, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)


def test_it_renders(open_page: Open) -> None:
    page = open_page(regression())
    assert {"loss", "MseLoss", "Addmm", "Relu", "0.weight", "2.bias", "x", "y"} <= set(titles(page))
    assert page.title() == "autograd graph of loss"
    expect(page.locator(".frame")).to_have_count(3)
    check_no_overlap(page)
    legend = page.locator("footer li").all_text_contents()
    assert any("does not require grad" in text for text in legend) and len(legend) == 6
    inside: bool = page.evaluate(
        "() => { const b = world.getBoundingClientRect(); return b.left >= 0 && b.right <= innerWidth && b.top >= 0 }"
    )
    assert inside


def test_modules_open_and_close(open_page: Open) -> None:
    page = open_page(transformer())
    assert "blocks.1: Block" in titles(page) and "blocks.1.norm1.scale" not in titles(page)
    press(page, "blocks.1: Block")
    assert "norm1: Norm" in titles(page) and "blocks.1: Block" not in titles(page)
    press(page, "norm1: Norm")
    assert "blocks.1.norm1.scale" in titles(page)
    check_no_overlap(page)
    page.locator("#fit").click()
    page.locator(".frame").nth(1).click(position={"x": 4, "y": 4})
    assert "blocks.1: Block" in titles(page)
    page.locator("#close").click()
    assert "model: Transformer" in titles(page)
    page.locator("#open").click()
    assert titles(page).count("Softmax") == 4
    check_no_overlap(page)


def test_the_keyboard_opens_modules(open_page: Open) -> None:
    page = open_page(transformer())
    page.locator(".module.box", has_text="norm: Norm").focus()
    page.keyboard.press("Enter")
    assert "norm.scale" in titles(page)
    page.keyboard.press("Enter")
    assert "norm.scale" not in titles(page)


def test_search_finds_what_is_inside_of_closed_modules(open_page: Open) -> None:
    page = open_page(transformer())
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    expect(page.locator("#count")).to_contain_text("1 of ")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_contain_text("2 of ")
    current = page.locator(".box.current")
    expect(current).to_have_count(1)
    expect(current).to_contain_text("Softmax")
    box = current.bounding_box()
    assert box and 0 < box["x"] < 1200 and 0 < box["y"] < 800
    page.locator("#search").fill("no such thing")
    expect(page.locator("#count")).to_have_text("nothing found")
    page.keyboard.press("Escape")
    expect(page.locator("#count")).to_have_text("")
    expect(page.locator(".box.found")).to_have_count(0)


def background(page: Page) -> str:
    colour: str = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return colour


def test_light_and_dark(open_page: Open) -> None:
    graph = regression()
    light, dark = open_page(graph, "light"), open_page(graph, "dark")
    assert (background(light), background(dark)) == ("rgb(255, 255, 255)", "rgb(22, 25, 29)")
    fill = "() => getComputedStyle(document.querySelector('.leaf > .shape')).fill"
    before = light.evaluate(fill)
    light.locator("#theme").click()
    assert background(light) == background(dark)
    assert light.evaluate(fill) == dark.evaluate(fill) != before
    dark.locator("#theme").click()
    assert background(dark) == "rgb(255, 255, 255)"
    light.emulate_media(color_scheme="dark")
    light.emulate_media(color_scheme="light")
    assert background(light) == "rgb(22, 25, 29)"  # what was chosen stays


def test_tooltips_show_line_and_source(open_page: Open) -> None:
    page = open_page(regression())
    page.locator(".op.box", has_text="MseLoss").hover()
    expect(page.locator("#tip")).to_contain_text("test_page.py:")
    expect(page.locator("#tip")).to_contain_text("loss = nn.functional.mse_loss(model(x), y)")
    page.locator("header h1").hover()
    expect(page.locator("#tip")).to_be_hidden()


def test_zoom_and_pan(open_page: Open) -> None:
    page = open_page(regression())
    place = page.locator(".output.box").bounding_box()
    assert place
    page.locator("#in").click()
    larger = page.locator(".output.box").bounding_box()
    assert larger and larger["width"] == pytest.approx(1.25 * place["width"], rel=0.05)
    page.mouse.move(100, 400)
    page.mouse.down()
    page.mouse.move(160, 440, steps=4)
    page.mouse.up()
    moved = page.locator(".output.box").bounding_box()
    assert moved and (moved["x"] - larger["x"], moved["y"] - larger["y"]) == pytest.approx((60, 40), abs=2)
    page.mouse.wheel(0, 300)
    page.wait_for_function("() => view.scale < 1")
    page.locator("#fit").click()
    again = page.locator(".output.box").bounding_box()
    assert again and again["width"] == pytest.approx(place["width"], rel=0.01)


def test_saved_tensors(open_page: Open) -> None:
    page = open_page(regression())
    expect(page.locator("#world .saved")).to_have_count(0)
    page.locator("#saved").click()
    assert "result (32, 8), 1.0 kB" in page.locator("#world .saved text").all_text_contents()
    check_no_overlap(page)
    page.locator("#saved").click()
    expect(page.locator("#world .saved")).to_have_count(0)


@pytest.mark.parametrize("make", [regression, transformer])
def test_the_browser_places_boxes_where_the_static_picture_does(open_page: Open, make: Any) -> None:
    graph = make()
    page = open_page(graph)
    drawing = graph._drawing()
    for opened in (drawing.first_open(), drawing.first_open(10_000)):
        expected = StaticPicture(drawing, opened).rects
        places = page.evaluate(
            "(numbers) => { opened.clear(); numbers.forEach((n) => opened.add(n)); render(); return rects }",
            sorted(opened),
        )
        assert {int(n) for n in places} == set(expected)
        for number, rect in expected.items():
            assert places[str(number)] == pytest.approx(rect, abs=0.5)


def test_thousands_of_nodes(open_page: Open) -> None:
    h, w = torch.ones(1, 2), torch.ones(2, 2, requires_grad=True)
    for _ in range(1666):
        h = (h @ w).tanh() * 0.5
    page = open_page(torch.graph(h))
    assert len(titles(page)) < 30
    page.locator(".block.box").first.click()
    assert len(titles(page)) < 60
    page.locator("#search").fill("tanh")
    expect(page.locator("#count")).to_contain_text("1 of ")
    page.locator("#open").click()
    assert len(titles(page)) > 1000


def test_a_name_cannot_become_a_script(open_page: Open) -> None:
    x = torch.ones(1, requires_grad=True)
    name = "</script><script>document.title = 'taken'</script><img src=x onerror=alert(1)>"
    page = open_page(torch.graph(x * 2, {name: x}))
    page.locator(".leaf.box").hover()
    expect(page.locator("#tip")).to_contain_text("<script>document.title = 'taken'</script>")
    assert page.title().startswith("autograd graph of")


def test_in_a_notebook(open_page: Open, tmp_path: Path) -> None:
    """A notebook puts it into a frame."""
    graph = regression()

    class Notebook:
        def save(self, path: Path) -> Path:
            path.write_text(f"<!doctype html><body>{graph._repr_html_()}</body>", encoding="utf-8")
            return path

    frame = open_page(Notebook()).frame_locator("iframe")
    expect(frame.locator(".output.box")).to_have_count(1)
