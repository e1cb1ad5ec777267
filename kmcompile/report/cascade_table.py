"""The cascade as a table: queries that reach each stage, decided and certified ones, and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcompile.report.summary import Report, is_regression, not_certified, proves_no_label
from kmcompile.text.figures import MISSING, count_text, share_text

_COUNTS = ("kernel_evals_mean", "ops_mean", "ops_worst", "ops_mean_decided", "table_bytes")


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the queries with its bar; `width` is CSS."""

    text: str
    width: str


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage: its shares of the queries, and counts in the order of the table's heads."""

    name: str
    exit: str
    reached: Share
    decided: Share
    certified: Share
    counts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CascadeTable:
    """The stages in their order; `open` is the share that none of them certifies."""

    rows: tuple[StageRow, ...]
    open: Share | None


def cascade_table(report: Report) -> CascadeTable:
    """Return the stages of a report."""
    proves_none = is_regression(report) or proves_no_label(report)
    left_open = None if proves_none else _share(not_certified(report))
    return CascadeTable(tuple(_row(stage) for stage in report["stages"]), left_open)


def _row(stage: dict[str, Any]) -> StageRow:
    return StageRow(
        name=stage["name"],
        exit="hands on" if stage["exit"] is None else stage["exit"],
        reached=_share(stage["reached"]),
        decided=_share(stage["decided"]),
        certified=_share(stage["certified"]),
        counts=tuple(MISSING if stage[key] is None else count_text(stage[key]) for key in _COUNTS),
    )


def _share(share: float | None) -> Share:
    return Share(MISSING, "0%") if share is None else Share(share_text(share), f"{share:.2%}")
