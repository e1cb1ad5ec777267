"""EmbML in float: a global array for the input, pointers to be set up before the first call."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from peer import Place, Written, answer

ANSWER = """
#include <math.h>
#include <stddef.h>
#include "generated.c"

uint32_t peer_classify(const float x[N_FEATURES])
{
    static int is_ready;
    uint32_t label = 0U;

    if (!is_ready) {
        initConnections();
        is_ready = 1;
    }
    for (uint32_t j = 0U; j < N_FEATURES; j++) {
        instance[j] = x[j];
    }
    const int class_number = classify();
    while (classes[label] != class_number) {
        label++;
    }
    return label;
}
"""


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write EmbML's C."""
    from embml import embml

    (folder / "model.pkl").write_bytes(pickle.dumps(svc))
    embml.sklearnModel(str(folder / "model.pkl"), str(folder / "generated.c"), "-c")
    return Written((answer(folder, ANSWER),))
