"""leafgrad.nn.utils: clipping gradients, parameters as one vector, parameters that are computed from others.

May import what `nn` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from leafgrad.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from leafgrad.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from leafgrad.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "remove_spectral_norm",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]

# imported when they are first used
_LATER = {name: name for name in ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune")}
_LATER |= {"rnn": "rnn", "stateless": "stateless"}
_LATER |= {f"fuse_{layer}_bn_{what}": "fusion" for layer in ("conv", "linear") for what in ("eval", "weights")}
_LATER |= {f"convert_conv{n}d_weight_memory_format": "memory_format" for n in (2, 3)}
_LATER["skip_init"] = "init"


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__, _LATER)
