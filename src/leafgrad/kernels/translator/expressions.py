"""Expressions of the language, in C."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from leafgrad.kernels.translator.loops import Loops
from leafgrad.kernels.translator.values import (
    BOOL,
    CALLS,
    COMPARISONS,
    IN_C_LIBRARY,
    INTEGER,
    LOGIC,
    NUMBER,
    OPERATORS,
    REAL,
    REDUCTIONS,
    VECTOR,
    Value,
)  # fmt: skip


class Expressions(Loops):
    """Turns the expressions of a kernel into C, and adds to its loops what they need before they can be written."""

    def expression(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return Value(repr(float(node.value)), NUMBER, literal=True)
        if isinstance(node, ast.Name):
            return self.name_of(node)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.BoolOp):
            values = [self.expression(each) for each in node.values]
            if any([value.shape != NUMBER for value in values]):
                raise self.error(node, "and, or, not are for numbers; &, |, ~ for elements")
            sign = f" {LOGIC[type(node.op)]} "
            return Value(f"({sign.join([v.text for v in values])})", NUMBER, BOOL, max([v.level for v in values]))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = self.operands([self.expression(node.left), self.expression(node.comparators[0])])
            return self.joined(f"({left.text} {COMPARISONS[type(node.ops[0])]} {right.text})", (left, right), 1, BOOL)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.IfExp):
            test, yes, no = [self.expression(each) for each in (node.test, node.body, node.orelse)]
            if test.shape != NUMBER:
                raise self.error(node, "what is done may depend on numbers only; where(...) chooses among elements")
            return self.choice(Value(self.truth(f"({test.text} != 0)"), NUMBER, BOOL, test.level), yes, no)
        raise self.error(node, f"the language has no such expression: {ast.unparse(node)}")

    def name_of(self, node: ast.Name) -> Value:
        name = node.id
        if self.bound is not None:  # inside of another kernel, which has its own names
            if name in self.bound:
                return self.bound[name]
        elif name in self.letters or name in self.named or name in self.numbers:
            return self.own_name(name)
        if name in self.constants:
            return Value(repr(float(self.constants[name])), NUMBER, literal=True)
        raise self.error(node, f"{name} has no value here")

    def own_name(self, name: str) -> Value:
        letter = self.letters.get(name)
        if name in self.numbers:
            return self.numbers[name]
        if name in self.named:
            named = self.named[name].value
            if not self.by_rows or named.kind == BOOL:
                return named
            return Value(name, VECTOR, named.kind, named.level, named.plain, (name,))
        if letter == "n":
            return Value(name, NUMBER)
        if letter == "p":
            return Value(f"(double){name}[r]", NUMBER)
        if letter == "i":
            return Value(f"{name}[r]", NUMBER, INTEGER)
        if letter == "m":
            return Value(f"({name}[i] != 0)", VECTOR, BOOL)
        return Value(name, VECTOR)

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.USub) and value.literal:
            return Value(f"-{value.text}", NUMBER, literal=True)
        if isinstance(node.op, ast.USub):
            return self.joined(f"(-{value.text})", (value,), 1)
        if isinstance(node.op, ast.Not) and value.shape == NUMBER:
            return self.joined(f"(!{value.text})", (value,), 1, BOOL)
        if isinstance(node.op, ast.Invert) and value.kind == BOOL:
            return self.joined(f"(!{value.text})", (value,), 1, BOOL)
        raise self.error(node, f"the language has no such expression: {ast.unparse(node)}")

    def binary(self, node: ast.BinOp) -> Value:
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.Pow):
            return self.power(node, left, right)
        if type(node.op) in LOGIC and left.kind == right.kind == BOOL:
            return self.joined(f"({left.text} {LOGIC[type(node.op)]} {right.text})", (left, right), 1, BOOL)
        if type(node.op) not in OPERATORS:
            raise self.error(node, f"the language has no such operator: {ast.unparse(node)}")
        sign, cost = OPERATORS[type(node.op)]
        left, right = self.operands([left, right])
        return self.joined(f"({left.text} {sign} {right.text})", (left, right), cost)

    def power(self, node: ast.BinOp, base: Value, exponent: Value) -> Value:
        if base.shape == exponent.shape == NUMBER:
            return self.joined(f"pow({base.text}, {exponent.text})", (base, exponent), 0)
        if isinstance(node.right, ast.Constant) and node.right.value == 2:
            return self.joined(f"({base.text} * {base.text})", (base,), 1)
        raise self.error(node, "a vector has the power 2 only")

    def operands(self, values: Sequence[Value]) -> list[Value]:
        """Numbers beside vectors become reals, computed before the loop."""
        if all([value.shape == NUMBER for value in values]):
            return list(values)
        return [
            Value(self.hoisted(v, "ptrdiff_t" if v.kind == INTEGER else "real"), NUMBER, v.kind, v.level)
            if v.shape == NUMBER and v.kind != BOOL
            else v
            for v in values
        ]

    def joined(self, text: str, parts: Iterable[Value], cost: int, kind: str = REAL) -> Value:
        parts = list(parts)
        shape = VECTOR if any([p.shape == VECTOR for p in parts]) else NUMBER
        uses = tuple(dict.fromkeys([name for p in parts for name in p.uses]))
        if shape == VECTOR:
            self.cost += cost
        return Value(text, shape, kind, max([p.level for p in parts], default=0), all([p.plain for p in parts]), uses)

    def call(self, node: ast.Call) -> Value:
        arguments = list(node.args)
        if isinstance(node.func, ast.Attribute):  # x.sqrt(), as tensors have it, or language.sqrt(x)
            name = node.func.attr
            if ast.unparse(node.func.value) != "language":
                arguments = [node.func.value, *arguments]
        elif isinstance(node.func, ast.Name):
            name = node.func.id
        else:
            raise self.error(node, f"the language has no such call: {ast.unparse(node)}")
        if name in self.functions and isinstance(node.func, ast.Name):
            return self.inlined(node, self.functions[name], [self.expression(each) for each in arguments])
        if name in REDUCTIONS[self.kind]:
            return self.reduction(node, name, self.expression(arguments[0]))
        values = [self.expression(each) for each in arguments]
        if name in ("copied", "detached") and len(values) == 1:
            return values[0]  # history and memory are the affair of tensors
        if name == "where" and len(values) == 3:
            return self.choice(*values)
        if name == "less_at" and self.by_rows and len(values) == 3 and values[1].kind == INTEGER:
            x, index, y = self.operands(values)
            there = f"j == lane_REAL({index.text} - base)"
            return self.joined(f"({x.text} - ({there} ? {y.text} : 0))", (x, index, y), 2)
        if name == "pick" and self.by_rows and len(values) == 2 and values[1].kind == INTEGER:
            if self.letters.get(values[0].text) not in ("v", "u"):
                raise self.error(node, "pick(vector, index) takes an element of an argument")
            return Value(f"(double)in_{values[0].text}[{values[1].text}]", NUMBER)
        if name not in CALLS or len(values) != CALLS[name][0] or node.keywords:
            raise self.error(node, f"the language has no such function: {ast.unparse(node)}")
        cost, known = CALLS[name][1], values[-1].literal
        values = self.operands(values)
        if name in ("maximum", "minimum") and known:
            name += "_number"
        if all([value.shape == NUMBER for value in values]):
            # by itself the C library's function is three times as fast as ours, which is there for vectors
            function = name if name in IN_C_LIBRARY else f"{name}_f64"
            text = f"{function}({', '.join([v.text for v in values])})"
            return self.joined(text, values, 0)
        out = self.joined(f"{name}_REAL({', '.join([v.text for v in values])})", values, cost)
        out.plain = out.plain and cost <= 2
        return out

    def inlined(self, node: ast.Call, function: ast.FunctionDef, values: Sequence[Value]) -> Value:
        """Another elementwise kernel of the file, written out where it is called."""
        names = [argument.arg for argument in function.args.args]
        if len(names) != len(values) or node.keywords:
            raise self.error(node, f"{function.name} has {len(names)} arguments")
        outer, self.bound = self.bound, dict(zip(names, values))
        for statement in function.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self.bound[statement.targets[0].id] = self.expression(statement.value)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                value = self.expression(statement.value)
                self.bound = outer
                return value
            elif not isinstance(statement, ast.Expr):
                break
        raise self.error(node, f"{function.name} is more than assignments and a return, and cannot be called")

    def choice(self, condition: Value, yes: Value, no: Value) -> Value:
        yes, no = self.operands([yes, no]) if VECTOR in (yes.shape, no.shape) else self.as_reals([yes, no])
        return self.joined(f"({condition.text} ? {yes.text} : {no.text})", (condition, yes, no), 1)

    def truth(self, test: str) -> str:
        """A condition of options, known before the loop. As a real: of an int gcc (12) makes so many versions of the
        loop that it vectorises none."""
        return f"{self.hoisted(Value(test, NUMBER))} != 0"

    def as_reals(self, values: Sequence[Value]) -> list[Value]:
        return [Value(self.hoisted(v), NUMBER, REAL, v.level) for v in values]

    def reduction(self, node: ast.Call, name: str, value: Value) -> Value:
        if value.shape != VECTOR or value.kind != REAL or len(node.args) != 1:
            raise self.error(node, f"{name} takes one vector")
        level = value.level
        loop = self.loop(level)
        text = self.read(value)
        text = f"{text} * {text}" if name == "total_of_squares" else text
        self.count += 1
        self.cost += 1
        total, number = f"{name}{self.count}", self.count
        largest = name == "row_max"
        zero = "-(real)INFINITY" if largest else "0"
        loop.block_starts.append(f"real part{number}[LANES], last{number}[FEW_LANES];")
        loop.block_starts.append(f"fill_few_REAL(last{number}, {zero}); if (many) fill_REAL(part{number}, {zero});")
        if largest:
            loop.declarations.append(f"real {total} = {zero};")
            statement = f"{{lanes}}[j] = {text} > {{lanes}}[j]{{idle}} ? {text} : {{lanes}}[j];"
            loop.reductions.append((statement, number, " && j < rest"))
            taken = f"{total} = larger_REAL({total}, largest"
        else:
            loop.declarations.append(f"double {total} = 0;")
            loop.reductions.append((f"{{lanes}}[j] += {{idle}}{text};", number, "j >= rest ? 0 : "))
            taken = f"{total} += (sum"
        loop.block_ends.append(f"{taken}_few_REAL(last{number})); if (many) {taken}_REAL(part{number}));")
        if name == "row_mean":
            loop.after.insert(0, f"{total} /= (double)n;")
        return Value(total, NUMBER, REAL, level + 1)
