"""Train FaLK-SVM on 500,000 generated samples of 54 features: seconds, and the largest memory.

    python examples/routed/large.py --jobs 2
    python examples/routed/large.py --selection nearest_training_point

The set resembles land cover: ten measures that are smooth functions of four hidden coordinates,
four and forty indicators of which one each is 1, two classes, of which a twentieth is flipped. The
memory is that of this process, and of the largest job's process.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from joblib.externals.loky import get_reusable_executor

from kmcompile.training import FaLKSVC


def land(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of shape (n, 54) in [0, 1], and their labels, of which 5 % are flipped."""
    fixed = np.random.default_rng(0)
    frequencies, phases = fixed.normal(scale=3.0, size=(4, 55)), fixed.random(55) * 2 * np.pi
    random = np.random.default_rng(seed)
    waves = np.sin(random.random((n, 4)) @ frequencies + phases)
    X = np.zeros((n, 54))
    X[:, :10] = 0.5 + 0.5 * waves[:, :10]
    for first, end in ((10, 14), (14, 54)):
        X[np.arange(n), first + waves[:, first:end].argmax(axis=1)] = 1.0
    y = waves[:, 54] > 0.0
    return X, np.where(random.random(n) < 0.05, ~y, y).astype(int)


def peak_gb(who: int) -> float:
    """Return the largest memory so far, in 10^9 bytes."""
    return resource.getrusage(who).ru_maxrss * 1024 / 1e9


def main() -> None:
    """Print what training takes, and how often the machine is right on other samples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=500_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--selection", default="nearest_centre")
    options = parser.parse_args()
    X, y = land(options.samples, 1)
    machine = FaLKSVC(
        k=1000, C=10.0, gamma=1.0, selection=options.selection, n_jobs=options.jobs, random_state=0
    )
    start = time.perf_counter()
    machine.fit(X, y)
    print(f"fit {time.perf_counter() - start:.0f} s, {len(machine.centres_)} neighbourhoods")
    if options.jobs > 1:
        # Only the memory of processes that have ended is known.
        get_reusable_executor().shutdown(wait=True)
    print(f"largest memory {peak_gb(resource.RUSAGE_SELF):.2f} GB", end="")
    print(f", of a job {peak_gb(resource.RUSAGE_CHILDREN):.2f} GB")
    X_test, y_test = land(10_000, 2)
    print(f"accuracy {(machine.predict(X_test) == y_test).mean():.4%}")


if __name__ == "__main__":
    main()
