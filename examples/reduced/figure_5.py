"""Figure 5 of the RSS paper: ridge regression with fewer vectors.

    python examples/reduced/figure_5.py

writes the mean squared error of standardised outputs against the number of vectors as figure_5.csv,
SVG and PNG: matching pursuit among 59 random vectors a step, as in the paper, among all, and among
59 with weights that are fitted to the original's decisions on the training samples.
"""

from __future__ import annotations

import time

import numpy as np
from decisions import with_fitted_decisions
from predictors import RIDGE, load, parser, plot, write_csv
from probabilistic import pursue_some

from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.pursuit import pursue

LARGEST = 1000
SIZES = (2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000)


def main() -> None:
    """Write the curves."""
    asked = parser(__doc__, tuple(RIDGE)).parse_args()
    panels, rows = {}, []
    for name in asked.names:
        predictor = load(name)
        machine, normals = predictor.machine, Normals.of(predictor.machine)
        full = predictor.error(machine)
        print(f"{name}: {machine.n_support_vectors:,} vectors, mean squared error {full:.4f}")
        curves: dict[str, list[tuple[int, float]]] = {}
        for label, search in (("among 59", pursue_some), ("among all", pursue)):
            start = time.process_time()
            selection = search(machine, LARGEST, normals=normals)
            seconds = time.process_time() - start
            print(f"  {label}: {len(selection)} vectors in {seconds:.2f} s")
            for n in sorted({min(size, len(selection)) for size in SIZES}):
                fewer = selection.reduced(n)
                curves.setdefault(label, []).append((n, predictor.error(fewer)))
                if label == "among 59":
                    fitted = with_fitted_decisions(fewer, machine, predictor.X)
                    fitted_error = predictor.error(fitted)
                    curves.setdefault("among 59, decisions", []).append((n, fitted_error))
        panels[name] = {label: np.array(points) for label, points in curves.items()}
        rows += [(name, label, n, e) for label, points in curves.items() for n, e in points]
        for label, points in curves.items():
            print(f"  {label}: " + ", ".join(f"{n} {e:.4f}" for n, e in points), flush=True)
    write_csv(asked.out / "figure_5.csv", ("set", "method", "vectors", "error"), rows)
    plot(asked.out / "figure_5", panels, "vectors", "mean squared error")


if __name__ == "__main__":
    main()
