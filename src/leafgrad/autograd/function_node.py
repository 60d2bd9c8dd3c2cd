"""The node that a call of a `Function` leaves behind, as users see it: it shows the attributes of its context as its
own. Its fields are in leafgrad/_core/function.py, its rule is in function_backward.py."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._core.function import CallNode, Record
from leafgrad._core.op import OPTION, GradientRules, Op
from leafgrad._core.tensor import wrap
from leafgrad.autograd import public_nodes
from leafgrad.autograd.function_backward import run_backward
from leafgrad.autograd.function_saved import NO_RESULT, SavedTensor


class FunctionNode(CallNode):
    """The node of a call of a Function. Each Function has a subclass of it, named after it."""

    def __getattr__(self, name: str) -> Any:
        if name != "context":
            # not getattr, because the context in turn asks the node for what it does not have
            try:
                return object.__getattribute__(self.context, name)
            except AttributeError:
                pass
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.context)})

    @property
    def next_functions(self) -> tuple[Any, ...]:
        return edges_shown(self.context._record)

    def name(self) -> str:
        return self.op.node_name


def edges_shown(record: Record) -> tuple[Any, ...]:
    """Where the tensors among the arguments of a call came from."""
    pairs = zip(record.edges or (), record.is_tensor)
    return tuple([public_nodes.public_edge(edge) for edge, is_tensor in pairs if is_tensor])


def node_class(name: str, forward_class: type) -> type[FunctionNode]:
    """The class of the nodes of one Function."""
    own = {"__slots__", "__getattr__", "__call__", "__dir__", "name", "next_functions"}
    members = {key: value for key, value in public_nodes.members().items() if key not in own}
    return type(name, (FunctionNode,), {**members, "_forward_cls": forward_class})


def operation(cls: Any) -> Op:
    """What the engine knows of a Function."""
    rules = GradientRules(run_backward, lambda mask: (OPTION,))
    op = Op(cls.__name__, cls._backward_cls.__name__, cls.forward, rules)
    op.node_class = cls._backward_cls
    return op


class RawSavedTensor(public_nodes.SavedTensor):
    """One tensor that was given to save_for_backward, for those who want to keep it in a form of their own."""

    def __init__(self, saved: SavedTensor, node: Any = None) -> None:
        self._saved = saved
        self._node = node  # a weak reference to the node that saved it, if one did

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None) -> None:
        """register_hooks(pack_hook, unpack_hook): keep what `pack_hook` makes of the tensor instead of the tensor."""
        saved = self._saved
        public_nodes.check_hooks(pack_hook, unpack_hook, saved.packed is not None)
        if saved.version is None:
            raise RuntimeError(
                f"Calling register_hooks on a saved tensor with value None is forbidden\n  at {errors.here()}"
            )
        tensor = saved.leaf
        if tensor is None:
            tensor = wrap(saved.array)
            tensor.version = saved.version
        saved.pack(tensor, pack_hook, unpack_hook)

    @property
    def data(self) -> Any:
        saved = self._saved
        if saved.packed is not None:
            return saved.packed.form
        return wrap(saved.array) if saved.result != NO_RESULT else self.unpack()

    @property
    def unpack_hook(self) -> Any:
        return None if self._saved.packed is None else self._saved.packed.unpack_hook

    def unpack(self) -> Any:
        return self._saved.tensor(self._node)
