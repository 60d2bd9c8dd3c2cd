"""Two tensors that change places: each object becomes the other tensor, for all who hold on to it."""

from __future__ import annotations

from typing import Any


def swap_tensors(t1: Any, t2: Any) -> None:
    """swap_tensors(t1, t2): exchange two tensors with all that belongs to them: memory, gradient, hooks, class and
    attributes."""
    t1.array, t2.array = t2.array, t1.array
    t1.node, t2.node = t2.node, t1.node
    t1.needs_grad, t2.needs_grad = t2.needs_grad, t1.needs_grad
    t1.version, t2.version = t2.version, t1.version
    t1._grad, t2._grad = t2._grad, t1._grad
    t1.rare, t2.rare = t2.rare, t1.rare
    classes = type(t1), type(t2)
    if classes[0] is not classes[1]:
        t1.__class__, t2.__class__ = classes[1], classes[0]
    own = [getattr(t, "__dict__", {}) for t in (t1, t2)]
    kept = [dict(each) for each in own]
    for t, each, other in zip((t1, t2), own, reversed(kept)):
        each.clear()
        for name, value in other.items():
            setattr(t, name, value)
