"""Kills a process that saves, at random moments, and looks at the file each time:

    python tests/support/killed_saves.py [number of kills, 200] [seed]

The file has to be the whole of one that the process wrote, or the one of before. And some of the kills have to come in
the middle of a save, which leaves a temporary file behind: otherwise nothing was tested.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import leafgrad as torch

WRITER = """
import sys
import leafgrad as torch
number = int(sys.argv[2])
torch.save(number, sys.argv[1] + ".first")  # imports what saving needs, so that the kill does not come before any save
print("ready", flush=True)
while True:
    number += 1
    torch.save({"number": number, "values": torch.full((200_000,), float(number)), "more": [number] * 50}, sys.argv[1])
"""


def main(count: int, seed: int) -> None:
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        torch.save({"number": 0, "values": torch.zeros(200_000), "more": [0] * 50}, path)
        for _ in range(count):
            before = torch.load(path)["number"]
            writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(before)], stdout=subprocess.PIPE)
            with writer:
                assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
                time.sleep(rng.random() * 0.05)
                writer.kill()
            loaded = torch.load(path)  # raises if it is not whole
            assert (loaded["values"] == loaded["number"]).all() and set(loaded["more"]) == {loaded["number"]}
            unfinished = [name for name in os.listdir(folder) if name.endswith(".tmp")]
            outcomes["killed while writing" if unfinished else "killed between two files"] += 1
            outcomes["new file" if loaded["number"] > before else "old file"] += 1
            for name in unfinished:
                os.unlink(Path(folder) / name)
    assert outcomes["killed while writing"] and outcomes["new file"], outcomes
    print(f"{count} kills: {dict(outcomes.most_common())}")


if __name__ == "__main__":
    main(*[int(number) for number in (*sys.argv[1:], *(200, 0)[len(sys.argv) - 1 :])])
