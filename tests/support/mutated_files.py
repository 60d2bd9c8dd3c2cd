"""Loads files that were changed at random, and files made to do harm:

    python tests/support/mutated_files.py [number of files, 10000] [seed]

Each load has to return an object or raise one of the errors below within ten seconds and with little memory. It must
not start anything, write anything or import what the file names (an audit hook watches), and must leave the file as it
was.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import leafgrad as torch
from leafgrad._files.archive import Archive, ArchiveWriter

STORED = Path(__file__).parents[1] / "data" / "files"
EXPECTED = (RuntimeError, pickle.UnpicklingError, EOFError, ValueError)
FORBIDDEN = ("os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "webbrowser.", "exec", "compile")
EVIL = [
    b"cos\nsystem\nX\x08\x00\x00\x00touch xx\x85R", b"cposix\nsystem\nX\x08\x00\x00\x00touch xx\x85R",
    b"c__builtin__\neval\nX\x05\x00\x00\x001 / 0\x85R", b"cbuiltins\nexec\nX\x05\x00\x00\x001 / 0\x85R",
    b"csubprocess\nPopen\nX\x04\x00\x00\x00true\x85R", b"cantigravity\nfly\n)R", b"cthis\ns\n",
    b"c__builtin__\ngetattr\n", b"ctorch.serialization\nload\n)R", b"ctorch.nn\nLinear\n(K\x01K\x01tR",
    b"cnumpy\nload\n", b"\x81", b"R", b"b", b"(i", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch\nTensor\n",
    b"h\x00", b"J\xff\xff\xff\x7f", b"\x8a\x08" + b"\xff" * 8,
]  # fmt: skip

events: list[str] = []
watching = False


def watch(event: str, args: Any) -> None:
    if not watching:
        return
    written = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wxa+")
    imported = event == "import" and args[0].split(".")[0] in ("antigravity", "this", "subprocess", "webbrowser")
    if written or imported or event.startswith(FORBIDDEN):
        events.append(f"{event} {args}")


def rebuilt(content: bytes, change: Any) -> bytes:
    """The archive with its pickle changed, and with fitting checksums: so that the change arrives at the unpickler."""
    archive = Archive(io.BytesIO(content))
    buffer = io.BytesIO()
    writer = ArchiveWriter(buffer.write, "archive")
    for name in archive._records:
        if name not in ("version", ".data/serialization_id"):
            record = archive.read(name)
            writer.add(name, change(record) if name == "data.pkl" else record)
    writer.close()
    return buffer.getvalue()


def in_the_old_format(content: bytes) -> bytes:
    buffer = io.BytesIO()
    torch.save(torch.load(io.BytesIO(content), weights_only=False), buffer, _use_new_zipfile_serialization=False)
    return buffer.getvalue()


def mutated(content: bytes, rng: random.Random) -> bytes:
    """One to four changes: of bytes, numbers, order, length; or something evil."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 2, 4, 8, 50]))
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 2:
            data[at:end] = rng.choice([b"\xff", b"\x00", b"\x7f", b"\x80"]) * (end - at)
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            start = rng.randrange(len(data) + 1)
            data[at:at] = data[start : start + rng.choice([1, 8, 100])]
        elif kind == 5:
            data[at:at] = rng.choice(EVIL)
        elif rng.random() < 0.2:
            del data[at:]
    return bytes(data)


def too_long(number: int, frame: Any) -> None:
    raise TimeoutError("a file that takes more than ten seconds to load")


def main(count: int, seed: int) -> None:
    global watching
    rng = random.Random(seed)
    originals = [path.read_bytes() for path in sorted(STORED.glob("*.pt"))]
    zips = [content for content in originals if content.startswith(b"PK")]
    originals += [in_the_old_format(content) for content in zips]
    sys.addaudithook(watch)
    signal.signal(signal.SIGALRM, too_long)
    memory = 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for content in (*originals, b"PK\x03\x04"):  # imports what loading and its messages need
        try:
            torch.load(io.BytesIO(content))
        except EXPECTED:
            pass
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        path = Path(folder) / "changed.pt"
        for number in range(count):
            content = mutated(rng.choice(originals), rng)
            if number % 2:
                content = rebuilt(rng.choice(zips), lambda record: mutated(record, rng))
            path.write_bytes(content)
            signal.alarm(10)
            try:
                watching = True
                loaded = torch.load(path, mmap=rng.random() < 0.3)
                watching = False
                assert not isinstance(loaded, torch.nn.Module)
                outcomes["loaded"] += 1
            except EXPECTED as error:
                watching = False
                outcomes[type(error).__name__] += 1
            signal.alarm(0)
            assert path.read_bytes() == content, "the file was changed"
            assert os.listdir(folder) == ["changed.pt"], "another file was written"
            assert not events, events
    print(f"{count} files: {dict(outcomes.most_common())}")


if __name__ == "__main__":
    main(*[int(number) for number in (*sys.argv[1:], *(10_000, 0)[len(sys.argv) - 1 :])])
