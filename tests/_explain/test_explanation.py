"""`leafgrad.explain` as data, as text and as HTML. tests/data/cut_programs.txt has whole programs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.Linear(3, 3)
        self.encoder = nn.Linear(3, 4)
        self.fc = nn.Linear(4, 2)
        self.head = nn.Linear(4, 2)
        self.ignored = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        hidden = self.encoder(self.frozen(x))
        hidden = hidden.detach()
        result = self.fc(hidden)
        self.ignored(hidden)
        return result


def explained() -> tuple[Any, Any, Any]:
    model = Net()
    model.frozen.weight.requires_grad_(False)
    loss = model(torch.ones(5, 3)).square().mean()
    return model, loss, torch.explain(loss, model)


def test_leaves_are_data() -> None:
    _, _, found = explained()
    assert [leaf.name for leaf in found.leaves] == ["fc.weight", "fc.bias"]
    leaf = found.leaves[0]
    assert (leaf.shape, leaf.dtype, leaf.gets_gradient, leaf.paths) == ((2, 4), "float32", True, 1)
    assert (leaf.way, leaf.operations) == ("Addmm > Pow > Mean", 3)


def test_every_other_parameter_has_its_reason() -> None:
    _, _, found = explained()
    reasons = {one.name: one.reason for one in found.unreached}
    assert reasons["frozen.weight"].startswith("frozen: requires_grad=False since test_explanation.py:")
    assert reasons["frozen.weight"].endswith("model.frozen.weight.requires_grad_(False)")
    for name in ("frozen.bias", "encoder.weight", "encoder.bias"):
        assert reasons[name].startswith("cut off at test_explanation.py:")
        assert reasons[name].endswith("hidden = hidden.detach()")
    assert reasons["head.weight"] == "not used for this loss; head was not called"
    assert reasons["ignored.weight"] == "not used for this loss, though ignored was called"


def test_a_cut_names_its_line_its_leaves_and_the_fix() -> None:
    _, _, found = explained()
    (cut,) = found.cuts
    assert cut.source == "hidden = hidden.detach()"
    assert sorted(cut.leaves) == ["encoder.bias", "encoder.weight", "frozen.bias"]
    assert cut.fix == [f"remove {cut.place}"]


def test_text() -> None:
    _, _, found = explained()
    lines = str(found).split("\n")
    assert lines[0].startswith("loss = ") and lines[0].endswith("loss = model(torch.ones(5, 3)).square().mean()")
    assert lines[1] == "backward() will reach 2 of 10 parameters through 3 operations"
    assert lines[3].split() == ["leaf", "shape", "gets", "a", "gradient", "way"]
    assert repr(found) == str(found)


def test_after_backward() -> None:
    model, loss, _ = explained()
    loss.backward()
    text = str(torch.explain(loss, model))
    assert "backward() reached 2 of 10 parameters" in text
    assert "its graph was freed at test_explanation.py:" in text and "loss.backward()" in text
    assert "got one" in text


def test_html_and_json() -> None:
    _, _, found = explained()
    page = ET.fromstring(found._repr_html_())
    assert "encoder.weight" in "".join(page.itertext())
    again = json.loads(json.dumps(found.to_dict()))
    assert again["leaves"][0]["name"] == "fc.weight" and len(again["unreached"]) >= 6 and len(again["cuts"]) == 1


def test_names_of_variables_without_a_model() -> None:
    weights = [torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)]
    bias = torch.ones(2, requires_grad=True)
    data = torch.full((2,), 3.0)
    loss = (weights[0] * data + weights[1] * bias).sum()
    found = loss.explain()
    assert {leaf.name for leaf in found.leaves} == {"weights[0]", "weights[1]", "bias"}
    assert [(one.name, one.reason) for one in found.unreached] == [("data", "does not require grad")]


def test_a_dictionary_and_pairs_stand_for_a_model() -> None:
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    loss = (w * 2).sum()
    for model in ({"first": w, "second": v}, [("first", w), ("second", v)]):
        found = torch.explain(loss, model)
        assert [leaf.name for leaf in found.leaves] == ["first"]
        assert [(one.name, one.reason) for one in found.unreached] == [("second", "not used for this loss")]


def test_several_losses() -> None:
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    first, second = (w * 2).sum(), (v * 2).sum()
    assert len(torch.explain([first, second]).leaves) == 2


def test_a_leaf_that_was_frozen_after_its_use() -> None:
    w = torch.ones(2, requires_grad=True)
    loss = (w * 2).sum()
    w.requires_grad_(False)
    (leaf,) = torch.explain(loss).leaves
    assert not leaf.gets_gradient and leaf.note.startswith("frozen: requires_grad=False since")


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="'loss' must be Tensor or a list of tensors, not float"):
        torch.explain(1.0)
    with pytest.raises(TypeError, match="model has to be a Module"):
        torch.explain(torch.ones(1), [1, 2])
    with pytest.raises(TypeError, match="argument 'tensor' must be Tensor, not int"):
        torch.why(1)


def test_looking_changes_nothing() -> None:
    model, loss, _ = explained()
    version = loss._version
    torch.explain(loss, model)
    torch.why(model.fc.weight)
    assert loss._version == version and model.fc.weight.grad is None
    loss.backward()
    assert model.fc.weight.grad is not None


def test_a_function_that_returns_no_gradient_is_told() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    w = torch.ones(2, requires_grad=True)
    loss = Double.apply(w).sum()
    loss.backward()
    answer = torch.why(w)
    assert answer.sentence == "w.grad is None: backward went there from loss, but an operation gave no gradient."
    assert dict(answer.rows)["way"] == "Double > Sum"
    assert answer.fix == []


def test_gradients_that_were_changed_or_assigned() -> None:
    w = torch.ones(2, requires_grad=True)
    (w * 2).sum().backward()
    w.grad.mul_(0.5)
    assert "changed in place" in torch.why(w).sentence
    w.grad = torch.ones(2)
    assert torch.why(w).sentence == "w.grad was assigned."
    assert json.loads(json.dumps(torch.why(w).to_dict()))["name"] == "w"


def test_a_model_that_is_not_used_is_named_and_no_fix_invented() -> None:
    model = nn.Linear(2, 1)
    y = torch.zeros(3, 1)
    loss = nn.functional.mse_loss(y, y)
    with pytest.raises(RuntimeError, match="; 'model' is not used for it") as caught:
        loss.backward()
    assert "fix" not in str(caught.value) and model is not None
