"""Two copies of every table, with the checksum of each block of words: `--redundancy 2`."""

from __future__ import annotations

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.table import Table
from kmcompile.program.program import Program

BLOCK_WORDS = 256
"""Words of a block, which one step of the self-test reads; the last block of a table has fewer."""


def block_checksums(tables: tuple[Table, ...]) -> NDArray[np.uint32]:
    """Return the CRC-32C of each block of words of each table, in the order of the tables.

    Returns
    -------
    ndarray of shape (n_blocks,), uint32
    """
    found = []
    for table in tables:
        words = table.words().astype("<u4")
        for start in range(0, len(words), BLOCK_WORDS):
            found.append(google_crc32c.value(words[start : start + BLOCK_WORDS].tobytes()))
    return np.array(found, dtype=np.uint32)


def n_blocks(tables: tuple[Table, ...]) -> int:
    """Return the number of blocks of all tables."""
    return sum(-(-len(table.words()) // BLOCK_WORDS) for table in tables)


def checksum_bytes(program: Program) -> int:
    """Return the bytes of all copies of all checksums."""
    tables = program.tables()
    if program.redundancy == 1:
        return 4 * len(tables)
    return program.redundancy * 4 * n_blocks(tables)


def stored_bytes(program: Program) -> int:
    """Return the bytes of all copies of all tables, without checksums."""
    return program.redundancy * program.table_bytes
