"""The command line: which command a line asks for, and the exit code of whatever happens."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from kmcompile import console
from kmcompile.commands import VERBS, compile_command
from kmcompile.errors import FULL, FullError, InputError, KmcompileError, UsageError

_SETTINGS: dict[str, Any] = {"max_content_width": 100, "help_option_names": ["-h", "--help"]}
_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every failure ends here.

    A first word that is a verb's name is that verb; everything else compiles a model.
    """
    try:
        console.prepare_streams()
        _run_command(arguments)
    except click.exceptions.Exit as done:  # --help and --version
        return done.exit_code
    except click.ClickException as error:
        return console.fail(_usage_text(error), UsageError.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return console.fail("interrupted", _INTERRUPTED)
    except KmcompileError as error:
        return console.fail(str(error), error.exit_code)
    except MemoryError:
        return console.fail(
            "the model or data need more memory than there is", InputError.exit_code
        )
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            return console.fail(str(FullError()), FullError.exit_code)
        return console.fail_as_defect(error)
    return 0


def _run_command(arguments: Sequence[str]) -> None:
    words = list(arguments)
    command: click.Command = compile_command
    name = "kmcompile"
    if words and words[0] in VERBS:
        name = f"kmcompile {words[0]}"
        command = VERBS[words.pop(0)]
    # Not `command.main`: it would turn errors into click's own exit codes.
    _check_given_once(command, name, words)
    make_context = partial(command.make_context, **_SETTINGS)
    context = console.emit(make_context, name, words)  # prints for --help and --version
    with warnings.catch_warnings(), context:
        console.tell_own_warnings(quiet=bool(context.params.get("quiet")))
        command.invoke(context)


def _check_given_once(command: click.Command, name: str, words: Sequence[str]) -> None:
    """Refuse an option that is given twice, of which click would take the last value."""
    context = click.Context(command, info_name=name, **_SETTINGS)
    _, _, given = command.make_parser(context).parse_args(list(words))
    for option in given:
        once = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
        if once and given.count(option) > 1:
            raise click.UsageError(f"{option.opts[0]} is given twice, must be given once", context)


def _usage_text(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "kmcompile"
    return f"{error.format_message()}\nsee {command} --help"
