"""How much memory and how many operations a local expansion takes, from above."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.exits.certified.local_expansion import (
    BLOCK_ROWS,
    LARGEST_EXPONENT,
    N_SQUARES,
    group_rows,
    last_order,
)

_MOST_ORDERS = last_order(LARGEST_EXPONENT) - 2
EIGENVALUE_OPERATIONS = 2.0
"""Multiply-adds of the eigenvalues of a symmetric matrix, over the third power of its width: 4/3
by count, half of them in products of a matrix and a vector, which are slower."""


@dataclass(frozen=True, slots=True)
class Size:
    """What an expansion takes, from above.

    Parameters
    ----------
    n_vectors, n_features, n_rows : int
        Support vectors, features of a prepared input, decisions.
    """

    n_vectors: int
    n_features: int
    n_rows: int

    @property
    def kept_bytes(self) -> float:
        """Bytes of its matrices: `quadratic`, `squares`."""
        return 8.0 * self.n_rows * (1 + N_SQUARES) * self.n_features**2

    @property
    def work_bytes(self) -> float:
        """Bytes of what `expand` has beside that at any time.

        Either the weighted vectors with a copy for the product; or those of a group of rows twice,
        B^T B of all its orders and what is made of a block of vectors; the quadratic form is there
        three times where it is made even.
        """
        m, n = self.n_vectors, self.n_features
        group = min(self.n_rows, group_rows(n, _MOST_ORDERS))
        weighted = 16.0 * self.n_rows * m * n
        block = 8.0 * min(m, BLOCK_ROWS) * (5 * m + 2 * group * n)
        grouped = (
            16.0 * group * m * n + block + 8.0 * (group * (_MOST_ORDERS + N_SQUARES) + 4) * n * n
        )
        return max(weighted, grouped) + 8.0 * (3 * self.n_rows * n * n + 6 * m * n)

    @property
    def order_operations(self) -> float:
        """Multiply-adds of the products of one order."""
        return float(self.n_vectors**2 * (self.n_rows + 1) * self.n_features)

    @property
    def operations(self) -> float:
        """Multiply-adds of `expand` with all orders that there may be."""
        m, n, rows = self.n_vectors, self.n_features, self.n_rows
        squares = rows * n * n * (m + EIGENVALUE_OPERATIONS * n)
        return _MOST_ORDERS * (self.order_operations + squares)
