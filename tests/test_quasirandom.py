"""leafgrad.quasirandom. The points are PyTorch's."""

from __future__ import annotations

import pickle

import pytest

import leafgrad as torch
from leafgrad.quasirandom import SobolEngine


def test_points_are_those_of_sobol() -> None:
    engine = SobolEngine(3)
    assert engine.draw(5).tolist() == [
        [0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625],
    ]  # fmt: skip
    assert engine.num_generated == 5 and repr(engine) == "SobolEngine(dimension=3)"


def test_scrambled_points_are_those_of_pytorch_for_the_same_seed() -> None:
    first = [0.26772546768188477, 0.36175453662872314, 0.7123444080352783]
    second = [0.8839982151985168, 0.6186883449554443, 0.17581278085708618]
    assert SobolEngine(3, scramble=True, seed=1).draw(2).tolist() == [first, second]
    torch.manual_seed(3)
    points = SobolEngine(2, scramble=True).draw(2)
    assert points.tolist() == [[0.06846512854099274, 0.22452697157859802], [0.6214853525161743, 0.7230839729309082]]
    assert torch.rand(1).item() == 0.47289592027664185  # as many numbers were drawn as there


@pytest.mark.parametrize("scramble", [False, True])
def test_the_sequence_goes_on_is_skipped_and_begins_again(scramble: bool) -> None:
    engine = SobolEngine(40, scramble=scramble, seed=0)
    whole = engine.draw(64, dtype=torch.float64)
    engine.reset()
    parts = [engine.draw(n, dtype=torch.float64) for n in (1, 4, 0, 27, 32)]
    assert torch.cat(parts).equal(whole)
    for skipped in (0, 1, 2, 17):
        engine.reset().fast_forward(skipped)
        assert pickle.loads(pickle.dumps(engine)).draw(3, dtype=torch.float64).equal(whole[skipped : skipped + 3])


@pytest.mark.parametrize("dimension", [2, 1111])
def test_every_power_of_two_many_points_are_spread_evenly(dimension: int) -> None:
    points = SobolEngine(dimension).draw_base2(6)
    cells = (points * 64).long()
    assert cells.sort(0).values.equal(torch.arange(64).unsqueeze(1).expand(64, dimension))


def test_results_go_into_a_tensor() -> None:
    out = torch.empty(1, dtype=torch.float64)
    assert SobolEngine(2).draw(3, out=out) is out and out.tolist() == [[0, 0], [0.5, 0.5], [0.75, 0.25]]


def test_mistakes_are_refused() -> None:
    for dimension in (0, 30_000):
        with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
            SobolEngine(dimension)
    with pytest.raises(NotImplementedError, match="leafgrad has the direction numbers of 1111 dimensions"):
        SobolEngine(1112)
    engine = SobolEngine(2)
    with pytest.raises(RuntimeError, match=r"Trying to create tensor with negative dimension -1: \[-1, 2\]"):
        engine.draw(0)
    with pytest.raises(NotImplementedError, match="\"_sobol_engine_draw\" not implemented for 'Half'"):
        engine.draw(2, dtype=torch.half)
    with pytest.raises(TypeError, match=r"_sobol_engine_draw\(\): argument 'n' \(position 2\) must be int, not float"):
        engine.draw(2.5)  # type: ignore[arg-type]
    engine.draw(3)
    with pytest.raises(ValueError, match=r"then: n=3\+2\*\*2=7\. If you still want to do this"):
        engine.draw_base2(2)
