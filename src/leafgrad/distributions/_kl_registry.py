"""Which function computes the Kullback-Leibler divergence of two distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import Tensor, errors
from leafgrad.distributions.distribution import Distribution

Pair = tuple[type, type]
Divergence = Callable[[Any, Any], Tensor]

_KL_REGISTRY: dict[Pair, Divergence] = {}
found: dict[Pair, Divergence | None] = {}  # what was looked for


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """register_kl(type_p, type_q): decorates the function of (p, q) that computes the divergence for these classes and
    those below them."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def register(function: Divergence) -> Divergence:
        _KL_REGISTRY[type_p, type_q] = function
        found.clear()
        return function

    return register


def depth(cls: type, above: type) -> int:
    return cls.__mro__.index(above)


def find(p: type, q: type) -> Divergence | None:
    """The function for the nearest classes. Which pair is nearest may depend on whether p or q counts first."""
    matches = [(a, b) for a, b in _KL_REGISTRY if issubclass(p, a) and issubclass(q, b)]
    if not matches:
        return None
    left = min(matches, key=lambda pair: (depth(p, pair[0]), depth(q, pair[1])))
    right = min(matches, key=lambda pair: (depth(q, pair[1]), depth(p, pair[0])))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        errors.warn(
            f"Ambiguous kl_divergence({p.__name__}, {q.__name__}). "
            f"Please register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """kl_divergence(p, q): the expectation of log(p(x) / q(x)) for x of p, for each distribution of the batch."""
    pair = type(p), type(q)
    if pair not in found:
        found[pair] = find(*pair)
    function = found[pair]
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return function(p, q)
