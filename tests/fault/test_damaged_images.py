"""Damaged, cut, foreign and malicious images and patches: none is taken, nothing else is read.

An address and an undefined-behaviour sanitizer watch the C. An image whose checksum was mended
after the damage may hold any numbers: its answers are worth nothing, and it stays in its bounds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.images import estimator, in_image
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.images import patch
from kmcompile.errors import InputError

SANITIZERS = "address,undefined,float-cast-overflow,bounds"
KIT = Path(__file__).parents[1] / "kit"
SUBJECTS = {
    "iris_rbf": ("iris_rbf", "certified", {}),
    "diabetes_regression": ("diabetes_regression", "exact", {"telemetry": True}),
    "wine_linear_one_vs_rest": ("wine_linear_one_vs_rest", "certified", {}),
    "breast_cancer_rbf": ("breast_cancer_rbf", "certified", {"require": "local_expansion"}),
    "bytes": ("iris_rbf", "exact", {"format": "int8"}),
    "words": ("breast_cancer_rbf", "exact", {"format": "int16"}),
}
"""Model, mode and more options."""


def built(emitted, folder, main, sources):
    """Return the program of a main function and emitted files, with sanitizers."""
    need("gcc")
    emitted.write(folder)
    program = emitted.program
    call = "predict" if program.is_regression else "classify"
    coded = [] if program.codes is None else [f"-DIRIS_CALL_OF_CODES=iris_{call}"]
    suffix = "_float" if coded else ""
    result = "prediction" if program.is_regression else "result"
    made = folder / "program"
    succeed(
        [
            *("gcc", *EXACT_FLAGS, "-O1", "-std=gnu11", f"-I{folder}"),
            *(f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all"),
            *(f"-DIRIS_CALL=iris_{call}{suffix}", f"-DIRIS_DECISION=iris_decision{suffix}"),
            *(f"-DIRIS_ANSWER=iris_{result}_t", *coded),
            *(KIT / main, *(folder / name for name in sources), "-o", made),
        ]
    )
    return made


def check_mutations(name, times, folder):
    model, mode, more = SUBJECTS[name]
    emitted = in_image(estimator(model, 0), mode=mode, **more)
    program = built(emitted, folder, "image_fuzz.c", ["iris.c"])
    (folder / "iris.bin").write_bytes(emitted.image)
    for seed, mends in ((1, False), (2, True)):
        said = succeed([program, folder / "iris.bin", str(times), str(seed), str(int(mends))])
        refused, accepted, foreign, answers = map(int, said.split())
        assert refused + accepted == times
        if mends:
            # Such images are taken and answer: the test would show nothing otherwise.
            assert foreign > times // 20
            assert answers > 0
        else:
            assert foreign == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_damaged_image_is_taken(name, tmp_path):
    check_mutations(name, 2_000, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_damaged_image_of_a_hundred_thousand_is_taken(name, tmp_path):
    check_mutations(name, 100_000, tmp_path)


CLOSED_MAIN = """#include <stddef.h>
#include "iris.h"

int main(void)
{
    static iris_workspace_t workspace;
    static iris_model_t closed;
    const iris_model_t *const models[] = { NULL, &closed };
    int n_other = 0;
    size_t k;

    (void)iris_open(NULL, 0U, &closed);
    for (k = 0U; k < 2U; ++k) {
        static const float x[IRIS_N_FEATURES];
        static iris_self_test_t state;
        IRIS_ANSWER result;
        float decision[IRIS_N_DECISIONS];

        n_other += IRIS_CALL(&workspace, models[k], x, &result) != IRIS_ERROR_NULL;
        n_other += IRIS_DECISION(&workspace, models[k], x, decision) != IRIS_ERROR_NULL;
        n_other += iris_self_test(models[k]) != IRIS_ERROR_NULL;
        n_other += iris_self_test_step(&state, models[k]) != IRIS_ERROR_NULL;
    }
    return n_other;
}
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_function_takes_a_model_that_is_not_open(name, tmp_path):
    model, mode, more = SUBJECTS[name]
    emitted = in_image(estimator(model, 0), mode=mode, **more)
    main = tmp_path / "closed.c"
    main.write_text(CLOSED_MAIN)
    succeed([built(emitted, tmp_path, main, ["iris.c"])])


@pytest.mark.parametrize("in_place", [False, True])
def test_no_damaged_patch_writes_another_image(in_place, tmp_path):
    first = in_image(estimator("iris_rbf", 0), vectors=80)
    later = in_image(estimator("iris_rbf", 1), like=first)
    program = built(first, tmp_path, "patch_fuzz.c", ["iris_patch.c"])
    content = patch.make(first.image, later.image, in_place)
    for name, part in (("old", first.image), ("new", later.image), ("patch", content)):
        (tmp_path / name).write_bytes(part)
    files = [tmp_path / name for name in ("old", "new", "patch")]
    assert succeed([program, *files, "2000", str(int(in_place))]) == ""


def test_image_of_another_layout_is_refused(tmp_path):
    """Of the same model for code with another capacity: its tables would be read as they are."""
    fitted = estimator("iris_rbf", 0)
    emitted, other = in_image(fitted, vectors=80), in_image(fitted, vectors=90)
    program = built(emitted, tmp_path, "image_fuzz.c", ["iris.c"])
    (tmp_path / "other.bin").write_bytes(other.image)
    for mends in "01":
        said = succeed([program, tmp_path / "other.bin", "200", "3", mends])
        assert said.split()[1] == "0"


def test_image_of_the_other_byte_order_is_refused(tmp_path):
    fitted = estimator("iris_rbf", 0)
    emitted = in_image(fitted)
    program = built(emitted, tmp_path, "image_fuzz.c", ["iris.c"])
    swapped = bytearray(emitted.image)
    swapped[4:8] = swapped[4:8][::-1]
    (tmp_path / "other.bin").write_bytes(swapped)
    assert succeed([program, tmp_path / "other.bin", "200", "3", "1"]).split()[1] == "0"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda image: image[:80], "is no image"),
        (lambda image: b"XXXX" + image[4:], "is no image"),
        (lambda image: image[:-8], "says it has"),
        (lambda image: image[:-1] + bytes([image[-1] ^ 1]), "checksum"),
    ],
)
def test_patch_is_made_of_whole_images_only(damage, said):
    image = in_image(estimator("iris_rbf", 0)).image
    patch.check_image(image, "a.bin")
    with pytest.raises(InputError, match=said):
        patch.check_image(damage(image), "a.bin")
