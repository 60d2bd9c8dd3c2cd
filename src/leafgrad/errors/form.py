"""The form of a message: PyTorch's sentence and, below it, rows in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from leafgrad._core.node import Node, Output
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.errors.naming import Place, assignment, find, here, name_of, place_of

E = TypeVar("E", bound=BaseException)
Row = tuple[str, object]  # a label and a text or Place; a row without text is left out


def size(shape: Any) -> str:
    """A shape as PyTorch writes it in messages: [2, 3]."""
    return "[" + ", ".join(map(str, shape)) + "]"


def explain(first: str, *rows: Row) -> str:
    """A sentence and, below it, rows in columns."""
    shown = [(label, text) for label, text in rows if text]
    wide = max([len(label) for label, _ in shown], default=0)
    spots = max([len(text.spot) for _, text in shown if isinstance(text, Place)], default=0)
    result = [first]
    for label, text in shown:
        if isinstance(text, Place):
            text = f"{text.spot:<{spots}}   {text.source}"
        result.append(f"  {label:<{wide}}  {text}".rstrip())
    return "\n".join(result)


def mistake(kind: type[E], first: str, *rows: Row, fix: str | Sequence[str] = ()) -> E:
    """An exception with these rows, the user's line and the fix."""
    at = here()
    shown = [row for row in rows if row != ("recorded", at)]  # made and used in one line
    fixes = [fix] if isinstance(fix, str) else fix
    return kind(explain(first, *shown, ("at", at), *[("" if i else "fix", each) for i, each in enumerate(fixes)]))


def noted(kind: type[E], first: str, *rows: Row, fix: str | Sequence[str] = ()) -> E:
    """The same where programs compare the whole message with PyTorch's: what stands below it is a note, which a
    traceback shows in the same place."""
    full = str(mistake(kind, first, *rows, fix=fix))
    made = kind(first)
    made.add_note(full[len(first) + 1 :])
    return made


# -- tensors in words -------------------------------------------------------------------------------------------------


def describe(tensor: TensorBase) -> str:
    """'x', shape [2, 3]: as much of a tensor as a person needs to recognise it."""
    name = name_of(tensor)
    if name is None and tensor.node is not None:
        return f"{_without_name(tensor.node)}, shape {size(tensor.array.shape)}"
    return (f"'{name}', " if name else "") + f"shape {size(tensor.array.shape)}"


def describe_result(node: Node, name: str | None) -> str:
    several = node.shape and isinstance(node.shape[0], tuple)
    return (f"'{name}'" if name else _without_name(node)) + ("" if several else f", shape {size(node.shape)}")


def _without_name(node: Node) -> str:
    stored = assignment(node)
    return f"the result of {node.op.name}" + (f" on the way to '{stored[0]}'" if stored else "")


def describe_array(array: Any) -> str:
    """'w' [2, 3]: an operand, by the name of the tensor whose array it is."""
    found = find(lambda t: t.array is array)
    return (f"'{found.name}' " if found else "") + size(array.shape)


def recorded(tensor: TensorBase) -> Place | None:
    return None if tensor.node is None else place_of(tensor.node.code, tensor.node.lasti)


def output_of(node: Node, index: int | None = None) -> str:
    """A result of an operation as PyTorch's messages name it: (output) 0 of MulBackward0."""
    if index is None:
        index = node.index if isinstance(node, Output) else 0
    name = re.sub(r"Backward0?(?=[0-9]*$)", "", node.op.node_name)
    return f"{index} of {'torch::autograd::' if name == 'CopySlices' else ''}{name}"


def saved_was_changed(
    array: Any, made: str, version: Any, expected: int, *rows: Row, fix: str | Sequence[str]
) -> RuntimeError:
    """For a value that a backward pass needs as it was; `made` is the output that it was, if that is known."""
    alias, shape = ("Float", "?") if array is None else (from_numpy_dtype(array.dtype).alias, size(array.shape))
    return mistake(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{alias}Tensor {shape}]{made and f', which is output {made},'} is at version {version[0]}; "
        f"expected version {expected} instead. Hint: enable anomaly detection to find the operation that failed to "
        "compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
        *rows,
        ("changed", changed_at(version)),
        fix=fix,
    )


def changed_at(version: Any) -> Place | None:
    """Where the memory with this version was last changed."""
    return None if version[1] is None else place_of(*version[1])
