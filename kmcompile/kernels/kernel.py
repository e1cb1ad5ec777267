"""What every kernel family offers in float64: the meaning of the trained model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from kmcompile.kernels.float32 import Float32Kernel, KernelContext
from kmcompile.numeric.arrays import Float64Array


class Kernel(ABC):
    """A kernel K(s, x) with its parameters; frozen, float64.

    Subclasses are frozen dataclasses whose fields are the parameters of scikit-learn.
    """

    name: ClassVar[str]
    """scikit-learn's name of the family, also that of its template."""

    uses_length: ClassVar[bool] = False
    """Whether the error bound of its sum needs the norm of the prepared input."""

    requires_nonnegative: ClassVar[bool] = False
    """Whether K is undefined where a feature of a vector or of an input is negative."""

    @abstractmethod
    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return K(s_i, x_q) for every pair.

        Parameters
        ----------
        support_vectors : ndarray of shape (n_sv, n_features), float64
        X : ndarray of shape (n_queries, n_features), float64

        Returns
        -------
        ndarray of shape (n_queries, n_sv), float64
        """

    @property
    @abstractmethod
    def positive_definite(self) -> bool:
        """Whether K is an inner product in some feature space for these parameters."""

    def lower(self, context: KernelContext) -> Float32Kernel:
        """Return the kernel as the emitted C computes it in float32.

        Raises
        ------
        NotImplementedError
            Where the kernel has no sum over vectors of its own: a linear machine becomes weights.
        """
        raise NotImplementedError(f"the {self.name} kernel has no float32 image of its own")

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Return the parameters by scikit-learn's names, for reports and hashes."""
