"""Train routed machines on a local Dask cluster, and compare them with those of one process.

    pip install "dask[distributed]"
    python examples/routed/dask_cluster.py

The estimators share out their leaves with joblib, which a cluster can carry: only the lines with
`Client` and `parallel_config` are about it. An address instead of `n_workers` is another cluster.
"""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from large import land

from kmcompile.training import DCPredClassifier, FaLKSVC

N_SAMPLES = 20_000


def fitted(estimator: Any) -> dict[str, Any]:
    """Return what training has found, by name."""
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def different(one: Any, other: Any) -> list[str]:
    """Return the fitted attributes in which two estimators differ."""
    mine, its = fitted(one), fitted(other)
    names = sorted(mine.keys() | its.keys())
    return [n for n in names if not np.array_equal(mine.get(n), its.get(n))]


def main() -> None:
    """Print for each estimator in which attributes the cluster's differs."""
    try:
        from distributed import Client
    except ImportError as error:
        raise SystemExit(f'{error}; run: pip install "dask[distributed]"') from error
    X, y = land(N_SAMPLES, 1)
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        for make in (
            lambda: FaLKSVC(k=500, C=10.0, gamma=1.0, random_state=0),
            lambda: DCPredClassifier(n_leaves=8, n_landmarks=10, polish_steps=20, random_state=0),
        ):
            alone = make().fit(X, y)
            with joblib.parallel_config("dask"):
                shared = make().fit(X, y)
            found = different(alone, shared)
            print(f"{type(alone).__name__}: {len(fitted(alone))} attributes, different: {found}")


if __name__ == "__main__":
    main()
