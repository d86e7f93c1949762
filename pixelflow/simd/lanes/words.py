"""The numpy engine for lanes of 32-bit words in groups, and the byte memory that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes import float32, float64
from pixelflow.simd.lanes.engine import Engine, Meaning, Shape
from pixelflow.simd.lanes.numbers import Elementary, Pair, Rounding

# A memory of bytes for the lanes: one for all groups, or one for each.


_KINDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}

Words = NDArray[np.uint32]
Bits = NDArray[np.bool_]
"""Arrays [group, lane], or with one column where all lanes of a group have the same."""

Watcher = Callable[[Words, int, Bits], None]
"""Called with addresses, size and enabled lanes of each access."""


class ByteMemory:
    """``sets`` memories of ``size`` bytes each, addressed from 0, low byte first; all zero at the start.

    ``sets`` is 1 (all groups see the same bytes) or the number of groups. ``size`` is a multiple of 4.
    """

    def __init__(self, size: int, sets: int = 1) -> None:
        if size <= 0 or size % 4:
            raise ValueError(f"a memory of {size} bytes is not a whole number of words")
        self.size, self.sets = size, sets
        self.data = np.zeros((sets, size), np.uint8)
        self._flat = self.data.reshape(-1)
        self._copy: NDArray[np.uint8] | None = None
        self._origins = (np.arange(sets) * size)[:, None]

    def copied(self) -> NDArray[np.uint8]:
        """Return a copy of ``data``, which the next one overwrites: pages of the host that are new take longer."""
        if self._copy is None:
            self._copy = self.data.copy()
        else:
            np.copyto(self._copy, self.data)
        return self._copy

    def _places(self, address: Words, size: int, where: Bits) -> NDArray[np.int64]:
        """Return where each lane's bytes begin in all sets laid end to end; lanes that take no part begin at 0."""
        beyond = where & (address > np.uint32(self.size - size))
        if beyond.any():
            group, lane = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            reached = int(np.broadcast_to(address, beyond.shape)[group, lane])
            raise MachineFault(f"lane {lane} reaches byte {reached:#x}, the memory has {self.size:#x} bytes")
        places = np.where(where, address, 0).astype(np.int64)
        return places + self._origins if self.sets > 1 else places

    def fetch(self, address: Words, size: int, where: Bits) -> Words:
        """Return what is at each lane's address, 0 in lanes that take no part.

        Raises MachineFault where an enabled lane reaches beyond the end.
        """
        places = self._places(address, size, where)
        if not (places % size).any():
            value = self._flat.view(_KINDS[size])[places // size].astype(np.uint32)
        else:
            value = np.zeros(places.shape, np.uint32)
            for byte in range(size):
                value |= self._flat[places + byte].astype(np.uint32) << np.uint32(8 * byte)
        return value if where.all() else np.where(where, value, np.uint32(0))

    def put(self, address: Words, value: Words, size: int, where: Bits) -> None:
        """Write to each lane's address; of lanes that overlap the last wins. Raises MachineFault beyond the end."""
        places, kept, taking = np.broadcast_arrays(self._places(address, size, where), value, where)
        if not taking.all():
            places, kept = places[taking], kept[taking]
        if not (places % size).any():
            # numpy assigns in order, so that the last of equal places stays.
            self._flat.view(_KINDS[size])[places // size] = kept.astype(_KINDS[size])
            return
        # Byte after byte within a lane, lane after lane: the order in which overlapping words are written.
        every = places[..., None] + np.arange(size)
        self._flat[every] = (kept[..., None] >> (8 * np.arange(size, dtype=np.uint32)) & np.uint32(0xFF)).astype(
            np.uint8
        )


# An engine for lanes of 32-bit words: the algebra with numbers, executed at once by numpy on whole rows.
#
# A value is an array [group, lane] that is never changed once made; one that is the same in all lanes of a group, or
# everywhere, may have only one column or row, and numpy spreads it where it meets others. So what is the same for a
# group (an address, a count) costs one number a group. Groups may take turns: `let`.


Word = NDArray[np.uint32]
Bit = NDArray[np.bool_]
Values = TypeVar("Values", Word, Bit)
Number = TypeVar("Number", bound=np.generic)

_LOW = np.uint64(0xFFFFFFFF)
_ALL = 32


@dataclass(frozen=True, slots=True, eq=False)
class LaneValues:
    """Rows by number and registers by name: arrays [group, lane], one row or column where all have the same."""

    rows: Mapping[int, Word]
    words: Mapping[str, Word]
    flags: Mapping[str, Bit]


class WordsEngine(Engine):
    """The algebra with numbers on rows of uint32; flags are rows of booleans."""

    name = "words"

    def __init__(self, shape: Shape, memory: ByteMemory | None = None) -> None:
        super().__init__(shape)
        if shape.bits != _ALL:
            raise ValueError(f"this engine serves words of 32 bits, not of {shape.bits}")
        groups = shape.lanes // shape.group
        self.memory = memory or ByteMemory(4)
        if self.memory.sets not in (1, groups):
            raise ValueError(f"{self.memory.sets} memories for {groups} groups: one for all, or one for each")
        self.watch: Watcher | None = None
        """Receives every access to memory; see `Watcher`."""
        self._whole = (groups, shape.group)
        self._constants: dict[int, Word] = {}
        self._true, self._false = (np.full((1, 1), truth) for truth in (True, False))
        self._rows: list[Word] = [self.word(0)] * shape.rows
        self._words: dict[str, Word] = dict.fromkeys((*shape.words, *shape.counters), self.word(0))
        self._flags: dict[str, Bit] = dict.fromkeys((*shape.carries, *shape.masks), self._false)
        self._x = self._y = np.zeros((1, 1), np.int64)
        self._lane = np.arange(shape.group, dtype=np.uint32)[None]
        self._bit_values = np.uint32(1) << self._lane if shape.group <= _ALL else None
        self._within: Bit | None = None

    # --- executing ---------------------------------------------------------------------------------------

    def prepare(self, meaning: Meaning) -> tuple[Meaning, ...]:
        return (meaning,)

    def chain(self, actions: Iterable[tuple[Meaning, ...]]) -> tuple[Meaning, ...]:
        return tuple(meaning for action in actions for meaning in action)

    def run(self, actions: Iterable[tuple[Meaning, ...]]) -> None:
        for action in actions:
            for meaning in action:
                meaning(self)

    def let(self, groups: NDArray[np.bool_] | None) -> None:
        """Let only these groups, or all (None), be written in future."""
        self._within = None if groups is None or groups.all() else groups[:, None].copy()

    def _where(self, where: Bit | None) -> Bit | None:
        if where is None or self._within is None:
            return self._within if where is None else where
        return where & self._within

    # --- fetch ----------------------------------------------------------------------------------------------

    def word(self, value: int) -> Word:
        found = self._constants.get(value)
        if found is None:
            found = self._constants[value] = np.full((1, 1), value & 0xFFFFFFFF, np.uint32)
        return found

    def bit(self, value: bool) -> Bit:
        return self._true if value else self._false

    def load(self, row: int) -> Word:
        return self._rows[row]

    def read(self, name: str) -> Word:
        return self._words[name]

    def flag(self, name: str) -> Bit:
        return self._flags[name]

    def affine(self, a: int, b: int, c: int, words: int) -> list[Word]:
        total = a * self._x.astype(object) + b * self._y.astype(object) + c
        return [(total >> 32 * index & 0xFFFFFFFF).astype(np.uint32) for index in range(words)]

    def series(self, values: Sequence[int]) -> Word:
        return np.array(values, np.uint32)[None]

    def fetch(self, address: Word, size: int, where: Bit | None = None) -> Word:
        taking = self._taking(where)
        address = self._by_group(address)
        value = self.memory.fetch(address, size, taking)
        if self.watch is not None:
            self.watch(address, size, taking)
        return value

    def put(self, address: Word, value: Word, size: int, where: Bit | None = None) -> None:
        taking = self._taking(where)
        address = self._by_group(address)
        self.memory.put(address, value, size, taking)
        if self.watch is not None:
            self.watch(address, size, taking)

    def _taking(self, where: Bit | None) -> Bit:
        taking = self._where(where)
        return self._true if taking is None else taking

    def _by_group(self, address: Word) -> Word:
        """Return an address with a row for each group, since each may mean a separate memory."""
        return np.broadcast_to(address, (self._whole[0], address.shape[1]))

    # --- operation ------------------------------------------------------------------------------------------

    def add(self, a: Word, b: Word, carry: Bit) -> tuple[Word, Bit]:
        # In 32 bits, which is several times faster where the carry is the same everywhere.
        if carry is self._false:
            total = a + b
            return total, total < a
        if carry is self._true:
            total = a + b
            total += np.uint32(1)
            return total, total <= a
        wide = a.astype(np.uint64) + b + carry
        return (wide & _LOW).astype(np.uint32), wide > _LOW

    def both(self, a: Values, b: Values) -> Values:
        return a & b

    def either(self, a: Values, b: Values) -> Values:
        return a | b

    def differ(self, a: Values, b: Values) -> Values:
        return a ^ b

    def complement(self, a: Values) -> Values:
        return ~a

    def shift_left(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        return a << np.uint32(1) | into, a >> np.uint32(31) != 0

    def shift_right(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        return a >> np.uint32(1) | into.astype(np.uint32) << np.uint32(31), a & np.uint32(1) != 0

    def equal(self, a: Word, b: Word) -> Bit:
        return a == b

    def less(self, a: Word, b: Word, *, signed: bool) -> Bit:
        return a.view(np.int32) < b.view(np.int32) if signed else a < b

    def multiply(self, a: Word, b: Word, *, signed: bool) -> tuple[Word, Word]:
        if signed:
            product = (a.view(np.int32).astype(np.int64) * b.view(np.int32)).view(np.uint64)
        else:
            product = a.astype(np.uint64) * b
        return (product & _LOW).astype(np.uint32), (product >> np.uint64(32)).astype(np.uint32)

    def shift_up(self, a: Word, by: Word) -> Word:
        return np.where(by < _ALL, a << (by & np.uint32(31)), np.uint32(0))

    def shift_down(self, a: Word, by: Word, *, signed: bool) -> Word:
        if signed:
            return (a.view(np.int32) >> np.minimum(by, 31).view(np.int32)).view(np.uint32)
        return np.where(by < _ALL, a >> (by & np.uint32(31)), np.uint32(0))

    def float_add(self, a: Word, b: Word) -> Word:
        return float32.add(a, b)

    def float_multiply(self, a: Word, b: Word) -> Word:
        return float32.multiply(a, b)

    def float_divide(self, a: Word, b: Word) -> Word:
        return float32.divide(a, b)

    def float_fuse(self, a: Word, b: Word, c: Word) -> Word:
        return float32.fuse(a, b, c)

    def float_function(self, function: Elementary, a: Word, b: Word) -> Word:
        return float32.elementary(function, a, b)

    def float_equal(self, a: Word, b: Word) -> Bit:
        return float32.equal(a, b)

    def float_less(self, a: Word, b: Word) -> Bit:
        return float32.less(a, b)

    def to_float(self, a: Word, *, signed: bool) -> Word:
        return float32.from_integer(a, signed=signed)

    def to_integer(self, a: Word, rounding: Rounding) -> Word:
        return float32.to_integer(a, rounding)

    def half_to_float(self, a: Word) -> Word:
        return float32.from_half(a)

    def double_add(self, a: Pair[Word], b: Pair[Word]) -> Pair[Word]:
        return float64.add(a, b)

    def double_multiply(self, a: Pair[Word], b: Pair[Word]) -> Pair[Word]:
        return float64.multiply(a, b)

    def double_fuse(self, a: Pair[Word], b: Pair[Word], c: Pair[Word]) -> Pair[Word]:
        return float64.fuse(a, b, c)

    def double_equal(self, a: Pair[Word], b: Pair[Word]) -> Bit:
        return float64.equal(a, b)

    def double_less(self, a: Pair[Word], b: Pair[Word]) -> Bit:
        return float64.less(a, b)

    def to_double(self, a: Word, *, signed: bool) -> Pair[Word]:
        return float64.from_integer(a, signed=signed)

    def double_to_integer(self, a: Pair[Word], rounding: Rounding) -> Word:
        return float64.to_integer(a, rounding)

    def float_to_double(self, a: Word) -> Pair[Word]:
        return float64.from_float(a)

    def double_to_float(self, a: Pair[Word]) -> Word:
        return float64.to_float(a)

    # --- mask -----------------------------------------------------------------------------------------------

    def select(self, where: Bit, a: Word, b: Word) -> Word:
        return np.where(where, a, b)

    def store(self, row: int, value: Word, where: Bit | None = None) -> None:
        self._rows[row] = self._written(self._rows[row], value, where)

    def write(self, name: str, value: Word, where: Bit | None = None) -> None:
        self._words[name] = self._written(self._words[name], value, where)

    def set_flag(self, name: str, value: Bit, where: Bit | None = None) -> None:
        self._flags[name] = self._written(self._flags[name], value, where)

    def _written(self, before: Values, value: Values, where: Bit | None) -> Values:
        where = self._where(where)
        return value if where is None else np.where(where, value, before)

    def spread(self, number: Word) -> Bit:
        return number >> self._lane & np.uint32(1) != 0

    def collect(self, bits: Bit) -> Word:
        if self._bit_values is None:
            raise ValueError(f"the bits of {self.shape.group} lanes are not a number of 32 bits")
        return (bits * self._bit_values).sum(axis=1, dtype=np.uint32, keepdims=True)

    def rank(self, bits: Bit) -> Word:
        taken = np.broadcast_to(bits, (len(bits), self.shape.group)).astype(np.uint32)
        return np.cumsum(taken, axis=1, dtype=np.uint32) - taken

    # --- route ----------------------------------------------------------------------------------------------

    def route(self, value: Values, sources: Sequence[int]) -> Values:
        return value if value.shape[1] == 1 else value[:, list(sources)]

    def pattern(self, bits: Sequence[bool]) -> Bit:
        return np.array(bits, np.bool_)[None]

    # --- state: by lanes in a row, as in every engine ---------------------------------------------------------

    def _flat(self, value: NDArray[Number]) -> NDArray[Number]:
        return np.broadcast_to(value, self._whole).reshape(-1).copy()

    def _taken(self, values: NDArray[Number], kind: type[Number]) -> NDArray[Number]:
        return np.broadcast_to(np.asarray(values, kind), self.shape.lanes).reshape(self._whole).copy()

    def get_rows(self, start: int, count: int) -> NDArray[np.uint32]:
        return np.array([self._flat(row) for row in self._rows[start : start + count]], np.uint32)

    def set_rows(self, start: int, values: NDArray[np.uint32]) -> None:
        for row, each in enumerate(values, start):
            self._rows[row] = self._taken(each, np.uint32)

    def get_word(self, name: str) -> NDArray[np.uint32]:
        return self._flat(self._words[name])

    def set_word(self, name: str, values: NDArray[np.uint32]) -> None:
        self._words[name] = self._taken(values, np.uint32)

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        return self._flat(self._flags[name])

    def set_bit(self, name: str, values: NDArray[np.bool_]) -> None:
        self._flags[name] = self._taken(values, np.bool_)

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        self._x, self._y = self._taken(x, np.int64), self._taken(y, np.int64)

    def values(self) -> LaneValues:
        """Return all rows and registers as they are kept."""
        return LaneValues(dict(enumerate(self._rows)), dict(self._words), dict(self._flags))

    def set_values(self, values: LaneValues) -> None:
        """Write some rows and registers, from values that do not change any more."""
        for row, value in values.rows.items():
            self._rows[row] = value
        self._words.update(values.words)
        self._flags.update(values.flags)

    def group_word(self, name: str) -> NDArray[np.uint32]:
        """Return a register of each group's first lane: uint32[groups]."""
        return np.broadcast_to(self._words[name][:, 0], self._whole[0])

    def set_group_word(self, name: str, values: NDArray[np.uint32]) -> None:
        """Write a register, the same in all lanes of a group: uint32[groups]."""
        self._words[name] = np.asarray(values, np.uint32)[:, None].copy()
