"""Cycles from what is remembered of states, against a plain count of every instruction of every thread."""

from __future__ import annotations

import numpy as np
import pytest

from larrabee_bridge.vpu.core import Core, CoreConfig, Costs
from larrabee_bridge.vpu.unit.program import VectorProgram, assemble_vector, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import MachineFault

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
    """Registers as times, one thread after the other."""

    def __init__(self, program: VectorProgram, threads: int, config: CoreConfig) -> None:
        self.costs = Costs.of(program, config)
        self.there: list[dict[str, int]] = [{} for _ in range(threads)]
        self.free, self.slot = [0] * threads, [-1] * threads
        self.paired, self.waited, self.lines = [0] * threads, [0] * threads, [0] * threads

    def __call__(self, number: int, active: np.ndarray, lines: np.ndarray) -> None:
        costs, config = self.costs, self.costs.config
        for thread in np.flatnonzero(active).tolist():
            touched = int((lines[thread] >= 0).sum())
            there, slot, free = self.there[thread], self.slot[thread], self.free[thread]
            held, depends = max(touched, 1), costs.depends[number]
            ready = max((there.get(name, 0) for name in depends.reads), default=0)
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


@pytest.mark.parametrize("config", [*CONFIGS, CoreConfig(dual_issue=False, load_op_cycles=2)])
def test_threads_that_part_and_touch_different_lines(config: CoreConfig) -> None:
    program, threads = assemble_vector(LOOP), 12
    rng = np.random.default_rng(5)
    offsets, turns = rng.integers(0, 64, (threads, 16)) * 16, np.arange(threads) % 5 + 1
    floats, addresses = rng.normal(size=(3, threads, 16)).astype(np.float32), rng.integers(0, 9, threads) * 36
    cores = [Core(program, threads, config), Core(program, threads, config)]
    plain = Plain(program, threads, config)
    # told of stretches; told of each instruction; counted plainly
    for subscriber in (cores[0], lambda *step: cores[1](*step), plain):
        unit = VectorUnit(program, threads)
        unit.set_scalar(0, turns)
        unit.set_scalar(1, addresses)
        unit.set_vector(5, offsets)
        for number, values in zip((2, 3, 4), floats, strict=True):
            unit.set_vector(number, values)
        unit.run(subscriber)
    for core in cores:
        assert core.cycles.tolist() == plain.free
        assert core.paired.tolist() == plain.paired
        assert core.waited.tolist() == plain.waited
        assert core.lines.tolist() == plain.lines
    assert len(set(plain.free)) > 4


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
    """Four instructions of one stretch, told of together and one by one."""
    program = assemble_vector(FAULTY)
    core, each = Core(program), Core(program)
    for subscriber in (core, lambda *step: each(*step)):
        unit = VectorUnit(program)
        unit.set_scalar(3, 1 << 30)
        with pytest.raises(MachineFault, match=":6: lane 0 reaches byte"):
            unit.run(subscriber)
    assert core.cycles.tolist() == each.cycles.tolist() and core.cycles[0] > 0
    assert sum(int(counts.sum()) for counts in core.counts.values()) == 4


def test_what_came_before_a_limit_counts() -> None:
    program = assemble_vector("again: add r1, 1\njmp again\n")
    core = Core(program)
    with pytest.raises(MachineFault, match="still running after 9 instructions"):
        VectorUnit(program).run(core, limit=9)
    assert sum(int(counts.sum()) for counts in core.counts.values()) == 10
