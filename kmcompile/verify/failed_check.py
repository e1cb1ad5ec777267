"""The error of a check that failed."""

from __future__ import annotations

from kmcompile.errors import VerificationError
from kmcompile.verify.failure import Failure
from kmcompile.verify.finding import Finding


class FailedCheckError(VerificationError):
    """A check of answers failed.

    Parameters
    ----------
    text : str
        What differs, in one or two lines: what to do about it is added as another line.
    finding : Finding
        Which queries the check found wrong, and where.

    Attributes
    ----------
    failure : Failure or None
        The failing queries with every answer to them, once they are collected.
    """

    def __init__(self, text: str, finding: Finding) -> None:
        super().__init__(text)
        self.finding = finding
        self.failure: Failure | None = None
