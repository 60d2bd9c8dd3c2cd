"""Pruning: parameters times a mask, which is a buffer. `module.weight` is computed of `weight_orig` and `weight_mask`
before each call; `remove` makes what is left permanent."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from leafgrad.nn.utils.weight_norm import find
from leafgrad.ops.random.functions import rand, rand_like
from leafgrad.ops.shape.join import cat

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(ABC):
    """A way to choose what is cut. PRUNING_TYPE says where: 'unstructured' (elements), 'structured' (channels), or
    'global'."""

    PRUNING_TYPE: str
    _tensor_name: str

    @property
    def name(self) -> str:  # of the parameter, by which the hook is found
        return self._tensor_name

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): which elements of a tensor are kept, of those that the default mask keeps."""

    def apply_mask(self, module: Any) -> Any:
        """apply_mask(module): what is left of the parameter."""
        original = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """apply(module, name, *args, importance_scores=None, **kwargs): prune a parameter, also one that is pruned
        already."""
        method = cls(*args, **kwargs)
        number = find(module, BasePruningMethod, name)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        method._tensor_name = name
        if number is not None:  # together with what was there before
            container = PruningContainer()
            container._tensor_name = name
            container.add_pruning_method(module._forward_pre_hooks.pop(number))
            container.add_pruning_method(method)
            method = container
            default = getattr(module, f"{name}_mask").detach().clone()
        else:
            original = module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            default = original.new_ones(original.shape)
        try:
            mask = method.compute_mask(importance_scores, default)
            module.register_buffer(f"{name}_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if number is None:  # leave the module as it was
                module.register_parameter(name, original)
                del module._parameters[f"{name}_orig"]
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """prune(t, default_mask=None, importance_scores=None): a tensor without what is cut."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default = t.new_ones(t.shape) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default)

    def remove(self, module: Any) -> None:
        """remove(module): an ordinary parameter again, with zeros for what was cut."""
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters.pop(f"{self._tensor_name}_orig")
        original.data = weight.data
        del module._buffers[f"{self._tensor_name}_mask"]
        setattr(module, self._tensor_name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other: each chooses among what the others have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for method in methods:
            self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """add_pruning_method(method): one more."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        earlier = method._pruning_methods if isinstance(method, PruningContainer) else (method,)
        self._pruning_methods += earlier

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): by the last method, among what the default mask keeps."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "structured":
            dim = method.dim
            others = tuple([d for d in range(t.ndim) if d != dim % t.ndim])
            kept = mask.sum(others) != 0
            place: Any = tuple([kept if d == dim % t.ndim else slice(None) for d in range(t.ndim)])
        elif method.PRUNING_TYPE == "unstructured":
            place = mask == 1
        elif method.PRUNING_TYPE == "global":
            place = tuple([slice(None)] * t.ndim)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        new = mask.clone()
        new[place] = method.compute_mask(t[place], mask[place]).to(dtype=mask.dtype)
        return new


class Identity(BasePruningMethod):
    """Identity(): cuts nothing, and makes mask and original nevertheless."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): the default."""
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _values(self, t: Any) -> Any:
        raise NotImplementedError

    largest = False

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): without as many elements as `amount` says."""
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._values(t).view(-1).topk(count, largest=self.largest).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """RandomUnstructured(amount): cuts any elements, a number of them or a share."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): without as many elements as `amount` says."""
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[rand_like(t).view(-1).topk(count).indices] = 0
        return mask


class L1Unstructured(_Unstructured):
    """L1Unstructured(amount): cuts the elements that are nearest to zero."""

    def _values(self, t: Any) -> Any:
        return t.detach().abs()


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"
    dim: int
    amount: float

    def _without(self, t: Any, default_mask: Any, scores: Any, largest: bool) -> Any:
        """The default mask without the channels whose scores are the smallest, or largest."""
        count = _count(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        kept = scores.new_zeros(scores.shape)
        kept[scores.topk(t.shape[self.dim] - count, largest=largest).indices] = 1
        shape = [1] * t.ndim
        shape[self.dim] = -1
        return default_mask * kept.to(dtype=default_mask.dtype).reshape(shape)


class RandomStructured(_Structured):
    """RandomStructured(amount, dim=-1): cuts any channels along a dimension."""

    def __init__(self, amount: float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): without as many channels as `amount` says."""
        _check_dimensions(t, self.dim)
        channels = t.shape[self.dim]
        count = _count(self.amount, channels)
        if not count:
            return default_mask
        drawn = rand(channels)
        threshold = drawn.kthvalue(count).values
        shape = [1] * t.ndim
        shape[self.dim] = -1
        return default_mask * (drawn > threshold).reshape(shape).to(dtype=default_mask.dtype)


class LnStructured(_Structured):
    """LnStructured(amount, n, dim=-1): cuts the channels along a dimension whose n-norm is the smallest."""

    def __init__(self, amount: float, n: float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): without as many channels as `amount` says."""
        _check_dimensions(t, self.dim)
        others = tuple([d for d in range(t.ndim) if d != self.dim % t.ndim])
        return self._without(t, default_mask, t.detach().norm(self.n, others), largest=True)


class CustomFromMask(BasePruningMethod):
    """CustomFromMask(mask): cuts what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """compute_mask(t, default_mask): what both masks keep."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# -- functions --------------------------------------------------------------------------------------------------------


def identity(module: Any, name: str) -> Any:
    """identity(module, name): prune nothing, and make mask and original."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """random_unstructured(module, name, amount): cut any elements."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Any = None) -> Any:
    """l1_unstructured(module, name, amount, importance_scores=None): cut the elements that are nearest to zero."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """random_structured(module, name, amount, dim): cut any channels along a dimension."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: float, n: float, dim: int, importance_scores: Any = None) -> Any:
    """ln_structured(module, name, amount, n, dim, importance_scores=None): cut the channels with the smallest norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """custom_from_mask(module, name, mask): cut what the mask says."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs): prune several parameters,
    pairs (module, name), as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    relevant = cat.function([scores.get(pair, getattr(*pair)).reshape(-1) for pair in pairs])
    default = cat.function(
        [getattr(m, f"{n}_mask", getattr(m, n).new_ones(getattr(m, n).shape)).reshape(-1) for m, n in pairs]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    mask = container.compute_mask(relevant, default)
    start = 0
    for module, name in pairs:
        own = getattr(module, name)
        end = start + own.numel()
        custom_from_mask(module, name, mask[start:end].view_as(own))
        start = end


def remove(module: Any, name: str) -> Any:
    """remove(module, name): make permanent what has been cut."""
    number = find(module, BasePruningMethod, name)
    if number is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    module._forward_pre_hooks.pop(number).remove(module)
    return module


def is_pruned(module: Any) -> bool:
    """is_pruned(module): is any parameter of it, or of those below, pruned?"""
    hooks = [hook for each in module.modules() for hook in each._forward_pre_hooks.values()]
    return any([isinstance(hook, BasePruningMethod) for hook in hooks])


# -- amounts ----------------------------------------------------------------------------------------------------------


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    integral = isinstance(amount, numbers.Integral)
    if (integral and amount < 0) or (not integral and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return int(amount) if isinstance(amount, numbers.Integral) else round(float(amount) * tensor_size)


def _count(amount: Any, size: int) -> int:
    """How many of `size` are cut."""
    count = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(count, size)
    return count


def _check_dimensions(t: Any, dim: int) -> None:
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.ndim} dims"
        )
    if dim >= t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
