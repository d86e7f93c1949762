"""Which memory bytes and registers an instruction touches, read off its one meaning.

The meaning runs over an algebra that keeps no values and only writes down what is loaded and stored, so there is no
table here that could disagree with the declarations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pixelflow.isa import Imm, Instruction, Mem, Unit

__all__ = ["Footprint", "footprint"]


@dataclass(slots=True)
class Footprint:
    """Memory bytes read and written, as (parameter base or None, offset); registers and flags written."""

    reads: set[tuple[int | None, int]] = field(default_factory=set)
    writes: set[tuple[int | None, int]] = field(default_factory=set)
    registers: set[str] = field(default_factory=set)


class _Recorder:
    """An algebra without values: every word and bit is None, every access is written down."""

    def __init__(self) -> None:
        self.loads: set[int] = set()
        self.stores: set[int] = set()
        self.written: set[str] = set()

    def load(self, row: int) -> None:
        self.loads.add(row)

    def store(self, row: int, value: None, where: None = None) -> None:
        self.stores.add(row)

    def write(self, name: str, value: None, where: None = None) -> None:
        self.written.add(name)

    set_flag = write

    def word(self, value: int) -> None:
        """Nothing to record."""

    def bit(self, value: bool) -> None:
        """Nothing to record."""

    def read(self, name: str) -> None:
        """Nothing to record."""

    flag = read

    def affine(self, a: int, b: int, c: int, words: int) -> list[None]:
        return [None] * words

    def add(self, a: None, b: None, carry: None) -> tuple[None, None]:
        return None, None

    def both(self, a: None, b: None) -> None:
        """Nothing to record."""

    either = differ = both

    def complement(self, a: None) -> None:
        """Nothing to record."""

    def shift_left(self, a: None, into: None) -> tuple[None, None]:
        return None, None

    shift_right = shift_left

    def select(self, where: None, a: None, b: None) -> None:
        """Nothing to record."""

    def route(self, value: None, sources: Sequence[int]) -> None:
        """Nothing to record."""

    def pattern(self, bits: Sequence[bool]) -> None:
        """Nothing to record."""


_APART = 1 << 20
"""Distance between the bases while recording: further than any offset reaches."""


@lru_cache(maxsize=8192)
def footprint(instruction: Instruction) -> Footprint:
    """Return what an instruction of the PEs touches; empty for the sequencer and the evaluator's registers."""
    if instruction.declaration.unit is not Unit.PE:
        return Footprint()
    recorder = _Recorder()
    operands = tuple(_absolute(operand) for operand in instruction.operands)
    gate = {"where": None} if instruction.declaration.gateable else {}
    instruction.declaration.meaning(recorder, *operands, **gate)
    reads, writes = ({_based(row) for row in rows} for rows in (recorder.loads, recorder.stores))
    return Footprint(reads, writes, recorder.written)


def _absolute(operand):
    match operand:
        case Mem(offset, base) if base is not None:
            return Mem(offset + (base + 1) * _APART)
        case Imm(value, base) if base is not None:
            return Imm(value)
    return operand


def _based(row: int) -> tuple[int | None, int]:
    base = (row + _APART // 2) // _APART
    return (None, row) if base == 0 else (base - 1, row - base * _APART)
