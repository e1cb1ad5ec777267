"""Targets: the shipped ones, the schema, errors of names and of descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmcompile import resources
from kmcompile.errors import UsageError
from kmcompile.target import list_targets, load_target, target_from_dict


def test_the_host_comes_first_and_has_no_budget():
    host = list_targets()[0]
    assert (host.name, host.flash_bytes, host.ram_bytes) == ("host", None, None)
    assert (host.emulated_flash_bytes, host.emulated_ram_bytes) == (None, None)


@pytest.mark.parametrize("target", list_targets()[1:], ids=lambda target: target.name)
def test_an_emulated_board_is_at_least_as_large_as_its_part(target):
    assert target.flash_bytes <= target.emulated_flash_bytes
    assert target.ram_bytes <= target.emulated_ram_bytes


@pytest.mark.parametrize("target", list_targets(), ids=lambda target: target.name)
def test_a_target_survives_the_way_through_json(target):
    assert target_from_dict(json.loads(json.dumps(target.to_dict())), "recipe.json") == target


@pytest.mark.parametrize("target", list_targets(), ids=lambda target: target.name)
def test_the_templates_of_a_target_exist(target):
    boot = target.boot
    names = [boot.startup, f"boot/{boot.exchange}.c.j2"] if boot else []
    assert all((resources.templates_dir() / name).is_file() for name in names)


@pytest.mark.parametrize(
    ("typo", "nearest"), [("cortex-m8", "cortex-m7"), ("Host", "host"), ("cortexm4", "cortex-m4")]
)
def test_a_typo_suggests_the_nearest_target(typo, nearest):
    with pytest.raises(UsageError, match=f"did you mean {nearest}") as caught:
        load_target(typo)
    assert caught.value.exit_code == 2
    assert str(caught.value).count("\n") < 3


def test_a_name_unlike_any_target_lists_them():
    with pytest.raises(UsageError, match="the targets are avr, cortex-a53, ") as caught:
        load_target("zzz")
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('byte_order = "little"', 'byte_order = "middle"', "byte_order"),
        ("lanes = 4", "lanes = 5", "program.lanes"),
        ('command = "qemu-system-arm"', 'command = "/bin/sh"', "emulator.command"),
        ("boot/cortex_m.c.j2", "../../x.c.j2", "boot.startup"),
        ("unroll_lanes = true", "", "program"),
        ("[part]", "[parts]", "the top level"),
    ],
)
def test_a_description_that_breaks_the_schema_is_refused(tmp_path, old, new, field):
    text = (resources.targets_dir() / "cortex-m7.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "cortex-m7.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=f"cortex-m7.toml: {field}: ") as caught:
        load_target(path)
    assert str(caught.value).count("\n") < 3


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("boot.startup", "boot/nothing.c.j2", "a file of the templates"),
        ("program.arithmetic", "runtime/nothing.c.j2", "a file of the templates"),
        ("compiler.calls_from", "avr instructions", "'compiler' with boot/cortex_m.c.j2"),
        ("compiler.flags", ["-DA\0"], "printable text"),
        ("cost.float32.product", float("nan"), "a finite number"),
        ("boot.stack_bytes", 4096.0, "an integer"),
        ("boot.stack_bytes", 4194304, "less than the 4,194,304 bytes of boot.ram"),
        ("boot.ram.origin", 0xFFFFFFF8, "below 4 GiB"),
        ("boot.ram.origin", 0x3FFFF8, "apart from boot.flash, both hold 0x3ffff8"),
        ("boot.tables.origin", 0x20000000, "apart from boot.ram"),
    ],
)
def test_a_description_that_no_board_can_have_is_refused(path, value, rule):
    description = load_target("cortex-m7").to_dict()
    *tables, field = path.split(".")
    table = description
    for name in tables:
        table = table[name]
    table[field] = value
    with pytest.raises(UsageError, match=rf"x\.toml: .* must be {rule}") as caught:
        target_from_dict(description, "x.toml")
    assert str(caught.value).count("\n") < 3


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    path = tmp_path / "board.toml"
    path.write_bytes(b"name = \xff")
    with pytest.raises(UsageError, match="not a TOML file"):
        load_target(path)
    with pytest.raises(UsageError, match="No such file"):
        load_target(Path("absent.toml"))


def test_a_target_is_named_like_its_file(tmp_path):
    path = tmp_path / "board.toml"
    path.write_bytes((resources.targets_dir() / "host.toml").read_bytes())
    with pytest.raises(UsageError, match="name is 'host', must be 'board'"):
        load_target(path)
