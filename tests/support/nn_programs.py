"""Short programs with nn.init and nn.utils, the same for PyTorch and leafgrad: each returns numbers and texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def initialised(name: str, *args: Any, shape: tuple[int, ...] = (4, 3), **kwargs: Any) -> Callable[[Any], list[Any]]:
    def run(torch: Any) -> list[Any]:
        torch.manual_seed(0)
        made = getattr(torch.nn.init, name)(torch.empty(shape, dtype=torch.float64), *args, **kwargs)
        return [made, torch.rand(1)]  # so much has been drawn

    return run


def steps(torch: Any, module: Any, x: Any) -> list[Any]:
    """What a module has and computes, before and after two steps of training, and in evaluation."""
    seen: list[Any] = [" ".join(module.state_dict()), " ".join([n for n, _ in module.named_parameters()])]
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        out = module(x)
        out.square().sum().backward()
        seen += [out, *[p.grad for p in module.parameters()]]
        optimizer.step()
    return [*seen, module.eval()(x), *module.state_dict().values()]


def layer(torch: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    return torch.nn.Linear(3, 4).double(), torch.randn(2, 3, dtype=torch.float64)


def changed(change: Callable[[Any, Any], Any]) -> Callable[[Any], list[Any]]:
    """A layer to which something is done first."""

    def run(torch: Any) -> list[Any]:
        module, x = layer(torch)
        return steps(torch, change(torch, module) or module, x)

    return run


def undone(change: Callable[[Any, Any], Any], undo: Callable[[Any, Any], Any]) -> Callable[[Any], list[Any]]:
    """The same after a call, and then undone again."""

    def run(torch: Any) -> list[Any]:
        module, x = layer(torch)
        change(torch, module)
        first = module(x)
        undo(torch, module)
        return [first, module(x), type(module).__name__, repr(module), *steps(torch, module, x)]

    return run


def doubling(torch: Any) -> Any:
    class Doubled(torch.nn.Module):
        def forward(self, value: Any) -> Any:
            return 2 * value

        def right_inverse(self, value: Any) -> Any:
            return value / 2

    return Doubled()


def parametrized_twice(torch: Any, module: Any) -> Any:
    parametrize = torch.nn.utils.parametrize
    parametrize.register_parametrization(module, "weight", doubling(torch))
    parametrize.register_parametrization(module, "weight", doubling(torch))
    with torch.no_grad():
        module.weight = torch.ones_like(module.weight)


def complaint(call: Callable[[Any, Any], Any]) -> Callable[[Any], list[Any]]:
    """What is said of a mistake."""

    def run(torch: Any) -> list[Any]:
        module, _ = layer(torch)
        try:
            call(torch, module)
        except Exception as error:
            return [type(error).__name__, str(error).partition("\n")[0]]
        return ["no error"]

    return run


def pruned_twice(torch: Any, module: Any) -> None:
    prune = torch.nn.utils.prune
    prune.ln_structured(module, "weight", 1, n=2, dim=0)
    prune.l1_unstructured(module, "weight", 0.25)


def pruned_globally(torch: Any, module: Any) -> None:
    prune = torch.nn.utils.prune
    prune.global_unstructured([(module, "weight"), (module, "bias")], prune.L1Unstructured, amount=5)


def fused(torch: Any) -> list[Any]:
    module, x = layer(torch)
    norm = torch.nn.BatchNorm1d(4).double()
    norm(module(x) * 3)
    both = torch.nn.Sequential(module, norm).eval()
    made = torch.nn.utils.fusion.fuse_linear_bn_eval(module, norm)
    return [both(x), made(x), made.weight, made.bias]


def lazily(torch: Any) -> list[Any]:
    module = torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.LazyBatchNorm1d())
    before = [repr(module), str([type(p).__name__ for p in module.parameters()])]
    torch.manual_seed(0)
    return [*before, module(torch.arange(6.0).reshape(2, 3)), repr(module)]


PROGRAMS: dict[str, Callable[[Any], list[Any]]] = {
    "trunc_normal_": initialised("trunc_normal_", 0.5, 1.5, -1.0, 2.0),
    "trunc_normal_ far away": initialised("trunc_normal_", 0.0, 1.0, 2.5, 3.0),
    "orthogonal_ tall": initialised("orthogonal_", 1.5),
    "orthogonal_ wide": initialised("orthogonal_", shape=(2, 3, 2)),
    "sparse_": initialised("sparse_", 0.4, std=0.5),
    "dirac_": initialised("dirac_", 2, shape=(4, 3, 3)),
    "eye_": initialised("eye_"),
    "xavier_normal_": initialised("xavier_normal_", 2.0),
    "kaiming_normal_": initialised("kaiming_normal_", mode="fan_out", nonlinearity="relu"),
    "weight_norm": changed(lambda torch, m: torch.nn.utils.weight_norm(m)),
    "weight_norm of all": changed(lambda torch, m: torch.nn.utils.weight_norm(m, dim=None)),
    "weight_norm removed": undone(
        lambda torch, m: torch.nn.utils.weight_norm(m, dim=1), lambda torch, m: torch.nn.utils.remove_weight_norm(m)
    ),
    "spectral_norm": changed(lambda torch, m: torch.nn.utils.spectral_norm(m, n_power_iterations=2)),
    "spectral_norm removed": undone(
        lambda torch, m: torch.nn.utils.spectral_norm(m), lambda torch, m: torch.nn.utils.remove_spectral_norm(m)
    ),
    "parametrized weight_norm": changed(lambda torch, m: torch.nn.utils.parametrizations.weight_norm(m)),
    "parametrized weight_norm removed": undone(
        lambda torch, m: torch.nn.utils.parametrizations.weight_norm(m),
        lambda torch, m: torch.nn.utils.parametrize.remove_parametrizations(m, "weight"),
    ),
    "parametrized spectral_norm": changed(lambda torch, m: torch.nn.utils.parametrizations.spectral_norm(m)),
    "parametrized": changed(
        lambda torch, m: torch.nn.utils.parametrize.register_parametrization(m, "weight", doubling(torch))
    ),
    "parametrized twice": changed(parametrized_twice),
    "parametrized and left as it was": undone(
        lambda torch, m: torch.nn.utils.parametrize.register_parametrization(m, "bias", doubling(torch)),
        lambda torch, m: torch.nn.utils.parametrize.remove_parametrizations(m, "bias", leave_parametrized=False),
    ),
    "no such tensor to parametrize": complaint(
        lambda torch, m: torch.nn.utils.parametrize.register_parametrization(m, "scale", doubling(torch))
    ),
    "no parametrization to remove": complaint(
        lambda torch, m: torch.nn.utils.parametrize.remove_parametrizations(m, "weight")
    ),
    "prune l1": changed(lambda torch, m: torch.nn.utils.prune.l1_unstructured(m, "weight", 5)),
    "prune at random": changed(lambda torch, m: torch.nn.utils.prune.random_unstructured(m, "weight", 0.3)),
    "prune channels": changed(lambda torch, m: torch.nn.utils.prune.ln_structured(m, "weight", 2, n=1, dim=0)),
    "prune channels at random": changed(lambda torch, m: torch.nn.utils.prune.random_structured(m, "weight", 1, dim=1)),
    "prune twice": changed(pruned_twice),
    "prune globally": changed(pruned_globally),
    "prune by a mask": changed(
        lambda torch, m: torch.nn.utils.prune.custom_from_mask(m, "bias", torch.tensor([1, 0, 0, 1]))
    ),
    "prune removed": undone(
        lambda torch, m: torch.nn.utils.prune.l1_unstructured(m, "weight", 0.5),
        lambda torch, m: torch.nn.utils.prune.remove(m, "weight"),
    ),
    "prune too much": complaint(lambda torch, m: torch.nn.utils.prune.l1_unstructured(m, "weight", 100)),
    "nothing to remove": complaint(lambda torch, m: torch.nn.utils.prune.remove(m, "weight")),
    "fusion": fused,
    "lazy modules": lazily,
}
