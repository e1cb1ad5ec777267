"""What is known of a normalised row when nothing of its input is."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.lower.prepare import lower_steps
from kmcompile.steps import Normalization


@pytest.mark.parametrize("n", [1, 2, 3, 100])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_two_opposite_rows_lie_within_the_unknown_deviation(norm, n):
    _, (lowered,) = lower_steps((Normalization(norm, n),), n, 4, kernel_uses_length=False)
    row = {"l1": np.eye(n)[0], "l2": np.eye(n)[0], "max": np.ones(n)}[norm]
    assert np.linalg.norm(row - -row) <= float(lowered.unknown)
