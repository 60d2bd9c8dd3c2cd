"""torch.utils.flop_counter: how much arithmetic a part of a program takes, forward and backward.

    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    counter.get_total_flops()

Products of matrices and convolutions are counted, two operations for each multiplication, under the names of PyTorch's
dispatcher: `linear` is `addmm`. What PyTorch computes by a kernel that it has no formula for, a recurrent layer in
float32 (`mkldnn_rnn_layer`), attention (`_scaled_dot_product_flash_attention_for_cpu`) or `bilinear`, is counted here
as the products that it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from leafgrad import _missing, errors
from leafgrad._core.modes import Below, Observer, Rule
from leafgrad._core.node import Output
from leafgrad._core.op import Op
from leafgrad._core.tensor import as_array, links, wrap
from leafgrad.autograd.hooks import of_node
from leafgrad.ops import aten
from leafgrad.ops.registry import registry
from leafgrad.utils._pytree import tree_map, tree_map_
from leafgrad.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

CALL = "leafgrad.flop_counter"  # what the shapes of a call are called among the metadata of its node
flop_registry: dict[Any, Any] = {}  # formulas, by packets of operations (torch.ops.aten.mm)


# -- formulas ---------------------------------------------------------------------------------------------------------


def get_shape(value: Any) -> Any:
    return value.shape if isinstance(value, links.tensor_class) else value


def shape_wrapper(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A formula of shapes as one of tensors."""

    @wraps(formula)
    def of_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> Any:
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return of_tensors


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """register_flop_formula(targets, get_raw=False): a decorator of the formula of an operation (torch.ops.mylib.foo),
    or of several. It is called with the arguments, shapes in place of tensors, and `out_shape`; with `get_raw` it is
    given the tensors, and the result as `out_val`."""

    def registered(formula: Callable[..., Any]) -> Callable[..., Any]:
        formula = formula if get_raw else shape_wrapper(formula)

        def register(target: Any) -> None:
            if not isinstance(target, aten.Packet):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    "torch.ops.mylib.foo), JitFunction, or HigherOrderOperator, got "
                    f"{target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula

        tree_map_(register, targets)
        return formula

    return registered


@register_flop_formula(aten.packet("mm"))
def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    (m, k), (n, columns) = a_shape, b_shape
    if k != n:
        raise AssertionError(f"matmul: inner dimensions must match (k == k2), got {k} and {n}")
    return int(2 * m * k * columns)


@register_flop_formula(aten.packet("addmm"))
def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return int(2 * prod(a_shape) * b_shape[1])


@register_flop_formula(aten.packet("bmm"))
def bmm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return int(2 * prod(a_shape) * b_shape[2])


@register_flop_formula(aten.packet("baddbmm"))
def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return int(2 * prod(a_shape) * b_shape[2])


def conv_flop_count(x_shape: Any, w_shape: Any, out_shape: Any, transposed: bool = False) -> int:
    """Two for each element of the weight at each position: of the output, or of the input if it is transposed."""
    positions = (x_shape if transposed else out_shape)[2:]
    return int(2 * x_shape[0] * prod(positions) * prod(w_shape))


@register_flop_formula(aten.packet("convolution"))
def conv_flop(
    x_shape: Any, w_shape: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *args: Any,
    out_shape: Any = None, **kwargs: Any,
) -> int:  # fmt: skip
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


@register_flop_formula(aten.packet("convolution_backward"))
def conv_backward_flop(
    grad_out_shape: Any, x_shape: Any, w_shape: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, output_mask: Any, out_shape: Any = None, **kwargs: Any,
) -> int:  # fmt: skip
    """The gradient by the input is a convolution the other way; that by the weight one of samples by channels."""

    def swapped(shape: Any) -> Any:
        return (shape[1], shape[0], *shape[2:])

    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        pair = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(swapped(pair[0]), swapped(pair[1]), swapped(out_shape[1]))
    return count


# -- the mode ---------------------------------------------------------------------------------------------------------


class FlopCounterMode:
    """FlopCounterMode(mods=None, depth=2, display=True, custom_mapping=None): counts in a `with` block, for all of it
    ("Global") and for each module. At the end it prints a table of the modules that are at most `depth` deep.
    `custom_mapping` has formulas for further operations: {torch.ops.aten.mul: lambda x, y, out_shape=None: ...}."""

    def __init__(
        self, mods: Any = None, depth: int | None = 2, display: bool = True, custom_mapping: Any = None
    ) -> None:
        if mods is not None:
            errors.warn("mods argument is not needed anymore, you can stop passing it")
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode: Counting | None = None
        own = {
            name: formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
            for name, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **own}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """get_total_flops(): the sum of all."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """get_flop_counts(): by the names of modules, and in each by operations."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """get_table(depth=None): what is printed at the end."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        modules = [
            name for name in sorted(self.flop_counts) if name != "Global" and (depth is None or name.count(".") < depth)
        ]
        parts = [self._rows(name, name.count("."), total) for name in modules]
        rows = [row for part in parts for row in part]
        # the line of everything, unless a module has all of it
        subsumed = any(sum(self.flop_counts[name].values()) >= total for name in modules)
        if "Global" in self.flop_counts and not subsumed:
            rows = self._rows("Global", 0, total) + [(" " + name, *rest) for name, *rest in rows]
        return table([("Module", "FLOP", "% Total"), *(rows or [("Global", "0", "0%")])])

    def _rows(self, module: str, indent: int, total: int) -> list[Any]:
        counts = self.flop_counts[module]
        lines = [(module, sum(counts.values())), *[(f" - {name}", count) for name, count in counts.items()]]
        return [(" " * indent + name, number(count, total), percent(count, total)) for name, count in lines]

    def __enter__(self) -> Any:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.mode is None:
            raise AssertionError("Internal error: FlopCounter.__exit__ called but mode is None")
        self.mode.__exit__(*error)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(self, func_packet: Any, out: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if func_packet in self.flop_registry:
            count = self.flop_registry[func_packet](*args, **kwargs, out_val=out)
            for parent in set(self.mod_tracker.parents):
                self.flop_counts[parent][func_packet] += count
        return out


class Counting(Observer):
    """What the modes of a thread know of a counter that is on. It remembers the shapes of what was recorded, so that
    the gradients are counted as PyTorch composes them and not as leafgrad does."""

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        result = below(op, arrays, options, out)
        if op.name in registry and registry[op.name].products is not None:
            for product in registry[op.name].products([shape_of(array) for array in arrays], options):
                self.count(product.name, product.shapes(), product.out())
        else:
            self.counter._count_flops(aten.named(op).overloadpacket, shown(result), [*map(shown, arrays), *options], {})
        return result

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        known = registry.get(op.name)
        if known is None or (known.products is None and known.counted_backward is None):
            return
        for result in results:
            node = result.node.parent if isinstance(result.node, Output) else result.node
            if node is not None and node.op is op:
                of_node(node).metadata[CALL] = [shape_of(array) for array in arrays], options

    def run_rule(self, node: Any, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        call = None if node.hooks is None else node.hooks.metadata.get(CALL)
        if call is None or self.inside:
            return below(node, g, saved, inputs)
        self.inside = True
        try:
            results = below(node, g, saved, inputs)
        finally:
            self.inside = False
        shapes, options = call
        known, needs = registry[node.op.name], [edge is not None for edge in inputs]
        if known.products is None:
            args = (shape_of(g), *shapes, *options, needs)
            self.count(known.counted_backward, args[:4], [shape_of(r) for r in results], args[4:])
        else:
            for product in [each for part in known.products(shapes, options) for each in part.gradients(needs)]:
                self.count(product.name, product.shapes(), product.out())
        return results

    def count(self, name: str, shapes: Sequence[Any], out: Any, options: Sequence[Any] = ()) -> None:
        """Count a call whose arguments are known by their shapes."""
        result = [of_shape(each) for each in out] if isinstance(out, list) else of_shape(out)
        self.counter._count_flops(aten.packet(name), result, [*map(of_shape, shapes), *options], {})


def shape_of(value: Any) -> Any:
    return None if value is None else tuple(value.shape)


def of_shape(shape: Any) -> Any:
    """A tensor of a shape that takes no memory."""
    return None if shape is None else wrap(np.broadcast_to(np.float32(0), shape))


def shown(value: Any) -> Any:
    """Arrays as tensors."""
    if isinstance(value, (list, tuple)):
        return tuple([shown(each) for each in value])
    return wrap(as_array(value)) if hasattr(value, "dtype") and hasattr(value, "shape") else value


# -- the table --------------------------------------------------------------------------------------------------------

UNITS = ("", "K", "M", "B", "T")


def number(count: int, total: int) -> str:
    """A count in the unit of the total, which has at least two digits in it; without a unit as a plain number."""
    power = max(0, min(len(UNITS) - 1, (len(str(total)) - 2) // 3))
    return f"{count / 1000**power:.3f}{UNITS[power]}" if power else f"{count:g}"


def percent(count: int, total: int) -> str:
    return f"{count / total:.2%}" if total else "0%"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows below a header: the first column to the left, the others to the right."""
    widths = [max(len(rows[0][i]) + 2, *[len(row[i]) for row in rows]) for i in range(len(rows[0]))]
    ruled = [rows[0], ["-" * width for width in widths], *rows[1:]]
    aligned = [[row[0].ljust(widths[0]), *[c.rjust(w) for c, w in zip(row[1:], widths[1:])]] for row in ruled]
    return "\n".join(["  ".join(row) for row in aligned])


__getattr__ = _missing.attributes_of(__name__)
