"""torch.utils.tensorboard: what is written is read back by TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad.utils.tensorboard import FileWriter, SummaryWriter, summary, writer
from leafgrad.utils.tensorboard._graph import graph
from leafgrad.utils.tensorboard._utils import _prepare_video, convert_to_HWC, make_grid


def events(folder: Path) -> list[Any]:
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    files = sorted(folder.glob("events*"))
    return [Event.FromString(raw) for file in files for raw in RawEventFileLoader(str(file)).Load()]


def values(folder: Path) -> dict[str, tuple[int, Any]]:
    return {value.tag: (event.step, value) for event in events(folder) for value in event.summary.value}


def test_numbers_texts_and_folders(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, filename_suffix=".end") as board:
        board.add_scalar("loss", torch.tensor(0.5, requires_grad=True), 3, walltime=10.0)
        board.add_scalar("new", 2, new_style=True, double_precision=True)
        board.add_histogram("weights", torch.tensor([-1.0, 0.5, 0.5]), 4)
        board.add_text("note", "hello", 1)
        board.add_scalars("both/of", {"a": 1.0, "b": 2.0}, 1)
        with pytest.raises(AssertionError, match="Tensor should contain one element"):
            board.add_scalar("x", torch.ones(2))
        with pytest.raises(NotImplementedError, match="Got <class 'list'>, but numpy array or torch tensor"):
            board.add_scalar("x", [1])
        assert isinstance(board.file_writer, FileWriter) and board.get_logdir() == tmp_path
    assert board.file_writer is None and board.all_writers is None
    found = values(tmp_path)
    assert found["loss"][0] == 3 and found["loss"][1].simple_value == 0.5
    assert found["new"][1].tensor.double_val == [2.0]
    histogram = found["weights"][1].histo
    assert (histogram.min, histogram.max, histogram.num, sum(histogram.bucket)) == (-1.0, 0.5, 3.0, 3.0)
    assert len(histogram.bucket) == len(histogram.bucket_limit)
    assert found["note/text_summary"][1].tensor.string_val == [b"hello"]
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_dir()) == ["both_of_a", "both_of_b"]
    assert all(each.name.endswith(".end") for each in tmp_path.glob("events*"))


def test_purged_steps_and_a_second_file(tmp_path: Path) -> None:
    board = SummaryWriter(str(tmp_path), purge_step=7)
    board.close()
    board.add_scalar("later", 1)
    board.close()
    assert [event.step for event in events(tmp_path) if event.HasField("session_log")] == [7]
    assert "later" in values(tmp_path)


def test_settings(tmp_path: Path) -> None:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    settings = {"lr": 0.1, "name": "adam", "on": True, "t": torch.tensor([3.0]), "no": None}
    with SummaryWriter(tmp_path) as board:
        board.add_hparams(settings, {"right": 0.5}, {"name": ["sgd", "adam"]}, run_name="run")
        with pytest.raises(TypeError, match="hparam_dict and metric_dict should be dictionary"):
            board.add_hparams([], {})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="value should be one of int, float, str, bool"):
            board.add_hparams({"a": [1]}, {})
        with pytest.raises(TypeError, match=r"hparam_domain_discrete\[b\] should be a list of same type"):
            board.add_hparams({"a": 1}, {}, {"b": [1]})
    found = values(tmp_path / "run")
    assert found["right"][1].simple_value == 0.5

    def content(tag: str) -> Any:
        return HParamsPluginData.FromString(found[f"_hparams_/{tag}"][1].metadata.plugin_data.content)

    started = content("session_start_info").session_start_info.hparams
    assert (started["lr"].number_value, started["name"].string_value, started["t"].number_value) == (0.1, "adam", 3.0)
    assert started["on"].number_value == 1.0 and "no" not in started
    infos = {info.name: info for info in content("experiment").experiment.hparam_infos}
    assert [each.string_value for each in infos["name"].domain_discrete.values] == ["sgd", "adam"]
    assert content("session_end_info").HasField("session_end_info")


def test_curves_layouts_meshes_and_tensors(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as board:
        board.add_pr_curve("curve", torch.tensor([1, 0, 1]), torch.tensor([0.9, 0.2, 0.4]), num_thresholds=3)
        board.add_pr_curve_raw("raw", [1], [0], [1], [0], [0.5], [1.0], num_thresholds=1)
        board.add_histogram_raw("counted", 0, 1, 3, 2, 1.5, [0.5, 1.0], [1, 2], 7)
        board.add_custom_scalars_multilinechart(["a", "b"])
        board.add_mesh("mesh", torch.rand(1, 4, 3), faces=torch.zeros(1, 2, 3, dtype=torch.int32))
        board.add_tensor("pairs", torch.tensor([1 + 2j]))
        board.add_tensor("halves", torch.tensor([1.0]).half())
        with pytest.raises(AssertionError, match="Expected 3 tags, got 1"):
            board.add_custom_scalars_marginchart(["a"])
        with pytest.raises(ValueError, match="len"):
            board.add_histogram_raw("counted", 0, 1, 3, 2, 1.5, [0.5], [1, 2])
    found = values(tmp_path)
    curve = found["curve"][1].tensor
    assert [dim.size for dim in curve.tensor_shape.dim] == [6, 3]
    assert np.allclose(np.reshape(curve.float_val, (6, 3))[:4], [[2, 1, 0], [1, 0, 0], [0, 1, 1], [0, 1, 2]])
    assert found["counted"][0] == 7 and found["counted"][1].histo.bucket == [1, 2]
    assert found["pairs"][1].tensor.scomplex_val == [1.0, 2.0]
    assert found["halves"][1].tensor.half_val == [0x3F800000]  # PyTorch writes the bits of float32
    assert {"mesh_VERTEX", "mesh_FACE", "custom_scalars__config__", "raw"} <= set(found)


def test_pictures_and_sounds(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as board:
        board.add_image("one", torch.rand(1, 2, 3))
        board.add_images("grid", torch.rand(10, 3, 2, 3))
        board.add_image_with_boxes(
            "boxes", torch.rand(3, 20, 30), torch.tensor([[1, 2, 8, 9]]), labels="cat", rescale=2
        )
        board.add_video("film", torch.rand(3, 4, 3, 8, 8), fps=2)
        board.add_audio("sound", torch.linspace(-1, 1, 20), sample_rate=100)
        with pytest.raises(AssertionError, match="size of input tensor and input format are different"):
            board.add_image("x", torch.rand(2, 3))
        with pytest.raises(AssertionError, match="input tensor should be 1 dimensional"):
            board.add_audio("x", torch.ones(2, 2))
    found = {tag: value.image for tag, (_, value) in values(tmp_path).items()}
    sizes = {tag: (each.height, each.width, each.colorspace) for tag, each in found.items() if each.height}
    assert sizes == {"one": (2, 3, 3), "grid": (4, 24, 3), "boxes": (20, 30, 3), "film": (8 * 1, 8 * 4, 3)}
    assert found["film"].encoded_image_string.startswith(b"GIF")
    sound = values(tmp_path)["sound"][1].audio
    assert (sound.sample_rate, sound.length_frames, sound.content_type) == (100.0, 20, "audio/wav")


def test_figures(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    with SummaryWriter(tmp_path) as board:
        board.add_figure("one", Figure(figsize=(2, 1), dpi=10))
        board.add_figure("two", [Figure(figsize=(2, 1), dpi=10) for _ in range(2)])
    found = values(tmp_path)
    assert (found["one"][1].image.height, found["one"][1].image.width, found["two"][1].image.width) == (10, 20, 40)


def test_forms_of_pictures() -> None:
    assert convert_to_HWC(np.zeros((2, 3)), "WH").shape == (3, 2, 3)
    assert convert_to_HWC(np.zeros((3, 1, 2)), "WCH").shape == (2, 3, 3)
    grid = make_grid(np.arange(3.0).reshape(3, 1, 1, 1) + 1, ncols=2)
    assert grid[0].tolist() == [[1.0, 2.0], [3.0, 0.0]] and grid.shape == (3, 2, 2)
    films = np.arange(3.0).reshape(3, 1, 1, 1, 1) + 1
    assert _prepare_video(films)[0, :, :, 0].tolist() == [[1.0, 2.0, 3.0, 0.0]]
    with pytest.raises(AssertionError, match="You can not use the same dimension shorthand twice"):
        convert_to_HWC(np.zeros((2, 2)), "HH")


def test_points_for_the_projector(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as board:
        board.add_embedding(torch.ones(2, 3), ["a", "b"], tag="my/tag", global_step=12)
        board.add_embedding(np.ones((1, 2)), [(1, 2)], metadata_header=["p", "q"])
        with pytest.raises(AssertionError, match="#labels should equal with #data points"):
            board.add_embedding(torch.ones(2, 2), ["a"], global_step=2)
    folder = tmp_path / "00012" / "my%2ftag"
    assert (folder / "tensors.tsv").read_text() == "1.0\t1.0\t1.0\n" * 2
    assert (folder / "metadata.tsv").read_text() == "a\nb\n"
    assert (tmp_path / "00000" / "default" / "metadata.tsv").read_text() == "p\tq\n1\t2\n"
    assert (tmp_path / "projector_config.pbtxt").read_text().count("embeddings") == 2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(inplace=True), nn.Dropout())

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x)).t() * 2


def test_the_graph_of_a_model(tmp_path: Path) -> None:
    model = Net()
    drawn, _ = graph(model, torch.ones(5, 3))
    nodes = {node.name: (node.op, list(node.input)) for node in drawn.node}
    first = ["input/0", "Net/Linear[first]/weight", "Net/Linear[first]/bias"]
    assert nodes["Net/Linear[first]/linear"] == ("aten::linear", first)
    assert nodes["Net/Sequential[rest]/ReLU[0]/relu"][1] == ["Net/Linear[first]/linear"]
    assert nodes["Net/t"][1] == ["Net/Sequential[rest]/ReLU[0]/relu"]  # dropout does nothing here
    assert nodes["output/0"][1] == ["Net/mul"]
    assert model.training and not model.first._forward_hooks
    with SummaryWriter(tmp_path) as board:
        board.add_graph(model, (torch.ones(5, 3),))
        with pytest.raises(RuntimeError):
            board.add_graph(model, torch.ones(5, 4))
    assert model.training and not model.first._forward_hooks
    assert [event.HasField("graph_def") for event in events(tmp_path)].count(True) == 1


def test_public_names() -> None:
    assert {"audio", "custom_scalars", "histogram", "hparams", "image", "mesh", "pr_curve", "scalar", "text"} < set(
        summary.__all__
    )
    assert writer.SummaryWriter is SummaryWriter
