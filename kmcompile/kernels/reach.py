"""The reach of a query in feature space: bounds that hold for all of its kernel values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch


class Reach(ABC):
    """Bounds on K(x, x) and on the error of a kernel value, for a positive definite kernel.

    The bounds are those of a lowered kernel whose context has no `sum_error`. `vector_error` is 0
    if the stored vectors are taken as exact.
    """

    name: ClassVar[str]
    """Name of the template in `templates/bound_sequence/`."""

    @property
    def expands(self) -> bool:
        """Whether squared distances are expanded."""
        return False

    @abstractmethod
    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return upper bounds on K(x, x) and on |K^(z, x) - K(z, x)| for the exact input x.

        Returns
        -------
        square, error : ndarray of shape (n_queries,), float32
        """

    def context(self) -> dict[str, Any]:
        """Return further values for the template, besides the reach itself."""
        return {}
