"""The notes of a report: remarks for the user on how the program was made."""

from __future__ import annotations

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.exits.early_exits import why_none
from kmcompile.passes.expand_polynomial import can_expand
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.sums.monomial_sum import MonomialSum
from kmcompile.text.figures import counted


def notes_of(chosen: ChosenProgram) -> tuple[str, ...]:
    """Return the notes on the model, the number format, the mode, the costs and the replay."""
    return (
        *chosen.lowered.machine.notes,
        *chosen.lowered.notes,
        *chosen.warnings,
        *_mode_notes(chosen),
        *_operation_notes(chosen.program),
        *_polynomial_notes(chosen),
        *((chosen.replay_note,) if chosen.replay_note else ()),
    )


def _mode_notes(chosen: ChosenProgram) -> tuple[str, ...]:
    """Return notes on a mode other than the requested one, or with fewer early exits."""
    plan, machine, exact = chosen.plan, chosen.lowered.machine, chosen.program.ends.exact
    if plan.in_image:
        return _image_notes(chosen)
    if plan.mode == "exact":
        return ()
    reason = why_none(machine, plan, chosen.lowered.program)
    if reason:
        return (reason,)
    if isinstance(exact, ExactSum) and not exact.kernel.projects:
        left_out = {"statistical": "nearest_vectors", "certified": "every exit that proves a bound"}
        return (
            f"{left_out[plan.mode]} is left out: it is not for the {machine.kernel.name} kernel",
        )
    return ()


def _image_notes(chosen: ChosenProgram) -> tuple[str, ...]:
    """Return notes on what the code takes from an image, and on what is left out for it."""
    capacity = chosen.program.capacity
    assert capacity is not None
    takes = ""
    if capacity.vectors:
        takes = f"; the code takes up to {counted(capacity.vectors, 'vector', 'vectors')}"
    left_out = (
        "code for images has no early exit but local_expansion, in integers none, sums all "
        "features, zeros too, and is in float32 unless --format int8 or int16 asks for integers"
    )
    return (f"the model is in an image, {chosen.program.name}.bin{takes}", left_out)


def _polynomial_notes(chosen: ChosenProgram) -> tuple[str, ...]:
    """Return notes on a polynomial machine that is multiplied out, or why it is not."""
    program, machine = chosen.program, chosen.lowered.machine
    if isinstance(program.sum, MonomialSum):
        return (
            f"{program.sum.name}: the support vectors are multiplied out, offline, to "
            f"{counted(program.sum.n_terms, 'coefficient', 'coefficients')} a decision; the exact "
            f"sum alone is here that over the {machine.n_support_vectors:,} vectors",
        )
    if program.codes is not None and can_expand(machine):
        return (f"the polynomial is not multiplied out: {chosen.exits.over_vectors}",)
    return ()


def _operation_notes(program: Program) -> tuple[str, ...]:
    """Return notes on the meaning of operations and instructions in some programs."""
    if program.ends.exact.sums_pairs:
        return (
            "the exact sum alone is here that of all pairs, one by one; mode exact sums them "
            "together, in fewer instructions",
        )
    if not program.early_exits or program.float_weight == 1:
        return ()
    return (
        "operations are those of the integer sum; one in float32, as in early exits, counts as "
        f"{program.float_weight}",
    )
