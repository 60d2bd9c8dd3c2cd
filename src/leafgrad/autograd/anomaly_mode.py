"""Anomaly mode: find the operation in whose gradient a nan or an error appeared.

The origin of every operation is always known, so the report is part of the exception: the line that recorded the
operation, and the lines that recorded what it was computed from. PyTorch's warning with the whole stack of the forward
call comes on top of it, if the mode was on at that time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core import origin
from leafgrad._core.modes import Mode, Rule, share
from leafgrad._core.node import Node
from leafgrad._core.origin import line_of
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import shared_modes, state
from leafgrad.autograd.composition import inputs_behind, sources_of
from leafgrad.autograd.hooks import of_node


class Anomaly(Mode):
    """Runs gradient rules under supervision, in all threads, as in PyTorch."""

    check_nan = True

    def recorded(self, node: Node, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
        """Keep the stack that recorded a node and, if that was a gradient rule, whose."""
        known = of_node(node).metadata
        known["traceback_"] = forward_lines()
        if state.running:
            known["parent_"] = state.running[-1]

    def found_unusable(self, node: Node) -> None:
        warn(node, node.op.node_name)

    def run_rule(self, node: Node, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        """Run the rule of a node, and complain if it fails or returns a nan."""
        name = node.op.node_name
        state.running.append(node)
        try:
            results = below(node, g, saved, inputs)
        except Exception as error:
            warn(node, name)
            if not getattr(error, "__notes__", None):
                error.add_note(report(node))
            raise
        finally:
            state.running.pop()
        if self.check_nan:
            for index, (source, _) in enumerate(sources_of(node)):
                found = "".join([nan_among(results[i]) for i in inputs_behind(source) if inputs[i] is not None][:1])
                if found:
                    warn(node, name)
                    first = f"Function '{name}' returned nan values in its {index}th output."
                    raise RuntimeError(f"{first}\n{report(node)}\n  {found}")
        return results


anomaly = Anomaly()


def forward_lines() -> list[str]:
    """The stack of the user's program, as a traceback shows it, without leafgrad's frames."""
    import traceback  # here, because loading it takes time that few programs have to spend

    stack = traceback.extract_stack(origin.user_frame())
    return traceback.format_list([frame for frame in stack if not origin.is_internal(frame.filename)])


def nan_among(r: Any) -> str:
    """How many of the values are nan, and in which range the others lie; "" if none is."""
    if r is None:
        return ""
    array = r.array if isinstance(r, TensorBase) else r
    missing = np.isnan(array)
    count = int(missing.sum())
    if not count:
        return ""
    others = np.abs(array[~missing]) if array.dtype.kind == "c" else array[~missing]
    text = f"{count} of its {missing.size} values {'is' if count == 1 else 'are'} nan"
    return f"{text}, the others lie between {others.min():g} and {others.max():g}" if others.size else text


def report(node: Node) -> str:
    """The line that recorded a node, and those behind it."""
    lines = [f"  {node.op.node_name} was {place_of(node)}"]
    for source in node.inputs:
        if isinstance(source, Node):
            lines.append(f"  its input comes from {source.op.node_name}, {place_of(source)}")
        elif source is not None:
            lines.append(f"  its input is a leaf of shape {list(source.array.shape)}")
    lines += [f"  it is part of the gradient of {cause.op.node_name}, {place_of(cause)}" for cause in causes(node)]
    return "\n".join(lines)


def place_of(node: Node) -> str:
    file, line = line_of(node.code, node.lasti)
    return f"recorded at {file}:{line}"


def causes(node: Node) -> list[Node]:
    """The nodes whose rules recorded this one, under create_graph: the nearest first."""
    found: list[Node] = []
    while node.hooks is not None and (cause := node.hooks.metadata.get("parent_")) is not None:
        found.append(cause)
        node = cause
    return found


def warn(node: Node, name: str) -> None:
    """PyTorch's warnings: the stack of the forward call, and those of the calls that led to it being differentiated."""
    text = f"Error detected in {name}. "
    if node.hooks is None or "traceback_" not in node.hooks.metadata:
        text += "No forward pass information available. Enable detect anomaly during forward pass for more information."
        warn_or_print(text)
        return
    text += "Traceback of forward call that caused the error:"
    for each in (node, *causes(node)):
        if each is not node:
            text = f"\n\nPrevious calculation was induced by {each.op.node_name}. "
            text += "Traceback of forward call that induced the previous calculation:"
        stack = () if each.hooks is None else each.hooks.metadata.get("traceback_", ())
        warn_or_print(f"{text}\n{''.join(stack)}")


def warn_or_print(text: str) -> None:
    """A warning; where warnings are errors, a line on stderr, because an error is already on its way."""
    try:
        errors.warn(text)
    except Warning as refused:
        print(f"{type(refused).__name__}: {text}", file=sys.stderr)


def is_anomaly_enabled() -> bool:
    """is_anomaly_enabled(): do backward passes look for trouble?"""
    return anomaly in shared_modes


def is_anomaly_check_nan_enabled() -> bool:
    """is_anomaly_check_nan_enabled(): do they look for nan as well?"""
    return anomaly.check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """set_anomaly_enabled(mode, check_nan=True): switch anomaly mode."""
    switch(mode, check_nan)


class set_detect_anomaly:
    """set_detect_anomaly(mode, check_nan=True): switch anomaly mode at once; as a context manager, until its end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (is_anomaly_enabled(), anomaly.check_nan)
        switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        switch(*self._before)


class detect_anomaly:
    """detect_anomaly(check_nan=True): inside, an error in a backward pass says which forward operation it belongs to,
    and so does a nan."""

    def __init__(self, check_nan: bool = True) -> None:
        self._entered: list[set_detect_anomaly] = []
        self.check_nan = check_nan
        text = "This mode will increase the runtime and should only be enabled for debugging."
        errors.warn(f"Anomaly Detection has been enabled. {text}")

    def __enter__(self) -> None:
        self._entered.append(set_detect_anomaly(True, self.check_nan))

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__()


def switch(mode: bool, check_nan: bool) -> None:
    anomaly.check_nan = bool(check_nan)
    share(anomaly, bool(mode))
