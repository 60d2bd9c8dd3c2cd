"""A call of an operator as an autograd.Function: what was registered for its gradients, and how it is computed for many
samples at once. A Function knows tensors only as arguments and results; operators may take and return lists of them,
which are taken apart here and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.function import Function, FunctionMeta
from leafgrad.func import trees
from leafgrad.ops.shape.join import stack

if TYPE_CHECKING:
    from leafgrad._library.operators import Operator

Form = list[int | None]  # of each value how many there are in its list; None for what is no list of tensors


def is_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all([v is None or isinstance(v, TensorBase) for v in value])


def flattened(values: Sequence[Any]) -> tuple[list[Any], Form]:
    flat: list[Any] = []
    form: Form = []
    for value in values:
        together = is_tensor_list(value)
        form.append(len(value) if together else None)
        flat += value if together else [value]
    return flat, form


def together(flat: Sequence[Any], form: Form) -> tuple[Any, ...]:
    """The reverse of `flattened`."""
    values: list[Any] = []
    position = 0
    for count in form:
        values.append(flat[position] if count is None else list(flat[position : position + count]))
        position += 1 if count is None else count
    return tuple(values)


class Call:
    """What one call of an operator knows beside its tensors."""

    def __init__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.flat, self.form = flattened(args)
        self.kwargs = kwargs
        self.result_form: Form = []
        self.is_tuple = False

    def flat_results(self, result: Any) -> tuple[Any, ...]:
        """What the operator returned, one after the other; and remember how they were together."""
        self.is_tuple = isinstance(result, tuple)
        flat, self.result_form = flattened(result if self.is_tuple else () if result is None else (result,))
        return tuple(flat)

    def results(self, flat: Any) -> Any:
        """Results as the operator returns them."""
        values = together(flat if isinstance(flat, tuple) else (flat,), self.result_form)
        return values if self.is_tuple else values[0] if values else None


def function_of(op: Operator) -> Any:
    """The Function of an operator. Its last argument is the Call."""

    def forward(*given: Any) -> Any:
        call = given[-1]
        flat = call.flat_results(op.computed(together(given[:-1], call.form), call.kwargs))
        return flat[0] if len(flat) == 1 else flat

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        call = ctx._call = inputs[-1]
        if op.setup_context is not None:
            args, kwargs = op._schema.filled(together(inputs[:-1], call.form), call.kwargs)
            more = {"keyword_only_inputs": kwargs} if op._schema.keywords else {}
            op.setup_context(ctx=ctx, inputs=args, output=call.results(output), **more)

    def backward(ctx: Any, *gradients: Any) -> Any:
        if op.backward is None:
            raise RuntimeError(
                f"Trying to backward through {op} but no autograd formula was registered. Please use "
                f"register_autograd to add one.\n  at {errors.here()}"
            )
        call, needed = ctx._call, ctx.needs_input_grad
        ctx.needs_input_grad = together(needed[:-1], call.form)
        try:
            found = op.backward(ctx, *together(gradients, call.result_form))
        finally:
            ctx.needs_input_grad = needed
        return (*flat_gradients(found if isinstance(found, tuple) else (found,), call.form), None)

    def vmap(info: Any, in_dims: tuple[Any, ...], *given: Any) -> Any:
        call = given[-1]
        if op.vmap is None:
            returned = one_by_one(op, info.batch_size, given[:-1], in_dims, call)
        else:
            dims = together(in_dims[:-1], call.form)
            returned = op.vmap(info, dims, *together(given[:-1], call.form), **call.kwargs)
        if not isinstance(returned, tuple) or len(returned) != 2:
            return returned  # which is refused, as that of a Function is
        result, out_dims = returned
        places = trees.broadcast_to(out_dims, trees.flatten(result)[1])
        return returned if places is None else (call.flat_results(result), tuple(places))

    methods: dict[str, Callable[..., Any]] = {
        "forward": forward, "setup_context": setup_context, "backward": backward, "vmap": vmap,
    }  # fmt: skip
    name = f"GeneratedBackwardFor_{op.namespace}_{op._opname}_{op._overloadname}"
    return FunctionMeta(name, (Function,), {key: staticmethod(method) for key, method in methods.items()})


def flat_gradients(found: tuple[Any, ...], form: Form) -> list[Any]:
    """The gradients of the arguments, which may be lists, one after the other. What PyTorch's dispatcher leaves out,
    arguments that are the default, may have some too."""
    flat: list[Any] = []
    for i, count in enumerate(form):
        g = found[i] if i < len(found) else None
        if count is None:
            flat.append(g)
        elif g is None:
            flat += [None] * count
        elif isinstance(g, (list, tuple)) and len(g) == count:
            flat += g
        else:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. "
                f"Got {type(g).__name__} for a list of {count} tensors\n  at {errors.here()}"
            )
    return flat


def one_by_one(op: Operator, size: int, flat: Sequence[Any], in_dims: Sequence[Any], call: Call) -> Any:
    """An operator of which nobody has said how it computes many samples computes one after the other."""
    results = []
    for i in range(size):
        chosen = [t if dim is None else t.select(dim, i) for t, dim in zip(flat, in_dims, strict=False)]
        results.append(op(*together(chosen, call.form), **call.kwargs))
    is_tuple = isinstance(results[0], tuple)
    columns = zip(*results, strict=True) if is_tuple else [results]
    stacked = tuple([stack_results(column) for column in columns])
    dims = tuple([0 if isinstance(s, TensorBase) else [0] * len(s) if isinstance(s, list) else None for s in stacked])
    return (stacked, dims) if is_tuple else (stacked[0], dims[0])


def stack_results(column: Any) -> Any:
    first = column[0]
    if isinstance(first, TensorBase):
        return stack.function(list(column), 0)
    return [stack.function(list(each), 0) for each in zip(*column, strict=True)] if isinstance(first, list) else first
