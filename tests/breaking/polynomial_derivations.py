"""What each constant of a sum of monomials in integers must at least be."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from needed import Needed, U

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.expand_polynomial import monomials
from kmcompile.program.stages import CodedPolynomialSum


def coded_polynomial_sum(stage: CodedPolynomialSum, machine: KernelMachine) -> Needed:
    """Return those of nested sums of integers, of a machine whose features are its codes.

    Coefficients are worked out in rational numbers. A sum of a degree below the last one is rounded
    down by up to 1 - 2^-shift of its step.
    """
    kernel, d = machine.kernel, stage.degree
    order = monomials(stage.n_features, d)
    rows = [[Fraction(b) for b in row] for row in decision_coefficients(machine).tolist()]
    vectors = [[Fraction(v) for v in s] for s in machine.support_vectors.tolist()]
    stored = stage.terms.transpose(0, 2, 1).reshape(-1, len(order))[: stage.n_decisions].tolist()
    steps = [Fraction(float(stage.result_scale))]
    steps += [steps[0] / 2 ** int(stage.shifts[:k].sum()) for k in range(1, d)]
    outer = [
        math.comb(d, k) * Fraction(kernel.coef0) ** (d - k) * Fraction(kernel.gamma) ** k
        for k in range(d + 1)
    ]
    size, error, down = np.zeros((3, stage.n_decisions, d))
    for t, factors in enumerate(order):
        k, counts = len(factors), Counter(factors).values()
        orderings = math.factorial(k) // math.prod(map(math.factorial, counts))
        powers = [math.prod(s[j] for j in factors) for s in vectors]
        for p, row in enumerate(rows):
            sums = sum((b * v for b, v in zip(row, powers, strict=True)), Fraction(0))
            exact = outer[k] * orderings * sums
            size[p, k - 1] += float(exact**2 / orderings)
            error[p, k - 1] += float((exact - stored[p][t] * steps[k - 1]) ** 2 / orderings)
            lost = steps[k - 1] * (1 - Fraction(1, 2 ** int(stage.shifts[k - 1])))
            down[p, k - 1] += float(lost**2 / orderings)
    off = [
        float(abs(outer[0] * sum(row) + Fraction(b) - (int(first) - int(last)) * steps[0]))
        for row, b, (first, last) in zip(rows, machine.intercept, stage.start, strict=True)
    ]
    per_code = float(stage.per_unit) ** np.arange(1, d + 1)
    k = np.arange(1, d + 1)
    return {
        "per_length": (np.sqrt(error) + np.sqrt(down)) * per_code * (1 - 1e-9),
        "per_deviation": k * np.sqrt(size) * per_code * (1 - 1e-9),
        "minimum": np.array(off) * (1 - 1e-9),
        "result_error": 3 * U * (1 + U),
    }
