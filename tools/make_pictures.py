"""Writes docs/pictures, in the environment that `make test-browser` makes:

    PYTHONPATH=src .venv-browser/bin/python tools/make_pictures.py

The SVG files are what `leafgrad.graph` draws, the PNG is its page in Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import leafgrad as torch  # noqa: E402
from leafgrad import nn  # noqa: E402
from transformer import Transformer, transformer_loss  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc2(self.fc1(x).relu())


class Cut(Net):
    def forward(self, x):
        hidden = self.fc1(x).relu()
        hidden = hidden.detach()
        return self.fc2(hidden)


def draw(model: nn.Module, name: str) -> None:
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    loss = nn.functional.mse_loss(model(x), y)
    graph = torch.graph(loss, model)
    loss.backward()
    graph.save(PICTURES / name)


def photograph(name: str) -> None:
    """The page of a transformer, dark, with the last of its blocks open."""
    model = Transformer()
    loss = transformer_loss(model)
    graph = torch.graph(loss, model, inner_gradients=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = graph.save(Path(folder) / "graph.html")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_context(color_scheme="dark", viewport={"width": 1100, "height": 1000}).new_page()
        page.goto(file.as_uri())
        page.locator(".module.box", has_text="blocks.3: Block").click()
        page.locator("#fit").click()
        page.screenshot(path=PICTURES / name)
        browser.close()


torch.manual_seed(0)
draw(Net(), "network.svg")
draw(Cut(), "cut.svg")
photograph("transformer.png")
