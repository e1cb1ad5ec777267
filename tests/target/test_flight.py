"""The flight of `examples/flight` on emulated boards: flips are repaired, the new model flies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kit.tools import need_tools
from kmcompile import load
from kmcompile.program.telemetry import words
from kmcompile.target import load_target

FLIGHT = Path(__file__).resolve().parents[2] / "examples" / "flight"


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["cortex-m7", "leon3"])
def test_a_camera_flies_with_all_options(target, tmp_path, monkeypatch):
    need_tools(load_target(target))
    monkeypatch.syspath_prepend(str(FLIGHT))
    import flight
    import stream

    data = stream.landmarks()
    patch = flight.compile_models(target, data, tmp_path)
    names = [name for name, _, _ in words(load(tmp_path / "guard").program)]
    phases = stream.flight(data.flown, patch)
    records = flight.fly(tmp_path, phases, len(names))
    report = {name: records[:, n] for n, name in enumerate(flight.REPORT)}
    counted = dict(zip(names, records[-1, len(flight.REPORT) :].tolist(), strict=True))

    assert counted["queries"] == counted["by_status_ok"] == len(records)
    flips = sum(np.count_nonzero(phase.commands[:, 0] == stream.FLIP_TABLE) for phase in phases)
    assert counted["repairs"] == counted["damaged_blocks"] == flips
    ends = np.cumsum([len(phase.frames) for phase in phases]) - 1
    # Known answers that are asked between a flip and its repair may be wrong, once.
    failures = records[ends, len(flight.REPORT) + names.index("self_test_failures")]
    flipped = [phase.name for phase in phases].index("bits of the tables flip")
    assert (failures[:flipped] == 0).all()
    assert (failures[flipped:] == failures[-1]).all() and failures[-1] <= flips
    banks = dict(zip([phase.name for phase in phases], report["bank"][ends], strict=True))
    assert (banks["gain drifts to 0.4"], banks["new model"]) == (0, 1)
    assert report["restored"][-1] == 1
    strange = (report["flags"] & 2) == 0
    own = np.split(strange, ends[:-1] + 1)
    assert own[0].mean() < 0.1
    assert own[1].mean() > 0.9
