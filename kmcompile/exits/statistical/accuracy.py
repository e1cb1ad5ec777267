"""How many right labels of each class the trained model and the program give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Right labels of some samples, by class.

    Parameters
    ----------
    samples : tuple of int
        Samples of each class.
    model, program : tuple of int
        How many of them the trained model and the program label rightly.
    model_instead, program_instead : tuple of dict
        For each class, how many of its samples get which other class.
    """

    samples: tuple[int, ...]
    model: tuple[int, ...]
    program: tuple[int, ...]
    model_instead: tuple[dict[int, int], ...]
    program_instead: tuple[dict[int, int], ...]

    @classmethod
    def of(
        cls,
        said: NDArray[np.integer[Any]],
        trained: NDArray[np.integer[Any]],
        truth: NDArray[np.integer[Any]],
        n_classes: int,
    ) -> Accuracy:
        """Return the accuracy of labels of shape (n_samples,): the program's and the model's."""
        right = (truth, truth[trained == truth], truth[said == truth])
        samples, model, program = (
            tuple(int(n) for n in np.bincount(rows, minlength=n_classes)) for rows in right
        )
        instead = (_instead(labels, truth, n_classes) for labels in (trained, said))
        return cls(samples, model, program, *instead)


def _instead(
    labels: NDArray[np.integer[Any]], truth: NDArray[np.integer[Any]], n_classes: int
) -> tuple[dict[int, int], ...]:
    """Return for each class how many of its samples have which other label."""
    found: tuple[dict[int, int], ...] = tuple({} for _ in range(n_classes))
    wrong = labels != truth
    pairs = np.stack([truth[wrong], labels[wrong]], axis=1).astype(np.int64)
    for (right, other), n in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
        found[right][int(other)] = int(n)
    return found
