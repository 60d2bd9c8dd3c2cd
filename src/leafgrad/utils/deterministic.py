"""torch.utils.deterministic: what `use_deterministic_algorithms(True)` does about memory that nobody has set."""

from __future__ import annotations

# Is memory of `empty` and its kin filled with nan, or with the largest integer, while only deterministic algorithms are
# wanted? Programs assign it.
fill_uninitialized_memory = True
