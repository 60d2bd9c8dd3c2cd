"""Writes printing.json: the text PyTorch gives for a table of tensors, for tests that run without PyTorch.

Run it with PyTorch installed: ``python tests/data/make_printing.py``.

Each case is a dict that `tests/_tensor/test_printing.py` reads as well:
    dtype, values, shape: the values, repeated to fill the shape; complex numbers are written as strings
    view: 'T' (transposed) or 'step' (every other element of the last axis), to have a non-contiguous array
    requires_grad, grad_fn, class, default: as in `tensor_repr`
    options: keyword arguments for `printoptions`
    text: what PyTorch printed
Absent keys mean the default.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch._tensor_str import printoptions

Case = dict[str, Any]

NAN, INF = float("nan"), float("inf")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEXES = ("complex64", "complex128")
INTS = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")


class ClassWithANameMuchTooLongToFitOnTheLineThatTheNumbersAreOn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0]


# Operations that keep the values and the shape, by the name of the node each leaves behind.
OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "MulBackward0": lambda x: x * 1,
    "CloneBackward0": lambda x: x.clone(),
    "ViewBackward0": lambda x: x.view(x.shape),
    "SliceBackward0": lambda x: x[:],
    "MaximumBackward0": lambda x: torch.maximum(x, x),
    "IndexSelectBackward0": lambda x: x.index_select(0, torch.arange(len(x))),
    "ClassWithANameMuchTooLongToFitOnTheLineThatTheNumbersAreOnBackward": (
        lambda x: ClassWithANameMuchTooLongToFitOnTheLineThatTheNumbersAreOn.apply(x)  # type: ignore[no-untyped-call]
    ),
}


def case(dtype: str, values: list[Any], shape: tuple[int, ...] | None = None, **rest: Any) -> Case:
    return {"dtype": dtype, "values": values, "shape": [len(values)] if shape is None else list(shape), **rest}


def dtype_cases() -> Iterator[Case]:
    for dtype in FLOATS:
        for default in ("float32", "float64", "float16", "bfloat16"):
            yield case(dtype, [1.0, 2.5], default=default)
        yield case(dtype, [0.1, -0.25, 3.14159, 100.0])
        yield case(dtype, [1.0, 0.0, -0.0, NAN, INF, -INF])
        yield case(dtype, [1e-5, 60000.0], requires_grad=True)
    for dtype in COMPLEXES:
        for default in ("float32", "float64"):
            yield case(dtype, ["1+2j", "-3.5-0.25j"], default=default)
        yield case(dtype, ["0.5-1e9j"], ())
        yield case(dtype, ["nan+1j", "1+infj", "-inf-nanj", "0j", "-0-0j"])
        yield case(dtype, ["1+2j", "300-4j", "-5+66.5j"], (3, 9))
    for dtype in INTS:
        yield case(dtype, [0, 7, 100])
        yield case(dtype, [5], ())
        if dtype.startswith("u"):
            yield case(dtype, [np.iinfo(dtype).max, 0])
        else:
            yield case(dtype, [np.iinfo(dtype).max, np.iinfo(dtype).min, -1], (2, 3))
    yield case("int64", [1, -20, 300], (30,), default="float64")
    yield case("bool", [True, False, False], (2, 3))
    yield case("bool", [True, False, False], (20,))
    yield case("bool", [True], ())
    yield case("bool", [True], (2000,))
    for dtype in ("float32", "float64", "int64", "bool", "complex64", "bfloat16"):
        yield case(dtype, [1], (0,))
        yield case(dtype, [1], (0, 3))
        yield case(dtype, [1], (2, 0, 3), default="float64")
    yield case("float32", [1], (0, 3), requires_grad=True)
    yield case("float64", [1], (0, 3), grad_fn="MulBackward0")


def number_cases() -> Iterator[Case]:
    for dtype in ("float32", "float64"):
        for value in (6.0, 0.0, -0.0, NAN, -INF, 1e8, 1e8 + 8, 1e10, 1e-4, 9e-5, 1e-8, 0.33333, -1234.56789, 1e-40):
            yield case(dtype, [value], ())
        yield case(dtype, [1.0, 1000.0])
        yield case(dtype, [1.0, 1001.0])
        yield case(dtype, [0.5, 500.5])
        yield case(dtype, [1e-8, 1.0, 1e12])
        yield case(dtype, [1e-8, NAN, 0.0, -INF, -1e12])
        yield case(dtype, [1e10, 2e10, 0.0, INF])
        yield case(dtype, [99.99996, -99.99996])
        yield case(dtype, [0.0, NAN, INF])
        yield case(dtype, [12345.0, NAN, 0.0, -1.0 * 2**16])
    yield case("float64", [1e300, 1e-300, 5e-324])
    yield case("float64", [1.7976931348623157e308, 5e-324])
    yield case("float16", [6e-8, 65504.0])
    yield case("bfloat16", [3e38, 1e-38])


def layout_cases() -> Iterator[Case]:
    values = [0.5, -1.25, 33.0, 4.75, 0.0, -600.125, 7.0]
    yield case("float32", values, (25,))
    yield case("float32", values, (3, 13))
    yield case("float32", values, (2, 3, 4))
    yield case("float32", values, (2, 2, 2, 3))
    yield case("float32", values, (1, 1, 1, 1, 1))
    yield case("float64", values, (2, 3, 4), requires_grad=True)
    yield case("int64", [1, 22, 333], (100,), options={"linewidth": 200})
    for view in ("T", "step"):
        yield case("float32", values, (3, 6), view=view)
        yield case("complex64", ["1+2j", "-3-4.5j", "0j"], (2, 4), view=view)
        yield case("int32", [1, 22, 333], (40, 60), view=view)
    yield case("float32", [0.0], (60,))
    # summaries, which start one element beyond the threshold
    yield case("int64", [1, 22, 333], (8,), options={"threshold": 8, "edgeitems": 2})
    yield case("int64", [1, 22, 333], (9,), options={"threshold": 8, "edgeitems": 2})
    yield case("float32", values, (1001,))
    yield case("float64", [1.0, 2.0, 3.0, 1e9], (1002,))
    yield case("float32", values, (50, 41))
    yield case("float32", values, (6, 400))
    yield case("float32", values, (400, 6))
    yield case("float32", values, (3, 1000))
    yield case("int64", [1, -22, 333], (7, 8, 200))
    yield case("bfloat16", values, (2, 7, 2, 99), requires_grad=True)
    yield case("complex64", ["1+2j", "-3-4.5j", "0j", "1e5j"], (30, 50))
    # a row that is itself wider than the line, with the ellipsis in the middle
    yield case("float64", [-1.5e-200, 3e200], (10, 500), grad_fn="MulBackward0")


def suffix_cases() -> Iterator[Case]:
    for name in OPERATIONS:
        yield case("float32", [6.0], (1,), grad_fn=name)
        yield case("float64", [1.5, 2.5, 30.0], (2, 3), grad_fn=name)
    # one column either side of where a suffix, a suffix after a wrapped one, and a row move to the next line
    for length, linewidths in {2: (45, 46, 65, 66), 3: (45, 46), 5: (30, 31)}.items():
        for linewidth in linewidths:
            yield case("float64", [1.5], (length,), requires_grad=True, options={"linewidth": linewidth})
    yield case("float32", [6.0], (), grad_fn="MulBackward0")
    yield case("float32", [6.0, 1.5], (2, 2), **{"class": "Parameter"}, requires_grad=True)
    yield case("float64", [6.0], (), **{"class": "Parameter"})
    yield case("float32", [6.0, 1.5], (2, 20), **{"class": "MaskedLike"}, requires_grad=True)


def option_cases() -> Iterator[Case]:
    values = [0.5, -1.25, 33.0, 4.75, 0.0, -600.125, 7.0]
    all_options: list[dict[str, Any]] = [
        {"precision": 0},
        {"precision": 8},
        {"profile": "short"},
        {"profile": "no such profile"},
        {"sci_mode": True},
        {"sci_mode": False},
        {"threshold": 5, "edgeitems": 1},
        {"threshold": 5, "edgeitems": 0},
        {"edgeitems": 0},
        {"linewidth": 20},
        {"linewidth": 1},
        {"threshold": 0, "precision": 1, "linewidth": 40},
    ]
    for options in all_options:
        yield case("float32", values, (8,), options=options)
        yield case("float64", values, (3, 4), options=options, requires_grad=True)
        yield case("float32", [2.0, 30.0], (3,), options=options)
        yield case("complex64", ["1.5+2j"], (), options=options)
    yield case("float32", [0.0, NAN], options={"sci_mode": True})
    yield case("float32", [1e12, 1e-12, 3.0], options={"sci_mode": False})
    yield case("int64", list(range(9)), (4, 5, 3), options={"threshold": 10, "edgeitems": 1})
    yield case("bool", [True], (1100,), options={"profile": "full", "linewidth": 4000, "precision": 0})


def torch_text(case: Case) -> str:
    dtype = getattr(torch, case["dtype"])
    values = [complex(value) if isinstance(value, str) else value for value in case["values"]]
    if case["dtype"] == "uint64":
        tensor = torch.from_numpy(np.array(values, dtype=np.uint64))
    else:
        tensor = torch.tensor(values, dtype=dtype)
    count = int(np.prod(case["shape"]))
    tensor = tensor[torch.arange(count) % len(values)].reshape(case["shape"])
    if case.get("view") == "T":
        tensor = tensor.permute(*reversed(range(tensor.ndim)))
    elif case.get("view") == "step":
        tensor = tensor[..., ::2]
    if case.get("requires_grad") or case.get("grad_fn"):
        tensor.requires_grad_()
    if case.get("grad_fn"):
        tensor = OPERATIONS[case["grad_fn"]](tensor)
        assert type(tensor.grad_fn).__name__ == case["grad_fn"]
    class_name = case.get("class")
    if class_name == "Parameter":
        tensor = torch.nn.Parameter(tensor, requires_grad=case.get("requires_grad", False))
    elif class_name is not None:
        tensor = tensor.detach().as_subclass(type(class_name, (torch.Tensor,), {}))
        tensor.requires_grad_(case.get("requires_grad", False))
    torch.set_default_dtype(getattr(torch, case.get("default", "float32")))
    try:
        with printoptions(**case.get("options", {})):
            return repr(tensor)
    finally:
        torch.set_default_dtype(torch.float32)


def main() -> None:
    cases = [*dtype_cases(), *number_cases(), *layout_cases(), *suffix_cases(), *option_cases()]
    lines = [json.dumps({**case, "text": torch_text(case)}, separators=(",", ":")) for case in cases]
    path = Path(__file__).with_name("printing.json")
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
