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
    """

    samples: tuple[int, ...]
    model: tuple[int, ...]
    program: tuple[int, ...]

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
        counts = (np.bincount(rows, minlength=n_classes) for rows in right)
        return cls(*(tuple(int(n) for n in each) for each in counts))
