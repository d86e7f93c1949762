"""Runs as native code: what is shared, what faults, what ends at a limit, and what goes on with numpy."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.vpu import vector_unit as engines
from larrabee_bridge.vpu.native import native_runs
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import ENGINES, VectorUnit, thread_shape
from pixelflow.simd.errors import CycleLimitError, InputError, MachineFault
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.engine import Choice
from pixelflow.simd.lanes.words import ByteMemory

pytestmark = pytest.mark.skipif(choose("compiled").note is not None, reason="needs native code")


def is_done(unit: VectorUnit) -> bool:
    """Run as native code; return whether that could be."""
    return native_runs(unit.program, unit.lanes.shape).run(unit.lanes, 10_000).is_done


MEETINGS = {
    "each its own words": ("shl r0, 6\nload r1, [r0]\nadd r1, 1\nstore [r0], r1\n", True),
    "all read the same": ("load r1, [0]\nshl r0, 6\nstore [r0 + 64], r1\n", True),
    "all write the same": ("store [0], r0\n", False),
    "one reads what others write": ("load r1, [64]\nshl r0, 6\nstore [r0], r1\n", False),
    "one writes what others have read": ("shl r0, 6\nstore [r0], r0\nload r1, [128]\n", False),
    "lanes of all meet": ("vstored [0], v1\n", False),
    "masked lanes meet": ("vstored [0]{k2}, v1\n", False),
    "masked lanes do not meet": ("vstored [0]{k1}, v1\n", True),
    "lanes lie apart": ("vscatterd [0], v2, v1\n", True),
    "lanes lie together": ("vscatterd [0]{k2}, v3, v1\n", False),
    "nobody writes": ("vloadps v1, [0]\nvgatherd v1, v3, [0]\nload r1, [0]\n", True),
    "across two words": ("shl r0, 6\nstore [r0 + 2], r1\n", False),
    "bytes of whole words": ("shl r0, 4\nvloadps v1, [r0]{uint8}\nstore [r0], r1\n", True),
    "bytes that end in the next one's word": ("shl r0, 4\nvloadps v1, [r0 + 1]{uint8}\nstore [r0], r1\n", False),
}


@pytest.mark.parametrize(("text", "expected"), MEETINGS.values(), ids=MEETINGS)
def test_threads_that_meet_in_memory_are_left_to_numpy(text: str, expected: bool) -> None:
    results = []
    for engine in ("rows", "compiled"):
        unit = VectorUnit(assemble_vector(text), 3, engine=engine)
        unit.set_scalar(0, np.arange(3))
        unit.set_vector(1, np.arange(48).reshape(3, 16))
        unit.set_vector(2, 4 * np.arange(48).reshape(3, 16))
        unit.set_mask(1, np.array([1, 2, 4]))
        unit.set_mask(2, 0xFFFF)
        if engine == "compiled":
            assert is_done(unit) is expected
            if expected:
                results.append(unit)
                continue
        unit.run()
        results.append(unit)
    assert results[0].lanes.digest() == results[1].lanes.digest()
    assert (results[0].memory.data == results[1].memory.data).all()


def test_a_run_that_is_made_twice_is_counted_and_told_once(caplog) -> None:
    """Three runs in which all threads write the same word; a fault, which numpy finds again, is no such thing."""
    program = assemble_vector("store [0], r0\n")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            unit = VectorUnit(program, 3, engine="compiled")
            unit.set_scalar(0, np.arange(3))
            unit.run()
        faulty = VectorUnit(assemble_vector("store [r1], r0\n"), 3, ByteMemory(64), engine="compiled")
        faulty.set_scalar(1, 64)
        with pytest.raises(MachineFault):
            faulty.run()
    assert native_runs(program, unit.lanes.shape).meetings == 3
    assert native_runs(faulty.program, faulty.lanes.shape).meetings == 0
    assert [record.getMessage() for record in caplog.records] == [
        "note: native code cannot be run (program: groups touch the same words of memory, and one of them writes); "
        "numpy executes the program"
    ]


def test_threads_with_memories_of_their_own_never_meet() -> None:
    unit = VectorUnit(assemble_vector("store [64], r1\n"), 3, ByteMemory(128, 3))
    unit.set_scalar(1, np.array([10, 11, 12]))
    assert is_done(unit)
    assert unit.memory.data[:, 64:68].copy().view(np.uint32).tolist() == [[10], [11], [12]]


@pytest.mark.parametrize(
    "text",
    [
        "store [64], r0\nload r1, [r2]\n",
        "vstored [64], v1\nvloadps v2, [r2]\n",
        "vstored [64], v1\nvgatherd v2{k1}, v3, [r2]\n",
        "vstored [64], v1\nvstored [r2]{k1}, v1\n",
        "vstored [64], v1\nvstored [r3]{k1}, v1\n",
    ],
)
def test_a_fault_is_the_same_and_leaves_the_same(text: str) -> None:
    """Lanes past the end; and lanes whose addresses begin again at the bottom."""
    found = []
    for engine in ("rows", "compiled"):
        unit = VectorUnit(assemble_vector("add r4, 1\n" + text + "add r5, 1\n"), 2, ByteMemory(4096, 2), engine)
        unit.set_vector(1, np.arange(16))
        unit.set_vector(3, 4 * np.arange(16))
        unit.set_scalar(2, np.array([0, 4096 - 2]))
        unit.set_scalar(3, 0xFFFFFFF0)
        unit.set_mask(1, 0xFFFF)
        notes = []
        with pytest.raises(MachineFault, match=r":3: lane \d+ reaches byte") as caught:
            unit.run(notes.append)
        found.append((str(caught.value), unit.lanes.digest(), unit.memory.data.tobytes(), len(notes)))
    assert found[0] == found[1]


def test_lanes_whose_addresses_begin_again_at_the_bottom() -> None:
    """Lanes 4 and on of sixteen from 16 bytes below 2^32: at the first bytes of the memory."""
    for engine in ("rows", "compiled"):
        unit = VectorUnit(assemble_vector("vstored [r1]{k1}, v1\n"), 1, ByteMemory(64), engine)
        unit.set_scalar(1, 0xFFFFFFF0)
        unit.set_mask(1, 0xFFF0)
        unit.set_vector(1, np.arange(16))
        unit.run()
        assert unit.memory.data.view(np.uint32)[0].tolist() == [*range(4, 16), 0, 0, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_limit_is_looked_at_where_a_branch_leads_back(engine: str) -> None:
    """A long way straight on is no endless run; a short loop is."""
    long = VectorUnit(assemble_vector("add r1, 1\n" * 50), engine=engine)
    long.run(limit=10)
    assert long.scalar(1).tolist() == [50]
    loop = VectorUnit(assemble_vector("again: add r1, 1\ncmp r1, r2\njl again\nhalt\n"), 3, engine=engine)
    loop.set_scalar(2, np.array([2, 100, 100]))
    with pytest.raises(CycleLimitError, match=r"still running after 9 instructions, at .*:3"):
        loop.run(limit=9)
    assert loop.scalar(1).tolist() == [2, 3, 3]


def test_what_has_no_native_code_goes_on_with_numpy(monkeypatch, caplog) -> None:
    """One line of the log says so, once a program."""
    from pixelflow.simd.lanes.native import translate as build

    def refuse(*_: object) -> str:
        raise RuntimeError("LLVM is tired")

    monkeypatch.setattr(build, "translated", refuse)
    program = assemble_vector("mov r1, 123456\nadd r1, 654321\nshl r1, 3\n")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            unit = VectorUnit(program, engine="compiled")
            unit.run()
            assert unit.scalar(1).tolist() == [777777 << 3]
    assert [record.getMessage() for record in caplog.records] == [
        "note: native code cannot be made (RuntimeError: LLVM is tired); numpy executes the program"
    ]


COUNT = "shl r0, 6\nmov r1, 40\nagain: load r3, [r0]\nadd r3, 1\nstore [r0], r3\nsub r1, 1\njnz again\nhalt\n"
"""Each thread adds 40 to a word of its own."""


def counting(engine: str, threads: int = 64) -> VectorUnit:
    """Return threads that are to run `COUNT`."""
    unit = VectorUnit(assemble_vector(COUNT), threads, engine=engine)
    unit.set_scalar(0, np.arange(threads))
    return unit


def seen(unit: VectorUnit) -> tuple[str, bytes]:
    """Return registers and memory."""
    return unit.lanes.digest(), unit.memory.data.tobytes()


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError("no room")])
def test_what_goes_wrong_in_the_middle_is_undone_and_left_to_numpy(error, monkeypatch, caplog) -> None:
    """The first two groups have written when no thread of the host can be had; four share the next run."""
    from pixelflow.simd.lanes.native import group_run as run

    class Broken:
        def __init__(self, *_: object) -> None:
            raise error

    expected, unit, again = map(counting, ("rows", "compiled", "compiled"))
    expected.run()
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(run, "_SHARE_FROM", 1)
        patch.setattr(run, "usable_threads", lambda: 4)
        patch.setattr(run, "ThreadPoolExecutor", Broken)
        unit.run()
        patch.setattr(run, "ThreadPoolExecutor", ThreadPoolExecutor)
        assert is_done(again)
    assert seen(unit) == seen(expected)
    assert [record.getMessage() for record in caplog.records] == [
        f"note: native code cannot be run ({type(error).__name__}: {error}); numpy executes the program"
    ]
    assert seen(again) == seen(expected)


def test_a_copy_that_finds_no_room_does_not_switch_native_code_off(caplog) -> None:
    class Full:
        def copy(self) -> None:
            raise MemoryError("no room")

    unit = counting("compiled")
    data, unit.memory.data = unit.memory.data, Full()
    before = unit.lanes.digest()
    with caplog.at_level(logging.WARNING):
        assert not is_done(unit)
    assert "native code cannot be run (MemoryError: no room)" in caplog.text
    assert unit.lanes.digest() == before
    unit.memory.data = data
    assert is_done(unit)


@pytest.mark.parametrize("held", [1 << 24, 20], ids=["at once", "made again"])
def test_who_takes_notes_finds_the_end_of_the_run(held: int, monkeypatch) -> None:
    """Also where it raises an error in the middle of the notes, which then comes out as it is."""
    from pixelflow.simd.lanes.native import group_run as run

    monkeypatch.setattr(run, "_HELD_WORDS", held)
    monkeypatch.setattr(run, "_NOTE_WORDS", 8)
    expected = counting("rows")
    expected.run()
    unit, found = counting("compiled"), []
    unit.run(lambda note: found.append(seen(unit)))
    assert (len(found) > 1) is (held == 20)
    assert set(found) == {seen(expected)} == {seen(unit)}

    def refuse(note: object) -> None:
        raise KeyError("refused")

    unit = counting("compiled")
    with pytest.raises(KeyError, match="refused"):
        unit.run(refuse)
    assert seen(unit) == seen(expected)


@pytest.mark.parametrize("limit", [float("inf"), 1 << 64, 1 << 63, 1000, 160.5, 0, -1])
def test_any_limit_is_the_same_to_both_engines(limit: float) -> None:
    """Each thread carries out 203 instructions, of which the last one that leads back is number 197."""
    found = []
    for engine in ENGINES:
        unit, fault = counting(engine, 3), ""
        try:
            unit.run(limit=limit)
        except (CycleLimitError, MachineFault) as caught:
            fault = str(caught)
        found.append((fault, *seen(unit)))
    assert found[0] == found[1]
    assert (found[0][0] == "") is (limit > 202)


def test_a_memory_that_is_too_large_is_left_to_numpy_before_anything_is_made(monkeypatch, caplog) -> None:
    from pixelflow.simd.lanes.native import group_run as run

    monkeypatch.setattr(run, "_MOST_BYTES", 1 << 16)
    monkeypatch.setattr(run, "_Run", None)
    unit = counting("compiled")
    with caplog.at_level(logging.WARNING):
        assert not is_done(unit)
        assert not is_done(unit)
    assert [record.getMessage() for record in caplog.records] == [
        "note: native code cannot be run (a memory of 65,536 bytes; less than 65,536 can be addressed); "
        "numpy executes the program"
    ]


def test_code_is_shared_by_programs_that_differ_in_constants_only(tmp_path) -> None:
    from larrabee_bridge.vpu.native import group_program
    from pixelflow.simd.lanes.native.group_run import GroupRuns
    from pixelflow.simd.lanes.native.toolchain import toolchain
    from pixelflow.simd.lanes.native.translate import CodeBuilder
    from pixelflow.simd.store import Store

    def result(made_by: CodeBuilder, count: int) -> list[int]:
        unit = VectorUnit(assemble_vector("again: add r1, 7\nsub r2, 1\njnz again\n".replace("7", str(count))))
        unit.set_scalar(2, 5)
        assert GroupRuns(group_program(unit.program, unit.lanes.shape), made_by=made_by).run(unit.lanes, 100).is_done
        return unit.scalar(1).tolist()

    made_by = CodeBuilder(toolchain(), Store(tmp_path))
    assert [result(made_by, count) for count in (7, 9, 1000)] == [[35], [45], [5000]]
    (kept,) = tmp_path.iterdir()
    written = kept.stat().st_mtime_ns
    assert result(CodeBuilder(toolchain(), Store(tmp_path)), 11) == [55]
    assert [each.stat().st_mtime_ns for each in tmp_path.iterdir()] == [written]


def test_what_is_carried_out_often_is_compiled_with_care(tmp_path, monkeypatch) -> None:
    """203 parts a group: from the second run on 64 groups have carried out 20,000, of which the first two show it."""
    from larrabee_bridge.vpu.native import group_program
    from pixelflow.simd.lanes.native import group_run as run
    from pixelflow.simd.lanes.native.group_run import GroupRuns
    from pixelflow.simd.lanes.native.toolchain import toolchain
    from pixelflow.simd.lanes.native.translate import CodeBuilder
    from pixelflow.simd.store import Store

    monkeypatch.setattr(run, "_CAREFUL_FROM", 20_000)
    program = group_program(counting("compiled").program, thread_shape(64))
    runs = GroupRuns(program, made_by=CodeBuilder(toolchain(), Store(tmp_path)))

    def kept_after_a_run(runs: GroupRuns) -> set[Path]:
        expected, unit = counting("rows"), counting("compiled")
        expected.run()
        assert runs.run(unit.lanes, 10_000).is_done
        assert seen(unit) == seen(expected)
        return set(tmp_path.iterdir())

    hasty, both = kept_after_a_run(runs), kept_after_a_run(runs)
    assert len(hasty) == 1 and len(both) == 2 and hasty < both
    # The next process takes what was compiled with care.
    hasty.pop().unlink()
    assert len(kept_after_a_run(GroupRuns(program, made_by=CodeBuilder(toolchain(), Store(tmp_path))))) == 1


def test_engines_have_the_names_that_they_have_everywhere() -> None:
    program = assemble_vector("halt\n")
    assert ENGINES == ("rows", "compiled")
    assert VectorUnit(program).engine == "compiled"
    assert [VectorUnit(program, engine=each).engine for each in ENGINES] == ["rows", "compiled"]
    with pytest.raises(InputError, match="no engine 'macro'; there are rows, compiled"):
        VectorUnit(program, engine="macro")


def test_an_engine_that_cannot_be_had_is_told_once(monkeypatch, caplog) -> None:
    """In the words in which commands say it of a node."""

    class Table:
        def choose(self, wanted: str) -> Choice:
            return Choice("rows", None if wanted == "rows" else "it does not work here; the rows engine runs instead")

    monkeypatch.setattr(engines, "WIDE", Table())
    engines._chosen.cache_clear()
    with caplog.at_level(logging.WARNING):
        try:
            for engine in ("rows", "compiled", "compiled"):
                assert VectorUnit(assemble_vector("halt\n"), engine=engine).engine == "rows"
        finally:
            engines._chosen.cache_clear()
    assert [record.getMessage() for record in caplog.records] == [
        "note: it does not work here; the rows engine runs instead"
    ]


def test_runs_of_a_program_are_kept_for_each_number_of_lanes() -> None:
    program, sixteen = assemble_vector("mov r1, 5\n"), thread_shape(1)
    eight = replace(sixteen, group=8)
    found = [native_runs(program, shape) for shape in (sixteen, eight, sixteen)]
    assert found[0] is found[2]
    assert [each.program.shape.group for each in found] == [16, 8, 16]


def test_a_number_that_was_a_mask_has_sixteen_bits(tmp_path, monkeypatch) -> None:
    """With AVX-512, code made with care and lines noted, one of LLVM's passes left the upper half as it was."""
    from pixelflow.simd.lanes.native import group_run as run
    from pixelflow.simd.lanes.native.toolchain import toolchain
    from pixelflow.simd.lanes.native.translate import CodeBuilder
    from pixelflow.simd.store import Store

    builder = CodeBuilder(toolchain(), Store(tmp_path))
    monkeypatch.setattr(run, "builder", lambda: builder)
    monkeypatch.setattr(run, "_CAREFUL_FROM", 0)
    program = assemble_vector("vstored [256], v0\nkmovrk k0, r1\nkmovkr r4, k0\nvexpandd v0{k3}, [r10]\n")
    unit = VectorUnit(program, 1, engine="compiled")
    unit.set_scalar(1, 0xC3284FE9)
    unit.set_mask(3, 0xFF)
    unit.run([].append, lines=True)
    assert unit.lanes.snapshot()["r4"].reshape(-1).tolist() == [0x4FE9] * 16
