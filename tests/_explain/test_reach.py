"""What lies behind a tensor: leaves, paths and ways."""

from __future__ import annotations

import leafgrad as torch
from leafgrad import nn
from leafgrad._explain.reach import Reach


def test_paths_and_ways() -> None:
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    y = x * w
    loss = (y.exp() + y.sin()).sum()
    found = Reach(loss)
    assert found.operations == 5
    assert {id(leaf) for leaf in found.leaves} == {id(x), id(w)}
    way = found.way(x)
    assert (way.paths, way.operations) == (2, 4)
    assert str(way) in ("Mul > Exp > Add > Sum", "Mul > Sin > Add > Sum")


def test_a_leaf_that_is_the_root() -> None:
    w = torch.ones((), requires_grad=True)
    found = Reach(w)
    assert found.leaves == [w] and found.operations == 0
    assert (found.way(w).paths, str(found.way(w))) == (1, "")


def test_data_reaches_nothing() -> None:
    found = Reach(torch.ones(3))
    assert (found.leaves, found.nodes, found.freed) == ([], [], None)


def test_the_shortest_way_is_shown_and_long_ones_are_shortened() -> None:
    w = torch.ones((), requires_grad=True)
    y = w
    for _ in range(10):
        y = y.exp().sin().cos()
    assert str(Reach(y).way(w)) == "Exp > Sin > Cos > (25 more) > Sin > Cos"
    assert str(Reach(y + w).way(w)) == "Add"
    for _ in range(10):
        w = w * 2
    assert str(Reach(w).way(Reach(w).leaves[0])) == "Mul x10"


def test_results_of_an_operation_with_several_count_once() -> None:
    w = torch.ones(4, requires_grad=True)
    a, b = w.split(2)
    found = Reach((a * b).sum())
    assert found.operations == 3
    assert found.way(w).paths == 2
    assert str(found.way(w)) == "Split > Mul > Sum"


def test_a_deep_graph_with_more_paths_than_can_be_counted() -> None:
    w = torch.ones((), requires_grad=True)
    y = w
    for _ in range(20_000):
        y = y + y
    found = Reach(y)
    assert found.operations == 20_000
    assert found.way(w).paths == float("inf")
    assert found.way(w).operations == 20_000


def test_several_roots_and_a_freed_graph() -> None:
    model = nn.Linear(2, 1)
    first, second = model(torch.ones(3, 2)).sum(), model.weight.sum()
    assert len(Reach(second).leaves) == 1
    assert len(Reach(first, second).leaves) == 2
    first.backward()
    found = Reach(first)
    assert found.freed is not None and len(found.leaves) == 2
