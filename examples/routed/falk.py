"""FaLK-SVM on ijcnn1 and on checkerboards: accuracy, size and counted cost beside one SVM's.

    python examples/routed/falk.py ijcnn1
    python examples/routed/falk.py checkerboard

ijcnn1 is in `$KMCOMPILE_DATA` or `../shared/data`, with the paper's training and test samples; its
features are taken as they are, from about -1 to 1. C and gamma are chosen by 10,000 of the training
samples, for the one SVM and for the local ones each; the test samples are only counted. The
checkerboard has 4 x 4 fields on [0, 1]^2 and flips the given share of the labels. With noise, the
leaves are also reduced, as `kmcompile model.pkl --reduce N` does, to a vector for 50 training
points; nothing is fitted to a sample then. The costs are multiply-adds of one query in float32, as
the report counts them: mean and worst case.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.reduced import with_distance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import interpret, operations_alone
from kmcompile.readers import load_model
from kmcompile.reduction.leaf_sizes import LeafSizes
from kmcompile.reduction.sizes import Answers
from kmcompile.target import load_target
from kmcompile.training import FaLKSVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))
CANDIDATES = tuple((C, gamma) for C in (8.0, 32.0) for gamma in (2.0, 4.0, 8.0))
N_VALIDATION = 10_000
N_BOARD = 100_000
POINTS_A_VECTOR = 50


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test samples."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def ijcnn1(folder: Path) -> Split:
    """Return the samples of ijcnn1."""
    data = np.load(folder / "ijcnn1.npz")
    X, X_test = (data[name].astype(np.float64) for name in ("X_train", "X_test"))
    return Split(X, data["y_train"], X_test, data["y_test"])


def checkerboard(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of a 4 x 4 checkerboard on [0, 1]^2, and labels of which some are flipped."""
    rng = np.random.default_rng(seed)
    X = np.float32(rng.random((n, 2))).astype(np.float64)
    y = np.floor(4 * X).sum(axis=1) % 2
    return X, np.where(rng.random(n) < noise, 1 - y, y).astype(int)


def chosen(make: Any, split: Split, n_validation: int) -> Any:
    """Return the candidate with the fewest errors on validation samples, trained on all."""
    X, X_kept, y, y_kept = train_test_split(
        split.X, split.y, test_size=n_validation, random_state=0, stratify=split.y
    )
    errors = [
        int((make(C, gamma).fit(X, y).predict(X_kept) != y_kept).sum()) for C, gamma in CANDIDATES
    ]
    return make(*CANDIDATES[int(np.argmin(errors))]).fit(split.X, split.y)


def reduced(model: Any, n: int) -> KernelMachine:
    """Return the machine with n vectors in all leaves together."""
    machine = load_model(model)
    nothing = Answers.of(machine, np.zeros((0, machine.n_features), dtype=np.float32), None)
    made = LeafSizes(machine, nothing.X, nothing, lambda _: None).at(n)
    return standing_for(machine, made.machine)


def row(
    name: str,
    model: Any,
    X_test: np.ndarray,
    y_test: np.ndarray,
    machine: KernelMachine | None = None,
) -> dict[str, object]:
    """Return what a trained model, or a machine in its place, costs and how often it is right."""
    machine = machine or load_model(model)
    program = lower_in_format(machine, load_target("cortex-m4"), "model", "float32").program
    program = with_distance(program, machine)
    spent = operations_alone(program, np.float32(X_test[:2000]))
    certified = interpret(program, np.float32(X_test[:2000])).results["certified"]
    labels = np.asarray(machine.classes)[evaluate(machine, X_test).labels]
    vectors = np.unique(np.float32(machine.support_vectors), axis=0)
    routing = machine.routing
    sizes = np.diff(routing.leaf_ends, prepend=0) if routing else [machine.n_support_vectors]
    return {
        "model": name,
        "C": model.C,
        "gamma": model.gamma,
        "accuracy": f"{(labels == y_test).mean():.4%}",
        "certified": f"{certified.mean():.1%}",
        "leaves": len(sizes),
        "vectors": machine.n_support_vectors,
        "different": len(vectors),
        "largest leaf": int(max(sizes)),
        "mean ops": int(spent.mean()),
        "worst ops": worst_operations(program),
        "table bytes": program.table_bytes,
    }


def ijcnn1_rows(split: Split, n_validation: int = N_VALIDATION) -> Iterator[dict[str, object]]:
    """Yield a row for the one SVM, and for local ones by flat routes and by two levels."""
    models = {"SVC": lambda C, gamma: SVC(C=C, gamma=gamma, cache_size=500)}
    for route in ("flat", "two_levels"):
        models[f"FaLK-SVMc, {route}"] = lambda C, gamma, route=route: FaLKSVC(
            k=2000, C=C, gamma=gamma, selection="nearest_centre", route=route, random_state=0
        )
    models["FaLK-SVM, two_levels"] = lambda C, gamma: FaLKSVC(
        k=2000,
        C=C,
        gamma=gamma,
        selection="nearest_training_point",
        route="two_levels",
        random_state=0,
    )
    for name, make in models.items():
        yield row(name, chosen(make, split, n_validation), split.X_test, split.y_test)


def board_rows(n: int = N_BOARD) -> Iterator[dict[str, object]]:
    """Yield a row for each share of flipped labels, k 500 and k' 250, and one of reduced leaves."""
    for noise, C, gamma in ((0.0, 1e5, 64.0), (0.058, 1.0, 64.0)):
        X, y = checkerboard(n, noise, 0)
        X_test, y_test = checkerboard(n, noise, 1)
        model = FaLKSVC(
            k=500, k_prime=250, C=C, gamma=gamma, selection="nearest_centre", random_state=0
        ).fit(X, y)
        name = f"FaLK-SVMc, {noise:.1%} flipped"
        yield row(name, model, X_test, y_test)
        if noise > 0:
            yield row(
                f"{name}, reduced", model, X_test, y_test, reduced(model, n // POINTS_A_VECTOR)
            )


def shown(rows: Iterable[dict[str, object]]) -> None:
    """Print rows as a table, each as soon as it is known."""
    for number, line in enumerate(rows):
        if number == 0:
            print(" | ".join(line))
        print(" | ".join(str(value) for value in line.values()), flush=True)


def main() -> None:
    """Print the table of the set that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=("ijcnn1", "checkerboard"))
    if parser.parse_args().set == "ijcnn1":
        shown(ijcnn1_rows(ijcnn1(DATA)))
    else:
        shown(board_rows())


if __name__ == "__main__":
    main()
