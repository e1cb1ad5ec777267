"""The models that every target is asked use each template, kernel, number format, mode and task."""

from __future__ import annotations

import jinja2
import pytest

from kit.every_target import FEW, GROUPS, N_QUERIES, emitted_models, like
from kmcompile import resources
from kmcompile.emit.emitter import emit
from kmcompile.emit.environment import environment
from kmcompile.kernels import CATALOGUE as KERNELS
from kmcompile.model.kernel_machine import Task
from kmcompile.numeric.width import FORMATS, WIDTHS
from kmcompile.program.stages import CATALOGUE as STAGES
from kmcompile.target import load_target

pytestmark = pytest.mark.exhaustive

TARGET = like(load_target("cortex-m7").program)
WITHOUT_DOUBLES = like(load_target("cortex-m4").program)
"""Its replays are in integers."""
OTHER_LAYOUTS = {
    f"code_table/{name}_products.c.j2" for name in ("rows", "columns", "columns_long", "chunks")
}
"""Of which each is used by every integer model of the targets that have that layout."""
NO_MODEL = ("boot/", "plugin/", "report/", "package/", "runtime/", "evidence/", "image/")
"""Templates that are no part of a model's C, of avr's only (`tests/target/test_avr.py`), or of
models in images, which every target is asked in `test_models_in_images.py`."""


class Recording(jinja2.BaseLoader):
    """Loads as another loader does and keeps the names."""

    def __init__(self, loader: jinja2.BaseLoader) -> None:
        self.loader, self.names = loader, set()

    def get_source(self, environment, template):
        """Return what the other loader does."""
        self.names.add(template)
        return self.loader.get_source(environment, template)


@pytest.fixture(scope="module")
def models():
    return [
        emitted for group in GROUPS if group != FEW for _, emitted in emitted_models(group, TARGET)
    ]


def test_every_template_of_a_models_c_is_used(models, monkeypatch):
    recording = Recording(environment().loader)
    monkeypatch.setattr(environment(), "loader", recording)
    monkeypatch.setattr(environment(), "cache", None)
    for emitted in models:
        emit(emitted.program, TARGET, "kmcompile", "a model of the tests")
    for _, emitted in emitted_models("sums", WITHOUT_DOUBLES):
        emit(emitted.program, WITHOUT_DOUBLES, "kmcompile", "a model of the tests")
    folder = resources.templates_dir()
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.j2")}
    expected = {name for name in names if not name.startswith(NO_MODEL)} - OTHER_LAYOUTS
    assert expected - recording.names == set()


def test_every_kernel_stage_format_mode_and_task_is_asked(models):
    programs = [emitted.program for emitted in models]
    formats = {(p.number_format, p.mode) for p in programs}
    assert formats >= {(f, m) for f in ("float32", "int8") for m in ("exact", "certified")}
    assert formats >= {("int16", "exact"), ("int16", "certified")}
    assert formats >= {("float32", "statistical"), ("int8", "statistical")}
    assert {f for f, _ in formats} == {*FORMATS}
    assert {p.codes.width for p in programs if p.codes is not None} == {*WIDTHS}
    assert {emitted.machine.kernel.name for emitted in models} == {k.name for k in KERNELS}
    assert {stage.template for p in programs for stage in p.stages} >= {
        s.template for s in STAGES if hasattr(s, "template")
    } - {"replay"}
    assert {emitted.machine.task for emitted in models} == set(Task)


def test_every_model_is_asked_enough(models):
    assert min(len(emitted.inputs) for emitted in models) >= N_QUERIES
