"""LIBSVM's own `svm_predict`, in double, with sparse vectors in constant tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from peer import NotGeneratedError, Place, Written, answer, doubles, integers

ANSWER = """
static svm_model machine;
static svm_node *pointers[N_VECTORS];
static double *rows[N_CLASSES - 1U];

extern "C" uint32_t peer_classify(const float x[N_FEATURES])
{
    static svm_node query[N_FEATURES + 1U];
    uint32_t n = 0U;

    if (machine.l == 0) {
        for (uint32_t i = 0U; i < N_VECTORS; i++) {
            pointers[i] = const_cast<svm_node *>(&nodes[starts[i]]);
        }
        for (uint32_t a = 0U; a < N_CLASSES - 1U; a++) {
            rows[a] = const_cast<double *>(coefficients[a]);
        }
        machine.param.svm_type = C_SVC;
        machine.param.kernel_type = RBF;
        machine.param.gamma = GAMMA;
        machine.nr_class = N_CLASSES;
        machine.l = N_VECTORS;
        machine.SV = pointers;
        machine.sv_coef = rows;
        machine.rho = const_cast<double *>(rho);
        machine.label = const_cast<int *>(label);
        machine.nSV = const_cast<int *>(n_support);
    }
    for (uint32_t j = 0U; j < N_FEATURES; j++) {
        if (x[j] != 0.0f) {
            query[n].index = (int)j + 1;
            query[n].value = x[j];
            n++;
        }
    }
    query[n].index = -1;
    return (uint32_t)svm_predict(&machine, query);
}
"""


def write(svc: Any, folder: Path, place: Place) -> Written:
    """Write the model as LIBSVM has it in memory."""
    sources = place.sources / "libsvm-official" / "cpp-source"
    if not sources.is_dir():
        raise NotGeneratedError("its sources are not here: setup.sh says why")
    nodes, starts = [], []
    for vector in svc.support_vectors_:
        starts.append(len(nodes))
        nodes += [f"{{{j + 1}, {float(vector[j])!r}}}" for j in np.flatnonzero(vector)]
        nodes.append("{-1, 0.0}")
    classes = len(svc.classes_)
    text = (
        f'#include "svm.h"\n#define N_VECTORS {len(starts)}U\n#define GAMMA {float(svc._gamma)!r}\n'
        f"static const svm_node nodes[] = {{{', '.join(nodes)}}};\n"
        + integers("starts[]", np.array(starts))
        + doubles("coefficients[][N_VECTORS]", svc._dual_coef_)
        + doubles("rho[]", -svc._intercept_)
        + integers("label[]", np.arange(classes))
        + integers("n_support[]", svc.n_support_)
    )
    return Written(
        (answer(folder, text + ANSWER, "cpp"), sources / "svm.cpp"),
        ("-fno-exceptions", "-fno-rtti", f"-I{sources}"),
    )
