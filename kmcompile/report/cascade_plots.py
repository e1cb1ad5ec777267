"""The plots of the early exits: inline SVG, the same bytes every time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.stages.early_exits.early_exit import Thresholds
from kmcompile.report.cascade import Cascade
from kmcompile.report.drawing import ACCENT, INK, MUTED, WARM, Plot, dots, legend_above
from kmcompile.text.figures import count_text, share_text

_POINTS_MAX = 1200
_TESTS_MARKED = 60


def cascade_plots(cascade: Cascade) -> list[Plot]:
    """Return the plots: k, and f(x) against k."""
    shown = _sample(cascade)
    return [
        Plot(
            "e",
            "Kernel evaluations of a query, k",
            f"{_without_kernels(cascade)} The exact sum takes all vectors.",
            partial(_draw_kernels, cascade),
        ),
        Plot(
            "f",
            "Proportionality to difficulty",
            _about_difficulty(cascade, len(shown)),
            partial(_draw_difficulty, cascade, shown),
        ),
    ]


def _sample(cascade: Cascade) -> NDArray[np.intp]:
    """Return the indices to draw: evenly over the ranks of k, and the hardest queries."""
    n = len(cascade)
    if n <= _POINTS_MAX:
        return np.arange(n)
    hardest = _POINTS_MAX // 4
    by_kernels = np.lexsort((np.abs(cascade.decision), cascade.kernel_evals))
    by_size = np.argsort(np.abs(cascade.decision), kind="stable")
    even = np.linspace(0, n - 1, _POINTS_MAX - 2 * hardest).astype(np.intp)
    return np.unique(np.concatenate([by_kernels[even], by_kernels[-hardest:], by_size[:hardest]]))


def _without_kernels(cascade: Cascade) -> str:
    share = float((cascade.kernel_evals == 0).mean())
    return f"{share_text(share)} of the queries are decided without a full kernel evaluation."


def _about_difficulty(cascade: Cascade, n_shown: int) -> str:
    of = f"{count_text(n_shown)} of {count_text(len(cascade))} queries shown, the hardest among "
    of += "them." if n_shown < len(cascade) else ""
    if n_shown == len(cascade):
        of = f"All {count_text(n_shown)} queries shown."
    lines = cascade.no_thresholds or (
        "The lines are the thresholds of the nearest vectors: a query leaves where its estimate, "
        "not f(x) itself, lies outside."
    )
    expected = "The NSV paper's Figure 3. Hard queries, those near 0, should take the most kernels."
    return f"{expected} {lines} {of}"


def _draw_kernels(cascade: Cascade, axes: Any) -> None:
    kernels = cascade.kernel_evals
    n_bins = int(kernels.max()).bit_length() + 1  # 0, 1, 2-3, 4-7, ...
    bins = np.frexp(kernels.astype(np.float64))[1]
    for chosen, color, label in (
        (~cascade.by_exact_sum, ACCENT, "early exit"),
        (cascade.by_exact_sum, WARM, "exact sum"),
    ):
        counts = np.bincount(bins[chosen], minlength=n_bins)
        axes.bar(range(n_bins), counts, width=0.8, color=color, label=label, alpha=0.8)
    names = ["0", "1"] + [f"{1 << n}\u2013{(2 << n) - 1}" for n in range(1, n_bins - 1)]
    axes.set_xticks(range(n_bins), names[:n_bins], rotation=45, ha="right")
    axes.set_yscale("log")
    axes.set_ylim(0.7, 2.0 * len(cascade))
    axes.set(xlabel="full kernel evaluations, k", ylabel="queries")
    axes.grid(False, axis="x")
    legend_above(axes)


def _draw_difficulty(cascade: Cascade, shown: NDArray[np.intp], axes: Any) -> None:
    axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    for chosen, color, label in (
        (~cascade.by_exact_sum[shown], ACCENT, "early exit"),
        (cascade.by_exact_sum[shown], WARM, "exact sum"),
    ):
        at = shown[chosen]
        dots(axes, cascade.kernel_evals[at], cascade.decision[at], color, label)
    axes.axhline(0.0, color=MUTED, linewidth=0.6)
    margin = 0.05 * float(np.ptp(cascade.decision)) + 1e-9
    axes.set_ylim(float(cascade.decision.min()) - margin, float(cascade.decision.max()) + margin)
    axes.set_xlim(-0.2, 1.3 * max(1, int(cascade.kernel_evals.max())))
    if cascade.thresholds is not None:
        _draw_thresholds(axes, cascade.thresholds)
    axes.set(xlabel="full kernel evaluations, k", ylabel=cascade.decision_name)
    legend_above(axes, markerscale=2)


def _draw_thresholds(axes: Any, thresholds: Thresholds) -> None:
    style = ".-" if len(thresholds.steps) <= _TESTS_MARKED else "-"
    for values, label in ((thresholds.lower, "thresholds"), (thresholds.upper, None)):
        finite = np.where(np.isfinite(values), values, np.nan)
        axes.plot(
            thresholds.steps, finite, style, color=INK, linewidth=1, markersize=3, label=label
        )
