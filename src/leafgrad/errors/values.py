"""What can go wrong with the values themselves: changes in place, conversions, arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from leafgrad._core.tensor import OWN_DTYPE, TensorBase
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype, get_default_dtype
from leafgrad.errors import AS_DATA, CREATED
from leafgrad.errors.backward import on_a_copy, out_of_place
from leafgrad.errors.form import describe, mistake, output_of, recorded, size
from leafgrad.errors.functions import view_of_function
from leafgrad.errors.naming import as_code, expression_here, here, library, name_of, place_of, statement
from leafgrad.errors.source import with_method

# -- changing in place ------------------------------------------------------------------------------------------------


def leaf_in_place(leaf: TensorBase, is_view: bool, done: bool = False) -> RuntimeError:
    name = as_code(name_of(leaf))
    source = statement(here().source)
    what = "a view of a leaf Variable" if is_view else "a leaf Variable"
    fix = [f"with {library()}.no_grad(): {source or '...'}   # an update, not to be recorded"]
    if is_view:
        fix.append(f"{name} = {name}.clone()   # before the view is taken: then the change is recorded")
    elif "." not in name:  # an attribute of a module stays a parameter
        again = on_a_copy(source, name)
        fix.append(again if "#" in again else f"{again}   # a step of the computation, recorded")
    return mistake(
        RuntimeError,
        f"{what} that requires grad {'has been' if done else 'is being'} used in an in-place operation.",
        ("leaf", describe(leaf)),
        fix=fix,
    )


_CLONE = "  fix: x = x.clone()  # outside inference_mode; or make the tensor under no_grad() instead"


def inference_saved(t: TensorBase) -> RuntimeError:
    """An inference tensor would have to be saved for a backward pass."""
    return RuntimeError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
        "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.\n"
        f"  the tensor has shape {list(t.array.shape)}; used at {here()}\n{_CLONE}"
    )


def inference_changed(t: TensorBase) -> RuntimeError:
    """An inference tensor is changed in place outside inference_mode."""
    return RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.\n"
        f"  the tensor has shape {list(t.array.shape)}; changed at {here()}\n{_CLONE}"
    )


def copy_of_view_changed(t: TensorBase) -> RuntimeError:
    """The result of conj(), or a view of it, is changed in place: PyTorch would change what it came from."""
    return mistake(
        RuntimeError,
        "conj(), .H and .mH of a complex tensor are copies in leafgrad, so this change in place is refused: in PyTorch "
        "it would change the tensor that they were taken of",
        ("tensor", describe(t)),
        fix=".resolve_conj() makes a tensor of its own, in PyTorch as well; or change the tensor itself",
    )


def outdated_copy_of_view(t: TensorBase) -> RuntimeError:
    """The result of conj() is read after a change of what it came from: PyTorch would show the change."""
    return mistake(
        RuntimeError,
        "the tensor that this conjugate was taken of has been changed in place after that: in PyTorch, where conj(), "
        ".H and .mH are views, its history would change as well, in leafgrad they are copies",
        ("tensor", describe(t)),
        fix="call conj() again; or .resolve_conj() or .clone() before the change, to keep the old numbers",
    )


def inference_requires_grad(t: TensorBase) -> RuntimeError:
    return RuntimeError(
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.\n"
        f"  the tensor has shape {list(t.array.shape)}; at {here()}\n{_CLONE}"
    )


def view_in_place(view: TensorBase, many: bool, indirect: bool = False) -> RuntimeError:
    """A view that must not be changed in place was changed, or (`indirect`) the memory behind it was, elsewhere."""
    changed = "is being modified inplace"
    if indirect:
        changed = "its base or another view of its base has been modified inplace"
    restriction = None if view.rare is None or view.rare.view is None else view.rare.view.restriction
    if restriction is not None and restriction.endswith("custom"):
        return view_of_function(view, changed)
    inference = restriction == "inference"
    block = "inference_mode block" if inference else "no_grad block"
    made = f"created in inference mode and {changed} in normal mode."
    if not inference:
        made = f"created in no_grad mode and {changed} with grad mode enabled."
    if view.node is None:
        what = f"A view was {made}"
    else:
        what = f"Output {output_of(view.node)} is a view "
        what += f"and {changed}." if many else f"of a view which was {made}"
    why = (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        if many
        else "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
        "moving both the view and the inplace either both inside the " + block + " (if you don't want the inplace "
        "to be tracked) or both outside (if you want the inplace to be tracked)."
    )
    base = view.rare.view.base if view.rare is not None and view.rare.view is not None else None
    if indirect:
        fix = "take the view again after the change"
    elif many:
        fix = on_a_copy(statement(here().source), name_of(view))
    else:
        fix = f"take the view and change it both inside, or both outside of `with {library()}.no_grad():`"
    return mistake(
        RuntimeError,
        f"{what} {why}",
        ("view", describe(view)),
        ("of", None if base is None else describe(base)),
        ("recorded", recorded(view)),
        fix=fix,
    )


def out_of_memory(error: MemoryError) -> RuntimeError:
    """NumPy found no memory for an array; how much it was asked for, NumPy's own error knows."""
    shape, kind = getattr(error, "shape", None), getattr(error, "dtype", None)
    count = "" if shape is None or kind is None else f": you tried to allocate {math.prod(shape) * kind.itemsize} bytes"
    first = f"DefaultCPUAllocator: can't allocate memory{count}. Error code 12 (Cannot allocate memory)"
    return mistake(RuntimeError, first)


def too_large(name: str, args: Sequence[Any], error: ValueError) -> Exception:
    """An array that no memory could hold: its size cannot even be written down. Other errors stay as they are."""
    shape = next((a for a in args if isinstance(a, tuple)), None)
    if shape is None or not all([isinstance(s, int) for s in shape]) or (math.prod(shape) < 2**48 and 0 not in shape):
        return error
    for at, length in enumerate(shape):
        if length >= 2**63:
            why = 'with error "Overflow when unpacking long long"'
            return mistake(TypeError, f"{name}(): argument 'size' failed to unpack the object at pos {at + 1} {why}")
    if 0 in shape:
        return mistake(RuntimeError, "Stride calculation overflowed")
    return mistake(RuntimeError, f"Storage size calculation overflowed with sizes={size(shape)}")


def in_place_dtype(op: str, source: Dtype, target: Dtype) -> RuntimeError:
    return mistake(
        RuntimeError,
        f"result type {source.alias} can't be cast to the desired output type {target.alias}",
        (op, f"in place on {target}, with a result that is {source}"),
        fix=out_of_place(statement(here().source)),
    )


# -- requires_grad, conversions ---------------------------------------------------------------------------------------


def integer_requires_grad(tensor: TensorBase, first: str = CREATED) -> RuntimeError:
    """`first` is what PyTorch says where requires_grad is an argument, an attribute or a method, or where `.data` of a
    tensor that requires grad is set."""
    call, floating = expression_here() or "", f"{library()}.{get_default_dtype().name}"
    if parameter := re.fullmatch(r"([\w.]*Parameter)\((.*)\)", call):
        fix = f"{parameter[1]}({parameter[2]}.float())"
    elif first is not CREATED or "requires_grad=True" not in call:
        name = as_code(name_of(tensor))
        fix = f"{name}.float()" if first is AS_DATA else f"{name} = {name}.float().requires_grad_()"
    elif "dtype=" in call:
        fix = re.sub(r"\bdtype=[\w.]+", f"dtype={floating}", call)
    else:
        fix = call.replace("requires_grad=True", f"dtype={floating}, requires_grad=True")
    return mistake(
        RuntimeError,
        first,
        ("tensor", f"{describe(tensor)}, {from_numpy_dtype(tensor.array.dtype)}"),
        fix=fix,
    )


def numpy_needs_detach(tensor: TensorBase) -> Exception:
    first = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    return not_converted(tensor, RuntimeError, first, "X.detach().numpy()")


def only_for_leaves(tensor: TensorBase, first: str, fix: str) -> RuntimeError:
    """Something that only leaves can do, asked of a computed tensor. `fix` is what to write behind its name."""
    return mistake(
        RuntimeError,
        first,
        ("tensor", describe(tensor)),
        ("recorded", recorded(tensor)),
        fix=f"{as_code(name_of(tensor))}{fix}",
    )


def flag_of_non_leaf(tensor: TensorBase, wanted: bool) -> RuntimeError:
    first = "you can only change requires_grad flags of leaf variables."
    if wanted:
        return only_for_leaves(tensor, first, ".requires_grad is True already")
    first += " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
    return only_for_leaves(tensor, first + "var_no_grad = var.detach().", ".detach()")


def deepcopy_of_non_leaf(tensor: TensorBase) -> RuntimeError:
    first = (
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If "
        "you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
        "https://github.com/pytorch/pytorch/pull/103001"
    )
    return only_for_leaves(tensor, first, ".detach().clone()")


def detached_view(view: Any) -> RuntimeError:
    name = as_code(name_of(view))
    return mistake(
        RuntimeError,
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
        "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
        "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
        "torch/optim/optimizer.py as the solution.",
        ("view", describe(view)),
        ("of", describe(view._base)),
        ("recorded", recorded(view)),
        fix=f"{name} = {name}.detach()",
    )


def not_converted(tensor: TensorBase, kind: type[Exception], first: str, fix: str) -> Exception:
    """For a tensor that does not become a number or an array. In `fix`, X stands for the tensor."""
    fix = fix.replace("X", subject(tensor))
    return mistake(kind, first, ("tensor", describe(tensor)), ("recorded", recorded(tensor)), fix=fix)


def subject(tensor: TensorBase) -> str:
    """The tensor that a conversion in the user's line is about: by name, or as the expression that it is there."""
    name, text = name_of(tensor), expression_here() or ""
    if name is not None or not text:
        return as_code(name)
    converted = re.fullmatch(r"(?:bool|float|int|complex|[\w.]*array)\((.*)\)|(.*)\.(?:item|numpy)\(\)", text)
    inner = (converted[1] or converted[2]) if converted else text
    return inner if re.fullmatch(r"[\w.]+(\([^()]*\))?|\([^()]*\)", inner) else f"({inner})"


def grad_shape(tensor: TensorBase, value: TensorBase) -> RuntimeError:
    own, given = size(tensor.array.shape), size(value.array.shape)
    return mistake(
        RuntimeError,
        f"attempting to assign a gradient of size '{given}' to a tensor of size '{own}'. Please ensure that the "
        "gradient and the tensor are the same size",
        ("tensor", describe(tensor)),
        ("gradient", describe(value)),
        fix=f"{as_code(name_of(tensor))}.grad = {as_code(name_of(value), 'g')}.reshape({own})"
        if tensor.array.size == value.array.size
        else "",
    )


def grad_dtype(tensor: TensorBase, value: TensorBase) -> RuntimeError:
    wanted = OWN_DTYPE if tensor.rare is None else tensor.rare.grad_dtype
    own = from_numpy_dtype(tensor.array.dtype if wanted is OWN_DTYPE else wanted)
    given = from_numpy_dtype(value.array.dtype)
    return mistake(
        RuntimeError,
        f"attempting to assign a gradient with dtype '{given.cpp}' to a tensor with grad_dtype "
        f"'{own.alias}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set "
        "the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
        "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they "
        "match.",
        ("tensor", f"{describe(tensor)}, {from_numpy_dtype(tensor.array.dtype)}"),
        ("gradient", f"{describe(value)}, {given}"),
        fix=f"{as_code(name_of(tensor))}.grad = {as_code(name_of(value), 'g')}.to({library()}.{own.name})",
    )


def deepcopy_of_subclass(t: TensorBase) -> RuntimeError:
    name = type(t).__name__
    return mistake(
        RuntimeError,
        "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that "
        "implement new_empty() and for which that function returns another instance of the same subclass. You should "
        "either properly implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior "
        "for new_empty() to return an instance of a different type.",
        fix=f"class {name}:   # of new_empty() return super().new_empty(...).as_subclass({name})",
    )


def wrong_target(target: TensorBase, first: str, method: str) -> RuntimeError:
    """For targets of classification that are no numbers of classes, or not in a row; `method` makes them so."""
    kind = from_numpy_dtype(target.array.dtype)
    if method == "squeeze(1)" and target.array.dtype.kind == "f":
        method = "squeeze(1).long()"
    fix = with_method(1, method, "target") or f".{method}   # behind the target"
    return mistake(RuntimeError, first, ("target", f"{describe(target)}, {kind}"), fix=fix)


def before_init(module: Any, first: str) -> AttributeError:
    """A module whose class forgot `super().__init__()`."""
    code = getattr(type(module).__init__, "__code__", None)
    body = (
        None if code is None else next((start for start, _, line in code.co_lines() if line != code.co_firstlineno), 0)
    )
    where = "" if body is None else f"   # before {place_of(code, body).spot}"
    return mistake(
        AttributeError,
        first,
        ("module", f"{type(module).__name__}.__init__ does not call the one of nn.Module"),
        fix=f"super().__init__(){where}",
    )
