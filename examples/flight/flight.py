"""A lander's camera on emulated boards: noise, drift, stuck pixels, flipped bits and a new model.

    python examples/flight/flight.py build/flight cortex-m7 leon3

trains machines on the digits of scikit-learn, compiles them, links them with the flight
software of this folder, flies `stream.py` in QEMU, and prints what came back, phase by phase.
"""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC
from stream import NOISE, PAYLOAD_WORDS, Landmarks, Phase, dimmed, flight, landmarks

import kmcompile
from kmcompile.build.builder import build
from kmcompile.build.recipe import Recipe
from kmcompile.program.telemetry import words
from kmcompile.run.qemu import QemuRunner

HERE = Path(__file__).resolve().parent
PAD = 0
"""The landmark on which the lander may land: what the guard looks for."""

REPORT = (
    "patch", "status", "steps", "label", "flags", "named_status", "named", "named_certified",
    "pad_certified", "bank", "bank_bytes", "restored",
)  # fmt: skip
"""The words of a telemetry frame before the guard's counters."""


def machine(X: np.ndarray, y: np.ndarray) -> BaseEstimator:
    """Return a fitted rbf machine. The pixels have one unit, so no scaler parts them."""
    return SVC(C=10, gamma=0.001).fit(X, y)


def compile_models(target: str, data: Landmarks, folder: Path) -> bytes:
    """Compile guard and landmarks, retrain the landmarks, and return the patch to the new image."""
    (X, y), (held_out, _) = data.train, data.held_out
    kmcompile.compile_model(
        machine(X, y == PAD), target=target, name="guard", out=folder / "guard", data=held_out,
        mode="certified", telemetry=True, step=4000, monitor=0.02, redundancy=2,
    )  # fmt: skip
    kmcompile.compile_model(
        machine(X, y == PAD), target=target, name="pad", out=folder / "pad", data=held_out,
        input_tolerance=NOISE,
    )  # fmt: skip
    kmcompile.compile_model(
        machine(X, y), target=target, name="landmarks", out=folder / "landmarks", tables="image",
        capacity=700, test_data=held_out,
    )  # fmt: skip
    retrained = machine(np.concatenate([X, dimmed(X)]), np.concatenate([y, y]))
    (folder / "retrained.pkl").write_bytes(pickle.dumps(retrained))
    kmcompile_("image", "retrained.pkl", "--for", "landmarks", "--out", "retrained.bin", at=folder)
    kmcompile_("patch", "landmarks/landmarks.bin", "retrained.bin", "--out", "new.patch", at=folder)
    return (folder / "new.patch").read_bytes()


def kmcompile_(*arguments: str, at: Path) -> None:
    """Run a command of kmcompile in a folder."""
    subprocess.run([sys.executable, "-m", "kmcompile", *arguments, "--quiet"], cwd=at, check=True)


def fly(folder: Path, phases: list[Phase], n_counters: int) -> np.ndarray:
    """Build the flight software and run it; return the telemetry frame of each cycle."""
    together = folder / "together"
    shutil.rmtree(together, ignore_errors=True)
    together.mkdir()
    for file in (*HERE.glob("*.c"), *folder.glob("[gpl]*/*.[ch]")):
        shutil.copy(file, together)
    of_guard = Recipe.from_json((folder / "guard" / "recipe.json").read_text())
    sources = ("guard_in_ram.c", "landmarks.c", "landmarks_image.c", "landmarks_patch.c", "pad.c")
    recipe = replace(
        of_guard, sources=sources, harness="flight.c", input_words=2 + PAYLOAD_WORDS + 64,
        record_words=len(REPORT) + n_counters,
    )  # fmt: skip
    words = np.concatenate([phase.words() for phase in phases])
    with build(recipe, together, recipe.target) as artifact:
        return QemuRunner().run(artifact, words).records


def print_flight(phases: list[Phase], records: np.ndarray, repairs: np.ndarray) -> None:
    """Print a row for each phase: what the three programs answered, and what was repaired."""
    print("                                  guard          pad      landmarks")
    print("phase                    frames   right strange  proved   right  bank  repaired")
    first = 0
    for phase in phases:
        last = first + len(phase.frames) - 1
        own = records[first : last + 1]
        report = dict(zip(REPORT, own.T[: len(REPORT)].astype(np.int64), strict=True))
        before = 0 if first == 0 else repairs[first - 1]
        cells = (
            share(report["label"] == (phase.shown == PAD), phase.is_known),
            share((report["flags"] & 2) == 0),
            share(report["pad_certified"]),
            share(report["named"] == phase.shown, phase.is_known),
            "AB"[report["bank"][-1]],
            str(repairs[last] - before),
        )
        row = "{:>8}{:>8}{:>8}{:>8}{:>6}{:>10}".format(*cells)
        print(f"{phase.name:<24} {len(own):>6}{row}")
        first = last + 1


def share(found: np.ndarray, is_known: bool = True) -> str:
    """Return the share of what is true, in percent; "-" if it is not known."""
    return f"{100 * np.mean(found != 0):.0f} %" if is_known else "-"


def print_telemetry(names: list[tuple[str, bool]], last: np.ndarray) -> None:
    """Print the guard's counters at the end of the flight that are not 0."""
    print("\nthe guard's telemetry at the end, where it is not 0")
    for (name, is_float), word in zip(names, last, strict=True):
        if word:
            value = f"{word.view(np.float32):.4g}" if is_float else f"{word:,}"
            print(f"  {name:<32} {value}")


def main(folder: Path, targets: list[str]) -> None:
    """Fly on each board."""
    data = landmarks()
    for target in targets:
        own = folder / target
        own.mkdir(parents=True, exist_ok=True)
        patch = compile_models(target, data, own)
        counted = words(kmcompile.load(own / "guard").program)
        phases = flight(data.flown, patch)
        records = fly(own, phases, len(counted))
        print(f"\n{target}: {len(records)} cycles, a patch of {len(patch):,} bytes\n")
        names = [(name, is_float) for name, _, is_float in counted]
        at = len(REPORT) + [name for name, _ in names].index("repairs")
        repairs = records[:, at].astype(np.int64) + records[:, REPORT.index("restored")]
        print_flight(phases, records, repairs)
        print_telemetry(names, records[-1, len(REPORT) :])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/flight"), sys.argv[2:] or ["cortex-m7"])
