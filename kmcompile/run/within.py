"""Calls of the C that limit the kernel evaluations, on the host through cffi."""

from __future__ import annotations

from dataclasses import dataclass

import cffi
import numpy as np
from numpy.typing import NDArray

from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError
from kmcompile.numeric.arrays import Float32Array

_LABEL = """
typedef struct {{
    int32_t label; float lower; float upper; uint32_t kernel_evals;
    uint16_t stage; _Bool certified; _Bool in_range;
}} answer_t;
int {name}_classify_within{suffix}(void *, const {x_type} *, uint32_t, answer_t *);
"""
_VALUE = """
typedef struct {{
    float value; float lower; float upper; uint32_t kernel_evals; uint16_t stage; _Bool in_range;
}} answer_t;
int {name}_predict_within{suffix}(void *, const {x_type} *, uint32_t, answer_t *);
"""


@dataclass(frozen=True, slots=True)
class Call:
    """The function that limits the kernel evaluations.

    Parameters
    ----------
    gives_label : bool
        Whether it is `classify_within` instead of `predict_within`.
    x_type : str
        The C type of a feature.
    suffix : str
        Suffix of its name: "" or "_float".
    workspace_bytes : int
    """

    gives_label: bool
    x_type: str
    suffix: str
    workspace_bytes: int


def answers_within(
    artifact: Artifact,
    call: Call,
    rows: Float32Array | NDArray[np.int64],
    most: int,
    results: NDArray[np.void],
) -> None:
    """Write into `results` what the C answers to each row with few kernel evaluations.

    Parameters
    ----------
    artifact : Artifact
        A library of the host, of one model.
    call : Call
    rows : ndarray of shape (n_samples, n_features)
    most : int
        The most full kernel evaluations of a row.
    results : structured ndarray of shape (n_samples,)
        All 0. Its fields are the status and those of the C's answer.
    """
    (model,) = artifact.models
    name, types = model.recipe.name, {"suffix": call.suffix, "x_type": call.x_type}
    ffi = cffi.FFI()
    ffi.cdef((_LABEL if call.gives_label else _VALUE).format(name=name, **types))
    try:
        library = ffi.dlopen(str(artifact.path))
    except OSError as error:
        raise ToolError(f"{artifact.path.name}: cannot be loaded: {error}") from error
    try:
        verb = "classify" if call.gives_label else "predict"
        function = getattr(library, f"{name}_{verb}_within{call.suffix}")
        workspace = ffi.new("uint64_t[]", call.workspace_bytes // 8 + 1)
        answer = ffi.new("answer_t *")
        for row, x in enumerate(rows):
            features = ffi.new(f"{call.x_type}[]", x.tolist())
            results["status"][row] = function(workspace, features, most, answer)
            if results["status"][row] == 0:
                for field in (results.dtype.names or ())[1:]:
                    results[field][row] = getattr(answer, field)
    finally:
        ffi.dlclose(library)
