"""No certified label is wrong with fused multiply-adds and subnormals flushed to zero."""

from __future__ import annotations

import platform

import pytest
from attack import attack
from subjects import QUICK, SUBJECTS, planned

from kit.covering import some
from kit.roundings import CONTRACT, need_fma

N_QUERIES = 100_000
# -O2 contracts the same expressions as -O3, which only writes them more often, as vectors; that one
# reads the same kinds of programs in `tests/equivalence/test_certified_roundings.py`.
FLAGS = ("-O2", "-mfma", CONTRACT, "-DFLUSH")


@pytest.mark.exhaustive
@pytest.mark.parametrize("subject", some(SUBJECTS, QUICK[::2]))
def test_no_certified_label_is_wrong_with_other_roundings(subject, record_figures):
    subject.need_data()
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    need_fma()
    table = attack(subject, planned(N_QUERIES)[subject], 7, FLAGS)
    record_figures("contracted libraries that flush subnormals", table)
    assert all(figures.is_clean for figures in table.values())
