"""What can be written, as entries of a file: each function makes a `Summary` of TensorBoard's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.struct_pb2 import ListValue, Value
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from leafgrad._core.tensor import TensorBase
from leafgrad.utils.tensorboard._convert_np import make_np
from leafgrad.utils.tensorboard._media import _calc_scale_factor as _calc_scale_factor
from leafgrad.utils.tensorboard._media import audio, image, image_boxes, make_image, video

__all__ = [
    "audio", "compute_curve", "custom_scalars", "histogram", "histogram_raw", "hparams", "image", "image_boxes",
    "make_histogram", "make_image", "mesh", "pr_curve", "pr_curve_raw", "scalar", "tensor_proto", "text", "video",
]  # fmt: skip

Array = Any


def _entry(tag: str, plugin: str, content: bytes = b"", tensor: Any = None) -> Any:
    """A summary of one value, which a plugin of TensorBoard's shows."""
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=tensor)])


def _shape(*sizes: int) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


# -- numbers and texts ------------------------------------------------------------------------------------------------


def scalar(
    name: str, tensor: Any, collections: Any = None, new_style: bool = False, double_precision: bool = False
) -> Any:
    """scalar(name, tensor, new_style=False, double_precision=False): one number."""
    number = make_np(tensor).squeeze()
    if number.ndim != 0:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions).             Was given size: "
            f"{number.size} and {number.ndim} dimensions."
        )
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=float(number))])
    field, kind = ("double_val", "DT_DOUBLE") if double_precision else ("float_val", "DT_FLOAT")
    return _entry(name, "scalars", tensor=TensorProto(**{field: [float(number)]}, dtype=kind))


# the dtypes of TensorBoard, and the field that has the numbers
_FIELDS = {
    "float16": ("DT_HALF", "half_val"), "bfloat16": ("DT_BFLOAT16", "half_val"), "float32": ("DT_FLOAT", "float_val"),
    "float64": ("DT_DOUBLE", "double_val"), "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "uint32_val"),
    "int16": ("DT_INT16", "int_val"), "int32": ("DT_INT32", "int_val"), "int64": ("DT_INT64", "int64_val"),
    "complex64": ("DT_COMPLEX64", "scomplex_val"), "complex128": ("DT_COMPLEX128", "dcomplex_val"),
    "bool": ("DT_BOOL", "bool_val"),
}  # fmt: skip


def tensor_proto(tag: str, tensor: Any) -> Any:
    """tensor_proto(tag, tensor): a whole tensor."""
    if tensor.numel() * tensor.itemsize >= 1 << 31:
        raise ValueError("tensor is bigger than protocol buffer's hard limit of 2GB in size")
    if tensor.dtype.name not in _FIELDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    kind, field = _FIELDS[tensor.dtype.name]
    numbers = tensor.detach().resolve_conj().array.reshape(-1)
    if field == "half_val":  # the bits, as PyTorch writes them: of the number as float32
        numbers = numbers.astype(np.float32).view(np.uint32)
    elif numbers.dtype.kind == "c":  # in pairs
        numbers = numbers.view(numbers.real.dtype)
    made = TensorProto(**{"dtype": kind, "tensor_shape": _shape(*tensor.shape), field: numbers.tolist()})
    return _entry(tag, "tensor", tensor=made)


def text(tag: str, text: str) -> Any:
    """text(tag, text): a text, as Markdown."""
    made = TensorProto(dtype="DT_STRING", string_val=[text.encode("utf-8")], tensor_shape=_shape(1))
    return _entry(f"{tag}/text_summary", "text", tensor=made)


# -- distributions ----------------------------------------------------------------------------------------------------


def histogram_raw(
    name: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any, bucket_counts: Any
) -> Any:
    """histogram_raw(name, min, max, num, sum, sum_squares, bucket_limits, bucket_counts): a distribution that was
    counted elsewhere."""
    made = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits, bucket=bucket_counts
    )
    return Summary(value=[Summary.Value(tag=name, histo=made)])


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """histogram(name, values, bins, max_bins=None): how numbers are distributed."""
    made = make_histogram(make_np(values).astype(float), bins, max_bins)
    return Summary(value=[Summary.Value(tag=name, histo=made)])


def make_histogram(values: Array, bins: Any, max_bins: int | None = None) -> Any:
    """make_histogram(values, bins, max_bins=None): the counts, without empty bins at both ends but one before."""
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        counts = np.add.reduceat(counts, np.arange(0, len(counts), together))
        limits = np.append(limits[:-1:together], limits[-1])
    used = np.flatnonzero(counts)
    if not len(used):
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = used[0], used[-1] + 1
    if first > 0:
        counts = counts[first - 1 : last]
        limits = limits[first : last + 1]
    else:
        counts = np.concatenate([[0], counts[:last]])
        limits = limits[: last + 1]
    return HistogramProto(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(), sum_squares=values.dot(values),
        bucket_limit=limits.tolist(), bucket=counts.tolist(),
    )  # fmt: skip


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Any:
    """pr_curve(tag, labels, predictions, num_thresholds=127, weights=None): precision and recall of a classifier of
    two classes, for thresholds from 0 to 1."""
    num_thresholds = min(num_thresholds, 127)  # TensorBoard takes no more
    return _curve(tag, compute_curve(labels, predictions, num_thresholds, weights), num_thresholds)


def pr_curve_raw(
    tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any, num_thresholds: int = 127,
    weights: Any = None,
) -> Any:  # fmt: skip
    """pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127): the same, counted elsewhere."""
    return _curve(tag, np.stack((tp, fp, tn, fn, precision, recall)), min(num_thresholds, 127))


def _curve(tag: str, rows: Array, num_thresholds: int) -> Any:
    content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    made = TensorProto(dtype="DT_FLOAT", float_val=rows.reshape(-1).tolist(), tensor_shape=_shape(*rows.shape))
    return _entry(tag, "pr_curves", content, made)


def compute_curve(labels: Array, predictions: Array, num_thresholds: int = 127, weights: Any = None) -> Array:
    """compute_curve(labels, predictions, num_thresholds, weights=None): true and false positives, true and false
    negatives, precision and recall, for each threshold."""
    weights = 1.0 if weights is None else weights
    smallest = 1e-7
    buckets = np.int32(np.floor(predictions * (num_thresholds - 1)))
    right = labels.astype(float)

    def at_least(weight: Array) -> Array:
        """The weight of what is predicted to be at least each threshold."""
        counts, _ = np.histogram(buckets, bins=num_thresholds, range=(0, num_thresholds - 1), weights=weight)
        return np.cumsum(counts[::-1])[::-1]

    tp, fp = at_least(right * weights), at_least((1.0 - right) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack((tp, fp, tn, fn, tp / np.maximum(smallest, tp + fp), tp / np.maximum(smallest, tp + fn)))


# -- settings, layouts, shapes ----------------------------------------------------------------------------------------


def hparams(
    hparam_dict: Any = None, metric_dict: Any = None, hparam_domain_discrete: Any = None
) -> tuple[Any, Any, Any]:
    """hparams(hparam_dict, metric_dict, hparam_domain_discrete=None): three entries: which settings and results there
    are, the settings of this run, and that it ended."""
    domains = hparam_domain_discrete or {}
    named = {"hparam_dict": hparam_dict, "metric_dict": metric_dict, "hparam_domain_discrete": domains}
    for name, value in named.items():
        if not isinstance(value, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, domain in domains.items():
        fits = name in hparam_dict and isinstance(domain, list)
        if not fits or not all([isinstance(each, type(hparam_dict[name])) for each in domain]):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    start = plugin_data_pb2.SessionStartInfo()
    infos = []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        if isinstance(value, TensorBase):
            value = make_np(value).reshape(-1)[0].item()
        if not isinstance(value, int | float | str):
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        field, kind = ("string_value", "STRING") if isinstance(value, str) else ("number_value", "FLOAT64")
        setattr(start.hparams[name], field, value)
        domain = ListValue(values=[Value(**{field: each}) for each in domains[name]]) if name in domains else None
        infos.append(
            api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(f"DATA_TYPE_{kind}"), domain_discrete=domain)
        )
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metric_dict]
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))

    def entry(tag: str, **content: Any) -> Any:
        data = plugin_data_pb2.HParamsPluginData(**content, version=metadata.PLUGIN_DATA_VERSION)
        return _entry(tag, metadata.PLUGIN_NAME, data.SerializeToString())

    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics)
    return (
        entry(metadata.EXPERIMENT_TAG, experiment=experiment),
        entry(metadata.SESSION_START_INFO_TAG, session_start_info=start),
        entry(metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


def custom_scalars(layout: Mapping[str, Mapping[str, Any]]) -> Any:
    """custom_scalars(layout): which numbers are shown together: {category: {title: ["Multiline", [tags]]}}, or
    "Margin" with three tags: a value, its lower and its upper limit."""
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                made.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=category, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    tensor = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _entry("custom_scalars__config__", "custom_scalars", tensor=tensor)


def mesh(
    tag: str,
    vertices: Any,
    colors: Any,
    faces: Any,
    config_dict: Any,
    display_name: Any = None,
    description: Any = None,
) -> Any:
    """mesh(tag, vertices, colors, faces, config_dict): points in space, which may have colours and be joined to
    triangles."""
    given = [(vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE), (colors, MeshPluginData.COLOR)]
    parts = [(tensor, kind) for tensor, kind in given if tensor is not None]
    components = mesh_metadata.get_components_bitmask([kind for _, kind in parts])
    config = json.dumps(config_dict or {}, sort_keys=True)
    values = []
    for tensor, kind in parts:
        array = make_np(tensor)
        made = TensorProto(dtype="DT_FLOAT", float_val=array.reshape(-1).tolist(), tensor_shape=_shape(*array.shape))
        told = mesh_metadata.create_summary_metadata(
            tag, display_name, kind, components, array.shape, description, json_config=config
        )
        values.append(Summary.Value(tag=mesh_metadata.get_instance_name(tag, kind), tensor=made, metadata=told))
    return Summary(value=values)
