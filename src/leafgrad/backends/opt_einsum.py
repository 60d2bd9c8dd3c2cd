"""torch.backends.opt_einsum: not used. einsum finds its order of products itself."""

from __future__ import annotations

from leafgrad import _absent, _missing

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """is_available(): False, einsum does not use the package opt_einsum."""
    return False


def get_opt_einsum() -> None:
    """get_opt_einsum(): None, the package is not used."""


def flags(enabled: bool | None = None, strategy: str | None = None) -> _absent.Switch:
    """flags(enabled, strategy): a context in which switches are set."""
    return _absent.Switch(__name__, locals())


__getattr__ = _missing.attributes_of(__name__)
