"""The 45 pairs at a risk of 0.001, guaranteed and in expectation, from C that the host runs.

    python examples/nsv/promises.py --results build/nsv/promises.jsonl

calibrates the early exits of each pair on training digits that its machine has not seen, emits the
C, builds it for the host and asks it all test digits. Every answer is compared with the
interpreter's bit for bit, and its label with the model's. Costs are multiply-adds of a query with
all overhead, from the prepared input on, and no sum skips zeros: the exact sum is m d of them, as
in the paper. Our programs leave out the pixels that no vector of the machine has. Certified exits
are left out (`--exclude`): they do not pay with 784 features, as the report of a compilation says.

Each pair is written to the file of results when it is done; pairs in the file are not measured
again. In the end Tables 2 and 3 of the paper are printed beside these figures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cascades import Machine, dense
from host_c import answers_of_c, mismatches
from pairs import ALL_PAIRS, FULL, QUICK, Pair, Sizes, load_pair, pair_of, parser
from paper import DISAGREEMENTS, SPEED_UPS, SUPPORT_VECTORS, TEST_ERRORS
from tables import pooled, print_square, wrong

from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.statistical.cascade import add_cascade
from kmcompile.exits.statistical.case import Case, Wish
from kmcompile.exits.statistical.risk import Control
from kmcompile.exits.statistical.samples import CalibrationSamples, split
from kmcompile.program.program import Program
from kmcompile.request.asked_stages import AskedStages

CONTROLS: tuple[Control, ...] = ("guaranteed", "expected")
RISK = 1e-3

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Digit:
    """A pair's machine without sums that skip zeros.

    Parameters
    ----------
    pair : Pair
    machine : Machine
        Without features that no vector has.
    exact : Program
        The plain sum over all features, as the paper counts it.
    samples : CalibrationSamples
    """

    pair: Pair
    machine: Machine
    exact: Program
    samples: CalibrationSamples

    @classmethod
    def of(cls, pair: Pair) -> Digit:
        """Return the machine of a pair with its calibration samples."""
        whole = Machine.of(pair.model)
        machine = whole.dense()
        return cls(pair, machine, dense(whole.exact), machine.samples(pair.calibration.X))

    def program(self, control: Control, risk: float) -> tuple[Program, float]:
        """Return the program with a kind of promise, and the scale of its bands."""
        names = tuple(made.kind.template for made in certified_fits())
        room = replace(self.machine.room, stages=AskedStages(excluded=names))
        parts = split(len(self.samples), risk, control)
        wish = Wish(risk, control, parts, n_generated=0)  # as `--generated 0`
        case = Case.of(self.machine.machine, self.machine.exact, self.samples, wish)
        program, found = add_cascade(case, room, lambda text: None, n_jobs=1)
        return program, found.promise.scale

    def figures(self, control: Control, risk: float) -> Row:
        """Return what the C of a promise answers to the test digits, and what that takes."""
        X = self.pair.test.X
        program, scale = self.program(control, risk)
        answers = self.machine.ask(program, X, self.exact)
        of_c = answers_of_c(program, X)
        prepare = self.exact.prepare.operations()
        exact = float(answers.exact_operations.mean()) - prepare
        mean = float(answers.operations.mean()) - answers.prepare_operations
        said = (self.machine.decisions(X)[:, 0] > 0).astype(np.int32)
        return {
            "scale": scale,
            "mismatches": mismatches(of_c, answers.results),
            "disagreements": int((of_c["label"] != said).sum()),
            "k": float(np.maximum(of_c["kernel_evals"].astype(int), 1).mean()),
            "exact": exact,
            "operations": mean,
            "prepare": [prepare, answers.prepare_operations],
            "shares": answers.shares(),
        }


def measure(digits: tuple[int, int], risk: float, sizes: Sizes, folder: Path) -> Row:
    """Return the figures of a pair."""
    pair = load_pair(*digits, "poly9", folder, sizes)
    found = Digit.of(pair)
    return {
        "digits": list(digits),
        "m": int(pair.model[-1].n_support_.sum()),
        "n": len(pair.test),
        "errors": wrong(pair, found.machine),
        **{control: found.figures(control, risk) for control in CONTROLS},
    }


def print_row(row: Row) -> None:
    """Print what was found for a pair."""
    first, second = row["digits"]
    text = f"{first}-{second}{row['m']:8d}"
    for control in CONTROLS:
        own = row[control]
        text += (
            f"{own['scale']:8.2f}{row['m'] / own['k']:8.1f}{own['exact'] / own['operations']:8.1f}"
            f"{own['disagreements']:6d}{own['mismatches']:6d}"
        )
    print(text, flush=True)


def print_summary(rows: list[Row]) -> None:
    """Print Tables 2 and 3 beside the paper's, and the means."""
    found = {
        "m": [row["m"] for row in rows],
        "errors": [row["errors"] for row in rows],
        **{f"m/k, {c}": [row["m"] / row[c]["k"] for row in rows] for c in CONTROLS},
        **{
            f"cost, {c}": [row[c]["exact"] / row[c]["operations"] for row in rows] for c in CONTROLS
        },
        **{f"other labels, {c}": [row[c]["disagreements"] for row in rows] for c in CONTROLS},
    }
    ours = {name: of_pairs(rows, values) for name, values in found.items()}
    print_square(
        "Table 2, support vectors: the paper's below, ours above", SUPPORT_VECTORS, ours["m"]
    )
    for control in CONTROLS:
        title = f"Table 2, m/k: the paper's below, ours above, {control}"
        print_square(title, SPEED_UPS.T, ours[f"m/k, {control}"])
    print_square(
        "Table 2, true cost, ours: guaranteed below, expected above",
        ours["cost, guaranteed"].T,
        ours["cost, expected"],
    )
    print_square(
        "Table 3, test errors of the SVMs: the paper's below, ours above",
        TEST_ERRORS,
        ours["errors"],
    )
    for control in CONTROLS:
        title = f"Table 3, other labels: the paper's below, ours above, {control}"
        print_square(title, DISAGREEMENTS.T, ours[f"other labels, {control}"])
    n = np.array([row["n"] for row in rows])
    print(f"\n{len(rows)} pairs, {n.sum():,} queries; times less than the exact sum")
    for control in CONTROLS:
        exact = np.array([row[control]["exact"] for row in rows])
        cost = np.array([row[control]["operations"] for row in rows])
        k = np.array([row[control]["k"] for row in rows])
        m = np.array([row["m"] for row in rows])
        prepare = np.array([row[control]["prepare"] for row in rows])
        prepared = (exact + prepare[:, 0]) / (cost + prepare[:, 1])
        print(
            f"{control:10s} m/k mean {(m / k).mean():.1f}, pooled {pooled(n * m, n * k):.1f}; "
            f"true cost mean {(exact / cost).mean():.1f}, pooled {pooled(n * exact, n * cost):.1f} "
            f"(with the preparation {prepared.mean():.1f}); disagreements "
            f"{sum(row[control]['disagreements'] for row in rows)}, C unlike the interpreter "
            f"{sum(row[control]['mismatches'] for row in rows)}"
        )


def of_pairs(rows: list[Row], values: list[float]) -> np.ndarray:
    """Return a figure of each pair above the diagonal, shape (10, 10), float64."""
    found = np.full((10, 10), np.nan)
    for row, value in zip(rows, values, strict=True):
        first, second = row["digits"]
        found[first, second] = value
    return found


def main() -> None:
    """Print the tables."""
    options = parser(__doc__)
    options.add_argument("--results", type=Path, help="file of results, one JSON line a pair")
    options.add_argument("pairs", nargs="*", help="such as 3-8 0-1; all 45 by default")
    asked = options.parse_args()
    sizes, risk = (QUICK, 0.01) if asked.quick else (FULL, RISK)
    pairs = [pair_of(text) for text in asked.pairs] or list(ALL_PAIRS)
    pairs = [(0, 1)] if asked.quick else pairs
    done: dict[tuple[int, int], Row] = {}
    if asked.results is not None and asked.results.is_file():
        lines = asked.results.read_text().splitlines()
        done = {tuple(row["digits"]): row for row in map(json.loads, lines)}
    print("pair      m   scale     m/k    cost  dis. unlike of the C; guaranteed, then expected")
    for digits in pairs:
        if digits not in done:
            done[digits] = measure(digits, risk, sizes, asked.cache)
            if asked.results is not None:
                asked.results.parent.mkdir(parents=True, exist_ok=True)
                with asked.results.open("a") as file:
                    file.write(json.dumps(done[digits]) + "\n")
        print_row(done[digits])
    print_summary([done[digits] for digits in pairs])


if __name__ == "__main__":
    main()
