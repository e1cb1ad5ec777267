"""What was made of a trained machine, as plain data: the C, its bound, its target, its limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.build.recipe import sha256_of
from kmcompile.emit.coded_view import scale_lines
from kmcompile.emit.header_text import bound_lines, interval_lines
from kmcompile.emit.words import words_of
from kmcompile.program.program import Program
from kmcompile.target import Target

_FIGURES = (
    "verification.exact.host",
    "verification.exact.target",
    "verification.bounded",
    "verification.certified",
    "risk",
)
"""Fields of report.json that say what came out for this build."""

_NOT_COVERED = (
    "whether the trained model is right",
    "labels that are not certified, apart from their bounds",
    "bit flips in code, registers and stack; damaged tables as long as no self-test is run",
    "other compiler flags; the C does not compile with fast-math",
    "cycles and time",
)


def replication_data(
    program: Program, target: Target, sources: Mapping[str, str], command: str, is_reduced: bool
) -> dict[str, Any]:
    """Return what was made of the machine: the C, how near it is, for which board and how built.

    Parameters
    ----------
    program : Program
    target : Target
    sources : mapping
        File name -> text of each emitted file.
    command : str
        The command line that made the C.
    is_reduced : bool
        Whether the C is that of a machine of fewer vectors, which stands for the trained one.
    """
    own = {name: text for name, text in sources.items() if name.endswith((".c", ".h"))}
    compiler = target.compiler
    prepare = program.prepare
    return {
        "command": command,
        "function": f"{program.name}_{words_of(program).call}",
        "files": dict(sha256_of(own)),
        "input": {
            "type": "float32, the features as the model was trained with",
            "largest_magnitude": float(prepare.limit),
            "codes": _codes(program),
        },
        "number_format": program.number_format,
        "mode": program.mode,
        "stages": [[stage.name, stage.exit] for stage in program.early_exits],
        "replay": program.replay is not None,
        **({"replay_in": words_of(program).precise} if _sums_integers(program) else {}),
        "of_fewer_vectors": is_reduced,
        "bound": {
            "interval": _joined(interval_lines(program, is_reduced)) if program.classes else _VALUE,
            "of_the_last_sum": _joined(bound_lines(program)),
            "proved": "every answer whose stage is no statistical exit"
            if program.takes_risk
            else "every answer",
            "figures": {"file": "report.json", "fields": list(_FIGURES)},
        },
        "target": {
            "name": target.name,
            "description": target.description,
            "stands_for": target.stands_for,
            "byte_order": target.byte_order,
        },
        "compiler": {
            "command": compiler.command,
            "flags": [*EXACT_FLAGS, *compiler.flags, compiler.optimisation],
        },
        "not_covered": [*_NOT_COVERED, *target.not_shown],
    }


_VALUE = (
    "lower and upper bound the value: in real arithmetic the trained model's lies between them, "
    "for x as it was received and whatever is rounded here."
)


def _joined(lines: tuple[str, ...]) -> str:
    return " ".join(lines)


def _sums_integers(program: Program) -> bool:
    """Return whether the sums of a replay are in integers."""
    return program.replay is not None and program.replay.in_integers


def _codes(program: Program) -> dict[str, Any] | None:
    """Return what codes stand for; None where the C takes floats only."""
    codes = program.codes
    if codes is None or program.scale is None:
        return None
    limits = {"type": codes.width, "low": int(codes.low), "high": int(codes.high)}
    return {**limits, "meaning": list(scale_lines(program.scale))}
