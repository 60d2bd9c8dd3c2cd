"""Fake tensors, by which PyTorch's compiler runs programs without computing: leafgrad has none."""

from __future__ import annotations

from leafgrad import _absent, _missing

WITHOUT = "leafgrad does not have {name}: the device 'meta' has tensors without data"
globals().update(_absent.refused(__name__, WITHOUT, "FakeTensor FakeTensorMode FakeTensorConverter"))
globals().update(_absent.answers(__name__, is_fake=False, maybe_get_fake_mode=None))

__getattr__ = _missing.attributes_of(__name__)
