"""Weights divided by their largest singular value, which is followed by power iteration."""

from __future__ import annotations

from typing import Any

from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from leafgrad.nn.parameter import Parameter, is_lazy
from leafgrad.nn.utils.weight_norm import find

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm",
    "spectral_norm",
]  # fmt: skip


class SpectralNorm:
    """The hook that divides a weight before each call."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """reshape_weight_to_matrix(weight): the dimension `dim`, and all others."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.ndim) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """compute_weight(module, do_power_iteration): the weight, after steps of the iteration or without."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = [getattr(module, f"{self.name}_{part}") for part in "uv"]
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # which later steps do not change
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """remove(module): an ordinary parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in "uv":
            delattr(module, f"{self.name}_{part}")
        delattr(module, f"{self.name}_orig")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """apply(module, name, n_power_iterations, dim, eps): divide a parameter from now on."""
        if find(module, SpectralNorm, name) is not None:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            matrix = hook.reshape_weight_to_matrix(weight)
            starts = [F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in matrix.shape]
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)
        for part, start in zip("uv", starts, strict=True):
            module.register_buffer(f"{name}_{part}", start)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook

    def solve_v(self, matrix: Any, u: Any, sigma: Any) -> Any:
        """solve_v(matrix, u, sigma): the v for which u is the direction of W v, and u W v the singular value."""
        v = (matrix.t().mm(matrix).pinverse() @ matrix.t()).mv(u)
        return v * (sigma / u.dot(matrix.mv(v)))


class SpectralNormStateDictHook:
    """Notes the version of the hook among the metadata of a state_dict."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Takes states from before version 1, which have the divided weight instead of v."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: Any, prefix: str, metadata: Any, strict: bool, missing: list[str], *rest: Any
    ) -> None:
        if metadata.get("spectral_norm", {}).get(f"{self.fn.name}.version") is not None:
            return
        key = prefix + self.fn.name
        if key not in state_dict and all([f"{key}_{part}" in state_dict for part in ("orig", "u", "v")]):
            return  # a new state whose metadata got lost
        absent = [name for name in (f"{key}_orig", key, f"{key}_u") if name not in state_dict]
        if absent:
            missing.extend(absent if strict else ())
            return
        with no_grad():
            weight = state_dict[f"{key}_orig"]
            sigma = (weight / state_dict.pop(key)).mean()
            matrix = self.fn.reshape_weight_to_matrix(weight)
            state_dict[f"{key}_v"] = self.fn.solve_v(matrix, state_dict[f"{key}_u"], sigma)


def output_dim(module: Any) -> int:
    """The dimension of a weight that counts outputs."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None): divide a parameter by its
    largest singular value in each call."""
    if dim is None:
        dim = output_dim(module)
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """remove_spectral_norm(module, name='weight'): an ordinary parameter again."""
    number = find(module, SpectralNorm, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook = module._forward_pre_hooks.pop(number)
    hook.remove(module)
    for place in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for number, each in list(place.items()):
            if getattr(each[0] if isinstance(each, tuple) else each, "fn", None) is hook:
                del place[number]
    return module
