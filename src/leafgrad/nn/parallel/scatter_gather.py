"""torch.nn.parallel.scatter_gather: batches in parts for several devices, to be imported and not used."""

from __future__ import annotations

from leafgrad import _absent, _missing

SENTENCE = "leafgrad does not have {name}: it computes on one device"
globals().update(_absent.refused(__name__, SENTENCE, "gather scatter scatter_kwargs"))
__getattr__ = _missing.attributes_of(__name__)
