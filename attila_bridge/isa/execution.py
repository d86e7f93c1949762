"""Execution of an instruction on lanes: sources fetched, results clamped and written, inputs killed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Generic, Protocol

from attila_bridge.isa.operands import (
    ADDRESS_WORD,
    ALL,
    COMPONENTS,
    GROUP_LANES,
    INPUTS_OF_GROUP,
    KILLED,
    STRAIGHT,
    RegisterBank,
    ShaderDestination,
    ShaderSource,
    row_of,
)
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra

ONE = 0x3F800000
_SIGN, _MAGNITUDE = 0x80000000, 0x7FFFFFFF
_REGISTER_BYTES = 16


class Lookup(Enum):
    """Use of the coordinates by a texture read."""

    PLAIN = "s, t"
    BIASED = "s, t; w is added to the level of detail"
    PROJECTED = "s / q, t / q"


class TextureSampler(Protocol[Word]):
    """Answers texture reads of whole groups."""

    def sample(self, unit: int, coordinates: Word, lookup: Lookup) -> Word:
        """Return colours for coordinates, each a component a lane."""


def _spread_over_components(order: Sequence[int]) -> list[int]:
    return [COMPONENTS * at + each for at in range(INPUTS_OF_GROUP) for each in order]


class ShaderExecution(Generic[Word, Bit]):
    """Execution of an instruction on the lanes of groups of four inputs."""

    def __init__(self, lanes: NumberAlgebra[Word, Bit], sampler: TextureSampler[Word] | None = None) -> None:
        self.lanes = lanes
        self._sampler = sampler

    # --- operands ---------------------------------------------------------------------------------------------

    def source(self, operand: ShaderSource) -> Word:
        """Return the four components of a source, with swizzle, bars and sign."""
        lanes = self.lanes
        value = self._raw(operand)
        if operand.swizzle != STRAIGHT:
            value = lanes.route(value, _spread_over_components(operand.swizzle))
        if operand.absolute:
            value = lanes.both(value, lanes.word(_MAGNITUDE))
        if operand.negate:
            value = lanes.differ(value, lanes.word(_SIGN))
        return value

    def scalar(self, operand: ShaderSource) -> Word:
        """Return the component that a scalar source names, the first of its swizzle, in all four."""
        return self.component(self.source(operand), 0)

    def _raw(self, operand: ShaderSource) -> Word:
        lanes = self.lanes
        if operand.bank is RegisterBank.ADDRESS:
            raise MachineFault("arithmetic cannot read the address register")
        if not operand.relative:
            return lanes.load(row_of(operand.bank, operand.number))
        # Constants are in the memory of the lanes too, so that each input can address its own.
        offsets = [_REGISTER_BYTES * operand.number + 4 * component for component in STRAIGHT] * INPUTS_OF_GROUP
        place = lanes.shift_up(lanes.read(ADDRESS_WORD), lanes.word(4))
        return lanes.fetch(self.sum_of(place, lanes.series(offsets)), 4)

    def write(self, destination: ShaderDestination, value: Word) -> None:
        """Write the components of the mask, clamped to 0..1 for a saturating destination."""
        lanes = self.lanes
        if destination.saturate:
            value = self.clamped(value)
        where = None
        if destination.mask != ALL:
            where = lanes.pattern([bool(destination.mask >> at & 1) for at in STRAIGHT] * INPUTS_OF_GROUP)
        if destination.bank is RegisterBank.ADDRESS:
            lanes.write(ADDRESS_WORD, value)
        else:
            lanes.store(row_of(destination.bank, destination.number), value, where)

    # --- shared by meanings -----------------------------------------------------------------------------------

    def component(self, value: Word, at: int) -> Word:
        """Return a component in all four."""
        return self.lanes.route(value, _spread_over_components([at] * COMPONENTS))

    def gathered(self, x: Word, y: Word, z: Word, w: Word) -> Word:
        """Return a word with the component x of the first, y of the second and so on."""
        lanes, found = self.lanes, x
        for at, each in enumerate((y, z, w), 1):
            where = lanes.pattern([lane % COMPONENTS == at for lane in range(GROUP_LANES)])
            found = lanes.select(where, each, found)
        return found

    def sum_of(self, a: Word, b: Word) -> Word:
        """Return the sum of two integers."""
        return self.lanes.add(a, b, self.lanes.bit(False))[0]

    def number(self, truth: Bit) -> Word:
        """Return 1.0 for true, 0.0 for false."""
        return self.lanes.select(truth, self.lanes.word(ONE), self.lanes.word(0))

    def negated(self, value: Word) -> Word:
        """Return -value."""
        return self.lanes.differ(value, self.lanes.word(_SIGN))

    def magnitude(self, value: Word) -> Word:
        """Return the absolute value."""
        return self.lanes.both(value, self.lanes.word(_MAGNITUDE))

    def clamped(self, value: Word) -> Word:
        """Return the value clamped to 0..1; a NaN becomes 1, as in the recorded machine."""
        lanes = self.lanes
        zero, one = lanes.word(0), lanes.word(ONE)
        low = lanes.select(lanes.float_less(value, one), value, one)
        return lanes.select(lanes.float_less(low, zero), zero, low)

    def kill(self, where: Bit) -> None:
        """Kill the inputs with the bit set in one of their four lanes."""
        lanes = self.lanes
        number = lanes.select(where, lanes.word(1), lanes.word(0))
        any_of = self.component(number, 0)
        for at in range(1, COMPONENTS):
            any_of = lanes.either(any_of, self.component(number, at))
        lanes.set_flag(KILLED, lanes.either(lanes.flag(KILLED), lanes.equal(any_of, lanes.word(1))))

    def sample(self, unit: int, coordinates: Word, lookup: Lookup) -> Word:
        """Return the answer of a texture unit; raises MachineFault without a sampler."""
        if self._sampler is None:
            raise MachineFault(f"t{unit}: there is no texture unit here")
        return self._sampler.sample(unit, coordinates, lookup)
