"""How far early exits reach: speed-ups and disagreements over pairs of MNIST digits.

    python examples/nsv/reach.py --exits guaranteed --kernel poly9 --jobs 2

asks the test digits of each pair and prints one row a pair, then the mean of the pairs' speed-ups
and the pooled one, in three accountings of the same multiply-adds:

    dense     no zero is skipped on either side, from the prepared input on
    prepared  the same with the input check and the normalisation on both sides
    emitted   the C as it is emitted: zeros skipped where calibration found the data sparse

With --all-digits, 12 machines are calibrated on training digits of all ten classes, and are asked
all test digits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
from cascades import Answers, Machine, dense
from pairs import (
    ALL_PAIRS,
    FULL,
    KERNELS,
    QUICK,
    Pair,
    Sizes,
    load_pair,
    mnist,
    pair_of,
    parser,
    rows_of,
)

EXITS = ("maxsmoothed", "simple", "guaranteed", "expected")
ACCOUNTINGS = ("dense", "prepared", "emitted")

ALL_DIGITS_PAIRS = "3-8 0-1 2-5 4-9 7-9 3-5 5-8 0-6 1-7 2-7 4-6 6-8"
N_ALL_DIGITS = 12_000
_SEED = 20031207

Row = dict[str, Any]


def measure(
    digits: tuple[int, int],
    kernel: str,
    exits: str,
    risk: float,
    sizes: Sizes,
    folder: Path,
    all_digits: bool,
) -> Row:
    """Return the figures of a pair."""
    pair = load_pair(*digits, kernel, folder, sizes)
    machine = Machine.of(pair.model)
    samples = machine.samples(
        other_digits(pair, digits, sizes) if all_digits else pair.calibration.X
    )
    X = mnist("test").X[: sizes.test] if all_digits else pair.test.X
    scale: float | None = None
    exact, dense_exact = machine.exact, dense(machine.exact)
    if exits in ("guaranteed", "expected"):
        without, found = machine.with_risk(samples, risk, exits, dense_exact)
        scale = found.promise.scale
        emitted, _ = machine.with_risk(samples, risk, exits, exact)
    else:
        emitted = machine.paper(samples, exits)
        without = dense(emitted)
    plain, skipping = machine.ask(without, X, dense_exact), machine.ask(emitted, X, exact)
    return {
        "pair": pair.name,
        "m": machine.machine.n_support_vectors,
        "n": len(X),
        "scale": scale,
        "shares": plain.shares(),
        "disagreements": int(plain.differs.sum()),
        "disagreements, emitted": int(skipping.differs.sum()),
        "k": plain.k.mean(),
        "dense": plain.cost(with_prepare=False),
        "prepared": plain.cost(with_prepare=True),
        "emitted": skipping.cost(with_prepare=True),
        "largest": largest_share(plain),
    }


def other_digits(pair: Pair, digits: tuple[int, int], sizes: Sizes) -> np.ndarray:
    """Return training digits of all classes that the pair's machine has not seen."""
    train = mnist("train")
    seen = rows_of(*digits, "train")[: len(pair.train)]
    fresh = np.setdiff1d(np.arange(len(train)), seen)
    n = N_ALL_DIGITS if sizes.calibration is None else sizes.calibration
    return train.X[np.random.default_rng(_SEED).permutation(fresh)[:n]]


def largest_share(answers: Answers) -> float:
    """Return the largest cost of a query, as a share of the exact sum's."""
    return float((answers.operations / answers.exact_operations).max())


def print_row(row: Row) -> None:
    """Print the figures of a pair."""
    scale = "     -" if row["scale"] is None else f"{row['scale']:6.2f}"
    ratios = "".join(f"{row[name][0] / row[name][1]:9.1f}" for name in ACCOUNTINGS)
    shares = " ".join(f"{name} {share:.3f}" for name, share in row["shares"].items())
    print(
        f"{row['pair']:5s}{row['m']:6d}{scale}{row['disagreements']:7d}"
        f"{row['disagreements, emitted']:7d}{row['dense'][1]:12,.0f}{row['m'] / row['k']:8.1f}"
        f"{ratios}{row['largest']:9.2f}  {shares}",
        flush=True,
    )


def print_summary(rows: list[Row]) -> None:
    """Print mean and pooled speed-ups, best and worst pair."""
    n = np.array([row["n"] for row in rows])
    print(
        f"\n{len(rows)} pairs, {n.sum():,} queries; disagreements: "
        f"{sum(row['disagreements'] for row in rows)} dense, "
        f"{sum(row['disagreements, emitted'] for row in rows)} emitted"
    )
    m, k = (np.array([row[key] for row in rows]) for key in ("m", "k"))
    print(f"m/k       mean {(m / k).mean():7.1f}   pooled {(n * m).sum() / (n * k).sum():7.1f}")
    for name in ACCOUNTINGS:
        exact, cost = np.array([row[name] for row in rows]).T
        ratio, together = exact / cost, (n * exact).sum() / (n * cost).sum()
        least, most = rows[ratio.argmin()]["pair"], rows[ratio.argmax()]["pair"]
        print(
            f"{name:9s} mean {ratio.mean():7.1f}   pooled {together:7.1f}"
            f"   worst {ratio.min():.1f} ({least}), best {ratio.max():.1f} ({most})"
        )


def main() -> None:
    """Print the table."""
    options = parser(__doc__)
    options.add_argument("--kernel", choices=KERNELS, default="poly9")
    options.add_argument("--exits", choices=EXITS, default="guaranteed")
    options.add_argument("--risk", type=float, default=1e-3)
    options.add_argument("--all-digits", action="store_true")
    options.add_argument("pairs", nargs="*", help="such as 3-8 0-1; all 45 by default")
    asked = options.parse_args()
    sizes, pairs = FULL, asked.pairs or [f"{a}-{b}" for a, b in ALL_PAIRS]
    if asked.all_digits and not asked.pairs:
        pairs = ALL_DIGITS_PAIRS.split()
    if asked.quick:
        sizes, pairs, asked.risk = QUICK, ["0-1"], 0.01
    print(
        "pair      m scale  dis. emitted operations     m/k    dense prepared  emitted  largest"
        "  shares"
    )
    work = joblib.Parallel(n_jobs=asked.jobs, return_as="generator")(
        joblib.delayed(measure)(
            pair_of(name),
            asked.kernel,
            asked.exits,
            asked.risk,
            sizes,
            asked.cache,
            asked.all_digits,
        )
        for name in pairs
    )
    rows = []
    for row in work:
        rows.append(row)
        print_row(row)
    print_summary(rows)


if __name__ == "__main__":
    main()
