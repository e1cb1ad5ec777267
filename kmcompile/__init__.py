"""kmcompile: compile trained kernel machines to verified C99 for microcontrollers.

>>> from sklearn.svm import SVC
>>> model = SVC(gamma=0.5).fit([[0.0], [1.0], [4.0]], ["low", "low", "high"])
>>> compiled = compile_model(model, name="level")
>>> compiled.predict([[0.5], [5.0]]).tolist()
['low', 'high']
"""

from __future__ import annotations

import os
from dataclasses import fields
from inspect import Parameter, Signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kmcompile.errors import KmcompileError
from kmcompile.request.options import Options
from kmcompile.version import VERSION

if TYPE_CHECKING:
    from kmcompile.compiled import Compiled
    from kmcompile.emit.exits.exit_view import ExitView
    from kmcompile.exits.certified.offers import CertifiedFit
    from kmcompile.exits.statistical.statistical_fit import StatisticalFit
    from kmcompile.kernels import Kernel
    from kmcompile.model.kernel_machine import KernelMachine
    from kmcompile.program.stages import EarlyExit
    from kmcompile.steps import Step

__all__ = [
    "Compiled",
    "KernelMachine",
    "KmcompileError",
    "__version__",
    "compile_model",
    "load",
    "precomputed_machine",
    "register_exit",
    "register_kernel",
    "register_step",
    "save_model",
]

__version__ = VERSION

_SAMPLES = ("data", "test_data")


def compile_model(model: str | os.PathLike[str] | object, **options: Any) -> Compiled:
    """Compile a trained model to C, verify it, and return it ready to be called.

    Parameters
    ----------
    model : path, fitted estimator or KernelMachine
        A model file of any supported format, a fitted estimator of a supported class or a
        Pipeline ending with one, or what `precomputed_machine` returns.
    **options
        The options of the command line with underscores: target, risk, max_flash, name, out, ...
        `data` and `test_data` are files or arrays of shape (n_samples, n_features),
        `input_tolerance` is a number, a file or an array of shape (n_features,). Without `out`
        an estimator's output folder is not written. `n_jobs` is joblib's number of jobs for
        calibration: by default 1, or what a surrounding `joblib.parallel_config` says.

    Returns
    -------
    Compiled

    Raises
    ------
    KmcompileError
        Its subclass says what is wrong: UsageError, InputError, BudgetError, ToolError,
        VerificationError or OutputError.
    """
    from kmcompile import pipeline
    from kmcompile.errors import UsageError
    from kmcompile.progress import Progress

    unknown = sorted(set(options) - set(Options.__dataclass_fields__))
    if unknown:
        raise UsageError(f"unknown options: {', '.join(unknown)}")
    _check_types(options)
    source = Path(model) if isinstance(model, str | os.PathLike) else model
    if options.get("out") is not None:
        options["out"] = Path(options["out"])
    with TemporaryDirectory(prefix="kmcompile-") as scratch, Progress(enabled=True) as progress:
        for name in _SAMPLES:
            if options.get(name) is not None:
                options[name] = _sample_file(name, options[name], Path(scratch))
        tolerance = options.get("input_tolerance")
        if not isinstance(tolerance, str | os.PathLike | None):
            options["input_tolerance"] = _tolerance(tolerance, Path(scratch))
        return pipeline.compile_model(source, Options(**options), progress)


def _signature() -> Signature:
    """Return the signature of `compile_model` with each option, for help and completion."""
    options = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default) for one in fields(Options)
    ]
    model = Parameter("model", Parameter.POSITIONAL_OR_KEYWORD)
    return Signature([model, *options], return_annotation="Compiled")


compile_model.__signature__ = _signature()  # type: ignore[attr-defined]


def _check_types(options: dict[str, Any]) -> None:
    """Refuse values of options that no command line could give, such as arrays."""
    from numbers import Number

    from kmcompile.errors import UsageError
    from kmcompile.request.options import NAMES

    single: tuple[type, ...] = (str, Number, os.PathLike)
    several = {**dict.fromkeys(NAMES, (str, list, tuple)), "before": (*single, list, tuple)}
    for option, value in options.items():
        allowed = {"name": (str,), **several}.get(option, single)
        is_array = option in (*_SAMPLES, "input_tolerance")
        parts = value if option == "before" and isinstance(value, list | tuple) else ()
        paths = all(isinstance(part, str | os.PathLike) for part in parts)
        if not (value is None or is_array or (isinstance(value, allowed) and paths)):
            raise UsageError(
                f"{option} is of type {type(value).__name__}, which it cannot have\n"
                "give it as the command line does, as a text or a number"
            )


def _sample_file(name: str, samples: Any, scratch: Path) -> Path:
    """Return the path that was given, or that of a file with the array that was given."""
    if isinstance(samples, str | os.PathLike):
        return Path(samples)
    import numpy as np

    from kmcompile.errors import InputError

    try:
        array = np.asarray(samples, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} is no array of numbers: {error}; give an array or a file"
        ) from error
    path = scratch / f"{name}.npy"
    np.save(path, array, allow_pickle=False)
    return path


def _tolerance(given: Any, scratch: Path) -> float | Path:
    """Return the number that was given, or the path of a file with the array that was given."""
    import numpy as np

    from kmcompile.errors import UsageError

    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array([np.nan])
    if array.ndim == 0:
        return float(array)
    row = np.atleast_2d(array)
    if row.ndim > 2 or len(row) != 1 or not row.size or not np.all((row >= 0) & (row < np.inf)):
        raise UsageError(
            "input_tolerance: must be a number of at least 0, or an array with one for each feature"
        )
    path = scratch / "input_tolerance.npy"
    np.save(path, row, allow_pickle=False)
    return path


def load(folder: str | os.PathLike[str]) -> Compiled:
    """Return the compiled model in an output folder, ready to be called on the host."""
    from kmcompile import pipeline

    return pipeline.load(Path(folder))


def save_model(path: str | os.PathLike[str], model: str | os.PathLike[str] | object) -> None:
    """Write a model in kmcompile's own `.npz` layout: one array a name, no pickles.

    What it is and how to write one by hand is in `kmcompile.readers.npz.layout`. Reading the file
    gives the same machine, to the last bit.

    Parameters
    ----------
    path : path
        The file to write; one that is there is replaced.
    model : path, fitted estimator or KernelMachine
        Whatever `compile_model` takes.

    Raises
    ------
    InputError
        The model cannot be read, has classes of different types, or a kernel or a step that is
        defined outside the package.
    OutputError
        The file cannot be written.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> import numpy as np
    >>> model = SVC(gamma=0.5).fit([[0.0], [1.0], [4.0]], ["low", "low", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(Path(folder, "level.npz"), model)
    ...     np.load(Path(folder, "level.npz"))["classes"].tolist()
    ['high', 'low']
    """
    from kmcompile.readers import load_model
    from kmcompile.readers.npz.writer import write_npz_model

    write_npz_model(Path(path), load_model(model))


def precomputed_machine(
    model: object,
    support_vectors: Any,
    kernel: str,
    gamma: float | None = None,
    coef0: float | None = None,
    degree: int | None = None,
    alpha: float | None = None,
) -> KernelMachine:
    """Return the machine of an estimator that was trained with kernel="precomputed".

    The estimator has the coefficients, but neither the vectors nor the kernel.

    Parameters
    ----------
    model : fitted estimator
        An SVC, NuSVC, OneClassSVM, SVR or NuSVR with kernel="precomputed", also behind a
        KernelCenterer in a Pipeline, but for the OneClassSVM.
    support_vectors : array of shape (n_sv, n_features)
        The training samples that became support vectors: `X_train[model.support_]`.
    kernel : str
        The kernel that the matrix was computed with: linear, poly, rbf, sigmoid, laplacian, chi2,
        additive_chi2, cosine, intersection, normalized_poly, matern (gamma = sqrt(2 nu) /
        length_scale, degree = nu - 1/2), rational_quadratic (gamma = 1 / (2 alpha length_scale^2)).
    gamma, coef0, degree, alpha : number, optional
        Of the kernel, where it has them; by default those of `sklearn.metrics.pairwise`.

    Returns
    -------
    KernelMachine
        For `compile_model`, or `save_model`.

    Raises
    ------
    InputError
        The estimator has another kernel or is not fitted, or the vectors do not fit it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import laplacian_kernel
    >>> from sklearn.svm import SVC
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> matrix = laplacian_kernel(X, gamma=0.5)
    >>> model = SVC(kernel="precomputed").fit(matrix, ["low", "low", "high"])
    >>> precomputed_machine(model, X[model.support_], "laplacian", gamma=0.5).kernel
    Laplacian(gamma=0.5)
    """
    from kmcompile.readers.sklearn.precomputed import read_precomputed

    return read_precomputed(model, support_vectors, kernel, gamma, coef0, degree, alpha)


def register_exit(
    stage: type[EarlyExit],
    fit: StatisticalFit[Any] | CertifiedFit,
    templates: str | os.PathLike[str],
    view: type[ExitView] | None = None,
) -> None:
    """Make an early exit that is defined elsewhere one that programs may have.

    Parameters
    ----------
    stage : type of kmcompile.program.stages.EarlyExit
        What it means, what it costs, and the answers to what is asked of every exit.
    fit : StatisticalFit or CertifiedFit
        What fits its stages: `kmcompile.exits.statistical.statistical_fit.StatisticalFit`, or
        `kmcompile.exits.certified.offers.CertifiedFit` if the exit is certified.
    templates : path
        A folder with the C: `stages/NAME.c.j2`, NAME being `stage.template`.
    view : type of kmcompile.emit.exits.exit_view.ExitView, optional
        What writes the stage where that is more than one template.

    Raises
    ------
    ValueError
        If methods are missing, the name is another stage's, the template is not there, or the fit
        is for exits of another kind.
    """
    from kmcompile import registering

    registering.register_exit(stage, fit, Path(templates), view)


def register_kernel(kernel: type[Kernel], templates: str | os.PathLike[str]) -> None:
    """Make a kernel that is defined elsewhere one that machines may have.

    Parameters
    ----------
    kernel : type of kmcompile.kernels.Kernel
        What it means in float64, and by `lower` what the C computes, with its error.
    templates : path
        A folder with the C: `kernels/NAME.c.j2`, NAME being `kernel.name`.

    Raises
    ------
    ValueError
        If methods are missing, the name is another's, or the template is not there.
    """
    from kmcompile import kernels

    kernels.register(kernel, Path(templates))


def register_step(step: type[Step], templates: str | os.PathLike[str]) -> None:
    """Make a step of the preprocessing that is defined elsewhere one that machines may have.

    Parameters
    ----------
    step : type of kmcompile.steps.Step
        What it means in float64, and by `lower` what the C computes, with its error.
    templates : path
        A folder with the C: `steps/NAME.c.j2`, NAME being `step.image.name`.

    Raises
    ------
    ValueError
        If methods are missing, the name is another's, or the template is not there.
    """
    from kmcompile import steps

    steps.register(step, Path(templates))


def __getattr__(name: str) -> Any:
    """Import what needs numpy only when it is asked for: the command line starts faster."""
    if name == "Compiled":
        from kmcompile.compiled import Compiled

        return Compiled
    if name == "KernelMachine":
        from kmcompile.model.kernel_machine import KernelMachine

        return KernelMachine
    raise AttributeError(f"module 'kmcompile' has no attribute {name!r}")
