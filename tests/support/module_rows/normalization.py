"""Normalisation layers."""

from __future__ import annotations

from module_cases import Case

SHAPES = {1: (4, 3, 2), 2: (2, 3, 2, 2), 3: (2, 2, 2, 1, 2)}

ROWS = {
    **{f"BatchNorm{n}d": Case(lambda nn, n=n, s=s: getattr(nn, f"BatchNorm{n}d")(s[1]), s) for n, s in SHAPES.items()},
    "BatchNorm1d of vectors": Case(lambda nn: nn.BatchNorm1d(3, eps=0.1, momentum=0.3), (4, 3)),
    "BatchNorm1d without weights": Case(lambda nn: nn.BatchNorm1d(3, affine=False), (4, 3)),
    "BatchNorm1d without statistics": Case(lambda nn: nn.BatchNorm1d(3, track_running_stats=False), (4, 3)),
    "BatchNorm1d with means of all batches": Case(lambda nn: nn.BatchNorm1d(3, momentum=None), (4, 3)),
    "BatchNorm1d without bias": Case(lambda nn: nn.BatchNorm1d(3, bias=False), (4, 3)),
    "SyncBatchNorm": Case(lambda nn: nn.SyncBatchNorm(3), (4, 3, 2)),
    "SyncBatchNorm, converted": Case(
        lambda nn: nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))), (4, 3)
    ),
    **{f"LazyBatchNorm{n}d": Case(lambda nn, n=n: getattr(nn, f"LazyBatchNorm{n}d")(), s) for n, s in SHAPES.items()},
    **{
        f"InstanceNorm{n}d": Case(lambda nn, n=n, s=s: getattr(nn, f"InstanceNorm{n}d")(s[1]), s)
        for n, s in SHAPES.items()
    },
    "InstanceNorm1d with all": Case(
        lambda nn: nn.InstanceNorm1d(3, affine=True, track_running_stats=True, momentum=0.4), (2, 3, 4)
    ),
    "InstanceNorm1d of one sample": Case(lambda nn: nn.InstanceNorm1d(3, affine=True), (3, 4)),
    **{
        f"LazyInstanceNorm{n}d": Case(lambda nn, n=n: getattr(nn, f"LazyInstanceNorm{n}d")(), s)
        for n, s in SHAPES.items()
    },
    "LayerNorm": Case(lambda nn: nn.LayerNorm(4), (2, 3, 4)),
    "LayerNorm of a matrix": Case(lambda nn: nn.LayerNorm([3, 4], eps=0.1, bias=False), (2, 3, 4)),
    "LayerNorm without weights": Case(lambda nn: nn.LayerNorm(4, elementwise_affine=False), (3, 4)),
    "GroupNorm": Case(lambda nn: nn.GroupNorm(2, 4), (2, 4, 3)),
    "GroupNorm without weights": Case(lambda nn: nn.GroupNorm(1, 4, affine=False), (2, 4)),
    "RMSNorm": Case(lambda nn: nn.RMSNorm(4), (3, 4)),
    "RMSNorm of a matrix": Case(lambda nn: nn.RMSNorm((3, 4), eps=0.1, elementwise_affine=False), (2, 3, 4)),
}
