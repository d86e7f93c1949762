"""Rounds: instructions that are repeated with other numbers in each round, drafted once for all rounds.

They become the same words, in the same order, as if every round had been emitted by itself; what takes long for tens of
thousands of instructions one by one (looking at operands, encoding) is done for each kind, and in columns.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from microcode.language.values import Written
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.declare import Declaration, Flow, Instruction, InstructionSet
from pixelflow.simd.isa.encoding import COEFFICIENT_WORDS, WORD_BITS

if TYPE_CHECKING:  # programs without rounds need no numpy
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PerRound", "RoundLine", "Rounds", "RoundsDraft"]


@dataclass(frozen=True, slots=True, eq=False)
class PerRound:
    """An operand that is another number in each round: int64[round]; ``of`` makes the operand of a number."""

    numbers: NDArray[np.int64]
    of: Callable[[int], Written] = int


@dataclass(frozen=True, slots=True, eq=False)
class RoundLine:
    """One line of the rounds: the rounds that it is in, and its instruction in each."""

    rounds: NDArray[np.intp]
    variants: tuple[Instruction, ...]
    """Instructions that differ in more than coefficients."""
    variant_of: NDArray[np.intp]
    """For each of its rounds."""
    coefficients: tuple[tuple[int, NDArray[np.int64]], ...]
    """Operands that are coefficients: position, and number in each of its rounds."""
    line: int
    """Number of its source line."""

    @property
    def words(self) -> int:
        """Words of one instruction."""
        return self.variants[0].words

    def encoded(self) -> NDArray[np.uint32]:
        """Return the words in each of its rounds: uint32[round, word]."""
        import numpy as np

        words = np.array([each.encode() for each in self.variants], np.uint32)[self.variant_of]
        coders, bits = self.variants[0].declaration.layout.coders, self.words * WORD_BITS
        for position, numbers in self.coefficients:
            _, shift, _, _ = coders[position].cuts[0]
            at = (bits - shift) // WORD_BITS - 1
            halves = numbers.astype(">i8").view(">u4")  # the higher one first
            words[:, at : at + COEFFICIENT_WORDS] = halves.reshape(-1, COEFFICIENT_WORDS)
        return words


class Rounds:
    """So many rounds of instructions: an element of a section, in the place of all of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.lines: list[RoundLine] = []

    @property
    def words(self) -> int:
        """Words of all rounds."""
        return sum(len(each.rounds) * each.words for each in self.lines)

    def in_order(self) -> list[RoundLine]:
        """Return the lines as they first come in the program."""
        return sorted(self.lines, key=lambda each: int(each.rounds[0]))

    def exchanged(self, change: Callable[[Instruction], Instruction]) -> Rounds:
        """Return the same rounds with other instructions of the same lengths; ``change`` gets them as they come."""
        found = copy(self)
        changed = {id(each): tuple([change(variant) for variant in each.variants]) for each in self.in_order()}
        found.lines = [replace(each, variants=changed[id(each)]) for each in self.lines]
        return found

    def encode(self) -> list[int]:
        """Return the words of all rounds."""
        import numpy as np

        lengths = np.zeros((self.count, len(self.lines)), np.intp)
        for at, each in enumerate(self.lines):
            lengths[each.rounds, at] = each.words
        starts = (np.cumsum(lengths) - lengths.reshape(-1)).reshape(lengths.shape)
        words = np.empty(int(lengths.sum()), np.uint32)
        for at, each in enumerate(self.lines):
            words[starts[each.rounds, at, None] + np.arange(each.words)] = each.encoded()
        return words.tolist()

    def line_numbers(self) -> list[int]:
        """Return the number of the source line of every instruction."""
        import numpy as np

        there = np.zeros((self.count, len(self.lines)), bool)
        for at, each in enumerate(self.lines):
            there[each.rounds, at] = True
        numbers = np.broadcast_to(np.array([each.line for each in self.lines], np.int64), there.shape)
        return numbers[there].tolist()


class RoundsDraft:
    """Rounds under construction, apart from them: who drafts a program holds its rounds."""

    def __init__(
        self,
        rounds: Rounds,
        instructions: InstructionSet[Declaration],
        instruction: Callable[[str, tuple[Written, ...], bool], Instruction],
        caller_line: Callable[[int], int],
    ) -> None:
        """``instruction`` makes one, ``caller_line`` returns the source line so many calls up."""
        self._rounds, self._instructions = rounds, instructions
        self._instruction, self._caller_line = instruction, caller_line

    def emit(
        self, mnemonic: str, *operands: Written | PerRound, gated: bool = False, where: NDArray[np.bool_] | None = None
    ) -> None:
        """Add an instruction to every round, or to those ``where`` it is wanted: bool[round].

        Raises InputError where an operand is wrong, or for control other than MARK.
        """
        import numpy as np

        rounds = np.arange(self._rounds.count) if where is None else np.flatnonzero(where)
        if not len(rounds):
            return
        columns = {at: each.numbers for at, each in enumerate(operands) if isinstance(each, PerRound)}
        if where is not None:
            columns = {at: numbers[rounds] for at, numbers in columns.items()}
        declaration = self._instructions.get(mnemonic)
        specs = () if declaration is None else declaration.operands
        coefficients = [at for at in columns if at < len(specs) and specs[at].kind.is_coefficient]
        others = [numbers for at, numbers in columns.items() if at not in coefficients]
        kinds, variant_of = np.zeros(1, np.intp), np.zeros(len(rounds), np.intp)
        if others:
            key = others[0]
            if len(others) > 1:  # rare, and slow
                _, key = np.unique(np.array(others), axis=1, return_inverse=True)
            _, kinds, variant_of = np.unique(key, return_index=True, return_inverse=True)
        variants = []
        for kind in rounds[kinds].tolist():
            given = [0 if at in coefficients else _in_round(each, kind) for at, each in enumerate(operands)]
            variants.append(self._instruction(mnemonic, tuple(given), gated))
        if variants[0].declaration.flow not in (None, Flow.STAGE):
            raise InputError(f"{mnemonic} cannot be repeated in rounds: it is control")
        own = tuple((at, np.asarray(columns[at], np.int64)) for at in coefficients)
        self._rounds.lines.append(RoundLine(rounds, tuple(variants), variant_of.reshape(-1), own, self._caller_line(1)))


def _in_round(operand: Written | PerRound, number: int) -> Written:
    return operand.of(int(operand.numbers[number])) if isinstance(operand, PerRound) else operand
