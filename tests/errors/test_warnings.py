"""Every warning names the line of the user's program that caused it, whichever way it took through leafgrad."""

from __future__ import annotations

import ast
import functools
import inspect
import io
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
import leafgrad.nn.functional as F
from leafgrad import _prims_common, compiler, distributions, errors, func, nn, profiler
from leafgrad._functorch import deprecated
from leafgrad._tensor import overridable
from leafgrad.autograd import Function
from leafgrad.autograd import profiler as autograd_profiler
from leafgrad.errors.warning import said, warn, warn_once
from leafgrad.nn.attention.bias import causal_lower_right
from leafgrad.utils import _pytree, data
from leafgrad.utils.checkpoint import checkpoint, checkpoint_sequential
from leafgrad.utils.flop_counter import FlopCounterMode

SOURCES = Path(torch.__file__).parent
CASES: dict[str, Callable[[], Any]] = {}


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    CASES[function.__name__] = function
    return function


def leaf(*shape: int, dtype: Any = None) -> Any:
    return torch.ones(shape, dtype=dtype, requires_grad=True)


def sgd() -> Any:
    return torch.optim.SGD([leaf(1)], lr=0.1)


# -- tensors and functions --------------------------------------------------------------------------------------------


@case
def transposes() -> None:
    torch.ones(2, 3, 4).T
    for name in ("T", "mT", "H", "mH"):
        getattr(torch.ones(()), name)
    torch.ones(()).adjoint()


@case
def old_constructors_of_sparse_tensors() -> None:
    torch.sparse.FloatTensor(2, 3)


@case
def former_names() -> None:
    class Pair:
        pass

    _pytree._register_pytree_node(Pair, lambda pair: ([], None), lambda leaves, context: Pair())


@case
def algorithms_that_vary() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        _prims_common.alert_not_deterministic("mine")
    finally:
        torch.use_deterministic_algorithms(False)


@case
def jacobians() -> None:
    from leafgrad.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    x = leaf(1, dtype=torch.float64)
    get_analytical_jacobian((x,), x * 2)
    get_numerical_jacobian(lambda inputs: inputs[0] * 2, (x,))


@case
def fills_of_expanded_tensors() -> None:
    torch.zeros(1).expand(2).masked_fill_(torch.tensor([True, False]), 1.0)


@case
def functions_of_functorch() -> None:
    deprecated.vmap(torch.sin)


@case
def storages() -> None:
    said.clear()  # once in a process, as in PyTorch
    torch.ones(2).storage()


class WithoutSource(nn.Module):
    pass


@case
def old_files() -> None:
    file, lost = io.BytesIO(), types.new_class("Lost", (WithoutSource,))
    lost.__module__ = __name__
    globals()["Lost"] = lost
    torch.save([WithoutSource(), lost()], file, _use_new_zipfile_serialization=False)
    changed = file.getvalue().replace(b"    pass", b"    fail")
    torch.load(io.BytesIO(changed), weights_only=False)
    version = types.SimpleNamespace(__name__="module", __version__="one")
    torch.serialization.check_module_version_greater_or_equal(version, (1,), error_if_malformed=False)


@case
def functions_that_have_a_newer_form() -> None:
    said.clear()
    a = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    torch.qr(a)
    torch.cholesky(a)
    torch.lu(a)
    torch.lu_solve(a, *torch.linalg.lu_factor(a))
    torch.triangular_solve(a, a)
    torch.chain_matmul(a, a)
    torch.cross(torch.ones(3), torch.ones(3))
    torch.stft(torch.ones(20), 4, return_complex=True)
    torch.set_default_tensor_type("torch.FloatTensor")


@case
def copies() -> None:
    torch.tensor(torch.ones(2))
    torch.ones(2).new_tensor(torch.ones(2))


@case
def old_forms_of_calls() -> None:
    torch.range(0, 2)
    torch.add(torch.ones(2), 2, torch.ones(2))
    torch.ones(2).sub_(2, torch.ones(2))


@case
def other_data() -> None:
    torch.tensor([np.ones(2), np.ones(2)])
    torch.tensor([leaf(), leaf()])
    read_only = np.ones(2)
    read_only.flags.writeable = False
    torch.from_numpy(read_only)
    torch.asarray(leaf(2))
    torch.frombuffer(b"12345678", dtype=torch.float32)


@case
def imaginary_parts() -> None:
    numbers = torch.ones(2, dtype=torch.complex64)
    numbers.to(torch.float32)
    numbers.float()
    torch.ones(2).copy_(numbers)
    torch.ones(2)[0:1] = numbers[0:1]


@case
def outputs_of_other_sizes() -> None:
    torch.add(torch.ones(2), 1, out=torch.ones(3))
    torch.arange(3, out=torch.ones(2))
    torch.bernoulli(torch.full((2,), 0.5), out=torch.ones(3))
    torch.normal(torch.ones(2), torch.ones(2), out=torch.ones(3))
    torch.multinomial(torch.ones(4), 2, out=torch.ones(3, dtype=torch.int64))


@case
def indices() -> None:
    x = torch.ones(2, 2)
    x[[slice(0, 1), slice(0, 1)]]
    x[torch.tensor([0, 1], dtype=torch.uint8)]
    x[torch.tensor([0, 1], dtype=torch.uint8)] = 2
    x.scatter(0, torch.tensor([[0]]), torch.ones(1, 1), reduce="add")
    torch.where(torch.tensor([1, 0], dtype=torch.uint8), x, x)
    x.where(torch.tensor([1, 0], dtype=torch.uint8), x)


@case
def transforms_of_pieces() -> None:
    x = torch.ones(10)
    z = torch.stft(x, 4, return_complex=True)
    torch.stft(x, 4, window=torch.ones(4), return_complex=False)
    torch.istft(z, 4, length=20)


@case
def other_functions() -> None:
    torch.meshgrid(torch.ones(2), torch.ones(2))
    torch.ones(1).var()
    torch.std(torch.ones(1))
    torch.empty(2, dtype=torch.float16).random_(0, 2**13)
    Function()
    torch.autograd.Variable(torch.ones(1), volatile=True)
    torch.ones(1).volatile


@case
def a_method_that_should_be_a_classmethod() -> None:
    class Old:
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return None

    overridable.warned.clear()
    torch.exp(Old())


# -- gradients --------------------------------------------------------------------------------------------------------


@case
def a_gradient_that_is_not_kept() -> None:
    (leaf(2) * 2).grad


@case
def deprecated_arguments_of_backward() -> None:
    torch.autograd.backward((leaf(1) * 2,), grad_variables=[torch.ones(1)])
    x = leaf(1)
    torch.autograd.grad(x * 2, x, only_inputs=False)
    x.sum().backward(create_graph=True)
    torch.autograd.backward(x.sum(), create_graph=True)


@case
def decorated_classes() -> None:
    @torch.no_grad()
    class First:
        pass

    @torch.no_grad
    class Second:
        pass


class Nan(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * float("nan")


@case
def anomalies() -> None:
    x = leaf(1)
    before = Nan.apply(x)
    with torch.autograd.detect_anomaly():
        for y in (before, Nan.apply(x) * 2, torch.sqrt(x * 0) * 0):
            with pytest.raises(RuntimeError, match="nan"):
                y.backward()


class Deprecated(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        other = x + 1
        ctx.mark_shared_storage((x, other))
        ctx.mark_dirty(other)
        ctx.save_for_backward(x)
        return other

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.saved_variables
        return g


@case
def functions_of_the_user() -> None:
    Deprecated.apply(leaf(1)).sum().backward()


class OfNothing(Function):
    """Makes something of no gradient at all."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return torch.ones(1, dtype=torch.float64) if g is None else g * 2


@case
def gradient_checks() -> None:
    single = leaf(1, dtype=torch.float32)
    torch.autograd.gradcheck(lambda x: x * 2, (single,), raise_exception=False)
    torch.autograd.gradcheck(OfNothing.apply, (leaf(1, dtype=torch.float64),), raise_exception=False)
    torch.autograd.gradgradcheck(lambda x: x * 2, (single,), raise_exception=False)


@case
def samples_one_by_one() -> None:
    x, index = torch.rand(2, 3), torch.tensor([0, 1, 0])
    func.vmap(lambda a: a.masked_scatter(a > 0.5, a))(x)
    func.vmap(func.grad(lambda a: a.scatter_reduce(0, index, a, "prod").sum()))(x)


@case
def checkpoints() -> None:
    checkpoint(torch.sin, leaf(1))
    checkpoint(torch.sin, torch.ones(1), use_reentrant=True)
    checkpoint_sequential(nn.Sequential(nn.ReLU(), nn.ReLU()), 2, leaf(1))


# -- modules and optimizers -------------------------------------------------------------------------------------------


@case
def losses() -> None:
    x, y = torch.ones(2), torch.zeros(2)
    F.mse_loss(x, y, size_average=True)
    F.l1_loss(x, y, reduction="elementwise_mean")
    F.mse_loss(x, torch.zeros(2, 1))
    F.binary_cross_entropy(x, y, reduce=False)
    nn.MSELoss(size_average=False)
    nn.MSELoss()(x, torch.zeros(2, 1))
    nn.Sequential(nn.ReLU(), nn.L1Loss(reduction="elementwise_mean"))


@case
def dimensions_that_are_not_named() -> None:
    F.softmax(torch.ones(2))
    F.log_softmax(torch.ones(2))
    nn.Softmax()(torch.ones(2))
    nn.Sequential(nn.Softmax())(torch.ones(2))
    nn.init.kaiming_uniform_(torch.ones(0, 2))
    nn.init.kaiming_normal_(torch.ones(0, 2))


@case
def modules() -> None:
    nn.ReLU().state_dict({})
    full = nn.Identity()
    full.register_full_backward_hook(lambda *given: None)
    full([leaf(1)])
    full(torch.ones(1))
    weights = nn.Linear(1, 1)
    weights.register_full_backward_hook(lambda *given: None)
    weights(torch.ones(1)).sum().backward()
    old = nn.Identity()
    old.register_backward_hook(lambda *given: None)
    old([leaf(1) * 2])
    failing = nn.Linear(2, 2)
    failing.register_forward_hook(lambda *given: 1 / 0, always_call=True)
    with pytest.raises(RuntimeError):
        failing(torch.ones(3))


@case
def hooks_that_are_not_saved() -> None:
    x = leaf(1)
    x.register_hook(lambda g: None)
    torch.utils.hooks.warn_if_has_hooks(x)


@case
def optimizers() -> None:
    x = leaf(1)
    torch.optim.SGD([x, x], lr=0.1)
    torch.optim.lr_scheduler.StepLR(sgd(), 1).step()
    optimizer = sgd()
    optimizer.step()
    torch.optim.lr_scheduler.StepLR(optimizer, 1).step(3)
    torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(1.0, epoch=2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    schedule.get_lr()
    optimizer.step = lambda: None
    schedule.step()


# -- files and data ---------------------------------------------------------------------------------------------------


@case
def files() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    torch.load(file, encoding="utf-8", weights_only=True)
    file.seek(0)
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    try:
        torch.load(file)
    finally:
        del os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"]


class LongerThanTold(data.IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))

    def __len__(self) -> int:
        return 2


@case
def loaders() -> None:
    data.random_split([1, 2], [1.0, 0.0])
    next(iter(data.DataLoader([1], pin_memory=True)))
    data.DataLoader([1], num_workers=1000)
    loader = data.DataLoader(LongerThanTold())
    len(loader)
    list(loader)


# -- layers and their functions ---------------------------------------------------------------------------------------


@case
def activations() -> None:
    F.gumbel_softmax(torch.ones(2), eps=1e-5)
    nn.Hardtanh(min_value=-1)
    nn.NLLLoss2d()
    F.kl_div(torch.zeros(2), torch.ones(2), reduction="mean")


@case
def dropouts() -> None:
    F.dropout3d(torch.ones(2, 2, 2))
    F.dropout2d(torch.ones(2, 2, 2))


@case
def layers() -> None:
    nn.RNN(2, 2, dropout=0.5)
    nn.InstanceNorm1d(3)(torch.ones(2, 2, 4))
    nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1), 1)
    F.embedding_bag(torch.ones(2, 2), torch.tensor([[0, 1]]))
    F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), padding="same")
    masks = torch.zeros(3, 3, dtype=torch.bool), torch.zeros(1, 3)
    nn.MultiheadAttention(2, 1, batch_first=True)(*[torch.ones(1, 3, 2)] * 3, masks[1], attn_mask=masks[0])


@case
def old_forms() -> None:
    torch.addcmul(torch.ones(2), 2, torch.ones(2), torch.ones(2))
    torch.testing.assert_allclose(1, 1)
    torch.set_float32_matmul_precision("low")


@case
def images() -> None:
    image = torch.ones(1, 1, 2, 2)
    F.upsample(image, 3)
    F.upsample_nearest(image, 3)
    F.upsample_bilinear(image, 3)
    F.grid_sample(image, torch.zeros(1, 2, 2, 2))
    F.affine_grid(torch.zeros(1, 2, 3), (1, 1, 2, 1), align_corners=True)


@case
def weights_of_layers() -> None:
    nn.init.trunc_normal_(torch.ones(2), mean=9.0)
    nn.init.uniform(torch.ones(2))
    nn.utils.clip_grad_norm([leaf(1)], 1.0)
    nn.utils.stateless.functional_call(nn.Identity(), {}, torch.ones(1))
    nn.utils.weight_norm(nn.Linear(2, 2))
    torch.cov(torch.ones(2, 1))


@case
def compilers() -> None:
    compiler._told.discard("torch.compile")
    torch.compile(torch.relu)


@case
def mixed_precision() -> None:
    torch.autocast("cuda")
    torch.autocast("cpu", torch.float64)
    torch.amp.GradScaler("cuda")
    torch.cpu.amp.autocast()
    torch.cuda.amp.autocast(enabled=False)


class Unconstrained(distributions.Distribution):
    pass


@case
def random_variables() -> None:
    Unconstrained()
    Unconstrained(validate_args=True)._validate_sample(torch.ones(()))
    distributions.Normal(0.0, 1.0).sample_n(2)
    distributions.Wishart(1.5, torch.eye(2)).rsample()
    divergences()


def divergences() -> None:
    """Two that fit a pair equally well."""

    class Mine(distributions.Normal):
        pass

    distributions.register_kl(Mine, distributions.Normal)(lambda p, q: 0)
    distributions.register_kl(distributions.Normal, Mine)(lambda p, q: 1)
    distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))


# -- operators of one's own -------------------------------------------------------------------------------------------


@case
def operators_without_a_gradient() -> None:
    """The last warning is given in a backward pass that begins here."""
    library = torch.library.Library("warned", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x.detach() * 2, "CPU")
    torch.library.impl_abstract("warned::twice", lambda x: x)
    torch.ops.warned.twice(leaf(2)).sum().backward()


@case
def complex_modules() -> None:
    torch.nn.Linear(1, 1).to(torch.complex64)


@case
def numbers_without_their_history() -> None:
    said.clear()
    float(leaf(1))


@case
def modules_of_long_ago() -> None:
    torch.nn.Container(inner=torch.nn.ReLU())


@case
def places_in_what_is_not_contiguous() -> None:
    torch.searchsorted(torch.ones(3, 2).t(), torch.ones(2, 3))


# -- profilers --------------------------------------------------------------------------------------------------------


@case
def profilers() -> None:
    NONE, WARMUP, RECORD = profiler.ProfilerAction.NONE, profiler.ProfilerAction.WARMUP, profiler.ProfilerAction.RECORD
    profiler.schedule(wait=0, warmup=0, active=1)
    profiler.profile(use_cuda=False)
    profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA])
    autograd_profiler.profile(use_cuda=True)
    autograd_profiler.profile(use_device="xpu")
    for first in (WARMUP, RECORD):
        with profiler.profile(schedule=lambda step, first=first: NONE if step else first) as running:
            running.step()


@case
def counters_of_flops() -> None:
    FlopCounterMode(mods=[], display=False)


@case
def causal_masks_without_keys() -> None:
    causal_lower_right(3, 2)


@case
def states_with_data_for_parameters_without() -> None:
    nn.Linear(2, 2, device="meta").load_state_dict(nn.Linear(2, 2).state_dict())


# -- the tests --------------------------------------------------------------------------------------------------------


def observed(name: str, patch: pytest.MonkeyPatch) -> tuple[list[warnings.WarningMessage], set[tuple[str, int]]]:
    """The warnings that a case gives, and the lines of leafgrad that give them."""
    calls = set()

    def noting(function: Callable[..., None]) -> Callable[..., None]:
        def noted(*given: Any, **named: Any) -> None:
            frame = sys._getframe(1)
            calls.add((frame.f_code.co_filename, frame.f_lineno))
            function(*given, **named)

        return noted

    for function in (warn, warn_once):
        patch.setattr(errors, function.__name__, noting(function))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CASES[name]()
    return caught, calls


@pytest.mark.parametrize("name", CASES)
def test_warnings_name_the_users_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    caught, calls = observed(name, monkeypatch)
    assert calls
    elsewhere = [(each.filename, each.lineno, str(each.message)) for each in caught if each.filename != __file__]
    assert elsewhere == []


def test_every_warning_that_leafgrad_gives_is_among_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {call for name in CASES for call in observed(name, monkeypatch)[1]}
    there = {
        (str(path), node.lineno)
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("errors.warn", "errors.warn_once")
    }
    assert sorted(there - seen) == []


def test_nothing_else_warns() -> None:
    """A number of frames that was right when it was written points somewhere else after the next change."""
    others = {path for path in SOURCES.rglob("*.py") if "warnings.warn" in path.read_text(encoding="utf-8")}
    assert others == {SOURCES / "errors" / "warning.py"}


def line_of_warning(function: Callable[[], Any]) -> int:
    with pytest.warns(UserWarning) as caught:
        function()
    assert [each.filename for each in caught] == [__file__]
    return caught[0].lineno


def test_the_line_is_exact_and_behind_the_standard_library_as_well() -> None:
    here = inspect.currentframe()
    assert here is not None
    x = torch.ones(1)
    function = lambda: x.var()
    assert line_of_warning(function) == function.__code__.co_firstlineno
    with pytest.warns(UserWarning) as caught:
        functools.reduce(lambda a, b: b, map(torch.var, [x]))
        line = here.f_lineno - 1
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]
    with torch.autograd.graph.save_on_cpu(), pytest.warns(UserWarning) as caught:
        nn.Sequential(nn.Identity(), nn.Softmax())(x)
    assert caught[0].lineno == here.f_lineno - 1


def test_softmax_of_a_function_that_speaks_for_its_caller() -> None:
    def inner() -> Any:
        return F.softmax(torch.ones(1), _stacklevel=4)

    outer = lambda: inner()
    assert line_of_warning(outer) == outer.__code__.co_firstlineno


def test_a_line_is_warned_of_once_by_default() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            torch.ones(1).var()
        torch.ones(1).var()
    assert len(caught) == 2


def test_what_is_said_once_in_a_program() -> None:
    a = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    said.clear()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        torch.qr(a)
        a.qr()
        torch.cholesky(a)
        torch.linalg.qr(a)
    assert [str(each.message).split(" in favor")[0] for each in given] == [
        "torch.qr is deprecated",
        "torch.cholesky is deprecated",
    ]
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match=r"torch.qr is deprecated in favor of torch.linalg.qr"):
            torch.qr(a)
    finally:
        torch.set_warn_always(False)
