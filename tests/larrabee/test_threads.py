"""Threads that take turns on a core: by hand, and against the model of one thread."""

import numpy as np
import pytest

from larrabee_bridge.vpu.core import Core, CoreConfig
from larrabee_bridge.vpu.core.threads import ThreadTrace, take_turns
from larrabee_bridge.vpu.memory.caches import SetAssociativeCache
from larrabee_bridge.vpu.unit.program import assemble_vector
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

CHAIN = "vaddps v1, v2, v3\n" + "vaddps v1, v1, v3\n" * 7
"""Eight sums, each waiting for the one before."""


def shared(text: str, threads: int, config: CoreConfig | None = None):
    program = assemble_vector(text)
    recording = ThreadTrace(threads)
    VectorUnit(program, threads).run(recording)
    return take_turns(program, recording.steps, config)


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


def test_an_access_to_many_lines_holds_the_core() -> None:
    text = "mov r1, 2\nvgatherd v1, v2, [0]\n"
    program = assemble_vector(text)
    unit = VectorUnit(program, 2)
    unit.set_vector(2, np.arange(16) * 64)
    recording = ThreadTrace(2)
    unit.run(recording)
    # mov and mov, then 16 cycles each
    assert take_turns(program, recording.steps).cycles == 34


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("config", [CoreConfig(), CoreConfig(vector_latency=7, dual_issue=False)])
def test_one_thread_costs_what_the_other_model_says(seed: int, config: CoreConfig) -> None:
    """Two models written apart, random programs."""
    rng = np.random.default_rng(seed)
    made = [
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
    text = "\n".join(made[rng.integers(len(made))](*rng.integers(0, 4, 3)) for _ in range(60)) + "\n"
    program = assemble_vector(text)
    core, recording = Core(program, config=config), ThreadTrace(1)
    for subscriber in (core, recording):
        unit = VectorUnit(program)
        unit.set_vector(1, np.arange(16) * 12)
        unit.run(subscriber)
    found = take_turns(program, recording.steps, config)
    assert (found.cycles, found.paired) == (core.cycles[0], core.paired[0])


def test_a_line_is_waited_for_once_in_memory_then_found() -> None:
    """Four loads of one line: 300 cycles, then it is in the L1 cache. Its neighbour was never touched."""
    text = "".join(f"vloadps v{number}, [64]\n" for number in range(4))
    config = CoreConfig(caches=True)
    assert shared(text, 1).cycles == 4
    found = shared(text, 1, config)
    assert (found.cycles, found.l1_misses, found.l2_misses) == (304, 1, 1)
    assert shared(text + "vloadps v5, [128]\n", 1, config).cycles == 304 + 301


def test_while_one_thread_waits_for_a_line_another_works() -> None:
    config = CoreConfig(caches=True)
    text = "vloadps v1, [64]\n" + "vaddps v2, v3, v4\n" * 3
    alone, together = shared(text, 1, config), shared(text, 4, config)
    assert alone.cycles == 304
    assert together.l2_misses == 1  # the line comes once for all
    assert together.cycles < 310


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
    assert waited == 1024 * (300 + 15)


def test_threads_with_memories_of_their_own_do_not_share_lines() -> None:
    program = assemble_vector("vloadps v1, [64]\n")
    recording = ThreadTrace(3)
    VectorUnit(program, 3, ByteMemory(128, 3)).run(recording)
    assert take_turns(program, recording.steps, CoreConfig(caches=True)).l2_misses == 3


def test_a_set_gives_up_the_line_that_was_used_longest_ago() -> None:
    cache = SetAssociativeCache(2 * 64, ways=2)
    assert [cache.touch(line) for line in (1, 2, 1, 3, 1, 2)] == [False, False, True, False, True, False]
    assert (cache.hits, cache.misses) == (2, 4)
