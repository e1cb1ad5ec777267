"""Samples in text: CSV and svmlight."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import FLOAT_BYTES, ITEM_BYTES, current_budget

MAX_VALUES = 500_000_000
_FIELD_BYTES = ITEM_BYTES // 2
"""Cost of a field of a CSV: its text, its Python number and its float64."""
_SEPARATORS = (",", ";", "\t")
_PAIR = re.compile(r"\s\d+:")


def read_text(
    file: BinaryIO, name: str, n_features: int
) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Return samples and labels of a CSV or svmlight file, whose format its first lines show.

    Raises
    ------
    InputError
        If a line cannot be used; names the line and the column.
    """
    # Only \n ends a line, as in bytes.
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n")
    try:
        separator = _find_separator(lines)
        lines.seek(0)
        if separator is None:
            return _read_svmlight(lines, name, n_features)
        return _read_csv(lines, separator, name, n_features)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is neither UTF-8 text nor .npz nor .npy; convert it to one of them"
        ) from error
    except csv.Error as error:
        raise InputError(f"{name} is no readable CSV ({error})") from error
    finally:
        lines.detach()  # the file is not ours to close


def _find_separator(lines: Iterable[str]) -> str | None:
    """Return the CSV's separator, or None for svmlight."""
    for line in lines:
        text = line.partition("#")[0]
        if _PAIR.search(text):
            return None
        for separator in _SEPARATORS:
            if separator in text.strip():
                return separator
    return ","


def _read_csv(
    lines: Iterable[str], separator: str, name: str, n_features: int
) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    values, labels = array("d"), list[str]()
    width = None
    budget = current_budget()
    reader = csv.reader(lines, delimiter=separator, strict=True)
    for fields in reader:
        if not any(field.strip() for field in fields):
            continue
        where = f"{name}, line {reader.line_num}"
        if width is None:
            width = _checked_width(len(fields), where, n_features)
            if not any(_is_number(field) for field in fields[:n_features]):
                continue  # the header
        if len(fields) != width:
            raise InputError(f"{where} has {len(fields)} columns, the first line {width}")
        values.extend(_numbers(fields[:n_features], where))
        labels += [field.strip() for field in fields[n_features:]]
        budget.spend((len(fields) + 1) * _FIELD_BYTES, name)
        _require_room(len(values), name)
    X = np.array(values, dtype=np.float64).reshape(-1, n_features)
    return X, _labels(labels, name) if width == n_features + 1 else None


def _checked_width(width: int, where: str, n_features: int) -> int:
    if width not in (n_features, n_features + 1):
        raise InputError(
            f"{where} has {width} columns, must have {n_features}, or {n_features + 1} with the "
            f"label last: the model has {n_features} features"
        )
    return width


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python reads "1_0" as 10, but no data file writes numbers so


def _numbers(fields: list[str], where: str) -> list[float]:
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        numbers = []
    if len(numbers) == len(fields) and "_" not in "".join(fields):
        return numbers
    for column, field in enumerate(fields, start=1):
        if not _is_number(field):
            raise InputError(f"{where}, column {column} is {field[:40]!r}, must be a number")
    return numbers


def _read_svmlight(
    lines: Iterable[str], name: str, n_features: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    rows, columns, values, labels = array("q"), array("q"), array("d"), list[str]()
    last_line = array("q")
    budget = current_budget()
    known_labels = set[str]()
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        budget.spend(n_features * FLOAT_BYTES + (len(words) + 1) * ITEM_BYTES, name)
        label = words[0]
        if label not in known_labels:
            if not _is_number(label):
                found = f"{name}, line {number} starts with {label[:40]!r}"
                raise InputError(f"{found}, must be one numeric label")
            known_labels.add(label)
        previous = -1
        for word in words[1:]:
            index_text, colon, value_text = word.partition(":")
            if index_text == "qid" and colon:
                continue
            try:
                index, value = _index(index_text), _value(value_text)
            except ValueError as error:
                where = f"{name}, line {number} has {word[:40]!r}"
                raise InputError(f"{where}, must be index:value") from error
            if not previous < index <= n_features:
                raise InputError(
                    f"{name}, line {number} has index {index} after {previous}, must ascend and "
                    f"be at most {n_features}"
                )
            rows.append(len(labels))
            columns.append(index)
            values.append(value)
            previous = index
        labels.append(label)
        last_line.append(number)
        _require_room(len(labels) * n_features, name)
    X = np.zeros((len(labels), n_features))
    index_from = 0 if 0 in columns else 1
    place = np.array(columns, dtype=np.int64) - index_from
    if len(place) and place.max() >= n_features:
        row = rows[int(place.argmax())]
        raise InputError(
            f"{name}, line {last_line[row]} has index {n_features}, must be below it: the file "
            f"counts from 0 and the model has {n_features} features"
        )
    X[np.array(rows, dtype=np.int64), place] = values
    return X, _labels(labels, name)


@lru_cache(maxsize=4096)  # the indices of a file repeat
def _index(text: str) -> int:
    if text.isdigit() and text.isascii() and len(text) <= 9:
        return int(text)
    raise ValueError


def _value(text: str) -> float:
    if "_" in text:
        raise ValueError
    return float(text)


def _labels(texts: list[str], name: str) -> NDArray[Any]:
    """Return labels as integers if all are, otherwise as floats, otherwise as text."""
    for convert, dtype in ((int, np.int64), (float, np.float64)):
        try:
            return np.fromiter(map(convert, texts), dtype, len(texts))
        except (ValueError, OverflowError):
            continue
    # An array of text has the size of the longest text, 4 bytes a character, for each.
    longest = max(map(len, texts))
    current_budget().spend(
        4 * longest * len(texts), f"{name}: labels of up to {longest} characters"
    )
    return np.array(texts, dtype=np.str_)


def _require_room(count: int, name: str) -> None:
    if count > MAX_VALUES:
        raise InputError(f"{name} has more than {MAX_VALUES} values; use fewer samples")
