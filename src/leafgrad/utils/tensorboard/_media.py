"""Pictures, films and sounds as entries of a file."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from leafgrad.utils.tensorboard._convert_np import make_np
from leafgrad.utils.tensorboard._utils import _prepare_video, convert_to_HWC

Array = Any


def _pillow() -> Any:
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise ImportError(
            "pictures need the package Pillow, which is not installed\n  fix: pip install Pillow"
        ) from error
    return Image, ImageDraw


def _calc_scale_factor(tensor: Any) -> int:
    """By what numbers are multiplied to be from 0 to 255."""
    return 1 if make_np(tensor).dtype == np.uint8 else 255


def _as_bytes(pixels: Array) -> Array:
    return (pixels.astype(np.float32) * _calc_scale_factor(pixels)).clip(0, 255).astype(np.uint8)


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """image(tag, tensor, rescale=1, dataformats="NCHW"): a picture, or a grid of pictures."""
    pixels = convert_to_HWC(make_np(tensor), dataformats)
    return Summary(value=[Summary.Value(tag=tag, image=make_image(_as_bytes(pixels), rescale))])


def image_boxes(
    tag: str, tensor_image: Any, tensor_boxes: Any, rescale: float = 1, dataformats: str = "CHW", labels: Any = None
) -> Any:
    """image_boxes(tag, tensor_image, tensor_boxes, rescale=1, dataformats="CHW", labels=None): a picture with boxes
    (left, top, right, bottom) in it."""
    pixels = convert_to_HWC(make_np(tensor_image), dataformats)
    made = make_image(_as_bytes(pixels), rescale, make_np(tensor_boxes), labels)
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def make_image(tensor: Array, rescale: float = 1, rois: Array | None = None, labels: Any = None) -> Any:
    """make_image(tensor, rescale=1, rois=None, labels=None): bytes (height, width, colours) as PNG."""
    Image, ImageDraw = _pillow()
    height, width, colours = tensor.shape
    picture = Image.fromarray(tensor)
    if rois is not None:
        pen = ImageDraw.Draw(picture)
        for i, (left, top, right, bottom) in enumerate(rois.tolist()):
            pen.rectangle([left, top, right, bottom], outline="red", width=2)
            if labels is not None:
                pen.text((left + 2, bottom - 12), str(labels[i]), fill="red")
    picture = picture.resize((int(width * rescale), int(height * rescale)), Image.Resampling.LANCZOS)
    picture.save(file := io.BytesIO(), format="PNG")
    return Summary.Image(height=height, width=width, colorspace=colours, encoded_image_string=file.getvalue())


def video(tag: str, tensor: Any, fps: float = 4) -> Any:
    """video(tag, tensor, fps=4): films (number, time, colours, height, width), side by side, as GIF."""
    Image, _ = _pillow()
    films = make_np(tensor)
    frames = (_prepare_video(films).astype(np.float32) * 255.0).clip(0, 255).astype(np.uint8)
    _, height, width, colours = frames.shape
    first, *others = [Image.fromarray(frame[:, :, 0] if colours == 1 else frame) for frame in frames]
    first.save(
        file := io.BytesIO(), format="GIF", save_all=True, append_images=others, duration=round(1000 / fps), loop=0
    )
    made = Summary.Image(height=height, width=width, colorspace=colours, encoded_image_string=file.getvalue())
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """audio(tag, tensor, sample_rate=44100): a sound of numbers from -1 to 1."""
    wanted = make_np(tensor).squeeze()
    if np.abs(wanted).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
    if wanted.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    numbers = (wanted.clip(-1, 1) * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes(numbers.tobytes())
    made = Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=len(numbers), encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, audio=made)])
