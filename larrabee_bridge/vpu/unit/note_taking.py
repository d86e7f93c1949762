"""Note taking: from blocks that threads carry out side by side to notes of one thread after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.unit.note import BasicBlocks, NoteSubscriber, RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram

__all__ = ["NoteTaking"]

_MOST_WORDS = 1 << 22
"""Words that are kept before they are handed over."""


class NoteTaking:
    """Takes down blocks of a run side by side; ``active`` are the threads that carry out what comes next.

    Lines of an instruction are int64[threads, n]: their numbers, and -1 where there is none.
    """

    def __init__(
        self, program: VectorProgram, threads: int, noted: NoteSubscriber, *, lines: bool, watched: bool
    ) -> None:
        self.watched = watched
        """Whether notes are handed over after each instruction."""
        self.active = np.arange(threads)
        self._program, self._blocks = program, BasicBlocks.of(program)
        self._threads, self._noted, self._lines = threads, noted, lines
        self._number = np.uint16 if threads <= 1 << 16 else np.int64  # of few bits, sorted in less time
        self._forget()

    def _forget(self) -> None:
        self._taken: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]] = []
        """Of each block who carried it out, how many words each has, and the words."""
        self._count = 0

    def block(self, block: int, lines: Sequence[NDArray[np.int64]]) -> None:
        """Take down a block that was carried out to its end, with the lines of each of its instructions."""
        first, touching = int(self._blocks.bounds[block]), self._blocks.touching[block]
        self._take(block, [lines[number - first] for number in touching])
        if self._count > _MOST_WORDS:
            self.hand_over()

    def instructions(self, first: int, lines: Sequence[NDArray[np.int64]]) -> None:
        """Hand over what there is, then instructions from number ``first`` on, with the lines of each."""
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
        """Hand over what was taken down, in ``blocks`` other than the program's basic ones."""
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
