"""The example's modules, and one BLAS thread as in the pipeline: the same sums every time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import kmcompile

sys.path.insert(0, str(Path(kmcompile.__file__).resolve().parents[1] / "examples" / "bounds"))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield
