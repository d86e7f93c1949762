"""Image of a core for its timing: programs, caches and works as one array, and works of tiles and PrimSets (time)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu import rotation as at
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.issue import Costs
from larrabee_bridge.vpu.notes import BasicBlocks, RunNote
from larrabee_bridge.vpu.program import LINE_BYTES, MEMORY_BYTES, VectorProgram
from larrabee_bridge.vpu.rotation import FUNCTIONS, turns_count
from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.operands import Target
from pixelflow.simd.lanes.native.plain import Longs, Words, executed, pays_natively, works_natively


def cut_words(found: Longs, ends: Longs, words: Words, starts: Longs, threads: int, accesses: Longs, block: int) -> int:
    """Write the places of a block's words in threads to ``found``, and to ``ends`` how many there are up to each.

    The words of a thread begin at ``starts``; ``accesses`` is the number of accesses of each block.
    """
    thread, out = 0, 0
    while thread < threads:
        at, past = starts[thread], starts[thread + 1]
        while at < past:
            name = words[at]
            if name == block:
                found[out] = at
                out += 1
            at += 1
            left = accesses[name]
            while left > 0:
                at += 1 + words[at]
                left -= 1
        thread += 1
        ends[thread] = out
    return out


def begins_of_block(note: RunNote, instruction: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the words of the block that begins at an instruction, and their number by thread."""
    accesses = np.array([len(each) for each in note.blocks.touching], np.int64)
    words, starts = np.ascontiguousarray(note.words, np.uint32), np.ascontiguousarray(note.starts, np.int64)
    found, ends = np.zeros(len(words), np.int64), np.zeros(len(starts), np.int64)
    given = found, ends, words, starts, len(starts) - 1, accesses, note.blocks.block_at[instruction]
    count = executed(cut_words, given, natively=pays_natively(len(words)))
    return found[:count], np.diff(ends)


# Image of a core: tables of its programs and its empty caches as one array of numbers, and the tables of one work.


Numbers = NDArray[np.int64]

CONSTANT_LINES = MEMORY_BYTES // LINE_BYTES
"""Lines of a run's memory that belong to its program: the first ones."""

_CONSTANTS = 1 << 48
"""First line of programs' constants on the modelled core, one program after the other."""


def constant_shift(program: int) -> int:
    """Return the distance of a program's constants from their place in its run, in lines."""
    return _CONSTANTS + program * CONSTANT_LINES


_NOTHING = np.zeros(0, np.int64)


class WorkTables(NamedTuple):
    """Tables of one piece of work: stretches of its threads, texture requests, dealt quads, ranges of lines.

    ``threads`` are int64[stretch, STRETCH] each, ``phases`` the number of stretches of each phase, ``unit`` the latency
    of the texture unit and the cost of a switch of fibers, ``workers`` the queue of quads that each thread takes from.
    """

    threads: Sequence[Numbers]
    phases: Numbers = _NOTHING
    requests: Numbers = _NOTHING
    deals: Numbers = _NOTHING
    ranges: Numbers = _NOTHING
    unit: tuple[int, int] = (0, 0)
    queue: int = 1
    workers: Sequence[int] = ()


class CoreImage:
    """A core with some programs; `count` times one piece of work at a time, each with empty caches (or `warm_caches`).

    With ``resident`` the programs' constants are in the L2 slice beforehand.
    """

    def __init__(
        self,
        programs: Sequence[VectorProgram],
        config: CoreConfig,
        marks: Sequence[Mapping[int, int]] = (),
        *,
        resident: bool = False,
        kept: Sequence[int] = (),
    ) -> None:
        """``marks`` are B_MARK of each program's blocks by first instruction, ``kept`` lines now in the L2 slice."""
        self.config = config
        head = np.zeros(at.HEAD, np.int64)
        self._numbers: dict[str, int] = {}
        instructions: list[Numbers] = []
        blocks: list[Numbers] = []
        code = 0
        self.blocks: list[int] = []
        """Start of each program's blocks in the table of blocks."""
        for number, program in enumerate(programs):
            begin = sum(map(len, instructions))
            instructions.append(self._instructions(program, code))
            code += -(-int(BasicBlocks.of(program).bounds[-1]) * config.instruction_bytes // LINE_BYTES)
            self.blocks.append(at.BLOCK * sum(map(len, blocks)))
            blocks.append(_blocks(program, begin, marks[number] if marks else {}))
        flat = [np.concatenate([_NOTHING, *map(np.ravel, each)]) for each in (instructions, blocks)]
        sets = {name: _sets(config, size) for name, size in _caches(config).items()}
        caches = {name: _empty(many, config.ways) for name, many in sets.items()}
        if config.caches:
            _fill(caches["code"], range(code), config.ways)
            if resident:
                _fill(caches["l2"], [*kept, *_constants(programs)], config.ways)
        self._caches = [*caches.values()]
        self._first = [_held(each, config.ways) for each in self._caches] if config.warm_caches else []
        parts = [head, *flat, *caches.values(), np.zeros(config.misses_under_way, np.int64), np.zeros(6, np.int64)]
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        places = (at.L1, at.L2, at.CODE, at.PENDING, at.DEALT)
        for place, start in zip(places, starts[3:-1], strict=True):
            head[place] = start
        self._blocks_at, head[at.TAKEN] = starts[2], head[at.DEALT] + 3
        head[at.L1_LAST], head[at.L2_LAST], head[at.CODE_LAST] = (many - 1 for many in sets.values())
        for place, value in _values(config).items():
            head[place] = value
        self._parts = parts

    def _instructions(self, program: VectorProgram, code: int) -> Numbers:
        rows, names = _table(program, self.config)
        rows = rows.copy()
        numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        places = np.array([at.T_NONE, *(at.T_REGISTERS + each for each in numbers)])
        rows[:, at.I_READS :] = places[rows[:, at.I_READS :]]
        rows[:, at.I_CODE] = code + np.arange(len(rows)) * self.config.instruction_bytes // LINE_BYTES
        return rows

    def count(self, words: NDArray[np.uint32], work: WorkTables, *, native: bool) -> Numbers:
        """Count one piece of work; return the head of the image, whose results start at END.

        Blocks and ranges of stretches are offsets into their tables. Raises InternalError for a deadlock of threads.
        """
        begin = sum(map(len, self._parts))
        threads = [each for each in work.threads if len(each)]
        size = at.T_REGISTERS + len(self._numbers)
        order = np.full((len(threads), 2), -1, np.int64)
        state = np.zeros((len(threads), size), np.int64)
        parts = [work.phases, work.requests.reshape(-1), work.deals, order.reshape(-1)]
        parts += [each.reshape(-1) for each in threads]
        starts = (begin + np.cumsum([0, *map(len, parts)])).tolist()
        phases, requests, deals, order_at, *stretches, state_at = starts
        for number, first in enumerate(stretches):
            state[number, at.T_STRETCH], state[number, at.T_STRETCHES_PAST] = first, first + threads[number].size
        order[:, 0] = state_at + size * np.arange(len(threads))
        if work.workers:
            state[:, at.T_WORKER] = [who for who, each in zip(work.workers, work.threads, strict=True) if len(each)]
        state[:, at.T_CODE] = -1
        image = np.concatenate([*self._parts, *parts, state.reshape(-1)])
        for first, each in zip(stretches, threads, strict=True):
            table = image[first : first + each.size].reshape(-1, at.STRETCH)
            table[:, at.S_BLOCKS] += self._blocks_at
            table[:, at.S_RANGES : at.S_RANGES_PAST + 1] *= at.RANGE
        places = {
            at.PHASES: phases, at.PHASE_COUNT: len(work.phases), at.REQUESTS: requests, at.DEALS: deals,
            at.ORDER: order_at, at.RUNNING: len(threads),
            at.UNIT_LATENCY: work.unit[0], at.SWITCH: work.unit[1], at.CAPACITY: work.queue,
        }  # fmt: skip
        for place, value in places.items():
            image[place] = value
        if not executed(turns_count, (image, work.ranges.reshape(-1), words), FUNCTIONS, natively=native):
            raise InternalError("the threads of a core wait for each other")
        if self.config.warm_caches:
            self._keep(image)
        return image[: at.HEAD].copy()

    def _keep(self, image: Numbers) -> None:
        """Begin the next piece of work with the lines of this one as well, all of them written to memory."""
        for place, cache, first in zip((at.L1, at.L2, at.CODE), self._caches, self._first, strict=True):
            held = _held(image[image[place] : image[place] + len(cache)], self.config.ways)
            sets = cache.reshape(len(first), -1, 2)
            for kept, resident, others in zip(sets, first, held, strict=True):
                lines = [*resident, *(line for line in others if line not in resident)][: len(kept)]
                kept[: len(lines), 0] = lines


def _caches(config: CoreConfig) -> dict[str, int]:
    return {"l1": config.l1_bytes, "l2": config.l2_bytes, "code": config.code_bytes}


def _sets(config: CoreConfig, size: int) -> int:
    return size // (LINE_BYTES * config.ways) if config.caches else 1


def _empty(sets: int, ways: int) -> Numbers:
    """Return an empty cache: for each way of each set, most recently used first, a line and its arrival."""
    return np.tile(np.array([-1, 0], np.int64), sets * ways)


def _held(cache: Numbers, ways: int) -> list[list[int]]:
    """Return the lines that each set of a cache holds, most recently used first."""
    return [[line for line in lines if line >= 0] for lines in cache.reshape(-1, ways, 2)[..., 0].tolist()]


def _fill(cache: Numbers, lines: Sequence[int], ways: int) -> None:
    """Use distinct lines of an empty cache, one after the other."""
    sets = cache.reshape(-1, ways, 2)
    used = np.array(lines, np.int64)[::-1]
    where = used % len(sets)
    order = np.argsort(where, kind="stable")
    where = where[order]
    way = np.arange(len(order)) - np.searchsorted(where, where)
    held = way < ways
    sets[where[held], way[held], 0] = used[order[held]]


def _constants(programs: Sequence[VectorProgram]) -> list[int]:
    found = []
    for number, program in enumerate(programs):
        spans = [(each.start, each.start + each.size) for each in program.ranges]
        lines = {line for first, past in spans for line in range(first // LINE_BYTES, -(-past // LINE_BYTES))}
        found += [constant_shift(number) + line for line in sorted(lines)]
    return found


def _values(config: CoreConfig) -> dict[int, int]:
    return {
        at.WAYS: config.ways, at.PENDING_COUNT: config.misses_under_way,
        at.REST: 1 if config.back_to_back else 2,
        at.CACHED: int(config.caches), at.CODE_CACHED: int(config.caches), at.L2_CYCLES: config.l2_cycles,
        at.MEMORY_CYCLES: config.memory_cycles + 2 * config.ring_cycles, at.MEMORY_LINE: config.memory_line_cycles,
        at.ADDRESS: config.address_cycles, at.MISPREDICTED: config.mispredicted_cycles,
        at.STORES_WAIT: int(config.stores_wait), at.FULL_READ: int(config.full_stores_read),
        at.WRITE_LINE: config.write_line_cycles,
    }  # fmt: skip


def _blocks(program: VectorProgram, begin: int, marks: Mapping[int, int]) -> Numbers:
    bounds = BasicBlocks.of(program).bounds
    found = np.zeros((len(bounds) - 1, at.BLOCK), np.int64)
    places = at.HEAD + at.INSTRUCTION * (begin + bounds)
    found[:, at.B_FIRST], found[:, at.B_PAST] = places[:-1], places[1:]
    for number, first in enumerate(bounds[:-1].tolist()):
        found[number, at.B_MARK] = marks.get(first, 0)
    return found


Table = tuple[Numbers, list[str]]
"""Rows of instructions without lines of code, and the names of registers, whose numbers in the rows are 1 and up."""


def _table(program: VectorProgram, config: CoreConfig) -> Table:
    """Return the table of a program; the same object for the same program and values."""
    found: Table | None = program.analyses.get(("table", config))
    if found is None:
        made: Table = program.meant(f"table {config}", tuple, lambda: _made_table(program, Costs.of(program, config)))
        found = program.analyses["table", config] = made
    return found


def _made_table(program: VectorProgram, costs: Costs) -> Table:
    numbers: dict[str, int] = {}
    rows = np.zeros((len(costs.depends), at.INSTRUCTION), np.int64)
    bounds = at.I_READS, at.I_ADDRESS, at.I_WRITES, at.INSTRUCTION
    for number, (row, depends) in enumerate(zip(rows, costs.depends, strict=True)):
        row[at.I_FLAGS], row[at.I_LATENCY] = costs.flags[number] | _flags_beside(costs, number), costs.latency[number]
        row[at.I_COUNTER] = 2 if costs.branches[number] and _leads_back(program, number) else 1
        row[at.I_LINE] = costs.config.gather_line_cycles if costs.by_offset[number] else 1
        registers = depends.reads, costs.addresses[number], depends.writes
        for names, (first, past) in zip(registers, pairwise(bounds), strict=True):
            found = [numbers.setdefault(name, len(numbers) + 1) for name in sorted(names)]
            row[first:past] = found + [0] * (past - first - len(found))  # ValueError for more than there is room for
    return rows, [*numbers]


def _flags_beside(costs: Costs, number: int) -> int:
    """Return the flags of an instruction that depend on the one before it."""
    if not number or not costs.config.dual_issue:
        return 0
    before = number - 1
    accesses = costs.flags[before] & costs.flags[number] & at.TOUCHES and not costs.config.two_accesses
    pairs = costs.either[number] and not accesses
    at_once = costs.config.flags_pair and costs.branches[number] and costs.sets_flags[before]
    return (at.PAIRS if pairs else 0) | (at.AT_ONCE if at_once else 0)


def _leads_back(program: VectorProgram, number: int) -> bool:
    instruction = program.instructions[number]
    pairs = zip(instruction.declaration.operands, instruction.operands, strict=True)
    return any(program.index_of[value] <= number for spec, value in pairs if isinstance(spec.kind, Target))


# Threads that take turns on one core, cycle by cycle; each thread's instructions are known beforehand.
#
# The instructions of a thread do not depend on time, so a run is recorded once and then timed for any number of threads
# a core and any configuration. `rotation.py` has the rules.


_COUNTED_NATIVELY_AFTER = 2_000
"""Words of a note to count in Python: native code takes some tens of milliseconds to load."""


class SharedCore(NamedTuple):
    """Account of a core."""

    cycles: int
    """Cycles until the last instruction has issued."""
    first: int
    """Cycles until the threads have left their first phase; 0 without phases."""
    issued: int
    """Cycles in which at least one instruction issued."""
    paired: int
    """Instructions that issued as the second of a pair."""
    mispredicted: int
    """Mispredicted branches."""
    l1_misses: int | None
    """Accesses whose line was not in the L1 cache; None without caches."""
    l2_misses: int | None
    """Accesses whose line was not in the L2 slice either."""
    code_misses: int | None
    """Lines of instructions that were not in the instruction cache."""
    written: int | None
    """Lines stored to that left the L2 slice for memory."""
    left: int | None
    """Lines stored to that are in the L2 slice at the end."""

    @property
    def memory_bytes(self) -> int:
        """Bytes from and to memory until the end; 0 without caches."""
        return LINE_BYTES * ((self.l2_misses or 0) + (self.written or 0))


def take_turns(
    program: VectorProgram, note: RunNote, config: CoreConfig | None = None, *, native: bool | None = None
) -> SharedCore:
    """Time the threads of a note on one core: in each cycle the next ready one, round robin, issues.

    ``native`` chooses native code; None chooses it for long notes if it works. Raises ValueError for a note without
    lines.
    """
    if not note.has_lines:
        raise ValueError("a note without lines")
    image = CoreImage([program], config or CoreConfig())
    stretches = np.zeros((len(note.threads), 1, at.STRETCH), np.int64)
    stretches[:, 0, at.S_BLOCKS] = image.blocks[0]
    stretches[:, 0, at.S_BEGIN], stretches[:, 0, at.S_PAST] = note.starts[:-1], note.starts[1:]
    stretches[:, 0, [at.S_PHASE, at.S_ASK, at.S_WAIT]] = -1
    threads = [each for each in stretches if each[0, at.S_BEGIN] < each[0, at.S_PAST]]
    if native is None:
        native = counts_natively(len(note.words))
    head = image.count(np.ascontiguousarray(note.words, np.uint32), WorkTables(threads), native=native)
    return shared_core(image.config, head)


def counts_natively(words: int) -> bool:
    """Return whether native code counts a piece of work of this many words."""
    return words > _COUNTED_NATIVELY_AFTER and works_natively()


def shared_core(config: CoreConfig, head: NDArray[np.int64]) -> SharedCore:
    """Return the account of a core from the head of its image after the threads have ended."""
    cached = (
        int(head[place]) if config.caches else None
        for place in (at.L1_MISSES, at.L2_MISSES, at.CODE_MISSES, at.WRITTEN, at.LEFT)
    )
    return SharedCore(*(int(head[place]) for place in (at.END, at.FIRST, at.ISSUED, at.PAIRED, at.WRONG)), *cached)


# Works of a core (tiles, PrimSets) as stretches of its threads: recorded during execution, timed afterwards.
#
# One core executes a work from beginning to end. The work begins with empty caches, except for data of every work of
# its kind: its programs, their constants, and private lines of the core; with `warm_caches`, as the work before ended.


FREE = -1
"""Phase of stretches that wait for no other thread."""


class Requests(NamedTuple):
    """Texture requests of works, in the order of each work: int64[request] each."""

    work: Numbers
    busy: Numbers
    misses: Numbers
    line: Numbers
    """Line of the answer on the modelled core."""
    number: Numbers
    """Within its work."""


class Queues(NamedTuple):
    """Quads that a set-up thread deals: the queue of each, in the order of its work."""

    work: Numbers
    queue: Numbers


class WorkRecord:
    """Stretches of the threads of some works; `count` times them."""

    def __init__(
        self, config: CoreConfig, *, queue: int = 1, unit: tuple[int, int] = (0, 0), workers: Sequence[int] = ()
    ) -> None:
        """``queue`` is the capacity of a queue in quads; ``unit`` and ``workers`` are those of `WorkTables`."""
        self.config, self.queue, self.unit, self.workers = config, queue, unit, tuple(workers)
        self._programs: list[VectorProgram] = []
        self._numbers: dict[str, int] = {}
        self._marks: list[Mapping[int, int]] = []
        self._words = np.zeros(1, np.uint32)
        """Of all notes, then 0, with room for more; room that was never written takes no memory of the host."""
        self._count = 0
        self._rows: list[Numbers] = []
        """For each stretch work, thread, order, number of its program, then the fields of STRETCH."""
        self._ranges: list[Numbers] = []
        self._many = 0
        self._order = 0
        self._requests: list[Requests] = []
        self._dealt: list[Queues] = []
        self.resident: set[int] = set()
        """Lines of the modelled core that start in its L2 slice."""
        self._image: tuple[int, CoreImage] | None = None
        """The core with its programs, and how many lines were resident when it was made."""

    def program(self, program: VectorProgram, marks: Mapping[int, int] | None = None) -> int:
        """Return the number of a program; ``marks`` are B_MARK of its blocks by first instruction."""
        found = self._numbers.get(program.sha256)
        if found is None:
            found = self._numbers[program.sha256] = len(self._programs)
            self._programs.append(program)
            self._marks.append(marks or {})
        return found

    def step(self) -> int:
        """Return an order number after all stretches of earlier steps."""
        self._order += 1
        return self._order << 32

    def ranges(self, program: int, others: Numbers, constants: int = CONSTANT_LINES) -> Numbers:
        """Keep lists of ranges of lines, after a program's constants: int64[list, range, RANGE], ascending each.

        A range has its end, the shift of its lines, and the size and start of their ring, or 0, or minus the size of
        records and the place of their `lines`. Returns the bounds of each list: int64[list, 2].
        """
        count, each = len(others), others.shape[1] + 1
        table = np.zeros((count, each, at.RANGE), np.int64)
        table[:, 0, : at.G_SHIFT + 1] = constants, constant_shift(program)
        table[:, 1:] = others
        self._ranges.append(table.reshape(-1, at.RANGE))
        first = self._many + each * np.arange(count)
        self._many += count * each
        return np.stack([first, first + each], axis=1)

    def lines(self, values: Numbers) -> int:
        """Keep the first lines of records that a range holds one after the other; return their place."""
        table = np.zeros((-(-len(values) // at.RANGE), at.RANGE), np.int64)
        table.reshape(-1)[: len(values)] = values
        self._ranges.append(table)
        first, self._many = self._many, self._many + len(table)
        return at.RANGE * first

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
        """Add a note with a stretch for each of its threads, or each of ``cuts``: its thread's place, begin, past.

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
        first, self._count = self._count, self._count + len(note.words)
        if self._count >= len(self._words):
            before, self._words = self._words, np.empty(2 * self._count, np.uint32)
            self._words[:first] = before[:first]
        self._words[first : self._count], self._words[self._count] = note.words, 0

    def requests(self, found: Requests) -> None:
        """Add texture requests."""
        self._requests.append(found)

    def deal(self, found: Queues) -> None:
        """Add dealt quads, after those dealt before."""
        self._dealt.append(found)

    def count(
        self,
        native: bool | None = None,
        *,
        works: Numbers | None = None,
        core: CoreImage | None = None,
        last: bool = True,
        more: bool = False,
    ) -> dict[int, SharedCore]:
        """Return the account of a core for each work, by the work's number; empties the record if it is the ``last``.

        If there will be ``more`` works, the record keeps the room for their notes.
        ``native`` is that of `take_turns`; ``works`` are the numbers of works in place of those recorded, ``core`` is
        one that has been used before.
        """
        self._rows = [np.concatenate([*self._rows, np.zeros((0, 4 + at.STRETCH), np.int64)])]
        (rows,) = self._rows
        number = rows[:, 0] if works is None else works[rows[:, 0]]
        order = np.lexsort((rows[:, 2], rows[:, 1], number))
        number = number[order]
        image = core or self._core()
        blocks = np.array(image.blocks, np.int64)
        words = self._words[: self._count + 1]
        if native is None:
            native = counts_natively(self._count)
        requests, dealt, ranges = self._tables()
        begins = np.flatnonzero(np.diff(number, prepend=-1))
        found = {}
        for begin, past in zip(begins.tolist(), np.append(begins, len(rows))[1:].tolist(), strict=True):
            part, work = rows[order[begin:past]], int(number[begin])
            part[:, 4 + at.S_BLOCKS] = blocks[part[:, 3]]
            bounds = np.searchsorted(part[:, 1], np.arange(int(part[-1, 1]) + 2))
            threads = [part[first:last, 4:] for first, last in pairwise(bounds)]
            phase = part[:, 4 + at.S_PHASE]
            tables = WorkTables(
                threads,
                phases=np.bincount(phase[phase >= 0]),
                requests=requests.get(work, _NOTHING),
                deals=dealt.get(work, _NOTHING),
                ranges=ranges,
                unit=self.unit,
                queue=self.queue,
                workers=self.workers[: len(threads)],
            )
            found[work] = shared_core(self.config, image.count(words, tables, native=native))
        if last:
            self._words, self._count = self._words if more else np.zeros(1, np.uint32), 0
            self._rows, self._ranges, self._many = [], [], 0
            self._requests, self._dealt = [], []
        return found

    def core(self) -> CoreImage:
        """Return a core with the programs so far, before its first work."""
        return CoreImage(self._programs, self.config, self._marks, resident=True, kept=sorted(self.resident))

    def _core(self) -> CoreImage:
        """Return the core, which `warm_caches` change from work to work."""
        known = self._image
        if known is None or known[0] != len(self.resident) or len(known[1].blocks) != len(self._programs):
            known = self._image = len(self.resident), self.core()
        return known[1]

    def _tables(self) -> tuple[dict[int, Numbers], dict[int, Numbers], Numbers]:
        requests: dict[int, Numbers] = {}
        if self._requests:
            names = ("work", "number", "busy", "misses", "line")
            work, number, busy, misses, line = (
                np.concatenate([getattr(each, name) for each in self._requests]) for name in names
            )
            for each in {*work.tolist()}:
                here = work == each
                table = np.zeros((int(number[here].max()) + 1, at.REQUEST), np.int64)
                for place, values in ((at.R_BUSY, busy), (at.R_MISSES, misses), (at.R_LINE, line)):
                    table[number[here], place] = values[here]
                requests[each] = table
        dealt: dict[int, Numbers] = {}
        for found in self._dealt:
            for each in {*found.work.tolist()}:
                dealt[each] = np.concatenate([dealt.get(each, _NOTHING), found.queue[found.work == each]])
        return requests, dealt, np.concatenate([np.zeros((0, at.RANGE), np.int64), *self._ranges])
