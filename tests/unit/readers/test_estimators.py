"""The tables of estimators and their readers."""

from __future__ import annotations

from kmcompile.readers.sklearn.classes import (
    ESTIMATORS,
    FEATURE_MAPS,
    OWN_ESTIMATORS,
    TRANSFORMERS,
)
from kmcompile.readers.sklearn.estimators import READERS
from kmcompile.readers.sklearn.feature_maps import MAP_READERS
from kmcompile.readers.sklearn.meta_estimators import META_READERS
from kmcompile.readers.sklearn.pipeline import CONTAINER_READERS
from kmcompile.readers.sklearn.transformers import READERS as TRANSFORMER_READERS


def test_every_supported_class_has_its_reader():
    assert {*READERS, *META_READERS} == {*ESTIMATORS, *OWN_ESTIMATORS}
    assert set(MAP_READERS) == set(FEATURE_MAPS)
    assert {*TRANSFORMER_READERS, *CONTAINER_READERS} == set(TRANSFORMERS)
