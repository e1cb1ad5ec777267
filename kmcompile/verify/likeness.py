"""Warnings on test samples: they differ more than was promised, or are unlike those of --data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.special import kolmogorov

from kmcompile.exits.statistical.calibration import Promise
from kmcompile.exits.statistical.near_copies import groups_of
from kmcompile.exits.statistical.risk import Tally
from kmcompile.kernels import KernelSum
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.reduction.curve import Reduction
from kmcompile.text.figures import confidence_text, count_text, counted, share_text
from kmcompile.verify.checks import ModelCheck
from kmcompile.verify.queries import Queries

FALSE_ALARM = 1e-3
"""Largest probability of a warning if both files are independent samples of one distribution."""

_MOST = 2000
"""Most samples of a file that are compared: with more, differences that hardly matter are found."""
_SEED = 20260115
_FAR = 10
_FEWEST = 10
"""Fewest samples, and fewest vectors, that say where samples lie."""


def promise_broken(
    check: ModelCheck | None, queries: Queries, promise: Promise | None, reduction: Reduction | None
) -> str:
    """Return a warning if more labels of test samples differ than is promised; "" otherwise.

    Of a loss, the right labels count, where the test samples have labels. The promise of early
    exits is about the whole program; without one, that of a reduced machine is.
    """
    promised = None if promise is None else promise.upper_bound
    of_loss = promise is not None and promise.of == "loss"
    if promised is None and reduction is not None:
        promised, of_loss = reduction.chosen.limit, reduction.of == "loss"
    if promised is None or check is None or check.certified is None:
        return ""
    if queries.source != "test-data":
        return ""
    if of_loss:
        return _beyond_loss(check.tally, promised)
    return beyond_promise(check.label_disagreements, queries.n_given - check.refused, promised)


def beyond_promise(unlike: int, n: int, promised: float) -> str:
    """Return a warning if a larger share of test labels differs than was promised; "" otherwise.

    Parameters
    ----------
    unlike, n : int
        Test samples with another label than the model's, and all that were answered.
    promised : float
        The limit of the probability of another label.

    Examples
    --------
    >>> beyond_promise(2, 1000, 0.01)
    ''
    """
    if not n or unlike / n <= promised:
        return ""
    differ = counted(n, "test label differs", "test labels differ")
    return (
        f"{count_text(unlike)} of {differ} from the model's, {share_text(unlike / n)}: more than "
        f"the {share_text(promised)} that is promised for inputs like --data"
    )


def _beyond_loss(tally: Tally, promised: float) -> str:
    if tally.gained is None or tally.share <= promised:
        return ""
    return (
        f"{count_text(tally.disagreements)} of {counted(tally.n, 'test label', 'test labels')} "
        f"{'is' if tally.disagreements == 1 else 'are'} right of the model's alone and "
        f"{count_text(tally.gained)} of the program's alone, a loss of "
        f"{share_text(tally.share)}: more than the {share_text(promised)} that is promised for "
        "inputs like --data"
    )


def unlike_data(samples: Float32Array, tests: Float32Array) -> str:
    """Return a warning if a feature of the test samples is distributed unlike --data; "" otherwise.

    Each feature is compared by the test of Kolmogorov and Smirnov, and `FALSE_ALARM` is divided by
    the number of features (Bonferroni). Its asymptotic law makes it cautious in small samples and
    where values repeat. A group of copies counts as one sample.

    Parameters
    ----------
    samples, tests : ndarray of shape (n, n_features), float32

    References
    ----------
    S. Rabanser, S. Guennemann, Z. Lipton, "Failing Loudly: An Empirical Study of Methods for
    Detecting Dataset Shift", NeurIPS 2019.
    """
    a, b = _some(samples), _some(tests)
    if not len(a) or not len(b):
        return ""
    n, m = (len(groups_of(X).firsts) for X in (a, b))
    apart = np.array([_distance(a[:, j], b[:, j]) for j in range(a.shape[1])])
    likely = kolmogorov(np.sqrt(n * m / (n + m)) * apart)
    strange = np.flatnonzero(likely * len(apart) < FALSE_ALARM)
    if not len(strange):
        return ""
    most = int(np.argmax(apart))
    features = counted(len(apart), "feature", "features")
    return (
        f"the test samples are not like --data: {count_text(len(strange))} of {features} "
        f"are distributed otherwise, feature {most} most (with {confidence_text(1 - FALSE_ALARM)} "
        "confidence); what is promised holds for inputs like --data"
    )


def _some(X: Float32Array) -> Float32Array:
    if len(X) <= _MOST:
        return X
    return X[np.random.default_rng(_SEED).permutation(len(X))[:_MOST]]


def _distance(a: Float32Array, b: Float32Array) -> float:
    """Return the largest difference of two empirical distribution functions."""
    a, b = np.sort(a), np.sort(b)
    places = np.concatenate([a, b])
    below = [np.searchsorted(one, places, side="right") / len(one) for one in (a, b)]
    return float(np.abs(below[0] - below[1]).max())


def unlike_vectors(machine: KernelMachine, samples: Sequence[Float32Array]) -> str:
    """Return a warning if most samples lie far outside the support vectors; "" otherwise.

    Far outside: more than `_FAR` times as far from the middle of the vectors' range, in one and the
    same feature behind the preprocessing, as any vector is. Support vectors are training samples,
    of which more than half cannot lie so; that a scaler is missing is the usual reason.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained. Of a linear machine nothing is known of the samples.
    samples : sequence of ndarray of shape (n, n_features), float32
    """
    steps = machine.preprocessing
    n_constant = steps[-1].n_constant if steps else 0
    given = _some(np.concatenate(samples))
    vectors = machine.support_vectors
    summed = KernelSum(
        vectors, partial(decision_coefficients, machine), machine.intercept, n_constant
    )
    are_samples = machine.kernel.likely_points(summed, np.random.default_rng(_SEED)) is vectors
    if not are_samples or min(len(vectors), len(given)) < _FEWEST:
        return ""
    middle = (vectors.max(axis=0) + vectors.min(axis=0)) / 2
    half = vectors.max(axis=0) - middle
    apart = np.abs(machine.prepare(given.astype(np.float64)) - middle)
    far = ((apart > _FAR * half) & (half > 0)).mean(axis=0)[: len(half) - n_constant]
    most = int(np.argmax(far))
    if far[most] <= 0.5:
        return ""
    where = "behind the preprocessing" if steps else "as given"
    return (
        f"{share_text(float(far[most]))} of the samples lie far outside what the model was trained "
        f"on: feature {most}, {where}, is more than {_FAR} times as far from the middle of the "
        "support vectors as any of them; check the units, and give the scaler that the model was "
        "trained behind: --before FILE"
    )
