"""Where each access, sum and hop of an instruction is placed among its declared cycles, and which bits are hidden."""

from __future__ import annotations

import pytest

from pixelflow.isa import INSTRUCTIONS, Mem
from pixelflow.isa.declarations import CARRIES, MASKS, WORDS
from pixelflow.isa.hardware import placement_of
from pixelflow.simd.isa.effects import _tried
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.form import Op, places_of, record

ALONE, STORE = ("registers and flags alone",), ("writes in cycle 1",)
MOVE, SUM = (*ALONE, "reads in cycle 1"), ("sums in cycle 1", "reads in cycle 1; sums in cycle 1")
TESTED = ("reads in cycles 2, 3; sums in cycles 2, 3; 1 hidden bit",)  # the carry between the bytes
ZERO = ("sums in cycle 3; 8 hidden bits",)  # the bytes so far; the last cycle asks whether any bit is set
TABLE = {
    **dict.fromkeys(("ADD", "ADC", "SUB", "SBC", "CMP", "CMPC"), SUM),
    **dict.fromkeys(("LD", "AND", "OR", "XOR", "SHL", "SHR", "ROL", "ROR"), MOVE),
    **dict.fromkeys(("ST", "STA", "STI", "STE"), STORE),
    **dict.fromkeys(("SHLP", "SHRP", "START", "EPUSH", "EPOP", "EMC_SetEnab"), ALONE),
    **dict.fromkeys(("EC", "ENC", "EANDC", "EANDNC", "EORC", "EORNC", "ENOT"), ALONE),
    **dict.fromkeys(("EMC_MarkRead", "EMC_MarkWrite", "EMC_ClearMarks"), ALONE),
    "MSTEP": ("sums in cycle 1",),
    "EMC_TreeIntoMem_Li": ("writes in cycles 2, 3",),
    # A byte is summed in the cycle that fetches it and stored in the next: the byte and the carry are hidden.
    "EMC_TreeAddMem_Li": ("reads in cycles 2, 4; writes in cycles 3, 5; sums in cycles 2, 4; 9 hidden bits",),
    **dict.fromkeys(("EMC_TreeLTZero_Li", "EMC_TreeGEZero_Li"), ALONE),
    **dict.fromkeys(("EMC_TreeEQZero_Li", "EMC_TreeNEZero_Li"), ZERO),
    **dict.fromkeys(("EMC_TreeLTMem_Li", "EMC_TreeGEMem_Li"), TESTED),
    # Two bytes over two PEs; in a swap, a PE on the way holds a byte of each direction.
    "EMC_PixCopy": ("reads in cycles 2, 5; writes in cycles 4, 7; hops in cycles 2, 3, 5, 6; 8 hidden bits",),
    "EMC_PixSwap": ("reads in cycles 2, 5; writes in cycles 4, 7; hops in cycles 2, 3, 5, 6; 16 hidden bits",),
}
"""Each instruction of the PEs, for each kind of its operands; counts and distances are 2."""

ON_PES = [each for each in INSTRUCTIONS.values() if each.on_lanes]


def test_the_table_of_all_instructions() -> None:
    assert {each.mnemonic: tuple(placed.text for placed in each.hardware.values()) for each in ON_PES} == TABLE


def test_one_port_and_one_adder_are_enough_and_the_hidden_bits_are_few() -> None:
    most = {}
    for declaration in ON_PES:
        for instruction in _tried(declaration):
            placed = placement_of(instruction)
            assert placed.ports <= 1 and placed.adders <= 1
            most[declaration.mnemonic] = max(placed.hidden, most.get(declaration.mnemonic, 0))
    assert max(most.values()) == most["EMC_PixSwap"] == 16
    assert sorted({bits for name, bits in most.items() if "Tree" in name}) == [0, 1, 8, 9]


def test_the_recorded_form_has_as_many_accesses_and_sums() -> None:
    """Another recording of the same meaning; it has a load more for each write in some PEs."""
    places = places_of(Shape(64, 32, 384, WORDS, CARRIES, MASKS))
    for declaration in ON_PES:
        for instruction in _tried(declaration):
            form, operands = record(instruction.apply, places)
            rows = {at: operands[step.detail] for at, step in enumerate(form.steps) if step.op in (Op.LOAD, Op.STORE)}
            kept = {step.inputs[2] for step in form.steps if step.op is Op.SELECT}
            loads = [at for at in rows if form.steps[at].op is Op.LOAD and rows[at] < 384 and at not in kept]
            stores = [at for at in rows if form.steps[at].op is Op.STORE and rows[at] < 384]
            sums = [step for step in form.steps if step.op is Op.ADD]
            placed = placement_of(instruction)
            assert (len(placed.reads), len(placed.writes), len(placed.sums)) == (len(loads), len(stores), len(sums))
            named = {first.offset + at for first, size in instruction.touches for at in range(size)}
            assert {rows[at] for at in (*loads, *stores)} == named


@pytest.mark.parametrize("distance", [1, 2, 4, 8, 16])
def test_a_copy_moves_a_byte_by_one_pe_a_cycle(distance: int) -> None:
    placed = placement_of(INSTRUCTIONS.make("EMC_PixCopy", Mem(0), Mem(64), 3, distance))
    assert placed.reads == tuple(1 + (distance + 1) * byte for byte in range(3))
    assert placed.writes == tuple(each + distance for each in placed.reads)
    assert len(placed.hops) == 3 * distance


@pytest.mark.parametrize("mnemonic", ["CALL", "RET", "SIGNAL", "WAIT", "TAS_MemRdBlock4"])
def test_what_is_not_of_the_pes_says_so(mnemonic: str) -> None:
    declaration = INSTRUCTIONS[mnemonic]
    assert not declaration.hardware
    assert declaration.needs.startswith("not derived" if mnemonic.startswith("TAS") else "a sequencer that takes ")
