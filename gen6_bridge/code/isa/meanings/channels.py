"""Channels of one instruction: which take part, which run, and which the predicate lets through."""

from __future__ import annotations

from functools import cached_property
from typing import Generic

from gen6_bridge.code.isa.encoding.operands import Controls
from gen6_bridge.code.isa.meanings.places import Span, elements
from gen6_bridge.code.isa.meanings.state import CHANNELS, FLAGS, ON
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra

__all__ = ["Channels"]


class Channels(Generic[Word, Bit]):
    """The channels of an instruction that is carried out on lanes."""

    def __init__(self, lanes: NumberAlgebra[Word, Bit], controls: Controls, span: Span) -> None:
        self.lanes, self.controls, self.span = lanes, controls, span

    @cached_property
    def taking_part(self) -> Bit:
        """Channels that the instruction is about."""
        return self.lanes.pattern([each >= 0 for each in elements(self.span)])

    @cached_property
    def predicate(self) -> Bit:
        """Channels that the predicate lets through."""
        return self.lanes.bit(True) if not self.controls.predicate else self._predicate()

    @cached_property
    def running(self) -> Bit:
        """Channels whose instruction pointer is here, or all for those who say so."""
        if self.controls.all_channels:
            return self.taking_part
        return self.lanes.both(self.taking_part, self.lanes.flag(ON))

    @cached_property
    def enabled(self) -> Bit:
        """Channels that are written."""
        return self.lanes.both(self.running, self.predicate) if self.controls.predicate else self.running

    def _predicate(self) -> Bit:
        lanes, code = self.lanes, self.controls.predicate
        bits = lanes.flag(FLAGS[self.controls.flag])
        if self.controls.align16:
            if 2 <= code <= 5:
                # One flag of each group of four for all four.
                sources = [channel // 4 * 4 + code - 2 for channel in range(CHANNELS)]
                bits = self.as_bit(lanes.route(self.as_word(bits), sources))
            elif code in (6, 7):
                bits = self._grouped(bits, 4, every=code == 7)
            elif code != 1:
                raise MachineFault(f"predicate control {code} of 16-byte mode means nothing")
        elif code in (2, 3):
            first, second = (lanes.flag(name) for name in FLAGS)
            bits = lanes.either(first, second) if code == 2 else lanes.both(first, second)
        elif 4 <= code <= 11:
            bits = self._grouped(bits, 2 << (code - 4) // 2, every=bool(code & 1))
        elif code != 1:
            raise MachineFault(f"predicate control {code} means nothing")
        return lanes.complement(bits) if self.controls.inverse else bits

    def _grouped(self, bits: Bit, count: int, *, every: bool) -> Bit:
        """Return for each channel whether any, or every, channel of its aligned group has the bit."""
        lanes = self.lanes
        word = self.as_word(lanes.complement(bits) if every else bits)
        step = 1
        while step < count:
            word = lanes.either(word, lanes.route(word, [channel ^ step for channel in range(CHANNELS)]))
            step *= 2
        found = self.as_bit(word)
        return lanes.complement(found) if every else found

    def as_word(self, bits: Bit) -> Word:
        """Return 1 where a bit is set, 0 elsewhere."""
        return self.lanes.select(bits, self.lanes.word(1), self.lanes.word(0))

    def as_bit(self, word: Word) -> Bit:
        """Return whether a word is not 0."""
        return self.lanes.complement(self.lanes.equal(word, self.lanes.word(0)))
