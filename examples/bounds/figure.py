"""Figure 2 of the P^/N^ paper (DeCoste 2001): one pair of vectors bounds a machine of about seven.

    python examples/bounds/figure.py --out build/bounds

trains 20 machines as in the figure, each on 50 + 50 random points about (1, 1) and (-1, -1), with a
polynomial kernel of degree 2 and C = 10, approximates each by one pair of vectors in the figure's
four ways, and prints the average width w of the bounds and the number f of the 100 points that they
leave open, beside the paper's f (its w are not printed). It draws a data set whose machine has as
many support vectors as the paper's: 3 positive, 2 of them at C, and 4 negative, 1 of them at C.

The paper gives neither the points' noise nor the kernel's coef0: 0.6 and 0.1 give about as many
support vectors as its machine has. Where the search of the vectors Z begins it does not say either:

    A, B  Z is not moved: the support vector of each class nearest to its P or N (greedy selection)
    C     from that vector, and from a perturbation of it
    D     from zeros, w+ and w-, 3 pairs of small random values, 3 random pairs of support vectors,
          and the vectors of C; the best end counts
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from bound_search.betas import distance_pair, width_pair
from bound_search.extrema import extrema_bounds
from bound_search.forms import plane_bounds
from bound_search.pairs import free_by_distance, free_by_width, support_vectors_by_distance
from bound_search.points import DistanceForm, Pair
from bound_search.width_cost import WidthCost
from matplotlib import pyplot as plt
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kmcompile import readers

N_PER_CLASS, NOISE, COEF0 = 50, 0.6, 0.1

CASES = {
    "A": "beta by distance",
    "B": "beta by width",
    "C": "Z, beta by distance",
    "D": "Z, beta by width",
}
PAPER = {"A": 100, "B": 100, "C": 90, "D": 1}


@dataclass(frozen=True, eq=False)
class Approximated:
    """A data set with its machine and the four cases.

    Parameters
    ----------
    X : ndarray of shape (100, 2)
    y : ndarray of shape (100,)
    form : DistanceForm
    pairs : dict of str to Pair
        Of the cases A to D.
    """

    X: np.ndarray
    y: np.ndarray
    form: DistanceForm
    pairs: dict[str, Pair]

    def figures(self, case: str) -> tuple[float, int, int]:
        """Return w and f of the paper's bounds, and the f of the plane form."""
        low, high = extrema_bounds(self.form, self.pairs[case], self.X)
        least, most = plane_bounds(self.form, self.pairs[case], self.X)
        return float((high - low).mean()), n_open(low, high), n_open(least, most)


def n_open(low: np.ndarray, high: np.ndarray) -> int:
    """Return how many intervals leave the sign open."""
    return int(((low <= 0) & (high >= 0)).sum())


def approximated(seed: int) -> Approximated:
    """Return one random data set, its machine and the four pairs."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], N_PER_CLASS)
    X = y[:, None] + NOISE * rng.normal(size=(2 * N_PER_CLASS, 2))
    model = SVC(C=10, kernel="poly", degree=2, gamma=1, coef0=COEF0).fit(X, y)
    form = DistanceForm.of(readers.load_model(model))
    cost = WidthCost.of(form, X)
    nearest = support_vectors_by_distance(form, 1)
    pairs = {
        "A": distance_pair(form, *nearest),
        "B": width_pair(cost, *nearest),
        "C": distance_pair(form, *free_by_distance(form, 1, seed)),
        "D": free_by_width(cost, 1, seed)[0],
    }
    return Approximated(X, y, form, pairs)


def print_table(sets: list[Approximated]) -> None:
    """Print median and range of w and f beside the paper's f."""
    sizes = [len(each.form.normal) for each in sets]
    print(
        f"{len(sets)} data sets of {2 * N_PER_CLASS} points, "
        f"{np.median(sizes):g} support vectors ({min(sizes)} to {max(sizes)}); median (range)\n"
    )
    print(f"{'case':24s}{'w':>22s}{'f':>18s}{'paper f':>9s}{'f, plane form':>18s}")
    for case, text in CASES.items():
        w, f, plane = np.array([each.figures(case) for each in sets]).T
        width = f"{np.median(w):.2f} ({w.min():.2f} to {w.max():.2f})"
        print(f"{case}  {text:21s}{width:>22s}{counts(f):>18s}{PAPER[case]:9d}{counts(plane):>18s}")


def counts(f: np.ndarray) -> str:
    """Return median and range of counts."""
    return f"{np.median(f):g} ({f.min():.0f} to {f.max():.0f})"


def figure_2(shown: Approximated) -> plt.Figure:
    """Return the four cases of one data set.

    Dashed: f = 0, dotted: f = -1 and 1; solid: where the lower and the upper bound are 0.
    Squares are support vectors, crosses the vectors Z.
    """
    reach = np.abs(shown.X).max() + 0.3
    axis = np.linspace(-reach, reach, 161)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    shape = (len(axis), len(axis))
    f = shown.form.decisions(grid).reshape(shape)
    figure, panels = plt.subplots(2, 2, figsize=(8, 8.4))
    for panel, case in zip(panels.flat, CASES, strict=True):
        pair = shown.pairs[case]
        panel.contour(axis, axis, f, [-1, 0, 1], colors="grey", linestyles=[":", "--", ":"])
        for ends, colour in zip(
            extrema_bounds(shown.form, pair, grid), ("tab:blue", "tab:red"), strict=True
        ):
            if ends.min() < 0 < ends.max():
                panel.contour(axis, axis, ends.reshape(shape), [0], colors=colour)
        for label, colour in ((1, "tab:blue"), (-1, "tab:red")):
            panel.plot(*shown.X[shown.y == label].T, ".", ms=4, color=colour)
        vectors = shown.form.normal.vectors
        panel.plot(*vectors.T, "s", ms=9, mfc="none", color="black")
        Z = np.concatenate([pair.positive.vectors, pair.negative.vectors])
        panel.plot(*Z.T, "x", ms=9, mew=2, color="black")
        w, n, _ = shown.figures(case)
        panel.set_title(f"{case}: {CASES[case]}; w = {w:.2f}, f = {n}", fontsize=9)
    figure.tight_layout()
    return figure


def main() -> None:
    """Print the table and write the figure."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--sets", type=int, default=20, help="data sets, seeds 0, 1, ...")
    options.add_argument("--show", type=int, default=11, help="seed of the one that is drawn")
    options.add_argument("--out", type=Path, default=Path("build/bounds"))
    options.add_argument("--quick", action="store_true", help="two data sets: seconds")
    asked = options.parse_args()
    with threadpool_limits(1):  # what a matrix product rounds depends on the threads
        sets = [approximated(seed) for seed in range(2 if asked.quick else asked.sets)]
        shown = approximated(asked.show)
    print_table(sets)
    asked.out.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "bounds"
    figure = figure_2(shown)
    figure.savefig(asked.out / "figure_2.svg", metadata={"Date": None})
    figure.savefig(asked.out / "figure_2.png", dpi=150)
    print(f"\nfigure_2 is in {asked.out}")


if __name__ == "__main__":
    main()
