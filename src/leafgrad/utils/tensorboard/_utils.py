"""Pictures in the form that they are stored in: height, width, three colours."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def figure_to_image(figures: Any, close: bool = True) -> Array:
    """figure_to_image(figures, close=True): a figure of matplotlib's as numbers (3, height, width); several figures
    behind each other."""
    if isinstance(figures, list):
        return np.stack([figure_to_image(figure, close) for figure in figures])
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figures)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].transpose(2, 0, 1).copy()
    if close:
        pyplot.close(figures)
    return pixels


def make_grid(I: Any, ncols: int = 8) -> Array:
    """make_grid(I, ncols=8): pictures (number, colours, height, width) in rows and columns of one picture."""
    if not isinstance(I, np.ndarray):
        raise AssertionError("plugin error, should pass numpy array here")
    if I.shape[1] == 1:
        I = np.repeat(I, 3, 1)
    if I.ndim != 4 or I.shape[1] != 3:
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    count, _, height, width = I.shape
    ncols = min(count, ncols)
    rows = -(-count // ncols)
    grid = np.zeros((3, height * rows, width * ncols), I.dtype)
    for i, picture in enumerate(I):
        row, column = divmod(i, ncols)
        grid[:, row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    return grid


def convert_to_HWC(tensor: Array, input_format: str) -> Array:
    """convert_to_HWC(tensor, input_format): a picture whose dimensions are named by letters as height, width, colours,
    of which there are three; with the letter N, several pictures in a grid."""
    letters = input_format.upper()
    if len(set(letters)) != len(letters):
        raise AssertionError(
            f"You can not use the same dimension shorthand twice.             input_format: {input_format}"
        )
    if tensor.ndim != len(letters):
        raise AssertionError(
            "size of input tensor and input format are different.         tensor shape: "
            f"{tensor.shape}, input_format: {input_format}"
        )
    if len(letters) == 2:
        return np.stack([tensor.transpose([letters.index(letter) for letter in "HW"])] * 3, 2)
    if len(letters) == 3:
        picture = tensor.transpose([letters.index(letter) for letter in "HWC"])
        return np.repeat(picture, 3, 2) if picture.shape[2] == 1 else picture
    return make_grid(tensor.transpose([letters.index(letter) for letter in "NCHW"])).transpose(1, 2, 0)


def _prepare_video(V: Array) -> Array:
    """Films (number, time, colours, height, width) side by side in one, as (time, height, width, colours). There are as
    many places as the next power of two."""
    count, time, colours, height, width = V.shape
    if V.dtype == np.uint8:
        V = np.float32(V) / 255.0
    places = 1 << (count - 1).bit_length()
    V = np.concatenate([V, np.zeros((places - count, *V.shape[1:]))]) if places > count else V
    rows = 1 << ((count.bit_length() - 1) // 2)
    films = V.reshape(rows, places // rows, time, colours, height, width).transpose(2, 0, 4, 1, 5, 3)
    return films.reshape(time, rows * height, places // rows * width, colours)
