"""SummaryWriter: what a training tells TensorBoard."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.event_pb2 import Event, SessionLog, TaggedRunMetadata
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from leafgrad.utils.tensorboard import summary
from leafgrad.utils.tensorboard._convert_np import make_np
from leafgrad.utils.tensorboard._embedding import get_embedding_info, make_mat, make_sprite, make_tsv, write_pbtxt
from leafgrad.utils.tensorboard._graph import graph
from leafgrad.utils.tensorboard._utils import figure_to_image

__all__ = ["FileWriter", "SummaryWriter"]

Step = int | None
Time = float | None


class FileWriter:
    """FileWriter(log_dir, max_queue=10, flush_secs=120, filename_suffix=""): a file of events."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer: Any = EventFileWriter(os.fspath(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """get_logdir(): the folder of the file."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Step = None, walltime: Time = None) -> None:
        """add_event(event, step=None, walltime=None): write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Step = None, walltime: Time = None) -> None:
        """add_summary(summary, global_step=None, walltime=None): write an entry, as those of `summary`."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: Time = None) -> None:
        """add_graph(graph_profile, walltime=None): write a graph and what is known of its run."""
        drawn, run = graph_profile
        self.add_event(Event(graph_def=drawn.SerializeToString()), None, walltime)
        tagged = TaggedRunMetadata(tag="step1", run_metadata=run.SerializeToString())
        self.add_event(Event(tagged_run_metadata=tagged), None, walltime)

    def flush(self) -> None:
        """flush(): all that was added is in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """close(): end the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """reopen(): go on writing after close()."""
        self.event_writer.reopen()


def bucket_limits() -> list[float]:
    """The limits of TensorFlow's histograms: from 1e-12 to 1e20 each is larger by a tenth, and the same below zero."""
    positive = []
    limit = 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    return [*[-limit for limit in reversed(positive)], 0.0, *positive]


class SummaryWriter:
    """SummaryWriter(log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
    writes into a file of events in `log_dir`, by default runs/<time>_<host>."""

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
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[Any, FileWriter] | None = None
        self.default_bins = bucket_limits()
        self._projector_config: Any = ProjectorConfig()
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The file, which is made where it was closed."""
        if self.file_writer is None or self.all_writers is None:
            writer = self.file_writer = self._new_writer(self.log_dir)
            self.all_writers = {writer.get_logdir(): writer}
            if self.purge_step is not None:  # what was written of later steps is not to be shown
                writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                writer.add_event(Event(step=self.purge_step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def _new_writer(self, folder: Any) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, entry: Any, global_step: Step = None, walltime: Time = None) -> None:
        self._get_file_writer().add_summary(entry, global_step, walltime)

    # -- numbers and texts --------------------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Step = None,
        walltime: Time = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """add_scalar(tag, scalar_value, global_step=None, walltime=None): one number."""
        entry = summary.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision)
        self._add(entry, global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Step = None, walltime: Time = None
    ) -> None:
        """add_scalars(main_tag, tag_scalar_dict, global_step=None, walltime=None): several numbers in one picture, each
        in a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            name = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if name not in self.all_writers:
                self.all_writers[name] = self._new_writer(name)
            self.all_writers[name].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Step = None, walltime: Time = None) -> None:
        """add_tensor(tag, tensor, global_step=None, walltime=None): a whole tensor."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Step = None, walltime: Time = None) -> None:
        """add_text(tag, text_string, global_step=None, walltime=None): a text, as Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Step = None,
    ) -> None:
        """add_hparams(hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        settings and what came of them, in a folder of their own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        entries = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for entry in entries:
                writer._add(entry, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    # -- distributions ------------------------------------------------------------------------------------------------

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Step = None,
        bins: Any = "tensorflow",
        walltime: Time = None,
        max_bins: int | None = None,
    ) -> None:
        """add_histogram(tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None): how numbers
        are distributed. `bins` may also be what np.histogram takes."""
        limits = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summary.histogram(tag, values, limits, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: Any,
        max: Any,
        num: Any,
        sum: Any,
        sum_squares: Any,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: Step = None,
        walltime: Time = None,
    ) -> None:
        """add_histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None,
        walltime=None): a distribution that was counted elsewhere; a limit is the upper one of its bucket."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        entry = summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(entry, global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Step = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: Time = None,
    ) -> None:
        """add_pr_curve(tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        precision and recall of a classifier of two classes, for thresholds from 0 to 1."""
        entry = summary.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights)
        self._add(entry, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Step = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: Time = None,
    ) -> None:
        """add_pr_curve_raw(tag, true_positive_counts, ..., precision, recall, global_step=None, num_thresholds=127):
        the same, counted elsewhere."""
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        entry = summary.pr_curve_raw(tag, *counts, precision, recall, num_thresholds, weights)
        self._add(entry, global_step, walltime)

    # -- pictures, films, sounds --------------------------------------------------------------------------------------

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Step = None, walltime: Time = None, dataformats: str = "CHW"
    ) -> None:
        """add_image(tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"): a picture, of numbers from 0
        to 1, or of uint8."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Step = None, walltime: Time = None, dataformats: str = "NCHW"
    ) -> None:
        """add_images(tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"): pictures, in a grid."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Step = None,
        walltime: Time = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """add_image_with_boxes(tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1,
        dataformats="CHW", labels=None): a picture with boxes (left, top, right, bottom) in it."""
        labels = [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != len(box_tensor):
            labels = None
        entry = summary.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self._add(entry, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Step = None, close: bool = True, walltime: Time = None
    ) -> None:
        """add_figure(tag, figure, global_step=None, close=True, walltime=None): a figure of matplotlib's, or a list of
        them."""
        dataformats = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime, dataformats)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Step = None, fps: float = 4, walltime: Time = None
    ) -> None:
        """add_video(tag, vid_tensor, global_step=None, fps=4, walltime=None): films (number, time, colours, height,
        width) of numbers from 0 to 1, or of uint8."""
        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Step = None, sample_rate: int = 44100, walltime: Time = None
    ) -> None:
        """add_audio(tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None): a sound of numbers from -1
        to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    # -- graphs, spaces, shapes ---------------------------------------------------------------------------------------

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """add_graph(model, input_to_model=None): the operations of a model, in its modules, for this input."""
        drawn = graph(model, input_to_model)
        if verbose:
            print(drawn[0])
        self._get_file_writer().add_graph(drawn)

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: Step = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """add_embedding(mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        points, which may have labels and pictures, for the projector."""
        points = make_np(mat)
        step = 0 if global_step is None else global_step
        letters = [chr(each) if chr(each).isalnum() else f"%{each:02x}" for each in tag.encode()]
        inside = os.path.join(f"{step:05}", "".join(letters))
        folder = os.path.join(self._get_file_writer().get_logdir(), inside)
        if os.path.isdir(folder):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        elif os.path.exists(folder):
            raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
        os.makedirs(folder, exist_ok=True)
        if metadata is not None:
            if len(points) != len(metadata):
                raise AssertionError("#labels should equal with #data points")
            make_tsv(metadata, folder, metadata_header)
        if label_img is not None:
            if len(points) != len(label_img):
                raise AssertionError("#images should equal with #data points")
            make_sprite(label_img, folder)
        if points.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        make_mat(points, folder)
        self._projector_config.embeddings.extend([get_embedding_info(metadata, label_img, inside, step, tag)])
        write_pbtxt(self._get_file_writer().get_logdir(), text_format.MessageToString(self._projector_config))

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Any = None,
        global_step: Step = None,
        walltime: Time = None,
    ) -> None:
        """add_mesh(tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None): points
        in space, which may have colours and be joined to triangles."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    # -- how numbers are shown ----------------------------------------------------------------------------------------

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Any]]) -> None:
        """add_custom_scalars(layout): which numbers are shown together: {category: {title: ["Multiline", [tags]]}}."""
        self._add(summary.custom_scalars(layout))

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """add_custom_scalars_multilinechart(tags, category="default", title="untitled"): numbers in one picture."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """add_custom_scalars_marginchart(tags, category="default", title="untitled"): a number between two others."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    # -- the files ----------------------------------------------------------------------------------------------------

    def get_logdir(self) -> Any:
        """get_logdir(): the folder."""
        return self.log_dir

    def flush(self) -> None:
        """flush(): all that was added is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """close(): flush, and end writing; what is added afterwards goes into a new file."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
