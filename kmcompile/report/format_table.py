"""The table of the number formats that were compared."""

from __future__ import annotations

from kmcompile.report.summary import Report, is_reduced
from kmcompile.report.told import Part, Rows, Text
from kmcompile.text.figures import bytes_text, count_text, ratio_text, share_text

_HEADS = ("Format", "Tables", "Operations", "Instructions", "Certified", "Choice", "Why")
_CAPTION = (
    "Tables, operations and the certified share are of the sum over all support vectors alone; "
    "operations are multiply-adds, of integers in an integer format. Instructions, of one query "
    "with the early exits, are estimated from operations and the target's cost of each: they rank "
    "formats, and those above are counted."
)


def formats_table(report: Report) -> list[Part]:
    """Return the compared formats; nothing if the format was given."""
    if report["formats"] is None:
        return []
    whose = " of the reduced machine's labels" * is_reduced(report)
    rows = [_row(compared, whose) for compared in report["formats"]]
    return [Rows(_HEADS, rows), Text(f"Of {formats_source(report)}. {_CAPTION}")]


def formats_source(report: Report) -> str:
    """Return a text on the inputs by which the formats were compared."""
    sources = {compared["queries"] for compared in report["formats"] or ()} - {None}
    return ", ".join(sorted(sources))


def _row(compared: Report, whose: str) -> tuple[str, ...]:
    """Return the cells of a format; dashes if there is no program in it."""
    name, choice = compared["format"], "taken" if compared["chosen"] else "-"
    if compared["width"] is None:
        return (name, "-", "-", "-", "-", choice, compared["reason"])
    kind = {True: ", without loss", False: ", rounded", None: ""}[compared["lossless"]]
    gain = compared["speedup_ops"]
    exits = "" if gain in (None, 1.0) else f" (early exits: {ratio_text(gain)} fewer)"
    return (
        f"{name} ({compared['width']}{kind})",
        f"{bytes_text(compared['flash_tables_bytes'])} of tables",
        count_text(round(compared["operations"])),
        f"about {count_text(round(compared['instructions_estimated']))} instructions{exits}",
        f"certifies {share_text(compared['certified_share'])}{whose}",
        choice,
        compared["reason"],
    )
