"""Where PyTorch has the classes of leafgrad: programs print those names, and files consist of them."""

from __future__ import annotations

# Of leafgrad's modules whose classes PyTorch does not have in the module of the same name.
PLACES = {
    "_symbolic": "torch", "_device": "torch", "_dtypes": "torch", "_files.legacy": "torch.serialization",
    "_files.options": "torch.serialization", "_tensor.tensor": "torch", "autograd.hooks": "torch.utils.hooks",
    "autograd.saved_tensor_hooks": "torch.autograd.graph",
    "distributions._transform": "torch.distributions.transforms",
    "distributions._transforms_of_vectors": "torch.distributions.transforms",
    "nn.modules._state": "torch.nn.modules.module", "nn.modules.attention": "torch.nn.modules.activation",
    "nn.modules.linear_cross_entropy": "torch.nn.modules.loss",
    "nn.modules.parameter_container": "torch.nn.modules.container", "ops.random.generator": "torch._C",
    "ops.shape.storage": "torch", "optim.adafactor": "torch.optim", "optim.muon": "torch.optim",
    "utils.selective": "torch.utils.checkpoint",
}  # fmt: skip
OTHER_PLACES = {
    "AcceleratorError": "torch", "DataParallel": "torch.nn.parallel.data_parallel",
    "_LinAlgError": "torch._C", "OutOfMemoryError": "torch", "TypedStorage": "torch.storage",
    "UntypedStorage": "torch.storage",
}  # fmt: skip


def place_of_class(module: str, name: str) -> str:
    """The module in which PyTorch has a class of leafgrad's."""
    inside = module.removeprefix("leafgrad.")
    if inside.startswith("optim.lr_scheduler."):
        return "torch.optim.lr_scheduler"
    return OTHER_PLACES.get(name) or PLACES.get(inside) or f"torch.{inside}"


def parts_of(module: str) -> list[str]:
    """The modules of leafgrad in which something may be that PyTorch has in this one, the likeliest first."""
    return [module.partition(".")[2], *[inside for inside, place in PLACES.items() if place == module]]
