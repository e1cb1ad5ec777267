"""How the cost of a query grows with the number of support vectors, as a table and a plot.

    python examples/benchmark/growth.py ijcnn1 kin40k --sizes 1000 5000 20000 50000

trains the tuned rbf machine of a set (`sets_machine.py`) on more and more of its samples, and
compiles each in modes exact, certified and statistical, in float32, for cortex-m7. All lines are
kept in the cache, as those of `all_sets.py` are, and what is there is not done again. The plot has
the mean of the instructions of a query, those of the replay included, over the number of vectors.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
from all_sets import CACHE, Run, facts_of, lines_in, measured
from sets_data import REGRESSIONS, Limits

mpl.use("Agg")
from matplotlib import pyplot as plt

MODES = ("exact", "certified", "statistical")
FORMAT = "float32"


def lines_of(name: str, size: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the lines of a set with so many training samples, which are done if missing."""
    limits = Limits(training=size)
    folder = arguments.cache / str(limits)
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "growth.jsonl"
    done = {(line["set"], line["run"]): line for line in lines_in(results)}
    for mode in MODES:
        if (name, mode) in done or (mode == "statistical" and name in REGRESSIONS):
            continue
        facts = facts_of(name, "rbf", folder, limits, arguments.seconds)
        line = measured(Run(name, "rbf", mode, FORMAT), folder, facts, arguments.seconds)
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        done[name, mode] = line
    return [done[name, mode] for mode in MODES if (name, mode) in done]


def print_lines(lines: list[dict[str, Any]]) -> None:
    """Print a row for each line: vectors, and instructions of a query."""
    for line in lines:
        if "error" in line:
            print(line["set"], line["run"], line["error"])
            continue
        found = line["instructions"]
        share = found["mean"] / found["exact"]
        print(
            f"{line['set']:12} {line['training']:6} samples {line['vectors']:6} vectors "
            f"{line['run']:11} mean {found['mean']:12,.0f} of {found['exact']:12,.0f} "
            f"({share:.2f}), largest {found['max']:12,.0f}"
        )


def plot(lines: list[dict[str, Any]], path: Path) -> None:
    """Write the plot: a line for each set and mode."""
    figure, axes = plt.subplots(figsize=(7, 5))
    done = [line for line in lines if "error" not in line]
    for name, mode in dict.fromkeys((line["set"], line["run"]) for line in done):
        own = [line for line in done if (line["set"], line["run"]) == (name, mode)]
        means = [line["instructions"]["mean"] for line in own]
        axes.loglog([line["vectors"] for line in own], means, marker="o", label=f"{name} {mode}")
    axes.set_xlabel("support vectors")
    axes.set_ylabel("instructions of a query on cortex-m7, mean")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Do what is missing, print the table and write the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", metavar="SET")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 5000, 20000, 50000])
    parser.add_argument("--seconds", type=int, default=1800, help="CPU limit of a process [1800]")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where machines are kept")
    parser.add_argument("--plot", type=Path, default=Path("growth.svg"))
    arguments = parser.parse_args()
    lines = []
    for name in arguments.names:
        for size in arguments.sizes:
            some = lines_of(name, size, arguments)
            print_lines(some)
            lines += some
    plot(lines, arguments.plot)


if __name__ == "__main__":
    main()
