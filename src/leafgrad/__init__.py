"""leafgrad: PyTorch's autograd, rebuilt in Python that a person can read. `import leafgrad as torch`."""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any

from leafgrad import _einops, _missing
from leafgrad import autograd as autograd
from leafgrad import ops as ops
from leafgrad._build import VERSION as _VERSION
from leafgrad._core.tensor import links as _links
from leafgrad._device import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    jagged,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from leafgrad._dtypes import ALL as _ALL_DTYPES
from leafgrad._dtypes import (
    bfloat16,
    complex32,
    complex64,
    complex128,
    dtype,
    finfo,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from leafgrad._dtypes import bool_ as bool
from leafgrad._settings import (
    are_deterministic_algorithms_enabled,
    compiled_with_cxx11_abi,
    get_default_device,
    get_deterministic_debug_mode,
    get_device_module,
    get_file_path,
    get_float32_matmul_precision,
    get_num_interop_threads,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    is_inference_mode_enabled,
    is_vulkan_available,
    is_warn_always_enabled,
    memory_stats,
    set_default_device,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
    set_warn_always,
    show_config,
    typename,
    use_deterministic_algorithms,
)
from leafgrad._tensor import install as _install
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from leafgrad.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from leafgrad.kernels import allocator as _allocator

__version__: str = _VERSION

float, double, half = float32, float64, float16
int, long, short = int32, int64, int16
chalf, cfloat, cdouble = complex32, complex64, complex128
newaxis = None
legacy_contiguous_format = contiguous_format

_links.functions = globals()
_einops.wait_for_einops()

# Imported when they are first asked for: name -> the module that is it, or has it.
_PARTS = """
    __config__ __future__ _C _custom_ops _dynamo _functorch _inductor _jit_internal _prims_common _subclasses _utils
    _vmap_internals accelerator amp ao backends compiler cpu cuda distributed export fft func functional futures fx hub
    io jit library linalg masked mps mtia multiprocessing nested nn onnx optim overrides profiler quantization
    quasirandom random serialization signal sparse special storage testing torch_version types utils version xpu
"""
_MIXED_PRECISION = """
    autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype
    get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled
    set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled
    set_autocast_gpu_dtype
"""
_ASSERTIONS = """
    _assert _assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all
    _check_tensor_all_with _check_type _check_value _check_with _shape_as_tensor
"""
_SYMBOLIC = """
    SymBool SymFloat SymInt cond sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
"""
_LOSSES = """
    binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss hinge_embedding_loss kl_div margin_ranking_loss
    poisson_nll_loss triplet_margin_loss
"""
_LATER = {
    **{name: name for name in _PARTS.split()},
    **{name: "amp.autocast_mode" for name in _MIXED_PRECISION.split()}, "GradScaler": "amp",
    "AcceleratorError": "cuda", "OutOfMemoryError": "cuda", "compile": "compiler", "to_dlpack": "utils.dlpack",
    "Generator": "random", "default_generator": "random", "get_rng_state": "random", "initial_seed": "random",
    "manual_seed": "random", "seed": "random", "set_rng_state": "random",
    **{f"{kind}Storage": "storage" for kind in ("", "Untyped", "Typed", *[kind.alias for kind in _ALL_DTYPES])},
    "load": "serialization", "save": "serialization", "set_printoptions": "_tensor.printing", "vmap": "func",
    "explain": "_explain.explanation",
    **{name: f"_explain.{name}" for name in ("check", "grad_report", "graph_memory", "guard", "summary", "vjp_report")},
    **{name: "_assertions" for name in _ASSERTIONS.split()}, "Future": "futures",
    **{name: "_symbolic" for name in _SYMBOLIC.split()}, **{name: "nn.numbered_losses" for name in _LOSSES.split()},
    "Tag": "_library.tags", "graph": "_explain.graph", "why": "_explain.why", "distributions": "distributions",
}  # fmt: skip

# What can be asked of isinstance and named in annotations, and not used.
_REFUSED = {"PyTorchFileReader": "_C", "PyTorchFileWriter": "_C", "ScriptModule": "jit"}

_later = _missing.attributes_of(__name__, {**_LATER, **_REFUSED})
__all__ = [*_install.MODULES, *[name for name in globals() if name[0] != "_" and name not in ("Any", "annotations")]]


def __getattr__(name: str) -> Any:
    return _install.function_called(name) if name in _install.MODULES else _later(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_install.MODULES})
