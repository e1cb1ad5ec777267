"""Tables 1 to 3 of the NSV paper: its scheme, compiled by kmcompile, beside its own figures.

    python examples/nsv/tables.py --jobs 2

trains the 45 machines (once; see --cache), puts the paper's early exits before each and asks the
test digits. m/k is the paper's measure, which counts no overhead; the true cost counts all of it.
"dense" skips no zeros on either side and begins with the prepared input; "emitted" is the C.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
from cascades import Answers, Machine, dense, without_filter
from pairs import ALL_PAIRS, FULL, QUICK, TABLE_1_PAIRS, Pair, Sizes, load_pair, mnist, parser
from paper import DISAGREEMENTS, SPEED_UPS, SUPPORT_VECTORS, TABLE_1, TEST_ERRORS
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

Figures = dict[str, Any]

FILTER = "linear_filter"


def measure(
    digits: tuple[int, int],
    thresholds: str,
    all_training: bool,
    sizes: Sizes,
    folder: Path,
    details: bool,
) -> Figures:
    """Return the figures of a pair for Tables 2 and 3, with `details` also those of Table 1."""
    pair = load_pair(*digits, "poly9", folder, sizes)
    machine = Machine.of(pair.model)
    X = pair.calibration.X
    if all_training:
        X = np.concatenate([pair.train.X, X])
    program = machine.paper(machine.samples(X), thresholds)
    m = int(pair.model[-1].n_support_.sum())
    answers = machine.ask(program, pair.test.X, machine.exact)
    figures: Figures = {
        "digits": digits,
        "m": m,
        "n": len(pair.test),
        "errors": wrong(pair, machine),
        "disagreements": int(answers.differs.sum()),
        "by filter": int((answers.differs & answers.decided_by(FILTER)).sum()),
        "m/k": m / answers.k.mean(),
        "emitted": answers.cost(with_prepare=True),
        "dense": machine.ask(dense(program), pair.test.X, dense(machine.exact)).cost(
            with_prepare=False
        ),
    }
    if details:
        everything = mnist("test")[: None if sizes is FULL else sizes.test]
        figures["table 1"] = {
            **about_machine(pair, figures["errors"]),
            **about_answers(20, m, answers),
            **about_answers(
                30, m, machine.ask(without_filter(program), pair.test.X, machine.exact)
            ),
            40: str(len(everything)),
            **about_answers(40, m, machine.ask(program, everything.X, machine.exact)),
        }
    return figures


def wrong(pair: Pair, machine: Machine) -> int:
    """Return the test errors of the trained machine."""
    larger = machine.decisions(pair.test.X)[:, 0] > 0
    return int((pair.model.classes_[larger.astype(int)] != pair.test.y).sum())


def about_machine(pair: Pair, errors: int) -> dict[int, str]:
    """Return rows 1 to 12 of Table 1."""
    svc = pair.model[-1]
    larger = int((pair.train.y == svc.classes_[1]).sum())
    unit = Normalizer()
    linear = SVC(kernel="linear", C=1).fit(unit.transform(pair.train.X), pair.train.y)
    linear_errors = (linear.predict(unit.transform(pair.test.X)) != pair.test.y).sum()
    at_limit = int((np.abs(svc.dual_coef_) >= svc.C).sum())
    return {
        1: str(pair.train.X.shape[1]),
        2: f"{larger}, {len(pair.train) - larger}",
        3: f"(u.v)^{svc.degree}",
        4: f"{svc.C:g}",
        5: f"{svc.n_support_.sum()} ({at_limit})",
        6: f"{svc.n_support_[1]}, {svc.n_support_[0]}",
        10: str(len(pair.test)),
        11: str(errors),
        12: str(linear_errors),
    }


def about_answers(first: int, m: int, answers: Answers) -> dict[int, str]:
    """Return rows first + 1 to first + 6 of Table 1."""
    k = answers.k
    exact, mean = answers.cost(with_prepare=True)
    return {
        first + 1: str(answers.differs.sum()),
        first + 2: str(answers.decided_by(FILTER).sum()),
        first + 3: f"{k.min()}, {k.max()}",
        first + 4: f"{k.mean():.1f}, {np.median(k):.1f}",
        first + 5: f"{m / k.mean():.1f}",
        first + 6: f"{exact / mean:.1f}",
    }


def print_row(row: Figures) -> None:
    """Print what was found for a pair."""
    first, second = row["digits"]
    costs = "".join(f"{row[key][0] / row[key][1]:10.1f}" for key in ("dense", "emitted"))
    print(
        f"{first}-{second}{row['m']:8d}{row['m/k']:7.1f}{costs}{row['disagreements']:23d}",
        flush=True,
    )


def print_table_1(measured: dict[tuple[int, int], Figures]) -> None:
    """Print Table 1, the paper's figures and ours side by side."""
    heads = [f"{name:>14s}{'ours':>14s}" for name in ("8 vs 3", "0 vs 1", "2 vs 5")]
    print("\nTable 1: the paper's figures, and ours\n" + " " * 27 + "".join(heads))
    titles = {21: "with linear filter", 31: "without", 40: "all test digits, with linear filter"}
    for row, (name, theirs) in TABLE_1.items():
        if row in titles:
            print(titles[row])
        ours = [
            measured[pair]["table 1"][row] if pair in measured else "" for pair in TABLE_1_PAIRS
        ]
        columns = zip(theirs, ours, strict=True)
        print(f"{row:2d} {name:24s}" + "".join(f"{p:>14s}{o:>14s}" for p, o in columns))


def print_square(title: str, lower: np.ndarray, upper: np.ndarray) -> None:
    """Print a table of two figures for each pair."""
    print(f"\n{title}\n   " + "".join(f"{digit:6d}" for digit in range(10)))
    for row in range(10):
        figures = [lower[row, c] if c < row else upper[row, c] for c in range(10)]
        cells = (
            f"{'':6s}" if c == row or np.isnan(v) else f"{v:6.0f}" for c, v in enumerate(figures)
        )
        print(f"{row:3d}" + "".join(cells))


def square(rows: list[Figures], below: str, above: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two figures of each pair as in Tables 2 and 3."""
    lower, upper = np.full((10, 10), np.nan), np.full((10, 10), np.nan)
    for row in rows:
        first, second = row["digits"]
        lower[second, first], upper[first, second] = row[below], row[above]
    return lower, upper


def print_means(rows: list[Figures]) -> None:
    """Print means over the pairs, and pooled: what all queries take together."""
    n = np.array([row["n"] for row in rows])
    m = np.array([row["m"] for row in rows])
    ratio = np.array([row["m/k"] for row in rows])
    at = tuple(np.array([row["digits"] for row in rows]).T)
    their_ratio, their_m = SPEED_UPS[at], SUPPORT_VECTORS[at[::-1]]
    print(f"\nOver {len(rows)} pairs, {n.sum():,} queries" + " " * 12 + "paper      ours")
    pairs = [
        ("m/k, mean of the pairs", their_ratio.mean(), ratio.mean()),
        (
            "m/k, pooled",
            *(pooled(n * v, n * v / r) for v, r in ((their_m, their_ratio), (m, ratio))),
        ),
        ("m, mean", their_m.mean(), m.mean()),
        ("disagreements", DISAGREEMENTS[at].sum(), sum(row["disagreements"] for row in rows)),
        ("of these by the linear filter", np.nan, sum(row["by filter"] for row in rows)),
        ("test errors of the SVMs", TEST_ERRORS[at[::-1]].sum(), sum(r["errors"] for r in rows)),
    ]
    for name, theirs, ours in pairs:
        paper = "-" if np.isnan(theirs) else f"{theirs:.1f}"
        print(f"{name:34s}{paper:>10s}{ours:10.1f}")
    for key in ("dense", "emitted"):
        exact, mean = np.array([row[key] for row in rows]).T
        print(
            f"true cost, {key}: mean {(exact / mean).mean():.1f}, "
            f"pooled {pooled(n * exact, n * mean):.1f}"
        )


def pooled(exact: np.ndarray, cost: np.ndarray) -> float:
    """Return how many times less all queries take together."""
    return float(exact.sum() / cost.sum())


def main() -> None:
    """Print the tables."""
    options = parser(__doc__)
    options.add_argument("--thresholds", choices=("maxsmoothed", "simple"), default="maxsmoothed")
    options.add_argument(
        "--all-training",
        action="store_true",
        help="thresholds from all training digits of a pair, the machine's own ones left one out",
    )
    asked = options.parse_args()
    pairs, sizes = (((0, 1),), QUICK) if asked.quick else (ALL_PAIRS, FULL)
    work = joblib.Parallel(n_jobs=asked.jobs, return_as="generator")(
        joblib.delayed(measure)(
            pair, asked.thresholds, asked.all_training, sizes, asked.cache, pair in TABLE_1_PAIRS
        )
        for pair in pairs
    )
    rows = []
    print("pair      m    m/k  true cost (dense, emitted)  disagreements")
    for row in work:
        rows.append(row)
        print_row(row)
    print_table_1({row["digits"]: row for row in rows})
    print_square("Table 2, the paper: below m, above m/k", SUPPORT_VECTORS, SPEED_UPS)
    print_square("Table 2, ours", *square(rows, "m", "m/k"))
    print_square(
        "Table 3, the paper: below test errors, above disagreements", TEST_ERRORS, DISAGREEMENTS
    )
    print_square("Table 3, ours", *square(rows, "errors", "disagreements"))
    print_means(rows)


if __name__ == "__main__":
    main()
