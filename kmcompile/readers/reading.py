"""Reading: what belongs to a model besides its file, and how the file is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model file is read, and the files that belong to it.

    Parameters
    ----------
    trust_pickle : bool
        Load the file with joblib, which runs whatever code it names, instead of reading its data
        only.
    entry : tuple of str
        Of a file that holds several objects, the names of those that are used, in the order in
        which an input goes through them; empty: the only machine, behind the only transformer.
    before : tuple of Path
        Files of transformers that an input goes through before the model, in this order.
    labels : Path or None
        A fitted LabelEncoder, or a text file with a line a class: the names of the classes.
    """

    trust_pickle: bool = False
    entry: tuple[str, ...] = ()
    before: tuple[Path, ...] = ()
    labels: Path | None = None

    @property
    def files(self) -> Iterator[Path]:
        """The files besides the model's own."""
        yield from self.before
        if self.labels is not None:
            yield self.labels
