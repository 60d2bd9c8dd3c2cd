"""Making tensors, without PyTorch: values, dtypes, shared memory, and what is refused."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import leafgrad
import leafgrad as torch


def dtype_of(data: Any, **options: Any) -> Any:
    return torch.tensor(data, **options).dtype


def test_dtype_of_python_numbers() -> None:
    assert dtype_of(1) is torch.int64
    assert dtype_of(1.0) is torch.float32
    assert dtype_of(True) is torch.bool
    assert dtype_of(1j) is torch.complex64
    assert dtype_of([1, 2.0]) is torch.float32
    assert dtype_of([True, 2]) is torch.int64
    assert dtype_of([1, 2.0, 1j]) is torch.complex64
    assert dtype_of([]) is torch.float32
    assert dtype_of([np.float64(1)]) is torch.float64
    assert dtype_of([np.float32(1), 2.0]) is torch.float32
    assert dtype_of([np.int32(1), 2]) is torch.int64
    assert dtype_of(np.int8(1)) is torch.int8
    assert dtype_of([torch.tensor(1.0), torch.tensor(2)]) is torch.float32
    assert dtype_of([1.0], dtype=float) is torch.float64


def test_default_dtype_decides() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert dtype_of(1.0) is torch.float64
        assert dtype_of(1j) is torch.complex128
        assert torch.zeros(2).dtype is torch.float64
        assert torch.arange(1.0).dtype is torch.float64
        assert torch.rand(2).dtype is torch.float64
        assert torch.Tensor([1]).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[[1, 2], [3, 4]], [[1, 2], [3]]], ValueError, "expected sequence of length 2 at dim 2 (got 1)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        ("a", TypeError, "new(): invalid data type 'str'"),
        (["a"], ValueError, "too many dimensions 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, RuntimeError, "Could not infer dtype of dict"),
        (2**63, ValueError, "Overflow when unpacking long long"),
    ],
)
def test_refused_data(data: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        torch.tensor(data)
    assert str(caught.value).startswith(message)


def test_numbers_have_to_fit() -> None:
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8 without overflow"):
        torch.tensor(300, dtype=torch.uint8)
    assert torch.tensor(-1, dtype=torch.uint8).item() == 255
    assert torch.tensor([1.5], dtype=torch.int32).tolist() == [1]
    assert torch.tensor([1e40]).item() == float("inf")
    with pytest.raises(TypeError, match="must be real number"):
        torch.tensor([1j], dtype=torch.float32)


def test_tensor_copies() -> None:
    array = np.ones(3)
    t = torch.tensor(array)
    array[0] = 5
    assert t.tolist() == [1, 1, 1]
    with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended"):
        again = torch.tensor(t)
    again[0] = 7
    assert t[0].item() == 1


def test_from_numpy_shares() -> None:
    array = np.arange(6.0).reshape(2, 3)
    t = torch.from_numpy(array.T)
    assert t.stride() == (1, 3)
    array[0, 1] = 9
    assert t[1, 0].item() == 9
    t[0, 1] = -1
    assert array[1, 0] == -1
    assert t.numpy().__array_interface__["data"] == array.__array_interface__["data"]
    assert torch.from_numpy(np.array(3.0)).shape == ()
    assert torch.as_tensor(array).data_ptr() == array.ctypes.data
    assert torch.as_tensor(t) is t


def test_from_numpy_refuses() -> None:
    with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        torch.from_numpy([1])
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type numpy.str_"):
        torch.from_numpy(np.array(["a"]))
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        torch.from_numpy(np.array([1], ">i4"))
    with pytest.warns(UserWarning, match="not writable"):
        torch.from_numpy(np.broadcast_to(np.ones(1), 3))


def test_numpy_cannot_change_the_shape() -> None:
    t = torch.zeros(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy 2.5 would rather not have it done at all
        t.numpy().shape = (2, 3)
    assert t.shape == (6,)


@pytest.mark.parametrize("make", [torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn])
def test_sizes(make: Any) -> None:
    for args in [(2, 3), ((2, 3),), ([2, 3],), (torch.Size([2, 3]),), (np.int64(2), torch.tensor(3))]:
        assert make(*args).shape == (2, 3)
    assert make(size=(2, 3)).shape == (2, 3)
    assert make(()).shape == make([]).shape == ()
    assert make(0).shape == (0,)
    with pytest.raises(RuntimeError, match="negative"):
        make(2, -1)
    with pytest.raises(TypeError, match="must be tuple of ints, not float"):
        make(2.5)
    with pytest.raises(TypeError, match="missing 1 required"):
        make()


@pytest.mark.parametrize("make", [torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn])
def test_common_arguments(make: Any) -> None:
    t = make(2, dtype=torch.float64, device="cpu", layout=torch.strided, pin_memory=False, requires_grad=True)
    assert t.dtype is torch.float64 and t.requires_grad and t.is_leaf
    assert make(2, device=torch.device("cpu")).device == torch.device("cpu")
    with pytest.raises(AssertionError, match="leafgrad computes on the CPU only"):
        make(2, device="cuda")
    with pytest.raises(RuntimeError, match="pin_memory=True requires"):
        make(2, pin_memory=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        make(2, foo=1)
    with pytest.raises(TypeError, match=r"argument 'dtype' must be torch.dtype, not str"):
        make(2, dtype="float32")
    with pytest.raises(TypeError, match="argument 'requires_grad' must be bool"):
        make(2, requires_grad=1)


def test_integers_cannot_require_grad() -> None:
    for make in (
        lambda: torch.zeros(2, dtype=torch.int64, requires_grad=True),
        lambda: torch.arange(3, requires_grad=True),
    ):
        with pytest.raises(
            RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"
        ):
            make()


def test_out() -> None:
    out = torch.ones(3)
    assert torch.zeros(2, 2, out=out) is out
    assert out.tolist() == [[0, 0], [0, 0]] and out._version == 1
    with pytest.raises(RuntimeError, match=r"dtype Long does not match dtype of out parameter \(Float\)"):
        torch.zeros(2, out=torch.ones(2), dtype=torch.int64)
    with pytest.raises(RuntimeError, match=r"layout Sparse does not match layout of out parameter \(Strided\)"):
        torch.zeros(2, out=torch.ones(2), layout=torch.sparse_coo)
    assert torch.arange(3, out=torch.zeros(3)).dtype is torch.float32
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="dtype Double does not match"):
        warnings.simplefilter("error")  # it is refused before the size of `out` is spoken of
        torch.arange(3, out=torch.zeros(2), dtype=torch.float64)


def test_full() -> None:
    assert torch.full((2,), 1).dtype is torch.int64
    assert torch.full((2,), 1.0).dtype is torch.float32
    assert torch.full((2,), True).dtype is torch.bool
    assert torch.full((2,), torch.tensor(3)).tolist() == [3, 3]
    with pytest.raises(TypeError, match="argument 'size'"):
        torch.full(2, 1)
    with pytest.raises(TypeError, match="must be Number, not str"):
        torch.full((2,), "a")
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.full((2,), 300, dtype=torch.uint8)


def test_ranges() -> None:
    assert torch.arange(3).dtype is torch.int64
    assert torch.arange(1, 4).tolist() == torch.arange(1, end=4).tolist() == [1, 2, 3]
    assert torch.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert torch.arange(0.0, 1.0, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    assert torch.arange(2**53, 2**53 + 3).tolist() == [2**53, 2**53 + 1, 2**53 + 2]
    for wrong, message in (((0, 3, 0), "step must be nonzero"), ((3, 0), "upper bound and lower bound inconsistent")):
        with pytest.raises(RuntimeError, match=message):
            torch.arange(*wrong)
    assert torch.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert torch.linspace(0, 10, 4, dtype=torch.int64).tolist() == [0, 3, 6, 10]
    assert torch.linspace(3, 9, 1).tolist() == [3] and torch.linspace(3, 9, 0).tolist() == []
    assert torch.logspace(0, 2, 3).tolist() == [1, 10, 100]
    assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert torch.tril_indices(2, 2).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert torch.triu_indices(2, 2).tolist() == [[0, 0, 1], [0, 1, 1]]


def test_like() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    for made, value in ((torch.zeros_like(x), 0), (torch.ones_like(x), 1), (torch.full_like(x, 7), 7)):
        assert made.shape == (2, 3) and not made.requires_grad and (made == value).all()
    assert torch.zeros_like(x.t()).stride() == (1, 3)
    assert torch.zeros_like(x.t(), memory_format=torch.contiguous_format).stride() == (2, 1)
    assert torch.zeros_like(x, dtype=torch.int32, requires_grad=False).dtype is torch.int32
    assert torch.empty_like(x, requires_grad=True).requires_grad
    with pytest.raises(TypeError, match=r"ones_like\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        torch.ones_like([1])


def test_new() -> None:
    x = torch.ones(2, dtype=torch.float64)
    for made in (x.new_zeros(2, 3), x.new_ones((2, 3)), x.new_full((2, 3), 4), x.new_empty(2, 3), x.new(2, 3)):
        assert made.dtype is torch.float64 and made.shape == (2, 3)
    assert x.new_tensor([1, 2]).dtype is torch.float64
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert x.new_tensor(torch.tensor(3)).dtype is torch.float64
    assert x.new_zeros(2, dtype=torch.int64, requires_grad=False).dtype is torch.int64
    assert x.new_ones(2, requires_grad=True).requires_grad


def test_old_constructors() -> None:
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor([1, 2]).dtype is torch.float32
    assert torch.Tensor().shape == (0,)
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert torch.FloatTensor(3).shape == (3,)
    assert isinstance(torch.ones(2), torch.FloatTensor) and not isinstance(torch.ones(2), torch.LongTensor)
    with pytest.raises(TypeError, match="data must be a sequence"):
        torch.Tensor(3.5)
    source = torch.ones(2)
    assert torch.Tensor(source).data_ptr() == source.data_ptr()


def test_from_buffer() -> None:
    buffer = bytearray(b"abcd")
    t = torch.frombuffer(buffer, dtype=torch.uint8, count=2, offset=1)
    assert t.tolist() == [98, 99]
    t[0] = 0
    assert buffer[1] == 0
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.frombuffer(bytearray(5), dtype=torch.int32)


def test_meshgrid() -> None:
    a, b = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    assert a.tolist() == [[0, 0, 0], [1, 1, 1]] and b.tolist() == [[0, 1, 2], [0, 1, 2]]
    a, b = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")
    assert a.tolist() == [[0, 1], [0, 1], [0, 1]] and b.tolist() == [[0, 0], [1, 1], [2, 2]]


# -- random tensors ---------------------------------------------------------------------------------------------------


def test_seed_and_state() -> None:
    torch.manual_seed(0)
    first = torch.randn(3)
    assert first.tolist() == pytest.approx([1.5409961, -0.2934289, -2.1787894])
    assert torch.initial_seed() == 0
    state = torch.get_rng_state()
    assert state.dtype is torch.uint8 and state.shape == (5056,)
    after = torch.rand(2)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(2), after)
    with pytest.raises(TypeError, match=r"RNG state must be a torch.ByteTensor"):
        torch.set_rng_state(torch.zeros(3))
    with torch.random.fork_rng():
        torch.rand(5)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(2), after)


def test_generator_everywhere() -> None:
    def both(make: Any) -> None:
        a = make(torch.Generator().manual_seed(3))
        torch.manual_seed(3)
        assert torch.equal(a, make(None))

    p = torch.full((4, 3), 0.5)
    both(lambda g: torch.rand(4, generator=g))
    both(lambda g: torch.randn(4, generator=g))
    both(lambda g: torch.randint(9, (4,), generator=g))
    both(lambda g: torch.randperm(9, generator=g))
    both(lambda g: torch.normal(0.0, 1.0, (4,), generator=g))
    both(lambda g: torch.normal(p, 2.0, generator=g))
    both(lambda g: torch.bernoulli(p, generator=g))
    both(lambda g: torch.multinomial(p, 2, generator=g))
    both(lambda g: torch.rand_like(p, generator=g))
    both(lambda g: torch.randn_like(p, generator=g))
    both(lambda g: torch.randint_like(p, 9, generator=g))
    for name in ("normal_", "uniform_", "random_", "bernoulli_", "exponential_", "cauchy_", "log_normal_"):
        both(lambda g, n=name: getattr(torch.zeros(4), n)(generator=g))
    both(lambda g: torch.zeros(4).geometric_(0.3, generator=g))
    with pytest.raises(TypeError, match=r"argument 'generator' must be torch.Generator, not int"):
        torch.rand(2, generator=3)


def test_random_in_place_and_autograd() -> None:
    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf.normal_()
    with torch.no_grad():
        leaf.uniform_(2, 3)
    assert leaf._version == 1 and leaf.requires_grad and (leaf >= 2).all()
    y = (leaf * 2).normal_()
    y.sum().backward()
    assert leaf.grad.tolist() == [0, 0, 0]  # what was drawn does not depend on the leaf
    base = torch.ones(4, requires_grad=True) * 1
    base[1:3].uniform_()
    assert base.grad_fn is not None and base._version == 1


def test_gradient_of_parameters_is_zero() -> None:
    p = torch.full((3,), 0.5, requires_grad=True)
    torch.bernoulli(p).sum().backward()
    assert p.grad.tolist() == [0, 0, 0]
    mean, std = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    torch.normal(mean, std).sum().backward()
    assert mean.grad.tolist() == std.grad.tolist() == [0, 0, 0]


def test_randint_forms() -> None:
    assert torch.randint(5, (3,)).dtype is torch.int64
    assert torch.randint(low=2, high=3, size=(3,)).tolist() == [2, 2, 2]
    assert torch.randint(2, 3, [2, 2], dtype=torch.float32).tolist() == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="random_ expects 'from' to be less than 'to'"):
        torch.randint(5, 2, (2,))
    with pytest.raises(TypeError, match=r"argument 'size' \(position 2\) must be tuple of ints"):
        torch.randint(5, 2)


def test_random_is_imported_late() -> None:
    """`import leafgrad` must not wait for the generators."""
    code = "import sys, leafgrad; assert 'leafgrad.random' not in sys.modules; leafgrad.rand(1)"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_module_names() -> None:
    assert leafgrad.random.default_generator is leafgrad.default_generator
    assert not leafgrad.cuda.is_available()


def test_the_old_constructor_of_a_tensor_is_a_view() -> None:
    leaf = torch.ones(2, requires_grad=True)
    x = leaf * 1

    class Mine(torch.Tensor):
        pass

    for made in (torch.Tensor(x), torch.FloatTensor(x), x.new(x), Mine(x)):
        assert made._base is x and made.grad_fn.name() == "AliasBackward0"
        (made * 3).sum().backward(retain_graph=True)
    assert leaf.grad.tolist() == [12.0, 12.0] and isinstance(Mine(x), Mine)
    torch.Tensor(x).mul_(2)
    assert torch.autograd.grad(x.sum(), leaf)[0].tolist() == [2.0, 2.0]


class OldLibrary:
    """Hands out the capsules that there were before they had versions."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack__(self) -> Any:
        return self.x.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.x.__dlpack_device__()


def test_memory_of_other_libraries_can_be_written_to() -> None:
    for take in (
        lambda x: torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)),
        lambda x: torch.from_dlpack(x.__dlpack__(max_version=(1, 0))),
        lambda x: torch.from_dlpack(OldLibrary(x)),
        torch.from_dlpack,
    ):
        x = torch.zeros(2, 3)
        y = take(x.t())
        y[0, 1] = 5
        assert x[1, 0] == 5 and y.stride() == (1, 3)
    assert torch.tensor(OldLibrary(torch.arange(3.0))).tolist() == [0, 1, 2]
    constant = np.ones(2)
    constant.flags.writeable = False
    with pytest.raises(BufferError):  # NumPy does not hand it out in the old form
        torch.from_dlpack(OldLibrary(constant))


def test_streams_of_memory_that_is_handed_out() -> None:
    for stream, kind in ((object(), TypeError), (1, AssertionError)):
        with pytest.raises(kind, match="stream"):
            torch.ones(2).__dlpack__(stream=stream)
    assert '"dltensor"' in repr(torch.ones(2).__dlpack__(stream=None))


@pytest.mark.parametrize("name", ["not a device", "1cpu", "cpu 1", "cuda:", "cuda:x", "cuda:01", "cpu:-1"])
def test_names_that_no_device_can_have(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"^Invalid device string: '"):
        torch.device(name)


def test_fractions_are_not_cut_off_where_integers_are_asked_for() -> None:
    for data in ([torch.tensor(1.5)], [[torch.tensor([1.5])]]):
        with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
            torch.tensor(data, dtype=torch.int64)
    with pytest.raises(TypeError, match=r"'numpy\.float32' object cannot be interpreted as an integer"):
        torch.tensor([np.float32(2.5)], dtype=torch.int64)
    assert torch.tensor([torch.tensor(2), np.int64(3), 1.5], dtype=torch.int64).tolist() == [2, 3, 1]


def test_numbers_of_what_has_a_history_are_warned_of_once() -> None:
    x = torch.ones((), requires_grad=True)
    torch.set_warn_always(True)
    try:
        for convert in (float, complex, math.sqrt, lambda x: torch.tensor([x])):
            with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
                convert(x)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("error")
            float(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (int(x), x.item(), f"{x}", x.tolist(), float(x.detach())) == (1, 1.0, "1.0", 1.0, 1.0)
    finally:
        torch.set_warn_always(False)
