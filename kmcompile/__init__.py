"""kmcompile: compile trained kernel machines to verified C99 for microcontrollers.

>>> from sklearn.svm import SVC
>>> model = SVC(gamma=0.5).fit([[0.0], [1.0], [4.0]], ["low", "low", "high"])
>>> compiled = compile_model(model, name="level")
>>> compiled.predict([[0.5], [5.0]]).tolist()
['low', 'high']
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kmcompile.errors import KmcompileError
from kmcompile.version import VERSION

if TYPE_CHECKING:
    from kmcompile.compiled import Compiled
    from kmcompile.ir.kernel_machine import KernelMachine

__all__ = ["Compiled", "KernelMachine", "KmcompileError", "__version__", "compile_model", "load"]

__version__ = VERSION

_SAMPLES = ("data", "test_data")


def compile_model(model: str | os.PathLike[str] | object, **options: Any) -> Compiled:
    """Compile a trained model to C, verify it, and return it ready to be called.

    Parameters
    ----------
    model : path or fitted estimator
        A pickle or joblib file, or a fitted SVC, NuSVC, LinearSVC or Pipeline ending with one.
    **options
        The options of the command line with underscores: target, risk, max_flash, name, out, ...
        `data` and `test_data` are files or arrays of shape (n_samples, n_features). Without `out`
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
    from kmcompile.options import Options
    from kmcompile.progress import Progress

    unknown = sorted(set(options) - set(Options.__dataclass_fields__))
    if unknown:
        raise UsageError(f"unknown options: {', '.join(unknown)}")
    source = Path(model) if isinstance(model, str | os.PathLike) else model
    if options.get("out") is not None:
        options["out"] = Path(options["out"])
    with TemporaryDirectory(prefix="kmcompile-") as scratch, Progress(enabled=True) as progress:
        for name in _SAMPLES:
            if options.get(name) is not None:
                options[name] = _sample_file(name, options[name], Path(scratch))
        return pipeline.compile_model(source, Options(**options), progress)


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


def load(folder: str | os.PathLike[str]) -> Compiled:
    """Return the compiled model in an output folder, ready to be called on the host."""
    from kmcompile import pipeline

    return pipeline.load(Path(folder))


def __getattr__(name: str) -> Any:
    """Import what needs numpy only when it is asked for: the command line starts faster."""
    if name == "Compiled":
        from kmcompile.compiled import Compiled

        return Compiled
    if name == "KernelMachine":
        from kmcompile.ir.kernel_machine import KernelMachine

        return KernelMachine
    raise AttributeError(f"module 'kmcompile' has no attribute {name!r}")
