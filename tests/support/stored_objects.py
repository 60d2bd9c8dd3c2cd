"""Objects that are saved by one library and loaded by the other: made by the same code, with PyTorch or with
leafgrad."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 uint16 uint32 uint64"


def state_dict(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1)).state_dict()


def views(torch: Any) -> Any:
    base = torch.arange(12.0)
    return {
        "base": base,
        "part": base[3:7],
        "transposed": base.view(3, 4).t(),
        "strided": base[1::2],
        "expanded": base[2].expand(2, 3),
        "other": torch.ones(2),
    }


def dtypes(torch: Any) -> Any:
    kinds = [getattr(torch, name) for name in DTYPES.split()]
    return {str(kind): torch.tensor([0, 1, 1, 0, 1]).to(kind) for kind in kinds} | {"kinds": kinds}


def containers(torch: Any) -> Any:
    shared = torch.tensor([1.5, -2.5], requires_grad=True)
    return {
        "list": [1, -1, 300, 70_000, -(2**31), 2**62, 2**200, -(2**200), 1.5, float("inf"), True, False, None],
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "texts": ["", "a", "größer", "x" * 300, "\ud800"],
        "bytes": [b"ab\xff", bytearray(b"xyz")],
        "dict": {1: "a", (2, "b"): [{}], None: {"deep": [[[shared]]]}},
        "ordered": OrderedDict([("b", 1), ("a", OrderedDict())]),
        "counter": Counter("abca"),
        "set": {1, 2, 3},
        "complex": 1 - 2j,
        "size": torch.Size([2, 0, 3]),
        "device": torch.device("cpu"),
        "other device": torch.device("cuda", 1),
        "layout": torch.strided,
        "same": [shared, shared],
        "parameter": torch.nn.Parameter(torch.ones(2, 2)),
        "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "scalar": torch.tensor(3.0),
        "empty": torch.empty(0, 3),
    }


def attributes(torch: Any) -> Any:
    marked = torch.ones(2)
    marked.note = "kept"
    parameter = torch.nn.Parameter(torch.zeros(2))
    parameter.note = ["kept", 1]
    return [marked, parameter]


def optimizer(torch: Any) -> Any:
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    sgd = torch.optim.SGD([weight], lr=0.25, momentum=0.5)  # numbers that floats can represent
    for _ in range(3):
        (weight * weight).sum().backward()
        sgd.step()
    return {"model": {"weight": weight}, "optimizer": sgd.state_dict(), "epoch": 3}


def rng(torch: Any) -> Any:
    torch.manual_seed(3)
    torch.rand(5)
    return torch.get_rng_state()


OBJECTS = {function.__name__: function for function in (
    state_dict, views, dtypes, containers, attributes, optimizer, rng,
)}  # fmt: skip


def described(value: Any) -> Any:
    """A value in plain Python, the same for both libraries: what a test compares."""
    kind = type(value).__name__
    if hasattr(value, "requires_grad") and hasattr(value, "stride"):
        shown = value.detach()
        if str(value.dtype) in ("torch.bfloat16", "torch.uint16", "torch.uint32", "torch.uint64"):
            shown = shown.double() if "bfloat" in str(value.dtype) else shown.long()
        place = (tuple(value.shape), value.stride(), value.storage_offset(), value.untyped_storage().nbytes())
        return kind, str(value.dtype), shown.tolist(), place, value.requires_grad, described(vars(value))
    if isinstance(value, dict):
        return kind, [(described(key), described(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return kind, [described(each) for each in value]
    return kind, repr(value)
