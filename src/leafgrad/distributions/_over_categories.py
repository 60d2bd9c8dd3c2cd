"""What distributions over the categories of a Categorical share: its parameters are theirs."""

from __future__ import annotations

from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.categorical import Categorical
from leafgrad.distributions.distribution import Parametric, Size


class OverCategories(Parametric):
    """A distribution with the parameters of `_categorical`, which a subclass sets first of all."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape
