"""functorch.experimental: what was new once."""

from leafgrad._functorch.apis import chunk_vmap
from leafgrad.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = ["chunk_vmap", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
