"""Load a model file that the user trusts: joblib.load, which may run any code."""

from __future__ import annotations

import warnings
from pathlib import Path

import joblib

from kmcompile.errors import InputError
from kmcompile.readers.model_file import require_regular_file


def load_trusted(path: Path) -> tuple[object, tuple[str, ...]]:
    """Unpickle the file, and return the object with the warnings as notes.

    Raises
    ------
    UsageError
        The path leads to no readable file.
    InputError
        Unpickling failed; the cause is named.
    """
    require_regular_file(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = joblib.load(path)
        except Exception as error:  # whatever the file's own code raises
            reason = ascii(f"{type(error).__name__}: {error}")[1:-1][:200]
            raise InputError(
                f"{path.name}: cannot be unpickled ({reason});\n"
                "install the packages it was saved with, or save it again"
            ) from None
    notes = (" ".join(ascii(str(warning.message))[1:-1].split())[:300] for warning in caught)
    return model, tuple(dict.fromkeys(notes))
