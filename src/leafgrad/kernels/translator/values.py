"""What the language has, and what its expressions are in C."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

# The letters by which the launcher (fused.h) knows what an argument or a result is.
ARGUMENTS = {
    "Vector": "v", "Mask": "m", "Number": "n", "PerRow": "p", "Index": "i", "Shared": "s", "Updated": "u",
    "Pair": "b",
}  # fmt: skip
REDUCTIONS = {"rowwise": ("row_sum", "row_mean", "row_max"), "summed": ("total", "total_of_squares"), "elementwise": ()}
CALLS = {  # how many arguments, and what a vector of them costs in units of an addition
    "exp": (1, 8), "exp_to_one": (1, 8), "expm1": (1, 8), "log": (1, 10), "log1p": (1, 14), "tanh": (1, 12),
    "sigmoid": (1, 10), "erf": (1, 16), "normal_cdf": (1, 10), "normal_density": (1, 8), "sqrt": (1, 4), "abs": (1, 1),
    "sign": (1, 2), "isnan": (1, 1), "trunc": (1, 1),
    "maximum": (2, 1), "minimum": (2, 1), "copysign": (2, 1), "clipped": (3, 2), "not_below": (2, 1),
}  # fmt: skip
IN_C_LIBRARY = {"exp", "expm1", "log", "log1p", "tanh", "erf"}
OPERATORS = {ast.Add: ("+", 1), ast.Sub: ("-", 1), ast.Mult: ("*", 1), ast.Div: ("/", 4)}
COMPARISONS = {ast.Gt: ">", ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
LOGIC = {ast.BitAnd: "&", ast.BitOr: "|", ast.And: "&&", ast.Or: "||"}
# Names that kernels cannot have: those of the loops around them, and words of C.
TAKEN = {
    "i", "j", "n", "r", "base", "many", "rest", "lane", "rows", "arrays", "options", "scratch", "end", "real", "auto",
    "case", "char", "const", "default", "do", "double", "enum", "extern", "float", "goto", "int", "inline", "long",
    "register", "restrict", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned",
    "void", "volatile",
}  # fmt: skip
MADE = re.compile(r"(k|c|new|out|part|last|row_sum|row_mean|row_max|total|total_of_squares)\d+|(kept|in)_.*")
BLOCK = 1024  # elements that are added up in single precision

NUMBER, VECTOR = "number", "vector"
REAL, BOOL, INTEGER = "real", "bool", "integer"


class NotInTheLanguage(SyntaxError):
    """What a kernel says and the language does not have, with file and line."""


@dataclass
class Module:
    """What a file of kernels has besides: numbers with names, and elementwise kernels that others may call."""

    path: str
    constants: dict[str, float] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)


@dataclass
class Value:
    """An expression in C."""

    text: str
    shape: str  # NUMBER or VECTOR
    kind: str = REAL
    level: int = 0  # of a vector: the loop it belongs to; of a number: the loop after which it is known, plus one
    plain: bool = True  # only arithmetic?
    uses: tuple[str, ...] = ()  # the named vectors in it
    literal: bool = False  # a constant
