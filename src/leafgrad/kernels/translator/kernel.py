"""Statements of a kernel, and the C function that its loops become."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from leafgrad.kernels.translator.expressions import Expressions
from leafgrad.kernels.translator.loops import Loop, Named
from leafgrad.kernels.translator.values import BLOCK, BOOL, NUMBER, REAL, VECTOR, Module, Value


class Kernel(Expressions):
    """A kernel, and the C function that is made of it."""

    def __init__(self, node: ast.FunctionDef, name: str, kind: str, module: Module) -> None:
        super().__init__(node, name, kind, module)
        self.statements(node.body)

    # -- statements ---------------------------------------------------------------------------------------------------

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # the docstring
            if isinstance(node, ast.Assign) and all([isinstance(target, ast.Name) for target in node.targets]):
                self.assign(node, [target.id for target in node.targets if isinstance(target, ast.Name)])
            elif isinstance(node, ast.Assign) and self.is_pair(node.value):
                self.unpack(node)
            elif isinstance(node, ast.If) and not self.by_rows:
                self.branch(node)
            elif isinstance(node, ast.Return) and node.value is not None and node is self.node.body[-1]:
                self.give_back(node.value)
            else:
                raise self.error(node, f"the language has no such statement: {ast.unparse(node).splitlines()[0]}")

    def assign(self, node: ast.Assign, names: Sequence[str]) -> None:
        value = self.expression(node.value)
        for name in names:
            if value.shape == NUMBER:
                if self.condition or name in self.numbers or name in self.letters:
                    raise self.error(node, f"the number {name} gets a value in more than one place")
                self.define_number(name, value)
            elif self.by_rows:
                if name in self.named or name in self.letters:
                    raise self.error(node, f"{name} gets a value twice")
                self.named[name] = Named(value)
            else:  # element by element a name may get a new value, as may an argument
                self.assigned(name, value)
                value = self.named[name].value  # for the next name

    def is_pair(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self.letters.get(node.id) == "b"

    def unpack(self, node: ast.Assign) -> None:
        """`beta1, beta2 = betas`"""
        names = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else []
        if len(names) != 2 or self.condition:
            raise self.error(node, "a pair is two numbers, which get names of their own")
        for name, part in zip(names, "01"):
            self.define_number(ast.unparse(name), Value(f"{ast.unparse(node.value)}[{part}]", NUMBER))

    def assigned(self, name: str, value: Value) -> None:
        if value.kind != REAL:
            if self.condition:
                raise self.error(self.node, f"{name}, a condition, depends on an option")
            self.named[name] = Named(value)  # a condition is written out where it is used
            return
        local = f"real {name} = 0;"
        if self.letters.get(name) not in ("v", "u") and local not in self.loops[0].locals:
            self.loops[0].locals.append(local)
        self.named[name] = Named(Value(name, VECTOR))
        text = f"{self.condition} ? {value.text} : {name}" if self.condition else value.text
        self.loops[0].body.append(f"{name} = {text};")

    def branch(self, node: ast.If) -> None:
        """What is done if an option says so. There is no branch in the loop: each value is a choice, of the new one and
        the one before, which compilers turn into vector instructions."""
        test = self.expression(node.test)
        if test.shape != NUMBER:
            raise self.error(node, "what is done may depend on numbers only; where(...) chooses among elements")
        before, outside = dict(self.named), self.condition
        known = []  # the names that have a value at the end of each way
        for text, nodes in ((f"({test.text} != 0)", node.body), (f"({test.text} == 0)", node.orelse)):
            if nodes:
                self.condition = self.truth(f"{outside} && {text}" if outside else text)
                self.statements(nodes)
            known.append(set(self.named))
            self.named = {name: named for name, named in self.named.items() if name in before}
        self.condition = outside
        self.named |= {name: Named(Value(name, VECTOR)) for name in known[0] & known[1] - before.keys()}

    def give_back(self, node: ast.expr) -> None:
        values = node.elts if isinstance(node, ast.Tuple) else [node]
        for index, each in enumerate(values):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "column_sum":
                self.result_of_columns(each, index)
                continue
            value = self.expression(each)
            if value.shape == NUMBER:
                if not self.by_rows:
                    raise self.error(each, "an elementwise kernel returns vectors")
                self.results.append("t" if self.kind == "summed" else "p")
                cast = "" if self.kind == "summed" else "(real)"
                self.loop(max(value.level - 1, 0)).after.append(f"out{index}[r] = {cast}({value.text});")
                continue
            self.results.append("m" if value.kind == BOOL else "v")
            loop = self.loop(value.level)
            if value.kind == REAL:
                self.written[index] = value.level
            loop.body.append(f"const {'int' if value.kind == BOOL else 'real'} new{index} = {self.read(value)};")
            loop.stores.append(f"out{index}[i] = new{index};")

    def result_of_columns(self, node: ast.Call, index: int) -> None:
        if self.kind != "rowwise" or len(node.args) != 1:
            raise self.error(node, "column_sum(vector) is a result of kernels over rows")
        value = self.expression(node.args[0])
        self.results.append("c")
        text = self.read(value)
        self.loop(value.level).stores.append(f"out{index}[i] += {text};")

    # -- text ---------------------------------------------------------------------------------------------------------

    def c(self, real: str) -> str:
        """The function in C, for float or double."""
        suffix = "f32" if real == "float" else "f64"
        lines = self.arguments_in_c()
        lines += self.rows_in_c() if self.by_rows else self.elements_in_c()
        name = f"run_{self.name}_{suffix}"
        arguments = "ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch"
        head = f"CLONES static void {name}({arguments})\n{{"
        text = "\n".join([head, *["    " + line for line in lines], "}"])
        return text.replace("_REAL(", f"_{suffix}(")

    def arguments_in_c(self) -> list[str]:
        lines = ["(void)rows, (void)n, (void)arrays, (void)options, (void)scratch;"]
        types = dict.fromkeys("vupsc", "real") | {"m": "unsigned char", "i": "int64_t", "t": "double"}
        arrays = numbers = 0
        for name, letter in self.arguments:
            if letter in "nb":
                kind = "double *" if letter == "b" else "double "
                place = f"options + {numbers}" if letter == "b" else f"options[{numbers}]"
                lines.append(f"const {kind}{name} = {place}; (void){name};")
                numbers += 1 + (letter == "b")
            else:
                own = f"in_{name}" if letter in "vu" or (self.by_rows and letter in "sm") else name
                lines.append(f"const {types[letter]} *{own} = (const void *)arrays[{arrays}]; (void){own};")
                arrays += 1
        for index, letter in enumerate(self.results):
            lines.append(f"{types[letter]} *out{index} = (void *)arrays[{arrays}];")
            arrays += 1
        return lines

    def elements_in_c(self) -> list[str]:
        loop = self.loops[0]
        loads = [f"real {name} = in_{name}[i]; (void){name};" for name, letter in self.arguments if letter in "vu"]
        # The first result is stored last, because the others may go to its memory (fused_updates.h).
        return [
            *loop.declarations,
            "#pragma omp simd",
            "for (ptrdiff_t i = 0; i < n; i++) {",
            *["    " + line for line in loads + loop.locals + loop.body + loop.stores[::-1]],
            "}",
        ]

    def rows_in_c(self) -> list[str]:
        # to join many lanes takes longer than to go through a short row by few
        lines = ["const int many = n >= 2 * LANES;", "for (ptrdiff_t r = 0; r < rows; r++) {"]
        lines += ["    " + line for line in self.places_of_kept()]
        for loop in self.loops:
            lines += ["    " + line for line in self.loop_in_c(loop)]
        steps = [f"in_{n}" for n, letter in self.arguments if letter in "vum"]
        steps += [f"out{i}" for i, letter in enumerate(self.results) if letter in "vm"]
        lines.append("    " + " ".join([f"{name} += n;" for name in steps]))
        return [*lines, "}"]

    def places_of_kept(self) -> list[str]:
        """Where vectors are kept between loops: in a result that no loop before the last reader writes, or apart."""
        lines, self.scratch = [], 0
        free = dict(self.written)
        for name, named in self.named.items():
            if not named.kept:
                continue
            fitting = [index for index, level in free.items() if level >= named.last_read]
            if fitting:
                del free[fitting[0]]
                place = f"out{fitting[0]}"
            else:
                place = f"(real *)scratch + {self.scratch} * n"
                self.scratch += 1
            lines.append(f"real *kept_{name} = {place};")
        return lines

    def loop_in_c(self, loop: Loop) -> list[str]:
        if not loop.body and not loop.reductions and not loop.stores:
            return loop.declarations + loop.after
        if not loop.reductions:
            return [*loop.declarations, "ptrdiff_t base = 0;", *self.lanes_in_c(loop, "n"), *loop.after]
        return [
            *loop.declarations,
            "for (ptrdiff_t base = 0, end; base < n; base = end) {",
            f"    end = n - base < {BLOCK} ? n : base + {BLOCK};",
            *["    " + line for line in [*loop.block_starts, *self.lanes_in_c(loop, "end"), *loop.block_ends]],
            "}",
            *loop.after,
        ]

    def lanes_in_c(self, loop: Loop, end: str) -> list[str]:
        """From base to the end: many lanes side by side, then few, and what is left by few of which the last are idle.
        Stores with idle lanes are as few as can be: what the next loop reads would wait for them."""
        loads = [f"{declared} = {place};" for declared, place in loop.loads]
        many = [*loads, *loop.body, *[s.format(lanes=f"part{n}", idle="") for s, n, _ in loop.reductions], *loop.stores]
        few = [*loads, *loop.body, *[s.format(lanes=f"last{n}", idle="") for s, n, _ in loop.reductions], *loop.stores]
        rest = [f"{declared} = j < rest ? {place} : 0;" for declared, place in loop.loads] + loop.body
        rest += [s.format(lanes=f"last{n}", idle=idle) for s, n, idle in loop.reductions]
        rest += [f"if (j < rest) {store}" for store in loop.stores]
        return [
            f"for (; many && base + LANES <= {end}; base += LANES) {{",
            *lanes_side_by_side("LANES", many),
            "}",
            f"for (; base + FEW_LANES <= {end}; base += FEW_LANES) {{",
            *lanes_side_by_side("FEW_LANES", few),
            "}",
            f"if (base < {end}) {{",
            f"    const lane rest = (lane)({end} - base);",
            *lanes_side_by_side("FEW_LANES", rest),
            "}",
        ]


def lanes_side_by_side(count: str, statements: list[str]) -> list[str]:
    return [
        f"    SIMD for (lane j = 0; j < {count}; j++) {{",
        *["        " + line for line in ["const ptrdiff_t i = base + j; (void)i;", *statements]],
        "    }",
    ]
