"""Meanings over numbers as native code against numpy: groups of 4 to 32 lanes, every operation, random values."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.words import ByteMemory, WordsEngine
from tests.lanes.native_meanings import carry_out, straight
from tests.lanes.random_meanings import BYTES, MeaningWriter, memory_for, shape_of, state

pytestmark = pytest.mark.skipif(choose("compiled").note is not None, reason="needs native code")

PROCESSORS = [None, ("x86-64", 16), ("x86-64-v3", 32)]


def builder(processor: tuple[str, int] | None, folder: Path):
    from pixelflow.simd.lanes.native.toolchain import Toolchain, toolchain
    from pixelflow.simd.lanes.native.translate import CodeBuilder
    from pixelflow.simd.store import Store

    return CodeBuilder(toolchain() if processor is None else Toolchain(processor[0], "", processor[1]), Store(folder))


def compare(seed: int, group: int, made_by) -> None:
    """Execute a random meaning three times, as native code and by numpy."""
    from pixelflow.simd.lanes.native.group_run import GroupRuns

    groups, own = (3, True) if seed % 2 else (1, False)
    shape = shape_of(groups, group)
    meanings = [MeaningWriter(seed + 1000 * each, group).meaning() for each in range(3)]
    native, rows = (WordsEngine(shape, memory_for(groups, own)) for _ in range(2))
    for each in (native, rows):
        state(each, seed)
    for meaning in meanings:
        rows.run([rows.prepare(meaning)])
    assert GroupRuns(straight(shape, *meanings), made_by=made_by).run(native, 10**6).is_done
    found, wanted = native.snapshot(), rows.snapshot()
    assert [name for name in found if not np.array_equal(found[name], wanted[name])] == []
    assert np.array_equal(native.memory.data, rows.memory.data)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("group", [4, 8, 16, 32])
def test_random_meanings(tmp_path: Path, group: int, processor: tuple[str, int] | None) -> None:
    if processor is not None and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("these processors are of the x86 family")
    made_by = builder(processor, tmp_path)
    for seed in range(4 if processor is None else 2):
        compare(seed, group, made_by)


def test_a_fetch_under_a_condition_of_whole_groups() -> None:
    """Address and condition are one each a group: the middle group takes no part and reads 0."""
    shape, found = shape_of(3, 16), []
    for engine in ("rows", "compiled"):
        lanes = WordsEngine(shape, memory_for(3, False))
        lanes.memory.data[:] = 7
        lanes.set_group_word("w", np.array([0, 4, 8], np.uint32))
        lanes.set_bit("c", np.repeat([True, False, True], 16))
        carry_out(lanes, lambda n: n.write("w", n.fetch(n.read("w"), 4, n.flag("c"))), engine)
        found.append(lanes.get_word("w").tolist())
    assert found[0] == found[1] == [0x07070707] * 16 + [0] * 16 + [0x07070707] * 16


def test_a_masked_fetch_of_words_that_follow_each_other() -> None:
    """Each lane its own word of the group's sixteen, 0 where the mask is off."""
    shape = shape_of(2, 16)
    taking = np.arange(32) % 3 != 1
    for engine in ("rows", "compiled"):
        lanes = WordsEngine(shape, memory_for(2, False))
        lanes.memory.data.view(np.uint32)[:] = np.arange(BYTES // 4)
        lanes.set_group_word("w", np.array([0, 256], np.uint32))
        lanes.set_bit("m", taking)

        def fetched(n) -> None:
            address, _ = n.add(n.read("w"), n.series([4 * lane for lane in range(16)]), n.bit(False))
            n.store(0, n.fetch(address, 4, n.flag("m")))

        carry_out(lanes, fetched, engine)
        numbers = np.concatenate([np.arange(16), 64 + np.arange(16)])
        assert lanes.get_rows(0, 1)[0].tolist() == np.where(taking, numbers, 0).tolist()


def test_a_second_copy_of_a_memory_is_of_what_it_holds_then() -> None:
    memory = ByteMemory(8)
    before = memory.copied().tolist()
    memory.data[0, 3] = 7
    assert (before, memory.copied().tolist()) == ([[0] * 8], [[0, 0, 0, 7, 0, 0, 0, 0]])


@pytest.mark.parametrize(("apart", "lines"), [(0, 1), (4, 1), (32, 8), (64, 16), (256, 16), (512, 16)])
def test_lines_are_counted_near_and_far(apart: int, lines: int) -> None:
    """Sixteen words from byte 0, in lines of 64 bytes; 512 apart they are beyond the 64 that a number counts."""
    from pixelflow.simd.lanes.native.group_program import COUNTS
    from pixelflow.simd.lanes.native.group_run import GroupRuns

    shape, notes = shape_of(1, 16), []
    lanes = WordsEngine(shape, ByteMemory(8192))
    lanes.set_word("x", apart * np.arange(16)[::-1])
    program = straight(shape, lambda n: n.store(0, n.fetch(n.read("x"), 4)))
    assert GroupRuns(program).run(lanes, 1000, COUNTS, notes.append).is_done
    assert [note.words.tolist() for note in notes] == [[0, lines]]


@pytest.mark.slow
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("group", [4, 8, 16, 32])
def test_many_random_meanings(tmp_path: Path, group: int, processor: tuple[str, int] | None) -> None:
    made_by = builder(processor, tmp_path)
    for seed in range(10, 260):
        compare(seed, group, made_by)
