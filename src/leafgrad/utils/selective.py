"""Selective checkpointing: a policy says for each operation whether its result is kept or computed again.

The policy is asked in the forward pass, `policy(ctx, op, *args)`: `op` is the operation under its name in
`leafgrad.ops.aten` (`torch.ops.aten.mm.default`), args are its tensors (without history) and options. When the function
is run again, operations whose results were kept are not computed: their n-th call gets the n-th result.

What is not an operation of the registry is not asked about: making tensors, drawing random numbers. In-place forms are
asked about under the name of the operation itself (`exp_` is `aten.exp`). Views cost nothing and are always made anew,
so that they stay views of the right memory.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.modes import Below, Observer
from leafgrad._core.op import Op
from leafgrad._core.tensor import as_array, wrap
from leafgrad.ops import aten


class CheckpointPolicy(enum.Enum):
    """What is to be done with the result of an operation: keep it, or compute it again. The stronger form, MUST, is the
    same here as PREFER; to offload to the CPU is to keep, as everything is there."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


KEPT = [policy for policy in CheckpointPolicy if not policy.name.endswith("RECOMPUTE")]

# PyTorch's list of what policies are never asked about. Here only `detach` is an operation at all.
SAC_IGNORED_OPS = {aten.packet("detach").default}


class SelectiveCheckpointContext:
    """What a policy is told beside the operation: `op_output`, its result."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute  # always False: policies are asked in the forward pass only
        self.op_output = op_output


class Kept:
    """The result of one operation, with a sum that shows whether somebody has changed it."""

    def __init__(self, arrays: list[Any], several: bool, watched: bool) -> None:
        self.arrays = arrays
        self.several = several
        self.sums = [fingerprint(a) for a in arrays] if watched else None

    def take(self) -> Any:
        if self.sums is not None and self.sums != [fingerprint(a) for a in self.arrays]:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated\n"
                f"  at   {errors.here()}\n  fix  clone the result before it is changed in place, or pass "
                "allow_cache_entry_mutation=True"
            )
        return self.arrays if self.several else self.arrays[0]


COMPUTED = object()  # in place of what is kept: it was not
USED = object()  # it was, and has been taken
Calls = dict[Any, list[Any]]  # what was decided for each call of each operation, in order


class Keeping(Observer):
    """The forward pass: asks the policy, and keeps."""

    wants_tensors = False  # gradients are computed later, outside

    def __init__(self, policy: Callable[..., Any], calls: Calls, allow_mutation: bool) -> None:
        super().__init__()
        self.policy = policy
        self.calls = calls
        self.allow_mutation = allow_mutation

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        written, out = out is not None, below(op, arrays, options, out)
        if written:
            return out  # a change in place is done again
        name = aten.named(op)
        if name in SAC_IGNORED_OPS:
            return out
        several = isinstance(out, (list, tuple))
        outs = [as_array(o) for o in out] if several else [as_array(out)]
        shown = [wrap(o) for o in outs]
        ctx = SelectiveCheckpointContext(is_recompute=False, op_output=tuple(shown) if several else shown[0])
        given = [wrap(a) if isinstance(a, np.ndarray) else a for a in arrays if a is not None]
        wish = self.policy(ctx, name, *given, *options)
        keep = (wish is True or wish in KEPT) and not is_view(outs, arrays)
        entry: Any = Kept(outs, several, not self.allow_mutation) if keep else COMPUTED
        self.calls.setdefault(name, []).append(entry)
        return outs if several else outs[0]


class Fetching(Observer):
    """The second run: results that were kept are not computed."""

    wants_tensors = False

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self.calls = calls
        self.positions: dict[Any, int] = {}

    def __enter__(self) -> Any:
        self.positions = {}
        return super().__enter__()

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        if out is not None:
            return below(op, arrays, options, out)
        name = aten.named(op)
        if name in SAC_IGNORED_OPS:
            return below(op, arrays, options, out)
        position = self.positions.get(name, 0)
        self.positions[name] = position + 1
        calls = self.calls.get(name, [])
        if position >= len(calls):
            raise not_found(f"{name} invocation index {position}" if calls else str(name))
        entry: Any = calls[position]
        if entry is COMPUTED:
            return below(op, arrays, options, out)
        if entry is USED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                f"selective activation checkpoint.\n  at {errors.here()}"
            )
        calls[position] = USED
        return entry.take()


def not_found(call: str) -> RuntimeError:
    """The error for an operation that the second run has and the first had not."""
    return RuntimeError(
        f"{call} encountered during backward but not found in storage. This can happen if the operations in the "
        "checkpointed region are nondeterministic or depend on global state that changed between forward and "
        f"backward.\n  at {errors.here()}"
    )


def is_view(outs: list[Any], arrays: Sequence[Any]) -> bool:
    inputs = [a for a in arrays if isinstance(a, np.ndarray)]
    return any([np.may_share_memory(out, a) for out in outs for a in inputs])


def fingerprint(array: Any) -> int:
    """A sum over the bits, at the speed of memory. It cannot tell values that only changed places."""
    dense = np.ascontiguousarray(array).reshape(-1)
    width = min(8, dense.dtype.itemsize)
    return int(dense.view(f"u{width}").sum(dtype=np.uint64))


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[Keeping, Fetching]:
    """create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False): the two contexts that
    checkpoint's `context_fn` returns. A list names the operations whose results are kept:

        ops = [torch.ops.aten.mm.default]
        checkpoint(f, x, use_reentrant=False, context_fn=partial(create_selective_checkpoint_contexts, ops))
    """
    if isinstance(policy_fn_or_list, list):
        for each in policy_fn_or_list:
            if not isinstance(each, aten.Overload):
                hint = ""
                if isinstance(each, aten.Packet):
                    hint = (
                        "Please update the OpOverloadPacket to a specific OpOverload."
                        f"For example, if you have `torch.ops.{each}`, change it to `torch.ops.{each._overload}`."
                    )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {each} of type {type(each)}. {hint}"
                )
        wanted = list(policy_fn_or_list)

        def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in wanted else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    calls: Calls = {}
    return Keeping(policy, calls, allow_cache_entry_mutation), Fetching(calls)
