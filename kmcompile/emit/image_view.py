"""What the templates know of a model that lies in an image."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImageView:
    """Values for the templates.

    Parameters
    ----------
    evals_text : str
        Phrase of how many kernel evaluations an answer takes; "" where that is in the code.
    member_lines : tuple of str
        The members of the model's struct.
    """

    evals_text: str
    member_lines: tuple[str, ...] = ()
