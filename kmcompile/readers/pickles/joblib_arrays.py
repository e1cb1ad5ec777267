"""joblib's arrays: their bytes follow the pickled wrapper, inside the pickle stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcompile.readers.pickles.numpy_values import Dtype, array_bytes, array_from_bytes, damaged
from kmcompile.readers.pickles.stream import PickleStream
from kmcompile.readers.record import Record

MODULES = ("joblib.numpy_pickle", "sklearn.externals.joblib.numpy_pickle")
"""joblib's own module, and the copy in scikit-learn before 0.23."""
NAME = "NumpyArrayWrapper"


def is_wrapper(record: Record) -> bool:
    """Whether the record stands for an array whose bytes come next."""
    return record.module in MODULES and record.name == NAME


def holds_objects(wrapper: Record) -> bool:
    """Whether a pickle of its own follows, as for arrays of objects."""
    return _dtype(wrapper).value.hasobject


def read_array(wrapper: Record, stream: PickleStream) -> np.ndarray[Any, Any]:
    """Read the array that follows; the stream stops behind it.

    As joblib.numpy_pickle.NumpyArrayWrapper.read_array: since joblib 1.2 one byte gives
    the length of a padding before the data.
    """
    dtype, shape = _dtype(wrapper), wrapper.attributes.get("shape")
    if wrapper.attributes.get("numpy_array_alignment_bytes") is not None:
        padding = stream.read(1)
        stream.read(padding[0] if padding else 0)
    wanted_bytes = array_bytes(dtype, shape)
    there_bytes = stream.left_bytes
    if wanted_bytes > there_bytes:
        raise damaged(f"an array of {wanted_bytes} bytes has {there_bytes}")
    raw = stream.read(wanted_bytes)
    order = wrapper.attributes.get("order")
    return array_from_bytes(raw, dtype, tuple(shape or ()), order)


def _dtype(wrapper: Record) -> Dtype:
    dtype = wrapper.attributes.get("dtype")
    if not isinstance(dtype, Dtype):
        raise damaged("a joblib array has no dtype")
    return dtype
