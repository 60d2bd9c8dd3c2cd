"""Calls with wrong arguments, and the first line of what PyTorch says to each: for the tests with and without it."""

from __future__ import annotations

from typing import Any

CASES = {
    "torch.softmax(x, 'rows')": "softmax(): argument 'dim' (position 2) must be int, not str",
    "x.softmax(0.5)": "softmax(): argument 'dim' (position 1) must be int, not float",
    "x.softmax(dim=True)": "softmax(): argument 'dim' must be int, not bool",
    "x.softmax(0, dtype=3)": "softmax(): argument 'dtype' must be torch.dtype, not int",
    "torch.softmax(x)": 'softmax() missing 1 required positional arguments: "dim"',
    "x.gather()": 'gather() missing 2 required positional argument: "dim", "index"',
    "torch.gather(x, 0, 3)": "gather(): argument 'index' (position 3) must be Tensor, not int",
    "x.gather(0, index, sparse_grad=1)": "gather(): argument 'sparse_grad' must be bool, not int",
    "x.gather(0, index, 5)": "gather() takes 2 positional arguments but 3 were given",
    "x.cumsum(0, foo=1)": "cumsum() got an unexpected keyword argument 'foo'",
    "torch.exp(np.ones(2))": "exp(): argument 'input' (position 1) must be Tensor, not numpy.ndarray",
    "torch.exp()": 'exp() missing 1 required positional arguments: "input"',
    "torch.amax(x, 'a')": "amax(): argument 'dim' (position 2) must be tuple of ints, not str",
    "torch.amax(x, ['a', 0])": (
        "amax(): argument 'dim' (position 2) must be tuple of ints, but found element of type str at pos 0"
    ),
    "torch.amax(x, (0, 'a'))": (
        "amax(): argument 'dim' failed to unpack the object at pos 2 "
        'with error "type must be tuple of ints,but got str"'
    ),
    "x.topk(2.0)": "topk(): argument 'k' (position 1) must be int, not float",
    "torch.cat(3)": "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not int",
    "x.sum('rows')": "sum() received an invalid combination of arguments - got (str), but expected one of:",
    "x.mean(dtype='float')": (
        "mean() received an invalid combination of arguments - got (dtype=str, ), but expected one of:"
    ),
    "torch.max(x, 'rows')": (
        "max() received an invalid combination of arguments - got (Tensor, str), but expected one of:"
    ),
    "x.masked_fill(x > 0, 'a')": (
        "masked_fill() received an invalid combination of arguments - got (Tensor, str), but expected one of:"
    ),
    "x.to([1])": "to() received an invalid combination of arguments - got (list), but expected one of:",
    "x.to(torch.float64, 'cpu')": (
        "to() received an invalid combination of arguments - got (torch.dtype, str), but expected one of:"
    ),
    "x.to(x, other=x)": (
        "to() received an invalid combination of arguments - got (Tensor, other=Tensor), but expected one of:"
    ),
    "x.to('cpu', torch.float64, False, False, 1)": "to() takes from 0 to 4 positional arguments but 5 were given",
    "x.to(float, copy='no')": (
        "to() received an invalid combination of arguments - got (type, copy=str), but expected one of:"
    ),
    "torch.as_tensor([1.0], device=[1])": "as_tensor(): argument 'device' must be torch.device, not list",
    "torch.zeros(2, device=[1])": "zeros(): argument 'device' must be torch.device, not list",
    "torch.zeros(2, pin_memory=1)": "zeros(): argument 'pin_memory' must be bool, not int",
    "torch.zeros(2, requires_grad=None)": "no error",
    "torch.tensor(1.0, requires_grad=None)": "tensor(): argument 'requires_grad' must be bool, not NoneType",
    "torch.tensor(1.0, pin_memory=None)": "tensor(): argument 'pin_memory' must be bool, not NoneType",
    "torch.zeros_like(x, layout=1)": "zeros_like(): argument 'layout' must be torch.layout, not int",
    "torch.transpose(x, 'a', 1)": "transpose(): argument 'dim0' (position 2) must be int, not str",
}


def first_line(expression: str, torch: Any, np: Any) -> str:
    """What the library says to a wrong call."""
    names = {"torch": torch, "np": np, "x": torch.ones(2, 3), "index": torch.zeros(2, 3, dtype=torch.int64)}
    try:
        eval(expression, names)
    except TypeError as error:
        return str(error).split("\n")[0]
    return "no error"
