"""The names that a pickle may use, each with an inert stand-in for the class or function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.pickles import joblib_arrays, numpy_values
from kmcompile.readers.pickles.numpy_values import damaged
from kmcompile.readers.record import Function, Record, short_ascii
from kmcompile.readers.sklearn.classes import is_supported, refusal
from kmcompile.readers.sklearn.kernel_functions import is_kernel_function


@dataclass(frozen=True, slots=True, eq=False)
class InertClass:
    """A stand-in for a class: calling it makes a Record and runs no code of the class."""

    module: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Constructor:
    """A function of kmcompile that stands in for a function named in the file."""

    build: Callable[[tuple[Any, ...]], Any]


def _encode(arguments: tuple[Any, ...]) -> bytes:
    """Stand in for _codecs.encode, by which protocols 0 to 2 write bytes."""
    match arguments:
        case (str() as text, str() as encoding) if encoding == "latin1":
            current_budget().spend(len(text), "bytes that are given as text")
            try:
                return text.encode("latin1")
            except UnicodeEncodeError:
                pass
    raise damaged("bytes are malformed")


def _empty_bytes(arguments: tuple[Any, ...]) -> bytes:
    """Stand in for bytes(), by which protocols 0 to 2 write empty bytes."""
    if arguments:
        raise damaged("bytes are malformed")
    return b""


def _slice(arguments: tuple[Any, ...]) -> slice:
    """Stand in for slice, by which a ColumnTransformer names neighbouring columns."""
    ends = all(end is None or isinstance(end, int | str) for end in arguments)
    if len(arguments) != 3 or not ends:
        raise damaged("a slice is malformed")
    return slice(*arguments)


def _new_record(arguments: tuple[Any, ...]) -> Record:
    """Stand in for copyreg._reconstructor, by which protocols 0 and 1 make objects."""
    match arguments:
        case (InertClass() as kind, InertClass(name="object"), None):
            return Record(kind.module, kind.name, {})
    raise damaged("an object is malformed")


_CONSTRUCTORS = {
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): _empty_bytes,
    ("builtins", "bytes"): _empty_bytes,
    ("__builtin__", "slice"): _slice,
    ("builtins", "slice"): _slice,
    ("copy_reg", "_reconstructor"): _new_record,
    ("copyreg", "_reconstructor"): _new_record,
    ("numpy", "dtype"): numpy_values.make_dtype,
    # numpy 1 has them in numpy.core, numpy 2 in numpy._core.
    ("numpy.core.multiarray", "_reconstruct"): numpy_values.make_empty_array,
    ("numpy._core.multiarray", "_reconstruct"): numpy_values.make_empty_array,
    ("numpy.core.multiarray", "scalar"): numpy_values.make_scalar,
    ("numpy._core.multiarray", "scalar"): numpy_values.make_scalar,
    ("numpy.core.numeric", "_frombuffer"): numpy_values.make_array_from_buffer,
    ("numpy._core.numeric", "_frombuffer"): numpy_values.make_array_from_buffer,
}

_INERT = {
    ("__builtin__", "object"),
    ("builtins", "object"),
    ("functools", "partial"),  # of a kernel function; the function inside is named, too
    ("numpy", "ndarray"),
    ("numpy", "memmap"),
    ("numpy", "number"),  # the type of columns that a ColumnTransformer was to take
    *((module, joblib_arrays.NAME) for module in joblib_arrays.MODULES),
    ("scipy.sparse._csr", "csr_matrix"),
    ("scipy.sparse._csr", "csr_array"),
    ("scipy.sparse.csr", "csr_matrix"),
    ("numpy.ma", "MaskedArray"),  # in cv_results_
    ("numpy.ma.core", "MaskedArray"),
    ("numpy.ma.core", "_mareconstruct"),
    *(
        (f"sklearn.preprocessing.{module}", name)
        for module in ("_label", "label")  # since release 0.22, and before
        for name in ("LabelBinarizer", "LabelEncoder")
    ),
    ("sklearn.multiclass", "_ConstantPredictor"),
    ("sklearn.calibration", "_CalibratedClassifier"),
    ("sklearn.calibration", "_SigmoidCalibration"),
    ("sklearn.calibration", "_TemperatureScaling"),  # refused with its reason
    ("sklearn.isotonic", "IsotonicRegression"),
    ("kmcompile.training.model_selection", "Choice"),
    ("kmcompile.training.model_selection", "Grid"),
    # In 1.5; later ones have it among the scores.
    ("sklearn.model_selection._classification_threshold", "_CurveScorer"),
}

_INERT_MODULES = (
    "numpy.random.",  # a random_state
    "sklearn.utils.",  # metadata requests
    "sklearn.metrics._",  # the scores of a search
    "sklearn.model_selection._split",  # its folds
    "scipy.stats._",  # and its distributions
    "sklearn.linear_model._sgd_fast",  # the loss of SGD
    "sklearn._loss",
    "sklearn.gaussian_process.kernels",  # read as data by gaussian_process_kernel
)
"""Modules of objects that fitted estimators keep and that rarely affect answers."""


def resolve(module: str, name: str) -> InertClass | Constructor | Function:
    """Return the stand-in for a name of the file.

    Raises
    ------
    InputError
        No supported estimator needs the name. No code of the file has run.
    """
    build = _CONSTRUCTORS.get((module, name))
    if build is not None:
        return Constructor(build)
    found = stand_in(module, name)
    if found is None:
        raise InputError(
            f"{forbidden(module, name)}\nsave a plain scikit-learn estimator, or pass "
            "--trust-pickle if you trust who made the file"
        )
    return found


def stand_in(module: str, name: str) -> InertClass | Function | None:
    """Return the stand-in for a class or a function; None if no model needs it.

    Raises
    ------
    InputError
        The class is scikit-learn's and not supported.
    """
    if is_kernel_function(module, name):
        return Function(module, name)
    inert = module.startswith(_INERT_MODULES) or (module, name) in _INERT
    if inert or is_supported(module, name):
        return InertClass(module, name)
    if module.startswith("sklearn."):
        raise InputError(refusal(module, name))
    return None


def forbidden(module: str, name: str) -> str:
    """Return the first line of an error for a name without a `stand_in`."""
    return (
        f"the file names {short_ascii(f'{module}.{name}')}, which is forbidden: loading it could "
        "run code, nothing was run;"
    )
