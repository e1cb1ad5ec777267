"""Compile models and options that are drawn at random; print what ends as no compilation may.

python tests/fault/random_compilations.py --minutes 100
python tests/fault/random_compilations.py --only 1234567

A compilation succeeds, or is refused with an exit code that the manual names. Everything else is a
finding, also one that takes more than `LIMIT` seconds of CPU.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

_TESTS = Path(__file__).parents[1]
for folder in (_TESTS.parent, _TESTS, _TESTS / "breaking"):
    sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402  # after the path
from random_machines import random_machine  # noqa: E402

import kmcompile  # noqa: E402
from kit.random_models import KINDS, OFTEN, RandomModel, random_model  # noqa: E402
from kit.random_options import random_options  # noqa: E402
from kit.routed_random import RandomRouted  # noqa: E402
from kmcompile.errors import KmcompileError  # noqa: E402

REFUSALS = (2, 3, 4, 6)
LIMIT = 120
"""Seconds of CPU that one compilation may take: how busy the machine is does not count."""
_MOST_LINES = 3
_UNTRAINED = "not trained"
_MACHINES = ("machine",) * 6 + ("routed machine",) * 3
_EXTRA = ("", "widths", "products", "linear", "units", "scaler", "ties", "widths linear products")


class TooLongError(BaseException):
    """Raised in a compilation that takes too long; nothing may catch it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a compilation ended, what was compiled, and the finding; "" without one."""

    ended: str
    said: str
    finding: str = ""


def compile_case(seed: int, kind: str | None = None, limit: int = LIMIT) -> Outcome:
    """Return how the compilation of one seed ends; a kind may be named that others draw."""
    rng = np.random.default_rng(seed)
    drawn = kind or str(rng.choice(OFTEN if rng.random() < 0.6 else [*KINDS, *_MACHINES]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = _made(rng, drawn)
        except Exception as error:  # of scikit-learn, or of a machine that cannot be read
            return Outcome(_UNTRAINED, f"{drawn}: {type(error).__name__}: {error}")
        options = random_options(rng, made.X, made.is_regression, made.is_linear)
        said = f"{made.said}; {_shown(options)}"
        saves = rng.random() < 0.15
        try:
            with _at_most(limit):
                _compile(made.model, options, saves)
        except KmcompileError as error:
            lines = str(error).splitlines()
            fits = error.exit_code in REFUSALS and 1 <= len(lines) <= _MOST_LINES
            ended = f"exit {error.exit_code}"
            return Outcome(ended, said, "" if fits else traceback.format_exc(limit=-4))
        except TooLongError:
            return Outcome("too long", said, traceback.format_exc(limit=-4))
        except Exception:
            return Outcome("exit 70", said, traceback.format_exc(limit=-4))
    return Outcome("success", said)


def _made(rng: np.random.Generator, kind: str) -> RandomModel:
    """Return a model of a kind, or a machine that nobody trained."""
    if kind in KINDS:
        return random_model(rng, kind)
    if kind == "machine":
        machine, X = random_machine(int(rng.integers(1 << 30)))
    else:
        extra = str(rng.choice(_EXTRA))
        routed = RandomRouted(extra, "int16", int(rng.integers(1 << 30)))
        machine, X = routed.machine(), routed.queries(40)
    said = f"{kind} with {machine.kernel}, {machine.n_support_vectors} vectors"
    return RandomModel(machine, X.astype(np.float64), said, machine.task == "regression", False)


def _compile(model: Any, options: dict[str, Any], saves: bool) -> None:
    """Compile a model, or a file of it into a folder."""
    if not saves:
        kmcompile.compile_model(model, **options)
        return
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.npz"
        kmcompile.save_model(path, model)
        compiled = kmcompile.compile_model(path, out=Path(scratch) / "out", **options)
        assert kmcompile.load(Path(scratch) / "out").report == compiled.report


def _shown(options: dict[str, Any]) -> str:
    """Return options as text, arrays by their shapes."""
    shown = {
        name: value.shape if isinstance(value, np.ndarray) else value
        for name, value in options.items()
        if name not in ("target", "verify", "name")
    }
    return ", ".join(f"{name}={value}" for name, value in shown.items())


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise `TooLongError` when the time is over."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TooLongError(f"more than {seconds} s of CPU")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def campaign(minutes: float, seed: int) -> tuple[Counter[str], int]:
    """Compile until the time is over, print each finding; return how cases ended, and findings."""
    end = time.monotonic() + 60 * minutes
    ended: Counter[str] = Counter()
    findings = 0
    while time.monotonic() < end:
        found = compile_case(seed)
        ended[found.ended] += 1
        if found.finding:
            findings += 1
            print(f"\nseed {seed}: {found.ended}: {found.said}\n{found.finding}", flush=True)
        seed += 1
    return ended, findings


def main() -> int:
    """Run a campaign or repeat one case; return 1 if anything is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="repeat the case of this seed")
    parser.add_argument("--kind", choices=KINDS, help="the estimator, with --only")
    asked = parser.parse_args()
    if asked.only is not None:
        found = compile_case(asked.only, asked.kind)
        print(f"{found.ended}: {found.said}\n{found.finding}")
        return int(bool(found.finding))
    ended, findings = campaign(asked.minutes, asked.seed)
    untrained = ended.pop(_UNTRAINED, 0)
    parts = ", ".join(f"{count} {name}" for name, count in sorted(ended.items()))
    print(
        f"{sum(ended.values())} compilations: {parts}; {findings} findings; "
        f"{untrained} models could not be trained"
    )
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
