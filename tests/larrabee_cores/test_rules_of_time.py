"""Does the core keep every rule of time, does each value matter, and would a broken rule be noticed?

The closed forms at the end follow from the rules for programs of any length.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.pipeline.texture_unit import TextureConfig, TileTextureUnit
from larrabee_bridge.pipeline.tile_memory import fibers_of
from larrabee_bridge.vpu import rotation as at
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import CoreImage, WorkTables
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import Texture
from pixelflow.simd.lanes.native.plain import works_natively
from pixelflow.simd.lanes.words import ByteMemory
from tests.larrabee_cores.rules_of_time import FIELDS, LAST, REAL, RULES, Rule
from tests.sabotage.broken_rules import noticed, stands_once


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_cycles_are_those_by_hand(rule: Rule) -> None:
    assert rule.measured() == rule.cycles, rule.why
    assert rule.after().measured() == rule.then != rule.cycles
    assert not works_natively() or rule.measured(native=True) == rule.cycles


def test_every_value_of_the_configuration_has_a_rule() -> None:
    assert {key for rule in RULES for key in rule.changed} - {*FIELDS} == {each.name for each in fields(CoreConfig)}


def asked(config: TextureConfig, blocks: list[int], side: int = 128) -> np.ndarray:
    """Ask for the texels of blocks, a quad each; return cycles of the unit and lines from memory, added up."""
    texture = Texture(np.zeros((side, side, 4), np.uint8))
    row, column = np.divmod(np.array(blocks), side // 4)
    inside = np.arange(16)
    u, v = ((4 * start[:, None] << 16) + (2 << 16) + 0 * inside for start in (column, row))
    unit, quads = TileTextureUnit(1, config), len(blocks)
    zeros = np.zeros(quads, np.int64)
    return unit.answer(texture, zeros, zeros, np.ones((quads, 16), bool), u, v)[1].sum(axis=1)


class Fibers:
    """What `fibers_of` asks of an account."""

    def __init__(self, **values: int) -> None:
        self.texture, self.config = TextureConfig(**values), CoreConfig()


TEXTURE: dict[str, tuple[Callable[..., object], object, int, object]] = {
    # 16 pixels at 4 a cycle; at 16 a cycle.
    "pixels_per_cycle": (lambda **values: asked(TextureConfig(**values), [0])[0], 4, 16, 1),
    # 256 lines twice, in 512 places and in 128, where the least recently used leave before they return.
    "cache_bytes": (lambda **values: asked(TextureConfig(**values), [*range(256)] * 2)[1], 256, 8192, 512),
    # Lines 0 and 512 share a set of eight ways, of 64; and of one way, of 512.
    "ways": (lambda **values: asked(TextureConfig(**values), [0, 512, 0])[1], 2, 1, 3),
    # 10 cycles of work, a switch of 4: f > 0.95 (200 + 2 x 15 - 4 + 14) / 14 = 16.3; with 50: 6.1; with 20: 8.
    "latency": (lambda **values: fibers_of(Fibers(**values), 10, 64), 17, 50, 7),
    "switch_cycles": (lambda **values: fibers_of(Fibers(**values), 10, 64), 17, 20, 8),
    "fibers": (lambda **values: fibers_of(Fibers(**values), 10, 64), 17, 3, 3),
}
"""For each value of the texture unit what depends on it, its usual result, another value, the result with that."""


@pytest.mark.parametrize("key", TEXTURE)
def test_results_of_the_texture_unit_are_those_by_hand(key: str) -> None:
    measured, usual, other, then = TEXTURE[key]
    assert measured() == usual
    assert measured(**{key: other}) == then != usual


def test_lines_of_a_tile_stay_between_requests() -> None:
    """Lines 0 and 64 share a set of two ways; the second request finds both."""
    texture = Texture(np.zeros((128, 128, 4), np.uint8))
    unit = TileTextureUnit(1, TextureConfig(cache_bytes=8192, ways=2))
    zeros, inside = np.zeros(2, np.int64), np.ones((2, 16), bool)
    row, column = np.divmod(np.array([0, 64]), 32)
    u, v = ((4 * start[:, None] << 16) + (2 << 16) + np.zeros(16, np.int64) for start in (column, row))
    found = [unit.answer(texture, zeros, zeros, inside, u, v)[1][1].tolist() for _ in range(2)]
    assert found == [[1, 1], [0, 0]]


@pytest.mark.parametrize(("first", "cycles"), [("vloadps v1, [4]", 4), ("vgatherd v1, v9, [0]", 18)])
def test_a_thread_alone_rests_while_its_access_holds_the_pipes(first: str, cycles: int) -> None:
    """Where a thread leaves every second cycle: two lines, or sixteen; then the sum, and a cycle of rest."""
    program = assemble_vector(f"{first}\n{LAST}\n")
    unit, core = VectorUnit(program, 1, ByteMemory(1 << 12)), Core(program, 1, CoreConfig(back_to_back=False))
    unit.set_vector(9, 64 * np.arange(16))
    unit.run(core, lines=True)
    assert core.cycles.tolist() == [cycles]


def test_every_value_of_the_texture_unit_has_a_rule() -> None:
    assert set(TEXTURE) == {each.name for each in fields(TextureConfig)}


ROTATION, IMAGE = "larrabee_bridge/vpu/rotation.py", "larrabee_bridge/vpu/core_image.py"
SABOTAGES = {
    "a thread goes on as long as it can": (ROTATION, "        turn = place + 1\n", "        turn = place\n"),
    "an instruction pairs after a branch": (ROTATION, "if m[last + I_FLAGS] & BRANCH or not", "if not"),
    "the texture unit takes any number at a time": (ROTATION, "begin = max(cycle + 1 + m[L2_CYCLES], m[UNIT_FREE])",
                                                    "begin = cycle + 1 + m[L2_CYCLES]"),
    "memory gives any number of lines at a time": (ROTATION, "            begin = max(cycle, m[MEMORY_FREE])\n",
                                                   "            begin = cycle\n"),
    "counters of branches have one bit": (
        ROTATION, "min(counter + 1, 3) if taken else max(counter - 1, 0)", "3 if taken else 0"
    ),
    "prefetches bring nothing": (ROTATION, "        if flags & EVICT:", "        if flags & (NEAR | FAR): pass\n"
                                 "        elif flags & EVICT:"),
    "evict does nothing": (ROTATION, "    if there != -1:\n        at = 0", "    if there == -1:\n        at = 0"),
    "lines leave first in, first out": (ROTATION, "            while at > 0:", "            while at < 0:"),
    "any line leaves the L2 slice": (ROTATION, "turns_insert(m, far, m[WAYS], line, there)\n    if",
                                     "turns_insert(m, far + 2 * (line % m[WAYS]), 1, line, there)\n    if"),
    "any line leaves the L1 cache": (ROTATION, "        turns_insert(m, near, m[WAYS], line, there)",
                                     "        turns_insert(m, near + 2 * (line // 64 % m[WAYS]), 1, line, there)"),
    "a second access never pairs": (ROTATION, "if not m[TWO_ACCESSES] and", "if"),
    "two of a cycle write the same register": (
        ROTATION, "return turns_latest(m, t, m[number + I_WRITES], m[number + I_PAST]) <= cycle", "return 1"
    ),
    "vector instructions pair with each other": (ROTATION, "or not m[number + I_FLAGS] & EITHER", ""),
    "a wrong prediction costs nothing": (ROTATION, "cycle + 1 + m[MISPREDICTED]", "cycle + 1"),
    "branches back are predicted not taken": (IMAGE, "likely = 2 if", "likely = 1 if"),
    "branches ahead are predicted taken": (IMAGE, "_leads_back(program, number) else 1", "True else 1"),
    "a load waits for the register of its address alone": (ROTATION, "ready = max(ready, address + m[ADDRESS])",
                                                           "ready = max(ready, address)"),
    "prefetches are without number": (ROTATION, "longest = max(longest, m[place] - cycle)", "pass"),
    "a whole line is read before it is stored": (ROTATION, "if not flags & WHOLE or m[FULL_READ]:", "if 1:"),
    "the pipes are never held": (ROTATION, "        cycle += held\n", "        cycle += 1\n"),
    "a line is there at once when it was asked for": (ROTATION, "            return there\n        m[L1_MISSES]",
                                                      "            return 0\n        m[L1_MISSES]"),
    "the L2 slice takes no time": (ROTATION, "            there += m[L2_CYCLES]\n", "            pass\n"),
    "instructions are always there": (ROTATION, "if m[CODE_CACHED] and", "if 0 and"),
    "an answer does not wait for its texels": (ROTATION, "    if m[request + R_MISSES] > 0:", "    if 0:"),
    "a queue has room for every quad": (ROTATION, ">= m[CAPACITY]:", ">= 1 << 40:"),
    "a work thread takes quads that were not dealt": (ROTATION, "<= m[m[TAKEN] + worker]:", "< 0:"),
    "an answer leaves the old line in the L1 cache": (ROTATION, "            m[near] = -1\n", "            pass\n"),
    "a phase does not wait for the one before": (ROTATION, "if m[stretch + S_PHASE] > m[PHASE]:", "if 0:"),
    "a switch of fibers is free": (ROTATION, "        m[t + T_FREE] += m[SWITCH]\n", "        pass\n"),
    "the ring is crossed once": (IMAGE, "config.memory_cycles + 2 * config.ring_cycles",
                                 "config.memory_cycles + config.ring_cycles"),
    "writes take no time": (ROTATION, "            there = max(there, m[MEMORY_FREE])\n", ""),
    "stores to lines of the L1 cache are not written": (ROTATION, "            if flags & STORE:", "            if 0:"),
    "every line that leaves is written": (ROTATION, "        if m[far + 2 * m[WAYS] - 1] < 0:", "        if 1:"),
    "a gather takes a cycle": (ROTATION, "held = max(touched * m[number + I_LINE], 1)", "held = 1"),
    "a thread continues past a miss": (ROTATION, "cycle + held + missing)", "cycle + held)"),
    "an instruction pairs before it was fetched": (ROTATION, " or m[t + T_FETCH] > cycle:\n        return 0",
                                                   ":\n        return 0"),
    "the second of a pair holds nothing": (ROTATION, "            held = max(held, beside)\n", ""),
    "a line on its way to the L2 slice is there": (ROTATION, "        there = max(there, cycle)\n",
    "        there = cycle\n"),
    "lines behind one that is used again lose their times": (
        ROTATION, "                m[place + 2 * at + 1] = m[place + 2 * at - 1]\n", ""
    ),
}  # fmt: skip
"""Broken rules: file, text, and what it becomes."""


@pytest.mark.parametrize("change", SABOTAGES.values(), ids=SABOTAGES)
def test_the_text_of_a_sabotage_is_there_once(change: tuple[str, str, str]) -> None:
    assert stands_once(*change)


@pytest.mark.slow
@pytest.mark.parametrize("change", SABOTAGES.values(), ids=SABOTAGES)
def test_a_broken_rule_is_noticed_by_the_table(change: tuple[str, str, str], tmp_path: Path) -> None:
    assert noticed("tests.larrabee_cores.rules_of_time", *change, tmp_path)


# Closed forms: cycles of a step, from programs of two lengths.


def a_step(source: Callable[[int], str], few: int, more: int, **values: object) -> float:
    """Return the cycles that each further step takes."""
    short, long = (Rule("", source(steps), 0, "", {}, 0, **values).measured() for steps in (few, more))
    return (long - short) / (more - few)


def test_lines_of_a_run_have_places_on_the_core() -> None:
    """10 to 19 are the run's own, moved by 1,000; up to 49 lines move by 5, up to 79 they share 4 places from 2,000.

    From 80 to 85 there are two records of three lines, which begin at 700 and 900.
    """
    m, stretch = [0] * 300, 100
    m[at.RANGES] = 200
    m[stretch + at.S_RANGES : stretch + at.S_RANGES_PAST + 1] = 200, 200 + 3 * at.RANGE
    m[stretch + at.S_OWN : stretch + at.S_OWN_SHIFT + 1] = 10, 20, 1000
    m[200 : 200 + 3 * at.RANGE] = 50, 5, 0, 0, 80, 0, 4, 2000, 86, -80, -3, 3 * at.RANGE
    m[200 + 3 * at.RANGE : 202 + 3 * at.RANGE] = 700, 900
    lines = (9, 10, 19, 20, 49, 50, 79, 80, 82, 83, 85, 86)
    found = [at.turns_line(m, stretch, each) for each in lines]
    assert found == [14, 1010, 1019, 25, 54, 2002, 2003, 700, 702, 900, 902, 86]


@pytest.mark.parametrize(("stride", "again", "cycles"), [(0, 1, 2), (4096, 17, 17), (64, 1, 312)])
def test_a_pointer_is_chased_at_the_pace_of_its_level(stride: int, again: int, cycles: int) -> None:
    """A load and an address take 1 + 1 cycles, a line of the L2 slice 15 more, one of memory 310.

    Seventeen lines 4096 bytes apart share a set of eight lines in the L1 cache, and eight sets in the L2 slice.
    """
    places = stride * np.arange(128)
    if again > 1:
        places = stride * (np.arange(128) % again)
    memory = {int(here): int(there) for here, there in zip(places, np.roll(places, -1), strict=True)}
    step = a_step(lambda steps: "; ".join(["load r1, [r1]"] * steps), 40, 80, memory=memory, config=REAL)
    assert step == cycles


STREAM = "shl r15, 16; mov r3, r15; add r3, {past}; again: {ahead}load r2, [r15]; add r15, 64; cmp r15, r3; jnz again"
"""Each thread reads lines of its own, one after the other."""
AHEAD = "vprefetch1 [r15 + 1024]; "


@pytest.mark.parametrize(
    ("threads", "ahead", "cycles"),
    [(1, "", 313), (2, "", 156.5), (4, "", 78.25), (1, AHEAD, 310 / 16), (2, AHEAD, 310 / 32)],
)
def test_streams_take_turns_in_waiting(threads: int, ahead: str, cycles: float) -> None:
    """A load waits 310, and three more instructions follow; prefetches keep 16 lines under way, of two threads 32."""
    step = a_step(lambda lines: STREAM.format(past=64 * lines, ahead=ahead), 64, 128, config=REAL, threads=threads)
    assert step / threads == pytest.approx(cycles, rel=0.01)


@pytest.mark.parametrize(("rate", "cycles"), [(2, 3), (16, 16)])
def test_a_stream_of_stores_has_the_rate_of_memory_or_of_its_loop(rate: int, cycles: int) -> None:
    """Whole lines beyond the slice of 2,048: each sends one, and three cycles are those of the instructions."""
    values = {**REAL, "l2_bytes": 131072, "write_line_cycles": rate}
    text = "mov r3, {}; again: vstored [r15], v1; add r15, 64; cmp r15, r3; jnz again"
    assert a_step(lambda lines: text.format(64 * lines), 3000, 5000, config=values) == cycles


@pytest.mark.parametrize("count", [4, 5, 8, 12])
def test_a_loop_of_multiply_adds_loses_a_cycle_to_its_branch(count: int) -> None:
    """n multiply-adds, with the last one a subtraction, and jnz: n in n + 1 cycles, if n fills the latency of 4."""
    body = "; ".join(f"vmadd231ps v{number}, v20, v21" for number in range(count))
    step = a_step(lambda rounds: f"mov r1, {rounds}; again: {body}; sub r1, 1; jnz again", 20, 60)
    assert step == count + 1


@pytest.mark.parametrize("ways", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("size", [8192, 32768, 65536])
def test_misses_are_those_of_least_recent_use(ways: int, size: int) -> None:
    """Nine patterns of loads over lines of one set, and of a few sets, against a model of sets as ordered tables."""
    program = assemble_vector("load r1, [0]\n")
    for seed in range(9):
        rng = np.random.default_rng(seed)
        sets = size // 64 // ways
        lines = rng.integers(0, 20, 300) * sets + rng.integers(0, 1 + seed % 3, 300)
        kept: dict[int, OrderedDict[int, None]] = {}
        misses = 0
        for line in lines.tolist():
            own = kept.setdefault(line % sets, OrderedDict())
            misses += line not in own
            own[line] = None
            own.move_to_end(line)
            if len(own) > ways:
                own.popitem(last=False)
        image = CoreImage([program], CoreConfig(caches=True, l1_bytes=size, ways=ways))
        words = np.stack([np.zeros(300), np.ones(300), lines], axis=1).astype(np.uint32).reshape(-1)
        row = np.zeros((1, at.STRETCH), np.int64)
        row[0, at.S_PAST], row[0, [at.S_PHASE, at.S_ASK, at.S_WAIT]] = len(words), -1
        head = image.count(words, WorkTables([row]), native=False)
        assert head[at.L1_MISSES] == misses
