"""The plain float32 loop: what everybody writes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from peer import VOTES, Place, Written, answer, floats, integers

ANSWER = """
uint32_t peer_classify(const float x[N_FEATURES])
{
    float kernel[N_VECTORS];
    uint32_t votes[N_CLASSES] = { 0U };
    uint32_t pair = 0U;

    for (uint32_t i = 0U; i < N_VECTORS; i++) {
        float distance = 0.0f;

        for (uint32_t j = 0U; j < N_FEATURES; j++) {
            const float difference = x[j] - vectors[i][j];

            distance += difference * difference;
        }
        kernel[i] = expf(-GAMMA * distance);
    }
    for (uint32_t a = 0U; a < N_CLASSES; a++) {
        for (uint32_t b = a + 1U; b < N_CLASSES; b++) {
            float sum = intercepts[pair];

            for (int i = starts[a]; i < starts[a + 1U]; i++) {
                sum += coefficients[b - 1U][i] * kernel[i];
            }
            for (int i = starts[b]; i < starts[b + 1U]; i++) {
                sum += coefficients[a][i] * kernel[i];
            }
            votes[(sum > 0.0f) ? a : b]++;
            pair++;
        }
    }
    return most_votes(votes);
}
"""


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write the loop with its tables."""
    text = (
        "#include <math.h>\n"
        f"#define N_VECTORS {len(svc.support_vectors_)}U\n#define GAMMA {float(svc._gamma)!r}f\n"
        + floats("vectors[][N_FEATURES]", svc.support_vectors_)
        + floats("coefficients[][N_VECTORS]", svc._dual_coef_)
        + floats("intercepts[]", svc._intercept_)
        + integers("starts[]", np.concatenate([[0], np.cumsum(svc.n_support_)]))
    )
    return Written((answer(folder, text + VOTES + ANSWER),))
