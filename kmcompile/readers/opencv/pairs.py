"""The decisions of OpenCV's pairs of classes in LIBSVM's layout of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """f(x) = sum_k alpha_k K(s_index_k, x) - rho.

    Parameters
    ----------
    rho : float
    alpha : ndarray of shape (n,), float64
    index : ndarray of shape (n,), int
        Into the vectors of the file, all different.
    """

    rho: float
    alpha: Float64Array
    index: NDArray[np.int64]


def one_vs_one_rows(
    decisions: list[Decision], n_classes: int, n_sv: int
) -> tuple[NDArray[np.int64], Float64Array, tuple[int, ...]]:
    """Return the layout of `KernelMachine` for the decisions of all pairs of classes.

    A file of OpenCV does not tell the classes of its vectors. In a pair (i, j), those with
    alpha > 0 count as of class i and those with alpha < 0 as of class j, which is true of trained
    ones. The weights of a linear machine, one a pair, count as of class i. A vector that would be
    of several classes stands once in each, so that every decision is exactly the file's.

    Returns
    -------
    taken : ndarray of shape (n,), int
        The vectors of the file, class by class.
    dual_coef : ndarray of shape (n_classes - 1, n), float64
    counts : tuple of int
        How many vectors each class has.
    """
    first, second = np.triu_indices(n_classes, 1)
    classes, rows = [], []
    for i, j, one in zip(first, second, decisions, strict=True):
        positive = one.alpha > 0
        classes.append(np.where(positive, i, j))
        rows.append(np.where(positive, j - 1, i))
    alpha = np.concatenate([one.alpha for one in decisions])
    index = np.concatenate([one.index for one in decisions])
    keys = np.concatenate(classes) * n_sv + index
    used = alpha != 0
    if not used.any():
        raise InputError("all alpha are 0: no support vectors; retrain the model")
    kept, place = np.unique(keys[used], return_inverse=True)
    current_budget().spend(2 * FLOAT_BYTES * (n_classes - 1) * len(kept), "its coefficients")
    dual_coef = np.zeros((n_classes - 1, len(kept)))
    dual_coef[np.concatenate(rows)[used], place] = alpha[used]
    counts = np.bincount(kept // n_sv, minlength=n_classes)
    return kept % n_sv, dual_coef, tuple(int(n) for n in counts)
