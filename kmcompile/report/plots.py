"""The plots of decision values: inline SVG, the same bytes every time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.report.drawing import ACCENT, MUTED, WARM, Plot, dots, legend_above
from kmcompile.text.figures import count_text, share_text, small_text
from kmcompile.verify.evidence import Evidence

_POINTS_MAX = 600


def plots(evidence: Evidence, of_regression: bool = False) -> list[Plot]:
    """Return the plots of the evidence; none without queries."""
    if not len(evidence):
        return []
    shown = _sample(evidence)
    of = f"{count_text(len(shown))} of {count_text(len(evidence))} values shown, the ones nearest "
    of += "0 and those nearest their bound among them."
    if len(shown) == len(evidence):
        of = f"All {count_text(len(evidence))} values shown."
    return [
        Plot(
            "a",
            "The C against the float64 model",
            "On the line both are equal; they may differ by the bound, which is at most "
            f"{small_text(float(evidence.bound.max()))}. {of}",
            partial(_draw_agreement, evidence, shown),
        ),
        Plot(
            "b",
            "Error and bound",
            f"Every error must lie below its bound. {_dashed(of_regression)} {_omitted(evidence)}",
            partial(_draw_errors, evidence, shown),
        ),
        Plot(
            "c",
            "How much of its bound each error uses",
            f"{_largest_share(evidence)} An error right of the dashed line would break its bound.",
            partial(_draw_shares, evidence),
        ),
    ]


def _dashed(of_regression: bool) -> str:
    """Return a text on the meaning of a bound below the dashed line."""
    if of_regression:
        return "On the dashed line a bound would be as large as the value."
    return (
        "Where a bound lies below the dashed line, it is smaller than the decision value, and the "
        "sign is certain."
    )


def _sample(evidence: Evidence) -> NDArray[np.intp]:
    """Return the indices to draw: evenly over the ranks of abs(reference), and the extremes."""
    n = len(evidence)
    if n <= _POINTS_MAX:
        return np.arange(n)
    extremes = _POINTS_MAX // 6
    by_size = np.argsort(np.abs(evidence.reference), kind="stable")
    by_share = np.argsort(-_shares(evidence), kind="stable")
    even = np.linspace(0, n - 1, _POINTS_MAX - 2 * extremes).astype(np.intp)
    return np.unique(np.concatenate([by_size[even], by_size[:extremes], by_share[:extremes]]))


def _shares(evidence: Evidence) -> NDArray[np.float64]:
    """Return error / bound; 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = evidence.error / evidence.bound.astype(np.float64)
    return np.where(evidence.error == 0, 0.0, shares)


def _omitted(evidence: Evidence) -> str:
    equal = int((evidence.error == 0).sum())
    if not equal:
        return ""
    return f"{count_text(equal)} values have no error at all, which this scale cannot show."


def _largest_share(evidence: Evidence) -> str:
    return f"The largest error uses {share_text(float(_shares(evidence).max()))} of its bound."


def _draw_agreement(evidence: Evidence, shown: NDArray[np.intp], axes: Any) -> None:
    reference = evidence.reference[shown]
    axes.axline((0.0, 0.0), slope=1, color=MUTED, linewidth=0.8)
    dots(axes, reference, evidence.decision[shown].astype(np.float64), ACCENT)
    axes.set_xlabel("decision value of the float64 model")
    axes.set_ylabel("decision value of the C")


def _draw_errors(evidence: Evidence, shown: NDArray[np.intp], axes: Any) -> None:
    size = np.abs(evidence.reference[shown])
    bound, error = evidence.bound[shown].astype(np.float64), evidence.error[shown]
    axes.set_xscale("log")
    axes.set_yscale("log")
    for values, color, label in ((bound, WARM, "bound"), (error, ACCENT, "error")):
        visible = (size > 0) & (values > 0) & np.isfinite(values)
        dots(axes, size[visible], values[visible], color, label)
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # the line must not widen them
    axes.axline((1e-3, 1e-3), (1.0, 1.0), color=MUTED, linewidth=0.8, linestyle="--")
    axes.set_xlabel("decision value of the float64 model, without sign")
    axes.set_ylabel("error, bound")
    legend_above(axes, markerscale=2)


def _draw_shares(evidence: Evidence, axes: Any) -> None:
    shares = _shares(evidence)
    visible = shares[(shares > 0) & np.isfinite(shares)]
    low = np.floor(np.log10(visible.min())) if len(visible) else -4.0
    low = max(min(low, -1.0), -8.0)
    high = max(np.ceil(np.log10(visible.max())), 0.0) + 0.25 if len(visible) else 0.25
    axes.set_xscale("log")
    axes.hist(
        np.maximum(visible, 10.0**low), bins=np.logspace(low, high, 41).tolist(), color=ACCENT
    )
    axes.axvline(1.0, color=WARM, linewidth=1.2, linestyle="--")
    axes.set_xlabel("error / bound")
    axes.set_ylabel("values")
