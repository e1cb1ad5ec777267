"""The plots of the early exits: inline SVG, the same bytes every time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.report.cascade import Cascade, Thresholds
from kmcompile.report.drawing import ACCENT, INK, MUTED, WARM, Plot, dots, draw
from kmcompile.report.figures import count_text, share_text

_POINTS_MAX = 1200
_QUANTILES = 400
_TESTS_MARKED = 60


def cascade_plots(cascade: Cascade, of_regression: bool = False) -> list[Plot]:
    """Return the plots: stages, certified shares of labels, k, f(x) against k, cost."""
    shown = _sample(cascade)
    certified = Plot(
        "Certified labels by the stage that decides",
        draw("h", partial(_draw_certified, cascade)),
        f"{_certified(cascade)} Each bar begins where the one above ends.",
    )
    return [
        Plot(
            "Queries and cost by the stage that decides",
            draw("d", partial(_draw_stages, cascade)),
            "Cost: all that the queries spent that left at the stage, as a share of what all "
            "queries spent.",
        ),
        *([] if of_regression else [certified]),
        Plot(
            "Kernel evaluations of a query, k",
            draw("e", partial(_draw_kernels, cascade)),
            f"{_without_kernels(cascade)} The exact sum takes all vectors.",
        ),
        Plot(
            "Proportionality to difficulty",
            draw("f", partial(_draw_difficulty, cascade, shown)),
            _about_difficulty(cascade, len(shown)),
        ),
        Plot(
            "Cost of a query against the exact sum",
            draw("g", partial(_draw_costs, cascade)),
            f"{_dearer(cascade)} The dashed line is the cost of the exact sum alone.",
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


def _certified(cascade: Cascade) -> str:
    share = share_text(float(cascade.certified.mean()))
    return f"{share} of the queries get a label that is proved to be the model's."


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


def _dearer(cascade: Cascade) -> str:
    dearer = float((cascade.operations > cascade.exact_operations).mean())
    return f"{share_text(dearer)} of the queries cost more than the exact sum alone."


def _draw_stages(cascade: Cascade, axes: Any) -> None:
    n_stages = len(cascade.stages)
    queries = np.bincount(cascade.stage, minlength=n_stages) / len(cascade)
    cost = np.bincount(cascade.stage, weights=cascade.operations, minlength=n_stages)
    places = np.arange(n_stages)
    for shares, shift, color, label in (
        (queries, -0.2, ACCENT, "queries"),
        (cost / cost.sum(), 0.2, WARM, "cost"),
    ):
        bars = axes.barh(places + shift, 100 * shares, height=0.36, color=color, label=label)
        texts = [share_text(float(share)) for share in shares]
        axes.bar_label(bars, labels=texts, padding=2, fontsize=8, color=INK)
    axes.set_yticks(places, [name.replace("_", " ") for name in cascade.stages])
    axes.set(xlim=(0, 118), xlabel="% of all", xticks=range(0, 101, 25))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    _legend_above(axes)


def _draw_certified(cascade: Cascade, axes: Any) -> None:
    n_stages = len(cascade.stages)
    places = np.arange(n_stages)
    decided = np.bincount(cascade.stage, minlength=n_stages) / len(cascade)
    proved = np.bincount(cascade.stage, cascade.certified, minlength=n_stages) / len(cascade)
    before = np.cumsum(decided) - decided
    for start, shares, color, label in (
        (before, proved, ACCENT, "certified"),
        (before + proved, decided - proved, WARM, "not certified"),
    ):
        axes.barh(places, 100 * shares, left=100 * start, height=0.6, color=color, label=label)
    for place, share, end in zip(places, proved, before + decided, strict=True):
        axes.annotate(
            share_text(float(share)),
            (100 * end, place),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
        )
    axes.set_yticks(places, [name.replace("_", " ") for name in cascade.stages])
    axes.set(xlim=(0, 118), xlabel="% of all", xticks=range(0, 101, 25))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    _legend_above(axes)


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
    _legend_above(axes)


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
    _legend_above(axes, markerscale=2)


def _draw_thresholds(axes: Any, thresholds: Thresholds) -> None:
    style = ".-" if len(thresholds.steps) <= _TESTS_MARKED else "-"
    for values, label in ((thresholds.lower, "thresholds"), (thresholds.upper, None)):
        finite = np.where(np.isfinite(values), values, np.nan)
        axes.plot(
            thresholds.steps, finite, style, color=INK, linewidth=1, markersize=3, label=label
        )


def _draw_costs(cascade: Cascade, axes: Any) -> None:
    shares = np.linspace(0.0, 1.0, _QUANTILES)
    axes.set_xscale("log")
    costs = np.quantile(cascade.operations, shares, method="inverted_cdf")
    axes.step(costs, 100 * shares, color=ACCENT, linewidth=1.5)
    axes.axvline(cascade.exact_operations, color=WARM, linewidth=1.2, linestyle="--")
    axes.set(xlabel="operations of a query", ylabel="% of queries at most so dear", ylim=(0, 101))


def _legend_above(axes: Any, **options: Any) -> None:
    """Draw the legend above the axes: the values may be anywhere inside."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, **options)
