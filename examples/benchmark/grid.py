"""The plain options beside a grid of options that keep the same promise, counted on a board.

    python examples/benchmark/grid.py satimage twonorm
    python examples/benchmark/grid.py wine segment --without-data
    python examples/benchmark/grid.py satimage twonorm --pooled --only default
    python examples/benchmark/grid.py satimage twonorm --table

trains a tuned machine for each set (`sets_machine.py`), and compiles it for a Cortex-M7 with the
plain options, with `--optimize` mean, worst and flash, and with each combination of the grid
(`sets_compile.py`). A line of JSON for each is appended to the file of results. What is in that
file is not done again; a failure is a line with its error. Every compilation has a process of its
own with a limit of its CPU seconds, and no two run at once. Then the tables are printed
(`grid_table.py`); `--table` prints those of what is there.

With samples the promise is `--risk`: 0.01, or 10 / n of n samples that do not support it; or
`--loss`, which has results of its own. The grid has 24 combinations. One without a promise counts
where it proves all labels but such a share.
With `--without-data` the grid has 18: the three with `--optimize` are among them; what proves less
than the plain options by more than a point does not count. The default replay of mode exact is
none, so its other value is `float64`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from all_sets import CACHE, MAX_FLASH, commit, facts_of, in_process, limits_of, lines_in
from grid_table import AIMS, Line, print_tables
from sets_machine import MACHINES

FORMATS = ("float32", "int16", "int8")
FEWEST_TIMES_RISK = 8.37
"""Samples times the risk that they support in every combination, about."""


def combinations(with_data: bool) -> dict[str, dict[str, Any]]:
    """Return the options of each compilation by its name: the plain ones first, then the grid."""
    plain = [{}, *({"optimize": aim} for aim in AIMS)]
    if with_data:
        plain = [{**one, "data": True} for one in plain]
    grid = grid_with_data() if with_data else grid_without_data()
    return {name_of(options): options for options in (*plain, *grid)}


def grid_with_data() -> Iterator[dict[str, Any]]:
    """Yield the 24 combinations with samples."""
    forms: tuple[dict[str, str], ...] = ({}, {"format": "float32"})
    aims = [{"optimize": aim} for aim in AIMS]
    off, auto = {"reduce": "off"}, {"reduce": "auto", "data": True}
    for aim, form in product(aims, forms):
        yield {**off, "data": True, **aim, **form}
        yield {**auto, "mode": "statistical", **aim, **form}
    for number_format in FORMATS:
        yield {**off, "mode": "exact", "format": number_format}
        yield {**auto, "mode": "exact", "format": number_format}
    for aim in aims:
        yield {**off, "mode": "certified", "data": True, **aim}
        yield {**auto, **aim}


def grid_without_data() -> Iterator[dict[str, Any]]:
    """Yield the 15 combinations without samples that are not plain options with `--optimize`."""
    for number_format, replay in product(FORMATS, ("none", "float64")):
        yield {"mode": "exact", "format": number_format, "replay": replay}
    for number_format, aim in product(FORMATS, AIMS):
        yield {"mode": "certified", "format": number_format, "optimize": aim}


def name_of(options: dict[str, Any]) -> str:
    """Return the options in words, without the samples."""
    words = [f"{key}={value}" for key, value in options.items() if key != "data"]
    return " ".join(words) or "default"


def measured(path: Path, options: dict[str, Any], facts: Line, arguments: Any) -> Line:
    """Return what came of a compilation, or its error."""
    if "error" in facts:
        return facts
    options = {"target": "cortex-m7", "max_flash": MAX_FLASH, **options}
    if options.get("data") and options.get("mode") != "certified":
        n, risk = facts["held_out"], arguments.risk
        promise = risk if n * risk >= FEWEST_TIMES_RISK else 10 / n
        options |= {"risk": promise} if arguments.loss is None else {"loss": arguments.loss}
    samples = path.with_name(path.name.rpartition("-")[0] + ".npz")
    words = [str(path), str(samples), json.dumps(options)]
    printed, failure = in_process("sets_compile.py", words, arguments.seconds)
    return {**facts, "options": options, **(failure or json.loads(printed.splitlines()[-1]))}


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="SET")
    parser.add_argument("--machines", nargs="+", choices=tuple(MACHINES), default=["rbf"])
    parser.add_argument("--without-data", action="store_true", help="no samples, no risk")
    parser.add_argument("--risk", type=float, default=0.01, metavar="P")
    parser.add_argument("--loss", type=float, metavar="P", help="instead of a risk")
    parser.add_argument("--pooled", action="store_true", help="hold out test samples, too")
    parser.add_argument("--training", type=int, default=2000, metavar="N")
    parser.add_argument("--held-out", type=int, default=6000, metavar="N")
    parser.add_argument("--queries", type=int, default=300, metavar="N")
    parser.add_argument("--seconds", type=int, default=900, help="CPU limit of a process [900]")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where machines are kept")
    parser.add_argument("--results", type=Path, help="JSON lines [grid.jsonl or loss.jsonl]")
    parser.add_argument("--only", nargs="+", metavar="RUN", help="not the whole grid")
    parser.add_argument("--table", action="store_true", help="print the tables only")
    return parser.parse_args()


def main() -> None:
    """Do what is missing in the results, and print the tables."""
    arguments = parsed()
    with_data = not arguments.without_data
    limits = limits_of(arguments)
    folder = arguments.cache / str(limits)
    results = arguments.results or folder / ("loss.jsonl" if arguments.loss else "grid.jsonl")
    results.parent.mkdir(parents=True, exist_ok=True)
    done = {(x["set"], x["machine"], x["with_data"], x["run"]) for x in lines_in(results)}
    for name, machine in () if arguments.table else product(arguments.names, arguments.machines):
        head = {"set": name, "machine": machine, "with_data": with_data}
        runs = combinations(with_data).items()
        missing = [(run, options) for run, options in runs if (*head.values(), run) not in done]
        if arguments.only:
            missing = [(run, options) for run, options in missing if run in arguments.only]
        facts = facts_of(name, machine, folder, limits, arguments.seconds) if missing else {}
        for run, options in missing:
            line = measured(folder / f"{name}-{machine}.joblib", options, facts, arguments)
            with results.open("a") as file:
                file.write(json.dumps({**head, "run": run, "commit": commit(), **line}) + "\n")
    wanted = [x for x in lines_in(results) if not arguments.names or x["set"] in arguments.names]
    grid = [key for key in combinations(with_data) if key != "default"]
    if with_data:
        grid = [key for key in grid if key.startswith("reduce=")]
    print_tables([line for line in wanted if line["with_data"] == with_data], grid)


if __name__ == "__main__":
    main()
