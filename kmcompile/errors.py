"""The errors a user can meet, each with the exit code of the command line."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


FULL = (errno.ENOSPC, errno.EDQUOT)
"""The numbers of an OSError where no space is left."""


class KmcompileError(Exception):
    """Base of every expected error; its text is one to three lines for stderr.

    The first line names the thing and the value, the next ones the remedy.
    """

    exit_code: ClassVar[int] = 70


class VerificationError(KmcompileError):
    """The C, the interpreter and the model do not agree as they must.

    Attributes
    ----------
    files : mapping of file name to bytes
        What a maintainer needs to reproduce the failure: a JSON text, and the queries as .npz.
        Empty where the hashes of files differ and no answer does.
    saved : tuple of Path
        The paths of these files beside the output folder; empty where they were not written.
    """

    exit_code = 1

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.files: Mapping[str, bytes] = {}
        self.saved: tuple[Path, ...] = ()


class UsageError(KmcompileError):
    """An option or argument is wrong, or asks for something not built yet."""

    exit_code = 2


class TargetError(UsageError):
    """An option asks for what one target does not have."""


class InputError(KmcompileError):
    """The model or the data cannot be used: unsupported, broken or unsafe."""

    exit_code = 3


class FewSamplesError(InputError):
    """The samples are too few for the promise of mode statistical."""


class BudgetError(KmcompileError):
    """The program does not fit the target's flash or RAM."""

    exit_code = 4


class OverBudgetError(BudgetError):
    """The program exceeds a budget, or several, which other options may meet.

    Attributes
    ----------
    over : {"flash", "array", "addresses", "RAM", "step", "instructions", "time"}
        What is exceeded: "array" is the largest array of the target, "addresses" the flash that it
        can read. Of several budgets, the first.
    needed, allowed : int
        What the program needs, at least, and what it may use.
    every : tuple of OverBudgetError
        An error for each budget that is exceeded; this error alone if there is one.
    instructions : int or None
        Of a time, the instructions that take about as long as it may; None for other budgets.
    """

    def __init__(
        self,
        text: str,
        over: str,
        needed: int,
        allowed: int,
        every: tuple[OverBudgetError, ...] = (),
        instructions: int | None = None,
    ) -> None:
        super().__init__(text)
        self.over, self.needed, self.allowed = over, needed, allowed
        self.every, self.instructions = every or (self,), instructions


class ToolError(KmcompileError):
    """A compiler or an emulator is missing, failed or hung."""

    exit_code = 5


class OutputError(KmcompileError):
    """The output folder cannot be written."""

    exit_code = 6


class FullError(OutputError):
    """No space is left for temporary files."""

    def __init__(self, what: str = "no space is left for temporary files") -> None:
        super().__init__(f"{what}\nmake room, or set TMPDIR to another folder")
