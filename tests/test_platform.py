"""What programs ask before, around and after the computation: versions, devices, libraries, compilation, processes."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections import namedtuple
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import compiler
from leafgrad.torch_version import TorchVersion
from leafgrad.utils import _pytree, benchmark

OTHERS = ["2.13.0", "2.13", "2.14", "1.13", "2.13.0+cpu", "2.13.0.dev1", "2.13.0rc1", "parrot", (2, 13), (2, 14)]
NEWER = {"2.14", "parrot", (2, 14)}


@pytest.mark.parametrize("other", OTHERS)
def test_versions_are_compared_by_their_numbers(other: Any) -> None:
    version = TorchVersion("2.13.0+leafgrad")
    assert (version < other, version <= other) == (other in NEWER, other in NEWER)
    assert (version > other, version >= other) == (other not in NEWER, other not in NEWER)
    assert version != other and version == str(version) and hash(version) == hash(str(version))
    assert pickle.loads(pickle.dumps(version)) == version


# a question about the machine, and PyTorch's answer where there is only a CPU
ANSWERS = [
    ("cuda.is_available()", False),
    ("cuda.device_count()", 0),
    ("cuda.manual_seed_all(3)", None),
    ("cuda.empty_cache()", None),
    ("cuda.memory_allocated()", 0),
    ("cuda.get_rng_state_all()", []),
    ("isinstance(3, torch.cuda.FloatTensor)", False),
    ("issubclass(torch.cuda.OutOfMemoryError, RuntimeError)", True),
    ("mps.is_available()", False),
    ("xpu.is_available()", False),
    ("mtia.is_available()", False),
    ("cpu.is_available()", True),
    ("cpu.device_count()", 1),
    ("cpu.synchronize()", None),
    ("accelerator.is_available()", False),
    ("accelerator.current_accelerator()", None),
    ("backends.mps.is_available()", False),
    ("backends.cuda.is_built()", False),
    ("backends.cudnn.is_available()", False),
    ("backends.cudnn.version()", None),
    ("backends.cudnn.enabled", True),
    ("backends.cuda.matmul.allow_tf32", False),
    ("backends.cuda.flash_sdp_enabled()", True),
    ("version.cuda", None),
    ("get_float32_matmul_precision()", "highest"),
    ("get_deterministic_debug_mode()", 0),
    ("is_warn_always_enabled()", False),
    ("get_device_module('cpu') is torch.cpu", True),
    ("device('cuda:1').index", 1),
    ("ones(2).to('cpu', non_blocking=True).tolist()", [1.0, 1.0]),
    ("distributed.is_initialized()", False),
    ("ones(2).is_mps", False),
    ("ones(2).to_dense().tolist()", [1.0, 1.0]),
    ("arange(3.0).apply_(lambda x: x + 1).tolist()", [1.0, 2.0, 3.0]),
    ("arange(3.0).map_(torch.ones(1), lambda a, b: a + b).tolist()", [1.0, 2.0, 3.0]),
    ("arange(3.0).map2_(torch.ones(3), torch.ones(3), lambda a, b, c: a + b + c).tolist()", [2.0, 3.0, 4.0]),
    ("ones(3, dtype=torch.int64).apply_(lambda x: x + 0.7).tolist()", [1, 1, 1]),
    ("ones(2, 3, 4).permute(2, 0, 1).dim_order()", (1, 2, 0)),
    ("finfo(float).bits", 64),
    ("iinfo(int).max", 2**63 - 1),
    ("nn.Linear(2, 1).to_empty(device='cpu').weight.shape", (1, 2)),
    ("nn.Sequential(torch.nn.ReLU()).set_submodule('0', torch.nn.Tanh())", None),
    ("is_vulkan_available()", False),
    ("_C._get_tracing_state()", None),
    ("functional.einsum is torch.einsum", True),
    ("nn.modules.utils._pair(3)", (3, 3)),
    ("types.Device is not None", True),
    ("jit.is_scripting()", False),
    ("jit.annotate(int, 3)", 3),
    ("jit.isinstance([1], list[int])", True),
    ("jit.wait(torch.jit.fork(max, 1, 2))", 2),
    ("compiler.is_compiling()", False),
    ("nn.parallel.data_parallel(torch.nn.ReLU(), torch.ones(1)).item()", 1.0),
    ("utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2))).tolist()", [1.0, 1.0]),
]


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_questions_are_answered(question: str, answer: Any) -> None:
    program = question if question.startswith("is") and "torch." in question else f"torch.{question}"
    assert eval(program, {"torch": torch}) == answer


# the use of something that is not there, and the error
REFUSED = [
    ("cuda.synchronize()", AssertionError, "Torch not compiled with CUDA enabled"),
    ("cuda.Stream()", AssertionError, "Torch not compiled with CUDA enabled"),
    ("cuda.get_device_name(0)", AssertionError, "Torch not compiled with CUDA enabled"),
    ("ones(2).cuda()", AssertionError, "Torch not compiled with CUDA enabled"),
    ("ones(2, device='cuda:1')", AssertionError, "Torch not compiled with CUDA enabled"),
    ("nn.Linear(1, 1).to('cuda')", AssertionError, "Torch not compiled with CUDA enabled"),
    ("ones(2).pin_memory()", RuntimeError, "Cannot access accelerator device when none is available."),
    ("accelerator.synchronize()", RuntimeError, "Cannot access accelerator device when none is available."),
    ("mps.empty_cache()", RuntimeError, "torch.mps.empty_cache() cannot be called without MPS backend."),
    ("ones(2).xpu()", AssertionError, "Torch not compiled with XPU enabled"),
    ("ones(2, requires_grad=True).apply_(abs)", RuntimeError, "Can't call apply_() on Variable that requires grad."),
    ("ones(2).apply_(3)", TypeError, "'int' object is not callable"),
    (
        "ones(2).map_(torch.ones(2).long(), max)",
        TypeError,
        "map_: expected torch.FloatTensor for 'other' (got torch.Lo",
    ),
    ("ones(3).map_(torch.ones(2), max)", RuntimeError, "The expanded size of the tensor (3) must match the existing"),
    ("iinfo(bool)", TypeError, "torch.bool is not supported by torch.iinfo"),
    ("finfo('x')", TypeError, "finfo(): argument 'type' (position 1) must be torch.dtype, not str"),
    ("from_file('/nowhere/at/all', size=1)", RuntimeError, "unable to open file </nowhere/at/all> in read-only mode"),
    ("nn.Sequential().set_submodule('', torch.nn.ReLU())", ValueError, "Cannot set the submodule without a target"),
    (
        "nn.Sequential().set_submodule('1', torch.nn.ReLU(), strict=True)",
        AttributeError,
        "Sequential has no attribute `1",
    ),
    ("ops.mylib.sin", AttributeError, "'_OpNamespace' "),
    ("hub.load('a', 'b')", NotImplementedError, "leafgrad does not have torch.hub.load: it fetches nothing"),
    ("onnx.export(None, None)", NotImplementedError, "leafgrad does not have torch.onnx.export: it writes no"),
    ("fx.symbolic_trace(None)", NotImplementedError, "leafgrad does not have torch.fx.symbolic_trace: it does not"),
    ("library.opcheck('a::b')", NotImplementedError, "leafgrad does not have torch.library.opcheck: it neither"),
    ("jit.load('x')", NotImplementedError, "leafgrad does not have torch.jit.load: it runs programs"),
    ("distributed.init_process_group('gloo')", NotImplementedError, "leafgrad does not have torch.distributed.init_"),
    ("nn.parallel.DistributedDataParallel(None)", NotImplementedError, "leafgrad does not have torch.nn.parallel.D"),
    ("utils.collect_env.main()", NotImplementedError, "leafgrad does not have torch.utils.collect_env.main: python -m"),
    ("compile(torch.nn.ReLU(), mode='default', options={})", RuntimeError, "Either mode or options can be specified"),
    ("set_float32_matmul_precision(3)", RuntimeError, "set_float32_matmul_precision expects a str, but got int"),
    ("set_deterministic_debug_mode('x')", RuntimeError, "invalid value of debug_mode, expected one of `default`"),
    ("multiprocessing.set_sharing_strategy('x')", AssertionError, "invalid sharing strategy"),
]


@pytest.mark.parametrize(("program", "error", "first"), REFUSED)
def test_use_is_refused(program: str, error: type[BaseException], first: str) -> None:
    with pytest.raises(error) as caught:
        eval(f"torch.{program}", {"torch": torch})
    assert str(caught.value).startswith(first)


MODULES = """
    __config__ _inductor functional nested nn.common_types quantization sparse types
    backends.cudnn backends.mkldnn backends.opt_einsum compiler cpu cuda distributed distributed.fsdp export fx hub jit
    library multiprocessing nn.parallel nn.parallel.distributed onnx utils._pytree utils.benchmark utils.cpp_extension
    utils.dlpack utils.mobile_optimizer utils.model_zoo version _dynamo
    _subclasses _subclasses.fake_tensor fx.experimental fx.experimental.proxy_tensor fx.experimental.symbolic_shapes
"""


@pytest.mark.parametrize("name", MODULES.split())
def test_modules_are_found_by_import_and_by_attribute(name: str) -> None:
    module = importlib.import_module(f"leafgrad.{name}")
    assert module.__doc__ and attrgetter(name)(torch) is module
    with pytest.raises(AttributeError):
        module.frobnicate


def test_what_libraries_ask_of_tracers_is_answered_as_where_none_runs() -> None:
    from leafgrad._subclasses.fake_tensor import is_fake
    from leafgrad.fx.experimental import proxy_tensor, symbolic_shapes

    assert is_fake(torch.ones(2)) is False and proxy_tensor.get_proxy_mode() is None
    for question in (symbolic_shapes.guard_or_false, symbolic_shapes.statically_known_true):
        assert question(torch.ones(2).numel() == 2) is True and question(torch.ones(2).numel() == 3) is False
    with pytest.raises(NotImplementedError, match=r"leafgrad does not have torch\._subclasses\.fake_tensor\.FakeTens"):
        torch._subclasses.fake_tensor.FakeTensorMode()


def test_limits_of_dtypes_that_are_only_names() -> None:
    info = torch.finfo(torch.float8_e4m3fn)
    assert (info.bits, info.eps, info.min, info.max, info.tiny) == (8, 0.125, -448.0, 448.0, 0.015625)
    assert repr(torch.finfo(torch.float8_e8m0fnu)).startswith("finfo(resolution=1, min=5.87747e-39, max=1.70141e+38")
    assert torch.finfo(torch.bfloat16).max == 3.3895313892515355e38


def test_switches_are_kept() -> None:
    cudnn = torch.backends.cudnn
    with cudnn.flags(enabled=False, benchmark=True):
        assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (False, True, False)
    assert (cudnn.enabled, cudnn.benchmark) == (True, False)
    try:
        torch.backends.cuda.matmul.allow_tf32 = True
        assert torch.get_float32_matmul_precision() == "high"
        torch.set_deterministic_debug_mode("warn")
        assert torch.are_deterministic_algorithms_enabled() and torch.is_deterministic_algorithms_warn_only_enabled()
        assert torch.get_deterministic_debug_mode() == 1
        with pytest.warns(UserWarning, match="lowest is not one of 'highest', 'high', or 'medium'"):
            torch.set_float32_matmul_precision("lowest")
    finally:
        torch.set_float32_matmul_precision("highest")
        torch.set_deterministic_debug_mode(0)
    with torch.backends.cuda.sdp_kernel(enable_flash=False):
        assert not torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled()


COMPILED = [
    lambda f: torch.compile(f, mode="reduce-overhead"),
    lambda f: torch.compile(fullgraph=True)(f),
    torch.jit.script,
    lambda f: torch.jit.trace(f, (torch.ones(1),)),
]


@pytest.mark.parametrize("compiled", COMPILED)
def test_compilation_is_the_identity_with_one_warning(compiled: Any) -> None:
    compiler._told.clear()

    def function(x: Any) -> Any:
        return x

    with pytest.warns(UserWarning, match="leafgrad does not compile programs: torch"):
        assert compiled(function) is function
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(function) is function
        assert torch.compiler.disable(function) is function and torch.compiler.disable()(function) is function
        assert torch.jit.ignore(function) is function and torch.jit.ignore(drop=True)(function) is function


def test_trees() -> None:
    Point = namedtuple("Point", "x y")
    tree = {"a": [1, (2, 3)], "b": Point(4, [])}
    leaves, spec = _pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, 4] and _pytree.tree_unflatten(leaves, spec) == tree
    assert _pytree.tree_map(lambda a, b: a + b, tree, tree) == {"a": [2, (4, 6)], "b": Point(8, [])}
    assert _pytree.tree_map_only(int, str, [1, "x", 2.0]) == ["1", "x", 2.0]
    assert _pytree.tree_leaves([1, (2, 3)], is_leaf=lambda part: isinstance(part, tuple)) == [1, (2, 3)]
    assert _pytree.tree_all(bool, [1, 2]) and not _pytree.tree_any(bool, [0, {}])
    with pytest.raises(ValueError, match="`leaves` has length 1"):
        _pytree.tree_unflatten([1], spec)

    class Box:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

    _pytree.register_pytree_node(Box, lambda box: ([box.inside], None), lambda parts, context: Box(*parts))
    assert _pytree.tree_map(lambda x: x * 2, Box(4)).inside == 8
    assert torch.func.vmap(lambda box: box.inside * 2)(Box(torch.ones(2))).tolist() == [2.0, 2.0]


def test_a_statement_is_measured() -> None:
    before = torch.get_num_threads()
    timer = benchmark.Timer("x + x", globals={"x": torch.ones(2)}, label="sum")
    for measured in (timer.timeit(20), timer.blocked_autorange(min_run_time=0.01)):
        assert 0 < measured.median < 1 and "sum" in repr(measured) and measured.iqr >= 0
    assert torch.get_num_threads() == before


def work(index: int, queue: Any, failing: str) -> None:
    if failing == "raises" and index == 1:
        raise ValueError("in a process")
    if failing == "says much" and index == 1:
        raise ValueError("much " * 40_000)
    if failing == "exits" and index == 1:
        os._exit(3)
    if failing == "exits":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # hears nothing
        time.sleep(60)
    queue.put((torch.ones(2) * index).tolist())


FAILING = [
    ("raises", "ProcessRaisedException", "ValueError: in a process"),
    ("says much", "ProcessRaisedException", "ValueError: much much"),
    ("exits", "ProcessExitedException", "exit code 3"),
]


@pytest.mark.parametrize(("failing", "error", "told"), FAILING)
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_process_that_fails(failing: str, error: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mp = torch.multiprocessing
    monkeypatch.setattr(mp, "PATIENCE", 0.5)
    queue = multiprocessing.get_context("fork").SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        with pytest.raises(getattr(mp, error), match=told) as caught:
            mp.start_processes(work, (queue, failing), nprocs=2, start_method="fork")
        assert caught.value.error_index == 1
        started = mp.start_processes(work, (queue, ""), nprocs=2, join=False, start_method="fork")
    assert started is not None
    while not started.join():
        pass
    assert started.join() and not any(process.is_alive() for process in started.processes)


PROGRAM = """
import torch
import torch.multiprocessing as mp

def work(index, queue, x):
    queue.put((index, torch.__version__, (x + index).tolist()))

if __name__ == "__main__":
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(work, (queue, torch.ones(2)), nprocs=1)
    print(queue.get(), torch.__version__ >= "2.0", torch.version.__version__ == torch.__version__)
"""


def test_spawned_processes_have_the_alias(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "leafgrad", "run", "program.py"]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    result = subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True, timeout=120)
    assert result.stdout == "(0, '2.13.0+leafgrad', [1.0, 1.0]) True True\n", result.stderr


TYPICAL = Path(__file__).parent / "support" / "typical_program.py"
# the loss of the epochs, as PyTorch prints it, with and without mixed precision
PRINTED = "epoch 0  loss 1.10  right 0.50\nepoch 1  loss 1.02  right 0.38\nFalse False\n"


def typical_program(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "leafgrad", "run", str(TYPICAL), *arguments]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    return subprocess.run(
        command, cwd=folder, env=paths, capture_output=True, text=True, timeout=120, check=True
    ).stdout


@pytest.mark.slow
def test_a_typical_program(tmp_path: Path) -> None:
    assert typical_program(tmp_path) == PRINTED
    assert typical_program(tmp_path, "--amp", "--compile") == PRINTED
    assert typical_program(tmp_path, "--amp", "--resume", "checkpoint.pt").startswith("resumed after epoch 1\nepoch 0")


def test_memory_of_views_is_not_shared() -> None:
    with pytest.raises(NotImplementedError, match="leafgrad shares the memory of whole tensors"):
        torch.ones(2)[:1].share_memory_()
