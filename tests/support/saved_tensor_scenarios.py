"""Scenarios of saved tensors as users see them, and of PyTorch's private names for them. See scenarios.py."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from scenarios import attempt, collection, leaf

SCENARIOS, scenario = collection()


@scenario
def saved_inputs_are_the_tensors_themselves(T: Any) -> Any:
    a = leaf(T, [1.0, 2.0])
    fixed = T.tensor([3.0, 4.0])
    b = a * fixed
    c = b * a
    d = c.exp()
    m = (b.reshape(1, 2) @ b.reshape(2, 1)).sin()
    detached = b.detach()
    e = a * detached
    out = [b.grad_fn._saved_other is fixed, c.grad_fn._saved_self is b, c.grad_fn._saved_other is a]
    out += [d.grad_fn._saved_result is d, d.grad_fn._saved_result.grad_fn is d.grad_fn]
    out += [e.grad_fn._saved_other is detached, e.grad_fn._saved_other is b, m.grad_fn._saved_self.grad_fn.name()]
    product = c * c
    kept = product.grad_fn._saved_self
    del c
    out += [kept is product.grad_fn._saved_other, kept]
    product.sum().backward()
    return out, attempt(lambda: product.grad_fn._saved_self), a.grad


@scenario
def saved_results_count_changes_with_their_tensor(T: Any) -> Any:
    b = leaf(T, [1.0, 2.0]).exp()
    seen = b.grad_fn._saved_result
    with T.no_grad():
        b += 1
    out = [seen, seen._version, b._version, attempt(lambda: b.grad_fn._saved_result)]
    numbers = leaf(T, [1.0, 2.0]) * 3 - 1
    squares = numbers**2
    again = squares.grad_fn._saved_self
    return [*out, again is numbers, again._version]


@scenario
def what_a_saved_tensor_holds(T: Any) -> Any:
    def pack(t: Any) -> Any:
        return t

    def unpack(t: Any) -> Any:
        return t

    a = leaf(T, 2.0)
    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        b = a**2
    c = b.exp()
    d = c**2
    packed, result, plain = b.grad_fn._raw_saved_self, c.grad_fn._raw_saved_result, d.grad_fn._raw_saved_self
    out = [packed.data is a, packed.unpack_hook is unpack, result.data is c, result.data, result.unpack_hook]
    out += [plain.data is c, plain.unpack_hook, plain.unpack() is c, isinstance(plain, T._C._autograd.SavedTensor)]

    class Keep(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 1
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    y = Keep.apply(c)
    x_saved, y_saved, none = y.grad_fn._raw_saved_tensors
    out += [x_saved.data is c, x_saved.unpack() is c, x_saved.unpack_hook, y_saved.data]
    return [*out, isinstance(none, T.autograd.SavedTensor), none.unpack()]


@scenario
def tensors_saved_by_hand(T: Any) -> Any:
    counts = [0, 0]

    def pack(t: Any) -> Any:
        counts[0] += 1
        return t

    def unpack(t: Any) -> Any:
        counts[1] += 1
        return t

    make = T._C._autograd._make_saved_tensor
    a = leaf(T, [1.0, 2.0])
    b = a * 2
    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        saved = make(a, is_output=False)
        out: list[Any] = [*counts]
        out += [saved.unpack(), saved.unpack(), *counts]
    plain = make(b, is_output=False)
    out += [plain.unpack() is b, plain.data is b, make(b, is_output=True).data.requires_grad]
    return out, attempt(lambda: make(1, is_output=False))


@scenario
def hooks_for_saved_tensors_can_be_forbidden(T: Any) -> Any:
    inner = T._C._autograd
    out: list[Any] = [inner._saved_tensors_hooks_is_enabled()]
    with T.autograd.graph.disable_saved_tensors_hooks("not here"):
        out += [inner._saved_tensors_hooks_is_enabled(), inner._saved_tensors_hooks_get_disabled_error_message()]
        out.append(attempt(lambda: inner._push_saved_tensors_default_hooks(lambda t: t, lambda t: t)))
    a = leaf(T, [1.0, 2.0])
    inner._push_saved_tensors_default_hooks(lambda t: t * 2, lambda t: t)
    b = a * a
    inner._pop_saved_tensors_default_hooks()
    c = a * a
    return [*out, inner._saved_tensors_hooks_is_enabled(), b.grad_fn._saved_self, c.grad_fn._saved_self]


@scenario
def a_backward_pass_knows_whether_its_graph_is_kept(T: Any) -> Any:
    keeps = T._C._autograd._get_current_graph_task_keep_graph
    seen = []

    class Ask(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(keeps())
            return g

    x = leaf(T, [1.0, 2.0])
    y = Ask.apply(x).sum()
    y.backward(retain_graph=True)
    T.autograd.grad(y, x, retain_graph=True)
    y.backward()
    T.autograd.grad(Ask.apply(x).sum(), x)
    return seen, keeps()


@scenario
def nodes_are_nodes_without_deriving_from_it(T: Any) -> Any:
    Node = T.autograd.graph.Node
    seen = []

    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(isinstance(ctx, Node))
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(isinstance(ctx, Node))
            return g

    x = leaf(T, [1.0, 2.0])
    for y in (x.exp(), Same.apply(x)):
        seen += [isinstance(y.grad_fn, Node), issubclass(type(y.grad_fn), Node), Node in type(y.grad_fn).mro()]
        y.sum().backward()
    arrival = T._C._functions.AccumulateGrad
    seen += [isinstance(arrival, Node), issubclass(arrival, Node), isinstance(y.grad_fn.next_functions[0][0], arrival)]
    seen += [issubclass(T._C._functions.DelayedError, Node), issubclass(T.autograd.function.BackwardCFunction, Node)]
    return [
        *seen,
        *[isinstance(other, Node) for other in (None, 1, Node)],
        issubclass(Node, Node),
        issubclass(Same, Node),
    ]


@scenario
def nodes_made_by_hand(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    y = T._C._functions.UndefinedGrad()(x * 3)
    out: list[Any] = [y.grad_fn.name(), y]
    y.sum().backward()
    out.append(x.grad)
    refusing = T._C._functions.DelayedError("not this way", 1)(x * 3)
    return [*out, refusing.grad_fn.name(), refusing, attempt(lambda: refusing.sum().backward())]


@scenario
def private_switches(T: Any) -> Any:
    inner, forward = T._C, T.autograd.forward_ad
    out = [inner.is_grad_enabled(), forward._is_fwd_grad_enabled(), inner._is_grad_layout_enforcement_enabled()]
    inner._set_grad_enabled(False)
    inner._set_fwd_grad_enabled(False)
    inner._set_grad_layout_enforcement_enabled(False)
    try:
        with forward.dual_level():
            dual = forward.make_dual(T.ones(2), T.ones(2))
            out += [inner.is_grad_enabled(), forward._is_fwd_grad_enabled(), forward.unpack_dual(dual).tangent is None]
            with forward._set_fwd_grad_enabled(True):
                out += [forward._is_fwd_grad_enabled(), inner._is_fwd_grad_enabled()]
        out += [inner._is_fwd_grad_enabled(), inner._is_grad_layout_enforcement_enabled()]
    finally:
        inner._set_grad_enabled(True)
        inner._set_fwd_grad_enabled(True)
        inner._set_grad_layout_enforcement_enabled(True)
    inner._stash_obj_in_tls("mine", out)
    out += [inner._is_key_in_tls("mine"), inner._get_obj_in_tls("mine") is out]
    inner._remove_obj_from_tls("mine")
    return [*out, inner._is_key_in_tls("mine")]


@scenario
def references_that_keep_nothing(T: Any) -> Any:
    t = leaf(T, [1.0])
    reference = T._C._WeakTensorRef(t)
    out = [reference.expired()]
    shown = t.detach()
    other = weakref.ref(t)
    del t
    gc.collect()
    return [*out, reference.expired(), other() is None, shown]


@scenario
def names_of_what_was_saved(T: Any) -> Any:
    def names(t: Any) -> Any:
        return sorted([name for name in dir(t.grad_fn) if "_saved_" in name])

    x, fixed = leaf(T, [[1.0, 2.0], [3.0, 4.0]]), T.ones(2, 2)
    product = x * fixed
    out: list[Any] = [names(product), product.grad_fn._saved_self, product.grad_fn._saved_other]
    out += [product.grad_fn._raw_saved_self.unpack(), names(fixed / x), names(x.amax(0)), names(x.std(0))]
    out += [names(T.cat([x, x])), names(x.cumsum(0)), names(x.unbind()[0])]
    out += [names(x.split([1, 1])[0]), names(x.sum(0)), names(x.unfold(0, 1, 1)), names(x.median(0).values)]
    product.sum().backward()
    return [*out, product.grad_fn._saved_self, attempt(lambda: product.grad_fn._saved_other)]
