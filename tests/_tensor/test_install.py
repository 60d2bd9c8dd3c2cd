"""What is imported when a program first uses it behaves as if it had always been there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import leafgrad
from leafgrad._missing import Later
from leafgrad._tensor.op_methods import OpMethods
from leafgrad.ops import names

START = "import sys\nimport leafgrad as torch\nx = torch.tensor([[4.0, 9.0], [1.0, 16.0]], requires_grad=True)\n"


def fresh(program: str) -> str:
    """What a program prints, run in a process of its own."""
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_does_without_most_operations() -> None:
    loaded = fresh("print(*[name for name in sys.modules if name.startswith('leafgrad.')])").split()
    assert {"leafgrad.ops.pointwise.elementwise", "leafgrad.ops.reduce.reductions"} <= set(loaded)
    assert not set(loaded) & {"leafgrad.ops.index.scatter", "leafgrad.ops.reduce.norms", "leafgrad.nn"}


def test_every_name_is_where_the_table_says() -> None:
    """In the order of the table and against it, because modules import each other."""
    program = """
from leafgrad._missing import Later
from leafgrad._tensor.op_methods import OpMethods
from leafgrad.ops import names
for place in sorted([*names.METHODS, *names.OTHERS.split()], reverse={reverse}):
    for name in names.METHODS.get(place, "").split():
        getattr(torch.Tensor, name)
        assert not isinstance(vars(OpMethods)[name], Later), name
    for name in names.FUNCTIONS.get(place, "").split():
        assert callable(getattr(torch, name)), name
"""
    fresh(program.format(reverse=False))
    fresh(program.format(reverse=True))


@pytest.mark.parametrize(
    ("first", "printed"),
    [
        ("x.sqrt().tolist()", "[[2.0, 3.0], [1.0, 4.0]]"),
        ("torch.sqrt(x).grad_fn.name()", "SqrtBackward0"),
        ("(2 / x).tolist()[1]", "[2.0, 0.125]"),
        ("(2 - x).tolist()[1]", "[1.0, -14.0]"),
        ("(x @ x).tolist()[0]", "[25.0, 180.0]"),
        ("(x < 5).tolist()", "[[True, False], [True, False]]"),
        ("(2**x).tolist()[1]", "[2.0, 65536.0]"),
        ("(+x) is x", "True"),
        ("x[1].tolist()", "[1.0, 16.0]"),
        ("x.T.tolist()[0]", "[4.0, 1.0]"),
        ("x.real is x", "True"),
        ("x.long().tolist()[0]", "[4, 9]"),
        ("torch.LongTensor([3]).item()", "3"),
        ("x.new_zeros(2).tolist()", "[0.0, 0.0]"),
        ("torch.return_types.sort.__match_args__", "('values', 'indices')"),
        ("hasattr(x, 'sort') and not hasattr(x, 'srt')", "True"),
        ("torch.ops.aten.scatter_reduce", "aten.scatter_reduce"),
        ("torch.Tensor.scatter.__name__", "scatter"),
    ],
)
def test_the_first_use(first: str, printed: str) -> None:
    assert fresh(f"print({first})") == printed


def test_methods_that_change_the_tensor() -> None:
    program = "y = x.detach()\ny[0] = 7\ny //= 2\ny.clamp_(max=7).sub_(1)\nprint(y.tolist())"
    assert fresh(program) == "[[2.0, 2.0], [-1.0, 6.0]]"


def test_subclasses_extend_methods() -> None:
    program = """
class Loud(torch.Tensor):
    def norm(self):
        return -super().norm()
y = x.detach()
y.__class__ = Loud
print(y.norm().item() == -x.norm().item())
"""
    assert fresh(program) == "True"


def test_attributes_of_a_tensor_hide_methods() -> None:
    assert fresh("x.norm = 3\nprint(x.norm, torch.ones(1).norm().item())") == "3 1.0"
    assert fresh("try:\n    x.mT = 3\nexcept AttributeError:\n    print('refused')") == "refused"


def test_a_function_of_the_user_stays() -> None:
    assert fresh("torch.norm = len\nx.norm()\nprint(torch.norm is len)") == "True"
    assert fresh("torch.Tensor.norm = lambda self: len(self)\ntorch.norm(x)\nprint(x.norm())") == "2"


def test_all_names_can_be_imported_and_listed() -> None:
    fresh("from leafgrad import *\nassert norm(x).item() > 1 and sum is torch.sum")
    fresh("assert 'scatter' in dir(torch) and 'scatter' in dir(x)")


def test_a_stale_table_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpMethods, "no_such_method", Later("no_such_method"), raising=False)
    monkeypatch.setitem(names.METHODS, "ops.reduce.norms", "no_such_method")
    with pytest.raises(AttributeError, match=r"has no no_such_method\n  fix: python tools/make_stubs.py"):
        leafgrad.ones(1).no_such_method()  # type: ignore[attr-defined]


def test_every_method_of_the_table_is_on_tensor() -> None:
    assert all([hasattr(leafgrad.Tensor, name) for found in names.METHODS.values() for name in found.split()])
