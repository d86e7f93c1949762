"""Instructions of a program by kind: common parts are stored once, differing values in columns.

Two instructions are of one kind where their words differ in nothing but coefficients (`OperandKind.is_coefficient`):
numbers on which neither cycles nor the memory that is touched depend. Programs that draw have tens of thousands of
instructions of a few dozen kinds, so whatever follows from the kind is computed for each kind and gathered.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.declare import Declaration, Instruction, InstructionSet
from pixelflow.simd.isa.encoding import COEFFICIENT_WORDS
from pixelflow.simd.lanes.engine import chosen

T = TypeVar("T")

_IN_KEY = 2
"""Number of words that a 64-bit number distinguishes."""

Reading = Callable[[Sequence[int], int], "Instruction"]
"""Reads the instruction that is at a position among words."""


class ByKind:
    """The instructions of a program, in order, by kind.

    ``kinds`` has one of each kind, whose coefficients are 0; ``kind_of`` is the kind of each instruction, and
    ``addresses`` its word.
    """

    def __init__(
        self,
        kinds: tuple[Instruction, ...],
        kind_of: NDArray[np.intp],
        addresses: array[int],
        words: array[int],
        reading: Reading,
    ) -> None:
        self.kinds = kinds
        self.kind_of = kind_of
        self.kind_list = array("I", kind_of.astype(np.uint32).tobytes())
        """The same, for loops."""
        self.addresses = addresses
        self.counts = [each.declaration.layout.coefficients for each in kinds]
        """How many coefficients an instruction of each kind has."""
        self.words, self._reading = words, reading

    def each(self, of: Callable[[Instruction], T]) -> list[T]:
        """Return for every instruction what follows from its kind."""
        return self.spread([of(kind) for kind in self.kinds])

    def spread(self, values: Sequence[T]) -> list[T]:
        """Return for every instruction the value of its kind; there is one for each kind."""
        return [values[kind] for kind in self.kind_list]

    def totals(self, executed: Sequence[int]) -> list[int]:
        """Return how often each kind was executed, from how often each instruction was."""
        found = np.zeros(len(self.kinds), np.int64)
        np.add.at(found, self.kind_of, np.array(executed, np.int64))
        return found.tolist()

    def in_order(self, executed: Sequence[int]) -> list[int]:
        """Return the kinds that were executed, in the order of the first instructions that were."""
        return list(dict.fromkeys(compress(self.kind_list, executed)))

    def places_of(self, *declarations: Declaration) -> list[tuple[int, Declaration]]:
        """Return the positions of instructions of some declarations, in order, each with its declaration."""
        among = {id(each) for each in declarations}
        wanted = np.array([id(each.declaration) in among for each in self.kinds], bool)
        places = np.flatnonzero(wanted[self.kind_of]).tolist()
        return [(index, self.kinds[self.kind_list[index]].declaration) for index in places]

    @cached_property
    def coefficients(self) -> NDArray[np.int64]:
        """The coefficients of all instructions: int64[instruction, number], else 0."""
        counts = np.array(self.counts, np.intp)[self.kind_of]
        found = np.zeros((len(counts), int(counts.max(initial=0))), np.int64)
        past = np.array(self.addresses, np.intp) + np.array([each.words for each in self.kinds], np.intp)[self.kind_of]
        code = np.frombuffer(self.words, np.uint32)
        for count in {*counts.tolist()} - {0}:
            which = np.flatnonzero(counts == count)
            at = past[which, None] + np.arange(-COEFFICIENT_WORDS * count, 0)
            halves = code[at].astype(np.uint64).reshape(len(which), count, COEFFICIENT_WORDS)
            found[which, :count] = (halves[..., 0] << np.uint64(32) | halves[..., 1]).view(np.int64)
        return found

    def sums(
        self, first: int, end: int, of_kinds: Sequence[int], wanted: Collection[int]
    ) -> tuple[int, list[int], list[int]]:
        """Return the sum of a number of each kind over instructions ``first`` to ``end - 1``, and the wanted ones.

        Of those of the ``wanted`` kinds there are the kinds, in order, and the sums before each.
        """
        if not wanted:
            return sum(map(of_kinds.__getitem__, self.kind_list[first:end])), [], []
        kinds, is_wanted = self.kind_of[first:end], np.zeros(len(self.kinds), bool)
        is_wanted[list(wanted)] = True
        numbers, there = np.array(of_kinds, np.int64)[kinds], is_wanted[kinds]
        past = np.cumsum(numbers)
        return int(past[-1]), kinds[there].tolist(), (past - numbers)[there].tolist()

    def position(self, address: int) -> int | None:
        """Return which instruction is at a word address; None where none begins there."""
        found = bisect_left(self.addresses, address)
        return found if found < len(self.addresses) and self.addresses[found] == address else None

    def words_between(self, first: int, end: int) -> bytes:
        """Return the words of instructions ``first`` to ``end - 1``."""
        past = self.addresses[end] if end < len(self.addresses) else len(self.words)
        return self.words[self.addresses[first] : past].tobytes()

    def __len__(self) -> int:
        return len(self.kind_list)

    def __getitem__(self, index: int) -> Instruction:
        kind = self.kind_list[index]
        return self._reading(self.words, self.addresses[index]) if self.counts[kind] else self.kinds[kind]

    def __iter__(self) -> Iterator[Instruction]:
        return (self[index] for index in range(len(self)))


class KindsDraft:
    """The instructions of a program under construction, by kind; it makes their words."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}
        """Of kinds, by their words."""
        self._known: dict[int, tuple[int, Instruction]] = {}
        """The same by the id of an instruction, which is kept alive here."""
        self._kinds: list[Instruction] = []
        self._kind_of: list[NDArray[np.intp]] = []
        self._coefficients: list[NDArray[np.int64]] = []

    def number(self, instruction: Instruction) -> int:
        """Return the number of an instruction's kind."""
        known = self._known.get(id(instruction))
        if known is None:
            kind, count = instruction, instruction.declaration.layout.coefficients
            if count and any(instruction.operands[-count:]):
                kind = instruction.with_coefficients((0,) * count)
            number = self._numbers.setdefault(kind.encode(), len(self._kinds))
            if number == len(self._kinds):
                self._kinds.append(kind)
            known = self._known[id(instruction)] = number, instruction
        return known[0]

    def add(self, kind_of: NDArray[np.intp], coefficients: NDArray[np.int64]) -> None:
        """Add instructions of these kinds, each with a row of coefficients."""
        self._kind_of.append(kind_of)
        self._coefficients.append(coefficients)

    def add_all(self, instructions: Sequence[Instruction]) -> None:
        """Add instructions one by one."""
        kind_of = np.array([self.number(each) for each in instructions], np.intp)
        counts = [each.declaration.layout.coefficients for each in instructions]
        coefficients = np.zeros((len(counts), max(counts, default=0)), np.int64)
        for at, (each, count) in enumerate(zip(instructions, counts, strict=True)):
            if count:
                coefficients[at, :count] = each.operands[-count:]
        self.add(kind_of, coefficients)

    def finished(self, instructions: InstructionSet[Declaration]) -> ByKind:
        """Return all that was added, in order."""
        counts = np.array([each.declaration.layout.coefficients for each in self._kinds], np.intp)
        coefficients = np.zeros((sum(map(len, self._kind_of)), int(counts.max(initial=0))), np.int64)
        kind_of, at = np.concatenate([np.zeros(0, np.intp), *self._kind_of]), 0
        for each in self._coefficients:
            coefficients[at : at + len(each), : each.shape[1]] = each
            at += len(each)
        lengths, taken = chosen([len(each.encode()) for each in self._kinds], kind_of)
        code = np.array([word for each in self._kinds for word in each.encode()], np.uint32)[taken]
        past = np.cumsum(lengths)
        halves = coefficients.astype(">i8").view(">u4").reshape(len(kind_of), -1)  # the higher one first
        for count in {*counts.tolist()} - {0}:
            which, size = np.flatnonzero(counts[kind_of] == count), COEFFICIENT_WORDS * count
            code[past[which, None] + np.arange(-size, 0)] = halves[which, :size]
        addresses = array("I", (past - lengths).astype(np.uint32).tobytes())
        found = ByKind(tuple(self._kinds), kind_of, addresses, array("I", code.tobytes()), instructions.decode)
        found.coefficients = coefficients
        return found


def kinds_of(words: Sequence[int], instructions: InstructionSet[Declaration]) -> ByKind:
    """Return the instructions that words mean, by kind; raises InputError for the first that bits mean nothing in."""
    declared, reading = instructions.by_opcode, instructions.decode
    words = words if isinstance(words, array) else array("I", words)
    code = np.frombuffer(words, np.uint32)
    length_of, key_of = [1] * 256, [1] * 256
    for opcode, declaration in declared.items():
        length_of[opcode], key_of[opcode] = declaration.words, declaration.layout.leading
    lengths = np.array(length_of, np.uint8)[code >> 24].tobytes()
    addresses = array("I")
    at, size = 0, len(words)
    while at < size:
        addresses.append(at)
        at += lengths[at]
    if at > size:
        for each in addresses:
            reading(words, each)  # the last one, if no other, ends in the middle
    heads = np.array(addresses, np.intp)
    lead = np.array(key_of, np.intp)[code[heads] >> 24]
    keys = code[heads].astype(np.uint64) << np.uint64(32)
    two = lead == _IN_KEY
    keys[two] |= code[heads[two] + 1]
    # An instruction with more words than a key holds has a unique number in place of the second.
    longer: dict[tuple[int, ...], int] = {}
    for index in np.flatnonzero(lead > _IN_KEY).tolist():
        at = addresses[index]
        keys[index] |= np.uint64(longer.setdefault(tuple(words[at : at + key_of[words[at] >> 24]]), len(longer)))
    _, firsts, kind_of = np.unique(keys, return_index=True, return_inverse=True)
    found: dict[int, Instruction] = {}
    for index in np.sort(firsts).tolist():
        found[index] = _kind_at(words, addresses[index], declared, reading)
    kinds = tuple([found[index] for index in firsts.tolist()])
    return ByKind(kinds, kind_of.reshape(-1), addresses, words, reading)


def _kind_at(words: Sequence[int], at: int, declared: Mapping[int, Declaration], reading: Reading) -> Instruction:
    """Return the instruction at a position with 0 for its coefficients."""
    declaration = declared.get(words[at] >> 24)
    if declaration is None or not declaration.layout.coefficients:
        return reading(words, at)
    leading = declaration.layout.leading
    try:
        return reading([*words[at : at + leading], *[0] * (declaration.words - leading)], 0)
    except InputError:
        reading(words, at)  # its error names the place
        raise
