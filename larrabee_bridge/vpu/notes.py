"""Notes of executed threads: their basic blocks in order, and the lines that these touched.

Engines write notes and the models of time read them; a note has no values and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.program import VectorProgram
from pixelflow.simd.isa.operands import Target

Step = tuple[int, tuple[int, ...]]
"""Number of an instruction, and the lines that it touched."""


class BasicBlocks(NamedTuple):
    """Basic blocks of a program, in its order: each ends after a branch and before what a branch leads to."""

    bounds: NDArray[np.int64]
    """First instruction of each, then the number of instructions: int64[blocks + 1]."""
    touching: tuple[tuple[int, ...], ...]
    """Instructions of each block that touch memory, ascending."""
    block_at: dict[int, int]
    """The block that begins at an instruction."""

    @classmethod
    def of(cls, program: VectorProgram) -> BasicBlocks:
        """Return the basic blocks of a program; the same object for the same program."""
        found = program.analyses.get("basic blocks")
        if found is None:
            made = program.meant("basic blocks", cls, lambda: cls._made(program, _begins(program)))
            found = program.analyses["basic blocks"] = made
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
        memory = [each.memory for each in program.dependences]
        touching = tuple(
            tuple(number for number in range(first, past) if memory[number]) for first, past in pairwise(begins)
        )
        return cls(np.array(begins, np.int64), touching, {at: block for block, at in enumerate(begins[:-1])})


def _begins(program: VectorProgram) -> list[int]:
    begins = {0, len(program.instructions)}
    for number, each in enumerate(program.instructions):
        if each.declaration.family is VectorFamily.BRANCH:
            begins.add(number + 1)
        arguments = zip(each.declaration.operands, each.operands, strict=True)
        begins |= {program.index_of[value] for spec, value in arguments if isinstance(spec.kind, Target)}
    return sorted(begins)


class RunNote(NamedTuple):
    """Execution of threads, or a part of it: later notes continue where this one ends.

    The words of a thread are, for each block that it executed to its end: the number of the block, then for each
    instruction of it that touches memory, in order, how many cache lines that touched (0 where no lane was enabled),
    each followed, where ``has_lines``, by this many numbers of lines, each once and ascending. A block that a fault cut
    short comes in a separate note, whose blocks are single instructions.
    """

    blocks: BasicBlocks
    threads: NDArray[np.int64]
    """Threads of the unit, each once, ascending: int64[n]."""
    words: NDArray[np.uint32]
    """Thread by thread."""
    starts: NDArray[np.int64]
    """Start of each thread's words, then their number: int64[n + 1]."""
    has_lines: bool = False

    @classmethod
    def joined(cls, notes: Sequence[RunNote]) -> RunNote:
        """Return consecutive notes as one.

        Raises ValueError without notes, and for notes of different blocks or with lines and without.
        """
        if not notes:
            raise ValueError("no notes")
        first = notes[0]
        if any(each.blocks is not first.blocks or each.has_lines != first.has_lines for each in notes):
            raise ValueError("joined notes are of one kind")
        if len(notes) == 1:
            return first
        pieces = [each.words[begin:past] for each in notes for begin, past in pairwise(each.starts.tolist())]
        owners = np.concatenate([each.threads for each in notes])
        order = np.argsort(owners, kind="stable")
        words = np.concatenate([pieces[at] for at in order.tolist()])
        threads, begins = np.unique(owners[order], return_index=True)
        past = np.cumsum([0, *(len(pieces[at]) for at in order.tolist())])
        return cls(first.blocks, threads, words, past[np.append(begins, len(order))], first.has_lines)

    def part(self, first: int, past: int) -> RunNote:
        """Return the note of the threads at some places, one after the other."""
        starts = self.starts[first : past + 1]
        words = self.words[starts[0] : starts[-1]]
        return RunNote(self.blocks, self.threads[first:past], words, starts - starts[0], self.has_lines)

    def one_after_the_other(self, groups: Sequence[Sequence[int]]) -> RunNote:
        """Return a note with a thread for each group of places, which executes the work of those threads in turn."""
        parts = [[self.words[self.starts[place] : self.starts[place + 1]] for place in group] for group in groups]
        threads = [np.concatenate([*each, self.words[:0]]) for each in parts]
        starts = np.cumsum([0, *map(len, threads)])
        words = np.concatenate([*threads, self.words[:0]])
        return RunNote(self.blocks, np.arange(len(threads)), words, starts, self.has_lines)

    def steps(self, place: int) -> Iterator[Step]:
        """Yield the instructions of the thread at ``place`` of ``threads``; raises ValueError without lines."""
        bounds = self.blocks.bounds.tolist()
        for block, accesses in self._blocks(place):
            first = bounds[block]
            for access in accesses:
                yield from ((number, ()) for number in range(first, access[0]))
                yield access
                first = access[0] + 1
            yield from ((number, ()) for number in range(first, bounds[block + 1]))

    def accesses(self, place: int) -> Iterator[Step]:
        """Yield those of its `steps` that touch memory; raises ValueError without lines."""
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


# Note taking: from blocks that threads execute side by side to notes thread by thread.


_MOST_WORDS = 1 << 22
"""Words to collect before handing them over."""


class NoteTaking:
    """Recorder of blocks of a run side by side; ``active`` are the threads that execute next.

    Lines of an instruction are int64[threads, n]: their numbers, or -1.
    """

    def __init__(
        self, program: VectorProgram, threads: int, noted: NoteSubscriber, *, lines: bool, watched: bool
    ) -> None:
        self.watched = watched
        """True if notes are handed over after each instruction."""
        self.active = np.arange(threads)
        self._program, self._blocks = program, BasicBlocks.of(program)
        self._threads, self._noted, self._lines = threads, noted, lines
        self._number = np.uint16 if threads <= 1 << 16 else np.int64  # of few bits, sorted in less time
        self._forget()

    def _forget(self) -> None:
        self._taken: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]] = []
        """For each block its threads, the number of words of each, and the words."""
        self._count = 0

    def block(self, block: int, lines: Sequence[NDArray[np.int64]]) -> None:
        """Record a block that was executed to its end, with the lines of each of its instructions."""
        first, touching = int(self._blocks.bounds[block]), self._blocks.touching[block]
        self._take(block, [lines[number - first] for number in touching])
        if self._count > _MOST_WORDS:
            self.hand_over()

    def instructions(self, first: int, lines: Sequence[NDArray[np.int64]]) -> None:
        """Hand over the record, then the instructions starting with ``first``, with the lines of each."""
        self.hand_over()
        single = BasicBlocks.single(self._program)
        for number, each in enumerate(lines, first):
            self._take(number, [each] if single.touching[number] else [])
        self.hand_over(single)

    def _take(self, block: int, lines: Sequence[NDArray[np.int64]]) -> None:
        who = self.active
        columns = [np.full((len(who), 1), block, np.int64)]
        for each in lines:
            found = each if len(who) == self._threads else each[who]
            columns.append((found >= 0).sum(axis=1, keepdims=True))
            if self._lines:
                columns.append(found)
        table = np.concatenate(columns, axis=1) if len(columns) > 1 else columns[0]
        if self._lines:
            there = table >= 0
            lengths, words = there.sum(axis=1), table[there]
        else:
            lengths, words = np.full(len(who), table.shape[1]), table.reshape(-1)
        self._taken.append((who, lengths, words.astype(np.uint32)))
        self._count += len(words)

    def hand_over(self, blocks: BasicBlocks | None = None) -> None:
        """Hand over the record, in the program's basic blocks unless ``blocks`` are given."""
        if not self._count:
            return
        threads, lengths, words = self._taken[0]
        if len(self._taken) > 1:
            owners = np.concatenate(
                [np.repeat(who.astype(self._number), many.astype(np.intp)) for who, many, _ in self._taken]
            )
            words = np.concatenate([each for _, _, each in self._taken])[np.argsort(owners, kind="stable")]
            threads, lengths = np.arange(self._threads), np.bincount(owners, minlength=self._threads)
        starts = np.zeros(len(threads) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        self._forget()
        threads = threads.astype(np.int64, copy=False)
        self._noted(RunNote(blocks or self._blocks, threads, words, starts, self._lines))
