"""The example's modules, and one BLAS thread as in the pipeline: the same sums every time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kmcompile
from kmcompile.numeric.threads import one_thread

sys.path.insert(0, str(Path(kmcompile.__file__).resolve().parents[1] / "examples" / "bounds"))


@pytest.fixture(autouse=True)
def computing_with_one_thread() -> Iterator[None]:
    with one_thread():
        yield
