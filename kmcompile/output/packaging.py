"""The files of `--package`, before and after the C is built."""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.build.artifact import Memory
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.emit.packages.bench_view import Bench
from kmcompile.emit.packages.example import Example
from kmcompile.emit.packages.package import package_files
from kmcompile.emit.packages.stack import Stack
from kmcompile.emit.packages.view import view_of
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.target import Target
from kmcompile.text.figures import milliseconds_text


def packaged(
    chosen: ChosenProgram,
    sources: Mapping[str, str],
    memory: Memory | None = None,
    worst: WorstCase | None = None,
) -> dict[str, str]:
    """Return the files of all packages by path; none without `--package`.

    Parameters
    ----------
    chosen : ChosenProgram
    sources : mapping
        The emitted files by name.
    memory : Memory or None
        The memory of the target's image; None as long as none is built.
    worst : WorstCase or None
        The static worst case of a query of the image.
    """
    plan, program = chosen.plan, chosen.program
    kinds = plan.options.package or ()
    if not kinds:
        return {}
    one = [("A test sample", plan.test_samples), ("A calibration sample", plan.samples)]
    several = [("Test samples", plan.test_samples), ("Calibration samples", plan.samples)]
    stack_bytes = None if memory is None else memory.stack_bytes
    view = view_of(
        program,
        plan.command,
        plan.target,
        has_arithmetic=f"{program.name}_arithmetic.c" in sources,
        stack=Stack.of(chosen.workspace_bytes, program.n_features, stack_bytes),
        flash_bytes=None if memory is None else memory.flash_bytes,
        workspace_bytes=chosen.workspace_bytes,
        most=_most(plan.target, worst),
        example=Example.of(program, one, chosen.lowered.machine.feature_names),
        bench=Bench.of(program, plan.target, several, sources[f"{program.name}.c"]),
    )
    files: dict[str, str] = {}
    for kind in kinds:
        files |= package_files(kind, view, program, plan.target, sources)
    return files


def _most(target: Target, worst: WorstCase | None) -> str:
    """Return what a query takes at most; "" if it is not known."""
    if worst is None or worst.instructions is None:
        return ""
    text, timing = f"{worst.instructions:,} instructions", target.time
    if worst.cycles is None or timing is None or timing.clock_hz is None:
        return text
    most = milliseconds_text(worst.cycles / timing.clock_hz)
    return f"{text}, {most} at {timing.clock_hz / 1e6:g} MHz from memory that never waits"


def packaged_again(
    chosen: ChosenProgram,
    files: Mapping[str, bytes],
    memory: Memory,
    worst: WorstCase | None,
) -> dict[str, bytes]:
    """Return the files of all packages with the memory and worst case of the image, now built."""
    sources = {name: files[name].decode("ascii") for name in files if name.endswith((".c", ".h"))}
    package = packaged(chosen, sources, memory, worst)
    return {path: text.encode("ascii") for path, text in package.items()}
