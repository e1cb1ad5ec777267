"""Pairs of Table 1 of the NSV paper, compiled for a Cortex-M7 and asked under its emulator.

    python examples/nsv/board.py 0-1 2-5 3-8

compiles the machine of each pair as the command does: `kmcompile PAIR.joblib --trust-pickle
--target cortex-m7 --max-flash 16777216 --data D --test-data T`, with the risk of --risk-control or,
with --paper, `--thresholds maxsmoothed --window 10 --dimensions 20`. Every answer of the C is
compared with the interpreter's, on the host and on the board; instructions are those of the
emulator. The tables of these machines are larger than the part's flash: they are placed in the
board's other memory, and the report says so. Zeros are skipped, by the exact sum as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pairs import FULL, QUICK, TABLE_1_PAIRS, load_pair, pair_of, parser

import kmcompile

N_TEST = 300
"""Test digits that are asked: a query with its exact sum takes the emulator milliseconds."""

MAX_FLASH = 16_777_216

HEADER = (
    "pair   target      queries unlike  dis.    exact      mean       p99   largest   times"
    "  operations  stages"
)


def row_of(name: str, report: dict[str, Any]) -> str:
    """Return the row of a pair."""
    exact = report["verification"]["exact"]
    board = report["target"]["name"]
    where = "host" if exact["target"] is None else "target"
    asked = exact[where]
    counted = report["target"]["instructions"] or dict.fromkeys(("exact", "mean", "p99", "max"))
    cells = "".join(
        f"{'-' if value is None else format(value, ',.0f'):>10s}"
        for value in (counted[key] for key in ("exact", "mean", "p99", "max"))
    )
    times = counted["exact"] / counted["mean"] if counted["mean"] else np.nan
    decided = [(stage["name"], stage["decided"]) for stage in report["stages"]]
    shares = " ".join(f"{stage} {share:.3f}" for stage, share in decided if share is not None)
    return (
        f"{name:6s} {board:10s}{asked['queries']:9,d}{asked['mismatches']:7d}"
        f"{report['risk']['measured']['disagreements']:6d}{cells}{times:8.1f}"
        f"{report['cost']['speedup_ops']:12.1f}  {shares}"
    )


def main() -> None:
    """Print a row for each pair."""
    options = parser(__doc__)
    options.add_argument("--paper", action="store_true", help="the paper's own thresholds")
    options.add_argument("--risk-control", choices=("guaranteed", "expected"), default="guaranteed")
    options.add_argument("--target", default="cortex-m7")
    options.add_argument("pairs", nargs="*", help="such as 3-8 0-1; those of Table 1 by default")
    asked = options.parse_args()
    sizes, pairs = FULL, [pair_of(text) for text in asked.pairs] or list(TABLE_1_PAIRS)
    promise: dict[str, Any] = {
        "risk": 1e-3,
        "risk_control": asked.risk_control,
        "generated": 0,
    }
    if asked.quick:
        sizes, pairs, promise["risk"] = QUICK, [(0, 1)], 0.01
    if asked.paper:
        promise = {"thresholds": "maxsmoothed", "window": 10, "dimensions": 20}
    print(HEADER)
    for digits in pairs:
        pair = load_pair(*digits, "poly9", asked.cache, sizes)
        compiled = kmcompile.compile_model(
            pair.model,
            target=asked.target,
            data=pair.calibration.X,
            test_data=pair.test.X[:N_TEST],
            max_flash=MAX_FLASH,
            optimize="mean",
            reduce="off",
            name=f"digits_{digits[0]}_{digits[1]}",
            **promise,
        )
        print(row_of(pair.name, compiled.report), flush=True)


if __name__ == "__main__":
    main()
