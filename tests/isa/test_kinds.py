"""Are the instructions of a program by kind those of its words, and does nothing else follow from coefficients?"""

from __future__ import annotations

import random

import numpy as np
import pytest

from pixelflow.isa import INSTRUCTIONS, Imm, Instruction, Mem, Program, Register
from pixelflow.simd.errors import InputError

NUMBERED = [each for each in INSTRUCTIONS.values() if each.layout.coefficients]
EXTREMES = (0, 1, -1, (1 << 63) - 1, -(1 << 63), 0x0123456789ABCDEF)
FIXED = (
    INSTRUCTIONS.make("EMC_SetEnab"),
    INSTRUCTIONS.make("STI", Mem(3), Imm(200)),
    INSTRUCTIONS.make("LD", Register.R, Mem(9)),
    INSTRUCTIONS.make("CALL", 0, (Mem(1), Mem(2), Mem(3))),
    INSTRUCTIONS.make("CALL", 0, (Mem(1), Mem(2), Mem(4))),
    INSTRUCTIONS.make("HALT"),
)


def _made(rng: random.Random) -> Instruction:
    if rng.random() < 0.5:
        return rng.choice(FIXED)
    declaration = rng.choice(NUMBERED)
    first = 0 if declaration.operands[0].name == "p" else Mem(rng.randrange(8))
    return INSTRUCTIONS.make(declaration.mnemonic, first, rng.randint(1, 4), *rng.choices(EXTREMES, k=3))


@pytest.mark.parametrize("seed", range(5))
def test_by_kind_there_are_the_instructions_of_the_words(seed: int) -> None:
    rng = random.Random(seed)
    made = [_made(rng) for _ in range(300)]
    program = Program(words=tuple(word for each in made for word in each.encode()))
    kinds = program.by_kind
    assert list(kinds) == made == list(program.instructions)
    assert len(set(kinds.kinds)) == len(kinds.kinds) < len(made) / 2, "of each kind there is one"
    wanted = [each.operands[2:] if each.declaration in NUMBERED else (0, 0, 0) for each in made]
    assert np.array_equal(kinds.coefficients, np.array(wanted, np.int64))
    assert np.array_equal(kinds.coefficients[17:80], np.array(wanted[17:80], np.int64))
    assert program.cycles == tuple(each.cycles for each in made)
    assert [at for at, _ in kinds.places_of(INSTRUCTIONS["CALL"], INSTRUCTIONS["HALT"])] == [
        at for at, each in enumerate(made) if each.mnemonic in ("CALL", "HALT")
    ]


@pytest.mark.parametrize("declaration", NUMBERED, ids=lambda each: each.mnemonic)
def test_neither_cycles_nor_memory_follow_from_coefficients(declaration) -> None:
    first = 0 if declaration.operands[0].name == "p" else Mem(5)
    others = [Instruction(declaration, (first, 3, a, b, c)) for a in EXTREMES for b in EXTREMES for c in EXTREMES]
    assert len({(each.steps, each.touches, each.bases) for each in others}) == 1


def test_words_without_a_meaning_are_refused_where_they_stand() -> None:
    tree = INSTRUCTIONS.make("EMC_TreeLTZero_Li", 0, 2, 1, 2, 3).encode()
    with pytest.raises(InputError, match="word 7: opcode 0xff is not an instruction"):
        _ = Program(words=(*tree, 0xFF000000, *tree)).by_kind
    with pytest.raises(InputError, match="word 7: EMC_TreeLTZero_Li needs 7 words, the program ends"):
        _ = Program(words=(*tree, *tree[:5])).by_kind
    # 14 bytes are more than the LEE makes.
    wrong = (tree[0] | 0xFFFFFF, *tree[1:])
    with pytest.raises(InputError, match="word 7: EMC_TreeLTZero_Li: operand "):
        _ = Program(words=(*tree, *wrong, 0xFF000000)).by_kind
