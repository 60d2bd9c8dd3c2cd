"""leafgrad.random: the state of the default generator."""

from __future__ import annotations

from leafgrad.ops.random.distributions import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip
