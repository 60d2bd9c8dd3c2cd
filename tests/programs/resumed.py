"""Training that is interrupted and goes on as if it had not been: the states of model, of an optimiser of one's own, of
its schedule and of the random numbers in one file. And what it says of wrong arguments."""

import copy
import io
import logging
import sys
from collections import OrderedDict, defaultdict

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, Dataset, Subset, random_split

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("training")


class Blobs(Dataset):
    """Points around a few centres, with fresh noise whenever one is asked for."""

    def __init__(self, count, classes):
        generator = torch.Generator().manual_seed(0)
        centres = torch.randn(classes, 6, generator=generator) * 1.5
        self.y = torch.randint(classes, (count,), generator=generator)
        self.x = centres[self.y] + torch.randn(count, 6, generator=generator)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index] + 0.1 * torch.randn(6), self.y[index]


class Lion(torch.optim.Optimizer):
    """The sign of a moving average; its state has a number, a tuple and a dictionary."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99)):
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(step=0, moments={"first": torch.zeros_like(p)}, range=(p.min().clone(), 1))
                state["step"] += 1
                average = state["moments"]["first"]
                update = average.lerp(p.grad, 1 - group["betas"][0]).sign_()
                p.add_(update, alpha=-group["lr"] / state["step"] ** 0.5)
                average.lerp_(p.grad, 1 - group["betas"][1])
        return loss


class Warmup(LRScheduler):
    def __init__(self, optimizer, steps, last_epoch=-1):
        self.steps = steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]


class Trainer:
    def __init__(self):
        layers = [
            ("first", nn.Linear(6, 16)),
            ("act", nn.SiLU()),
            ("drop", nn.Dropout(0.2)),
            ("last", nn.Linear(16, 4)),
        ]
        self.model = nn.Sequential(OrderedDict(layers))
        self.optimizer = Lion(self.model.parameters())
        self.schedule = Warmup(self.optimizer, 12)
        self.history = defaultdict(list)

    def epoch(self, number, training, validation):
        self.model.train()
        for x, y in DataLoader(training, batch_size=16, shuffle=True, drop_last=True):
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()
        self.model.eval()
        with torch.no_grad():
            x, y = next(iter(DataLoader(validation, batch_size=len(validation))))
            out = self.model(x)
        self.history["loss"].append(F.cross_entropy(out, y).item())
        rate = self.schedule.get_last_lr()[0]
        log.info(f"epoch {number} loss {self.history['loss'][-1]:.4f} norm {norm.item():.4f} rate {rate:.5f}")
        return torch.bincount(y * 4 + out.argmax(1), minlength=16).reshape(4, 4)

    def state_dict(self):
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": torch.get_rng_state(),
            "history": dict(self.history),
        }

    def load_state_dict(self, state):
        log.info(self.model.load_state_dict(state["model"]))
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["random"])
        self.history.update(state["history"])


MISTAKES = {
    "a tuple": lambda x: nn.ReLU()(nn.LSTM(6, 2)(x)),
    "a list": lambda x: F.dropout([1.0, 2.0]),
    "a number as target": lambda x: F.mse_loss(x, 1.0),
    "a class as target": lambda x: F.cross_entropy(x, 3),
    "integers": lambda x: F.kl_div(x, torch.ones_like(x).long()),
    "weights": lambda x: F.cross_entropy(x, torch.zeros(len(x), dtype=torch.long), weight=[1.0] * 6),
    "fractions": lambda x: torch.tensor([x[0, 0]], dtype=torch.int64),
    "parameters": lambda x: Lion(x),
    "rates": lambda x: Lion([x.requires_grad_()], lr=-1),
    "shapes": lambda x: nn.Linear(5, 2)(x),
}


def main():
    torch.manual_seed(7)
    data = Blobs(160, 4)
    training, validation = random_split(data, [128, 32], generator=torch.Generator().manual_seed(1))
    print(type(training).__name__, isinstance(training, Subset), training.indices[:6])
    whole = Trainer()
    print(whole.model, whole.optimizer, sep="\n")
    saved = io.BytesIO()
    for number in range(4):
        counts = whole.epoch(number, training, validation)
        if number == 1:
            torch.save(whole.state_dict(), saved)
    print(counts, counts.diag().sum() / counts.sum())

    saved.seek(0)
    resumed = Trainer()
    resumed.load_state_dict(copy.deepcopy(torch.load(saved)))
    print(resumed.optimizer)
    state = resumed.optimizer.state_dict()["state"][1]
    print(state["step"], type(state["range"]).__name__, state["moments"]["first"][:3], resumed.schedule.state_dict())
    for number in range(2, 4):
        resumed.epoch(number, training, validation)
    pairs = zip(whole.model.state_dict().values(), resumed.model.state_dict().values(), strict=True)
    print("as if nothing had been:", all(torch.equal(a, b) for a, b in pairs), whole.history == resumed.history)

    for name, mistake in MISTAKES.items():
        try:
            print(name, mistake(torch.ones(3, 6)))
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
