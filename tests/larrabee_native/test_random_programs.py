"""Random programs as native code against numpy: registers, memory, texts of faults, notes."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import CycleLimitError, MachineFault
from pixelflow.simd.lanes import choose
from tests.larrabee_native.random_programs import Setting, setting

pytestmark = pytest.mark.skipif(choose("compiled").note is not None, reason="needs native code")

LIMIT, SHORT = 20_000, 40
"""Instructions of a thread; every seventh program has so few that loops do not end."""
HASTE = 1 << 62
LEVELS = (0, HASTE, HASTE, HASTE, 0, HASTE, HASTE, 1)
"""After how many parts programs are compiled with care."""
X86 = platform.machine() in ("x86_64", "AMD64")
PROCESSORS = [None, ("x86-64", 16), ("x86-64-v3", 32)]


class Runs:
    """How native runs went, and how they are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, processor: tuple[str, int] | None) -> None:
        from pixelflow.simd.lanes.native import group_run as run
        from pixelflow.simd.lanes.native.toolchain import Toolchain, toolchain
        from pixelflow.simd.lanes.native.translate import CodeBuilder
        from pixelflow.simd.store import Store

        tools = toolchain() if processor is None else Toolchain(processor[0], "", processor[1])
        builder = CodeBuilder(tools, Store(folder))
        monkeypatch.setattr(run, "builder", lambda: builder)
        self.done: list[bool] = []
        original = run.GroupRuns.run

        def counted(*arguments, **named):
            found = original(*arguments, **named)
            self.done.append(found.is_done)
            return found

        monkeypatch.setattr(run.GroupRuns, "run", counted)
        self._patch, self._run = monkeypatch, run

    def vary(self, seed: int) -> None:
        """Share among threads of the host from the first instruction on, and keep few words of notes, now and then.

        A quarter is compiled with care, an eighth in haste for the first group only, and the others in haste.
        """
        self._patch.setattr(self._run, "_SHARE_FROM", 4_000_000 if seed % 5 else 0)
        self._patch.setattr(self._run, "_PROBE", 32 if seed % 5 else 2)
        self._patch.setattr(self._run, "_NOTE_WORDS", 1 << 22 if seed % 4 else 16)
        self._patch.setattr(self._run, "_HELD_WORDS", 1 << 24 if seed % 8 else 50)
        self._patch.setattr(self._run, "_CAREFUL_FROM", LEVELS[seed // 3 % len(LEVELS)])


@pytest.fixture(params=PROCESSORS, ids=["host", "SSE2", "AVX2"])
def runs(request, monkeypatch, tmp_path) -> Runs:
    if request.param is not None and not X86:
        pytest.skip("these processors are of the x86 family")
    return Runs(monkeypatch, tmp_path, request.param)


def outcome(given: Setting, engine: str, how: int) -> tuple[dict[str, np.ndarray], str, dict[int, list]]:
    """Return state and memory, the text of the fault, and the notes of each thread: 0 none, 1 counts, 2 lines."""
    unit, notes, fault = given.unit(engine=engine), [], ""
    try:
        unit.run(notes.append if how else None, LIMIT if given.seed % 7 else SHORT, lines=how == 2)
    except (CycleLimitError, MachineFault) as found:
        fault = str(found)
    assert all(note.has_lines == (how == 2) for note in notes)
    return unit.lanes.snapshot() | {"memory": unit.memory.data}, fault, by_thread(given, notes)


def by_thread(given: Setting, notes: list[RunNote]) -> dict[int, list]:
    """Return the words of each thread, those of blocks of single instructions by themselves."""
    found: dict[int, list] = {}
    for note in notes:
        single = len(note.blocks.touching) == len(given.program.instructions)
        for thread, words in zip(note.threads.tolist(), _words(note), strict=True):
            mine = found.setdefault(thread, [])
            if words and mine and mine[-1][0] == single:
                mine[-1][1].extend(words)
            elif words:
                mine.append((single, words))
    return {thread: mine for thread, mine in found.items() if mine}


def _words(note: RunNote) -> Iterator[list[int]]:
    for first, past in zip(note.starts[:-1], note.starts[1:], strict=True):
        yield note.words[first:past].tolist()


def compare(seed: int, runs: Runs, *, wide: bool = False) -> None:
    runs.vary(seed)
    given = setting(seed, wide=wide)
    (state, fault, notes), (native, text, noted) = (outcome(given, each, seed % 3) for each in ("rows", "compiled"))
    assert [name for name in state if not np.array_equal(state[name], native[name])] == [], seed
    assert fault == text, seed
    assert notes == noted, seed


FOUND = (3245,)
"""Programs that were once carried out wrongly: 3245 by LLVM's pass for numbers in mask registers."""


def test_random_programs(runs: Runs) -> None:
    for seed in (*range(8), *FOUND):
        compare(seed, runs)
    assert runs.done.count(True) >= 6


def test_random_programs_in_lanes_of_64_bits(runs: Runs) -> None:
    for seed in range(4):
        compare(seed, runs, wide=True)
    assert runs.done.count(True) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2_000, 500))
def test_many_random_programs_in_lanes_of_64_bits(runs: Runs, first: int) -> None:
    for seed in range(first, first + 500):
        compare(seed, runs, wide=True)
    assert runs.done.count(True) > 350


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10_000, 500))
def test_many_random_programs(runs: Runs, first: int) -> None:
    for seed in range(first, first + 500):
        compare(seed, runs)
    assert runs.done.count(True) > 350


def test_other_families_compile() -> None:
    import llvmlite.binding as llvm

    from larrabee_bridge.vpu.native import group_program
    from pixelflow.simd.lanes.native.group_program import GroupFrame
    from pixelflow.simd.lanes.native.translate import translated

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple("aarch64-linux-gnu")
    except RuntimeError:
        pytest.skip("this llvmlite has no aarch64")
    given = setting(3)
    program = group_program(given.program, VectorUnit(given.program, 2).lanes.shape)
    text = translated(program, GroupFrame.of(program, frozenset()), 2, True, 6)
    assert len(target.create_target_machine(opt=1).emit_object(llvm.parse_assembly(text))) > 1000
