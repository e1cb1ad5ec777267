"""One benchmark of all data sets: what every mode and format takes on a board.

    python examples/benchmark/all_sets.py --half open
    python examples/benchmark/all_sets.py wine segment --machines rbf --formats float32
    python examples/benchmark/all_sets.py --half open --table

trains a tuned machine of each kernel for each set (`sets_machine.py`), compiles it in every mode
and format (`sets_compile.py`), and appends a line of JSON for each to the file of results. What
is in that file is not done again; a failure is a line with its error. Every machine and every
compilation has a process of its own with a limit of its CPU seconds, and no two run at once.
Then the table is printed (`sets_table.py`); `--table` prints that of what is there.

Of each set at most 10,000 samples train the machine, 10,000 others are held out of the training
for `--data`, and 1,000 test samples are asked. `default` and `default_data` are the plain options
without and with `--data`. A regression has a tolerance of a tenth of its target's deviation.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sets_data import HALVES, REGRESSIONS, Limits, half_of, names_of
from sets_table import print_table

HERE = Path(__file__).resolve().parent
CACHE = Path.home() / ".cache" / "kmcompile-all-sets"
MACHINES = ("rbf", "poly2", "poly3")
FORMATS = ("float32", "auto")
MODES: dict[str, dict[str, Any]] = {
    "certified": {"mode": "certified"},
    "certified_data": {"mode": "certified", "data": True},
    "statistical": {"mode": "statistical", "data": True},
    "exact": {"mode": "exact"},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "default": {},
    "default_data": {"data": True},
    "mean": {"optimize": "mean"},
    "mean_data": {"optimize": "mean", "data": True},
}
# With fewer, half of them do not support the default risk of 0.001 at 99 % confidence.
N_FOR_DEFAULT_RISK = 6138
# What a machine takes is measured also where it would not fit into the part.
MAX_FLASH = 16 << 20
TOLERANCE = 0.1  # in standard deviations of the target
PATIENCE = 5  # wall-clock seconds for each CPU second


@dataclass(frozen=True)
class Run:
    """One compilation: a machine of a set, a mode and a format."""

    name: str
    machine: str
    mode: str
    number_format: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a line of the results is found by."""
        return self.name, self.machine, self.mode, self.number_format

    def options(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the options of `compile_model`."""
        options = {"target": "cortex-m7", "max_flash": MAX_FLASH}
        options |= {**MODES, **DEFAULTS}[self.mode]
        if self.number_format != "target":
            options["format"] = self.number_format
        if self.mode == "statistical" and facts["held_out"] < N_FOR_DEFAULT_RISK:
            options["risk"] = "auto"
        if facts["deviation"] is not None and self.mode != "exact":
            options["tolerance"] = TOLERANCE * facts["deviation"]
        return options


def runs_of(name: str, machine: str, modes: list[str], formats: list[str]) -> Iterator[Run]:
    """Yield the compilations of a machine: the plain options first, in the target's format."""
    for mode in DEFAULTS:
        if mode in modes:
            yield Run(name, machine, mode, "target")
    for number_format in formats:
        for mode in MODES:
            if mode in modes and (name not in REGRESSIONS or mode != "statistical"):
                yield Run(name, machine, mode, number_format)


def in_process(script: str, words: list[str], seconds: int) -> tuple[str, dict[str, Any] | None]:
    """Return what a script printed, and its failure or None."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    root = HERE.parents[1]
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [sys.executable, str(HERE / script), *words],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=seconds * PATIENCE + 60,
            preexec_fn=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", {"error": f"not done within {seconds * PATIENCE + 60} s", "exit_code": None}
    if done.returncode == 0:
        return done.stdout, None
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode < 0:
        last = f"ended by signal {-done.returncode}; the limit is {seconds} s of CPU; {last}"
    return "", {"error": last, "exit_code": done.returncode}


def facts_of(name: str, machine: str, folder: Path, limits: Limits, seconds: int) -> Any:
    """Return the facts of a trained machine, which is trained if it is not there, or a failure."""
    path = folder / f"{name}-{machine}.json"
    if not path.is_file():
        words = [name, machine, str(folder), *limits.words]
        failure = in_process("sets_machine.py", words, seconds)[1]
        if failure is not None:
            return {**failure, "step": "training"}
    return json.loads(path.read_text())


def measured(run: Run, folder: Path, facts: dict[str, Any], seconds: int) -> dict[str, Any]:
    """Return the line of a compilation."""
    line = dict(zip(("set", "machine", "run", "asked_format"), run.key, strict=True))
    line |= {"half": half_of(run.name), "commit": commit(), **facts}
    if "error" in facts:
        return line
    options = run.options(facts)
    words = [str(folder / f"{run.name}-{run.machine}.joblib"), str(folder / f"{run.name}.npz")]
    printed, failure = in_process("sets_compile.py", [*words, json.dumps(options)], seconds)
    return {**line, "options": options, **(failure or json.loads(printed.splitlines()[-1]))}


def commit() -> str | None:
    """Return the commit of the checkout, with a + where it has changes; None without git."""
    words = ["git", "-C", str(HERE), "describe", "--always", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def limits_of(arguments: argparse.Namespace) -> Limits:
    """Return the most samples of a set that a command line asks for."""
    sizes = arguments.training, arguments.held_out, arguments.queries
    return Limits(*sizes, pooled=int(getattr(arguments, "pooled", False)))


def lines_in(path: Path) -> list[dict[str, Any]]:
    """Return the results so far."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    limits = Limits()
    parser.add_argument("names", nargs="*", metavar="SET", help="sets, instead of a half")
    parser.add_argument("--half", choices=HALVES, default="open")
    parser.add_argument("--machines", nargs="+", choices=MACHINES, default=MACHINES)
    modes = (*DEFAULTS, *MODES)
    parser.add_argument("--modes", nargs="*", choices=modes, default=modes)
    parser.add_argument("--formats", nargs="*", choices=FORMATS, default=FORMATS)
    parser.add_argument("--training", type=int, default=limits.training, metavar="N")
    parser.add_argument("--held-out", type=int, default=limits.held_out, metavar="N")
    parser.add_argument("--queries", type=int, default=limits.queries, metavar="N")
    parser.add_argument("--seconds", type=int, default=900, help="CPU limit of a process [900]")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where machines are kept")
    parser.add_argument("--results", type=Path, help="JSON lines [results.jsonl in the cache]")
    parser.add_argument("--table", action="store_true", help="print the table only")
    return parser.parse_args()


def main() -> None:
    """Do what is missing in the results, and print the table."""
    arguments = parsed()
    limits = limits_of(arguments)
    folder = arguments.cache / str(limits)
    results = arguments.results or folder / "results.jsonl"
    names = arguments.names or names_of(arguments.half)
    results.parent.mkdir(parents=True, exist_ok=True)
    done = {(x["set"], x["machine"], x["run"], x["asked_format"]) for x in lines_in(results)}
    for machine in () if arguments.table else arguments.machines:
        for name in names:
            runs = runs_of(name, machine, arguments.modes, arguments.formats)
            missing = [run for run in runs if run.key not in done]
            facts = facts_of(name, machine, folder, limits, arguments.seconds) if missing else {}
            for run in missing:
                line = measured(run, folder, facts, arguments.seconds)
                with results.open("a") as file:
                    file.write(json.dumps(line) + "\n")
    print_table([line for line in lines_in(results) if line["set"] in names])


if __name__ == "__main__":
    main()
