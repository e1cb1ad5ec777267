"""Running the parts of the evidence into a folder, whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kmcompile.errors import FULL, FullError, OutputError, UsageError
from kmcompile.evidence import supply_chain
from kmcompile.evidence.coverage import covering
from kmcompile.evidence.finding import Finding
from kmcompile.evidence.folder import JSON, write_summary
from kmcompile.evidence.mutation import mutating
from kmcompile.evidence.part import Part
from kmcompile.evidence.rebuilding import part as rebuilding
from kmcompile.evidence.run_time_errors import part as run_time_errors
from kmcompile.evidence.subject import Subject

CATALOGUE: tuple[Part, ...] = (
    Part(rebuilding.NAME, "the model, rebuilt from its description alone", rebuilding.run),
    Part(supply_chain.NAME, "bills of materials, and whose each file is", supply_chain.run),
    covering.PART,
    mutating.PART,
    Part(run_time_errors.NAME, "no run-time error of any input", run_time_errors.run),
)
"""The parts of the evidence of a compiled model, in the order in which they run."""

Progress = Callable[[str], None]


def parts_named(names: str | None) -> tuple[Part, ...]:
    """Return the parts with the given names, or all.

    Raises
    ------
    UsageError
        If a name is none of a part's.
    """
    if names is None:
        return CATALOGUE
    known = {part.name: part for part in CATALOGUE}
    asked = names.split(",")
    for name in asked:
        if name not in known:
            raise UsageError(f"--parts: no part is called {name!r}\nuse {', '.join(known)}")
    return tuple(part for part in CATALOGUE if part.name in asked)


def gather(
    subjects: Iterable[Subject], parts: Sequence[Part], out: Path, tell: Progress
) -> list[Finding]:
    """Run parts on compiled models and write the folder of the evidence.

    Parameters
    ----------
    subjects : iterable of Subject
    parts : sequence of Part
    out : Path
        A new folder, or one that an earlier run wrote, which is replaced at the end.
    tell : callable
        Called with a few words as each run begins.

    Returns
    -------
    list of Finding

    Raises
    ------
    UsageError
        If the folder has something else in it.
    OutputError
        If it cannot be written.
    """
    check_replaceable(out)
    findings: list[Finding] = []
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent.resolve()))
        try:
            for subject in subjects:
                for part in parts:
                    tell(f"{subject.name}: {part.title}")
                    findings += part.run(subject, fresh / part.name)
            write_summary(fresh, findings)
            fresh.chmod(0o755)
            replace_folder(out, fresh)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        if error.errno in FULL:
            raise FullError(f"no space is left for {out} or for temporary files") from error
        raise OutputError(f"{out}: cannot be written: {error.strerror}") from error
    return findings


def check_replaceable(out: Path) -> None:
    """Raise UsageError unless the folder is new, empty or one of evidence."""
    if out.is_dir() and any(out.iterdir()) and not (out / JSON).is_file():
        raise UsageError(f"{out}: is not a folder of evidence; give --out a new name")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file; give --out the name of a folder")


def replace_folder(out: Path, fresh: Path) -> None:
    """Put the fresh folder in the place of the old one, which is removed."""
    if out.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}-old-", dir=out.parent))
        out.rename(old / out.name)
        fresh.rename(out)
        shutil.rmtree(old, ignore_errors=True)
    else:
        fresh.rename(out)
