"""torch.jit.annotations: types in the signatures of scripted functions."""

from __future__ import annotations

from typing import Any, Optional, Union

from leafgrad import _missing


class BroadcastingListCls:
    """BroadcastingList2[int]: a list of two integers, or one for both."""

    def __getitem__(self, types: Any) -> None:
        return None


List, Dict, Tuple = list, dict, tuple
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingListCls()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingListCls()

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]
__getattr__ = _missing.attributes_of(__name__)
