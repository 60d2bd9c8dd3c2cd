"""leafgrad._C: the names of PyTorch's compiled part that are about `__torch_function__`, and no others."""

from leafgrad import _missing
from leafgrad._core.overrides import DisableTorchFunction, DisableTorchFunctionSubclass
from leafgrad._core.overrides import disabled as _disabled_torch_function_impl

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_disabled_torch_function_impl"]
__getattr__ = _missing.attributes_of(__name__)
