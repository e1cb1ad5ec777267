"""The tables and the plot of `make bench`, from its rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

Row = dict[str, Any]
FIELDS = (
    "model",
    "vectors",
    "features",
    "classes",
    "target",
    "peer",
    "instructions",
    "ns",
    "flash",
    "ram",
    "stack",
    "wrong",
    "asked",
    "reason",
)
OURS = "kmcompile"


def write_tables(folder: Path, rows: list[Row]) -> str:
    """Write `bench.csv`, `bench.md` and `bench.svg` into a folder; return the text of `bench.md`.

    Parameters
    ----------
    rows : list of dict
        As `bench.py` keeps them; `ns` comes from the files of times beside them.
    """
    for row in rows:
        path = folder / f"times-{row['model']}.json"
        if row["target"] == "host" and path.is_file():
            row["ns"] = json.loads(path.read_text()).get(row["peer"])
    with (folder / "bench.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = "\n".join(markdown(rows)) + "\n"
    (folder / "bench.md").write_text(text)
    plot(rows, folder / "bench.svg")
    return text


def markdown(rows: list[Row]) -> list[str]:
    """Return the lines of the table, one part for each model and place."""
    lines = []
    for model, target in dict.fromkeys((row["model"], row["target"]) for row in rows):
        own = [row for row in rows if (row["model"], row["target"]) == (model, target)]
        own.sort(key=lambda row: row.get("instructions") or float("inf"))
        some = own[0]
        lines += [
            f"## {model} on {target}: {some['vectors']} vectors, {some['features']} features, "
            f"{some['classes']} classes",
            "",
            "| | instructions | ns | flash | RAM | stack | wrong labels |",
            "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        ]
        for row in own:
            if "reason" in row:
                lines.append(f"| {row['peer']} | - | - | - | - | - | {row['reason']} |")
                continue
            cells = [_number(row.get(key)) for key in ("instructions", "ns")]
            cells += [_number(row.get(key)) for key in ("flash", "ram", "stack")]
            wrong = f"{row['wrong']} of {row['asked']}"
            lines.append(f"| {row['peer']} | {' | '.join(cells)} | {wrong} |")
        lines.append("")
    return lines


def plot(rows: list[Row], path: Path) -> None:
    """Draw instructions against flash on the boards; those with wrong labels are crosses."""
    boards = [row for row in rows if row["target"] != "host" and "reason" not in row]
    panels = list(dict.fromkeys((row["model"], row["target"]) for row in boards))
    if not panels:
        return
    columns = len({target for _, target in panels})
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(4.5 * columns, 3.4 * lines), squeeze=False, layout="constrained"
    )
    for axis, (model, target) in zip(axes.flat, panels, strict=False):
        for row in boards:
            if (row["model"], row["target"]) != (model, target):
                continue
            colour = "tab:red" if row["peer"].startswith(OURS) else "tab:gray"
            marker = "x" if row["wrong"] else "o"
            spot = row["flash"] / 1000, row["instructions"]
            axis.plot(*spot, marker, color=colour)
            axis.annotate(row["peer"], spot, fontsize=7, xytext=(3, 3), textcoords="offset points")
        axis.set(title=f"{model}, {target}", xscale="log", yscale="log")
        axis.set(xlabel="flash, KB", ylabel="instructions a query")
    figure.savefig(path)
    plt.close(figure)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
