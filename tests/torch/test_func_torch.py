"""torch.func compared with the installed PyTorch: values, dtypes, requires_grad, refusals and their first words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import leafgrad
from compare import difference

NAMES = (
    "vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "functional_call",
    "stack_module_state",
)  # fmt: skip


def prepared(expression: str) -> Callable[[Any], Any]:
    """An expression as a function of the module, which provides `torch`, `F`, the transforms and a few tensors."""
    code = compile(expression, expression, "eval")

    def run(module: Any) -> Any:
        x = module.arange(6.0).reshape(3, 2)
        names = {name: getattr(module.func, name) for name in NAMES}
        names |= {
            "torch": module,
            "F": module.nn.functional,
            "x": x,
            "w": module.ones(2),
            "i": module.tensor([0, 1, 0]),
        }
        names |= {"wr": module.tensor([1.0, 2.0], requires_grad=True), "xr": x.clone().requires_grad_()}
        names |= {
            "changed": changed,
            "z": (module.arange(24.0).reshape(3, 2, 4) / 7).sin(),
            "u": module.arange(4.0) / 3,
        }
        names |= {"f": lambda u, a: (a * u).tanh().sum()}
        return contiguous(eval(code, names))

    return run


def changed(a: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of a tensor after a change."""
    a = a.clone()
    change(a)
    return a


def contiguous(value: Any) -> Any:
    """Where a result lies in memory is nobody's business here."""
    if isinstance(value, (torch.Tensor, leafgrad.Tensor)):
        return value.reshape(-1).clone().reshape(value.shape)
    if isinstance(value, (tuple, list)):
        return [contiguous(v) for v in value]
    if isinstance(value, dict):
        return [[key, contiguous(v)] for key, v in value.items()]
    return "function" if callable(value) else value


def check(expressions: str, tolerance: float = 1e-5, messages: bool = False, seeded: bool = False) -> None:
    lines = [line.strip() for line in expressions.strip().splitlines() if line.strip()]
    found = {line: difference(prepared(line), tolerance, messages, seeded) for line in lines}
    wrong = [f"{line}: {what}" for line, what in found.items() if what]
    assert not wrong, "\n".join(wrong)


def refused(expressions: str) -> None:
    """Every line is refused on both sides, with the same words."""
    for line in expressions.strip().splitlines():
        with pytest.raises(Exception):  # which one is compared below
            prepared(line.strip())(torch)
    check(expressions, messages=True)


# -- vmap -------------------------------------------------------------------------------------------------------------


def test_vmap_in_dims_and_out_dims() -> None:
    check(
        """
        vmap(lambda a: a * 2 + 1)(x)
        vmap(lambda a: a.sum(), in_dims=1)(x)
        vmap(lambda a: a.sum(), in_dims=-1)(x)
        vmap(lambda a, b: a * b, in_dims=(0, None))(x, w)
        vmap(lambda a, b: a * b, (0, None))(x, 2)
        vmap(lambda a, b: a + b, in_dims=(1, 0))(x, torch.ones(2, 3))
        vmap(lambda d, l: d['a'] * l[0], in_dims=({'a': 0}, [None]))({'a': x}, [w])
        vmap(lambda d: d['a'].sum() + d['b'].sum(), in_dims=({'a': 0, 'b': 1},))({'a': x, 'b': torch.ones(2, 3)})
        vmap(lambda d: d['a'] + d['b'])({'a': x, 'b': x})
        vmap(lambda a: a.exp(), out_dims=1)(x)
        vmap(lambda a: a.exp(), out_dims=-1)(x)
        vmap(lambda a: (a, a * 2), out_dims=(0, 1))(x)
        vmap(lambda a: {'u': a, 'v': a * 2}, out_dims={'u': 0, 'v': 1})(x)
        vmap(lambda a: (a, torch.ones(2)), out_dims=(0, None))(x)
        vmap(lambda a: torch.ones(2), out_dims=None)(x)
        vmap(lambda a: torch.ones(2))(x)
        vmap(lambda a: [a, (a,)])(x)
        vmap(lambda a, *, b: a + b)(x, b=w)
        vmap(lambda a, k=2: a * k)(x, k=3)
        vmap(lambda a: a, chunk_size=2)(x)
        vmap(lambda a: (a.sum(), a), out_dims=(0, 1), chunk_size=1)(x)
        vmap(lambda a: a * 2)(torch.ones(0, 3))
        vmap(lambda a: a.sort()[0])(torch.ones(0, 3))
        torch.vmap(torch.sin)(x)
        """
    )


def test_vmap_inside_vmap() -> None:
    check(
        """
        vmap(vmap(lambda a: a.exp()))(x)
        vmap(vmap(lambda a, b: a * b, (0, None)), (None, 0))(x[0], x[1])
        vmap(lambda a: vmap(lambda b: (a * b).sum())(x))(x)
        vmap(vmap(torch.dot, (None, 0)), (0, None))(x, x)
        vmap(vmap(lambda a: a.sum(), in_dims=1), in_dims=1)(torch.arange(24.).reshape(2, 3, 4))
        vmap(vmap(torch.mm, (0, None)), (None, 0))(torch.ones(2, 3, 4), torch.arange(24.).reshape(2, 4, 3))
        vmap(lambda a: vmap(lambda j: a[j])(i[:2]))(x)
        vmap(vmap(vmap(torch.sin)))(torch.arange(8.).reshape(2, 2, 2))
        """
    )


def test_operations_under_vmap() -> None:
    check(
        """
        vmap(lambda a: (a.mean(), a.var(), a.norm(), a.softmax(0), a.argmax(), a.max(0)[0], a.cumsum(0)))(x)
        vmap(torch.mv, (0, None))(torch.ones(3, 2, 2), w)
        vmap(torch.mm, (0, 1))(torch.ones(3, 2, 4), torch.arange(24.).reshape(4, 3, 2))
        vmap(torch.dot)(x, x)
        vmap(lambda a: torch.cat([a, torch.zeros(1)]))(x)
        vmap(lambda a: torch.stack([a, w], 1))(x)
        vmap(lambda a: a.split(1))(x)
        vmap(lambda a: a.expand(3, 2))(x)
        vmap(lambda a: a[1:])(x)
        vmap(lambda a: a[None, :, None])(x)
        vmap(lambda a, j: a[j])(x, i)
        vmap(lambda a, j: a[..., j])(x, i)
        vmap(lambda j: x[j])(i)
        vmap(lambda j: x[:, j])(torch.tensor([[0, 1], [1, 1]]))
        vmap(lambda j, k: x[j, k])(i[:2], i[1:])
        vmap(lambda a: a[torch.tensor([True, False])])(x)
        vmap(lambda a: a[torch.tensor([1, 0, 1])])(x)
        vmap(lambda a: torch.where(a > 2, a, -a))(x)
        vmap(lambda a: a.double())(x)
        vmap(lambda a: a.long() + 1.5)(x)
        vmap(lambda a, b: a * b)(x, torch.ones(3, dtype=torch.double))
        vmap(lambda a, b: a < b)(x, x[:, 0])
        vmap(F.cross_entropy)(x, torch.tensor([0, 1, 1]))
        vmap(F.mse_loss)(x, x + 1)
        vmap(F.linear, (0, None))(x, torch.ones(4, 2))
        vmap(F.linear, (None, 0))(x, torch.ones(3, 4, 2))
        vmap(lambda j: F.embedding(j, x))(torch.tensor([[0, 1], [2, 2]]))
        vmap(lambda a: sum(list(a)))(x)
        vmap(lambda a: a.detach())(x)
        """
    )


def test_changes_in_place_under_vmap() -> None:
    check(
        """
        vmap(lambda a: a.clone().mul_(a).add_(1))(x)
        vmap(lambda a: changed(a, lambda c: c.mul_(c)))(x)
        vmap(lambda a: changed(a, lambda c: c[0].mul_(10)))(x)
        vmap(lambda a: changed(a, lambda c: c.__setitem__(0, 7.)))(x)
        vmap(lambda a, j: changed(a, lambda c: c.__setitem__(j, 9.)))(x, i)
        vmap(lambda a: changed(a, lambda c: c.copy_(w)))(x)
        vmap(lambda a: changed(a, lambda c: c.fill_(c[1])))(x)
        vmap(lambda a: changed(a, lambda c: c.zero_()))(x)
        (vmap(lambda a: a.mul_(2))(x), x)
        vmap(lambda a: a.new_zeros(2).add_(a))(x)
        vmap(lambda a: torch.zeros_like(a).add_(a))(x)
        vmap(lambda a: torch.full_like(a, 3.).mul_(a))(x)
        vmap(lambda a: a.new_full((3,), 2.))(x)
        vmap(lambda a: torch.zeros(2).exp_() + a)(x)
        """
    )


def test_what_vmap_refuses() -> None:
    refused(
        """
        vmap(lambda a: a.sum().item())(x)
        vmap(lambda a: a.item())(x)
        vmap(lambda a: 1 if a.sum() > 0 else 2)(x)
        vmap(lambda a: 1 if a > 0 else 2)(x)
        vmap(lambda a: float(a.sum()))(x)
        vmap(lambda a: int(a.sum()))(x)
        vmap(lambda a: 3. in a)(x)
        vmap(lambda a: a.tolist())(x)
        vmap(lambda a: a.numpy())(x)
        vmap(lambda a: a.data_ptr())(x)
        vmap(lambda a: a.data)(x)
        vmap(lambda a: [1, 2][a.sum().long()])(x)
        vmap(lambda a: a.nonzero())(x)
        vmap(lambda a: a[a > 0])(x)
        vmap(lambda a: torch.masked_select(a, a > 0))(x)
        vmap(lambda a: changed(a, lambda c: c.__setitem__(a > 2, 0.)))(x)
        vmap(lambda a: torch.equal(a, a))(x)
        vmap(lambda a: torch.allclose(a, a))(x)
        vmap(lambda a: torch.zeros(2).mul_(a))(x)
        vmap(lambda a, b: a.copy_(b), (None, 0))(w, x)
        vmap(lambda a: torch.zeros(2).__setitem__(0, a[0]))(x)
        vmap(lambda a: a.requires_grad_())(x)
        vmap(lambda a: (a * 2).sum().backward())(xr)
        vmap(lambda a: a + torch.rand(2))(x)
        vmap(lambda a: torch.randn_like(a))(x)
        vmap(lambda a: F.dropout(a))(x)
        vmap(lambda a: a.clone().bernoulli_())(x)
        vmap(lambda a: torch.bernoulli(a))(x / 5)
        vmap(lambda a: torch.randperm(3))(x)
        vmap(lambda a: torch.zeros(2).normal_(), randomness='different')(x)
        vmap(lambda a: torch.bernoulli(a), randomness='same')(x / 5)
        vmap(lambda a: torch.rand(2), randomness='foo')(x)
        """
    )


def test_wrong_arguments_of_vmap() -> None:
    refused(
        """
        vmap(lambda a: a, in_dims=None)(x)
        vmap(lambda a: a, in_dims=(0, 0))(x)
        vmap(lambda a: a, in_dims='a')(x)
        vmap(lambda a: a, in_dims=(1.5,))(x)
        vmap(lambda a: a, in_dims=[0])(x)
        vmap(lambda a: a, in_dims=(None,))(x)
        vmap(lambda a: a, in_dims=2)(x)
        vmap(lambda a: a, in_dims=-3)(x)
        vmap(lambda a, b: a)(x, 2)
        vmap(lambda a, b: a + b)(x, torch.ones(2, 3))
        vmap(lambda: 1)()
        vmap(lambda a: a)(torch.tensor(1.))
        vmap(lambda a: None)(x)
        vmap(lambda a: 3)(x)
        vmap(lambda a: a.shape)(x)
        vmap(lambda a: (a, 3))(x)
        vmap(lambda a: a, out_dims=None)(x)
        vmap(lambda a: a, out_dims=(0, 0))(x)
        vmap(lambda a: a, out_dims='x')(x)
        vmap(lambda a: a, out_dims=3)(x)
        vmap(lambda a: (a, a), out_dims=(0, 1.0))(x)
        vmap(lambda a: a, chunk_size=0)(x)
        vmap(lambda a: a, chunk_size=-1)(x)
        vmap(lambda a: a.t().view(-1))(torch.ones(2, 3, 4))
        """
    )


def test_random_numbers_under_vmap() -> None:
    check(
        """
        vmap(lambda a: a + torch.randn(2), randomness='different')(x)
        vmap(lambda a: a + torch.randn(20)[:2], randomness='different')(x)
        vmap(lambda a: a + torch.randn(2), randomness='same')(x)
        vmap(lambda a: torch.rand_like(a), randomness='different')(x)
        vmap(lambda a: torch.rand_like(a), randomness='same')(x)
        vmap(lambda a: a + torch.rand_like(torch.ones(2)), randomness='different')(x)
        vmap(lambda a: a.sum() + torch.randn_like(torch.ones(9, 2).t()), randomness='different')(x)
        vmap(lambda a: torch.randint(0, 10, (2,)), randomness='different')(x)
        vmap(lambda a: torch.randperm(4), randomness='different')(x)
        vmap(lambda a: torch.randperm(4), randomness='same')(x)
        vmap(lambda a: torch.bernoulli(torch.full((2,), 0.5)), randomness='different')(x)
        vmap(lambda a: torch.bernoulli(a), randomness='different')(x / 5)
        vmap(lambda a: F.dropout(a), randomness='different')(x + 1)
        vmap(lambda a: F.dropout(a), randomness='same')(x + 1)
        vmap(lambda a: a.clone().normal_(), randomness='different')(x)
        vmap(lambda a: a.clone().normal_(), randomness='same')(x)
        vmap(lambda a: a.clone().uniform_(2, 3), randomness='different')(x)
        vmap(lambda a: torch.multinomial(a, 2), randomness='different')(x + 1)
        vmap(vmap(lambda a: a + torch.rand(1), randomness='different'), randomness='different')(x)
        vmap(vmap(lambda a: a + torch.rand(1), randomness='different'), randomness='same')(x)
        vmap(lambda a: a + torch.rand(2), randomness='different', chunk_size=2)(x)
        vmap(lambda a: a + torch.rand(2), randomness='same', chunk_size=2)(x)
        """,
        seeded=True,
    )


# -- derivatives ------------------------------------------------------------------------------------------------------


def test_grad() -> None:
    check(
        """
        grad(lambda a: (a ** 3).sum())(x)
        grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, w)
        grad(lambda a, b: (a * b).sum(), argnums=-1)(x, w)
        grad(lambda a: (a.sum(), a * 2), has_aux=True)(x)
        grad(lambda d: (d['a'] * d['b'][0]).sum())({'a': x, 'b': [w]})
        grad(lambda a, b=1: (a * b).sum())(x, b=w)
        grad(lambda a: w.sum())(x)
        grad(lambda a: a.sum().long())(x)
        grad(lambda a: (a * a.detach()).sum())(x)
        grad(lambda a: torch.zeros(2).add_(a[0]).sum())(x)
        grad(lambda a, b: (b.mul_(1), a.sum())[1])(x, w)
        grad(lambda a, b=None: (b.mul_(1), a.sum())[1])(x, b=w)
        grad(lambda a: a.sum() * a.sum().item())(x)
        grad(lambda a: grad(lambda b: b ** 3)(a))(torch.tensor(2.))
        grad(grad(grad(torch.sin)))(torch.tensor(2.))
        grad(lambda a: (a ** 3).sum())(xr)
        grad(lambda a: (a * a * wr).sum())(x)
        grad(lambda a: (a * a).sum() + wr.sum())(x)
        grad_and_value(lambda a: (a ** 2).sum())(x)
        grad_and_value(lambda a: ((a ** 2).sum(), a), has_aux=True)(x)
        grad_and_value(lambda a: ((a ** 2).sum(), {'q': a}), has_aux=True)(x)
        """
    )


def test_what_grad_refuses() -> None:
    refused(
        """
        grad(lambda a: 3)(x)
        grad(lambda a: a)(x)
        grad(lambda a: a.sum().reshape(1))(x)
        grad(lambda a: a.sum() * 1.)(torch.arange(3))
        grad(lambda a: (a.sum(), a))(x)
        grad(lambda a: (a.sum(), a * 2, 3), has_aux=True)(x)
        grad(lambda a: a.sum(), has_aux=True)(x)
        grad(lambda a: (a.sum(), {'a': a, 'b': 3}), has_aux=True)(x)
        grad(lambda a, b: (a * b).sum(), argnums=2)(x, w)
        grad(lambda a, b: (a * b).sum(), argnums=-3)(x, w)
        grad(lambda a, b: (a * b).sum(), argnums=())(x, w)
        grad(lambda a, b: (a * b).sum(), argnums=(0, 0))(x, w)
        grad(lambda a, b: (a * b).sum(), argnums='a')(x, w)
        grad(lambda a, b: (a * b).sum(), argnums=[0, 1])(x, w)
        grad(lambda a, b: (a * b).sum(), argnums=(0.5,))(x, w)
        grad(lambda d: (d['a'] * d['b']).sum())({'a': x, 'b': 2})
        grad(lambda a, b: (a * b).sum(), argnums=1)(x, 2.)
        grad(lambda a: (a * 1j).sum())(x)
        grad(lambda a: a.mul_(2).sum())(x.clone())
        grad(lambda a: w.add_(a[0]).sum())(x)
        grad(lambda a: (w.mul_(1), a.sum())[1])(x)
        grad(lambda a: (w[0:1].add_(1), a.sum())[1])(x)
        grad(lambda a: (w.__setitem__(0, a[0, 0]), a.sum())[1])(x)
        (lambda c: grad(lambda a: c.fill_(2.).sum() + a.sum())(x))(torch.ones(2))
        grad(lambda a: (lambda c: grad(lambda b: (c.mul_(2) * b).sum())(a).sum())(torch.ones(3, 2)))(x)
        grad(lambda a: vmap(lambda b: (w.add_(1), b.sum())[1])(a).sum())(x)
        vmap(grad(lambda b: (w.add_(1), b.sum())[1]))(x)
        jvp(lambda a: w.add_(a[0]).sum(), (x,), (x,))
        vjp(lambda a: w.add_(a[0]).sum(), x)
        grad(lambda a: a.clone().requires_grad_().sum())(x)
        grad(lambda a: (a.sum().backward(), a.sum())[1])(x)
        """
    )


def test_vjp_and_jvp() -> None:
    check(
        """
        vjp(lambda a: a * 2, x)
        vjp(lambda a: a * 2, x)[1](x)
        vjp(lambda a, b: (a * b, a), x, w)[1]((x, x))
        vjp(lambda a: [a * 2], x)[1]([x])
        vjp(lambda a: {'o': a * 2}, x)[1]({'o': x})
        vjp(lambda d: d['a'] * 2, {'a': x})[1](x)
        vjp(lambda a: (a * 2, a), x, has_aux=True)
        (lambda f: (f(x), f(x)))(vjp(lambda a: a ** 2, x)[1])
        vjp(lambda a: vjp(torch.sin, a)[1](torch.ones_like(a))[0], x)[1](torch.ones_like(x))
        vjp(torch.sin, xr)[1](x)
        jvp(lambda a: a ** 2, (w,), (w,))
        jvp(lambda a: (a ** 2, a), (w,), (w,), has_aux=True)
        jvp(lambda a: torch.ones(2), (w,), (w,))
        jvp(lambda a, b: a * 2, (w, w), (w, w))
        jvp(lambda a, b: (a * b, a @ b), (x, w), (x, w))
        jvp(lambda d: d['a'] ** 2, ({'a': x},), ({'a': x},))
        jvp(lambda a: jvp(torch.sin, (a,), (a,))[1], (x,), (x,))
        jvp(grad(lambda a: (a ** 3).sum()), (x,), (torch.ones_like(x),))
        grad(lambda a: jvp(torch.sin, (a,), (a,))[1].sum())(x)
        linearize(lambda a: a ** 2, w)[0]
        linearize(lambda a: a ** 2, w)[1](w)
        linearize(lambda d: {'o': d['a'] ** 2}, {'a': w})[1]({'a': w})
        linearize(lambda a, b: (a * b).sin(), x, w)[1](x, w)
        """
    )


def test_what_vjp_and_jvp_refuse() -> None:
    refused(
        """
        vjp(lambda a, b: (a * b, a), x, w)[1](x)
        vjp(lambda a: a * 2, x)[1](w)
        vjp(lambda a: [a * 2], x)[1]((x,))
        vjp(lambda a: 3, x)
        vjp(lambda a, b: a * b, x, 3)
        vjp(lambda a: a * 2, x, has_aux=True)
        (lambda f: (f(x, retain_graph=False), f(x)))(vjp(lambda a: a ** 2, x)[1])
        jvp(lambda a: a ** 2, w, w)
        jvp(lambda a: a ** 2, (w,), (w, w))
        jvp(lambda a: a ** 2, (w,), (x,))
        jvp(lambda a: a ** 2, (), ())
        jvp(lambda a, b: a ** 2, (w, 2), (w, 2))
        jvp(lambda a: torch.ones(2), (w,), (w,), strict=True)
        jvp(lambda a: 3, (w,), (w,))
        jvp(lambda a: a ** 2, (w,), (w,), has_aux=True)
        linearize(lambda a: a ** 2, w)[1](x)
        linearize(lambda a: a ** 2, w)[1](w, w)
        linearize(lambda a: a ** 2, w)[1](w.double())
        """
    )


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_jacobians_and_hessians() -> None:
    check(
        """
        jacrev(lambda a: a ** 2)(w)
        jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(w, w)
        jacrev(lambda a: {'q': a * 2})(w)
        jacrev(lambda d: d['a'] * d['b'])({'a': w, 'b': w + 1})
        jacrev(lambda a: a ** 2, chunk_size=1)(w)
        jacrev(lambda a: a ** 2, chunk_size=1, _preallocate_and_copy=True)(w)
        jacrev(lambda a: (a ** 2, a), has_aux=True)(w)
        jacrev(jacrev(lambda a: (a ** 3).sum()))(x[1])
        jacfwd(lambda a: a ** 2)(w)
        jacfwd(lambda a: (a ** 2, a), has_aux=True)(w)
        jacfwd(lambda a, b: (a * b, b), argnums=(0, 1))(w, w)
        jacfwd(lambda a: (a @ a.T).tanh())(x / 5)
        jacfwd(jacfwd(lambda a: (a ** 3).sum()))(x[1])
        jacrev(jacfwd(lambda a: (a ** 3).sum()))(x[1])
        hessian(lambda a: (a ** 3).sum())(w)
        hessian(lambda a, b: (a ** 3 * b).sum(), argnums=(0, 1))(w, w)
        hessian(lambda a: (a @ a.T).tanh().sum())(x / 5)
        vmap(hessian(lambda a: (a ** 3).prod()))(x + 1)
        vmap(jacrev(lambda a: a.sin() * a.sum()))(x)
        vmap(jacfwd(lambda a: a.sin() * a.sum()))(x)
        jacrev(vmap(torch.sin))(x)
        jacfwd(vmap(torch.sin))(x)
        """
    )
    refused(
        """
        jacrev(lambda a: a ** 2, chunk_size=0)(w)
        jacrev(lambda a: a ** 2, has_aux=True)(w)
        jacrev(lambda a: 3)(w)
        jacrev(lambda a: a * 2.)(torch.arange(2))
        jacrev(lambda a: a * 2.)(3)
        jacfwd(lambda a: a ** 2 + torch.rand(2))(w)
        """
    )


def test_derivatives_and_maps_inside_each_other() -> None:
    check(
        """
        grad(lambda v: vmap(lambda a: (a * v).sum().tanh())(x / 9).sum())(w)
        vmap(grad(lambda a, v: (a * v).sum().tanh()), (0, None))(x / 9, w)
        vmap(grad(lambda v, a: (a * v * v).sum().tanh()), (None, 0))(w, x / 9)
        vmap(grad(lambda v, a: (a * v.exp().sum()).sum()), (None, 0))(w, x)
        vmap(grad(lambda s: grad(torch.sin)(s)))(x[:, 1])
        vmap(vmap(grad(lambda a: a ** 3)))(x)
        vmap(grad(F.cross_entropy))(x, torch.tensor([0, 1, 1]))
        vmap(grad(lambda v, j: F.embedding(j, v).sum()), (None, 0))(x, torch.tensor([[0, 1], [2, 2]]))
        vmap(lambda a, b: jvp(torch.sin, (a,), (b,)))(x, x)
        jvp(lambda a: vmap(torch.sin)(a), (x,), (torch.ones_like(x),))
        vmap(torch.sin)(xr)
        torch.autograd.grad(vmap(grad(lambda a: (a ** 3).sum()))(xr).sum(), xr)
        torch.autograd.grad(vmap(lambda a: (a * wr * wr).sum())(x).sum(), wr)
        torch.autograd.grad(vmap(grad(lambda v, a: (a * v * v).sum()), (None, 0))(wr, x).sum(), wr)
        torch.autograd.grad(grad(lambda a: (a * a * wr).sum())(xr).sum(), (xr, wr))
        vmap(lambda v: torch.autograd.grad((xr ** 2).sum(1), xr, v))(torch.eye(3))
        """
    )


def test_transforms_three_and_four_deep() -> None:
    check(
        """
        vmap(lambda a: grad(lambda u: vmap(lambda r: f(u, r))(a).sum())(u))(z)
        vmap(grad(lambda u, a: vmap(lambda r: f(u*u, r))(a).sum()), (None, 0))(u, z)
        vmap(vmap(grad(f), (None, 0)), (None, 0))(u, z)
        grad(lambda u: vmap(vmap(lambda r: f(u, r)))(z).sum())(u)
        grad(lambda u: vmap(grad(f), (None, 0))(u, z[0]).pow(2).sum())(u)
        vmap(lambda a: grad(lambda u: grad(f)(u, a).pow(2).sum())(u))(z)
        vmap(grad(lambda u, a: grad(f)(u, a).pow(2).sum()), (None, 0))(u, z)
        grad(lambda u: vmap(lambda a: grad(lambda u: vmap(lambda r: f(u, r))(a).sum())(u))(z).pow(2).sum())(u)
        jacrev(lambda u: vmap(lambda a: f(u, a))(z))(u)
        jacfwd(lambda u: vmap(lambda a: f(u, a))(z))(u)
        hessian(lambda u: vmap(lambda a: f(u, a))(z).sum())(u)
        vmap(lambda a: hessian(lambda u: f(u, a))(u))(z)
        vmap(jacrev(lambda u, a: (u*a).sin(), argnums=(0, 1)), (None, 0))(u, z)
        vmap(jacfwd(lambda u, a: (u*a).sin(), argnums=(0, 1)), (None, 0))(u, z)
        vmap(lambda a: jvp(lambda u: f(u, a), (u,), (u,)))(z)
        jvp(lambda u: vmap(grad(f), (None, 0))(u, z[0]), (u,), (u,))
        grad(lambda u: jvp(lambda u: vmap(lambda a: f(u, a))(z), (u,), (u,))[1].sum())(u)
        vjp(lambda u: vmap(lambda a: f(u, a))(z), u)[1](torch.ones(3))
        vmap(lambda a, c: vjp(lambda u: a*u, u)[1](c))(z, z)
        vmap(vjp(lambda u: vmap(lambda a: f(u, a))(z), u)[1])(torch.eye(3))
        """
    )


def training(module: Any, steps: int) -> list[Any]:
    """A layer trained through a map: gradients arrive at parameters, hooks and optimisers as without one."""
    layer, z = module.nn.Linear(4, 2), module.arange(24.0).reshape(3, 2, 4).sin()
    module.nn.init.ones_(layer.weight)
    module.nn.init.zeros_(layer.bias)
    seen: list[Any] = []
    layer.bias.register_hook(lambda g: seen.append(g.clone()))
    optimizer = module.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        y = module.func.vmap(lambda a: (layer(a) - 1).pow(2).sum())(z)
        y.retain_grad()
        y.mean().backward()
        seen += [y.grad.clone(), layer.weight.grad.clone()]
        optimizer.step()
    return [contiguous(t.detach()) for t in (*seen, layer.weight, layer.bias)]


def test_training_through_a_map() -> None:
    assert not difference(lambda module: training(module, 3), 1e-5)


def test_a_graph_of_a_map_is_freed_and_differentiated_again() -> None:
    def twice(module: Any) -> Any:
        u = module.arange(4.0).requires_grad_()
        y = module.func.vmap(lambda a: (a * u).exp().sum())(module.ones(3, 4)).sum()
        y.backward()
        y.backward()

    assert not difference(twice, messages=True)

    def second(module: Any) -> Any:
        u = module.arange(4.0).requires_grad_()
        y = module.func.vmap(lambda a: (a * u).sum() ** 3)(module.ones(3, 4).cumsum(0)).sum()
        (g,) = module.autograd.grad(y, u, create_graph=True)
        batch = module.eye(4)
        return [contiguous(t) for t in module.autograd.grad(g, u, batch, is_grads_batched=True)]

    assert not difference(second, 1e-5)


# -- modules ----------------------------------------------------------------------------------------------------------


def linear(module: Any) -> Any:
    made = module.nn.Linear(2, 1)
    with module.no_grad():
        made.weight.copy_(module.tensor([[1.0, 2.0]]))
        made.bias.fill_(3.0)
    return made


MODULE_CALLS = """
    functional_call(m, {'weight': torch.zeros(1, 2)}, (x,))
    functional_call(m, {'weight': torch.zeros(1, 2)}, x)
    functional_call(m, ({'weight': torch.zeros(1, 2)}, {'bias': torch.ones(1)}), x)
    functional_call(m, [{'weight': torch.zeros(1, 2)}], x)
    functional_call(m, {'weight': torch.zeros(1, 2)}, kwargs={'input': x})
    functional_call(m, {'weight': torch.zeros(1, 2), 'foo': w}, x)
    functional_call(m, ({'weight': torch.zeros(1, 2)}, {'weight': torch.ones(1)}), x)
    functional_call(m, {'weight': torch.zeros(1, 2)}, x, strict=True)
    functional_call(m, {'weight': torch.zeros(1, 2), 'foo': w}, x, strict=True)
    functional_call(m, {'a.b': torch.zeros(1, 2)}, x)
    functional_call(m, {'weight': 3}, x)
    functional_call(m, 3, x)
    stack_module_state([m, m])
    stack_module_state([m, m.__class__(2, 1).eval()])
    stack_module_state([m, torch.nn.ReLU()])
    stack_module_state([])
    stack_module_state([m, m.__class__(2, 1).requires_grad_(False)])
    grad(lambda p: functional_call(m, p, (x,)).sum())({'weight': w[None], 'bias': w[:1]})
    vmap(lambda p, b: functional_call(m, (p, b), (x,)), (0, 0))(*stack_module_state([m, m]))
    vmap(grad(lambda p, a: functional_call(m, p, a).tanh().sum()), (None, 0))({'weight': w[None], 'bias': w[:1]}, x / 9)
"""


@pytest.mark.parametrize("expression", [line.strip() for line in MODULE_CALLS.strip().splitlines()])
def test_modules_as_functions(expression: str) -> None:
    def run(module: Any) -> Any:
        names = {name: getattr(module.func, name) for name in NAMES}
        x = module.arange(6.0).reshape(3, 2)
        names |= {"torch": module, "x": x, "w": module.ones(2), "m": linear(module)}
        return contiguous(eval(expression, names))

    assert not difference(run, 1e-5, messages=True)


def tied(module: Any) -> Any:
    class Tied(module.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = linear(module), module.nn.Linear(2, 1)
            self.second.weight = self.first.weight
            self.second.bias = self.first.bias
            self.register_buffer("count", module.zeros(1))

        def forward(self, a: Any) -> Any:
            self.count = self.count + 1
            return self.first(a) * self.second(a) + self.count

    return Tied()


def test_tied_parameters_and_buffers() -> None:
    def run(module: Any) -> Any:
        model, x = tied(module), module.arange(6.0).reshape(3, 2)
        zeros = {"first.weight": module.zeros(1, 2), "count": module.ones(1)}
        results = [module.func.functional_call(model, zeros, x), zeros["count"], model.count]
        results.append(module.func.functional_call(model, {"first.weight": module.zeros(1, 2)}, x, tie_weights=False))
        return [contiguous(r.detach()) for r in results]

    assert not difference(run, 1e-5)

    def both(module: Any) -> Any:
        return module.func.functional_call(
            tied(module), {"first.weight": module.zeros(1, 2), "second.weight": module.ones(1, 2)}, module.ones(3, 2)
        )

    assert not difference(both, messages=True)


# -- Functions of the user --------------------------------------------------------------------------------------------


def functions(module: Any) -> dict[str, Any]:
    class Old(module.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a.exp()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0].exp()

    class New(module.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(a: Any) -> Any:
            return a.exp()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    class Generated(New):
        generate_vmap_rule = True

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t * ctx.saved_tensors[0]

    class Own(module.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(a: Any, b: Any) -> Any:
            return a * b, a + b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            a, b = ctx.saved_tensors
            return g * b + h, g * a + h

        @staticmethod
        def vmap(info: Any, in_dims: Any, a: Any, b: Any) -> Any:
            assert info.batch_size == 3 and info.randomness == "error"
            assert [d for d in in_dims if d is not None]
            return Own.apply(a, b), (0, 0)

    return {"Old": Old, "New": New, "Generated": Generated, "Own": Own}


FUNCTION_CALLS = """
    vmap(C.apply)(x)
    grad(lambda a: C.apply(a).sum())(x)
    vmap(grad(lambda a: C.apply(a).sum()))(x)
    grad(lambda a: vmap(C.apply)(a).sum())(x)
    jacrev(C.apply)(x[0])
    grad(grad(lambda a: C.apply(a)))(x[0, 1])
"""
FUNCTIONS = [
    *[(name, line.strip()) for name in ("Old", "New", "Generated") for line in FUNCTION_CALLS.strip().splitlines()],
    ("Generated", "jvp(C.apply, (x,), (x,))"),
    ("Generated", "jacfwd(C.apply)(x[0])"),
    ("Own", "vmap(C.apply, (0, None))(x, w)"),
    ("Own", "vmap(grad(lambda a, b: sum(C.apply(a, b)).sum()), (0, None))(x, w)"),
    ("Own", "vmap(grad(lambda a, b: sum(C.apply(a, b)).sum(), argnums=1), (0, None))(x, w)"),
    ("Own", "grad(lambda b: sum(vmap(C.apply, (0, None))(x, b)).sum())(w)"),
]


@pytest.mark.parametrize(("name", "expression"), FUNCTIONS)
def test_functions_of_the_user(name: str, expression: str) -> None:
    def run(module: Any) -> Any:
        names = {n: getattr(module.func, n) for n in NAMES}
        x = module.arange(6.0).reshape(3, 2) / 5
        names |= {"torch": module, "x": x, "w": module.ones(2), "C": functions(module)[name]}
        return contiguous(eval(expression, names))

    assert not difference(run, 1e-5, messages=True)
