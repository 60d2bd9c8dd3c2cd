"""From kernels in Python to loops in C.

A kernel is a short function (see language.py for what it may say). It is read as a syntax tree, never run:

    @elementwise                          for every element i:
    def silu_backward(g, x):                  real s = sigmoid(x[i]);
        s = sigmoid(x)                        out0[i] = g[i] * s * (1 + x[i] * (1 - s));
        return g * s * (1 + x * (1 - s))

    @rowwise                              for every row:
    def softmax(x):                           loop 0:  m = max(x[i])
        e = exp(x - row_max(x))               loop 1:  e = exp(x[i] - m);  out0[i] = e;  s += e
        return e * (1 / row_sum(e))           loop 2:  out0[i] = out0[i] * k           with k = 1 / s

Over rows each value has a level: the number of the loop in which it can be computed, one more than the loops whose
reductions it needs. A vector that a later loop needs is computed once more there if that is only arithmetic; otherwise
it is kept, in the memory of a result that is not written before, or in a scratch row. Sums are added up in blocks whose
totals are double, so that long rows lose no digits. Numbers (options, and what a row is reduced to) are double until
they meet a vector.

May import nothing: setup.py runs it while leafgrad is being built.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from pathlib import Path

from leafgrad.kernels.translator.kernel import Kernel
from leafgrad.kernels.translator.values import REDUCTIONS, Module, NotInTheLanguage

__all__ = ["Kernel", "NotInTheLanguage", "kernels_of", "translate"]

DECORATORS = tuple(REDUCTIONS)
# What a row is divided into: vectors of several registers, then of one; `lane` numbers them, as wide as an element.
LANES = {
    "float": {"LANES": "LANES_F32", "FEW_LANES": "FEW_LANES_F32", "lane": "int32_t"},
    "double": {"LANES": "LANES_F64", "FEW_LANES": "FEW_LANES_F64", "lane": "int64_t"},
}


def kernels_of(path: Path) -> list[Kernel]:
    """The kernels that a file of Python defines, at its top or in the bodies of classes."""
    found: list[Kernel] = []
    visit(ast.parse(path.read_text(encoding="utf-8")).body, "", Module(str(path)), found)
    return found


def visit(nodes: Sequence[ast.stmt], prefix: str, module: Module, found: list[Kernel]) -> None:
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            visit(node.body, f"{prefix}{node.name}_", module, found)
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                word = decorator.id if isinstance(decorator, ast.Name) else ""
                if word in DECORATORS:
                    found.append(Kernel(node, prefix + node.name, word, module))
                if word == "elementwise":
                    module.functions[node.name] = node
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            note_constants(node.targets[0], node.value, module.constants)


def note_constants(target: ast.expr, value: ast.expr, constants: dict[str, float]) -> None:
    """Numbers that a file gives names to, which may be computed from each other and with `math`."""
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts))
    for name, expression in pairs:
        if not isinstance(name, ast.Name):
            continue
        try:
            number = eval(compile(ast.Expression(expression), "constant", "eval"), {"math": math}, dict(constants))
        except Exception:  # something else than a number of the kernels: it concerns nobody unless a kernel uses it
            continue
        if isinstance(number, int | float):
            constants[name.id] = float(number)


def translate(paths: Sequence[Path]) -> str:
    """The C source of all kernels of these files, and the table by which the launcher finds them."""
    kernels = [kernel for path in paths for kernel in kernels_of(path)]
    names = [kernel.name for kernel in kernels]
    for name in names:
        if names.count(name) > 1:
            raise NotInTheLanguage(f"two kernels have the name {name}")
    parts = ["/* Made by translator.py of the kernels in Python; not to be edited. */"]
    rows = []
    for real in ("float", "double"):
        lanes = LANES[real]
        parts += [f"#define real {real}", *[f"#define {name} {value}" for name, value in lanes.items()]]
        parts += [*[kernel.c(real) for kernel in kernels], "#undef real", *[f"#undef {name}" for name in lanes]]
    for kernel in kernels:
        letters = "".join([letter for _, letter in kernel.arguments])
        rows.append(
            f'    {{"{kernel.name}", "{kernel.kind}", "{letters}", "{"".join(kernel.results)}", {max(kernel.cost, 1)}, '
            f"{kernel.scratch}, {{run_{kernel.name}_f32, run_{kernel.name}_f64}}}},"
        )
    return "\n".join([*parts, "static const Entry entries[] = {", *rows, "    {NULL}", "};", ""])
