"""program.npz: a Program as arrays and one JSON text, without pickles."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kmcompile import steps
from kmcompile.errors import InputError
from kmcompile.ir.program import CodeScale, KnownAnswers, Program
from kmcompile.kernels import (
    chi2,
    fourier,
    intersection,
    laplacian,
    poly,
    rbf,
    reach,
    remainder,
    sigmoid,
)
from kmcompile.stages import CATALOGUE, CodedSum, CodeTable, InnerProducts
from kmcompile.stages.fine_sum import FineSum
from kmcompile.stages.probability import Probability

_CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Program,
        KnownAnswers,
        CodeScale,
        *CATALOGUE,
        InnerProducts,
        steps.Length,
        steps.Scale,
        steps.Bound,
        steps.Project,
        steps.Normalize,
        steps.Select,
        steps.Extend,
        steps.Quantize,
        steps.Integers,
        CodeTable,
        CodedSum,
        FineSum,
        Probability,
        rbf.RbfFloat32,
        poly.PolyFloat32,
        sigmoid.SigmoidFloat32,
        laplacian.LaplacianFloat32,
        chi2.Chi2Float32,
        intersection.IntersectionFloat32,
        fourier.FourierFloat32,
        reach.RbfReach,
        reach.PolyReach,
        remainder.PolyRemainder,
    )
}
_LARGEST_BYTES = 1 << 30


def save(program: Program) -> bytes:
    """Return the bytes of program.npz; the same program gives the same bytes."""
    arrays: dict[str, Any] = {}
    tree = {"version": Program.version, "program": _encode(program, "program", arrays)}
    text = json.dumps(tree, sort_keys=True).encode()
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue()


def load(content: bytes, name: str) -> Program:
    """Return the Program in the bytes of a program.npz.

    Raises
    ------
    InputError
        If it is damaged or of another release.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(item.file_size for item in archive.infolist()) > _LARGEST_BYTES:
                raise ValueError(f"it unpacks to more than {_LARGEST_BYTES} bytes")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        tree = json.loads(arrays.pop("tree").tobytes())
        if tree["version"] != Program.version:
            raise ValueError(f"version {tree['version']}, this release reads {Program.version}")
        program = _decode(tree["program"], arrays)
        if not isinstance(program, Program):
            raise ValueError("it holds no program")
    except Exception as error:  # damaged bytes make zipfile, its decompressors and numpy raise any
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{name}: damaged ({reason}); compile the model again") from error
    return program


def _encode(value: Any, path: str, arrays: dict[str, Any]) -> Any:
    if is_dataclass(value):
        inner = {
            field.name: _encode(getattr(value, field.name), f"{path}.{field.name}", arrays)
            for field in fields(value)
        }
        return {"class": type(value).__name__, "fields": inner}
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, np.float32 | np.float64):
        return {value.dtype.name: float(value).hex()}
    if isinstance(value, tuple):
        return [_encode(item, f"{path}.{number}", arrays) for number, item in enumerate(value)]
    return value


def _decode(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item, arrays) for item in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "float32" in value:
        return np.float32(float.fromhex(value["float32"]))
    if "float64" in value:
        return np.float64(float.fromhex(value["float64"]))
    cls = _CLASSES[value["class"]]
    return cls(**{name: _decode(item, arrays) for name, item in value["fields"].items()})
