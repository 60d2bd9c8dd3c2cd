"""The table that a profile prints as: one row for each event or average, PyTorch's columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

GAP = 2  # blanks between columns, and after the last
WIDTH = 12  # of columns with numbers
MARGIN = 4  # by which a column of text is wider than its longest entry
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
MEMORY_UNITS = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")]
FLOP_UNITS = [(1e12, "TFLOPs"), (1e9, "GFLOPs"), (1e6, "MFLOPs"), (1e3, "KFLOPs")]


class Column(NamedTuple):
    title: str
    width: int
    entry: Callable[[Any], str]
    left: bool = False  # where its entries begin; all others end at the right


def format_time(us: float, unit: str | None = None) -> str:
    """Microseconds as text, in the unit asked for or else the one that fits."""
    if unit not in UNITS:
        unit = "s" if us >= 1e6 else "ms" if us >= 1e3 else "us"
    return f"{us / UNITS[unit]:.3f}{unit}"


def format_share(us: float, total: float) -> str:
    """A part of the total time, in percent."""
    return f"{us * 100.0 / total:.2f}%" if total else "NaN"


def format_memory(count: int) -> str:
    """Bytes as text; negative where more was freed than allocated."""
    for size, unit in MEMORY_UNITS:
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def shortened(text: str, width: int | None) -> str:
    return text if width is None or len(text) < width - 3 else text[: width - 3] + "..."


def table(
    events: Any,
    sort_by: str | None = None,
    row_limit: int = 100,
    max_src_column_width: int | None = 75,
    max_name_column_width: int | None = 55,
    max_shapes_column_width: int | None = 80,
    header: str | None = None,
    top_level_events_only: bool = False,
    time_unit: str | None = None,
) -> str:
    """table(sort_by=None, row_limit=100, ...): the list as text. `sort_by` names an attribute of the events (the
    largest first), a `row_limit` of -1 shows them all, `time_unit` is "s", "ms" or "us"."""
    if not events:
        return ""
    rows = list(events)
    if sort_by is not None:
        rows.sort(key=lambda event: getattr(event, sort_by), reverse=True)
    if top_level_events_only:
        rows = [event for event in rows if event.cpu_parent is None]
    if row_limit >= 0:
        rows = rows[:row_limit]
    columns = number_columns(events, max_name_column_width, time_unit)
    if any([event.input_shapes for event in events]):
        width = text_width([str(event.input_shapes) for event in events], max_shapes_column_width)
        columns.append(Column("Input Shapes", width, lambda event: str(event.input_shapes)[:width]))
    before_source = sum([c.width + GAP for c in columns])
    stacked = [event for event in events if event.stack]
    if stacked:
        source_width = text_width([line for event in stacked for line in event.stack], max_src_column_width)
        columns.append(Column("Source Location", source_width, lambda e: source(e, 0, source_width), left=True))
    if events._with_flops:
        columns.append(flops_column(events))
    lines = [ruler(columns), line(columns, [c.title for c in columns]), ruler(columns)]
    for event in rows:
        lines.append(line(columns, [c.entry(event) for c in columns]))
        if stacked:
            lines += [" " * before_source + source(event, i, source_width) for i in range(1, len(event.stack))]
            lines.append("")
    lines.append(ruler(columns))
    above = [] if header is None else ["=" * (len(lines[0]) - GAP), header]
    if top_level_events_only:
        above += ["=" * (len(lines[0]) - GAP), "This report only display top-level ops statistics"]
    total = format_time(events.self_cpu_time_total, time_unit)
    return "\n".join([*above, *lines, f"Self CPU time total: {total}", ""])


def number_columns(events: Any, name_width: int | None, unit: str | None) -> list[Column]:
    """The name, times, memory and the number of calls."""
    width = text_width([event.key for event in events], name_width, least=0)
    total = events.self_cpu_time_total
    columns = [
        Column("Name", width, lambda event: shortened(event.key, name_width)),
        Column("Self CPU %", WIDTH, lambda event: format_share(event.self_cpu_time_total, total)),
        Column("Self CPU", WIDTH, lambda event: format_time(event.self_cpu_time_total, unit)),
        Column("CPU total %", WIDTH, lambda event: format_share(event.cpu_time_total, total)),
        Column("CPU total", WIDTH, lambda event: format_time(event.cpu_time_total, unit)),
        Column("CPU time avg", WIDTH, lambda event: format_time(event.cpu_time, unit)),
    ]
    if events._profile_memory:
        columns.append(Column("CPU Mem", WIDTH, lambda event: format_memory(event.cpu_memory_usage)))
        columns.append(Column("Self CPU Mem", WIDTH, lambda event: format_memory(event.self_cpu_memory_usage)))
    columns.append(Column("# of Calls", WIDTH, lambda event: str(event.count)))
    return columns


def flops_column(events: Sequence[Any]) -> Column:
    """Floating point operations, in the unit that suits the smallest."""
    known = [event.flops for event in events if event.flops]
    size, unit = next((one for one in FLOP_UNITS if known and min(known) >= one[0]), (1.0, "FLOPs"))
    return Column(f"Total {unit}", WIDTH, lambda event: f"{event.flops / size:.3f}" if event.flops else "--")


def text_width(entries: Sequence[str], limit: int | None, least: int = WIDTH) -> int:
    width = max(max([len(entry) for entry in entries]) + MARGIN, least)
    return width if limit is None else min(width, limit)


def source(event: Any, index: int, width: int) -> str:
    """One line of an event's stack. The end of it tells more than its beginning."""
    text = event.stack[index] if index < len(event.stack) else ""
    return text if len(text) <= width else "..." + text[-(width - 3) :]


def ruler(columns: Sequence[Column]) -> str:
    return "".join(["-" * c.width + " " * GAP for c in columns])


def line(columns: Sequence[Column], entries: Sequence[str]) -> str:
    cells = [e.ljust(c.width) if c.left else e.rjust(c.width) for c, e in zip(columns, entries, strict=True)]
    return "".join([cell + " " * GAP for cell in cells])
