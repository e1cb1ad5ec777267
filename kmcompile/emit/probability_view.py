"""The view of the probabilities of a calibrated machine."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.emit.header_text import COMMENT_COLUMNS
from kmcompile.emit.literals import float32_literal
from kmcompile.model.log_odds import probability_at
from kmcompile.numeric.scalar import exp_negative, logistic
from kmcompile.program.program import Program
from kmcompile.program.stages.labels.probability import (
    GROW,
    LARGEST_WIDENED,
    LEAST_TOTAL,
    SHRINK,
    Probability,
)


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityView:
    """The stage of the probabilities, and the header's text on it."""

    stage: Probability
    is_binary: bool
    has_threshold: bool
    log_odds: str
    header_lines: tuple[str, ...]
    largest: np.float32 = LARGEST_WIDENED
    least_total: np.float32 = LEAST_TOTAL
    shrink: np.float32 = SHRINK
    grow: np.float32 = GROW


def probability_view(program: Program) -> ProbabilityView | None:
    """Return the view of a calibrated machine's probabilities; None for other machines."""
    stage = program.probability
    if stage is None:
        return None
    return ProbabilityView(
        stage=stage,
        is_binary=stage.n_decisions == 1,
        has_threshold=not stage.is_scaled and float(stage.offset) != 0,
        log_odds=_log_odds(stage),
        header_lines=_header_lines(program, stage),
    )


def _log_odds(stage: Probability) -> str:
    """Return the C of the log odds of a binary machine."""
    decision = "workspace->decision[0]"
    if stage.is_scaled:
        decision = f"({decision} * {float32_literal(float(stage.factor))})"
    if float(stage.offset) == 0:
        return decision
    return f"{decision} {_signed(float(stage.offset), float32_literal)}"


def probability_scalars(emitted: list[str], names: dict[str, str]) -> list[str]:
    """Return the logistic function, after the exponential if no earlier part contains it."""
    has_exponential = any(f" {names['name']}_exp_negative(const" in text for text in emitted)
    scalars: tuple[tuple[str, object], ...] = (("logistic", logistic),)
    if not has_exponential:
        scalars = (("exp_negative", exp_negative), *scalars)
    return [render(f"scalar/{template}.c.j2", scalar=view, **names) for template, view in scalars]


def _header_lines(program: Program, stage: Probability) -> tuple[str, ...]:
    whose = "the trained model's"
    if stage.is_scaled:
        text = (
            "Gives the probabilities of both classes by the sigmoid that was trained beside the "
            "decision (Platt, 1999): probability[1] is 1 / (1 + exp(-f)), where f is "
            f"{_log_odds_text(stage)}, and probability[0] what that leaves of 1."
        )
        whose = "that of the trained decision"
        likely = probability_at(float(stage.offset))
        label = f"class 1 where the sum is at least 0; at 0 its probability is {likely:.6g}"
    elif stage.n_decisions == 1:
        text = (
            "Gives the calibrated probabilities of both classes: probability[1] is "
            f"1 / (1 + exp(-f)), where f is the exact sum{_threshold_text(program)}, and "
            "probability[0] what that leaves of 1."
        )
        label = "the more probable class"
        if program.threshold:
            likely = probability_at(program.threshold)
            label = f"class 1 where it has at least the probability {likely:.6g}"
    else:
        text = (
            "Gives the calibrated probabilities of the classes: 1 / (1 + exp(-f)) of the exact "
            "sum f of each class, divided by the sum of these over all classes. Where that is "
            f"below {float(LEAST_TOTAL):.3g} all are equal and *bound is 1."
        )
        label = "the most probable class"
    text += (
        f" Each is from 0 to 1 and no further than *bound from {whose}, for x as it was "
        f"received and whatever is rounded here. The model's label is {label}. No early exit is "
        "asked."
    )
    return tuple(textwrap.wrap(text, COMMENT_COLUMNS, break_on_hyphens=False))


def _log_odds_text(stage: Probability) -> str:
    """Return what the log odds of Platt's sigmoid are of the exact sum."""
    own = f"{float(stage.factor):.9g} times the exact sum"
    return f"{own} {_signed(float(stage.offset), '{:.9g}'.format)}"


def _threshold_text(program: Program) -> str:
    return f" {_signed(program.threshold, repr)}" if program.threshold else ""


def _signed(value: float, text: Callable[[float], str]) -> str:
    """Return C that adds a number, or subtracts the magnitude of a negative number."""
    return f"- {text(-value)}" if value < 0 else f"+ {text(value)}"
