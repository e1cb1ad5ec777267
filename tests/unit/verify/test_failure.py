"""What a failed check keeps, which option it names, and which files it leaves."""

from __future__ import annotations

import contextlib
import json
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.emitted import emit_in_format
from kit.hand_made_cascade import digits, digits_cascade
from kit.lowered import Lowered, lowered
from kmcompile.errors import VerificationError
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.output.failure_files import saving_failures
from kmcompile.program.interpreter import Answers, Status
from kmcompile.readers.samples.file import read_samples
from kmcompile.report.failure_report import Made
from kmcompile.run import RunResult
from kmcompile.target import load_target
from kmcompile.verify.checks import check_bounded, check_codes, check_exact
from kmcompile.verify.failure import MOST_KEPT, REFUSED, failure_of
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.queries import Queries
from kmcompile.verify.records import records_of
from kmcompile.verify.verifier import Verifier
from kmcompile.verify.worst_case import check_worst_case

M7 = load_target("cortex-m7")


@pytest.fixture(scope="module")
def low() -> Lowered:
    X = np.random.default_rng(1).normal(size=(60, 3))
    return lowered(SVC(gamma=0.4).fit(X, np.where(X[:, 0] > X[:, 1], "up", "down")))


@pytest.fixture(scope="module")
def asked(low) -> Queries:
    """Return queries of which the first one is refused."""
    X = np.concatenate([np.full((1, 3), np.nan, dtype=np.float32), low.queries])
    return Queries(X, "test-data", 20, len(X) - 5)


def made(low: Lowered) -> Made:
    command = "kmcompile m.pkl --target host"
    return Made(low.program, load_target("host"), command, {"mode": "exact"}, "an SVC", {})


def run_result(records: np.ndarray, self_test: int = 0) -> RunResult:
    return RunResult(
        None, "not counted", records=records, painted_stack_bytes=None, self_test=self_test
    )


def told(check, low: Lowered, queries: Queries, beside: Path | None) -> VerificationError:
    """Return the error of a failing check, after what the pipeline does with it."""
    answers = low.answers(queries.X)
    with (
        pytest.raises(VerificationError) as caught,
        saving_failures(beside, made(low)),
    ):
        try:
            check(answers)
        except VerificationError as error:
            finding = error.finding
            error.failure = failure_of(finding, low.machine, low.program, queries, answers)
            raise
    assert 1 <= len(str(caught.value).splitlines()) <= 3
    return caught.value


def one_bit(low: Lowered, row: int, word: int):
    """Return a check of a C that answers one query otherwise."""

    def check(answers: Answers) -> None:
        records = records_of(answers)
        records[row, word] ^= np.uint32(1)
        check_exact(answers, run_result(records), "host")

    return check


def changed(answers: Answers, row: int, **values) -> Answers:
    results = answers.results.copy()
    for name, value in values.items():
        results[name][row] = value
    return replace(answers, results=results)


def test_the_files_hold_each_bit_of_the_failing_query(low, asked, tmp_path):
    error = told(one_bit(low, 7, 4), low, asked, tmp_path / "m-host")
    text, queries = error.saved
    assert (text, queries) == (tmp_path / "m-host-failed.json", tmp_path / "m-host-failed.npz")
    assert sorted(tmp_path.iterdir()) == [text, queries]
    assert {path.name: path.read_bytes() for path in error.saved} == dict(error.files)
    with np.load(queries) as kept:
        assert kept["query"].tolist() == [7]
        assert kept["X"].tobytes() == asked.X[7].tobytes()
        assert (kept["c_words"] ^ kept["interpreter_words"]).tolist()[0][4] == 1
        own = kept["model_decisions"][0]
    (query,) = json.loads(text.read_text())["queries"]
    assert [float.fromhex(value) for value in query["input"]] == asked.X[7].tolist()
    assert query["c"]["kernel_evals"] == query["interpreter"]["kernel_evals"] ^ 1
    assert [float.fromhex(value) for value in query["model"]["decisions"]] == own.tolist()
    assert query["c"]["words"][4] == f"0x{query['c']['kernel_evals']:08x}"
    assert query["from"] == "test-data"
    assert query["interpreter"]["class"] == query["model"]["class"]


def test_the_saved_inputs_are_samples_to_compile_with_again(low, asked, tmp_path):
    error = told(one_bit(low, 7, 4), low, asked, tmp_path / "m-host")
    assert read_samples(error.saved[1], 3, "test").X.tobytes() == asked.X[7].tobytes()


def test_the_text_says_what_was_made_from_what_with_which_tools(low, asked, tmp_path):
    error = told(one_bit(low, 7, 4), low, asked, tmp_path / "m-host")
    content = json.loads(error.saved[0].read_text())
    assert content["command"] == "kmcompile m.pkl --target host"
    assert content["model"]["sha256"] == low.machine.sha256
    assert content["model"]["classes"] == ["down", "up"]
    assert content["tool"]["name"] == "kmcompile"
    assert {"python", "numpy", "machine"} <= content["tools"].keys()
    failed = content["failed"]
    assert failed["what"] == "the C differs from the interpreter"
    assert (failed["where"], failed["queries_failing"]) == ("host", 1)
    assert failed["message"][0] in str(error)
    assert set(content["queries_file"]) == {"name", "sha256"}


def test_a_refused_query_is_kept_as_it_is(low, asked, tmp_path):
    error = told(one_bit(low, 0, 0), low, asked, tmp_path / "m-host")
    (query,) = json.loads(error.saved[0].read_text())["queries"]
    assert query["input"] == ["nan"] * 3
    assert query["interpreter"]["status"] == "ERROR_NOT_FINITE"
    assert query["model"]["class"] is None
    assert error.failure.stages == {REFUSED: 1}


def test_few_queries_are_kept_of_each_deciding_stage(tmp_path):
    low = digits_cascade("rbf", (3, 8))
    X, _ = digits((3, 8))
    queries = Queries(X, "held-out", len(X), len(X))
    answers = low.answers(X)
    assert len(np.unique(answers.results["stage"])) > 2

    def check(answers: Answers) -> None:
        check_exact(answers, run_result(records_of(answers) ^ np.uint32(1)), "host")

    error = told(check, low, queries, tmp_path / "m-host")
    failure = error.failure
    assert len(failure) == MOST_KEPT < len(failure.finding.rows) == len(X)
    assert sum(failure.stages.values()) == len(X)
    names = np.array([stage.name for stage in low.program.exit_stages])
    kept = set(names[answers.results["stage"][failure.rows]])
    assert kept == set(failure.stages)


def with_stages(low: Lowered, broken: Broken, word: int, stages: tuple[str, ...]) -> str:
    """Return the options named where these stages decide queries whose word `word` differs."""
    X, _ = digits((3, 8))
    answers = low.answers(X)
    names = np.array([stage.name for stage in low.program.exit_stages])
    rows = np.flatnonzero(np.isin(names[answers.results["stage"]], stages))
    assert len(rows)
    records = records_of(answers)
    records[rows, word] ^= np.uint32(1)
    queries = Queries(X, "held-out", len(X), len(X))
    finding = Finding(broken, rows, "host", records)
    return " ".join(failure_of(finding, None, low.program, queries, answers).avoided_by)


def test_the_option_that_is_named_leaves_out_what_decided():
    low = digits_cascade("rbf", (3, 8))
    label, decision = 1, 8
    early = tuple(stage.name for stage in low.program.early_exits)
    assert with_stages(low, Broken.BITS, label, early) == "--mode certified"
    # What an early exit hands on reaches the sum, which by itself is right.
    assert with_stages(low, Broken.BITS, label, ("exact_sum",)) == "--mode exact"
    assert with_stages(low, Broken.BITS, label, (*early, "exact_sum")) == "--mode exact"
    # Nothing leaves out the sum in float32.
    assert with_stages(low, Broken.BITS, decision, ("exact_sum",)) == ""
    certified = Lowered(low.estimator, low.machine, replace(low.program, mode="exact"))
    assert with_stages(certified, Broken.BITS, label, ("exact_sum",)) == ""


def test_a_value_beyond_its_bound_in_integers_leads_to_float32():
    X = np.random.default_rng(7).integers(0, 9, size=(40, 3)) / 3
    coded = emit_in_format(SVC(gamma=0.4).fit(X, X[:, 0] > X[:, 1]), "int8", "host")
    answers, queries = coded.answers_of_codes, Queries(coded.queries, "generated", 0, 40)
    decisions = answers.decisions.copy()
    row = int(np.flatnonzero(answers.results["status"] == Status.OK)[3])
    decisions[row, 0] += 3 * answers.bounds[row, 0]
    wrong = replace(answers, decisions=decisions)
    with pytest.raises(VerificationError, match=f"first: query {row},") as caught:
        check_codes(coded.machine, coded.program, coded.codes, wrong)
    finding = caught.value.finding
    assert finding.of_codes
    failure = failure_of(
        finding, coded.machine, coded.program, queries, coded.answers, coded.codes, wrong
    )
    assert failure.avoided_by == ("--format float32",)
    assert failure.codes.tolist() == [coded.codes[row].tolist()]
    off = np.abs(failure.model_of_codes.decisions[0, 0] - failure.of_codes.decisions[0, 0])
    assert off > failure.of_codes.bounds[0, 0]


def test_each_kind_of_failure_says_what_to_do(low, asked, tmp_path):
    answers = low.answers(asked.X)
    row = int(np.flatnonzero(answers.results["certified"])[0])
    label = 1 - answers.results["label"][row]
    decisions = answers.decisions.copy()
    decisions[row, 0] += 1000
    painted = types.SimpleNamespace(painted_stack_bytes=200)
    static = types.SimpleNamespace(stack_bytes=100)
    verifier = Verifier(low.machine, low.program, M7, asked, answers, print)
    instructions = np.full(len(asked.X), 10)
    instructions[5] = 11
    kinds = {
        Broken.SELF_TEST: lambda _: check_exact(
            answers, run_result(records_of(answers), Status.ERROR_CORRUPT), "host"
        ),
        Broken.VALUE: lambda _: check_bounded(
            low.machine, asked, replace(answers, decisions=decisions)
        ),
        Broken.LABEL: lambda _: check_bounded(
            low.machine, asked, changed(answers, row, label=label)
        ),
        Broken.STACK: lambda _: verifier._painted(static, painted),
        Broken.WORST_CASE: lambda _: check_worst_case(
            WorstCase(10, 10, None), instructions, "cortex-m7"
        ),
    }
    say = {broken: told(check, low, asked, tmp_path / "m") for broken, check in kinds.items()}
    for broken, error in say.items():
        assert error.exit_code == 1
        assert error.finding.broken is broken
        last = str(error).splitlines()[-1]
        assert f"please report it with {tmp_path / 'm-failed.json'}" in last
        rows = {Broken.SELF_TEST: [], Broken.STACK: [], Broken.WORST_CASE: [5]}.get(broken, [row])
        assert error.failure.rows.tolist() == rows
        assert (len(error.saved) == 2) == bool(rows)
        assert ("which hold 1 failing input" in last) == bool(rows)
    assert "to go on: --verify host, which leaves this figure out" in str(say[Broken.WORST_CASE])
    assert "no option leaves this out" in str(say[Broken.STACK])
    assert f"first: query {row}, '{low.machine.classes[label]}' is" in str(say[Broken.LABEL])
    # Each took the place of the one before it; no .npz is left of those with queries.
    assert len(list(tmp_path.iterdir())) == 2


def test_a_refuted_risk_speaks_of_samples_and_keeps_them(tmp_path):
    low = digits_cascade("rbf", (3, 8))
    X, _ = digits((3, 8))
    queries, answers = Queries(X, "test-data", len(X), len(X)), low.answers(X)
    open_rows = np.flatnonzero(~answers.results["certified"])[:50]
    wrong = changed(answers, open_rows, label=1 - answers.results["label"][open_rows])
    promise = Promise("guaranteed", 0.001, 0.001, 0.99, 5000, 0, 1.0)

    def check(_: Answers) -> None:
        check_bounded(low.machine, queries, wrong, low.program.early_exits, promise)

    error = told(check, low, queries, tmp_path / "m")
    assert error.finding.broken is Broken.RISK
    lines = str(error).splitlines()
    assert "calibrate with samples like these" in lines[1]
    assert lines[2].startswith("or use --mode certified, which promises only what it proves; ")
    assert "hold 16 such samples" in lines[2]
    assert "report" not in str(error)
    assert lines[0].startswith(f"{len(error.finding.rows)} of {len(X)} test samples")
    assert set(open_rows) <= set(error.finding.rows)


def test_a_file_of_somebody_else_is_never_overwritten(low, asked, tmp_path):
    beside, check = tmp_path / "m", one_bit(low, 7, 4)
    (tmp_path / "m-failed.json").write_text('{"kmcompile": "my own notes"}')
    (tmp_path / "m-failed-2.npz").write_bytes(b"mine")
    link = tmp_path / "m-failed-3.json"
    link.symlink_to(tmp_path / "m-failed.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for _ in range(2):  # its own files are taken again
        error = told(check, low, asked, beside)
        assert [path.name for path in error.saved] == ["m-failed-4.json", "m-failed-4.npz"]
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after == before | dict(error.files)
    np.savez(error.saved[1], X=np.zeros((1, 3)))  # now it is the user's
    assert told(check, low, asked, beside).saved[0].name == "m-failed-5.json"


@pytest.mark.parametrize("content", ["[", "[1]", "null", '{"kmcompile_failure": 1}', "9" * 5000])
def test_a_text_that_only_looks_like_ours_is_somebody_elses(low, asked, tmp_path, content):
    (tmp_path / "m-failed.json").write_text(content)
    (tmp_path / "m-failed.npz").write_bytes(b"mine")
    error = told(one_bit(low, 7, 4), low, asked, tmp_path / "m")
    assert error.saved[0].name == "m-failed-2.json"
    assert (tmp_path / "m-failed.npz").read_bytes() == b"mine"


def test_where_nothing_can_be_written_the_error_stays_and_nothing_is_left(
    low, asked, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        error = told(one_bit(low, 7, 4), low, asked, tmp_path / "m")
    assert error.saved == ()
    assert "No space left on device" in str(error)
    assert "1 of" in str(error).splitlines()[0]
    assert list(tmp_path.iterdir()) == []
    assert len(error.files) == 2


def test_a_folder_that_is_gone_takes_nothing_from_the_error(low, asked, tmp_path):
    error = told(one_bit(low, 7, 4), low, asked, tmp_path / "gone" / "m")
    assert "No such file or directory" in str(error)
    assert error.exit_code == 1


def test_without_an_output_folder_the_error_holds_the_files(low, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = told(one_bit(low, 7, 4), low, asked, None)
    assert error.saved == ()
    assert list(error.files) == ["model-failed.npz", "model-failed.json"]
    assert "error.files has" in str(error)
    assert list(tmp_path.iterdir()) == []


def test_files_that_differ_have_their_own_advice(low):
    with pytest.raises(VerificationError) as caught, saving_failures(Path("m"), made(low)):
        raise VerificationError("m.c: SHA-256 differs\ncompile the model again")
    assert str(caught.value) == "m.c: SHA-256 differs\ncompile the model again"
    assert caught.value.saved == ()


def test_what_does_not_fail_leaves_nothing(low, tmp_path):
    with contextlib.suppress(ValueError), saving_failures(tmp_path / "m", made(low)):
        raise ValueError
    assert list(tmp_path.iterdir()) == []
