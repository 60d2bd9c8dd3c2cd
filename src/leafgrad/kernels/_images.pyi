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
def pool_max(x: Any, positions: Ints, windows: tuple[Ints, Ints, Ints, Ints] | None, indices: bool, /) -> Any: ...
def pool_mean(
    x: Any, positions: Ints, windows: tuple[Ints, Ints, Ints, Ints] | None, include_pad: bool, divisor: int, /
) -> Any: ...
def pool_spread(
    g: Any, sizes: Ints, windows: tuple[Ints, Ints, Ints, Ints] | None, include_pad: bool, divisor: int, /
) -> Any: ...
def pool_put(g: Any, indices: Any, size: int, /) -> Any: ...
def sample(image: Any, grid: Any, mode: int, padding: int, align_corners: bool, /) -> Any: ...
def sample_back(
    g: Any, image: Any, grid: Any, mode: int, padding: int, align_corners: bool, of_image: bool, of_grid: bool, /
) -> tuple[Any, Any]: ...
