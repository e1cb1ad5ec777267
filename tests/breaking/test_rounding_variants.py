"""No certified label is wrong with fused multiply-adds and subnormals flushed to zero."""

from __future__ import annotations

import platform

import pytest
from attack import attack
from roundings import CONTRACT, FUSED, need_fma
from subjects import SUBJECTS, planned

N_QUERIES = 100_000
FLAGS = (*FUSED, CONTRACT, "-DFLUSH")


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_no_certified_label_is_wrong_with_other_roundings(subject, record_figures):
    if not subject.is_here:
        pytest.skip(f"no {subject.data}.npz in $KMCOMPILE_DATA or ../shared/data")
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    need_fma()
    table = attack(subject, planned(N_QUERIES)[subject], 7, FLAGS)
    record_figures("contracted libraries that flush subnormals", table)
    assert all(figures.is_clean for figures in table.values())
