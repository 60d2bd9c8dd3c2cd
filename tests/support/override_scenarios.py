"""Scenarios of `__torch_function__`: which calls are taken over, and what those who take them over see. See
scenarios.py."""

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection, first_sentence, leaf

SCENARIOS, scenario = collection()


def name_of(T: Any, function: Any) -> Any:
    """The public name of a function; PyTorch has some of its functions in a module of their own."""
    name = T.overrides.resolve_name(function)
    return name.replace("torch.functional.", "torch.") if name else function.__name__


def kind(value: Any) -> Any:
    """The names of the types of a result."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *[type(part).__name__ for part in value]]
    return type(value).__name__


class Log:
    """What `__torch_function__` was called with: a subclass of Tensor and a class of its own that write it down."""

    def __init__(self, T: Any) -> None:
        self.calls: list[Any] = []
        log = self

        def write(func: Any, types: Any, args: Any, *kwargs: Any) -> None:
            shown = [type(arg).__name__ for arg in args]
            named = sorted(kwargs[0]) if kwargs and kwargs[0] is not None else None
            log.calls.append((name_of(T, func), [t.__name__ for t in types], shown, named))

        class Logging(T.Tensor):
            @classmethod
            def __torch_function__(cls, func: Any, types: Any, args: Any = (), *kwargs: Any) -> Any:
                write(func, types, args, *kwargs)
                return super().__torch_function__(func, types, args, *kwargs)

        class Duck:
            @classmethod
            def __torch_function__(cls, func: Any, types: Any, args: Any = (), *kwargs: Any) -> Any:
                write(func, types, args, *kwargs)
                return "taken over"

        class Mode(T.overrides.TorchFunctionMode):
            def __torch_function__(self, func: Any, types: Any, args: Any = (), *kwargs: Any) -> Any:
                write(func, types, args, *kwargs)
                return func(*args, **((kwargs and kwargs[0]) or {}))

        self.Logging, self.Duck, self.Mode = Logging, Duck, Mode
        self.names = {
            "T": T,
            "F": T.nn.functional,
            "s": T.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(Logging),
            "i": T.tensor([0, 1]).as_subclass(Logging),
            "z": T.tensor(2.0).as_subclass(Logging),
            "x": T.ones(2, 2),
            "k": T.tensor([3, 4]),
            "d": Duck(),
        }

    def of(self, program: str) -> Any:
        """What an expression, or a statement, gives, and the calls that were taken over."""
        self.calls.clear()
        try:
            seen = kind(eval(program, self.names))
        except SyntaxError:
            exec(program, self.names)
            seen = None
        except Exception as error:
            seen = f"{type(error).__name__}: {first_sentence(str(error))}"
        return program, seen, list(self.calls)


def logged(programs: str) -> Any:
    return lambda T: [Log(T).of(program.strip()) for program in programs.split(";")]


OPERATORS = """s + 1; 1 + s; s - 1; 1 - s; s * 2; 2 * s; s / 2; 2 / s; s // 2; 2 // s; s % 2; 2 % s; s ** 2; 2 ** s;
s @ s; x @ s; i & 1; 1 & i; i | 1; 1 ^ i; i << 1; 1 << i; i >> 1; 1 >> i; ~i; -s; +s; abs(s); s == 1; s != 1; s < 1;
s <= 1; s > 1; s >= 1; x + s; x - s; x * s; x / s; x ** s; x == s; x < s; x % s; x // s; k & i; s + s; s.__add__(1);
s.__radd__(1); x += s; s += 1; s -= x; s *= 2; s /= 2; s **= 2; s //= 2; s %= 2; i &= 1; x @= s"""
SCENARIOS["operators"] = logged(OPERATORS)

DUCKS = """x + d; d + x; x - d; d - x; x * d; d * x; x / d; d / x; x ** d; d ** x; x @ d; d @ x; x == d; d == x;
x != d; x < d; d < x; x // d; d // x; k & d; d & k; k << d; d << k; x % d; d % x; s + d; d + s; x += d; x -= d;
x[d]; x[0, d]; x[0] = d; x[d] = 1; T.add(x, d); T.add(d, x); T.add(x, other=d); T.exp(d); T.exp(input=d);
T.exp(x, out=d); T.cat((x, d), dim=0); T.stack([d, x]); T.zeros_like(d); T.ones_like(d, dtype=T.float64);
T.full_like(d, 2); T.rand_like(d); T.where(x > 0, d, x); T.sum(d); T.sum(d, 0); T.sum(d, dim=0, keepdim=True);
T.mean(d); T.matmul(x, d); T.max(d, 0); T.reshape(d, (4,)); T.split(d, 1); T.broadcast_tensors(d, x);
T.meshgrid(d, d, indexing='ij'); T.numel(d); T.is_tensor(d); T.is_floating_point(d); T.allclose(x, d);
T.clamp(x, min=d); T.nonzero(d, as_tuple=True); T.norm(d); T.tensor_split(d, 2); T.permute(d, (1, 0)); T.abs_(d);
T.atleast_1d(d); T.normal(d, x); T.bernoulli(d); T.var_mean(d); F.relu(d); F.relu(d, inplace=True); F.linear(d, x);
F.linear(x, d, d); F.mse_loss(x, d); F.mse_loss(d, x, reduction='sum'); F.cross_entropy(d, k); F.softmax(d, 1);
F.dropout(d, 0.1); F.embedding(k, d); F.sigmoid(d); F.tanh(d); F.binary_cross_entropy(d, x); F.huber_loss(d, x);
F.nll_loss(d, k); T.nn.ReLU()(d); T.nn.MSELoss()(d, x); x.add(d); x.add(d, alpha=2); x.add_(d); x.sub(other=d);
x.mul(d); x.div(d); x.pow(d); x.pow(s); x.mul(s); x.remainder(s); x.floor_divide(s); x.matmul(d); x.copy_(d);
x.fill_(d); x.where(x > 0, d); x.masked_fill(d, 1.0); x.index_select(0, d); x.eq(d); x.expand_as(d); x.to(d);
x.type_as(d); x.maximum(d); x.clamp(d); x.index_put_((k - 3, d), x); x.gather(0, d); x.scatter_(0, d, x);
x.addmm(d, x); T.tensor(d); T.as_tensor(d)"""
SCENARIOS["objects_that_are_no_tensors"] = logged(DUCKS)

ATTRIBUTES = """s.T; s.mT; s.H; s.real; s.shape; s.dtype; s.device; s.layout; s.ndim; s.itemsize; s.nbytes; s.grad;
s.data; s.requires_grad; s.is_leaf; s.grad_fn; s.output_nr; s.retains_grad; s._version; s._base; s.is_cuda;
s.is_cpu; s.is_sparse; s.is_quantized; s.is_meta; s.grad = x; s.data = x; s.requires_grad = True; del s.grad;
x.grad = s; s.note = 1"""
SCENARIOS["attributes"] = logged(ATTRIBUTES)

METHODS = """s.sum(); s.sum(0); s.sum(dim=0); s.sum(0, keepdim=True); s.max(0); s.max(); s.sort(); s.topk(1);
s.split(1); s.split(1, 1); s.chunk(2); s.unbind(); s.tensor_split(2); s.clone(); s.detach(); s.to(T.float64);
s.to(x); x.to(s); s.view(4); s.reshape(-1); s.t(); s.permute(1, 0); s.flatten(); s.repeat(2, 1); s.tile(2);
s.expand(2, 2); s.squeeze(); s.contiguous(); s.type(); s.type(T.float64); s.double(); s.new_zeros(2);
s.new_tensor([1.0]); x.new_tensor(s); s.requires_grad_(); s.zero_(); s.add_(1); x.add_(s); x.copy_(s); s.copy_(x);
x.fill_(z); x.where(x > 0, s); z.item(); s.tolist(); s.numpy(); s.size(); s.size(0); s.dim(); s.numel(); s.stride();
s.is_contiguous(); s.element_size(); s.data_ptr() > 0; s.storage_offset(); s.is_floating_point(); s.cpu();
s.nonzero(); s.type_as(x); x.type_as(s); s.expand_as(x); x.expand_as(s); s.masked_fill(x > 0, 1.0);
x.masked_fill(s > 0, 1.0); s.norm(); x.clamp(s); s.index_select(0, i); x.index_select(0, i); s.cumsum(0);
s.is_inference(); s.is_shared(); s.relu(); s.exp_(); s.random_(); s.normal_(); s.uniform_(); s.backward;
s.register_hook; s.ne(x); s.add(x, alpha=2); x.add(s, alpha=2); s.as_subclass(T.Tensor); T.Tensor.add(s, x);
T.Tensor.add(x, s); T.Tensor.sum(s); s.resize_(4)"""
SCENARIOS["methods"] = logged(METHODS)

SPECIAL = """len(s); bool(z); float(z); int(z); repr(s); str(s); format(z, ''); f'{z}'; list(s); 1 in s;
hash(s) and None; s[0]; s[i]; x[i]; x[0, i]; s[0, 0]; s[s > 1]; x[0] = s[0]; s[0] = 1; x[i] = 1.0; s[i] = x;
a, b = s"""
SCENARIOS["special_methods"] = logged(SPECIAL)

FUNCTIONS = """T.sum(s, dim=0); T.add(s, 1); T.add(x, s); T.add(x, other=s); T.add(input=s, other=x, alpha=2);
T.exp(s); T.cat([x, s]); T.stack([s, s]); T.zeros_like(s); T.rand_like(s); T.empty_like(s);
T.zeros(2, out=T.empty(2)); T.exp(x, out=s); T.tensor(s); T.as_tensor(s); T.asarray(s); F.relu(s); F.linear(x, s);
F.mse_loss(s, x); F.cross_entropy(s, i); F.softmax(s, dim=1); F.dropout(s); F.embedding(i, x); T.nn.ReLU()(s);
T.split(s, 1); T.max(s, 0); T.numel(s); T.where(s > 0, s, x); T.is_tensor(s); T.is_floating_point(s); T.equal(x, s);
T.allclose(x, s); T.result_type(s, 1); T.broadcast_tensors(s, x); T.meshgrid(i, i, indexing='ij'); T.atleast_1d(s);
T.atleast_2d(s, x); T.unbind(s); T.var_mean(s); T.nonzero(s, as_tuple=True); T.norm(s); T.clamp(x, min=s);
T.pow(2, s); T.bernoulli(s / 10); T.normal(s, x); T.full((2,), z); T.linspace(0, z, 2); T.reshape(s, (4,));
T.permute(s, (1, 0)); T.abs_(s); T.square(s); T.complex(s, x); T.scalar_tensor(z); T.nn.Linear(2, 2)(s);
T.autograd.grad(s.requires_grad_().sum(), s)"""
SCENARIOS["functions"] = logged(FUNCTIONS)


NUMBERS = """T.full((2,), z); T.full((2,), d); T.full(d, 1.0); T.scalar_tensor(z); T.scalar_tensor(d);
T.full_like(x, z); T.full_like(x, d); x.new_full((2,), z); x.new_full((2,), d); T.addmm(x, x, x, beta=z);
T.addmm(x, x, x, beta=d); T.addmm(x, x, s, beta=z); T.clamp_min(x, z); T.lerp(x, x, z);
T.masked_fill(x, x > 0, z); T.sum(x, d); x.sum(d)"""
SCENARIOS["tensors_in_the_place_of_numbers"] = logged(NUMBERS)


def in_a_mode(programs: str) -> Any:
    def run(T: Any) -> Any:
        seen = []
        for program in programs.split(";"):
            log = Log(T)
            with log.Mode():
                seen.append(log.of(program.strip()))
        return seen

    return run


SCENARIOS["calls_that_a_mode_sees"] = (
    in_a_mode("""x + 1; 1 - x; x ** 2; x @ x; x == 1; -x; x += 1; x[0]; x[0] = 1; x.shape; x.requires_grad; x.T;
x.sum(); x.sum(0); x.exp(); x.exp_(); x.add(1); x.add_(1); x.size(); x.size(0); x.dim(); len(x);
bool(x[0, 0]); repr(x); x.tolist(); x.numpy(); x.clone(); x.detach(); T.add(x, 1); T.exp(x);
T.sum(x, dim=0); T.cat([x, x]); T.zeros(2); T.ones(2, 3); T.zeros((2,), dtype=T.float64);
T.empty(2); T.tensor([1.0]); T.tensor(1, dtype=T.float64); T.as_tensor([1]); T.arange(3); T.rand(2);
T.randn(2); T.randint(3, (2,)); T.eye(2); T.full((2,), 1.0); T.linspace(0, 1, 3); T.zeros_like(x);
T.rand_like(x); T.is_tensor(x); T.manual_seed(0) and None; F.relu(x); F.linear(x, x);
F.softmax(x, 1); F.mse_loss(x, x); T.nn.ReLU()(x); T.split(x, 1); T.norm(x); T.reshape(x, (4,));
s + 1; isinstance(x, T.Tensor); x.grad; x.grad = x.clone(); x.requires_grad_(); x.backward;
T.randperm(3); T.where(x > 0, x, 0.0); T.max(x, 0)""")
)


@scenario
def nobody_has_an_implementation(T: Any) -> Any:
    class Refusing(T.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    n = T.ones(2).as_subclass(Refusing)
    F = T.nn.functional
    calls = [
        lambda: n + 1, lambda: 1 - n, lambda: n == 1, lambda: n**2, lambda: n < 1, lambda: T.ones(2) + n, lambda: -n,
        lambda: n.sum(), lambda: n.shape, lambda: n[0], lambda: T.add(n, 1), lambda: T.cat([n]), lambda: F.relu(n),
        lambda: T.zeros_like(n), lambda: n.add_(1), lambda: n + T.ones(2), lambda: T.ones(2) == n,
        lambda: n < T.ones(2),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def order_of_those_who_are_asked(T: Any) -> Any:
    asked: list[str] = []

    def written(name: str, *bases: Any) -> Any:
        def handler(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(f"{name} {[t.__name__ for t in types]}")
            return NotImplemented

        return type(name, bases, {"__torch_function__": classmethod(handler)})

    A = written("A", T.Tensor)
    B, C = written("B", A), written("C", T.Tensor)
    D = written("D")
    a, b, c, x, d = T.ones(2).as_subclass(A), T.ones(2).as_subclass(B), T.ones(2).as_subclass(C), T.ones(2), D()
    seen: list[Any] = []
    calls = [
        lambda: T.add(a, b), lambda: T.add(b, a), lambda: T.add(a, c), lambda: T.cat([x, a, c, b, a, d]),
        lambda: T.where(d, a, b), lambda: F_linear(c, b, a), lambda: T.stack([c, d, a]), lambda: a.add(d),
    ]  # fmt: skip

    def F_linear(*args: Any) -> Any:
        return T.nn.functional.linear(*args)

    for call in calls:
        asked.clear()
        attempt(call)
        seen.append(list(asked))
    return seen


@scenario
def switched_off(T: Any) -> Any:
    class P(T.Tensor):
        pass

    log = Log(T)
    p, x, s = T.ones(2).as_subclass(P), T.ones(2), log.names["s"]
    with T._C.DisableTorchFunctionSubclass():
        seen = [kind(p + 1), kind(T.exp(p)), kind(p), kind(p.data), T.overrides.has_torch_function((p,)), kind(s.T)]
        with T._C.DisableTorchFunctionSubclass():
            pass
        seen.append(kind(p + 1))
    seen.append(kind(p + 1))
    with log.Mode():
        with T._C.DisableTorchFunctionSubclass():
            seen += [kind(x + 1), kind(s + 1)]
        with T._C.DisableTorchFunction():
            seen += [kind(x + 2), kind(s + 2), T.overrides.has_torch_function((x,))]
        seen.append(T.overrides.has_torch_function((x,)))
    return seen, log.calls


@scenario
def modes_inside_each_other(T: Any) -> Any:
    seen: list[Any] = []

    class Mode(T.overrides.TorchFunctionMode):
        def __init__(self, name: str) -> None:
            self.name = name

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((self.name, name_of(T, func)))
            if self.name == "inner" and func is T.Tensor.mul:
                T.zeros(1)
            return func(*args, **(kwargs or {}))

    class Refusing(Mode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    x = T.ones(2)
    with Mode("outer"), Mode("inner") as inner:
        y = T.add(x, 1)
        y.mul(2)
        y * 2
        y.shape
    entered = inner.name
    try:
        with Mode("failing"):
            x.view(3)
    except RuntimeError:
        seen.append("failed")
    x + 1
    with Refusing("refusing"):
        refused = [attempt(lambda: x + 1), attempt(lambda: x.sum()), attempt(lambda: T.add(x, 1)[0] is None)]
    return seen, entered, refused, kind(y)


@scenario
def a_mode_that_changes_results(T: Any) -> Any:
    class Doubled(T.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if isinstance(result, T.Tensor) else result

    x, matrix = T.ones(2), T.ones(2, 1)  # PyTorch warns of the .T of a vector, but once in a process
    with Doubled():
        inside = [T.ones(2), x + 1, x.exp(), T.nn.functional.relu(x), x[0], matrix.T]
    return inside, x + 1


@scenario
def functions_with_implementations_of_their_own(T: Any) -> Any:
    handled: dict[Any, Any] = {}

    def implements(*functions: Any) -> Any:
        return lambda f: [handled.__setitem__(function, f) for function in functions] and f

    class Diagonal:
        def __init__(self, n: int, value: float) -> None:
            self.n, self.value = n, value

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func not in handled or not all(issubclass(t, (T.Tensor, Diagonal)) for t in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    @implements(T.mean)
    def mean(input: Any) -> Any:
        return float(input.value) / input.n

    @implements(T.add, T.Tensor.add)
    def add(input: Any, other: Any) -> Any:
        dense = [value.value * T.eye(value.n) if isinstance(value, Diagonal) else value for value in (input, other)]
        return dense[0] + dense[1]

    d, x = Diagonal(2, 3.0), T.ones(2, 2)
    return T.mean(d), T.add(d, x), T.add(x, d), x + d, d + x, T.add(d, d), attempt(T.mul, d, 2), attempt(lambda: x * d)


@scenario
def tensors_with_metadata(T: Any) -> Any:
    class Metadata:
        def __init__(self, data: Any, note: str) -> None:
            self.data, self.note = T.as_tensor(data), note

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            notes = [a.note for a in args if hasattr(a, "note")]
            plain = [getattr(a, "data", a) if isinstance(a, Metadata) else a for a in args]
            return Metadata(func(*plain, **(kwargs or {})), notes[0])

    m = Metadata([[1.0, 2.0], [3.0, 4.0]], "pixels")
    results = [T.add(m, T.ones(2, 2)), T.mul(m, 6), T.sum(m, dim=0), T.nn.functional.relu(m), T.ones(2, 2) @ m]
    return [(r.note, r.data) for r in results]


@scenario
def tools(T: Any) -> Any:
    O = T.overrides
    log = Log(T)
    s, d, x = log.names["s"], log.names["d"], log.names["x"]
    questions = [
        O.has_torch_function((x,)),
        O.has_torch_function((x, s)),
        O.has_torch_function([d]),
        O.is_tensor_like(d),
    ]
    questions += [O.is_tensor_like(s), O.is_tensor_like(x), O.is_tensor_like(3), O.has_torch_function((1, "a", None))]
    questions += [O.is_tensor_method_or_property(f) for f in (T.Tensor.add, T.add, T.Tensor.shape.__get__, len)]
    functions = [
        T.add,
        T.Tensor.add,
        T.Tensor.shape.__get__,
        T.Tensor.grad.__set__,
        T.nn.functional.relu,
        T.Tensor.__add__,
    ]
    names = [O.resolve_name(f) for f in (*functions, len, T.is_tensor, T.zeros)]
    ignored = [f in O.get_ignored_functions() for f in (T.add, T.is_tensor, T.zeros, T.tensor)]
    found = O.get_overridable_functions()
    listed = [T.add in found[T], T.zeros in found[T], T.Tensor.add in found[T.Tensor], T.add in found[T.Tensor]]
    listed += [T.nn.functional.relu in found[T.nn.functional], T.Tensor.shape.__get__ in found[T.Tensor.shape]]
    return questions, names, ignored, listed


@scenario
def public_functions_of_users(T: Any) -> Any:
    O = T.overrides
    log = Log(T)

    def scaled(value: Any, factor: int = 2) -> Any:
        if O.has_torch_function((value,)):
            return O.handle_torch_function(scaled, (value,), value, factor=factor)
        return value * factor

    @O.wrap_torch_function(lambda value: (value,))
    def halved(value: Any) -> Any:
        return value / 2

    d, x = log.names["d"], T.ones(2)
    results = [scaled(d), scaled(x, 3), halved(d), halved(x)]
    return results, log.calls, attempt(O.handle_torch_function, scaled, (x,), x)


@scenario
def backward_is_taken_over(T: Any) -> Any:
    seen: list[Any] = []

    class Watching(T.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is T.autograd.backward:
                known = {k: type(v).__name__ for k, v in sorted(kwargs.items())}
                seen.append([[type(t).__name__ for t in args[0]], known, [t.__name__ for t in types]])
            return super().__torch_function__(func, types, args, kwargs)

    x = leaf(T, [1.0, 2.0])
    T.autograd.backward((x * 2).as_subclass(Watching), T.ones(2))
    T.autograd.backward([(x * 3).as_subclass(Watching), x.sum()], [T.ones(2), None], retain_graph=True)
    T.autograd.backward((x * 4).sum(), inputs=[leaf(T, [1.0]).as_subclass(Watching), x])
    (x * 5).sum().as_subclass(Watching).backward()
    return x.grad, seen
