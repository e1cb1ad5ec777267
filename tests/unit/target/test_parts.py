"""A part names its core, whose description it has but for the tables of its own."""

import pytest

from kmcompile import resources
from kmcompile.errors import UsageError
from kmcompile.target import list_parts, list_targets, load_target

PARTS = {part.name: part for part in list_parts()}
FOLDER = resources.targets_dir() / "parts"


@pytest.mark.parametrize("name", PARTS)
def test_a_part_has_the_compiler_and_the_emulator_of_its_core(name):
    part = load_target(name)
    assert part == PARTS[name]
    core = next(line for line in (FOLDER / f"{name}.toml").read_text().splitlines() if line)
    core = load_target(core.removeprefix('core = "').removesuffix('"'))
    assert (part.compiler, part.boot, part.emulator) == (core.compiler, core.boot, core.emulator)
    assert (part.program, part.cost) == (core.program, core.cost)
    assert part.part != core.part


def test_a_part_keeps_its_own_memory_and_clock():
    uno, mega = load_target("avr-uno"), load_target("avr")
    assert (uno.flash_bytes, uno.ram_bytes) == (30720, 2048)
    assert uno.time == mega.time  # the same clock
    pill = load_target("stm32f103")
    assert (pill.flash_bytes, pill.ram_bytes) == (65536, 20480)
    assert (pill.time.clock_hz, pill.time.flash_wait_states) == (72_000_000, 2)


def test_no_part_is_one_of_all_targets():
    assert not {target.name for target in list_targets()} & {*PARTS}


def test_a_part_of_ones_own_is_a_file_of_a_few_lines(tmp_path):
    path = tmp_path / "my-board.toml"
    path.write_text(
        'core = "cortex-m4"\nname = "my-board"\nstands_for = "mine"\n'
        '[part]\nname = "X"\nflash_bytes = 131072\nram_bytes = 16384\n'
        '[time]\ncore = "cortex-m4"\nclock_hz = 48000000\n'
    )
    board = load_target(path)
    assert (board.name, board.flash_bytes) == ("my-board", 131072)
    assert board.description == load_target("cortex-m4").description
    assert (board.time.clock_hz, board.time.flash_wait_states) == (48_000_000, None)


@pytest.mark.parametrize("missing", ["stands_for", "part", "time"])
def test_what_is_a_parts_own_must_be_told(missing, tmp_path):
    text = (FOLDER / "stm32f103.toml").read_text()
    path = tmp_path / "stm32f103.toml"
    path.write_text(text.replace(missing, f"{missing}_"))
    with pytest.raises(UsageError, match=rf"stm32f103.toml: {missing} is missing"):
        load_target(path)


@pytest.mark.parametrize("core", ['"cortex-7"', '"avr-uno"', "7", '["avr"]'])
def test_a_core_that_is_none_is_refused(core, tmp_path):
    path = tmp_path / "my-board.toml"
    path.write_text(f'core = {core}\nname = "my-board"\n')
    with pytest.raises(UsageError, match=r"my-board.toml: core: is .*, must be one of avr, cort"):
        load_target(path)
