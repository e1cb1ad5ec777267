"""One BLAS thread, as in the pipeline: every run has the same sums."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmcompile.numeric.threads import one_thread


@pytest.fixture(autouse=True)
def computing_with_one_thread() -> Iterator[None]:
    with one_thread():
        yield
