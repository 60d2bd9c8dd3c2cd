"""leafgrad.sparse: functions of sparse tensors whose gradients are those of what the tensors hold; old constructors."""

from __future__ import annotations

from leafgrad import _absent
from leafgrad.ops.sparse.creation import SPARSE_TYPES as _SPARSE_TYPES
from leafgrad.ops.sparse.namespace import addmm as addmm
from leafgrad.ops.sparse.namespace import as_sparse_gradcheck as as_sparse_gradcheck
from leafgrad.ops.sparse.namespace import check_sparse_tensor_invariants as check_sparse_tensor_invariants
from leafgrad.ops.sparse.namespace import log_softmax as log_softmax
from leafgrad.ops.sparse.namespace import mm as mm
from leafgrad.ops.sparse.namespace import sampled_addmm as sampled_addmm
from leafgrad.ops.sparse.namespace import softmax as softmax
from leafgrad.ops.sparse.namespace import spdiags as spdiags
from leafgrad.ops.sparse.namespace import sum as sum

_refused = _absent.names_refused(__name__, "leafgrad does not have {name}")


def __getattr__(name: str) -> object:
    return _SPARSE_TYPES[name] if name in _SPARSE_TYPES else _refused(name)
