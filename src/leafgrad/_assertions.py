"""What programs say must hold: `torch._check`, `torch._assert` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad._dtypes import bool_, int64
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.creation.from_data import tensor

Message = Callable[[], object] | None


def _assert(condition: Any, message: object) -> None:
    """_assert(condition, message): an AssertionError unless it is true."""
    if not condition:
        raise AssertionError(message)


def failure(kind: type[Exception], message: Message) -> Exception:
    if message is None:
        return kind(
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
            "enhancement request to PyTorch.)"
        )
    if not callable(message):
        return TypeError("message must be a callable")
    return kind(str(message()))


def _check_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    """_check_with(error_type, cond, message=None): an exception of this type unless `cond` is true; `message` is a
    function, which is called when it is needed."""
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
            "that all elements are true."
        )
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise failure(error_type, message)


def checking(name: str, kind: type[Exception]) -> Callable[..., None]:
    def check(cond: Any, message: Message = None) -> None:
        _check_with(kind, cond, message)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"{name}(cond, message=None): a {kind.__name__} unless it is true."
    return check


_check = checking("_check", RuntimeError)
_check_index = checking("_check_index", IndexError)
_check_value = checking("_check_value", ValueError)
_check_type = checking("_check_type", TypeError)
_check_not_implemented = checking("_check_not_implemented", NotImplementedError)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    """_check_tensor_all_with(error_type, cond, message=None): an exception unless all elements are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all().item()), message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """_check_tensor_all(cond, message=None): a RuntimeError unless all elements are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_is_size(i: int, message: Message = None, *, max: int | None = None) -> None:
    """_check_is_size(i, message=None, *, max=None): a RuntimeError unless it can be a size, of at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _assert_async(input: Tensor, assert_msg: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """_assert_async(input, assert_msg): a RuntimeError if the one element is zero."""
    if not input:
        raise RuntimeError(assert_msg)


def _shape_as_tensor(self: Tensor) -> Tensor:
    """_shape_as_tensor(self): the sizes as a tensor of integers."""
    sizes: Tensor = tensor(list(self.shape), dtype=int64)
    return sizes
