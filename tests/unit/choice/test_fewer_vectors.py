"""--reduce: sizes, methods, samples and errors, on digits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

import kmcompile
from kit.reduced_digits import TRAINED, digits, estimator, held_out
from kit.routed import Routed, samples
from kmcompile import readers
from kmcompile.choice.asked_vectors import as_asked
from kmcompile.choice.counted_size import _tested
from kmcompile.choice.program import choose_program
from kmcompile.choice.whole_program import choose_whole
from kmcompile.errors import BudgetError, InputError, ToolError, UsageError
from kmcompile.exits.statistical.binomial import clopper_pearson_upper
from kmcompile.exits.statistical.parted import parted
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.reference import evaluate
from kmcompile.program.estimate import CODE_BYTES
from kmcompile.program.interpreter import interpret
from kmcompile.reduction.measured import losses_against
from kmcompile.reduction.sizes import Answers, Sizes
from kmcompile.request.options import Options
from kmcompile.request.plan import Request
from kmcompile.target import load_target


def asked(task: str = "binary", data: np.ndarray | None = None, **options):
    """Return the machine and what `--reduce` makes of it."""
    machine = readers.load_model(estimator(task))
    return machine, reduced(machine, data, **options)


def reduced(machine, data: np.ndarray | None = None, **options):
    request = Request.of(estimator("binary"), Options(data=_file(data), **options))
    return as_asked(machine, request.plan(machine), lambda _: None)


def _file(data: np.ndarray | None) -> Path | None:
    if data is None:
        return None
    np.savez("samples.npz", X=data)
    return Path("samples.npz")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_without_the_option_nothing_changes():
    machine, made = asked()
    assert made.machine is machine and made.reduction is None


def test_a_number_of_vectors_without_samples():
    machine, made = asked(reduce="30")
    assert made.machine.n_support_vectors == 30
    assert made.reduction.chosen.method == "construction"
    assert made.reduction.chosen.limit is None
    assert "nothing is known of the labels" in made.reduction.notes[0]
    assert made.machine.reduced_from.machine is machine


def test_as_many_vectors_as_there_are_is_the_machine_itself():
    machine, made = asked(reduce="100000")
    assert made.machine is machine
    assert "nothing to reduce" in made.reduction.notes[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["certified", "exact"])
def test_auto_keeps_the_risk_on_samples_that_nothing_else_saw(mode):
    risk = 0.06
    machine, made = asked(data=held_out(), reduce="auto", risk=risk, mode=mode)
    reduction, chosen = made.reduction, made.reduction.chosen
    sizes = [point.n_vectors for point in reduction.points]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == machine.n_support_vectors
    assert chosen.n_vectors == made.machine.n_support_vectors < sizes[0] / 2
    assert reduction.risk == risk
    assert chosen.limit <= risk
    assert chosen.limit == clopper_pearson_upper(chosen.disagreements, chosen.n_samples)
    for point in reduction.points[1:-1]:
        assert point.limit <= risk
    if reduction.points[-1] is not chosen:
        assert reduction.points[-2] is chosen and reduction.points[-1].limit > risk


@pytest.mark.exhaustive
def test_control_samples_go_on_and_all_to_early_exits_which_have_the_same():
    _, certified = asked(data=held_out(), reduce="20", mode="certified")
    _, statistical = asked(data=held_out(), reduce="20", risk=0.1)
    assert len(certified.plan.samples) == certified.reduction.chosen.n_samples < len(held_out())
    assert len(statistical.plan.samples) == len(held_out())
    exits = choose_program(statistical.machine, statistical.plan, lambda _: None).exits
    assert exits.wish.parts.control.n == statistical.reduction.chosen.n_samples


def test_the_counts_are_the_machines():
    machine, made = asked(data=held_out(), reduce="12", mode="certified")
    X = made.plan.samples
    unlike = (evaluate(machine, X).labels != evaluate(made.machine, X).labels).sum()
    assert unlike == made.reduction.chosen.disagreements


@pytest.mark.exhaustive
def test_a_regression_disagrees_beyond_the_tolerance():
    machine, made = asked(
        "regression", held_out(), reduce="auto", risk=0.05, tolerance=1.0, mode="certified"
    )
    X = made.plan.samples
    apart = evaluate(machine, X).decisions - evaluate(made.machine, X).decisions
    assert (np.abs(apart) > 1.0).sum() == made.reduction.chosen.disagreements
    assert made.machine.n_support_vectors < machine.n_support_vectors


@pytest.mark.parametrize("number_format", ["int8", "int16", "auto"])
@pytest.mark.parametrize("data", [False, True], ids=["alone", "with samples"])
def test_vectors_stay_on_the_grid_of_an_integer_format(number_format, data):
    samples = held_out() if data else None
    _, made = asked(data=samples, reduce="25", format=number_format, mode="certified")
    vectors = made.machine.support_vectors
    np.testing.assert_array_equal(vectors, np.rint(vectors))
    assert vectors.min() >= 0 and vectors.max() <= 16
    assert made.reduction.chosen.method in ("construction", "imitation")
    assert made.reduction.chosen.distance < asked(reduce="8")[1].reduction.chosen.distance


def test_the_same_input_gives_the_same_machine():
    first, second = (asked(data=held_out(), reduce="15", risk=0.1)[1] for _ in range(2))
    assert first.machine.canonical_bytes() == second.machine.canonical_bytes()


def test_a_risk_that_the_samples_do_not_support_is_refused():
    with pytest.raises(InputError, match=r"60[34] control samples .* 0.007\d .* not 0.001"):
        asked(data=held_out(), reduce="auto", risk=0.001, mode="certified")


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["certified", "exact"])
def test_the_risk_that_the_message_names_is_supported(mode):
    with pytest.raises(InputError, match="ask for --risk") as refused:
        asked(data=held_out(), reduce="auto", risk=0.001, mode=mode)
    named = float(str(refused.value).split("--risk ")[-1].split(",")[0])
    try:
        made = asked(data=held_out(), reduce="auto", risk=named, mode=mode)[1]
        assert made.reduction.chosen.limit <= named
    except BudgetError as error:  # no size is without any disagreement
        assert "no size keeps" in str(error)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "given",
    [
        {"risk": 0.0078, "mode": "certified"},
        pytest.param(
            {"risk": 0.011, "mode": "certified", "max_flash": 17_000},
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_the_risk_to_ask_for_where_no_size_keeps_the_given_one_works(given):
    with pytest.raises(BudgetError, match="ask for --risk") as refused:
        asked(data=held_out(), reduce="auto", **given)
    named = float(str(refused.value).split("--risk ")[-1].split(",")[0])
    assert f"a risk of {given['risk']:g}" in str(refused.value)
    reduction = asked(data=held_out(), reduce="auto", **given | {"risk": named})[1].reduction
    assert reduction.chosen.limit <= named


def test_too_few_samples_are_refused():
    with pytest.raises(InputError, match=r"150 usable .* at least 200 .* --reduce"):
        asked(data=held_out()[:150], reduce="9")


@pytest.mark.exhaustive
def test_no_size_fits_a_small_flash():
    with pytest.raises(BudgetError, match="no size fits 2,000 bytes of flash and keeps a risk"):
        asked(data=held_out(), reduce="auto", risk=0.06, mode="certified", max_flash=2000)


@pytest.mark.exhaustive
def test_a_second_copy_of_the_tables_counts_in_the_flash():
    given = {"reduce": "auto", "risk": 0.06, "mode": "certified"}
    chosen = asked(data=held_out(), **given)[1].reduction.chosen
    enough = CODE_BYTES + chosen.table_bytes
    assert asked(data=held_out(), **given, max_flash=enough)[1].reduction.chosen == chosen
    given |= {"redundancy": 2}
    assert asked(data=held_out(), **given, max_flash=enough + chosen.table_bytes)
    with pytest.raises(BudgetError, match=f"{enough:,} bytes of flash with all copies of its tab"):
        asked(data=held_out(), **given, max_flash=enough)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (lambda X, y: LinearSVC().fit(X, y), "no vectors to reduce"),
        (
            lambda X, y: SVC(kernel="sigmoid").fit(X, y),
            "rbf, laplacian, chi2, matern, rational",
        ),
    ],
    ids=["linear", "sigmoid"],
)
def test_other_kernels_are_refused_by_name(model, problem):
    X, y = digits()
    machine = readers.load_model(model(X[:300], y[:300] > 4))
    with pytest.raises(InputError, match=problem):
        reduced(machine, reduce="5")


def test_training_samples_are_refused():
    with pytest.raises(InputError, match="the model was trained on"):
        asked(data=digits()[0][:TRAINED], reduce="20")


def test_auto_of_a_regression_needs_a_tolerance():
    with pytest.raises(UsageError, match="--tolerance"):
        asked("regression", held_out(), reduce="auto", risk=0.05, mode="certified")


def test_too_many_instructions_are_refused_and_a_host_has_no_count():
    with pytest.raises(ToolError, match="worst case is not known"):
        kmcompile.compile_model(estimator("binary"), reduce="5", max_instructions=10, verify="host")


@pytest.mark.parametrize("number_format", ["float32", "int8"])
def test_what_rounding_to_codes_changes_is_a_disagreement(number_format):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(4000) < 0.1)
    machine = readers.load_model(SVC(C=10, gamma=0.5).fit(X[:300].astype(float), y[:300]))
    hold = Answers.of(machine, X[300:], None)
    lowered = lower_in_format(machine, load_target("host"), "m", number_format)
    unlike = interpret(lowered.program, hold.X).results["label"] != hold.labels
    assert np.array_equal(losses_against(lowered, hold)[1], unlike)
    assert (unlike.sum() > 5) == (number_format == "int8")


@pytest.mark.parametrize(("good", "first"), [(1, 5), (12, 32), (80, 100), (101, 100)])
def test_the_test_begins_four_sizes_above_what_the_other_samples_suggest(good, first):
    pick = SimpleNamespace(
        X=np.zeros((100, 1)),
        disagreements=lambda n: 0 if n >= good else 50,
        allowed=lambda risk: risk * 50,
    )
    made = SimpleNamespace(largest=100, pick=pick)
    made.at = lambda n: SimpleNamespace(machine=n)
    sizes = _tested(made, 0.02)
    assert sizes[0] == first and sizes[-1] == 1
    assert sizes == sorted(set(sizes), reverse=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("mode", "kept"), [("exact", True), ("statistical", False)])
def test_the_program_has_the_format_in_which_disagreements_were_counted(mode, kept):
    options = {"reduce": "auto", "risk": 0.12, "mode": mode, "target": "cortex-m7"}
    _, made = asked(data=held_out(), **options)
    assert (made.plan.number_format != "auto") == kept


def test_with_early_exits_the_promise_of_the_whole_program_counts():
    _, statistical = asked(data=held_out(), reduce="20", risk=0.1)
    assert statistical.reduction.chosen.limit is None
    assert "the promise of the whole program" in statistical.reduction.notes[-1]
    _, exact = asked(data=held_out(), reduce="20", mode="exact")
    assert exact.reduction.chosen.limit is not None


def test_early_exits_that_the_samples_do_not_support_leave_the_count_to_fewer_vectors():
    _, few = asked(data=held_out()[:300], reduce="20")
    assert few.reduction.chosen.limit is not None
    _, paper = asked(data=held_out(), reduce="20", thresholds="simple", mode="statistical")
    assert paper.reduction.chosen.limit is not None
    assert len(paper.plan.samples) == len(held_out())


def test_samples_that_a_format_refuses_stay_out_of_the_other_parts():
    """Which part a sample is in does not depend on the program."""
    machine, X = readers.load_model(estimator("binary")), held_out().copy()
    X[::9] *= 40.0  # beyond what the codes hold
    plan = Request.of(estimator("binary"), Options(data=_file(X), risk=0.1)).plan(machine)
    target = load_target("cortex-m7")
    given = [
        parted(low.machine, low.program.prepare, plan, lambda _: None)
        for low in (lower_in_format(machine, target, "m", name) for name in ("float32", "int8"))
    ]
    assert given[0].n_refused < given[1].n_refused == len(X[::9])
    floats, codes = ([row.tobytes() for row in one.X[one.parts.control.rows]] for one in given)
    assert set(codes) < set(floats)


def test_refused_samples_do_not_change_how_large_the_parts_are():
    """The least risk of fewer samples has another control part."""
    machine, X = readers.load_model(estimator("binary")), np.tile(held_out(), (4, 1))
    X = X[:4300] + np.random.default_rng(0).random((4300, 64), dtype=np.float32)
    X[:60] *= 40.0
    plan = Request.of(estimator("binary"), Options(data=_file(X), risk="auto")).plan(machine)
    floats, codes = (
        parted(low.machine, low.program.prepare, plan, lambda _: None)
        for low in (
            lower_in_format(machine, load_target("cortex-m7"), "m", name)
            for name in ("float32", "int8")
        )
    )
    rows = [{row.tobytes() for row in one.X[one.parts.control.rows]} for one in (floats, codes)]
    assert len(codes.X) == len(floats.X) - 60
    assert rows[1] <= rows[0]


def test_fewer_vectors_are_counted_where_no_early_exit_can_stand_before_them():
    machine = Routed("wine", 4).machine()
    X = samples("wine")[0]
    rng = np.random.default_rng(0)
    data = np.vstack([X + rng.normal(size=X.shape) / 4 for _ in range(12)]).astype(np.float32)
    options = Options(data=_file(data), reduce="12", mode="statistical", risk=0.2, format="int16")
    plan = Request.of(estimator("binary"), options).plan(machine)
    reduced, made = choose_whole(machine, plan, None, lambda _: None)
    assert made.exits.calibration is None
    assert reduced.reduction.chosen.limit is not None


def test_sizes_off_the_grid_share_the_selection_and_round_nothing():
    machine, X = readers.load_model(estimator("binary")), held_out()
    parts = Answers.of(machine, X[300:600], None)
    on_grid = Sizes(machine, 60, X[:300], parts, lambda _: None, on_grid=True)
    free = on_grid.off_grid()
    assert on_grid.are_on_grid and not free.are_on_grid
    assert free.selections is on_grid.selections
    rounded, moved = (one.at(12).machine.support_vectors for one in (on_grid, free))
    np.testing.assert_array_equal(rounded, np.rint(rounded))
    assert (moved != np.rint(moved)).any()
