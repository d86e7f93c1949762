"""Notes of runs, and cycles from them, against a plain count of every instruction of every thread."""

from __future__ import annotations

import numpy as np
import pytest

from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.issue import Core, Costs
from larrabee_bridge.vpu.notes import BasicBlocks, RunNote
from larrabee_bridge.vpu.program import VectorProgram, assemble_vector, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import CycleLimitError, MachineFault

LOOP = """
    mov r5, 0
again: vaddps v1, v2, v3
    vmadd231ps v4{k1}, v1, [r1 + 32]
    add r5, 1
    vgatherd v6, v5, [0]
    vstored [r1 + 64], v4
    vcmpltpi k1, v1, v4
    imul r6, r5
    cmp r5, r0
    jl again
    kmovkr r7, k1
    add r7, r6
    vcompressd [r7]{k1}, v1
"""


class Plain:
    """Registers as times, one thread after the other; takes notes of single instructions or of blocks, with lines."""

    def __init__(self, program: VectorProgram, threads: int, config: CoreConfig) -> None:
        self.costs = Costs.of(program, config)
        self.there: list[dict[str, int]] = [{} for _ in range(threads)]
        self.free, self.slot = [0] * threads, [-1] * threads
        self.paired, self.waited, self.lines = [0] * threads, [0] * threads, [0] * threads

    def __call__(self, note: RunNote) -> None:
        costs, config = self.costs, self.costs.config
        steps = ((thread, step) for place, thread in enumerate(note.threads) for step in note.steps(place))
        for thread, (number, lines) in steps:
            touched = len(lines)
            there, slot, free = self.there[thread], self.slot[thread], self.free[thread]
            held, depends = max(touched, 1), costs.depends[number]
            ready = max((there.get(name, 0) for name in depends.reads), default=0)
            # What an address is made of must be there a cycle earlier.
            late = (there[name] + config.address_cycles for name in costs.addresses[number] if name in there)
            ready = max(ready, *late, 0)
            beside = config.dual_issue and costs.either[number] and slot >= 0 and ready <= slot
            beside = beside and all(there.get(name, 0) <= slot for name in depends.writes)
            issue = slot if beside else max(free, ready)
            self.waited[thread] += 0 if beside else issue - free
            self.paired[thread] += beside
            self.lines[thread] += touched
            end = issue + max(held, 1 if config.back_to_back else 2)
            self.free[thread] = max(end, free) if beside else end
            self.slot[thread] = -1 if beside or costs.branches[number] else issue
            there.update(dict.fromkeys(depends.writes, issue + held - 1 + costs.latency[number]))


CONFIGS = [CoreConfig(), CoreConfig(vector_latency=7, scalar_latency=2), CoreConfig(back_to_back=False)]


def loop(threads: int = 12) -> VectorUnit:
    """Return a unit whose threads part and touch different lines."""
    rng = np.random.default_rng(5)
    unit = VectorUnit(assemble_vector(LOOP), threads)
    unit.set_scalar(0, np.arange(threads) % 5 + 1)
    unit.set_scalar(1, rng.integers(0, 9, threads) * 36)
    unit.set_vector(5, rng.integers(0, 64, (threads, 16)) * 16)
    for number in (2, 3, 4):
        unit.set_vector(number, rng.normal(size=(threads, 16)).astype(np.float32))
    return unit


@pytest.mark.parametrize("by_tables", ["natively", "in Python"])
@pytest.mark.parametrize(
    "config", [*CONFIGS, CoreConfig(dual_issue=False, load_op_cycles=2), CoreConfig(address_cycles=3)]
)
def test_threads_that_part_and_touch_different_lines(
    config: CoreConfig, by_tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("larrabee_bridge.vpu.issue._KNOWN", {})
    monkeypatch.setattr("pixelflow.simd.lanes.native.plain.NATIVE_AFTER", 0 if by_tables == "natively" else 1 << 30)
    threads, ways = 12, [{}, {"lines": True}, {"watched": True}, {"watched": True, "lines": True}]
    plain = Plain(loop().program, threads, config)
    loop().run(plain, lines=True, watched=True)
    assert len(set(plain.free)) > 4
    for how in ways:
        unit = loop()
        core = Core(unit.program, threads, config)
        unit.run(core, **how)
        assert core.cycles.tolist() == plain.free
        assert core.paired.tolist() == plain.paired
        assert core.waited.tolist() == plain.waited
        assert core.lines.tolist() == plain.lines


def test_a_note_in_parts_is_charged_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = [], []
    loop().run(whole.append, lines=True)
    monkeypatch.setattr("larrabee_bridge.vpu.notes._MOST_WORDS", 100)
    unit = loop()
    unit.run(parts.append, lines=True)
    assert len(whole) == 1 and len(parts) > 2
    joined = RunNote.joined(parts)
    assert joined.words.tolist() == whole[0].words.tolist()
    assert joined.starts.tolist() == whole[0].starts.tolist()
    cores = [Core(unit.program, 12) for _ in range(2)]
    for core, notes in zip(cores, (whole, parts), strict=True):
        for note in notes:
            core(note)
    assert cores[0].cycles.tolist() == cores[1].cycles.tolist()


def test_notes_by_hand() -> None:
    """Thread 0 turns twice, thread 1 once; a load of two lines, a prefetch, a store of no lane."""
    program = assemble_vector(
        "again: vloadps v1, [r1 + 96]\nvprefetch1 [r1]\nadd r2, 1\ncmp r2, r0\njl again\nvstored [64]{k1}, v1\n"
    )
    blocks = BasicBlocks.of(program)
    assert blocks.bounds.tolist() == [0, 5, 7] and blocks.touching == ((0, 1), (5,))
    assert BasicBlocks.single(program).bounds.tolist() == list(range(8))
    found = {}
    for lines in (False, True):
        unit, notes = VectorUnit(program, 2), []
        unit.set_scalar(0, np.array([2, 1]))
        unit.set_scalar(1, np.array([0, 32]))
        unit.run(notes.append, lines=lines)
        (found[lines],) = notes
    assert found[False].words.tolist() == [0, 2, 1, 0, 2, 1, 1, 0, 0, 1, 1, 1, 0]
    assert found[False].starts.tolist() == [0, 8, 13]
    assert found[True].words.tolist() == [0, 2, 1, 2, 1, 0, 0, 2, 1, 2, 1, 0, 1, 0, 0, 1, 2, 1, 0, 1, 0]
    assert list(found[True].steps(1)) == [(0, (2,)), (1, (0,)), *((number, ()) for number in range(2, 7))]
    assert list(found[True].accesses(0)) == [(0, (1, 2)), (1, (0,)), (0, (1, 2)), (1, (0,)), (5, ())]
    turned = found[True].one_after_the_other([[1, 1], [], [0]])
    assert turned.starts.tolist() == [0, 14, 14, 28]
    with pytest.raises(ValueError, match="without lines"):
        next(found[False].steps(0))
    with pytest.raises(ValueError, match="of one kind"):
        RunNote.joined(list(found.values()))


def test_cycles_by_part_are_those_of_their_instructions() -> None:
    """Of threads that part: what each instruction moved the clock, as a watched run shows it."""
    unit = loop()
    count = len(unit.program.instructions)
    parts = [number % 3 for number in range(count)]
    core, watched = Core(unit.program, 12, parts=parts), Core(unit.program, 12)
    unit.run(core)
    spent = np.zeros((12, 3), np.int64)

    def charge(note: RunNote) -> None:
        before = watched.cycles
        watched(note)
        spent[:, parts[int(note.words[0])]] += watched.cycles - before

    loop().run(charge, watched=True)
    assert core.by_part.tolist() == spent.tolist()
    assert core.by_part.sum(axis=1).tolist() == core.cycles.tolist()


def test_programs_of_the_same_text_share_what_is_remembered_and_no_counts() -> None:
    first = Core(shipped("setup.mc"), 1)
    unit = VectorUnit(shipped("setup.mc"), 1)
    unit.set_scalar(0, 4096)
    unit.set_scalar(1, 8192)
    unit.run(first)
    again = Core(shipped("setup.mc"), 1)
    assert again.cycles[0] == 0
    unit.run(again)
    assert again.cycles[0] == first.cycles[0] > 0


FAULTY = """
    mov r1, 5
    add r1, r1
    load r2, [r1]
    add r1, r2
    load r2, [r3]
    add r1, r2
"""


def test_what_came_before_a_fault_counts() -> None:
    """Four instructions of one block, noted together and one by one."""
    program = assemble_vector(FAULTY)
    core, each = Core(program), Core(program)
    for subscriber in (core, each):
        unit = VectorUnit(program)
        unit.set_scalar(3, 1 << 30)
        with pytest.raises(MachineFault, match=":6: lane 0 reaches byte"):
            unit.run(subscriber, watched=subscriber is each)
    assert core.cycles.tolist() == each.cycles.tolist() and core.cycles[0] > 0
    assert sum(int(counts.sum()) for counts in core.counts.values()) == 4


def test_what_came_before_a_limit_counts() -> None:
    """Stopped at the end of the block in which the ninth instruction is."""
    program = assemble_vector("again: add r1, 1\njmp again\n")
    core = Core(program)
    with pytest.raises(CycleLimitError, match="still running after 9 instructions"):
        VectorUnit(program).run(core, limit=9)
    assert sum(int(counts.sum()) for counts in core.counts.values()) == 10


def test_a_limit_is_each_threads_own() -> None:
    """Thread 1 turns for ever, thread 2 elsewhere; thread 0 ends after more instructions than the limit."""
    program = assemble_vector(
        "cmp r0, 1\njz ever\ncmp r0, 2\njz also\nadd r1, 1\nadd r1, 1\nhalt\n"
        "also: add r1, 1\njmp also\never: jmp ever\n"
    )
    unit, core = VectorUnit(program, 3), Core(program, 3)
    unit.set_scalar(0, np.arange(3))
    with pytest.raises(CycleLimitError, match=r"still running after 6 instructions, at .*:10"):
        unit.run(core, limit=6)
    assert sum(core.counts.values()).tolist() == [7, 6, 6]
    unit.set_scalar(0, np.array([0, 0, 2]))
    with pytest.raises(CycleLimitError, match=r"still running after 6 instructions, at .*:9"):
        unit.run(limit=6)
    unit.set_scalar(0, 0)
    unit.run(limit=6)
