"""Run programs of the tests on the logic of a core and in QEMU; compare answers, count cycles.

    .venv/bin/python tests/rtl_programs.py FOLDER [--core cv32e40p] [--programs N] [WORD ...]

FOLDER keeps the simulator. By default all programs that run on boards are taken, or with words
those that have one of them in their name; with --programs N as many, from all kinds alike. A line
is a program: its queries, how many answers differ from the interpreter's, mean cycles and mean
instructions of a query, cycles of an instruction, and on Ibex how far off the cycles are that its
manual gives. The last line tells all together. Ends with 1 if an answer or a number of
instructions differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from emitted_hashes import ON_BOARDS

from kmcompile.build import build
from kmcompile.run.qemu import QemuRunner
from kmcompile.run.rtl import RtlRunner
from kmcompile.target import Target, Timing, load_target
from kmcompile.verify.worst_case import static_worst_case

TARGETS = {"ibex": "rv32imac", "cv32e40p": "rv32imafc"}
CLOCK_HZ = 50_000_000  # any: cycles are compared


def as_ibex(target: Target) -> Target:
    """Return the target with the cycles of the core in the place of the part's own."""
    return replace(target, time=Timing(core="ibex", clock_hz=CLOCK_HZ, logic="ibex"))


def chosen(words: Iterable[str], most: int | None) -> list[Any]:
    """Return the programs with one of the words in their name, at most so many."""
    wanted = tuple(words)
    cases = [case for case in ON_BOARDS if not wanted or any(word in str(case) for word in wanted)]
    return cases[:: -(-len(cases) // most)] if most else cases


def measured(case: Any, target: Target, runner: RtlRunner, most: int) -> dict[str, Any]:
    """Run a program's queries on both machines; return what they tell."""
    emitted = case.emit(target)
    n_queries = len(emitted.inputs)
    rows = np.unique(np.linspace(0, n_queries - 1, min(n_queries, most)).astype(int))
    inputs, records = emitted.inputs[rows], emitted.records[rows]
    with TemporaryDirectory() as holder:
        folder = emitted.write(Path(holder) / "program")
        header = (folder / f"{emitted.recipe.name}.h").read_text(encoding="utf-8")
        counted = "predict" if f"{emitted.recipe.name}_predict(" in header else "classify"
        with build(emitted.recipe, folder, target) as artifact:
            emulated = QemuRunner().run(artifact, inputs, True, counted)
            on_logic = runner.run(artifact, inputs, True, counted)
            worst = static_worst_case(artifact, folder)
    cycles, instructions = on_logic.cycles[:, 0], on_logic.instructions
    row = {
        "program": str(case),
        "queries": len(rows),
        "differ": int((on_logic.records != records).any(axis=1).sum()),
        "other_instructions": int((instructions != emulated.instructions).sum()),
        "self_test": on_logic.self_test,
        "worst_cycles": worst.cycles,
        "above_worst": int(worst.cycles is not None and cycles.max() > worst.cycles),
        "mean_cycles": float(cycles.mean()),
        "mean_instructions": float(instructions.mean()),
        "cycles_per_instruction": [float(f(cycles / instructions)) for f in (min, max)],
    }
    if emulated.cycles is not None:
        fewest, most_cycles = emulated.cycles.T
        row["modelled"] = [float(fewest.mean()), float(most_cycles.mean())]
        row["outside"] = int(((cycles < fewest) | (cycles > most_cycles)).sum())
    return row


def line_of(row: dict[str, Any]) -> str:
    """Return the text of a program."""
    cycles, instructions = row["mean_cycles"], row["mean_instructions"]
    parts = [
        f"{row['program']}: {row['queries']} queries, {row['differ']} differ",
        f"{cycles:,.0f} cycles, {instructions:,.0f} instructions, {cycles / instructions:.3f} each",
        f"static worst case {row['worst_cycles']}, {row['above_worst']} above",
    ]
    if "modelled" in row:
        least, most = (100 * (one / cycles - 1) for one in row["modelled"])
        parts.append(f"modelled {least:+.2f} % to {most:+.2f} %, {row['outside']} outside")
    return "; ".join(parts)


def main() -> int:
    """Measure the programs that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--core", choices=sorted(TARGETS), default="ibex")
    parser.add_argument("--programs", type=int)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--json", type=Path, help="a file for one line of JSON a program")
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    target, runner = load_target(TARGETS[asked.core]), RtlRunner(asked.folder)
    target = as_ibex(target) if asked.core == "ibex" else target
    rows = []
    for case in chosen(asked.words, asked.programs):
        rows.append(measured(case, target, runner, asked.queries))
        print(line_of(rows[-1]), flush=True)
        if asked.json:
            with asked.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    each = [row["mean_cycles"] / row["mean_instructions"] for row in rows]
    differ = sum(row["differ"] for row in rows)
    others = sum(row["other_instructions"] for row in rows)
    above = sum(row["above_worst"] for row in rows)
    print(
        f"{len(rows)} programs, {sum(row['queries'] for row in rows)} queries: {differ} answers "
        f"differ, {others} numbers of instructions, {above} above the static worst case; cycles of "
        f"an instruction: mean {np.mean(each):.3f}, {min(each):.3f} to {max(each):.3f}"
    )
    return int(differ + others + above > 0)


if __name__ == "__main__":
    sys.exit(main())
