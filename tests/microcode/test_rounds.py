"""Are rounds the same program as the same instructions emitted one by one?"""

from __future__ import annotations

import numpy as np
import pytest

from microcode import Builder, Imm, Mem, PerRound, Program
from pixelflow.simd.errors import InputError

ROUNDS = 40


def _columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    a, b, c = rng.integers(-(1 << 63), (1 << 63) - 1, (3, ROUNDS))
    return {"a": a, "b": b, "c": c, "bytes": rng.integers(1, 9, ROUNDS), "shade": rng.integers(0, 256, ROUNDS)}


def _begun() -> tuple[Builder, np.ndarray]:
    builder = Builder("rounds")
    builder.range("depth", 4)
    builder.mark("first")
    return builder, np.arange(ROUNDS) % 3 == 1


def _end(builder: Builder) -> Program:
    with builder.routine("after", ("x",)) as (x,):
        builder.emit("LD", builder.target.names["R"], x)
    builder.label("here")
    builder.call("after", Mem(0))
    return builder.build()


def test_rounds_have_the_words_names_and_places_of_single_instructions() -> None:
    columns, (builder, some) = _columns(), _begun()
    rounds = builder.rounds(ROUNDS)
    rounds.emit("MARK", "sometimes", where=some)
    rounds.emit("MARK", "always")
    rounds.emit("EMC_SetEnab")
    numbers = [PerRound(columns[name]) for name in "abc"]
    rounds.emit("EMC_TreeLTZero_Li", 0, PerRound(columns["bytes"]), *numbers)
    rounds.emit("EMC_TreeIntoMem_Li", Mem(0), 4, numbers[0], 0, -7, where=~some)
    rounds.emit("STI", Mem(1), PerRound(columns["shade"], Imm), where=some)
    rounds.emit("LD", builder.target.names["R"], Mem(2), gated=True, where=np.zeros(ROUNDS, bool))
    made = _end(builder)

    builder, _ = _begun()
    for at in range(ROUNDS):
        a, b, c, count, shade = (int(column[at]) for column in columns.values())
        if some[at]:
            builder.mark("sometimes")
        builder.mark("always")
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeLTZero_Li", 0, count, a, b, c)
        if some[at]:
            builder.emit("STI", Mem(1), Imm(shade))
        else:
            builder.emit("EMC_TreeIntoMem_Li", Mem(0), 4, a, 0, -7)
    wanted = _end(builder)
    assert made.sha256 == wanted.sha256 and made.names == wanted.names == ("first", "always", "sometimes")
    assert made.labels == wanted.labels and made.routines == wanted.routines
    assert len(made.line_of) == len(wanted.line_of) == len(made.instructions)
    stored = [index for index, each in enumerate(made.instructions) if each.mnemonic == "STI"]
    assert len(stored) == some.sum()
    assert all('rounds.emit("STI", Mem(1), PerRound' in made.line_at(index).text for index in stored)


def test_mistakes_in_rounds_are_input_errors() -> None:
    rounds = Builder().rounds(3)
    with pytest.raises(InputError, match="LD takes 2 operands, not 1"):
        rounds.emit("LD", Mem(0))
    with pytest.raises(InputError, match=r"bytes is 9, allowed: an integer 1\.\.8"):
        rounds.emit("EMC_TreeLTZero_Li", 0, PerRound(np.array([1, 2, 9])), 1, 2, 3)
    with pytest.raises(InputError, match="HALT cannot be repeated in rounds: it is control"):
        rounds.emit("HALT")


def test_no_rounds_are_nothing() -> None:
    builder = Builder("none")
    builder.rounds(0).emit("EMC_SetEnab")
    assert builder.build().sha256 == Builder("none").build().sha256


def test_by_kind_a_program_has_the_instructions_of_its_words() -> None:
    columns, (builder, some) = _columns(), _begun()
    rounds = builder.rounds(ROUNDS)
    rounds.emit("EMC_TreeLTZero_Li", 0, PerRound(columns["bytes"]), 5, PerRound(columns["b"]), -9)
    rounds.emit("STI", Mem(1), PerRound(columns["shade"], Imm), where=some)
    builder.emit("EMC_TreeIntoMem_Li", Mem(0), 4, -1, 2, 3)
    made = _end(builder)
    drafted, decoded = made.by_kind, Program(made.words).by_kind
    assert list(drafted) == list(decoded) and drafted.addresses == decoded.addresses
    assert len(drafted.kinds) == len(set(drafted.kinds)) == len(decoded.kinds)
    assert np.array_equal(drafted.coefficients, decoded.coefficients)
    assert decoded.coefficients[1].tolist() == [5, columns["b"][0], -9]


def test_a_routine_of_another_draft_is_as_if_it_were_drafted_here() -> None:
    other = Builder("other")
    rest = other.range("rest", 4, at=8)

    def draft(builder: Builder) -> None:
        with builder.routine("clear", ("x",), uses=[rest]) as (x,):
            for _ in range(3):
                builder.emit("STI", x, Imm(0))

    draft(other)
    made = []
    for take in (draft, lambda builder: builder.add_routine(other)):
        builder = Builder("taken")
        builder.mark("first")
        take(builder)
        builder.call("clear", builder.range("y", 12))
        made.append(builder.build())
    assert made[0] == made[1] and made[1].range("y").start == 12
