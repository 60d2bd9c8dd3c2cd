"""From kernels in Python to C: what is said of kernels that the language does not have, and how loops are cut."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from leafgrad.kernels.translator import NotInTheLanguage, kernels_of, translate


def translated(tmp_path: Path, source: str) -> str:
    path = tmp_path / "kernels.py"
    path.write_text(textwrap.dedent(source))
    return translate([path])


def loops_of(text: str) -> int:
    """How often the first function goes over its elements: by many lanes, by few, and then over what is left."""
    function = text[: text.index("\n}\n")]
    assert 2 * function.count("j < LANES;") == function.count("j < FEW_LANES;")
    return function.count("j < LANES;")


WRONG = {
    "a loop": ("for k in x:\n        pass\n    return x", 3, "the language has no such statement: for k in x:"),
    "a function that it has not": ("return sinh(x)", 3, "the language has no such function: sinh(x)"),
    "a power": ("return x**3", 3, "a vector has the power 2 only"),
    "a string": ("return x + 'a'", 3, "the language has no such expression: 'a'"),
    "a name": ("return x + missing", 3, "missing has no value here"),
    "a name of the loops": ("n = x + 1\n    return n", 3, "the name n is taken"),
    "a condition of elements": ("if x:\n        x = -x\n    return x", 3, "may depend on numbers only"),
    "and of elements": ("return where((x > 0) and (x < 1), x, 0)", 3, "and, or, not are for numbers"),
    "a number as result": ("return 1", 3, "an elementwise kernel returns vectors"),
    "a reduction": ("return x - row_max(x)", 3, "the language has no such function: row_max(x)"),
    "a value that only a branch gives": ("if eps:\n        y = x + 1\n    return y", 5, "y has no value here"),
    "another operator": ("return x // 2", 3, "the language has no such operator: x // 2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_the_language_does_not_have_is_named_with_its_line(tmp_path: Path, case: str) -> None:
    body, line, message = WRONG[case]
    with pytest.raises(NotInTheLanguage, match=re.escape(message)) as caught:
        translated(tmp_path, f"@elementwise\ndef f(x: Vector, eps: Number) -> Vector:\n    {body}\n")
    assert f"kernels.py:{line}: kernel f: " in str(caught.value)


def test_arguments_of_other_kinds_and_equal_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotInTheLanguage, match="an argument cannot be a Matrix"):
        translated(tmp_path, "@elementwise\ndef f(x: Matrix):\n    return x\n")
    with pytest.raises(NotInTheLanguage, match="two kernels have the name f"):
        translated(tmp_path, "@elementwise\ndef f(x):\n    return x\n@elementwise\ndef f(x):\n    return -x\n")


ROWS = """
    @rowwise
    def f(x: Vector) -> Vector:
        {}
"""


def test_a_reduction_begins_a_new_loop_and_independent_ones_share_one(tmp_path: Path) -> None:
    assert loops_of(translated(tmp_path, ROWS.format("return x * 2"))) == 1
    assert loops_of(translated(tmp_path, ROWS.format("return x - row_mean(x)"))) == 2
    assert loops_of(translated(tmp_path, ROWS.format("return x * row_sum(x) + row_max(x)"))) == 2
    assert loops_of(translated(tmp_path, ROWS.format("return exp(x - row_max(x)) / row_sum(exp(x - row_max(x)))"))) == 3


def test_costly_vectors_are_kept_in_a_result_and_cheap_ones_computed_again(tmp_path: Path) -> None:
    text = translated(tmp_path, ROWS.format("e = exp(x)\n        return e / row_sum(e)"))
    assert "kept_e = out0" in text and text.count("exp_f32(") == 3  # by many lanes, by few, and of the rest
    text = translated(tmp_path, ROWS.format("e = x - 1\n        return e / row_sum(e)"))
    assert "kept" not in text
    text = translated(tmp_path, ROWS.format("e = exp(x)\n        return row_sum(e / row_sum(e))"))
    assert "kept_e = (real *)scratch" in text


def test_a_kernel_may_call_another_of_its_file(tmp_path: Path) -> None:
    text = translated(
        tmp_path,
        """
        LIMIT = 2 * 3
        @elementwise
        def inner(y: Vector, k: Number) -> Vector:
            z = y + LIMIT
            return z * k
        @summed
        def outer(x: Vector) -> Total:
            return total(inner(x, 4))
        """,
    )
    assert "(x + (real)6.0) * (real)4.0" in text


def test_kernels_in_classes_are_called_after_them(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("class step:\n    @elementwise\n    def formula(p: Updated, g: Vector):\n        return p - g\n")
    [kernel] = kernels_of(path)
    assert (kernel.name, kernel.arguments, kernel.results) == ("step_formula", [("p", "u"), ("g", "v")], ["v"])


def test_branches_are_choices_and_pairs_have_two_names(tmp_path: Path) -> None:
    text = translated(
        tmp_path,
        """
        @elementwise
        def step(p: Updated, g: Vector, rates: Pair, flag: Number, other: Number):
            low, high = rates
            if flag:
                if other:
                    g = -g
                change = g * low
            else:
                change = g * high
            a = b = p - change
            return a + (b if other else g)
        """,
    )
    assert "low = rates[0]" in text and "high = rates[1]" in text and "options[2]" in text
    assert text.count("real change = 0;") == 2 and "if (" not in text  # in single and in double precision
    with pytest.raises(NotInTheLanguage, match="has no value here"):
        translated(tmp_path, "@elementwise\ndef f(x: Vector, k: Number):\n    if k:\n        y = x\n    return y\n")


def test_a_literal_is_known_to_be_a_number(tmp_path: Path) -> None:
    text = translated(tmp_path, "@elementwise\ndef f(x: Vector, k: Number):\n    return maximum(minimum(x, k), -1)\n")
    assert "maximum_number_f32(minimum_f32(x, k1), (real)-1.0)" in text


@pytest.mark.skipif(shutil.which("gcc") is None, reason="asks gcc what it makes of a loop")
def test_a_choice_of_a_choice_is_made_by_vector_instructions(tmp_path: Path) -> None:
    """gcc made branches of it, and the loop took forty times as long."""
    text = translated(
        tmp_path,
        """
        @elementwise
        def clip(x: Vector, low: Vector, high: Number):
            return minimum(maximum(x, low), high)
        """,
    )
    functions = text[: text.index("static const Entry")].replace("CLONES static", "")
    (tmp_path / "kernels.c").write_text(f'#include "lanes.h"\n#include "vector_math.h"\n{functions}')
    flags = ["-O3", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-fopt-info-vec-optimized", "-c"]
    headers = Path(__file__).parents[2] / "src/leafgrad/kernels"
    command = ["gcc", *flags, f"-I{headers}", "kernels.c", "-o", "kernels.o"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    places = {int(line) for line in re.findall(r"kernels\.c:(\d+):.*vectorized", said)}
    assert len(places) == 2, said  # in single and in double precision
