"""leafgrad against PyTorch on the CPU: python -m benchmarks [PART ...] [options]

The parts are `workloads`, `operations`, `survey` (further functions), `memory`, `footprint` (import and size) and
`peers` (JAX, MLX and tinygrad, if they are installed); without any, all of them are measured. A whole run on a quiet
machine writes benchmarks/results.json, docs/benchmarks.md with its picture, and the figures in README.md. Everything
else is printed, and kept in build/.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from benchmarks import footprint, page, peers
from benchmarks.operations import OPERATIONS
from benchmarks.picture import picture
from benchmarks.results import Others, Results, machine
from benchmarks.rounds import ROOT, Form, Measurement, Plan, all_forms, memory
from benchmarks.survey import SURVEY
from benchmarks.workload import Workload
from benchmarks.workloads import HEADLINES, WORKLOADS

PARTS = ("workloads", "operations", "survey", "memory", "footprint", "peers")
LATEST = ROOT / "build" / "benchmarks.json"
PUBLISHED = ROOT / "benchmarks" / "results.json"
# Operations are many: fewer turns are enough for a mean. But they are made in several starts, minutes apart, because a
# core of a virtual machine may be slow for some seconds: then all turns of one start are, for one of the libraries.
PLANS = {False: (Plan(3, 5, 0.03), Plan(4, 2, 0.02)), True: (Plan(1, 3, 0.01, 0.5), Plan(1, 2, 0.005, 0.25))}
IMPORT_ROUNDS = {False: 20, True: 5}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)}; all of them")
    add("--only", default="", metavar="TEXT", help="only what has this name, or this in its name")
    add("--quick", action="store_true", help="fewer and shorter turns, in one start: to see the order of things")
    add("--starts", type=int, help="how often the processes are started anew")
    add("--rounds", type=int, help="how often they take turns each time")
    add("--threads", type=int, default=2, help="for each library (default 2)")
    add("--plain", action="store_true", help="the plain Python form everywhere, not only at the workloads of README.md")
    add("--leafgrad-from", metavar="FOLDER", help="where leafgrad is, if not where it is installed: src")
    add("--json", type=Path, default=LATEST, metavar="FILE", help="where the results go (build/benchmarks.json)")
    add("--pages", type=Path, metavar="FILE", help="measure nothing, write the pages from these results")
    add("--list", action="store_true", help="show the names of everything that can be timed")
    chosen = parser.parse_args()
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return chosen


def show(text: str) -> None:
    """One line of progress, for people only."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print("\r" + text[:width].ljust(width), end="" if text else "\r", file=sys.stderr, flush=True)


def plans(options: argparse.Namespace) -> Sequence[Plan]:
    return [
        Plan(options.starts or plan.starts, options.rounds or plan.rounds, plan.seconds, plan.longest)
        for plan in PLANS[options.quick]
    ]


def named(found: Mapping[str, Workload], text: str) -> list[Workload]:
    """The one that has this name, or all that have it as a part of theirs."""
    if text in found:
        return [found[text]]
    return [workload for name, workload in found.items() if text.lower() in name.lower()]


def measure(options: argparse.Namespace) -> Results:
    parts = options.parts or PARTS
    forms = all_forms(options.leafgrad_from)
    long, short = plans(options)
    began, others = time.monotonic(), Others()
    plan = {"starts": long.starts, "rounds": long.rounds, "seconds": long.seconds}
    results = Results(str(date.today()), machine(), options.threads, plan)
    measurement = Measurement()

    def takes_part(form: str, name: str) -> bool:
        if form in peers.PEERS:
            return name in peers.NAMES
        return form != "plain" or options.plain or name in HEADLINES

    def time_all(found: dict[str, Workload], plan: Plan, labels: Sequence[str]) -> None:
        chosen = named(found, options.only)
        taking = [
            form for form in pick(forms, *labels) if any(takes_part(form.label, workload.name) for workload in chosen)
        ]
        if chosen:
            measurement.measure(chosen, taking, plan, options.threads, takes_part, show)

    if "workloads" in parts:
        time_all(WORKLOADS, long, ["torch", "leafgrad", "plain", *(peers.PEERS if "peers" in parts else ())])
    elif "peers" in parts:
        time_all({name: WORKLOADS[name] for name in peers.NAMES}, long, ["torch", "leafgrad", *peers.PEERS])
    if "operations" in parts:
        time_all(OPERATIONS, short, ["torch", "leafgrad", *(["plain"] if options.plain else [])])
    if "survey" in parts:
        time_all(SURVEY, short, ["torch", "leafgrad"])
    if "memory" in parts and sys.platform != "win32":  # which does not count it
        training = [workload for workload in named(WORKLOADS, options.only) if workload.trains]
        results.memory = memory(training, pick(forms, "torch", "leafgrad"), options.threads, show)
    if "footprint" in parts and not options.only:
        results.imports = footprint.imports(forms, IMPORT_ROUNDS[options.quick], show)
        results.sizes = footprint.sizes(forms)
    results.times, results.versions, results.failures = measurement.times, measurement.versions, measurement.failures
    results.others, results.took = others.cores(), time.monotonic() - began
    in_part = options.only or options.quick or set(PARTS) - set(parts)
    results.whole = not in_part and {"torch", "leafgrad"} <= set(forms)
    show("")
    return results


def pick(forms: dict[str, Form], *labels: str) -> list[Form]:
    return [forms[label] for label in labels if label in forms]


def write_pages(results: Results) -> None:
    if not results.whole:
        raise SystemExit("error: the pages are made of a whole run with PyTorch, without --only or --quick")
    results.write(PUBLISHED)
    (ROOT / "docs" / "benchmarks.md").write_text(page.page(results), encoding="utf-8")
    (ROOT / "docs" / page.PICTURE).write_text(picture(results), encoding="utf-8")
    page.into_readme(ROOT / "README.md", page.figures(results))


def main() -> None:
    options = arguments()
    if options.list:
        print(*WORKLOADS, *OPERATIONS, *SURVEY, sep="\n")
        return
    if options.pages:
        write_pages(Results.read(options.pages))
        return
    if not named({**WORKLOADS, **OPERATIONS, **SURVEY}, options.only):
        raise SystemExit(f"error: nothing has {options.only!r} in its name; --list shows all names")
    results = measure(options)
    results.write(options.json)
    print(page.in_terminal(results))
    where = options.json.resolve()
    print(f"\n{results.took / 60:.1f} minutes; the times of all rounds are in {where}", file=sys.stderr)
    broken = results.broken()
    if results.whole and not results.busy and not broken:
        write_pages(results)
        print("docs/benchmarks.md, its picture and the figures in README.md are written", file=sys.stderr)
    elif results.whole:
        again = f"python -m benchmarks --pages {options.json}"
        print(f"The pages are left as they are, because of what is said above. Nevertheless: {again}", file=sys.stderr)
    for name, error in broken.items():
        print(f"\n{name}\n{error}", file=sys.stderr)
    if broken:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        show("")
        sys.exit("interrupted: nothing is written")
