"""Runs of programs for groups as native code: on frames, by several threads for long ones, with notes.

Groups are executed one after the other. Where that could give other bits than all of them side by side (one has
written a word that another one touched), where an address leaves the memory, and where no native code can be made,
nothing has happened as far as anybody can see: registers and memory are as before, and numpy executes the run.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Meaning, Shape
from pixelflow.simd.lanes.form import places_of
from pixelflow.simd.lanes.native.group_program import NOTHING, GroupFrame, GroupProgram, most_words
from pixelflow.simd.lanes.native.toolchain import CAREFUL, HASTY
from pixelflow.simd.lanes.native.translate import CodeBuilder, Native, RunWord, Status, builder
from pixelflow.simd.lanes.numbers import record_numbers
from pixelflow.simd.lanes.words import WordsEngine
from pixelflow.simd.workers import usable_threads

_NOTE_WORDS = 1 << 21
"""Words of a note before it is handed over, unless a group may write more between two looks."""
_HELD_WORDS = 1 << 24
"""Words of notes that are held till it is known that the run is right; beyond that it is made twice."""
_COMPARED = 1 << 16
"""Words of memory that are compared together: they fit a cache, and most are touched by one thread of the host."""
_SHARE_FROM = 4_000_000
"""Steps left in a run that is worth several threads, at least: some ten milliseconds."""
_PROBE = 32
"""The share of the groups, one in this many, that shows how long the others may take."""
_CAREFUL_FROM = 8_000_000
"""Steps of a program, those of earlier runs among them, from which on it is compiled with care."""
_MOST_BYTES = 1 << 31
"""Of a memory, or more: addresses are signed numbers to the host."""
_MOST_PARTS = (1 << 63) - 1
"""The highest limit that native code knows; no run comes there."""

_TOUCHED, _WRITTEN = 0xFFFFFFFF, 1


@dataclass(frozen=True, slots=True, eq=False)
class GroupNote:
    """Notes of some groups: words of `access_text.py`, those of one group after the other."""

    groups: NDArray[np.int64]
    words: NDArray[np.uint32]
    starts: NDArray[np.int64]
    """Where the words of each group begin, then their number."""


class GroupRun(NamedTuple):
    """How a run went."""

    is_done: bool
    """True if it was made; else nothing has changed."""
    stopped: int | None = None
    """Where the lowest group was stopped that had done too many parts: a branch back. None without one."""
    meets: bool = False
    """True if it was given up because groups touch the same words of memory, and one of them writes."""


GroupNoted = Callable[[GroupNote], None]
Kept = Callable[[str, type[GroupFrame], Callable[[], GroupFrame]], GroupFrame]


class GroupRuns:
    """Runs of one program, on any number of groups."""

    def __init__(
        self,
        program: GroupProgram,
        line_bytes: int = 64,
        made_by: CodeBuilder | None = None,
        kept: Kept | None = None,
    ) -> None:
        """``kept`` returns what is made of the program by its name and class, perhaps from an earlier process."""
        self.program = program
        self._line_bits = line_bytes.bit_length() - 1
        self._builder = made_by or builder()
        self._is_native = True
        self._is_told = False
        """True if the log says that a memory is too large."""
        self.meetings = 0
        """Runs that were given up because groups touch the same words: whatever comes of them is made a second time."""
        self.straddles = False
        """True if elements were seen across the boundary of two words, which only a group alone may have."""
        self._frames: dict[frozenset[int], GroupFrame] = {}
        self._kept = kept or (lambda what, of, make: make())
        self._functions: dict[tuple[frozenset[int], int, bool, int], Native] = {}
        self._most_words: dict[int, int] = {}
        self._carried_out = 0
        """Parts that groups have executed in all runs."""

    def run(
        self,
        lanes: WordsEngine,
        limit: int,
        noting: int = NOTHING,
        noted: GroupNoted | None = None,
        threads: int | None = None,
    ) -> GroupRun:
        """Execute the program for every group, each up to the first branch back once it has done ``limit`` parts.

        ``noted`` is called with what was executed, as ``noting`` says, once it is known that all is right and
        registers and memory are as the run leaves them. Where no native code can be made, a warning of the logger says
        why, once, as it does where groups meet in memory; where it cannot be run this time, each time. Raises what
        ``noted`` raises.
        """
        if not self._is_native or not self.program.parts:
            return GroupRun(False)
        if lanes.memory.size >= _MOST_BYTES:
            if not self._is_told:
                _tell("run", f"a memory of {lanes.memory.size:,} bytes; less than {_MOST_BYTES:,} can be addressed")
            self._is_told = True
            return GroupRun(False)
        try:
            run = _Run(self, lanes, limit, noting, noted, threads or usable_threads())
        except Exception as error:  # what is not supported, and whatever LLVM, the loader or the disk find wrong
            _tell("run" if self._is_native else "made", error)
            return GroupRun(False)
        outcome = run.outcome()
        if outcome.meets and run.groups == 1:
            self.straddles = True
            return self.run(lanes, limit, noting, noted, threads)
        self.meetings += outcome.meets
        if outcome.meets and self.meetings == 1:
            _tell("run", f"{self.program.name}: groups touch the same words of memory, and one of them writes")
        return outcome

    def code(self, varying: frozenset[int], noting: int, tracked: bool) -> tuple[GroupFrame, Native]:
        """Return the layout of frames and the native code; what cannot be made once is not tried again."""
        try:
            return self.frame(varying), self.function(varying, noting, tracked)
        except Exception:
            self._is_native = False
            raise

    def frame(self, varying: frozenset[int]) -> GroupFrame:
        """Return the layout of frames, where these registers have no single value at the beginning."""
        if varying not in self._frames:
            what = f"frame for groups of {self.program.shape.group}, {sorted(varying)} vary"
            self._frames[varying] = self._kept(what, GroupFrame, lambda: GroupFrame.of(self.program, varying))
        return self._frames[varying]

    def function(self, varying: frozenset[int], noting: int, tracked: bool, expected: int = 0) -> Native:
        """Return the native code; ``expected`` is how many parts are likely to be executed now."""
        level = CAREFUL if self._carried_out + expected >= _CAREFUL_FROM else HASTY
        key = varying, noting, tracked, level
        if key not in self._functions:
            self._functions[key] = self._builder.function(
                self.program, self.frame(varying), noting, tracked, self._line_bits, level
            )
        return self._functions[key]

    def most_words(self, noting: int) -> int:
        """Return how many words a group may note from one look for room to the next."""
        if noting not in self._most_words:
            self._most_words[noting] = most_words(self.program, noting)
        return self._most_words[noting]

    def spend(self, parts: int) -> None:
        """Count parts that groups have executed."""
        self._carried_out += parts

    @property
    def line_bits(self) -> int:
        """The binary logarithm of the bytes of a line."""
        return self._line_bits


def _tell(what: str, why: Exception | str) -> None:
    """Say in the log what native code cannot be, and why."""
    text = why if isinstance(why, str) else " ".join(f"{type(why).__name__}: {why}".split())[:200]
    log = logging.getLogger(__name__.partition(".")[0])
    log.warning("note: native code cannot be %s (%s); numpy executes the program", what, text)


@dataclass(eq=False, slots=True)
class _Share:
    """Groups that one thread executes: their record, the table of whose the words are, and the note."""

    record: NDArray[np.uint64]
    noted_from: int
    table: NDArray[np.uint32] | None
    note: NDArray[np.uint32] | None = None

    def at(self, word: RunWord) -> int:
        """Return a word of the record."""
        return int(self.record[word])


class _Run:
    """One run, from the values of the lanes to their new ones."""

    def __init__(
        self, runs: GroupRuns, lanes: WordsEngine, limit: int, noting: int, noted: GroupNoted | None, threads: int
    ) -> None:
        self.runs, self.lanes, self.noting, self.noted, self.threads = runs, lanes, noting, noted, threads
        self.limit = math.ceil(min(max(limit, 0), _MOST_PARTS))
        self.program, self.memory = runs.program, lanes.memory
        self.groups = lanes.shape.lanes // lanes.shape.group
        self.values = lanes.values()
        shape, places = lanes.shape, self.program.places
        varying = frozenset(
            places[name]
            for name, value in (*self.values.words.items(), *self.values.flags.items())
            if name not in shape.masks and value.shape[1] > 1 and (value != value[:, :1]).any()
        )
        # A single group shares words with no other, but takes the code for several: compiling more would take longer.
        shared = self.memory.sets == 1 and not (self.groups == 1 and runs.straddles)
        self.tracked = shared and self.program.writes_memory
        self.varying = varying
        self.frame, self.function = runs.code(varying, noting, self.tracked)
        self.literals = np.array([*self.program.literals, 0], np.uint32)
        self.reserve = runs.most_words(noting)
        self.data, self.frames = self.memory.data, np.zeros(0, np.uint32)
        self.starts = np.zeros(self.groups + 1, np.int64)
        self.stopped: list[int] = []

    def outcome(self) -> GroupRun:
        """Make the run; see `GroupRuns.run`."""
        data = self.memory.data
        before: NDArray[np.uint8] | None = None
        held: list[GroupNote] | None = []
        words = 0
        try:
            before = self.memory.copied() if self.program.writes_memory else data
            for note in self._notes(data):
                words += note.words.size
                if held is not None:
                    held.append(note)
                if words > _HELD_WORDS:
                    held = None  # too many to keep: they are made again
            notes = None if held is None else [self._joined(held)] if held else []
            values = self.frame.taken(self.frames)
            self.runs.spend(self._done(self.groups))
        except BaseException as error:
            if before is not None:
                data[:] = before
            if not isinstance(error, Exception):
                raise
            if not isinstance(error, _NotRightError):
                _tell("run", error)
            return GroupRun(False, meets=isinstance(error, _MeetingError))
        result = GroupRun(True, int(self.frames[min(self.stopped), 1]) if self.stopped else None)
        # The state is now final. Notes that are still missing are made again on the state before.
        self.lanes.set_values(values)
        for note in self._notes(before) if notes is None else notes:
            if self.noted is not None and note.groups.size:
                self.noted(note)
        return result

    def _joined(self, notes: list[GroupNote]) -> GroupNote:
        """Return the notes of all groups as one."""
        if len(notes) == 1:
            return notes[0]
        notes = sorted(notes, key=lambda note: int(note.groups[0]) if note.groups.size else -1)
        counts = np.zeros(self.groups, np.int64)
        for note in notes:
            counts[note.groups] += np.diff(note.starts)
        words = np.concatenate([note.words for note in notes])
        return GroupNote(np.arange(self.groups), words, np.concatenate([[0], np.cumsum(counts)]))

    # --- shares ---------------------------------------------------------------------------------------------

    def _notes(self, data: NDArray[np.uint8]) -> Iterator[GroupNote]:
        """Execute all groups from their beginning on a memory's bytes; yield notes, as far as any are taken."""
        self.data = data
        self.frames = self.frame.filled(self.values, self.groups)
        self.stopped = []
        alone = self._share(0, self.groups)
        if self.groups < 2:
            yield from self._carried_out([alone], self.groups)
            return
        probe = -(-self.groups // _PROBE)
        yield from self._carried_out([alone], probe, goes_on=True)
        done, rest = self._done(probe), self.groups - probe
        self.function = self.runs.function(self.varying, self.noting, self.tracked, done * self.groups // probe)
        if self.threads == 1 or done * rest < _SHARE_FROM * probe:
            yield from self._carried_out([alone], self.groups)
            return
        # The first one continues with the table that it has.
        edges = [probe + rest * number // self.threads for number in range(self.threads + 1)]
        others = [self._share(first, past) for first, past in pairwise(edges[1:])]
        yield from self._carried_out([alone, *others], edges[1])
        self._compare([share.table for share in (alone, *others) if share.table is not None])

    def _done(self, groups: int) -> int:
        """Return how many parts the first groups have executed."""
        return int(self.frames.view(np.uint64)[:groups, 1].sum())

    def _share(self, first: int, past: int) -> _Share:
        table = np.zeros(self.memory.size // 4 + 1, np.uint32) if self.tracked else None
        record = np.zeros(len(RunWord), np.uint64)
        share = _Share(record, first, table)
        own = self.memory.sets > 1
        lines = -(-self.memory.size >> self.runs.line_bits) if own else 0
        words = {
            RunWord.FRAMES: self.frames.ctypes.data,
            RunWord.FRAME_BYTES: self.frame.bytes,
            RunWord.NEXT: first,
            RunWord.PAST: past,
            RunWord.MEMORY: self.data.ctypes.data,
            RunWord.MEMORY_BYTES: self.memory.size if own else 0,
            RunWord.SIZE: self.memory.size,
            RunWord.LITERALS: self.literals.ctypes.data,
            RunWord.TABLE: 0 if table is None else table.ctypes.data,
            RunWord.STARTS: self.starts.ctypes.data,
            RunWord.LIMIT: self.limit,
            RunWord.LIMITED: (1 << 64) - 1,
            RunWord.LINES: lines,
        }
        for word, value in words.items():
            record[word] = value
        if self.noting:
            self._begin_note(share)
        return share

    def _begin_note(self, share: _Share) -> None:
        """Give a share room for a note that begins with the group that is next."""
        note = share.note = np.empty(max(_NOTE_WORDS, 2 * self.reserve) + 2 * self.reserve, np.uint32)
        share.noted_from = share.at(RunWord.NEXT)
        share.record[[RunWord.NOTE, RunWord.NOTE_BEGIN]] = note.ctypes.data
        share.record[RunWord.NOTE_END] = note.ctypes.data + 4 * (note.size - 2 * self.reserve)

    def _carried_out(self, shares: list[_Share], past: int, *, goes_on: bool = False) -> Iterator[GroupNote]:
        """Execute shares, the first one up to the group ``past``; yield notes that are full, or all at the end."""
        shares[0].record[RunWord.PAST] = past
        going = shares
        while going:
            if len(going) == 1:
                results = [self.function(going[0].record.ctypes.data)]
            else:
                addresses = [share.record.ctypes.data for share in going]
                with ThreadPoolExecutor(len(going)) as pool:
                    results = list(pool.map(self.function, addresses))
            if Status.FAULT in results:  # which numpy finds again, and words
                raise _NotRightError
            if Status.CONFLICT in results:
                raise _MeetingError
            for share, status in zip(going, results, strict=True):
                if share.note is not None and (status == Status.FULL or not goes_on):
                    yield self._note(share, share.note)
                    if status == Status.FULL:
                        self._begin_note(share)
            going = [share for share, status in zip(going, results, strict=True) if status == Status.FULL]
        self.stopped += [
            int(limited) for share in shares if (limited := share.record.view(np.int64)[RunWord.LIMITED]) >= 0
        ]

    def _note(self, share: _Share, note: NDArray[np.uint32]) -> GroupNote:
        """Return what a share has noted."""
        first, last = share.noted_from, min(share.at(RunWord.NEXT), share.at(RunWord.PAST) - 1)
        count = (share.at(RunWord.NOTE) - share.at(RunWord.NOTE_BEGIN)) // 4
        note.resize(count, refcheck=False)  # the room that is left goes to others
        return GroupNote(np.arange(first, last + 1), note, np.append(self.starts[first : last + 1], count))

    def _compare(self, tables: list[NDArray[np.uint32]]) -> None:
        """Refuse the run where threads of the host have touched the same words and one of them has written."""
        for begin in range(0, len(tables[0]) if tables else 0, _COMPARED):
            parts = (table[begin : begin + _COMPARED] for table in tables)
            for some, other in combinations([part for part in parts if part.any()], 2):
                if ((some | other) & _WRITTEN)[(some != 0) & (other != 0)].any():
                    raise _MeetingError


class _NotRightError(Exception):
    """The result may differ from that of all groups side by side."""


class _MeetingError(_NotRightError):
    """Groups have touched the same words of memory, and one has written."""


# Stretches of straight code: each becomes a program once enough of it was executed; numpy executes the rest.


_STOPPED = 0xFFFFFFFF


class Stretches:
    """Native code for stretches of a program's instructions, none of which branches."""

    def __init__(self, shape: Shape, following: str, worth: int, meaning: Callable[[int], Meaning | None]) -> None:
        """``meaning`` returns what an instruction does, None for one that native code is not made for.

        ``following`` is the register of the next address; ``worth`` is instructions times groups after which a stretch
        is compiled: about what numpy executes in the meantime.
        """
        self._shape, self._following, self._worth, self._meaning = shape, following, worth, meaning
        self._runs: dict[tuple[int, int], GroupRuns | None] = {}
        self._done: dict[tuple[int, int], int] = {}

    def execute(self, lanes: WordsEngine, first: int, past: int, groups: int, *, at_once: bool) -> bool:
        """Execute a stretch natively in all groups; return False, with nothing changed, where that is not possible.

        ``at_once`` compiles it the first time, whether or not it is worth it.
        """
        key = first, past
        if key not in self._runs:
            self._done[key] = self._done.get(key, 0) + (past - first) * groups
            if self._done[key] < self._worth and not at_once:
                return False
            self._runs[key] = self._made(first, past)
        runs = self._runs[key]
        return runs is not None and runs.run(lanes, past - first).is_done

    def _made(self, first: int, past: int) -> GroupRuns | None:
        meanings = [self._meaning(number) for number in range(first, past)]
        places = places_of(self._shape)
        parts = [record_numbers(meaning, places) for meaning in meanings if meaning is not None]
        if not parts or len(parts) < len(meanings):
            return None
        return GroupRuns(
            GroupProgram(
                shape=self._shape,
                parts=parts,
                branches=[False] * len(parts),
                addresses=range(len(parts) + 1),
                following=self._following,
                stopped=_STOPPED,
                begins=[0],
            )
        )
