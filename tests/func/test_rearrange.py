"""rearrange: dimensions by the names of a pattern."""

from __future__ import annotations

import pytest

import leafgrad as torch
from leafgrad.func import grad, rearrange, vmap
from leafgrad.func.rearrange import DimensionBindError

X = torch.arange(24.0).reshape(2, 3, 4)

SAME = [
    ("a b c -> a b c", {}, X),
    ("a b c -> (a b) c", {}, X.reshape(6, 4)),
    ("a b c -> c (b a)", {}, X.permute(2, 1, 0).reshape(4, 6)),
    ("a ... -> ... a", {}, X.permute(1, 2, 0)),
    ("a ... -> a (...)", {}, X.reshape(2, 12)),
    ("... c -> c ...", {}, X.permute(2, 0, 1)),
    ("a b c ... -> c b a ...", {}, X.permute(2, 1, 0)),
    ("a b (c d) -> d a b c", {"c": 2}, X.reshape(2, 3, 2, 2).permute(3, 0, 1, 2)),
    ("a b (c d e) -> a b c d e", {"c": 2, "e": 2}, X.reshape(2, 3, 2, 1, 2)),
    ("a b c -> a 1 b c ()", {}, X.reshape(2, 1, 3, 4, 1)),
]


@pytest.mark.parametrize(("pattern", "sizes", "expected"), SAME, ids=[pattern for pattern, *_ in SAME])
def test_patterns(pattern: str, sizes: dict[str, int], expected: torch.Tensor) -> None:
    found = rearrange(X, pattern, **sizes)
    assert found.shape == expected.shape and torch.equal(found, expected)


def test_several_tensors_unnamed_dimensions_and_derivatives() -> None:
    assert torch.equal(rearrange([X, X + 1], "n a b c -> a (n b) c"), torch.cat([X, X + 1], 1))
    assert rearrange(X[:1], "1 b c -> c b").shape == (4, 3)
    assert rearrange(torch.tensor(3.0), " -> ") == 3
    assert vmap(lambda x: rearrange(x, "(p q) c -> q (p c)", p=1))(X).shape == (2, 3, 4)
    weights = torch.arange(24.0).reshape(4, 6)
    gradient = grad(lambda x: (rearrange(x, "a b c -> c (a b)") * weights).sum())(X)
    assert torch.equal(gradient, rearrange(weights, "c (a b) -> a b c", a=2))


REFUSED = [
    ("a b c - a b c", {}, ValueError, "single '->' separator"),
    ("a b -> a b", {}, ValueError, r"pattern \(2\) must be equal to the number of dimensions in the tensor \(3\)"),
    ("a b c d ... -> a b c d ...", {}, ValueError, "must be less than or equal to"),
    ("a b c -> a b", {}, ValueError, "Identifiers only on one side"),
    ("a a c -> a c", {}, ValueError, "duplicate dimension 'a'"),
    ("a b c -> a b c", {"d": 2}, ValueError, "Identifiers not found"),
    ("a b c -> a b c", {"a": 2.0}, TypeError, "must be integers, got: <class 'float'>"),
    ("a b 2 -> a b 2", {}, ValueError, "unnamed axes of size 1"),
    ("a (b (c)) -> a b c", {}, ValueError, "one-level"),
    ("a b c) -> a b c", {}, ValueError, "not balanced"),
    ("(a b c -> a b c", {}, ValueError, "Imbalanced"),
    ("a b c -> a ... b c", {}, ValueError, "Ellipsis found in right side"),
    ("(...) c -> ... c", {}, ValueError, "Ellipsis is parenthesis in the left side"),
    ("a. b c -> a b c", {}, ValueError, "dots only inside ellipsis"),
    ("_a b c -> _a b c", {}, ValueError, "Invalid axis identifier: _a"),
    ("a ? c -> a c", {}, ValueError, "Unknown character"),
    ("a b c -> a b c", {"a": 3}, DimensionBindError, "do not match"),
    ("a b (c d) -> a b c d", {}, DimensionBindError, "cannot infer the sizes of two"),
    ("a b (c d) -> a b c d", {"c": 3}, DimensionBindError, "does not evenly fit"),
]


@pytest.mark.parametrize(("pattern", "sizes", "kind", "message"), REFUSED, ids=[pattern for pattern, *_ in REFUSED])
def test_mistakes(pattern: str, sizes: dict[str, int], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        rearrange(X, pattern, **sizes)
