"""Meaning: execution of one instruction over the algebra of lanes; lane c is channel c of a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from typing import Generic

from gen6_bridge.isa.integers import Integer, Integers
from gen6_bridge.isa.operands import (
    GRF_BYTES,
    MRF_REGISTERS,
    REGISTER_BYTES,
    VXH,
    Architecture,
    Controls,
    EuDestination,
    EuType,
    ExecutionType,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
)
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra

# State of a thread: addresses of registers in its memory of bytes, and names of what channels hold apart from that.
#
# The general registers are bytes that channels share, so they are a memory: each channel reads an operand at a constant
# address, or at one that an address register gives. Regions, overlap and bytes follow from that.


CHANNELS = 16
"""Channels of a thread, which are the lanes of a group."""
MRF = GRF_BYTES
"""First byte of the message registers; the general registers begin at 0."""
A0 = MRF + MRF_REGISTERS * REGISTER_BYTES
"""First byte of the address registers, eight words."""
ARCHITECTURE_BASES: dict[Architecture | None, int] = {
    Architecture.ADDRESS: A0,
    Architecture.STATE: A0 + 16,
    Architecture.CONTROL: A0 + 32,
    Architecture.NOTIFICATION: A0 + 48,
}
"""First bytes of the architecture registers that are plain bytes, sixteen each."""
BYTES = A0 + 64
FLAGS = ("f0.0", "f0.1")
"""The flag words, one bit a channel."""
ON = "on"
"""Channels whose instruction pointer is the thread's."""
DISPATCHED = "dispatched"
"""Channels that exist."""
PC, IP = "pc", "ip"
"""Instruction pointer of each channel, where it is not the thread's; the thread's next one."""
ACC_LOW, ACC_HIGH, ACC_FLOAT = "acc low", "acc high", "acc float"
"""The accumulator of each channel: an integer of 64 bits, and a float."""


# Places of an operand's elements, channel by channel, computed once for all runs of an instruction.


Span = tuple[int, int, int]
"""First channel of an instruction, first element that is executed, their count."""


@cache
def elements(span: Span) -> tuple[int, ...]:
    """Return each channel's element, -1 for channels that take no part."""
    first, start, count = span
    return tuple(channel - first if start <= channel - first < start + count else -1 for channel in range(CHANNELS))


def _within(places: list[int], size: int, limit: int, what: str) -> None:
    if places and not 0 <= min(places) <= max(places) + size <= limit:
        reached = min(places) if min(places) < 0 else max(places) + size - 1
        raise MachineFault(f"{what} reaches byte {reached}, there are {limit}")


@lru_cache(maxsize=1 << 16)
def places_of(operand: EuDestination | SourceRegion, span: Span) -> tuple[int, ...]:
    """Return where each channel's element is in the thread's memory, 0 for channels that take no part.

    Places of an indirect operand count from its base. Raises MachineFault for a place past the registers.
    """
    taken = [each >= 0 for each in elements(span)]
    places = [operand.place(each) if each >= 0 else 0 for each in elements(span)]
    size, source = operand.type.size, isinstance(operand, SourceRegion)
    if operand.address is not None:
        return tuple(places)
    if operand.file not in (File.GENERAL, File.MESSAGE):
        start = ARCHITECTURE_BASES.get(operand.architecture)
        if start is None:
            return tuple(operand.sub + (operand.number & 1) * REGISTER_BYTES + each for each in places)
        _within([operand.sub + each for each in places], size, 16, "an architecture register")
        return tuple(start + operand.sub + each for each in places)
    start, base, limit, what = 0, operand.first_byte, GRF_BYTES, "a source" if source else "a destination"
    if operand.file is File.MESSAGE:
        if source:
            raise MachineFault("message registers are written and sent, never read as a source")
        base = (operand.number & 0x7F) * REGISTER_BYTES + operand.sub
        start, limit, what = MRF, MRF_REGISTERS * REGISTER_BYTES, "a message register"
    _within([base + place for place, there in zip(places, taken, strict=True) if there], size, limit, what)
    return tuple(start + base + place if there else 0 for place, there in zip(places, taken, strict=True))


@lru_cache(maxsize=1 << 16)
def address_places(address: IndirectAddress, span: Span, width: int, vertical: int) -> tuple[int, ...]:
    """Return the place of each channel's address register: rows of VxH have one each, others share the first."""
    rows = [each // width if vertical == VXH and each >= 0 else 0 for each in elements(span)]
    registers = [address.index + row for row in rows]
    if max(registers) > 7:
        raise MachineFault(f"a0.{max(registers)} as an address, there are a0.0 to a0.7")
    return tuple(A0 + 2 * register for register in registers)


# Channels of one instruction: which take part, which run, and which the predicate lets through.


class Channels(Generic[Word, Bit]):
    """The channels of an instruction that is executed on lanes."""

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
        """Channels whose instruction pointer is here, or all with write-enable-all."""
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
        """Return where any, or every, channel of the aligned group has the bit."""
        lanes = self.lanes
        word = self.as_word(lanes.complement(bits) if every else bits)
        step = 1
        while step < count:
            word = lanes.either(word, lanes.route(word, [channel ^ step for channel in range(CHANNELS)]))
            step *= 2
        grouped = self.as_bit(word)
        return lanes.complement(grouped) if every else grouped

    def as_word(self, bits: Bit) -> Word:
        """Return 1 where a bit is set, 0 elsewhere."""
        return self.lanes.select(bits, self.lanes.word(1), self.lanes.word(0))

    def as_bit(self, word: Word) -> Bit:
        """Return whether a word is not 0."""
        return self.lanes.complement(self.lanes.equal(word, self.lanes.word(0)))


# Compression: sixteen elements of an operand in two registers are executed as two eights; all at once where the second
# eight reads nothing that the first one writes, since the results are then the same.


_HALF = CHANNELS // 2


def spans_of(
    controls: Controls, destination: EuDestination | None, sources: Sequence[Source], *, pairs: bool, beyond: bool
) -> tuple[Span, ...]:
    """Return which elements of an instruction are executed at once, in order.

    ``pairs``: the second source is pairs of registers, as of a plane. ``beyond``: with write-enable-all, elements past
    the thread's channels are executed too.
    """
    whole = (controls.first, 0, min(controls.size, CHANNELS - controls.first % CHANNELS))
    if controls.size > CHANNELS and controls.all_channels and beyond:
        return (whole, (controls.first - CHANNELS, CHANNELS, CHANNELS))
    if controls.size < CHANNELS or not _halves_meet(destination, sources, pairs=pairs):
        return (whole,)
    return ((controls.first, 0, _HALF), (controls.first, _HALF, _HALF))


def _halves_meet(destination: EuDestination | None, sources: Sequence[Source], *, pairs: bool) -> bool:
    """Return whether the second eight may read what the first one writes."""
    if destination is None or destination.file is not File.GENERAL:
        return False
    regions = {
        position: each
        for position, each in enumerate(sources)
        if isinstance(each, SourceRegion) and each.file is File.GENERAL
    }
    size = destination.type.size
    first = 0 if destination.address else destination.first_byte
    written = [first + destination.place(at) for at in range(CHANNELS)]
    read = {position: _starts(each, paired=pairs and position == 1) for position, each in regions.items()}
    ends = [(first, written[-1] + size)]
    ends += [(min(places), max(places) + regions[position].type.size) for position, places in read.items()]
    in_two = any((past - 1) // REGISTER_BYTES != begin // REGISTER_BYTES for begin, past in ends)
    if not in_two and not any(each.vertical == VXH for each in regions.values()):
        return False
    if destination.address is not None or any(each.address is not None for each in regions.values()):
        return bool(regions)  # their addresses are not known here
    return any(
        start < at + size and at < start + regions[position].type.size
        for position, places in read.items()
        for start in places[len(places) // 2 :]
        for at in written[:_HALF]
    )


def _starts(region: SourceRegion, *, paired: bool) -> list[int]:
    """Return where elements of a source begin, in order; those of an indirect one count from its base."""
    base = 0 if region.address else region.first_byte
    if paired:  # one coordinate of eight channels, the other one, both of the other eight
        return [base + at * region.type.size for at in range(2 * CHANNELS)]
    return [base + region.place(element) for element in range(CHANNELS)]


# Elements of the accumulators by channel, for operands that name one and for an implied one.
#
# The two accumulators are sixteen elements, one a channel: acc0 holds eight of four bytes and acc1 the others, or acc0
# sixteen words.


def _there(channels: Iterable[int]) -> tuple[int, ...]:
    taken = tuple(channels)
    if max(taken) >= CHANNELS:
        raise MachineFault(f"channel {max(taken)} of the accumulator, there are {CHANNELS}")
    return taken


def explicit_elements(places: Sequence[int], kind: EuType) -> tuple[int, ...]:
    """Return each channel's element of an accumulator that an operand names; raises MachineFault past the last."""
    return _there(place // max(kind.size, 2) for place in places)


@lru_cache(maxsize=1 << 16)
def implied_elements(operand: EuDestination, computed: ExecutionType, span: Span) -> tuple[int, ...]:
    """Return each channel's element of an implied accumulator, 0 for channels that take no part.

    It has the destination's sub-register and stride, as Intel's compiler assumes (HWConformity::fixAcc) and public
    programs need; elements of four bytes are acc1's for the second quarter. An element is as wide as what is computed
    or written, whichever is wider. An indirect destination counts as one at a register's start. Raises MachineFault
    past the last element.
    """
    size, step = operand.type.size, operand.place(1)
    width = min(max(size, computed.size), step or size)
    start = 0 if operand.address is not None else operand.sub
    start += span[0] * width if width >= ExecutionType.D.size else 0
    return _there((start + each * step) // width if each >= 0 else 0 for each in elements(span))


@lru_cache(maxsize=1 << 16)
def come_from(channels: tuple[int, ...], span: Span) -> dict[int, int]:
    """Return the channel of each element; empty where each channel that takes part has the element of its number."""
    own = elements(span)
    come = {to: at for at, to in enumerate(channels) if own[at] >= 0}
    return {} if all(to == at for to, at in come.items()) else come


# Execution of one instruction: which channels are enabled, sources fetched, results converted and written.


_MAGNITUDE, _SIGN, _EXPONENT = 0x7FFFFFFF, 0x80000000, 0x7F800000
_ONE = 0x3F800000
_INCREMENT, _OVERFLOW = 7, 8
"""Conditions other than relations between numbers."""
_PAST = 0x80000000
"""Added to an address that leaves the general registers, so that memory refuses it."""


@dataclass(frozen=True, slots=True)
class FloatRules:
    """Choices in float arithmetic that no source settles; invented or recalled."""

    fused: bool = False
    """True if mac, line, pln and dot products round once; the product of mad always stays exact."""
    flushes: bool = True
    """True if denormals become zeros of the same sign, on input and on output."""


def _only_general(operand: SourceRegion | EuDestination) -> None:
    if operand.file is not File.GENERAL:
        raise MachineFault("only general registers are reached through an address register here")


class Execution(Channels[Word, Bit]):
    """An instruction on its way through lanes, which are the channels of threads."""

    def __init__(
        self,
        lanes: NumberAlgebra[Word, Bit],
        controls: Controls,
        span: Span,
        arithmetic: FloatRules = FloatRules(),
        sources: Sequence[Source] = (),
    ) -> None:
        super().__init__(lanes, controls, span)
        self.arithmetic, self.sources = arithmetic, sources
        self.integers = Integers(lanes)
        self.chooses = False
        """True if the predicate selects a source and disables no channel."""

    # --- sources --------------------------------------------------------------------------------------------------

    def raw(self, operand: Source) -> Word:
        """Return the bits of each channel's element before modifiers; bits above its size are undefined."""
        if isinstance(operand, ImmediateOperand):
            return self._immediate(operand)
        if operand.type is EuType.DF:
            raise MachineFault("there are no floats of 64 bits before the next generation")
        if operand.address is not None:
            _only_general(operand)
            address = self._address(
                operand.address, places_of(operand, self.span), operand.width, operand.vertical, operand.type
            )
            return self.lanes.fetch(address, operand.type.size, self.running if self.chooses else self.enabled)
        match operand.architecture:
            case Architecture.NULL:
                return self.lanes.word(0)
            case Architecture.ACCUMULATOR:
                return self._accumulator(operand)
            case Architecture.FLAG:
                return self._flags(operand)
            case Architecture.MASK | Architecture.MASK_DEPTH:
                raise MachineFault("mask registers are undefined on this generation")
            case Architecture.INSTRUCTION_POINTER:
                raise MachineFault("the instruction pointer is not an operand of this instruction here")
        return self.lanes.fetch(self.lanes.series(places_of(operand, self.span)), operand.type.size)

    def at(self, operand: SourceRegion, places: tuple[int, ...]) -> Word:
        """Return the double word at ``places`` past the start of a direct operand, one place a channel."""
        base = operand.first_byte
        if base + max(places) + 4 > GRF_BYTES:
            raise MachineFault(f"a source reaches byte {base + max(places) + 3}, there are {GRF_BYTES}")
        return self.lanes.fetch(self.lanes.series([base + each for each in places]), 4)

    def _immediate(self, operand: ImmediateOperand) -> Word:
        if not operand.type.packed:
            return self.lanes.word(operand.element(0) & 0xFFFFFFFF)
        values = [operand.element(max(each, 0)) & 0xFFFFFFFF for each in elements(self.span)]
        return self.lanes.series(values)

    def _address(
        self, address: IndirectAddress, places: tuple[int, ...], width: int, vertical: int, kind: EuType
    ) -> Word:
        lanes = self.lanes
        registers = address_places(address, self.span, width, vertical)
        if vertical == VXH:
            base = lanes.fetch(lanes.series(registers), 2)
        else:
            base = lanes.fetch(lanes.word(A0 + 2 * address.index), 2)
        place = lanes.add(
            base, lanes.series([(each + address.offset) & 0xFFFFFFFF for each in places]), lanes.bit(False)
        )[0]
        within = lanes.less(place, lanes.word(GRF_BYTES - kind.size + 1), signed=False)
        return lanes.select(within, place, lanes.either(place, lanes.word(_PAST)))

    def _accumulator(self, operand: SourceRegion) -> Word:
        name = ACC_FLOAT if operand.type is EuType.F else ACC_LOW
        return self.held(name, explicit_elements(places_of(operand, self.span), operand.type))

    def implied(self, dst: EuDestination) -> tuple[int, ...]:
        """Return each channel's element of the accumulator that a destination implies."""
        return implied_elements(dst, self.execution_type(*self.sources), self.span)

    def held(self, name: str, channels: tuple[int, ...]) -> Word:
        """Return each channel's element of the accumulator."""
        held = self.lanes.read(name)
        return self.lanes.route(held, channels) if come_from(channels, self.span) else held

    def _flags(self, operand: SourceRegion) -> Word:
        lanes = self.lanes
        low, high = (lanes.collect(lanes.flag(name)) for name in FLAGS)
        both = lanes.either(low, lanes.shift_up(high, lanes.word(16)))
        shifts = [8 * (place & 3) for place in places_of(operand, self.span)]
        return lanes.shift_down(both, lanes.series(shifts), signed=False)

    def integer(self, operand: Source) -> Integer[Word]:
        """Return a source as integers, after its modifiers; of an accumulator the low 32 bits."""
        kind = EuType.W if operand.type in (EuType.V, EuType.UV) else operand.type
        value = self.integers.of(self.raw(operand), kind)
        if isinstance(operand, SourceRegion):
            if operand.absolute:
                value = self.integers.absolute(value)
            if operand.negate:
                value = self.integers.negated(value)
        return value

    def float(self, operand: Source, *, raw: bool = False) -> Word:
        """Return a source as floats after its modifiers, an integer by its value; ``raw`` keeps denormals."""
        if not operand.type.floats:
            return self.integers.to_float(self.integer(operand))
        return self.flushed(self.signs(self.raw(operand), operand), raw=raw)

    def signs(self, word: Word, operand: Source) -> Word:
        """Return floats with a source's modifiers."""
        if isinstance(operand, SourceRegion):
            if operand.absolute:
                word = self.lanes.both(word, self.lanes.word(_MAGNITUDE))
            if operand.negate:
                word = self.lanes.differ(word, self.lanes.word(_SIGN))
        return word

    def flushed(self, word: Word, *, raw: bool = False) -> Word:
        """Return floats with denormals as zeros of the same sign, where the machine does that."""
        lanes = self.lanes
        if raw or not self.arithmetic.flushes:
            return word
        tiny = lanes.equal(lanes.both(word, lanes.word(_EXPONENT)), lanes.word(0))
        return lanes.select(tiny, lanes.both(word, lanes.word(_SIGN)), word)

    def accumulated(self, dst: EuDestination) -> Integer[Word]:
        """Return the integers of the accumulator that a destination implies."""
        low, high = (self.held(name, self.implied(dst)) for name in (ACC_LOW, ACC_HIGH))
        return self.integers.wide(low, high)

    # --- results --------------------------------------------------------------------------------------------------

    def multiply_add(self, x: Word, y: Word, total: Word) -> Word:
        """Return x * y + total; the product is rounded before it is added, unless the rules say fused."""
        if self.arithmetic.fused:
            return self.lanes.float_fuse(x, y, total)
        return self.flushed(self.lanes.float_add(self.product(x, y), total))

    def product(self, x: Word, y: Word) -> Word:
        """Return x * y, rounded."""
        return self.flushed(self.lanes.float_multiply(x, y))

    def give_integer(
        self, dst: EuDestination, value: Integer[Word], *, conditions: bool = True, accumulates: bool = True
    ) -> None:
        """Convert exact integers to the destination's type and write them."""
        word, exact = self.from_integer(dst, value)
        overflow = None if exact is None else partial(self.integers.outside, value, dst.type)
        self._finish(dst, word, exact, conditions=conditions, accumulates=accumulates, overflow=overflow)

    def give_float(
        self,
        dst: EuDestination,
        word: Word,
        *,
        raw: bool = False,
        conditions: bool = True,
        increment: Bit | None = None,
    ) -> None:
        """Convert floats to the destination's type and write them; ``increment``: where they were rounded up."""
        bits, exact = self.from_float(dst, word, raw=raw)
        overflow = partial(self.integers.overflows, word, dst.type)
        self._finish(dst, bits, exact, conditions=conditions, overflow=overflow, increment=increment)

    def give_selected(self, dst: EuDestination, word: Word, exact: Integer[Word] | None) -> None:
        """Write converted results of a choice; flags stay, and a predicate that chose disables no channel."""
        where = self.running if self.chooses else self.enabled
        self._finish(dst, word, exact, conditions=False, where=where)

    def from_integer(self, dst: EuDestination, value: Integer[Word]) -> tuple[Word, Integer[Word] | None]:
        """Return integers as a destination's bits, and as exact integers if it has an integer type."""
        if dst.type.floats:
            return self._saturated(self.integers.to_float(value)), None
        kept = self.integers.clamped(value, dst.type) if self.controls.saturates else value
        return kept.low, kept

    def from_float(self, dst: EuDestination, word: Word, *, raw: bool = False) -> tuple[Word, Integer[Word] | None]:
        """Return floats as a destination's bits, and as exact integers if it has an integer type."""
        if dst.type.floats:
            return self._saturated(self.flushed(word, raw=raw)), None
        value = self.integers.from_float(word, dst.type)
        return value.low, value

    def _saturated(self, word: Word) -> Word:
        if not self.controls.saturates:
            return word
        lanes, one = self.lanes, self.lanes.word(_ONE)
        above = lanes.select(lanes.float_less(one, word), one, word)
        # -0 is not below 0 and stays; a NaN becomes 0.
        kept = lanes.both(lanes.float_equal(word, word), lanes.complement(lanes.float_less(word, lanes.word(0))))
        return lanes.select(kept, above, lanes.word(0))

    def _finish(
        self,
        dst: EuDestination,
        word: Word,
        exact: Integer[Word] | None,
        *,
        conditions: bool = True,
        accumulates: bool = True,
        where: Bit | None = None,
        overflow: Callable[[], Bit] | None = None,
        increment: Bit | None = None,
    ) -> None:
        if conditions and self.controls.selector:
            if self.controls.selector == _INCREMENT:
                if increment is None:
                    raise MachineFault("condition r is of instructions that round")
                self._set_flags(increment)
            elif self.controls.selector == _OVERFLOW:
                self._set_flags(self.lanes.bit(False) if overflow is None else overflow())
            else:
                self._set_flags(self._holds(word, dst.type))
        self.put(dst, word, exact, where)
        there = dst.address is None and dst.architecture is Architecture.ACCUMULATOR
        if accumulates and self.controls.accumulates and not there:
            self.accumulate(dst.type, word, exact, self.implied(dst), where)

    def _holds(self, word: Word, kind: EuType) -> Bit:
        """Return whether the condition holds between results and 0."""
        lanes, zero = self.lanes, self.lanes.word(0)
        if kind.floats:
            return self.condition(
                lanes.float_equal(word, zero),
                lanes.float_less(word, zero),
                lanes.complement(lanes.float_equal(word, word)),
            )
        value, none = self.integers.of(word, kind), self.integers.constant(0)
        return self.condition(self.integers.equal(value, none), self.integers.less(value, none), lanes.bit(False))

    def compared(self, src0: Source, src1: Source) -> Bit:
        """Return where the instruction's condition holds between two sources; no difference overflows."""
        lanes = self.lanes
        if self.execution_type(src0, src1) is ExecutionType.F:
            x, y = self.float(src0), self.float(src1)
            nan = lanes.complement(lanes.both(lanes.float_equal(x, x), lanes.float_equal(y, y)))
            return self.condition(lanes.float_equal(x, y), lanes.float_less(x, y), nan)
        a, b = self.integer(src0), self.integer(src1)
        return self.condition(self.integers.equal(a, b), self.integers.less(a, b), lanes.bit(False))

    def condition(self, equal: Bit, less: Bit, unordered: Bit) -> Bit:
        """Return where the instruction's condition holds, given how two numbers compare.

        Raises MachineFault for a code that is not a relation.
        """
        lanes = self.lanes
        match self.controls.selector:
            case 1:
                return equal
            case 2:
                return lanes.complement(equal)
            case 3:
                return lanes.complement(lanes.either(lanes.either(equal, less), unordered))
            case 4:
                return lanes.complement(lanes.either(less, unordered))
            case 5:
                return less
            case 6:
                return lanes.either(less, equal)
            case 8:
                return lanes.bit(False)
            case 9:
                return unordered
        raise MachineFault(f"condition {self.controls.selector} means nothing here: r is of instructions that round")

    def _set_flags(self, holds: Bit) -> None:
        self.lanes.set_flag(FLAGS[self.controls.flag], holds, self.enabled)

    def give_condition(self, dst: EuDestination, holds: Bit) -> None:
        """Write the result of a compare: flags, and all ones or 0 to the destination."""
        self._set_flags(holds)
        if not dst.null:
            lanes = self.lanes
            word = lanes.select(holds, lanes.word(0xFFFFFFFF), lanes.word(0))
            self.put(dst, word, None)

    def put(self, dst: EuDestination, word: Word, exact: Integer[Word] | None = None, where: Bit | None = None) -> None:
        """Write words to a destination, in enabled channels or in ``where``."""
        lanes = self.lanes
        where = self.enabled if where is None else where
        if dst.type is EuType.DF:
            raise MachineFault("there are no floats of 64 bits before the next generation")
        if dst.mask is not None and dst.mask != 15:
            where = lanes.both(where, lanes.pattern([bool(dst.mask >> channel % 4 & 1) for channel in range(CHANNELS)]))
        places = places_of(dst, self.span)
        if dst.address is not None:
            _only_general(dst)
            lanes.put(self._address(dst.address, places, 1, 0, dst.type), word, dst.type.size, where)
            return
        match dst.architecture:
            case Architecture.NULL:
                return
            case Architecture.ACCUMULATOR:
                self.accumulate(dst.type, word, exact, explicit_elements(places, dst.type), where)
            case Architecture.FLAG:
                self._put_flags(places, dst.type, word, where)
            case Architecture.MASK | Architecture.MASK_DEPTH | Architecture.INSTRUCTION_POINTER:
                raise MachineFault("mask registers and the instruction pointer are not written by this instruction")
            case _:
                lanes.put(lanes.series(places), word, dst.type.size, where)

    def accumulate(
        self,
        kind: EuType,
        word: Word,
        exact: Integer[Word] | None,
        channels: tuple[int, ...],
        where: Bit | None = None,
    ) -> None:
        """Write results of a type to each channel's element of the accumulator."""
        lanes = self.lanes
        where = self.enabled if where is None else where
        if kind.floats:
            values = {ACC_FLOAT: word}
        else:
            value = exact if exact is not None else self.integers.of(word, kind)
            values = {ACC_LOW: value.low, ACC_HIGH: self.integers.upper(value)}
        come = come_from(channels, self.span)
        if come:
            sources = [come.get(channel, 0) for channel in range(CHANNELS)]
            there = lanes.pattern([channel in come for channel in range(CHANNELS)])
            where = lanes.both(there, self.as_bit(lanes.route(self.as_word(where), sources)))
            values = {name: lanes.route(bits, sources) for name, bits in values.items()}
        for name, bits in values.items():
            lanes.write(name, bits, where)

    def _put_flags(self, places: tuple[int, ...], kind: EuType, word: Word, where: Bit) -> None:
        """Write elements to the flag register, whose bits are the channels'."""
        lanes, taking = self.lanes, self.as_word(where)
        for channel, element in enumerate(elements(self.span)):
            if element < 0:
                continue
            all_from = [channel] * CHANNELS
            number = lanes.route(word, all_from)
            written = self.as_bit(lanes.route(taking, all_from))
            for half, name in enumerate(FLAGS):
                first = 8 * places[channel] - 16 * half
                last = first + 8 * kind.size
                if last <= 0 or first >= 16:
                    continue
                moved = lanes.shift_up(number, lanes.word(first)) if first > 0 else number
                if first < 0:
                    moved = lanes.shift_down(number, lanes.word(-first), signed=False)
                inside = lanes.pattern([first <= bit < last for bit in range(CHANNELS)])
                lanes.set_flag(name, lanes.spread(moved), lanes.both(written, inside))

    def execution_type(self, *sources: Source) -> ExecutionType:
        """Return what the instruction computes in."""
        return ExecutionType.of(tuple(each.type for each in sources))
