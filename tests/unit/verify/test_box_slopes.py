"""The slopes by which points within an input tolerance are searched."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.steps import Clip, Normalization
from kmcompile.verify import box


def test_a_slope_before_a_step_without_one_is_an_error():
    with pytest.raises(AssertionError, match="no slope before"):
        box._pulled_back(Normalization("l2", 3), np.ones((2, 3)))


def test_a_slope_is_that_behind_a_clip():
    slope = np.ones((2, 3))
    np.testing.assert_array_equal(box._pulled_back(Clip(0.0, 1.0, 3), slope), slope)
