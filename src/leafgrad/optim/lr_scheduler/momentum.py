"""Schedules that move the momentum as well: up where the rate goes down."""

from __future__ import annotations

from typing import Any

from leafgrad.optim.lr_scheduler.base import Schedule, for_each_group


class MomentumSchedule(Schedule):
    """A schedule that changes `momentum`, or the first of `betas`."""

    cycle_momentum: bool
    use_beta1: bool

    def _start_momentum(self, highest: Any, lowest: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        """Check that there is something to change, and begin at the highest momentum."""
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in defaults
        tops = for_each_group("max_momentum", self.optimizer, highest)
        bottoms = for_each_group("base_momentum", self.optimizer, lowest)
        if last_epoch == -1:
            for group, top, bottom in zip(self.optimizer.param_groups, tops, bottoms, strict=True):
                self._set_momentum(group, top)
                group["max_momentum"] = top
                group["base_momentum"] = bottom
        return bottoms, tops

    def _set_momentum(self, group: dict[str, Any], value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value
