"""Image of a core: tables of its programs and its empty caches as one array of numbers, and what one work adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.costs import Costs
from larrabee_bridge.vpu.core.turns import places as at
from larrabee_bridge.vpu.core.turns.rotation import FUNCTIONS, turns_count
from larrabee_bridge.vpu.unit.note import BasicBlocks
from larrabee_bridge.vpu.unit.program import LINE_BYTES, MEMORY_BYTES, VectorProgram
from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.operands import Target
from pixelflow.simd.native.plain import compiled

__all__ = ["CONSTANT_LINES", "CoreImage", "WorkTables", "constant_shift"]

Numbers = NDArray[np.int64]

CONSTANT_LINES = MEMORY_BYTES // LINE_BYTES
"""Lines at the beginning of a run's memory that belong to its program."""

_CONSTANTS = 1 << 48
"""Where the constants of programs lie on the modelled core, each past the one before."""


def constant_shift(program: int) -> int:
    """Return how far the constants of a program lie from where its run has them, in lines."""
    return _CONSTANTS + program * CONSTANT_LINES


class WorkTables:
    """What one piece of work adds to an image: stretches of its threads, requests, dealt quads, ranges of lines."""

    def __init__(
        self,
        threads: Sequence[Numbers],
        *,
        phases: Numbers | None = None,
        requests: Numbers | None = None,
        deals: Numbers | None = None,
        ranges: Numbers | None = None,
        unit: tuple[int, int] = (0, 0),
        queue: int = 1,
        workers: Sequence[int] = (),
    ) -> None:
        """``threads`` are int64[stretch, STRETCH] each, ``phases`` how many stretches each phase has.

        ``unit`` is the latency of the texture unit and what a switch of fibers costs; ``workers`` says of each thread
        which queue of quads it takes from, of those that take some.
        """
        nothing = np.zeros(0, np.int64)
        self.threads = threads
        self.phases = nothing if phases is None else phases
        self.requests = nothing if requests is None else requests
        self.deals = nothing if deals is None else deals
        self.ranges = nothing if ranges is None else ranges
        self.unit, self.queue = unit, queue
        self.workers = workers or [0] * len(threads)


class CoreImage:
    """A core that some programs run on; `count` gives it one piece of work after the other, its caches empty each time.

    Where ``resident``, the programs' constants are in the L2 slice beforehand.
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
        """``marks`` say for each program what blocks do that begin at an instruction: `places.B_MARK`.

        ``kept`` are lines that are in the L2 slice beforehand.
        """
        self.config = config
        head = np.zeros(at.HEAD, np.int64)
        self._numbers: dict[str, int] = {}
        instructions: list[list[int]] = []
        registers: list[int] = []
        blocks: list[Numbers] = []
        code = 0
        self.blocks: list[int] = []
        """Where the blocks of each program begin in the table of blocks; `count` adds where that lies."""
        for number, program in enumerate(programs):
            begin = len(instructions)
            self._add(program, code, instructions, registers)
            code += -(-len(program.instructions) * config.instruction_bytes // LINE_BYTES)
            self.blocks.append(at.BLOCK * sum(map(len, blocks)))
            blocks.append(_blocks(program, begin, marks[number] if marks else {}))
        flat = [np.array(instructions, np.int64).reshape(-1), np.array(registers, np.int64)]
        flat.append(np.concatenate(blocks).reshape(-1) if blocks else np.zeros(0, np.int64))
        sets = {name: _sets(config, size) for name, size in _caches(config).items()}
        caches = {name: _empty(many, config.ways) for name, many in sets.items()}
        if config.caches:
            _fill(caches["code"], range(code), config.ways)
            if resident:
                _fill(caches["l2"], [*kept, *_constants(programs)], config.ways)
        parts = [head, *flat, *caches.values(), np.zeros(config.misses_under_way, np.int64), np.zeros(6, np.int64)]
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        places = (at.INSTRUCTIONS, at.REGISTERS, None, at.L1, at.L2, at.CODE, at.PENDING, at.DEALT)
        for place, start in zip(places, starts[1:-1], strict=True):
            if place is not None:
                head[place] = start
        self._blocks_at, head[at.TAKEN] = starts[3], head[at.DEALT] + 3
        head[at.L1_SETS], head[at.L2_SETS], head[at.CODE_SETS] = sets.values()
        for place, value in _values(config).items():
            head[place] = value
        self._parts = parts

    def _add(self, program: VectorProgram, code: int, instructions: list[list[int]], registers: list[int]) -> None:
        config, costs = self.config, Costs.of(program, self.config)
        for number, depends in enumerate(costs.depends):
            bounds = [len(registers)]
            for names in (depends.reads, costs.addresses[number], depends.writes):
                registers += [self._numbers.setdefault(name, len(self._numbers)) for name in sorted(names)]
                bounds.append(len(registers))
            reads, addresses, writes, past = bounds
            line = code + number * config.instruction_bytes // LINE_BYTES
            each_line = config.gather_line_cycles if costs.by_offset[number] else 1
            flags, latency = costs.flags[number], costs.latency[number]
            likely = 2 if costs.branches[number] and _leads_back(program, number) else 1
            instructions.append([flags, latency, reads, addresses, writes, past, line, likely, each_line])

    def count(self, words: NDArray[np.uint32], work: WorkTables, *, native: bool) -> Numbers:
        """Count one piece of work; return the head of the image, from `places.END` on what came out.

        Stretches' blocks and ranges are offsets into their tables. Raises InternalError where threads wait for each
        other for ever.
        """
        begin = sum(map(len, self._parts))
        threads = [each for each in work.threads if len(each)]
        size = at.T_REGISTERS + len(self._numbers)
        order = np.arange(len(threads))
        state = np.zeros((len(threads), size), np.int64)
        parts = [work.phases, work.requests.reshape(-1), work.deals, work.ranges.reshape(-1), order]
        parts += [each.reshape(-1) for each in threads]
        starts = (begin + np.cumsum([0, *map(len, parts)])).tolist()
        phases, requests, deals, ranges, order_at, *stretches, state_at = starts
        for number, first in enumerate(stretches):
            state[number, at.T_STRETCH], state[number, at.T_STRETCHES_PAST] = first, first + threads[number].size
        order += 0
        order[:] = state_at + size * np.arange(len(threads))
        state[:, at.T_WORKER] = [who for who, each in zip(work.workers, work.threads, strict=True) if len(each)]
        state[:, at.T_CODE] = -1
        image = np.concatenate([*self._parts, *parts, state.reshape(-1)])
        for first, each in zip(stretches, threads, strict=True):
            table = image[first : first + each.size].reshape(-1, at.STRETCH)
            table[:, at.S_BLOCKS] += self._blocks_at
        places = {
            at.PHASES: phases, at.PHASE_COUNT: len(work.phases), at.REQUESTS: requests, at.DEALS: deals,
            at.RANGES: ranges, at.ORDER: order_at, at.RUNNING: len(threads), at.THREADS: state_at, at.THREAD_SIZE: size,
            at.UNIT_LATENCY: work.unit[0], at.SWITCH: work.unit[1], at.CAPACITY: work.queue,
        }  # fmt: skip
        for place, value in places.items():
            image[place] = value
        ended = _native()(image.ctypes.data, words.ctypes.data) if native else self._in_python(image, words)
        if not ended:
            raise InternalError("the threads of a core wait for each other")
        return image[: at.HEAD].copy()

    @staticmethod
    def _in_python(image: Numbers, words: NDArray[np.uint32]) -> int:
        numbers: list[int] = image.tolist()
        ended = turns_count(numbers, words.tolist())
        image[:] = numbers
        return ended


@cache
def _native():  # type: ignore[no-untyped-def]
    return compiled(turns_count, FUNCTIONS)


def _caches(config: CoreConfig) -> dict[str, int]:
    return {"l1": config.l1_bytes, "l2": config.l2_bytes, "code": config.code_bytes}


def _sets(config: CoreConfig, size: int) -> int:
    return size // (LINE_BYTES * config.ways) if config.caches else 1


def _empty(sets: int, ways: int) -> Numbers:
    """Return a cache without lines: of each set its ways from the last used line on, a line and when it is there."""
    return np.tile(np.array([-1, 0], np.int64), sets * ways)


def _fill(cache: Numbers, lines: Sequence[int], ways: int) -> None:
    """Use lines of a cache, one after the other; none is in it beforehand."""
    sets = cache.reshape(-1, ways, 2)
    for line in lines:
        kept = sets[line % len(sets)]
        kept[1:] = kept[:-1].copy()
        kept[0] = line, 0


def _constants(programs: Sequence[VectorProgram]) -> list[int]:
    found = []
    for number, program in enumerate(programs):
        spans = [(each.start, each.start + each.size) for each in program.ranges]
        lines = {line for first, past in spans for line in range(first // LINE_BYTES, -(-past // LINE_BYTES))}
        found += [constant_shift(number) + line for line in sorted(lines)]
    return found


def _values(config: CoreConfig) -> dict[int, int]:
    return {
        at.WAYS: config.ways, at.PENDING_COUNT: config.misses_under_way, at.DUAL: int(config.dual_issue),
        at.REST: 1 if config.back_to_back else 2, at.TWO_ACCESSES: int(config.two_accesses),
        at.CACHED: int(config.caches), at.CODE_CACHED: int(config.caches), at.L2_CYCLES: config.l2_cycles,
        at.MEMORY_CYCLES: config.memory_cycles + 2 * config.ring_cycles, at.MEMORY_LINE: config.memory_line_cycles,
        at.ADDRESS: config.address_cycles, at.MISPREDICTED: config.mispredicted_cycles,
        at.STORES_WAIT: int(config.stores_wait), at.FULL_READ: int(config.full_stores_read),
    }  # fmt: skip


def _blocks(program: VectorProgram, begin: int, marks: Mapping[int, int]) -> Numbers:
    bounds = BasicBlocks.of(program).bounds
    found = np.zeros((len(bounds) - 1, at.BLOCK), np.int64)
    found[:, at.B_FIRST], found[:, at.B_PAST] = begin + bounds[:-1], begin + bounds[1:]
    for number, first in enumerate(bounds[:-1].tolist()):
        found[number, at.B_MARK] = marks.get(first, 0)
    return found


def _leads_back(program: VectorProgram, number: int) -> bool:
    instruction = program.instructions[number]
    pairs = zip(instruction.declaration.operands, instruction.operands, strict=True)
    return any(program.index_of[value] <= number for spec, value in pairs if isinstance(spec.kind, Target))
