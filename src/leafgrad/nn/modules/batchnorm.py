"""Batch normalisation, and what it shares with instance normalisation: parameters and running statistics."""

from __future__ import annotations

from typing import Any

from leafgrad._dtypes import int64
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules.lazy import LazyModuleMixin
from leafgrad.nn.modules.linear import _Layer, uninitialized
from leafgrad.nn.parameter import UninitializedBuffer, UninitializedParameter
from leafgrad.ops.creation.factories import zeros
from leafgrad.ops.signature import Device, Dtype

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
    "SyncBatchNorm",
]  # fmt: skip


class _NormBase(_Layer):
    """Weight and bias of channels (if `affine`), and a running mean and variance of them (if `track_running_stats`)."""

    _version = 2  # since then num_batches_tracked is part of the state
    dimensions: tuple[int, ...] = ()  # how many an input may have
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        self.register_parameter("weight", uninitialized(shape, dtype, device) if affine else None)
        self.register_parameter("bias", uninitialized(shape, dtype, device) if affine and bias else None)
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, uninitialized(shape, dtype, device).data if track_running_stats else None)
        self.register_buffer("num_batches_tracked", no_batches(device) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """reset_running_stats(): mean 0, variance 1, as if no batch had been seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """reset_parameters(): weights 1, biases 0, no statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in self.dimensions:
            expected = " or ".join([f"{n}D" for n in self.dimensions])
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats:
            counted = self.num_batches_tracked
            state_dict.setdefault(f"{prefix}num_batches_tracked", no_batches() if counted is None else counted)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


def no_batches(device: Any = None) -> Any:
    return zeros((), dtype=int64, device=device)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        updates = self.training and self.track_running_stats
        if updates and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # then the running ones are means over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        mean, variance = self.running_mean, self.running_var
        by_input = self.training or (mean is None and variance is None)
        if self.training and not self.track_running_stats:
            mean = variance = None
        return F.batch_norm(input, mean, variance, self.weight, self.bias, by_input, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """BatchNorm1d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None,
    dtype=None, *, bias=True): channels of (N, C) or (N, C, L) standardized over all samples,
    then times weight plus bias."""

    dimensions = (2, 3)


class BatchNorm2d(_BatchNorm):
    """BatchNorm2d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None,
    dtype=None, *, bias=True): channels of (N, C, H, W) standardized over all samples,
    then times weight plus bias."""

    dimensions = (4,)


class BatchNorm3d(_BatchNorm):
    """BatchNorm3d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None,
    dtype=None, *, bias=True): channels of (N, C, D, H, W) standardized over all samples,
    then times weight plus bias."""

    dimensions = (5,)


class SyncBatchNorm(_BatchNorm):
    """SyncBatchNorm(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
    device=None, dtype=None, *, bias=True): batch normalisation over the samples of all processes. leafgrad has one."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Device | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        if process_group is not None:
            raise NotImplementedError(
                "leafgrad has no process groups: SyncBatchNorm works with process_group=None only."
            )
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """convert_sync_batchnorm(module, process_group=None): the module, with SyncBatchNorms in the place of all batch
        normalisations, which take over their parameters and statistics."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


# -- that learn the number of channels from their first input ---------------------------------------------------------


class _LazyNormBase(LazyModuleMixin, _NormBase):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = no_batches()

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                if tensor is not None:
                    tensor.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """LazyBatchNorm1d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, ...): a BatchNorm1d that takes
    num_features from its first input."""

    cls_to_become = BatchNorm1d
    dimensions = (2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """LazyBatchNorm2d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, ...): a BatchNorm2d that takes
    num_features from its first input."""

    cls_to_become = BatchNorm2d
    dimensions = (4,)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """LazyBatchNorm3d(eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, ...): a BatchNorm3d that takes
    num_features from its first input."""

    cls_to_become = BatchNorm3d
    dimensions = (5,)
