"""Train FaLK-SVM on 500,000 generated samples of 54 features: seconds, and the largest memory.

    python examples/routed/large.py --jobs 2
    python examples/routed/large.py --selection nearest_training_point

The set resembles land cover: ten measures that are smooth functions of four hidden coordinates,
four and forty indicators of which one each is 1, two classes, of which a twentieth is flipped. The
memory is that of this process and of all jobs' processes together, at its largest: each shared page
counts once (Linux' proportional set size), looked at every fifth of a second.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path

import numpy as np

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


class Peak:
    """The largest memory of this process and its descendants together, while the block runs."""

    gb = 0.0

    def __enter__(self) -> Peak:
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ends.wait(0.2):
            self.gb = max(self.gb, sum(map(proportional_kb, family(os.getpid()))) * 1024 / 1e9)


def family(process: int) -> list[int]:
    """Return a process and its descendants."""
    found = [process]
    for own in found:
        for task in Path(f"/proc/{own}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:
                continue
    return found


def proportional_kb(process: int) -> int:
    """Return the memory of a process in KiB, each shared page in equal parts; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


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
    with Peak() as peak:
        machine.fit(X, y)
    print(f"fit {time.perf_counter() - start:.0f} s, {len(machine.centres_)} neighbourhoods")
    print(f"largest memory of all processes together {peak.gb:.2f} GB")
    X_test, y_test = land(10_000, 2)
    print(f"accuracy {(machine.predict(X_test) == y_test).mean():.4%}")


if __name__ == "__main__":
    main()
