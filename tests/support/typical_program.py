"""A program as public repositories have it: arguments, logging, seeds, a choice of devices, mixed precision, code paths
of distributed training that are not taken, compilation behind a flag, checkpoints. tests/test_platform.py runs it with
`python -m leafgrad run`, tests/torch/test_platform_torch.py with PyTorch as well."""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.cuda.amp import GradScaler as OldGradScaler
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset, random_split

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    SummaryWriter = None

log = logging.getLogger(__name__)


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(8, width)
        self.second = nn.Linear(width, 3)
        self.act = torch.relu

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.act(self.first(x)))


def set_seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    cudnn.deterministic, cudnn.benchmark = True, False


def is_main_process() -> bool:
    return not (dist.is_available() and dist.is_initialized()) or dist.get_rank() == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    set_seed(0)
    torch.set_float32_matmul_precision("high")
    device = torch.device(
        "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    )
    assert torch.__version__ >= "2.0"

    data = TensorDataset(torch.randn(40, 8), torch.randint(0, 3, (40,)))
    train, test = random_split(data, [32, 8], generator=torch.Generator().manual_seed(1))
    loader = DataLoader(train, 8, shuffle=True, pin_memory=device.type == "cuda")
    model = Net(16).to(device)
    if args.compile and hasattr(torch, "compile"):
        model = torch.compile(model)
    if "LOCAL_RANK" in os.environ:
        model = DDP(model, device_ids=[int(os.environ["LOCAL_RANK"])])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
    schedule = CosineAnnealingLR(optimizer, args.epochs)
    scaler = torch.amp.GradScaler(device.type, enabled=args.amp)
    if args.resume:
        saved = torch.load(args.resume, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scaler.load_state_dict(saved["scaler"])
        log.info("resumed after epoch %d", saved["epoch"])

    for epoch in range(args.epochs):
        total = 0.0
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=args.amp):
                loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            total += loss.item() * len(y)
        schedule.step()
        with torch.inference_mode():
            x, y = next(iter(DataLoader(test, len(test))))
            right = (model(x).argmax(1) == y).float().mean().item()
        log.info("epoch %d  loss %.2f  right %.2f", epoch, total / len(train), right)
        if is_main_process():
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}
            torch.save({**state, "epoch": epoch, "version": str(torch.__version__)}, "checkpoint.pt")
    log.info("%s %s", isinstance(model, DDP), OldGradScaler(enabled=False).is_enabled())


if __name__ == "__main__":
    main()
