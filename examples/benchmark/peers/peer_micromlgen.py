"""micromlgen: a C++ class that passes each vector as variable arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer import Place, Written, answer

# The board's compiler comes without a C++ library; of it only this header is needed.
CSTDARG = "#include <stdarg.h>\n"
ANSWER = """
#include <math.h>
#include "generated.h"

static Eloquent::ML::Port::SVM machine;

extern "C" uint32_t peer_classify(const float x[N_FEATURES])
{
    return (uint32_t)machine.predict(const_cast<float *>(x));
}
"""


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write micromlgen's class."""
    import micromlgen

    (folder / "generated.h").write_text(micromlgen.port(svc))
    if place.target != "host":
        (folder / "cstdarg").write_text(CSTDARG)
    return Written((answer(folder, ANSWER, "cpp"),), ("-fno-exceptions", "-fno-rtti"))
