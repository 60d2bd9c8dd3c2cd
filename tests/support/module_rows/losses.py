"""Losses and distances as modules."""

from __future__ import annotations

from typing import Any

from module_cases import Case


def classes(torch: Any) -> Any:
    return torch.tensor([0, 2, 1, 1])


def signs(torch: Any) -> Any:
    return torch.tensor([1.0, -1.0, -1.0, 1.0])


def sign_matrix(torch: Any) -> Any:
    return torch.tensor([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])


def shares(torch: Any) -> Any:
    """Numbers between 0 and 1."""
    return torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.25, 0.25]])


def counts(torch: Any) -> Any:
    return torch.tensor([[0.0, 3.0, 1.0], [2.0, 5.0, 0.0]])


def labels(torch: Any) -> Any:
    return torch.tensor([[2, 0, -1], [1, -1, 0]])


def two(*numbers: int) -> Any:
    return lambda torch: torch.tensor(numbers)


def through_log_softmax(loss: Any, scores: Any, *rest: Any) -> Any:
    return loss(scores.log_softmax(-1), *rest)


def through_sigmoid(loss: Any, scores: Any, *rest: Any) -> Any:
    return loss(scores.sigmoid(), *rest)


ROWS = {
    "MSELoss": Case(lambda nn: nn.MSELoss(), (4, 3), (4, 3)),
    "L1Loss": Case(lambda nn: nn.L1Loss(reduction="sum"), (4, 3), (4, 3)),
    "NLLLoss": Case(lambda nn: nn.NLLLoss(), (4, 3), classes),
    "CrossEntropyLoss": Case(lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), (4, 3), classes),
    "SmoothL1Loss": Case(lambda nn: nn.SmoothL1Loss(beta=0.5), (4, 3), (4, 3)),
    "HuberLoss": Case(lambda nn: nn.HuberLoss(delta=0.5, reduction="none"), (4, 3), (4, 3)),
    "BCELoss": Case(lambda nn: nn.BCELoss(), (2, 3), shares, call=through_sigmoid),
    "BCEWithLogitsLoss": Case(lambda nn: nn.BCEWithLogitsLoss(reduction="sum"), (2, 3), shares),
    "KLDivLoss": Case(lambda nn: nn.KLDivLoss(reduction="batchmean"), (2, 3), shares, call=through_log_softmax),
    "KLDivLoss of logarithms": Case(lambda nn: nn.KLDivLoss(reduction="none", log_target=True), (2, 3), (2, 3)),
    "PoissonNLLLoss": Case(lambda nn: nn.PoissonNLLLoss(full=True), (2, 3), counts),
    "PoissonNLLLoss of rates": Case(
        lambda nn: nn.PoissonNLLLoss(log_input=False), (2, 3), counts, call=through_sigmoid
    ),
    "GaussianNLLLoss": Case(lambda nn: nn.GaussianNLLLoss(full=True), (2, 3), (2, 3), shares),
    "CTCLoss": Case(
        lambda nn: nn.CTCLoss(), (5, 2, 4), lambda torch: torch.tensor([[1, 2], [3, 3]]), two(5, 4), two(2, 2),
        call=through_log_softmax,
    ),
    "CTCLoss of joined targets": Case(
        lambda nn: nn.CTCLoss(blank=3, reduction="sum", zero_infinity=True), (3, 2, 4),
        lambda torch: torch.tensor([1, 2, 0, 0, 0]), two(3, 2), two(2, 3), call=through_log_softmax,
    ),
    "HingeEmbeddingLoss": Case(lambda nn: nn.HingeEmbeddingLoss(margin=0.5), (2, 3), sign_matrix),
    "CosineEmbeddingLoss": Case(lambda nn: nn.CosineEmbeddingLoss(margin=0.1), (4, 3), (4, 3), signs),
    "MarginRankingLoss": Case(lambda nn: nn.MarginRankingLoss(margin=0.5), (4,), (4,), signs),
    "MultiMarginLoss": Case(lambda nn: nn.MultiMarginLoss(), (4, 3), classes),
    "MultiMarginLoss, squared": Case(lambda nn: nn.MultiMarginLoss(p=2, margin=0.5, reduction="none"), (4, 3), classes),
    "MultiLabelMarginLoss": Case(lambda nn: nn.MultiLabelMarginLoss(), (2, 3), labels),
    "MultiLabelSoftMarginLoss": Case(lambda nn: nn.MultiLabelSoftMarginLoss(), (2, 3), shares),
    "SoftMarginLoss": Case(lambda nn: nn.SoftMarginLoss(), (2, 3), sign_matrix),
    "TripletMarginLoss": Case(lambda nn: nn.TripletMarginLoss(p=1.5, swap=True), (4, 3), (4, 3), (4, 3)),
    "TripletMarginWithDistanceLoss": Case(
        lambda nn: nn.TripletMarginWithDistanceLoss(swap=True, reduction="sum"), (4, 3), (4, 3), (4, 3)
    ),
    "AdaptiveLogSoftmaxWithLoss": Case(
        lambda nn: nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], div_value=2.0, head_bias=True), (4, 8),
        lambda torch: torch.tensor([0, 5, 2, 1]),
    ),
    "AdaptiveLogSoftmaxWithLoss of all": Case(
        lambda nn: nn.AdaptiveLogSoftmaxWithLoss(8, 6, [2, 4], div_value=2.0), (4, 8),
        call=lambda module, x: module.log_prob(x),
    ),
    "LinearCrossEntropyLoss": Case(lambda nn: nn.LinearCrossEntropyLoss(5, 3, bias=True), (4, 5), classes),
    "LinearCrossEntropyLoss with more dimensions": Case(
        lambda nn: nn.LinearCrossEntropyLoss(5, 3, out_features=(2,), label_smoothing=0.1), (2, 5),
        lambda torch: torch.tensor([[0, 2], [1, 1]]),
    ),
    "PairwiseDistance": Case(lambda nn: nn.PairwiseDistance(p=1.0, keepdim=True), (4, 3), (4, 3)),
    "CosineSimilarity": Case(lambda nn: nn.CosineSimilarity(dim=0), (4, 3), (4, 3)),
}  # fmt: skip
