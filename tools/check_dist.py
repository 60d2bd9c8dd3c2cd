"""Are the files in dist/ ready to be published? The last step of `make dist`: python tools/check_dist.py dist

The wheels are installed into new environments, where a small training must work in the form that the wheel promises.
The source distribution is unpacked, and pytest must find its tests. Links of the description must work anywhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

PROGRAM = """
import leafgrad as torch
from leafgrad._build import is_compiled

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x = torch.randn(64, 2)
for _ in range(100):
    loss = torch.nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.item() < 0.2, loss
print("compiled" if is_compiled() else "plain", torch.kernels.NATIVE, torch.__file__)
"""


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints. The environment is without what could bring in another leafgrad."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def new_environment(place: Path) -> Path:
    venv.create(place, with_pip=True)
    return place / ("Scripts" if os.name == "nt" else "bin") / "python"


def check_wheel(wheel: Path, place: Path) -> str:
    """Install a wheel where nothing else is, and run the program."""
    python = new_environment(place / "venv")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, cwd=place)
    form, native, file = run(python, "-c", PROGRAM, cwd=place).split(maxsplit=2)
    pure = wheel.name.endswith("-py3-none-any.whl")
    if (form, native) != (("plain", "False") if pure else ("compiled", "True")):
        raise SystemExit(f"{wheel.name} runs as {form}, native loops: {native}")
    if not Path(file.strip()).is_relative_to(place):
        raise SystemExit(f"another leafgrad was found: {file}")
    run(python, "-m", "leafgrad", "config", cwd=place)
    return form


def check_links(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    if local := re.findall(r"\]\((?!https?:|#)[^)]*\)", text):
        raise SystemExit(f"the description has links that lead nowhere: {local}")


def check_sources(archive: Path, place: Path) -> str:
    """Unpack a source distribution and let pytest look for tests in it."""
    with tarfile.open(archive) as file:
        file.extractall(place, filter="data")
    (root,) = [path for path in place.iterdir() if path.is_dir()]
    python = new_environment(place / "venv")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{root}[test]", cwd=place)
    found = run(python, "-m", "pytest", "--collect-only", "-q", cwd=root)
    counts = [int(count) for count in re.findall(r"^\S+\.py: (\d+)$", found, re.MULTILINE)]
    if len(counts) < 10:
        raise SystemExit(f"only {len(counts)} files of tests are found in {archive.name}\n{found}")
    return f"{sum(counts):,} tests are found"


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    wheels, archives = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(archives) != 1 or not any(wheel.name.endswith("-py3-none-any.whl") for wheel in wheels):
        raise SystemExit(f"{folder} should have one source distribution, and a wheel for any platform among its wheels")
    for wheel in wheels:
        check_links(wheel)
        with tempfile.TemporaryDirectory() as place:
            print(f"{wheel.name}: installed, {check_wheel(wheel, Path(place))}, trains", flush=True)
    with tempfile.TemporaryDirectory() as place:
        print(f"{archives[0].name}: {check_sources(archives[0], Path(place))}", flush=True)


if __name__ == "__main__":
    main()
