"""The tables of the manual's page `exits_chosen`, from the lines that `chosen.py` wrote."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

Line = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
EXITS = (
    "sign_map",
    "local_expansion",
    "taylor_polynomial",
    "bound_sequence",
    "quadratic_bounds",
    "subspace_certificate",
    "class_scores",
    "linear_filter",
    "reduced_set",
    "nearest_vectors",
    "interval_ratio",
)
FITS = {
    "sign_map": "expansions density lattice linear_input monomials pruning subdivision",
    "local_expansion": "expansion expansion_constants expansion_moments expansion_norms "
    "expansion_size expansion_tree known_expansions lower_expansion likely_labels",
    "bound_sequence": "sequence_normals sequence_offers vectors/free vectors/greedy "
    "vectors/refine vectors/refined vectors/span",
    "quadratic_bounds": "quadratic lower_quadratic",
    "subspace_certificate": "subspace lower_subspace hadamard",
    "class_scores": "class_scores_fit lead_link",
    "linear_filter": "linear",
    "reduced_set": "reduced_set_fit free_vectors_fit fit_points",
    "nearest_vectors": "nearest",
    "interval_ratio": "ratio interval_link",
}
"""Modules of the fits, beside the one of the exit's own name."""
FIGURES = ("mean", "worst", "flash")


def page_of(lines: list[Line]) -> str:
    """Return the tables in Markdown."""
    good = [line for line in lines if "mean" in line]
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in good:
        if line["without"] is None:
            groups[_group(line)].append(line)
    made = [_how_often(groups), _without(good), _seconds(groups)]
    return "\n\n".join(made)


def _group(line: Line) -> str:
    """Return the kernel, `D` with samples, and the board that is not a Cortex-M7."""
    board = line["target"].removeprefix("cortex-")
    words = (line["machine"].rstrip("23"), "D" * (line["mode"] == "data"), board * (board != "m7"))
    return " ".join(filter(None, words))


def lines_of(name: str) -> int:
    """Return the lines of an exit: its fit, its stage, its view and its templates."""
    places = [
        *(ROOT / "kmcompile" / "program").rglob(f"early_exits/{name}.py"),
        ROOT / "kmcompile" / "emit" / "exits" / f"{name}.py",
        ROOT / "templates" / "stages" / f"{name}.c.j2",
        *(ROOT / "templates" / name).rglob("*.j2"),
    ]
    for module in (name, *FITS.get(name, "").split()):
        places += [ROOT / "kmcompile" / "exits" / kind / f"{module}.py" for kind in KINDS]
    return sum(len(place.read_text().splitlines()) for place in places if place.is_file())


KINDS = ("certified", "statistical")


def _how_often(groups: dict[str, list[Line]]) -> str:
    """Return how many programs of each group have each part."""
    rows = [["chosen in", *groups], ["---"] * (len(groups) + 1)]
    rows.append(["machines", *(str(len(found)) for found in groups.values())])
    counts = [Counter(part for line in found for part in _parts(line)) for found in groups.values()]
    names = [*EXITS, *sorted({part for count in counts for part in count} - {*EXITS})]
    rows += [[f"`{name}`", *(str(count[name]) for count in counts)] for name in names]
    return _table(rows)


def _parts(line: Line) -> set[str]:
    if not line["stages"]:
        return {line["sum"], line["format"], "no early exit"}
    return {*line["stages"], line["sum"], line["format"]}


def _without(good: list[Line]) -> str:
    """Return what the programs take without each part, as factors: medians, the largest product.

    The product is the rule of the choice: mean, worst case, root of the flash.
    """
    keys = ("set", "machine", "mode", "target")
    whole = {tuple(line[k] for k in keys): line for line in good if line["without"] is None}
    ratios: dict[str, list[list[float]]] = defaultdict(list)
    for line in good:
        base = whole.get(tuple(line[k] for k in keys))
        if line["without"] is not None and base is not None:
            mean, worst, flash = (line[f] / base[f] for f in FIGURES)
            product = mean * worst * flash**0.5
            ratios[line["without"]].append([mean, worst, flash, product])
    rows = [["without", "programs", *FIGURES, "product", "largest", "lines"], ["---"] * 8]
    for name, found in sorted(ratios.items(), key=lambda item: -len(item[1])):
        columns = list(zip(*found, strict=True))
        medians = [f"{statistics.median(column):.2f}" for column in columns]
        own = f"{lines_of(name):,}" if name in EXITS else ""
        rows.append([f"`{name}`", str(len(found)), *medians, f"{max(columns[3]):.2f}", own])
    rows += [
        [f"`{name}`", "0", "", "", "", "", "", f"{lines_of(name):,}"]
        for name in EXITS
        if name not in ratios
    ]
    return _table(rows)


def _seconds(groups: dict[str, list[Line]]) -> str:
    """Return the share of the choice's CPU seconds that the fits of each exit take."""
    spent: dict[str, Counter[str]] = defaultdict(Counter)
    for group, found in groups.items():
        for line in found:
            spent[group].update({**line["spent"], "all": line["cpu_s"]})
    names = [name for name in EXITS if any(count[name] for count in spent.values())]
    rows = [["CPU", *spent], ["---"] * (len(spent) + 1)]
    rows += [
        [f"`{name}`", *(f"{count[name] / count['all']:.0%}" for count in spent.values())]
        for name in names
    ]
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
