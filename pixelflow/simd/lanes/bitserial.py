"""The reference engine: bit-planes in `bitarray`, additions rippled bit by bit, as bit-serial hardware adds.

A word is a list of bit-planes, lowest bit first; a plane holds one bit of every lane. Nothing here is clever, so that
it can be believed; the faster engines must agree with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from bitarray import bitarray
from bitarray.util import ones, zeros
from numpy.typing import NDArray

from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.lanes.engine import Engine, Meaning, Shape

WORD_BITS = 8
COORDINATE_BITS = 16

Planes = list[bitarray]
Either = TypeVar("Either", Planes, bitarray)


class BitSerialEngine(Engine):
    """The algebra executed at once, operation by operation, on bit-planes."""

    name = "bit-serial"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self._none = zeros(shape.lanes)
        self._all = ones(shape.lanes)
        self._rows = [self.word(0) for _ in range(shape.rows)]
        self._words = {name: self.word(0) for name in (*shape.words, *shape.counters)}
        self._bits = {name: zeros(shape.lanes) for name in (*shape.carries, *shape.masks)}
        self._x = [zeros(shape.lanes)] * COORDINATE_BITS
        self._y = [zeros(shape.lanes)] * COORDINATE_BITS

    def prepare(self, meaning: Meaning) -> Meaning:
        return meaning

    def chain(self, actions: Iterable[Meaning]) -> Meaning:
        meanings = tuple(actions)

        def one_after_the_other(lanes: Algebra[Any, Any]) -> None:
            for meaning in meanings:
                meaning(lanes)

        return one_after_the_other

    def run(self, actions: Iterable[Meaning]) -> None:
        for meaning in actions:
            meaning(self)

    # --- fetch: values are never changed in place, so handing out the stored planes is safe -----------------

    def word(self, value: int) -> Planes:
        return [self._all if value >> bit & 1 else self._none for bit in range(WORD_BITS)]

    def bit(self, value: bool) -> bitarray:
        return self._all if value else self._none

    def load(self, row: int) -> Planes:
        return self._rows[row]

    def read(self, name: str) -> Planes:
        return self._words[name]

    def flag(self, name: str) -> bitarray:
        return self._bits[name]

    def affine(self, a: int, b: int, c: int, words: int) -> list[Planes]:
        width = WORD_BITS * words
        total = [self._all if c >> bit & 1 else self._none for bit in range(width)]
        for factor, coordinate in ((a, self._x), (b, self._y)):
            for shift, plane in enumerate(coordinate):
                if not factor or not plane.any():
                    continue
                # Lanes whose coordinate has this bit add the factor, shifted up by the bit's place.
                term = [plane if factor << shift >> bit & 1 else self._none for bit in range(width)]
                total, _ = self._ripple(total, term, self._none)
        return [total[low : low + WORD_BITS] for low in range(0, width, WORD_BITS)]

    # --- operation ------------------------------------------------------------------------------------------

    def add(self, a: Planes, b: Planes, carry: bitarray) -> tuple[Planes, bitarray]:
        return self._ripple(a, b, carry)

    @staticmethod
    def _ripple(a: Planes, b: Planes, carry: bitarray) -> tuple[Planes, bitarray]:
        total = []
        for one, other in zip(a, b, strict=True):
            half = one ^ other
            total.append(half ^ carry)
            carry = one & other | half & carry
        return total, carry

    def both(self, a: Either, b: Either) -> Either:
        return [p & q for p, q in zip(a, b, strict=True)] if isinstance(a, list) else a & b

    def either(self, a: Either, b: Either) -> Either:
        return [p | q for p, q in zip(a, b, strict=True)] if isinstance(a, list) else a | b

    def differ(self, a: Either, b: Either) -> Either:
        return [p ^ q for p, q in zip(a, b, strict=True)] if isinstance(a, list) else a ^ b

    def complement(self, a: Either) -> Either:
        return [~p for p in a] if isinstance(a, list) else ~a

    def shift_left(self, a: Planes, into: bitarray) -> tuple[Planes, bitarray]:
        return [into, *a[:-1]], a[-1]

    def shift_right(self, a: Planes, into: bitarray) -> tuple[Planes, bitarray]:
        return [*a[1:], into], a[0]

    # --- mask -----------------------------------------------------------------------------------------------

    def select(self, where: bitarray, a: Planes, b: Planes) -> Planes:
        others = ~where
        return [where & new | others & old for new, old in zip(a, b, strict=True)]

    def store(self, row: int, value: Planes, where: bitarray | None = None) -> None:
        self._rows[row] = value if where is None else self.select(where, value, self._rows[row])

    def write(self, name: str, value: Planes, where: bitarray | None = None) -> None:
        self._words[name] = value if where is None else self.select(where, value, self._words[name])

    def set_flag(self, name: str, value: bitarray, where: bitarray | None = None) -> None:
        self._bits[name] = value if where is None else self.select(where, [value], [self._bits[name]])[0]

    # --- route ----------------------------------------------------------------------------------------------

    def route(self, value: Planes, sources: Sequence[int]) -> Planes:
        group = self.shape.group
        routed = []
        for plane in value:
            moved = plane.copy()
            for lane, source in enumerate(sources):
                if source != lane:
                    moved[lane::group] = plane[source::group]
            routed.append(moved)
        return routed

    def pattern(self, bits: Sequence[bool]) -> bitarray:
        return bitarray(bits) * (self.shape.lanes // self.shape.group)

    # --- state ----------------------------------------------------------------------------------------------

    def _pack(self, values: NDArray[np.integer | np.bool_]) -> bitarray:
        plane = bitarray()
        plane.frombytes(np.packbits(values).tobytes())
        return plane[: self.shape.lanes]

    def _unpack(self, plane: bitarray) -> NDArray[np.uint8]:
        packed = np.frombuffer(plane.tobytes(), np.uint8)
        return np.unpackbits(packed, count=self.shape.lanes)

    def _planes(self, values: NDArray[np.integer | np.bool_], bits: int) -> Planes:
        return [self._pack(values >> bit & 1) for bit in range(bits)]

    def _values(self, planes: Planes) -> NDArray[np.uint8]:
        values = np.zeros(self.shape.lanes, np.uint8)
        for bit, plane in enumerate(planes):
            values |= self._unpack(plane) << np.uint8(bit)
        return values

    def get_rows(self, start: int, count: int) -> NDArray[np.uint8]:
        blob = b"".join(plane.tobytes() for row in self._rows[start : start + count] for plane in row)
        packed = np.frombuffer(blob, np.uint8).reshape(-1, WORD_BITS, (self.shape.lanes + 7) // 8)
        planes = np.unpackbits(packed, axis=2, count=self.shape.lanes)
        return np.packbits(planes, axis=1, bitorder="little").reshape(-1, self.shape.lanes)

    def set_rows(self, start: int, values: NDArray[np.uint8]) -> None:
        for offset, row in enumerate(np.asarray(values, np.uint8)):
            self._rows[start + offset] = self._planes(row, WORD_BITS)

    def get_word(self, name: str) -> NDArray[np.uint8]:
        return self._values(self._words[name])

    def set_word(self, name: str, values: NDArray[np.uint8]) -> None:
        self._words[name] = self._planes(np.asarray(values, np.uint8), WORD_BITS)

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        return self._unpack(self._bits[name]).astype(np.bool_)

    def set_bit(self, name: str, values: NDArray[np.bool_]) -> None:
        self._bits[name] = self._pack(np.asarray(values, np.bool_))

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        self._x = self._planes(x, COORDINATE_BITS)
        self._y = self._planes(y, COORDINATE_BITS)
