"""leafgrad.utils.data: datasets, samplers, and loaders that make batches of them, in this process or in others.

May import `leafgrad`, `_core` and `errors`.
"""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.utils.data._utils.collate import default_collate, default_convert
from leafgrad.utils.data._utils.worker import get_worker_info
from leafgrad.utils.data.dataloader import DataLoader
from leafgrad.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from leafgrad.utils.data.distributed import DistributedSampler
from leafgrad.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

__getattr__ = _missing.attributes_of(__name__)
