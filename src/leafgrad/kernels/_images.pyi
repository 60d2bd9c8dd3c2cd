"""The native module, see _images.c."""

from typing import Any

Ints = tuple[int, ...]

def convolve(
    images: Any,
    w: Any,
    bias: Any | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    sizes: Ints = ...,
    /,
) -> Any: ...
def weights(x: Any, y: Any, window: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int, /) -> Any: ...
def use_vectors(most: int, /) -> int: ...
