"""FaLK-SVM beside one SVM on several sets: a paired test, cost, training and query time.

    python examples/routed/falk_sets.py spirals
    python examples/routed/falk_sets.py letter

The sets are in `falk_data.py`. Spirals are two of three turns each, with normal noise of standard
deviation .04 around them; `checkerboard_noise` has 5.8 % of the labels flipped. Of cpusmall, cadata
and kin8nm the class is whether the target is above the median. Features are scaled to [0, 1] by the
training samples, those of ijcnn1 are taken as they are.

Each method chooses its parameters in cross-validation on training samples (`falk_search.py`), then
it is trained on all. Test samples are only counted. Costs are multiply-adds of a query in float32,
as the report counts them, and instructions on an emulated Cortex-M4 (`falk_cost.py`). Times
are the processor's. Of a million spirals, parameters are those of 100,000, and the one SVM is
trained on 100,000.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from falk import Split, shown
from falk_cost import cost_of
from falk_data import FILES, GENERATED, N_GENERATED, split_of
from falk_search import Maker, Trial, best_trial, finalists, local_svms, one_svm
from scipy.stats import beta, binom

N_TIMED = 2_000
MARGIN = 0.001
CONFIDENCE = 0.99
ROUTE_SHARE = 0.25
"""Two levels are tried if a flat route is more than this share of the mean cost."""


def largest_loss(one_right: np.ndarray, local_right: np.ndarray) -> float:
    """Return the accuracy that local machines lose at most, with 99 % confidence.

    Of the m samples on which exactly one is right, b are the one SVM's. The loss is (2 t - 1) p
    with t = P(the one SVM's | exactly one right), p = P(exactly one right): Clopper-Pearson bounds
    of both, with half of the error each.
    """
    m, n = int((one_right != local_right).sum()), len(one_right)
    b = int((one_right & ~local_right).sum())
    each = 1.0 - (1.0 - CONFIDENCE) / 2
    share = upper(b, m, each)
    occurrence = upper(m, n, each) if share > 0.5 else 1.0 - upper(n - m, n, each)
    return (2 * share - 1) * occurrence


def upper(successes: int, n: int, confidence: float) -> float:
    """Return the Clopper-Pearson upper bound of a probability."""
    return 1.0 if successes == n else float(beta.ppf(confidence, successes + 1, n - successes))


def verdict(one_right: np.ndarray, local_right: np.ndarray) -> str:
    """Say whether local machines are worse than the one, or not by more than .1 points."""
    b = int((one_right & ~local_right).sum())
    c = int((local_right & ~one_right).sum())
    loss = largest_loss(one_right, local_right)
    if loss <= MARGIN:
        found = "not worse"
    elif binom.sf(b - 1, b + c, 0.5) < 1 - CONFIDENCE:
        found = "worse"
    else:
        found = "undecided"
    return f"{found}: -{b} +{c}, at most {100 * loss:.2f} points"


def rows(split: Split, n_one: int | None = None) -> Iterator[dict[str, object]]:
    """Yield a row for the one SVM, FaLK-SVMc and FaLK-SVM; FaLK-SVMc with two levels if it pays.

    The one SVM is trained on the first `n_one` samples. Then no parameters are searched for on more
    than these.
    """
    of_one = Split(split.X[:n_one], split.y[:n_one], split.X_test, split.y_test)
    candidates = finalists(one_svm, of_one)
    one = Judged("SVC", one_svm, best_trial(one_svm, candidates, of_one), of_one)
    yield one.row(one.right)
    flat = local_svms("nearest_centre", "flat")
    points = local_svms("nearest_training_point", "two_levels")
    candidates = finalists(points, of_one)
    trial = best_trial(flat, candidates, of_one)
    centres = Judged("FaLK-SVMc", flat, trial, split)
    yield centres.row(one.right)
    if len(centres.model.route_weights_) * split.X.shape[1] > ROUTE_SHARE * centres.cost.mean_ops:
        levels = local_svms("nearest_centre", "two_levels")
        yield Judged("FaLK-SVMc, two levels", levels, trial, split).row(one.right)
    trial = best_trial(points, candidates, of_one)
    yield Judged("FaLK-SVM", points, trial, split).row(one.right)


class Judged:
    """A machine, trained, timed, and its costs."""

    def __init__(self, name: str, make: Maker, trial: Trial, split: Split) -> None:
        self.name, self.trial = name, trial
        start = time.process_time()
        self.model: Any = make(trial).fit(split.X, split.y)
        self.training_s = time.process_time() - start
        start = time.process_time()
        self.model.predict(split.X_test[:N_TIMED])
        self.query_us = (time.process_time() - start) * 1e6 / min(N_TIMED, len(split.X_test))
        self.right = self.model.predict(split.X_test) == split.y_test
        self.cost = cost_of(self.model, split.X_test)

    def row(self, one_right: np.ndarray) -> dict[str, object]:
        """Return what the table says of it."""
        local, cost = self.name != "SVC", self.cost
        return {
            "model": self.name,
            "C": f"{self.trial.C:.3g}",
            "gamma": f"{self.trial.gamma:.3g}",
            "k, k'": f"{self.trial.k}, {self.trial.k_prime}" if local else "",
            "accuracy": f"{self.right.mean():.3%}",
            "beside the SVC": verdict(one_right, self.right) if local else "",
            "vectors": cost.vectors,
            "mean ops": f"{cost.mean_ops:.0f}",
            "worst ops": f"{cost.worst_ops:.0f}",
            "mean instructions": number(cost.mean_instructions),
            "largest instructions": number(cost.largest_instructions),
            "table KB": number(cost.table_bytes and cost.table_bytes / 1000),
            "fit s": f"{self.training_s:.1f}",
            "query us": f"{self.query_us:.0f}",
        }


def number(value: float | None) -> str:
    """Return a rounded number, or nothing."""
    return "" if value is None else f"{value:.0f}"


def main() -> None:
    """Print the table of the set that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=(*GENERATED, *FILES))
    name = parser.parse_args().set
    split = split_of(name)
    print(f"{len(split.X)} training samples, {len(split.X_test)} test samples", flush=True)
    shown(rows(split, N_GENERATED if name == "spirals_million" else None))


if __name__ == "__main__":
    main()
