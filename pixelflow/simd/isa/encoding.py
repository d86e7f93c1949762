"""Instructions to 32-bit words and back.

The layout of a word is derived from the operand kinds of its declaration: an 8-bit opcode, the gate bit where the
instruction has one, then the fields of each operand in order. A field never crosses a word boundary. Widths are
invented; `place` proves for every declaration that no two fields overlap and that all fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.operands import Operand, OperandSpec

WORD_BITS = 32
COEFFICIENT_WORDS = 2
"""Words of a coefficient, the high half first."""
OPCODE_BITS = 8


class EncodingError(ValueError):
    """An operand does not fit its field; the text names the operand and what is allowed."""


class Field(NamedTuple):
    """One bit field: which operand it belongs to, and its first bit and width in the whole instruction."""

    operand: str
    part: str
    start: int
    width: int
    signed: bool = False

    @property
    def bits(self) -> range:
        """The positions of its bits in the whole instruction."""
        return range(self.start, self.start + self.width)


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of all fields of one instruction; bit 0 is the most significant bit of the first word."""

    words: int
    gate: int | None
    fields: tuple[Field, ...]
    coders: tuple[_Coder, ...] = field(default=(), repr=False, compare=False)
    """How each operand is written and read."""
    coefficients: int = 0
    """How many operands are coefficients; their words come last."""

    @property
    def leading(self) -> int:
        """Words before the coefficients: they say all but these."""
        return self.words - COEFFICIENT_WORDS * self.coefficients


def place(specs: tuple[OperandSpec, ...], *, gateable: bool) -> Layout:
    """Lay out the operands of a declaration; raises InternalError if two fields overlap or coefficients come early."""
    at = OPCODE_BITS
    gate = None
    if gateable:
        gate, at = at, at + 1
    fields: list[Field] = []
    for spec in specs:
        for part, width, signed in spec.kind.parts:
            if at % WORD_BITS + width > WORD_BITS:
                at += WORD_BITS - at % WORD_BITS
            fields.append(Field(spec.name, part, at, width, signed))
            at += width
    words = -(-at // WORD_BITS)
    taken = (1 << OPCODE_BITS + (gate is not None)) - 1  # the lowest bit stands for the first of the instruction
    for each in fields:
        bits = (1 << each.width) - 1 << each.start
        if taken & bits or each.start + each.width > words * WORD_BITS:
            raise InternalError(f"encoding: field {each.operand}.{each.part} overlaps another field")
        taken |= bits
    coders = tuple(_coders(specs, fields, words * WORD_BITS))
    layout = Layout(words, gate, tuple(fields), coders, sum(spec.kind.is_coefficient for spec in specs))
    last = words * WORD_BITS
    for spec in reversed(specs[len(specs) - layout.coefficients :]):
        last -= COEFFICIENT_WORDS * WORD_BITS
        at_end = [each.start for each in fields if each.operand == spec.name] == [last, last + WORD_BITS]
        if not (spec.kind.is_coefficient and at_end):
            raise InternalError(f"encoding: coefficients take two words each and come last, {spec.name} does not")
    return layout


@dataclass(frozen=True, slots=True, eq=False)
class _Coder:
    """How one operand of an instruction is written and read, computed once for all of its values."""

    spec: OperandSpec
    cuts: tuple[tuple[str, int, int, int], ...]
    """For each field its part, how far it is shifted, its mask, and the least value that it holds."""


def _coders(specs: tuple[OperandSpec, ...], fields: Sequence[Field], size: int) -> Iterator[_Coder]:
    for spec in specs:
        cuts = tuple(
            (
                each.part,
                size - each.start - each.width,
                (1 << each.width) - 1,
                -(1 << each.width - 1) if each.signed else 0,
            )
            for each in fields
            if each.operand == spec.name
        )
        yield _Coder(spec, cuts)


def pack(layout: Layout, opcode: int, operands: tuple[Operand, ...], *, gated: bool) -> tuple[int, ...]:
    """Return the 32-bit words of one instruction; raises EncodingError where an operand does not fit."""
    size = layout.words * WORD_BITS
    whole = opcode << size - OPCODE_BITS
    if layout.gate is not None and gated:
        whole |= 1 << size - 1 - layout.gate
    for coder, operand in zip(layout.coders, operands, strict=True):
        try:
            values = coder.spec.kind.values(operand)
        except ValueError as error:
            raise EncodingError(f"operand {coder.spec.name}: {error}") from None
        for (part, shift, mask, low), value in zip(coder.cuts, values, strict=True):
            if not low <= value <= low + mask:
                raise InternalError(f"encoding: {value} does not fit {coder.spec.name}.{part}")
            whole |= (value & mask) << shift
    return tuple([whole >> at & 0xFFFFFFFF for at in range(size - WORD_BITS, -1, -WORD_BITS)])


def unpack(layout: Layout, words: tuple[int, ...]) -> tuple[tuple[Operand, ...], bool]:
    """Return operands and gate bit of one instruction; raises ValueError for a field with no meaning."""
    size = len(words) * WORD_BITS
    whole = 0
    for word in words:
        whole = whole << WORD_BITS | word
    operands = []
    for coder in layout.coders:
        values = []
        for _, shift, mask, low in coder.cuts:
            value = whole >> shift & mask
            values.append(value - mask - 1 if low and value > mask >> 1 else value)
        try:
            operands.append(coder.spec.kind.operand(values))
        except ValueError as error:
            raise ValueError(f"operand {coder.spec.name}: {error}") from None
    return tuple(operands), layout.gate is not None and bool(whole >> size - 1 - layout.gate & 1)
