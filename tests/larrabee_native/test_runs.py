"""Runs as native code: what is shared, what faults, what ends at a limit, and what goes on with numpy."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from larrabee_bridge.vpu.unit import VectorUnit, assemble_vector
from larrabee_bridge.vpu.unit.engines import ENGINES, engine_in_use
from larrabee_bridge.vpu.unit.native import native_runs
from pixelflow.simd.errors import InputError, MachineFault
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

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
    "masked lanes do not meet": ("vstored [0]{k1}, v1\n", True),
    "lanes lie apart": ("vscatterd [0], v2, v1\n", True),
    "lanes lie together": ("vscatterd [0]{k2}, v3, v1\n", False),
    "nobody writes": ("vloadps v1, [0]\nvgatherd v1, v3, [0]\nload r1, [0]\n", True),
    "across two words": ("shl r0, 6\nstore [r0 + 2], r1\n", False),
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
    with pytest.raises(MachineFault, match=r"still running after 9 instructions, at .*:3"):
        loop.run(limit=9)
    assert loop.scalar(1).tolist() == [2, 3, 3]


def test_what_has_no_native_code_goes_on_with_numpy(monkeypatch, caplog) -> None:
    """One line of the log says so, once a program."""
    from pixelflow.simd.lanes.wide.native import build

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
        "note: native code cannot be made (RuntimeError: LLVM is tired); numpy carries out the program"
    ]


def test_code_is_shared_by_programs_that_differ_in_constants_only(tmp_path) -> None:
    from larrabee_bridge.vpu.unit.native import group_program
    from pixelflow.simd.lanes.compiled.llvm.cache import Cache
    from pixelflow.simd.lanes.compiled.llvm.toolchain import toolchain
    from pixelflow.simd.lanes.wide.native.build import CodeBuilder
    from pixelflow.simd.lanes.wide.native.run import GroupRuns

    def result(made_by: CodeBuilder, count: int) -> list[int]:
        unit = VectorUnit(assemble_vector("again: add r1, 7\nsub r2, 1\njnz again\n".replace("7", str(count))))
        unit.set_scalar(2, 5)
        assert GroupRuns(group_program(unit.program, unit.lanes.shape), made_by=made_by).run(unit.lanes, 100).is_done
        return unit.scalar(1).tolist()

    made_by = CodeBuilder(toolchain(), Cache(tmp_path))
    assert [result(made_by, count) for count in (7, 9, 1000)] == [[35], [45], [5000]]
    (kept,) = tmp_path.iterdir()
    written = kept.stat().st_mtime_ns
    assert result(CodeBuilder(toolchain(), Cache(tmp_path)), 11) == [55]
    assert [each.stat().st_mtime_ns for each in tmp_path.iterdir()] == [written]


def test_engines_have_the_names_that_they_have_everywhere() -> None:
    program = assemble_vector("halt\n")
    assert ENGINES == ("rows", "compiled")
    assert VectorUnit(program).engine == "compiled"
    with engine_in_use("rows"):
        assert VectorUnit(program).engine == "rows"
        assert VectorUnit(program, engine="compiled").engine == "compiled"
    with pytest.raises(InputError, match="no engine 'macro'; there are rows, compiled"):
        VectorUnit(program, engine="macro")
