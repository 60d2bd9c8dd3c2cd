"""What events are called. Kernels have PyTorch's names, and so have the public functions that they run for: those are
found on the stack, as the user's line is (leafgrad/_core/origin.py), so that nobody has to announce a call.

The record of a call lies among the local variables of the function: there it is found again by the next kernel of the
same call, and dies with it. A frame that the profiler held would keep all the variables alive.
"""

from __future__ import annotations

import inspect
from types import CodeType, FrameType
from typing import Any

from leafgrad._core import origin
from leafgrad._core.op import Op
from leafgrad._core.tensor import links
from leafgrad.ops.random.functions import bernoulli, multinomial, normal
from leafgrad.ops.registry import composites, registry

RECORD = "(profiled)"  # no name that a function could use

KERNEL_NAMES = {
    "around": "slice_scatter", "clamp_by_tensors": "clamp", "clone_in_format": "clone", "constant": "fill",
    "copy_from": "copy_", "cross_entropy": "cross_entropy_loss", "cross_entropy_2d": "cross_entropy_loss",
    "div_floor": "div", "div_trunc": "div", "drawn_bernoulli": "bernoulli", "drawn_normal": "normal",
    "gather_sum": "scatter_add", "imag_part": "imag", "index_sum": "index_put", "index_write": "index_put",
    "logsigmoid": "log_sigmoid_forward", "max_dim": "max", "mean_dim": "mean", "min_dim": "min",
    "new_dimension": "unsqueeze", "nll_loss": "nll_loss_forward",
    "nll_loss_2d": "nll_loss2d_forward", "number_to_the_power": "pow", "pick": "gather", "picked": "as_strided",
    "place": "scatter", "polar_form": "polar", "pow_number": "pow", "pow_tensor": "pow", "prod_dim": "prod",
    "put_diagonal": "diagonal_scatter", "real_part": "real", "rsub_same": "rsub", "seen": "as_strided",
    "shift": "roll", "spread": "as_strided_scatter", "sum_dim": "sum", "to_dtype": "_to_copy", "true_div": "div",
    "unseen": "as_strided_scatter", "vector_norm": "linalg_vector_norm", "softmax": "_softmax",
    "log_softmax": "_log_softmax", "matmul": "bmm", "write_slice": "copy_", "assign": "copy_", "zero": "zero_",
    "copy_like": "clone", "dropout_mask": "bernoulli_", "draw_normal": "normal", "draw_bernoulli": "bernoulli",
    "draw_indices": "multinomial",
}  # fmt: skip
FUNCTION_NAMES = {
    "cross_entropy": "cross_entropy_loss",
    "logsigmoid": "log_sigmoid",
    "nll_loss": "nll_loss_nd",
    "norm": "linalg_vector_norm",
    "to_dtype": "to",
}


def kernel_name(op: Op, arrays: Any, options: tuple[Any, ...], out: Any) -> str:
    """What PyTorch calls the kernel of an operation, or that of its in-place form."""
    if op.name == "create":
        return f"aten::{options[0]}"
    name = KERNEL_NAMES.get(op.name, op.name)
    if name == "linear":
        name = "mm" if len(arrays) < 3 or arrays[2] is None else "addmm"
    in_place = out is not None and len(arrays) > 0 and arrays[0] is out
    return f"aten::{name}_" if in_place and not name.endswith("_") else f"aten::{name}"


# -- public functions -------------------------------------------------------------------------------------------------

Identity = tuple[int, ...]  # functions that one `def` has made share their code, and differ in what they enclose
Functions = dict[CodeType, dict[Identity, str]]

_known: list[tuple[int, Functions]] = [(0, {})]  # how many operations there were, and their functions


def public_functions() -> Functions:
    """PyTorch's names of the public functions, by their code."""
    count = len(registry) + len(composites)
    if _known[0][0] == count:
        return _known[0][1]
    found: Functions = {}
    for entry in (*registry.values(), *composites.values()):
        name = FUNCTION_NAMES.get(entry.name) or getattr(entry, "public_name", entry.name)
        name = name or KERNEL_NAMES.get(entry.name)
        if name:
            add(found, entry.function, name)
            if entry.name == "matmul":
                add(found, links.tensor_class.__matmul__, name)
    for function in (bernoulli, multinomial, normal):
        add(found, function, function.__name__)
    for name, method in vars(links.tensor_class).items():
        if name.endswith("_") and not name.startswith("_"):
            add(found, method, name)
    _known[0] = count, found
    return found


def add(found: Functions, function: Any, name: str) -> None:
    code = getattr(function, "__code__", None)
    if code is not None:
        identity = tuple([id(cell.cell_contents) for cell in function.__closure__ or ()])
        found.setdefault(code, {}).setdefault(identity, f"aten::{name}")


def calls_on_stack(frame: FrameType | None) -> list[tuple[FrameType, str]]:
    """The public functions that are running between the user's program and this frame, the outermost first."""
    public = public_functions()
    found: list[tuple[FrameType, str]] = []
    while frame is not None and origin.is_internal(frame.f_code.co_filename):
        code = frame.f_code
        functions = public.get(code)
        if functions is not None:
            enclosed = frame.f_locals if code.co_freevars else {}
            name = functions.get(tuple([id(enclosed.get(variable)) for variable in code.co_freevars]))
        else:
            name = name_in_functional(frame)
        if name is not None:
            found.append((frame, name))
        frame = frame.f_back
    found.reverse()
    return found


def name_in_functional(frame: FrameType) -> str | None:
    """The name of a function of nn.functional that is no operation of the registry."""
    if frame.f_globals.get("__name__") != "leafgrad.nn.functional":
        return None
    name = frame.f_code.co_name
    return f"aten::{name}" if name in frame.f_globals["__all__"] else None


def parameters_of(op: Op) -> int:
    """How many parameters the public function of an operation has."""
    known = registry.get(op.name)
    code = None if known is None else getattr(inspect.unwrap(known.function), "__code__", None)
    return 0 if code is None else code.co_argcount + code.co_kwonlyargcount


def arguments_of(frame: FrameType) -> list[Any]:
    """What a function was called with, as far as it has not changed that: one value for each parameter, and what is
    caught by a star counts as one."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    names = [name for name in code.co_varnames[:count] if name != "out" or values.get(name) is not None]
    given = [values.get(name) for name in names]
    if code.co_flags & inspect.CO_VARARGS:
        caught = values.get(code.co_varnames[count], ())
        given.insert(code.co_argcount, caught[0] if len(caught) == 1 else caught)
    return given

