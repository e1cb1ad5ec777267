"""The static worst case in instructions of one query, from the linked image and its flow facts."""

from __future__ import annotations

from kmcompile.machine_code.worst_case.analysis import WorstCase, worst_case

__all__ = ["WorstCase", "worst_case"]
