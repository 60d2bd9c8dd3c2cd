"""What a tensor can do beyond arithmetic, without PyTorch: copies, conversions, in-place values, `out=`, settings."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import leafgrad as torch


def leaf(*shape: int) -> Any:
    return torch.ones(*shape, requires_grad=True)


# -- replacing values -------------------------------------------------------------------------------------------------


def test_copy_() -> None:
    x = torch.zeros(2, 3)
    assert x.copy_(torch.arange(3)) is x
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]] and x.dtype is torch.float32 and x._version == 1
    assert torch.zeros(2, dtype=torch.int64).copy_(torch.tensor([1.7, -1.7])).tolist() == [1, -1]
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        x.copy_(torch.ones(4))
    with pytest.raises(TypeError, match="argument 'other'"):
        x.copy_([1.0])


def test_copy_is_differentiable() -> None:
    source = leaf(3)
    y = torch.zeros(2, 3)
    y.copy_(source * 2)
    assert type(y.grad_fn).__name__ == "CopyBackwards"
    (y * 3).sum().backward()
    assert source.grad.tolist() == [12, 12, 12]
    old = leaf(2, 3)
    z = old * 1
    z[0].copy_(source)
    z.sum().backward()
    assert old.grad.tolist() == [[0, 0, 0], [1, 1, 1]]


def test_fill_() -> None:
    x = torch.zeros(2)
    assert x.fill_(3).tolist() == [3, 3] and x._version == 1
    value = torch.tensor(2.0, requires_grad=True)
    y = torch.zeros(3).fill_(value)
    y.sum().backward()
    assert value.grad.item() == 3
    old = leaf(3)
    (old * 2).fill_(1.0).sum().backward()
    assert old.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="fill_ only supports 0-dimension value tensor but got tensor with 1 dim"):
        x.fill_(torch.ones(2))
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.zeros(2, dtype=torch.uint8).fill_(300)
    assert torch.ones(1).expand(3).fill_(2).tolist() == [2, 2, 2]


def test_zero_() -> None:
    x = leaf(3) * 2
    x.zero_()
    assert x.tolist() == [0, 0, 0] and type(x.grad_fn).__name__ == "ZeroBackward0"
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf(3).zero_()


def test_expanded_memory_cannot_be_written() -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        torch.ones(1).expand(3).add_(1)


def test_resize_and_set() -> None:
    x = torch.arange(4)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_(2).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf(2).resize_(3)
    y = torch.zeros(3)
    x = torch.ones(2)
    y.set_(x)
    x[0] = 5
    assert y.tolist() == [5, 1]


def test_sum_to_size() -> None:
    x = leaf(2, 3)
    assert x.sum_to_size(2, 3) is x
    assert x.sum_to_size(1, 3).tolist() == [[2, 2, 2]]
    assert x.sum_to_size((3,)).tolist() == [2, 2, 2]
    assert x.sum_to_size(1).tolist() == [6]
    with pytest.raises(RuntimeError, match="is not expandable to size"):
        x.sum_to_size(2)


# -- conversions ------------------------------------------------------------------------------------------------------


def test_to() -> None:
    x = leaf(2)
    assert x.to("cpu") is x and x.to(torch.float32) is x and x.to() is x
    assert x.to(torch.float32, copy=True) is not x
    for y in (x.to(torch.float64), x.to("cpu", torch.float64), x.to(torch.ones(1).double()), x.double()):
        assert y.dtype is torch.float64 and type(y.grad_fn).__name__ == "ToCopyBackward0"
    x.to(torch.float64).sum().backward()
    assert x.grad.dtype is torch.float32
    assert not x.int().requires_grad
    with pytest.raises(TypeError):
        x.to(foo=1)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        x.cuda()


def test_type() -> None:
    x = torch.ones(2)
    assert x.type() == "torch.FloatTensor" and torch.typename(x) == "torch.FloatTensor"
    assert x.type(torch.LongTensor).dtype is x.type("torch.LongTensor").dtype is torch.int64
    assert x.type_as(torch.ones(1).int()).dtype is torch.int32
    with pytest.raises(ValueError, match="invalid type: 'a'"):
        x.type("a")


def test_casts_wrap_around_and_truncate() -> None:
    assert torch.tensor([300, -1]).byte().tolist() == [44, 255]
    assert torch.tensor([1.9, -1.9]).int().tolist() == [1, -1]
    assert torch.tensor([float("nan"), 0.0]).bool().tolist() == [True, False]
    with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part"):
        assert torch.tensor([1 + 2j]).float().tolist() == [1]


def test_memory_formats() -> None:
    x = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    y = x.to(memory_format=torch.channels_last)
    assert y.stride() == (60, 1, 15, 3) and torch.equal(x, y)
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert y.clone().stride() == y.stride() and y.contiguous().stride() == x.stride()
    assert torch.zeros_like(y).stride() == y.stride()
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2).contiguous(memory_format=torch.channels_last)
    with pytest.raises(TypeError, match=r"argument 'memory_format' must be torch.memory_format, not int"):
        x.clone(memory_format=3)


# -- copies of tensors ------------------------------------------------------------------------------------------------


def test_pickle() -> None:
    x = leaf(2, 3)
    x.grad = torch.ones(2, 3)
    x.label = "weight"
    y = pickle.loads(pickle.dumps(x))
    assert torch.equal(x, y) and y.requires_grad and y.is_leaf and y.grad is None and y.label == "weight"
    computed = pickle.loads(pickle.dumps(x * 2))
    assert computed.is_leaf and computed.requires_grad and computed.tolist() == [[2, 2, 2], [2, 2, 2]]
    part = torch.arange(1000.0)[10:12]
    assert len(pickle.dumps(part)) < 1000 and pickle.loads(pickle.dumps(part)).tolist() == [10, 11]
    for thing in (torch.float32, torch.Size([2]), torch.device("cpu"), torch.Generator()):
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing)
    assert pickle.loads(pickle.dumps(torch.float32)) is torch.float32


def test_copy_shares_memory() -> None:
    x = leaf(2)
    y = copy.copy(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.requires_grad and y.is_leaf


def test_deepcopy() -> None:
    x = leaf(3)
    x.grad = torch.full((3,), 2.0)
    y = copy.deepcopy(x)
    assert y.data_ptr() != x.data_ptr() and y.grad.tolist() == [2, 2, 2] and y.grad is not x.grad
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    base = torch.arange(4.0)
    whole, part = copy.deepcopy([base, base[1:3]])
    part[0] = 9
    assert whole.tolist() == [0, 9, 2, 3] and base.tolist() == [0, 1, 2, 3]
    same = copy.deepcopy([x, x])
    assert same[0] is same[1]


class Named(torch.Tensor):
    """A subclass as users write them."""


def test_subclasses() -> None:
    t = torch.ones(2).as_subclass(Named)
    assert type(t) is Named and type(copy.copy(t)) is Named and type(pickle.loads(pickle.dumps(t))) is Named
    assert Named([1, 2]).tolist() == [1, 2]


# -- other libraries --------------------------------------------------------------------------------------------------


def test_numpy() -> None:
    x = leaf(2)
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        x.numpy()
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        np.asarray(x)
    assert x.numpy(force=True).tolist() == [1, 1]
    y = torch.ones(2)
    assert np.asarray(y).ctypes.data == y.data_ptr()
    assert np.array(y, dtype=np.int64).dtype == np.int64
    assert isinstance(np.sin(y), torch.Tensor)
    assert isinstance(np.float64(2) * y, torch.Tensor)


def test_dlpack() -> None:
    x = torch.arange(3.0)
    array = np.from_dlpack(x)
    x[0] = 7
    assert array[0] == 7
    source = np.ones(3)
    y = torch.from_dlpack(source)
    source[0] = 5
    assert y.tolist() == [5, 1, 1]
    assert torch.from_dlpack(x.__dlpack__()).tolist() == [7, 1, 2]
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        leaf(2).__dlpack__()


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_python_numbers() -> None:
    assert torch.tensor([1.5]).item() == 1.5 and float(torch.tensor(1.5)) == 1.5 and int(torch.tensor(1.5)) == 1
    assert complex(torch.tensor(1.5)) == 1.5 and [10, 20][torch.tensor(1)] == 20
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        float(torch.ones(2))
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        torch.ones(2).item()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    assert 1 in torch.tensor([1, 2]) and 3 not in torch.tensor([1, 2])
    assert isinstance(torch.tensor(True).item(), bool) and isinstance(torch.tensor(1).item(), int)


def test_bfloat16_numbers() -> None:
    x = torch.tensor([1.5, 2.0], dtype=torch.bfloat16)
    assert x.tolist() == [1.5, 2.0] and isinstance(x[0].item(), float)
    assert (x + 1).dtype is torch.bfloat16 and (x * torch.ones(2)).dtype is torch.float32


# -- arithmetic where integers and numbers meet -----------------------------------------------------------------------


def test_division() -> None:
    x = torch.tensor([5, -5])
    assert (x / 2).tolist() == [2.5, -2.5]
    assert torch.div(x, 2, rounding_mode="trunc").tolist() == [2, -2]
    assert torch.div(x, 2, rounding_mode="floor").tolist() == (x // 2).tolist() == [2, -3]
    assert (x % 3).tolist() == [2, 1]
    for wrong in (lambda: x // 0, lambda: x % 0, lambda: torch.div(x, 0, rounding_mode="trunc")):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            wrong()
    with pytest.raises(RuntimeError, match="div expected rounding_mode to be one of None, 'trunc', or 'floor'"):
        torch.div(x, 2, rounding_mode="up")
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        x.div_(2)
    y = leaf(2)
    torch.div(y, 2, rounding_mode="floor").sum().backward()
    assert y.grad.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (leaf(2) // 2).sum().backward()


def test_powers() -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    for power, slope in ((2, [4, 6]), (3, [12, 27]), (0.5, None), (-1, [-0.25, -1 / 9]), (0, [0, 0])):
        (g,) = torch.autograd.grad((x**power).sum(), x)
        want = slope or [0.5 / 2**0.5, 0.5 / 3**0.5]
        assert g.tolist() == pytest.approx(want)
    assert x.pow(exponent=2).tolist() == [4, 9]
    assert (2**x).tolist() == pytest.approx([4, 8])
    (g,) = torch.autograd.grad((2**x).sum(), x)
    assert g.tolist() == pytest.approx([4 * np.log(2), 8 * np.log(2)])
    (g,) = torch.autograd.grad((0 ** torch.tensor([0.0], requires_grad=True)).sum(), x, allow_unused=True)
    assert g is None
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        torch.tensor([2]) ** -1
    assert (torch.tensor([2]) ** torch.tensor([-1])).tolist() == [0]
    assert (torch.tensor([True]) ** 2).dtype is torch.int64
    # higher orders
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (g,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [6, 6]


def test_node_names() -> None:
    x = leaf(2)
    names = {
        "PowBackward0": x**2, "PowBackward1": x**x, "PowBackward2": 2**x, "RsubBackward1": 1 - x, "MulBackward0": 2 / x,
        "DivBackward0": x / 2, "ClampBackward1": x.clamp(0, 1), "ClampMinBackward0": x.clamp_min(0),
        "CloneBackward0": x.clone(), "RoundBackward0": x.round(),
    }  # fmt: skip
    for name, result in names.items():
        assert result.grad_fn.name() == name


def test_overflow_and_wraparound() -> None:
    assert (torch.tensor([127], dtype=torch.int8) + 1).tolist() == [-128]
    assert (torch.tensor([200], dtype=torch.uint8) + 100).tolist() == [44]
    assert (-torch.tensor([1], dtype=torch.uint8)).tolist() == [255]
    assert (torch.tensor([255], dtype=torch.uint8) == -1).tolist() == [True]
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.tensor([1]) + 2**70


def test_bool_arithmetic() -> None:
    t = torch.tensor([True, False])
    assert (t + t).dtype is torch.bool and (t * 2).tolist() == [2, 0]
    for wrong in (lambda: t - t, lambda: t - 1, lambda: 1 - t):
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with"):
            wrong()
    with pytest.raises(RuntimeError, match="Negation, the `-` operator, on a bool tensor is not supported"):
        torch.neg(t)
    assert (~t).tolist() == [False, True]
    with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
        ~torch.ones(2)


def test_rounding_makes_copies() -> None:
    x = torch.tensor([1, 2])
    torch.floor(x).add_(1)
    torch.sign(torch.tensor([True])).logical_not_()
    assert x.tolist() == [1, 2]
    assert torch.round(torch.tensor([2.5, 3.5, -0.5])).tolist() == [2, 4, -0.0]
    assert torch.round(torch.tensor([123.456]), decimals=-1).tolist() == [120]


def test_aliases() -> None:
    x = torch.tensor([-1.0, 2.0])
    assert torch.equal(torch.absolute(x), x.abs()) and torch.equal(x.negative(), -x)
    assert torch.equal(x.multiply(2), x * 2) and torch.equal(x.subtract(1), x - 1) and torch.equal(x.divide(2), x / 2)
    assert torch.equal(x.clip(0, 1), x.clamp(0, 1)) and torch.equal(x.greater(0), x > 0)
    assert x.clone().multiply_(2).tolist() == [-2, 4] and torch.relu_(x.clone()).tolist() == [0, 2]


def test_maximum_shares_ties() -> None:
    a, b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
    torch.maximum(a, b).sum().backward()
    assert a.grad.tolist() == [0.5, 0, 1] and b.grad.tolist() == [0.5, 1, 0]


def test_clamp_with_tensors() -> None:
    x, low = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True), torch.zeros(3, requires_grad=True)
    torch.clamp(x, low, torch.tensor(1.0)).sum().backward()
    assert x.grad.tolist() == [0, 1, 0] and low.grad.tolist() == [1, 0, 0]
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max' must not be None"):
        torch.clamp(x)


def test_complex_parts() -> None:
    real, imag = leaf(2), leaf(2)
    z = torch.complex(real, imag)
    assert z.dtype is torch.complex64
    torch.view_as_real(z).sum().backward()
    assert real.grad.tolist() == imag.grad.tolist() == [1, 1]
    pairs = torch.arange(4.0).reshape(2, 2)
    seen = torch.view_as_complex(pairs)
    assert seen.tolist() == [1j, 2 + 3j]
    seen.real[0] = 9  # a view of a view of the same memory
    assert pairs[0, 0].item() == 9
    with pytest.raises(RuntimeError, match="Tensor must have a last dimension of size 2"):
        torch.view_as_complex(torch.ones(3))


# -- comparison as a whole --------------------------------------------------------------------------------------------


def test_equal_and_close() -> None:
    a = torch.tensor([1.0, float("inf"), float("nan")])
    assert torch.isclose(a, a).tolist() == [True, True, False]
    assert torch.isclose(a, a, equal_nan=True).tolist() == [True, True, True]
    assert torch.allclose(torch.ones(2), torch.ones(2) + 1e-7) and not torch.equal(a, a)
    assert torch.equal(torch.ones(2), torch.ones(2)) and not torch.equal(torch.ones(2), torch.ones(3))
    with pytest.raises(RuntimeError, match="Float did not match Double"):
        torch.allclose(torch.ones(2), torch.ones(2).double())
    assert torch.is_tensor(a) and not torch.is_tensor(3) and torch.numel(a) == 3
    assert torch.is_floating_point(a) and not torch.is_complex(a) and a.is_same_size(torch.ones(3))


def test_result_type() -> None:
    assert torch.result_type(torch.ones(2), torch.tensor(1.0, dtype=torch.float64)) is torch.float32
    assert torch.result_type(torch.tensor([1]), 1.5) is torch.float32
    assert torch.promote_types(torch.uint8, torch.int8) is torch.int16
    assert torch.can_cast(torch.float64, torch.float32) and not torch.can_cast(torch.float32, torch.int32)


# -- out= -------------------------------------------------------------------------------------------------------------


def test_out() -> None:
    x, out = torch.ones(2), torch.zeros(2)
    assert torch.add(x, 1, out=out) is out and out.tolist() == [2, 2] and out._version == 1
    assert torch.exp(x, out=torch.zeros(2, dtype=torch.float64)).dtype is torch.float64
    assert torch.eq(x, 1, out=torch.zeros(2)).tolist() == [1, 1]
    assert torch.mul(torch.arange(3.0), 2, out=torch.zeros(0)).tolist() == [0, 2, 4]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized since it had shape"):
        assert torch.add(x, 1, out=torch.zeros(3)).shape == (2,)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.add(x, 1, out=torch.zeros(2, dtype=torch.int64))
    for wrong in (lambda: torch.add(leaf(2), 1, out=out), lambda: torch.add(x, 1, out=leaf(2))):
        with pytest.raises(RuntimeError, match=r"functions with out=... arguments don't support automatic"):
            wrong()
    with torch.no_grad():
        torch.add(leaf(2), 1, out=out)
    with pytest.raises(TypeError, match="argument 'out' must be Tensor"):
        torch.add(x, 1, out=3)
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    result = torch.max(torch.tensor([[1.0, 5.0], [3.0, 2.0]]), 0, out=(values, indices))
    assert values.tolist() == [3, 5] and indices.tolist() == [1, 0] and result.values is values


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")  # which is deprecated, and says so once
def test_settings() -> None:
    text = torch.show_config()
    assert torch.__version__ in text and np.__version__ in text and ("compiled" in text or "plain" in text)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        torch.set_num_threads(0)
    torch.set_default_tensor_type("torch.DoubleTensor")
    try:
        assert torch.get_default_dtype() is torch.float64
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(torch.int32)
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0


# -- parts, order, sizes ----------------------------------------------------------------------------------------------


def test_real_and_imaginary_parts_are_assigned() -> None:
    x = torch.zeros(2, dtype=torch.complex64)
    x.real = torch.tensor([1.0, 2.0])
    x.imag = 3
    assert x.tolist() == [1 + 3j, 2 + 3j] and x._version == 2
    y = torch.zeros(2)
    y.real = 4
    assert y.tolist() == [4, 4]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        y.imag = 1
    with pytest.raises(TypeError, match=r"can.t assign a str to a torch\.FloatTensor"):
        x.real = "a"
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf(2).real = 1.0
    values = leaf(2)
    z = torch.ones(2, dtype=torch.complex64) * values
    z.real = 2 * values
    z.real.sum().backward()
    assert values.grad.tolist() == [2, 2]
    with pytest.raises(AttributeError):
        x.T = x


def test_reversed() -> None:
    assert reversed(torch.arange(6).view(3, 2)).tolist() == [[4, 5], [2, 3], [0, 1]]
    assert reversed(torch.tensor(2.0)).item() == 2


def test_order_of_dimensions() -> None:
    x = torch.empty(2, 3, 4, 5)
    assert x.to(memory_format=torch.channels_last).dim_order(ambiguity_check=True) == (0, 2, 3, 1)
    single = torch.empty(1, 2, 3, 1)
    formats = [torch.contiguous_format, torch.channels_last]
    assert single.dim_order() == (0, 1, 2, 3) == single.dim_order(ambiguity_check=formats)
    for check in (True, [], [torch.channels_last]):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            single.dim_order(ambiguity_check=check)
    for wrong in ("x", [3], None):
        with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
            x.dim_order(ambiguity_check=wrong)


def test_sizes_are_integers() -> None:
    size = torch.Size([torch.tensor(2), np.int64(3), True])
    assert size == (2, 3, 1) and [type(n) for n in size] == [int, int, int]
    for wrong in (1.0, "a", torch.ones(2)):
        with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 1 is"):
            torch.Size([1, wrong])
    assert repr((4,) + torch.Size([1])) == repr(torch.Size([4]) + (1,)) == "torch.Size([4, 1])"
    with pytest.raises(TypeError, match="can only concatenate tuple"):
        torch.Size([1]) + [2]


def test_old_constructors() -> None:
    assert torch.Tensor(size=(2, 3)).shape == torch.ones(1).new(size=[2, 3]).shape == (2, 3)
    for wrong in (lambda: torch.LongTensor((6, 0), 1), lambda: torch.Tensor(foo=3), lambda: torch.Tensor([2], 3)):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            wrong()
    with pytest.raises(TypeError, match="data must be a sequence"):
        torch.Tensor(None)


def test_tensors_of_storages() -> None:
    storage = torch.ones(2).untyped_storage()
    assert torch.tensor(storage, dtype=torch.float32).tolist() == [1, 1]
    assert torch.tensor(storage).dtype is torch.int64
    with pytest.raises(RuntimeError, match="Expected a Storage of type double"):
        torch.tensor(torch.ones(2)._typed_storage(), dtype=torch.float64)
    storage.byteswap(torch.float32)
    assert torch.tensor(storage, dtype=torch.int32).tolist() == [0x0000803F] * 2


def test_functions_of_elements_return_numbers() -> None:
    with pytest.raises(TypeError, match="must be real number, not str"):
        torch.ones(2).apply_(lambda value: "a")
