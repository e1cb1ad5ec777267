"""Attack what kmcompile promises for a while, and go on where the last attack stopped.

Usage, with PYTHONPATH=tests:
    python -m evidence.campaign --minutes M [--share S] [--state FILE] [--only KIND,...]
    python -m evidence.campaign --repeat KIND NUMBER

A kind of attack has numbered pieces. A piece depends on its number only, so that `--repeat` shows
again what a piece found. The state, a JSON file, holds what was asked and found by kind; a piece
counts when it has ended. A state of other sources is begun anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from evidence.attack_kinds import KINDS, Found

_ROOT = Path(__file__).resolve().parents[2]
STATE = _ROOT / "build" / "campaign.json"
_MOST_LISTED = 100


@dataclass
class Done:
    """What was done of one kind.

    Attributes
    ----------
    pieces : int
        All pieces with smaller numbers have ended.
    asked, wrong : int
    seconds : float
        Of the pieces and what they run, on one core.
    listed : list of str
        The first that were wrong, each with the number of its piece.
    """

    pieces: int = 0
    asked: int = 0
    wrong: int = 0
    seconds: float = 0.0
    listed: list[str] = field(default_factory=list)

    def add(self, number: int, found: Found, seconds: float) -> None:
        """Count a piece that has ended."""
        self.pieces = number + 1
        self.asked += found.asked
        self.wrong += len(found.wrong)
        self.seconds += seconds
        self.listed += [f"piece {number}: {text}" for text in found.wrong]
        del self.listed[_MOST_LISTED:]


State = dict[str, Done]


@cache
def sources() -> str:
    """Return the SHA-256 of all that is attacked, and of what attacks it."""
    found = hashlib.sha256()
    for folder in ("kmcompile", "templates", "tests/breaking", "tests/evidence", "tests/kit"):
        for path in sorted((_ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".j2", ".toml"):
                found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0")
                found.update(path.read_bytes() + b"\0")
    return found.hexdigest()


def read_state(path: Path) -> State:
    """Return what was done so far; nothing without the file, or if it is of other sources."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    kinds = content.get("kinds", {}) if content.get("sources") == sources() else {}
    return {name: Done(**kinds.get(name, {})) for name in KINDS}


def write_state(path: Path, state: State) -> None:
    """Write what was done, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    content = {"sources": sources(), "kinds": {name: asdict(done) for name, done in state.items()}}
    fresh.write_text(json.dumps(content, indent=1))
    os.replace(fresh, path)


def attack(state: State, path: Path, minutes: float, names: list[str], share: float = 1.0) -> None:
    """Run pieces on all cores until the minutes are over or all kinds have what is wanted.

    Parameters
    ----------
    path : Path
        Of the state, which is written when a piece has ended.
    share : float
        Of what is wanted.
    """
    wanted = {name: math.ceil(share * KINDS[name].wanted()) for name in names}
    n_pieces = {name: KINDS[name].n_pieces() for name in names}
    end = time.monotonic() + 60 * minutes
    cores = os.cpu_count() or 1
    running: dict[Future[tuple[Found, float]], tuple[str, int]] = {}
    ended: dict[str, dict[int, tuple[Found, float]]] = {name: {} for name in names}
    begun = {name: state[name].pieces for name in names}
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        while True:
            while len(running) < cores and time.monotonic() < end:
                left = {name: n for name, n in wanted.items() if begun[name] < n_pieces[name]}
                name = most_behind(state, left, [name for name, _ in running.values()])
                if name is None:
                    break
                running[pool.submit(_timed, name, begun[name])] = (name, begun[name])
                begun[name] += 1
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name, number = running.pop(future)
                ended[name][number] = future.result()
                while state[name].pieces in ended[name]:
                    number = state[name].pieces
                    state[name].add(number, *ended[name].pop(number))
                write_state(path, state)


def most_behind(state: State, wanted: dict[str, int], running: list[str]) -> str | None:
    """Return the kind with the smallest part of what is wanted, of equal ones one that rests."""

    def part(name: str) -> tuple[float, int]:
        return state[name].asked / wanted[name] + 0.01 * running.count(name), running.count(name)

    left = [name for name, number in wanted.items() if state[name].asked < number]
    return min(left, key=part, default=None)


def _timed(name: str, number: int) -> tuple[Found, float]:
    start = sum(os.times()[:4])
    found = KINDS[name].piece(number)
    return found, sum(os.times()[:4]) - start


def lines(state: State) -> list[str]:
    """Return a line for each kind."""
    rows = []
    for name, done in state.items():
        kind = KINDS[name]
        rows.append(
            f"{name:10} {done.asked:>10,} of {kind.wanted():>9,} {kind.unit}: {done.wrong} "
            f"{kind.defect}, {done.pieces} pieces, {done.seconds:.0f} s"
        )
        rows += [f"    {text}" for text in done.listed]
    return rows


def main() -> int:
    """Attack, or repeat a piece; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Attack what kmcompile promises.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--state", type=Path, default=STATE)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", help="KIND,...")
    parser.add_argument("--repeat", nargs=2, metavar=("KIND", "NUMBER"))
    asked = parser.parse_args()
    if asked.repeat:
        found = KINDS[asked.repeat[0]].piece(int(asked.repeat[1]))
        sys.stdout.write("\n".join([f"{found.asked} asked", *found.wrong]) + "\n")
        return int(bool(found.wrong))
    state = read_state(asked.state)
    names = asked.only.split(",") if asked.only else [*KINDS]
    attack(state, asked.state, asked.minutes, names, asked.share)
    sys.stdout.write("\n".join(lines({name: state[name] for name in names})) + "\n")
    return int(any(done.wrong for done in state.values()))


if __name__ == "__main__":
    sys.exit(main())
