"""The choice of the reader of a model file by its content, never by its extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.foreign import refuse_foreign
from kmcompile.readers.liblinear.model import START as LIBLINEAR_START
from kmcompile.readers.liblinear.model import read_liblinear
from kmcompile.readers.libsvm.header import KEYS
from kmcompile.readers.libsvm.model import read_libsvm
from kmcompile.readers.npz.layout import FIRST_MEMBER
from kmcompile.readers.npz.model import read_npz_model
from kmcompile.readers.onnx.model import START, read_onnx
from kmcompile.readers.opencv.model import read_opencv_json, read_opencv_xml, read_opencv_yaml
from kmcompile.readers.opencv.xml_text import is_xml
from kmcompile.readers.opencv.yaml_text import YAML_START, is_json
from kmcompile.readers.pickles.reader import read_pickle
from kmcompile.readers.sklearn.container import read_objects
from kmcompile.readers.skops.reader import SCHEMA, read_skops
from kmcompile.readers.svmlight.model import START as SVMLIGHT_START
from kmcompile.readers.svmlight.model import read_svmlight
from kmcompile.readers.zip_members import member_names


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: how its content is recognised, and its reader.

    Parameters
    ----------
    name : str
    matches : callable
        Takes the content, returns whether it is of this format, and never raises.
    read : callable
        Takes the content, returns a KernelMachine or what `read_objects` reads, or raises
        InputError. `load_model` adds the file's name to the error.
    """

    name: str
    matches: Callable[[bytes], bool]
    read: Callable[[bytes], Any]


def read_model(content: bytes, entry: Sequence[str] = ()) -> KernelMachine:
    """Return the machine in the content of a model file, by the first format that matches.

    Raises
    ------
    InputError
        The format is not supported, or the model is unsupported, unsafe or damaged.
    """
    found = read_object(content)
    if not isinstance(found, KernelMachine):
        return read_objects(found, entry)
    if entry:
        raise InputError("the file holds one model, so it has no entries; leave out --entry")
    return found


def read_object(content: bytes) -> Any:
    """Return the machine in the content of a file, or the objects of a pickle or skops file.

    Raises
    ------
    InputError
        The format is not supported, or the model is unsupported, unsafe or damaged.
    """
    refuse_foreign(content)
    return next(format for format in FORMATS if format.matches(content)).read(content)


def _starts_with(*magics: bytes) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(magics)


def _zip_with(member: str) -> Callable[[bytes], bool]:
    """Return the test for a zip archive that has a file of this name."""
    return lambda content: content.startswith(_ZIP) and member in member_names(content)


def _refuse_zip(content: bytes) -> KernelMachine:
    raise InputError(
        f"the file is a zip archive, damaged or without a model (no {FIRST_MEMBER} or {SCHEMA}); "
        "save the model again, with kmcompile.save_model or joblib.dump"
    )


_ZIP = b"PK"

FORMATS: tuple[Format, ...] = (
    Format("LIBSVM", _starts_with(*KEYS), read_libsvm),
    Format("LIBLINEAR", _starts_with(LIBLINEAR_START), read_liblinear),
    Format("SVM-light", _starts_with(SVMLIGHT_START), read_svmlight),
    Format("OpenCV XML", is_xml, read_opencv_xml),
    Format("OpenCV YAML", _starts_with(*YAML_START), read_opencv_yaml),
    Format("OpenCV JSON", is_json, read_opencv_json),
    Format("npz", _zip_with(FIRST_MEMBER), read_npz_model),
    Format("skops", _zip_with(SCHEMA), read_skops),
    Format("zip", _starts_with(_ZIP), _refuse_zip),
    Format("ONNX", _starts_with(START), read_onnx),
    Format("pickle", _starts_with(b""), read_pickle),
)
"""The formats in the order of their tests. The last one, pickle, matches any content, because a
pickle may start with almost any byte; its reader refuses other content."""
