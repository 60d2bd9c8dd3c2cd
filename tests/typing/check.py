"""Do mypy and pyright understand leafgrad as users' programs need it? `make lint` runs this.

    python tests/typing/check.py

Both checkers must accept right.py, and in wrong.py find exactly the mistakes that are marked there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import leafgrad

HERE = Path(__file__).resolve().parent
PROGRAMS = ("right.py", "wrong.py")
MARK = "# mistake"
Complaints = dict[str, list[tuple[int, str]]]  # what is said of each program: lines and messages


def main() -> int:
    failed = False
    with tempfile.TemporaryDirectory() as folder:  # where no settings of this repository are found
        for name in PROGRAMS:
            shutil.copy(HERE / name, folder)
        for checker in (mypy, pyright):
            found = checker(Path(folder))
            for name in PROGRAMS:
                failed |= differs(checker.__name__, name, found.get(name, []))
    return int(failed)


def differs(checker: str, name: str, found: list[tuple[int, str]]) -> bool:
    """Is what a checker says of a program something else than one error for each marked line?"""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    marked = [number for number, line in enumerate(lines, 1) if MARK in line]
    right = sorted([number for number, _ in found]) == marked
    print(
        f"{checker}: {name}: {'as it should be' if right else 'wrong'}, {len(found)} errors for {len(marked)} mistakes"
    )
    if not right:
        print("\n".join([f"    {name}:{number}: {message}" for number, message in sorted(found)]))
    return not right


def mypy(folder: Path) -> Complaints:
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--follow-imports=silent", *PROGRAMS]
    text = run(command, folder, {"MYPYPATH": source()})
    return collected(re.findall(r"^(\w+\.py):(\d+): error: (.*)$", text, re.MULTILINE), text)


def pyright(folder: Path) -> Complaints:
    settings = {"include": list(PROGRAMS), "typeCheckingMode": "standard", "extraPaths": [source()] if source() else []}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    text = run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", "."], folder, {})
    return collected(re.findall(r"^\s+\S*?(\w+\.py):(\d+):\d+ - error: (.*)$", text, re.MULTILINE), text)


def source() -> str:
    """The folder that leafgrad is imported from, if that is not among the installed packages."""
    place = Path(leafgrad.__file__).resolve().parents[1]
    return "" if place.name in ("site-packages", "dist-packages") else str(place)


def run(command: list[str], folder: Path, settings: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True)
    return done.stdout + done.stderr


def collected(found: list[tuple[str, str, str]], text: str) -> Complaints:
    if not found:  # wrong.py has mistakes, so the checker did not run
        raise SystemExit(f"error: the type checker says\n{text}")
    complaints: Complaints = {}
    for name, line, message in found:
        complaints.setdefault(name, []).append((int(line), message))
    return complaints


if __name__ == "__main__":
    sys.exit(main())
