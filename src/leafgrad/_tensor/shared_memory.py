"""Memory that several processes see: `share_memory_`, and how such a tensor reaches another process.

The memory is a file without a name, mapped into this process. A process that is forked has it as well; one that is
spawned, or that gets the tensor through a queue, gets the file, and maps it for itself.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from multiprocessing import reduction
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.overrides import written_in_python
from leafgrad._core.tensor import links, wrap
from leafgrad._dtypes import from_numpy_dtype
from leafgrad._layouts import is_dense, row_major_steps
from leafgrad.ops.signature import Tensor, by_name, declared


class SharedMemory(mmap.mmap):
    """A mapped file, which is closed when the last array that lies in it is gone."""

    file: int

    def __del__(self) -> None:
        os.close(self.file)


def mapped(file: int, size: int) -> SharedMemory:
    memory = SharedMemory(file, size)
    memory.file = file
    return memory


def memory_of(array: Any) -> SharedMemory | None:
    """The shared memory that an array lies in."""
    owner = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, SharedMemory) else None


@declared()
def share_memory_(self: Tensor) -> Tensor:
    """share_memory_(): move the elements to memory that other processes can see. A process that gets the tensor then
    sees changes, and makes them for all. Views that were made before keep the old memory."""
    array = self.array
    if memory_of(array) is not None:
        return self
    if self._is_view():
        raise errors.mistake(
            NotImplementedError,
            "leafgrad shares the memory of whole tensors, and this is a view of another one",
            ("tensor", errors.describe(self)),
            fix="x = x.clone().share_memory_()   # or share the tensor that it is a view of",
        )
    if not hasattr(os, "memfd_create"):
        raise NotImplementedError("leafgrad shares the memory of tensors with other processes on Linux only")
    size = max(array.nbytes, 1)
    file = os.memfd_create("leafgrad")
    os.truncate(file, size)
    steps = array.strides if is_dense(array) else [n * array.itemsize for n in row_major_steps(array.shape)]
    shared: Any = np.ndarray(array.shape, array.dtype, mapped(file, size), 0, tuple(steps))
    shared[...] = array
    self.data = wrap(shared)
    register_with_pickle()
    return self


@written_in_python
@declared()
def is_shared(self: Tensor) -> bool:
    """is_shared(): do the elements lie in memory that other processes can see?"""
    return memory_of(self.array) is not None


# -- to another process -----------------------------------------------------------------------------------------------


def register_with_pickle() -> None:
    """From the first shared tensor on, multiprocessing sends shared tensors as files."""
    pickler: Any = reduction.ForkingPickler
    for kind in (links.tensor_class, *links.tensor_class.__subclasses__()):
        if kind not in pickler._extra_reducers:
            pickler.register(kind, reduced)


def reduced(tensor: Any) -> Any:
    """How multiprocessing pickles a tensor."""
    array = tensor.array
    memory = memory_of(array)
    if memory is None:
        return tensor.__reduce_ex__(2)
    first: Any = np.frombuffer(memory, np.uint8)
    offset = array.__array_interface__["data"][0] - first.__array_interface__["data"][0]
    dtype = from_numpy_dtype(array.dtype)
    place = len(memory), offset, array.shape, array.strides
    return received, (type(tensor), reduction.DupFd(memory.file), dtype, *place, tensor.requires_grad)


def received(kind: Any, file: Any, dtype: Any, size: int, offset: int, shape: Any, strides: Any, grad: bool) -> Any:
    """The same tensor in the process that gets it."""
    array: Any = np.ndarray(shape, dtype.np, mapped(file.detach(), size), offset, strides)
    return links.tensor_class._make_subclass(kind, wrap(array), grad)


METHODS: dict[str, Callable[..., Any]] = by_name(share_memory_, is_shared)
