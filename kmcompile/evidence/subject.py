"""A compiled model that tools look at, and the folder that the evidence goes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmcompile.output import files as folder_files
from kmcompile.program.program import Program
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Subject:
    """A compiled model that tools look at.

    Parameters
    ----------
    name : str
        A name among the subjects of one folder of evidence.
    program : Program
    target : Target
    files : mapping of str to bytes
        The files of its output folder.
    report : mapping
        Its report.json; empty if the model was not verified.
    """

    name: str
    program: Program
    target: Target
    files: Mapping[str, bytes]
    report: Mapping[str, Any]

    @classmethod
    def of_folder(cls, folder: Path) -> Subject:
        """Return the compiled model in an output folder.

        Raises
        ------
        UsageError, InputError
            If the folder is not a whole output folder of kmcompile.
        """
        found = folder_files.checked(folder)
        return cls(folder.name, found.program, found.recipe.target, found.files, found.report)

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, which is made; return it."""
        folder.mkdir(parents=True, exist_ok=True)
        folder_files.write_plain(folder, dict(self.files))
        return folder
