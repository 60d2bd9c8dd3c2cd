"""Scenarios of the functions and attributes of autograd, and of what they refuse. See scenarios.py."""

# ruff: noqa: B023  (functions made in a loop are called in that round)

from __future__ import annotations

from importlib import import_module
from typing import Any

from scenarios import attempt, collection, leaf, make

SCENARIOS, scenario = collection()


@scenario
def materialized_gradients_that_are_recorded(T: Any) -> Any:
    x = leaf(T, 1.0)
    y = leaf(T, [2.0, 3.0])
    g = T.autograd.grad(x * 2, [x, y], create_graph=True, materialize_grads=True)
    h = T.autograd.grad(x * 2, [x, y], materialize_grads=True)
    return g, [a.requires_grad for a in g], [a.grad_fn and a.grad_fn.name() for a in g], h


@scenario
def inputs_in_a_dictionary(T: Any) -> Any:
    x = leaf(T, 1.0)
    y = leaf(T, 2.0)
    z = x * y
    g = T.autograd.grad(z, {"a": x, "b": y}, retain_graph=True)
    r = [type(g).__name__, {k: v.item() for k, v in g.items()} if isinstance(g, dict) else g]
    z.backward(inputs={"a": x}, retain_graph=True) if False else None
    r.append(attempt(lambda: z.backward(inputs={"a": x}, retain_graph=True)))
    r.append(attempt(lambda: T.autograd.backward(z, inputs={"a": x}, retain_graph=True)))
    r += [x.grad, y.grad]
    w = leaf(T, 1.0)
    r.append(attempt(lambda: list(T.autograd.grad(z, {"a": x, "w": w}, retain_graph=True, allow_unused=True).items())))
    r.append(attempt(lambda: T.autograd.grad({"q": z}, [x], retain_graph=True)))
    r.append(attempt(lambda: T.autograd.grad(z, {}, retain_graph=True)))
    r.append(attempt(lambda: T.autograd.backward({"q": z}, retain_graph=True)))
    r.append(
        attempt(lambda: list(T.autograd.grad(z, {"a": x, "w": w}, retain_graph=True, materialize_grads=True).items()))
    )
    r.append(
        attempt(
            lambda: list(
                T.autograd.grad(
                    z,
                    {"a": x, "w": w},
                    grad_outputs=T.tensor([1.0, 2.0]),
                    is_grads_batched=True,
                    retain_graph=True,
                    allow_unused=True,
                ).items()
            )
        )
    )
    return r


@scenario
def inference_tensors_and_their_views(T: Any) -> Any:
    with T.inference_mode():
        a = T.ones(2)
    b = T.ones(2)
    out = [a.is_inference(), b.is_inference(), T.is_inference(a), T.is_inference(b)]
    v = a.view(-1)
    out += [v.is_inference(), v.requires_grad]
    x = leaf(T, [1.0, 2.0])
    with T.inference_mode():
        w = x.view(2, 1)
        out += [w.is_inference(), w.requires_grad, w.is_leaf, w._is_view()]
        c = x * 2
        out += [c.requires_grad, c.is_inference()]
        out.append(attempt(lambda: T.ones(2).resize_(3).shape == (3,)))
        q = T.ones(2)
        q.resize_(4)
        out.append(list(q.shape))
    u = w.view(-1)
    out += [w.requires_grad, u.requires_grad, u.is_leaf, attempt(lambda: (u * x).requires_grad)]
    return out


@scenario
def dtype_of_the_gradient_of_a_leaf(T: Any) -> Any:
    x = leaf(T, 1.0)
    out = [str(x.grad_dtype)]
    y = T.ones(2)
    out.append(attempt(lambda: str(y.grad_dtype)))
    z = x * 2
    out.append(attempt(lambda: str(z.grad_dtype)))

    def s() -> Any:
        x.grad_dtype = T.float64

    out.append(attempt(s))
    out.append(str(x.grad_dtype))
    (x * 2).backward()
    out.append(str(x.grad.dtype))

    def s2() -> Any:
        x.grad_dtype = None

    out.append(attempt(s2))
    out.append(str(x.grad_dtype))
    x.grad = None
    out.append(attempt(s2))
    out.append(str(x.grad_dtype))

    def s3() -> Any:
        z.grad_dtype = T.float64

    out.append(attempt(s3))

    def s4() -> Any:
        x.grad = T.tensor(1.0, dtype=T.float16)

    out.append(attempt(s4))
    x2 = leaf(T, 1.0)

    def s5() -> Any:
        x2.grad = T.tensor(1.0, dtype=T.float16)

    out.append(attempt(s5))
    x2.grad_dtype = T.float16
    out.append(attempt(s5))
    out.append(attempt(lambda: x2.grad))

    def s6() -> Any:
        y.grad_dtype = T.float64

    out.append(attempt(s6))
    out.append(attempt(lambda: str(y.grad_dtype)))

    def s7() -> Any:
        x2.grad_dtype = "abc"

    out.append(attempt(s7))
    return out


@scenario
def pieces_that_are_no_views(T: Any) -> Any:
    x = T.arange(6.0, requires_grad=True)
    out = []
    for f in (
        lambda: T.unsafe_split(x, 2),
        lambda: x.unsafe_split(4),
        lambda: T.unsafe_split_with_sizes(x, [1, 5]),
        lambda: x.unsafe_split_with_sizes([2, 4]),
        lambda: T.unsafe_chunk(x, 3),
        lambda: x.unsafe_chunk(4),
    ):

        def go() -> Any:
            r = f()
            a = r[0]
            n = a.grad_fn.name()
            v = a._is_view()
            a.mul_(2)
            return type(r).__name__, r, n, v, T.autograd.grad(a.sum(), x)

        out.append(attempt(go))
    return out, x


@scenario
def refusals(T: Any) -> Any:
    out = []
    # detach_ of saved
    x = leaf(T, [1.0, 2.0])
    y = x.exp()
    z = y * y
    y.detach_()
    out.append(attempt(lambda: z.sum().backward()))
    out.append(x.grad)
    x = leaf(T, [1.0, 2.0])
    y = x.exp()
    y.detach_()
    out.append(attempt(lambda: y.sum().backward()))

    # complex grad for real edge
    F = make(T, lambda ctx, x: x * 1, lambda ctx, g: g * 1j)

    x = leaf(T, [1.0, 2.0])
    out.append(attempt(lambda: F.apply(x).sum().backward()))
    x = leaf(T, [1.0, 2.0])
    y = x * 2
    out.append(attempt(lambda: y.backward(T.tensor([1j, 2j]))))
    out.append(attempt(lambda: T.autograd.grad(T.autograd.graph.get_gradient_edge(y), x, T.tensor([1j, 2j]))))
    y = x * 2
    w = leaf(T, 1.0)
    out.append(
        attempt(lambda: T.autograd.grad(y.sum(), [x, T.autograd.graph.get_gradient_edge(w)], materialize_grads=True))
    )
    out.append(
        attempt(
            lambda: T.autograd.grad((x * 2).sum(), [x, T.autograd.graph.get_gradient_edge(x)], materialize_grads=True)
        )
    )
    y = x * 2
    g = T.ones(2)
    out.append(attempt(lambda: y.grad_fn(g, g)))
    out.append(attempt(lambda: y.grad_fn()))
    out.append(attempt(lambda: y.grad_fn(None)))
    out.append(attempt(lambda: y.grad_fn(g)))
    out.append(attempt(lambda: y.grad_fn(1.0)))
    out.append(attempt(lambda: y.grad_fn(T.ones(3))))
    out.append(attempt(lambda: T.ones(2).masked_fill(T.tensor([True, False]), 1j)))
    out.append(attempt(lambda: T.ones(2).masked_fill(T.tensor([True, False]), T.tensor(1j))))
    out.append(attempt(lambda: T.ones(2).masked_fill_(T.tensor([True, False]), T.tensor(1j))))
    out.append(attempt(lambda: T.ones(2, dtype=T.int64).masked_fill(T.tensor([True, False]), 1.5)))
    x = leaf(T, [1.0, 2.0])
    out.append(attempt(lambda: x.sum(dtype=T.int64)))
    out.append(attempt(lambda: T.mean(x, dtype=T.int64)))
    out.append(attempt(lambda: x.cumsum(0, dtype=T.int64)))
    out.append(attempt(lambda: x.prod(dtype=T.int64)))
    out.append(attempt(lambda: x.sum(0, dtype=T.int64)))
    F_ = T.nn.functional
    out.append(attempt(lambda: F_.dropout(T.ones(3, dtype=T.int64))))
    out.append(attempt(lambda: F_.dropout(T.ones(3, dtype=T.int64), 0.5, False)))
    out.append(attempt(lambda: F_.dropout(T.ones(3, dtype=T.int64), 0.0)))
    out.append(attempt(lambda: F_.dropout(T.ones(3, dtype=T.int64), 1.0)))
    out.append(attempt(lambda: F_.dropout(T.ones(3, dtype=T.bool), 0.5)))
    i = T.ones(2, dtype=T.int64)
    b = T.ones(2, dtype=T.bool)
    for t in (i, b, T.ones(2), T.ones(2, dtype=T.complex64)):
        for al in (1, 2, 1.5, True, 1j, 2.0):
            out.append(attempt(lambda: T.rsub(t, t, alpha=al)))
            out.append(attempt(lambda: T.sub(t, t, alpha=al)))
            out.append(attempt(lambda: T.add(t, t, alpha=al)))
            out.append(attempt(lambda: T.rsub(t, 3, alpha=al)))
            out.append(attempt(lambda: T.add(t, 3, alpha=al)))
            out.append(attempt(lambda: T.sub(t, 3, alpha=al)))
    return out


@scenario
def jacobians_of_old_programs(T: Any) -> Any:
    gc = import_module(T.__name__ + ".autograd.gradcheck")
    x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    c = T.tensor([1.0 + 1j, 2.0 - 3j], dtype=T.complex128, requires_grad=True)
    n = lambda f, i, **k: attempt(lambda: gc.get_numerical_jacobian(f, i, **k))
    a = lambda i, o, **k: attempt(lambda: gc.get_analytical_jacobian(i, o, **k))
    w = T.tensor([1.0, 2.0])
    return [
        n(lambda i: i[0] ** 2, (x,)),
        n(lambda i: i[0] * i[1].abs(), (x, c)),
        n(lambda i: i[0] ** 2, (c,), eps=1e-6),
        n(lambda i: i[0] * 2, (x,), target=x, eps=1e-6),
        n(lambda i: i[0].conj(), (c,), eps=1e-6),
        n(lambda i: (i[0] * 2, i[0] * 3), (x,), eps=1e-6),
        n(lambda i: i[0] * 2, (w, x)),
        n(lambda i: i[0] * 1j, (x,)),
        n(lambda i: i[0] * 2, (x,), grad_out=2.0),
        a((x,), x**2),
        a((x, c), x * c.abs()),
        a((c,), c**2),
        a((x, c), x * 2),
        a((x, w), x * w),
        a((x,), x.sum()),
        a((x,), x * 2, grad_out=3.0),
        a((c,), c.real),
    ]


@scenario
def saved_tensors_detached_in_place(T: Any) -> Any:
    out = []
    a = leaf(T, 1.0).clone()
    b = a.sin()
    a.detach_()
    out.append(attempt(lambda: b.backward()))
    a = leaf(T, 1.0).clone()
    b = a.exp()
    a.detach_()
    out.append(attempt(lambda: b.backward()))
    x = leaf(T, 1.0)
    a = x.exp()
    b = a + 1
    a.detach_()
    b.backward()
    out.append(x.grad)
    a = leaf(T, 1.0).clone()
    w = leaf(T, 2.0)
    b = a * w
    a.detach_()
    out.append(attempt(lambda: T.autograd.grad(b, w)))
    a = leaf(T, 1.0)
    w = leaf(T, 2.0)
    b = a * w
    a.detach_()
    out.append(attempt(lambda: T.autograd.grad(b, w)))

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    a = leaf(T, 1.0).clone()
    b = F.apply(a)
    a.detach_()
    out.append(attempt(lambda: b.backward()))
    a = leaf(T, 1.0)
    b = F.apply(a)
    a.detach_()
    out.append(attempt(lambda: b.backward()))
    return out


@scenario
def gradients_in_a_box(T: Any) -> Any:
    out = []

    class F(T.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * 1, y * 2

        @staticmethod
        def backward(ctx: Any, grads: Any) -> Any:
            out.append([type(grads).__name__, len(grads)])
            a, b = grads
            grads.clear()
            return a, b * 2

    x = leaf(T, [1.0])
    y = leaf(T, [2.0])
    a, b = F.apply(x, y)
    (a + b).sum().backward()
    out += [x.grad, y.grad]

    class G(T.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grads: Any) -> Any:
            out.append(len(grads))
            return grads.pop()

    x = leaf(T, [1.0])
    G.apply(x).sum().backward()
    out.append(x.grad)
    a, b = F.apply(x, y)
    a.sum().backward()
    out.append(T.autograd.Function.boxed_grads_call)
    out.append(attempt(lambda: G.apply(x).grad_fn.apply(T.ones(1))))
    out.append(attempt(lambda: T.autograd.grad(G.apply(x).sum(), x, create_graph=True)))
    return out


@scenario
def saved_tensors_that_can_be_asked_for_once(T: Any) -> Any:
    out = []

    class F(T.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            a = ctx.saved_tensors
            out.append(len(a))
            out.append(attempt(lambda: ctx.saved_tensors))
            return g

    x = leaf(T, [1.0])
    y = F.apply(x)
    y.sum().backward(retain_graph=True)
    out.append(attempt(lambda: y.sum().backward()))
    out.append(T.autograd.Function.clear_saved_tensors_on_access)
    y = F.apply(x)
    out.append(attempt(lambda: len(y.grad_fn.saved_tensors)))
    out.append(attempt(lambda: y.sum().backward()))
    y = F.apply(x)
    out.append(attempt(lambda: len(y.grad_fn._raw_saved_tensors)))
    out.append(attempt(lambda: len(y.grad_fn._raw_saved_tensors)))
    out.append(attempt(lambda: y.sum().backward()))
    return out


@scenario
def contexts_that_outlive_their_graph(T: Any) -> Any:
    saved, seen = [], []

    class Id(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.foo = 3
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            saved.append(ctx)
            return ctx.saved_tensors[0] * g

    x = leaf(T, [2.0])
    y = Id.apply(x)
    y.sum().backward()
    c = saved[0]
    out = [
        attempt(lambda: c.saved_tensors),
        c.foo,
        c.needs_input_grad,
        c.name(),
        attempt(lambda: c.metadata),
        attempt(lambda: len(c.next_functions)),
        hasattr(c.register_hook(lambda *a: None), "remove"),
    ]
    del y
    out.append(attempt(lambda: c.saved_tensors))

    class W(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            f = ctx
            out.append(
                [
                    attempt(lambda: f.saved_tensors),
                    attempt(lambda: len(f.next_functions)),
                    attempt(lambda: f.metadata),
                    attempt(lambda: f.name()),
                    attempt(lambda: f.register_hook(lambda a, b: seen.append("post")) is None),
                    attempt(lambda: f.register_prehook(lambda x: seen.append("pre")) is None),
                    attempt(lambda: f.requires_grad),
                    attempt(lambda: f._raw_saved_tensors),
                    attempt(lambda: f.needs_input_grad),
                ]
            )
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    W.apply(x).sum().backward()
    return out, seen


@scenario
def results_without_a_gradient(T: Any) -> Any:
    out = []

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            o = x > 0
            ctx.mark_non_differentiable(o)
            return o

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (g * 0).to(T.double)

    x = leaf(T, [-1.0, 2.0])
    m = F.apply(x)
    out += [m.requires_grad, m.grad_fn is None]
    y = x.masked_fill(m, 0)
    y.sum().backward()
    out.append(x.grad)

    class G(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            a = x + 1
            b = x + 2
            ctx.mark_non_differentiable(a)
            return a, b

        @staticmethod
        def backward(ctx: Any, ga: Any, gb: Any) -> Any:
            out.append([ga, gb])
            return gb

    x = leaf(T, [1.0, 2.0])
    a, b = G.apply(x)
    out += [a.requires_grad, b.requires_grad]
    b.sum().backward()
    out.append(x.grad)

    class H(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            a = x.clone()
            ctx.mark_non_differentiable(a)
            return a

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    x = leaf(T, [1.0, 2.0])
    r = H.apply(x * x)
    (r * x).sum().backward()
    out.append(x.grad)

    for materialize in (False, True):

        class Marked(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(materialize)
                a = x.clone()
                b = x.clone()
                ctx.mark_non_differentiable(a)
                ctx._materialize_non_diff_grads = False
                return a, b

            @staticmethod
            def backward(ctx: Any, *gs: Any) -> Any:
                out.append([g is None for g in gs])
                return gs[1]

        Marked.apply(leaf(T, [1.0, 2.0]))[1].sum().backward()
    return out


@scenario
def arguments_with_defaults(T: Any) -> Any:
    out = []

    class MySquare(T.autograd.Function):
        @staticmethod
        def forward(x: Any, s: Any = 3) -> Any:
            return x**2 * s

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> Any:
            out.append(len(inputs))
            x, s = inputs
            ctx.save_for_backward(x)
            ctx.s = s

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 2 * x * ctx.s, None

    x = leaf(T, [2.0])
    y = MySquare.apply(x)
    y.backward()
    out.append(x.grad)
    y = MySquare.apply(x, 4)
    y.backward()
    out.append(x.grad)
    out.append(attempt(lambda: MySquare.apply(x, s=5)))
    out.append(attempt(lambda: MySquare.apply(x, t=5)))
    return out


@scenario
def callbacks_at_the_end_of_a_pass(T: Any) -> Any:
    out = []
    Variable = T.autograd.Variable

    class C(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            Variable._execution_engine.queue_callback(lambda: out.append("cb"))
            out.append("bw")
            return g

    x = leaf(T, [1.0])
    x.register_hook(lambda g: out.append("hook"))
    C.apply(x).sum().backward()
    out.append(x.grad)
    out.append(attempt(lambda: Variable._execution_engine.queue_callback(lambda: None)))

    class Re(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with T.enable_grad():
                ctx.a = x.detach().requires_grad_()
                ctx.b = C.apply(ctx.a)
            return ctx.b.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            out.append("in")
            T.autograd.backward(ctx.b)
            out.append("out")
            return ctx.a.grad

    y = leaf(T, [1.0])
    Re.apply(y).sum().backward()
    T.autograd.grad(C.apply(y).sum(), y)
    return out
