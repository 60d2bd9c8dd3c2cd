"""One op, one block: how a class body under `@op` becomes an operation of the family that it names as its base.

    @op
    class exp(Unary):
        \"\"\"exp(input): e to the power of each element.\"\"\"
        kernel = np.exp
        def vjp(g, out): return g * out
        samples = real(-3, 3)

`kernel` works on arrays: the inputs, then the options, all positional. Rules name what they need, and that is what
is saved: an input, an option, `out` for the result (`out1`, ... for further results), `<input>_shape` for a shape.

    vjp(g, ...)            the gradient of the one input
    vjp_<input>(g, ...)    the gradient of one input of several; an input without one is not differentiable
    vjp_all(g, needs, ...) all gradients in one go, where they share work; `needs` tells which are wanted

Rules run on plain arrays in an ordinary backward pass and on tensors under create_graph, so they use operators and
other ops (calling an op with arrays computes on arrays). They are written for real numbers: for complex ones the
recorder uses the rule conj(rule(conj(g))) (`Op.conjugated`), which is right for every holomorphic function; the few
others say `holomorphic = False` and have rules for both. A rule returns new arrays, or `g`, or a view of `g`, but never
a saved array, because the engine adds to arrays it considers its own.

    vjp_in_place(g, saved, inputs)    optional, for large arrays: all of them; may overwrite g, and what `is_free`

    jvp = "elementwise"    a tangent is treated as a gradient is (diagonal Jacobian)
    jvp = "linear"         the kernel, applied to the tangent
    jvp = "product"        the kernel, with the tangent of one of its first two inputs in place of that, for each
    jvp = "transpose"      derived from the vjp: the default, always right, not always fastest

    vmap = "kernel", "elementwise", "dims", ...    how many samples are computed at once: by a rule of this kind in
    vmap(batch, *inputs, *options)                 leafgrad/func/batching_rules.py, or by one of its own

What users and PyTorch call it, and in what forms it comes, the block says too; `Family` has all these attributes with
their defaults. What the tests need is in the block as well: `samples`, the calls that they make (see
leafgrad/ops/samples.py), and where PyTorch has no function of the same public name, what the operation is there:

    reference = "linalg.vector_norm"        the name of a function, after "torch."
    reference = lambda torch, x, y: ...     or PyTorch's module first, then the arguments of a sample
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _missing, errors
from leafgrad._core.bind import Applicable
from leafgrad._core.op import OPTION, GradientRules, Op
from leafgrad._core.overrides import is_reflected, methods_in_python, methods_of_operators
from leafgrad._dtypes import FLOAT, HALF, dtype
from leafgrad.kernels.moving import in_rows
from leafgrad.ops import names
from leafgrad.ops.autocast import autocasting
from leafgrad.ops.public_forms import method_of
from leafgrad.ops.signature import Declaration, name_code
from leafgrad.return_types import named_result

registry: dict[str, Operation] = {}
UNDOCUMENTED = sys.flags.optimize > 1  # `python -OO` leaves docstrings out


def in_row_major(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose results lie in memory row by row, whatever the layout of its input. Native results do."""
    if hasattr(plain, "otherwise"):
        made: Any = type(plain)
        return made(plain.__name__, in_row_major(plain.otherwise))  # type: ignore[no-any-return]

    def kernel(*args: Any) -> Any:
        out = plain(*args)
        return [in_rows(o) for o in out] if isinstance(out, (tuple, list)) else in_rows(out)

    return kernel


class Entry:
    """An operation, or a function composed of them. It has what its block says and, for the rest, the defaults of its
    family: all that Family lists are attributes."""

    if TYPE_CHECKING:
        inputs: tuple[str, ...]
        options: tuple[str, ...]
        kernel: Any
        in_place: Any
        operators: Any
        module: str  # where it is defined

        def __getattr__(self, fact: str) -> Any: ...

    @functools.cached_property
    def call(self) -> Callable[..., Any]:
        """What is behind the look at the arguments; made when it is first asked for, because it may have to be written
        as text."""
        return autocasting(self.autocast, self.uncast)  # type: ignore[no-any-return]


class Operation(Applicable, Entry):
    """An operation with all that is known of it. Calling it is meant for rules: normalised arguments only; users
    call `.function`, which has PyTorch's signature."""

    def __init__(self, name: str, family: type, body: dict[str, Any]) -> None:
        body = functions_of(body)
        known = {**defaults(family), **body}
        self.__dict__ = dict(_facts[family])  # a copy at once: a fifth of the time of `update`
        for fact, value in body.items():
            if fact in FACTS:
                self.__dict__[fact] = value
        self.name = name
        self.module: str = body.get("__module__", "")
        self.doc: str = body.get("__doc__") or ""
        needed = {
            "documentation": self.doc or UNDOCUMENTED,
            "kernel": self.kernel,
            "samples for the tests": self.samples,
        }
        for what, found in needed.items():
            if not found:
                raise TypeError(f"op {name} has no {what}")
        if self.row_major:
            self.kernel = in_row_major(self.kernel)
        self.result_type: Any = named_result(name, *self.result_names) if self.result_names else None
        # the same of results whose number is right: without a call in Python, in a quarter less time
        made: Any = self.result_type
        self.result_of: Any = functools.partial(tuple.__new__, made) if self.result_names else None
        for function, called in ((self.method, name), (self.in_place, self.in_place_name or f"{name}_")):
            if not isinstance(function, bool):  # the block's own
                function.__name__ = function.__qualname__ = called
        self.public_name: str = name if self.public_name is None else self.public_name
        self.aten: Any = self.aten or self.public_name or name
        by_node = isinstance(self.aten, dict)
        self.aten_function: str = self.aten_function or self.public_name or (name if by_node else self.aten)
        self.kernel_name: str = self.kernel_name or f"{name}_cpu"
        refuses: Any = known["refuses"]
        self.refuses: dict[int, Any] = refuses if isinstance(refuses, dict) else dict.fromkeys(refuses)
        node_name = self.node_name or "".join([part.capitalize() for part in name.split("_")]) + "Backward0"
        vmap = self.vmap, self.options
        outermost = node_name.partition("(")[0]
        rules = lambda: gradient_rules(self, known)
        self.core = core = Op(name, outermost, self.kernel, rules, vmap, self.differentiable)
        self.option_count = len(self.options)
        self.has_many = self.results != 1
        compose(core, self, node_name)
        core.writes_into = self.writes_into or is_float_ufunc(self.kernel, len(self.inputs))
        core.follows_layout = self.follows_layout
        if self.holomorphic and self.differentiable:
            core.conjugated = Op(name, outermost, self.kernel, lambda: conjugated_rules(core), vmap)
            compose(core.conjugated, self, node_name)
        self.named = {other: renamed(self, core, other) for other in self.node_names}
        # what is recorded if the second operand is a number
        self.by_number = core if self.number_name is None else renamed(self, core, self.number_name)
        first = self.first_number_name
        self.number_by = core if first is None else renamed(self, core, first)  # or if the first is one
        self.declaration: Any = Declaration(body.get("call") or body.get("prepare"), self.signatures)
        public: Callable[..., Any] = family.public(self, known)  # type: ignore[attr-defined]
        public.__name__ = public.__qualname__ = name
        public.__doc__ = self.doc
        if self.declaration.__wrapped__ is None:
            self.declaration = Declaration(public, self.signatures)
        self.checked: Any = self.checked if self.public_name or self.places else False
        name_code(public, self.aten_function)
        self.uncast = public
        self.function: Callable[..., Any] = method_of(self)
        if not isinstance(self.operators, dict):
            self.operators = {name: family.operator(self, name, known) for name in self.operators}  # type: ignore[attr-defined]
        for function in {*self.operators.values()} - {self.function}:
            name_code(function, self.aten_function)
        note_methods(self)

    def check(self, kind: dtype) -> None:
        """Refuse a dtype that the operation does not take."""
        category = self.refused_category(kind)
        if category is not None:
            words = f"\"{self.kernel_name}\" not implemented for '{kind.alias}'"
            error, first = self.refuses[category] or (NotImplementedError, words)
            raise errors.mistake(error, first)

    def refused_category(self, kind: dtype) -> int | None:
        """As what a dtype is refused: by its category, or because it is a float of 16 bits."""
        if kind.category in self.refuses:
            return kind.category
        return HALF if HALF in self.refuses and kind.category == FLOAT and kind.itemsize == 2 else None


def is_float_ufunc(kernel: Any, inputs: int) -> bool:
    """Is a kernel a ufunc that makes floats of floats? Then it takes an array for its result."""
    ufunc = getattr(kernel, "ufunc", kernel)
    return isinstance(ufunc, np.ufunc) and "f" * inputs + "->f" in ufunc.types


# Read when an operation is first recorded, by a module that is imported then.


def gradient_rules(operation: Operation, body: dict[str, Any]) -> GradientRules:
    from leafgrad.ops.gradient_rules import read

    return read(operation, body)


def conjugated_rules(core: Op) -> GradientRules:
    from leafgrad.ops.gradient_rules import conjugated

    return conjugated(core.gradient_rules())


class Block(type):
    """The metaclass of families: what a class statement with a family as its base makes is no class, of which nobody
    would make objects, but an Operation. Families are those that say `family=True`."""

    def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any], family: bool = False) -> Any:
        return super().__new__(meta, name, bases, body) if family else Operation(name.rstrip("_"), bases[0], body)

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], family: bool = False) -> None:
        super().__init__(name, bases, body)


def in_place_names(entry: Any) -> list[str]:
    """What the in-place form of an entry is called."""
    if not entry.in_place:
        return []
    if entry.in_place_name is not None:
        return [entry.in_place_name]
    return [name + "_" for name in (entry.public_name, *entry.aliases) if entry.public_name]


def in_place_operators(entry: Any) -> list[str]:
    """`+=` and the like, if there is an in-place form. (Python 2 had `__idiv__`, and PyTorch still has it.)"""
    names = [name.replace("__", "__i", 1) for name in entry.operators] if entry.in_place else []
    return [name for name in names if hasattr(operator, name) or name == "__idiv__"]


def note_methods(entry: Any) -> None:
    """Tell leafgrad/_core/overrides.py what the methods and operators of an entry are to those who take calls over."""
    if not (entry.operators or entry.in_python):
        return
    in_place = in_place_operators(entry)
    for name in (*entry.operators, *in_place):
        if name not in entry.in_python and (is_reflected(name) or not entry.own_operators):
            methods_of_operators[name] = in_place_names(entry)[0] if name in in_place else entry.public_name
    forms = [form for form in entry.in_python if form != "function"]
    methods_in_python.update([entry.public_name if form == "method" else form for form in forms])


def op(block: Any) -> Any:
    """Register the operation that a block has made."""
    if not block.module:  # by which its names are found
        raise TypeError(f"op {block.name} has no __module__")
    registry[block.name] = block
    return block


class Family(metaclass=Block, family=True):
    """What all families have in common, and the defaults a block may override."""

    if TYPE_CHECKING:  # what a block is, for the type checker

        def __new__(cls, *args: Any) -> Any: ...

        function: Callable[..., Any]
        record: Callable[..., Any]
        core: Op
        by_number: Op
        named: dict[str, Op]
        result_type: Any
        result_of: Any
        check: Callable[[dtype], None]

    # what it computes
    kernel: Any = None
    inputs: tuple[str, ...] = ("input",)
    options: tuple[str, ...] = ()
    results = 1
    result_names: tuple[str, ...] = ()  # if the function returns a named tuple, `<op>.result_of`
    variadic = False
    holomorphic = True
    differentiable = True
    jvp: Any = "transpose"
    vmap: Any = "kernel"
    meta: Any = None  # how the form of its result is found without data: see leafgrad/ops/meta/results.py
    samples: Any = None
    as_float = False  # are integers and bools made floats first?
    keeps_zero = False  # is it zero at zero, so that of a sparse tensor it changes the values alone?
    row_major = False  # as in PyTorch, do results lie in memory row by row, so that view() always works on them?
    follows_layout = False  # or, where operands have other layouts, do they lie as these do, element by element?
    is_pair = False  # of two operands: does what is saved have the fixed places of the executor's `binary`?
    finds: str | None = None  # what the kernel returns beside its result, under the name by which the rule asks for it
    writes_into = False  # does the kernel, as ufuncs do, take an array for its result as one more argument?
    autocast: str | None = None  # in mixed precision: "lower", "float32" or "promote" (leafgrad/ops/autocast.py)
    flops: Any = None  # how many multiplications and additions: a function of the shapes of its arguments
    products: Any = None  # the products that PyTorch composes it of (leafgrad/ops/products_of_torch.py)
    counted_backward: str | None = None  # PyTorch's operation for its gradients, which flop counters have a formula for

    # what users call it
    public_name: str | None = None  # its name, if not that of the block; "" for ops of our own
    aliases: tuple[str, ...] = ()  # further names, of all its forms
    places: tuple[str, ...] = ()  # where its function is as well, or only: "linalg.det", "nn.functional.gelu"
    method: Any = True  # is it a method of Tensor? Or the method itself, if its arguments come in another order
    method_only = False  # is it no function of the module?
    is_property: Any = False  # is it an attribute of tensors, rather than a method? "assigned": one to assign to
    in_place: Any = False  # does it have an in-place form? Or that form itself
    in_place_name: str | None = None  # what that is called, if not by the public name with an underscore
    in_place_function: bool | None = None  # is that a function of the module? Usually if the op has one input
    wide_numbers = False  # is a number, or a tensor without dimensions, that is the second operand not rounded to half?
    takes_alpha = False  # has it the argument `alpha`, a factor for the second operand?
    # Does the function take `out=`? Or PyTorch's words about an `out` that has not exactly the dtype of the result,
    # with {wanted} and {given} in them.
    out: Any = False
    operators: Any = ()  # the operators of Python behind which it stands, ("__mod__", "__rmod__"): see `operator`
    own_operators = False  # are they methods of their own to those who take calls over: `__and__`, not `bitwise_and`?
    signatures: tuple[str, ...] = ()  # the forms of its call, where the parameters of `call` do not tell them
    # Are arguments looked at before the function is called? "function": not before the method, which would feel it.
    checked: Any = True
    silent = False  # does `call` compute before the executor is asked, so that NumPy has to be silent before?

    # Which of its forms PyTorch has written in Python, of which those who take calls over can tell: "function",
    # "method", or the names of operators (see `overridden` in leafgrad/_core/overrides.py).
    in_python: tuple[str, ...] = ()

    # what PyTorch calls it
    aten: Any = None  # in its dispatcher, if not by the public name; or such names by that of the node
    aten_function: str | None = None  # the same for the public function, where that is not the public name either
    kernel_name: str | None = None  # in "... not implemented for 'Bool'"
    # The categories of dtypes that it does not take: a tuple, or a dict with PyTorch's exception and words for them
    # (None: "... not implemented for ...").
    refuses: Any = ()
    no_bool = ""  # why not even one of two operands may be bool
    # In the graph. Where PyTorch records several operations, an expression of nodes and inputs,
    # "AddmmBackward0(bias, input, TBackward0(weight))": what `next_functions` shows.
    node_name: str | None = None
    # What hooks of the outermost of these nodes are given for the one before, `name`: a rule of (name, g, ...). Needed
    # where that is neither the gradient of an input nor g in another shape.
    passes_on: Any = None
    # Is it linear in pieces, so that the gradient of its first input has no derivative but zero? PyTorch records it as
    # a function of the input. True, or the names of the nodes of which that holds; "undefined": its derivative is None.
    piecewise_linear: Any = False
    composition: Any = None  # the same as a function of the node, where it depends on what the node has saved
    node_names: tuple[str, ...] = ()  # in the graph, in other cases: what is recorded then is `<op>.named[node_name]`
    # What nodes call a value that the rule asks for (`_saved_...`), if not by the rule's own name; "": it is not shown.
    saved_as: dict[str, str] = {}
    # What they show besides: a value, or a function that finds it for a node (NotImplemented: not this time). `...`:
    # what the name says, an option, which is then kept, or the form of an input ("self_sym_sizes", "x_sym_argsize_0").
    shows: dict[str, Any] = {}
    saves_view_of: str | None = None  # the input of which PyTorch saves a transposed view, as its messages tell
    number_name: str | None = None  # in the graph, if the second operand is a number
    first_number_name: str | None = None  # or the first
    # What the node of a name does not show: inputs that are numbers there; options that are left out, the last
    # parameters of the rule, which has defaults for them.
    hides: dict[str, tuple[str, ...]] = {}

    # Facts that the tests have to know.
    reference: Any = None  # what it is in PyTorch, if not the function of the public name
    constants: tuple[str, ...] = ()  # arguments that cannot have a gradient although they hold floats
    derivatives: float = math.inf  # how many times it can be differentiated
    pseudo_gradient: tuple[str, ...] = ()  # arguments that make what is called its gradient something else
    finds_any = False  # does it find an element, and any one of several that are equal?
    exempt: dict[str, str] = {}  # checks that it need not pass, and why

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        """The function users call: the block's own `call`, which ends in `<op>.record(...)`. A block without one gets
        arguments that need no look, as ops of our own do."""
        return body.get("call") or (lambda *args: operation.record(*args))

    @staticmethod
    def operator(operation: Operation, name: str, body: dict[str, Any]) -> Callable[..., Any]:
        """The method behind one of its operators. A block may also name the methods itself, in a dict. The in-place
        operators (`%=`) come by themselves, where there is an in-place form."""
        return operation.function


def functions_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a class body says, its static methods as the functions they are."""
    found = dict(body)
    for key, value in body.items():
        if value.__class__ is staticmethod:
            found[key] = value.__func__
    return found


# What is known of an entry, with the defaults: the attributes of Family that are no functions.
FACTS = {fact: value for fact, value in vars(Family).items() if fact[0] != "_" and not isinstance(value, staticmethod)}
_defaults: dict[type, dict[str, Any]] = {}
_facts: dict[type, dict[str, Any]] = {}  # of these, the facts: asked for every block


def defaults(family: type) -> dict[str, Any]:
    """All that a family says of its blocks, with what it has from its own bases."""
    found = _defaults.get(family)
    if found is None:
        found = _defaults[family] = {}
        for base in reversed(family.__mro__[:-1]):
            found.update(functions_of(vars(base)))
        _facts[family] = {fact: found[fact] for fact in FACTS}
    return found


def compose(core: Op, operation: Operation, expression: str) -> None:
    """Let a node be shown as several, if it has an expression in place of a name, or its block a `composition`."""
    if "(" in expression:
        core.composition = (expression, operation.inputs)
    elif (of_node := operation.composition) is not None:
        core.composition = lambda node: (of_node(node), operation.inputs)


def renamed(operation: Any, core: Op, expression: str) -> Op:
    """The same operation under the name that PyTorch's graph has for it in another case, which may hide something."""
    node_name = expression.partition("(")[0]

    def rules() -> GradientRules:
        known = core.gradient_rules()
        if not operation.hides:
            return known
        before, now = [operation.hides.get(name, ()) for name in (core.node_name, node_name)]
        hidden = {i for i in known.hidden if operation.inputs[i] not in before}
        hidden |= {operation.inputs.index(name) for name in now if name in operation.inputs}
        left_out = [OPTION + operation.options.index(name) for name in now if name in operation.options]

        def saves(mask: int) -> tuple[int, ...]:
            return tuple([place for place in known.saves(mask) if place not in left_out])

        twin = GradientRules(known.backward, saves, known.saved_names, tuple(hidden), known.vjp_in_place)
        twin.shown = known.shown
        return twin

    twin = Op(core.name, node_name, core.kernel, rules, core.vmap, core.differentiable)
    compose(twin, operation, expression)
    twin.writes_into = core.writes_into
    twin.follows_layout = core.follows_layout
    if core.conjugated is not None:
        twin.conjugated = renamed(operation, core.conjugated, expression)
    return twin


@functools.cache
def unseen(operation: Operation) -> Op:
    """The same operation as a step that PyTorch does not record by itself: its graph has no such node."""
    twin = renamed(operation, operation.core, operation.core.node_name)
    for each in (twin, twin.conjugated):
        if each is not None:
            each.composition = ()
    return twin


def with_kernel(core: Op, kernel: Callable[..., Any], vmap: Any = None) -> Op:
    """The same operation computed by another kernel; `vmap` says how that is batched, if otherwise."""
    batched = core.vmap if vmap is None else (vmap, ())
    twin = Op(core.name, core.node_name, kernel, core.gradient_rules, batched, core.differentiable)
    twin.composition = core.composition
    twin.follows_layout = core.follows_layout
    return twin


class Composite(Entry):
    """A public function that is composed of other ops and so needs no rule of its own. `in_place` may be the operation
    that computes the usual case of the in-place form."""

    def __init__(self, function: Callable[..., Any], samples: Any, **known: Any) -> None:
        if unknown := known.keys() - set(FACTS):
            raise TypeError(f"function {function.__name__} says what no function can: {', '.join(unknown)}")
        self.__dict__.update({**FACTS, "operators": {}, **known})
        self.name = function.__name__
        self.public_name = known.get("public_name", self.name)
        self.module = function.__module__
        self.samples = samples
        self.aten_function: str = self.aten_function or self.name
        self.declaration = Declaration(function, self.signatures)
        for each in (function, *self.operators.values()):
            name_code(each, self.aten_function)
        self.uncast = function
        self.function: Callable[..., Any] = method_of(self)
        note_methods(self)


composites: dict[str, Composite] = {}


def composite(samples: Any, **known: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function composed of ops: public, tested with `samples`, and what else is `known` (see Composite)."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if not (function.__doc__ or UNDOCUMENTED):
            raise TypeError(f"function {function.__name__} has no documentation")
        entry = composites[function.__name__] = Composite(function, samples, **known)
        return entry.function

    return register


def entries(module: str | None = None) -> list[Entry]:
    """All operations, and all functions composed of them; or those of a module that has been imported."""
    if module is None:
        for place in [*names.METHODS, *names.OTHERS.split(), *[p for found in names.PLACES.values() for p in found]]:
            _missing.part(place)
    found: list[Entry] = [*registry.values(), *composites.values()]
    return found if module is None else [entry for entry in found if entry.module == module]
