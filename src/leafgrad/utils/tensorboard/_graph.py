"""The graph of a model for TensorBoard: the operations that it runs for an input, in the modules that run them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from leafgrad._core.modes import Mode
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.utils._pytree import tree_leaves


class Drawing(Mode):
    """Sees operations, and draws each in the module that is running."""

    def __init__(self, model: Any) -> None:
        self.nodes: list[Any] = []
        self.scopes = [type(model).__name__]
        self.counts: Counter[str] = Counter()
        self.names: dict[int, str] = {}  # by the array of a tensor
        self.changing: Any = None  # the tensor that the next operation changes in place
        self.kept: list[Any] = []  # an array that is gone would give its number to another
        self.parts = {id(tensor.array): name for name, tensor in [*model.named_parameters(), *model.named_buffers()]}

    def draw(self, name: str, kind: str, result: Any, inputs: Sequence[str] = ()) -> str:
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in result.array.shape])
        shapes = AttrValue(list=AttrValue.ListValue(shape=[shape]))
        self.nodes.append(NodeDef(name=name, op=kind, input=inputs, attr={"_output_shapes": shapes}))
        self.names[id(result.array)] = name
        self.kept.append(result.array)
        return name

    def name_of(self, tensor: Any) -> str:
        """The node of a tensor: it has one, or is a parameter, or a constant."""
        number = id(tensor.array)
        if number in self.names:
            return self.names[number]
        if number in self.parts:
            own = self.parts[number].rpartition(".")[2]
            return self.draw("/".join([*self.scopes, own]), "Parameter", tensor)
        return self.draw(self.unique("constant"), "Constant", tensor)

    def unique(self, own: str) -> str:
        name = "/".join([*self.scopes, own])
        self.counts[name] += 1
        return name if self.counts[name] == 1 else f"{name}_{self.counts[name] - 1}"

    def add(self, operation: str, tensors: Sequence[Any], results: Sequence[Any]) -> None:
        inputs = [self.name_of(each) for each in tensors if isinstance(each, TensorBase)]
        for result in results:
            self.draw(self.unique(operation), f"aten::{operation}", result, inputs)

    def applied(
        self, op: Any, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        made = [each for each in results if isinstance(each, TensorBase)]
        self.add(op.name, tensors, made)
        if self.changing is not None and made:
            self.names[id(self.changing.array)] = self.name_of(made[0])
            self.changing = None

    def about_to_change(self, x: Any) -> None:
        self.changing = x

    def linked(self, result: Any, t: Any, operation: Any, options: tuple[Any, ...]) -> None:
        if id(result.array) not in self.names:
            self.add(operation.name, [t], [result])


@contextmanager
def scoped(model: Any, drawing: Drawing) -> Iterator[None]:
    """Tells a drawing in which module the model is."""

    def entering(scope: str) -> Callable[..., None]:
        return lambda module, args: drawing.scopes.append(scope)

    def left(module: Any, args: Any, output: Any) -> None:
        drawing.scopes.pop()

    handles: list[Any] = []
    for name, module in model.named_modules():
        if name:  # the model itself is there from the beginning
            scope = f"{type(module).__name__}[{name.rpartition('.')[2]}]"
            handles += [module.register_forward_pre_hook(entering(scope)), module.register_forward_hook(left)]
    training = {module: module.training for module in model.modules()}
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module, was in training.items():
            module.training = was


def graph(model: Any, args: Any) -> tuple[Any, Any]:
    """graph(model, args): the graph of `model(*args)` in evaluation mode, and what is known of its run."""
    arguments = args if isinstance(args, tuple) else (args,)
    drawing = Drawing(model)
    with scoped(model, drawing):
        model.eval()
        for i, tensor in enumerate([leaf for leaf in tree_leaves(arguments) if isinstance(leaf, TensorBase)]):
            drawing.draw(f"input/{i}", "IO Node", tensor)
        with no_grad(), drawing:
            result = model(*arguments)
        for i, tensor in enumerate([leaf for leaf in tree_leaves(result) if isinstance(leaf, TensorBase)]):
            drawing.draw(f"output/{i}", "IO Node", tensor, [drawing.name_of(tensor)])
    run = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")]))
    return GraphDef(node=drawing.nodes, versions=VersionDef(producer=22)), run
