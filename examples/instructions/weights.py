"""Fit a target's costs of operations to the instructions that its emulator counts.

    python examples/instructions/weights.py count --target cortex-m7
    python examples/instructions/weights.py fit --target cortex-m7
    python examples/instructions/weights.py check --target cortex-m7

`count` compiles the machines of `catalogue.py`, runs each program in the emulator, and keeps its
counted operations and instructions in `counts-<target>`; what is there is not done again, and what
fails is passed over. `fit` prints the tables `[cost]` of the target's TOML file: non-negative least
squares of the relative error of the mean of each program, and of the queries that leave it at each
stage; `[cost.worst]` likewise of the static worst case. Weights on which emitted C depends
(products of each format, float64, integers) stay as they are but with --free. Both print estimated
over counted instructions of each program, `fit` with the weights that it found, `check` with the
target's own.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from catalogue import CATALOGUE, FORMATS, OTHERS, samples
from scipy.optimize import lsq_linear
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kmcompile.build import build
from kmcompile.build.recipe import Recipe
from kmcompile.program.cost import replay_operations
from kmcompile.program.interpreter import interpret
from kmcompile.program.prices import instructions_of, worst_instructions
from kmcompile.program.program import Program
from kmcompile.run import runner_for
from kmcompile.target import Cost, OperationCost, load_target
from kmcompile.verify.codes import codes_beside, query_words
from kmcompile.verify.worst_case import static_worst_case

PULL = 0.02  # weight of the pull towards the costs that the target has
QUERY = 100.0  # what a query takes beside its operations, about
SEEN = 1e-6  # least share of a query for which a weight counts as fitted
HELD = (*(f"{name}.product" for name in FORMATS), "float64", "integers")
SCALARS = ("float64", "integers", "inner", "listed", "label", "query")
STAGES = (
    "prepare",
    "range_gate",
    "nonzeros",
    "linear_filter",
    "reduced_set",
    "nearest_vectors",
    "class_scores",
    "interval_ratio",
    "local_expansion",
    "taylor_polynomial",
    "bound_sequence",
    "polynomial_sum",
    "linear_sum",
    "coded_linear_sum",
)
NAMES = (
    *(f"{name}.{part}" for name in (*FORMATS, "pair_sum") for part in ("product", "other")),
    *SCALARS,
    *STAGES,
)


@dataclass(frozen=True, slots=True)
class Counted:
    """A program with the counted operations and instructions of queries, and its worst case."""

    name: str
    program: Program
    stage_operations: np.ndarray
    replayed: np.ndarray
    stage: np.ndarray
    instructions: np.ndarray
    worst: int | None


def count(target_name: str, folder: Path, n_queries: int) -> None:
    """Compile the machines and keep what the emulator counts of each program."""
    folder.mkdir(exist_ok=True)
    machines = {f"{number:02d}": one for number, one in enumerate(CATALOGUE)}
    machines |= {f"other-{number:02d}": one for number, one in enumerate(OTHERS)}
    for file, (name, model, n, options) in machines.items():
        path = folder / f"{file}.pickle"
        if path.exists():
            continue
        try:
            made = counted(target_name, name, model, n, dict(options), n_queries)
        except (kmcompile.KmcompileError, OSError) as error:
            print(f"    failed  {name} {model} {options}: {str(error).splitlines()[0]}", flush=True)
            continue
        path.write_bytes(pickle.dumps(made))
        print(f"{made.instructions.mean():>10,.0f}  {made.name}", flush=True)


def counted(
    target_name: str,
    name: str,
    model: dict[str, Any],
    n: int,
    options: dict[str, Any],
    n_queries: int,
) -> Counted:
    """Return what the emulator counts of one program."""
    target, (X, y) = load_target(target_name), samples(name)
    scale = [] if name == "sparse" else [StandardScaler()]
    fitted = make_pipeline(*scale, SVC(**model)).fit(X[:n], y[:n])
    half = n + (len(X) - n) // 2 if options.pop("data", False) else n
    given: dict[str, Any] = {"data": X[n:half]} if half > n else {}
    queries = X[half : half + n_queries].astype(np.float32)
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        given |= {"target": target_name, "name": "m", "verify": "none"}
        given["max_flash"] = target.emulated_flash_bytes
        program = kmcompile.compile_model(fitted, out=out, **given, **options).program
        codes = None if program.codes is None else codes_beside(program, queries)
        answers = interpret(program, queries if codes is None else codes)
        recipe = Recipe.from_json((out / "recipe.json").read_text(encoding="ascii"))
        with build(recipe, out, target) as artifact:
            words = query_words(queries, codes)
            run = runner_for(target).run(artifact, words, count_instructions=True)
            worst = static_worst_case(artifact, out).instructions
    assert run.instructions is not None
    return Counted(
        f"{name} {model} {options}",
        program,
        answers.stage_operations,
        answers.replay_operations,
        answers.results["stage"],
        run.instructions,
        worst,
    )


def cost_of(weights: np.ndarray) -> Cost:
    """Return the costs with these weights, in the order of `NAMES`."""
    own = dict(zip(NAMES, (float(w) or 1e-9 for w in weights), strict=True))
    costs: dict[str, Any] = {
        name: OperationCost(own[f"{name}.product"], own[f"{name}.other"])
        for name in (*FORMATS, "pair_sum")
    }
    costs |= {name: own[name] for name in SCALARS}
    return Cost(**costs, stages=tuple((name, own[name]) for name in STAGES))


def parts(estimated: Callable[[Cost], Any]) -> np.ndarray:
    """Return what each weight of 1 alone gives: estimates are linear in the weights."""
    return np.array([estimated(cost_of(one)) for one in np.eye(len(NAMES))])


def of_replay(program: Program, cost: Cost) -> float:
    """Return the instructions of an operation of the replay."""
    replay = program.replay
    return cost.integers if replay is not None and replay.in_integers else cost.float64


def rows_of(one: Counted) -> list[tuple[np.ndarray, float]]:
    """Return the parts of the mean of all queries and of those that leave at each stage."""
    spent = parts(
        lambda cost: (
            instructions_of(one.program, one.stage_operations, cost)
            + one.replayed * of_replay(one.program, cost)
        )
    )
    groups = [np.ones(len(one.stage), dtype=bool)]
    groups += [one.stage == number for number in np.unique(one.stage)]
    return [
        (spent[:, rows].mean(axis=1), float(one.instructions[rows].mean()))
        for rows in groups
        if rows.sum() >= 3
    ]


def worst_of(one: Counted) -> np.ndarray:
    """Return the parts of the worst case."""
    replayed = replay_operations(one.program)
    return parts(
        lambda cost: worst_instructions(one.program, cost) + replayed * of_replay(one.program, cost)
    )


def solved(rows: list[tuple[np.ndarray, float]], base: np.ndarray, held: bool) -> np.ndarray:
    """Return the weights with the least squares of relative errors."""
    one, other = NAMES.index("int16.other"), NAMES.index("int8.other")
    left = np.array([own / told for own, told in rows])
    left[:, other] += left[:, one]  # integers of both widths do the same beside products
    left[:, one] = 0.0
    left = np.vstack([left, PULL * np.diag(1 / base)])
    low, high = 0.05 * base, np.full(len(base), np.inf)
    for number, name in enumerate(NAMES):
        if name in STAGES:
            low[number] = (0.2 if name.startswith("coded") else 0.4) * base[number]
        if name == "label":  # of software floats too
            low[number] = 0.005 * base[number]
        if held and name in HELD:
            low[number], high[number] = base[number] * (1 - 1e-9), base[number] * (1 + 1e-9)
        if name in ("linear_sum", "coded_linear_sum"):  # else they would take in their labels
            high[number] = 2 * base[number]
        if name == "range_gate":  # a product without a difference; `prepare` takes the rest
            high[number] = (1 if held else 2) * base[number]
    right = np.concatenate([np.ones(len(rows)), np.full(len(base), PULL)])
    found = np.asarray(lsq_linear(left, right, (low, high)).x)
    found[one] = found[other]
    return found


def read(folder: Path, files: str) -> list[Counted]:
    """Return what was counted."""
    return [pickle.loads(path.read_bytes()) for path in sorted(folder.glob(files))]


def fit(target_name: str, folder: Path, held: bool = True) -> None:
    """Print the fitted costs, and how far each estimate is off."""
    every, cost = read(folder, "[0-9]*.pickle"), load_target(target_name).cost
    pair = [part for name in FORMATS for part in vars_of(getattr(cost, name))]
    base = np.array([*pair, *vars_of(cost.float32), cost.float64, cost.integers])
    product, other = cost.float32.product, cost.float32.other
    stages = [cost.int8.product if name.startswith("coded") else product for name in STAGES]
    stages[STAGES.index("prepare")] = other
    base = np.array([*base, product, product, 10 * other, QUERY, *stages])
    rows = [row for one in every for row in rows_of(one)]
    most = [(worst_of(one), float(one.worst)) for one in every if one.worst]
    seen = np.max([own / told for own, told in rows + most], axis=0) > SEEN
    named = {name for name, is_seen in zip(NAMES, seen, strict=True) if is_seen}
    usual = {"float64": 2 * cost.float32.product, "integers": cost.float64}
    named |= {name for name, weight in usual.items() if getattr(cost, name) != weight}
    mean, worst = solved(rows, base, held), solved(most, base, False)
    for title, weights in (("cost", mean), ("cost.worst", worst)):
        show(title, dict(zip(NAMES, weights, strict=True)), named)
    compare(folder, cost_of(mean), cost_of(worst))


def check(target_name: str, folder: Path) -> None:
    """Print how far each estimate is off with the costs that the target has."""
    cost = load_target(target_name).cost
    compare(folder, cost, cost.worst or cost)


def compare(folder: Path, mean: Cost, worst: Cost) -> None:
    """Print estimated over counted instructions, of the fit's programs and of the others."""
    for title, files in (("of the fit", "[0-9]*.pickle"), ("others", "other-*.pickle")):
        print(f"\nestimated over counted, {title}: mean, static worst case")
        ratios = []
        for one in read(folder, files):
            spent = instructions_of(one.program, one.stage_operations, mean)
            spent += one.replayed * of_replay(one.program, mean)
            most = worst_instructions(one.program, worst)
            most += replay_operations(one.program) * of_replay(one.program, worst)
            least = most / one.worst if one.worst else float("nan")
            ratios.append((spent.mean() / one.instructions.mean(), least))
            stages = " ".join(stage.template for stage in one.program.stages)
            print(f"{ratios[-1][0]:5.2f} {least:5.2f}  {one.name}\n{'':13}{stages}")
        for name, column in zip(("mean", "worst case"), np.array(ratios).T, strict=False):
            off = np.abs(column[np.isfinite(column)] - 1)
            near = f"{(off <= 0.15).sum()} within 15 %, {(off <= 0.3).sum()} within 30 %"
            print(f"{name}: {len(off)} programs, {near}, all within {off.max():.0%}")


def vars_of(cost: OperationCost) -> tuple[float, float]:
    """Return both weights."""
    return cost.product, cost.other


def show(title: str, weights: dict[str, float], named: set[str]) -> None:
    """Print a table of the named costs, and of products, as a target's TOML file has it."""
    weights = {name: float(f"{weight:.3g}") for name, weight in weights.items()}
    print(f"\n[{title}]")
    for name in (*FORMATS, "pair_sum"):
        own = weights[f"{name}.product"], weights[f"{name}.other"]
        if name in FORMATS or f"{name}.product" in named:
            print(f"{name} = {{ product = {own[0]:g}, other = {own[1]:g} }}")
    for name in SCALARS:
        if name in named:
            print(f"{name} = {weights[name]:g}")
    print(f"\n[{title}.stages]")
    for name in STAGES:
        if name in named:
            print(f"{name} = {weights[name]:g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("count", "fit", "check"))
    parser.add_argument("--target", default="cortex-m7")
    parser.add_argument("--queries", type=int, default=150, help="queries of each program")
    parser.add_argument("--free", action="store_true", help="fit the products, too")
    given = parser.parse_args()
    folder = Path(f"counts-{given.target}")
    if given.what == "count":
        count(given.target, folder, given.queries)
    elif given.what == "fit":
        fit(given.target, folder, held=not given.free)
    else:
        check(given.target, folder)
