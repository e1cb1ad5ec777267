"""Upper bounds on the memory and the operations of a local expansion."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.exits.certified.expansion import MOST_ORDER, MOST_ORDER_OF_MANY
from kmcompile.exits.certified.expansion_moments import BLOCK_VALUES, by_moments, n_moments
from kmcompile.exits.certified.expansion_norms import BLOCK_ROWS, N_SQUARES, group_rows

_MOST_ORDERS = MOST_ORDER - 2
_MOMENT_OPERATIONS = 2
"""Multiply-adds that a moment of a row and a vector counts as."""

EIGENVALUE_OPERATIONS = 2.0
"""Multiply-adds of the eigenvalues of a symmetric matrix, divided by the cube of its width. The
count is 4/3; half of them are in matrix-vector products, which are slower."""


@dataclass(frozen=True, slots=True)
class Size:
    """Upper bounds on the memory and the operations of a local expansion.

    Parameters
    ----------
    n_vectors, n_features, n_rows : int
        Support vectors, features of a prepared input, decisions.
    """

    n_vectors: int
    n_features: int
    n_rows: int

    @property
    def by_moments(self) -> bool:
        """Whether the norms come from moments, not from pairs of vectors."""
        return by_moments(self.n_vectors, self.n_features, MOST_ORDER_OF_MANY)

    @property
    def kept_bytes(self) -> float:
        """Bytes of the matrices that the expansion keeps: `quadratic` and `squares`."""
        return 8.0 * self.n_rows * (1 + N_SQUARES) * self.n_features**2

    @property
    def work_bytes(self) -> float:
        """Most bytes of temporary arrays in `expand`, beside the kept matrices.

        The larger of two moments counts. In the first, there are the weighted vectors and a copy of
        them for the product. In the second, there are two copies of the weighted vectors of a group
        of rows, B^T B of all its orders and the products of a block of vectors, or the moments.
        Making the quadratic form symmetric takes three copies of it.
        """
        m, n = self.n_vectors, self.n_features
        group = min(self.n_rows, group_rows(n, _MOST_ORDERS))
        weighted = 16.0 * self.n_rows * m * n
        block = 8.0 * min(m, BLOCK_ROWS) * (5 * m + 2 * group * n)
        if self.by_moments:
            inner = n_moments(n - 1, MOST_ORDER_OF_MANY)
            block = 16.0 * (group * MOST_ORDER_OF_MANY * inner * n + 3 * BLOCK_VALUES + 4 * m)
        grouped = (
            16.0 * group * m * n + block + 8.0 * (group * (_MOST_ORDERS + N_SQUARES) + 4) * n * n
        )
        return max(weighted, grouped) + 8.0 * (3 * self.n_rows * n * n + 6 * m * n)

    @property
    def order_operations(self) -> float:
        """Multiply-adds of the matrix products of one order."""
        if self.by_moments:
            each = n_moments(self.n_features, MOST_ORDER_OF_MANY) / _MOST_ORDERS
            return _MOMENT_OPERATIONS * self.n_vectors * each * (self.n_rows + 1)
        return float(self.n_vectors**2 * (self.n_rows + 1) * self.n_features)

    @property
    def operations(self) -> float:
        """Multiply-adds of `expand` with the largest possible number of orders."""
        m, n, rows = self.n_vectors, self.n_features, self.n_rows
        squares = rows * n * n * (m + EIGENVALUE_OPERATIONS * n)
        return _MOST_ORDERS * (self.order_operations + squares)
