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


def loaded(change: Callable[[Any], dict[str, Any]], **options: Any) -> Callable[[Any, Any], Any]:
    """A state that has been changed, loaded into the layer."""
    return lambda torch, m: m.load_state_dict({**m.state_dict(), **change(torch)}, **options)


def printed(call: Callable[[Any, Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda torch: [str(call(torch, layer(torch)[0]))]


def hooked(torch: Any, module: Any) -> Any:
    """A hook that returns another state, which only one of the two kinds may."""
    hook = lambda module, state, prefix, metadata: {}
    module._register_state_dict_hook(hook)
    before = dict(module.state_dict())
    module.register_state_dict_post_hook(hook)
    assert before == {}
    return module._register_state_dict_hook(hook)


# mistakes, with what they are about
MISTAKES: dict[str, Callable[[Any, Any], Any]] = {
    "a key that nobody wants": loaded(lambda torch: {"x.y": torch.ones(1)}),
    "a key that is missing": lambda torch, m: m.load_state_dict({}),
    "another shape": loaded(lambda torch: {"bias": torch.ones(1)}),
    "no tensor": loaded(lambda torch: {"bias": 3}),
    "no state": lambda torch, m: m.load_state_dict(3),
    "a hook of both kinds": hooked,
    "a cast to integers": lambda torch, m: m.to(torch.int64),
    "no such module": lambda torch, m: m.get_submodule("0.weight"),
    "no parameter": lambda torch, m: m.get_parameter("in_features"),
    "no buffer": lambda torch, m: m.get_buffer("weight"),
    "a tensor as parameter": lambda torch, m: setattr(m, "weight", torch.ones(1)),
    "a name that is there": lambda torch, m: m.register_buffer("in_features", torch.ones(1)),
    "a name with a dot": lambda torch, m: m.register_parameter("a.b", None),
    "a module without forward": lambda torch, m: torch.nn.Module()(1),
    "padding outside": lambda torch, m: torch.nn.Embedding(3, 2, padding_idx=5),
    "a table that is none": lambda torch, m: torch.nn.Embedding.from_pretrained(torch.ones(3)),
    "dimensions of batch norm": lambda torch, m: torch.nn.BatchNorm2d(3)(torch.ones(2, 3)),
    "a single value": lambda torch, m: torch.nn.BatchNorm1d(3)(torch.ones(1, 3)),
    "features of instance norm": lambda torch, m: torch.nn.InstanceNorm1d(3, affine=True)(torch.ones(2, 4, 5)),
    "groups that do not divide": lambda torch, m: torch.nn.GroupNorm(2, 3),
    "shape of layer norm": lambda torch, m: torch.nn.LayerNorm(3)(torch.ones(2, 4)),
    "a probability of 2": lambda torch, m: torch.nn.Dropout(2),
    "channels of a vector": lambda torch, m: torch.nn.Dropout1d()(torch.ones(2)),
    "margin of nothing": lambda torch, m: torch.nn.TripletMarginLoss(margin=-1),
    "a power of 3": lambda torch, m: torch.nn.MultiMarginLoss(p=3),
    "vectors and targets": lambda torch, m: torch.nn.CosineEmbeddingLoss()(torch.ones(2), torch.ones(2), torch.ones(2)),
    "ranks of other dimensions": lambda torch, m: torch.nn.MarginRankingLoss()(
        torch.ones(2), torch.ones(2, 2), torch.ones(2)
    ),
    "a negative variance": lambda torch, m: torch.nn.GaussianNLLLoss()(torch.ones(2), torch.ones(2), -torch.ones(2)),
    "longer than the input": lambda torch, m: torch.nn.CTCLoss()(torch.ones(2, 1, 3), torch.tensor([[1]]), (3,), (1,)),
    "batches of bilinear": lambda torch, m: torch.nn.Bilinear(2, 3, 4)(torch.ones(5, 2), torch.ones(4, 3)),
    "bags without offsets": lambda torch, m: torch.nn.EmbeddingBag(3, 2)(torch.tensor([1, 2])),
    "bags that begin late": lambda torch, m: torch.nn.EmbeddingBag(3, 2)(torch.tensor([1, 2]), torch.tensor([1])),
    "cutoffs outside": lambda torch, m: torch.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [7]),
    "dirac of a matrix": lambda torch, m: torch.nn.init.dirac_(m.weight),
    "orthogonal vector": lambda torch, m: torch.nn.init.orthogonal_(m.bias),
}

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
    **{
        f"orthogonal by {way}": changed(
            lambda torch, m, way=way: torch.nn.utils.parametrizations.orthogonal(m, orthogonal_map=way)
        )
        for way in ("matrix_exp", "cayley", "householder")
    },
    "orthogonal without a base": changed(
        lambda torch, m: torch.nn.utils.parametrizations.orthogonal(m, use_trivialization=False)
    ),
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
    "keys that do not matter": printed(loaded(lambda torch: {"x.y": torch.ones(1)}, strict=False)),
    **{name: complaint(call) for name, call in MISTAKES.items()},
    "fusion": fused,
    "lazy modules": lazily,
}
