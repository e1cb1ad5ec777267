"""reliability 44: a program whose stages disagree about what they share cannot be made."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit import catalogue
from kit.cascades import Cascade
from kit.coded import Coded, divided_digits, few_pixels, few_poly_digits, smooth
from kit.emitted import Emitted
from kit.input_tolerances import Tolerant
from kit.long_replays import QUICK as LONG_REPLAYS
from kit.pairs import Pairs
from kit.sparse_digits import SparseDigits
from kit.subspaces import SubspaceCase
from kmcompile import cli
from kmcompile.errors import InputError
from kmcompile.program import storage
from kmcompile.program.shared import Place
from kmcompile.program.stages import (
    CATALOGUE,
    Always,
    ExactSum,
    FineSum,
    NearestVectors,
    Nonzeros,
    PairSum,
    Sign,
    SubspaceCertificate,
    Vote,
)
from kmcompile.steps import Scale

CASES = {
    "certified": SubspaceCase("cosine9", "digits", "l2", 12, 30, n_trained=40),
    "statistical": Cascade("rbf", "one_vs_one", "by_score", pooled=True, n_trained=40),
    "sparse": SparseDigits("rbf", "one_vs_one", normalizes=True, n_trained=40),
    "by_pairs": Pairs(n_samples=60, n_features=5, has_exit=True),
    "codes": Coded(few_pixels, "int8", low_parts=True),
    "codes_of_three": Coded(divided_digits, "int8", low_parts=False),
    "fine_codes": Coded(smooth, "int8", low_parts=True),
    "in_integers": LONG_REPLAYS[0],
    "pairs_in_integers": next(case for case in LONG_REPLAYS if "pairs" in str(case)),
    "coded_sum": Coded(few_poly_digits, "int8"),
}


@cache
def emitted(name: str) -> Emitted:
    return CASES[name].emit("host")


def program(name: str):
    return emitted(name).program


def of_kind(name: str, kind: type):
    return next(stage for stage in program(name).stages if isinstance(stage, kind))


class OtherSum(Always):
    """A sum whose C nobody has: the emitter would write the C of a linear one."""

    template, place, takes_exits, exit = "other_sum", Place.SUM, True, "exact"

    def operations(self) -> int:
        return 0

    def run(self, batch):
        return batch


class OtherLabel(OtherSum):
    template, place, takes_exits, exit = "other_label", Place.LABEL, False, None


def test_an_unknown_sum_or_label_is_refused():
    whole = program("certified")
    with pytest.raises(ValueError, match="other_sum is none of the sums and labels"):
        replace(whole, sum=OtherSum(), exits=())
    with pytest.raises(ValueError, match="other_label is none of the sums and labels"):
        replace(whole, label=OtherLabel())


def with_stages(name: str, *stages):
    """Return a program with other stages between `prepare` and the sum."""
    made = program(name)
    return replace(made, replay=None, exits=stages)


def exchanged(name: str, stage, other):
    """Return a program with one stage in the place of another."""
    made = program(name)
    return replace(made, exits=tuple(other if each is stage else each for each in made.exits))


def test_every_stage_has_a_place_in_the_order_of_a_program():
    assert {stage.place for stage in CATALOGUE} == set(Place)


@pytest.mark.few
@pytest.mark.parametrize("name", CASES)
def test_no_stage_can_be_laid_out_for_another_constant_of_the_program(name, monkeypatch):
    made = program(name)
    stages = [*made.stages, *([made.replay] if made.replay is not None else [])]
    said = [constant for each in (made, *stages) for constant, _ in each.shared()]
    for stage in stages:
        for place, (constant, value) in enumerate(stage.shared()):
            if said.count(constant) < 2:
                continue  # nothing else knows it
            others = list(stage.shared())
            others[place] = (constant, value + 1)
            with monkeypatch.context() as patched:
                lie(patched, stage, tuple(others))
                with pytest.raises(ValueError, match=f"is laid out for {constant} = "):
                    replace(made)


def lie(patched, stage, shared) -> None:
    """Make one stage, and no other one of its class, say what it is not laid out for."""
    truth = type(stage).shared
    patched.setattr(type(stage), "shared", lambda self: shared if self is stage else truth(self))


@pytest.mark.parametrize("name", ["certified", "statistical"])
def test_what_computes_kernels_of_the_exact_sum_has_its_lanes(name):
    exit_ = of_kind(name, SubspaceCertificate if name == "certified" else NearestVectors)
    n_blocks, n, lanes = exit_.vectors.shape
    slots = exit_.vectors.transpose(0, 2, 1).reshape(-1, n)
    narrow = slots.reshape(n_blocks * 2, lanes // 2, n).transpose(0, 2, 1)
    with pytest.raises(ValueError, match=f"laid out for LANES|{exit_.name} is laid out for N_BL"):
        exchanged(name, exit_, replace(exit_, vectors=narrow))


def test_single_kernels_are_those_of_an_exact_sum_of_floats():
    nearest = of_kind("statistical", NearestVectors)
    for name in ("by_pairs", "codes", "coded_sum"):
        exact = program(name).ends.exact
        with pytest.raises(
            ValueError, match=f"nearest_vectors cannot stand before this {exact.name}"
        ):
            with_stages(name, nearest)


def test_nearest_vectors_have_no_distance_below_0():
    """The C takes no exponential of one: it would touch other vectors than the interpreter."""
    nearest = of_kind("statistical", NearestVectors)
    with pytest.raises(ValueError, match="residuals of nearest_vectors must be at least 0"):
        replace(nearest, residuals=np.full_like(nearest.residuals, -1e-16))


def test_a_sum_of_pairs_stands_before_votes_that_break_no_ties():
    made = program("by_pairs")
    vote = replace(of_kind("by_pairs", Vote), break_ties=True)
    with pytest.raises(ValueError, match="pair_sum cannot stand before this vote"):
        replace(made, label=vote)


def test_the_list_of_nonzeros_stands_before_what_goes_through_it():
    made = program("sparse")
    assert isinstance(made.exits[0], Nonzeros) and made.ends.exact.skip_zeros
    with pytest.raises(ValueError, match="exact_sum needs nonzeros"):
        with_stages("sparse")
    with pytest.raises(ValueError, match="nonzeros cannot stand before this fixed_sum"):
        with_stages("codes", made.exits[0])


def test_stages_have_one_order_and_one_name_each():
    made = program("statistical")
    first, exits = made.exits[:2], made.exits[2:]
    with pytest.raises(ValueError, match="wrong order: prepare"):
        with_stages("statistical", *exits, *first)
    with pytest.raises(ValueError, match=f"2 stages have the name {exits[0].name}"):
        with_stages("statistical", *first, *exits, exits[0])
    with pytest.raises(ValueError, match="2 stages are of the kind SUM"):
        replace(made, exits=(*made.exits, made.sum))
    with pytest.raises(ValueError, match="0 stages are of the kind LABEL, must be 1"):
        replace(made, exits=made.exits[:-1], sum=made.exits[-1], label=made.sum)


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("group_decisions", 100, "group_decisions has an element that is not from 0 to "),
        ("group_ends", 1, "group_ends does not rise to N_BLOCKS = "),
        ("group_ends", -1, "group_ends does not rise to N_BLOCKS = "),
    ],
)
def test_no_stage_reads_behind_a_table(field, change, message):
    made = program("certified")
    indices = getattr(made.sum, field).astype(np.int64)
    indices.reshape(-1)[-1] += change
    with pytest.raises(ValueError, match=message):
        replace(made, sum=replace(made.sum, **{field: indices}))


def test_no_known_answer_has_a_label_that_there_is_not():
    made = program("certified")
    labels = made.known_answers.labels + len(made.classes)
    with pytest.raises(ValueError, match="labels has an element that is not from 0 to 1"):
        replace(made, known_answers=replace(made.known_answers, labels=labels))


def test_each_stage_stands_in_the_field_of_its_kind():
    made = program("by_pairs")
    with pytest.raises(ValueError, match="replay stands where the label must be made"):
        replace(made, exits=(*made.exits, made.sum), sum=made.label, label=made.replay)


def test_a_label_stage_has_the_decisions_of_the_sum():
    made = program("statistical")
    with pytest.raises(ValueError, match="sign is laid out for N_DECISIONS = 1"):
        replace(made, label=Sign(zero_is_positive=True))


def test_a_replay_sums_the_tables_of_the_exact_sum():
    made = program("by_pairs")
    assert made.replay is not None and isinstance(made.replay.sum, PairSum)
    summed = made.replay.sum
    changed = {
        "entry_vectors": np.roll(summed.entry_vectors, 1),
        "vectors": summed.vectors[::-1],
        "coefficients": summed.coefficients * 2,
    }
    for table, values in changed.items():
        replay = replace(made.replay, sum=replace(summed, **{table: values}))
        with pytest.raises(ValueError, match=f"replay has other {table} than"):
            replace(made, replay=replay)


@pytest.mark.parametrize("table", ["vectors", "coefficients", "group_ends", "group_decisions"])
@pytest.mark.parametrize("name", ["codes", "codes_of_three", "fine_codes"])
def test_a_replay_in_fine_codes_sums_the_tables_of_the_sum_in_integers(name, table):
    made = program(name)
    summed = made.replay.sum
    assert isinstance(summed, FineSum)
    values = getattr(summed, table).copy()
    first = np.flatnonzero(summed.coefficients.any(axis=1))[0] if table == "vectors" else 0
    values[first] = -values[first] if table == "coefficients" else values[first] + 1
    replay = replace(made.replay, sum=replace(summed, **{table: values}))
    with pytest.raises(ValueError, match=f"replay has other {table} than"):
        replace(made, replay=replay)


@pytest.mark.parametrize("name", ["fine_codes", "in_integers", "pairs_in_integers"])
def test_a_replay_has_the_low_parts_that_the_c_reads(name):
    made = program(name)
    replay = made.replay
    assert replay.low_vectors.size and replay.low_coefficients.size
    low = replay.low_vectors.copy()
    low.flat[np.flatnonzero(low)[0]] += 1
    none = np.zeros(0, dtype=low.dtype)
    for changed in (
        {"low_vectors": low},
        {"low_vectors": low[:1]},
        {"low_vectors": none},
        {"low_coefficients": replay.low_coefficients[:1]},
        {"low_coefficients": none},
    ):
        with pytest.raises(ValueError, match="replay has other"):
            replace(made, replay=replace(replay, **changed))


def test_a_step_takes_what_the_one_before_it_gives():
    made = catalogue.emitted(catalogue.CORE[1], "host").program
    scale = made.prepare.steps[0]
    assert isinstance(scale, Scale)
    short = replace(scale, **{name: getattr(scale, name)[1:] for name in ("high", "low", "factor")})
    with pytest.raises(ValueError, match=f"scale takes {scale.n_in - 1} features, of {scale.n_in}"):
        replace(made, prepare=replace(made.prepare, steps=(short, *made.prepare.steps[1:])))
    with pytest.raises(ValueError, match="two parts of an offset for each feature"):
        replace(scale, low=scale.low[1:])


def test_a_replay_without_low_parts_has_no_table_of_them():
    made = program("codes_of_three")
    assert made.replay.low_vectors.size == made.replay.low_coefficients.size == 0
    for name in ("low_vectors", "low_coefficients"):
        with pytest.raises(ValueError, match="replay has other low"):
            replace(made, replay=replace(made.replay, **{name: np.zeros(1, dtype=np.int16)}))


def test_the_tables_of_a_box_are_checked():
    made = Tolerant("framed_digits", "raw", "rbf", 0.02, n_trained=40).emit("host").program
    slopes = made.box.slopes
    columns = slopes.columns.copy()
    columns[0] = made.prepare.n_out
    reasons = {
        "columns has an element that is not from 0": columns,
        "the box has other columns": slopes.columns[1:],
        "other columns": slopes.columns[::-1],
    }
    for reason, changed in reasons.items():
        with pytest.raises(ValueError, match=reason):
            replace(made, box=replace(made.box, slopes=replace(slopes, columns=changed)))


def tampered(content: bytes) -> bytes:
    """Return program.npz with one more intercept."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {key: file[key] for key in file.files}
    key = next(key for key in arrays if key.endswith(".intercept"))
    arrays[key] = np.append(arrays[key], arrays[key][:1])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_a_tampered_program_is_no_program():
    made = program("certified")
    assert isinstance(made.ends.exact, ExactSum)
    with pytest.raises(InputError) as error:
        storage.load(tampered(storage.save(made)), "program.npz")
    assert str(error.value) == (
        "program.npz: damaged (exact_sum is laid out for N_DECISIONS = 2, the program for 1); "
        "compile the model again"
    )


def test_verify_refuses_a_tampered_program(tmp_path, capsys):
    case = catalogue.FEW_VECTORS[1]
    folder = case.emit("host", "m").write(tmp_path / "m")
    for name, text in (("queries.npz", ""), ("report.json", json.dumps({"files": {}}))):
        (folder / name).write_text(text)
    path = folder / "program.npz"
    path.write_bytes(tampered(path.read_bytes()))
    assert cli.run(["verify", str(folder)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= len(err.splitlines()) <= 3
    assert "program.npz: damaged" in err and "is laid out for N_DECISIONS" in err
    shutil.rmtree(folder)
