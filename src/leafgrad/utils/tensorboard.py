"""torch.utils.tensorboard: numbers, pictures and texts of a training, for TensorBoard, whose package it needs."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from leafgrad import _missing
from leafgrad._core.tensor import TensorBase

try:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ImportError as error:
    raise ImportError(
        "torch.utils.tensorboard needs the package tensorboard, which is not installed\n"
        "  fix: pip install 'leafgrad[tensorboard]'   (or: pip install tensorboard)"
    ) from error

__all__ = ["SummaryWriter"]


def array_of(value: Any) -> Any:
    """The numbers of a tensor, an array or a list."""
    return value.detach().array if isinstance(value, TensorBase) else np.asarray(value)  # type: ignore[attr-defined]


def bucket_limits() -> Any:
    """The limits of TensorFlow's histograms: from 1e-12 on each is larger by a tenth, and the same below zero."""
    positive = 1e-12 * 1.1 ** np.arange(int(np.log(1e32) / np.log(1.1)) + 1)
    return np.concatenate([-positive[::-1], [0.0], positive])


class SummaryWriter:
    """SummaryWriter(log_dir=None, comment="", max_queue=10, flush_secs=120, filename_suffix=""): writes into a file of
    events in `log_dir`, by default runs/<time>_<host>."""

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}")
        self.log_dir: str = os.fspath(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._writers: dict[str, Any] = {}
        self.file_writer = self._writer(self.log_dir)
        if purge_step is not None:
            self.file_writer.add_event(Event(wall_time=time.time(), step=purge_step, file_version="brain.Event:2"))

    def _writer(self, folder: str) -> Any:
        if folder not in self._writers:
            self._writers[folder] = EventFileWriter(folder, *self._options)
        return self._writers[folder]

    def _add(self, values: list[Any], global_step: Any, walltime: float | None, folder: str | None = None) -> None:
        event = Event(wall_time=time.time() if walltime is None else walltime, summary=Summary(value=values))
        if global_step is not None:
            event.step = int(global_step)
        self._writer(folder or self.log_dir).add_event(event)

    # -- what can be written -------------------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """add_scalar(tag, scalar_value, global_step=None, walltime=None): one number."""
        self._add([scalar(tag, scalar_value, new_style, double_precision)], global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """add_scalars(main_tag, tag_scalar_dict, global_step=None, walltime=None): several numbers in one picture, each
        in a folder of its own."""
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add([scalar(main_tag, value)], global_step, walltime, folder)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """add_histogram(tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None): how numbers
        are distributed. `bins` may also be what np.histogram takes."""
        numbers = array_of(values).astype(np.float64).reshape(-1)
        limits = bucket_limits() if isinstance(bins, str) and bins == "tensorflow" else bins
        counts, edges = np.histogram(numbers, bins=limits)
        if max_bins is not None and len(counts) > max_bins:
            together = -(-len(counts) // max_bins)
            counts = np.add.reduceat(counts, np.arange(0, len(counts), together))
            edges = np.append(edges[:-1:together], edges[-1])
        used = np.flatnonzero(counts)
        if not len(used):
            raise ValueError("The histogram is empty." if len(numbers) else "The input has no element.")
        first, last = used[0], used[-1] + 1
        histogram = HistogramProto(
            min=numbers.min(), max=numbers.max(), num=len(numbers), sum=numbers.sum(), sum_squares=numbers.dot(numbers),
            bucket_limit=[edges[first], *edges[first + 1 : last + 1]], bucket=[0, *counts[first:last]],
        )  # fmt: skip
        self._add([Summary.Value(tag=tag, histo=histogram)], global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """add_text(tag, text_string, global_step=None, walltime=None): a text, as Markdown."""
        plugin = SummaryMetadata.PluginData(plugin_name="text", content=b"")
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
        text = TensorProto(dtype="DT_STRING", string_val=[text_string.encode()], tensor_shape=shape)
        metadata = SummaryMetadata(plugin_data=plugin)
        self._add([Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=text)], global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """add_image(tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"): a picture, of numbers from 0
        to 1, or of uint8."""
        pixels = array_of(img_tensor)
        order = [dataformats.upper().index(letter) for letter in "HWC" if letter in dataformats.upper()]
        if len(dataformats) != pixels.ndim:
            raise AssertionError(
                f"size of input tensor and input format are different. tensor shape: {pixels.shape}, input_format: "
                f"{dataformats}"
            )
        pixels = pixels.transpose(order)
        self._add([Summary.Value(tag=tag, image=encoded(pixels))], global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """add_images(tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"): pictures, in one row."""
        pixels = array_of(img_tensor)
        order = [dataformats.upper().index(letter) for letter in "HNWC"]
        rows = pixels.transpose(order)
        self.add_image(tag, rows.reshape(rows.shape[0], -1, rows.shape[-1]), global_step, walltime, "HWC")

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """add_hparams(hparam_dict, metric_dict, run_name=None, global_step=None): settings and what came of them, as a
        text and as numbers in a folder of their own."""
        if hparam_domain_discrete is not None:
            raise NotImplementedError("leafgrad writes settings as a text, which has no domains")
        rows = "\n".join([f"| {name} | {value} |" for name, value in hparam_dict.items()])
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            writer.add_text("hparams", f"| setting | value |\n|---|---|\n{rows}", global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    # -- the file ------------------------------------------------------------------------------------------------------

    def get_logdir(self) -> str:
        """get_logdir(): the folder."""
        return self.log_dir

    def flush(self) -> None:
        """flush(): all that was added is in the file."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """close(): flush, and end writing; what is added afterwards goes into a new file."""
        for writer in self._writers.values():
            writer.flush()
            writer.close()
        self._writers.clear()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            raise AttributeError(
                f"'SummaryWriter' object has no attribute '{name}'\n"
                "leafgrad writes scalars, histograms, texts, images and settings (yet)."
            )
        raise AttributeError(f"'SummaryWriter' object has no attribute '{name}'", name=name, obj=type(self))


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """One number as an entry of a file."""
    number = array_of(value)
    if number.size != 1:
        raise AssertionError("scalar should be 0D")
    one = float(number.reshape(-1)[0])
    if not new_style:
        return Summary.Value(tag=tag, simple_value=one)
    plugin = SummaryMetadata.PluginData(plugin_name="scalars")
    kind = (
        {"double_val": [one], "dtype": "DT_DOUBLE"} if double_precision else {"float_val": [one], "dtype": "DT_FLOAT"}
    )
    return Summary.Value(tag=tag, tensor=TensorProto(**kind), metadata=SummaryMetadata(plugin_data=plugin))


def encoded(pixels: Any) -> Any:
    """A picture as PNG."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "pictures need the package Pillow, which is not installed\n  fix: pip install Pillow"
        ) from error
    if pixels.dtype != np.uint8:
        pixels = np.clip(pixels.astype(np.float32) * 255.0, 0, 255).astype(np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    Image.fromarray(pixels).save(file := io.BytesIO(), format="PNG")
    return Summary.Image(
        height=pixels.shape[0], width=pixels.shape[1], colorspace=channels, encoded_image_string=file.getvalue()
    )


__getattr__ = _missing.attributes_of(__name__)
