"""The report in the terminal: compact, plain text where colours or bars cannot be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kmcompile.report import checks, summary
from kmcompile.report.accuracy_section import ACCURACY, accuracy_rows
from kmcompile.report.checks import Status
from kmcompile.report.choices import CAPTION, HEADS, choice_rows
from kmcompile.report.flight import SECTIONS, told_of
from kmcompile.report.mode_rows import MODES, mode_rows, modes_advice, modes_source
from kmcompile.report.promise_text import promise_rows
from kmcompile.report.reduction_text import reduction_facts
from kmcompile.report.time_section import time_facts
from kmcompile.text.figures import (
    bytes_text,
    count_text,
    ratio_text,
    share_text,
)
from kmcompile.text.visible import printable

_STYLES = {Status.PASSED: "green", Status.FAILED: "bold red", Status.NOT_RUN: "yellow"}
_BAR_CELLS, _SHORT_BAR_CELLS = 20, 12
# Options that were not given, stages that never decide, targets without a budget.
_UNSAID = (
    "options.",
    "stages.",
    "model.",  # fields that this kind of machine does not have
    "cost.pairs_",
    "verification.probabilities",
    "verification.input_tolerance",
    "memory.part_",
    "memory.flash_budget_",
    "memory.ram_budget_",
    "calibration",  # null whenever the risk is null
    "accuracy",
    "choice",
    "formats",
    "reduction",  # its missing limits are told with it
    *(one.name for one in SECTIONS),
    "modes.",
    "verification.bounded.sign_disagreements",  # null in a regression
    "verification.certified",
)


def print_report(report: dict[str, Any], console: Console, *, verbose: bool = False) -> None:
    """Print the report; colours and bars only where the console has them.

    Parameters
    ----------
    report : dict
        report.json.
    console : rich.console.Console
        The console, which respects NO_COLOR, pipes and terminals without Unicode.
    verbose : bool
        Print also why early exits are left out.
    """
    status, phrase = checks.verdict(report)
    head = Text(_plain(summary.title(report), console), style="bold")
    head.append(f"   {_plain(phrase, console)}", style=_STYLES[status])
    _print(console, head)
    _print(console, Text(_plain(summary.description(report), console), style="dim"))
    flown = told_of(report).values()
    of_modes = f"mode certified instead, on {modes_source(report)}"
    for name, table in (
        ("reduced machine", _facts(reduction_facts(report), console)),
        ("memory", _memory(report, console)),
        ("choices, by estimates", _choices(report["choices"], console)),
        (f"number formats, of {summary.formats_source(report)}", _formats(report, console)),
        (f"stages, of {summary.statistics_source(report)}", _stages(report, console)),
        ("one query", _costs(report, console)),
        *((one.title.lower(), _facts(one.facts, console)) for one in flown),
        (summary.promise_title(report), _risk(report, console)),
        ("right labels", _side_by_side(ACCURACY, accuracy_rows(report), console)),
        (of_modes, _modes(report, console)),
        ("verification", _verification(report, console)),
        ("not available", _missing(report, console)),
        ("notes", _notes(report, console, verbose)),
    ):
        if table.row_count:
            console.print()
            _print(console, Text(name, style="bold"))
            console.print(table)
            if name == of_modes:
                console.print(_indented(modes_advice(report), console))


def print_verification(name: str, result: dict[str, Any], console: Console) -> None:
    """Print the results of a repeated verification of the folder `name`."""
    status, phrase = checks.verdict(result)
    head = Text(_plain(name, console), style="bold")
    head.append(f"   {_plain(phrase, console)}", style=_STYLES[status])
    _print(console, head)
    table = _verification(result, console)
    table.add_row(
        _cell("  files", console),
        _cell(f"{count_text(result['files'])}, each with the hash in report.json", console),
    )
    console.print(table)


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False)


def _plain(text: str, console: Console) -> str:
    """Return text that the terminal can show, without control characters."""
    if console.options.ascii_only:
        text = text.replace("\N{RIGHTWARDS ARROW}", "->")
    return printable(text)


def _grid(*justify: str) -> Table:
    table = Table.grid(padding=(0, 2))
    for side in justify:
        table.add_column(justify="right" if side == "right" else "left", overflow="fold")
    return table


def _cell(text: str, console: Console, style: str = "") -> Text:
    # Text, not markup: a label may hold square brackets.
    return Text(_plain(text, console), style=style)


def _indented(text: str, console: Console) -> Table:
    table = _grid("left", "left")
    table.add_row("", _cell(text, console))
    return table


def _facts(facts: Sequence[summary.Fact], console: Console) -> Table:
    table = _grid("left", "left")
    for fact in facts:
        table.add_row(_cell(f"  {fact.label}", console), _cell(fact.value, console))
    return table


def _memory(report: dict[str, Any], console: Console) -> Table:
    table = _grid("left", "right", "left", "left")
    for usage in summary.usages(report):
        share = "" if usage.share is None else share_text(usage.share)
        filled = _cell(" ".join(filter(None, [_bar(usage.share, console), share])), console)
        if usage.note and usage.note not in _reasons_of_checks(report):
            filled.append("\n" * bool(share) + _plain(usage.note, console), style="dim")
        table.add_row(
            _cell(f"  {usage.label}", console),
            _cell(usage.used, console),
            _cell(f"of {usage.budget}" if usage.share is not None else usage.budget, console),
            filled,
        )
    return table


def _bar(share: float | None, console: Console, n_cells: int = _BAR_CELLS) -> str:
    if share is None or console.options.ascii_only:
        return ""
    filled = min(n_cells, max(1, round(share * n_cells))) if share else 0
    return "\N{BLACK SQUARE}" * filled + "\N{MIDDLE DOT}" * (n_cells - filled)


def print_choices(choices: Sequence[dict[str, Any]], console: Console) -> None:
    """Print the programs that were compared, as `kmcompile choices` does."""
    console.print(_choices(choices, console))
    _print(console, Text(_plain(CAPTION, console), style="dim"))


def _choices(choices: Sequence[dict[str, Any]], console: Console) -> Table:
    """Return the front of the programs that were compared; empty if there was one program only."""
    table = _grid("left", "left", "right", "right", "right", "right", "left")
    if len(choices) > 1:
        for cells in (HEADS, *choice_rows(choices)):
            style = "dim" if cells is HEADS else ""
            table.add_row("", *(_cell(text, console, style) for text in cells))
    return table


def _formats(report: dict[str, Any], console: Console) -> Table:
    """Return the compared formats, and the reason for the chosen one."""
    table = _grid("left", "left", "left")
    for row in summary.format_rows(report):
        figures = ", ".join(filter(None, (row.tables, row.instructions, row.certified)))
        text = _cell(figures, console)
        text.append("\n" * bool(figures) + _plain(row.reason, console), style="dim")
        table.add_row(
            _cell(f"  {row.name}", console), _cell("taken" if row.chosen else "-", console), text
        )
    return table


def _costs(report: dict[str, Any], console: Console) -> Table:
    table = _grid("left", "left")
    facts = [
        *_costs_against_exact(report),
        summary.fact(report, "operations, mean", "cost.mean_ops", count_text),
        summary.fact(report, "operations of the replay, mean", "cost.replay_ops_mean", count_text),
        summary.fact(report, "speed-up in operations", "cost.speedup_ops", ratio_text),
        summary.fact(report, "kernel evaluations, mean", "cost.kernel_evals_mean", count_text),
        summary.fact(report, "pairs of classes, mean", "cost.pairs_mean", count_text),
        summary.fact(report, "instructions, mean", "target.instructions.mean", count_text),
        summary.fact(report, "instructions, largest", "target.instructions.max", count_text),
        *_worst_case(report),
        *time_facts(report),
    ]
    for fact in facts:
        if not fact.missing:  # the reason stands under "not available"
            table.add_row(_cell(f"  {fact.label}", console), _cell(fact.value, console))
    tables = sum(part["bytes"] for part in report["memory"]["tables"])
    table.add_row(_cell("  tables", console), _cell(bytes_text(tables), console))
    return table


def _worst_case(report: dict[str, Any]) -> list[summary.Fact]:
    """Return the static worst case, and the one without the replay if it differs."""
    field = "target.instructions.worst"
    label = "instructions, static worst case"
    facts = [summary.fact(report, label, field, count_text)]
    found = report["target"]["instructions"] or {}
    if found.get("worst") != found.get("worst_without_replay"):
        label = f"{label} without replay"
        facts.append(summary.fact(report, label, f"{field}_without_replay", count_text))
    return facts


def _costs_against_exact(report: dict[str, Any]) -> list[summary.Fact]:
    """Return the cost of the exact sum, and the worst case if queries differ."""
    if not summary.has_early_exits(report):
        return []
    return [
        summary.Fact("operations, at most", _most_operations(report["cost"])),
        summary.fact(report, "operations, exact sum alone, mean", "cost.exact_ops", count_text),
        summary.fact(
            report, "instructions, exact sum alone", "target.instructions.exact", count_text
        ),
    ]


def _most_operations(cost: dict[str, Any]) -> str:
    """Return the worst-case operations of the program and of the exact sum alone."""
    return f"{count_text(cost['worst_ops'])}, the exact sum {count_text(cost['exact_worst_ops'])}"


def _stages(report: dict[str, Any], console: Console) -> Table:
    """Return each stage's share of decided and certified queries, and their cost."""
    table = _grid("left", "right", "left", "left", "left")
    if not summary.has_early_exits(report):
        return table
    for stage in report["stages"]:
        if stage["exit"] is None:
            continue
        mean = stage["ops_mean_decided"]
        table.add_row(
            _cell(f"  {stage['name']}", console),
            _cell(share_text(stage["decided"]), console),
            _cell(_bar(stage["decided"], console, _SHORT_BAR_CELLS), console),
            _cell("" if summary.proves_no_label(report) else _certified(stage), console),
            _cell("" if mean is None else f"{count_text(mean)} operations", console),
        )
    if summary.is_regression(report) or summary.proves_no_label(report):
        return table
    left_open = summary.not_certified(report)
    table.add_row(
        _cell("  not certified", console),
        _cell(share_text(left_open), console),
        _cell(_bar(left_open, console, _SHORT_BAR_CELLS), console),
    )
    return table


def _certified(stage: dict[str, Any]) -> str:
    share = stage["certified"]
    return "" if share is None else f"certified {share_text(share)}"


def _risk(report: dict[str, Any], console: Console) -> Table:
    """Return the risk promised, supported and measured."""
    table = _grid("left", "left")
    for label, text in promise_rows(report):
        table.add_row(_cell(f"  {label}", console), _cell(text, console))
    return table


def _modes(report: dict[str, Any], console: Console) -> Table:
    """Return both modes side by side, and the advice on which to use."""
    rows = [row for row in mode_rows(report) if row[0] != "stages that decide"]  # long
    return _side_by_side(MODES, rows, console)


def _side_by_side(names: Sequence[str], rows: Iterable[Sequence[str]], console: Console) -> Table:
    table = _grid("left", *("right" for _ in names))
    for label, *values in rows:
        if not table.row_count:
            table.add_row("", *(_cell(name, console, "dim") for name in names))
        table.add_row(_cell(f"  {label}", console), *(_cell(value, console) for value in values))
    return table


def _verification(report: dict[str, Any], console: Console) -> Table:
    table = _grid("left", "left")
    for check in checks.checks(report):
        result = _cell(f"{check.what}: {check.where}", console)
        result.append("\n" + _plain(check.result, console), style="dim")
        table.add_row(_cell(f"  {check.status}", console, _STYLES[check.status]), result)
    table.add_row(_cell("  queries", console), _cell(summary.queries_source(report), console))
    return table


def _missing(report: dict[str, Any], console: Console) -> Table:
    """Return the null fields with reasons, without expected ones and those named above."""
    table = _grid("left", "left")
    shown = _reasons_of_checks(report)
    if report["options"].get("mode") != "statistical":
        shown = shown | {summary.reason(report, "modes")}
    if report["risk"] is not None:
        stands_there = {
            summary.reason(report, f"risk.{name}") for name in ("requested", "measured")
        }
        shown = shown | stands_there
    for path, why in report["not_available"].items():
        if not path.startswith(_UNSAID) and why not in shown:
            table.add_row(_cell(f"  {path}", console), _cell(why, console, "dim"))
    return table


def _notes(report: dict[str, Any], console: Console, verbose: bool) -> Table:
    """Return the notes, without those that are in a check above; those on exits if asked for."""
    table = _grid("left", "left")
    made = (report["calibration"] or report["choice"] or {"notes": ()})["notes"]
    if made and not verbose:
        made = ["why early exits are left out: --verbose, or report.html"]
    notes = [*report["notes"], *made, *(report["reduction"] or {"notes": ()})["notes"]]
    for note in (*notes, *(note for one in told_of(report).values() for note in one.notes)):
        if not any(reason in note for reason in _reasons_of_checks(report)):
            table.add_row("", _cell(note, console))
    return table


def _reasons_of_checks(report: dict[str, Any]) -> set[str]:
    """Return the reasons why checks were not run, which are printed beside the checks."""
    return {c.result for c in checks.checks(report) if c.status is Status.NOT_RUN}
