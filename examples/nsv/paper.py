"""The figures of the paper: DeCoste and Mazzoni, ICML 2003, Tables 1 to 3.

Rows of Table 1 are keyed by their number and hold one text for each of the pairs 8-3, 0-1 and 2-5.
Tables 2 and 3 have one figure for each pair below the diagonal and one above it.
"""

from __future__ import annotations

import numpy as np

TABLE_1: dict[int, tuple[str, tuple[str, str, str]]] = {
    1: ("d", ("784", "784", "784")),
    2: ("n+, n-", ("1994, 2006", "2181, 1819", "1944, 2056")),
    3: ("kernel (normed)", ("(u.v)^9", "(u.v)^9", "(u.v)^9")),
    4: ("C", ("1", "1", "1")),
    5: ("m SVs (alpha = C)", ("1753 (36)", "789 (25)", "1840 (11)")),
    6: ("|SV+|, |SV-|", ("849, 904", "191, 598", "951, 889")),
    10: ("test examples", ("1984", "2115", "1924")),
    11: ("errors of kernel SVM", ("12", "10", "5")),
    12: ("errors of linear SVM", ("37", "2", "24")),
    21: ("NSV disagrees", ("0", "0", "0")),
    22: ("filter skips", ("1402", "1766", "1687")),
    23: ("k min, max", ("1, 1478", "1, 435", "1, 999")),
    24: ("k mean, median", ("132.2, 1.0", "14.6, 1.0", "12.2, 1.0")),
    25: ("m/k", ("13.3", "54.2", "150.2")),
    26: ("true cost, emitted", ("-", "-", "-")),
    31: ("NSV disagrees", ("0", "0", "0")),
    33: ("k min, max", ("4, 1477", "5, 434", "1, 998")),
    34: ("k mean, median", ("453.9, 400.5", "62.6, 53.0", "37.0, 20.0")),
    35: ("m/k", ("3.9", "12.6", "49.7")),
    36: ("true cost, emitted", ("-", "-", "-")),
    40: ("test examples", ("10000", "10000", "10000")),
    41: ("NSV disagrees", ("-", "-", "-")),
    42: ("filter skips", ("3795", "7108", "2912")),
    43: ("k min, max", ("1, 1703", "1, 566", "1, 1134")),
    44: ("k mean, median", ("407.4, 330.0", "35.2, 1.0", "211.0, 42.0")),
    45: ("m/k", ("4.3", "22.4", "8.7")),
    46: ("true cost, emitted", ("-", "-", "-")),
}
"""Rows 26, 36, 41 and 46 are not in the paper, which counts neither overhead nor disagreements over
all digits."""

_TABLE_2 = """
   0   54   18   66   34   41   16  333   35  160
 789    0   70   27   26   31   49   23   28   19
1560 1070    0   22   47  150   47   25   13   57
1389  905 1752    0  355   20  988   86   13   49
1552 1034 1794 1615    0  250   73   53   31    9
1686 1096 1840 1929 1887    0   25  145   14   50
1474  872 1585 1407 1631 1739    0  877   93  402
1273  815 1596 1404 1655 1601 1302    0   83    9
1420  910 1783 1754 1709 1869 1477 1414    0   24
1269  754 1498 1395 2055 1659 1277 1546 1492    0
"""

_TABLE_3 = """
 0  0  0  0  0  1  0  0  0  0
10  0  0  0  0  0  0  0  0  0
13 14  0  0  0  0  1  0  0  0
 3 11 15  0  0  1  0  0  0  0
 2 10  8  4  0  0  0  0  0  2
15 11  5 24  1  0  0  0  0  0
15 13  8  2  7 20  0  0  0  0
 4 11 18 11 10 10  1  0  0  0
 8 11 15 12  7 13  3  7  0  1
 8 12 17 17 20 20  3 11 17  0
"""


def table(text: str) -> np.ndarray:
    """Return the figures of a table, shape (10, 10), int."""
    return np.array([[int(word) for word in line.split()] for line in text.strip().splitlines()])


SUPPORT_VECTORS = np.tril(table(_TABLE_2))
"""[larger digit][smaller digit]: m."""
SPEED_UPS = np.triu(table(_TABLE_2))
"""[smaller digit][larger digit]: m/k."""
TEST_ERRORS = np.tril(table(_TABLE_3))
DISAGREEMENTS = np.triu(table(_TABLE_3))
