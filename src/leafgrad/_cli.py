"""The command line: `python -m leafgrad run script.py` runs a script that says `import torch` with leafgrad instead.

Three things make that work: a finder that answers `import torch.x.y` with the module `leafgrad.x.y` itself, a
`__main__` set up as Python would have set it up, and tracebacks from which this file is taken out again.
"""

from __future__ import annotations

import argparse
import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, ModuleType, TracebackType
from typing import NoReturn

import leafgrad
from leafgrad import _missing
from leafgrad._settings import show_config
from leafgrad.ops.random.distributions import manual_seed

USAGE_ERROR = 2


class TorchAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers `import torch` and `import torch.x.y` with the very module objects `leafgrad` and `leafgrad.x.y`.

    The same object under two names, not a copy: `torch.nn is leafgrad.nn`, and every class exists once.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" and not name.startswith("torch."):
            return None
        module = import_counterpart(name)
        explain_missing_names(module)
        # The import system overwrites __spec__ of the module it is given; exec_module puts leafgrad's own back.
        return importlib.machinery.ModuleSpec(name, self, loader_state=(module, module.__spec__))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module, _ = spec.loader_state
        assert isinstance(module, ModuleType)
        return module

    def exec_module(self, module: ModuleType) -> None:
        alias_spec = module.__spec__
        assert alias_spec is not None
        _, module.__spec__ = alias_spec.loader_state


def import_counterpart(torch_name: str) -> ModuleType:
    """Imports the module that stands for `torch_name`, say `leafgrad.nn.functional` for `torch.nn.functional`."""
    name = "leafgrad" + torch_name.removeprefix("torch")
    parent_name, _, child = name.rpartition(".")
    in_namespace = vars(sys.modules[parent_name]).get(child) if parent_name else None
    if isinstance(in_namespace, ModuleType):
        return in_namespace
    if in_namespace is not None:
        # leafgrad may keep a function and a file of one name. The function is the public one, and importing the
        # file through the alias would put the module in its place.
        raise _missing.missing_module(torch_name)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it exists, and misses something else
            raise
    raise _missing.missing_module(torch_name)


def explain_missing_names(module: ModuleType) -> None:
    """Gives a module the `__getattr__` that names what leafgrad lacks, unless it has one of its own."""
    name = module.__name__

    def missing(attribute: str) -> NoReturn:
        raise _missing.missing_attribute(name, attribute)

    vars(module).setdefault("__getattr__", missing)


def install_alias() -> None:
    """From now on, `import torch` means leafgrad in this process."""
    if any(isinstance(finder, TorchAlias) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, TorchAlias())
    # A module and a function of one name, in PyTorch as well: importing the module must not replace the function.
    sys.modules["torch.autograd.gradcheck"] = importlib.import_module("leafgrad.autograd.gradcheck")
    for name, module in list(sys.modules.items()):
        if name == "leafgrad" or name.startswith("leafgrad."):
            explain_missing_names(module)


def run_script(path: str, arguments: list[str]) -> None:
    """Runs a file as `python path arguments...` would."""
    code = compile_script(path)
    sys.argv = [path, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        # `python -m leafgrad` put the current directory here, where a script expects its own.
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main_module = ModuleType("__main__")
    main_module.__file__ = path
    main_module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    vars(main_module).update(__builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main_module
    exec(code, vars(main_module))


def compile_script(path: str) -> CodeType:
    try:
        with io.open_code(os.path.abspath(path)) as file:
            source = file.read()
    except OSError as error:
        stop(f"cannot open '{path}': {error.strerror}")
    return compile(source, path, "exec", dont_inherit=True)


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
    try:
        body()
    except SystemExit:
        raise
    except BaseException as error:
        for each in with_causes(error):
            each.__traceback__ = without_our_frames(each.__traceback__)
            name_torch_in_import_error(each)
        sys.excepthook(type(error), error, error.__traceback__)
        # It is raised on for its exit status (1; the signal for Ctrl-C), and has been shown already.
        sys.excepthook = lambda *shown: None
        raise


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
    """The traceback from the user's first line on, without this file and the import machinery."""
    frames: list[TracebackType] = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        ours = file == __file__ or file.startswith("<frozen importlib")
        starts_the_module = not frames and file in ("<frozen runpy>", runpy.__file__)
        if not ours and not starts_the_module:
            frames.append(traceback)
        traceback = traceback.tb_next
    for frame, following in zip(frames, [*frames[1:], None]):
        frame.tb_next = following
    return frames[0] if frames else None


def name_torch_in_import_error(error: BaseException) -> None:
    """`from torch import missing` is reported by Python in its own words; they are put into the user's."""
    if not isinstance(error, ImportError):
        return
    match = re.match(r"cannot import name '(\w+)' from '(leafgrad[\w.]*)'", str(error))
    if match:
        name, module = match.groups()
        error.msg = (
            f"cannot import name '{name}' from '{_missing.torch_name(module)}'\n"
            f"{_missing.explanation(f'{module}.{name}')}"
        )


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m leafgrad", description=leafgrad.__doc__)
    top.add_argument("--version", action="version", version=f"leafgrad {leafgrad.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    run = commands.add_parser(
        "run",
        help="run a script that says `import torch` with leafgrad in its place",
        usage="%(prog)s [--seed N] (script.py | -m module) [arguments ...]",
        description="Runs a PyTorch script with leafgrad wherever it says `import torch`.",
    )
    run.add_argument("--seed", type=int, metavar="N", help="call torch.manual_seed(N) before the script starts")
    run.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="module", help="run a module instead of a file"
    )
    run.add_argument("script", nargs="?", help="the file to run")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")

    commands.add_parser("config", help="show how this leafgrad was built and what it uses")
    return top


def main(argv: list[str] | None = None) -> None:
    command_line = parser()
    options = command_line.parse_args(argv)
    if options.command == "config":
        print(show_config())
        return
    if not options.module and options.script is None:
        command_line.error("run needs a script or -m module")

    def body() -> None:
        install_alias()
        if options.seed is not None:
            manual_seed(options.seed)
        if options.module:
            run_module(options.module[0], options.module[1:])
        else:
            run_script(options.script, options.arguments)

    run_as_users_own(body)
