"""Loss functions: mse_loss, nll_loss, cross_entropy."""

from __future__ import annotations
