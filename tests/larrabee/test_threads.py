"""Threads that take turns on a core: by hand, and against the model of one thread."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import SharedCore, take_turns
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import VectorProgram, assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.native.plain import works_natively
from pixelflow.simd.lanes.words import ByteMemory

NATIVE = [False, *([True] if works_natively() else [])]
"""Counted by Python, and by native code where that works."""

CHAIN = "vaddps v1, v2, v3\n" + "vaddps v1, v1, v3\n" * 7
"""Eight sums, each waiting for the one before."""


def note_of(unit: VectorUnit) -> RunNote:
    """Run a unit; return what its threads carried out, with lines."""
    notes: list[RunNote] = []
    unit.run(notes.append, lines=True)
    return RunNote.joined(notes)


def in_turns(unit: VectorUnit, config: CoreConfig | None = None) -> SharedCore:
    """Run a unit and time its threads on one core."""
    return counted(unit.program, note_of(unit), config)


def counted(program: VectorProgram, note: RunNote, config: CoreConfig | None) -> SharedCore:
    """Time threads on one core, in every way that there is."""
    first, *others = (take_turns(program, note, config, native=native) for native in NATIVE)
    assert all(each == first for each in others)
    return first


def shared(text: str, threads: int, config: CoreConfig | None = None) -> SharedCore:
    return in_turns(VectorUnit(assemble_vector(text), threads), config)


@pytest.mark.parametrize(("threads", "cycles"), [(1, 29), (2, 30), (4, 32)])
def test_threads_fill_each_others_waits(threads: int, cycles: int) -> None:
    """A chain of eight at latency 4 issues in cycle 28; four of them take every cycle."""
    found = shared(CHAIN, threads)
    assert found.cycles == cycles
    assert found.issued == 8 * threads
    assert found.paired == threads  # each halt


def test_more_threads_than_the_latency_only_queue() -> None:
    assert shared(CHAIN, 8).cycles == 64


def test_a_thread_that_cannot_issue_back_to_back_leaves_every_second_cycle() -> None:
    """Without chains: one thread reaches half the rate, two the whole."""
    text = "".join(f"vaddps v{number}, v20, v21\n" for number in range(1, 9))
    config = CoreConfig(back_to_back=False)
    assert shared(text, 1).issued == shared(text, 1).cycles == 8
    assert shared(text, 1, config).cycles == 16
    assert shared(text, 2, config).cycles == 17  # the last may not be followed at once


@pytest.mark.parametrize("back_to_back", [True, False])
def test_four_threads_lose_nothing_to_the_cycles_that_each_must_leave(back_to_back: bool) -> None:
    """A cycle in which a thread may not issue is another thread's: only those with an instruction count."""
    program, config = assemble_vector("vaddps v1, v2, v3\n" * 12), CoreConfig(back_to_back=back_to_back)
    unit, core = VectorUnit(program, 4), Core(program, 4, config)
    unit.run(core)
    assert core.issuing.tolist() == [12] * 4
    # The last of them keeps the core for its own cycle of rest.
    assert in_turns(VectorUnit(program, 4), config).cycles == core.issuing.sum() + (not back_to_back)


def test_an_access_to_many_lines_holds_the_core() -> None:
    text = "mov r1, 2\nvgatherd v1, v2, [0]\n"
    program = assemble_vector(text)
    unit = VectorUnit(program, 2)
    unit.set_vector(2, np.arange(16) * 64)
    # mov and mov, then 16 cycles each
    assert in_turns(unit).cycles == 34


MADE = [
    lambda a, b, c: f"vaddps v{a}, v{b}, v{c}",
    lambda a, b, c: f"vmadd231ps v{a}{{k{b}}}, v{b}, [r{c} + 32]",
    lambda a, b, c: f"vcmpltpi k{a}, v{b}, v{c}{{cdab}}",
    lambda a, b, c: f"vstored [r{a} + 64]{{k{b}}}, v{c}",
    lambda a, b, c: f"vgatherd v{a}, v{b}, [{256 * c}]",
    lambda a, b, c: f"add r{a}, r{b}",
    lambda a, b, c: f"load r{a}, [{64 * b}]",
    lambda a, b, c: f"kand k{a}, k{b}",
    lambda a, b, c: f"imul r{a}, {c}",
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("config", [CoreConfig(), CoreConfig(vector_latency=7, dual_issue=False)])
def test_one_thread_costs_what_the_other_model_says(seed: int, config: CoreConfig) -> None:
    """Two models written apart, random programs."""
    rng = np.random.default_rng(seed)
    text = "\n".join(MADE[rng.integers(len(MADE))](*rng.integers(0, 4, 3)) for _ in range(60)) + "\n"
    program = assemble_vector(text)
    core, unit = Core(program, config=config), VectorUnit(program)
    unit.set_vector(1, np.arange(16) * 12)
    note = note_of(unit)
    core(note)
    found = counted(program, note, config)
    assert (found.cycles, found.paired) == (core.cycles[0], core.paired[0])


@pytest.mark.skipif(len(NATIVE) == 1, reason="native code does not work here")
@pytest.mark.parametrize("seed", range(12))
def test_native_turns_are_those_of_python(seed: int) -> None:
    """Random loops, turns of each thread, latencies and caches; threads that end at once among them."""
    rng = np.random.default_rng(seed)
    body = [MADE[rng.integers(len(MADE))](*rng.integers(1, 4, 3)) for _ in range(25)]
    # Addresses stay as they are: they come from registers 11 to 13.
    body = [re.sub(r"(\[r|vgatherd v\d, v)", r"\g<1>1", line) for line in body]
    body.insert(int(rng.integers(25)), "cmp r5, r6\njl over")
    body.insert(int(rng.integers(26, 27)), "over: add r7, 1")
    program = assemble_vector("again: " + "\n".join(body) + "\nadd r5, 1\ncmp r5, r8\njl again\n")
    threads = int(rng.integers(1, 7))
    unit = VectorUnit(program, threads)
    for number in (6, 8):
        unit.set_scalar(number, rng.integers(0, 12, threads))
    for number in (1, 2, 3):
        unit.set_scalar(10 + number, rng.integers(0, 12, threads) * 52)
        unit.set_vector(10 + number, rng.integers(0, 700, (threads, 16)) * 4)
        unit.set_mask(number, rng.integers(0, 1 << 16, threads))
    config = CoreConfig(
        vector_latency=int(rng.integers(1, 9)),
        scalar_latency=int(rng.integers(1, 4)),
        load_op_cycles=int(rng.integers(3)),
        dual_issue=bool(rng.integers(4)),
        back_to_back=bool(rng.integers(4)),
        caches=bool(rng.integers(3)),
        ways=int(rng.choice([1, 2, 8])),
        l1_bytes=8192,
    )
    assert in_turns(unit, config).issued > 0


def test_a_note_without_lines_cannot_be_timed_in_turns() -> None:
    notes: list[RunNote] = []
    unit = VectorUnit(assemble_vector("load r1, [64]\n"))
    unit.run(notes.append)
    with pytest.raises(ValueError, match="without lines"):
        take_turns(unit.program, notes[0])


def test_a_line_is_waited_for_once_in_memory_then_found() -> None:
    """Four loads of one line: 300 cycles, the ring both ways, then it is in the L1 cache. Its neighbour never was."""
    text = "".join(f"vloadps v{number}, [64]\n" for number in range(4))
    config = CoreConfig(caches=True)
    assert shared(text, 1).cycles == 4
    found = shared(text, 1, config)
    assert (found.cycles, found.l1_misses, found.l2_misses) == (314, 1, 1)
    assert shared(text + "vloadps v5, [128]\n", 1, config).cycles == 314 + 311


def test_while_one_thread_waits_for_a_line_another_works() -> None:
    config = CoreConfig(caches=True)
    text = "vloadps v1, [64]\n" + "vaddps v2, v3, v4\n" * 3
    alone, together = shared(text, 1, config), shared(text, 4, config)
    assert alone.cycles == 314
    assert together.l2_misses == 1  # the line comes once for all
    assert together.cycles < 311 + 16  # then all their instructions, some in pairs


def test_lines_beyond_the_l1_cache_are_found_in_the_l2_slice() -> None:
    """Twice over 64 KB: with the least recently used line given up, none stays in 32 KB, all stay in 256 KB."""
    text = (
        "mov r2, 2\nagain: mov r1, 0\nnext: load r3, [r1]\nadd r1, 64\ncmp r1, 65536\njnz next\nsub r2, 1\njnz again\n"
    )
    found = shared(text, 1, CoreConfig(caches=True))
    assert (found.l1_misses, found.l2_misses) == (2048, 1024)
    small = shared(text.replace("65536", "16384"), 1, CoreConfig(caches=True))
    assert (small.l1_misses, small.l2_misses) == (256, 256)
    waited = found.cycles - shared(text, 1).cycles
    assert waited == 1024 * (310 + 15)


def test_threads_with_memories_of_their_own_do_not_share_lines() -> None:
    program = assemble_vector("vloadps v1, [64]\n")
    assert in_turns(VectorUnit(program, 3, ByteMemory(128, 3)), CoreConfig(caches=True)).l2_misses == 3


def test_cores_of_several_host_threads_learn_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """They share tables: while one works out what instructions take, no other one does, and all count the same."""
    from larrabee_bridge.vpu import issue

    inside, most, after = 0, 0, issue._Timing.after

    def slowly(timing: issue._Timing, *given) -> tuple:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.01)
        result = after(timing, *given)
        inside -= 1
        return result

    monkeypatch.setattr(issue._Timing, "after", slowly)
    program = assemble_vector("again: " + CHAIN + "add r1, 3\ncmp r1, 9\njl again\nhalt\n")
    note = note_of(VectorUnit(program))

    def cycles(_: int) -> int:
        core = Core(program)
        core(note)
        return int(core.cycles[0])

    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(cycles, range(3)))
    assert most == 1
    assert together == [cycles(0)] * 3
