"""softmax, log_softmax and logsumexp."""

from __future__ import annotations
