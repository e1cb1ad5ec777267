"""CMSIS-DSP's `arm_svm_rbf_predict_f32`, in its portable C: two classes an instance.

Of many classes there is an instance a pair, with the vectors of its two classes, and the user
counts the votes.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from peer import VOTES, NotGeneratedError, Place, Written, answer, floats

HEAD = '#include "dsp/svm_functions.h"\n'
PAIRS = """
uint32_t peer_classify(const float x[N_FEATURES])
{
    uint32_t votes[N_CLASSES] = { 0U };

    for (uint32_t pair = 0U; pair < N_CLASSES * (N_CLASSES - 1U) / 2U; pair++) {
        int32_t winner;

        arm_svm_rbf_predict_f32(&instances[pair], x, &winner);
        votes[winner]++;
    }
    return most_votes(votes);
}
"""


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write an instance a pair."""
    sources = place.sources / "cmsisdsp"
    if not sources.is_dir():
        raise NotGeneratedError("its sources are not here: setup.sh says why")
    starts = np.concatenate([[0], np.cumsum(svc.n_support_)])
    coefficients, intercepts = svc._dual_coef_, svc._intercept_
    tables, instances = [], []
    for pair, (a, b) in enumerate(combinations(range(len(svc.classes_)), 2)):
        of_a, of_b = (slice(starts[c], starts[c + 1]) for c in (a, b))
        weights = np.concatenate([coefficients[b - 1, of_a], coefficients[a, of_b]])
        vectors = np.concatenate([svc.support_vectors_[of_a], svc.support_vectors_[of_b]])
        kept = weights != 0
        tables.append(floats(f"weights_{pair}[]", weights[kept]))
        tables.append(floats(f"vectors_{pair}[]", vectors[kept].ravel()))
        tables.append(f"static const int32_t classes_{pair}[2] = {{ {b}, {a} }};\n")
        instances.append(
            f"{{ {kept.sum()}, N_FEATURES, {float(intercepts[pair])!r}f, weights_{pair}, "
            f"vectors_{pair}, classes_{pair}, {float(svc._gamma)!r}f }}"
        )
    listed = ",\n".join(instances)
    tables.append(f"static const arm_svm_rbf_instance_f32 instances[] = {{ {listed} }};\n")
    text = HEAD + "".join(tables) + VOTES + PAIRS
    return Written(
        (answer(folder, text), sources / "Source" / "SVMFunctions" / "arm_svm_rbf_predict_f32.c"),
        # Without this the headers want CMSIS-Core, which is not in the package.
        ("-D__GNUC_PYTHON__", f"-I{sources / 'Include'}", f"-I{sources / 'PrivateInclude'}"),
    )
