"""A model in an image gives the interpreter's answers, also on code of another model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.covering import some
from kit.emitted import emit_model
from kit.images import NAMES, InImage, estimator, in_image
from kit.tools import FAST, need_tools
from kmcompile.build import build
from kmcompile.emit.images.patch import check_image
from kmcompile.program import storage
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import CodeTable, FixedSum
from kmcompile.run import runner_for
from kmcompile.target import list_targets, load_target

HOST = load_target("host")
MODES = ("exact", "certified")
BOARDS = [
    target.name
    for target in list_targets()
    if target.emulator is not None and not target.tables_apart
]
SOME_BOARDS = ("cortex-m7", "leon3", "rv32imafc")


def check(flying, target, folder):
    """Build code with an image, and compare all that it answers."""
    optimisation = FAST if target is HOST else None
    with build(flying.recipe, flying.write(folder), target, optimisation=optimisation) as artifact:
        run = runner_for(target).run(artifact, flying.inputs)
    np.testing.assert_array_equal(run.records, flying.records)
    assert run.self_test == Status.OK


@pytest.mark.few
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_the_interpreters_bit_for_bit(name, mode, tmp_path):
    need_tools(HOST)
    check(in_image(estimator(name, 0), mode=mode), HOST, tmp_path)


@pytest.mark.few
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_retrained_model_flies_on_the_code_of_the_first(name, mode, tmp_path):
    need_tools(HOST)
    first = in_image(estimator(name, 0), mode=mode, vectors=400)
    later = in_image(estimator(name, 1), mode=mode, like=first)
    n_answers = len(later.program.known_answers)
    assert first.program.capacity.exceeded_by(later.program.sum, n_answers) is None
    for file in ("iris.h", "iris.c"):
        assert later.files[file] == first.files[file]
    assert later.image != first.image
    check(first.with_image_of(later), HOST, tmp_path)


@pytest.mark.exhaustive
def test_local_expansion_of_a_retrained_model_flies_in_the_shape_of_the_first(tmp_path):
    need_tools(HOST)
    name, stage = "breast_cancer_rbf", "local_expansion"
    first = in_image(estimator(name, 0), mode="certified", vectors=140, require=stage)
    later = in_image(estimator(name, 1), mode="certified", like=first)
    (old,), (new,) = first.program.early_exits, later.program.early_exits
    assert old.name == new.name == stage
    assert [table.values.shape for table in old.tables()] == [
        table.values.shape for table in new.tables()
    ]
    assert not np.array_equal(old.centres, new.centres)
    assert later.files["iris.c"] == first.files["iris.c"]
    assert later.answers.results["certified"].mean() > 0.5
    assert (later.answers.results["stage"] == 0).mean() > 0.3
    check(first.with_image_of(later), HOST, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", some(BOARDS, SOME_BOARDS))
def test_retrained_model_flies_on_a_board(target, mode, tmp_path):
    """On leon3 every number in the image is big-endian."""
    board = load_target(target)
    need_tools(board)
    first = in_image(estimator("iris_rbf", 0), target, mode, vectors=80)
    later = in_image(estimator("iris_rbf", 1), target, mode, first)
    check(first.with_image_of(later), board, tmp_path)


OPTIONS = {
    "telemetry": ("wine_poly", {"telemetry": True}),
    "telemetry of values": ("diabetes_regression", {"telemetry": True}),
    "bytes without loss": ("digits_rbf", {"format": "int8"}),
    "rounded bytes": ("iris_rbf", {"format": "int8", "telemetry": True}),
    "rounded bytes of many features": ("breast_cancer_rbf", {"format": "int8"}),
    "words": ("breast_cancer_rbf", {"format": "int16"}),
    "words of values": ("diabetes_regression", {"format": "int16"}),
    "words of one class": ("breast_cancer_one_class", {"format": "int16"}),
    "words of one against the rest": ("iris_one_vs_rest", {"format": "int16"}),
}
"""Options that go with an image, each with a model of `kit.images`."""


BOARDS = ("cortex-m7", "cortex-m0", "cortex-m55", "leon3")
"""A layout of codes each, and a byte order."""


def retrained(name, options, target="host"):
    """Return the code of a model, and a retrained model in an image for it."""
    first = in_image(estimator(name, 0), target, vectors=700, **options)
    later = in_image(estimator(name, 1), target, like=first, **options)
    assert first.program.capacity.exceeded_by(later.program.sum, 0) is None
    for file in ("iris.h", "iris.c"):
        assert later.files[file] == first.files[file]
    return first, later


@pytest.mark.exhaustive
@pytest.mark.parametrize("option", OPTIONS)
def test_retrained_model_flies_with_an_option(option, tmp_path):
    need_tools(HOST)
    first, later = retrained(*OPTIONS[option])
    check(first, HOST, tmp_path / "first")
    check(first.with_image_of(later), HOST, tmp_path / "later")


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize(
    "case",
    some(
        [(option, target) for option in OPTIONS for target in BOARDS],
        (
            "telemetry on cortex-m7",
            "words on cortex-m7",
            "bytes without loss on cortex-m7",
            "rounded bytes on leon3",
            "words on cortex-m0",
            "rounded bytes on cortex-m55",
        ),
        " on ".join,
    ),
)
def test_retrained_model_flies_with_an_option_on_a_board(case, tmp_path):
    option, target = case
    board = load_target(target)
    need_tools(board)
    first, later = retrained(*OPTIONS[option], target)
    check(first.with_image_of(later), board, tmp_path)


def damaged_sums():
    """Yield the sum of a program, then such that its code is not proved for, with the program."""
    emitted = in_image(estimator("breast_cancer_rbf", 0), format="int16")
    summed = emitted.program.sum
    yield emitted, summed
    yield emitted, replace(summed, multiplier=(1 << 32) - 1)
    yield emitted, replace(summed, cutoff=1 << 32)
    yield emitted, replace(summed, product_shift=summed.product_shift - 12)
    yield emitted, replace(summed, product_shift=-8)
    yield emitted, replace(summed, result_shift=0)
    yield emitted, replace(summed, result_shift=64)
    yield emitted, replace(summed, start=summed.start + np.uint64(1 << 63))
    rows = summed.group_rows.copy()
    rows[-1] = 2 * summed.n_decisions
    yield emitted, replace(summed, group_rows=rows)
    ends = summed.group_ends.copy()
    ends[-1] += 1
    yield emitted, replace(summed, group_ends=ends)


@pytest.mark.few
@pytest.mark.parametrize("part", range(10))
def test_sum_that_may_overflow_is_not_opened(part, tmp_path, monkeypatch):
    """What is proved of sums in integers is checked of each image; the first is the model's own."""
    need_tools(HOST)
    monkeypatch.setattr(FixedSum, "check_tables", lambda summed, known: None)
    emitted, summed = list(damaged_sums())[part]
    made = InImage(emitted.machine, replace(emitted.program, sum=summed), emitted.target)
    assert made.files["iris.c"] == emitted.files["iris.c"]
    flying = emitted.with_image_of(made)
    with build(flying.recipe, flying.write(tmp_path), HOST, optimisation=FAST) as artifact:
        run = runner_for(HOST).run(artifact, emitted.inputs[:3])
    assert (run.self_test == Status.OK) == (part == 0)
    assert ((run.records[:, 0] == Status.ERROR_NULL) == (part != 0)).all()


def test_squares_that_are_not_the_vectors_are_not_opened(monkeypatch, tmp_path):
    need_tools(HOST)
    emitted = in_image(estimator("iris_rbf", 0), format="int8")
    files = emitted.files
    own = CodeTable.squares.fget
    monkeypatch.setattr(CodeTable, "squares", property(lambda codes: own(codes) + 1))
    made = InImage(emitted.machine, emitted.program, emitted.target)
    assert made.files["iris.c"] == files["iris.c"]
    assert made.files["iris_image.c"] != files["iris_image.c"]
    with build(made.recipe, made.write(tmp_path), HOST, optimisation=FAST) as artifact:
        run = runner_for(HOST).run(artifact, emitted.inputs[:3])
    assert (run.records[:, 0] == Status.ERROR_NULL).all()


def test_code_for_images_holds_any_codes_of_its_type():
    """Sums of 16 bits codes have 64 bits there, and no feature is left out."""
    summed = in_image(estimator("digits_rbf", 0), format="int8").program.sum
    assert not summed.codes.wide and not summed.codes.picks_columns
    assert summed.codes.any_fits_words()
    summed = in_image(estimator("iris_rbf", 0), format="int16").program.sum
    assert summed.codes.wide and not summed.codes.any_fits_words()
    assert (summed.codes.low, summed.codes.high) == (-32767, 32767)


def test_image_says_what_a_code_stands_for():
    """The last tables of an image in integers are the offset and the step of each feature."""
    emitted = in_image(estimator("iris_rbf", 0), format="int8")
    scale = emitted.program.scale
    assert emitted.image.endswith(scale.offset.tobytes() + scale.step.tobytes())


def test_image_of_a_big_endian_target_says_so():
    image = in_image(estimator("iris_rbf", 0), "leon3").image
    check_image(image, "iris.bin")
    assert image[4:8] == b"\x01\x02\x03\x04"


@pytest.mark.parametrize("name", some(list(NAMES), ("iris_rbf", "wine_linear_one_vs_rest")))
def test_code_has_none_of_the_models_numbers(name):
    """Two models of one shape have one text: it is the contract between code and image."""
    first = in_image(estimator(name, 2), vectors=400)
    later = in_image(estimator(name, 3), like=first)
    assert first.program.model_sha256 != later.program.model_sha256
    for file in ("iris.h", "iris.c", "iris_harness.c", "iris_patch.c"):
        assert first.files[file] == later.files[file]


def test_option_off_leaves_the_code_as_it_was():
    """A program without a capacity stores none and emits no image."""
    emitted = emit_model(estimator("iris_rbf", 0))
    assert emitted.program.capacity is None
    assert not any(file.endswith(("_image.c", "_patch.c")) for file in emitted.files)
    assert b"capacity" not in storage.save(emitted.program)


def test_capacity_is_stored_with_the_program():
    program = in_image(estimator("iris_rbf", 0), vectors=77).program
    assert storage.load(storage.save(program), "program.npz").capacity == program.capacity
    assert program.capacity.vectors == 77


def test_any_model_of_the_capacitys_vectors_has_room():
    """However its vectors fall into groups: each group fills up one block at most."""
    program = in_image(estimator("iris_rbf", 0), vectors=61).program
    capacity, lanes = program.capacity, program.sum.lanes
    for first in range(1, 61 - capacity.groups):
        sizes = [first, *[1] * (capacity.groups - 2)]
        sizes.append(61 - sum(sizes))
        assert sum(-(-size // lanes) for size in sizes) <= capacity.blocks


def test_code_with_a_refused_image_answers_nothing(tmp_path):
    """Every function gives the error of a model that is not open."""
    need_tools(HOST)
    emitted = in_image(estimator("iris_rbf", 0))
    image = emitted.files["iris_image.c"].replace(b"0x4B, 0x4D, 0x49, 0x4D", b"0, 0, 0, 0")
    assert image != emitted.files["iris_image.c"]
    refused = emitted.with_file("iris_image.c", image)
    with build(refused.recipe, refused.write(tmp_path), HOST, optimisation=FAST) as artifact:
        run = runner_for(HOST).run(artifact, emitted.inputs[:3])
    assert (run.records[:, 0] == Status.ERROR_NULL).all()
    assert run.self_test != Status.OK
