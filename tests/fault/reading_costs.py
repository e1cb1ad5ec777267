"""Read files, each in a process of its own, and print what it cost as a line of JSON.

python tests/fault/reading_costs.py FILE [FILE:N_FEATURES ..]

With a number of features a file is one of samples, otherwise a model. The process that reads is
forked from one that has imported everything, so that memory is counted beyond the imports.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

from kmcompile import pipeline
from kmcompile.errors import KmcompileError
from kmcompile.readers.samples.file import read_samples

_ROOM_BYTES = 3_000_000_000
"""Of addresses, so that what goes wrong does not take the machine."""
_MOST_CPU_S = 600
_ADDED = 2_000_000
"""Numbers of a loop that takes a tenth of a second on an ordinary machine."""


def _status(field: str) -> int:
    """Return a size of this process in bytes, as Linux tells it in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def _outcome(path: Path, n_features: int | None) -> str:
    try:
        if n_features is None:
            pipeline.inspect_model(path)
        else:
            read_samples(path, n_features)
    except KmcompileError as error:
        return f"{error.exit_code}: {error}"
    except BaseException as error:
        return f"70: {type(error).__name__}: {error}"
    return "read"


def _additions_per_s() -> float:
    """Return how many additions in a loop of Python this machine does now."""
    start_s, total = time.process_time(), 0
    for number in range(_ADDED):
        total += number
    return _ADDED / (time.process_time() - start_s)


def _cost(path: Path, n_features: int | None) -> dict[str, object]:
    """Return memory, time and outcome of reading a file in this process.

    The time is in additions that the machine does in it, so that a busy machine says the same.
    """
    addresses = _status("VmSize") + _ROOM_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_S, _MOST_CPU_S))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    speed = _additions_per_s()
    start_bytes, start_s = _status("VmRSS"), time.process_time()
    outcome = _outcome(path, n_features)
    cpu_s = time.process_time() - start_s
    additions = cpu_s * min(speed, _additions_per_s())
    return {"bytes": _status("VmHWM") - start_bytes, "additions": additions, "outcome": outcome}


def main() -> None:
    """Fork a process a file; one that is killed has no outcome."""
    for argument in sys.argv[1:]:
        name, _, n_features = argument.partition(":")
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            cost = _cost(Path(name), int(n_features) if n_features else None)
            os.write(writer, json.dumps(cost).encode())
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as stream:
            print(stream.read().decode() or '{"outcome": "killed"}', flush=True)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
