"""Evidence about kmcompile itself and about the C of the catalogue: `make evidence`.

Its attacks are those of the tests, whose folders have modules without a package.
"""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(_TESTS / name) for name in ("breaking", "fuzz", "fault")]
