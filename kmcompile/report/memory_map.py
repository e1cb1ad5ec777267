"""The memory map: pictures of flash and RAM to scale, with small parts magnified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kmcompile.report.summary import Report, reason
from kmcompile.report.told import Cell, Rows
from kmcompile.text.figures import MISSING, bytes_text, share_text

_HEADS = ("Part", "Bytes", "Of what is used", "")
_LEAST_SHARE = 0.005  # of a table with a row of its own
_LABELLED = 0.09  # share of the strip that has room for a name
_MAGNIFIED = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a memory.

    Attributes
    ----------
    kind : str
        Class of the part in the style sheet.
    note : str
        Remark beside the part's bytes.
    seen_share : float
        Share of the stack that was measured in use.
    """

    name: str
    bytes: int
    kind: str
    note: str = ""
    seen_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Piece:
    """A part as it is drawn: `at` and `width` in thousandths of the picture."""

    part: Part
    at: str
    width: str
    label: str
    seen: str


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """One memory: all of it, the used part magnified, and a row for each part.

    Attributes
    ----------
    whole : tuple of Piece
        Pieces to the scale of `limit`.
    strip : tuple of Piece
        Pieces to the scale of the used bytes.
    lens : str
        Points of the polygon between the two.
    """

    name: str
    summary: str
    limit: str
    used: str
    whole: tuple[Piece, ...]
    strip: tuple[Piece, ...]
    lens: str
    table: Rows
    small: str
    heading: ClassVar[str] = ""
    look: ClassVar[str] = "memory"


def memory_maps(report: Report) -> tuple[MemoryMap, ...]:
    """Return flash and RAM of a report."""
    return (
        _map(report, "Flash", "flash", _flash_parts(report)),
        _map(report, "RAM", "ram", _ram_parts(report)),
    )


def _flash_parts(report: Report) -> list[Part]:
    """Return code, library, tables by size, and the other parts of flash."""
    memory = report["memory"]
    by_size = sorted(memory["tables"], key=lambda table: -table["bytes"])
    tables = [
        Part(table["name"], table["bytes"], f"table-{n % 2}") for n, table in enumerate(by_size)
    ]
    if memory["code_bytes"] is None:
        return tables
    library = memory["library_bytes"]
    code = memory["code_bytes"] - library
    constants = memory["flash_bytes"] - memory["code_bytes"] - sum(part.bytes for part in tables)
    return [
        Part("code", code, "code"),
        Part("compiler's library", library, "library"),
        *tables,
        Part("names and other constants", max(0, constants), "other"),
    ]


def _ram_parts(report: Report) -> list[Part]:
    """Return the variables kept between calls, the caller's workspace and the stack of a call."""
    memory = report["memory"]
    stack, painted = memory["stack_bytes"], memory["painted_stack_bytes"]
    if painted is None:
        note = f"static worst case; seen: {reason(report, 'memory.painted_stack_bytes')}"
    else:
        note = f"static worst case; {bytes_text(painted)} of it were seen in use (darker)"
    if stack is None:
        note = reason(report, "memory.stack_bytes")
    seen_share = painted / stack if painted and stack else 0.0
    return [
        Part("kept between calls", memory["ram_bytes"] or 0, "other"),
        Part("workspace", memory["workspace_bytes"] or 0, "workspace", "the caller's"),
        Part("stack of a call", stack or 0, "stack", note, min(1.0, seen_share)),
    ]


def _map(report: Report, name: str, kind: str, parts: Sequence[Part]) -> MemoryMap:
    memory = report["memory"]
    used = sum(part.bytes for part in parts)
    part_bytes, budget = memory[f"part_{kind}_bytes"], memory[f"{kind}_budget_bytes"]
    limit = max(part_bytes or 0, used)
    strip = _pieces(parts, max(used, 1))
    large = used >= _MAGNIFIED * limit
    share = used / limit if limit else 0.0
    edge = f"{1000 * share:.1f}"
    return MemoryMap(
        name=name,
        summary=_summary(report, name, used, part_bytes, budget),
        limit=bytes_text(limit),
        used=bytes_text(used),
        whole=() if large else _pieces(parts, limit),
        strip=strip if used else (),
        lens=f"0,24 {edge},24 1000,60 0,60",
        table=Rows(_HEADS, _rows(parts, used), kind="parts"),
        small=_small(parts, used),
    )


def _summary(
    report: Report, name: str, used: int, part_bytes: int | None, budget: int | None
) -> str:
    least = "at least " if name == "Flash" and report["memory"]["flash_is_lower_limit"] else ""
    text = f"{least}{bytes_text(used)} used"
    if part_bytes is None:
        return f"{text}; {report['target']['name']} stands for no part with a limit"
    text += f", {share_text(used / part_bytes)} of the {bytes_text(part_bytes)} of "
    text += str(report["target"]["part"])
    if budget is not None and budget != part_bytes:
        text += f"; the budget is {bytes_text(budget)}"
    return text


def _pieces(parts: Sequence[Part], whole: int) -> tuple[Piece, ...]:
    pieces, start = [], 0
    for part in parts:
        share = part.bytes / whole
        label = part.name if share >= _LABELLED else ""
        at, width = 1000 * start / whole, 1000 * share
        seen = f"{100 * part.seen_share:.1f}%"
        pieces.append(Piece(part, f"{at:.2f}", f"{width:.2f}", label, seen))
        start += part.bytes
    return tuple(piece for piece in pieces if piece.part.bytes)


def _rows(parts: Sequence[Part], used: int) -> list[tuple[str | Cell, ...]]:
    """Return the rows: all but small tables."""
    return [
        (
            Cell(part.name, names_row=True, swatch=part.kind),
            Cell(f"{part.bytes:,}", "number"),
            Cell(share_text(part.bytes / used) if used else MISSING, "number"),
            part.note,
        )
        for part in parts
        if not _is_small(part, used)
    ]


def _small(parts: Sequence[Part], used: int) -> str:
    """Return the tables that have no row of their own, in one line."""
    return ", ".join(f"{part.name} {part.bytes:,}" for part in parts if _is_small(part, used))


def _is_small(part: Part, used: int) -> bool:
    return part.kind.startswith("table") and part.bytes < _LEAST_SHARE * used
