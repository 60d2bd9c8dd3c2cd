"""Random tensors. The numbers come from `leafgrad.random`, which draws PyTorch's; here they become tensors."""

from __future__ import annotations

from typing import Any

from leafgrad.creation import create, sizes


def manual_seed(seed: int) -> Any:
    """manual_seed(seed): start the default generator anew."""
    from leafgrad import random

    return random.manual_seed(seed)


def rand(
    *args: Any, size: Any = None, generator: Any = None, out: Any = None, dtype: Any = None, **options: Any
) -> Any:
    """rand(*size, generator=None, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): uniform numbers in [0, 1)."""
    from leafgrad import random

    shape = sizes("rand", args, size)
    return create("rand", lambda kind: random.uniform(generator, shape, kind.np), dtype, out, options)


def randn(
    *args: Any, size: Any = None, generator: Any = None, out: Any = None, dtype: Any = None, **options: Any
) -> Any:
    """randn(*size, generator=None, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): numbers of the standard normal distribution."""
    from leafgrad import random

    shape = sizes("randn", args, size)
    return create("randn", lambda kind: random.normal(generator, shape, kind.np), dtype, out, options)
