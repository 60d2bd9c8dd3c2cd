"""Compiles the hot modules with mypyc and the elementwise loops with a C compiler, and installs plain Python where that
cannot be done.

Everything else about the package is declared in pyproject.toml. The environment variable LEAFGRAD_COMPILE decides:

    unset   compile if a C compiler is found, otherwise say so and install plain Python
    0       plain Python
    1       compile, and fail if that is not possible

LEAFGRAD_SANITIZE=1 builds what is written in C, and only that, with the address and undefined behaviour sanitizers of
gcc and clang; such a build runs in an interpreter into which their library was loaded first (LD_PRELOAD).
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import shutil
import sys
import sysconfig
import tomllib
import types
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

# The same files that run as plain Python. They form one extension group, so that they call each other directly in C.
HOT_MODULES = [
    "src/leafgrad/_core/tensor.py",
    "src/leafgrad/_core/modes.py",
    "src/leafgrad/_core/events.py",
    "src/leafgrad/_core/gradient.py",
    "src/leafgrad/_core/module_calls.py",
    "src/leafgrad/_core/recorder.py",
    "src/leafgrad/_core/bind.py",
    "src/leafgrad/_core/special.py",
    "src/leafgrad/_core/origin.py",
    "src/leafgrad/_core/op.py",
    "src/leafgrad/_core/node.py",
    "src/leafgrad/_core/saved.py",
    "src/leafgrad/_core/views.py",
    "src/leafgrad/_core/unbroadcast.py",
    "src/leafgrad/_core/reachable.py",
    "src/leafgrad/_core/engine.py",
    "src/leafgrad/_core/held.py",
    "src/leafgrad/_core/inplace.py",
    "src/leafgrad/_core/function.py",
    "src/leafgrad/autograd/function_apply.py",
    "src/leafgrad/autograd/function_backward.py",
    "src/leafgrad/autograd/function_saved.py",
    "src/leafgrad/ops/dimensions.py",
    "src/leafgrad/func/many_samples.py",
    "src/leafgrad/func/batching_rules.py",
    "src/leafgrad/func/batching.py",
]

# Written in C, on NumPy's C API: leafgrad/kernels/<name>.c, and flags of its own.
KERNELS = "src/leafgrad/kernels"
VECTORISED = ["-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"]
GCC = "gcc" in (sysconfig.get_config_var("CC") or "")
if GCC:
    # it would begin a loop where memory is aligned, and so add up in an order that depends on where an array lies
    VECTORISED += ["--param", "vect-max-peeling-for-alignment=0"]
NATIVE: dict[str, list[str]] = {
    "_loops": ["-fopenmp-simd"],
    # The numbers must not depend on the compiler: a product and a sum are fused where fma() says so only.
    "_random": ["-ffp-contract=off", "-fno-math-errno"],
    "_products": VECTORISED,
    "_fused": VECTORISED,
    "_recurrent": [],
    "_moves": VECTORISED,
    "_reductions": VECTORISED,
    "_images": VECTORISED,
    "_fourier": [*VECTORISED, *(["-Wno-psabi"] if GCC else [])],  # whose vectors are never passed by calls
}
# Without names for debuggers, and without empty pages between code and data: a tenth of the size of all extensions.
SMALL = ["-Wl,-s", "-Wl,-z,noseparate-code"] if sys.platform.startswith("linux") else []
# Written in Python, and translated to C for `_fused`: the functions with these decorators in these files.
TRANSLATED = ["src/leafgrad/kernels/fused/*.py", "src/leafgrad/optim/*.py"]
GENERATED = "build/generated"

# mypyc sees neither the user's mypy settings nor the installed packages: `numpy` is `Any` to it, so that the result
# does not depend on the version of NumPy (or of its stubs) that happens to be installed where the package is built.
MYPY_FLAGS = [
    "--config-file=",
    "--cache-dir=build/mypy_cache",
    "--no-site-packages",
    "--ignore-missing-imports",
    "--follow-imports=silent",
]

# setup.py also runs to answer questions about metadata; these are the commands for which something gets built.
BUILD_COMMANDS = {"build", "build_ext", "bdist_wheel", "editable_wheel", "install", "develop", "bdist_egg"}
INPLACE_COMMANDS = {"editable_wheel", "develop"}

WANTED = os.environ.get("LEAFGRAD_COMPILE", "").strip().lower()
COMPILE_OFF = WANTED in {"0", "no", "off", "false"}
COMPILE_REQUIRED = WANTED in {"1", "yes", "on", "true"}
SANITIZE = os.environ.get("LEAFGRAD_SANITIZE") == "1"
# With -O3 gcc takes minutes for the convolutions, most of it for checks in loops that it has unrolled.
# The same checks at -O1, and as calls instead of inlined code, take forty seconds. -g1 is enough to name lines.
CHECKED = ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"] if SANITIZE else []
if CHECKED and GCC:
    CHECKED += ["--param", "asan-instrumentation-with-call-threshold=0"]


def say(message: str) -> None:
    print(f"leafgrad: {message}", file=sys.stderr, flush=True)


def say_plain(reason: str) -> None:
    say(f"{reason}; installing the plain Python form, which works the same and is slower")


def shortly(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    return text if len(text) <= 100 else text[:100] + " ..."


def remove_inplace_builds() -> None:
    """Deletes compiled modules beside their sources. Python prefers a stale .so to the .py that was edited since."""
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        for binary in Path("src").rglob("*" + suffix):
            module = binary.with_name(binary.name.removesuffix(suffix))
            has_source = module.with_suffix(".py").exists() or module.with_suffix(".c").exists()
            if has_source or module.name.endswith("__mypyc"):
                say(f"removing {binary}")
                binary.unlink()


def hot_extensions() -> list[Extension]:
    """The extensions that mypyc makes of the hot modules; none if it cannot, or must not."""
    sources = [path for path in HOT_MODULES if Path(path).exists()]
    if not sources:
        return []
    try:
        from mypyc.build import mypycify

        extensions: list[Extension] = mypycify(
            [*MYPY_FLAGS, *sources], opt_level="3", debug_level="0", multi_file=False, group_name="leafgrad"
        )
    except (Exception, SystemExit) as error:  # mypyc reports errors in the sources by exiting
        if COMPILE_REQUIRED:
            raise
        say_plain(f"mypyc failed ({shortly(error)})")
        return []
    for extension in extensions:  # a warning of a compiler that nobody tried yet is no reason to give up
        extension.extra_compile_args = [flag for flag in extension.extra_compile_args if flag != "-Werror"]
        extension.extra_link_args += SMALL
    return extensions


def translate_kernels() -> None:
    """Write the C header of the fused kernels. A mistake in one of them ends the build, with its file and line."""
    for name in ("leafgrad", "leafgrad.kernels"):  # empty ones: the package itself is not to be run here
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [f"src/{name.replace('.', '/')}"]
    from leafgrad.kernels import translator

    text = translator.translate([path for pattern in TRANSLATED for path in sorted(Path().glob(pattern))])
    header = Path(GENERATED, "fused_kernels.h")
    if not header.exists() or header.read_text(encoding="utf-8") != text:
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text, encoding="utf-8")


def headers_of(path: Path) -> set[str]:
    """The headers of ours that a file includes, and those that they include: when one changes, it is compiled again."""
    found: set[str] = set()
    for name in re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        header = next(each for each in (path.with_name(name), Path(GENERATED, name)) if each.exists())
        found |= {str(header)} | headers_of(header)
    return found


def native_extensions() -> list[Extension]:
    """The extensions that are written in C; none if NumPy's headers are missing."""
    try:
        import numpy
    except ImportError as error:
        if COMPILE_REQUIRED:
            raise
        say(f"NumPy is not installed here ({shortly(error)}); leaving out the native loops")
        return []
    translate_kernels()
    windows = sys.platform == "win32"
    usual = ["/O2"] if windows else ["-O3", "-g0", "-pthread"]
    return [
        Extension(
            f"leafgrad.kernels.{name}",
            [f"{KERNELS}/{name}.c"],
            depends=sorted(headers_of(Path(KERNELS, f"{name}.c"))),
            include_dirs=[numpy.get_include(), GENERATED],
            extra_compile_args=usual if windows else [*usual, *flags, *CHECKED],
            extra_link_args=[] if windows else ["-pthread", *(CHECKED or SMALL)],
            libraries=[] if windows else ["m"],
            optional=not COMPILE_REQUIRED,  # setuptools warns and goes on without it
        )
        for name, flags in NATIVE.items()
    ]


def all_extensions() -> list[Extension]:
    if COMPILE_OFF:
        say_plain("LEAFGRAD_COMPILE=0")
        return []
    # The sanitizers check C that people have written; what mypyc generates would only take its time to compile.
    return native_extensions() if SANITIZE else hot_extensions() + native_extensions()


def readme() -> str:
    """README.md with the whole address in links to files of the repository, which nobody has beside the page of the
    package."""
    source = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({source}/blob/main/", text)


class OptionalBuildExt(build_ext):
    """build_ext that compiles extensions side by side, and gives up on the compiled form, not on the installation."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count()

    def run(self) -> None:
        beside_the_source = bool(self.inplace)
        try:
            super().run()
        except Exception as error:
            if COMPILE_REQUIRED:
                raise
            # All or nothing: a group of which one part is missing cannot be imported.
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            if beside_the_source:
                remove_inplace_builds()
            say_plain(f"the C compiler failed ({shortly(error)})")


class CleanBuild(build):
    """build that starts from an empty tree: setuptools would also install what earlier builds left in it."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


arguments: dict[str, Any] = {
    "cmdclass": {"build": CleanBuild, "build_ext": OptionalBuildExt},
    "long_description": readme(),
    "long_description_content_type": "text/markdown",
}
commands = set(sys.argv[1:])
if commands & BUILD_COMMANDS:
    if commands & INPLACE_COMMANDS or "--inplace" in commands or "-i" in commands:
        remove_inplace_builds()
    arguments["ext_modules"] = all_extensions()
setup(**arguments)
