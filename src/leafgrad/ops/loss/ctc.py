"""ctc_loss: how unlikely a sequence of labels is, summed over all ways in which it may be spread over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.bind import bind_finding
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import BOOL, COMPLEX, HALF, INTEGER, from_numpy_dtype
from leafgrad.kernels import native_search
from leafgrad.kernels.moving import in_rows
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph

NEVER = -np.inf  # the logarithm of the probability of what cannot be


@op
class ctc_losses(Family):
    """ctc_losses(log_probs, targets, lengths, blank, zero_infinity): the loss of each sample, for log-probabilities
    (time, sample, label), with the labels of each sample and its length."""

    inputs = ("log_probs",)
    options = ("targets", "lengths", "blank", "zero_infinity")
    finds = "slopes"
    public_name = ""
    node_name = "CtcLossBackward0"
    aten = "_ctc_loss"
    derivatives = 1
    refuses = (BOOL, INTEGER, HALF, COMPLEX)
    kernel_name = "ctc_loss_cpu"

    def kernel(log_probs: A, targets: Any, lengths: Any, blank: int, zero_infinity: bool) -> Any:
        return losses_and_slopes(in_rows(log_probs), targets, lengths, blank, zero_infinity)

    def vjp(g: A, slopes: A) -> A:
        return g.reshape(1, -1, 1) * slopes

    def call(log_probs: Tensor, targets: Any, lengths: Any, blank: int, zero_infinity: bool) -> Tensor:
        silence_numpy()
        ctc_losses.check(from_numpy_dtype(log_probs.array.dtype))
        return bind_finding(ctc_losses.core, (log_probs,), (targets, lengths, blank, zero_infinity))

    def reference(torch: Any, log_probs: Any, targets: Any, lengths: Any, blank: int, zero_infinity: bool) -> Any:
        joined = torch.tensor([label for labels in targets for label in labels])
        sizes = tuple([len(labels) for labels in targets])
        options = {"blank": blank, "reduction": "none", "zero_infinity": zero_infinity}
        return torch.nn.functional.ctc_loss(log_probs, joined, tuple(lengths), sizes, **options)

    samples = ValuesOnly(
        "the gradient is that of scores of which the log-probabilities are the log_softmax",
        lambda t: [
            S(t(5, 2, 4, low=-3, high=-0.5), ((1, 2), (3, 3)), (5, 4), 0, False),
            S(t(4, 1, 3, low=-3, high=-0.5), ((0, 1),), (4,), 2, True),
            S(t(2, 1, 3, low=-3, high=-0.5), ((1, 1),), (2,), 0, True),
        ],
    )


@native_search("ctc_losses")
def losses_and_slopes(log_probs: Any, targets: Any, lengths: Any, blank: int, zero_infinity: bool) -> tuple[Any, Any]:
    """The losses of all samples, and their slopes by the scores."""
    losses = np.zeros(log_probs.shape[1], log_probs.dtype)
    slopes = np.zeros(log_probs.shape, log_probs.dtype)
    for n, (labels, length) in enumerate(zip(targets, lengths, strict=True)):
        losses[n], slopes[:length, n] = of_sequence(log_probs[:length, n], np.asarray(labels, np.int64), blank)
        if zero_infinity and np.isinf(losses[n]):
            losses[n], slopes[:, n] = 0, 0
    return losses, slopes


def of_sequence(log_probs: Any, labels: Any, blank: int) -> tuple[Any, Any]:
    """The loss of one sequence, and its slope by the scores of all labels at all times.

    Paths go through blank, label, blank, label, ..., blank: they stay, go one step, or two between different labels.
    """
    if not len(log_probs):
        return (np.inf if len(labels) else 0.0), log_probs
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    skips = np.zeros(len(states), bool)  # may be reached from two before?
    skips[3::2] = labels[1:] != labels[:-1]
    emitted = log_probs[:, states]
    before = summed_paths(emitted, skips)
    # the same from the end: a step is possible in one direction if and only if it is in the other
    skips_back = np.append([False, False], skips[2:][::-1])[: len(states)]
    after = summed_paths(emitted[::-1, ::-1], skips_back)[::-1, ::-1]
    ends = before[-1, -2:] if len(states) > 1 else before[-1]
    likelihood = np.logaddexp.reduce(ends)
    both = before + after
    with_state = np.where(np.isneginf(both), NEVER, both - emitted - likelihood)  # how likely a state is at a time
    slopes = np.exp(log_probs)
    for place, label in enumerate(states):
        slopes[:, label] -= np.exp(with_state[:, place])
    return -likelihood, slopes if np.isfinite(likelihood) else np.full_like(slopes, np.nan)


def summed_paths(emitted: Any, skips: Any) -> Any:
    """The logarithms of the probabilities of all beginnings of paths, by time and last state."""
    found = np.full(emitted.shape, NEVER, emitted.dtype)
    found[0, :2] = emitted[0, :2]
    for time in range(1, len(emitted)):
        last = found[time - 1]
        total = last.copy()
        total[1:] = np.logaddexp(total[1:], last[:-1])
        total[2:] = np.logaddexp(total[2:], np.where(skips[2:], last[:-2], NEVER))
        found[time] = total + emitted[time]
    return found
