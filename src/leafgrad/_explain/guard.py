"""`leafgrad.guard`: mistakes fail where they are made, not where they are noticed.

with leafgrad.guard():
    hidden = layer(x).exp()
    hidden += 1                # refused here, not by a later backward()
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.modes import Mode
from leafgrad._core.modes import Rule as GradientRule
from leafgrad._core.node import Freed
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.anomaly_mode import nan_among, report
from leafgrad.autograd.hooks import of_node
from leafgrad.errors.naming import Place, expression_here, library, place_of

BY_NAME = {"detach": "detach()", "data": ".data", "tensor": "tensor()"}  # cuts that a program asks for
MEANT = "with leafgrad.guard(cuts=False):   # if that is meant"
SAVED = "leafgrad.guard"  # what the mark of a node is called among its metadata


class Mark:
    """Lives as long as the node that saved something, and says where that was."""

    __slots__ = ("__weakref__", "count", "operation", "place", "version")

    def __init__(self, version: Any, count: int, operation: str, place: Place) -> None:
        self.version = version
        self.count = count
        self.operation = operation
        self.place = place


class guard(Mode):
    """guard(saved=True, cuts=True, nan=True): a context manager in which mistakes are refused at once.

    `saved`: a change in place of a tensor that a graph needs unchanged. `cuts`: `detach()`, `.data` and `tensor(t)`,
    which take a result out of its graph, and the use of what was computed under `no_grad` in a graph; not `item()`, and
    not integers, which cannot have a gradient. `nan`: the first operation, or the first gradient, that makes nan of
    numbers that are none.
    """

    def __init__(self, saved: bool = True, cuts: bool = True, nan: bool = True) -> None:
        self.saved = saved
        self.cuts = cuts
        self.nan = nan
        self.marks: dict[int, list[Any]] = {}  # weak references, by the identity of the version

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.marks.clear()

    # -- changes of what was saved ------------------------------------------------------------------------------------

    def recorded(self, node: Any, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
        if self.cuts:
            refuse_computed_without_graph(tensors)
        if not self.saved or not node.versions:
            return
        place = place_of(node.code, node.lasti)
        marks = of_node(node).metadata.setdefault(SAVED, [])
        for i in range(0, len(node.versions), 2):
            mark = Mark(node.versions[i], node.versions[i + 1], node.op.name, place)
            marks.append(mark)
            self.marks.setdefault(id(mark.version), []).append(weakref.ref(mark))

    def about_to_change(self, x: TensorBase) -> None:
        for ref in self.marks.pop(id(x.version), ()):
            mark = ref()
            if mark is not None and mark.version is x.version and mark.count == x.version[0]:
                raise refused_change(x, mark)

    def run_rule(self, node: Any, g: Any, saved: Any, inputs: Any, below: GradientRule) -> Sequence[Any]:
        results = below(node, g, saved, inputs)
        if node.hooks is not None and isinstance(node.saved, Freed):
            node.hooks.metadata.pop(SAVED, None)
        if self.nan and not any([nan_among(one) for one in (g if isinstance(g, list) else [g])]):
            for index, result in enumerate(results):
                if inputs[index] is not None and (found := nan_among(result)):
                    raise RuntimeError(
                        f"Function '{node.op.node_name}' returned nan values in its {index}th output.\n"
                        f"{report(node)}\n  {found}"
                    )
        return results

    # -- cuts and nan -------------------------------------------------------------------------------------------------

    def cut(self, reason: str) -> None:
        source = expression_here() or ""
        if self.cuts and reason in BY_NAME and reason in source:  # not by leafgrad itself, as in state_dict()
            raise errors.mistake(
                RuntimeError,
                f"the graph ends here: cut by {BY_NAME[reason]}, so that nothing before this line gets a gradient "
                "through the result",
                fix=(*without(reason), MEANT),
            )

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        if not self.nan or any([has_nan(array) for array in arrays]):
            return
        for result in results:
            if has_nan(result.array):
                raise made_nan(op, tensors, arrays, result)


def has_nan(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "fc" and bool(np.isnan(array).any())


def refused_change(x: TensorBase, mark: Mark) -> RuntimeError:
    return errors.mistake(
        RuntimeError,
        "one of the variables needed for gradient computation would be modified by an inplace operation",
        ("tensor", f"{errors.describe(x)}: needed unchanged by the gradient of {mark.operation}"),
        ("saved", mark.place),
        fix=errors.on_a_copy(errors.here().source, errors.name_of(x)),
    )


def without(reason: str) -> list[str]:
    """The line that is running, without the cut."""
    source = errors.here().source
    for text in (".detach()", ".data") if reason in ("detach", "data") else ():
        if source.count(text) == 1:
            return [source.replace(text, "")]
    return []


def refuse_computed_without_graph(tensors: Sequence[Any]) -> None:
    """Raise if something that was computed under no_grad, from what requires grad, is used in a graph."""
    for t in tensors:
        known = None if t is None or t.needs_grad or t.rare is None else t.rare.graph_break
        if known is not None and known.reason in ("no_grad", "inference_mode"):
            raise errors.mistake(
                RuntimeError,
                f"the graph ends here: computed under {known.reason}(), so that nothing before it gets a gradient",
                ("tensor", errors.describe(t)),
                ("cut", place_of(known.code, known.lasti)),
                fix=(f"move that line out of `with {library()}.{known.reason}():`", MEANT),
            )


def made_nan(op: Op, tensors: Sequence[Any], arrays: Sequence[Any], result: Any) -> RuntimeError:
    ranges = [f"input {i} {range_of(array)}" for i, array in enumerate(arrays) if isinstance(array, np.ndarray)]
    return errors.mistake(
        RuntimeError,
        f"{op.name} makes nan of numbers that are none",
        ("result", f"{errors.describe(result)}: {nan_among(result.array)}"),
        *[("inputs" if not i else "", text) for i, text in enumerate(ranges)],
    )


def range_of(array: Any) -> str:
    """In which range the values of an array lie."""
    if array.size == 0 or array.dtype.kind not in "fiu":
        return f"of shape {errors.size(array.shape)}"
    return f"of shape {errors.size(array.shape)} lies between {array.min():g} and {array.max():g}"
