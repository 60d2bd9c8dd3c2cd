"""torch._functorch.eager_transforms: where PyTorch keeps the derivatives of torch.func."""

from leafgrad.func import debug_unwrap, functionalize, hessian, jacfwd, jacrev, jvp, linearize, vjp

__all__ = ["debug_unwrap", "functionalize", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]
