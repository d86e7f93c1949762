"""Every instruction of the vector unit: hand-worked rows, words and back, text and back."""

import re

import numpy as np
import pytest

from larrabee_bridge.vpu.isa import FLAGS, INSTRUCTIONS, LANES, NEXT
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from microcode import assemble
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.lanes.words import ByteMemory
from tests.lanes.native_meanings import carry_out
from tests.larrabee.rows import ROWS, words
from tests.larrabee.test_golden import ENGINES

THREADS = 3
START = 4096  # where NEXT points before an instruction, so that a branch not taken is seen


def instruction(text: str) -> Instruction:
    """Assemble one instruction; a branch's target is a word address."""
    branch = re.fullmatch(r"(\w+) (\d+)", text)
    if branch and branch[1] in INSTRUCTIONS:
        return INSTRUCTIONS.make(branch[1], int(branch[2]))
    return assemble_vector(text + "\n").instructions[0]


def put(unit: VectorUnit, state: dict) -> None:
    for name, value in state.items():
        number = int(name[1:]) if name[1:].isdigit() else None
        if name in FLAGS:
            unit.lanes.set_bit(name, np.full(LANES * THREADS, value))
        elif name == NEXT:
            unit.lanes.set_word(NEXT, np.full(LANES * THREADS, value, np.uint32))
        elif name[0] == "v":
            unit.set_vector(number, np.array(words(value), np.uint32))
        elif name[0] == "k":
            unit.set_mask(number, value)
        elif name[0] == "r":
            unit.set_scalar(number, value & 0xFFFFFFFF)
        else:
            packed = np.array([word & 0xFFFFFFFF for word in value], np.uint32).view(np.uint8)
            unit.memory.data[:, number : number + len(packed)] = packed


def unit_with(state: dict) -> VectorUnit:
    unit = VectorUnit(assemble_vector("halt\n"), THREADS, ByteMemory(1 << 16, THREADS))
    put(unit, {NEXT: START, **state})
    return unit


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "before", "changes"), ROWS, ids=[f"{at}: {row[0]}" for at, row in enumerate(ROWS)])
def test_an_instruction_changes_this_and_nothing_else(text: str, before: dict, changes: dict, engine: str) -> None:
    unit, expected = unit_with(before), unit_with({**before, **changes})
    carry_out(unit.lanes, instruction(text).apply, engine)
    found, wanted = unit.lanes.snapshot(), expected.lanes.snapshot()
    assert [name for name in found if not np.array_equal(found[name], wanted[name])] == []
    assert (unit.memory.data == expected.memory.data).all()


def test_every_instruction_has_a_row() -> None:
    assert set(INSTRUCTIONS) == {text.split()[0] for text, *_ in ROWS}


@pytest.mark.parametrize("text", dict.fromkeys(text for text, *_ in ROWS))
def test_words_and_text_mean_the_instruction(text: str) -> None:
    given = instruction(text)
    assert INSTRUCTIONS.decode(given.encode()) == given
    assert instruction(given.text()) == given


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_a_declaration_says_what_it_costs_and_who_says_so(name: str) -> None:
    declaration = INSTRUCTIONS[name]
    assert declaration.manual.endswith(".")
    assert declaration.source
    assert declaration.cost_text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vaddps v1, v2", "vaddps takes 3 operands, not 2"),
        ("vaddps v1{cdab}, v2, v3", "{cdab} is not allowed here"),
        ("vaddps v1, v2{k1}, v3", "{k1} is not allowed here"),
        ("vaddps v1, v2, v3{k1}", "{k1} is not allowed here"),
        ("vaddps v1{k1}{k2}, v2, v3", "{k2} is one mask too many"),
        ("vaddps v1, v2, [r1]{1to16}{4to16}", "{4to16} is one replication too many"),
        ("vaddps v1, r2, v3", "register r2 is not a vector register, v0..v31"),
        ("vaddps v1, v2, v32", "unknown name v32"),
        ("vstored [r1]{uint8}, v1", "{uint8} is not allowed here"),
        ("mov r1, v2", "register v2 is not a scalar register"),
        ("mov r1, 4294967296", "4294967296 does not fit 32 bits"),
        ("mov r1, 1e39", "1e+39 does not fit binary32"),
        ("vloadps v1, [r1 + 2147483648]", "offset 2147483648 does not fit 32 bits"),
        (f"vloadps v1, [r1 - {'9' * 40}]", f"offset -{'9' * 40} does not fit 32 bits"),
        (f"vaddps v1, v2, [r1 + {'9' * 40}]", f"offset {'9' * 40} does not fit 32 bits"),
        (f"vstored [{'9' * 40}], v1", f"offset {'9' * 40} does not fit 32 bits"),
        ("vcvtps2pi v1, v2, 4", "rounding is 4, allowed: an integer 0..3"),
        ("vadps v1, v2, v3", "unknown instruction or macro vadps"),
        ("k3: halt", "k3 is a name of the machine"),
        ("LD R, #1", "unknown instruction or macro LD"),
        ("jmp nowhere", "nowhere is not a label"),
    ],
)
def test_a_mistake_is_named(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble_vector(line + "\n")
    (fault,) = caught.value.faults
    assert message in fault.message
    assert fault.place.line == 1


@pytest.mark.parametrize("line", ["LD R, [3]{k1}", "LD R, x{k1}", "LD R, x[0]{1to16}", "LD R, v1"])
def test_the_nodes_instructions_take_none_of_this(line: str) -> None:
    with pytest.raises(InputError):
        assemble(f"range x[4]\n{line}\n")
