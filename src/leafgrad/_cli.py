"""The command line: `python -m leafgrad run script.py` runs a script that says `import torch` with leafgrad instead.

Three things make that work: a finder that answers `import torch.x.y` with the module `leafgrad.x.y` itself
(_as_torch.py), a `__main__` set up as Python would have set it up, and tracebacks from which leafgrad is taken out
again.
"""

from __future__ import annotations

import argparse
import builtins
import importlib.machinery
import importlib.util
import io
import os
import re
import runpy
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import NoReturn

import leafgrad
from leafgrad import _missing
from leafgrad._as_torch import install_alias
from leafgrad._build import VERSION
from leafgrad._core.origin import is_internal
from leafgrad._settings import show_config
from leafgrad.ops.random.distributions import manual_seed

USAGE_ERROR = 2
PROGRAM = "(script.py | directory | file.zip | - | -m module) [arguments ...]"


def run_script(path: str, arguments: list[str]) -> None:
    """Runs a file as `python path arguments...` would; "-" is standard input, a directory or a zip file one that has a
    `__main__.py`."""
    sys.argv = [path, *arguments]
    is_input = path == "-"
    is_package = not is_input and (os.path.isdir(path) or zipfile.is_zipfile(path))
    code = None if is_package else compile_script(path)
    if not getattr(sys.flags, "safe_path", False):
        # `python -m leafgrad` put the current directory here, where a script expects its own.
        sys.path[0] = "" if is_input else path if is_package else os.path.dirname(os.path.realpath(path))
    if is_package:
        runpy.run_path(path, run_name="__main__")
        return
    main_module = ModuleType("__main__")
    if not is_input:
        main_module.__file__ = os.path.abspath(path)
        main_module.__loader__ = importlib.machinery.SourceFileLoader("__main__", main_module.__file__)
    vars(main_module).update(__builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main_module
    assert code is not None
    exec(code, vars(main_module))


def compile_script(path: str) -> CodeType:
    if path == "-":
        return compile(sys.stdin.buffer.read(), "<stdin>", "exec", dont_inherit=True)
    try:
        with io.open_code(os.path.abspath(path)) as file:
            source = file.read()
    except OSError as error:
        stop(f"cannot open '{path}': {error.strerror}")
    return compile(source, os.path.abspath(path), "exec", dont_inherit=True)


def run_module(name: str, arguments: list[str]) -> None:
    """Runs a module as `python -m name arguments...` would."""
    try:
        found = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        found = False
    if not found:
        stop(f"no module named '{name}'")
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def stop(message: str) -> NoReturn:
    print(f"leafgrad: {message}", file=sys.stderr)
    raise SystemExit(USAGE_ERROR)


def run_as_users_own(body: Callable[[], None]) -> None:
    """Calls `body`; an error that leaves it is shown as if Python itself had run the user's program."""
    threading.excepthook = shown_in_threads(threading.excepthook)
    try:
        body()
    except SystemExit:
        raise
    except BaseException as error:
        clean(error)
        sys.excepthook(type(error), error, error.__traceback__)
        # It is raised on for its exit status (1; the signal for Ctrl-C), and has been shown already.
        sys.excepthook = lambda *shown: None
        raise


def shown_in_threads(
    show: Callable[[threading.ExceptHookArgs], object],
) -> Callable[[threading.ExceptHookArgs], object]:
    """Shows the error that ended a thread, without leafgrad's frames, by `show`."""

    def hook(args: threading.ExceptHookArgs) -> None:
        error = args.exc_value
        if error is not None:
            clean(error)
            args = threading.ExceptHookArgs((args.exc_type, error, error.__traceback__, args.thread))
        show(args)

    return hook


def clean(error: BaseException) -> None:
    """Takes leafgrad out of everything that will be shown of an error."""
    for each in with_causes(error):
        each.__traceback__ = without_our_frames(each.__traceback__)
        name_torch_in_import_error(each)


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all the errors that its traceback will show."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions


def without_our_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the user's first line on, without leafgrad's files and the import machinery. To see them, as
    one who looks for a mistake of leafgrad wants to: LEAFGRAD_TRACEBACK=full."""
    whole = os.environ.get("LEAFGRAD_TRACEBACK") == "full"
    frames: list[TracebackType] = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        ours = file == __file__ or file.startswith("<frozen importlib") or (is_ours(traceback) and not whole)
        starts_the_module = not frames and file in ("<frozen runpy>", runpy.__file__)
        if not ours and not starts_the_module:
            frames.append(traceback)
        traceback = traceback.tb_next
    for frame, following in zip(frames, [*frames[1:], None]):
        frame.tb_next = following
    return frames[0] if frames else None


def is_ours(traceback: TracebackType) -> bool:
    """Is this leafgrad's? Compiled functions say where they were compiled, which is no file of this machine."""
    module = str(traceback.tb_frame.f_globals.get("__name__", ""))
    return is_internal(traceback.tb_frame.f_code.co_filename) or module.partition(".")[0] == "leafgrad"


def name_torch_in_import_error(error: BaseException) -> None:
    """`from torch import missing` is reported by Python in its own words; they are put into the user's."""
    if not isinstance(error, ImportError):
        return
    match = re.match(r"cannot import name '(\w+)' from '((?:leafgrad|torch)[\w.]*)'", str(error))
    if match:
        name, module = match.groups()
        error.msg = (
            f"cannot import name '{name}' from '{_missing.torch_name(module)}'\n"
            f"{_missing.explanation(f'{module}.{name}')}"
        )


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m leafgrad", description=leafgrad.__doc__)
    top.add_argument("--version", action="version", version=f"leafgrad {VERSION}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    run = commands.add_parser(
        "run",
        help="run a script that says `import torch` with leafgrad in its place",
        usage=f"%(prog)s [--seed N] {PROGRAM}",
        description="Runs a PyTorch script with leafgrad wherever it says `import torch`.",
    )
    explain = commands.add_parser(
        "explain",
        help="the same, and explain its first backward() and its silent mistakes",
        usage=f"%(prog)s [--seed N] [--html FILE] {PROGRAM}",
        description="Runs a script, explains its first backward(), writes the picture of that graph, and names silent "
        "mistakes as they are noticed. All of it goes to standard error.",
    )
    explain.add_argument("--html", default="graph.html", metavar="FILE", help="the picture (graph.html); '' for none")
    for command in (run, explain):
        command.add_argument("--seed", type=int, metavar="N", help="call torch.manual_seed(N) before the script starts")
        command.add_argument(
            "-m", dest="module", nargs=argparse.REMAINDER, metavar="module", help="run a module instead of a file"
        )
        command.add_argument("script", nargs="?", help="the file to run; - for standard input")
        command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")

    demo = commands.add_parser("demo", help="four questions about backward(), answered with short programs")
    demo.add_argument("--html", default="demo_graph.html", metavar="FILE", help="the picture (demo_graph.html)")
    commands.add_parser("config", help="show how this leafgrad was built and what it uses")
    return top


def main(argv: list[str] | None = None) -> None:
    command_line = parser()
    options = command_line.parse_args(argv)
    if options.command == "config":
        print(show_config())
        return
    if options.command == "demo":
        from leafgrad._explain.demo import demo

        demo(Path(options.html))
        return
    if not options.module and options.script is None:
        command_line.error(f"{options.command} needs a script or -m module")

    def body() -> None:
        install_alias()
        if options.seed is not None:
            manual_seed(options.seed)
        if options.module:
            run_module(options.module[0], options.module[1:])
        else:
            run_script(options.script, options.arguments)

    def explained() -> None:
        from leafgrad._explain.command import Observed

        with Observed(Path(options.html).absolute() if options.html else None):
            body()

    run_as_users_own(explained if options.command == "explain" else body)
