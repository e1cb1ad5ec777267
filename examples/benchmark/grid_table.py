"""The tables of `grid.py`: the plain options of each set beside the best of the grid.

The figures are mean and static worst instructions of a query, and bytes of flash. The best in a
figure is that of the combinations that keep the promise; those that prove too little are named.
"""

from __future__ import annotations

from statistics import median
from textwrap import fill
from typing import Any

Line = dict[str, Any]
AIMS = ("mean", "worst", "flash")
LABELS = ("sign", "vote", "argmax", "proved", "value", "probability")
EXACT = ("reduce=off mode=exact format=float32", "mode=exact format=float32 replay=none")


def figures(line: Line) -> list[float]:
    """Return mean and static worst instructions, and bytes of flash."""
    return [line["instructions"]["mean"], line["instructions"]["worst"], line["flash_bytes"]]


def keeps(line: Line, default: Line) -> bool:
    """Return whether a program keeps the promise that the default one keeps."""
    risk, share = risk_of(default), line["certified_share"] or 0.0
    least = 1 - risk if risk else (default["certified_share"] or 0.0) - 0.01
    return risk_of(line) is not None or share >= least


def risk_of(line: Line) -> float | None:
    """Return the risk or loss that was asked for, if any."""
    asked = line["options"]
    return asked.get("risk", asked.get("loss"))


def program_of(line: Line) -> str:
    """Return a program in words: format, vectors, stages, proved labels and wrong ones."""
    stages = ", ".join(x["name"] for x in line["stages"] if x["name"] not in ("prepare", *LABELS))
    vectors = f"{line['vectors_after'] or line['vectors']} of {line['vectors']} vectors"
    share = 100 * (line["certified_share"] or 0.0)
    labels = f"proves {share:.1f} %, {line['disagreements']} of {line['queries']} differ"
    return f"{line['format']}, {vectors}; {stages}; {labels}"


def ratios(over: list[float], under: list[float]) -> list[float]:
    """Return the ratios of three figures."""
    return [a / b for a, b in zip(over, under, strict=True)]


def item(text: str) -> str:
    """Return an item of a list in at most 100 columns."""
    return fill(f"- {text}", 100, subsequent_indent="  ")


def row(name: str, numbers: list[float], form: str = ".3f") -> str:
    """Return a row of a table."""
    return f"| {' | '.join([name, *(format(number, form) for number in numbers)])} |"


def print_set(name: str, lines: dict[str, Line], grid: list[str]) -> list[float]:
    """Print what is there of a set; return the exact sum's figures in float32 to the default's."""
    done = {key: line for key, line in lines.items() if "error" not in line}
    print(f"\n## {name}: {len(lines)} compilations, {len(lines) - len(done)} failed\n")
    compared = [key for key in grid if key in done]
    gains = print_compared(done, compared) if "default" in done else []
    failed: dict[str, list[str]] = {}
    for key, line in lines.items():
        if "error" in line:
            said = f"exit {line['exit_code']}: {line['error'].partition(chr(10))[0]}"
            failed.setdefault(said, []).append(key)
    for said, keys in failed.items():
        print(item(f"{said}: {'all' if len(keys) == len(lines) else '; '.join(keys)}"))
    return gains


def print_compared(done: dict[str, Line], grid: list[str]) -> list[float]:
    """Print the default program of a set beside the best of the grid."""
    default, own = done["default"], figures(done["default"])
    kept = [key for key in grid if keeps(done[key], default)] or ["default"]
    best = [min(kept, key=lambda key, i=i: figures(done[key])[i]) for i in range(len(AIMS))]
    least = [figures(done[key])[i] for i, key in enumerate(best)]
    facts = [f"{default[key]} {key}" for key in ("features", "classes", "vectors", "held_out")]
    print(f"{', '.join(facts)}, risk or loss {risk_of(default)}\n")
    print("| | mean | worst | flash |\n| --- | ---: | ---: | ---: |")
    print(row("default", own, ",.0f"))
    print(row("best of the grid", least, ",.0f"))
    print(row("default / best", ratios(own, least)))
    for key in (f"optimize={aim}" for aim in AIMS):
        if key in done:
            print(row(f"{key} / best", ratios(figures(done[key]), least)))
    gains = next((ratios(figures(done[key]), own) for key in EXACT if key in done), [])
    if gains:
        print(row("exact float32 / default", gains))
    print("\n" + item(f"default: {program_of(default)}"))
    for aim, key in zip(AIMS, best, strict=True):
        print(item(f"best {aim}: {key}: {program_of(done[key])}"))
    for key in kept:
        saved = ratios(own, figures(done[key]))
        if min(saved) > 1:
            print(item(f"better in all three: {key}: {' '.join(format(x, '.3f') for x in saved)}"))
    for key in (key for key in grid if key not in kept):
        print(item(f"does not count: {key}: {program_of(done[key])}"))
    return gains


def print_tables(lines: list[Line], grid: list[str]) -> None:
    """Print the table of each set, and the medians.

    Parameters
    ----------
    lines : list of dict
        The results, all with samples or all without.
    grid : list of str
        Names of the combinations that are compared with the plain options.
    """
    sets: dict[str, dict[str, Line]] = {}
    for line in lines:
        sets.setdefault(f"{line['set']} {line['machine']}", {})[line["run"]] = line
    gains = [found for name in sets if (found := print_set(name, sets[name], grid))]
    if gains:
        middle = [median(column) for column in zip(*gains, strict=True)]
        print(f"\n## Medians of {len(gains)} machines\n")
        print("| | mean | worst | flash |\n| --- | ---: | ---: | ---: |")
        print(row("exact float32 / default", middle))
