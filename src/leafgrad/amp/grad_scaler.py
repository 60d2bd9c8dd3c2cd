"""GradScaler: losses are made larger, so that small gradients do not vanish in half precision."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import float16, from_numpy_dtype

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """What was done with the gradients of an optimiser since the last `update`."""

    READY, UNSCALED, STEPPED = range(3)


class GradScaler:
    """GradScaler(device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
    enabled=True): multiplies losses by a scale; `step(optimizer)` divides the gradients by it and leaves the step out
    if one of them is not finite; `update()` then makes the scale smaller, or larger after `growth_interval` steps.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            errors.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._scale: float | None = None  # until the first loss is scaled
        self._growth_tracker = 0
        self._optimizers: dict[
            int, tuple[OptState, bool | None]
        ] = {}  # and was something not finite, if it was checked

    # -- losses --------------------------------------------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """scale(outputs): a tensor, or several, times the scale."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = self._init_scale
        return self._scaled(outputs)

    def _scaled(self, outputs: Any) -> Any:
        if isinstance(outputs, TensorBase):
            return outputs * self._scale  # type: ignore[operator]
        if isinstance(outputs, Iterable):
            scaled = [self._scaled(each) for each in outputs]
            return type(outputs)(scaled) if isinstance(outputs, list | tuple) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _checked_scale(self, what: str) -> float:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {what} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        return self._scale

    # -- gradients -----------------------------------------------------------------------------------------------------

    def unscale_(self, optimizer: Any) -> None:
        """unscale_(optimizer): divide the gradients of its parameters by the scale, say to clip them before `step`."""
        if not self._enabled:
            return
        scale = self._checked_scale("unscale_")
        found = self._optimizers.get(id(optimizer), (OptState.READY, None))[0]
        if found is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if found is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._optimizers[id(optimizer)] = OptState.UNSCALED, self._unscale(optimizer, scale, allow_fp16=False)

    def _unscale(self, optimizer: Any, scale: float, allow_fp16: bool) -> bool | None:
        """Divide the gradients; was one of them not finite? None if there are none."""
        silence_numpy()
        found: bool | None = None
        factor = np.float32(1.0 / scale)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                if not allow_fp16 and from_numpy_dtype(gradient.array.dtype) is float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                found = bool(found) or not bool(np.isfinite(gradient.array).all())
                gradient.detach().mul_(float(factor))
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """step(optimizer, *args, **kwargs): `optimizer.step(...)` with gradients that were divided by the scale, unless
        one of them is not finite. Returns what the step returns."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._checked_scale("step")
        found, infinite = self._optimizers.get(id(optimizer), (OptState.READY, None))
        if found is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if found is OptState.READY:
            self.unscale_(optimizer)
            infinite = self._optimizers[id(optimizer)][1]
        if infinite is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if infinite else optimizer.step(*args, **kwargs)
        self._optimizers[id(optimizer)] = OptState.STEPPED, infinite
        return result

    def update(self, new_scale: Any = None) -> None:
        """update(new_scale=None): the scale of the next step: smaller if a gradient was not finite, larger after enough
        steps in which all were; or the one that is given."""
        if not self._enabled:
            return
        scale = self._checked_scale("update")
        if new_scale is not None:
            self._scale = self._given_scale(new_scale)
        else:
            checked = [infinite for _, infinite in self._optimizers.values() if infinite is not None]
            if not checked:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(checked):
                self._scale, self._growth_tracker = rounded(scale * self._backoff_factor), 0
            elif self._growth_tracker + 1 == self._growth_interval:
                larger = rounded(scale * self._growth_factor)
                self._scale, self._growth_tracker = larger if np.isfinite(larger) else scale, 0
            else:
                self._growth_tracker += 1
        self._optimizers.clear()

    def _given_scale(self, new_scale: Any) -> float:
        if isinstance(new_scale, float):
            return rounded(new_scale)
        if isinstance(new_scale, TensorBase) and new_scale.array.size == 1 and not new_scale.needs_grad:
            return float(new_scale.array.reshape(-1)[0])
        raise AssertionError(
            "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
            "requires_grad=False."
        )

    # -- settings ------------------------------------------------------------------------------------------------------

    def is_enabled(self) -> bool:
        """is_enabled(): does it do anything?"""
        return self._enabled

    def get_scale(self) -> float:
        """get_scale(): the factor of the next loss."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        return self._growth_tracker if self._enabled else 0

    # -- files ---------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): what a checkpoint needs; empty if it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): what state_dict has returned."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        if self._optimizers:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
        return dict(vars(self))


def rounded(scale: float) -> float:
    """A scale is a number of single precision."""
    return float(np.float32(scale))
