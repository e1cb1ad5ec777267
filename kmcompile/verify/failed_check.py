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
        The difference in one or two lines. A line of advice is added later.
    finding : Finding
        The failed check and its queries.

    Attributes
    ----------
    failure : Failure or None
        The failing queries with their answers; None until they are collected.
    """

    def __init__(self, text: str, finding: Finding) -> None:
        super().__init__(text)
        self.finding = finding
        self.failure: Failure | None = None
