"""How often each exit, sum and number format is chosen, and what is lost without it.

    python examples/benchmark/chosen.py --results FILE [SET ...] [--machines rbf ...]
    python examples/benchmark/chosen.py --results FILE --page

takes the tuned machines of `all_sets.py` (trained where they are not there yet) and chooses the
program of each, without samples and with `--data`, by the plain options. Nothing is built or run:
what a program takes is the estimate by which programs are compared. Then the choice is made again
without each exit, sum and format that the program has. An exit is taken from the registry for that,
so that all else stays; `--exclude` also says that fewer vectors are no way out. Each machine has
a process of its own. A line of JSON for each choice goes to the file; what is there is not done
again. `--page` prints the tables of the manual's page `exits_chosen`.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from all_sets import CACHE, TOLERANCE, facts_of, in_process, limits_of, lines_in
from chosen_page import page_of
from sets_data import names_of
from sets_machine import MACHINES

from kmcompile.choice.whole_program import choose_whole
from kmcompile.errors import KmcompileError
from kmcompile.exits import early_exits
from kmcompile.exits.certified import fits as certified
from kmcompile.exits.certified import sequence_offers
from kmcompile.exits.statistical import fits as statistical
from kmcompile.leaf_budget import most_of_leaf
from kmcompile.pipeline import asked
from kmcompile.request.options import Options
from kmcompile.request.plan import Request

MODES = ("default", "data")
RISK = 0.01
FEWEST_FOR_RISK = 2000
"""Held-out samples below which the risk is the least that they support."""
MOST_VECTORS = 2500
SECONDS = 60
"""CPU seconds of one choice; a machine whose first choice takes longer is left out."""
MOST_SECONDS = 35
"""CPU seconds of a first choice, above which none without a part follows."""

FREE = "free vectors"
FEWER = "fewer vectors"


class TooLongError(Exception):
    """A choice has taken its CPU seconds."""


def _stop(*_: object) -> None:
    raise TooLongError


@contextmanager
def without(name: str) -> Iterator[None]:
    """Take an exit or a sum out of the search."""
    with ExitStack() as stack:

        def put(module: Any, key: str, value: Any) -> None:
            stack.enter_context(patch.object(module, key, value))

        for module in (certified, statistical):
            kept = [fit for fit in module._FITS if fit.kind.template != name]
            put(module, "_FITS", kept)
        if name == FREE:
            put(sequence_offers, "_free_sequences", lambda *_: ())
        if name == "pair_sum":
            put(early_exits, "offer_pairs", lambda *_: "")
        if name.endswith(("polynomial_sum", "curve_sum", "additive_sum", "linear_sum")):
            put(early_exits, "_offer_without_vectors", lambda *_: "")
        yield


@contextmanager
def timed(spent: dict[str, float]) -> Iterator[None]:
    """Add up the CPU seconds of the fits of each kind."""

    def clocked(name: str, function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                spent[name] = spent.get(name, 0.0) + time.process_time() - started

        return call

    def jobs(fit: Any) -> Any:
        inner, name = fit.jobs, fit.kind.template
        make = clocked(name, lambda *given: list(inner(*given)))

        def call(samples: Any, required: bool = False) -> Any:
            made = make(samples, required)
            return [(clocked(name, job), arguments, text) for job, arguments, text in made]

        return call

    with ExitStack() as stack:
        own = [replace(one, offer=clocked(one.kind.template, one.offer)) for one in certified._FITS]
        stack.enter_context(patch.object(certified, "_FITS", own))
        for fit in statistical._FITS:
            stack.enter_context(patch.object(fit, "jobs", jobs(fit)))
        yield


def chosen(model: Path, options: Options, seconds: int, without_what: str) -> dict[str, Any]:
    """Return the stages, the format and the estimates of the chosen program, or an error."""
    spent: dict[str, float] = {}
    signal.signal(signal.SIGPROF, _stop)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with without(without_what), timed(spent):
            told: list[str] = []
            machine, plan = asked(model, Request.of(model, options), told.append)
            leaf = most_of_leaf(machine, plan, told.append)
            reduced, made = choose_whole(machine, plan, leaf, told.append)
    except KmcompileError as error:
        return {"error": str(error).splitlines()[0]}
    except TooLongError:
        return {"error": f"more than {seconds} CPU seconds"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    program, takes = made.program, made.takes
    record = made.exits.calibration or made.exits.choice
    text = [one.stages for one in record.candidates if one.chosen] if record else []
    return {
        "stages": [stage.template for stage in program.early_exits],
        "texts": list(text[0]) if text else [],
        "sum": program.sum.template,
        "format": program.number_format,
        "fewer": reduced.reduction is not None,
        "taken_mode": program.mode,
        "replay": program.replay is not None,
        "mean": takes.mean,
        "worst": takes.worst,
        "flash": takes.flash_bytes,
        "formats": {
            one.number_format: (one.estimate.mean, one.estimate.worst, one.estimate.flash_bytes)
            for one in made.formats
            if one.estimate is not None and one.speedup is not None
        },
        "cpu_s": round(time.process_time() - started, 2),
        "spent": {name: round(value, 2) for name, value in spent.items()},
    }


def parts_of_choice(found: dict[str, Any]) -> list[str]:
    """Return what a program has that may be left out of the search."""
    parts = list(dict.fromkeys(found["stages"]))
    if any("free vectors" in text and "bound" in text for text in found["texts"]):
        parts.append(FREE)
    if found["sum"] not in ("exact_sum", "fixed_sum", "linear_sum", "coded_linear_sum"):
        parts.append(found["sum"])
    return [*parts, FEWER] if found["fewer"] else parts


def choices(
    folder: Path, name: str, machine: str, mode: str, target: str, optimize: str | None
) -> None:
    """Choose the program of a machine, then without each part of it; print a line for each."""
    facts = json.loads((folder / f"{name}-{machine}.json").read_text())
    model = folder / f"{name}-{machine}.joblib"
    given: dict[str, Any] = {"target": target, "optimize": optimize}
    if facts["deviation"] is not None:
        given["tolerance"] = TOLERANCE * facts["deviation"]
    if mode == "data":
        with np.load(folder / f"{name}.npz") as samples:
            path = folder / f"{name}-held_out.npy"
            np.save(path, samples["held_out"])
        risk = RISK if facts["held_out"] >= FEWEST_FOR_RISK else "auto"
        given |= {"data": path} | ({} if "tolerance" in given else {"risk": risk})
    options = Options(**given, trust_pickle=True)
    found = chosen(model, options, SECONDS, "")
    line = {"without": None, **found}
    print(json.dumps(line), flush=True)
    if found.get("cpu_s", SECONDS) > MOST_SECONDS:
        return
    for part in parts_of_choice(found):
        asked = replace(options, reduce="off") if part == FEWER else options
        line = {"without": part, **chosen(model, asked, 2 * SECONDS, part)}
        print(json.dumps(line), flush=True)


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="SET", help="sets [all]")
    parser.add_argument("--machines", nargs="+", choices=MACHINES, default=MACHINES)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--target", default="cortex-m7")
    parser.add_argument("--optimize", help="as of kmcompile")
    parser.add_argument("--training", type=int, default=2000, metavar="N")
    parser.add_argument("--held-out", type=int, default=10_000, metavar="N")
    parser.add_argument("--queries", type=int, default=1000, metavar="N")
    parser.add_argument("--pooled", action="store_true", help="hold out test samples, too")
    parser.add_argument("--seconds", type=int, default=300, help="CPU limit of a training [300]")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where machines are kept")
    parser.add_argument("--results", type=Path, required=True, help="JSON lines")
    parser.add_argument("--page", action="store_true", help="print the tables only")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def choices_in_process(
    folder: Path, name: str, machine: str, mode: str, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the lines of a machine, which is trained if it is not there."""
    facts = facts_of(name, machine, folder, limits_of(arguments), arguments.seconds)
    line = {field: facts.get(field) for field in ("features", "classes", "vectors")}
    if "error" in facts or facts["vectors"] > MOST_VECTORS:
        return [{**line, "without": None, "error": facts.get("error", "too many vectors")}]
    words = ["--one", name, machine, mode, "--results", str(arguments.results)]
    words += ["--target", arguments.target, "--cache", str(arguments.cache)]
    words += ["--optimize", arguments.optimize] if arguments.optimize else []
    for option in ("training", "held_out", "queries"):
        words += ["--" + option.replace("_", "-"), str(getattr(arguments, option))]
    words += ["--pooled"] if arguments.pooled else []
    printed, failure = in_process(Path(__file__).name, words, 10 * SECONDS)
    lines = [json.loads(text) for text in printed.splitlines()]
    return [{**line, "without": None, **one} for one in (*lines, *filter(None, [failure]))]


def main() -> None:
    """Do what is missing in the results, or print the tables."""
    arguments = parsed()
    warnings.simplefilter("ignore")
    folder = arguments.cache / str(limits_of(arguments))
    if arguments.one:
        name, machine, mode = arguments.one
        choices(folder, name, machine, mode, arguments.target, arguments.optimize)
        return
    if arguments.page:
        print(page_of(lines_in(arguments.results)))
        return
    keys = ("set", "machine", "mode", "target", "optimize")
    done = {tuple(line[key] for key in keys) for line in lines_in(arguments.results)}
    names = arguments.names or names_of("all")
    for machine, mode, name in product(arguments.machines, arguments.modes, names):
        key = (name, machine, mode, arguments.target, arguments.optimize)
        if key in done:
            continue
        made = choices_in_process(folder, name, machine, mode, arguments)
        with arguments.results.open("a") as file:
            for line in made:
                file.write(json.dumps({**dict(zip(keys, key, strict=True)), **line}) + "\n")


if __name__ == "__main__":
    main()
