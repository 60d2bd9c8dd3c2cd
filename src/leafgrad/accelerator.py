"""torch.accelerator for programs that ask before they use one: there is none."""

from __future__ import annotations

from leafgrad import _absent

globals().update(_absent.answers(__name__, is_available=False, device_count=0, current_accelerator=None))

SENTENCE = "Cannot access accelerator device when none is available."
__getattr__ = _absent.names_refused(__name__, SENTENCE, RuntimeError)
