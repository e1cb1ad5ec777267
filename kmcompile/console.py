"""Printing to the terminal: results on stdout, errors and warnings on stderr."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from kmcompile.errors import KmcompileError, OutputError
from kmcompile.text.visible import printable

if TYPE_CHECKING:
    from rich.console import Console

_LINES_MAX = 3

_T = TypeVar("_T")


def prepare_streams() -> None:
    """Make any text printable: a file's name may hold bytes that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def emit(write: Callable[..., _T], *what: Any) -> _T:
    """Call `write`, which prints the result to stdout; raise an error if the output is lost.

    Raises
    ------
    OutputError
        If stdout cannot be written. The text is empty if the reader closed the pipe, as `head`
        does.
    """
    try:
        result = write(*what)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError as error:
        _discard_stdout()
        raise OutputError from error
    except OSError as error:
        _discard_stdout()
        raise OutputError(f"standard output cannot be written: {error.strerror}") from error
    return result


def tell(
    result: Any, write: Callable[..., None], *what: Any, as_json: bool, quiet: bool = False
) -> None:
    """Print a result as JSON, or unless `quiet` by `write`, of `what` or else of the result."""
    if as_json:
        emit(print_json, result)
    elif not quiet:
        emit(write, *(what or (result,)))


def _discard_stdout() -> None:
    """Point stdout to the null device, so that Python's own flush at exit cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def fail(text: str, exit_code: int) -> int:
    """Print an error of one to three lines and return its exit code."""
    for index, line in enumerate(text.splitlines()[:_LINES_MAX]):
        print(("  " if index else "kmcompile: ") + printable(line), file=sys.stderr)
    return exit_code


def fail_as_defect(error: Exception) -> int:
    """Print how to report a defect of kmcompile, and return the exit code of a defect."""
    if _debugging():
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return fail(
        f"this is a defect in kmcompile itself: {what}\n"
        "please report it with the command, the model and the output under KMCOMPILE_DEBUG=1",
        KmcompileError.exit_code,
    )


def tell_own_warnings(quiet: bool) -> None:
    """Print each warning of kmcompile on one line, and hide the warnings of libraries."""
    if not _debugging():
        warnings.simplefilter("ignore")
    if not quiet:
        warnings.filterwarnings("always", category=UserWarning, module=r"kmcompile(\.|$)")
        warnings.showwarning = _show_warning


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    del category, filename, lineno, file, line  # for developers only
    print("kmcompile: warning: " + printable(" ".join(str(message).split())), file=sys.stderr)


def _debugging() -> bool:
    return os.environ.get("KMCOMPILE_DEBUG") == "1"


def print_json(value: Any) -> None:
    """Print a JSON document."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def print_facts(facts: dict[str, Any], indent: str = "") -> None:
    """Print nested facts, one a line."""
    for key, value in facts.items():
        label = indent + printable(key.replace("_", " "))
        if isinstance(value, dict):
            click.echo(label)
            print_facts(value, indent + "  ")
        else:
            click.echo(f"{label}: {printable(_fact_text(value))}")


def _fact_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "-" if value is None else str(value)


def styled() -> Console:
    """Return rich's console, changed so that `emit` handles a closed pipe."""
    from rich.console import Console  # here: `kmcompile --help` loads no rich

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1, the code of a failed check

    return _Console()


def print_table(rows: Sequence[tuple[str, ...]], n_left: int | None = None) -> None:
    """Print rows in columns; the first row is the head.

    Parameters
    ----------
    n_left : int, optional
        Number of columns of text at the left. The other columns hold numbers and are aligned to
        the right. By default all columns are text.
    """
    shown = [tuple(printable(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(rows[0]))]
    for row in shown:
        cells = [
            cell.ljust(width) if n_left is None or column < n_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def exact_bytes_text(count: int | None) -> str:
    """Return a number of bytes in full, with commas between thousands.

    Examples
    --------
    >>> exact_bytes_text(2097152)
    '2,097,152'
    """
    return "-" if count is None else f"{count:,}"
