"""The commands of the command line: their arguments, and what they print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmcompile import console
from kmcompile.errors import VerificationError
from kmcompile.evidence_command import (
    evidence_command,
    print_findings,
    proved,
    refuse_unexplained,
)
from kmcompile.grouped_help import GroupedCommand
from kmcompile.image_commands import image_command, patch_command
from kmcompile.program_options import (
    FILE,
    FOLDER,
    choice,
    json_option,
    model_options,
    out_option,
    program_options,
    quiet_option,
)
from kmcompile.progress import Progress
from kmcompile.request.option_values import check_options, without_defaults
from kmcompile.request.options import Options
from kmcompile.target.cores import MACHINES
from kmcompile.text.visible import printable
from kmcompile.tool_commands import doctor_command, targets_command
from kmcompile.version import VERSION

if TYPE_CHECKING:
    from kmcompile.bench import Bench
    from kmcompile.evidence.finding import Finding

# Other modules are imported where they are used, so that `kmcompile --help` loads no numpy.

_EPILOG = """\b
Other commands (each has its own --help):
  kmcompile targets         list the targets
  kmcompile doctor          which compilers and emulators are here, how to get the others
  kmcompile inspect MODEL   what a model file holds
  kmcompile show MODEL|DIR  the program as text: stages, constants, tables, cost
  kmcompile choices MODEL   the programs that it can be compiled to, and what each takes
  kmcompile verify DIR      repeat the checks of an output folder
  kmcompile report DIR      print its report; put what a board measured into it
  kmcompile bench MODEL     instructions, flash and stack on several targets
  kmcompile image MODEL     the image of a retrained model for code that flies (--for DIR)
  kmcompile patch OLD NEW   the patch between two images
  kmcompile evidence DIR    what other tools find about the C of an output folder
  kmcompile manual TOPIC    the manual; without TOPIC the list of its pages
A model file that is called like a command: kmcompile ./targets

\b
Exit codes: 0 done and verified; 1 verification failed; 2 wrong usage; 3 the model or
data can't be used; 4 it doesn't fit the target; 5 a tool is missing, failed or hung;
6 the output can't be written; 70 a defect in kmcompile; 130 interrupted."""

_ALL_CORES = -1
"""The command line's n_jobs of joblib; in Python the user chooses it."""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("model", type=FILE)
@program_options
@click.option("--data", type=FILE, help="Samples for early exits, not trained on; also verify.")
@click.option("--test-data", type=FILE, help="Test samples to verify with, instead of --data's.")
@choice("--package", "Also the C as a part of a framework; may be given again.", multiple=True)
@out_option("DIR", "Folder [<model>-<target>].")
@click.option("--max-time", metavar="SECONDS", help="Most in the worst case, such as 2ms.")
@click.option("--clock", metavar="HZ", help="Clock of the board, such as 64MHz [the target's].")
@choice("--verify", "Where the C is run [target if its tools are here, otherwise host].")
@json_option
@quiet_option
@click.option("--verbose", is_flag=True, help="Print also why early exits are left out.")
@click.version_option(VERSION, prog_name="kmcompile", message="%(prog)s %(version)s")
def compile_command(model: Path, as_json: bool, quiet: bool, verbose: bool, **values: Any) -> None:
    """Compile a trained SVM to C99, run the C, and prove that it gives the same answers.

    MODEL is a fitted scikit-learn support vector machine, another linear or kernel machine, or a
    Pipeline that ends with one, in a pickle, joblib or skops file; or a LIBSVM, LIBLINEAR,
    SVM-light, OpenCV, ONNX or .npz model. Samples are .npz, .npy, .csv or svmlight files.
    """
    options = Options(**values, n_jobs=_ALL_CORES)
    check_options(without_defaults(options))
    from kmcompile import pipeline

    with Progress(enabled=not quiet) as progress:
        compiled = pipeline.compile_model(model, options, progress)
    report = compiled.report
    console.tell(
        report, _print_report, report, compiled.folder, verbose, as_json=as_json, quiet=quiet
    )


@click.command()
@click.argument("model", type=FILE)
@model_options
@json_option
def _inspect(model: Path, as_json: bool, **values: Any) -> None:
    """Say what a model file holds, without compiling it."""
    from kmcompile import pipeline
    from kmcompile.request.plan import reading_of

    facts = pipeline.inspect_model(model, reading_of(Options(**values)))
    console.tell(facts, console.print_facts, as_json=as_json)


@click.command(cls=GroupedCommand)
@click.argument("path", metavar="MODEL|DIR", type=click.Path(exists=True, path_type=Path))
@program_options
@click.option("--data", type=FILE, help="Samples for early exits, not trained on.")
def _show(path: Path, **values: Any) -> None:
    """Print the program of a model or of an output folder as text, one line a thing.

    The text has all stages in order, with shapes, constants, bounds, operations and table bytes.
    A model is compiled with these options, but nothing is written, built or run.
    """
    from kmcompile.unbuilt import program_of

    with Progress(enabled=True) as progress:
        program = program_of(path, Options(**values, n_jobs=_ALL_CORES), progress)
    console.emit(click.echo, str(program))


@click.command(cls=GroupedCommand)
@click.argument("model", type=FILE)
@program_options
@click.option("--data", type=FILE, help="Samples for early exits, not trained on.")
def _choices(model: Path, **values: Any) -> None:
    """Print the programs that a model can be compiled to, with what each would take.

    The options beside a program ask for it. Nothing is written, built or run.
    """
    from kmcompile.unbuilt import choices

    with Progress(enabled=True) as progress:
        found = choices(model, Options(**values, n_jobs=_ALL_CORES), progress)
    console.emit(_print_choices, found)


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--model", type=FILE, help="The model, to repeat the bounded check too.")
@click.option("--test-data", type=FILE, help="Samples to verify with, besides the folder's.")
@click.option("--prove", is_flag=True, help="Let Frama-C look for run-time errors of any input.")
@click.option("--on", type=click.Choice(MACHINES), help="Run the C there, and count cycles.")
@model_options
@json_option
@quiet_option
def _verify(
    folder: Path,
    model: Path | None,
    test_data: Path | None,
    prove: bool,
    on: str | None,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Repeat the checks of an output folder: hashes, the exact check, the bounded check."""
    from kmcompile import pipeline
    from kmcompile.request.plan import reading_of

    findings: list[Finding] = []
    with Progress(enabled=not quiet) as progress:
        result = pipeline.verify_folder(
            folder, model, test_data, reading_of(Options(**values)), progress, on or ""
        )
        if prove:
            findings = proved(folder, progress)
            result["run_time_errors"] = [one.to_json() for one in findings]
    console.tell(
        result, _print_verification, folder, result, findings, as_json=as_json, quiet=quiet
    )
    if prove:
        refuse_unexplained(findings)


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--measured", type=FILE, help="What a board printed; it becomes part of the report.")
@json_option
@quiet_option
def _report(folder: Path, measured: Path | None, as_json: bool, quiet: bool) -> None:
    """Print the report of an output folder; with --measured, put what a board printed into it.

    The function of --package bench counts cycles on the board and prints a line. FILE may hold
    whatever else the terminal showed.
    """
    from kmcompile.output import measuring

    if measured is None:
        report = measuring.report_of(folder)
    else:
        report = measuring.measured_report(folder, measured)
    console.tell(report, _print_report, report, None, False, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("model", type=FILE)
@click.option("--targets", default="host", metavar="A,B,...|all", help="Which targets [host].")
@click.option("--data", type=FILE, help="Calibration samples, not trained on.")
@click.option("--test-data", type=FILE, help="Samples to measure with.")
@choice("--mode", "Early exits allowed [statistical with --data, else certified].")
@choice("--format", "Number format [each target's].")
@choice("--replay", "Sum again where a label is left open [float64 if it pays].")
@out_option("DIR", "Folder [<model>-bench].")
@model_options
@json_option
@quiet_option
def _bench(model: Path, targets: str, as_json: bool, quiet: bool, **values: Any) -> None:
    """Compile for several targets; print instructions, flash and stack of each.

    The folder has an output folder for each target, and the table as bench.csv and bench.html.
    """
    from kmcompile.bench import bench

    options = Options(**values, n_jobs=_ALL_CORES)
    check_options(without_defaults(options))
    with Progress(enabled=not quiet) as progress:
        made = bench(model, options, targets, progress)
    console.tell(made.reports, _print_bench, made, as_json=as_json, quiet=quiet)
    if made.refuted:
        raise VerificationError("\n".join(f"{one.target}: {one.text}" for one in made.failures))


@click.command()
@click.argument("topic", required=False)
def _manual(topic: str | None) -> None:
    """Show one page of the manual, or without TOPIC the list of its pages.

    A terminal gets colours and drawn tables, a file or a pipe the Markdown of the page.
    """
    from kmcompile.manual import pages, terminal

    if topic is None:
        console.emit(terminal.print_topics, pages.list_pages(), console.styled())
    else:
        console.emit(terminal.print_page, pages.find_page(topic), console.styled())


def _print_report(report: dict[str, Any], folder: Path | None, verbose: bool) -> None:
    from kmcompile.report import terminal

    terminal.print_report(report, console.styled(), verbose=verbose)
    if folder is not None:
        click.echo(f"\nwritten to {printable(str(folder))}; its report.html has the plots")


def _print_choices(found: list[dict[str, Any]]) -> None:
    from kmcompile.report import terminal

    terminal.print_choices(found, console.styled())


def _print_verification(folder: Path, result: dict[str, Any], findings: Sequence[Finding]) -> None:
    from kmcompile.report import terminal
    from kmcompile.verify.other_machine import measured_text

    terminal.print_verification(folder.resolve().name, result, console.styled())
    if "measured_cycles" in result:
        click.echo(f"  {measured_text(result['measured_cycles'])}")
    print_findings(findings)


def _print_bench(made: Bench) -> None:
    from kmcompile.report.bench_table import table_text

    console.print_table(table_text(list(made.reports.values())), n_left=2)
    for failure in made.failures:
        click.echo(f"{failure.target}: {printable(failure.text)}")
    click.echo(f"written to {printable(str(made.folder))}: bench.csv, bench.html")


VERBS = {
    "targets": targets_command,
    "doctor": doctor_command,
    "inspect": _inspect,
    "show": _show,
    "choices": _choices,
    "verify": _verify,
    "report": _report,
    "bench": _bench,
    "image": image_command,
    "patch": patch_command,
    "evidence": evidence_command,
    "manual": _manual,
}
"""The commands by name; any other first argument is a model to compile."""
