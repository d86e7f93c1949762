"""Works of a core (tiles, PrimSets) as stretches of its threads: recorded while they are carried out, timed after that.

A work is what one core does from beginning to end. Its threads take turns (`turns/rotation.py`); it begins with empty
caches, but for what every work of its kind uses: its programs, their constants, and lines that a core keeps for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.image import CONSTANT_LINES, CoreImage, WorkTables, constant_shift
from larrabee_bridge.vpu.core.threads import SharedCore, counts_natively, shared_core
from larrabee_bridge.vpu.core.turns import places as at
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram

__all__ = ["FREE", "Queues", "Requests", "WorkRecord"]

Numbers = NDArray[np.int64]

FREE = -1
"""The phase of what waits for no other thread."""


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Texture requests of works, in the order of each work: int64[request] each."""

    work: Numbers
    busy: Numbers
    misses: Numbers
    line: Numbers
    """Of the answer, on the modelled core."""
    number: Numbers
    """Within its work."""


@dataclass(frozen=True, slots=True, eq=False)
class Queues:
    """Quads that a set-up thread deals: for each, in its work's order, the queue that it goes to."""

    work: Numbers
    queue: Numbers


class WorkRecord:
    """Stretches of the threads of some works; `count` times them."""

    def __init__(
        self, config: CoreConfig, *, queue: int = 1, unit: tuple[int, int] = (0, 0), workers: Sequence[int] = ()
    ) -> None:
        """``queue`` quads fit each queue, ``unit`` is the latency of texels and what a switch of fibers costs.

        ``workers`` says which queue each thread takes from.
        """
        self.config, self.queue, self.unit, self.workers = config, queue, unit, tuple(workers)
        self._programs: list[VectorProgram] = []
        self._numbers: dict[str, int] = {}
        self._marks: list[Mapping[int, int]] = []
        self._words: list[NDArray[np.uint32]] = []
        self._count = 0
        self._rows: list[Numbers] = []
        """Of each stretch work, thread, order, number of its program, then as `places.STRETCH` has it."""
        self._ranges: list[Numbers] = []
        self._many = 0
        self._order = 0
        self._requests: list[Requests] = []
        self._dealt: list[Queues] = []
        self.resident: set[int] = set()
        """Lines on the modelled core that are in its L2 slice beforehand."""

    def program(self, program: VectorProgram, marks: Mapping[int, int] | None = None) -> int:
        """Return the number of a program; ``marks`` say what blocks that begin at an instruction do with quads."""
        found = self._numbers.get(program.sha256)
        if found is None:
            found = self._numbers[program.sha256] = len(self._programs)
            self._programs.append(program)
            self._marks.append(marks or {})
        return found

    def step(self) -> int:
        """Return a number for stretches that come after all those of earlier steps."""
        self._order += 1
        return self._order << 32

    def ranges(self, program: int, others: Numbers, constants: int = CONSTANT_LINES) -> Numbers:
        """Keep lists of ranges of lines, past a program's constants: int64[list, range, RANGE], ascending each.

        A range is up to which line it goes, how much further these lie, and the size and beginning of the ring that
        they lie in, where there is one. Returns of each list its first and past number: int64[list, 2].
        """
        count, each = len(others), others.shape[1] + 1
        table = np.zeros((count, each, at.RANGE), np.int64)
        table[:, 0, : at.G_SHIFT + 1] = constants, constant_shift(program)
        table[:, 1:] = others
        self._ranges.append(table.reshape(-1, at.RANGE))
        first = self._many + each * np.arange(count)
        self._many += count * each
        return np.stack([first, first + each], axis=1)

    def add(
        self,
        program: int,
        note: RunNote,
        work: Numbers,
        thread: Numbers,
        order: Numbers,
        ranges: Numbers,
        *,
        phase: int = FREE,
        own: Numbers | None = None,
        cuts: tuple[Numbers, Numbers, Numbers] | None = None,
        ask: Numbers | int = -1,
        wait: Numbers | int = -1,
    ) -> None:
        """Add stretches, one for each thread of a note, or one for each of ``cuts``: its thread's place, begin, past.

        ``work``, ``thread`` and ``order`` are int64[stretch], ``ranges`` int64[stretch, 2], ``own`` int64[stretch, 3].
        """
        begin, past = (note.starts[:-1], note.starts[1:]) if cuts is None else cuts[1:]
        rows = np.zeros((len(begin), 4 + at.STRETCH), np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = work, thread, order, program
        inner = rows[:, 4:]
        inner[:, at.S_BEGIN], inner[:, at.S_PAST] = begin + self._count, past + self._count
        inner[:, at.S_RANGES : at.S_RANGES_PAST + 1] = ranges
        if own is not None:
            inner[:, at.S_OWN : at.S_OWN_SHIFT + 1] = own
        inner[:, at.S_PHASE], inner[:, at.S_ASK], inner[:, at.S_WAIT] = phase, ask, wait
        self._rows.append(rows)

    def words(self, note: RunNote) -> None:
        """Keep the words of a note, whose stretches have been added."""
        self._words.append(note.words)
        self._count += len(note.words)

    def requests(self, found: Requests) -> None:
        """Add texture requests."""
        self._requests.append(found)

    def deal(self, found: Queues) -> None:
        """Add quads that are dealt, past those that were dealt before."""
        self._dealt.append(found)

    def count(self, native: bool | None = None) -> dict[int, SharedCore]:
        """Return what a core did for each work, by the work's number; the record is empty afterwards.

        ``native`` says whether native code counts; None, where it works and there is much to count.
        """
        rows = np.concatenate([*self._rows, np.zeros((0, 4 + at.STRETCH), np.int64)])
        rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
        image = CoreImage(self._programs, self.config, self._marks, resident=True, kept=sorted(self.resident))
        rows[:, 4 + at.S_BLOCKS] = np.array(image.blocks, np.int64)[rows[:, 3]] if len(rows) else 0
        words = np.concatenate([*self._words, np.zeros(1, np.uint32)]).astype(np.uint32, copy=False)
        if native is None:
            native = counts_natively(len(words))
        requests, dealt, ranges = self._tables()
        begins = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
        found = {}
        for begin, past in zip(begins.tolist(), np.append(begins, len(rows))[1:].tolist(), strict=True):
            part = rows[begin:past]
            work = int(part[0, 0])
            bounds = np.searchsorted(part[:, 1], np.arange(int(part[-1, 1]) + 2))
            threads = [part[first:last, 4:] for first, last in pairwise(bounds)]
            phase = part[:, 4 + at.S_PHASE]
            tables = WorkTables(
                threads,
                phases=np.bincount(phase[phase >= 0]),
                requests=requests.get(work),
                deals=dealt.get(work),
                ranges=ranges,
                unit=self.unit,
                queue=self.queue,
                workers=self.workers[: len(threads)],
            )
            found[work] = shared_core(self.config, image.count(words, tables, native=native))
        self._rows, self._words, self._count, self._ranges, self._many = [], [], 0, [], 0
        self._requests, self._dealt = [], []
        return found

    def _tables(self) -> tuple[dict[int, Numbers], dict[int, Numbers], Numbers]:
        requests: dict[int, Numbers] = {}
        if self._requests:
            names = ("work", "number", "busy", "misses", "line")
            work, number, busy, misses, line = (
                np.concatenate([getattr(each, name) for each in self._requests]) for name in names
            )
            for each in np.unique(work).tolist():
                here = work == each
                table = np.zeros((int(number[here].max()) + 1, at.REQUEST), np.int64)
                for place, values in ((at.R_BUSY, busy), (at.R_MISSES, misses), (at.R_LINE, line)):
                    table[number[here], place] = values[here]
                requests[each] = table
        dealt: dict[int, Numbers] = {}
        for found in self._dealt:
            for each in np.unique(found.work).tolist():
                queue = found.queue[found.work == each]
                dealt[each] = np.concatenate([dealt[each], queue]) if each in dealt else queue
        return requests, dealt, np.concatenate([np.zeros((0, at.RANGE), np.int64), *self._ranges])
