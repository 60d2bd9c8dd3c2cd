"""What can be asked about this installation, and switches that PyTorch programs set."""

from __future__ import annotations

import os
from typing import Any

from leafgrad import _dtypes, errors, kernels
from leafgrad._core.overrides import modes_of_all_threads
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad._device import check_device, device, names_meta
from leafgrad._device import device as _device
from leafgrad._missing import part, torch_name
from leafgrad.kernels import allocator, language, products

_threads: dict[str, int] = {"intra": kernels.available_cores()}
_switches: dict[str, bool] = {"deterministic": False, "warn_only": False, "warn_always": False}
_precision = ["highest"]


def show_config() -> str:
    """show_config(): what leafgrad runs on: versions, and whether its hot modules are compiled."""
    import platform
    from importlib.util import find_spec

    import numpy as np

    from leafgrad._build import VERSION, is_compiled

    form = "compiled (machine code by mypyc)" if is_compiled() else "plain Python (not compiled)"
    bfloat16 = "present, bfloat16 works" if find_spec("ml_dtypes") else "not installed, so there is no bfloat16"
    return (
        f"leafgrad {VERSION}\n"
        f"  hot modules: {form}\n"
        f"  elementwise loops: {'called natively' if kernels.NATIVE else 'called through NumPy'}\n"
        f"  fused kernels: {kernel_form()}\n"
        f"  matrix products: {product_form()}\n"
        f"  Python {platform.python_version()}, NumPy {np.__version__}\n"
        f"  ml_dtypes: {bfloat16}\n"
        f"  device: cpu, {get_num_threads()} threads\n"
    )


def kernel_form() -> str:
    return f"machine code for {language.instructions}" if language.NATIVE else "plain Python"


def product_form() -> str:
    library = products.find_blas() if products.NATIVE else ""
    return f"{os.path.basename(library)}, on leafgrad's threads" if library else "NumPy's"


def memory_stats() -> dict[str, int]:
    """memory_stats(): bytes of the whole process: what arrays and objects have (`in_use`), and what has been freed and
    is kept for the next ones (`kept`, at most `kept_at_most`, of the heap what is at its end). Empty where the C
    library cannot tell."""
    return allocator.statistics()


def get_num_threads() -> int:
    """get_num_threads(): how many threads computations may use."""
    return _threads["intra"]


def set_num_threads(num_threads: int) -> None:
    """set_num_threads(num_threads): how many threads computations may use, products of matrices as well;
    for NumPy's own functions BLAS keeps its setting."""
    _threads["intra"] = _positive("set_num_threads", num_threads)
    kernels.use_threads(num_threads)


def get_num_interop_threads() -> int:
    """get_num_interop_threads(): the number set by set_num_interop_threads."""
    return _threads.get("inter", get_num_threads())


def set_num_interop_threads(num_threads: int) -> None:
    """set_num_interop_threads(num_threads): kept for programs that set it; operations run one after the other."""
    _threads["inter"] = _positive("set_num_interop_threads", num_threads)


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RuntimeError(f"{name} expects an int, but got {type(value).__name__}")
    if value <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    return value


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """use_deterministic_algorithms(mode, *, warn_only=False): leafgrad's results do not vary from run to run anyway,
    but for what memory holds that nobody has set: see `utils.deterministic`."""
    _switches["deterministic"], _switches["warn_only"] = bool(mode), bool(warn_only)
    part("ops.creation.fresh").deterministic[:] = [True] * bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """are_deterministic_algorithms_enabled(): what use_deterministic_algorithms was told."""
    return _switches["deterministic"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """is_deterministic_algorithms_warn_only_enabled(): what use_deterministic_algorithms was told."""
    return _switches["warn_only"]


def get_deterministic_debug_mode() -> int:
    """get_deterministic_debug_mode(): 0, 1 or 2, for "default", "warn" and "error"."""
    return 0 if not _switches["deterministic"] else 1 if _switches["warn_only"] else 2


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """set_deterministic_debug_mode(debug_mode): use_deterministic_algorithms by a word or a number."""
    words = ("default", "warn", "error")
    if isinstance(debug_mode, bool) or not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str) and debug_mode not in words:
        kinds = ", ".join([f"`{word}`" for word in words])
        raise RuntimeError(f"invalid value of debug_mode, expected one of {kinds}, but got {debug_mode}")
    if isinstance(debug_mode, int) and not 0 <= debug_mode <= 2:
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    mode = words.index(debug_mode) if isinstance(debug_mode, str) else debug_mode
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def set_warn_always(b: bool, /) -> None:
    """set_warn_always(b): give warnings that are given once per program each time; Python's filters decide about the
    rest."""
    _switches["warn_always"] = bool(b)
    errors.always_warn(bool(b))


def is_warn_always_enabled() -> bool:
    """is_warn_always_enabled(): what set_warn_always was told."""
    return _switches["warn_always"]


def set_flush_denormal(mode: bool) -> bool:
    """set_flush_denormal(mode): False, the mode of the processor is not changed; NumPy keeps denormal numbers."""
    return False


PRECISIONS = ("highest", "high", "medium")


def get_float32_matmul_precision() -> str:
    """get_float32_matmul_precision(): what set_float32_matmul_precision was told."""
    return _precision[0]


def set_float32_matmul_precision(precision: str) -> None:
    """set_float32_matmul_precision(precision): "highest", "high" or "medium"; leafgrad always computes in full
    precision, which each of them allows."""
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision in PRECISIONS:
        _precision[0] = precision
    else:
        known = ", ".join([repr(word) for word in PRECISIONS[:2]]) + f", or {PRECISIONS[2]!r}"
        errors.warn(f"{precision} is not one of {known}; the current setFloat32MatmulPrecision call has no effect.")


def compiled_with_cxx11_abi() -> bool:
    """compiled_with_cxx11_abi(): True; there is no C++ in leafgrad for which it would matter."""
    return True


def is_vulkan_available() -> bool:
    """is_vulkan_available(): False, leafgrad computes on the CPU only."""
    return False


def get_file_path(*path_components: str) -> str:
    """get_file_path(*path_components): a path below the folder that has the package."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), *path_components)


def get_device_module(device: Any = None) -> Any:
    """get_device_module(device=None): the module of a device, as `torch.cpu`; without one, of the default device."""
    wanted = _device("cpu" if device is None else device).type
    try:
        return part(wanted)
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{wanted}' does not have a corresponding module registered as 'torch.{wanted}'."
        ) from None


def get_default_device() -> device:
    """get_default_device(): where tensors are made: on the CPU, or without data inside of `with device("meta")`."""
    context = part("utils._device").current() if modes_of_all_threads else None
    return device("cpu") if context is None else context.device


def set_default_device(device: Any) -> None:
    """set_default_device(device): where this thread makes tensors: "cpu", which None means as well, or "meta"."""
    if not names_meta(device):
        check_device(device)
    if modes_of_all_threads or names_meta(device):
        part("utils._device").set_default(device)


def set_default_tensor_type(t: Any) -> None:
    """set_default_tensor_type(t): set_default_dtype by the name or class of a tensor type, as 'torch.DoubleTensor'."""
    from leafgrad.ops.creation.legacy import TYPES, TensorType

    found = TYPES.get(t.removeprefix("torch.")) if isinstance(t, str) else t
    if not isinstance(found, TensorType):
        raise TypeError(f"invalid type object: {t!r}")
    errors.warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    _dtypes.set_default_dtype(found.dtype)


def typename(obj: Any) -> str:
    """typename(obj): the name of the type of an object; of a tensor, as 'torch.FloatTensor'."""
    if isinstance(obj, TensorBase):
        return str(obj.type())  # type: ignore[attr-defined]
    kind = obj if hasattr(obj, "__qualname__") else type(obj)  # of classes and functions, their own name
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{torch_name(kind.__module__)}.{kind.__qualname__}"


def is_inference_mode_enabled() -> bool:
    """is_inference_mode_enabled(): is this thread inside `with inference_mode()`?"""
    return bool(state.inference)
