"""`<name>_telemetry.xml`: what a ground system reads is what the C writes."""

from __future__ import annotations

import struct
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from kit import catalogue
from kit.watched import CORE, Library
from kmcompile.emit.telemetry_xtce import telemetry_xtce
from kmcompile.program.telemetry import n_words
from kmcompile.target import load_target

XTCE = "{http://www.omg.org/spec/XTCE/20180204}"
FORMATS = {"IntegerParameterType": "I", "FloatParameterType": "f"}
ORDERS = {"leastSignificantByteFirst": "<", "mostSignificantByteFirst": ">"}


def read(text: str) -> list[tuple[str, str]]:
    """Return the name and the format of each entry of the container, as a ground system would."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{XTCE}SpaceSystem"
    assert [child.tag for child in root] == [f"{XTCE}LongDescription", f"{XTCE}TelemetryMetaData"]
    types, parameters, containers = root[1]
    assert types.tag == f"{XTCE}ParameterTypeSet"
    assert parameters.tag == f"{XTCE}ParameterSet"
    assert containers.tag == f"{XTCE}ContainerSet"
    formats = {}
    for kind in types:
        units, encoding = kind
        assert units.tag == f"{XTCE}UnitSet"
        assert encoding.get("sizeInBits") == kind.get("sizeInBits") == "32"
        letter = FORMATS[kind.tag.removeprefix(XTCE)]
        assert encoding.get("encoding") == {"I": "unsigned", "f": "IEEE754_1985"}[letter]
        formats[kind.get("name")] = ORDERS[encoding.get("byteOrder", "")] + letter
    known = {one.get("name"): formats[one.get("parameterTypeRef")] for one in parameters}
    assert len(known) == len(parameters)
    assert all(one.get("shortDescription") for one in parameters)
    (container,) = containers
    (entries,) = container
    names = [str(one.get("parameterRef")) for one in entries]
    assert names == list(known), "each once, in the struct's order"
    return [(name, known[name]) for name in names]


@pytest.mark.few
@pytest.mark.parametrize("case", CORE, ids=str)
def test_a_ground_system_reads_what_the_c_counted(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    library = Library(emitted, tmp_path)
    telemetry = library.telemetry()
    fields = {"kernel_evals": 9, "stage": 0, "in_range": False, "lower": 0.5, "upper": 2.0}
    library.lib.iris_telemetry_count(telemetry, 0, library.answer_of(**fields))
    library.lib.iris_telemetry_count(telemetry, 3, library.ffi.NULL)
    library.lib.iris_telemetry_test(telemetry, 4)
    content = bytes(library.ffi.buffer(telemetry))
    entries = read(emitted.files["iris_telemetry.xml"].decode("ascii"))
    assert len(entries) == n_words(emitted.program)
    found = {
        name: struct.unpack_from(code, content, 4 * place)[0]
        for place, (name, code) in enumerate(entries)
    }
    assert found["queries"] == 2
    assert found["by_status_ok"] == found["by_status_error_range"] == found["out_of_range"] == 1
    assert found[f"by_stage_{emitted.program.exit_stages[0].name}"] == 1
    assert (found["most_kernel_evals"], found["self_test_failures"]) == (9, 1)
    if emitted.program.is_regression:
        assert found["widest_interval"] == 1.5
    else:
        assert (found["by_label_0"], found["smallest_margin"]) == (1, 0.5)


@pytest.mark.parametrize(("target", "order"), [("leon3", ">"), ("avr", "<"), ("ppc750", ">")])
def test_the_byte_order_is_that_of_the_target(target, order):
    program = catalogue.emitted(CORE[1], "host").program
    text = telemetry_xtce(program, load_target(target), "kmcompile iris.pkl")
    assert {code[0] for _, code in read(text)} == {order}


def test_any_class_and_command_are_ascii_and_well_formed():
    program = catalogue.emitted(CORE[1], "host").program
    classes = ('<"&>', "größer", "\x1b[2J", *(f"c{i}" for i in range(len(program.classes) - 3)))
    odd = replace(program, classes=classes)
    text = telemetry_xtce(odd, load_target("host"), "kmcompile 'a & <b>--.pkl'")
    assert text.isascii()
    root = ElementTree.fromstring(text)
    assert root[0].text == "kmcompile 'a & <b>--.pkl'"
    told = [one.get("shortDescription", "") for one in root.iter(f"{XTCE}Parameter")]
    assert [line.rpartition("class ")[2] for line in told if "label" in line][:3] == [
        '<"&>',
        "größer",
        "\\x1b[2J",
    ]


def test_the_recipe_names_the_file_and_its_hash():
    emitted = catalogue.emitted(CORE[1], "host")
    assert "iris_telemetry.xml" in dict(emitted.recipe.sha256)
