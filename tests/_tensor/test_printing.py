"""The text of tensors, against strings that PyTorch printed (data/printing.json, made by data/make_printing.py)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import leafgrad as torch
from leafgrad._tensor.printing import get_printoptions, printoptions, set_printoptions, tensor_repr

DATA = Path(__file__).parents[1] / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "printing.json").read_text("utf-8"))
DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def _default_options() -> Iterator[None]:
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


def plain(array: np.ndarray[Any, Any], **rest: Any) -> str:
    known: dict[str, Any] = {
        "dtype_name": array.dtype.name,
        "default_dtype_name": "float32",
        "requires_grad": False,
        "grad_fn_name": None,
    }
    return tensor_repr(array, **{**known, **rest})


def build(case: dict[str, Any]) -> np.ndarray[Any, Any]:
    dtype: Any = case["dtype"]
    if dtype == "bfloat16":
        dtype = ml_dtypes.bfloat16
    values = [complex(value) if isinstance(value, str) else value for value in case["values"]]
    array = np.resize(np.array(values, dtype=dtype), case["shape"])
    return {"T": array.T, "step": array[..., ::2] if array.ndim else array}.get(case.get("view", ""), array)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dtype']}-{'x'.join(map(str, case['shape']))}")
def test_text_is_what_pytorch_prints(case: dict[str, Any]) -> None:
    with printoptions(**case.get("options", {})):
        text = plain(
            build(case),
            dtype_name=case["dtype"],
            default_dtype_name=case.get("default", "float32"),
            requires_grad=case.get("requires_grad", False) or "grad_fn" in case,
            grad_fn_name=case.get("grad_fn"),
            class_name=case.get("class", "tensor"),
        )
    assert text == case["text"]


def test_examples() -> None:
    assert plain(np.array([1, 2], np.float32), requires_grad=True) == "tensor([1., 2.], requires_grad=True)"
    assert plain(np.array(6, np.float32), grad_fn_name="MulBackward0") == "tensor(6., grad_fn=<MulBackward0>)"
    assert plain(np.zeros((0, 3), np.float32)) == "tensor([], size=(0, 3))"
    assert plain(np.zeros(2)) == "tensor([0., 0.], dtype=torch.float64)"
    assert plain(np.ones(1, np.float32), class_name="Parameter") == "Parameter containing:\ntensor([1.])"


def test_a_summary_touches_only_what_it_shows() -> None:
    # 10**15 elements that take one element's memory: anything that visited or copied them would never finish.
    for value in (np.float32(1.5), np.complex64(1 + 2j), np.int64(7)):
        text = plain(np.broadcast_to(value, (10**6, 10**9)))
        assert text.count("...") == 7

    hidden = np.ones((100, 100), np.float32)
    hidden[50, 50] = 1e20  # would switch to scientific notation were it seen
    assert "e+" not in plain(hidden)


def test_printing_warns_about_nothing(recwarn: pytest.WarningsRecorder) -> None:
    plain(np.array([1.7e308, 5e-324, np.nan, np.inf, -0.0]))
    plain(np.array([complex(np.inf, np.nan)]))
    plain(np.array([65504, 6e-8], np.float16))
    assert not recwarn.list


def test_printing_leaves_the_array_alone() -> None:
    array = np.array([[1.5, np.nan], [3.0, -0.0]])
    array.flags.writeable = False
    assert plain(array) == plain(array.copy())


def test_options_start_from_the_defaults_and_profiles_set_them() -> None:
    assert get_printoptions() == DEFAULTS
    set_printoptions(profile="short")
    assert get_printoptions() == {**DEFAULTS, "precision": 2, "edgeitems": 2}
    set_printoptions(profile="full", linewidth=100)
    assert get_printoptions() == {**DEFAULTS, "threshold": math.inf, "linewidth": 100}
    set_printoptions(profile="default")
    assert get_printoptions() == DEFAULTS


def test_options_left_out_stay_except_sci_mode() -> None:
    set_printoptions(precision=7, sci_mode=True)
    assert get_printoptions() == {**DEFAULTS, "precision": 7, "sci_mode": True}
    set_printoptions(edgeitems=5)
    assert get_printoptions() == {**DEFAULTS, "precision": 7, "edgeitems": 5}


def test_get_printoptions_gives_a_copy() -> None:
    get_printoptions()["precision"] = 9
    assert get_printoptions() == DEFAULTS


def test_printoptions_restores_even_after_an_error() -> None:
    set_printoptions(precision=2, sci_mode=False)
    before = get_printoptions()
    with pytest.raises(ZeroDivisionError), printoptions(profile="full", sci_mode=True):
        1 // int(get_printoptions()["threshold"] != math.inf)  # only divides by zero with the new options in force
    assert get_printoptions() == before
    with pytest.raises(TypeError), printoptions(colour="red"):
        pass
    assert get_printoptions() == before


@pytest.mark.parametrize(
    ("array", "spec", "text"),
    [
        (np.array(3.14159265, np.float64), ".4f", "3.1416"),
        (np.array(0.1, np.float32), "", "0.10000000149011612"),
        (np.array(6, np.float32), "", "6.0"),
        (np.array(5), ">4d", "   5"),
        (np.array(5), ".1f", "5.0"),
        (np.array(True), "", "True"),
        (np.array(1 + 2j), ".1f", "1.0+2.0j"),
        (np.array(np.nan), ".2e", "nan"),
        (np.ones(2, np.float32), "", "tensor([1., 1.])"),
    ],
)
def test_a_number_is_formatted_as_pythons(array: np.ndarray[Any, Any], spec: str, text: str) -> None:
    assert format(torch.from_numpy(array), spec) == text


def test_bfloat16_is_formatted_as_a_float() -> None:
    assert f"{torch.tensor(1.5, dtype=torch.bfloat16):.2f}" == "1.50"


def test_format_of_what_is_not_a_number() -> None:
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor\.__format__"):
        format(torch.ones(2), ".2f")
    with pytest.raises(TypeError, match=r"unsupported format string passed to Parameter\.__format__"):
        format(torch.nn.Parameter(torch.tensor(1.0)), ".2f")
    assert f"{torch.nn.Parameter(torch.tensor(1.0))}" == "Parameter containing:\ntensor(1., requires_grad=True)"
    with pytest.raises(ValueError, match="Unknown format code"):
        format(torch.tensor(1.0), "d")


def test_a_tangent_that_is_a_number_is_printed_as_one() -> None:
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        assert repr(forward.make_dual(torch.ones(()), torch.tensor(0.5))) == "tensor(1., tangent=0.5)"
        assert repr(forward.make_dual(torch.ones(1), torch.ones(1))) == "tensor([1.], tangent=tensor([1.]))"
