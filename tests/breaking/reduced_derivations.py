"""What each constant of a reduced machine's distance must at least be."""

from __future__ import annotations

import math

import numpy as np
from mpmath import mp, mpf
from needed import DIGITS, Needed

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.stages.sums.self_bound import SelfBound


def self_bound(bound: SelfBound, machine: KernelMachine, reduced: KernelMachine) -> Needed:
    """Return those of a polynomial machine: gamma, coef0 and |W_p - W^_p| with 50 digits."""
    kernel = machine.kernel.parameters()
    gamma, coef0, degree = (kernel[name] for name in ("gamma", "coef0", "degree"))
    vectors = np.vstack([machine.support_vectors, reduced.support_vectors]).tolist()
    spread = np.hstack([decision_coefficients(machine), -decision_coefficients(reduced)])
    with mp.workdps(DIGITS):
        points = [[mpf(value) for value in z] for z in vectors]
        gram = [
            [(mpf(gamma) * mp.fdot(s, t) + mpf(coef0)) ** int(degree) for t in points]
            for s in points
        ]
        rows = [[mpf(value) for value in row] for row in spread.tolist()]
        far = [mp.sqrt(mp.fdot(a, [mp.fdot(g, a) for g in gram])) for a in rows]
    # The root of t lies below its tangent at `typical`: (t + typical) / (2 sqrt(typical)).
    share = 1 / (2 * math.sqrt(bound.typical)) if int(degree) % 2 else 1.0
    return {
        "reduced.per_square": gamma,
        "reduced.constant": coef0,
        "reduced.distance": np.array(far, dtype=np.float64) * share,
    }
