"""The promise that options ask for: a risk or a loss, and how thresholds keep it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from kmcompile.request.options import DEFAULT_GENERATED, DEFAULT_RISK, Options


@dataclass(frozen=True, slots=True)
class AskedPromise:
    """How the thresholds of statistical exits are found, and which risk or loss is promised.

    Parameters
    ----------
    thresholds : {"risk", "maxsmoothed", "simple"}
        The source of the thresholds; only "risk" gives a promise.
    risk : float
        The largest probability of a label other than the model's, or the largest loss; unused for
        "auto".
    risk_is : {"given", "default", "auto"}
        Where the risk comes from. "auto": the least risk that the samples support. "default"
        becomes "auto" if the samples cannot support the default risk.
    control : {"guaranteed", "expected"}
    window, dimensions : int or None
        Of the NSV paper's scheme, which the other thresholds mean: the steps to either side from
        which MaxSmoothed takes extremes, and the dimensions of the projection; None: chosen.
    n_generated : int
        Most points that are made to mislead early exits and set the least widths of bands.
    what : {"risk", "loss"}
        What `risk` is of: of another label than the model's, or of right labels that are lost.
    doubt : float
        The share of the doubt that the program may take, where the control samples are asked about
        several programs of which one is taken.
    """

    thresholds: Literal["risk", "maxsmoothed", "simple"]
    risk: float
    risk_is: Literal["given", "default", "auto"]
    control: Literal["guaranteed", "expected"]
    window: int | None = None
    dimensions: int | None = None
    n_generated: int = DEFAULT_GENERATED
    what: Literal["risk", "loss"] = "risk"
    doubt: float = 1.0

    @classmethod
    def of(cls, options: Options) -> AskedPromise:
        """Return the promise that options, without repeated defaults, ask for."""
        risk_is: Literal["given", "default", "auto"] = "given"
        what: Literal["risk", "loss"] = "risk" if options.loss is None else "loss"
        asked = options.risk if what == "risk" else options.loss
        if asked is None or asked == "auto":
            risk_is = "default" if asked is None else "auto"
        return cls(
            cast("Literal['risk', 'maxsmoothed', 'simple']", options.thresholds or "risk"),
            float(asked) if risk_is == "given" and asked else DEFAULT_RISK,
            risk_is,
            "expected" if options.risk_control == "expected" else "guaranteed",
            options.window,
            options.dimensions,
            DEFAULT_GENERATED if options.generated is None else options.generated,
            what,
        )
