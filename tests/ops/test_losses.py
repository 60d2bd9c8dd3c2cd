"""Losses: values known by hand or from NumPy, corners of their gradients, second derivatives, messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.nn import functional as F
from small_tensors import close, gradient, leaf, numeric_second_gradient, second_gradient, values

INF = math.inf


def test_mse_loss() -> None:
    x, y = leaf([1.0, 2.0, 4.0]), leaf([1.0, 0.0, 1.0])
    close(F.mse_loss(x, y), 13 / 3)
    close(F.mse_loss(x, y, reduction="sum"), 13)
    close(F.mse_loss(x, y, reduction="none"), [0, 4, 9])
    close(F.mse_loss(x, y, weight=torch.tensor([1.0, 1.0, 2.0], dtype=torch.float64)), 22 / 4)
    F.mse_loss(x, y).backward()
    close(x.grad, [0, 4 / 3, 2])
    close(y.grad, [0, -4 / 3, -2])
    assert math.isnan(F.mse_loss(torch.zeros(0), torch.zeros(0)).item())


def test_mse_loss_warns_of_broadcasting() -> None:
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[3\]\)\) that is different to the input"):
        loss = F.mse_loss(torch.zeros(2, 3), torch.ones(3))
    assert loss.item() == 1
    mismatch = pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)")
    with mismatch, pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(torch.zeros(2), torch.zeros(3))


LOGITS = [[1.0, 2.0, 0.5], [0.0, -1.0, 3.0], [2.0, 2.0, 2.0]]


def reference(targets: list[int], weights: list[float] | None = None) -> tuple[Any, Any]:
    """(the losses of single rows, their weights), from the definition."""
    scores = np.log(np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True))
    w = np.array([0.0 if t < 0 else 1.0 if weights is None else weights[t] for t in targets])
    return np.array([-scores[i, t] * w[i] if t >= 0 else 0.0 for i, t in enumerate(targets)]), w


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 2.0]])
@pytest.mark.parametrize("targets", [[1, 2, 0], [1, -100, 0]])
def test_cross_entropy(targets: list[int], weights: list[float] | None) -> None:
    x, t = leaf(LOGITS), torch.tensor(targets)
    w = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    rows, counts = reference(targets, weights)
    for result in (F.cross_entropy(x, t, w), F.nll_loss(x.log_softmax(1), t, w)):
        close(result, rows.sum() / counts.sum())
    close(F.cross_entropy(x, t, w, reduction="sum"), rows.sum())
    close(F.cross_entropy(x, t, w, reduction="none"), rows)
    F.cross_entropy(x, t, w).backward()
    one_hot = np.eye(3)[np.maximum(targets, 0)]
    softmax = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    close(x.grad, (softmax - one_hot) * (counts / counts.sum())[:, None])


def test_cross_entropy_of_one_row_and_of_images() -> None:
    close(F.cross_entropy(torch.tensor(LOGITS[0]), torch.tensor(1)), reference([1, -1, -1])[0][0])
    pixels = torch.tensor(LOGITS, dtype=torch.float64).t().reshape(1, 3, 3).requires_grad_()
    close(F.cross_entropy(pixels, torch.tensor([[1, 2, 0]])), reference([1, 2, 0])[0].mean())
    assert F.cross_entropy(pixels, torch.tensor([[1, 2, 0]])).grad_fn.name() == "NllLoss2DBackward0"
    large = torch.tensor([[1000.0, -1000.0]], requires_grad=True)
    F.cross_entropy(large, torch.tensor([1])).backward()
    close(large.grad, [[1, -1]])


def test_cross_entropy_of_a_transposed_matrix() -> None:
    x = torch.tensor(np.array(LOGITS).T.copy()).t().requires_grad_()
    F.cross_entropy(x, torch.tensor([1, 2, 0])).backward()
    y = leaf(LOGITS)
    F.cross_entropy(y, torch.tensor([1, 2, 0])).backward()
    close(x.grad, values(y.grad), 1e-12)


def test_nothing_counts() -> None:
    x, ignored = leaf(LOGITS), torch.tensor([-100, -100, -100])
    for loss in (F.cross_entropy(x, ignored), F.nll_loss(x, ignored)):
        assert math.isnan(loss.item())
        close(torch.autograd.grad(loss, x)[0], np.zeros((3, 3)))
    assert F.cross_entropy(x, ignored, reduction="sum").item() == 0
    assert math.isnan(F.cross_entropy(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64)).item())
    infinite = leaf([[-INF, -INF], [0.0, 0.0]])
    assert F.cross_entropy(infinite, torch.tensor([-100, 1])).item() == pytest.approx(math.log(2))


def test_cross_entropy_of_probabilities() -> None:
    x, targets = torch.tensor(LOGITS), [1, 2, 0]
    probabilities = torch.tensor(np.eye(3)[targets], dtype=torch.float32)
    close(F.cross_entropy(x, probabilities), reference(targets)[0].mean())
    smoothed = probabilities * 0.9 + 0.1 / 3
    close(F.cross_entropy(x, torch.tensor(targets), label_smoothing=0.1), F.cross_entropy(x, smoothed).item())
    close(F.cross_entropy(x, probabilities, label_smoothing=0.1), F.cross_entropy(x, smoothed).item())


def test_losses_with_a_straight_part() -> None:
    x, zero = leaf([0.5, -3.0]), torch.zeros(2, dtype=torch.float64)
    close(torch.nn.functional.huber_loss(x, zero, reduction="none"), [0.125, 2.5])
    close(torch.nn.functional.huber_loss(x, zero, delta=2.0, reduction="sum"), 0.125 + 4)
    close(torch.nn.functional.smooth_l1_loss(x, zero, beta=2.0, reduction="none"), [0.0625, 2])
    close(
        gradient(lambda x: torch.nn.functional.smooth_l1_loss(x, zero, beta=2.0, reduction="sum"), [0.5, -3.0]),
        [0.25, -1],
    )
    close(gradient(lambda x: torch.nn.functional.huber_loss(x, zero, delta=2.0), [0.5, -3.0]), [0.25, -1])


def test_binary_cross_entropy() -> None:
    x, y = leaf([0.3, 2.0, -1.0]), torch.tensor([1.0, 0.0, 0.25], dtype=torch.float64)
    p = 1 / (1 + np.exp(-values(x)))
    expected = -(values(y) * np.log(p) + (1 - values(y)) * np.log(1 - p))
    close(torch.nn.functional.binary_cross_entropy(x.sigmoid(), y, reduction="none"), expected)
    close(torch.nn.functional.binary_cross_entropy_with_logits(x, y), expected.mean())
    close(
        gradient(lambda x: torch.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="sum"), values(x)),
        p - values(y),
    )
    weight, positive = [torch.tensor(v, dtype=torch.float64) for v in (2.0, 3.0)]
    weighted = -2 * (3 * values(y) * np.log(p) + (1 - values(y)) * np.log(1 - p))
    close(
        torch.nn.functional.binary_cross_entropy_with_logits(x, y, weight, reduction="none", pos_weight=positive),
        weighted,
    )
    far = torch.nn.functional.binary_cross_entropy_with_logits(
        torch.tensor([1000.0, -1000.0]), torch.zeros(2), reduction="none"
    )
    close(far, [1000, 0])
    close(torch.nn.functional.binary_cross_entropy(torch.tensor([0.0]), torch.tensor([1.0])), 100)


# -- second derivatives, messages -------------------------------------------------------------------------------------

SECOND: list[Callable[[Any], Any]] = [
    lambda x: F.mse_loss(x, x * x),
    lambda x: F.mse_loss(x * x, torch.ones(2, 3), reduction="none"),
    lambda x: F.cross_entropy(x, torch.tensor([2, 0])),
    lambda x: F.cross_entropy(x, torch.tensor([2, -100]), reduction="none"),
    lambda x: F.cross_entropy(x, torch.tensor([2, 0]), torch.tensor([1.0, 2, 3], dtype=torch.float64)),
    lambda x: F.cross_entropy(x, torch.tensor([2, 0]), label_smoothing=0.2),
    lambda x: F.cross_entropy(x, torch.tensor([[0.2, 0.7, 0.1], [0.5, 0.1, 0.4]], dtype=torch.float64)),
    lambda x: F.nll_loss(x**3, torch.tensor([2, 0])),
]


@pytest.mark.parametrize("index", range(len(SECOND)))
def test_second_derivatives(index: int) -> None:
    data = [[0.4, 1.1, -0.7], [0.9, -0.2, 1.6]]
    close(second_gradient(SECOND[index], data), numeric_second_gradient(SECOND[index], data), 1e-6)


ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: F.mse_loss(x, x, reduction="nonsense"), ValueError, "nonsense is not a valid value for reduction"),
    (lambda x: F.cross_entropy(x, torch.tensor([0, 3])), IndexError, "Target 3 is out of bounds."),
    (lambda x: F.nll_loss(x, torch.tensor([0, -1])), IndexError, "Target -1 is out of bounds."),
    (
        lambda x: F.cross_entropy(x, torch.tensor([0])),
        ValueError,
        "Expected input batch_size (2) to match target batch_size (1).",
    ),
    (
        lambda x: F.cross_entropy(x, torch.tensor([0, 1]).int()),
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Int",
    ),
]


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_errors(index: int) -> None:
    call, kind, message = ERRORS[index]
    with pytest.raises(kind) as caught:
        call(torch.ones(2, 3))
    assert str(caught.value).startswith(message)


def test_flags_of_old_times() -> None:
    with pytest.warns(UserWarning, match="please use reduction='sum' instead") as caught:
        assert F.mse_loss(torch.zeros(2), torch.ones(2), size_average=False).item() == 2
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("targets", "inputs", "sizes", "options", "message"),
    [
        ((3, 4), [6, 6, 6], [5, 4, 4], {}, "size at least 5 at dimension 1, but got size 4 for argument #2 'targets'"),
        ((2, 4), [6, 6, 6], [4, 4, 4], {}, "to have size 3 at dimension 0, but got size 2"),
        ((9,), [6, 6, 6], [3, 3, 2], {}, "to have size 8 at dimension 0, but got size 9"),
        ((9,), [6, 6, 6], [3, 3, -1], {}, "target_lengths to have value at least 0, but got value -1"),
        ((9,), [6, 6, -1], [3, 3, 3], {}, "input_lengths to have value at least 0, but got value -1"),
        ((9,), [6, 6, 7], [3, 3, 3], {}, "input_lengths to have value at most 6, but got value 7"),
        ((9,), [6, 6], [3, 3, 3], {"blank": 9}, "blank must be in label range"),
        ((9,), [6, 6], [3, 3, 3], {}, "input_lengths must be of size batch_size"),
        ((3, 3, 1), [6, 6, 6], [3, 3, 3], {}, "Expected 1 to 2 dimensions, but got 3-dimensional tensor"),
        ((9,), torch.tensor([6.0, 6, 6]), [3, 3, 3], {}, "input_lengths must be integral"),
    ],
)
def test_ctc_loss_of_lengths_that_do_not_fit(targets: Any, inputs: Any, sizes: Any, options: Any, message: str) -> None:
    scores = torch.zeros(6, 3, 5).log_softmax(2)
    with pytest.raises(RuntimeError, match=message):
        F.ctc_loss(scores, torch.ones(targets, dtype=torch.int64), inputs, sizes, **options)


def test_ctc_loss_of_what_are_no_scores() -> None:
    target, lengths = torch.ones(3, dtype=torch.int64), torch.tensor([6])
    with pytest.raises(NotImplementedError, match="\"ctc_loss_cpu\" not implemented for 'Long'"):
        F.ctc_loss(torch.zeros(6, 1, 5, dtype=torch.int64), target, lengths, [3])
    with pytest.raises(RuntimeError, match="Expected 3-dimensional tensor, but got 2-dimensional tensor"):
        F.ctc_loss(torch.zeros(6), target, lengths, [3])
    with pytest.raises(RuntimeError, match="to have size 2 at dimension 0, but got size 3"):
        F.ctc_loss(torch.zeros(6, 5), target, lengths[0], torch.tensor(2))


@pytest.mark.parametrize("loss", [F.multi_margin_loss, F.multilabel_margin_loss])
@pytest.mark.parametrize("shape", [(0,), (10, 0), (2, 3, 4)])
def test_margin_losses_of_no_classes(loss: Callable[..., Any], shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="Expected non-empty vector or matrix with optional 0-dim batch size"):
        loss(torch.zeros(shape), torch.zeros(shape, dtype=torch.int64))


def test_targets_of_multilabel_margin_loss_are_indices() -> None:
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Float"):
        F.multilabel_margin_loss(torch.zeros(3, 4), torch.zeros(3, 4))


# Of an input that lies column by column and a target that lies row by row, and the other way round.
LAYOUTS = [
    (F.mse_loss, (1, 3), (2, 1)),
    (F.smooth_l1_loss, (1, 3), (2, 1)),
    (F.huber_loss, (1, 3), (2, 1)),
    (F.l1_loss, (1, 3), (2, 1)),
    (F.soft_margin_loss, (1, 3), (2, 1)),
    (F.binary_cross_entropy, (1, 3), (2, 1)),
    (F.binary_cross_entropy_with_logits, (2, 1), (1, 3)),
    (F.kl_div, (2, 1), (1, 3)),
]


@pytest.mark.parametrize(("loss", "of_columns", "of_rows"), LAYOUTS)
def test_layouts_of_single_losses(loss: Any, of_columns: tuple[int, ...], of_rows: tuple[int, ...]) -> None:
    columns, rows = torch.full((2, 3), 0.5).t(), torch.full((3, 2), 0.25)
    assert loss(columns, rows, reduction="none").stride() == of_columns
    assert loss(rows, columns, reduction="none").stride() == of_rows


@pytest.mark.parametrize("loss", [F.binary_cross_entropy, F.binary_cross_entropy_with_logits])
def test_layouts_of_weighted_losses(loss: Any) -> None:
    columns = torch.full((2, 3), 0.5).t()
    assert loss(columns, columns, torch.full((3, 2), 2.0), reduction="none").stride() == (1, 3)


def test_layout_of_losses_of_expanded_inputs() -> None:
    narrow, columns = torch.full((3, 1), 0.5), torch.full((2, 3), 0.5).t()
    with pytest.warns(UserWarning, match="different to the input size"):
        assert F.mse_loss(narrow, columns, reduction="none").stride() == (1, 3)
    with pytest.warns(UserWarning, match="different to the input size"):
        assert F.huber_loss(narrow, columns, reduction="none").stride() == (2, 1)


def test_kl_div_is_for_floats() -> None:
    ones = torch.ones(2)
    for kind, words in ((torch.int64, "Integral"), (torch.bool, "Integral"), (torch.complex64, "Complex")):
        for pair in ((ones, ones.to(kind)), (ones.to(kind), ones)):
            with pytest.raises(RuntimeError, match=f"kl_div: {words} inputs not supported"):
                F.kl_div(*pair, reduction="sum")


def test_targets_of_soft_margin_loss_have_the_shape_of_the_input_and_no_gradient() -> None:
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        F.soft_margin_loss(torch.ones(3), torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'target'"):
        F.soft_margin_loss(torch.ones(3), torch.ones(3, requires_grad=True))
    assert F.soft_margin_loss(torch.ones(2, 3), torch.ones(3, dtype=torch.float64)).dtype is torch.float32
    assert F.soft_margin_loss(torch.ones(3), torch.ones(3, dtype=torch.bool)).item() == pytest.approx(0.3132617)


def test_noise_in_bfloat16_stays_so() -> None:
    x = torch.tensor([-1.0, 2.0, -3.0], dtype=torch.bfloat16)
    assert F.rrelu(x, training=True).dtype is F.alpha_dropout(x, training=True).dtype is torch.bfloat16
    with pytest.raises(NotImplementedError, match="not implemented for 'Half'"):
        F.rrelu(x.half(), training=True)
