"""Figures 2 and 3 of the RSS paper: the methods against each other on two classes.

    python examples/reduced/figures_2_3.py

writes test error (Figure 2), training error and |W - W^|^2 / |W|^2 (Figure 3) against the number of
vectors as figures_2_3.csv, SVG and PNG. l1 and l0 have an array of penalties, and pursuit the same
numbers of vectors as l1. All have the best weights of their vectors (eq. 7) and the threshold that
gives the training samples the original's labels, but the last: its weights are fitted to the
original's decisions on the training samples.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from decisions import with_fitted_decisions
from one_norm import largest_penalty, one_norm
from predictors import BINARY, Predictor, load, parser, plot, write_csv
from problem import problem_of, select
from threshold import with_fitted_intercepts
from zero_norm import zero_norm

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.pools import joint_pools
from kmcompile.passes.reduction.pursuit import pursue

L1_SHARES = np.concatenate([np.linspace(0.95, 0.5, 6), np.geomspace(0.4, 1e-3, 10)])
L0_PENALTIES = np.geomspace(2e-2, 1e-7, 16)
HEADER = ("set", "method", "vectors", "test error", "training error", "left")


def reduced(predictor: Predictor) -> Iterator[tuple[str, KernelMachine]]:
    """Yield the machines of every method."""
    machine = predictor.machine
    most = largest_penalty(problem_of(joint_pools(machine)[0], Normals.of(machine))[0])
    sizes = []
    for share in L1_SHARES:
        chosen = select(machine, one_norm(share * most))
        sizes.append(chosen.n_support_vectors)
        yield "l1", chosen
    for penalty in L0_PENALTIES:
        yield "l0", select(machine, zero_norm(penalty))
    for rule in ("matching_pursuit", "orthogonal_least_squares"):
        selection = pursue(machine, max(sizes), rule)
        for n in sorted({min(size, len(selection)) for size in sizes}):
            yield rule.replace("_", " "), selection.reduced(n)
            if rule == "matching_pursuit":
                fitted = with_fitted_decisions(selection.reduced(n), machine, predictor.X)
                yield "pursuit, decisions", fitted


def left(machine: KernelMachine, reduced: KernelMachine) -> float:
    """Return |W - W^|^2 / |W|^2."""
    Z, beta = reduced.support_vectors, decision_coefficients(reduced)[0]
    normals = Normals.of(machine)
    other = beta @ machine.kernel.values(Z, Z) @ beta
    both = beta @ normals.product(Z)[:, 0]
    return float(max(normals.squares[0] - 2 * both + other, 0.0) / normals.squares[0])


def main() -> None:
    """Write the curves."""
    asked = parser(__doc__, tuple(BINARY)).parse_args()
    rows: list[tuple[str, str, int, float, float, float]] = []
    for name in asked.names:
        predictor = load(name)
        machine = predictor.machine
        full = (machine.n_support_vectors, predictor.error(machine))
        print(f"{name}: {full[0]} vectors, test error {full[1]:.4f}")
        for method, fewer in reduced(predictor):
            moved = with_fitted_intercepts(fewer, machine, predictor.X)
            errors = predictor.error(moved), predictor.training_error(moved)
            rows.append((name, method, fewer.n_support_vectors, *errors, left(machine, fewer)))
            print("{:8s} {:26s}{:5d} {:.4f} {:.4f} {:.2e}".format(*rows[-1]), flush=True)
    write_csv(asked.out / "figures_2_3.csv", HEADER, rows)
    for column, figure in ((3, "figure_2"), (4, "figure_3_training"), (5, "figure_3_left")):
        panels: dict[str, dict[str, np.ndarray]] = {}
        for row in rows:
            curves = panels.setdefault(row[0], {})
            points = [(r[2], r[column]) for r in rows if r[:2] == row[:2]]
            curves[row[1]] = np.array(points, dtype=float)
        plot(asked.out / figure, panels, "vectors", HEADER[column])


if __name__ == "__main__":
    main()
