"""Distributions answer what PyTorch's do: samples of the same seed, densities, moments, gradients, divergences."""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import distribution_cases as cases
import leafgrad as torch
from distribution_comparison import TOLERANCE, differences

STORED: dict[str, Any] = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "data" / "distributions.json.gz").read_bytes())
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", cases.CASES)
def test_it_answers_what_torch_does(name: str, dtype: str) -> None:
    told = cases.answers(torch, cases.CASES[name], dtype)
    assert differences(name, STORED["answers"][f"{name} {dtype}"], told, TOLERANCE[dtype]) == []


def test_divergences_and_their_gradients() -> None:
    told = cases.divergences(torch, "float64")
    assert told.keys() == STORED["divergences"].keys()
    assert differences("", STORED["divergences"], told, TOLERANCE["float64"]) == []


@pytest.mark.parametrize("name", cases.WRONG)
def test_mistakes_are_told_as_torch_tells_them(name: str) -> None:
    assert cases.mistake(torch, cases.WRONG[name]) == STORED["mistakes"][name]


@pytest.mark.parametrize("name", cases.TRANSFORMS)
def test_transforms(name: str) -> None:
    told = cases.transformed(torch, cases.TRANSFORMS[name])
    assert differences(name, STORED["transforms"][name], told, TOLERANCE["float64"]) == []


def test_every_distribution_has_a_case() -> None:
    distributions = torch.distributions
    classes = [getattr(distributions, name) for name in distributions.__all__]
    known = {
        cls.__name__ for cls in classes if isinstance(cls, type) and issubclass(cls, distributions.Distribution)
    } - {"Distribution", "ExponentialFamily"}
    assert known == {name.partition(" ")[0] for name in cases.CASES}


@pytest.mark.parametrize("name", cases.CASES)
def test_copies_and_pickles_draw_the_same(name: str) -> None:
    dist = cases.CASES[name](torch.distributions, lambda values: torch.tensor(values), torch)
    with pytest.warns() if "Wishart" in name else contextlib.nullcontext():
        drawn = []
        for each in (dist, copy.deepcopy(dist), pickle.loads(pickle.dumps(dist))):
            torch.manual_seed(1)
            drawn.append(each.sample((2,)))
    assert torch.equal(drawn[0], drawn[1]) and torch.equal(drawn[0], drawn[2])


def test_a_new_divergence_is_found_for_subclasses() -> None:
    d = torch.distributions

    class Shifted(d.Normal):
        pass

    p, q = Shifted(0.0, 1.0), d.Normal(1.0, 1.0)
    assert d.kl_divergence(p, q).item() == 0.5
    d.register_kl(Shifted, d.Normal)(lambda p, q: p.loc + 7)
    try:
        assert d.kl_divergence(p, q).item() == 7 and d.kl_divergence(q, q).item() == 0
    finally:
        from leafgrad.distributions import _kl_registry

        del _kl_registry._KL_REGISTRY[Shifted, d.Normal]
        _kl_registry.found.clear()


def test_validation_can_be_switched_off() -> None:
    Normal = torch.distributions.Normal
    assert Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        assert Normal(0.0, -1.0).scale.item() == -1
    finally:
        torch.distributions.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        Normal(0.0, -1.0)


def test_parameters_are_checked_inside_of_vmap() -> None:
    def log_prob(scale: Any) -> Any:
        return torch.distributions.Normal(0.0, scale).log_prob(torch.tensor(0.3))

    scales = torch.tensor([0.5, 1.0, 2.0])
    assert torch.equal(torch.vmap(log_prob)(scales), torch.stack([log_prob(scale) for scale in scales]))
    assert torch.equal(
        torch.vmap(torch.func.grad(log_prob))(scales), torch.stack([torch.func.grad(log_prob)(s) for s in scales])
    )
    with pytest.raises(RuntimeError, match=r"vmap: It looks like you're calling \.item"):  # to print the parameter
        torch.vmap(log_prob)(-scales)


def test_a_fit_by_gradients_of_samples_and_of_densities() -> None:
    """Both estimate the same gradient: of the mean of x**2 for normal x."""
    torch.manual_seed(0)
    loc = torch.tensor(0.7, requires_grad=True)
    normal = torch.distributions.Normal(loc, 1.0)
    (by_samples,) = torch.autograd.grad((normal.rsample((20000,)) ** 2).mean(), loc)
    drawn = normal.sample((20000,))
    (by_densities,) = torch.autograd.grad((drawn**2 * normal.log_prob(drawn)).mean(), loc)
    assert by_samples.item() == pytest.approx(1.4, abs=0.05) and by_densities.item() == pytest.approx(1.4, abs=0.15)


def test_gamma_densities_of_numbers() -> None:
    gamma = torch.distributions.Gamma(torch.tensor([1.0, 2.0]), torch.tensor(3.0))
    assert gamma.log_prob(2).tolist() == gamma.log_prob(torch.tensor(2.0)).tolist()
    with pytest.raises(ValueError, match="to be within the support"):
        gamma.log_prob(-1)
