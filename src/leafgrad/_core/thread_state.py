"""What one thread has switched on. Not compiled: mypyc cannot derive a class from `threading.local`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.threads import RLock, local
from leafgrad.kernels import allocator

# The values of `state.recording`. The executor asks whether it *is* True or False and then runs the kernel. While a
# mode is on that sees operations, it is one of the other two, which are as true and as false: then modes are called.
RECORD, SKIP = True, False
RECORD_IN_MODES, SKIP_IN_MODES = 2, 0


class ThreadState(local):
    """The switches of one thread. Made at a thread's first use of leafgrad, which also sets NumPy's handling of
    floating point errors in that thread to "ignore": PyTorch computes with nan and inf silently. Its arrays begin where
    lines of the cache do."""

    def __init__(self) -> None:
        self.modes: list[Any] = []  # the modes of this thread (leafgrad._core.modes), the innermost last
        self.seeing: list[Any] = []  # those of them, and of the modes of all threads, that want to see operations
        self.in_modes = False  # are there any?
        self.recording: Any = RECORD
        self.inference = False
        self.asked = True  # what `recording` would be outside of inference_mode
        self.depth = 0  # backward passes that run inside each other
        self.passes: list[Any] = []  # who they are, the innermost last
        # of the innermost: where it began, None when it has ended, and what is to be called then
        self.callbacks: list[Any] = [None]
        self.numbered: list[Any] = []  # those whose number somebody asked for, by their `callbacks`
        self.evaluating: Any = None  # in passes that hooks or modes may watch: the node whose rule runs
        self.calling_back = False  # are they being called?
        self.running: list[Any] = []  # anomaly mode: the nodes whose rules run, the innermost last
        self.saved_hooks_refused: str | None = None  # why hooks for saved tensors may not be used here, if so
        self.multithreading = True
        self.replay_views = False  # is the history of a changed view made of its steps, or of a single one?
        self.keep_layout = True  # must a gradient lie in memory as its leaf does?
        self.forward_mode = True  # are tangents computed?
        self.drawing = False  # vmap: are random numbers being drawn?
        self.autocast: Any = None  # the dtype of fast operations, while autocast is on (leafgrad/ops/autocast.py)
        self.autocasted: dict[int, Any] | None = {}  # parameters in that dtype; None if they are not kept
        self.stash: dict[str, Any] = {}  # what programs keep here, see leafgrad._C
        with every_thread:
            self.refresh()
            self.handle = Handle(self.__dict__)
            handles.add(self.handle)
        np.seterr(all="ignore")
        allocator.align_memory()

    def refresh(self) -> None:
        """Find out anew whether a mode wants to see operations."""
        self.seeing = [mode for mode in (*shared_modes, *self.modes) if mode.sees_operations]
        self.in_modes = bool(self.seeing)
        self.record(bool(self.recording))

    def record(self, on: bool) -> None:
        """Switch recording on or off."""
        if self.in_modes:
            self.recording = RECORD_IN_MODES if on else SKIP_IN_MODES
        else:
            self.recording = on


class Handle:
    """The state of one thread, for other threads: what is switched for all of them must reach all."""

    def __init__(self, switches: dict[str, Any]) -> None:
        self.switches = switches


shared_modes: list[Any] = []  # the modes of all threads: forward mode and anomaly mode, as in PyTorch
handles: weakref.WeakSet[Handle] = weakref.WeakSet()
every_thread = RLock()  # held while something that all threads share is counted or changed


def refresh_all() -> None:
    """`refresh` in every thread."""
    with every_thread:
        for handle in list(handles):
            switches = handle.switches
            seeing = [mode for mode in (*shared_modes, *switches["modes"]) if mode.sees_operations]
            on = bool(switches["recording"])
            switches["seeing"] = seeing
            switches["in_modes"] = bool(seeing)
            switches["recording"] = (RECORD_IN_MODES if on else SKIP_IN_MODES) if seeing else on


class Pass:
    """One backward pass, for hooks that must know which one they are called by."""

    def __init__(self, starts: Any, wanted: Any, delivers: bool, keeps_graph: bool) -> None:
        self.starts = starts
        self.delivers = delivers  # to `.grad` of the leaves
        self.wanted = wanted  # places that it is restricted to, or None
        self.keeps_graph = keeps_graph  # for another pass


state = ThreadState()


def silence_numpy() -> None:
    """Called by functions that compute on arrays before the executor is asked: NumPy must be silent in this thread."""
    state.recording  # noqa: B018  a thread's first look at its state makes it so


def in_new_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a new thread with the switches of this one, and wait for it: a new stack for backward passes
    that are nested thousands deep."""
    switches = {name: value for name, value in state.__dict__.items() if name != "handle"}
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        state.__dict__.update(switches)
        try:
            outcome.append(function(*args))
        except BaseException as error:
            failure.append(error)

    import threading  # see leafgrad/_core/threads.py

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


allocator.keep_freed_memory()
