"""m2cgen: an expression in double for each vector; the user counts the votes of the pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer import VOTES, Place, Written, answer

TWO = """
double score(double *input);

uint32_t peer_classify(const float x[N_FEATURES])
{
    double input[N_FEATURES];

    for (uint32_t j = 0U; j < N_FEATURES; j++) {
        input[j] = x[j];
    }
    return (score(input) > 0.0) ? 1U : 0U;
}
"""
MANY = """
void score(double *input, double *output);

uint32_t peer_classify(const float x[N_FEATURES])
{
    double input[N_FEATURES];
    double output[N_CLASSES * (N_CLASSES - 1U) / 2U];
    uint32_t votes[N_CLASSES] = { 0U };
    uint32_t pair = 0U;

    for (uint32_t j = 0U; j < N_FEATURES; j++) {
        input[j] = x[j];
    }
    score(input, output);
    for (uint32_t a = 0U; a < N_CLASSES; a++) {
        for (uint32_t b = a + 1U; b < N_CLASSES; b++) {
            votes[(output[pair] > 0.0) ? a : b]++;
            pair++;
        }
    }
    return most_votes(votes);
}
"""


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write m2cgen's C, and the votes."""
    import m2cgen

    (folder / "generated.c").write_text(m2cgen.export_to_c(svc))
    text = TWO if len(svc.classes_) == 2 else VOTES + MANY
    return Written((folder / "generated.c", answer(folder, text)))
