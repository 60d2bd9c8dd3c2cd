"""A convolutional network learns to tell shapes apart: DataLoader with workers, augmentation, a warm-up and cosine
schedule, checkpoints of everything, and training that goes on from one."""

import argparse
import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.utils.data import DataLoader, Dataset, random_split

CLASSES = ["disc", "square", "cross", "stripes"]


class Shapes(Dataset):
    """Noisy drawings of 12 x 12 pixels; the number of an item decides what it shows."""

    def __init__(self, length, seed, transform=None):
        self.length = length
        self.seed = seed
        self.transform = transform

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.seed * 100_003 + index)
        label = index % len(CLASSES)
        row, column = torch.randint(3, 9, (2,), generator=generator).tolist()
        y, x = torch.meshgrid(torch.arange(12), torch.arange(12), indexing="ij")
        if label == 0:
            image = ((y - row) ** 2 + (x - column) ** 2 <= 7).float()
        elif label == 1:
            image = (torch.maximum((y - row).abs(), (x - column).abs()) <= 2).float()
        elif label == 2:
            image = ((y == row) | (x == column)).float()
        else:
            image = ((y + x + row) % 3 == 0).float()
        image = image + 0.3 * torch.randn(12, 12, generator=generator)
        image = image.unsqueeze(0)
        if self.transform is not None:
            image = self.transform(image, generator)
        return image, label


def flip_and_shift(image, generator):
    if torch.rand(1, generator=generator).item() < 0.5:
        image = image.flip(-1)
    shift = int(torch.randint(-1, 2, (1,), generator=generator))
    return image.roll(shift, dims=-2)


class Block(nn.Module):
    """Convolution, normalisation, activation, with a shortcut."""

    def __init__(self, channels_in, channels_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.shortcut = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False), nn.BatchNorm2d(channels_out)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class SmallResNet(nn.Module):
    def __init__(self, width=6, classes=4):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.layers = nn.Sequential(Block(width, width), Block(width, 2 * width, stride=2))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(2 * width, classes))
        self.apply(self._init)

    @staticmethod
    def _init(module):
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.head(x.mean((2, 3), keepdim=True))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct, total, loss = 0, 0, 0.0
    confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.int64)
    for images, labels in loader:
        logits = model(images)
        loss += F.cross_entropy(logits, labels, reduction="sum").item()
        predicted = logits.argmax(1)
        correct += (predicted == labels).sum().item()
        total += labels.size(0)
        confusion.index_put_((labels, predicted), torch.ones_like(labels), accumulate=True)
    return loss / total, correct / total, confusion


def train_one_epoch(model, loader, criterion, optimizer):
    model.train()
    running, seen = 0.0, 0
    for images, labels in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(images), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        running += loss.item() * images.size(0)
        seen += images.size(0)
    return running / seen


def make_optimizer(model, epochs, lr):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 1e-3}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=lr, momentum=0.9, nesterov=True)
    warmup = LinearLR(optimizer, start_factor=0.3, total_iters=1)
    scheduler = SequentialLR(
        optimizer, [warmup, CosineAnnealingLR(optimizer, T_max=max(1, epochs - 1))], milestones=[1]
    )
    return optimizer, scheduler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--images", type=int, default=160)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    full = Shapes(args.images, seed=1, transform=flip_and_shift)
    train_set, valid_set = random_split(full, [0.75, 0.25], generator=torch.Generator().manual_seed(0))
    options = {"batch_size": args.batch_size, "num_workers": args.workers}
    train_loader = DataLoader(train_set, shuffle=True, drop_last=True, **options)
    valid_loader = DataLoader(valid_set, **options)

    model = SmallResNet()
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{count} parameters, {len(train_set)} images to learn from, {len(valid_set)} to check")
    optimizer, scheduler = make_optimizer(model, args.epochs, args.lr)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    best = math.inf
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "best.pt")
        for epoch in range(args.epochs):
            lr = optimizer.param_groups[0]["lr"]
            train_loss = train_one_epoch(model, train_loader, criterion, optimizer)
            valid_loss, accuracy, _ = evaluate(model, valid_loader)
            scheduler.step()
            print(
                f"epoch {epoch}: lr {lr:.4f}  train {train_loss:.4f}  valid {valid_loss:.4f}  accuracy {accuracy:.3f}"
            )
            if valid_loss < best:
                best = valid_loss
                state = {
                    "epoch": epoch,
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(),
                    "rng": torch.get_rng_state(),
                }
                torch.save(state, path)

        checkpoint = torch.load(path)
        resumed = SmallResNet()
        missing = resumed.load_state_dict(checkpoint["model"], strict=True)
        assert not missing.missing_keys and not missing.unexpected_keys
        optimizer, scheduler = make_optimizer(resumed, args.epochs, args.lr)
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        torch.set_rng_state(checkpoint["rng"])

    valid_loss, accuracy, confusion = evaluate(resumed, valid_loader)
    print(f"best, from epoch {checkpoint['epoch']}: valid {valid_loss:.4f}  accuracy {accuracy:.3f}")
    print("confusion:", confusion.tolist())
    train_loss = train_one_epoch(resumed, train_loader, criterion, optimizer)
    print(f"one more epoch: train {train_loss:.4f}")


if __name__ == "__main__":
    main()
