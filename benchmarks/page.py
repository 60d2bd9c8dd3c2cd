"""The results as tables: in a terminal, as docs/benchmarks.md, and as a part of README.md."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks import goals, peers, survey
from benchmarks.operations import COUNTS, DIFFERENTIABLE, OPERATIONS, OTHERS, operation_name
from benchmarks.results import Results, ahead, geometric_mean
from benchmarks.workload import WORKLOADS
from benchmarks.workloads import HEADLINES

BEGIN = "<!-- figures: `make bench` writes what is between these two lines -->"
END = "<!-- end of figures -->"
PICTURE = "pictures/benchmarks.svg"
LABELS = {"torch": "PyTorch", "plain": "plain Python", "jax": "JAX", "mlx": "MLX", "numpy": "NumPy"}

HOW = """
Each library runs in a process of its own, and the processes take turns: in each round every one repeats its step for
{milliseconds:.0f} ms, after the threads of the one before have gone to sleep. There are {rounds:.0f} rounds, and all
of it happens {starts:.0f} times with new processes (single operations: fewer and shorter turns). Times are
the best of all rounds, and `ratio` is PyTorch's divided by leafgrad's: above 1 leafgrad is faster. `single rounds`
are the median and the quartiles of the ratios within one round. Both libraries may use {threads} threads
(`set_num_threads`, and the variables that NumPy's BLAS reads). The step is the same code for both, with `torch` or
`leafgrad` as its argument; the random numbers, and so the data and the initial weights, are the same as well.

Memory is the peak of a process that builds the workload and runs five steps, less its peak after the import and a step
of Adam on one number. An import is timed as a new interpreter, less one that imports nothing. The size on the disk is
that of the installed files without bytecode.

The raw times are in [benchmarks/results.json](../benchmarks/results.json), the code in [benchmarks/](../benchmarks).
"""
HEAD = """# Benchmarks

leafgrad and PyTorch on the CPU, doing the same work side by side. `make bench` writes this page."""
CLEARLY = 0.8  # below it, PyTorch is clearly faster
UNMEASURED = """
The figures have not been taken yet: `make bench` measures everything on the machine it runs on, and writes this page.
"""


def paragraph(text: str, width: int = 150) -> str:
    return textwrap.fill(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """In Markdown, with columns that are aligned in a terminal as well."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    shown = ["| " + " | ".join(pad(line, widths)) + " |" for line in lines]
    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
    return [shown[0], rule, *shown[1:]]


def pad(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(cells, widths))]


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            value = seconds / size
            return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"
    return ""


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.{0 if count >= 10e6 else 1}f} MB"


def number(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


# -- sections: each is a heading and its lines, or nothing if that was not measured --


def groups(results: Results) -> dict[str, list[str]]:
    """The workloads that were measured, by subject."""
    found: dict[str, list[str]] = {}
    for name, workload in WORKLOADS.items():
        if name in results.times:
            found.setdefault(workload.group, []).append(name)
    return found


def summary(results: Results) -> Iterator[str]:
    rows = []
    everything: list[float] = []
    for group, names in groups(results).items():
        ratios = list(results.ratios(names).values())
        everything += ratios
        rows.append([group, str(len(ratios)), str(ahead(ratios)), number(geometric_mean(ratios))])
    rows.append(["All workloads", str(len(everything)), str(ahead(everything)), number(geometric_mean(everything))])
    for n in COUNTS:
        for backward in (False, True):
            names = [name for name, op in OPERATIONS.items() if (op.size["n"], op.size["backward"]) == (n, backward)]
            ratios = list(results.ratios(names).values())
            if ratios:
                title = f"Single operations{' with backward' if backward else ''}, {n:,} elements"
                rows.append([title, str(len(ratios)), str(ahead(ratios)), number(geometric_mean(ratios))])
    kept = [row for row in rows if row[1] != "0"]
    if kept:
        yield "## Summary\n"
        yield from table(["", "rows", "leafgrad ahead", "geometric mean"], kept)


def slower(results: Results) -> Iterator[str]:
    """What is below 1 is said, and not left to be found."""
    ratios = results.ratios(name for name in WORKLOADS if name in results.times)
    behind = sorted([(ratio, name) for name, ratio in ratios.items() if ratio < 1])
    if ratios:
        yield "## Where PyTorch is faster\n"
        if not behind:
            yield f"In none of the {len(ratios)} workloads."
        else:
            listed = "; ".join(f"{name} ({ratio:.2f})" for ratio, name in behind)
            yield paragraph(f"In {len(behind)} of {len(ratios)} workloads the ratio is below 1: {listed}.")
    rivals = [rival[1] for name in ratios if WORKLOADS[name].rivals and (rival := results.fastest_rival(name))]
    if rivals:
        behind_them = len(rivals) - ahead(rivals)
        yield "\n" + paragraph(
            f"Against the fastest of the forms that PyTorch's optimisers have, {behind_them} of {len(rivals)} "
            f"are below 1, and the geometric mean is {number(geometric_mean(rivals))}."
        )
    singles = results.ratios(name for name in OPERATIONS if name in results.times)
    below = len([ratio for ratio in singles.values() if ratio < 1])
    if below:
        yield ("" if ratios else "## Where PyTorch is faster\n")
        yield paragraph(
            f"Of {len(singles)} measurements of single operations {below} are below 1: they are bold in their table."
        )


def missed_goals(results: Results) -> Iterator[str]:
    """What is slower than it is to be, and what a profile says about it."""
    rows, known = [], []
    measured = {
        name: ratio for name in goals.GOALS if (ratio := results.ratio(name) if name in results.times else None)
    }
    for name, ratio in measured.items():
        rival = results.fastest_rival(name) if WORKLOADS[name].rivals else None
        behind = rival is not None and rival[1] < goals.OF_FASTEST_FORMS
        if ratio < goals.GOALS[name] or behind:
            to_fastest = f"{number(rival[1])} ({rival[0]})" if rival and behind else ""
            rows.append([name, number(ratio), f"{goals.GOALS[name]:g}", to_fastest])
            known += [f"- {name}: {goals.PROFILES[name]}"] if name in goals.PROFILES else []
    if rows:
        yield "## Goals that are missed\n"
        said = f"""
            {len(measured)} workloads have a ratio that they are to reach, and optimisers {goals.OF_FASTEST_FORMS:g}
            against the fastest of PyTorch's forms. {len(measured) - len(rows)} do. The others:
        """
        yield paragraph(said) + "\n"
        yield from table(["workload", "ratio", "goal", "to the fastest form"], rows)
        yield from ["", *[paragraph(line) for line in known]]


def workloads(results: Results) -> Iterator[str]:
    for group, names in groups(results).items():
        forms = [form for form in ("torch", "leafgrad") if any(form in results.times[name] for name in names)]
        with_rivals = any("torch foreach" in results.times[name] for name in names)
        header = ["workload", *(LABELS.get(form, form) for form in forms)]
        header += ["ratio", "single rounds"] if len(forms) == 2 else []
        header += ["PyTorch's fastest form", "ratio to it"] if with_rivals else []
        rows = []
        for name in names:
            row = [name, *(duration(results.best(name, form)) for form in forms)]
            if len(forms) == 2:
                row += [number(results.ratio(name)), quartiles(results, name)]
            if with_rivals:
                form, ratio = results.fastest_rival(name) or ("", None)
                row += [form, number(ratio)]
            rows.append(row)
        yield f"## {group}\n"
        yield from table(header, rows)
        yield ""


def without_a_compiler(results: Results) -> Iterator[str]:
    ratios = results.ratios((name for name in results.times if name in WORKLOADS), "plain")
    if ratios:
        yield "## Without a compiler\n"
        yield "leafgrad in plain Python, as it runs where nothing could be compiled.\n"
        rows = []
        for name, ratio in ratios.items():
            times = [duration(results.best(name, form)) for form in ("torch", "plain")]
            rows.append([name, *times, number(ratio)])
        yield from table(["workload", "PyTorch", "plain Python", "ratio"], rows)


def quartiles(results: Results, name: str) -> str:
    found = results.quartiles(name)
    return f"{found[1]:.2f} ({found[0]:.2f} to {found[2]:.2f})" if found else ""


def operations(results: Results) -> Iterator[str]:
    """A line for each operation: the ratios in three sizes, forward and with backward."""
    columns = [(backward, n) for backward in (False, True) for n in COUNTS]
    rows = []
    for expression in (DIFFERENTIABLE + OTHERS).split("\n"):
        names = [operation_name(expression, backward, n) for backward, n in columns]
        if expression and any(name in results.times for name in names):
            ratios = [results.ratio(name) for name in names]
            cells = [f"**{number(ratio)}**" if ratio and ratio < 1 else number(ratio) for ratio in ratios]
            rows.append([f"`{expression}`", *cells])
    if rows:
        yield "## Single operations\n"
        yield paragraph("Ratios; bold where PyTorch is faster. `m` has 100 columns, `w` 100 rows and columns.") + "\n"
        header = [f"{'with backward' if backward else 'forward'}, {n:,}" for backward, n in columns]
        yield from table(["operation", *header], rows)


def further_functions(results: Results) -> Iterator[str]:
    """Of the functions of the survey those that PyTorch is clearly faster at, the slowest first."""
    ratios = results.ratios(survey.SURVEY)
    if not ratios:
        return
    found = list(ratios.values())
    rows = []
    for expression in survey.EXPRESSIONS:
        row = [ratios.get(survey.survey_name(expression, n)) for n in survey.COUNTS]
        if least := [ratio for ratio in row if ratio is not None and ratio < CLEARLY]:
            escaped = expression.replace("|", "\\|")
            rows.append((min(least), [f"`{escaped}`", *[number(ratio) for ratio in row]]))
    yield "## Further functions\n"
    text = (
        f"{len(survey.EXPRESSIONS)} functions without gradients: leafgrad is ahead in {ahead(found)} of {len(found)} "
        f"measurements, with a geometric mean of {number(geometric_mean(found))}. Those below {CLEARLY} at some size, "
        "in elements:"
    )
    yield paragraph(text) + "\n"
    yield from table(["function", *[f"{n:,}" for n in survey.COUNTS]], [row for _, row in sorted(rows)])


def memory(results: Results) -> Iterator[str]:
    rows = []
    for name, found in results.memory.items():
        own = {form: entry["peak"] - entry["baseline"] for form, entry in found.items()}
        if {"torch", "leafgrad"} <= set(own):
            ratio = own["torch"] / own["leafgrad"] if min(own.values()) >= 1e6 else None  # less is noise
            rows.append([name, megabytes(own["torch"]), megabytes(own["leafgrad"]), number(ratio)])
        else:
            rows.append([name, "", megabytes(own.get("leafgrad", 0)), ""])
    if rows:
        yield "## Peak memory\n"
        bases: dict[str, list[int]] = {}
        for found in results.memory.values():
            for form, entry in found.items():
                bases.setdefault(LABELS.get(form, form), []).append(entry["baseline"])
        said = ", ".join(f"{label} {megabytes(statistics.median(values))}" for label, values in bases.items())
        yield paragraph(f"Beyond what a process takes that has trained a single number, which is: {said}.") + "\n"
        yield from table(["workload", "PyTorch", "leafgrad", "ratio"], rows)


def import_times(results: Results) -> dict[str, tuple[float, float]]:
    """Best and median, less those of an interpreter that imports nothing."""
    empty = results.imports.get("nothing")
    if not empty:
        return {}
    return {
        label: (min(times) - min(empty), statistics.median(times) - statistics.median(empty))
        for label, times in results.imports.items()
        if label != "nothing" and times
    }


def footprint(results: Results) -> Iterator[str]:
    times = import_times(results)
    if times:
        yield "## Import\n"
        rows = [[LABELS.get(label, label), duration(best), duration(middle)] for label, (best, middle) in times.items()]
        yield from table(["import", "best", "median"], rows)
        yield ""
    if results.sizes:
        yield "## Size on the disk\n"
        rows = [
            [LABELS.get(label, label), megabytes(size["own"]), megabytes(size["total"])]
            for label, size in results.sizes.items()
        ]
        yield from table(["", "package", "with what it needs"], rows)


def other_libraries(results: Results) -> Iterator[str]:
    labels = [label for label in peers.PEERS if any(label in forms for forms in results.times.values())]
    if labels:
        yield "## Other libraries\n"
        named = ", ".join(f"{LABELS.get(label, label)} {results.versions[label]}" for label in labels)
        yield paragraph(f"{named}, each with its compiler, on the CPU: the best times of the same work.") + "\n"
        forms = ["torch", "leafgrad", *labels]
        rows = [[name, *(duration(results.best(name, form)) for form in forms)] for name in peers.NAMES]
        yield from table(["workload", *(LABELS.get(form, form) for form in forms)], rows)


def remarks(results: Results) -> Iterator[str]:
    """Whether the numbers are to be trusted."""
    if results.busy:
        yield paragraph(f"NOT TO BE QUOTED: other programs used {results.others:.1f} cores of the machine meanwhile.")
    noisy = {name: spread for name, spread in results.noisy().items() if name in WORKLOADS}
    if noisy:
        listed = "; ".join(f"{name} (± {spread:.0%})" for name, spread in noisy.items())
        yield paragraph(f"The rounds of these disagree, so that their ratios are not to be quoted: {listed}.")
    if results.failures:
        yield paragraph(f"These could not be run: {'; '.join(results.failures)}.")


# -- the places --


def setting(results: Results) -> str:
    machine = results.machine
    named = [("PyTorch", "torch"), ("leafgrad", "leafgrad")]
    compared = [f"{name} {results.versions[form]}" for name, form in named if form in results.versions]
    who = f"{' and '.join(compared)} on " if compared else ""
    return (
        f"{who}{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['Python']}, "
        f"NumPy {machine['NumPy']}; {results.threads} threads each; {results.date}."
    )


SECTIONS = (
    summary,
    slower,
    missed_goals,
    workloads,
    without_a_compiler,
    operations,
    further_functions,
    memory,
    footprint,
    other_libraries,
)


def in_terminal(results: Results) -> str:
    parts = ["\n".join(lines).strip("\n") for section in SECTIONS if (lines := list(section(results)))]
    return "\n\n".join([paragraph(setting(results)), *parts, *remarks(results)])


def page(results: Results | None) -> str:
    """docs/benchmarks.md."""
    if results is None:
        return HEAD + "\n" + UNMEASURED
    first, *others = ["\n".join(lines).strip("\n") for section in SECTIONS if (lines := list(section(results)))]
    picture = f"![ratios of all workloads on a logarithmic scale]({PICTURE})"
    how = HOW.format(**results.plan, threads=results.threads, milliseconds=results.plan["seconds"] * 1e3)
    measured = [paragraph(part) for part in how.strip().split("\n\n")]
    parts = [HEAD, paragraph(setting(results)), *remarks(results), first, picture, *others]
    return "\n\n".join([*parts, "## How it was measured", *measured]) + "\n"


def last(results: Results) -> str:
    """The workloads that leafgrad is slowest at."""
    ratios = results.ratios(WORKLOADS)
    behind = sorted([name for name in ratios if ratios[name] < 1], key=lambda name: ratios[name])[:4]
    listed = ", ".join(f"{name} ({ratios[name]:.2f})" for name in behind)
    return f" PyTorch is furthest ahead at: {listed}." if behind else ""


def figures(results: Results) -> str:
    """What README.md says: at most eight rows, and the means of the rest."""
    rows = []
    for name in HEADLINES:
        noisy = " (~)" if name in results.noisy() else ""
        row = [name + noisy, duration(results.best(name, "torch"))]
        for form in ("leafgrad", "plain"):
            row += [duration(results.best(name, form)), number(results.ratio(name, form))]
        rows.append(row)
    every, single = (list(results.ratios(names).values()) for names in (WORKLOADS, OPERATIONS))
    imports = {label: duration(best) for label, (best, _) in import_times(results).items()}
    sizes = {label: megabytes(size["total"]) for label, size in results.sizes.items()}
    unsure = (
        "(~): single rounds disagree by more than a tenth, and the ratio is that of the best times."
        if any(name in results.noisy() for name in HEADLINES)
        else ""
    )
    said = f"""
        {unsure} leafgrad is ahead in {ahead(every)} of {len(every)} workloads, with a geometric mean of
        {number(geometric_mean(every))}, and in {ahead(single)} of {len(single)} measurements of single operations, with
        one of {number(geometric_mean(single))}.{last(results)}
        `import leafgrad` takes {imports["leafgrad"]} (`numpy` alone {imports["numpy"]}, `torch` {imports["torch"]});
        with all that it needs it is {sizes["leafgrad"]} on the disk, PyTorch {sizes["torch"]}.
        [All figures](docs/benchmarks.md).
    """
    head = table(["a step of", "PyTorch", "leafgrad", "ratio", "plain Python", "ratio"], rows)
    return "\n".join([paragraph(setting(results) + " Above 1 leafgrad is faster."), "", *head, "", paragraph(said)])


def into_readme(file: Path, text: str) -> None:
    """Replace what is between the markers."""
    before, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{file.name} has no lines {BEGIN} and {END}")
    file.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
