"""leafgrad.backends: switches of the libraries that PyTorch computes with. They can be set and read; leafgrad computes
with NumPy, whose results they do not change.

May import `_absent` and `_settings`.
"""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__getattr__ = _missing.attributes_of(__name__)
