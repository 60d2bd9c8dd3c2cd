"""Every module of nn with a small input, for tests with PyTorch and with stored values.

The rows are in module_rows/, a file per subject: each has a dict ROWS of names and cases. A new row, or a new file of
rows, needs nothing but its stored values: `python tests/data/make_modules.py`, with PyTorch installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DTYPES = ("float32", "float64")

Make = Callable[[Any], Any]


class Case:
    """A module, `make(nn)`, and its inputs: a shape stands for numbers drawn from N(0, 1), of which a gradient is
    wanted, a function of the library for anything else. `call(module, *inputs)` is how it is used, if not just called;
    `copies` is False for modules that cannot be copied."""

    def __init__(
        self,
        make: Make,
        *inputs: tuple[int, ...] | Make,
        call: Callable[..., Any] = lambda module, *inputs: module(*inputs),
        copies: bool = True,
    ) -> None:
        self.make = make
        self.inputs = inputs
        self.call = call
        self.copies = copies


def rows() -> dict[str, dict[str, Case]]:
    """The cases, by their files."""
    files = sorted((FOLDER / "module_rows").glob("*.py"))
    return {file.stem: import_module(f"module_rows.{file.stem}").ROWS for file in files}


def tensors_in(value: Any) -> list[Any]:
    """The tensors that a result has in it, in order."""
    if isinstance(value, (tuple, list)):
        return [tensor for member in value for tensor in tensors_in(member)]
    if isinstance(value, dict):
        return tensors_in(list(value.values()))
    return [value] if hasattr(value, "detach") else []


def numbers(tensors: Any) -> list[float]:
    """All elements, as floats."""
    flat = [tensor.detach().reshape(-1) for tensor in tensors]
    parts = [part for tensor in flat for part in ((tensor.real, tensor.imag) if tensor.is_complex() else (tensor,))]
    return [float(number) for part in parts for number in part.tolist()]


def prepared(lib: Any, case: Case, dtype: str) -> tuple[Any, list[Any]]:
    """The module and its inputs, after the same seed."""
    before = lib.get_default_dtype()
    lib.set_default_dtype(getattr(lib, dtype))
    try:
        lib.manual_seed(0)
        module = case.make(lib.nn)
        made = [lib.randn(given) if isinstance(given, tuple) else given(lib) for given in case.inputs]
    finally:
        lib.set_default_dtype(before)
    for given, tensor in zip(case.inputs, made, strict=True):
        if isinstance(given, tuple):
            tensor.requires_grad_()
    return module, made


def trained(lib: Any, case: Case, dtype: str) -> dict[str, Any]:
    """What a module prints, has and computes: before training, in three steps, and in evaluation mode after them."""
    module, inputs = prepared(lib, case, dtype)
    seen: dict[str, Any] = {"printed": repr(module)}
    outputs = [numbers(tensors_in(case.call(module, *inputs)))]  # in which lazy modules become ordinary
    state = module.state_dict()
    seen["state"] = {key: [str(t.dtype).partition(".")[2], *t.shape] for key, t in state.items() if hasattr(t, "dtype")}
    seen["initial"] = numbers(tensors_in(state))
    parameters = list(module.parameters())
    optimizer = lib.optim.SGD(parameters, lr=0.1) if parameters else None
    for _ in range(3):
        for tensor in (*parameters, *tensors_in(inputs)):
            tensor.grad = None
        results = tensors_in(case.call(module, *inputs))
        outputs.append(numbers(results))
        loss: Any = 0
        for result in results:
            if result.requires_grad:
                part = result.abs() if result.is_complex() else result
                factors = lib.cos(lib.arange(part.numel(), dtype=part.dtype)).reshape(part.shape)
                loss = loss + (part * factors).sum()
        if not isinstance(loss, int):
            loss.backward()
        if optimizer is not None:
            optimizer.step()
    seen["outputs"] = outputs
    gradients = [tensor.grad for tensor in (*tensors_in(inputs), *parameters) if tensor.grad is not None]
    seen["gradients"] = numbers(gradients)
    seen["final"] = numbers(tensors_in(module.state_dict()))
    module.eval()
    seen["evaluated"] = numbers(tensors_in(case.call(module, *inputs)))
    return seen


CASES = {f"{file}: {name}": case for file, there in rows().items() for name, case in there.items()}
