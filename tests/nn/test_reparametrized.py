"""Weights that are computed before each call: spectral norms, parametrizations, pruning; and what they do to states."""

import copy

import pytest

import leafgrad
from leafgrad import nn
from leafgrad.nn.utils import parametrizations, parametrize, prune


def test_spectral_norm_notes_its_version_and_takes_states_from_before_it():
    leafgrad.manual_seed(0)
    normed = nn.utils.spectral_norm(nn.Linear(3, 5))
    x = leafgrad.randn(2, 3)
    for _ in range(3):
        normed(x)
    new = copy.deepcopy(normed.state_dict())
    assert new._metadata[""]["spectral_norm"] == {"weight.version": 1}
    normed.eval()
    expected = normed(x)
    old = copy.deepcopy(new)  # the divided weight instead of v
    del old._metadata[""]["spectral_norm"], old["weight_v"]
    old["weight"] = normed.weight.detach().clone()
    again = nn.utils.spectral_norm(nn.Linear(3, 5)).eval()
    again.load_state_dict(old)
    assert leafgrad.allclose(again(x), expected, 1e-4, 1e-5)
    nn.utils.remove_spectral_norm(again)
    assert "spectral_norm" not in again.state_dict()._metadata[""]
    incomplete = {"weight_orig": new["weight_orig"], "bias": new["bias"]}
    with pytest.raises(RuntimeError, match=r'Missing key.*"weight", "weight_u"'):
        normed.load_state_dict(incomplete)


def test_spectral_norm_of_complex_and_of_parametrized_transposed_weights():
    leafgrad.manual_seed(0)
    diagonal = leafgrad.diag(leafgrad.tensor([3j, 1 + 1j]))
    layer = nn.Linear(2, 2, dtype=leafgrad.complex64)
    layer.weight = nn.Parameter(diagonal)
    parametrizations.spectral_norm(layer)
    assert leafgrad.allclose(layer.weight, diagonal / 3, 1e-4, 1e-4)
    transposed = parametrizations.weight_norm(nn.ConvTranspose2d(2, 3, 1), "weight")
    parametrizations.spectral_norm(transposed)
    assert transposed.parametrizations.weight[1]._u.shape == (3,)
    assert type(transposed).__module__.endswith("nn.utils.parametrize")


class Same(nn.Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("change", "back", "message"),
    [
        (lambda x: (x, x), None, "must return a tensor"),
        (lambda x: x.bool(), None, r"may not change the dtype.*module.weight.dtype: torch.float32"),
        (lambda x: x[:-1], None, "may not change the shape"),
        (lambda x: x, lambda x: (x, x), "right_inverse must return a tensor"),
        (lambda x: x, lambda x: x.bool(), "right_inverse must have the same dtype"),
        (lambda x: x, lambda x: x[:-1], "right_inverse must have the same shape"),
    ],
)
def test_a_second_parametrization_that_changes_the_form_is_refused(change, back, message):
    layer = nn.Linear(3, 4)
    parametrize.register_parametrization(layer, "weight", Same())
    further = Same()
    further.forward = change
    if back is not None:
        further.right_inverse = back
    with pytest.raises(ValueError, match=f"(?s){message}"):
        parametrize.register_parametrization(layer, "weight", further)
    assert len(layer.parametrizations.weight) == 1


def test_assignments_whose_right_inverse_has_another_form_are_refused():
    layer = nn.Linear(3, 4)
    parametrizations.weight_norm(layer)
    layer.parametrizations.weight[0].right_inverse = lambda w: w
    with pytest.raises(ValueError, match=r"must return a sequence of tensors. Got Tensor"):
        layer.weight = leafgrad.ones(4, 3)
    layer.parametrizations.weight[0].right_inverse = lambda w: (w, w.double())
    with pytest.raises(ValueError, match=r"Tensor 1 returned by .* has dtype torch.float64 while `original1` has"):
        layer.weight = leafgrad.ones(4, 1)


def test_pruning_that_fails_leaves_the_module_as_it_was():
    layer = nn.Linear(3, 4)
    with pytest.raises(ValueError, match="should be smaller than the number of parameters"):
        prune.l1_unstructured(layer, "weight", 13)
    assert list(dict(layer.named_parameters())) == ["bias", "weight"] and not list(layer.buffers())
    assert not prune.is_pruned(layer)


def test_pruning_no_channel_draws_no_numbers():
    layer = nn.Linear(3, 4)
    leafgrad.manual_seed(0)
    prune.random_structured(layer, "weight", 0, 0)
    drawn = leafgrad.rand(1)
    leafgrad.manual_seed(0)
    assert drawn == leafgrad.rand(1)


@pytest.mark.parametrize("register", [parametrizations.weight_norm, parametrizations.orthogonal])
def test_transferred_parametrizations_have_their_originals_in_common(register):
    source, target = register(nn.Linear(3, 3)), nn.Linear(3, 3)
    parametrize.transfer_parametrizations_and_params(source, target)
    ours, theirs = list(source.parameters()), list(target.parameters())
    assert [any(own is other for other in theirs) for own in ours] == [
        name != "bias" for name, _ in source.named_parameters()
    ]
    assert leafgrad.equal(source.weight, target.weight)
