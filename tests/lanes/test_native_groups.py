"""Meanings over numbers as native code against numpy: groups of 4 to 32 lanes, every operation, random values."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.wide.words import WordsEngine
from tests.lanes.native_meanings import carry_out, straight
from tests.lanes.random_meanings import MeaningWriter, memory_for, shape_of, state

pytestmark = pytest.mark.skipif(choose("compiled").note is not None, reason="needs native code")

PROCESSORS = [None, ("x86-64", 16), ("x86-64-v3", 32)]


def builder(processor: tuple[str, int] | None, folder: Path):
    from pixelflow.simd.lanes.compiled.llvm.cache import Cache
    from pixelflow.simd.lanes.compiled.llvm.toolchain import Toolchain, toolchain
    from pixelflow.simd.lanes.wide.native.build import CodeBuilder

    return CodeBuilder(toolchain() if processor is None else Toolchain(processor[0], "", processor[1]), Cache(folder))


def compare(seed: int, group: int, made_by) -> None:
    """Carry out a random meaning three times, as native code and by numpy."""
    from pixelflow.simd.lanes.wide.native.run import GroupRuns

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


@pytest.mark.slow
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("group", [4, 8, 16, 32])
def test_many_random_meanings(tmp_path: Path, group: int, processor: tuple[str, int] | None) -> None:
    made_by = builder(processor, tmp_path)
    for seed in range(10, 260):
        compare(seed, group, made_by)
