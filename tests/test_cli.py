"""`python -m leafgrad`: a script that says `import torch` gets leafgrad, and otherwise notices nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

import leafgrad
from leafgrad._missing import missing_attribute, missing_module, torch_name

pytestmark = pytest.mark.slow  # nearly every test here starts Python anew


def leafgrad_cli(
    *arguments: str, cwd: Path | None = None, input: str | None = None, flags: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if "PYTHONPATH" in environment:  # may be relative to where the tests were started
        paths = environment["PYTHONPATH"].split(os.pathsep)
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in paths)
    return subprocess.run(
        [sys.executable, *flags, "-m", "leafgrad", *arguments],
        cwd=cwd,
        env=environment,
        input=input,
        capture_output=True,
        text=True,
        timeout=120,
    )


class Scripts:
    """Writes scripts into an empty directory and runs them there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def write(self, name: str, source: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    def run(self, source: str, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        self.write("script.py", source)
        return leafgrad_cli("run", *options, "script.py", *arguments, cwd=self.directory)


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


def test_every_form_of_import_gives_the_very_modules_of_leafgrad(scripts: Scripts) -> None:
    result = scripts.run("""
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        import torch.autograd
        from torch import Tensor, nn as nn_again, optim
        from torch.nn.functional import relu
        from torch.optim import SGD

        import sys
        import leafgrad
        import leafgrad.nn.functional

        assert torch is leafgrad and sys.modules["torch"] is leafgrad
        assert nn is leafgrad.nn and nn_again is nn and torch.nn is nn
        assert F is leafgrad.nn.functional and relu is F.relu
        assert optim is leafgrad.optim and SGD is leafgrad.optim.SGD
        assert torch.autograd is leafgrad.autograd
        assert Tensor is leafgrad.Tensor and isinstance(torch.ones(2), Tensor)
        for name in ("torch", "torch.nn", "torch.nn.functional"):
            own = name.replace("torch", "leafgrad")
            assert sys.modules[name] is sys.modules[own]
            assert sys.modules[name].__spec__.name == own
        print("same")
    """)
    assert (result.stdout, result.stderr, result.returncode) == ("same\n", "", 0)


def test_classes_have_the_names_of_pytorch(scripts: Scripts) -> None:
    """Programs print them, compare them with strings, and find modules by them."""
    result = scripts.run("""
        import pickle
        import sys
        import typing
        import torch
        from torch import nn, optim

        class Net(nn.Linear):
            depth: int

        assert typing.get_type_hints(Net)["depth"] is int and typing.get_type_hints(optim.AdamW)
        x = torch.ones(2, requires_grad=True)
        print(torch.__name__, type(x), type(x.dtype), type(x.device), type(x.shape), type((x * x).grad_fn))
        print(nn.Linear, nn.Parameter, nn.MultiheadAttention, nn.ParameterList)
        print(optim.SGD, optim.AdamW, optim.lr_scheduler.StepLR, torch.distributions.Normal)
        for cls in (torch.Tensor, nn.Linear, optim.AdamW, optim.lr_scheduler.StepLR, torch.distributions.ExpTransform):
            assert pickle.loads(pickle.dumps(cls)) is cls
            assert getattr(sys.modules[cls.__module__], cls.__qualname__) is cls
        assert torch.distributions.__dict__["Normal"] is torch.distributions.normal.Normal
    """)
    assert (result.stderr, result.returncode) == ("", 0)
    assert result.stdout.splitlines() == [
        "torch <class 'torch.Tensor'> <class 'torch.dtype'> <class 'torch.device'> <class 'torch.Size'> "
        "<class 'MulBackward0'>",
        "<class 'torch.nn.modules.linear.Linear'> <class 'torch.nn.parameter.Parameter'> "
        "<class 'torch.nn.modules.activation.MultiheadAttention'> <class 'torch.nn.modules.container.ParameterList'>",
        "<class 'torch.optim.sgd.SGD'> <class 'torch.optim.adamw.AdamW'> "
        "<class 'torch.optim.lr_scheduler.StepLR'> <class 'torch.distributions.normal.Normal'>",
    ]


def test_a_module_and_a_function_of_one_name(scripts: Scripts) -> None:
    result = scripts.run("""
        import torch
        import torch.autograd.gradcheck
        import torch.autograd.forward_ad as fwAD
        from torch.autograd.gradcheck import GradcheckError
        from torch.autograd.graph import GradientEdge, saved_tensors_hooks
        from torch.func import vmap

        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        print(torch.autograd.gradcheck(torch.sin, x), issubclass(GradcheckError, RuntimeError))
    """)
    assert (result.stdout, result.stderr, result.returncode) == ("True True\n", "", 0)


def test_a_module_with_classes_is_run_once(scripts: Scripts) -> None:
    result = scripts.run("""
        import sys
        import torch.utils.checkpoint, torch.utils.data.dataloader, torch.nn.modules.linear, torch.optim.sgd
        import leafgrad.distributions.normal, torch.distributions.normal

        both = [(name, sys.modules["leafgrad" + name[5:]]) for name in list(sys.modules) if name.startswith("torch.u")]
        print(len(both) > 3, [name for name, module in both if sys.modules[name] is not module])
        print(torch.distributions.normal is leafgrad.distributions.normal)
    """)
    assert (result.stdout, result.stderr) == ("True []\nTrue\n", "")


def test_files_of_packages_that_are_one_file_here(scripts: Scripts) -> None:
    result = scripts.run("""
        from torch.multiprocessing.spawn import ProcessRaisedException
        from torch.cuda.amp.grad_scaler import GradScaler
        import torch.cuda.amp.autocast_mode
        import torch.multiprocessing as mp

        print(mp.spawn.__name__, GradScaler is torch.cuda.amp.GradScaler, ProcessRaisedException.__name__)
        print(torch.cuda.amp.autocast_mode.autocast is torch.cuda.amp.autocast)
    """)
    assert (result.stdout, result.stderr) == ("spawn True ProcessRaisedException\nTrue\n", "")


def test_a_script_computes_gradients(scripts: Scripts) -> None:
    result = scripts.run("""
        import torch
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        print(x.grad)
    """)
    assert (result.stdout, result.stderr, result.returncode) == ("tensor([2., 4.])\n", "", 0)


def test_script_is_set_up_as_python_sets_it_up(scripts: Scripts) -> None:
    scripts.write("helper.py", "import torch\nvalue = 42")
    result = scripts.run(
        """
        import __main__, os, sys
        import helper
        assert __name__ == "__main__" and __main__.helper is helper
        assert __file__ == os.path.abspath("script.py") and __spec__ is None
        assert os.path.samefile(sys.path[0], os.path.dirname(os.path.abspath(__file__)))
        print(sys.argv, helper.value)
    """,
        "--seed",
        "-m",
        "plain",
    )
    assert result.stdout == "['script.py', '--seed', '-m', 'plain'] 42\n", result.stderr


def test_script_directory_comes_before_the_current_one(scripts: Scripts) -> None:
    scripts.write("helper.py", "print('wrong helper')")
    scripts.write("inside/helper.py", "print('right helper')")
    scripts.write("inside/script.py", "import helper")
    result = leafgrad_cli("run", "inside/script.py", cwd=scripts.directory)
    assert result.stdout == "right helper\n", result.stderr


def test_module(scripts: Scripts) -> None:
    scripts.write("package/__init__.py", "")
    scripts.write("package/tool.py", "import sys, torch\nprint(__name__, torch.__spec__.name, sys.argv[1:])")
    result = leafgrad_cli("run", "-m", "package.tool", "a", "--b", cwd=scripts.directory)
    assert result.stdout == "__main__ leafgrad ['a', '--b']\n", result.stderr


SAYS_WHO = "import sys, torch\nprint(__name__, torch.__spec__.name, sys.argv)"


def test_standard_input(tmp_path: Path) -> None:
    result = leafgrad_cli("run", "-", "a", cwd=tmp_path, input=f"{SAYS_WHO}\nprint('__file__' in globals())")
    assert result.stdout == "__main__ leafgrad ['-', 'a']\nFalse\n", result.stderr


def test_directory_and_zip_file(scripts: Scripts) -> None:
    scripts.write("inside/helper.py", "value = 42")
    main = scripts.write("inside/__main__.py", f"{SAYS_WHO}\nimport helper\nprint(helper.value)")
    with zipfile.ZipFile(scripts.directory / "packed.zip", "w") as file:
        file.write(main, "__main__.py")
        file.write(main.parent / "helper.py", "helper.py")
    for name in ("inside", "packed.zip"):
        result = leafgrad_cli("run", name, "a", cwd=scripts.directory)
        assert result.stdout == f"__main__ leafgrad ['{name}', 'a']\n42\n", result.stderr


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_that_a_script_starts(scripts: Scripts, method: str) -> None:
    scripts.write("torch.py", "raise RuntimeError('another torch')")  # what a process without the alias would find
    result = scripts.run(
        """
        import multiprocessing, sys
        import torch

        def work(x):
            import torch as again
            return torch.__spec__.name, again is torch, (torch.tensor(2.0) * x).item()

        if __name__ == "__main__":
            with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
                print(pool.map(work, [1, 2]))
    """,
        method,
    )
    assert result.stdout == "[('leafgrad', True, 2.0), ('leafgrad', True, 4.0)]\n", result.stderr


def test_seed(scripts: Scripts) -> None:
    result = scripts.run("import torch\nprint(torch.rand(2).tolist())", options=("--seed", "7"))
    leafgrad.manual_seed(7)
    assert result.stdout == f"{leafgrad.rand(2).tolist()}\n", result.stderr


def assert_users_own(traceback: str) -> None:
    for foreign in ("cli.py", "__main__.py", "runpy", "importlib"):
        assert foreign not in traceback, traceback


def test_traceback_is_the_users_own(scripts: Scripts) -> None:
    result = scripts.run("""
        import torch

        def inner():
            return 1 / 0

        try:
            inner()
        except ZeroDivisionError as error:
            raise ValueError("outer") from error
    """)
    assert result.returncode == 1
    assert_users_own(result.stderr)
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    script = os.path.realpath(scripts.directory / "script.py")  # absolute, as Python has it
    assert lines[1] == f'  File "{script}", line 8, in <module>'
    assert lines[-1] == "ValueError: outer"
    assert f'  File "{script}", line 5, in inner' in lines
    assert "ZeroDivisionError: division by zero" in lines


def test_traceback_of_an_error_in_leafgrad_ends_in_the_users_line(scripts: Scripts) -> None:
    source = "import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)\n"
    result = scripts.run(source)
    files = [line for line in result.stderr.splitlines() if line.startswith("  File ")]
    assert len(files) == 1 and 'script.py", line 2' in files[0], result.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEAFGRAD_TRACEBACK", "full")
        assert scripts.run(source).stderr.count("  File ") > 1


FAILING = """
    import sys, threading, torch

    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("in backward")

    def hook(g):
        raise KeyError("in a hook")

    x = torch.ones(1, requires_grad=True)
    y = torch.nn.Sequential(torch.nn.Linear(1, 1))(x)
    y.register_hook(hook)
    failing = {"function": Failing.apply(x), "hook": y}[sys.argv[1]]
    if sys.argv[2] == "main":
        failing.backward()
    else:
        thread = threading.Thread(target=lambda: failing.backward())
        thread.start()
        thread.join()
"""


@pytest.mark.parametrize("thread", ["main", "other"])
@pytest.mark.parametrize("where", ["function", "hook"])
def test_tracebacks_of_errors_inside_backward(scripts: Scripts, where: str, thread: str) -> None:
    shown = scripts.run(FAILING, where, thread).stderr
    files = [line for line in shown.splitlines() if line.startswith("  File ") and "threading.py" not in line]
    assert len(files) == 2 and all("script.py" in line for line in files), shown
    assert "failing.backward()" in shown


def test_warnings_and_the_stacks_in_them_are_the_users_own(scripts: Scripts) -> None:
    result = scripts.run("""
        import torch
        x = torch.zeros(1, requires_grad=True)
        torch.ones(1).var()
        with torch.autograd.detect_anomaly():
            y = torch.nn.Sequential(torch.nn.ReLU())(x).sqrt() * 0
            y.backward()
    """)
    assert_users_own(result.stderr)
    lines = result.stderr.splitlines()
    warned = [line.split("script.py:")[1][:2] for line in lines if "UserWarning" in line]
    assert warned == ["4:", "5:", "7:"]
    stack = [line for line in lines if line.startswith("  File ")]  # of the forward call, and of the error
    assert [line.split("script.py")[1] for line in stack] == ['", line 6, in <module>', '", line 7, in <module>']


def test_traceback_of_a_module_is_the_users_own(scripts: Scripts) -> None:
    scripts.write("tool.py", "import torch\nraise KeyError('gone')")
    result = leafgrad_cli("run", "-m", "tool", cwd=scripts.directory)
    assert result.returncode == 1
    assert_users_own(result.stderr)
    assert result.stderr.splitlines()[1].endswith('tool.py", line 2, in <module>')
    assert result.stderr.endswith("KeyError: 'gone'\n")


def test_syntax_error_points_at_the_script(scripts: Scripts) -> None:
    result = scripts.run("import torch\nx = = 1\n")
    assert result.returncode == 1
    assert_users_own(result.stderr)
    assert 'script.py", line 2' in result.stderr
    assert "SyntaxError" in result.stderr


def test_users_excepthook_is_asked(scripts: Scripts) -> None:
    result = scripts.run("""
        import sys
        sys.excepthook = lambda kind, error, traceback: print("hook", kind.__name__, traceback.tb_lineno)
        raise ValueError
    """)
    assert (result.stdout, result.stderr, result.returncode) == ("hook ValueError 4\n", "", 1)


@pytest.mark.parametrize(
    ("argument", "code", "printed"), [("3", 3, ""), ("None", 0, ""), ("'message'", 1, "message\n"), ("0", 0, "")]
)
def test_system_exit_is_passed_on(scripts: Scripts, argument: str, code: int, printed: str) -> None:
    result = scripts.run(f"import sys\nsys.exit({argument})")
    assert (result.returncode, result.stderr) == (code, printed)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_keyboard_interrupt_is_passed_on(scripts: Scripts) -> None:
    result = scripts.run("""
        import atexit, os, signal
        atexit.register(print, "tidied up", flush=True)
        # what a shell starts in the background ignores this signal otherwise, and so do its children
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    """)
    assert result.returncode == -signal.SIGINT
    assert result.stdout == "tidied up\n"
    assert_users_own(result.stderr)
    assert result.stderr.endswith("KeyboardInterrupt\n")


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    result = leafgrad_cli("run", "nowhere.py", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "leafgrad: cannot open 'nowhere.py': No such file or directory\n"


@pytest.mark.parametrize("name", ["nowhere", "nowhere.at.all", "json.nowhere"])
def test_missing_module_is_one_line(tmp_path: Path, name: str) -> None:
    result = leafgrad_cli("run", "-m", name, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (2, f"leafgrad: no module named '{name}'\n")


@pytest.mark.parametrize("arguments", [(), ("run",), ("run", "--seed", "many", "x.py"), ("walk",)])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    result = leafgrad_cli(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith("usage: python -m leafgrad")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import torch\ntorch.frobnicate(1)", "AttributeError: module 'torch' has no attribute 'frobnicate'"),
        ("import torch\ntorch.nn.Frobnicate()", "AttributeError: module 'torch.nn' has no attribute 'Frobnicate'"),
        ("import torch.frobnicate", "ModuleNotFoundError: No module named 'torch.frobnicate'"),
        ("import torch.nn.frobnicate", "ModuleNotFoundError: No module named 'torch.nn.frobnicate'"),
        ("from torch.frobnicate import x", "ModuleNotFoundError: No module named 'torch.frobnicate'"),
        ("from torch import frobnicate", "ImportError: cannot import name 'frobnicate' from 'torch'"),
        ("from torch.nn import Frobnicate", "ImportError: cannot import name 'Frobnicate' from 'torch.nn'"),
    ],
)
def test_what_leafgrad_lacks_is_named(scripts: Scripts, source: str, error: str) -> None:
    result = scripts.run(source)
    assert result.returncode == 1
    assert_users_own(result.stderr)
    name = "torch.nn." if "torch.nn" in source else "torch."
    first, second = result.stderr.splitlines()[-2:]
    assert first == error
    assert second.lower().startswith(f"leafgrad does not have {name}frobnicate, and neither has pytorch.")


def test_scripts_can_ask_what_there_is(scripts: Scripts) -> None:
    result = scripts.run("""
        import torch

        assert not hasattr(torch, "frobnicate") and not hasattr(torch.nn, "Frobnicate")
        assert hasattr(torch, "tensor")
        try:
            import torch.frobnicate
        except ImportError as error:
            print(error.name)
        try:
            import torch.tensor
        except ImportError:
            pass
        print(torch.tensor(1.0).item())
    """)
    assert (result.stdout, result.stderr) == ("torch.frobnicate\n1.0\n", "")


def test_missing_names_in_process() -> None:
    assert torch_name("leafgrad") == "torch"
    assert torch_name("leafgrad.nn.functional") == "torch.nn.functional"
    assert torch_name("leafgradient.x") == "leafgradient.x"
    error = missing_attribute("leafgrad", "foolish")
    told = "leafgrad does not have torch.foolish, and neither has PyTorch."
    assert str(error) == f"module 'torch' has no attribute 'foolish'\n{told}"
    assert error.name == "foolish"
    assert str(missing_attribute("leafgrad", "__wrapped__")) == "module 'torch' has no attribute '__wrapped__'"
    assert missing_module("torch.a.b").name == "torch.a.b"
    with pytest.raises(AttributeError, match=r"leafgrad does not have torch\.frobnicate"):
        leafgrad.frobnicate  # type: ignore[attr-defined]


def test_version_and_config() -> None:
    version = leafgrad_cli("--version")
    assert (version.stdout, version.returncode) == (f"leafgrad {leafgrad.__version__}\n", 0)
    config = leafgrad_cli("config")
    assert (config.stdout.strip(), config.returncode) == (leafgrad.show_config().strip(), 0)


def test_help_names_the_commands() -> None:
    printed = leafgrad_cli("--help").stdout
    assert "run" in printed and "config" in printed and "--version" in printed
    assert "script.py" in leafgrad_cli("run", "--help").stdout


def test_python_without_docstrings_and_assertions(scripts: Scripts) -> None:
    scripts.write(
        "script.py",
        """
        import torch
        from torch import func, nn

        model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        optimizer = torch.optim.Adam(model.parameters())
        nn.functional.cross_entropy(model(torch.ones(5, 4)), torch.tensor([0, 1, 1, 0, 1])).backward()
        optimizer.step()
        print(func.vmap(func.grad(lambda x: (x**2).sum()))(torch.ones(2, 1)).tolist(), repr(torch.exp.__doc__))
    """,
    )
    result = leafgrad_cli("run", "script.py", cwd=scripts.directory, flags=("-OO",))
    assert result.stdout == "[[2.0], [2.0]] ''\n", result.stderr


def test_functorch_is_part_of_it(scripts: Scripts) -> None:
    result = scripts.run("""
        import warnings
        import torch
        import functorch
        from functorch import combine_state_for_ensemble, make_functional, make_functional_with_buffers, vmap
        from functorch.experimental import chunk_vmap
        from torch._functorch.make_functional import FunctionalModule

        assert functorch.vjp.__wrapped__ is torch.func.vjp
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tied = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
            tied[1].weight = tied[0].weight
            func, params = make_functional(tied)
        assert [w.category for w in caught] == [FutureWarning] and caught[0].filename == __file__
        assert "functorch.make_functional` is deprecated" in str(caught[0].message)
        warnings.simplefilter("ignore")
        x = torch.randn(4, 2)
        assert isinstance(func, FunctionalModule) and len(params) == 3 and params[0].requires_grad
        assert torch.equal(func(params, x), tied(x))
        doubled = [2 * p for p in params]
        assert torch.equal(func(doubled, x), (x @ doubled[0].t() + doubled[1]) @ doubled[0].t() + doubled[2])
        assert not make_functional(tied, disable_autograd_tracking=True)[1][0].requires_grad
        norm = torch.nn.BatchNorm1d(2)
        func, params, buffers = make_functional_with_buffers(norm)
        assert torch.equal(func(params, buffers, x), norm(x)) and torch.equal(buffers[0], norm.running_mean)
        try:
            make_functional(norm)
        except RuntimeError as error:
            assert "`model` has buffers" in str(error)
        models = [torch.nn.Linear(2, 3) for _ in range(5)]
        func, params, buffers = combine_state_for_ensemble(models)
        assert torch.allclose(vmap(func, (0, 0, None))(params, buffers, x)[2], models[2](x))
        assert torch.equal(chunk_vmap(torch.sin, chunks=3)(x), x.sin())
        print("done")
    """)
    assert (result.stdout, result.stderr) == ("done\n", "")
