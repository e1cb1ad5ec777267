"""One thread for BLAS and OpenMP: the number of threads changes the rounding of products."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which every library that an import loaded computes with one thread."""
    limit: AbstractContextManager[Any] = _controller(frozenset(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller(modules: frozenset[str]) -> ThreadpoolController:
    """Return the libraries, looked for again once other modules are there, whose import loads them.

    To look for them takes milliseconds, and a choice of exits has a hundred such contexts.
    """
    return ThreadpoolController()
