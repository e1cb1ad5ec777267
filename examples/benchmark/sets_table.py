"""The tables of `all_sets.py`: medians and the worst five, and a row for every machine.

The open half and the half that is kept aside have tables of their own. A gain is the operations of
the exact sum in float32 over the mean operations of the program, on the same queries, and so are
instructions those of that sum: an integer program is not compared with its own. Where no line of
a machine is in float32, an integer program has no gain. A compilation that failed is counted as
such. Neither is in a median.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import Any

Line = dict[str, Any]
RUNS = (
    "default",
    "default_data",
    "mean",
    "mean_data",
    "certified",
    "certified_data",
    "statistical",
    "exact",
)
N_WORST = 5


def print_table(lines: list[Line]) -> None:
    """Print the tables of both halves, as far as there are lines of them."""
    for half in ("open", "kept"):
        own = with_float32_sums([line for line in lines if line["half"] == half])
        if own:
            print(f"\n# The half that is {'kept aside' if half == 'kept' else 'open'}\n")
            print("\n".join([*summary(own), "", *rows(own), "", *failures(own)]))


def with_float32_sums(lines: list[Line]) -> list[Line]:
    """Return the lines with the cost of the exact sum in float32 of their machine, or None."""
    groups: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in lines:
        groups[line["machine"], line["set"]].append(line)
    return [{**line, **_float32_sum(line, groups[line["machine"], line["set"]])} for line in lines]


def summary(lines: list[Line]) -> list[str]:
    """Return medians over the sets and the worst five, a row for each run of a kernel."""
    table = [
        "| machine | run | format | done | failed | gain, median | gain 99 % | least gains "
        "| instructions to exact | worst to exact | KB | certified | wrong | CPU s | MB |",
        "| --- " * 3 + "| ---: " * 4 + "| --- " + "| ---: " * 7 + "|",
    ]
    groups: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for line in lines:
        groups[line["machine"], line["asked_format"], line["run"]].append(line)
    for machine, number_format, run in sorted(groups, key=_order):
        group = groups[machine, number_format, run]
        done = [line for line in group if "error" not in line]
        head = f"| {machine} | {run} | {number_format} | {len(done)} | {len(group) - len(done)} "
        if not done:
            table.append(head + "| - " * 10 + "|")
            continue
        gains = [(gain, line["set"]) for line in done if (gain := _gain(line)) is not None]
        least = ", ".join(f"{name} {gain:.2f}" for gain, name in sorted(gains)[:N_WORST])
        wrong = sum(line["certified_wrong"] or 0 for line in done)
        cells = [
            _median(done, _gain, ".2f"),
            _median(done, lambda line: _gain(line, "p99_ops"), ".2f"),
            least,
            _median(done, lambda line: _instructions(line, "mean"), ".3f"),
            _median(done, lambda line: _instructions(line, "worst"), ".2f"),
            _median(done, lambda line: line["flash_bytes"] / 1000, ".1f"),
            _median(done, lambda line: line["certified_share"], ".4f"),
            str(wrong),
            _median(done, lambda line: line["cpu_s"], ".1f"),
            _median(done, lambda line: line["peak_mb"], ".0f"),
        ]
        table.append(head + "| " + " | ".join(cells) + " |")
    return table


def rows(lines: list[Line]) -> list[str]:
    """Return a row for each machine: its size, and gain and mean instructions of each run."""
    runs = sorted({(line["asked_format"], line["run"]) for line in lines}, key=_run_order)
    names = [run if form == "target" else f"{run} {form}" for form, run in runs]
    table = [
        "Gain in operations to the exact sum in float32 / mean instructions on the target; last "
        "those of that sum:",
        "",
        "| set | machine | features | classes | vectors | held out | "
        + " | ".join(names)
        + " | float32 sum |",
        "| --- " * 2 + "| ---: " * (5 + len(names)) + "|",
    ]
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line["machine"], line["set"]), []).append(line)
    for (machine, name), group in sorted(groups.items(), key=lambda item: item[0][0] != "rbf"):
        by_run = {(line["asked_format"], line["run"]): line for line in group}
        some = group[0]
        facts = [str(some.get(key, "-")) for key in ("features", "classes", "vectors", "held_out")]
        cells = [_cell(by_run.get(run)) for run in runs]
        sums = [x["float32_instructions"] for x in group if x["float32_instructions"]]
        last = f"{sums[0]:,.0f}" if sums else "-"
        table.append(f"| {' | '.join([name, machine, *facts, *cells, last])} |")
    return table


def failures(lines: list[Line]) -> list[str]:
    """Return a line for each compilation that failed, or whose C is not right."""
    said = []
    for line in lines:
        where = f"{line['set']} {line['machine']} {line['run']} {line['asked_format']}"
        if "error" in line:
            error = line["error"].splitlines()[0] if line["error"] else ""
            said.append(f"- {where}: exit {line['exit_code']}: {error}")
        elif line["mismatches"] or line["certified_wrong"] or line.get("disagreements_certified"):
            said.append(f"- {where}: WRONG: {line['mismatches']} answers of the C")
    return ["Failures:", "", *(said or ["- none"])]


def _order(key: tuple[str, str, str]) -> tuple[int, str, tuple[int, str, int]]:
    machine, number_format, run = key
    return int(machine != "rbf"), machine, _run_order((number_format, run))


def _run_order(key: tuple[str, str]) -> tuple[int, str, int]:
    number_format, run = key
    return int(number_format != "target"), number_format, RUNS.index(run)


def _gain(line: Line, name: str = "mean_ops") -> float | None:
    exact = line["float32_ops"]
    return None if exact is None else float(exact / line[name])


def _counted(line: Line) -> bool:
    return bool(line.get("instructions") and line["instructions"]["mean"])


def _instructions(line: Line, name: str) -> float | None:
    exact = line["float32_instructions"]
    if not _counted(line) or not line["instructions"][name] or not exact:
        return None
    return float(line["instructions"][name] / exact)


def _float32_sum(line: Line, group: list[Line]) -> Line:
    """Return operations and instructions of the exact sum in float32: of this line, or another."""
    of_float32 = [x for x in group if "error" not in x and x["format"] == "float32"]
    of_float32.sort(key=lambda x: (x is not line, x["mode"] != "exact"))
    counted = [x["instructions"]["exact"] for x in of_float32 if _counted(x)]
    return {
        "float32_ops": of_float32[0]["exact_ops"] if of_float32 else None,
        "float32_instructions": counted[0] if counted else None,
    }


def _median(lines: list[Line], value: Callable[[Line], float | None], form: str) -> str:
    values = [found for line in lines if (found := value(line)) is not None]
    return format(median(values), form) if values else "-"


def _cell(line: Line | None) -> str:
    if line is None:
        return ""
    if "error" in line:
        return f"exit {line['exit_code']}"
    instructions = f"{line['instructions']['mean']:,.0f}" if _counted(line) else "-"
    gain = _gain(line)
    return f"{'-' if gain is None else format(gain, '.2f')} / {instructions}"
