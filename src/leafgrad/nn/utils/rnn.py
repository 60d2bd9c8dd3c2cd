"""leafgrad.nn.utils.rnn: sequences of several lengths, padded to one length or packed without padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.recurrent.packing import packed, padded_rows, places_of
from leafgrad.ops.shape.join import stack

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

NOT_SORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
    "need ONNX exportability."
)


class PackedSequence_(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """PackedSequence(data, batch_sizes=None, sorted_indices=None, unsorted_indices=None): the elements of several
    sequences, time step by time step; `batch_sizes` tells how many sequences have each step. The sequences are in order
    of length: `sorted_indices` sorts them so, `unsorted_indices` undoes it; None if they were sorted before. It is made
    by pack_padded_sequence and pack_sequence."""

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """to(*args, **kwargs): the same with data of another dtype or on another device, as Tensor.to."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """cpu(): itself."""
        return self.to(*args, **{"device": "cpu", **kwargs})

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """cuda(): refused, as for tensors."""
        return self.to(*args, **{"device": "cuda", **kwargs})

    def pin_memory(self) -> PackedSequence:
        """pin_memory(): refused, as for tensors."""
        return type(self)(*[None if t is None else t.pin_memory() for t in self])

    def double(self) -> PackedSequence:
        return self.to(dtype=_dtypes.float64)

    def float(self) -> PackedSequence:
        return self.to(dtype=_dtypes.float32)

    def half(self) -> PackedSequence:
        return self.to(dtype=_dtypes.float16)

    def long(self) -> PackedSequence:
        return self.to(dtype=_dtypes.int64)

    def int(self) -> PackedSequence:
        return self.to(dtype=_dtypes.int32)

    def short(self) -> PackedSequence:
        return self.to(dtype=_dtypes.int16)

    def char(self) -> PackedSequence:
        return self.to(dtype=_dtypes.int8)

    def byte(self) -> PackedSequence:
        return self.to(dtype=_dtypes.uint8)

    @property
    def is_cuda(self) -> bool:
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """invert_permutation(permutation): the permutation that undoes it; None of None."""
    if permutation is None:
        return None
    inverse = np.empty_like(permutation.array)
    inverse[permutation.array] = np.arange(inverse.size)
    made: Tensor = wrap(inverse)
    return made


# -- padded to packed -------------------------------------------------------------------------------------------------


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True): sequences that were padded to one
    length, (time, batch, ...), without the padding."""
    sizes: Any = lengths.array if isinstance(lengths, TensorBase) else np.asarray(list(lengths), np.int64)
    sizes = sizes.astype(np.int64)
    order: Any = None
    if not enforce_sorted:
        order = wrap(np.argsort(-sizes, kind="stable"))
        sizes = sizes[order.array]
        input = input.index_select(0 if batch_first else 1, order)
    padded = input.transpose(0, 1) if batch_first else input
    check_lengths(padded, sizes)
    at_each_time = (sizes[None, :] > np.arange(sizes[0])[:, None]).sum(1)
    data = packed(padded, places_of(at_each_time))
    return PackedSequence(data, wrap(at_each_time), order, None)


def check_lengths(padded: Tensor, sizes: Any) -> None:
    """Complain, in PyTorch's words, about lengths that are not those of the sequences."""
    if not padded.numel():
        raise errors.mistake(RuntimeError, "Cannot pack empty tensors.")
    if sizes.ndim != 1:
        first = f"'lengths' argument should be a 1D CPU int64 tensor, but got {sizes.ndim}D cpu Long tensor"
        raise errors.mistake(RuntimeError, first)
    longest, count = padded.size(0), padded.size(1)
    if len(sizes) != count:
        first = f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={count})"
        raise errors.mistake(RuntimeError, first)
    if (sizes[1:] > sizes[:-1]).any():
        raise errors.mistake(RuntimeError, NOT_SORTED)
    if sizes[-1] <= 0:
        first = "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        raise errors.mistake(RuntimeError, first)
    if sizes[0] > longest:
        first = f"Expected no sequence to be longer than the padded length, but got {sizes[0]} (padded to {longest})"
        raise errors.mistake(RuntimeError, first)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None): packed sequences padded
    to one length again, (time, batch, ...), and their lengths."""
    sizes = sequence.batch_sizes.array
    longest = len(sizes)
    if not longest:
        raise errors.mistake(RuntimeError, "batch_sizes can not be empty")
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    shape = (longest if total_length is None else total_length, int(sizes[0]))
    padded = padded_rows(sequence.data, places_of(sizes), shape, padding_value)
    lengths = wrap((sizes[:, None] > np.arange(sizes[0])[None, :]).sum(0))
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


# -- lists of sequences -----------------------------------------------------------------------------------------------


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side='right'): sequences (length, ...) as
    one tensor (time, batch, ...), padded to the length of the longest."""
    if not isinstance(sequences, Iterable):
        first = f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        raise errors.mistake(RuntimeError, first)
    each = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not each:
        raise errors.mistake(RuntimeError, "received an empty list of sequences")
    if padding_side not in ("left", "right"):
        first = f"Expected padding_side to be one of left or right, but got {padding_side}."
        raise errors.mistake(RuntimeError, first)
    longest = max([t.size(0) for t in each])
    padded = [of_length(t, longest, each[0], padding_value, padding_side == "left") for t in each]
    made: Tensor = stack.function(padded, 0 if batch_first else 1)
    return made


def of_length(sequence: Tensor, longest: int, first: Tensor, value: float, before: bool) -> Tensor:
    """A sequence padded to a length, in the dtype of the first one."""
    missing = longest - sequence.shape[0]
    if sequence.shape[1:] != first.shape[1:]:
        for dim, (own, other) in enumerate(zip(first.shape, sequence.shape, strict=False)):
            if dim and own != other:
                words = f"The size of tensor a ({own}) must match the size of tensor b ({other}) at non-singleton "
                raise errors.mistake(RuntimeError, f"{words}dimension {dim}")
    sequence = sequence.to(first.dtype)
    if not missing:
        return sequence
    time = np.arange(longest)[missing:] if before else np.arange(longest - missing)
    at = (time, np.zeros(len(time), np.int64))
    made: Tensor = padded_rows(sequence, at, (longest, 1), value)[:, 0]
    return made


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """unpad_sequence(padded_sequences, lengths, batch_first=False): the sequences of a padded tensor, one by one."""
    each = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(each, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """pack_sequence(sequences, enforce_sorted=True): a list of sequences (length, ...), packed."""
    lengths = wrap(np.asarray([sequence.shape[0] for sequence in sequences], np.int64))
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """unpack_sequence(packed_sequences): the list of sequences that pack_sequence got."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
