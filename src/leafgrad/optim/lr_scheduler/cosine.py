"""Schedules that follow a cosine."""

from __future__ import annotations

import math

from leafgrad.optim.lr_scheduler.base import Rates, Schedule
from leafgrad.optim.optimizer import Optimizer


class _Cosine(Schedule):
    eta_min: float

    def _at(self, height: float) -> Rates:
        """The rates where the cosine is `height` - 1."""
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingLR(_Cosine):
    """CosineAnnealingLR(optimizer, T_max, eta_min=0.0): from base down to eta_min in T_max epochs, and up again:
    lr = eta_min + (base - eta_min) (1 + cos(π epoch / T_max)) / 2."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _next(self) -> Rates:
        epoch, low, present = self.last_epoch, self.eta_min, self._present()
        if self._is_initial:
            return present
        if self._step_count == 1 and epoch > 0:  # the first step of a schedule that was put after another one
            return self._at(self._height(epoch))
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # up again from the lowest point, where a ratio fails
            rise = 1 - math.cos(math.pi / self.T_max)
            return [rate + (base - low) * rise / 2 for base, rate in zip(self.base_lrs, present, strict=True)]
        return [self._height(epoch) / self._height(epoch - 1) * (rate - low) + low for rate in present]

    def _get_closed_form_lr(self) -> Rates:
        return self._at(self._height(self.last_epoch))


class CosineAnnealingWarmRestarts(_Cosine):
    """CosineAnnealingWarmRestarts(optimizer, T_0, T_mult=1, eta_min=0.0): from base down to eta_min in T_0 epochs, then
    from base again in T_0 T_mult epochs, and so on. Epochs may be fractions: `step(epoch + batch / batches)`."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0  # the length of the present descent
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch  # how far it has got
        super().__init__(optimizer, last_epoch)

    def _next(self) -> Rates:
        return self._at(1 + math.cos(math.pi * self.T_cur / self.T_i))

    def step(self, epoch: float | None = None) -> None:
        """step(epoch=None): go on to the next epoch, or to any other one."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_rates(self.get_lr)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:  # n descents are over, which took T_0 (1 + T_mult + T_mult² + ...) epochs
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
