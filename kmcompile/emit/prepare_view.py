"""The view of the stage `prepare`: its steps, their buffers and their sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kmcompile.emit.environment import FLOAT, environment
from kmcompile.emit.quantize_view import quantize_view
from kmcompile.program.stages import Prepare
from kmcompile.steps import Quantize

READ_TOGETHER = 4
"""Number of features that one turn of a loop over the raw or prepared input reads."""


@dataclass(frozen=True, slots=True)
class StepCall:
    """One call of a step's function with the workspace member that it writes."""

    function: str
    buffer: str


@dataclass(frozen=True, slots=True)
class PrepareView:
    """Values for templates/stages/prepare.c.j2.

    Parameters
    ----------
    most_squares, most_normalized : int
        Terms of the longest sum of squares, and of the longest other norm.
    calls : tuple of StepCall
    tiled_features : int
        Number of features of the raw input that the check reads four at a time.
    """

    sums_squares: bool
    sums_magnitudes: bool
    takes_largest: bool
    bounds_lengths: bool
    most_squares: int = 0
    most_normalized: int = 0
    calls: tuple[StepCall, ...] = ()
    tiled_features: int = 0
    checks_tiles: bool = False
    checks_tail: bool = False
    quantizes: bool = False
    measures_rests: bool = False

    @property
    def needs_square_root(self) -> bool:
        """Whether a step takes the Euclidean norm, a square root."""
        return self.sums_squares or self.measures_rests


def prepare_view(stage: Prepare, converts: bool = False) -> PrepareView:
    """Return the view of the preprocessing.

    Parameters
    ----------
    stage : Prepare
    converts : bool
        Whether the input is converted into a buffer first, so that every step can work in place.
    """
    if stage.quantize is not None:
        view = PrepareView(False, False, False, False, quantizes=True)
        return _with_check(
            replace(view, measures_rests=isinstance(stage.quantize, Quantize)), stage
        )
    taken = {norm: [s.n_in for s in stage.steps if norm in s.norms] for norm in ("l1", "l2", "max")}
    bounded = [step.n_out for step in stage.steps if step.length is not None]
    if stage.input_length is not None:
        bounded.append(stage.n_features)
    sums = PrepareView(
        sums_squares=bool(bounded or taken["l2"]),
        sums_magnitudes=bool(taken["l1"]),
        takes_largest=bool(taken["max"]),
        bounds_lengths=bool(bounded),
        most_squares=max([*bounded, *taken["l2"]], default=0),
        most_normalized=max([*taken["l1"], *taken["max"]], default=0),
    )
    written = zip(stage.steps, stage.buffers(converts)[0], strict=True)
    calls = (StepCall(f"{step.name}_{n}", buffer) for n, (step, buffer) in enumerate(written))
    return _with_check(replace(sums, calls=tuple(calls)), stage)


def prepare_sections(
    name: str,
    stage: Prepare,
    view: PrepareView,
    of_table: str,
    arithmetic: Mapping[str, Any] = FLOAT,
) -> list[str]:
    """Return the functions of the sums and steps, which stand before the stage's function.

    In an integer format, one loop converts the raw input to codes.

    Parameters
    ----------
    name : str
        Prefix of the functions.
    stage : Prepare
    view : PrepareView
    of_table : str
        The qualifier of tables (`kmcompile.emit.tables.table_qualifier`).
    arithmetic : mapping
        `environment.FLOAT` or `DOUBLE`.
    """
    if stage.quantize is not None:
        own = {"name": name, "upper": name.upper(), "view": quantize_view(stage)}
        own["of_table"] = of_table
        template = environment().get_template(f"steps/{stage.quantize.name}.c.j2")
        sections = [template.render(**own)]
    else:
        template = environment().get_template("steps/sums.c.j2")
        sections = [template.render(name=name, view=view, **arithmetic)]
        for number, step in enumerate(stage.steps):
            template = environment().get_template(f"steps/{step.name}.c.j2")
            own = {"name": name, "step": step, "number": number, "of_table": of_table}
            sections.append(template.render(**own, **arithmetic))
    return [section.strip("\n") + "\n" for section in sections if section.strip()]


def _with_check(view: PrepareView, stage: Prepare) -> PrepareView:
    tiled = stage.n_features // READ_TOGETHER * READ_TOGETHER
    return replace(
        view,
        tiled_features=tiled,
        checks_tiles=tiled > 0,
        checks_tail=tiled < stage.n_features,
    )
