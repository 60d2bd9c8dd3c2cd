"""torch._functorch: where PyTorch keeps torch.func, and the package functorch that came before it.

May import `_missing`, `errors`, `func`, `nn` and `ops`.
"""

from leafgrad import _missing

__getattr__ = _missing.attributes_of(__name__)
