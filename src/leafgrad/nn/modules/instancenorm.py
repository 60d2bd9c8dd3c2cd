"""Instance normalisation: channels are standardized in each sample."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.batchnorm import _LazyNormBase, _NormBase
from leafgrad.ops.signature import Device, Dtype

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    """Its `dimensions` are those of one sample and of several."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channels = input.ndim - self._get_no_batch_dim()  # in which dimension they are
        size = input.shape[channels]
        if size != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channels} to match num_features ({self.num_features}), but got: "
                    f"{size}."
                )
            errors.warn(
                f"input's size at dim={channels} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False"
            )
        if channels:
            return self._of_samples(input)
        return self._of_samples(input.unsqueeze(0)).squeeze(0)

    def _get_no_batch_dim(self) -> int:
        return self.dimensions[0]

    def _of_samples(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing: Any, unexpected: Any, msgs: Any
    ) -> None:
        names = [f"{prefix}{name}" for name in ("running_mean", "running_var") if f"{prefix}{name}" in state_dict]
        if local_metadata.get("version") is None and not self.track_running_stats and names:
            listed, kind = " and ".join([f'"{name}"' for name in names]), type(self).__name__
            msgs.append(
                f"Unexpected running stats buffer(s) {listed} for {kind} with track_running_stats=False. "
                f"If they are from a time when {kind} had them by default, take them out of the state_dict; if they "
                "are needed, make the module with track_running_stats=True."
            )
            for name in names:
                state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, msgs)


class InstanceNorm1d(_InstanceNorm):
    """InstanceNorm1d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
    dtype=None, *, bias=True): channels of (N, C, L) or (C, L) standardized in each sample."""

    dimensions = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """InstanceNorm2d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
    dtype=None, *, bias=True): channels of (N, C, H, W) or (C, H, W) standardized in each sample."""

    dimensions = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """InstanceNorm3d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
    dtype=None, *, bias=True): channels of (N, C, D, H, W) or (C, D, H, W) standardized in each sample."""

    dimensions = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """LazyInstanceNorm1d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, ...): an InstanceNorm1d that
    takes num_features from its first input."""

    cls_to_become = InstanceNorm1d
    dimensions = (2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """LazyInstanceNorm2d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, ...): an InstanceNorm2d that
    takes num_features from its first input."""

    cls_to_become = InstanceNorm2d
    dimensions = (3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """LazyInstanceNorm3d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, ...): an InstanceNorm3d that
    takes num_features from its first input."""

    cls_to_become = InstanceNorm3d
    dimensions = (4, 5)
