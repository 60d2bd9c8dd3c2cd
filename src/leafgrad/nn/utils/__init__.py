"""leafgrad.nn.utils: clipping gradients, and parameters as one vector.

May import what `nn` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from leafgrad.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__, {"rnn": "rnn"})
