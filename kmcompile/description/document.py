"""The files of a model description: the document, its long arrays, and a page to be read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from kmcompile.description.machine import machine_data
from kmcompile.description.page import page
from kmcompile.description.replication import replication_data
from kmcompile.description.tables import Tables
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.program import Program
from kmcompile.target import Target
from kmcompile.version import VERSION

FORMAT_VERSION = 1

_NUMBERS = re.compile(r"\[[^][{}\"]*\]")
"""A list of numbers, which gets a line of its own instead of a line a number."""


def names_of(name: str) -> tuple[str, str, str]:
    """Return the names of the document, of its long arrays and of the page.

    Examples
    --------
    >>> names_of("iris")
    ('iris.mld.json', 'iris.mld.bin', 'iris.mld.md')
    """
    return f"{name}.mld.json", f"{name}.mld.bin", f"{name}.mld.md"


def describe(
    machine: KernelMachine,
    program: Program,
    target: Target,
    sources: Mapping[str, str],
    command: str,
    is_reduced: bool = False,
) -> dict[str, bytes]:
    """Return the files of the model description; the same machine and program give the same bytes.

    Parameters
    ----------
    machine : KernelMachine
        As it was trained.
    program : Program
    target : Target
    sources : mapping
        File name -> text of each emitted file.
    command : str
        The command line that made the C.
    is_reduced : bool
        Whether the C is that of a machine of fewer vectors, which stands for the trained one.

    Returns
    -------
    dict
        File name -> content: the document, the page, and the long arrays if there are any.
    """
    document, tables, readable = names_of(program.name)
    long = Tables(tables)
    plain: dict[str, Any] = {
        "format": "kmcompile model description",
        "format_version": FORMAT_VERSION,
        "kmcompile": VERSION,
        "model": machine_data(machine, long),
        "replication": replication_data(program, target, sources, command, is_reduced),
    }
    files = {
        document: (_NUMBERS.sub(_on_one_line, json.dumps(plain, indent=1)) + "\n").encode("ascii"),
        readable: page(plain).encode(),
    }
    if long.content:
        files[tables] = long.content
    return files


def _on_one_line(numbers: re.Match[str]) -> str:
    return " ".join(numbers[0].split()).replace("[ ", "[").replace(" ]", "]")
