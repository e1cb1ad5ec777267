"""Exits in the leaves of FaLK-SVM: what they decide and save on a Cortex-M4, certified.

    python examples/routed/leaf_exits.py phoneme
    python examples/routed/leaf_exits.py ijcnn1 covtype_bin

The sets are in `$KMCOMPILE_DATA` or `../shared/data`; features are scaled to [0, 1] by the training
samples, but those of ijcnn1, and skin is cut to 20,000 training samples. The leaves are those of
the nearest centre, with a route of two levels. Half of at most 4,000 test samples choose the exits,
the other half is counted, without and with exits: multiply-adds in float32, all overhead included,
and instructions of the emulated board. The exits are also chosen without samples, by points made
from the support vectors.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from falk import DATA, Split, ijcnn1
from falk_sets import split_of

import kmcompile
from kmcompile.training import FaLKSVC

N_QUERIES = 2000
FLASH = 4 << 20
"""More than boards of this kind have: covtype_bin has vectors of 54 features."""

PARAMETERS: dict[str, dict[str, Any]] = {
    "phoneme": {"k": 250, "k_prime": 60, "C": 10.0, "gamma": 20.0},
    "ijcnn1": {"k": 2000, "k_prime": 1000, "C": 32.0, "gamma": 4.0},
    "covtype_bin": {"k": 500, "k_prime": 125, "C": 10.0, "gamma": 1.5},
    "skin": {"k": 250, "k_prime": 100, "C": 100.0, "gamma": 30.0},
}


def row(
    model: FaLKSVC, X: np.ndarray | None, X_test: np.ndarray, target: str = "cortex-m4"
) -> dict[str, object]:
    """Return what a compiled machine costs without and with its exits, and what these decide.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32, or None
        The samples that choose the exits.
    X_test : ndarray of shape (n_test, n_features), float32
        The samples that are counted.
    """
    options = {} if X is None else {"data": X, "mode": "certified"}
    with tempfile.TemporaryDirectory() as folder:
        test_data = Path(folder) / "test.npy"
        np.save(test_data, X_test)
        report = kmcompile.compile_model(
            model,
            name="leaves",
            target=target,
            test_data=test_data,
            max_flash=FLASH,
            optimize="mean",
            **options,
        ).report
    cost, instructions = report["cost"], report["target"]["instructions"]
    tables = {stage["name"]: stage["table_bytes"] for stage in report["stages"]}
    decided = {stage["name"]: stage["decided"] for stage in report["stages"]}
    of_queries = ""
    if instructions is not None:  # there are none of the host
        of_queries = f"{instructions['exact']:.0f} -> {instructions['mean']:.0f}"
    return {
        "chosen by": "vectors" if X is None else "samples",
        "decided": f"{decided.get('leaf_expansion', 0.0):.1%}",
        "certified": f"{report['verification']['certified']['certified_share']:.1%}",
        "ops": f"{cost['exact_ops']:.0f} -> {cost['mean_ops']:.0f}",
        "worst": f"{cost['exact_worst_ops']:.0f} -> {cost['worst_ops']:.0f}",
        "instructions": of_queries,
        "KB of the sum's and the exits' tables": (
            f"{tables['routed_sum'] / 1000:.0f} + {tables.get('leaf_expansion', 0) / 1000:.0f}"
        ),
    }


def split(name: str) -> Split:
    """Return a set, with features as the machines of the other examples get them."""
    return ijcnn1(DATA) if name == "ijcnn1" else split_of(name)


def main() -> None:
    """Print a table for each set that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", choices=PARAMETERS)
    for name in parser.parse_args().sets:
        data = split(name)
        model = FaLKSVC(
            selection="nearest_centre", route="two_levels", random_state=0, **PARAMETERS[name]
        ).fit(data.X, data.y)
        order = np.random.default_rng(1).permutation(len(data.X_test))[: 2 * N_QUERIES]
        X, X_test = np.array_split(np.float32(data.X_test[order]), 2)
        for chosen_by in (X, None):
            shown = row(model, chosen_by, X_test)
            print(name, *(f"{key}: {value}" for key, value in shown.items()), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
