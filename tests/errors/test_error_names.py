"""Messages find the names that the program uses, and finding them disturbs nothing: no code of the program runs, no
frame or tensor is kept, and whatever lies around in the program, the message is made and made quickly."""

from __future__ import annotations

import gc
import linecache
import subprocess
import sys
import textwrap
import threading
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad._core.tensor import links

GLOBAL = torch.ones(2, requires_grad=True)


def message_of(mistake: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        mistake()
    return str(caught.value)


def line_here() -> int:
    return sys._getframe(1).f_lineno


# -- names ------------------------------------------------------------------------------------------------------------


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("mean", torch.ones(4))

    def update(self) -> None:
        self.weight += 1

    def forward(self, x: Any) -> Any:
        return x * self.weight


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(Layer(), nn.Linear(2, 3))
        self.kept = [torch.ones(5, requires_grad=True)]


class Agent:
    """Not a module."""

    def __init__(self) -> None:
        self.w = torch.ones(2, requires_grad=True)

    def update(self) -> None:
        self.w += 1


def test_a_local_variable() -> None:
    x = torch.ones(2, requires_grad=True)
    assert "'x', shape [2]" in message_of(lambda: x.add_(1))


def test_a_global_variable() -> None:
    assert "'GLOBAL', shape [2]" in message_of(lambda: GLOBAL.add_(1))


def test_a_parameter_is_named_by_its_path() -> None:
    model = Model()
    for parameter in model.parameters():
        if parameter.shape == (3, 2):
            message = message_of(lambda parameter=parameter: parameter.add_(1))
            assert "'model.layers.1.weight', shape [3, 2]" in message


def test_a_path_is_valid_code_in_the_fix() -> None:
    model = Model()
    assert "model.layers[1].weight.detach().numpy()" in message_of(lambda: model.layers[1].weight.numpy())


def test_a_parameter_within_a_method_of_its_module() -> None:
    assert "'self.weight', shape [2]" in message_of(Layer().update)


def test_an_attribute_within_a_method() -> None:
    assert "'self.w', shape [2]" in message_of(Agent().update)


def test_elements_of_lists_and_dictionaries() -> None:
    xs = [torch.ones(n, requires_grad=True) for n in range(3)]
    table = {"a": (torch.ones(7, requires_grad=True),)}
    model = Model()
    assert "'xs[2]', shape [2]" in message_of(lambda: xs[2].add_(1))
    assert "'table['a'][0]', shape [7]" in message_of(lambda: table["a"][0].add_(1))
    assert "'model.kept[0]', shape [5]" in message_of(lambda: model.kept[0].add_(1))


def test_a_variable_comes_before_an_element() -> None:
    xs = [torch.ones(n, requires_grad=True) for n in range(3)]
    one = xs[1]
    assert "'one', shape [1]" in message_of(lambda: one.add_(1))
    assert xs


def test_the_innermost_name_counts() -> None:
    outer = torch.ones(2, requires_grad=True)

    def change(inner: Any) -> None:
        inner += 1

    assert "'inner', shape [2]" in message_of(lambda: change(outer))


def test_a_name_that_was_deleted_is_read_from_the_line_that_stored_it() -> None:
    x = torch.ones(3, requires_grad=True)
    product = x * 2
    keep = [product.sum(), (product,)]
    del product
    assert "'keep[1][0]', shape [3]" in message_of(lambda: keep[1][0].backward())
    node = keep.pop()[0].node
    assert torch.errors.naming.name_of_result(node) == "product"


def test_stored_names() -> None:
    x = torch.ones(4, requires_grad=True)

    def stored(node: Any) -> Any:
        return torch.errors.naming.assignment(node)

    y = x * 2 + 1
    assert stored(y.node) == ("y", True)
    assert stored(y.node.inputs[0]) == ("y", False)
    first, second = y.split(2)
    assert [stored(first.node), stored(second.node)] == [("first", True), ("second", True)]
    holder = types.SimpleNamespace()
    holder.value = x.exp()
    assert stored(holder.value.node) == ("holder.value", True)
    a = b = x.exp()
    assert stored(a.node) == ("a", True)
    assert a is b
    x.exp()
    y += 1
    assert stored(y.node) == ("y", True)
    many = [x.exp()]
    assert stored(many[0].node) == ("many", False)
    assert stored((lambda: x.exp())().node) is None
    wide = (
        x
        * 2
    )  # fmt: skip
    assert stored(wide.node) == ("wide", True)


def test_a_tensor_without_a_name() -> None:
    assert "  leaf  shape [3]\n" in message_of(lambda: torch.ones(3, requires_grad=True).add_(1))


def test_names_in_another_thread() -> None:
    found: list[str] = []

    def work() -> None:
        private = torch.ones(2, requires_grad=True)
        found.append(message_of(lambda: private.add_(1)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "'private', shape [2]" in found[0]


def test_generators_and_class_bodies() -> None:
    def generate() -> Any:
        inside = torch.ones(2, requires_grad=True)
        inside += 1
        yield inside

    assert "'inside', shape [2]" in message_of(lambda: next(generate()))

    def define() -> None:
        class Body:
            member = torch.ones(2, requires_grad=True)
            member += 1

    assert "'member', shape [2]" in message_of(define)


def test_the_name_of_the_library() -> None:
    source = "import leafgrad as lg\nx = lg.ones(2, requires_grad=True)\nx += 1\n"
    assert "with lg.no_grad():" in message_of(lambda: exec(source, {}))


# -- lines ------------------------------------------------------------------------------------------------------------


def test_a_statement_over_several_lines() -> None:
    x = torch.ones(3, requires_grad=True)
    start = line_here()
    y = torch.exp(
        x
        .mul(2)
    )  # fmt: skip
    message = message_of(lambda: y.backward())
    assert f"recorded  test_error_names.py:{start + 1}   y = torch.exp(" in message
    assert f"test_error_names.py:{start + 5}   message = message_of(lambda: y.backward())" in message


def test_code_without_source() -> None:
    source = "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.backward()\n"
    message = message_of(lambda: exec(source, {"torch": torch}))
    assert "  tensor    'y', shape [3]\n  recorded  <string>:2\n  at        <string>:3\n" in message
    assert "y.sum().backward()" in message


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "gone.py"
    path.write_text("x = torch.ones(3, requires_grad=True)\nx += 1\n")
    code = compile(path.read_text(), str(path), "exec")
    path.unlink()
    message = message_of(lambda: exec(code, {"torch": torch}))
    assert "  at    gone.py:2\n" in message
    assert "with torch.no_grad(): ..." in message


def test_a_file_that_was_edited(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    for change in ("x += 1", "x *= 2 + 1"):
        path.write_text(f"x = torch.ones(3, requires_grad=True)\n{change}\n")
        message = message_of(lambda: exec(compile(path.read_text(), str(path), "exec"), {"torch": torch}))
        assert f"edited.py:2   {change}" in message


def test_lines_with_other_letters(tmp_path: Path) -> None:
    path = tmp_path / "größe.py"
    path.write_text("größe = torch.ones(3, requires_grad=True)\n'ü'; (größe * 2).backward()\n", encoding="utf-8")
    message = message_of(lambda: exec(compile(path.read_text("utf-8"), str(path), "exec"), {"torch": torch}))
    assert "größe.py:2" in message
    assert "(größe * 2).sum().backward()" in message


def test_long_lines_are_shortened(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text(f"x = torch.ones(3, requires_grad=True)\nx += 1{' + 1' * 100}\n")
    message = message_of(lambda: exec(compile(path.read_text(), str(path), "exec"), {"torch": torch}))
    assert max(map(len, message.split("\n"))) < 160


def test_packages_are_named_with_their_folder(tmp_path: Path) -> None:
    path = tmp_path / "package" / "__init__.py"
    path.parent.mkdir()
    path.write_text("x = torch.ones(3, requires_grad=True)\nx += 1\n")
    message = message_of(lambda: exec(compile(path.read_text(), str(path), "exec"), {"torch": torch}))
    assert f"package{path.as_posix()[-12]}__init__.py:2   x += 1" in message


def test_cells_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    file, source = "/tmp/ipykernel_1/123.py", "x = torch.ones(3, requires_grad=True)\nx += 1\n"
    monkeypatch.setitem(linecache.cache, file, (len(source), None, source.splitlines(True), file))
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={file: 7}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    message = message_of(lambda: exec(compile(source, file, "exec"), {"torch": torch}))
    assert "In[7]:2   x += 1" in message


def python(*arguments: str, given: str = "") -> str:
    return subprocess.run(
        [sys.executable, *arguments], input=given, capture_output=True, text=True, encoding="utf-8", timeout=60
    ).stderr


PROGRAM = "import leafgrad as torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2\ny.backward()\n"


def test_a_program_on_the_command_line() -> None:
    errors = python("-c", PROGRAM)
    assert "only for scalar outputs\n  tensor    'y', shape [3]\n" in errors
    assert "<string>:3" in errors
    assert "<string>:4" in errors


def test_a_program_from_standard_input() -> None:
    errors = python("-", given=PROGRAM)
    assert "  tensor    'y', shape [3]\n  recorded  <stdin>:3\n  at        <stdin>:4\n" in errors


def test_without_columns_in_the_bytecode() -> None:
    assert "y.sum().backward()" in python("-X", "no_debug_ranges", "-c", PROGRAM)


def test_a_traceback_of_the_command_run(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2\ny.backward()\n")
    errors = python("-m", "leafgrad", "run", str(path))
    begin = f'Traceback (most recent call last):\n  File "{path}", line 4, in <module>\n    y.backward()\n'
    assert errors.startswith(begin)
    assert errors.endswith(
        textwrap.dedent("""\
        RuntimeError: grad can be implicitly created only for scalar outputs
          tensor    'y', shape [3]
          recorded  train.py:3   y = x * 2
          at        train.py:4   y.backward()
          fix       y.sum().backward()   # or y.mean().backward()
                    y.backward(gradient=torch.ones_like(y))   # how much each element counts
        """)
    )


# -- nothing is disturbed ---------------------------------------------------------------------------------------------


class Trap:
    """Everything that one can ask of it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(f"__getattribute__({name})")

    def _raise(self, *arguments: Any) -> Any:
        raise SystemExit("asked")

    __eq__ = __hash__ = __iter__ = __len__ = __bool__ = __contains__ = __getitem__ = __repr__ = _raise  # type: ignore


class TrapList(list[Any]):
    __getitem__ = __iter__ = __len__ = Trap._raise  # type: ignore[assignment]


class TrapDict(dict[Any, Any]):
    items = values = keys = __iter__ = __getitem__ = Trap._raise  # type: ignore[assignment]


class Slotted:
    __slots__ = ("w",)

    def __init__(self) -> None:
        self.w = torch.ones(2, requires_grad=True)

    def update(self) -> None:
        self.w += 1


class Strange(nn.Module):
    def __getattr__(self, name: str) -> Any:
        raise SystemExit(name)

    def named_parameters(self, *arguments: Any, **options: Any) -> Any:
        raise SystemExit("named_parameters")


def test_nothing_in_the_program_is_asked() -> None:
    a_trap, b_trap, c_trap = Trap(), TrapList(), TrapDict()
    module = Strange.__new__(Strange)
    self = Trap()
    loop: list[Any] = []
    loop.append(loop)
    x = torch.ones(2, requires_grad=True)
    assert "'x', shape [2]" in message_of(lambda: x.add_(1))
    assert "  leaf  shape [3]\n" in message_of(lambda: torch.ones(3, requires_grad=True).add_(1))
    assert (a_trap is b_trap) is (c_trap is module) is (self is loop)


def test_objects_with_slots() -> None:
    assert "shape [2]" in message_of(Slotted().update)


def test_a_tensor_that_is_not_set_up() -> None:
    bare = links.new(torch.Tensor)
    x = torch.ones(2, requires_grad=True)
    assert "'x', shape [2]" in message_of(lambda: x.add_(1))
    assert bare is not x


def steps_of(function: Callable[[], Any]) -> int:
    """How many function calls it takes: what a time would tell, without the noise of the machine."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.slow
def test_large_containers_take_no_time() -> None:
    many = list(range(3_000_000))
    table = dict.fromkeys(many)
    nested = [[torch.ones(1)] * 1000 for _ in range(1000)]
    model = nn.Sequential(*[nn.Linear(1, 1) for _ in range(1000)])
    lost = torch.ones(3, requires_grad=True) * 2
    assert steps_of(lambda: message_of(lambda: (lost * 2).backward())) < 1_000_000
    assert len(table) == len(many) and nested and model


def test_a_deep_graph_takes_little_time() -> None:
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(30_000):
        y = y * 1.5
    y.backward()
    assert steps_of(lambda: message_of(y.backward)) < 1_000_000
    with pytest.warns(UserWarning, match="not a leaf"):
        assert steps_of(lambda: y.grad) < 1_000_000


@pytest.fixture
def no_collector() -> Any:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def fail_and_go_on() -> weakref.ref[Any]:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    alive = weakref.ref(y)
    try:
        y.backward()
    except RuntimeError:
        pass
    del y
    assert alive() is None  # although the function whose variables were looked at goes on
    return weakref.ref(x)


def test_a_failure_keeps_nothing_alive(no_collector: None) -> None:
    assert fail_and_go_on()() is None
    assert gc.collect() == 0


def test_a_dictionary_of_locals_stays_as_it_is() -> None:
    x = torch.ones(3, requires_grad=True)
    names = locals()
    message_of(lambda: x.add_(1))
    assert names["x"] is x
