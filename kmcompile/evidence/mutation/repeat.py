"""Repeats the mutants of one model: builds each, asks it the vectors, and tells its fate.

Usage: python3 repeat.py FOLDER. The folder has the model's C, vectors.c, the words that it reads
and mutants.json. Exit code: 0, or 1 where a mutant is found now and was not, or was and is not.
It needs nothing of kmcompile.
"""

import json
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Repeat the mutants of the folder that is named."""
    folder = Path(sys.argv[1])
    told = json.loads((folder / "mutants.json").read_text(encoding="utf-8"))
    path = folder / told["source"]
    source = path.read_text(encoding="ascii")
    counts = {"found": 0, "not found": 0, "not built": 0}
    n_other = 0
    try:
        for one in told["mutants"]:
            fate = _try(folder, path, told, _changed(source, one))
            counts[fate] += 1
            if fate != one["fate"]:
                n_other += 1
                print(f"{one['told']}: {fate}, and was {one['fate']}")
    finally:
        path.write_text(source, encoding="ascii")
    print(", ".join(f"{number} {fate}" for fate, number in counts.items()))
    print(f"{n_other} with another fate")
    return 1 if n_other else 0


def _changed(source: str, mutant: dict[str, object]) -> str:
    start, end = int(str(mutant["start"])), int(str(mutant["end"]))
    return source[:start] + str(mutant["replacement"]) + source[end:]


def _try(folder: Path, path: Path, told: dict[str, list[str]], changed: str) -> str:
    """Return what becomes of one mutant."""
    path.write_text(changed, encoding="ascii")
    if subprocess.run(told["build"], cwd=folder, capture_output=True).returncode != 0:
        return "not built"
    limit = 10.0 * float(told["ask"][-1]) + 10.0
    try:
        run = subprocess.run(told["ask"], cwd=folder, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return "found"
    return "found" if run.returncode != 0 else "not found"


if __name__ == "__main__":
    sys.exit(main())
