"""Scenarios of single calls, right and wrong ones: what they return, or which error they raise. See scenarios.py."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


def shown(T: Any, calls: str, **names: Any) -> Any:
    """The outcome of each call, one to a line, with its dtype; of a wrong one the error's type and first sentence."""
    made = {
        "T": T,
        "f": T.tensor([1.0, 2.0, 3.0]),
        "d": T.tensor([1.0, 2.0, 3.0], dtype=T.float64),
        "h": T.tensor([1.0, 2.0, 3.0], dtype=T.float16),
        "i": T.tensor([1, 2, 3]),
        "b": T.tensor([True, False, True]),
        "c": T.tensor([1 + 2j, 2 + 2j, 3 + 2j]),
        "s": T.tensor(2.0),
        "m": T.arange(6.0).reshape(2, 3),
        "cube": T.arange(24.0).reshape(2, 3, 4),
        **names,
    }

    def dtypes(value: Any) -> Any:
        parts = value if isinstance(value, (tuple, list)) else [value]
        return value, [str(part.dtype) for part in parts if hasattr(part, "dtype")]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [line.strip() for line in calls.strip().splitlines()]
        return [(line, attempt(lambda line=line: dtypes(eval(line, dict(made))))) for line in lines]


def wrong(T: Any, calls: str, **names: Any) -> Any:
    """The same, but only the type of the error: where PyTorch's words speak of its own C++ types."""
    return [(line, outcome.partition(":")[0]) for line, outcome in shown(T, calls, **names) if isinstance(outcome, str)]


# -- parts and matrices -----------------------------------------------------------------------------------------------


@scenario
def splits_along_a_named_dimension(T: Any) -> Any:
    return shown(
        T,
        """
        T.hsplit(m, 3)
        T.hsplit(m, [1, 2])
        T.hsplit(m, indices=[1])
        T.hsplit(m, sections=3)
        T.hsplit(f, 3)
        T.hsplit(f, 2)
        T.hsplit(m, 2)
        T.hsplit(m, 0)
        T.hsplit(m, -1)
        T.hsplit(s, 1)
        T.vsplit(m, 2)
        T.vsplit(f, 2)
        T.vsplit(m, 3)
        T.dsplit(cube, 2)
        T.dsplit(cube, (1, -1))
        T.dsplit(m, 2)
        m.vsplit([1])
        """,
    )


@scenario
def matrices_of_diagonals_and_blocks(T: Any) -> Any:
    return shown(
        T,
        """
        T.diag(f, 1)
        T.diag(m, 1)
        T.diag(m, -5)
        T.diag(T.zeros(0), 2)
        T.diag(s)
        T.diag(cube)
        T.diag_embed(m, offset=1, dim1=0, dim2=2)
        T.diag_embed(f, 1, 0, 0)
        T.diag_embed(f, 0, 5, 1)
        T.diagflat(m, 1)
        T.diagflat(s, -1)
        T.diagonal_copy(m, 1)
        T.block_diag()
        T.block_diag(m, s, f)
        T.block_diag(m, T.tensor(1j))
        T.block_diag(i, s)
        T.block_diag(cube)
        T.block_diag([m])
        """,
    )


@scenario
def combinations_and_powers(T: Any) -> Any:
    return shown(
        T,
        """
        T.cartesian_prod(f)
        T.cartesian_prod(f, 2 * f)
        T.cartesian_prod(f, i)
        T.cartesian_prod(m)
        T.cartesian_prod()
        T.combinations(f)
        T.combinations(f, 3)
        T.combinations(f, 0)
        T.combinations(f, 4)
        T.combinations(f, 2, True)
        T.combinations(f, -1)
        T.combinations(m)
        T.vander(f)
        T.vander(f, 4, True)
        T.vander(f, 0)
        T.vander(b)
        T.vander(i.to(T.int8))
        T.vander(c, 2)
        T.vander(m)
        T.vander(f, -1)
        """,
    )


@scenario
def repeated_elements(T: Any) -> Any:
    return shown(
        T,
        """
        T.repeat_interleave(m, 2)
        T.repeat_interleave(m, 2, 1)
        T.repeat_interleave(m, T.tensor([1, 2]), 0)
        T.repeat_interleave(m, T.tensor(2), 0)
        T.repeat_interleave(s, 3)
        T.repeat_interleave(i)
        T.repeat_interleave(repeats=i)
        T.repeat_interleave(i.to(T.int32))
        T.repeat_interleave(f)
        T.repeat_interleave(m, -1)
        T.repeat_interleave(m, T.tensor([1, -2]), 0)
        T.repeat_interleave(m, T.tensor([1, 2]))
        T.repeat_interleave(m, T.tensor([[1, 2]]), 0)
        T.repeat_interleave(m, 2, 1, output_size=7)
        T.repeat_interleave(m, T.tensor([1, 2]), 0, output_size=4)
        T.repeat_interleave(m, 2, 3)
        T.repeat_interleave(s, T.tensor(2), 0)
        """,
    )


# -- ranges -----------------------------------------------------------------------------------------------------------


@scenario
def ranges_that_include_their_end(T: Any) -> Any:
    return shown(
        T,
        """
        T.range(0, 4)
        T.range(0.5, 4.2, 0.7)
        T.range(2, 0, -1)
        T.range(0, 4.5, dtype=T.int64)
        T.range(2.7, 8, dtype=T.int64)
        T.range(1, 10, 2.5, dtype=T.int32)
        T.range(0, 2, dtype=T.float16)
        T.range(0, 2, dtype=T.bool)
        T.range(1, 0)
        T.range(0, 1, 0)
        T.range(0, float("inf"))
        T.range(0, 1j)
        T.range(4)
        T.range(0, 3, out=T.zeros(2, 2))
        """,
    )


@scenario
def out_of_ranges_keeps_its_shape(T: Any) -> Any:
    seen = []
    for fill in (lambda out: T.arange(4, out=out), lambda out: T.linspace(0, 1, 4, out=out)):
        x = T.zeros(2, 3)
        fill(x.narrow(1, 1, 2))
        seen.append(x)
    return seen


# -- three tensors ----------------------------------------------------------------------------------------------------


@scenario
def products_and_quotients_added(T: Any) -> Any:
    return shown(
        T,
        """
        T.addcmul(f, d, i)
        T.addcmul(i, i, i, value=2.5)
        T.addcmul(h, h, h, value=0.1)
        T.addcmul(c, f, f, value=1j)
        T.addcmul(s, i, i)
        T.addcmul(i, s, s)
        T.addcmul(f, f, f, value=s)
        T.addcmul(f, m, s)
        T.addcmul(f, f, f, out=T.empty(3, dtype=T.float64))
        T.addcmul(f, f, f, out=T.empty(3, dtype=T.int64))
        T.addcmul(b, b, b)
        T.addcmul(f, f, f, value=1j)
        T.addcmul(f, 2, f)
        T.addcmul(f, T.ones(4), f)
        f.clone().addcmul_(d, d, value=3)
        f.clone().addcmul_(m, s)
        i.clone().addcmul_(f, f)
        T.addcdiv(f, d, i)
        T.addcdiv(i, f, f)
        T.addcdiv(f, f, 0 * f)
        T.addcdiv(c, f, f, value=1j)
        T.addcdiv(f, i, b)
        T.addcdiv(i, i, i)
        """,
    )


@scenario
def between_two_tensors(T: Any) -> Any:
    return shown(
        T,
        """
        T.lerp(f, f + 1, 0.3)
        T.lerp(f, f + 1, s)
        T.lerp(f, f + 1, f)
        T.lerp(f, m, 0.5)
        T.lerp(h, h + 1, 0.7)
        T.lerp(c, c + 1, 1j)
        T.lerp(f, f + 1, True)
        T.lerp(f, f + 1, T.tensor(0.5, dtype=T.float64))
        T.lerp(T.tensor([float("inf")]), T.tensor([1.0]), 0.25)
        T.lerp(f, d, 0.5)
        T.lerp(f, f, d)
        T.lerp(c, f, 0.5)
        T.lerp(i, i, 0.5)
        T.lerp(f, f, 1j)
        T.lerp(f, f, T.ones(4))
        T.lerp(f, f, None)
        f.clone().lerp_(f + 1, f)
        f.clone().lerp_(m, 0.5)
        """,
    )


@scenario
def a_factor_before_the_second_operand(T: Any) -> Any:
    return shown(
        T,
        """
        T.add(f, 2, f)
        T.add(i, 2, i)
        T.add(b, True, b)
        T.sub(f, 1.5, i)
        T.add(T.tensor(True), T.tensor(True), True)
        T.add(True, True, alpha=True)
        f.add(2, f)
        f.clone().sub_(2, f)
        T.add(f, f, 2)
        T.add(2, f, f)
        """,
    )


# -- equal elements, intervals ----------------------------------------------------------------------------------------


@scenario
def distinct_elements(T: Any) -> Any:
    rows = T.tensor([[1.0, 2.0, 1.0], [3.0, 4.0, 3.0], [1.0, 2.0, 1.0]])
    return shown(
        T,
        """
        T.unique(j)
        T.unique(rows, return_inverse=True, return_counts=True)
        T.unique(rows, dim=0)
        T.unique(rows, dim=1, return_inverse=True, return_counts=True)
        T.unique(rows, dim=2)
        T.unique(b, return_counts=True)
        T.unique(s, return_inverse=True)
        T.unique(T.zeros(0), return_inverse=True, return_counts=True)
        T.unique(T.zeros(0, 3), dim=0)
        T.unique(T.zeros(0, 3), dim=1)
        T.unique(s, dim=0)
        T.unique(c)
        T.unique_consecutive(j)
        T.unique_consecutive(j, return_inverse=True, return_counts=True)
        T.unique_consecutive(rows, dim=1, return_inverse=True, return_counts=True)
        T.unique_consecutive(c)
        T.unique(rows.clone().requires_grad_()).sum().backward()
        T.unique(rows.clone().requires_grad_(), dim=0).sum().backward()
        T.unique_consecutive(rows.clone().requires_grad_()).sum().backward()
        T.isin(j, T.tensor([1, 2]))
        T.isin(rows, T.tensor([1, 3]), invert=True)
        T.isin(2, j)
        T.isin(j, 1.5)
        T.isin(T.tensor([300]), T.tensor([44], dtype=T.uint8))
        T.isin(T.tensor([float("nan")]), T.tensor([float("nan")]))
        T.isin(b, b)
        T.isin(1, 2)
        T.isin(j, j, out=T.empty(5))
        """,
        j=T.tensor([3, 1, 3, 2, 2]),
        rows=rows,
    )


@scenario
def elements_in_intervals(T: Any) -> Any:
    return shown(
        T,
        """
        T.histogram(x, 3)
        T.histogram(x, 3, range=(0, 4), density=True)
        T.histogram(x, T.tensor([1.0, 2.0, 4.0]), weight=x)
        T.histogram(x, 3, range=(2, 2))
        T.histogram(T.zeros(0), 2)
        T.histogram(i, 3)
        T.histogram(x, 0)
        T.histogram(x, 3, range=(4, 0))
        T.histogram(x, T.tensor([1, 2]))
        T.histogram(x, 3, weight=f)
        T.histogram(T.tensor([float("inf")]), 2)
        T.histogram(x.clone().requires_grad_(), 2)[0].sum().backward()
        T.histc(x, 4)
        T.histc(x, 3, 0, 4)
        T.histc(T.ones(3), 3)
        T.histc(h, 2)
        T.histc(i, 2)
        T.histc(x, 0)
        T.histc(x, 3, 4, 1)
        T.histc(x, 3, 0, 4, out=T.empty(3, dtype=T.float64))
        T.bincount(i)
        T.bincount(i, f, 6)
        T.bincount(i, i)
        T.bincount(f)
        T.bincount(-i)
        T.bincount(i, T.ones(2))
        T.searchsorted(x.sort()[0], T.tensor([3.0, 4.0]))
        T.searchsorted(x.sort()[0], 3, right=True)
        T.searchsorted(x, m, sorter=x.argsort(), side="right", out_int32=True)
        T.searchsorted(m, T.tensor([[1.0], [9.0]]))
        T.searchsorted(m, f)
        T.searchsorted(m, 3.0)
        T.searchsorted(i, 2.5)
        T.searchsorted(x, f, side="x")
        T.searchsorted(x, f, right=True, side="left")
        T.searchsorted(f, f, sorter=T.tensor([0, 1]))
        T.searchsorted(b, b)
        T.bucketize(m, f)
        T.bucketize(2, f, right=True)
        T.bucketize(f, m)
        """,
        x=T.tensor([3.0, 1.0, 3.0, 2.0, 4.5]),
    )


@scenario
def parts_of_complex_numbers_into_other_dtypes(T: Any) -> Any:
    return shown(
        T,
        """
        T.complex(f, f, out=T.zeros(3))
        T.polar(d, d, out=T.zeros(3, dtype=T.complex64))
        T.complex(f, f, out=T.zeros(3, dtype=T.complex64))
        """,
    )


# -- learning rates ---------------------------------------------------------------------------------------------------


@scenario
def a_plateau_after_a_group_was_added(T: Any) -> Any:
    def rates(min_lr: Any) -> Any:
        optimizer = T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.1)
        scheduler = T.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=min_lr)
        optimizer.add_param_group({"params": [T.nn.Parameter(T.ones(1))], "lr": 0.5})
        seen = []
        for loss in (1, 2, 3):
            scheduler.step(loss)
            seen.append((scheduler.get_last_lr(), scheduler.min_lrs))
        return seen, sorted(scheduler.state_dict())

    return [attempt(rates, min_lr) for min_lr in (0, 0.04, [0.04], [0.1, 0.2])]


# -- making tensors ---------------------------------------------------------------------------------------------------


@scenario
def data_that_is_no_tensor(T: Any) -> Any:
    in_itself: list[Any] = [0]
    in_itself += [in_itself]
    endless: list[Any] = []
    endless.append(endless)

    class Shapeless:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: Any) -> Any:
            raise TypeError

    return shown(
        T,
        """
        T.tensor(in_itself)
        T.tensor([[1, 2], in_itself])
        T.tensor(endless)
        T.tensor(shapeless)
        T.tensor([0, "a"])
        T.tensor(["a"])
        T.tensor([b"a"])
        T.tensor([1, None])
        T.tensor([1, [2]])
        T.tensor([[1], [2, 3]])
        T.tensor(2**63)
        T.tensor(2**70, dtype=T.float64)
        T.tensor([2**63, 1.0])
        T.tensor(10**400, dtype=T.float64)
        T.tensor([2**64, 0, -(2**63) - 1, float("nan")], dtype=T.bool)
        T.tensor(2**63, dtype=T.int32)
        T.tensor([2**63, 1], dtype=T.uint64)
        T.tensor(-1, dtype=T.uint64)
        T.tensor([70000], dtype=T.uint16)
        T.tensor([-1], dtype=T.uint16)
        """,
        in_itself=in_itself,
        endless=endless,
        shapeless=Shapeless(),
    )


@scenario
def sizes_that_no_memory_holds(T: Any) -> Any:
    allocated = """
        T.empty(10**15)
        T.zeros(10**15)
        T.full((10**15,), 1.0)
        T.arange(10**15)
        T.eye(10**8)
        T.rand(10**15)
        T.randperm(10**14)
        T.ones(1).expand(10**15).clone()
        T.ones(1).expand(10**15) + 1
        T.ones(1).expand(10**15).exp()
        T.cat([T.ones(1).expand(10**15)] * 2)
        T.ones(2).resize_(10**15)
        T.FloatTensor(10**15)
        """
    overflowing = """
        T.empty([2, 4, 2**29, 2**29], dtype=T.float64)
        T.empty_strided([8, 8], [2**61, 1], dtype=T.float64)
        T.empty([0, 4, 2**61])
        T.zeros(2**62)
        T.arange(0, 1e30)
        T.arange(-(2**62), 2**62)
        """
    return wrong(T, allocated), shown(T, overflowing)


@scenario
def arrays_of_other_objects(T: Any) -> Any:
    def facts(**options: Any) -> Any:
        x = T.ones(2, requires_grad=True)
        y = x * 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = [T.asarray(t, **options) for t in (x, y, T.ones(2))]
        return [(t is x or t is y, t.requires_grad, t.grad_fn is None) for t in made]

    options: list[dict[str, Any]] = [{}, {"requires_grad": True}, {"requires_grad": False}, {"copy": True}]
    options += [{"copy": True, "requires_grad": True}, {"dtype": T.float64, "requires_grad": False}]
    calls = """
        T.asarray([1], copy=False)
        T.asarray(number, copy=False)
        T.asarray(number, dtype=T.int32)
        T.asarray(f, copy=1)
        T.asarray(f, requires_grad=1)
        T.asarray(b"abcd")
        T.frombuffer(bytearray(8), dtype=None)
        T.frombuffer(bytearray(8), dtype=T.int8, count="a")
        T.from_dlpack(3)
        """
    return [facts(**o) for o in options], shown(T, calls, number=np.float64(0.5))


@scenario
def devices(T: Any) -> Any:
    with T.device("cpu"):
        inside = T.asarray(3)
    named = """
        str(T.device("cuda:1"))
        T.device("cuda") == T.device("cuda:0")
        T.device("cpu", 0).index
        T.device("foo")
        T.device("cpu:x")
        T.device("")
        T.device(0)
        T.FloatTensor(device="cuda")
        T.Tensor((2.0, 3.0), device="cuda")
        T.Tensor(i, device="cpu")
        T.zeros(2, device="cuda")
        T.accelerator.is_available()
        T.accelerator.current_accelerator()
        T.accelerator.synchronize()
        """
    return inside, shown(T, named)


@scenario
def dtypes_promoted(T: Any) -> Any:
    kinds = ["complex32", "float8_e5m2", "uint16", "uint64", "uint8", "int64", "bool"]
    kinds += ["float16", "bfloat16", "float32", "float64", "complex64"]
    pairs = [(getattr(T, a), getattr(T, b)) for a in kinds for b in kinds]
    made = [attempt(lambda a=a, b=b: str(T.promote_types(a, b))) for a, b in pairs]
    turned = [attempt(lambda kind=kind: str(getattr(T, kind).to_complex())) for kind in kinds]
    return made, turned, [getattr(T, kind).itemsize for kind in kinds], str(T.complex32.to_real())


@scenario
def unsigned_numbers(T: Any) -> Any:
    return shown(
        T,
        """
        u * u
        u == u
        u.sum()
        u.float()
        u / u
        u + 1.5
        u & u
        u.sort()
        T.cat([u, u])
        u + T.tensor([1, 2, 3])
        u.float() + u
        T.randint(-1, 1, (2,), dtype=T.uint32)
        T.full((2,), 70000, dtype=T.uint16)
        T.result_type(u, 1)
        u.to(T.int64).cumsum(0)
        """,
        u=T.tensor([1, 2, 3], dtype=T.uint16),
    )


@scenario
def joined_channels_last(T: Any) -> Any:
    x = T.arange(120.0).reshape(2, 3, 4, 5)
    last = x.contiguous(memory_format=T.channels_last)
    deep = T.arange(48.0).reshape(2, 3, 2, 2, 2).contiguous(memory_format=T.channels_last_3d)
    parts = [[last, last], [x, last], [last, x], [deep, deep], [last[:, :, :2], last[:, :, 1:3]], [last, last[:, :0]]]
    joined = [T.cat(tensors, 1) for tensors in parts]
    return [(t, t.stride()) for t in joined]


# -- wrong kinds of arguments -----------------------------------------------------------------------------------------


@scenario
def arguments_of_wrong_kinds(T: Any) -> Any:
    first = ["exp_", "floor_", "clamp_", "abs_", "zero_", "fill_", "relu_", "flip", "tile", "permute", "reshape"]
    first += ["exp", "sum", "unique", "add", "split"]
    second = ["flip", "tile", "permute", "reshape", "split", "transpose", "zeros_like", "topk", "gather"]
    with_default = ["sum", "amax", "all", "squeeze", "where"]
    values = ["None", "'a'", "[1, 2]", "1.5", "{}", "object()", "T.float32", "(T.ones(2), T.ones(2))", "len"]
    calls = [f"T.{name}({value})" for name in first for value in ("", *values)]
    calls += [f"T.{name}(m, {value})" for name in second for value in values]
    calls += [f"T.{name}(m, {value})" for name in with_default for value in values[1:]]
    calls += [f"T.{name}({value})" for name in ("zeros", "ones", "empty", "rand", "arange", "eye") for value in values]
    calls += [f"m.{name}()" for name in ("view", "reshape", "expand", "permute", "flip", "tile", "sum_to_size")]
    calls += ["T.promote_types(None, None)", "T.can_cast(1, T.int8)", "T.add(None, 2**70)", "f.type([])"]
    calls += ["T.isclose(f, T.ones(4))", "T.allclose(f, T.ones(4))", "T.meshgrid(m, 1, indexing='ij')"]
    return wrong(T, "\n".join(calls))


@scenario
def derivatives_of_numbers(T: Any) -> Any:
    derivatives = [T.autograd.functional.jacobian, T.autograd.functional.hessian]
    return [derivative(lambda x: x**3, T.tensor(2.0), vectorize=fast) for derivative in derivatives for fast in (0, 1)]
