"""An interpreter of an instruction word, channel by channel with Python's integers, sharing no code with the machine.

It reads the 128 bits by itself. Floats are numpy's scalars of 32 bits; a NaN is the quieted first operand that is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tests.gen6.scalar_floats import add, flush, fused, is_nan, mul, nearest, number, whole
from tests.gen6.scalar_word import SIGNED, SIZES, SPREAD, F, Word

ONES = 0xFFFFFFFF


@dataclass
class Thread:
    """Registers of a thread: bytes, the flags of 2 x 16 channels, an accumulator in each channel."""

    grf: bytearray = field(default_factory=lambda: bytearray(4096))
    mrf: bytearray = field(default_factory=lambda: bytearray(768))
    addresses: list[int] = field(default_factory=lambda: [0] * 8)
    flags: int = 0
    acc: list[int] = field(default_factory=lambda: [0] * 16)
    acc_float: list[int] = field(default_factory=lambda: [0] * 16)


# --- one instruction --------------------------------------------------------------------------------------------------


class Step:
    """Instruction word that a thread executes."""

    def __init__(self, thread: Thread, word: int) -> None:
        self.thread, self.word = thread, Word(word)
        self.enabled = [self.let_through(channel) for channel in range(16)]

    def let_through(self, channel: int) -> bool:
        """Return whether the predicate holds, by the flags as they are now."""
        word, flags = self.word, self.thread.flags
        if not word.predicate:
            return True
        own = flags >> 16 * word.flag & 0xFFFF

        def group(count: int, every: bool) -> bool:
            bits = [own >> at & 1 for at in range(channel // count * count, channel // count * count + count)]
            return all(bits) if every else any(bits)

        code = word.predicate
        if code == 1:
            found = bool(own >> channel & 1)
        elif word.wide:
            found = group(4, code == 7) if code > 5 else bool(own >> (channel // 4 * 4 + code - 2) & 1)
        elif code in (2, 3):
            both = [flags >> channel & 1, flags >> 16 + channel & 1]
            found = all(both) if code == 3 else any(both)
        else:
            found = group(2 << (code - 4) // 2, bool(code & 1))
        return found != bool(word.inverse)

    def fetch(self, position: int, element: int) -> int:
        """Return the raw bits of an element of a source."""
        word = self.word
        if word.three:
            base = 64 + 21 * position
            lane = 0 if word.of(base, 1) else element // 4 * 4 + (word.of(base + 1, 8) >> 2 * (element % 4) & 3)
            start = 32 * word.of(base + 12, 8) + 4 * word.of(base + 9, 3) + 4 * lane
            return int.from_bytes(self.thread.grf[start : start + 4], "little")
        file, kind, base = word.of(37 + 5 * position, 2), word.source_type(position), 64 + 32 * position
        if file == 3:
            bits = word.of(96, 32)
            if kind == 8:
                nibble = bits >> 4 * (element % 8) & 15
                return (nibble - 16 if nibble > 7 else nibble) & 0xFFFF
            if kind == 9:
                byte = bits >> 8 * (element % 4) & 0xFF
                sign, rest = byte >> 7 << 31, byte & 127
                return sign | ((rest >> 4) + 124 << 23 | (rest & 15) << 19 if rest else 0)
            return bits & (1 << 8 * SIZES[kind]) - 1
        size, register = SIZES[kind], word.of(base + 5, 8)
        if word.wide:
            step = SPREAD[word.of(base + 21, 4)]
            swizzle = [word.of(base + at, 2) for at in (0, 2, 16, 18)][element % 4]
            place = (element // 4 * step + swizzle) * size
            start = 32 * register + 16 * word.of(base + 4, 1) + place
        else:
            down, width, across = word.of(base + 21, 4), 1 << word.of(base + 18, 3), SPREAD[word.of(base + 16, 2)]
            row, column = divmod(element, width)
            if word.of(base + 15, 1):
                index = word.of(base + 10, 3)
                own = self.thread.addresses[index + row if down == 15 else index]
                place = column * across + (0 if down == 15 else row * SPREAD[down])
                start = own + word.of(base, 10, True) + place * size
            else:
                start = 32 * register + word.of(base, 5) + (row * SPREAD[down] + column * across) * size
                if file == 0 and register & 0xF0 == 0x20:
                    channel = (32 * (register & 1) + word.of(base, 5) + (start - 32 * register)) // max(size, 2)
                    return (self.thread.acc_float if kind == F else self.thread.acc)[channel] & (1 << 8 * size) - 1
                if file == 0:
                    return 0  # null
        return int.from_bytes(self.thread.grf[start : start + size], "little")

    def value(self, position: int, element: int) -> int:
        """Return an element after its modifiers: an exact integer, or the bits of a float."""
        word, bits, kind = self.word, self.fetch(position, element), self.word.source_type(position)
        base = 64 + 32 * position
        signs = (36 + 2 * position, 37 + 2 * position) if word.three else (base + 13, base + 14)
        absolute, negate = (0, 0)
        if word.three or word.of(37 + 5 * position, 2) != 3:
            absolute, negate = (word.of(each, 1) for each in signs)
        if kind in (F, 9):
            bits = bits & 0x7FFFFFFF if absolute else bits
            bits ^= negate << 31
            raw = word.opcode == 1 and word.type == F and not (absolute or negate or word.saturates)
            return bits if raw else flush(bits)
        size, signed = (2, True) if kind == 8 else (SIZES[kind], SIGNED[kind])
        found = bits - (1 << 8 * size) if signed and bits >> 8 * size - 1 else bits
        found = abs(found) if absolute else found
        return -found if negate else found

    @property
    def floats(self) -> bool:
        return any(self.word.source_type(each) in (F, 9) for each in range(self.word.sources()))

    def run(self) -> None:
        word = self.word
        parts = (range(8), range(8, 16)) if self.compressed() else (range(word.size),)
        for part in parts:
            with np.errstate(all="ignore"):
                results = [(element, *self.result(element)) for element in part if word.first + element < 16]
            for element, value, is_float in results:
                self.write(element, value, is_float)

    def compressed(self) -> bool:
        """Return whether sixteen elements are executed as two eights: an operand is in two registers."""
        word = self.word
        if word.size < 16:
            return False
        if word.three or word.opcode in (89, 90):
            return True
        sub = 16 * word.of(52, 1) if word.wide else word.of(48, 5)
        step = 1 if word.wide else SPREAD[word.of(61, 2)]
        sub = 0 if word.of(63, 1) else sub
        return (word.of(32, 2) == 1 and sub + (15 * step + 1) * SIZES[word.type] > 32) or any(
            self.in_two(each) for each in range(word.sources())
        )

    def in_two(self, position: int) -> bool:
        word, base = self.word, 64 + 32 * position
        if word.of(37 + 5 * position, 2) != 1:
            return False
        down, size = word.of(base + 21, 4), SIZES[word.source_type(position)]
        if word.wide:
            most = 3 * SPREAD[down] + max(word.of(base + at, 2) for at in (0, 2, 16, 18))
            return 16 * word.of(base + 4, 1) + (most + 1) * size > 32
        width, indirect = 1 << word.of(base + 18, 3), word.of(base + 15, 1)
        if indirect and down == 15:
            return True
        most = (15 // width) * SPREAD[down] + (min(width, 16) - 1) * SPREAD[word.of(base + 16, 2)]
        return (0 if indirect else word.of(base, 5)) + (most + 1) * size > 32

    # --- results ------------------------------------------------------------------------------------------------------

    def result(self, element: int) -> tuple[int, bool]:
        """Return what an element computes, and whether that is the bits of a float."""
        word, count = self.word, self.word.sources()
        if word.opcode in (84, 85, 86, 87):
            return self.dot(element), True
        if word.opcode in (89, 90):
            return self.plane(element), True
        values = [self.value(each, element) for each in range(count)]
        if self.floats:
            return self.of_floats(element, values)
        return self.of_integers(element, values), False

    def dot(self, element: int) -> int:
        terms = {84: 4, 85: 4, 86: 3, 87: 2}[self.word.opcode]
        group, total = element // 4 * 4, None
        for term in range(terms):
            a, b = (self.value(each, group + term) for each in (0, 1))
            product = b if self.word.opcode == 85 and term == 3 else flush(mul(a, b))
            total = product if total is None else flush(add(product, total))
        assert total is not None
        return total

    def plane(self, element: int) -> int:
        def at(position: int, place: int) -> int:
            base = 64 + 32 * position
            start = 32 * self.word.of(base + 5, 8) + self.word.of(base, 5) + place
            bits = int.from_bytes(self.thread.grf[start : start + 4], "little")
            bits = bits & 0x7FFFFFFF if self.word.of(base + 13, 1) else bits
            return flush(bits ^ self.word.of(base + 14, 1) << 31)

        x, y, w = at(0, 0), at(0, 4), at(0, 12)
        if self.word.opcode == 89:
            return flush(add(flush(mul(x, self.value(1, element))), w))
        start = element // 8 * 64 + element % 8 * 4
        first = flush(add(flush(mul(x, at(1, start))), w))
        return flush(add(flush(mul(y, at(1, start + 32))), first))

    def relation(self, a: int, b: int, floats: bool) -> bool:
        code = self.word.condition
        if floats and (is_nan(a) or is_nan(b)):
            return code in (2, 9)
        x, y = (number(a), number(b)) if floats else (a, b)
        return bool({1: x == y, 2: x != y, 3: x > y, 4: x >= y, 5: x < y, 6: x <= y}.get(code, False))

    def of_floats(self, element: int, values: list[int]) -> tuple[int, bool]:
        word, opcode = self.word, self.word.opcode
        a, b = values[0], values[1] if len(values) > 1 else 0
        match opcode:
            case 1:
                return a, True
            case 2:
                if not word.condition:
                    return (a if self.enabled[word.first + element] else b), True
                if is_nan(a) or is_nan(b):
                    return (b if is_nan(a) else a), True
                return (a if self.relation(a, b, True) else b), True
            case 16 | 17:
                return -1 if self.relation(a, b, True) else 0, False
            case 64:
                return add(a, b), True
            case 65:
                return mul(a, b), True
            case 67:
                return add(a, whole(a, "down") ^ 0x80000000), True
            case 68 | 69 | 70 | 71:
                return whole(a, ("up", "down", "even", "zero")[opcode - 68]), True
            case 72:
                return add(flush(mul(a, b)), flush(self.thread.acc_float[self.implied(element)])), True
            case 91:
                return fused(b, values[2], a), True
            case 92:
                rest = add(0x3F800000, a ^ 0x80000000)
                return add(flush(mul(a, b)), mul(rest, values[2])), True
        raise NotImplementedError(opcode)

    def of_integers(self, element: int, values: list[int]) -> int:
        word, opcode = self.word, self.word.opcode
        a, b = values[0], values[1] if len(values) > 1 else 0
        sizes = [2 if word.source_type(each) > 7 else SIZES[word.source_type(each)] for each in range(word.sources())]
        count, both = b & 31, len(sizes) == 2 and sizes[0] == sizes[1] == 4
        accumulated = self.thread.acc[self.implied(element)] if opcode in (72, 73) else 0
        accumulated -= accumulated >> 63 << 64
        match opcode:
            case 1:
                return a
            case 2:
                chosen = self.relation(a, b, False) if word.condition else self.enabled[word.first + element]
                return a if chosen else b
            case 4:
                return ~a
            case 5:
                return a & b
            case 6:
                return a | b
            case 7:
                return a ^ b
            case 8:
                return (a & (ONES if sizes[0] == 4 else 0xFFFF)) >> count
            case 9:
                return a << count
            case 12:
                return a >> count
            case 16 | 17:
                return -1 if self.relation(a, b, False) else 0
            case 64:
                return a + b
            case 65:
                return (a & 0xFFFF if both else a) * b
            case 66:
                return a + b + 1 >> 1
            case 72:
                return (a & 0xFFFF if both else a) * b + accumulated
            case 73:
                return (a & ~0xFFFF) * b + accumulated
            case 74:
                return 32 - (a & ONES).bit_length()
        raise NotImplementedError(opcode)

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, element: int, value: int, is_float: bool) -> None:
        word, thread, kind = self.word, self.thread, self.word.type
        channel = word.first + element
        chooses = word.opcode == 2 and not word.condition
        if not chooses and not self.enabled[channel]:
            return
        if word.opcode in (16, 17):
            self.set_flag(channel, value != 0)
            self.put(element, value & ONES)
            return
        exact = value
        if word.opcode == 73:  # the destination takes the upper half, the accumulator keeps the lower
            signed = any(SIGNED[word.source_type(each)] for each in range(2))
            low = exact & ONES
            thread.acc[self.implied(element)] = (low - (low >> 31 << 32) if signed else low) & (1 << 64) - 1
            value = (exact >> 32) & ONES
            value = value - (value >> 31 << 32) if signed else value
        bits = self.converted(value, is_float)
        if word.condition and word.opcode != 2:
            size = 8 * SIZES[kind]
            low = bits & (1 << size) - 1
            shown = low - (1 << size) if kind != F and SIGNED[kind] and low >> size - 1 else low
            if word.condition < 7 or word.condition == 9:
                self.set_flag(channel, self.relation(shown, 0, kind == F))
        to_accumulator = not word.three and word.of(32, 2) == 0 and word.of(53, 8) >> 4 == 2
        if word.accumulates and word.opcode != 73 and not to_accumulator:
            self.accumulate(self.implied(element), bits if kind == F else self.kept, kind == F)
        self.put(element, bits)

    def converted(self, value: int, is_float: bool) -> int:
        """Return the bits that are written; `kept` is the exact integer before it is cut to its size."""
        word, kind = self.word, self.word.type
        self.kept = 0
        if kind == F:
            raw = is_float and word.opcode == 1 and not word.saturates and not self.changed()
            bits = value if raw else flush(value) if is_float else nearest(value) if value else 0
            if not word.saturates:
                return bits
            if is_nan(bits) or number(bits) < 0:
                return 0
            return 0x3F800000 if number(bits) > 1 else bits
        low = -(1 << 8 * SIZES[kind] - 1) if SIGNED[kind] else 0
        high = low + (1 << 8 * SIZES[kind]) - 1
        if is_float:
            if is_nan(value):
                value = 0
            elif math.isinf(number(value)):
                value = high if value >> 31 == 0 else low
            else:
                value = int(float(number(value)))
            value = min(max(value, low), high)
        elif word.saturates:
            value = min(max(value, low), high)
        self.kept = value & (1 << 64) - 1
        return value & ONES

    def changed(self) -> bool:
        return self.word.of(37, 2) != 3 and bool(self.word.of(77, 2))

    def set_flag(self, channel: int, holds: bool) -> None:
        at = 16 * self.word.flag + channel
        self.thread.flags = self.thread.flags & ~(1 << at) | holds << at

    def implied(self, element: int) -> int:
        """Return the accumulator's element that the place of an element in the destination's register implies."""
        word, size = self.word, SIZES[self.word.type]
        if word.three:
            return word.first + word.of(53, 3) + element
        step = size if word.wide else size * SPREAD[word.of(61, 2)]
        sub = 0 if word.of(63, 1) else 16 * word.of(52, 1) if word.wide else word.of(48, 5)
        types = [word.source_type(each) for each in range(word.sources())]
        four = size == 4 or any(each == 9 or (each < 8 and SIZES[each] == 4) for each in types)
        apart = min(4 if four else 2, step)  # bytes that are moved as they are stand closer than words
        return (word.first if apart == 4 else 0) + (sub + element * step) // apart

    def accumulate(self, channel: int, value: int, floats: bool) -> None:
        (self.thread.acc_float if floats else self.thread.acc)[channel] = value

    def put(self, element: int, bits: int) -> None:
        word, thread, size = self.word, self.thread, SIZES[self.word.type]
        if word.three:
            mask, file, indirect = word.of(49, 4), 2 if word.of(32, 1) else 1, 0
            start = 32 * word.of(56, 8) + 4 * word.of(53, 3) + 4 * element
        else:
            mask, file, indirect = word.of(48, 4) if word.wide else 15, word.of(32, 2), word.of(63, 1)
            step = 1 if word.wide else SPREAD[word.of(61, 2)]
            sub = 16 * word.of(52, 1) if word.wide else word.of(48, 5)
            start = 32 * word.of(53, 8) + sub + element * step * size
            if indirect:
                start = thread.addresses[word.of(58, 3)] + word.of(48, 10, True) + element * step * size
        if not mask >> element % 4 & 1:
            return
        if file == 0:
            if word.of(53, 8) >> 4 == 2:
                compares = word.opcode in (16, 17)
                low = bits & (1 << 8 * size) - 1
                signed = SIGNED[word.type] and word.type != F
                plain = low - (low >> 8 * size - 1 << 8 * size) if signed else low
                kept = plain & (1 << 64) - 1 if compares else self.kept
                self.accumulate(element + 8 * (word.of(53, 8) & 1), bits if word.type == F else kept, word.type == F)
            return
        memory = thread.grf if file == 1 else thread.mrf
        memory[start : start + size] = (bits & (1 << 8 * size) - 1).to_bytes(size, "little")
