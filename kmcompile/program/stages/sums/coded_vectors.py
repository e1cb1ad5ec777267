"""A sum over support vectors that are stored as codes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.sum import Sum


class CodedVectors(Sum):
    """What sums with a `CodeTable` share; the codes of an input are x times `per_unit`."""

    codes: CodeTable
    per_unit: Bound

    stores_codes: ClassVar[bool] = True

    @property
    def n_features(self) -> int:
        """Features of an input."""
        return self.codes.n_features

    @property
    def product_operations(self) -> int:
        """Multiply-adds of all inner products or distances."""
        return self.codes.operations()

    def block_constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the codes."""
        return self.codes.constants()

    def columns(self) -> Float32Array:
        """Return the vectors as (n_features, n_slots), in units of x, for fitting early exits."""
        vectors = np.zeros((self.n_features, self.codes.n_slots), dtype=np.float32)
        vectors[self.codes.columns] = self.codes.codes.T
        return vectors / self.per_unit

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the multiply-adds of each query: the lists of its zeros are skipped."""
        codes = (batch.x * self.per_unit).astype(np.int64)
        return self.operations() - self.codes.operations() + self.codes.operations_of(codes)
