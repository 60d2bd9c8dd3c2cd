"""The modes of a thread. Not compiled: mypyc cannot derive a class from `threading.local`."""

from __future__ import annotations

import threading

import numpy as np

from leafgrad import allocator


class ThreadState(threading.local):
    """What one thread has switched on. Made at a thread's first use of leafgrad, which also sets NumPy's handling of
    floating point errors in that thread to "ignore": PyTorch computes with nan and inf silently."""

    def __init__(self) -> None:
        self.grad_enabled = True
        self.inference = False
        np.seterr(all="ignore")


state = ThreadState()


def quiet() -> None:
    """Called by functions that compute on arrays before the recorder is asked: NumPy must be silent in this thread."""
    state.grad_enabled  # noqa: B018  a thread's first look at its state makes it so


allocator.keep_freed_memory()
