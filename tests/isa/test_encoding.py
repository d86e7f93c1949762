"""Do words and instructions correspond one to one, and does every field lie where no other does?"""

from __future__ import annotations

import random

import pytest

from pixelflow.isa import (
    INSTRUCTIONS,
    EncodingError,
    Family,
    Imm,
    InstructionSet,
    Mem,
    Register,
    Unit,
    decode,
    encode,
    operands,
)
from pixelflow.simd.errors import InputError, InternalError
from pixelflow.simd.isa.declare import Declaration
from pixelflow.simd.isa.encoding import OPCODE_BITS, WORD_BITS
from pixelflow.simd.isa.operands import Count, Delta, Name, Target

DECLARATIONS = INSTRUCTIONS.values()


def _random_operand(rng: random.Random, spec) -> object:
    def reference(make, low, high):
        base = rng.choice([None, 0, 3, 6])
        return make(rng.randint(low, high), base)

    match spec.kind:
        case operands.REGISTER:
            return rng.choice(list(Register))
        case operands.SOURCE:
            return rng.choice([Register.S, reference(Mem, -512, 511), reference(Imm, -128, 255)])
        case operands.MEMORY:
            return reference(Mem, -512, 511)
        case operands.BYTE:
            return reference(Imm, -128, 255)
        case Count(choices=choices) if choices:
            return rng.choice(choices)
        case Count(low=low, high=high) | Delta(low=low, high=high):
            return rng.randint(low, high)
        case operands.PARAMETER:
            return rng.randint(0, 6)
        case operands.COEFFICIENT:
            return rng.getrandbits(64) - (1 << 63)
        case Target():
            return rng.getrandbits(24)
        case Name():
            return rng.getrandbits(16)
        case operands.ARGUMENTS:
            return tuple(reference(Mem, -4096, 4095) for _ in range(rng.randrange(8)))


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda d: d.mnemonic)
def test_words_decode_to_what_was_encoded(declaration) -> None:
    rng = random.Random(declaration.opcode)
    for _ in range(200):
        operands = tuple(_random_operand(rng, spec) for spec in declaration.operands)
        gated = declaration.gateable and rng.random() < 0.5
        made = INSTRUCTIONS.make(declaration.mnemonic, *operands, gated=gated)
        words = encode(made)
        assert len(words) == declaration.words
        assert decode(words) == made
        assert encode(decode(words)) == words


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda d: d.mnemonic)
def test_no_two_fields_overlap(declaration) -> None:
    layout = declaration.layout
    bits = [bit for field in layout.fields for bit in field.bits]
    bits += range(OPCODE_BITS)
    bits += [] if layout.gate is None else [layout.gate]
    assert len(bits) == len(set(bits))
    assert max(bits) < layout.words * WORD_BITS
    assert all(f.start // WORD_BITS == (f.start + f.width - 1) // WORD_BITS for f in layout.fields)


def test_hand_encoded_words() -> None:
    """ADC.E R, [P1 + 5]: opcode 0x21, gate 1, register 00, kind 01, base 010, offset 0000000101, seven spare bits."""
    bits = "00100001" + "1" + "00" + "01" + "010" + "0000000101" + "000000"
    made = INSTRUCTIONS.make("ADC", Register.R, Mem(5, 1), gated=True)
    assert encode(made) == (int(bits, 2),)
    # EMC_TreeIntoMem_Li [16], 4, 1, -2, 3: head, then A, B, C as two words each, high word first.
    head = "01010000" + "000" + "0000010000" + "0100" + "0000000"
    tree = INSTRUCTIONS.make("EMC_TreeIntoMem_Li", Mem(16), 4, 1, -2, 3)
    assert encode(tree) == (int(head, 2), 0, 1, 0xFFFFFFFF, 0xFFFFFFFE, 0, 3)


@pytest.mark.parametrize(
    ("mnemonic", "operands", "message"),
    [
        ("LD", (Register.R, Imm(256)), "operand src: #256 is not a byte, allowed: #-128..#255"),
        ("ST", (Mem(512), Register.R), "operand address: 512 does not fit -512..511"),
        ("ST", (Mem(0, 7), Register.R), "operand address: parameter P7 does not exist (P0 to P6)"),
        ("ST", (Register.R, Register.R), "operand address: R is not a memory byte"),
        ("LD", (Register.R,), "LD takes 2 operands, not 1: LD[.E] dst, src"),
        ("EMC_PixCopy", (Mem(0), Mem(1), 4, 3), "operand distance: 3 is not one of 1, 2, 4, 8, 16"),
        ("EMC_TreeLTZero_Li", (1, 1, 0, 0, 0), "operand p: 1 is not an integer 0..0"),
        ("EMC_TreeIntoMem_Li", (Mem(0), 9, 0, 0, 0), "operand bytes: 9 is not an integer 1..8"),
        ("EMC_TreeIntoMem_Li", (Mem(0), 1, 1 << 63, 0, 0), "is not a signed 64-bit integer"),
        ("ADDP", (0, -8193), "operand delta: -8193 is not an integer -8192..8191"),
        ("LOOP", (True,), "operand count: True is not an integer 0..65535"),
    ],
)
def test_operands_that_do_not_fit_name_themselves(mnemonic, operands, message) -> None:
    with pytest.raises(EncodingError) as caught:
        INSTRUCTIONS.make(mnemonic, *operands)
    assert message in str(caught.value)


@pytest.mark.parametrize("number", [-(1 << 63), -1, 0, (1 << 63) - 1])
def test_a_coefficient_has_64_bits_and_a_sign(number: int) -> None:
    made = INSTRUCTIONS.make("EMC_TreeIntoMem_Li", Mem(0), 1, number, 0, 0)
    high, low = encode(made)[1:3]
    assert (high << 32 | low) == number % (1 << 64)
    for beyond in (-(1 << 63) - 1, 1 << 63):
        with pytest.raises(EncodingError, match="is not a signed 64-bit integer"):
            INSTRUCTIONS.make("EMC_TreeIntoMem_Li", Mem(0), 1, beyond, 0, 0)


def test_gating_is_refused_where_there_is_no_gate() -> None:
    with pytest.raises(EncodingError, match=r"ST has no \.E form"):
        INSTRUCTIONS.make("ST", Mem(0), Register.R, gated=True)


def test_words_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="word 0: opcode 0xff is not an instruction"):
        decode((0xFF000000,))
    with pytest.raises(InputError, match="word 0: EMC_TreeIntoMem_Li needs 7 words, the program ends"):
        decode((0x50000000,))
    with pytest.raises(InputError, match="source kind 3 does not exist"):
        decode((0x10 << 24 | 0b0_00_11 << 19,))


def test_a_second_declaration_of_a_mnemonic_or_opcode_is_refused() -> None:
    fresh = InstructionSet("tests", unit=Unit.PE, kind=Declaration)

    def declare(mnemonic, opcode):
        @fresh.instruction(mnemonic, opcode, family=Family.MOVE, steps=lambda: (), cost="0", source="test")
        def meaning(pe):
            """Do nothing."""

    declare("ONE", 1)
    for clash in (("ONE", 2), ("TWO", 1)):
        with pytest.raises(InternalError, match="declared twice"):
            declare(*clash)


def test_unknown_mnemonics_get_the_nearest_known_one() -> None:
    with pytest.raises(InputError, match=r"unknown instruction EMC_SetEnb\n +did you mean EMC_SetEnab\?"):
        INSTRUCTIONS.find("EMC_SetEnb")


def test_one_cycle_makes_at_most_one_memory_access() -> None:
    """Machine rule A3, checked on the declared steps: an access for each byte moved, never two in one cycle."""
    for declaration in DECLARATIONS:
        assert declaration.manual and declaration.source
    ld_memory = INSTRUCTIONS.make("LD", Register.R, Mem(0))
    ld_byte = INSTRUCTIONS.make("LD", Register.R, Imm(0))
    assert [step.memory for step in ld_memory.steps] == [True]
    assert [step.memory for step in ld_byte.steps] == [False]
    copy = INSTRUCTIONS.make("EMC_PixCopy", Mem(0), Mem(32), 32, 8)
    assert sum(step.memory for step in copy.steps) == 64


@pytest.mark.parametrize("count", range(1, 9))
def test_lee_loads_take_n_plus_1(count: int) -> None:
    assert INSTRUCTIONS.make("EMC_TreeIntoMem_Li", Mem(0), count, 1, 2, 3).cycles == count + 1


@pytest.mark.parametrize(("distance", "cycles"), [(1, 66), (2, 98), (4, 162), (8, 290)])
def test_pixel_copies_of_32_bytes_take_what_table_6_says(distance: int, cycles: int) -> None:
    for mnemonic in ("EMC_PixCopy", "EMC_PixSwap"):
        assert INSTRUCTIONS.make(mnemonic, Mem(0), Mem(32), 32, distance).cycles == cycles
