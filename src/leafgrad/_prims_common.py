"""torch._prims_common: what operators of a program's own say of themselves."""

from __future__ import annotations

from leafgrad import _missing, errors
from leafgrad._settings import are_deterministic_algorithms_enabled, is_deterministic_algorithms_warn_only_enabled


def alert_not_deterministic(caller: str) -> None:
    """alert_not_deterministic(caller): an error, or a warning, if only deterministic algorithms are wanted."""
    if not are_deterministic_algorithms_enabled():
        return
    first = f"{caller} does not have a deterministic implementation, but you set "
    if is_deterministic_algorithms_warn_only_enabled():
        errors.warn(f"{first}'torch.use_deterministic_algorithms(True, warn_only=True)'.")
    else:
        raise RuntimeError(f"{first}'torch.use_deterministic_algorithms(True)'.")


__getattr__ = _missing.attributes_of(__name__)
