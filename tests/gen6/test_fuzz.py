"""Do random legal instructions mean the same to numpy, to native code and to an interpreter that shares nothing?"""

from __future__ import annotations

import numpy as np
import pytest

from gen6_bridge.assembler import assemble_text
from gen6_bridge.isa.declarations import INSTRUCTIONS
from gen6_bridge.unit import ExecutionUnit
from tests.gen6.fuzz import Instructions, fill, source_of, thread_of
from tests.gen6.scalar import Step

FEW, MANY, AT_ONCE = 300, 100_000, 25
NATIVE_FEW, NATIVE_MANY = 60, 20_000


def differing(seed: int, count: int) -> list[str]:
    """Return the instructions of ``count`` that leave another state than the interpreter, from the same state each."""
    source, found = Instructions(seed), []
    for first in range(0, count, AT_ONCE):
        code = [source.one() for _ in range(AT_ONCE)]
        unit = ExecutionUnit(code, engine="rows")
        fill(unit, seed + first)
        for at, instruction in enumerate(code):
            expected = thread_of(unit)
            Step(expected, instruction.whole).run()
            unit.run(limit=at + 1, stops=True)
            if thread_of(unit) != expected:
                found.append(f"{instruction.text()} {instruction.whole:032x}")
    return found


def test_the_interpreter_agrees() -> None:
    assert differing(1, FEW) == []


@pytest.mark.slow
def test_the_interpreter_agrees_on_many() -> None:
    assert differing(2, MANY) == []


def native_differs(seed: int, count: int) -> bool:
    """Return whether a program of ``count`` instructions leaves other bits natively, in four threads."""
    source = Instructions(seed)
    code = [source.one() for _ in range(count)]
    units = [
        ExecutionUnit(code, 4, dispatch=[0xFFFF, 0x00FF, 0x1234, 0x8001], engine=each) for each in ("rows", "compiled")
    ]
    for unit in units:
        fill(unit, seed)
        unit.run()
    first, second = units
    threads = all(thread_of(first, each) == thread_of(second, each) for each in range(4))
    return not (threads and np.array_equal(first.memory.data, second.memory.data))


def test_native_code_agrees() -> None:
    assert not native_differs(3, NATIVE_FEW)


@pytest.mark.slow
def test_native_code_agrees_on_many() -> None:
    assert [seed for seed in range(NATIVE_MANY // 100) if native_differs(1000 + seed, 100)] == []


def test_words_come_back_from_the_source_that_is_written_of_them() -> None:
    source, written = Instructions(4), 0
    for _ in range(500):
        instruction = source.one()
        assert INSTRUCTIONS.decode_whole(instruction.whole) == instruction
        text = source_of(instruction)
        if text is not None:
            written += 1
            (again,) = assemble_text(text, "fuzz").instructions
            assert again.whole == instruction.whole, text
    assert written > 375
