"""x[...], reading and writing: values against NumPy, gradients against differences, memory, histories of views, and
what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn.functional as F
from differences import check_gradients, leaf, longs, numbers, rng

# -- reading ----------------------------------------------------------------------------------------------------------

VIEWS: list[Any] = [
    0, -1, (1, 2), (1, -1, 3), slice(1, None), slice(None, None, 2), slice(2, 0), slice(-2, 99), ..., (), None,
    (slice(None), 1), (..., 1), (1, ...), (0, ..., -1), (slice(1, 2), slice(0, 3, 2)), (None, 0), (0, None),
    (slice(None), None), (..., None), (None, ..., 2, None), (np.int64(1), slice(np.int32(1), None)),
]  # fmt: skip


@pytest.mark.parametrize("index", VIEWS, ids=repr)
def test_numbers_and_slices_give_views(index: Any) -> None:
    x = leaf(3, 4, 5)
    y = x[index]
    np.testing.assert_array_equal(y.detach().numpy(), x.detach().numpy()[index])
    assert np.shares_memory(y.array, x.array) or not y.numel()
    assert y._is_view() and y._base is x and y._version == x._version
    y.sum().backward()
    expected = np.zeros((3, 4, 5))
    expected[index] = 1
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_a_single_element_is_a_view_too() -> None:
    x = lg.tensor([1.0, 2.0])
    y = x[1]
    assert y.shape == () and y.item() == 2
    y.fill_(5)
    assert x.tolist() == [1, 5]


def test_zero_dimensional_integer_tensors_are_numbers() -> None:
    x = leaf(3, 4)
    y = x[lg.tensor(1), lg.tensor(-1, dtype=lg.int16)]
    assert y._is_view() and y.item() == x[1, 3].item()
    assert x[lg.tensor(1) : lg.tensor(3)].shape == (2, 4)


ARRAYS: list[Any] = [
    ([0, 2, 2],), ([[0, 1], [2, 2]],), ([0, 1], [1, -1]), ([[0], [1]], [1, 2, 0]), (slice(None), [0, 3, 3]),
    (slice(None), [0, 1], [1, 2]), ([0, 1], slice(None), [1, 2]), ([0, 1], None, [1, 2]), (slice(1, 3), [0], slice(2)),
    (..., [4, 4, 0]), (None, [1, 0]), ([1, 0], None), ([],), (slice(None), []), ([[True, False, True]],),
]  # fmt: skip


def index_on(index: tuple[Any, ...], make: Callable[[Any], Any]) -> tuple[Any, ...]:
    return tuple(
        [make(np.array(i, np.int64 if not np.array(i).size else None)) if isinstance(i, list) else i for i in index]
    )


@pytest.mark.parametrize("index", ARRAYS, ids=repr)
def test_index_tensors_copy(index: tuple[Any, ...]) -> None:
    if index == ([[True, False, True]],):
        index = ([True, False, True],)
    x = leaf(3, 4, 5)
    y = x[index_on(index, lg.from_numpy)]
    plain = index_on(index, lambda a: a)
    np.testing.assert_array_equal(y.detach().numpy(), x.detach().numpy()[plain])
    assert not np.shares_memory(y.array, x.array) and not y._is_view() and y.is_contiguous()
    np.testing.assert_array_equal(x[plain].detach().numpy(), y.detach().numpy())
    y.sum().backward()
    expected = np.zeros((3, 4, 5))
    np.add.at(expected, plain, 1)
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_a_number_between_arrays_is_no_array() -> None:
    x = lg.zeros(2, 3, 4, 5)
    i = longs(0, 1)
    assert x[0, :, i].shape == (3, 2, 5)
    assert x[:, i, 0, i].shape == (2, 2)
    assert x[i, 0, :, i].shape == (2, 4)


def test_bools_add_a_dimension() -> None:
    x = leaf(3, 4)
    assert x[True].shape == (1, 3, 4) and x[False].shape == (0, 3, 4)
    assert x[0, True].shape == (1, 4) and x[lg.tensor(True)].shape == (1, 3, 4)
    x[True].sum().backward()
    assert (x.grad.numpy() == 1).all()


def test_masks() -> None:
    x = leaf(3, 4)
    values = x.detach().numpy()
    mask = x > 0
    np.testing.assert_array_equal(x[mask].detach().numpy(), values[mask.numpy()])
    rows = lg.tensor([True, False, True])
    np.testing.assert_array_equal(x[rows].detach().numpy(), values[[0, 2]])
    np.testing.assert_array_equal(x[rows, 1].detach().numpy(), values[[0, 2], 1])
    np.testing.assert_array_equal(x[rows, longs(0, 3)].detach().numpy(), values[[0, 2], [0, 3]])
    np.testing.assert_array_equal(x[:, np.array([True, False, False, True])].detach().numpy(), values[:, [0, 3]])
    empty = x[x > 1e9]
    assert empty.shape == (0,)
    empty.sum().backward()
    assert (x.grad.numpy() == 0).all()


def test_bytes_are_masks_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert lg.arange(3)[lg.tensor([1, 0, 1], dtype=lg.uint8)].tolist() == [0, 2]


def test_lists_of_lists_are_read_as_tuples_with_a_warning() -> None:
    x = lg.arange(12).reshape(3, 4)
    with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
        assert x[[[0, 1], [1, 2]]].tolist() == [1, 6]


def test_repeated_indices_add_up() -> None:
    for width, count in itertools.product((1, 3, 700), (1, 5, 300)):
        x, i = leaf(7, width), rng.integers(-7, 7, count)
        g = numbers(count, width)
        x[lg.from_numpy(i)].backward(lg.from_numpy(g))
        expected = np.zeros((7, width))
        np.add.at(expected, i, g)
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_half_precision_adds_in_single_precision() -> None:
    x = lg.ones(2, dtype=lg.float16).requires_grad_()
    x[lg.zeros(4096, dtype=lg.long)].sum().backward()
    assert x.grad.tolist() == [4096, 0]  # 2048 + 1 is 2048 in half precision


def test_changing_the_index_afterwards_changes_nothing() -> None:
    x, i = leaf(3), longs(0, 1)
    y = x[i]
    i += 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 0]


@pytest.mark.parametrize("kind", [lg.bool, lg.uint8, lg.int16, lg.int64, lg.float16, lg.bfloat16, lg.complex64])
def test_every_dtype(kind: Any) -> None:
    x = lg.arange(12).reshape(3, 4).to(kind)
    for index in (0, (slice(None), 1), ([0, 0],), (longs(1, 2), longs(0, 3))):
        assert x[index].dtype is kind
        assert x[index].tolist() == lg.arange(12).reshape(3, 4)[index].to(kind).tolist()
    x[longs(0, 2)] = x[1].clone()
    assert x[2].tolist() == x[1].tolist()


def test_gradients_of_reading() -> None:
    i, j = longs([0, 2, 2]), longs([[1], [0]])
    check_gradients(lambda x: x[1], (3, 2))
    check_gradients(lambda x: x[..., 1:, None], (2, 3))
    check_gradients(lambda x: x[i], (3, 2))
    check_gradients(lambda x: x[:, i], (2, 3))
    check_gradients(lambda x: x[i, j], (3, 2))
    check_gradients(lambda x: x[i, :, j], (3, 2, 2))
    check_gradients(lambda x: x[x.detach() > 0], (3, 2))
    check_gradients(lambda x: x.t()[i, 1:], (3, 3))


# -- writing ----------------------------------------------------------------------------------------------------------

WRITES: list[Any] = [*VIEWS, *ARRAYS[:-1], [0, 1], (True,), (True, 0)]


@pytest.mark.parametrize("index", WRITES, ids=repr)
@pytest.mark.parametrize("number", [True, False])
def test_writing(index: Any, number: bool) -> None:
    expected = np.asarray(numbers(3, 4, 5))
    base = lg.from_numpy(expected.copy()).requires_grad_()
    x = base * 1
    ours = index_on(index, lg.from_numpy) if isinstance(index, tuple) else index
    plain = index_on(index, lambda a: a) if isinstance(index, tuple) else index
    v: Any = 2.5 if number else leaf(*np.asarray(expected[plain]).shape)
    x[ours] = v
    expected[plain] = v if number else v.detach().numpy()
    np.testing.assert_array_equal(x.detach().numpy(), expected)
    assert x._version == 1
    g = numbers(3, 4, 5)
    x.backward(lg.from_numpy(g.copy()))
    if not number:
        np.testing.assert_array_equal(v.grad.numpy(), g[plain])
    g[plain] = 0
    np.testing.assert_array_equal(base.grad.numpy(), g)


def test_values_are_broadcast_and_cast() -> None:
    x = leaf(3, 4)
    y, v = x * 1, lg.tensor([1.0, 2.0, 3.0, 4.0], dtype=lg.float32).requires_grad_()
    y[1:] = v
    assert y[2].tolist() == [1, 2, 3, 4]
    y.sum().backward()
    assert v.grad.tolist() == [2, 2, 2, 2] and v.grad.dtype is lg.float32
    z = lg.zeros(2, 3)
    z[0] = lg.ones(1, 1, 3)
    assert z[0].tolist() == [1, 1, 1]
    n = lg.zeros(2, dtype=lg.long)
    n[0], n[1] = 1.9, lg.tensor(2.9)
    assert n.tolist() == [1, 2]


def test_a_write_shows_in_base_and_views_with_its_history() -> None:
    x = leaf(4)
    base = x * 1
    early, whole = base[:2], base.view(2, 2)
    v = leaf()
    whole[0, 1] = v
    np.testing.assert_array_equal(base[1].detach().numpy(), v.detach().numpy())
    assert "CopySlices" in base.grad_fn.name() and early._version == base._version == whole._version == 1
    (early * lg.tensor([1.0, 10.0], dtype=lg.float64)).sum().backward()
    assert v.grad.item() == 10 and x.grad.tolist() == [1, 0, 0, 0]


def test_writing_where_it_is_not_contiguous() -> None:
    x = leaf(3, 4)
    y = (x * 1).t()[::2]
    y[longs(1), longs(0, 2)] = 7.0
    y[0] = lg.zeros(3, dtype=lg.float64)
    expected = x.detach().numpy().T[::2].copy()
    expected[[1], [0, 2]], expected[0] = 7, 0
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    y._base.sum().backward()
    mask = np.ones((3, 4))
    mask[[0, 2], [2, 2]], mask[:, 0] = 0, 0
    np.testing.assert_array_equal(x.grad.numpy(), mask)


def test_a_value_from_the_same_memory() -> None:
    x = lg.arange(6.0).view(2, 3)
    x[:, longs(0, 2)] = x[:, 1:]  # with gaps between its elements, which is not refused
    assert x.tolist() == [[1, 1, 2], [4, 4, 5]]


def test_leaves_are_protected() -> None:
    x = leaf(3)
    for index in (0, slice(1, None), longs(0), x > 0, ...):
        with pytest.raises(
            RuntimeError, match="leaf Variable that requires grad is being used in an in-place operation"
        ):
            x[index] = 1.0
    assert x._version == 0
    x[False] = 1.0  # writes nothing
    with lg.no_grad():
        x[0] = 5.0
        x[longs(1)] = 6.0
        x[x > 100] = 7.0
    assert x[:2].tolist() == [5, 6] and x._version == 3 and x.is_leaf


def test_a_saved_value_that_is_overwritten_is_noticed() -> None:
    x = leaf(3)
    y = x * 1
    z = y * y
    y[0] = 1.0
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation") as caught:
        z.sum().backward()
    assert "y[0] = 1.0" in str(caught.value)


def test_gradients_of_writing() -> None:
    i, j = longs(2, 0), longs(1, 1)

    def writing(index: Any, into: Callable[[Any], Any] = lambda y: y) -> Callable[..., Any]:
        def f(x: Any, v: Any) -> Any:
            y = x * x
            into(y)[index] = v
            return y * y

        return f

    check_gradients(writing(1), (3, 2), (2,))
    check_gradients(writing((..., slice(0, 1))), (3, 2), (1,))
    check_gradients(writing(...), (3, 2), (2,))
    check_gradients(writing(i), (3, 2), (2,))
    check_gradients(writing((i, j)), (3, 2), ())
    check_gradients(writing((1, i), lambda y: y.t()), (3, 2), (2,))
    check_gradients(writing(lg.tensor([True, False, True])), (3, 2), (2, 2))
    check_gradients(writing(0, lambda y: y[1:].view(4)), (3, 2), ())


# -- what is refused --------------------------------------------------------------------------------------------------

X = "lg.zeros(3, 4)"
REFUSED = [
    ("x[5]", IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    ("x[0, -9]", IndexError, "index -9 is out of bounds for dimension 1 with size 4"),
    ("x[0, 0, 0]", IndexError, "too many indices for tensor of dimension 2"),
    ("x[longs(0, 7)]", IndexError, "index 7 is out of bounds for dimension 0 with size 3"),
    ("x[longs(0), longs(7)]", IndexError, "index 7 is out of bounds for dimension 1 with size 4"),
    ("x[longs(0, 1), longs(0, 1, 2)]", IndexError, "shape mismatch: indexing tensors could not be broadcast"),
    ("x[lg.tensor([True, False])]", IndexError, "The shape of the mask [2] at index 0 does not match the shape"),
    ("x[lg.tensor([0.5])]", IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    ("x[1.5]", IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables"),
    ("x['a']", TypeError, "new(): invalid data type 'str'"),
    ("x[::-1]", ValueError, "step must be greater than zero"),
    ("x[::0]", ValueError, "slice step cannot be zero"),
    ("x[0:1.5]", TypeError, "slice indices must be integers or None or have an __index__ method"),
    ("x[0, 0][0]", IndexError, "invalid index of a 0-dim tensor."),
    ("x[0, 0][:]", IndexError, "slice() cannot be applied to a 0-dim tensor."),
    ("x[0] = [1, 2, 3, 4]", TypeError, "can't assign a list to a torch.FloatTensor"),
    ("x[0] = np.ones(4)", TypeError, "can't assign a numpy.ndarray to a torch.FloatTensor"),
    ("x[0] = lg.ones(3)", RuntimeError, "The expanded size of the tensor (4) must match the existing size (3)"),
    ("x[longs(0)] = lg.ones(3)", RuntimeError, "shape mismatch: value tensor of shape [3] cannot be broadcast"),
    ("x[longs(0)] = lg.ones(4).double()", RuntimeError, "Index put requires the source and destination dtypes match"),
    ("x[0] = 1e50", RuntimeError, "value cannot be converted to type float without overflow"),
    ("x[0] = 1j", RuntimeError, "value cannot be converted to type float without overflow"),
    ("del x[0]", TypeError, "Tensor does not support deleting items"),
    ("x.index_select(0, longs(3))", IndexError, "index out of range in self"),
    ("x.gather(0, longs([[3]]))", RuntimeError, "index 3 is out of bounds for dimension 0 with size 3"),
    ("x.gather(0, longs(0))", RuntimeError, "Index tensor must have the same number of dimensions as input tensor"),
    ("x.scatter(0, longs([[0]]), lg.ones(1, 1).double())", RuntimeError, "scatter(): Expected self.dtype to be equal"),
    ("x.masked_fill(x, 1)", RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype float"),
    ("x.masked_select(x)", RuntimeError, "masked_select: expected BoolTensor for mask"),
    ("x.topk(5)", RuntimeError, "selected index k out of range"),
    ("F.embedding(longs(3), x)", IndexError, "index out of range in self"),
    ("F.one_hot(longs(-1))", RuntimeError, "Class values must be non-negative."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "error", "message"), REFUSED, ids=[line for line, _, _ in REFUSED])
def test_refusals(line: str, error: type[Exception], message: str) -> None:
    x = lg.zeros(3, 4)
    with pytest.raises(error) as caught:
        exec(line, {"x": x, "lg": lg, "np": np, "longs": longs, "F": F})
    assert str(caught.value).split("\n")[0].startswith(message)
    assert (x.numpy() == 0).all() and x._version == 0


def test_messages_name_the_line() -> None:
    x = lg.zeros(3, 4)
    with pytest.raises(IndexError) as caught:
        x[longs(0, 7)]
    assert "x[longs(0, 7)]" in str(caught.value) and "shape [3, 4]" in str(caught.value)


@pytest.mark.parametrize("see", [lambda x: x[0], lambda x: x[1:], lambda x: x[None], lambda x: x.view(-1, 1)])
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
def test_anomaly_mode_remembers_where_a_view_was_made(see: Any) -> None:
    x = lg.arange(3.0, requires_grad=True)
    assert not see(x).grad_fn.metadata
    with lg.autograd.detect_anomaly(check_nan=False):
        assert "test_indexing" in "".join(see(x).grad_fn.metadata["traceback_"])


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 2)])
def test_the_graph_shows_how_values_fit_an_index(shape: tuple[int, ...]) -> None:
    x, values = lg.zeros(3), lg.ones(shape, requires_grad=True) * 2
    x[lg.tensor([0, 2])] = values
    assert x.grad_fn.next_functions[1][0].name() == "ViewBackward0"
    x.sum().backward()
