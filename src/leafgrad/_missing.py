"""What is said when a program asks for a part of PyTorch that leafgrad does not have."""

from __future__ import annotations

import sys


def torch_name(name: str) -> str:
    """The name that the user knows: `leafgrad.nn` is `torch.nn` in PyTorch code."""
    if name == "leafgrad" or name.startswith("leafgrad."):
        return "torch" + name.removeprefix("leafgrad")
    return name


def explanation(name: str) -> str:
    """The sentence that follows PyTorch's (or Python's) own message."""
    return f"leafgrad does not have {torch_name(name)} (yet)."


def missing_attribute(module_name: str, name: str) -> AttributeError:
    """The error for `module_name.name`, to be raised by the module's `__getattr__`.

    It carries the module, so that Python adds its own "Did you mean: ...?" where a name is close.
    """
    message = f"module '{torch_name(module_name)}' has no attribute '{name}'"
    if not name.startswith("__"):  # tools look for dunder names; there is nothing to explain to them
        message += f"\n{explanation(f'{module_name}.{name}')}"
    return AttributeError(message, name=name, obj=sys.modules.get(module_name))


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for `import name`."""
    name = torch_name(name)
    return ModuleNotFoundError(f"No module named '{name}'\n{explanation(name)}", name=name)
