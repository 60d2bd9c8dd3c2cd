"""What can be asked about this installation, and switches that PyTorch programs set."""

from __future__ import annotations

from typing import Any

from leafgrad import _dtypes, kernels
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad._device import check_device, device
from leafgrad._missing import torch_name

_threads: dict[str, int] = {"intra": kernels.available_cores()}
_switches: dict[str, bool] = {"deterministic": False, "warn_always": False}


def show_config() -> str:
    """show_config(): what leafgrad runs on: versions, and whether its hot modules are compiled."""
    import platform
    from importlib.util import find_spec

    import numpy as np

    import leafgrad
    from leafgrad._build import is_compiled

    form = "compiled (machine code by mypyc)" if is_compiled() else "plain Python (not compiled)"
    bfloat16 = "present, bfloat16 works" if find_spec("ml_dtypes") else "not installed, so there is no bfloat16"
    return (
        f"leafgrad {leafgrad.__version__}\n"
        f"  hot modules: {form}\n"
        f"  elementwise loops: {'called natively' if kernels.NATIVE else 'called through NumPy'}\n"
        f"  Python {platform.python_version()}, NumPy {np.__version__}\n"
        f"  ml_dtypes: {bfloat16}\n"
        f"  device: cpu, {get_num_threads()} threads\n"
    )


def get_num_threads() -> int:
    """get_num_threads(): how many threads computations may use."""
    return _threads["intra"]


def set_num_threads(num_threads: int) -> None:
    """set_num_threads(num_threads): how many threads computations may use. NumPy's own BLAS keeps its setting."""
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
    """use_deterministic_algorithms(mode, *, warn_only=False): leafgrad's results do not vary from run to run anyway."""
    _switches["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """are_deterministic_algorithms_enabled(): what use_deterministic_algorithms was told."""
    return _switches["deterministic"]


def get_default_device() -> device:
    """get_default_device(): the CPU."""
    return device("cpu")


def set_default_device(wanted: Any) -> None:
    """set_default_device(device): the CPU is the only one that is accepted."""
    check_device(wanted)


def set_default_tensor_type(t: Any) -> None:
    """set_default_tensor_type(t): set_default_dtype by the name or class of a tensor type, as 'torch.DoubleTensor'."""
    from leafgrad.ops.creation.legacy import TYPES, TensorType

    found = TYPES.get(t.removeprefix("torch.")) if isinstance(t, str) else t
    if not isinstance(found, TensorType):
        raise TypeError(f"invalid type object: {t!r}")
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
