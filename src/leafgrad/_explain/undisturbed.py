"""Running a model so that nothing of it is changed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from leafgrad import random
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.grad_mode import no_grad


class Attributes:
    """The attributes of a module as they are now; lists, sets and dictionaries with what is in them."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.values = dict(vars(module))
        self.contents = {name: value.copy() for name, value in self.values.items() if is_collection(value)}
        self.buffers = [(t, t.array.copy(), list(t.version)) for t in module._buffers.values() if t is not None]

    def restore(self) -> None:
        for name, content in self.contents.items():
            collection: Any = self.values[name]
            if isinstance(collection, list):
                collection[:] = content
            else:
                collection.clear()
                collection.update(content)
        own = vars(self.module)
        own.clear()
        own.update(self.values)
        for t, array, version in self.buffers:
            if t.version != version:
                t.array[...] = array
                t.version[:] = version  # its numbers are what they were, also to a graph that has saved them


def is_collection(value: Any) -> bool:
    return isinstance(value, dict | set | list)


@contextmanager
def undisturbed(model: Any) -> Iterator[None]:
    """Inside, a model is in evaluation mode and nothing is recorded. At the end its attributes, buffers, training flags
    and hooks, and the random numbers that come next, are what they were."""
    before = [Attributes(module) for module in model.modules()]
    numbers = random.get_rng_state()
    try:
        for one in before:
            one.module.training = False
        with no_grad():
            yield
    finally:
        random.set_rng_state(numbers)
        for one in before:
            one.restore()


def copied(value: Any) -> Any:
    """An argument for a model that must not change the user's: tensors are copied."""
    if isinstance(value, TensorBase):
        return value.detach().clone()  # type: ignore[attr-defined]
    if type(value) in (list, tuple):
        return type(value)([copied(one) for one in value])
    if type(value) is dict:
        return {key: copied(one) for key, one in value.items()}
    return value
