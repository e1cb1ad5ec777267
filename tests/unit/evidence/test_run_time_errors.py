"""What Frama-C's Eva reads of the emitted C, and how its alarms are read."""

from __future__ import annotations

import pytest

from kit.catalogue import CORE
from kit.every_target import GROUPS
from kit.images import estimator, in_image
from kit.tools import need
from kmcompile.errors import ToolError
from kmcompile.evidence.finding import Outcome
from kmcompile.evidence.run_time_errors import analyses, copy, part
from kmcompile.evidence.run_time_errors.driver import Driver
from kmcompile.evidence.run_time_errors.eva import Alarm, read_alarms
from kmcompile.evidence.run_time_errors.header import read_header
from kmcompile.evidence.run_time_errors.reasons import reason_of
from kmcompile.evidence.subject import Subject


def texts(model, name="iris"):
    files = model.emit("cortex-m7", name).files
    return files[f"{name}.c"].decode(), files[f"{name}.h"].decode()


@pytest.fixture(scope="module")
def emitted():
    return texts(GROUPS["sums"][0])


def subject_of(model, target="cortex-m7"):
    emitted = model.emit(target)
    return Subject("iris", emitted.program, emitted.target, emitted.files, {})


@pytest.mark.exhaustive
def test_the_driver_calls_every_function_of_every_header():
    for group, models in GROUPS.items():
        for model in models[::7]:
            _, header = texts(model, f"{group}_of")
            declared = read_header(f"{group}_of", header)
            assert {"self_test", "self_test_step"} <= {
                one.name.removeprefix(f"{group}_of_") for one in declared.functions
            }
            driver = Driver(declared, finite=True).text()
            assert [one.name for one in declared.functions if f"{one.name}(" not in driver] == []


def test_the_driver_gives_any_bits_or_the_numbers_that_are_accepted(emitted):
    header = read_header("iris", emitted[1])
    assert "x[i_4] = Frama_C_float_interval(-" in Driver(header, finite=True).text()
    assert "Frama_C_make_unknown((char *)&x[i_4]" in Driver(header, finite=False).text()


def test_numbers_are_read_with_substitutes_and_squares_and_any_bits_without(emitted):
    of_any_bits, of_numbers = (make("iris", emitted[0]) for make in KINDS)
    assert "number.bits &= 0x7FFFFFFFUL" in of_any_bits
    assert "number.bits &= 0x7FFFFFFFUL;\n    return number.value" not in of_numbers
    assert "x[j] * x[j]" in of_any_bits
    assert "x[j] * x[j]" not in of_numbers
    assert "dynamic_split status" in of_any_bits


KINDS = (copy.of_any_bits, copy.of_numbers)


def test_integers_are_not_squared_as_floats():
    text = texts(GROUPS["codes"][0], "codes")[0]
    assert "_square(fine)" not in copy.of_numbers("codes", text)


def test_the_page_tells_what_is_read_in_another_way():
    with_jobs = analyses.Emitted("iris", "", "} iris_job_t;")
    any_bits, _, numbers = (analyses._page(kind, with_jobs, []) for kind in analyses.KINDS)
    assert "Nothing.\n" in any_bits
    assert "Alarms about the values of floats" in any_bits
    assert "check of the input is left out" in numbers
    assert "tests/fault/test_damaged_jobs.py" in any_bits and "self-test" in any_bits
    plain = analyses._page(analyses.KINDS[0], analyses.Emitted("iris", "", ""), ["v is small"])
    assert "- v is small\n" in plain and "test_damaged_jobs" not in plain


def test_alarms_are_read_without_the_prefix():
    text = (
        "directory\tfile\tline\tfunction\tproperty kind\tstatus\tproperty\n"
        "d\tiris.c\t7\tiris_sum\tmem_access\tUnknown\t\\valid_read(iris_table + j)\n"
        "d\tiris.c\t9\tiris_sum\tmem_access\tUnknown\t\\valid_read(iris_table + j)\n"
        "d\tiris.c\t8\tiris_sum\tmem_access\tValid\t\\valid_read(x)\n"
        "d\tb.h\t8\tsqrt\tassigns clause\tUnknown\tassigns \\nothing\n"
    )
    assert read_alarms(text, "iris") == (Alarm("sum", "mem_access", "\\valid_read(table + j)"),)


def test_an_alarm_has_a_reason_by_function_kind_and_expression():
    assert reason_of(Alarm("map_rank", "index_bound", "word < 9U")) is not None
    assert reason_of(Alarm("map_rank", "mem_access", "word < 9U")) is None
    assert reason_of(Alarm("exact_sum", "index_bound", "word < 9U")) is None


def test_without_the_tool_nothing_is_run_and_the_finding_says_how_to_install_it(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = part.run(subject_of(CORE[0]), tmp_path / "parts")
    assert {one.outcome for one in found} == {Outcome.NOT_RUN}
    assert "apt-get install --no-install-recommends frama-c-base" in found[0].figure


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("group", "target"),
    [
        (("sums", 0), "cortex-m7"),
        (("sums", 9), "cortex-m7"),
        (("exits", 10), "cortex-m7"),
        (("codes", 3), "cortex-m7"),
        (("sums", 0), "cortex-m4"),
    ],
)
def test_eva_raises_no_alarm_that_is_not_explained(group, target, tmp_path):
    """On cortex-m4 the replay is in integers."""
    need("frama-c")
    found = part.run(subject_of(GROUPS[group[0]][group[1]], target), tmp_path)
    assert part.unexplained(found) == []
    assert all(one.outcome in (Outcome.SHOWN, Outcome.OPEN) for one in found)
    assert not any("did not end" in one.figure for one in found)


@pytest.mark.exhaustive
def test_an_error_that_is_put_in_raises_an_alarm(tmp_path):
    need("frama-c")
    subject = subject_of(GROUPS["sums"][0])
    text = subject.files["iris.c"].decode()
    broken = text.replace("p < IRIS_N_DECISIONS", "p <= IRIS_N_DECISIONS")
    assert broken != text
    files = {**subject.files, "iris.c": broken.encode()}
    made = Subject("iris", subject.program, subject.target, files, {})
    assert part.unexplained(part.run(made, tmp_path))


def test_after_an_analysis_that_does_not_end_the_others_are_left_out(monkeypatch, tmp_path):
    asked = []

    def never_ends(kind, *_):
        asked.append(kind.name)
        raise ToolError("frama-c on iris.c: did not end within 300 s, was stopped")

    monkeypatch.setattr(part.shutil, "which", lambda _: "/usr/bin/frama-c")
    monkeypatch.setattr(part.analyses, "run", never_ends)
    findings = part.run(subject_of(CORE[0]), tmp_path)
    assert asked == ["any_bits"]
    assert {one.outcome for one in findings} == {Outcome.OPEN}
    assert "left out" in findings[-1].figure


def test_the_driver_opens_the_image_of_a_model():
    emitted = in_image(estimator("iris_rbf", 0), "cortex-m7")
    driver = Driver(read_header("iris", emitted.files["iris.h"].decode()), finite=False).text()
    assert "if (iris_open(iris_image, iris_image_bytes, &opened) == IRIS_OK) {" in driver
    assert "(void)iris_self_test(Frama_C_nondet_ptr((void *)&closed, NULL));" in driver
