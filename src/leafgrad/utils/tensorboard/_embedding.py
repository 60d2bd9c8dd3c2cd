"""The files of TensorBoard's projector: points in a space of many dimensions, with their labels and pictures."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from leafgrad.utils.tensorboard._convert_np import make_np
from leafgrad.utils.tensorboard._media import _pillow
from leafgrad.utils.tensorboard._utils import make_grid

Array = Any


def make_tsv(metadata: Any, save_path: str, metadata_header: Any = None) -> None:
    """make_tsv(metadata, save_path, metadata_header=None): the labels, one line each."""
    if not metadata_header:
        lines = [str(each) for each in metadata]
    elif len(metadata_header) != len(metadata[0]):
        raise AssertionError("len of header must be equal to the number of columns in metadata")
    else:
        lines = ["\t".join([str(each) for each in row]) for row in [metadata_header, *metadata]]
    _write(save_path, "metadata.tsv", "\n".join(lines) + "\n")


def make_sprite(label_img: Any, save_path: str) -> None:
    """make_sprite(label_img, save_path): the pictures in a square of them."""
    grid = make_grid(make_np(label_img), ncols=math.ceil(len(label_img) ** 0.5)).transpose(1, 2, 0)
    square = np.zeros((grid.shape[1], grid.shape[1], 3))
    square[: grid.shape[0]] = grid
    picture = _pillow()[0].fromarray(np.uint8((square * 255).clip(0, 255)))
    picture.save(os.path.join(save_path, "sprite.png"), format="PNG")


def make_mat(matlist: Array, save_path: str) -> None:
    """make_mat(matlist, save_path): the points, one line each."""
    rows = ["\t".join([str(number.item()) for number in row]) + "\n" for row in matlist]
    _write(save_path, "tensors.tsv", "".join(rows))


def get_embedding_info(metadata: Any, label_img: Any, subdir: str, global_step: Any, tag: str) -> Any:
    """get_embedding_info(metadata, label_img, subdir, global_step, tag): which files there are."""
    info = EmbeddingInfo(tensor_name=f"{tag}:{global_step:05}", tensor_path=os.path.join(subdir, "tensors.tsv"))
    if metadata is not None:
        info.metadata_path = os.path.join(subdir, "metadata.tsv")
    if label_img is not None:
        info.sprite.image_path = os.path.join(subdir, "sprite.png")
        info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
    return info


def write_pbtxt(save_path: str, contents: str) -> None:
    """write_pbtxt(save_path, contents): the list of all spaces."""
    _write(save_path, "projector_config.pbtxt", contents)


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
