"""The options of the command line that determine a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from kmcompile.request.flight import FLIGHT
from kmcompile.request.flight_option import FlightOption
from kmcompile.request.option_values import CHOICES
from kmcompile.request.values import flag

Command = Callable[..., None]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing on success.")
_MODEL_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--before", metavar="FILE,...", help="Scalers and the like before the model."),
    click.option(
        "--labels",
        type=FILE,
        help="Names of the classes: a LabelEncoder, or text with a line a class.",
    ),
    click.option("--entry", metavar="A,...", help="Which objects of the model's file [the only]."),
    click.option(
        "--trust-pickle",
        is_flag=True,
        help="Let pickle run what the file says. Without it, only data is rebuilt.",
    ),
)


def out_option(metavar: str, text: str) -> Callable[[Command], Command]:
    """Return the option of where the result is written."""
    return click.option("--out", type=click.Path(path_type=Path), metavar=metavar, help=text)


def _number_of_bytes(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, metavar="BYTES", help=text)


def choice(name: str, text: str, multiple: bool = False) -> Callable[[Command], Command]:
    """Return an option of one of the values that `CHOICES` lists for it."""
    field = name.removeprefix("--").replace("-", "_")
    return click.option(name, type=click.Choice(CHOICES[field]), help=text, multiple=multiple)


def _for_flight(option: FlightOption) -> Callable[[Command], Command]:
    name = flag(option.name)
    if option.name in CHOICES:
        return choice(name, option.help)
    return click.option(name, help=option.help, **option.words)


_PROGRAM_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--target", default="host", metavar="NAME", help="Board or machine [host]."),
    click.option(
        "--threshold",
        type=float,
        metavar="T",
        help="The second class from this decision, or calibrated probability, up [0, or 0.5].",
    ),
    choice("--mode", "Early exits allowed [statistical with --data, else certified]."),
    click.option("--risk", metavar="P|auto", help="Largest probability of another label [0.001]."),
    click.option("--loss", metavar="P|auto", help="Instead: most share of right labels lost."),
    choice("--risk-control", "With 99 % confidence, or in expectation [guaranteed]."),
    choice("--thresholds", "How early exits are chosen; only risk keeps a promise [risk]."),
    click.option("--generated", type=int, metavar="N", help="Points made to mislead exits [500]."),
    click.option("--window", type=int, metavar="W", help="Steps that maxsmoothed looks around."),
    click.option("--dimensions", type=int, metavar="P", help="Projection of maxsmoothed, simple."),
    click.option("--stages", metavar="A,B,...", help="These early exits, in this order."),
    click.option("--require", metavar="A,...", help="Early exits that must be there."),
    click.option("--exclude", metavar="A,...", help="Early exits that must not be there."),
    choice("--format", "Number format on the target; auto compares them all [the target's]."),
    choice("--replay", "Sum again where a label is left open [float64 if it pays]."),
    choice("--optimize", "What is made small: mean or worst instructions, flash [balanced]."),
    click.option("--reduce", metavar="N|auto|off", help="Fewer support vectors [off]."),
    click.option("--tolerance", type=float, metavar="T", help="Regression: width to stop at."),
    *map(_for_flight, FLIGHT),
    click.option("--capacity", type=int, metavar="N", help="Most vectors of an image [1.25 n]."),
    _number_of_bytes("--max-flash", "Flash budget, such as 64KB [the target's]."),
    _number_of_bytes("--max-ram", "RAM budget [the target's]."),
    click.option("--max-instructions", type=int, metavar="N", help="Most in the worst case."),
    click.option(
        "--name", metavar="PREFIX", help="Prefix of every C name [from the model's file]."
    ),
    *_MODEL_OPTIONS,
)
"""The options that, with the calibration samples, determine the compiled program."""


def program_options(command: Command) -> Command:
    """Add the options that determine the compiled program to a command."""
    return _with(_PROGRAM_OPTIONS, command)


def model_options(command: Command) -> Command:
    """Add the options that say how a model file is read to a command."""
    return _with(_MODEL_OPTIONS, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
