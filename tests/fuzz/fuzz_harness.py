"""Fuzz one target with atheris; the arguments behind its name are libFuzzer's.

python tests/fuzz/fuzz_harness.py libsvm -max_total_time=60 FOLDER
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path


def main() -> None:
    """Run until libFuzzer ends the process."""
    import atheris  # not a dependency of the tests: only this command needs it

    sys.path.insert(0, str(Path(__file__).parent))
    # Instrumented: our own code, and the module that parses pickles.
    with atheris.instrument_imports(include=["kmcompile", "pickletools"]):
        import pickletools  # noqa: F401

        from fuzz_targets import TARGETS, check, kept_inputs

    target = TARGETS[sys.argv.pop(1)]
    sys.argv[0] = os.environ.get("FUZZ_LAUNCHER", sys.argv[0])
    kept = list(kept_inputs(target).values())
    donors = [pieces for pieces in map(target.split, kept) if pieces]

    def mutate(content: bytes, max_bytes: int, seed: int) -> bytes:
        """Change bytes as libFuzzer does, or move pieces, also in from a kept input."""
        rng = random.Random(seed)
        pieces = target.split(content)
        if not pieces or rng.random() < 0.5:
            return bytes(atheris.Mutate(content, max_bytes))
        start, end = sorted(rng.choices(range(len(pieces) + 1), k=2))
        end = min(end, start + rng.randrange(8))
        donor = rng.choice(donors) if rng.random() < 0.5 else pieces
        first = rng.randrange(len(donor))
        pieces[start:end] = donor[first : first + rng.randrange(8)]
        return b"".join(pieces)[:max_bytes]

    def test_one_input(content: bytes) -> None:
        check(target, content)

    for content in kept:
        test_one_input(content)  # imports what is imported late
    atheris.Setup(sys.argv, test_one_input, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
