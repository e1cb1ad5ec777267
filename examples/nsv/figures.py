"""Figures 1 and 3 of the NSV paper, for 8 against 3.

    python examples/nsv/figures.py --out build/nsv

writes figure_1 and figure_3 as SVG and PNG. Figure 1 is a query with its eight nearest support
vectors in the order of the approximate scores, without the tug of war. Figure 3 is f(x) against k
for all test queries without the linear filter, with the thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from cascades import Machine, without_filter
from matplotlib import pyplot as plt
from pairs import FULL, QUICK, Pair, load_pair, parser

from kmcompile.exits.statistical.case import prepared
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, NearestVectors

DIGITS = (3, 8)
N_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest support vectors of a query, the first one first.

    Parameters
    ----------
    images : ndarray of shape (N_SHOWN, 28, 28)
    beta, approximate, exact, partial : ndarray of shape (N_SHOWN,)
        Dual coefficients, kernels in PCA(20), kernels, and g_k.
    """

    images: np.ndarray
    beta: np.ndarray
    approximate: np.ndarray
    exact: np.ndarray
    partial: np.ndarray


def nearest_of(program: Program, X: np.ndarray) -> Nearest:
    """Return the nearest support vectors of one query, shape (1, 784)."""
    whole, stage = program.sum, nearest_stage(program)
    assert isinstance(whole, ExactSum)
    x = prepared(program, X)
    vectors = whole.columns()
    projected = stage.vectors.transpose(1, 0, 2).reshape(stage.n_out, -1)
    approximate = whole.kernel.value(stage.levels[0].of(x) @ projected)
    by_score = replace(stage, tug_of_war=False)
    order = by_score.order(stage.weights * np.abs(approximate), whole)[0, :N_SHOWN]
    exact = whole.kernel.value(x @ vectors)[0, order]
    beta = whole.slot_decisions()[order, 0]
    return Nearest(
        images=vectors.T[order].reshape(-1, 28, 28),
        beta=beta,
        approximate=approximate[0, order],
        exact=exact,
        partial=whole.intercept[0] + np.cumsum(beta * exact),
    )


def nearest_stage(program: Program) -> NearestVectors:
    """Return the stage that touches the nearest vectors."""
    return next(stage for stage in program.stages if isinstance(stage, NearestVectors))


def figure_1(pair: Pair, program: Program, query: int) -> plt.Figure:
    """Return the query, its nearest support vectors, and what each adds."""
    X, digit = pair.test.X[[query]], pair.test.y[query]
    found = nearest_of(program, X)
    figure, axes = plt.subplots(1, 1 + N_SHOWN, figsize=(1.35 * (1 + N_SHOWN), 2.3))
    axes[0].imshow(X[0].reshape(28, 28), cmap="gray_r")
    axes[0].set_title(f"query: {digit}", fontsize=8)
    for k, panel in enumerate(axes[1:]):
        panel.imshow(found.images[k], cmap="gray_r")
        panel.set_title(f"$g_{{{k + 1}}}$ = {found.partial[k]:.4f}", fontsize=8)
        panel.set_xlabel(
            f"β {found.beta[k]:.3f}\nK in PCA {found.approximate[k]:.3f}\nK {found.exact[k]:.3f}",
            fontsize=8,
        )
    for panel in axes:
        panel.set_xticks([])
        panel.set_yticks([])
    figure.tight_layout()
    return figure


def figure_3(pair: Pair, machine: Machine, program: Program) -> plt.Figure:
    """Return f(x) against k, one point a test query, and L_k and H_k."""
    unfiltered, stage = without_filter(program), nearest_stage(program)
    answers = machine.ask(unfiltered, pair.test.X, machine.exact)
    f = machine.decisions(pair.test.X)[:, 0]
    middle, half_width = stage.offset[:, 0], stage.half_width[:, 0]
    figure, axis = plt.subplots(figsize=(7, 4.5))
    for digit, colour in zip(DIGITS, ("tab:blue", "tab:red"), strict=True):
        chosen = pair.test.y == digit
        axis.plot(answers.k[chosen], f[chosen], ".", ms=3, color=colour, label=f"digit {digit}")
    wrong = answers.differs
    axis.plot(answers.k[wrong], f[wrong], "o", mfc="none", color="black", label="disagrees")
    limits = {"color": "black", "lw": 1}
    axis.plot(stage.steps, middle - half_width, label="$L_k$, $H_k$", **limits)
    axis.plot(stage.steps, middle + half_width, **limits)
    axis.set_xlabel("k")
    axis.set_ylabel("f(x)")
    axis.set_title(f"{len(f):,} queries of 8 vs 3, mean k {answers.k.mean():.0f}", fontsize=10)
    axis.legend(fontsize=8)
    figure.tight_layout()
    return figure


def main() -> None:
    """Write the figures."""
    options = parser(__doc__)
    options.add_argument("--out", type=Path, default=Path("build/nsv"))
    options.add_argument("--query", type=int, default=0, help="which test digit Figure 1 shows")
    asked = options.parse_args()
    sizes = QUICK if asked.quick else FULL
    pair = load_pair(*DIGITS, "poly9", asked.cache, sizes)
    machine = Machine.of(pair.model)
    program = machine.paper(machine.samples(pair.calibration.X), "maxsmoothed")
    asked.out.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "nsv"
    figures = {
        "figure_1": figure_1(pair, program, asked.query),
        "figure_3": figure_3(pair, machine, program),
    }
    for name, figure in figures.items():
        figure.savefig(asked.out / f"{name}.svg", metadata={"Date": None})
        figure.savefig(asked.out / f"{name}.png", dpi=150)
    print(f"figure_1 and figure_3 are in {asked.out}")


if __name__ == "__main__":
    main()
