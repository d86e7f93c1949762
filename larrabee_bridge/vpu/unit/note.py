"""Notes of what threads carried out: which basic blocks, one after the other, and how many lines they touched.

Engines write notes and whoever works out times reads them; a note knows no values and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.unit.program import VectorProgram
from pixelflow.simd.isa.operands import Target

__all__ = ["BasicBlocks", "NoteSubscriber", "RunNote", "Step"]

Step = tuple[int, tuple[int, ...]]
"""Number of an instruction, and the lines that it touched."""


@dataclass(frozen=True, slots=True, eq=False)
class BasicBlocks:
    """Basic blocks of a program, in its order: each ends after a branch and before what a branch leads to."""

    bounds: NDArray[np.int64]
    """Where each begins, as the number of an instruction, then the number of all: int64[blocks + 1]."""
    touching: tuple[tuple[int, ...], ...]
    """Of each block the instructions that touch memory, ascending."""
    block_at: dict[int, int]
    """The block that begins at an instruction."""

    @classmethod
    def of(cls, program: VectorProgram) -> BasicBlocks:
        """Return the basic blocks of a program; the same object for the same program."""
        found = program.analyses.get("basic blocks")
        if found is None:
            begins = {0, len(program.instructions)}
            for number, each in enumerate(program.instructions):
                if each.declaration.family is VectorFamily.BRANCH:
                    begins.add(number + 1)
                arguments = zip(each.declaration.operands, each.operands, strict=True)
                begins |= {program.index_of[value] for spec, value in arguments if isinstance(spec.kind, Target)}
            found = program.analyses["basic blocks"] = cls._made(program, sorted(begins))
        return found

    @classmethod
    def single(cls, program: VectorProgram) -> BasicBlocks:
        """Return blocks of one instruction each; the same object for the same program."""
        found = program.analyses.get("single instructions")
        if found is None:
            begins = list(range(len(program.instructions) + 1))
            found = program.analyses["single instructions"] = cls._made(program, begins)
        return found

    @classmethod
    def _made(cls, program: VectorProgram, begins: list[int]) -> BasicBlocks:
        memory = [each.memory for each in program.effects]
        touching = tuple(
            tuple(number for number in range(first, past) if memory[number]) for first, past in pairwise(begins)
        )
        return cls(np.array(begins, np.int64), touching, {at: block for block, at in enumerate(begins[:-1])})


@dataclass(frozen=True, slots=True, eq=False)
class RunNote:
    """What threads carried out, or a part of it: later notes go on where this one ends.

    The words of a thread are, for each block that it carried out to its end: the number of the block, then for each
    instruction of it that touches memory, in order, how many cache lines that touched (0 where no lane was enabled),
    each followed, where ``has_lines``, by so many numbers of lines, each once and ascending. A block that a fault cut
    short comes in a note of its own, whose blocks are single instructions.
    """

    blocks: BasicBlocks
    threads: NDArray[np.int64]
    """Which threads of the unit, each once, ascending: int64[n]."""
    words: NDArray[np.uint32]
    """Of one thread after the other."""
    starts: NDArray[np.int64]
    """Where the words of each begin, then their number: int64[n + 1]."""
    has_lines: bool = False

    @classmethod
    def joined(cls, notes: Sequence[RunNote]) -> RunNote:
        """Return notes that go on after each other as one.

        Raises ValueError without notes, and for notes of different blocks or with lines and without.
        """
        if not notes:
            raise ValueError("no notes")
        first = notes[0]
        if any(each.blocks is not first.blocks or each.has_lines != first.has_lines for each in notes):
            raise ValueError("notes of one kind go on after each other")
        if len(notes) == 1:
            return first
        owners = np.concatenate([np.repeat(each.threads, np.diff(each.starts).astype(np.intp)) for each in notes])
        threads = np.unique(np.concatenate([each.threads for each in notes]))
        order = np.argsort(owners, kind="stable")
        starts = np.append(np.searchsorted(owners[order], threads), len(owners))
        words = np.concatenate([each.words for each in notes])[order]
        return cls(first.blocks, threads, words, starts, first.has_lines)

    def one_after_the_other(self, groups: Sequence[Sequence[int]]) -> RunNote:
        """Return a note of as many threads, each of which carries out what those at some places did, in turn."""
        parts = [[self.words[self.starts[place] : self.starts[place + 1]] for place in group] for group in groups]
        threads = [np.concatenate([*each, self.words[:0]]) for each in parts]
        starts = np.cumsum([0, *map(len, threads)])
        words = np.concatenate([*threads, self.words[:0]])
        return RunNote(self.blocks, np.arange(len(threads)), words, starts, self.has_lines)

    def steps(self, place: int) -> Iterator[Step]:
        """Yield what the thread at ``place`` of ``threads`` carried out, instruction by instruction.

        Raises ValueError where lines were not noted.
        """
        bounds = self.blocks.bounds.tolist()
        for block, accesses in self._blocks(place):
            first = bounds[block]
            for access in accesses:
                yield from ((number, ()) for number in range(first, access[0]))
                yield access
                first = access[0] + 1
            yield from ((number, ()) for number in range(first, bounds[block + 1]))

    def accesses(self, place: int) -> Iterator[Step]:
        """Yield those of its `steps` that touch memory; raises ValueError as they do."""
        return (access for _, accesses in self._blocks(place) for access in accesses)

    def _blocks(self, place: int) -> Iterator[tuple[int, list[Step]]]:
        if not self.has_lines:
            raise ValueError("a note without lines")
        words = self.words[self.starts[place] : self.starts[place + 1]].tolist()
        at = 0
        while at < len(words):
            block, accesses = words[at], []
            at += 1
            for number in self.blocks.touching[block]:
                past = at + 1 + words[at]
                accesses.append((number, tuple(words[at + 1 : past])))
                at = past
            yield block, accesses


NoteSubscriber = Callable[[RunNote], None]
"""Called with each note of a run."""
