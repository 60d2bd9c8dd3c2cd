"""What does it cost that every operation knows its line? `python benchmarks/origin_cost.py [--compiled]`

Two copies of the sources run the chain of 20 multiplications on 1,000 elements, taking turns: leafgrad as it is, and
a copy of it whose recorder does not look for the user's line. The difference of the best rounds is the cost.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LOOKS = """    try:
        frame = _getframe(_PAIR_DEPTH)
    except ValueError:
        frame = _getframe(0)
    code = frame.f_code
    if code is not last_user.code:
        if internal_files.get(code.co_filename, True):
            frame = origin.user_frame(frame)
            code = frame.f_code
        last_user.code = code
"""
OFFSET = "    node.lasti = frame.f_lasti\n"

WORKER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import leafgrad as torch
x = torch.rand(1000, requires_grad=True)
ones = torch.ones(1000)
def step():
    y = x
    for _ in range(20):
        y = y * 1.01
    y.backward(ones)
    x.grad = None
for line in sys.stdin:
    start = time.perf_counter()
    for _ in range(100):
        step()
    print(json.dumps((time.perf_counter() - start) / 100 * 1e6), flush=True)
"""


def without_origin(copy: Path) -> None:
    """Take the search for the user's line out of a copy of the recorder."""
    file = copy / "src" / "leafgrad" / "_core" / "bind.py"
    text = file.read_text()
    if LOOKS not in text or OFFSET not in text:
        raise SystemExit("the recorder has changed: bring the text in this benchmark up to date")
    file.write_text(text.replace(LOOKS, "    code: Any = None\n").replace(OFFSET, "    node.lasti = 0\n"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiled", action="store_true", help="compile both copies first")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workers = {}
        for name in ("with", "without"):
            copy = Path(folder) / name
            shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__", ".*"))
            for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
                shutil.copy(ROOT / file, copy / file)
            if name == "without":
                without_origin(copy)
            if options.compiled:
                print(f"compiling the copy {name} origins", file=sys.stderr)
                environment = {**os.environ, "LEAFGRAD_COMPILE": "1"}
                subprocess.run(
                    [sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=copy, env=environment, check=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
            workers[name] = subprocess.Popen(
                [sys.executable, "-c", WORKER, str(copy / "src")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        best = {"with": float("inf"), "without": float("inf")}
        for _ in range(options.rounds):
            for name, process in workers.items():
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write("go\n")
                process.stdin.flush()
                best[name] = min(best[name], json.loads(process.stdout.readline()))
        for process in workers.values():
            process.kill()
    share = (best["with"] - best["without"]) / best["with"] * 100
    form = "compiled" if options.compiled else "plain"
    print(f"{form}: {best['with']:.1f} us with origins, {best['without']:.1f} us without: {share:.1f} % of the chain")


if __name__ == "__main__":
    main()
