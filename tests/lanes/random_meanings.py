"""Random meanings over numbers: every operation of the algebra, on values of one number a group and of one a lane."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from pixelflow.simd.lanes.engine import Meaning, Shape
from pixelflow.simd.lanes.numbers import Rounding
from pixelflow.simd.lanes.words import ByteMemory, WordsEngine

WORDS = [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000]
WORDS += [0x7F800001, 0xFFC12345, 0x00000001, 0x807FFFFF, 0x7F7FFFFF, 0xCF000000, 0x4EFFFFFF, 0x40200000, 0x7C01]
WORDS += [0x7FF00000, 0xFFF00000, 0x7FF80001, 0xFFF4ABCD, 0x3FF00000, 0x41DFFFFF, 0x000FFFFF, 0x80000001, 0x7FEFFFFF]
BYTES = 512


def shape_of(groups: int, group: int) -> Shape:
    """Return groups with rows and registers of each kind."""
    return Shape(group * groups, group, 6, ("w", "x", "next"), ("c", "d"), ("m", "n"), bits=32)


def state(lanes: WordsEngine, seed: int) -> None:
    """Fill rows, registers and memory with edges and anything; "w" and "c" are the same in all lanes of a group."""
    rng, shape = np.random.default_rng(seed), lanes.shape
    groups = shape.lanes // shape.group

    def words(*size: int) -> np.ndarray:
        floats = rng.normal(scale=50, size=size).astype(np.float32).view(np.uint32)
        return np.where(rng.random(size) < 0.5, rng.choice(np.array(WORDS, np.uint32), size), floats)

    lanes.set_rows(0, words(shape.rows, shape.lanes))
    lanes.set_group_word("w", words(groups))
    lanes.set_word("x", words(shape.lanes))
    lanes.set_bit("c", np.repeat(rng.random(groups) < 0.5, shape.group))
    for name in ("d", "m", "n"):
        lanes.set_bit(name, rng.random(shape.lanes) < 0.5)
    lanes.memory.data[:] = words(lanes.memory.sets, BYTES // 4).view(np.uint8)


class MeaningWriter:
    """Makes up a meaning: a list of operations on values made before, by their numbers."""

    def __init__(self, seed: int, group: int) -> None:
        self.pick, self.group = random.Random(seed), group
        self.doing: list[Callable] = []
        self.words, self.bits = 0, 0

    def word(self) -> int:
        return self.pick.randrange(self.words)

    def bit(self) -> int:
        return self.pick.randrange(self.bits)

    def add(self, operation: Callable, words: int = 0, bits: int = 0) -> None:
        """Add an operation that takes the algebra, all words and all bits, and returns new ones."""
        self.doing.append(operation)
        self.words, self.bits = self.words + words, self.bits + bits

    def read(self) -> None:
        pick, group = self.pick, self.group
        for row in range(3):
            self.add(lambda n, w, b, row=row: ([n.load(row)], []), 1)
        constant = pick.choice([*WORDS, pick.getrandbits(32)])
        series = [pick.getrandbits(32) for _ in range(group)]
        pattern = [pick.random() < 0.5 for _ in range(group)]
        truth = pick.random() < 0.5
        self.add(lambda n, w, b: ([n.read("w"), n.read("x"), n.word(constant), n.series(series)], []), 4)
        self.add(lambda n, w, b: ([], [n.flag(name) for name in "cdmn"]), 0, 4)
        self.add(lambda n, w, b: ([], [n.pattern(pattern), n.bit(truth)]), 0, 2)

    def step(self) -> None:
        pick = self.pick
        i, j, k, p, q = self.word(), self.word(), self.word(), self.bit(), self.bit()
        signed, rounding = pick.random() < 0.5, pick.choice(list(Rounding))
        sources = [pick.randrange(self.group) for _ in range(self.group)]
        logic, size = pick.choice(["both", "either", "differ"]), pick.choice([1, 2, 4])
        masked = pick.choice([None, p])
        known = pick.choice([0, 1, 7, 16, 31, 32, 40])
        spaced = [size * lane for lane in range(self.group)]
        four = [size * (lane % 4) for lane in range(self.group)]

        def at(n, word):
            return n.both(word, n.word(0xFF if pick_far else 0xFC))

        def taken(b):
            return None if masked is None else b[masked]

        pick_far = pick.random() < 0.4
        one = pick.choice([spaced, four, None])

        def address(n, w):
            base = at(n, w[i])
            return base if one is None else n.add(base, n.series(one), n.bit(False))[0]

        other = self.word()

        def less_doubles(n, w):
            return n.double_less((w[i], w[j]), (w[k], w[other]))

        def put(n, w, b):
            n.put(address(n, w), w[j], size, taken(b))
            return [], []

        self.add(*pick.choice([
            (lambda n, w, b: _pair(n.add(w[i], w[j], b[p])), 1, 1),
            (lambda n, w, b: _pair(n.add(w[i], w[j], n.bit(signed))), 1, 1),
            (lambda n, w, b: ([getattr(n, logic)(w[i], w[j]), n.complement(w[k])], []), 2),
            (lambda n, w, b: ([], [getattr(n, logic)(b[p], b[q]), n.complement(b[q])]), 0, 2),
            (lambda n, w, b: _pair(n.shift_left(w[i], b[p])), 1, 1),
            (lambda n, w, b: _pair(n.shift_right(w[i], b[p])), 1, 1),
            (lambda n, w, b: ([n.select(b[p], w[i], w[j]), n.route(w[k], sources)], []), 2),
            (lambda n, w, b: ([n.collect(b[p]), n.rank(b[q])], [n.spread(w[i])]), 2, 1),
            (lambda n, w, b: ([], [n.equal(w[i], w[j]), n.less(w[i], w[k], signed=signed)]), 0, 2),
            (lambda n, w, b: (list(n.multiply(w[i], w[j], signed=signed)), []), 2),
            (lambda n, w, b: ([n.shift_up(w[i], w[j]), n.shift_down(w[i], w[k], signed=signed)], []), 2),
            (lambda n, w, b: ([n.shift_up(w[i], n.word(known))], []), 1),
            (lambda n, w, b: ([n.shift_down(w[i], n.word(known), signed=signed)], []), 1),
            (lambda n, w, b: ([n.float_add(w[i], w[j]), n.float_multiply(w[i], w[k])], []), 2),
            (lambda n, w, b: ([n.float_divide(w[i], w[j]), n.float_fuse(w[i], w[j], w[k])], []), 2),
            (lambda n, w, b: ([], [n.float_equal(w[i], w[j]), n.float_less(w[i], w[j])]), 0, 2),
            (lambda n, w, b: ([n.to_float(w[i], signed=signed), n.to_integer(w[j], rounding)], []), 2),
            (lambda n, w, b: ([n.half_to_float(w[i])], []), 1),
            (lambda n, w, b: (list(n.double_add((w[i], w[j]), (w[k], w[other]))), []), 2),
            (lambda n, w, b: (list(n.double_multiply((w[i], w[j]), (w[k], w[other]))), []), 2),
            (lambda n, w, b: (list(n.double_fuse((w[i], w[j]), (w[k], w[other]), (w[other], w[i]))), []), 2),
            (lambda n, w, b: ([], [n.double_equal((w[i], w[j]), (w[i], w[k])), less_doubles(n, w)]), 0, 2),
            (lambda n, w, b: (list(n.to_double(w[i], signed=signed)), []), 2),
            (lambda n, w, b: (list(n.float_to_double(w[i])), []), 2),
            (lambda n, w, b: ([n.double_to_integer((w[i], w[j]), rounding), n.double_to_float((w[i], w[k]))], []), 2),
            (lambda n, w, b: ([n.fetch(address(n, w), size, taken(b))], []), 1),
            (put,),
        ]))  # fmt: skip

    def write(self) -> None:
        writes = [(self.pick.choice([0, 1, 2, 3, 4, 5, "w", "x"]), self.word(), self.where()) for _ in range(4)]
        flags = [(self.pick.choice("cdmn"), self.bit(), self.where()) for _ in range(2)]

        def written(n, w, b):
            for place, value, where in writes:
                write = n.store if isinstance(place, int) else n.write
                write(place, w[value], None if where is None else b[where])
            for name, value, where in flags:
                n.set_flag(name, b[value], None if where is None else b[where])
            return [], []

        self.add(written)

    def where(self) -> int | None:
        return self.pick.choice([None, self.bit()])

    def meaning(self) -> Meaning:
        """Return a meaning of some ten operations."""
        self.read()
        for _ in range(self.pick.randint(4, 14)):
            self.step()
        self.write()
        doing = tuple(self.doing)

        def carried_out(lanes) -> None:
            words, bits = [], []
            for each in doing:
                more, others = each(lanes, words, bits)
                words += more
                bits += others

        return carried_out


def _pair(found: tuple) -> tuple[list, list]:
    return [found[0]], [found[1]]


def memory_for(groups: int, own: bool) -> ByteMemory:
    """Return a memory for all groups, or one for each."""
    return ByteMemory(BYTES, groups if own else 1)
