"""Scenarios of mixed precision: what computes in which dtype, its graph and gradients, and scaled losses. See
scenarios.py."""

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection, graph_of

SCENARIOS, scenario = collection()


def grid(T: Any, *shape: int, dtype: str = "float32") -> Any:
    count = 1
    for size in shape:
        count *= size
    values = T.arange(count, dtype=T.float32).reshape(shape)
    return ((values * 0.37) % 1 - 0.4).to(getattr(T, dtype))


def shown(value: Any) -> Any:
    """Dtypes and values of tensors."""
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return (str(value.dtype), value.float() if value.is_floating_point() else str(value.shape))


# Functions of two matrices, (4, 4), the first of which may be of another dtype than the second.
FUNCTIONS: dict[str, Any] = {
    "mm": lambda T, a, b: T.mm(a, b),
    "@": lambda T, a, b: a @ b,
    "method": lambda T, a, b: a.matmul(b),
    "vector": lambda T, a, b: T.matmul(a, b[0]),
    "bmm": lambda T, a, b: T.bmm(a[None], b[None]),
    "batches": lambda T, a, b: a.reshape(2, 2, 4) @ b,
    "addmm": lambda T, a, b: T.addmm(a, b, a),
    "einsum": lambda T, a, b: T.einsum("ij,jk->ik", a, b),
    "einsum of one": lambda T, a, b: T.einsum("ii->i", a),
    "linear": lambda T, a, b: T.nn.functional.linear(a, b, b[0]),
    "linear without bias": lambda T, a, b: T.nn.functional.linear(a, b),
    "sum": lambda T, a, b: a.sum(0),
    "prod": lambda T, a, b: a.prod(1),
    "prod of all": lambda T, a, b: T.prod(a),
    "trace": lambda T, a, b: a.trace(),
    "softmax": lambda T, a, b: a.softmax(-1),
    "exp": lambda T, a, b: a.exp(),
    "product": lambda T, a, b: a * b,
    "power": lambda T, a, b: a**2,
    "norm": lambda T, a, b: a.norm(),
    "cat": lambda T, a, b: T.cat([a, b]),
    "stack": lambda T, a, b: T.stack((a, b), dim=1),
    "index_copy": lambda T, a, b: a.index_copy(0, T.tensor([1, 0, 3, 2]), b),
    "mse_loss": lambda T, a, b: T.nn.functional.mse_loss(a, b),
    "l1_loss": lambda T, a, b: T.nn.functional.l1_loss(a, b, reduction="sum"),
    "smooth_l1_loss": lambda T, a, b: T.nn.functional.smooth_l1_loss(a, b),
    "huber_loss": lambda T, a, b: T.nn.functional.huber_loss(a, b),
    "cross_entropy": lambda T, a, b: T.nn.functional.cross_entropy(a, T.tensor([0, 1, 2, 3])),
    "nll_loss": lambda T, a, b: T.nn.functional.nll_loss(a, T.tensor([0, 1, 2, 3])),
    "logits": lambda T, a, b: T.nn.functional.binary_cross_entropy_with_logits(a, b.abs()),
    "probabilities": lambda T, a, b: T.nn.functional.binary_cross_entropy(a.sigmoid(), b.abs()),
    "relu": lambda T, a, b: T.nn.functional.relu(a),
}


def in_each_dtype(T: Any, lower: str) -> Any:
    dtypes = [("float32", "float32"), (lower, lower), ("float32", lower), (lower, "float32"), ("float64", "float64")]
    seen = []
    for name, function in FUNCTIONS.items():
        for kinds in dtypes:
            a, b = [grid(T, 4, 4, dtype=kind) for kind in kinds]
            with T.autocast("cpu", getattr(T, lower)):
                found = attempt(lambda f=function, a=a, b=b: str(f(T, a, b).dtype))
            # what both refuse, they need not refuse in the same words: nobody has asked for such operands
            seen.append((name, *kinds, found if found.startswith("torch") else "refused"))
    return seen


@scenario
def dtypes_of_results_in_bfloat16(T: Any) -> Any:
    return in_each_dtype(T, "bfloat16")


@scenario
def dtypes_of_results_in_float16(T: Any) -> Any:
    return in_each_dtype(T, "float16")


def network(T: Any) -> Any:
    first, second = T.nn.Linear(4, 3), T.nn.Linear(3, 2)
    with T.no_grad():
        for at, parameter in enumerate([*first.parameters(), *second.parameters()]):
            parameter.copy_(grid(T, *parameter.shape) * (at + 1))
    return T.nn.Sequential(first, T.nn.ReLU(), second)


@scenario
def a_training_step(T: Any) -> Any:
    model, x = network(T), grid(T, 5, 4)
    with T.autocast(device_type="cpu", dtype=T.bfloat16):
        y = model(x)
        loss = T.nn.functional.mse_loss(y, grid(T, 5, 2))
    loss.backward()
    gradients = [shown(p.grad) for p in model.parameters()]
    return shown(y), shown(loss), graph_of(loss.grad_fn, 8), gradients


@scenario
def parameters_are_converted_once(T: Any) -> Any:
    x, seen = grid(T, 2, 2), []
    for keep in (True, False):
        w = grid(T, 2, 2).requires_grad_()
        with T.autocast("cpu", cache_enabled=keep):
            with T.no_grad():
                seen.append((x @ w).requires_grad)
            a, b = x @ w, x @ w
            with T.autocast("cpu", enabled=False):
                seen.append(str((x @ w).dtype))
            c = x @ w
            nodes = [each.grad_fn.next_functions[1][0] for each in (a, b, c)]
            seen.append([node is nodes[0] for node in nodes])
            T.clear_autocast_cache()
            seen.append((x @ w).grad_fn.next_functions[1][0] is nodes[0])
        (a + b + c).sum().backward()
        seen.append(shown(w.grad))
    return seen


@scenario
def views_of_parameters_are_not_kept(T: Any) -> Any:
    w, x = grid(T, 4, 2).requires_grad_(), grid(T, 2, 2)
    with T.autocast("cpu"):
        a, b = x @ w[:2], x @ w.detach()[:2]
    return a.grad_fn.next_functions[1][0].name(), b.requires_grad, shown(a)


@scenario
def switches(T: Any) -> Any:
    def now() -> Any:
        return (
            T.is_autocast_enabled("cpu"), T.is_autocast_enabled(), str(T.get_autocast_dtype("cpu")),
            T.is_autocast_cache_enabled(), str((grid(T, 2, 2) @ grid(T, 2, 2)).dtype),
        )  # fmt: skip

    seen = [now()]
    with T.autocast("cpu", T.float16, cache_enabled=False):
        seen.append(now())
        with T.amp.autocast("cpu", enabled=False):
            seen.append(now())
            with T.autocast("cpu"):
                seen.append(now())
        try:
            with T.autocast("cpu", T.bfloat16):
                seen.append(now())
                raise KeyError
        except KeyError:
            seen.append(now())
    T.set_autocast_enabled("cpu", True)
    T.set_autocast_dtype("cpu", T.float16)
    seen.append(now())
    T.set_autocast_enabled("cpu", False)
    T.set_autocast_dtype("cpu", T.bfloat16)
    return seen, now(), T.amp.is_autocast_available("cpu"), attempt(lambda: T.autocast(3))


@scenario
def a_decorated_function(T: Any) -> Any:
    @T.autocast("cpu", dtype=T.bfloat16)
    def square(x: Any) -> Any:
        return x @ x

    x = grid(T, 2, 2)
    return str(square(x).dtype), T.is_autocast_enabled("cpu"), str(square(x).dtype), square.__name__


@scenario
def devices_and_dtypes_that_are_not_there(T: Any) -> Any:
    made = [
        T.autocast("cuda"), T.autocast("cuda", enabled=False), T.autocast("cpu", T.float64),
        T.cuda.amp.autocast(), T.cpu.amp.autocast(),
    ]  # fmt: skip
    return [(each._enabled, str(each.fast_dtype)) for each in made]


def function_of(T: Any, cast_inputs: Any) -> Any:
    seen: list[Any] = []

    class Product(T.autograd.Function):
        @staticmethod
        @T.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            seen.append((str(a.dtype), T.is_autocast_enabled("cpu")))
            return a.mm(b)

        @staticmethod
        @T.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append((str(g.dtype), T.is_autocast_enabled("cpu")))
            return g.mm(b.t()), a.t().mm(g)

    return Product, seen


@scenario
def functions_of_ones_own(T: Any) -> Any:
    found = []
    for cast_inputs in (None, T.float32, T.bfloat16):
        for on in (True, False):
            function, seen = function_of(T, cast_inputs)
            a, b = grid(T, 2, 2).requires_grad_(), grid(T, 2, 2).requires_grad_()
            with T.autocast("cpu", enabled=on):
                y = function.apply(a, b)
            y.sum().backward()
            found.append((seen, str(y.dtype), shown(a.grad)))
    return found


# -- scaled losses ----------------------------------------------------------------------------------------------------


@scenario
def scaled_steps(T: Any) -> Any:
    model = network(T)
    optimizer = T.optim.SGD(model.parameters(), 0.1)
    scaler = T.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    seen = [scaler.state_dict(), scaler.get_scale()]
    for i in range(6):
        optimizer.zero_grad()
        scaled = scaler.scale(model(grid(T, 2, 4)).sum())
        scaled.backward()
        if i == 3:
            model[0].weight.grad[0, 0] = float("inf")
        if i % 2:
            scaler.unscale_(optimizer)
        gradient = model[2].weight.grad.clone()
        scaler.step(optimizer)
        scaler.update()
        seen.append(
            (round(scaled.item(), 3), gradient, scaler.get_scale(), scaler._get_growth_tracker(), model[2].weight)
        )
    other = T.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    return seen, scaler.state_dict(), other.state_dict(), other.get_scale()


@scenario
def scalers_used_wrongly(T: Any) -> Any:
    def used(*steps: str, half: bool = False, **options: Any) -> Any:
        model = T.nn.Linear(1, 1)
        x = T.ones(1, 1)
        if half:
            model, x = model.half(), x.half()
        optimizer, scaler = T.optim.SGD(model.parameters(), 0.1), T.amp.GradScaler("cpu", **options)
        for step in steps:
            if step == "backward":
                scaler.scale(model(x).sum()).backward()
            elif step == "scale":
                scaler.scale(x)
            elif step == "update":
                scaler.update()
            elif step == "set":
                scaler.update(T.ones(2))
            elif step == "closure":
                scaler.step(optimizer, closure=lambda: 1)
            elif step == "load":
                scaler.load_state_dict({})
            elif step == "numbers":
                scaler.scale(3.0)
            elif step == "pickle":
                scaler.__getstate__()
            else:
                getattr(scaler, step)(optimizer)
        return scaler.get_scale()

    return [
        attempt(lambda: used("step")), attempt(lambda: used("update")), attempt(lambda: used("unscale_")),
        attempt(lambda: used("backward", "unscale_", "unscale_")), attempt(lambda: used("backward", "step", "step")),
        attempt(lambda: used("backward", "step", "unscale_")), attempt(lambda: used("scale", "step")),
        attempt(lambda: used("scale", "update")), attempt(lambda: used("backward", "closure")),
        attempt(lambda: used("backward", "unscale_", half=True)), attempt(lambda: used("backward", "set")),
        attempt(lambda: used("load")), attempt(lambda: used("numbers")), attempt(lambda: used(growth_factor=1.0)),
        attempt(lambda: used(backoff_factor=1.0)), attempt(lambda: used("step", "update", enabled=False)),
        attempt(lambda: used("backward", "unscale_", "pickle")), attempt(lambda: used("backward", "step", "update")),
    ]  # fmt: skip


@scenario
def scalers_of_other_devices(T: Any) -> Any:
    made = [T.amp.GradScaler("cuda"), T.GradScaler(enabled=False), T.cuda.amp.GradScaler(), T.cpu.amp.GradScaler(4.0)]
    x = T.ones(1)
    return [(s.is_enabled(), s.state_dict(), s.get_scale(), s.scale(x)) for s in made], made[0].scale(x) is x
