"""What PyTorch says where a function cannot be mapped. The first sentence is PyTorch's; then comes a way out."""

from __future__ import annotations

from leafgrad import errors

IN_PLACE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
    "that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
    "over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic. If said operator is being "
    "called inside the PyTorch framework, please file a bug report instead.\n"
    "  fix: x = x + y instead of x.add_(y), or make x from the mapped tensor: y.new_zeros(...)"
)
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report.\n"
    "  each sample has a value of its own, and there is one call for all of them: keep it a tensor"
)
CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues .\n"
    "  fix: torch.where(condition, a, b) instead of `a if condition else b`"
)
NO_STORAGE = (
    "Cannot access data pointer of Tensor that doesn't have storage\n"
    "  it stands for all samples of a vmap at once: return it from the function, and look at it outside"
)
ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
    "`gen_vmap_plumbing` Please file an issue if it looks like the latter\n"
    "  the vmap is over, and the tensor still stands for its samples: return it from the function instead of keeping it"
)
DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{name}. "
    "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.\n"
    "  the samples would get results of different shapes; torch.where(mask, x, 0) keeps the shape"
)
MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with "
    "a boolean mask.\n  fix: torch.where(mask, x, 0) keeps the shape of x"
)
RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
RANDOM_FOR_GRADIENTS = (
    "vmap: We do not yet support calling random operations inside of vmap. Please perform random operations outside of "
    "vmap as a workaround"
)
RANDOM_IN_PLACE = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. "
    "If this is necessary for your usage, please file an issue with functorch."
)
SAME_FOR_BATCH = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
REQUIRES_GRAD = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of "
    "a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
    "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead."
)
CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation that "
    "would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to "
    "explicitly accept the mutated Tensor(s) as inputs."
)
BACKWARD = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
    "instead or call backward() outside of functorch transforms."
)
RETAIN_GRAD = (
    "You are attempting to call Tensor.retain_grad() inside of a function being transformed by a functorch transform. "
    "This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or "
    "call retain_grad() outside of a function being transformed instead."
)
FORBIDDEN = {"requires_grad_": REQUIRES_GRAD, "backward": BACKWARD, "retain_grad": RETAIN_GRAD}
SAVED_TENSOR_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use "
    "case."
)
SLOW = (
    "There is a performance drop because we have not yet implemented the batching rule for aten::{name}. leafgrad "
    "computes it sample by sample."
)

# What a tensor refuses to do where it has a value for each sample.
REFUSALS = {
    "item": ITEM,
    "bool": CONTROL_FLOW,
    "storage": NO_STORAGE,
    "data": "accessing `data` under vmap transform is not allowed\n  fix: x.detach()",
    "set data": "mutating directly with `.data` under vmap transform is not allowed.\n  fix: x.copy_(value)",
}


def warn_slow(name: str) -> None:
    """An operation is computed for one sample after the other."""
    errors.warn(SLOW.format(name=name))
