"""The cascade as a table: queries that reach each stage, decided and certified ones, and cost."""

from __future__ import annotations

from kmcompile.report.summary import Report, is_regression, not_certified, proves_no_label
from kmcompile.report.told import Cell, Rows
from kmcompile.text.figures import MISSING, count_text, share_text

_HEADS = (
    *("Stage", "Exit", ("Share of the queries", "come here", "leave here", "certified"), "Kernels"),
    *(("Operations", "here, mean", "here, most", "until here"), "Table bytes"),
)
_SHARES = ("reached", "decided", "certified")
_COUNTS = ("kernel_evals_mean", "ops_mean", "ops_worst", "ops_mean_decided", "table_bytes")


def cascade_table(report: Report) -> Rows:
    """Return the stages of a report in their order, and the share that none of them certifies."""
    rows = [_row(stage) for stage in report["stages"]]
    if not is_regression(report) and not proves_no_label(report):
        share = _share(not_certified(report), "open")
        rows.append([Cell("not certified", names_row=True), *[""] * 3, share, *[""] * 5])
    return Rows(_HEADS, rows, kind="stages", name="Table of stages")


def _row(stage: Report) -> list[str | Cell]:
    counts = [MISSING if stage[key] is None else count_text(stage[key]) for key in _COUNTS]
    kind = " hands-on" if stage["exit"] is None else ""
    return [
        Cell(stage["name"], kind=kind, names_row=True),
        Cell(stage["exit"] or "hands on", kind=kind),
        *(_share(stage[name], name, kind) for name in _SHARES),
        *(Cell(count, kind=f"number{kind}") for count in counts),
    ]


def _share(share: float | None, bar: str, kind: str = "") -> Cell:
    text, width = (MISSING, "0%") if share is None else (share_text(share), f"{share:.2%}")
    return Cell(text, f"number share{kind}", bar=bar, width=width)
