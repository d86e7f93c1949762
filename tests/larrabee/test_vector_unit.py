"""Programs on the vector unit: threads that part and meet, memories, faults, and what the core model charges."""

import pickle

import numpy as np
import pytest

from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import INSTRUCTIONS, VectorFamily
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.program import VectorProgram, assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import CycleLimitError, MachineFault
from pixelflow.simd.isa.effects import effects
from pixelflow.simd.lanes.words import ByteMemory

COLLATZ = """
; r2 = steps until r1 is 1
again:  cmp r1, 1
        jz done
        add r2, 1
        test r1, 1
        jz even
        imul r1, 3
        add r1, 1
        jmp again
even:   shr r1, 1
        jmp again
done:   kmovrk k1, r2
        vaddpi v1{k1}, v2, v3
"""


def collatz(number: int) -> int:
    steps = 0
    while number != 1:
        number, steps = (3 * number + 1 if number & 1 else number // 2), steps + 1
    return steps


def test_threads_that_go_different_ways_each_get_their_own_result() -> None:
    starts = np.array([1, 27, 6, 97, 2, 7, 1])
    unit = VectorUnit(assemble_vector(COLLATZ), len(starts))
    unit.set_scalar(1, starts)
    unit.set_vector(2, np.ones(16, np.int64))
    unit.run()
    steps = [collatz(int(start)) for start in starts]
    assert unit.scalar(2).tolist() == steps
    assert unit.mask(1).tolist() == [step & 0xFFFF for step in steps]
    assert unit.vector(1).sum(axis=1).tolist() == [(step & 0xFFFF).bit_count() for step in steps]


def test_a_thread_among_others_costs_what_it_costs_alone() -> None:
    """Threads that wait while others go their way are neither written nor charged."""
    program = assemble_vector(COLLATZ)
    starts = np.array([1, 27, 6, 97])
    together = Core(program, len(starts))
    unit = VectorUnit(program, len(starts))
    unit.set_scalar(1, starts)
    unit.run(together)
    for number, start in enumerate(starts):
        alone = Core(program)
        one = VectorUnit(program)
        one.set_scalar(1, int(start))
        one.run(alone)
        assert together.cycles[number] == alone.cycles[0]
        assert together.paired[number] == alone.paired[0]
        assert together.waited[number] == alone.waited[0]
        assert all(together.counts[family][number] == alone.counts[family][0] for family in VectorFamily)


def test_threads_share_one_memory_or_have_one_each() -> None:
    program = assemble_vector("store [64], r1\n")
    for sets, expected in ((1, [[12]]), (3, [[10], [11], [12]])):
        memory = ByteMemory(128, sets)
        unit = VectorUnit(program, 3, memory)
        unit.set_scalar(1, np.array([10, 11, 12]))
        unit.run()
        assert memory.data[:, 64:68].copy().view(np.uint32).tolist() == expected


def test_initial_data_are_there_and_ranges_begin_on_lines() -> None:
    program = assemble_vector("range a[4]\nrange b[64]\ndata b: float 1.5, -2.0\nvloadps v1, [b]{4to16}\n")
    assert [(each.name, each.start) for each in program.ranges] == [("a", 0), ("b", 64)]
    unit = VectorUnit(program)
    unit.run()
    assert unit.vector(1).view(np.float32)[0, :4].tolist() == [1.5, -2.0, 0.0, 0.0]


def test_an_address_beyond_the_memory_is_named_with_its_line() -> None:
    unit = VectorUnit(assemble_vector("mov r1, 65500\nvloadpi v1, [r1]\n"))
    with pytest.raises(MachineFault, match=r":2: lane 9 reaches byte 0x10000, the memory has 0x10000 bytes"):
        unit.run()


def test_a_lane_that_is_not_enabled_reaches_nowhere() -> None:
    unit = VectorUnit(assemble_vector("vgatherd v1{k1}, v2, [0]\n"))
    unit.set_vector(2, np.array([0] * 8 + [0x7FFFFFFF] * 8))
    unit.set_mask(1, 0x00FF)
    unit.run()
    assert not unit.vector(1).any()


def test_a_program_that_does_not_end_is_stopped() -> None:
    with pytest.raises(CycleLimitError, match="still running after 100 instructions"):
        VectorUnit(assemble_vector("again: jmp again\n")).run(limit=100)


def test_a_program_is_saved_as_what_it_is() -> None:
    program = assemble_vector(COLLATZ)
    again = VectorProgram.from_json(program.to_json())
    assert again == program
    assert [each.text() for each in again.instructions] == [each.text() for each in program.instructions]


def test_another_process_gets_the_same_program() -> None:
    program = assemble_vector(COLLATZ)
    assert program.instructions  # looked up before it is sent
    again = pickle.loads(pickle.dumps(program))
    assert again == program
    assert again.instructions == program.instructions


def cycles(text: str, config: CoreConfig | None = None, **before: np.ndarray) -> int:
    program = assemble_vector(text)
    core = Core(program, config=config)
    unit = VectorUnit(program)
    for name, value in before.items():
        unit.set_vector(int(name[1:]), value)
    unit.run(core)
    return int(core.cycles[0])


# Each program ends with halt, which may stand in the secondary pipe.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vaddps v1, v2, v3\n", 1),
        ("vaddps v1, v2, v3\nvaddps v4, v2, v3\n", 2),  # two for the primary pipe
        ("vaddps v1, v2, v3\nvaddps v4, v1, v3\n", 5),  # the second waits for v1: cycles 0 and 4
        ("vaddps v1, v2, v3\nadd r1, 1\nhalt\n", 2),  # add beside vaddps, then halt
        ("add r1, 1\nvaddps v1, v2, v3\n", 2),  # not the other way round
        ("mov r1, 1\nadd r1, 1\n", 2),  # add needs r1
        ("mov r1, 1\nmov r1, 2\n", 2),  # both write r1
        ("vstored [0], v1\n", 1),
        ("vaddps v1, v2, v3\nvstored [0], v2\nhalt\n", 2),  # the store beside the sum
        ("vloadps v1, [64]\nvloadps v2, [128]{1to16}\n", 2),
        ("vloadps v1, [96]\n", 2),  # sixteen words on two lines
        ("imul r1, 3\nimul r2, 3\n", 2),
    ],
)
def test_cycles_by_hand(text: str, expected: int) -> None:
    assert cycles(text) == expected


@pytest.mark.parametrize(
    ("offsets", "lines"),
    [([0] * 16, 1), (list(range(0, 64, 4)), 1), (list(range(32, 96, 4)), 2), (list(range(0, 1024, 64)), 16)],
)
def test_a_gather_takes_a_cycle_for_each_line(offsets: list[int], lines: int) -> None:
    assert cycles("vgatherd v1, v2, [0]\n", v2=np.array(offsets)) == lines


@pytest.mark.parametrize("how", ["", "{uint8}", "{unorm8}", "{sint16}", "{float16}", "{1to16}", "{4to16}"])
def test_widening_and_replication_cost_nothing(how: str) -> None:
    """Seiler et al. 2008, 3.3: converted with no loss of performance."""
    assert cycles(f"vaddps v1, v2, [64]{how}\nvaddps v3, v1, v2\n") == 5


def test_the_parameters_matter() -> None:
    text = "vaddps v1, v2, v3\nvaddps v4, v1, v3\nadd r1, 1\n"
    assert cycles(text) == 6  # 0, 4, 4, halt in 5
    assert cycles(text, CoreConfig(vector_latency=6)) == 8
    assert cycles(text, CoreConfig(dual_issue=False)) == 7
    assert cycles(text, CoreConfig(back_to_back=False)) == 8
    assert cycles("vaddps v1, v2, [64]\nvaddps v4, v1, v3\n", CoreConfig(load_op_cycles=3)) == 8
    assert cycles("load r1, [64]\nadd r1, 1\n", CoreConfig(scalar_latency=3)) == 4


def test_what_an_instruction_reads_and_writes() -> None:
    first, second, third = assemble_vector(
        "vmadd231ps v1{k1}, v2, [r3]\nbsfi r1, r2\nvcompressd [r1]{k2}, v4\n"
    ).dependences[:3]
    assert first.reads == {"v1", "v2", "k1", "r3"}
    assert first.writes == {"v1"}
    assert second.writes == {"r1", "zero"}
    assert third.reads == {"r1", "k2", "v4"}
    assert third.memory
    assert not second.memory


def test_every_instruction_says_what_it_touches() -> None:
    """The dry run that finds dependences works for all: those that touch memory are those with a memory operand."""
    from tests.larrabee.rows import ROWS
    from tests.larrabee.test_instructions import instruction

    for text, *_ in ROWS:
        given = instruction(text)
        assert effects(given.apply).memory == ("[" in text), text
    assert len(INSTRUCTIONS) > 60
