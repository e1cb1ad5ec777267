"""The static worst case of a built model, and the check that no measured count exceeds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError
from kmcompile.machine_code.c_source.branch_facts import read_branch_facts
from kmcompile.machine_code.c_source.c_loops import without_tables
from kmcompile.machine_code.c_source.flow_facts import read_loop_facts
from kmcompile.machine_code.cycles.image_cycles import ImageCycles
from kmcompile.machine_code.worst_case import WorstCase, worst_case
from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.longest_path import Weight
from kmcompile.target import Target
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding


def static_worst_case(artifact: Artifact, folder: Path, entry: str = "") -> WorstCase:
    """Return the static worst case of one query, or the reason why there is none.

    Parameters
    ----------
    artifact : Artifact
        An image.
    folder : Path
        The folder of the emitted files.
    entry : str
        Another function of the header, one call of which is meant.
    """
    recipe = artifact.recipe
    header = (folder / f"{recipe.name}.h").read_text(encoding="utf-8")
    texts = [(folder / source).read_text(encoding="utf-8") for source in recipe.sources]
    sources = [without_tables(text) for text in texts]
    try:
        facts = [fact for source in sources for fact in read_loop_facts(source, header)]
        branches = [fact for source in sources for fact in read_branch_facts(source, header)]
        compiler = artifact.toolchain.compiler
        return worst_case(
            artifact.path,
            recipe.name,
            recipe.sources,
            compiler,
            facts,
            entry,
            branches,
            _cycles(artifact.toolchain),
        )
    except (ToolError, ValueError) as error:
        reason = str(error).splitlines()[0]
        return WorstCase(None, None, reason, None, reason)


def _cycles(target: Target) -> Callable[[Disassembly], Weight] | None:
    """Return what gives the most cycles of each edge of an image; None if no core's are known."""
    core = target.time.core if target.time else ""
    return (lambda program: ImageCycles(program, core).most_on) if core else None


def check_worst_case(worst: WorstCase, counted: np.ndarray, target: str) -> None:
    """Check that no counted query takes more instructions than the static worst case.

    Parameters
    ----------
    counted : ndarray of shape (n,), int64
        Instructions of each query.
    target : str
        The target's name, for the message.

    Raises
    ------
    FailedCheckError
        If a query took more instructions.
    """
    most = int(counted.max(initial=0))
    if worst.instructions is not None and most > worst.instructions:
        raise FailedCheckError(
            f"{target}: query {int(counted.argmax())} took {most:,} instructions, more than the "
            f"static worst case of {worst.instructions:,}",
            Finding(Broken.WORST_CASE, np.flatnonzero(counted > worst.instructions), target),
        )


def check_cycles(worst: WorstCase, counted: np.ndarray, target: str) -> None:
    """Check that no query takes more clock cycles than the static worst case.

    Parameters
    ----------
    counted : ndarray of shape (n, 2), int64
        Fewest and most cycles of each query.
    target : str
        The target's name, for the message.

    Raises
    ------
    FailedCheckError
        If a query may take more cycles.
    """
    most = counted[:, 1]
    if worst.cycles is not None and most.max(initial=0) > worst.cycles:
        raise FailedCheckError(
            f"{target}: query {int(most.argmax())} took {int(most.max()):,} cycles, more than the "
            f"static worst case of {worst.cycles:,}",
            Finding(Broken.WORST_CASE, np.flatnonzero(most > worst.cycles), target),
        )
