"""Attack certified mode once with many queries; print what was found.

python tests/breaking/run.py --queries 5000000
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

for folder in (Path(__file__).parents[2], Path(__file__).parents[1]):
    sys.path.insert(0, str(folder))

from attack import Table, attack, lines, merge  # noqa: E402  # after the path
from subjects import SUBJECTS, planned  # noqa: E402


def main() -> int:
    """Attack all subjects; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="subjects whose names hold this")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chosen = {s: n for s, n in planned(asked.queries).items() if asked.only in s.name}
    total: Table = {}
    for subject, n in chosen.items():
        start = time.process_time()
        table = attack(subject, n, asked.seed)
        print(f"\n{subject}: {time.process_time() - start:.1f} s of CPU")
        print("\n".join(lines(table)), flush=True)
        merge(total, table)
    print(f"\nall {len(chosen)} machines of {len(SUBJECTS)}")
    print("\n".join(lines(total)))
    return 0 if all(figures.is_clean for figures in total.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
