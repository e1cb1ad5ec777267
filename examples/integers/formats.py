"""Integer formats beside float32: what each machine takes on a board, and what it answers.

    python examples/integers/formats.py
    python examples/integers/formats.py --only mnist-8-3 digits
    python examples/integers/formats.py --target cortex-m0 --queries 3

trains each machine and prints a row for each format. "plain C" is the float32 C that everybody
writes first (plain.c): one loop over vectors and one over features. "dense" is kmcompile's float32
C without skipping features that are 0. The rest is `kmcompile model.pkl --mode exact --format
FORMAT`, with a * where `--format auto` chooses it within the memory of the target's part.

flash       bytes of code, tables and the compiler's helpers in the ELF
tables      bytes of the tables among them
mean, max   instructions of `classify` in the emulator, of --queries test samples: given as codes in
            an integer format, otherwise as floats; scaling, label and bounds included
by floats   mean instructions of `classify_float`, of the same samples
/plain      how many times fewer than plain C, by the means
/dense      how many times fewer than dense
wrong       test labels other than the float64 model's `predict`; floats are given, on the host
certified   share of the test samples whose label the exact sum proves to be the model's
refused     test samples outside the scale of the codes: neither wrong nor certified
estimated   instructions that `--format auto` compares by
"""

from __future__ import annotations

import argparse
from typing import Any

from machines import MACHINES
from measure import Bench, Row

import kmcompile

FORMATS = ("float32", "int16", "int8")
HEADER = (
    f"{'machine':13s}{'format':9s}{'flash':>10s}{'tables':>10s}{'mean':>12s}{'max':>12s}"
    f"{'by floats':>12s}{'/plain':>8s}{'/dense':>8s}{'wrong':>6s}{'certified':>10s}{'refused':>8s}"
    f"{'estimated':>12s}"
)


def text(name: str, label: str, row: Row, plain: Row, dense: Row, estimate: float | None) -> str:
    """Return the line of a row."""
    mean = row.instructions.mean()

    def whole(value: float | None) -> str:
        return "-" if value is None else f"{value:,.0f}"

    return (
        f"{name:13s}{label:9s}{row.flash:10,d}{whole(row.tables):>10s}{mean:12,.0f}"
        f"{row.instructions.max():12,d}{whole(row.floats):>12s}"
        f"{plain.instructions.mean() / mean:8.2f}{dense.instructions.mean() / mean:8.2f}"
        f"{row.wrong:6d}{'-' if row.certified is None else f'{row.certified:.4f}':>10s}"
        f"{row.refused:8d}{whole(estimate):>12s}"
    )


def chosen(bench: Bench) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return what `--format auto` compared by format, and what it said in lines."""
    try:
        compared = {one["format"]: one for one in bench.choice()}
    except kmcompile.KmcompileError as error:
        return {}, [f"auto: {_in_one_line(error)}"]
    return compared, [f"auto: {key}: {one['reason']}" for key, one in compared.items()]


def table(name: str, bench: Bench, formats: tuple[str, ...]) -> None:
    """Print the rows of a machine, and what `--format auto` says of it."""
    plain, dense = bench.plain(), bench.dense()
    print(text(name, "plain C", plain, plain, dense, None), flush=True)
    print(text(name, "dense", dense, plain, dense, None), flush=True)
    compared, said = chosen(bench)
    for number_format in formats:
        about = compared.get(number_format, {})
        label = number_format + ("*" if about.get("chosen") else "")
        try:
            row = bench.compiled(number_format)
        except kmcompile.KmcompileError as error:
            print(f"{name:13s}{label:9s} {_in_one_line(error)}", flush=True)
            continue
        estimate = about.get("instructions_estimated")
        print(text(name, label, row, plain, dense, estimate), flush=True)
    print(*(f"{name:13s}{line}" for line in said), sep="\n", flush=True)


def _in_one_line(error: Exception) -> str:
    return "; ".join(str(error).splitlines())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="cortex-m7", help="an emulated target")
    parser.add_argument("--only", nargs="+", choices=MACHINES, default=MACHINES, help="machines")
    parser.add_argument("--format", nargs="+", choices=FORMATS, default=FORMATS, help="formats")
    parser.add_argument("--queries", type=int, default=32, help="samples counted (default: 32)")
    options = parser.parse_args()
    print(f"{options.target}, {options.queries} queries\n{HEADER}")
    for name in options.only:
        model, X = MACHINES[name]()
        table(name, Bench(model, X, options.target, options.queries), tuple(options.format))


if __name__ == "__main__":
    main()
