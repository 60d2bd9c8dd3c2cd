"""Samples of operations called in PyTorch too: which function it has for each, and where the two differ on purpose."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import leafgrad as lg
from leafgrad import _dtypes
from leafgrad._core.tensor import wrap
from leafgrad._device import memory_format
from op_checks import (
    Case,
    Entry,
    Slot,
    assert_close,
    cases,
    differentiable,
    entries,
    public_name,
    random_like,
    tolerance,
)
from op_values import LOOSE

F = torch.nn.functional

# -- which function of PyTorch ----------------------------------------------------------------------------------------


def counterpart(entry: Entry) -> Callable[..., Any]:
    """What an operation is in PyTorch: what its block says, or the function of the same name."""
    if callable(entry.reference):
        return functools.partial(entry.reference, torch)
    if entry.reference is not None:
        return operator.attrgetter(entry.reference)(torch)  # type: ignore[no-any-return]
    if entry.places and not public_name(entry):
        return operator.attrgetter(entry.places[0])(torch)  # type: ignore[no-any-return]
    name = public_name(entry) or entry.name
    places = [torch, torch.Tensor, F, torch.linalg, torch.special]
    if name in lg.nn.functional.__all__:
        places.insert(0, F)  # torch has functions of the same names, for its own use
    found = [getattr(place, name) for place in places if callable(getattr(place, name, None))]
    assert found, f"PyTorch has no {name}, and the block does not say what it is there"
    return found[0]  # type: ignore[no-any-return]


compared = [e for e in entries() if cases(e)]


def identity(value: Any) -> str:
    """The name of a test's parameter."""
    return value if isinstance(value, str) else str(value.name)


# -- the same call in both --------------------------------------------------------------------------------------------


def to_torch(value: Any) -> Any:
    """An argument for PyTorch: tensors, dtypes and memory formats as its own, everything else as it is."""
    if isinstance(value, lg.Tensor):
        return array_to_torch(value.array)
    if isinstance(value, _dtypes.dtype):
        return getattr(torch, value.name)
    if isinstance(value, memory_format):
        return getattr(torch, repr(value).removeprefix("torch."))
    if isinstance(value, dict):
        return {k: to_torch(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([to_torch(v) for v in value])
    return value


def array_to_torch(array: Any) -> torch.Tensor:
    array = np.array(array, order="C")
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array_of(t: torch.Tensor) -> Any:
    """A tensor of PyTorch as an array; half precisions widened, which changes no value."""
    t = t.detach().resolve_conj().resolve_neg()
    if t._is_zerotensor():  # zeros that have no memory
        t = torch.zeros(t.shape, dtype=t.dtype)
    if t.dtype is torch.complex32:
        t = t.to(torch.complex64)
    return (t.float() if t.dtype in (torch.bfloat16, torch.float16) else t).numpy()


# -- where the two differ on purpose ----------------------------------------------------------------------------------

# PyTorch refuses to record some operations on complex numbers that leafgrad differentiates.
NOT_DIFFERENTIATED = "does not support automatic differentiation for outputs with complex dtype"

# There is no complex32.
NO_COMPLEX32 = {("view_as_complex", "float16"), ("view_as_complex_copy", "float16")}
WIDER = {("complex", "float16"): "torch.complex64"}

# PyTorch does not look at the dtype where there is nothing to compute; leafgrad refuses it as it refuses any other.
REFUSED_WHEN_TRIVIAL = {"amax", "amin", "aminmax", "softmax", "log_softmax", "kthvalue", "cummax", "cummin", "lu"}
REFUSED_WHEN_TRIVIAL |= {"linalg_det", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_solve"}
REFUSED_WHEN_TRIVIAL |= {"linalg_solve_ex", "linalg_svdvals", "cdist"}
# It even multiplies bools if there are none to multiply, and then fails to add the result to bools.
NOTHING_TO_MULTIPLY = {("addmm", "bool"), ("linear", "bool")}


def never(case: Case) -> bool:
    return False


def with_no_dimensions_named(case: Case) -> bool:
    return () in case.apart[0][1:]


def with_source_larger_than_index(case: Case) -> bool:
    _, _, index, source = case.apart[0][:4]
    return isinstance(source, Slot) and case.tensors[index.index].shape != case.tensors[source.index].shape


def with_negative_indices(case: Case) -> bool:
    return any([t.array.dtype.kind == "i" and t.array.min(initial=0) < 0 for t in case.tensors])


# Gradients that PyTorch does not compute (its backward raises an error) or computes wrongly.
NO_GRADIENT: dict[str, Callable[[Case], bool]] = {
    "scatter": lambda case: "reduce" in case.apart[1] or with_source_larger_than_index(case),
    "scatter_add": with_source_larger_than_index,
    "scatter_reduce": with_source_larger_than_index,
    "index_fill": with_negative_indices,
    "group_norm": lambda case: case.apart[0][2:3] == (None,),  # with a bias only
    "as_strided_scatter": lambda case: True,  # not zero where src is, and zero elsewhere
    # infinite, because the number of elements is taken to be one
    "var": with_no_dimensions_named,
    "std": with_no_dimensions_named,
    "var_mean": with_no_dimensions_named,
    "std_mean": with_no_dimensions_named,
}
# It has these results in half precision, not their gradients.
NO_GRADIENT |= dict.fromkeys(("special_i1", "special_i1e"), lambda case: case.tensors[0].array.dtype.itemsize == 2)
NO_SECOND_GRADIENT: dict[str, Callable[[Case], bool]] = {
    "hardsigmoid": lambda case: True,
    # its gradient is scaled, the gradient of that is not; and it cannot reshape what is empty
    "embedding": lambda case: "scale_grad_by_freq" in case.apart[1] or case.tensors[0].numel() == 0,
    # they ask for the weight if there is a bias only, and for the bias
    "batch_norm": lambda case: case.apart[0][1] is None and case.apart[0][2] is not None,
    "layer_norm": lambda case: case.apart[0][2:3] == (None,),
    "group_norm": lambda case: None in case.apart[0][2:4],
}


Function = Callable[..., Any]


def in_torch(entry: Entry, function: Function | None = None) -> Function:
    """PyTorch's function for an operation, to be called with leafgrad's dtypes and memory formats."""
    found = counterpart(entry) if function is None else function
    return lambda *args, **kwargs: found(*to_torch(args), **to_torch(kwargs))


class Both:
    """One sample, called in leafgrad and in PyTorch: by these functions, or else by the operation's own."""

    def __init__(self, case: Case, dtype: str, ours: Function | None = None, theirs: Function | None = None) -> None:
        self.case = case
        self.dtype = dtype
        self.leaves = case.leaves()
        self.torch_tensors = [array_to_torch(t.array) for t in case.tensors]
        self.torch_leaves = [self.torch_tensors[i].requires_grad_() for i in case.variable()]
        self.outputs: list[Any] = []
        self.torch_outputs: list[torch.Tensor] = []
        error, result = attempt(lambda: case.call(case.tensors, ours))
        torch_error, torch_result = attempt(lambda: case.call(self.torch_tensors, in_torch(case.entry, theirs)))
        self.check_errors(error, torch_error)
        if error is None and torch_error is None:
            tensors(result, self.outputs)
            tensors(torch_result, self.torch_outputs)
            assert len(self.outputs) == len(self.torch_outputs), case

    def check_errors(self, error: BaseException | None, torch_error: BaseException | None) -> None:
        """Both refuse, with the same exception, or none does."""
        key = (self.case.entry.name, self.dtype)
        if key in NO_COMPLEX32:
            assert isinstance(error, RuntimeError) and torch_error is None, self.case
        elif key in NOTHING_TO_MULTIPLY and error is None:
            assert "result type Long can't be cast" in str(torch_error) or torch_error is None, self.case
        elif key[0] in REFUSED_WHEN_TRIVIAL and isinstance(error, NotImplementedError):
            trivial = self.case.tensors[0].numel() == 0 or self.case.tensors[0].dim() == 0
            assert trivial or isinstance(torch_error, NotImplementedError), self.case
        elif type(error) is not type(torch_error) and not (error is None and NOT_DIFFERENTIATED in str(torch_error)):
            raise AssertionError(f"{self.case}\nleafgrad: {error!r}\nPyTorch:  {torch_error!r}") from error

    def check_values(self) -> None:
        for ours, theirs in zip(self.outputs, self.torch_outputs, strict=True):
            assert str(ours.dtype) == WIDER.get((self.case.entry.name, self.dtype), str(theirs.dtype)), self.case
            assert ours.requires_grad == theirs.requires_grad, self.case
            if ours.dtype is lg.int64 and self.case.entry.finds_any:
                assert ours.shape == theirs.shape, self.case
                continue
            assert_close(ours.array, array_of(theirs), tolerance(ours.array.dtype), self.case)

    def check_names(self) -> None:
        for ours, theirs in zip(self.outputs, self.torch_outputs, strict=True):
            if theirs.grad_fn is not None:
                assert ours.grad_fn is not None, self.case
                assert ours.grad_fn.name() == theirs.grad_fn.name(), self.case

    def check_gradients(self, second: bool) -> None:
        roots = [t for t in differentiable(self.outputs) if t.requires_grad]
        torch_roots = [t for t in self.torch_outputs if t.requires_grad]
        if not roots or NO_GRADIENT.get(self.case.entry.name, never)(self.case):
            return
        second = second and self.case.entry.derivatives >= 2
        second = second and not NO_SECOND_GRADIENT.get(self.case.entry.name, never)(self.case)
        cotangents = [wrap(c).requires_grad_(second) for c in random_like([t.array for t in roots])]
        torch_cotangents = [array_to_torch(c.array).requires_grad_(second) for c in cotangents]
        first = lg.autograd.grad(roots, self.leaves, cotangents, create_graph=second, allow_unused=True)
        torch_first = torch.autograd.grad(
            torch_roots, self.torch_leaves, torch_cotangents, create_graph=second, allow_unused=True
        )
        self.compare("gradient", self.leaves, first, torch_first)
        if second:
            self.check_second(first, torch_first, [*self.leaves, *cotangents], [*self.torch_leaves, *torch_cotangents])

    def check_second(self, first: Any, torch_first: Any, variables: Any, torch_variables: Any) -> None:
        outer = random_like([t.array for t in self.leaves], seed=2)
        theirs = second_gradient(torch.autograd.grad, torch_first, torch_variables, [array_to_torch(c) for c in outer])
        ours = second_gradient(lg.autograd.grad, first, variables, [wrap(c) for c in outer])
        self.compare("second gradient", variables, ours, theirs)

    def compare(self, what: str, variables: Any, ours: Any, theirs: Any) -> None:
        """Equal gradients; none at all is as good as zeros."""
        for i, (x, a, b) in enumerate(zip(variables, ours, theirs, strict=True)):
            assert a is None or a.dtype is x.dtype, self.case
            found = np.zeros_like(x.array) if a is None else a.array
            expected = np.zeros_like(x.array) if b is None else array_of(b)
            within = LOOSE.get((self.case.entry.name, what), 0.0) + tolerance(x.array.dtype)
            assert_close(found, expected, within, what, i, "of", self.case)


def second_gradient(grad: Callable[..., Any], first: Any, variables: Any, outer: Any) -> Any:
    """The gradient of those first gradients that depend on something."""
    used = [i for i, g in enumerate(first) if g is not None and g.requires_grad]
    if not used:
        return [None] * len(variables)
    return grad([first[i] for i in used], variables, [outer[i] for i in used], allow_unused=True)


def attempt(call: Callable[[], Any]) -> tuple[BaseException | None, Any]:
    try:
        return None, call()
    except Exception as error:
        return error, None


def tensors(value: Any, found: list[Any]) -> None:
    """All tensors in a result."""
    if isinstance(value, (lg.Tensor, torch.Tensor)):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for one in value:
            tensors(one, found)
