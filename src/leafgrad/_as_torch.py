"""`import torch` means leafgrad: in this process, and in those that multiprocessing starts for it."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import multiprocessing
import multiprocessing.spawn
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from leafgrad import _missing
from leafgrad._torch_places import PLACES, place_of_class

# Of packages of PyTorch's that are one file here: the files that programs import from.
FILES_INSIDE = {
    "torch.cuda.amp": ("autocast_mode", "common", "grad_scaler"), "torch.multiprocessing": ("spawn",),
}  # fmt: skip


class TorchAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers `import torch` and `import torch.x.y` with the very module objects `leafgrad` and `leafgrad.x.y`, and
    `import functorch`, which comes with PyTorch, with `leafgrad._functorch.deprecated`.

    The same object under two names, not a copy: `torch.nn is leafgrad.nn`, and every class exists once.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.startswith("leafgrad."):
            return spec_with_torch_classes(name, path)
        if name.partition(".")[0] not in ("torch", "functorch"):
            return None
        module = import_counterpart(name)
        # name_classes_as_torch may have put it there already; Python would then take the module's own spec, and run its
        # file a second time.
        sys.modules.pop(name, None)
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
        for inner in FILES_INSIDE.get(alias_spec.name, ()):
            # found there before the import system looks for it, and puts it in the place of a function of that name
            sys.modules[f"{alias_spec.name}.{inner}"] = module
            _missing.names_of(module).setdefault(inner, module)


def import_counterpart(torch_name: str) -> ModuleType:
    """Imports the module that stands for `torch_name`, say `leafgrad.nn.functional` for `torch.nn.functional`."""
    top, dot, below = torch_name.partition(".")
    name = ("leafgrad" if top == "torch" else "leafgrad._functorch.deprecated") + dot + below
    parent_name, _, child = name.rpartition(".")
    in_namespace = _missing.names_of(sys.modules[parent_name]).get(child) if dot else None
    if isinstance(in_namespace, ModuleType):
        return in_namespace
    if callable(in_namespace):
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
    name = "leafgrad" + module.__name__.removeprefix("leafgrad").removeprefix("torch")

    def missing(attribute: str) -> Any:
        # where PyTorch keeps a layer in another file, it is found all the same
        if (
            name.startswith("leafgrad.nn.modules.")
            and attribute[0] != "_"
            and hasattr(sys.modules["leafgrad.nn"], attribute)
        ):
            return getattr(sys.modules["leafgrad.nn"], attribute)
        raise _missing.missing_attribute(name, attribute)

    _missing.names_of(module).setdefault("__getattr__", missing)


# -- names of classes -------------------------------------------------------------------------------------------------


def name_classes_as_torch(module: ModuleType) -> None:
    """Programs print classes, compare their names and look for their modules: the public ones of a module get the
    names that they have in PyTorch, and the module is known by that name as well (`typing` looks there for the names in
    annotations)."""
    if module is sys.modules["leafgrad"]:  # which defines none
        return
    inside = module.__name__.removeprefix("leafgrad.")
    if inside not in PLACES and (inside.startswith(("_", "errors", "kernels", "ops")) or "._" in inside):
        return
    for found in list(_missing.names_of(module).values()):
        if isinstance(found, type) and found.__module__ == module.__name__ and found.__qualname__ == found.__name__:
            found.__module__ = place_of_class(inside, found.__name__)
            if found.__module__ == f"torch.{inside}" and found.__module__ not in sys.modules:
                explain_missing_names(module)
                sys.modules[found.__module__] = module


def spec_with_torch_classes(name: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    """How a module of leafgrad is loaded, with its classes named at the end."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None or "exec_module" in vars(spec.loader):  # which a zip file's has already
        return spec
    execute = spec.loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        name_classes_as_torch(module)

    vars(spec.loader)["exec_module"] = exec_module
    return spec


def install_alias() -> None:
    """From now on, `import torch` means leafgrad in this process."""
    if any(isinstance(finder, TorchAlias) for finder in sys.meta_path):
        return
    sys.modules["leafgrad"].__name__ = "torch"
    sys.meta_path.insert(0, TorchAlias())
    # What programs want to know is whether PyTorch is new enough.
    sys.modules["leafgrad"].__version__ = importlib.import_module("leafgrad.version").__version__  # type: ignore[attr-defined]
    # A module and a function of one name, in PyTorch as well: importing the module must not replace the function.
    sys.modules["torch.autograd.gradcheck"] = importlib.import_module("leafgrad.autograd.gradcheck")
    for name, module in list(sys.modules.items()):
        if name == "leafgrad" or name.startswith("leafgrad."):
            explain_missing_names(module)
            name_classes_as_torch(module)
    install_alias_in_children()


# -- processes of multiprocessing -------------------------------------------------------------------------------------


class AliasInChild:
    """To unpickle it is to install the alias."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return install_alias, ()


def install_alias_in_children() -> None:
    """A process that is forked has the alias. One that is spawned begins with a dictionary of what it has to know,
    before it imports the program again; a server of forks must not import the program without the alias."""
    prepare = multiprocessing.spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"torch": AliasInChild(), **prepare(name)}

    multiprocessing.spawn.get_preparation_data = get_preparation_data
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_forkserver_preload([])
