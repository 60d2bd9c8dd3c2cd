"""Scenarios of sparse tensors. See scenarios.py."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import warnings
from typing import Any

from scenarios import Scenario, attempt, collection

SCENARIOS, scenario_with_warnings = collection()


def scenario(function: Scenario) -> Scenario:
    """PyTorch warns of sparse tensors once in a process, so that warnings cannot be compared."""

    @functools.wraps(function)
    def quiet(T: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(T)

    return scenario_with_warnings(quiet)


def seen(t: Any) -> Any:
    """A tensor of any layout: its parts as they are."""
    if t is None or not hasattr(t, "layout"):
        return t
    name = None if t.grad_fn is None else type(t.grad_fn).__name__
    found = [str(t.layout), list(t.shape), str(t.dtype), t.requires_grad, name]
    if str(t.layout) == "torch.strided":
        return [*found, rounded(t)]
    if str(t.layout) == "torch.sparse_coo":
        return [*found, t.is_coalesced(), t._indices().tolist(), rounded(t._values())]
    return [*found, t._nnz(), rounded(t.detach().to_dense())]


def rounded(t: Any) -> Any:
    return (t.detach().to_dense().double() * 1e5).round().long().tolist()


def parts(T: Any) -> tuple[Any, Any]:
    return T.tensor([[0, 1, 1], [2, 0, 2]]), T.tensor([3.0, 4.0, 5.0])


def sparse(T: Any, requires_grad: bool = False) -> Any:
    indices, values = parts(T)
    return T.sparse_coo_tensor(indices, values, (2, 3)).coalesce().requires_grad_(requires_grad)


def other(T: Any, requires_grad: bool = False) -> Any:
    made = T.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [2.0, -1.0, 3.0], (2, 3))
    return made.coalesce().requires_grad_(requires_grad)


def dense(T: Any, *shape: int) -> Any:
    count = T.Size(shape).numel()
    return (T.arange(float(count)).reshape(shape) / 4 - 1).requires_grad_()


def gradients(T: Any, function: Any, *inputs: Any) -> Any:
    """The result of a function, and the gradients of the sum of its squares."""
    result = function(*inputs)
    whole = result.to_dense() if str(result.layout) != "torch.strided" else result
    found = T.autograd.grad((whole * whole).sum(), inputs, allow_unused=True)
    return [seen(result), [seen(g) for g in found]]


# -- making them -------------------------------------------------------------------------------------------------------


@scenario
def made_of_parts(T: Any) -> Any:
    indices, values = parts(T)
    calls = [
        lambda: T.sparse_coo_tensor(indices, values),
        lambda: T.sparse_coo_tensor(indices, values, (2, 4), dtype=T.float64),
        lambda: T.sparse_coo_tensor(indices.tolist(), [1, 2, 3], (2, 3)),
        lambda: T.sparse_coo_tensor((2, 3)),
        lambda: T.sparse_coo_tensor(size=(2, 3), dtype=T.int64),
        lambda: T.sparse_coo_tensor([[0, 1]], T.ones(2, 3), (2, 3)),
        lambda: T.sparse_coo_tensor(T.zeros(0, 2, dtype=T.int64), T.ones(2), ()),
        lambda: T.sparse_coo_tensor([[0]], [1.0], (2,)),
        lambda: T.sparse_coo_tensor(indices, values, (2, 3), requires_grad=True),
        lambda: T.sparse_coo_tensor(indices, values, (2, 3), is_coalesced=True),
        lambda: T.sparse.FloatTensor(indices, values, T.Size([2, 3])),
        lambda: T.sparse.LongTensor(indices, values.long()),
        lambda: T.sparse.FloatTensor(2, 3),
        lambda: T.zeros(2, 3, layout=T.sparse_coo),
        lambda: T.empty((2, 3), layout=T.sparse_coo, dtype=T.float64),
        lambda: T.sparse_csr_tensor([0, 1, 3], [2, 0, 2], values, (2, 3)),
        lambda: T.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], values),
        lambda: T.sparse_bsr_tensor([0, 1], [1], T.ones(1, 2, 2), (2, 4)),
        lambda: T.sparse_compressed_tensor([0, 1, 3], [2, 0, 2], values, (2, 3), layout=T.sparse_csr),
        lambda: T.sparse.spdiags(T.arange(6.0).reshape(2, 3), T.tensor([0, 1]), (3, 3)),
    ]
    return [seen(call()) for call in calls]


@scenario
def wrong_parts(T: Any) -> Any:
    indices, values = parts(T)
    calls = [
        lambda: T.sparse_coo_tensor(indices, values, (2,)),
        lambda: T.sparse_coo_tensor(indices, values[:2], (2, 3)),
        lambda: T.sparse_coo_tensor(-indices, values),
        lambda: T.sparse_coo_tensor(indices[0], values),
        lambda: T.sparse_coo_tensor(indices.flip(1), values, (2, 3), is_coalesced=True, check_invariants=True),
        lambda: T.sparse_coo_tensor(indices, values, (1, 3), check_invariants=True),
        lambda: T.ones(2, 3).to_sparse(0),
        lambda: T.ones(2, 3).to_sparse(3),
    ]
    return [attempt(call) for call in calls]


@scenario
def conversions(T: Any) -> Any:
    x = T.tensor([[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 0.0]])
    forms = [x.to_sparse(), x.to_sparse(1), x.to_sparse_coo(), x.to_sparse_csr(), x.to_sparse_csc()]
    forms += [x.to_sparse_bsr((1, 2)), x.to_sparse_bsc((2, 2)), x.to_sparse(layout=T.sparse_csr)]
    csr = forms[3]
    lists = [csr.crow_indices().tolist(), csr.col_indices().tolist(), csr.values().tolist()]
    csc = forms[4]
    lists += [csc.ccol_indices().tolist(), csc.row_indices().tolist(), csc.values().tolist()]
    bsr = forms[5]
    lists += [bsr.crow_indices().tolist(), bsr.col_indices().tolist(), bsr.values().tolist()]
    again = [f.to_dense().tolist() for f in forms]
    between = [seen(csr.to_sparse()), seen(csr.to_sparse_csc()), seen(forms[0].to_sparse_csr()), seen(x.to_dense())]
    dtypes = [seen(forms[0].double()), seen(forms[0].to(T.int64)), seen(csr.half()), seen(forms[0].bool())]
    return [[seen(f) for f in forms], lists, again, between, dtypes]


@scenario
def questions(T: Any) -> Any:
    s, csr, d = sparse(T), sparse(T).to_sparse_csr(), T.ones(2, 3)
    u = T.sparse_coo_tensor(*parts(T), (2, 3))
    attributes = ["is_sparse", "is_sparse_csr", "layout", "shape", "ndim", "dtype", "is_leaf", "requires_grad"]
    methods = [
        "sparse_dim", "dense_dim", "_nnz", "is_coalesced", "numel", "dim", "element_size", "type",
        "is_floating_point", "size",
    ]  # fmt: skip
    ask = lambda t, name: attempt(lambda: str(getattr(t, name)()))
    refused = [
        "indices", "values", "stride", "numpy", "tolist", "storage", "data_ptr", "item", "nbytes", "contiguous",
        "crow_indices",
    ]  # fmt: skip
    return [
        [[str(getattr(t, name)) for name in attributes] for t in (s, csr, d)],
        [[ask(t, name) for name in methods] for t in (s, csr, d)],
        [attempt(lambda name=name: str(getattr(u, name)())) for name in refused if name != "nbytes"],
        [attempt(lambda name=name: getattr(d, name)()) for name in ("coalesce", "is_coalesced", "values", "indices")],
        [isinstance(s, T.Tensor), isinstance(s, T.sparse.FloatTensor), isinstance(d, T.sparse.FloatTensor), len(s)],
        [s.coalesce() is s, s.float() is s, s.to("cpu") is s, s.to_sparse() is s, d.to_dense() is d],
    ]


@scenario
def printed(T: Any) -> Any:
    s = sparse(T)
    indices, values = parts(T)
    hybrid = T.sparse_coo_tensor([[0, 2]], T.ones(2, 2), (3, 2))
    shown = [
        s, s.double(), s.requires_grad_(), sparse(T) * 2, hybrid, T.sparse_coo_tensor(size=(2, 3)),
        T.sparse_coo_tensor(indices, values.clone().requires_grad_(), (2, 3)),
        s.detach().to_sparse_csr(), s.detach().to_sparse_csc(), s.detach().to_dense().to_sparse_bsr((1, 3)),
        T.sparse_coo_tensor([[5]], T.tensor([1 + 2j]), (9,)), T.arange(3000.0).to_sparse(), T.nn.Parameter(sparse(T)),
    ]  # fmt: skip
    return [repr(t) for t in shown]


# -- computing with them -----------------------------------------------------------------------------------------------


@scenario
def products_of_matrices(T: Any) -> Any:
    calls = {
        "mm": lambda s, d: T.mm(s, d),
        "@": lambda s, d: s @ d,
        "spmm": lambda s, d: T.spmm(s, d),
        "sparse.mm": lambda s, d: T.sparse.mm(s, d),
        "sparse.addmm": lambda s, d: T.sparse.addmm(T.ones(2, 2), s, d, beta=2, alpha=3),
        "addmm": lambda s, d: T.addmm(T.ones(2), s, d, beta=2, alpha=3),
        "dense @ sparse": lambda s, d: d @ s,
        "linear": lambda s, d: T.nn.functional.linear(s, d.t()),
    }
    found = {name: gradients(T, call, sparse(T, True), dense(T, 3, 2)) for name, call in calls.items()}
    found["mv"] = gradients(T, T.mv, sparse(T, True), dense(T, 3))
    found["@ vector"] = gradients(T, lambda s, v: s @ v, sparse(T, True), dense(T, 3))
    found["sparse @ sparse"] = gradients(T, lambda s, t: s @ t, sparse(T, True), other(T, True).t().detach().coalesce())
    csr = sparse(T).to_sparse_csr()
    found["csr"] = [seen(csr @ T.ones(3, 2)), seen(csr.matmul(T.ones(3))), seen(T.sparse.mm(csr, T.ones(3, 2)))]
    return list(found.items())


@scenario
def sums_and_products(T: Any) -> Any:
    indices, values = parts(T)
    calls = [
        lambda s, t: s + t,
        lambda s, t: s - t,
        lambda s, t: T.add(s, t, alpha=3),
        lambda s, t: s * t,
        lambda s, t: s * 2 - t / 4,
        lambda s, t: -s + 3 * t,
    ]
    both = [gradients(T, call, sparse(T, True), other(T, True)) for call in calls]
    with_dense = [
        gradients(T, lambda s, d: d + s, sparse(T, True), dense(T, 2, 3)),
        gradients(T, lambda s, d: d - s, sparse(T, True), dense(T, 2, 3)),
        gradients(T, lambda s, d: s * d, sparse(T, True), dense(T, 2, 3)),
    ]
    u = T.sparse_coo_tensor(indices.flip(1), values, (2, 3))
    uncoalesced = [seen(u + u), seen((u * u).coalesce()), seen(u * 2), seen(u.abs()), seen(u.t()), seen(u + sparse(T))]
    refused = [
        lambda: sparse(T) + 1,
        lambda: sparse(T) + T.ones(2, 3),
        lambda: T.ones(3) + sparse(T),
        lambda: sparse(T) / T.ones(2, 3),
        lambda: sparse(T) / sparse(T),
        lambda: sparse(T) + T.sparse_coo_tensor((3, 3)),
    ]
    promoted = [
        seen(sparse(T) * T.ones(2, 3, dtype=T.float64)),
        seen(sparse(T).long() * 1.5),
        seen(sparse(T).int() / 2),
    ]
    return [both, with_dense, uncoalesced, [attempt(call) for call in refused], promoted]


@scenario
def functions_of_values(T: Any) -> Any:
    names = ["abs", "neg", "relu", "sign", "floor", "ceil", "trunc", "round"]
    forward_only = [
        "sin", "tan", "asinh", "atan", "sinh", "tanh", "expm1", "log1p", "sqrt", "erf", "isnan", "isinf", "sgn",
        "deg2rad", "frac",
    ]  # fmt: skip
    x = lambda: sparse(T).double()
    found = [[name, seen(getattr(x(), name)())] for name in names + forward_only]
    found += [["pow", seen(x() ** 2)], ["square", seen(x().square())], ["floor_divide", seen(x() // 2)]]
    differentiated = [gradients(T, lambda s: s.pow(3).to_dense(), x().requires_grad_())[0]]
    refused = ["exp", "cos", "sigmoid", "log", "max", "argmax", "prod"]
    return [
        found,
        differentiated,
        [attempt(lambda name=name: getattr(x(), name)()).split(" with")[0] for name in refused],
    ]


@scenario
def shapes_and_sums(T: Any) -> Any:
    s, t = sparse(T), other(T)
    h = T.sparse_coo_tensor([[0, 2], [1, 0]], T.arange(4.0).reshape(2, 2), (3, 2, 2)).coalesce()
    results = [
        s.t(), s.T, s.transpose(0, 1), s.permute(1, 0), T.cat([s, t]), T.cat([s, t], 1), T.stack([s, t]),
        s.unsqueeze(0), s.unsqueeze(2), h.unsqueeze(3), s.index_select(0, T.tensor([1, 1, 0])),
        h.index_select(2, T.tensor([1])),
        s[0], s[1, 2], s.select(1, 2), h[0], s.sum(), s.sum(0), s.sum((0, 1)), T.sparse.sum(s), T.sparse.sum(s, 0),
        T.sparse.sum(h, (0, 2)), h.sum(2), s.clone(), s.detach(), s.norm(), T.zeros_like(s), s.new_zeros(2), s.any(),
        T.cat([h, h], 2),
    ]  # fmt: skip
    steps = [
        gradients(T, lambda s: s.t(), sparse(T, True)),
        gradients(T, lambda s: s.sum(), sparse(T, True)),
        gradients(T, lambda s: T.sparse.sum(s, 0), sparse(T, True)),
        gradients(T, lambda s: T.sparse.sum(s), sparse(T, True)),
        gradients(T, lambda s: T.sparse.softmax(s, 1), sparse(T, True)),
        gradients(T, lambda s: T.sparse.log_softmax(s, 1), sparse(T, True)),
        gradients(T, lambda s: T.sparse.softmax(s, 0, dtype=T.float64), sparse(T, True)),
        gradients(T, lambda s: s.coalesce().values(), sparse(T, True)),
        gradients(T, lambda d: d.sparse_mask(sparse(T)), dense(T, 2, 3)),
        gradients(T, lambda d: d.to_sparse(), dense(T, 2, 3)),
        gradients(T, lambda s: s.to_dense(masked_grad=False), sparse(T, True)),
        gradients(T, lambda s: s.double(), sparse(T, True)),
    ]
    return [[seen(r) for r in results], steps]


@scenario
def in_place(T: Any) -> Any:
    s = sparse(T)
    found = [seen(s.mul_(2)), seen(s.add_(other(T))), seen(s.div_(2)), seen(s.neg_()), seen(s.copy_(other(T)))]
    found += [seen(s.zero_()), seen(sparse(T).t_()), seen(sparse(T).sub_(other(T), alpha=2)), s._version]
    d = T.ones(2, 3)
    found += [seen(d.add_(sparse(T))), seen(d.sub_(sparse(T), alpha=2)), seen(d.mul_(sparse(T)))]
    out = T.empty(2, 2)
    T.mm(sparse(T), T.ones(3, 2), out=out)
    shared = sparse(T)
    shared._values().mul_(10)
    resized = sparse(T).sparse_resize_((3, 4), 2, 0)
    refused = [lambda: sparse(T, True).mul_(2), lambda: sparse(T).add_(T.ones(2, 3)),
               lambda: sparse(T).copy_(T.ones(2, 3)), lambda: sparse(T).long().div_(2)]  # fmt: skip
    return [found, seen(out), seen(shared), seen(resized), [attempt(call).split(" with")[0] for call in refused]]


# -- gradients that are sparse -----------------------------------------------------------------------------------------


def table(T: Any) -> Any:
    return (T.arange(12.0).reshape(4, 3) / 4).requires_grad_()


def looked_up(T: Any, w: Any, *places: int, **options: Any) -> Any:
    return (T.nn.functional.embedding(T.tensor(places), w, sparse=True, **options) ** 2).sum()


@scenario
def gradients_of_embeddings(T: Any) -> Any:
    found = []
    w = table(T)
    looked_up(T, w, 1, 3, 1).backward()
    found.append(seen(w.grad))
    first = w.grad
    looked_up(T, w, 0, 1).backward()
    found += [seen(w.grad), first is w.grad, seen(w.grad.coalesce())]
    w = table(T)
    looked_up(T, w, 1, 3, padding_idx=3).backward()
    found.append(seen(w.grad))
    w = table(T)
    (looked_up(T, w, 1, 3) + (w * w).sum()).backward()
    found.append(seen(w.grad))
    w = table(T)
    (w * w).sum().backward()
    looked_up(T, w, 1, 3).backward()
    found.append(seen(w.grad))
    w = table(T)
    looked_up(T, w, 1, 3).backward()
    (w * w).sum().backward()
    found.append(seen(w.grad))
    w = table(T)
    kept: list[Any] = []
    w.register_hook(lambda g: kept.append(seen(g)) or g * 2)
    looked_up(T, w, 1, 1).backward()
    found += [seen(w.grad), kept]
    w = table(T)
    found.append([seen(g) for g in T.autograd.grad(looked_up(T, w * 2, 1, 3), w)])
    bag = T.nn.EmbeddingBag.from_pretrained(table(T).detach(), freeze=False, sparse=True, mode="sum")
    (bag(T.tensor([[1, 2], [3, 1]])) ** 2).sum().backward()
    found.append(seen(bag.weight.grad.coalesce()))
    w.grad = None
    looked_up(T, w, 1, 3).backward()
    w.grad.zero_()
    return [*found, seen(w.grad)]


@scenario
def leaves_that_are_sparse(T: Any) -> Any:
    s = sparse(T, True)
    kept: list[Any] = []
    s.register_hook(lambda g: kept.append(seen(g)))
    d = dense(T, 3, 2)
    T.sparse.mm(s, d).sum().backward()
    found = [seen(s.grad), seen(d.grad)]
    T.sparse.mm(s, d).sum().backward()
    found.append(seen(s.grad))
    T.mm(s, d).sum().backward()
    found += [seen(s.grad), kept]
    middle = sparse(T, True) * 2
    middle.retain_grad()
    middle.to_dense().sum().backward()
    found.append(seen(middle.grad))
    a, b = sparse(T, True), other(T, True)
    (a + b).backward(T.sparse_coo_tensor([[0], [1]], [7.0], (2, 3)))
    found += [seen(a.grad), seen(b.grad)]
    values = parts(T)[1].requires_grad_()
    made = T.sparse_coo_tensor(parts(T)[0], values, (2, 3))
    (made.to_dense() * T.arange(6.0).reshape(2, 3)).sum().backward()
    found.append(seen(values.grad))
    found.append(attempt(lambda: setattr(T.ones(2, 3), "data", sparse(T))))
    return found


@scenario
def gradients_of_functions(T: Any) -> Any:
    class Sparse(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return T.sparse_coo_tensor([[0, 1]], g[:2] * 2, g.shape)

    x = T.ones(3, requires_grad=True)
    Sparse.apply(x).sum().backward()
    found = [seen(x.grad)]
    (Sparse.apply(x) + x * 3).sum().backward()
    found.append(seen(x.grad))
    y = T.ones(3, requires_grad=True)
    Sparse.apply(y * 2).sum().backward()
    return [*found, seen(y.grad)]


@scenario
def optimisers(T: Any) -> Any:
    makers = [
        lambda p: T.optim.SGD(p, lr=0.1),
        lambda p: T.optim.SGD(p, lr=0.1, momentum=0.5),
        lambda p: T.optim.SGD(p, lr=0.1, momentum=0.5, nesterov=True),
        lambda p: T.optim.SGD(p, lr=0.1, maximize=True),
        lambda p: T.optim.SGD(p, lr=0.1, weight_decay=0.1),
        lambda p: T.optim.Adagrad(p, lr=0.1),
        lambda p: T.optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.5),
        lambda p: T.optim.Adagrad(p, lr=0.1, weight_decay=0.1),
        lambda p: T.optim.SparseAdam(p, lr=0.1),
        lambda p: T.optim.SparseAdam(p, lr=0.1, maximize=True),
        *[
            lambda p, name=name: getattr(T.optim, name)(p)
            for name in ["Adam", "AdamW", "RMSprop", "Adadelta", "Rprop", "Muon"]
        ],
    ]

    def run(maker: Any) -> Any:
        w = table(T)
        optimizer = maker([w])
        for step in range(3):
            optimizer.zero_grad()
            looked_up(T, w, 1, step, 1).backward()
            optimizer.step()
        state = optimizer.state[w]
        return [rounded(w), sorted(state), [rounded(v) for _, v in sorted(state.items()) if hasattr(v, "layout")]]

    return [attempt(run, maker) for maker in makers]


# -- copies and files --------------------------------------------------------------------------------------------------


@scenario
def copies(T: Any) -> Any:
    def saved(t: Any) -> Any:
        file = io.BytesIO()
        T.save(t, file)
        file.seek(0)
        return T.load(file)

    tensors = [sparse(T), sparse(T, True), T.sparse_coo_tensor(*parts(T), (2, 3))]
    found = [[seen(saved(sparse(T).to_sparse_csr())), seen(saved(sparse(T).to_sparse_csc()))]]
    for t in tensors:
        again = [copy.deepcopy(t), pickle.loads(pickle.dumps(t)), saved(t)]
        found.append([seen(a) for a in again])
    return found


@scenario
def graph_network(T: Any) -> Any:
    """Two layers of graph convolution, trained for a few steps."""
    edges = T.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 0]])
    adjacency = T.sparse.FloatTensor(edges, T.tensor([0.5, 0.25, 1.0, 0.5, 0.5]), T.Size([4, 4]))
    x = T.arange(12.0).reshape(4, 3) / 10
    w1 = (T.arange(6.0).reshape(3, 2) / 10).requires_grad_()
    w2 = (T.arange(4.0).reshape(2, 2) / 10 - 0.2).requires_grad_()
    bias = T.zeros(2, requires_grad=True)
    optimizer = T.optim.Adam([w1, w2, bias], lr=0.1)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        hidden = T.relu(T.spmm(adjacency, T.mm(x, w1)))
        scores = T.sparse.mm(adjacency, hidden @ w2) + bias
        loss = T.nn.functional.cross_entropy(scores, T.tensor([0, 1, 1, 0]))
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 5))
    return losses
