"""Fit a target's costs of operations to the instructions that its emulator counts.

    python examples/instructions/weights.py count --target cortex-m7
    python examples/instructions/weights.py fit --target cortex-m7

`count` compiles a catalogue of machines, runs each program in the emulator, and keeps its counted
operations and instructions in `counts-<target>`; what is there is not done again. `fit` prints the
tables `[cost]` of the target's TOML file: non-negative least squares of the relative error of the
mean of each program, and of the queries that leave it at each stage; `[cost.worst]` likewise of the
static worst case. Weights on which emitted C depends (products of each format, float64, integers)
stay as they are. Then it prints estimated over counted instructions of each program.
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
from scipy.optimize import lsq_linear
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
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

N_QUERIES = 150
PULL = 0.02  # weight of the pull towards the costs that the target has
NO_EXITS = "sign_map,local_expansion,taylor_polynomial,bound_sequence"
FORMATS = ("float32", "int16", "int8")
HELD = (*(f"{name}.product" for name in FORMATS), "float64", "integers")
SCALARS = ("float64", "integers", "inner", "listed", "label")
STAGES = (
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
EXACT = {"mode": "exact", "replay": "none"}
PROVED = {"mode": "certified", "format": "float32", "replay": "none", "optimize": "mean"}
RISKY = {"data": True, "format": "float32", "risk": 0.02}
RBF, POLY2, POLY3 = (
    {"C": 10},
    {"kernel": "poly", "coef0": 1, "degree": 2},
    {
        "kernel": "poly",
        "coef0": 1,
    },
)
CATALOGUE: tuple[tuple[str, dict[str, Any], int, dict[str, Any]], ...] = (
    *(("seven", RBF, 600, {**EXACT, "format": name}) for name in FORMATS),
    ("five", RBF, 700, {**EXACT, "format": "float32"}),
    *(("digits", {"gamma": 0.02}, 600, {**EXACT, "format": name}) for name in FORMATS),
    *(("eight", RBF, 900, {**EXACT, "format": name}) for name in ("float32", "int8")),
    ("cancer", RBF, 400, {"mode": "exact", "format": "float32", "replay": "float64"}),
    ("cancer", POLY2, 400, {**EXACT, "format": "float32"}),
    ("cancer", POLY3, 400, {**EXACT, "format": "float32"}),
    ("digits", POLY3, 600, {**EXACT, "format": "float32"}),
    *(("digits", {"kernel": "linear"}, 400, {**EXACT, "format": f}) for f in ("float32", "int8")),
    ("wine", RBF, 120, {**EXACT, "format": "float32"}),
    ("sparse", RBF, 600, {**EXACT, "format": "float32"}),
    *((name, RBF, 700, {**PROVED, "exclude": NO_EXITS}) for name in ("five", "eight")),
    ("digits", {"gamma": 0.02}, 600, {**PROVED, "exclude": NO_EXITS}),
    *(
        ("seven", RBF, 600, {**PROVED, "require": name})
        for name in ("local_expansion", "taylor_polynomial", "bound_sequence")
    ),
    *(("twenty", RBF, 600, {**RISKY, "stages": name}) for name in STAGES[:3]),
    ("twenty", RBF, 600, {**RISKY, "require": "interval_ratio"}),
    ("five", RBF, 700, {**RISKY, "require": "class_scores"}),
)
SHAPES = {"seven": (7, 2, 5), "twenty": (20, 2, 10), "five": (12, 5, 8), "eight": (30, 8, 12)}


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


def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and labels of a set of the catalogue, in a fixed order."""
    if name in SHAPES:
        n, classes, informative = SHAPES[name]
        made = {"n_features": n, "n_informative": informative, "n_redundant": 0}
        X, y = make_classification(6000, n_classes=classes, random_state=n, **made)
    else:
        own = {"cancer": load_breast_cancer, "wine": load_wine}.get(name, load_digits)
        X, y = own(return_X_y=True)
    if name == "sparse":
        X = np.where(X > 6, X / 16, 0.0)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def count(target_name: str, folder: Path) -> None:
    """Compile the catalogue and keep what the emulator counts of each program."""
    folder.mkdir(exist_ok=True)
    for number, (name, model, n, options) in enumerate(CATALOGUE):
        path = folder / f"{number:02d}.pickle"
        if not path.exists():
            made = counted(target_name, name, model, n, dict(options))
            path.write_bytes(pickle.dumps(made))
            print(f"{made.instructions.mean():>10,.0f}  {made.name}", flush=True)


def counted(
    target_name: str, name: str, model: dict[str, Any], n: int, options: dict[str, Any]
) -> Counted:
    """Return what the emulator counts of one program."""
    target, (X, y) = load_target(target_name), samples(name)
    scale = [] if name == "sparse" else [StandardScaler()]
    fitted = make_pipeline(*scale, SVC(**model)).fit(X[:n], y[:n])
    half = n + (len(X) - n) // 2 if options.pop("data", False) else n
    given = {"data": X[n:half]} if half > n else {}
    queries = X[half : half + N_QUERIES].astype(np.float32)
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        options |= {"target": target_name, "name": "m", "verify": "none", "max_flash": 1 << 23}
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
            low[number] = 0.4 * base[number]
        if held and name in HELD:
            low[number], high[number] = base[number] * (1 - 1e-9), base[number] * (1 + 1e-9)
        if name in ("linear_sum", "coded_linear_sum"):  # else they would take in their labels
            high[number] = (1.0 if held else 1.5) * base[number]
    right = np.concatenate([np.ones(len(rows)), np.full(len(base), PULL)])
    found = np.asarray(lsq_linear(left, right, (low, high)).x)
    found[one] = found[other]
    return found


def fit(target_name: str, folder: Path) -> None:
    """Print the fitted costs, and how far each estimate is off."""
    every = [pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.pickle"))]
    cost = load_target(target_name).cost
    pair = [part for name in FORMATS for part in vars_of(getattr(cost, name))]
    base = np.array([*pair, *vars_of(cost.float32), cost.float64, cost.integers])
    product, label = cost.float32.product, 10 * cost.float32.other
    stages = [cost.int8.product if name.startswith("coded") else product for name in STAGES]
    base = np.array([*base, product, product, label, *stages])
    mean = solved([row for one in every for row in rows_of(one)], base, True)
    known = [one for one in every if one.worst]
    worst = solved([(worst_of(one), float(one.worst)) for one in known], base, False)
    for title, weights in (("cost", mean), ("cost.worst", worst)):
        show(title, dict(zip(NAMES, weights, strict=True)))
    print("\nestimated over counted: mean, static worst case")
    for one in every:
        whole, told = rows_of(one)[0]
        least = worst_of(one) @ worst / one.worst if one.worst else float("nan")
        print(f"{whole @ mean / told:5.2f} {least:5.2f}  {one.name}")


def vars_of(cost: OperationCost) -> tuple[float, float]:
    """Return both weights."""
    return cost.product, cost.other


def show(title: str, weights: dict[str, float]) -> None:
    """Print a table of costs as a target's TOML file has it."""
    print(f"\n[{title}]")
    for name in (*FORMATS, "pair_sum"):
        own = weights[f"{name}.product"], weights[f"{name}.other"]
        print(f"{name} = {{ product = {own[0]:.3g}, other = {own[1]:.3g} }}")
    for name in SCALARS:
        print(f"{name} = {weights[name]:.3g}")
    print(f"\n[{title}.stages]")
    for name in STAGES:
        print(f"{name} = {weights[name]:.3g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("count", "fit"))
    parser.add_argument("--target", default="cortex-m7")
    given = parser.parse_args()
    {"count": count, "fit": fit}[given.what](given.target, Path(f"counts-{given.target}"))
