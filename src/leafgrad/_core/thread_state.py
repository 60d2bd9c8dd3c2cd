"""The modes of a thread. Not compiled: mypyc cannot derive a class from `threading.local`."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from leafgrad.kernels import allocator

# What `grad_enabled` is while recording is on and somebody wants to know of every node: hooks for saved tensors,
# anomaly mode. The recorder's shortcuts ask only whether it is exactly True.
WATCHED = 2


class ThreadState(threading.local):
    """What one thread has switched on. Made at a thread's first use of leafgrad, which also sets NumPy's handling of
    floating point errors in that thread to "ignore": PyTorch computes with nan and inf silently."""

    def __init__(self) -> None:
        self.on: Any = WATCHED if anomaly.enabled else True  # what grad_enabled is while recording is on
        self.grad_enabled: Any = self.on
        self.inference = False
        self.asked = True  # what grad_enabled would be if this were not inference_mode
        self.depth = 0  # backward passes that run inside each other
        self.passes: list[Any] = []  # who they are, the innermost last
        self.running: list[Any] = []  # anomaly mode: the nodes whose rules run, the innermost last
        self.saved_hooks: list[Any] = []  # pairs (pack, unpack), the innermost last
        self.saved_hooks_refused: str | None = None  # why they may not be used here, if so
        self.multithreading = True
        self.forward_mode = True  # do tangents travel along?
        self.tape: Any = None  # leafgrad._profiler.recording: what is measured, while a profiler is on
        self.place = Place(self.__dict__)
        with every_thread:
            places.add(self.place)
        np.seterr(all="ignore")

    def watch(self) -> None:
        """Find out anew whether somebody wants to know of every node."""
        self.on = WATCHED if self.saved_hooks or anomaly.enabled else True
        if self.grad_enabled:
            self.grad_enabled = self.on


class Place:
    """Where the state of a thread is, for other threads: what is switched for all of them must reach all."""

    def __init__(self, modes: dict[str, Any]) -> None:
        self.modes = modes


places: weakref.WeakSet[Place] = weakref.WeakSet()
every_thread = threading.RLock()  # held while something that all threads share is counted or changed


def watch_everywhere() -> None:
    """`watch` in every thread."""
    with every_thread:
        for place in list(places):
            modes = place.modes
            modes["on"] = WATCHED if modes["saved_hooks"] or anomaly.enabled else True
            if modes["grad_enabled"]:
                modes["grad_enabled"] = modes["on"]


class Pass:
    """One backward pass, for hooks that must know which one they are called by."""

    def __init__(self, starts: Any, wanted: Any, delivers: bool) -> None:
        self.starts = starts
        self.delivers = delivers  # to `.grad` of the leaves
        self.wanted = wanted  # places that it is restricted to, or None


class Anomaly:
    """Whether backward passes look for trouble. One for all threads, as in PyTorch."""

    enabled = False
    check_nan = True


anomaly = Anomaly()
state = ThreadState()


def quiet() -> None:
    """Called by functions that compute on arrays before the recorder is asked: NumPy must be silent in this thread."""
    state.grad_enabled  # noqa: B018  a thread's first look at its state makes it so


allocator.keep_freed_memory()
