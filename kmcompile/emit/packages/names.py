"""Names as frameworks want them."""

from __future__ import annotations

import re


def single_underscores(name: str) -> str:
    """Return a prefix without an underscore beside another or at its end.

    Examples
    --------
    >>> single_underscores("a__b_")
    'a_b'
    """
    return re.sub(r"_+", "_", name).rstrip("_")
