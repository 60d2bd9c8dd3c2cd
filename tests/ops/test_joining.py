"""Joining, splitting and rearranging tensors: values, views, gradients, versions, errors."""

from __future__ import annotations

import numpy as np
import pytest

import leafgrad as torch
from numeric_gradients import check_gradients


def numbers(*shape, grad=False):
    x = torch.arange(float(np.prod(shape)), dtype=torch.float64).reshape(shape)
    return x.clone().requires_grad_() if grad else x


def name(t):
    return type(t.grad_fn).__name__


def shares_memory(a, b):
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


# -- cat and stack ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_and_stack_are_numpys(dim):
    parts = [numbers(2, 3), numbers(2, 3) + 10, numbers(2, 3) * 2]
    arrays = [p.numpy() for p in parts]
    for function in (torch.cat, torch.concat, torch.concatenate):
        assert function(parts, dim).tolist() == np.concatenate(arrays, dim).tolist()
        assert function(tuple(parts), dim=dim).tolist() == function(parts, axis=dim).tolist()
    assert torch.stack(parts, dim).tolist() == np.stack(arrays, dim).tolist()
    assert torch.stack(parts, axis=dim).tolist() == np.stack(arrays, dim).tolist()


def test_relatives_of_cat_are_numpys():
    for shapes in ([(3,), (3,)], [(2, 3), (2, 3)], [(2, 3, 2), (2, 3, 2)], [(), ()]):
        parts = [numbers(*s) + i for i, s in enumerate(shapes)]
        arrays = [p.numpy() for p in parts]
        for which in ("hstack", "vstack", "dstack", "column_stack"):
            assert getattr(torch, which)(parts).tolist() == getattr(np, which)(arrays).tolist()
        assert torch.row_stack(parts).tolist() == np.vstack(arrays).tolist()


def test_atleast():
    for n in (1, 2, 3):
        ours, numpys = getattr(torch, f"atleast_{n}d"), getattr(np, f"atleast_{n}d")
        for shape in ((), (3,), (2, 3), (2, 3, 4)):
            assert ours(numbers(*shape)).tolist() == numpys(numbers(*shape).numpy()).tolist()
        several = ours(numbers(), numbers(2))
        assert isinstance(several, tuple)
        assert [t.tolist() for t in several] == [t.tolist() for t in ours([numbers(), numbers(2)])]


def test_old_empty_tensors_fit_everywhere():
    empty = torch.zeros(0, dtype=torch.float64, requires_grad=True)
    x = numbers(2, 3, grad=True)
    y = torch.cat([empty, x, empty], 1)
    assert y.tolist() == x.tolist()
    y.sum().backward()
    assert empty.grad.shape == (0,)
    assert x.grad.tolist() == [[1.0] * 3] * 2
    assert torch.cat([empty, empty], 1).shape == (0,)
    assert torch.cat([torch.zeros(0), torch.zeros(2, 3)], -1).shape == (2, 3)
    assert torch.cat([torch.zeros(2, 0), torch.zeros(2, 3)], 1).shape == (2, 3)


def test_dtypes_are_promoted():
    cases = [
        (torch.float32, torch.float64, torch.float64),
        (torch.int32, torch.float32, torch.float32),
        (torch.bool, torch.int32, torch.int32),
        (torch.float16, torch.bfloat16, torch.float32),
        (torch.complex64, torch.float64, torch.complex128),
    ]
    for a, b, expected in cases:
        parts = [torch.ones(2, dtype=a), torch.ones(2, dtype=b)]
        assert torch.cat(parts).dtype is expected
        assert torch.stack(parts).dtype is expected
    assert torch.stack([torch.tensor(1), torch.tensor(1.5)]).tolist() == [1.0, 1.5]


def test_gradients_come_back_in_the_dtype_of_the_input():
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, dtype=torch.float64, requires_grad=True)
    (torch.cat([a, b]) * torch.arange(4)).sum().backward()
    assert a.grad.dtype is torch.float32
    assert a.grad.tolist() == [0, 1]
    assert b.grad.tolist() == [2, 3]


def test_the_same_tensor_twice():
    x = numbers(2, grad=True)
    (torch.cat([x, x]) * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [4, 6]


# -- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "bool", "complex64", "float16"])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (3, 1, 2), (2, 3, 2, 2), (2, 0, 2)])
def test_stack_of_all_layouts_is_numpys(shape, kind):
    x = np.arange(int(np.prod(shape))).reshape(shape).astype(kind)
    for part in (x, x.T, x[..., ::-1] if shape else x, x[::2] if shape else x, np.broadcast_to(x, (2, *shape))):
        parts = [torch.from_numpy(part.copy()) if 0 in part.strides else torch.from_numpy(part.copy(order="K"))]
        parts = [parts[0], parts[0] if part.dtype == bool else parts[0] * 2, parts[0].clone()]
        arrays = [t.numpy() for t in parts]
        for dim in range(-part.ndim - 1, part.ndim + 1):
            found = torch.stack(parts, dim)
            np.testing.assert_array_equal(found.numpy(), np.stack(arrays, dim))
            assert found.is_contiguous() or part.ndim > 3


def test_stack_refuses_other_shapes():
    for shapes in (((2, 3), (3, 2)), ((2,), (3,)), ((2,), (2, 1)), ((2, 3), (2, 4))):
        with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size, but got"):
            torch.stack([torch.zeros(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda a, b: torch.cat([a, b]), [(2, 3), (1, 3)]),
        (lambda a, b, c: torch.cat([a, b, c], -1), [(2, 3), (2, 1), (2, 0)]),
        (lambda a, b: torch.stack([a, b, a], 1), [(2, 3), (2, 3)]),
        (lambda a, b: torch.stack([a, b]), [(), ()]),
        (lambda a, b: torch.column_stack([a, b]), [(2,), (2, 2)]),
        (lambda x: x.split(2), [(5, 2)]),
        (lambda x: x.split([1, 0, 3], -1), [(2, 4)]),
        (lambda x: x.split(2)[1], [(5, 2)]),
        (lambda x: (x.split(2)[0] * x.split(2)[1], x.split(2)[2]), [(5,)]),
        (lambda x: x.chunk(3, 1)[::2], [(2, 5)]),
        (lambda x: x.unbind(1)[2] * x.unbind(1)[0], [(2, 3)]),
        (lambda x: x.unbind(), [(3,)]),
        (lambda x: x.tensor_split(3), [(5, 2)]),
        (lambda x: x.tensor_split((1, 4), 1), [(2, 6)]),
        (lambda x: x.select(1, -1), [(2, 3)]),
        (lambda x: x.narrow(0, 1, 2), [(4, 2)]),
        (lambda x: x.diagonal(), [(3, 4)]),
        (lambda x: x.diagonal(-1, 2, 0), [(3, 2, 4)]),
        (lambda x: x.movedim((0, 1), (2, 0)), [(2, 3, 4)]),
        (lambda x: x.repeat(2, 1, 3), [(2, 3)]),
        (lambda x: x.tile(2), [(2, 3)]),
        (lambda x: x.repeat(()), [()]),
        (lambda x: x.flip(0, 1), [(2, 3)]),
        (lambda x: x.roll((1, -1), (0, 1)), [(2, 3)]),
        (lambda x: x.roll(2), [(2, 3)]),
        (lambda x: torch.rot90(x, 3), [(2, 3)]),
        (lambda x: x.unflatten(1, (2, -1)), [(2, 6)]),
        (lambda a, b: torch.broadcast_tensors(a, b), [(3, 1), (2,)]),
        (lambda x: torch.broadcast_to(x, (2, 3, 2)), [(3, 1)]),
        (lambda x: x.broadcast_to(2, 3, 2), [(3, 1)]),
        (lambda x: x.broadcast_to(size=(3, 2)), [(3, 1)]),
    ],
)
def test_gradients(function, shapes):
    check_gradients(function, *shapes)


def test_gradients_of_some_pieces_only():
    x = numbers(6, grad=True)
    a, _, c = x.split(2)
    (a * 2 + c * 3).sum().backward()
    assert x.grad.tolist() == [2, 2, 0, 0, 3, 3]
    x.grad = None
    x.unbind()[4].backward()
    assert x.grad.tolist() == [0, 0, 0, 0, 1, 0]
    assert [g.tolist() for g in torch.autograd.grad(x.chunk(4)[1].sum(), x)] == [[0, 0, 1, 1, 0, 0]]


def test_pieces_used_several_times():
    x = numbers(4, grad=True)
    a, b = x.split(2)
    (a * a * b + a).sum().backward()
    assert x.grad.tolist() == [2 * 0 * 2 + 1, 2 * 1 * 3 + 1, 0, 1]


def test_complex_numbers_are_moved_as_they_are():
    x = torch.tensor([1 + 2j, 3 - 1j, 2j], requires_grad=True)
    g = torch.tensor([1 - 1j, 2 + 3j, 5j])
    torch.cat([x[:1], x[1:]]).backward(g)
    assert x.grad.tolist() == g.tolist()
    x.grad = None
    torch.stack(x.unbind()).backward(g)
    assert x.grad.tolist() == g.tolist()
    x.grad = None
    x.flip(0).backward(g)
    assert x.grad.tolist() == g.flip(0).tolist()


# -- views ------------------------------------------------------------------------------------------------------------

VIEWS = {
    "split": lambda x: x.split(2),
    "split sizes": lambda x: x.split([1, 3]),
    "split_with_sizes": lambda x: x.split_with_sizes([3, 1], 0),
    "chunk": lambda x: x.chunk(2),
    "unbind": lambda x: x.unbind(),
    "unbind 1": lambda x: x.unbind(1),
    "tensor_split": lambda x: x.tensor_split(3),
    "select": lambda x: (x.select(1, 2),),
    "narrow": lambda x: (x.narrow(1, 1, 2),),
    "diagonal": lambda x: (x.diagonal(1),),
    "movedim": lambda x: (x.movedim(0, 1),),
    "swapaxes": lambda x: (x.swapaxes(0, 1),),
    "expand_as": lambda x: (x.expand_as(torch.zeros(2, 4, 3)),),
    "view_as": lambda x: (x.view_as(torch.zeros(3, 4)),),
    "unflatten": lambda x: (x.unflatten(0, (2, 2)),),
}
ONE_OF_MANY = ("split", "split sizes", "split_with_sizes", "chunk", "unbind", "unbind 1")


@pytest.mark.parametrize("which", VIEWS)
def test_views_share_memory_version_and_base(which):
    x = torch.zeros(4, 3, dtype=torch.float64)
    for piece in VIEWS[which](x):
        assert shares_memory(piece, x)
        assert piece._base is x
        assert piece._is_view()
    pieces = VIEWS[which](x)
    before = x._version
    x.add_(1)
    assert pieces[0]._version == x._version == before + 1
    assert pieces[0].sum().item() == pieces[0].numel()
    if which != "expand_as":
        pieces[-1].mul_(5)
        assert x._version == before + 2
        assert x.sum().item() == x.numel() + 4 * pieces[-1].numel()


@pytest.mark.parametrize("which", VIEWS)
def test_a_view_of_a_single_number_is_a_view(which):
    x = torch.zeros(4, 3)
    vector = torch.zeros(3)
    assert x.select(0, 1).select(0, 2)._base is x
    part = vector.unbind()[1]
    part.fill_(7)
    assert vector.tolist() == [0, 7, 0]


def test_changing_a_slice_in_place_gives_both_histories():
    x = numbers(4, grad=True)
    y = x * 1
    part = y.narrow(0, 1, 2)
    part.mul_(x[:2] + 1)
    assert name(part) == "AsStridedBackward0"
    assert name(y) == "CopySlices"
    (y * torch.tensor([1.0, 10.0, 100.0, 1000.0], dtype=torch.float64)).sum().backward()
    # y = [x0, x1 (x0 + 1), x2 (x1 + 1), x3]
    assert x.grad.tolist() == [1 + 10 * 1, 10 * (0 + 1) + 100 * 2, 100 * (1 + 1), 1000]
    x.grad = None
    y = x * 1
    first = y.select(0, 0)
    y.mul_(3)
    first.add_(x[3])
    first.backward()
    assert x.grad.tolist() == [3, 0, 0, 1]


@pytest.mark.parametrize("which", ONE_OF_MANY)
def test_one_of_many_views_cannot_be_changed(which):
    x = torch.ones(4, 3, requires_grad=True)
    y = x * 1
    piece = VIEWS[which](y)[1]
    before = y.tolist()
    with pytest.raises(RuntimeError, match=r"Output 1 of \w+ is a view and is being modified inplace. This view is"):
        piece.mul_(2)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        piece.view(-1).add_(1)
    assert y.tolist() == before
    with pytest.raises(RuntimeError, match=r"Output 0 of \w+ is a view and is being modified inplace"):
        VIEWS[which](x)[0].add_(1)


@pytest.mark.parametrize("which", ONE_OF_MANY)
def test_one_of_many_views_does_not_follow_its_base(which):
    y = torch.ones(4, 3, requires_grad=True) * 1
    piece = VIEWS[which](y)[0]
    early = piece.sum()
    y.mul_(2)
    assert "grad_fn=<Invalid>" in repr(piece)
    with pytest.raises(RuntimeError, match="is a view and its base or another view of its base has been modified inpl"):
        piece * 2
    early.backward()  # what was computed before is as good as ever
    with torch.no_grad():
        assert (piece + 1).flatten()[0].item() == 3


@pytest.mark.parametrize("which", ONE_OF_MANY)
def test_one_of_many_views_can_be_changed_without_gradients(which):
    x = torch.ones(4, 3)
    pieces = VIEWS[which](x)
    pieces[0].mul_(2)
    assert x.sum().item() == 12 + pieces[0].numel()
    with pytest.raises(RuntimeError, match="is being modified inplace"):
        pieces[0].mul_(torch.ones((), requires_grad=True))
    assert x.sum().item() == 12 + pieces[0].numel()
    leaf = torch.ones(4, 3, requires_grad=True)
    with torch.no_grad():
        VIEWS[which](leaf)[0].mul_(2)
    assert leaf.sum().item() > 12


def test_names_in_the_graph():
    x = torch.ones(4, 2, requires_grad=True)
    assert [name(t) for t in x.split(2)] == ["SplitBackward0"] * 2
    assert [t.output_nr for t in x.split(2)] == [0, 1]
    assert x.split(2)[0].grad_fn is not x.split(2)[0].grad_fn
    a, b = x.split(2)
    assert a.grad_fn is b.grad_fn
    assert name(x.split([2, 2])[0]) == "SplitWithSizesBackward0"
    assert name(x.chunk(2)[0]) == "SplitBackward0"
    assert name(x.unbind()[0]) == "UnbindBackward0"
    assert name(x.tensor_split(2)[0]) == name(x.narrow(0, 0, 1)) == "SliceBackward0"
    assert name(torch.cat([x])) == "CatBackward0"
    assert name(torch.stack([x])) == "StackBackward0"
    assert name(x.repeat(2, 1)) == name(x.tile(2)) == "RepeatBackward0"


def test_iteration_is_unbind():
    x = numbers(3, 2, grad=True)
    rows = list(x)
    assert name(rows[0]) == "UnbindBackward0"
    (rows[0] * rows[2]).sum().backward()
    assert x.grad.tolist() == [[4, 5], [0, 0], [0, 1]]


# -- splitting --------------------------------------------------------------------------------------------------------


def test_sizes_of_pieces():
    shapes = lambda pieces: [tuple(p.shape) for p in pieces]
    x = torch.zeros(5, 2)
    assert isinstance(x.split(2), tuple)
    assert shapes(x.split(2)) == [(2, 2), (2, 2), (1, 2)]
    assert shapes(x.split(split_size=2, dim=1)) == shapes(x.split(9)) == [(5, 2)]
    assert shapes(torch.split(x, split_size_or_sections=[2, 3])) == [(2, 2), (3, 2)]
    assert shapes(x.chunk(4)) == [(2, 2), (2, 2), (1, 2)]
    assert shapes(x.chunk(9)) == [(1, 2)] * 5
    assert shapes(torch.zeros(0, 2).chunk(3)) == [(0, 2)] * 3
    assert shapes(torch.zeros(0, 2).split(0)) == shapes(torch.zeros(0, 2).split(3)) == [(0, 2)]
    assert shapes(x.tensor_split(3)) == [(2, 2), (2, 2), (1, 2)]
    assert shapes(x.tensor_split((3, 1))) == [(3, 2), (0, 2), (4, 2)]
    assert shapes(x.tensor_split((-2, 9))) == [(3, 2), (2, 2), (0, 2)]
    assert shapes(x.tensor_split(torch.tensor([1, 2]))) == [(1, 2), (1, 2), (3, 2)]
    assert shapes(torch.zeros(2, 0).unbind()) == [(0,), (0,)]
    assert torch.zeros(0, 2).unbind() == ()


def test_rearranging_is_numpys():
    x = numbers(2, 3, 4)
    a = x.numpy()
    assert x.movedim(0, 2).tolist() == np.moveaxis(a, 0, 2).tolist() == x.moveaxis(0, 2).tolist()
    assert x.movedim((0, 1), (2, 0)).tolist() == np.moveaxis(a, (0, 1), (2, 0)).tolist()
    assert x.swapaxes(0, 2).tolist() == x.swapdims(0, 2).tolist() == np.swapaxes(a, 0, 2).tolist()
    assert x.repeat(1, 2, 3).tolist() == x.tile(2, 3).tolist() == np.tile(a, (2, 3)).tolist()
    assert x.repeat(2, 1, 1, 1).tolist() == np.tile(a, (2, 1, 1, 1)).tolist()
    assert x.flip(0, -1).tolist() == np.flip(a, (0, 2)).tolist() == torch.flip(x, dims=(0, 2)).tolist()
    assert torch.fliplr(x).tolist() == np.fliplr(a).tolist()
    assert torch.flipud(x).tolist() == np.flipud(a).tolist()
    assert x.roll(5).tolist() == np.roll(a, 5).tolist()
    assert x.roll((1, -2), (0, 2)).tolist() == np.roll(a, (1, -2), (0, 2)).tolist()
    assert torch.rot90(x, 1, (1, 2)).tolist() == np.rot90(a, 1, (1, 2)).tolist()
    assert x.diagonal(1, 1, 2).tolist() == np.diagonal(a, 1, 1, 2).tolist()
    assert [t.shape for t in torch.broadcast_tensors(x, torch.zeros(5, 1, 1, 1))] == [(5, 2, 3, 4)] * 2
    assert torch.broadcast_tensors() == ()


# -- errors -----------------------------------------------------------------------------------------------------------

z = torch.zeros


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: torch.cat([]), ValueError, r"torch.cat\(\): expected a non-empty list of Tensors"),
        (lambda: torch.cat(z(2)), TypeError, r"cat\(\): argument 'tensors' \(position 1\) must be tuple of Tensors,"),
        (lambda: torch.cat([z(2), 3]), TypeError, r"expected Tensor as element 1 in argument 0, but got int"),
        (lambda: torch.cat([z(2), z(())]), RuntimeError, r"zero-dimensional tensor \(at position 1\) cannot be"),
        (lambda: torch.cat([z(2, 3), z(2)]), RuntimeError, r"Tensors must have same number of dimensions: got 2 and 1"),
        (lambda: torch.cat([z(2, 3)], 2), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\]"),
        (lambda: torch.stack([]), RuntimeError, r"stack expects a non-empty TensorList"),
        (lambda: torch.stack([z(2), z(3)]), RuntimeError, r"stack expects each tensor to be equal size, but got"),
        (lambda: torch.stack([z(2)], 2), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\]"),
        (lambda: torch.hstack([]), RuntimeError, r"hstack expects a non-empty TensorList"),
        (lambda: z(5).split(-1), RuntimeError, r"split expects split_size be non-negative, but got split_size=-1"),
        (lambda: z(5).split(0), RuntimeError, r"split_size can only be 0 if dimension size is 0, but got dimension"),
        (lambda: z(5).split([2, 2]), RuntimeError, r"split_with_sizes expects split_sizes to sum exactly to 5"),
        (lambda: z(5).split([6, -1]), RuntimeError, r"split_with_sizes expects split_sizes have only non-negative ent"),
        (lambda: z(5).split(2.5), TypeError, r"split_with_sizes\(\): argument 'split_sizes' \(position 2\) must be tu"),
        (lambda: z(5).split([2.0, 3]), TypeError, r"but found element of type float at pos 0"),
        (lambda: z(()).split(1), RuntimeError, r"split expects at least a 1-dimensional tensor"),
        (lambda: z(5).chunk(0), RuntimeError, r"chunk expects `chunks` to be greater than 0, got: 0"),
        (lambda: z(()).chunk(1), RuntimeError, r"chunk expects at least a 1-dimensional tensor"),
        (lambda: z(5).tensor_split(0), RuntimeError, r"number of sections must be larger than 0, got 0"),
        (lambda: z(()).unbind(), IndexError, r"Dimension specified as 0 but tensor has no dimensions"),
        (lambda: z(3, 2).select(0, 3), IndexError, r"select\(\): index 3 out of range for tensor of size \[3, 2\] at"),
        (lambda: z(()).select(0, 0), IndexError, r"select\(\) cannot be applied to a 0-dim tensor."),
        (lambda: z(3).narrow(0, 1, 3), RuntimeError, r"start \(1\) \+ length \(3\) exceeds dimension size \(3\)."),
        (lambda: z(3).narrow(0, 4, 0), IndexError, r"start out of range \(expected to be in range of \[-3, 3\], but g"),
        (lambda: z(3).narrow(0, 0, -1), RuntimeError, r"narrow\(\): length must be non-negative."),
        (lambda: z(2, 3).diagonal(0, 1, 1), RuntimeError, r"diagonal dimensions cannot be identical 1, 1"),
        (lambda: z(2, 3).movedim((0, 0), (0, 1)), RuntimeError, r"movedim: repeated dim in `source` \(\[0, 0\]\)"),
        (lambda: z(2, 3).movedim((0, 1), 0), RuntimeError, r"movedim: Invalid source or destination dims: source \("),
        (lambda: z(2, 3).expand_as((2, 3)), TypeError, r"expand_as\(\): argument 'other' \(position 1\) must be"),
        (lambda: z(2, 6).unflatten(1, (2, 2)), RuntimeError, r"unflatten: Provided sizes \[2, 2\] don't multiply up"),
        (lambda: z(2, 6).unflatten(1, ()), RuntimeError, r"unflatten: sizes must be non-empty"),
        (lambda: z(2, 3).repeat(2), RuntimeError, r"Number of dimensions of repeat dims can not be smaller than"),
        (lambda: z(2, 3).repeat(-1, 2), RuntimeError, r"Trying to create tensor with negative dimension -2: \[-2, 6\]"),
        (lambda: z(2, 3).flip(0, 0), RuntimeError, r"dim 0 appears multiple times in the list of dims"),
        (lambda: torch.fliplr(z(2)), RuntimeError, r"Input must be >= 2-d."),
        (lambda: z(2, 3).roll((1, 2)), RuntimeError, r"shifts and dimensions must align. shifts: 2, dims:0"),
        (lambda: torch.rot90(z(2)), RuntimeError, r"expected total dims >= 2, but got total dims = 1"),
        (lambda: torch.broadcast_tensors(z(2), z(3)), RuntimeError, r"The size of tensor a \(2\) must match the size"),
    ],
)
def test_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_an_error_of_cat_names_the_tensor_and_both_sizes():
    a, b = z(2, 3), z(3, 2)
    with pytest.raises(RuntimeError) as caught:
        torch.cat([a, b], 1)  # this line
    text = str(caught.value)
    assert text.split("\n")[0] == (
        "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for tensor number 1 in the "
        "list."
    )
    assert "'a' [2, 3], 'b' [3, 2] along dimension 1" in text
    assert "dimension 0 of tensor number 1 is 3, not 2" in text
    assert "torch.cat([a, b], 1)" in text


def test_arguments_by_name():
    x = z(2, 3)
    assert x.permute(dims=(1, 0)).shape == torch.permute(x, dims=(1, 0)).shape == (3, 2)
    assert x.view(size=(3, 2)).shape == torch.reshape(x, shape=(3, 2)).shape == (3, 2)
    assert x.expand(size=(4, 2, 3)).shape == (4, 2, 3)
    assert x.repeat(repeats=(2, 1)).shape == x.tile(dims=(2, 1)).shape == (4, 3)
    assert torch.flip(input=x, dims=(0,)).shape == x.movedim(source=0, destination=0).shape == (2, 3)
    assert len(x.split(split_size=1, dim=1)) == len(torch.split(tensor=x, split_size_or_sections=1, dim=1)) == 3
    assert torch.narrow(x, dim=1, start=1, length=2).shape == (2, 2)
    assert torch.select(x, dim=0, index=0).shape == (3,)
    assert torch.cat(tensors=[x, x], dim=1).shape == (2, 6)
    assert torch.stack(tensors=[x, x], dim=1).shape == (2, 2, 3)
