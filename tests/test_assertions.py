"""What programs say must hold, and names that libraries import."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as torch
from leafgrad import _missing

T: Any = torch  # whose private names type checkers do not know


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("_check", RuntimeError),
        ("_check_index", IndexError),
        ("_check_value", ValueError),
        ("_check_type", TypeError),
        ("_check_not_implemented", NotImplementedError),
    ],
)
def test_a_condition_that_does_not_hold(name: str, kind: type[Exception]) -> None:
    check = getattr(T, name)
    check(True, lambda: "not asked for")
    with pytest.raises(kind, match="Expected cond to be True, but got False"):
        check(False)
    with pytest.raises(kind, match="of 3 rows"):
        check(False, lambda: "of 3 rows")
    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "of 3 rows")
    with pytest.raises(TypeError, match=r"use torch._check_tensor_all"):
        check(torch.tensor(False))
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        check(1)


def test_conditions_of_tensors() -> None:
    T._check_tensor_all(torch.tensor([True, True]))
    with pytest.raises(ValueError, match="one is false"):
        T._check_tensor_all_with(ValueError, torch.tensor([True, False]), lambda: "one is false")
    with pytest.raises(TypeError, match=r"must have dtype torch.bool, but got torch.int64"):
        T._check_tensor_all(torch.tensor([1]))
    T._assert(torch.tensor(True), "holds")
    with pytest.raises(AssertionError, match="does not"):
        T._assert(torch.tensor(False), "does not")
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value"):
        T._assert_async(torch.tensor(0))
    T._check_is_size(3, max=3)
    with pytest.raises(RuntimeError):
        T._check_is_size(-1)


def test_names_that_stand_for_what_is_not_there() -> None:
    """Libraries import them, and ask of isinstance, before they know whether they will need them."""
    tensor = _missing.part("distributed.tensor")
    assert not isinstance(torch.ones(2), tensor.DTensor)
    with pytest.raises(NotImplementedError, match=r"leafgrad does not have torch.distributed.tensor.DTensor"):
        tensor.DTensor()
    with pytest.raises(OSError, match=r"Could not load this library: /none.so"):
        T.ops.load_library("/none.so")
    assert T._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]
    assert T.fx.wrap("len") == "len" and T.hub.get_dir().endswith("hub")


def test_arguments_of_to() -> None:
    parse = T._C._nn._parse_to
    assert parse("cpu", torch.float64, non_blocking=True) == (torch.device("cpu"), torch.float64, True, None)
    assert parse(torch.ones(1).double()) == (torch.device("cpu"), torch.float64, False, None)
    assert parse(memory_format=torch.channels_last) == (None, None, False, torch.channels_last)
    with pytest.raises(RuntimeError, match="does not accept copy"):
        parse(torch.float32, copy=True)


def test_keys_of_the_dispatcher_switch_autocast_off() -> None:
    keys = T._C.DispatchKeySet(T._C.DispatchKey.AutocastCPU) | T._C.DispatchKeySet(T._C.DispatchKey.AutocastCUDA)
    assert keys.has(T._C.DispatchKey.AutocastCPU)
    with torch.autocast("cpu", torch.bfloat16):
        with T._C._ExcludeDispatchKeyGuard(keys):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16
    with pytest.raises(NotImplementedError, match="cannot exclude CPU"):
        T._C._ExcludeDispatchKeyGuard(T._C.DispatchKeySet(T._C.DispatchKey.CPU))


def test_groups_of_tensors() -> None:
    group = _missing.part("utils._foreach_utils")._group_tensors_by_device_and_dtype
    tensors = [torch.ones(1), torch.ones(2).double(), torch.ones(3)]
    found = group([tensors, []], with_indices=True)
    assert {kind: positions for (_, kind), (_, positions) in found.items()} == {
        torch.float32: [0, 2],
        torch.float64: [1],
    }
    assert found[torch.device("cpu"), torch.float32][0] == [[tensors[0], tensors[2]], []]
