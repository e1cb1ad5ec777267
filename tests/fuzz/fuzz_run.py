"""Fuzz all targets one after the other and print what was found.

python tests/fuzz/fuzz_run.py --seconds 3600
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from fuzz_targets import TARGETS, Target, kept_inputs  # noqa: E402  # after the path

INPUT_TIMEOUT_S = 10
RAM_LIMIT_MB = 2048
_FIGURES = {
    "executions": r"stat::number_of_executed_units:\s*(\d+)",
    "slowest input s": r"stat::slowest_unit_time_sec:\s*(\d+)",
    "peak MB": r"stat::peak_rss_mb:\s*(\d+)",
    "edges covered": r"cov: (\d+)",
    "inputs in corpus": r"corp: (\d+)/",
}


def main() -> int:
    """Share the seconds between the targets; return 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="", help="targets whose names hold this")
    parser.add_argument("--work", type=Path, default=FOLDER.parents[1] / "build" / "fuzz")
    asked = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("fuzz: not run, atheris is missing; pip install 'kmcompile[fuzz]'", file=sys.stderr)
        return int(os.environ.get("CI") == "true")
    chosen = [target for target in TARGETS.values() if asked.only in target.name]
    findings = []
    for target in chosen:
        findings += _fuzz(target, asked.seconds // len(chosen), asked.work / target.name)
    for path in findings:
        print(f"fuzz: {path} is a defect", file=sys.stderr)
    return int(bool(findings))


def _fuzz(target: Target, seconds: int, work: Path) -> list[Path]:
    """Fuzz one target, again after every finding, and return the inputs that are defects."""
    corpus, found = work / "corpus", work / "findings"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in kept_inputs(target).items():
        (corpus / name).write_bytes(content)
    words = work / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    before = set(found.iterdir())
    totals = dict.fromkeys(_FIGURES, 0)
    end = time.monotonic() + seconds
    while (left := int(end - time.monotonic())) > 0:
        log = work / "log"
        command = [sys.executable, str(FOLDER / "fuzz_harness.py"), target.name]
        command += [f"-max_total_time={left}", f"-timeout={INPUT_TIMEOUT_S}"]
        command += [f"-rss_limit_mb={RAM_LIMIT_MB}", f"-max_len={target.max_bytes}"]
        command += [f"-dict={words}", f"-artifact_prefix={found}/", "-print_final_stats=1"]
        with log.open("wb") as file:
            status = subprocess.run(
                [*command, str(corpus)], stdout=file, stderr=file, timeout=left + 300, check=False
            ).returncode
        text = log.read_text(errors="replace")
        _add(totals, text)
        print(f"{target.name}: " + ", ".join(f"{v} {k}" for k, v in totals.items()), flush=True)
        if status:
            print(text[-2000:], flush=True)
        if status and set(found.iterdir()) == before:
            raise SystemExit(f"fuzz: {target.name} ended with {status} and no finding, see {log}")
    return sorted(set(found.iterdir()) - before)


def _add(totals: dict[str, int], text: str) -> None:
    """Add the executions of a run, and take the largest of the other figures."""
    for name, pattern in _FIGURES.items():
        value = max((int(number) for number in re.findall(pattern, text)), default=0)
        totals[name] = totals[name] + value if name == "executions" else max(totals[name], value)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
