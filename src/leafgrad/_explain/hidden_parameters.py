"""Parameters that a model uses and `model.parameters()` does not know: modules in a plain list, tensors that are no
Parameters. An optimizer never gets them, and nothing says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from leafgrad import nn
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.finding import Finding, Fix
from leafgrad.errors.naming import Place, library
from leafgrad.errors.source import Statement, assignment_of_attribute, name_of_object
from leafgrad.nn.modules.module import Module

MOST_ELEMENTS = 10_000  # looked at in one container
DEEPEST = 4  # containers inside each other


def hidden_parameters(model: Module, held: set[int]) -> list[Finding]:
    """A finding for each attribute of the model, or of a module in it, that hides parameters. `held` are the ids of
    parameters that an optimizer has all the same."""
    known = held | {id(p) for p in model.parameters()}
    findings: list[Finding] = []
    for path, module in model.named_modules():
        for name, value in list(vars(module).items()):
            if name.startswith("_"):
                continue
            hidden = [t for t in tensors_in(value) if id(t) not in known]
            if hidden:
                known.update([id(t) for t in hidden])
                findings.append(finding(module, path, name, value, len(hidden)))
    return findings


def tensors_in(value: Any, depth: int = 0) -> Iterator[TensorBase]:
    """The leaves that require grad in an attribute: a tensor, or what modules in a container hold."""
    if isinstance(value, TensorBase):
        if value.needs_grad and value.node is None:
            yield value
    elif isinstance(value, Module):
        yield from [p for p in value.parameters() if p.needs_grad]
        for name, part in list(vars(value).items()):
            if not name.startswith("_"):
                yield from tensors_in(part, depth + 1)
    elif depth < DEEPEST and type(value) in (list, tuple, set, dict):
        for part in list(value.values() if type(value) is dict else value)[:MOST_ELEMENTS]:
            yield from tensors_in(part, depth + 1)


def finding(module: Module, path: str, name: str, value: Any, count: int) -> Finding:
    statement = assignment_of_attribute(type(module), name)
    owner = name_of_object(module)
    place = statement.place if statement else Place(f"{owner or path or type(module).__name__}.{name}", "")
    many = "a parameter" if count == 1 else f"{count} parameters"
    if isinstance(value, TensorBase):
        what = "is a tensor, no Parameter, and so it is not among model.parameters()"
    else:
        what = f"a plain {type(value).__name__} hides {many} from model.parameters()"
    evidence = f"{what}: the optimizer will not train {'it' if count == 1 else 'them'}."
    fix = fixed(module, statement, value)
    return Finding("hidden parameters", place, evidence, (Fix(fix, place),) if fix else ())


def fixed(module: Module, statement: Statement | None, value: Any) -> str | None:
    """The assignment with a container that modules know about."""
    wrapper = wrapper_for(value)
    tree = None if statement is None else statement.tree
    if wrapper is None or statement is None or not isinstance(tree, (ast.Assign, ast.AnnAssign)) or tree.value is None:
        return None
    own = tree.value
    text = statement.part(own)
    empty = (isinstance(own, (ast.List, ast.Tuple)) and not own.elts) or (isinstance(own, ast.Dict) and not own.keys)
    new = f"{name_of_nn(module)}.{wrapper}({'' if empty else text})"
    return statement.replaced(own, new)


def wrapper_for(value: Any) -> str | None:
    """The class of `nn` that does what the attribute was meant to do."""
    if isinstance(value, TensorBase):
        return "Parameter"
    if type(value) not in (list, tuple, dict):
        return None
    parts = list(value.values()) if type(value) is dict else list(value)
    kind = "Dict" if type(value) is dict else "List"
    if all([isinstance(part, Module) for part in parts]):
        return f"Module{kind}"
    return f"Parameter{kind}" if all([isinstance(part, TensorBase) for part in parts]) else None


def name_of_nn(module: Module) -> str:
    """What the file of a module's class calls `nn`."""
    space = getattr(type(module).forward, "__globals__", {})
    for name, value in list(space.items()):
        if value is nn:
            return str(name)
    return f"{library()}.nn"
