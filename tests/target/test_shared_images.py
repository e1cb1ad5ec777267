"""Several models in one image: each answers its own queries as it does alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import small_model

from kit.covering import some
from kit.tools import need_tools
from kmcompile.build import build, build_together
from kmcompile.errors import InputError, UsageError
from kmcompile.run import Asked, runner_for
from kmcompile.target import list_targets, load_target

pytestmark = pytest.mark.target

TARGETS = list_targets()
HOST = load_target("host")


def by_name(target):
    return target.name


def written(folder, target, names):
    """Write the small model under several names, all into one folder."""
    models = []
    for name in names:
        small_model.write_model(folder, target)
        for part in ("small.h", "small.c", "small_harness.c"):
            text = (folder / part).read_text(encoding="utf-8").replace("small", name)
            (folder / part.replace("small", name)).write_text(text, encoding="utf-8")
        recipe = small_model.write_model(folder, target)
        sources, harness = (f"{name}.c",), f"{name}_harness.c"
        models.append((replace(recipe, name=name, sources=sources, harness=harness), folder))
    return models


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", some(TARGETS, ("cortex-m7", "leon3"), by_name))
def test_each_model_of_an_image_answers_its_own_queries(target, tmp_path):
    need_tools(target)
    queries = [small_model.queries(n) for n in (30, 0, 7000)]
    models = written(tmp_path, target, ("first", "second", "third"))
    with build_together(models, target) as artifact:
        asked = [Asked(inputs, "decision") for inputs in queries]
        results = runner_for(target).run_together(artifact, asked, count_instructions=True)
    with build(*models[0], target) as artifact:
        alone = runner_for(target).run(artifact, queries[0], True, "decision")
        memory = artifact.memory
    for inputs, result in zip(queries, results, strict=True):
        np.testing.assert_array_equal(result.records, small_model.expected_records(inputs))
        assert result.self_test == 0
    np.testing.assert_array_equal(results[0].records, alone.records)
    assert results[0].painted_stack_bytes == alone.painted_stack_bytes
    if target.emulator is not None:
        np.testing.assert_array_equal(results[0].instructions, alone.instructions)
        assert [len(result.instructions) for result in results] == [30, 0, 7000]
        assert results[2].painted_stack_bytes <= memory.stack_bytes


def test_a_model_named_as_the_harness_of_another_is_refused(tmp_path):
    """Their files and their self-tests would have one name."""
    models = written(tmp_path, HOST, ("first", "first_harness"))
    with pytest.raises(InputError, match="named first_harness, as the harness of the model first"):
        build_together(models, HOST)


def test_a_model_s_function_is_not_taken_for_one_of_the_image(tmp_path):
    """`test_classify` is the first model's entry, and what the image tests the second with."""
    target = load_target("cortex-m7")
    need_tools(target)
    models = written(tmp_path, target, ("test", "classify"))
    asked = [Asked(small_model.queries(n)) for n in (3, 2)]
    with build_together(models, target) as artifact:
        results = runner_for(target).run_together(artifact, asked, count_instructions=True)
    assert set(results[0].instructions) == set(results[1].instructions)


def test_memory_is_that_of_all_models_together(tmp_path):
    models = written(tmp_path, HOST, ("first", "second"))
    with build(*models[0], HOST) as one, build_together(models, HOST) as both:
        assert both.flash_bytes == 2 * one.flash_bytes
        assert [model.stack_bytes for model in both.models] == [one.stack_bytes] * 2
        assert both.ram_bytes == 0


def test_models_of_one_name_are_refused(tmp_path):
    models = written(tmp_path, HOST, ("first", "first"))
    with pytest.raises(InputError, match="2 models are named first"):
        build_together(models, HOST)


def test_queries_for_another_number_of_models_are_refused(tmp_path):
    models = written(tmp_path, HOST, ("first", "second"))
    with build_together(models, HOST) as both, pytest.raises(UsageError, match="of 1 models for 2"):
        runner_for(HOST).run_together(both, [Asked(small_model.queries(3))])
