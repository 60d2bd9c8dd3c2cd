"""Scenarios of the graph that `grad_fn` and `next_functions` show: names, edges, numbers of results, None.

Each is a list of programs of one line, and what it shows is the whole tree behind the result. See scenarios.py.
"""

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()

INDEXING = """
d[:1].transpose(1,2) @ d
d[:1].transpose(1,2).detach() @ d
x[:]
x[0:3]
x[:3]
x[0:100]
x[::1]
x[-3:]
x[-30:]
x[:, :]
x[:, 0:4]
x[:, 0:100]
x[:, -40:]
x[0:3, 1]
x[1, 0:4]
x[1, 1:]
x[1:, 1:]
x[1:, 1:, None]
x[None]
x[None, 1]
x[1, None]
x[...]
x[..., 1]
x[..., 1:2]
c[1, :, 1:, 0]
c[..., 0, 1]
c[1:, ..., 0]
c[:, 1:3, 1:2, :1]
x[True]
x[t3]
x[t3, t3]
x[1:, t3]
x[:, t3]
x[t3[:2], 1:]
x[t3, 1]
c[0, :, t3]
c[:, t3, 0]
x[x.detach() > 0]
x[x.detach()[:,0] > 0]
x[[0,1]]
x[[0,1],[1,2]]
x[::2]
x[::2, ::3]
x[0]
x[0][1]
x[0,1]
x[1:][0]
x[0:0]
x[T.tensor(1)]
x[T.tensor(1), 1:]
x.masked_fill(x.detach() > 0, 0.)
v.masked_fill(x.detach() > 0, 0.)
v.masked_fill(x.detach() > 0, b.sum())
v.masked_select(x.detach() > 0)
x.masked_select(x.detach() > 0)
v.masked_scatter(x.detach() > 0, x)
x.gather(0, T.zeros(1,4,dtype=T.int64))
x.index_select(0, t3)
x.index_put((t3,), v)
x.index_put((x.detach() > 0,), b.sum())
x.index_put((t3,t3), b.sum())
x[:, -4:]
x[:, -3:]
x[:, None:]
x[:, :-0]
x[:, 0:]
x[:, False]
x[0:, 0:4]
x[-3:, 1]
x[-3:3, -4:4]
x[:, 0:5:1]
c[..., -2:]
x.index_put((x.detach() > 0,), b[:1])
x.index_put((t3,), b[:1])
x.index_put((t3,t3), b[:1])
x.index_put((t3,t3), b[:1], accumulate=True)
x.index_put((x.detach() > 0,), b[:1].double().float())
"""

PRODUCTS = """
F.linear(d.transpose(1,2), w.t()[:, :4], b)
F.linear(d.transpose(1,2), w.t()[:, :4])
F.linear(d.transpose(1,2), w.t()[:, :4].detach())
F.linear(d.transpose(1,2).detach(), w.t()[:, :4].detach(), b)
F.linear(x.detach(), w.t(), b)
F.linear(x, w.t().detach(), b)
F.linear(c.transpose(1,3), w.t(), b)
F.linear(c.permute(0,2,3,1).contiguous(), w.t(), b)
F.linear(c.permute(0,2,3,1), w.t())
x @ w + b
T.addmm(b, x, w)
d.transpose(1,2) @ w
d.transpose(1,2) @ w.detach()
d.transpose(1,2).detach() @ w
x @ d
x.detach() @ d
x @ d.detach()
v @ d
v.detach() @ d
d.transpose(1,2) @ v
d.transpose(1,2) @ v.detach()
c @ c.transpose(2,3)
c @ c[:1].transpose(2,3)
T.bmm(d, d.transpose(1,2))
x @ v
v @ v
v @ w
d.transpose(0,1) @ d[0].t()
T.rand(2,1,3) @ d[:, :3, :1]
x.addmm(x, T.ones(4,4))
T.outer(v, v)
T.dot(v, v)
T.mv(x, v)
F.linear(x[:,0], x.t(), v)
F.linear(x[0], x, T.ones(3))
F.linear(x[0], x)
F.linear(v, x)
F.linear(x, v)
F.linear(d.transpose(1,2), x)
F.linear(d.transpose(1,2), x, T.ones(3))
nn.Linear(4,2)(x)
nn.Linear(4,2,bias=False)(x)
nn.Sequential(nn.Linear(4,2), nn.ReLU(), nn.Linear(2,1))(x).sum()
"""

LOSSES = """
F.nll_loss(d, T.zeros(2,3,dtype=T.int64))
F.nll_loss(d, T.zeros(2,3,dtype=T.int64), reduction='none')
F.nll_loss(d.transpose(0,2), T.zeros(3,2,dtype=T.int64))
F.nll_loss(c, T.zeros(2,3,2,dtype=T.int64), reduction='none')
F.nll_loss(c.transpose(0,2), T.zeros(3,2,2,dtype=T.int64), reduction='none')
F.nll_loss(c[None], T.zeros(1,4,3,2,dtype=T.int64).clamp(0,1))
F.nll_loss(c[None], T.zeros(1,4,3,2,dtype=T.int64).clamp(0,1),reduction='none')
F.nll_loss(x[0], T.tensor(1))
F.nll_loss(x.T, T.tensor([1,1,1,1]))
F.nll_loss(x, T.tensor([1,1,1]), reduction='none')
F.nll_loss(x[:0], t3[:0])
F.cross_entropy(x, t3)
F.cross_entropy(x, t3, reduction='none')
F.cross_entropy(x[0], T.tensor(1))
F.cross_entropy(d, T.zeros(2,3,dtype=T.int64))
F.cross_entropy(d, T.zeros(2,3,dtype=T.int64), reduction='none')
F.cross_entropy(d.transpose(0,2), T.zeros(3,2,dtype=T.int64))
F.cross_entropy(c, T.zeros(2,3,2,dtype=T.int64), reduction='none')
F.cross_entropy(c[None], T.zeros(1,4,3,2,dtype=T.int64),reduction='none')
F.cross_entropy(c[None], T.zeros(1,4,3,2,dtype=T.int64))
F.cross_entropy(x, t3, weight=T.ones(4))
F.cross_entropy(x, t3, label_smoothing=0.1)
F.cross_entropy(x, t3, label_smoothing=0.1, reduction='none')
F.cross_entropy(x, t3, label_smoothing=0.1, reduction='sum', weight=T.ones(4))
F.cross_entropy(x, t3, label_smoothing=0.1, weight=T.ones(4))
F.cross_entropy(x, x.detach().softmax(1))
F.cross_entropy(x, x.detach().softmax(1), label_smoothing=0.1, weight=T.ones(4))
F.cross_entropy(x, x.detach().softmax(1), reduction='none')
F.cross_entropy(x, x.softmax(1), reduction='sum')
F.mse_loss(x, x*2)
F.mse_loss(x, x.detach())
F.mse_loss(x.detach(), x)
F.mse_loss(x, v)
F.mse_loss(x, x*2, reduction='none')
F.l1_loss(x, x*2)
F.l1_loss(x, x.detach())
F.smooth_l1_loss(x, x*2)
F.smooth_l1_loss(x, x.detach(), beta=0)
F.huber_loss(x, x.detach())
F.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid())
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid())
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), pos_weight=T.ones(4))
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), weight=T.ones(4))
nn.MSELoss()(nn.Linear(4,2)(x), T.zeros(3,2))
nn.CrossEntropyLoss()(x, t3)
F.l1_loss(x, v)
F.l1_loss(v, x)
F.mse_loss(v, x)
F.mse_loss(v.detach(), x)
F.mse_loss(x[:1], x[:, :1])
F.smooth_l1_loss(x, v)
F.smooth_l1_loss(v, x)
F.huber_loss(v, x)
F.huber_loss(x, v)
F.mse_loss(x, v, weight=x.detach())
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), weight=v.detach())
F.mse_loss(x.double(), x)
"""

IN_PLACE = """
(x * 2).add_(1)
(x * 2).add_(x, alpha=2)
(x * 2).sub_(v, alpha=2)
(x * 2).mul_(x)
(x * 2).div_(2)
(x * 2).pow_(2)
(x * 2).clamp_(0, 1)
(x * 2).clamp_(min=v)
(x * 2).relu_()
(x * 2).fill_(1)
(x * 2).copy_(x)
(x * 2).copy_(v)
(x * 2).t_()
(x * 2).unsqueeze_(0)
(x * 2).masked_fill_(x.detach() > 0, 1.0)
(x * 2).index_put_((t3,), v)
(x * 2).addmm_(x, T.ones(4, 4))
(x * 2).zero_()
(x * 2).remainder_(2)
(y := x * 2, y.__setitem__(0, 1.0), y)[::2]
(y := x * 2, y.__setitem__((0, 1), v[0]), y)[::2]
(y := x * 2, y.__setitem__(t3, v), y)[::2]
(y := x * 2, y.__setitem__(x.detach() > 0, v[0]), y)[::2]
(y := x * 2, y.__setitem__(x.detach() > 0, v[:1]), y)[::2]
(y := x * 2, z := y[0], y.mul_(2), z)
(y := x * 2, z := y[1:, 1:], y.mul_(2), z)
(y := x * 2, z := y[0, 1], y.mul_(2), z)
"""

FUNCTIONS_OF_NETWORKS = """
F.softmax(x, 1)
F.log_softmax(x, 1)
F.softmax(x, 1, dtype=T.float64)
F.relu(x)
F.relu(x, inplace=False)
F.tanh(x)
F.sigmoid(x)
F.logsigmoid(x)
F.dropout(x, 0.5)
F.dropout(x, 0.5, training=False)
F.embedding(t3, w)
F.one_hot(t3)*x.sum()
nn.Dropout()(x)
nn.Softmax(1)(x)
nn.LogSoftmax(1)(x)
nn.Tanh()(x)
nn.Sigmoid()(x)
nn.Identity()(x*2)
nn.Flatten()(d)
F.log_softmax(x, 1, dtype=T.float64)
"""

SHAPES_AND_PARTS = """
x.tensor_split(2)
x.tensor_split(1)
x.tensor_split([0, 3])
x.tensor_split([1, 2], 1)
x.split([1, 2])
x.narrow(0,0,3)
x.narrow(0,1,2)
x.select(0,1)
x.unbind()
list(x)
x.split(2)
x.chunk(2,1)
T.stack([x,x])
T.cat([x,x])
T.cat([x,x.detach()])
T.hstack([x,x])
T.vstack([x,x])
T.dstack([x,x])
T.column_stack([x,x])
x.reshape(4,3)
x.t().reshape(12)
x.T.reshape(3,4)
x.view(2,6).t()
x.view(2,6).t()[1:]
x.flatten()
x.t().flatten()
d.flatten(1)
d.transpose(1,2).flatten(1)
x.unsqueeze(0).squeeze()
x.unsqueeze(0).squeeze(0)
x.expand(2,3,4)
x.repeat(2,1)
x.permute(1,0)
x.contiguous()
x.t().contiguous()
x.movedim(0,1)
x.swapaxes(0,1)
x.T
x.mT
x.H
x.tile(2)
x.roll(1)
x.flip(0)
x.diagonal()
x.tril()
T.atleast_3d(x)
x.clone()
"""

ARITHMETIC_AND_REDUCTIONS = """
x.var()
x.std()
x.var(0)
x.std(1, keepdim=True)
T.var_mean(x)
T.std_mean(x, dim=0)
x.norm()
x.norm(1)
x.norm(p=3, dim=0)
x.norm('fro')
x.norm('nuc')
x.norm('nuc', dim=(0,1), keepdim=True)
x.norm(dim=1, keepdim=True)
x.mean()
x.mean(0)
x.sum()
x.sum(0)
x.max()
x.max(0)
x.min(1)
x.amax(0)
x.logsumexp(0)
x.softmax(0)
x.log_softmax(1)
x.cumsum(0)
x.prod()
x.prod(0)
x + 1
1 + x
x - 1
1 - x
x * 2
2 / x
x / 2
x ** 2
2 ** x
x ** x
x ** 0.5
-x
x // 2
x % 2
x % x
T.add(x, x, alpha=2)
T.sub(x, x, alpha=2)
T.sub(x, 1, alpha=2)
T.rsub(x, x, alpha=2)
T.rsub(x, 1, alpha=2)
T.rsub(x, x)
T.add(x, v, alpha=0.5)
x.add(v)
T.clamp(x, 0, 1)
x.clamp(min=0)
x.clamp(min=v)
x.clamp(min=v, max=v)
x.clamp_min(0)
x.clamp_max(v)
T.maximum(x, v)
T.where(x.detach() > 0, x, 0.)
T.where(x.detach() > 0, x, x*2)
x.detach().requires_grad_() * x
x.double()
x.to(T.float64)
x.float() + 1
x.abs().sqrt().log().exp().sin().cos().tanh().sigmoid().relu()
x.type(T.float64)
x.softmax(1, dtype=T.float64)
x.sum(dtype=T.float64)
x.double().softmax(1, dtype=T.float64)
T.rsub(x, v, alpha=2)
x.norm('nuc', dim=(1,0), keepdim=True)
d.norm('nuc', dim=(0,2), keepdim=True)
d.norm('nuc', dim=(0,2))
x.add(2, alpha=3)
x.sub(v, alpha=3)
"""


def tree(node: Any, leaves: list[Any]) -> str:
    """A graph as text: MulBackward0(x0, -) for the product of the first leaf and a constant."""
    if node is None:
        return "-"
    if node.name() == "torch::autograd::AccumulateGrad":
        return next((f"x{i}" for i, leaf in enumerate(leaves) if leaf is node.variable), "leaf")
    edges = [tree(source, leaves) + (f".{number}" if number else "") for source, number in node.next_functions]
    return f"{node.name()}({', '.join(edges)})"


def trees(result: Any, leaves: list[Any]) -> Any:
    if isinstance(result, (list, tuple)):
        return [trees(one, leaves) for one in result]
    return tree(result.grad_fn, leaves)


def shown(T: Any, programs: str) -> list[Any]:
    """The programs and their graphs."""
    found = []
    for program in programs.split("\n"):
        if not program:
            continue
        T.manual_seed(0)
        shapes = {"x": (3, 4), "w": (4, 5), "b": (5,), "c": (2, 4, 3, 2), "d": (2, 4, 3), "v": (4,)}
        named = {name: T.full(shape, 0.5).requires_grad_() for name, shape in shapes.items()}
        known = {"T": T, "F": T.nn.functional, "nn": T.nn, "t3": T.tensor([0, 1, 2]), **named}
        result = eval(program, known)
        found.append((program, trees(result, list(named.values()))))
    return found


for _name, _programs in {
    "indexing": INDEXING,
    "products": PRODUCTS,
    "losses": LOSSES,
    "in_place": IN_PLACE,
    "functions_of_networks": FUNCTIONS_OF_NETWORKS,
    "shapes_and_parts": SHAPES_AND_PARTS,
    "arithmetic_and_reductions": ARITHMETIC_AND_REDUCTIONS,
}.items():
    SCENARIOS[_name] = lambda T, programs=_programs: shown(T, programs)  # type: ignore[misc]


@scenario
def the_graph_of_a_classifier(T: Any) -> Any:
    """After a backward pass it still looks the same, and nodes are the same objects as long as they are held."""
    x, w, b = T.ones(2, 3), T.ones(4, 3).requires_grad_(), T.zeros(4).requires_grad_()
    loss = T.nn.functional.cross_entropy(T.nn.functional.linear(x, w, b).relu(), T.tensor([0, 1]))
    before = tree(loss.grad_fn, [w, b])
    scores = loss.grad_fn.next_functions[0][0]
    scores.metadata["seen"] = 1
    loss.backward()
    again = loss.grad_fn.next_functions[0][0]
    return [
        before, tree(loss.grad_fn, [w, b]), scores is again, again.metadata, type(again).__name__, again.requires_grad,
        isinstance(again, T.autograd.graph.Node), loss.grad_fn.next_functions == loss.grad_fn.next_functions,
    ]  # fmt: skip


def copies(gradients: Any) -> list[Any]:
    """PyTorch adds to gradients that hooks have kept."""
    return [None if g is None else g.clone() for g in gradients]


def gradients_seen(T: Any, result: Any, replace: Any = None) -> Any:
    """What a hook of the last node is given, in whole numbers."""
    seen: list[Any] = []

    def hook(inner: Any, outer: Any) -> Any:
        seen.append((copies(inner), copies(outer)))
        return None if replace is None else tuple([None if g is None else g * replace for g in inner])

    result.grad_fn.register_hook(hook)
    result.sum().backward()
    return seen


@scenario
def hooks_of_nodes_with_other_nodes_inside(T: Any) -> Any:
    F = T.nn.functional
    w, b = T.arange(12.0).view(4, 3).requires_grad_(), T.zeros(4).requires_grad_()
    x, batch = T.ones(2, 3).requires_grad_(), T.ones(2, 2, 3).requires_grad_()
    seen = [
        gradients_seen(T, F.linear(x, w, b)), gradients_seen(T, F.linear(x, w)), gradients_seen(T, F.linear(x[0], w)),
        gradients_seen(T, F.linear(batch, w, b)), gradients_seen(T, F.linear(batch, w)),
        gradients_seen(T, batch @ w.t()), gradients_seen(T, w @ batch.mT), gradients_seen(T, batch @ batch.mT),
        gradients_seen(T, w.remainder(2)), gradients_seen(T, w.clamp_min(w.detach())), gradients_seen(T, x[0]),
    ]  # fmt: skip
    w.grad = b.grad = x.grad = None
    gradients_seen(T, F.linear(x, w, b), 2.0)
    return [*seen, w.grad, b.grad, x.grad]


@scenario
def nodes_called_by_hand(T: Any) -> Any:
    w, b, x = T.arange(12.0).view(4, 3).requires_grad_(), T.zeros(4).requires_grad_(), T.ones(2, 3).requires_grad_()
    return [T.nn.functional.linear(x, w, b).grad_fn(T.ones(2, 4)), w.clamp_min(w.detach()).grad_fn(T.ones(4, 3))]


@scenario
def old_hooks_of_modules(T: Any) -> Any:
    seen: list[Any] = []
    layer = T.nn.Linear(3, 2)
    with T.no_grad():
        layer.weight.fill_(0.5)
    layer.register_backward_hook(lambda module, inner, outer: seen.append((copies(inner), copies(outer))))
    layer(T.ones(2, 3).requires_grad_()).sum().backward()
    layer(T.ones(2, 2, 3).requires_grad_()).sum().backward()
    return seen


@scenario
def a_nan_and_its_place(T: Any) -> Any:
    """Anomaly mode counts the edges that are seen."""
    w, b = T.ones(2, 3).requires_grad_(), T.zeros(2).requires_grad_()
    x = T.full((2, 3), float("nan"))
    with T.autograd.set_detect_anomaly(True):
        return attempt(T.nn.functional.linear(x, w, b).sum().backward)
