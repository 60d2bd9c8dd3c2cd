"""leafgrad.nn: models are made of modules, modules have parameters. The layers are in nn/modules, and imported when
they are first used.

May import `_absent`, `_core`, `ops`, `autograd`, `_tensor`, `errors`, `_settings`, `_dtypes` and `_device`; inside
functions also `utils`, for the backward hooks of modules, and `leafgrad`, for a function by its public name.
"""

from __future__ import annotations

from leafgrad._tensor.install import namespace as _namespace
from leafgrad.nn import functional, init, utils
from leafgrad.nn import parameter as parameter
from leafgrad.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from leafgrad.nn.parameter import factory_kwargs as factory_kwargs

__getattr__, __dir__, __all__ = _namespace(
    __name__, {name: name for name in ("attention", "common_types", "grad", "modules", "parallel")}
)
