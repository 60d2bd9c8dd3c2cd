"""What every tensor has to do with gradients: its flags, its place in the graph, `backward()` and hooks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from leafgrad import autograd, errors
from leafgrad._core import engine
from leafgrad._core.bind import TensorOperators
from leafgrad._core.events import graph_break, kind_of, noted
from leafgrad._core.gradient import accumulate_anew, set_grad
from leafgrad._core.modes import asked_in_modes, switches
from leafgrad._core.node import Output
from leafgrad._core.overrides import written_in_python
from leafgrad._core.recorder import settle
from leafgrad._core.tensor import (
    OWN_DTYPE,
    RareFields,
    SparseArrayBase,
    TensorBase,
    conjugate_behind,
    is_batched,
    is_meta,
    note_conjugate,
    with_layout_noted,
    wrap,
)
from leafgrad._core.thread_state import state
from leafgrad._dtypes import dtype, from_numpy_dtype
from leafgrad._missing import part
from leafgrad.autograd import hooks, public_nodes

if TYPE_CHECKING:
    from leafgrad._tensor.tensor import Tensor

_ONES = autograd.ONES


class AutogradTensor(TensorOperators):
    """The part of `Tensor` that is autograd's."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        if self.rare is not None and self.rare.view is not None:
            view = self.rare.view
            return view.base.needs_grad or (self.needs_grad and not view.silent)
        return self.needs_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted.__class__ is not bool:
            raise RuntimeError(f"requires_grad must be a bool\n  at {errors.here()}")
        if self.node is not None:
            raise errors.flag_of_non_leaf(self, wanted)
        self._set_requires_grad(wanted, errors.ASSIGNED)
        noted(kind_of(f"requires_grad={wanted}"), self, None)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError(f"requires_grad must be a bool\n  at {errors.here()}")

    @property
    def volatile(self) -> bool:
        """What tensors were once marked with; False."""
        errors.warn("volatile was removed (Variable.volatile is always False)")
        return False

    @property
    def name(self) -> None:
        """The name of a tensor; it has none."""
        return None

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """requires_grad_(requires_grad=True): shall gradients of this leaf be computed?"""
        if requires_grad.__class__ is not bool:
            got = type(requires_grad).__name__
            raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {got}")
        if switches.modes:
            asked_in_modes("requires_grad_", self)
        if self.node is not None and not requires_grad:
            raise errors.flag_of_non_leaf(self, False)
        self._set_requires_grad(requires_grad, errors.ASKED)
        if self.node is None:
            noted(kind_of(f"requires_grad={requires_grad}"), self, None)
        return self

    def _set_requires_grad(self, wanted: bool, refusal: str) -> Self:
        if wanted and self.array.dtype.kind in "biu":
            raise errors.integer_requires_grad(self, refusal)
        if wanted and self.rare is not None and self.rare.inference and not state.inference:
            raise errors.inference_requires_grad(self)
        self.needs_grad = wanted
        if self.rare is not None and self.rare.view is not None:
            self.rare.view.silent = False
        return self

    def is_inference(self) -> bool:
        """is_inference(): was it made inside inference_mode, so that it can never be part of a graph?"""
        return self.rare is not None and self.rare.inference

    @property
    def is_leaf(self) -> bool:
        if self.rare is not None:
            self._settle()
        return self.node is None

    @property
    def grad_fn(self) -> Any:
        """The node of the operation that this tensor came from; None for a leaf."""
        if self.rare is not None:
            self._settle()
        node = self.node
        if node is None:
            return None
        return public_nodes.shown(node.parent if isinstance(node, Output) else node)

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError(f"Deletion of _grad_fn not allowed. Detach tensor instead!\n  at {errors.here()}")

    def _settle(self) -> None:
        """Bring the history of a view up to date."""
        if self.rare is not None and self.rare.view is not None and self.rare.view.restriction is not None:
            from leafgrad.ops.shape.view_history import refuse_stale

            refuse_stale(self)
        settle(self)

    @property
    def output_nr(self) -> int:
        return self.node.index if isinstance(self.node, Output) else 0

    @property
    def grad(self) -> Tensor | None:
        if self._grad is None and self.node is not None and not (self.rare is not None and self.rare.retains_grad):
            errors.warn(errors.grad_of_non_leaf(self))
        return self._grad  # type: ignore[no-any-return]

    if TYPE_CHECKING:

        @grad.setter
        def grad(self, value: Tensor | None) -> None: ...

    else:
        grad = grad.setter(set_grad)  # compiled, which makes up for the note of its line

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> Any:
        """The dtype of this leaf's gradient, its own unless another is set; None if any is allowed."""
        if not self.is_leaf:
            raise RuntimeError(f"grad_dtype can only be accessed on leaf tensors.\n  at {errors.here()}")
        wanted = OWN_DTYPE if self.rare is None else self.rare.grad_dtype
        return None if wanted is None else from_numpy_dtype(self.array.dtype if wanted is OWN_DTYPE else wanted)

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if value is not None and not isinstance(value, dtype):
            got = type(value).__name__
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {got}\n  at {errors.here()}")
        gradient = self.grad
        if not self.is_leaf:
            raise RuntimeError(f"grad_dtype can only be set on leaf tensors.\n  at {errors.here()}")
        if gradient is not None and value is not None and gradient.dtype != value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{value.alias}' because there is already a gradient with dtype "
                f"'{gradient.dtype.cpp}'. Please clear the gradient (.grad = None) before changing grad_dtype, or "
                f"ensure the new grad_dtype matches the existing gradient's dtype.\n  at {errors.here()}"
            )
        self.rare = self.rare or RareFields()
        self.rare.grad_dtype = None if value is None else value.np

    @written_in_python
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """backward(gradient=None, retain_graph=None, create_graph=False, inputs=None): add the gradient of this tensor
        to `.grad` of the leaves it was computed from."""
        if switches.modes:
            asked_in_modes("backward", self)
        array = self.array
        if inputs is None and not create_graph and self.rare is None and self.needs_grad:
            g: Any = None  # the usual cases, where there is no need to look any further: a loss,
            if gradient is None:
                g = _ONES.get(array.dtype) if array.ndim == 0 else None
            elif isinstance(gradient, TensorBase):  # or a gradient of just the right form
                g = gradient.array
                g = g if g.shape == array.shape and g.dtype is array.dtype else None
            if g is not None:
                engine.backward_from(self, g, bool(retain_graph))
                return
        this: Any = self  # a Tensor
        autograd.backward(this, gradient, retain_graph, create_graph, inputs=inputs)

    def explain(self, model: Any = None) -> Any:
        """explain(model=None): which leaves the gradient of this tensor reaches, and why not the others; see
        leafgrad.explain."""
        return part("_explain.explanation").explain(self, model)

    def why(self) -> Any:
        """why(): why is `.grad` of this tensor None, or what it is? See leafgrad.why."""
        return part("_explain.why").why(self)

    def retain_grad(self) -> None:
        """retain_grad(): keep this non-leaf tensor's gradient in `.grad` as well."""
        if not self.requires_grad:
            raise errors.needs_graph("can't retain_grad on Tensor that has requires_grad=False", self)
        if switches.modes:
            asked_in_modes("retain_grad", self)
        if self.node is None or self.retains_grad:
            return
        if self.rare is not None:
            settle(self)
        if self.rare is None:
            self.rare = RareFields()
        self.rare.retains_grad = True
        hooks.hooks_of(self).keep_for = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        return self.rare is not None and self.rare.retains_grad

    @written_in_python
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> hooks.RemovableHandle:
        """register_hook(hook): call `hook(gradient)` when this tensor's gradient is known; what it returns, if
        anything, takes the gradient's place."""
        if not self.requires_grad:
            raise errors.needs_graph("cannot register a hook on a tensor that doesn't require gradient", self)
        if self.rare is not None:
            settle(self)
        return hooks.registered(hooks.on_gradient_of(self), hook)

    @property
    def _backward_hooks(self) -> Any:
        """The hooks of `register_hook` by the ids of their handles; None if there never were any."""
        if self.node is None and (self.rare is None or self.rare.hooks is None):
            return None
        return hooks.hooks_of(self).on_gradient

    @_backward_hooks.setter
    def _backward_hooks(self, value: Any) -> None:
        hooks.hooks_of(self).on_gradient = value

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError(f"Deletion of _backwards_hooks not allowed!\n  at {errors.here()}")

    @property
    def _post_accumulate_grad_hooks(self) -> Any:
        """The same for those of `register_post_accumulate_grad_hook`."""
        holder = None if self.rare is None else self.rare.hooks
        return None if holder is None else holder.after_accumulation or None

    @written_in_python
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> hooks.RemovableHandle:
        """register_post_accumulate_grad_hook(hook): call `hook(tensor)` after this leaf's `.grad` was updated."""
        if not self.requires_grad:
            raise errors.needs_graph("cannot register a hook on a tensor that doesn't require gradient", self)
        if self.node is not None:
            first = "post accumulate grad hooks cannot be registered on non-leaf tensors"
            raise errors.only_for_leaves(self, first, ".register_hook(...)")
        return hooks.registered(hooks.hooks_of(self).after_accumulation, hook)

    def detach_(self) -> Self:
        """detach_(): forget the history of this tensor, which becomes a leaf."""
        if self._is_view():
            raise errors.detached_view(self)
        if self.rare is not None:
            self.rare.tangents = None
        if self.needs_grad:
            self.rare = self.rare or RareFields()
            self.rare.graph_break = graph_break("detach", self)
        attached = None if self.node is None else hooks.hooks_of(self)
        if attached is not None and not is_batched(self.array):
            attached.detached = hooks.Detached(self.array)
        self.node = None
        self.needs_grad = False
        if attached is not None and attached.on_gradient is not None:  # they are the leaf's as well from now on
            hooks.hooks_of(self).on_gradient = attached.on_gradient
        return self

    @property
    def data(self) -> Tensor:
        """The same memory as a tensor without history, whose changes are not noticed."""
        if is_batched(self.array):
            raise self.array.refusal("data")
        made: Tensor = wrap(self.array.view())
        if self.needs_grad:
            made.rare = RareFields()
            made.rare.graph_break = cut = graph_break("data", self)
            cut.memory = weakref.ref(made.array)
        if self.is_inference():
            made.rare = made.rare or RareFields()
            made.rare.inference = True
        if self.rare is not None:
            note_conjugate(self, made)
        return made if self.rare is None else with_layout_noted(made)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}\n  at {errors.here()}")
        if is_batched(self.array):
            raise self.array.refusal("set data")
        if self.needs_grad and value.array.dtype.kind in "biu":
            raise errors.integer_requires_grad(value, errors.AS_DATA)
        kinds = [(isinstance(t.array, SparseArrayBase), is_meta(t.array)) for t in (self, value)]
        if kinds[0] != kinds[1]:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                "type."
                f"\n  at {errors.here()}"
            )
        if value.array.dtype != self.array.dtype:
            accumulate_anew(self)
        self.array = value.array

    @data.deleter
    def data(self) -> None:
        raise RuntimeError(f"Deleting tensor data is not allowed. Delete tensor instead!\n  at {errors.here()}")

    @property
    def _version(self) -> int:
        if self.rare is not None and self.rare.inference:
            raise RuntimeError(f"Inference tensors do not track version counter.\n  at {errors.here()}")
        return self.version[0]  # type: ignore[no-any-return]

    @property
    def _base(self) -> Any:
        rare = self.rare
        known = conjugate_behind(self)
        if known is not None:
            return known.base
        return None if rare is None or rare.view is None else rare.view.base

    def _is_view(self) -> bool:
        return self.rare is not None and (self.rare.view is not None or self.rare.conjugate is not None)


def clear_grad(parameter: Any, set_to_none: bool) -> None:
    """Forget a gradient, or make it zero."""
    gradient = parameter._grad
    if gradient is None:
        return
    if set_to_none:
        parameter._grad = None
        return
    if gradient.node is not None:
        gradient.detach_()
    else:
        gradient.requires_grad_(False)
    gradient.zero_()
