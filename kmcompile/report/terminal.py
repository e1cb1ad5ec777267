"""The report in the terminal: compact, plain text where colours or bars cannot be shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kmcompile.report import checks, summary
from kmcompile.report.accuracy_section import accuracy_table
from kmcompile.report.checks import Status
from kmcompile.report.choices import CAPTION, choice_rows
from kmcompile.report.facts import costs, times
from kmcompile.report.flight import SECTIONS
from kmcompile.report.format_table import formats_source
from kmcompile.report.mode_rows import STAGES, modes_source
from kmcompile.report.promise_text import promise_facts
from kmcompile.report.sections import sections
from kmcompile.report.summary import Report
from kmcompile.report.told import Fact, Rows, Told
from kmcompile.text.figures import (
    MISSING,
    bytes_text,
    count_text,
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


def print_report(report: Report, console: Console, *, verbose: bool = False) -> None:
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
    told = defaultdict(lambda: Told("", "", ()), sections(report))
    flown = [told[one.name] for one in SECTIONS]
    modes = f"mode certified instead, on {modes_source(report)}"
    for name, table in (
        ("reduced machine", _facts(told["reduction"].facts, console)),
        ("memory", _memory(report, console)),
        ("choices, by estimates", _rows(told["choices"].tables, console)),
        (f"number formats, of {formats_source(report)}", _formats(told["formats"].tables, console)),
        (f"stages, of {summary.statistics_source(report)}", _stages(report, console)),
        ("one query", _costs(report, console)),
        *((one.title.lower(), _facts(one.facts, console)) for one in flown),
        (summary.promise_title(report), _facts(promise_facts(report), console)),
        ("right labels", _rows(told["risk"].tables[:1], console)),
        (modes, _modes(told["modes"], console)),
        ("verification", _verification(report, console)),
        ("not available", _missing(report, console)),
        ("notes", _notes(report, told, console, verbose)),
    ):
        if table.row_count:
            console.print()
            _print(console, Text(name, style="bold"))
            console.print(table)
            if name == modes:
                console.print(_indented(told["modes"].notes[0], console))


def print_verification(name: str, result: Report, console: Console) -> None:
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
    right = accuracy_table(result)
    if right.rows:
        console.print()
        console.print(_rows((right,), console))


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


def _facts(facts: Sequence[Fact], console: Console) -> Table:
    table = _grid("left", "left")
    for fact in facts:
        table.add_row(_cell(f"  {fact.label}", console), _cell(fact.value, console))
    return table


def _memory(report: Report, console: Console) -> Table:
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


def print_choices(choices: Sequence[Report], console: Console) -> None:
    """Print the programs that were compared, as `kmcompile choices` does."""
    console.print(_rows([choice_rows(choices)] if len(choices) > 1 else [], console))
    _print(console, Text(_plain(CAPTION, console), style="dim"))


def _rows(tables: Sequence[Rows], console: Console) -> Table:
    """Return the first table, columns of numbers to the right; an empty one without any."""
    if not tables:
        return _grid()
    rows = tables[0].texts()
    columns = zip(*rows, strict=True)
    table = _grid("left", *("right" if all(map(_is_number, one)) else "left" for one in columns))
    table.add_row("", *(_cell(str(head), console, "dim") for head in tables[0].heads))
    for row in rows:
        table.add_row("", *(_cell(text, console) for text in row))
    return table


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text in ("-", MISSING)


def _formats(tables: Sequence[Rows], console: Console) -> Table:
    """Return the compared formats, and the reason for the chosen one."""
    table = _grid("left", "left", "left")
    for row in [row for one in tables for row in one.texts()]:
        name, stored, _, instructions, certified, choice, reason = row
        figures = ", ".join(one for one in (stored, instructions, certified) if one != "-")
        text = _cell(figures, console)
        text.append("\n" * bool(figures) + _plain(reason, console), style="dim")
        table.add_row(_cell(f"  {name}", console), _cell(choice, console), text)
    return table


def _costs(report: Report, console: Console) -> Table:
    tables = sum(part["bytes"] for part in report["memory"]["tables"])
    # The reason for what is missing stands under "not available".
    told = [*costs(report, in_short=True), *times(report)]
    found = [one for one in told if not one.missing]
    return _facts([*found, Fact("tables", bytes_text(tables))], console)


def _stages(report: Report, console: Console) -> Table:
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


def _certified(stage: Report) -> str:
    share = stage["certified"]
    return "" if share is None else f"certified {share_text(share)}"


def _modes(told: Told, console: Console) -> Table:
    """Return both modes side by side, without their stages, which are long."""
    rows = [row for one in told.tables for row in one.rows if row[0] != STAGES]
    return _rows([replace(one, rows=rows) for one in told.tables], console)


def _verification(report: Report, console: Console) -> Table:
    table = _grid("left", "left")
    for check in checks.checks(report):
        result = _cell(f"{check.what}: {check.where}", console)
        result.append("\n" + _plain(check.result, console), style="dim")
        table.add_row(_cell(f"  {check.status}", console, _STYLES[check.status]), result)
    table.add_row(_cell("  queries", console), _cell(summary.queries_source(report), console))
    return table


def _missing(report: Report, console: Console) -> Table:
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
    if report["target"]["time"] is not None or report["target"]["emulator"] is None:
        shown = shown | {summary.reason(report, "target.measured")}
    for path, why in report["not_available"].items():
        if not path.startswith(_UNSAID) and why not in shown:
            table.add_row(_cell(f"  {path}", console), _cell(why, console, "dim"))
    return table


def _notes(report: Report, told: Mapping[str, Told], console: Console, verbose: bool) -> Table:
    """Return the notes, without those that are in a check above; those on exits if asked for."""
    table = _grid("left", "left")
    made = (report["calibration"] or report["choice"] or {"notes": ()})["notes"]
    if made and not verbose:
        made = ["why early exits are left out: --verbose, or report.html"]
    flown = (note for one in SECTIONS for note in told[one.name].notes)
    for note in (*report["notes"], *made, *told["reduction"].notes, *flown):
        if not any(reason in note for reason in _reasons_of_checks(report)):
            table.add_row("", _cell(note, console))
    return table


def _reasons_of_checks(report: Report) -> set[str]:
    """Return the reasons why checks were not run, which are printed beside the checks."""
    return {c.result for c in checks.checks(report) if c.status is Status.NOT_RUN}
