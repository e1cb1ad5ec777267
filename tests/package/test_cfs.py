"""`--package cfs`: the app runs on a stand-in for the executive and the software bus."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_iris

import kmcompile
from kit.packages import fitted, packaged
from kit.standin_cfs import Core, Order, built
from kit.telemetry import counted_all
from kit.tools import need, succeed
from kmcompile.emit.packages.cfs import app_of
from kmcompile.program.interpreter import interpret
from kmcompile.program.telemetry import n_words, places, reset, words

RELEASES = ["CAELUM", "DRACO", "SEVEN"]
LONG = "diabetes_progression"
LABELS = struct.Struct("<IiffIHBBBxxx")
VALUES = struct.Struct("<IfffIHBB")
HOUSEKEEPING = struct.Struct("<BBBxIII")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the apps' folders of three models by name: labels, values, integers."""
    folder = tmp_path_factory.mktemp("packages")
    models = {"iris": "iris", LONG: "regression", "i": "codes"}
    return {
        name: packaged("cfs", folder / name, model, name=name) / app_of(name).name
        for name, model in models.items()
    }


@pytest.fixture(scope="module", params=RELEASES)
def core(
    packages: dict[str, Path],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Core:
    """Return one image with the three models."""
    need("cmake", "gcc")
    return built(list(packages.values()), tmp_path_factory.mktemp("build"), request.param)


def query(number: int, x: Sequence[float]) -> str:
    """Return the bytes of a query."""
    return struct.pack(f"<I{len(x)}f", number, *x).hex()


@pytest.mark.parametrize("length", range(1, 41))
def test_every_name_fits_into_es_and_osal(length: int) -> None:
    name = "breast_cancer_diagnosis_of_the_university"[:length]
    app = app_of(name)
    assert max(len(f"{app.name}.so"), len(app.entry), len(app.pipe), len(app.upper)) < 20
    assert (app.name == f"{name}_app") == (length <= 12)


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = {app_of(f"breast_cancer_{number}").name for number in range(100)}
    assert len(names) == 100
    assert app_of("sample").name != "sample_app", "cFS has one"


def test_lines_are_short_and_text_is_ascii(packages: dict[str, Path]) -> None:
    files = [path for path in packages[LONG].rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".c", ".h", ".txt", ".cmake", ".xml", ".md"}
    for path in files:
        lines = path.read_text("ascii").splitlines()[1:]
        wide = "" if path.suffix == ".md" else [line for line in lines if len(line) > 100]
        assert not wide, path


@pytest.mark.exhaustive
def test_300_queries_of_each_model_are_answered_in_bursts(core: Core) -> None:
    X = np.tile(load_iris().data.astype(np.float32), (2, 1))
    orders = []
    for start in range(0, 300, 25):
        orders += [("iris", "CMD", 2, query(i, X[i])) for i in range(start, start + 25)]
        orders += [("i", "CMD", 2, query(i, np.round(10 * X[i]))) for i in range(start, start + 25)]
        orders += [(LONG, "CMD", 2, query(i, [0.01] * 10)) for i in range(start, start + 25)]
        orders += [None]
    lines = core.talk(orders)
    answers = core.sent(lines, "iris", "ANSWER_TLM", LABELS)
    assert [answer[0] for answer in answers] == list(range(300))
    assert [answer[1] for answer in answers] == fitted("iris").predict(X).tolist()
    codes = core.sent(lines, "i", "ANSWER_TLM", LABELS)
    assert [answer[1] for answer in codes] == fitted("codes").predict(np.round(10 * X)).tolist()
    values = core.sent(lines, LONG, "ANSWER_TLM", VALUES)
    expected = fitted("regression").predict([[0.01] * 10])[0]
    assert len(values) == 300
    assert all(low <= expected <= high and status == 0 for _, _, low, high, *_, status, _ in values)
    assert not [line for line in lines if line.startswith(("dropped", "squelched"))]


@pytest.mark.exhaustive
def test_32_commands_may_wait_and_the_bus_drops_more(core: Core) -> None:
    lines = core.talk([("iris", "CMD", 2, query(i, [5.0, 3.0, 1.0, 0.2])) for i in range(33)])
    assert lines.count(f"dropped {0x1800 | app_of('iris').topic:04X}") == 1
    assert len(core.sent(lines, "iris", "ANSWER_TLM", LABELS)) == 32


def test_a_stuck_sensor_is_answered_and_counted_and_hides_nothing(core: Core) -> None:
    bad = query(77, [float("nan"), 1.0, 1.0, 1.0])
    lines = core.talk(
        [("iris", "CMD", 2, bad), None] * 100
        + [("iris", "CMD", 0, "-"), ("iris", "SEND_HK", 0, "-")]
    )
    assert core.sent(lines, "iris", "ANSWER_TLM", LABELS) == [(77, -1, 0, 0, 0, 0, 2, 0, 0)] * 100
    assert lines.count("event IRIS_APP 7 3 IRIS_APP: query 77 refused, status 2") == 8
    assert any(line.startswith("event IRIS_APP 2 2 IRIS_APP: no-op, kmcompile ") for line in lines)
    assert core.sent(lines, "iris", "HK_TLM", HOUSEKEEPING) == [(1, 100, 0, 0, 100, 0)]


def test_code_length_and_id_are_checked(core: Core) -> None:
    good = query(1, [5.0, 3.0, 1.0, 0.2])
    topics = dict(app_of("iris").topics)
    lines = core.talk(
        [
            ("iris", "CMD", 3, good),
            ("iris", "CMD", 2, good[:-2]),
            ("iris", "CMD", 0, "00"),
            ("iris", "CMD", 1, "00"),
            ("iris", "SEND_HK", 0, "00"),
            ("iris", "WAKEUP", 0, "00"),
            ("iris", "SEND_HK", 0, "-"),
            ("iris", "CMD", 1, "-"),
            ("iris", "SEND_HK", 0, "-"),
        ]
    )
    assert "event IRIS_APP 5 3 IRIS_APP: invalid command code 3" in lines
    mid = f"0x{0x1800 | topics['CMD']:X}"
    wrong = f"event IRIS_APP 6 3 IRIS_APP: invalid length: MID {mid}, CC 2, 27 bytes, expected 28"
    assert wrong in lines
    assert sum(line.startswith("event IRIS_APP 6 ") for line in lines) == 5
    assert core.sent(lines, "iris", "ANSWER_TLM", LABELS) == []
    assert core.sent(lines, "iris", "HK_TLM", HOUSEKEEPING) == [(0, 6, 0, 0, 0, 0), (0,) * 6]
    assert lines[-6:-4] == [
        "event IRIS_APP 9 3 IRIS_APP: pipe error 0xCA000006, the app ends",
        "exit IRIS_APP 3",
    ]


def test_the_header_says_how_many_wake_ups_a_pass_takes(
    core: Core, packages: dict[str, Path]
) -> None:
    for name, folder in packages.items():
        header = (folder / "fsw" / "inc" / f"{app_of(name).name}_msg.h").read_text()
        found = re.search(r"(\d+) wake-ups are one pass", header)
        assert found
        steps = int(found[1])
        for wake_ups, passes in (steps - 1, 0), (steps, 1):
            orders = [(name, "WAKEUP", 0, "-"), None] * wake_ups + [(name, "SEND_HK", 0, "-")]
            lines = core.talk(orders)
            assert core.sent(lines, name, "HK_TLM", HOUSEKEEPING) == [(0, 0, 0, 0, 0, passes)]


@pytest.mark.parametrize(
    "fails",
    ["CFE_EVS_Register:1", "CFE_MSG_Init:2", "CFE_SB_CreatePipe:1", "CFE_SB_SubscribeEx:3"],
)
def test_a_failed_start_up_is_in_the_system_log(core: Core, fails: str) -> None:
    lines = core.talk([], names=["iris"], fails=fails)
    assert re.fullmatch(r"log IRIS_APP: .* failed, status 0x.*C[2A]00000.", lines[0])
    assert lines[1:] == ["exit IRIS_APP 3"]


def test_after_damage_queries_are_refused_and_say_so(
    packages: dict[str, Path], tmp_path: Path
) -> None:
    need("cmake", "gcc")
    succeed(["cp", "-r", packages["iris"], tmp_path / "iris_app"])
    source = tmp_path / "iris_app" / "fsw" / "src" / "iris.c"
    whole = source.read_text()
    damaged = re.sub(r"(static const float \w+\[[^{]*\{[^}]*?)0x1\.", r"\g<1>0x1.1", whole, count=1)
    assert damaged != whole
    source.write_text(damaged)
    core = built([tmp_path / "iris_app"], tmp_path / "b", "CAELUM")
    good = query(5, [5.0, 3.0, 1.0, 0.2])
    lines = core.talk(
        [("iris", "CMD", 2, good), None]
        + [("iris", "WAKEUP", 0, "-"), None] * 80
        + [("iris", "CMD", 2, good), ("iris", "SEND_HK", 0, "-")]
    )
    before, after = core.sent(lines, "iris", "ANSWER_TLM", LABELS)
    assert (before[6], after) == (0, (5, -1, 0, 0, 0, 0, 4, 0, 0))
    assert sum(line.startswith("event IRIS_APP 8 4 ") for line in lines) == 1
    assert "event IRIS_APP 7 3 IRIS_APP: query 5 refused, status 4" in lines
    assert core.sent(lines, "iris", "HK_TLM", HOUSEKEEPING) == [(1, 1, 1, 1, 1, 0)]


def test_the_packages_own_unit_tests_pass(core: Core, packages: dict[str, Path]) -> None:
    for folder in packages.values():
        runner = f"coverage-{folder.name}-ALL-testrunner"
        succeed([next(core.folder.rglob(runner))])


def test_a_mission_gives_its_own_ids_and_a_table_sees_the_messages(
    packages: dict[str, Path], tmp_path: Path
) -> None:
    need("cmake", "gcc")
    default = packages["iris"] / "config" / "default_iris_app_topicids.h"
    (tmp_path / "defs").mkdir()
    own = re.sub(r"0x[0-9A-F]{2}", "0x42", default.read_text(), count=1)
    (tmp_path / "defs" / "iris_app_topicids.h").write_text(own)
    (tmp_path / "table.c").write_text(
        '#include "iris_app_msg.h"\n#include "iris_app_msgids.h"\n'
        "const CFE_SB_MsgId_t table[] = {CFE_SB_MSGID_WRAP_VALUE(IRIS_APP_WAKEUP_MID)};\n"
        "const size_t largest = sizeof(IRIS_APP_QueryCmd_t);\n"
    )
    core = built(
        [packages["iris"]], tmp_path / "b", "SEVEN", tmp_path / "defs", tmp_path / "table.c"
    )
    lines = core.talk(["send 1842 0 -"])
    assert any(line.startswith("event IRIS_APP 2 ") for line in lines)


def test_two_models_with_the_same_default_ids_are_not_built(tmp_path: Path) -> None:
    need("cmake", "gcc")
    names = [
        name for name in (f"m{i}" for i in range(99)) if app_of(name).topic == app_of("m0").topic
    ]
    apps = [packaged("cfs", tmp_path / name, name=name) / f"{name}_app" for name in names[:2]]
    with pytest.raises(subprocess.CalledProcessError) as failed:
        built(apps, tmp_path / "b", "CAELUM")
    stated = " ".join(failed.value.stderr.split())
    assert f"{names[1]}_app and {names[0]}_app have the same default message ids" in stated


def test_the_data_sheet_describes_the_same_messages(packages: dict[str, Path]) -> None:
    sizes = {"uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "float": 4}
    for name, answer in ("iris", LABELS), (LONG, VALUES):
        app = app_of(name)
        tree = ElementTree.parse(packages[name] / "eds" / f"{app.name}.xml")
        space = {"s": "http://www.ccsds.org/schema/sois/seds"}
        for message, expected in ("AnswerTlm_Payload", answer), ("HkTlm_Payload", HOUSEKEEPING):
            entries = tree.findall(
                f".//s:ContainerDataType[@name='{message}']/s:EntryList/*", space
            )
            length = sum(
                int(entry.get("sizeInBits", 0)) // 8
                + sizes.get(entry.get("type", "").removeprefix("BASE_TYPES/"), 0)
                for entry in entries
            )
            assert length == expected.size
        defined = {
            variable.get("initialValue") for variable in tree.iter() if variable.get("readOnly")
        }
        assert defined == {
            f"${{CFE_MISSION/{app.upper}_{topic}_TOPICID}}" for topic, _ in app.topics
        }


@pytest.mark.exhaustive
def test_housekeeping_ends_with_the_telemetry_of_python(tmp_path: Path) -> None:
    need("cmake", "gcc")
    app = packaged("cfs", tmp_path / "o", telemetry=True) / "iris_app"
    core = built([app], tmp_path / "b", "SEVEN")
    X = load_iris().data[::7].astype(np.float32)
    asked = [*X.tolist(), [float("nan"), 1.0, 1.0, 1.0], [1e30, 1.0, 1.0, 1.0]]
    orders: list[Order] = []
    for number, x in enumerate(asked):
        orders += [("iris", "CMD", 2, query(number, x)), None]
    header = (app / "fsw" / "inc" / "iris_app_msg.h").read_text()
    steps = int(re.findall(r"(\d+) wake-ups are one pass", header)[0])
    orders += [("iris", "WAKEUP", 0, "-"), None] * steps + [("iris", "SEND_HK", 0, "-")]
    orders += [("iris", "CMD", 1, "-"), ("iris", "SEND_HK", 0, "-")]
    compiled = kmcompile.load(tmp_path / "o")
    program = compiled.program
    results = interpret(program, np.array(asked, dtype=np.float32)).results
    expected = counted_all(program, reset(program), results)
    expected[places(program)["self_test_passes"]] = 1
    payload = struct.Struct(f"{HOUSEKEEPING.format}{n_words(program)}I")
    first, second = core.sent(core.talk(orders), "iris", "HK_TLM", payload)
    assert first[:6] == (len(X), 2, 0, len(X), 2, 1)
    assert first[6:] == tuple(expected)
    assert second[6:] == tuple(reset(program))
    tree = ElementTree.parse(app / "eds" / "iris_app.xml")
    space = {"s": "http://www.ccsds.org/schema/sois/seds"}
    entries = tree.findall(".//s:ContainerDataType[@name='Telemetry']/s:EntryList/*", space)
    assert [entry.get("name") for entry in entries] == [name for name, _, _ in words(program)]
    succeed([next(core.folder.rglob("coverage-iris_app-ALL-testrunner"))])
