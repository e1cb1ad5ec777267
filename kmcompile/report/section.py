"""A section of report.json with the reasons of its null fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Content = TypeVar("Content", covariant=True)


@dataclass(frozen=True, slots=True)
class Section(Generic[Content]):
    """A section of report.json, as its writer returns it.

    Parameters
    ----------
    content : Content
    not_available : mapping of str to str
        The path of each null field that needs a reason, such as "cost.pairs_mean", and the reason.
    """

    content: Content
    not_available: Mapping[str, str]
