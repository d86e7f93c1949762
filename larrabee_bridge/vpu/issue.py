"""Issue of a thread's instructions alone on a core: in order, two pipes, results after a latency (time).

Each thread is charged the cost of its way through the program, with L1 hits and correct predictions alone. Threads that
share a core, misses and mispredictions are in `core_image.py` and `rotation.py`.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import Pipe, VectorFamily, vector_share
from larrabee_bridge.vpu.isa.operands import Memory
from larrabee_bridge.vpu.notes import BasicBlocks, RunNote
from larrabee_bridge.vpu.program import Dependences, VectorProgram
from larrabee_bridge.vpu.rotation import BRANCH, EVICT, FAR, NEAR, STORE, TOUCHES, WHOLE
from pixelflow.simd.isa.declare import Declaration, Instruction
from pixelflow.simd.lanes.native.transducer import Learned, Transducer, Transition
from pixelflow.simd.store import MEANING, store

# Costs of a program's instructions: pipes, latencies, and the registers that they wait for.


@dataclass(frozen=True)
class Costs:
    """Costs of each instruction of a program, by its number."""

    config: CoreConfig
    depends: tuple[Dependences, ...]
    families: tuple[int, ...]
    """Places in `VectorFamily`."""
    either: tuple[bool, ...]
    """True if it may issue in the secondary pipe."""
    branches: tuple[bool, ...]
    addresses: tuple[frozenset[str], ...]
    """Registers of an address; they are read, too."""
    flags: tuple[int, ...]
    """As `rotation.py` names them, without those that depend on the instruction before."""
    sets_flags: tuple[bool, ...]
    """True if a branch may use its flags in the same cycle (`CoreConfig.flags_pair`)."""
    by_offset: tuple[bool, ...]
    """True if an address for each lane comes from a vector register."""
    latency: tuple[int, ...]
    """From issue, with a pipe held for one cycle, to the issue of an instruction that uses the result."""

    @classmethod
    def of(cls, program: VectorProgram, config: CoreConfig) -> Costs:
        """Return the costs of a program's instructions; the same object for the same program and values."""
        found = program.analyses.get(("costs", config))
        if found is None:
            found = program.analyses["costs", config] = cls._made(program, config)
        return found

    @classmethod
    def _made(cls, program: VectorProgram, config: CoreConfig) -> Costs:
        depends = {id(each): found for each, found in zip(program.instructions, program.dependences, strict=True)}
        costs = program.each(lambda instruction: _costs_of(config, instruction, depends[id(instruction)]))
        return cls(config, *(tuple(zip(*costs, strict=True)) or ((),) * 9))


def _costs_of(
    config: CoreConfig, instruction: Instruction, depends: Dependences
) -> tuple[Dependences, int, bool, bool, frozenset[str], int, bool, bool, int]:
    """Return the costs of one instruction, as the fields of `Costs`."""
    declaration = instruction.declaration
    family = VectorFamily(declaration.family)
    return (
        depends,
        _PLACE[family],
        _either(config, declaration),
        family is VectorFamily.BRANCH,
        _addresses(instruction),
        _flags(instruction, depends),
        "zero" in depends.writes and declaration.mnemonic not in _LATE_FLAGS,
        any(spec.name == "indices" for spec in declaration.operands),
        _latency(config, declaration, family, depends),
    )


_SHIFTS = frozenset(("shl", "shr", "sar", "rol", "ror"))
_LATE_FLAGS = ("imul", "kortest")
_PREFETCHES = {"vprefetch1": NEAR, "vprefetch2": FAR, "vevict": EVICT}


def _either(config: CoreConfig, declaration: Declaration) -> bool:
    return declaration.unit is Pipe.EITHER and (config.shifts_beside or declaration.mnemonic not in _SHIFTS)


def _addresses(instruction: Instruction) -> frozenset[str]:
    places = [each for each in instruction.operands if isinstance(each, Memory)]
    return frozenset(f"r{each.base}" for each in places if each.base is not None)


def _flags(instruction: Instruction, depends: Dependences) -> int:
    declaration = instruction.declaration
    found = TOUCHES if depends.memory else 0
    found |= BRANCH if declaration.family is VectorFamily.BRANCH else 0
    found |= _PREFETCHES.get(declaration.mnemonic, 0)
    first, *others = (*instruction.operands, None)
    if isinstance(first, Memory) and len(others) > 1:
        found |= STORE | (WHOLE if declaration.mnemonic in ("vstored", "vstoreq") and first.mask is None else 0)
    return found


def _latency(config: CoreConfig, declaration: Declaration, family: VectorFamily, depends: Dependences) -> int:
    if declaration.mnemonic == "imul":
        return config.multiply_latency
    if not family.vector:
        return config.scalar_latency
    return config.vector_latency + (config.load_op_cycles if depends.memory else 0)


Access = tuple[int, int]
"""The number of an instruction, and how many lines it touches."""
State = tuple[int | None, tuple[tuple[str, int], ...]]
"""Pending events of a thread, in cycles from the first one in which it may issue again: the cycle whose secondary pipe
is free (or None), and the arrivals of outstanding results."""
Node = tuple[State, int, int]
"""A state, and within a block the block and the number of its memory instructions already executed."""
TableKey = tuple[bytes, bool]
"""Of a transducer: the bounds of blocks, and whether lines are noted."""
Parts = tuple[int, ...]

_CYCLES, _WAITED, _RESTED, _PAIRED, _LINES, _FIRST_FAMILY = range(6)
_PLACE = {family: place for place, family in enumerate(VectorFamily)}
_SUMS = _FIRST_FAMILY + len(VectorFamily)
"""Sums of a thread; cycles by part of the program follow."""
_BETWEEN = -1


_FLAGS = "flags of the same cycle"
"""Pending until the cycle after an instruction whose flags a branch may use at once (`CoreConfig.flags_pair`)."""


class _Timing:
    """Effect of instructions on a thread, computed once for each state; shared by all cores.

    A note's words step from node to node. Node 0 has no pending event. A block's number charges the instructions before
    its first memory instruction, a number of lines that instruction and those before the next one or the block's end.
    """

    def __init__(self, program: VectorProgram, config: CoreConfig, parts: Parts) -> None:
        self.program, self.config, self.parts = program, config, parts
        self.width = _SUMS + max(parts, default=-1) + 1
        self._key = program.meaning_key(f"times {config} {parts}")
        kept: tuple[list[Node], dict[TableKey, Learned]] | None = None
        if self._key is not None:
            kept = store().get_object(MEANING, self._key, tuple)
        self._nodes, self._learned = kept or ([((None, ()), _BETWEEN, 0)], {})
        self._numbers = {node: number for number, node in enumerate(self._nodes)}
        self._tables: dict[TableKey, Transducer] = {}
        self._kept = sum(len(each) for each, _ in self._learned.values())

    @cached_property
    def costs(self) -> Costs:
        """Costs of the program's instructions."""
        return Costs.of(self.program, self.config)

    def keep(self) -> None:
        """Keep what was learned for the next process, where it is new and not too much."""
        learned = self._learned | {key: table.learned for key, table in self._tables.items()}
        known = sum(len(each) for each, _ in learned.values())
        if self._key is not None and self._kept < known <= _MOST_KEPT:
            store().put_object(MEANING, self._key, (self._nodes, learned))
            self._kept = known

    def _number(self, state: State, block: int, at: int) -> int:
        node = state, block, at
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return found

    def table(self, blocks: BasicBlocks, has_lines: bool) -> Transducer:
        """Return the transducer over the words of notes."""
        key = blocks.bounds.tobytes(), has_lines
        found = self._tables.get(key)
        if found is None:
            bounds, touching = blocks.bounds.tolist(), blocks.touching

            def find(node: int, word: int) -> Transition:
                state, block, at = self._nodes[node]
                accesses: list[Access] = []
                if block == _BETWEEN:
                    block, first = word, bounds[word]
                    counts = False
                else:
                    accesses.append((touching[block][at], word))
                    first = touching[block][at] + 1
                    at, counts = at + 1, has_lines
                whole = at == len(touching[block])
                past = bounds[block + 1] if whole else touching[block][at]
                accesses += [(number, 0) for number in range(first, past)]
                after, sums = self.after(state, tuple(accesses))
                return Transition(self._number(after, *((_BETWEEN, 0) if whole else (block, at))), sums, counts)

            found = self._tables[key] = Transducer(self.width, find, self._learned.get(key, ({}, ())))
        return found

    def after(self, state: State, accesses: tuple[Access, ...]) -> tuple[State, list[int]]:
        """Return the state after instructions, and their contribution to a thread's sums."""
        costs, config = self.costs, self.config
        slot, waiting = state
        available = dict(waiting)
        rest, interlock = 1 if config.back_to_back else 2, config.address_cycles
        sums = [0] * self.width
        for number, touched in accesses:
            depends, each_line = costs.depends[number], config.gather_line_cycles if costs.by_offset[number] else 1
            held = max(touched * each_line, 1)
            there = [available[name] for name in depends.reads if name in available]
            there += [available[name] + interlock for name in costs.addresses[number] if name in available]
            ready = max(there, default=None)
            beside = (
                config.dual_issue
                and costs.either[number]
                and slot is not None
                and (ready is None or ready <= slot or (costs.branches[number] and _FLAGS in available))
                # Two instructions of one cycle do not write the same register.
                and all(available.get(name, slot) <= slot for name in depends.writes)
            )
            issue = slot if beside and slot is not None else max(0, ready or 0)
            end = max(issue + max(held, rest), 0)
            sums[_CYCLES] += end
            if self.parts:
                sums[_SUMS + self.parts[number]] += end
            sums[_WAITED] += 0 if beside else issue
            sums[_RESTED] += 0 if beside else max(rest - held, 0)
            sums[_PAIRED] += beside
            sums[_LINES] += touched
            sums[_FIRST_FAMILY + costs.families[number]] += 1
            slot = None if beside or costs.branches[number] else issue - end
            available.update(dict.fromkeys(depends.writes, issue + held - 1 + costs.latency[number]))
            if config.flags_pair and slot is not None and costs.sets_flags[number]:
                available[_FLAGS] = issue + 1
            settled = 0 if slot is None else slot
            # A scalar result that has arrived may still be too late for an address.
            available = {
                name: at - end
                for name, at in available.items()
                if at - end > settled - (interlock if name.startswith("r") else 0)
            }
        return (slot, tuple(sorted(available.items()))), sums


_KNOWN: dict[tuple[str, CoreConfig, Parts], _Timing] = {}
"""By a program's hash, the model and parts: cores of the same program share them."""
_MOST_KNOWN = 64
_MOST_KEPT = 50_000
"""Steps in the tables of a program that are kept; a file then has two megabytes."""
_LOCK = Lock()
"""Held while the tables are read or extended: native code walks while other threads of the host run."""


def _timing(program: VectorProgram, config: CoreConfig, parts: Parts) -> _Timing:
    with _LOCK:
        found = _KNOWN.get(key := (program.sha256, config, parts))
        if found is None:
            if len(_KNOWN) >= _MOST_KNOWN:
                _keep()
                _KNOWN.clear()
            found = _KNOWN[key] = _Timing(program, config, parts)
        return found


@atexit.register
def _keep() -> None:
    for each in _KNOWN.values():
        each.keep()


class Core:
    """Counter of threads' cycles from their notes; a subscriber of `VectorUnit.run`."""

    def __init__(
        self, program: VectorProgram, threads: int = 1, config: CoreConfig | None = None, parts: Sequence[int] = ()
    ) -> None:
        """``parts`` is the part of the program of each instruction, 0 and up (`by_part`)."""
        self.config = config or CoreConfig()
        self._timing = _timing(program, self.config, tuple(parts))
        self._state = np.zeros(threads, np.int64)
        self._sums = Transducer.sums(self._timing.width, threads)

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles from the first issue to the end of the last instruction's issue, for each thread."""
        return self._sums[:, _CYCLES].copy()

    @property
    def paired(self) -> NDArray[np.int64]:
        """Instructions of each thread that issued as the second of a pair."""
        return self._sums[:, _PAIRED].copy()

    @property
    def waited(self) -> NDArray[np.int64]:
        """Cycles of each thread without an issue because a result was outstanding."""
        return self._sums[:, _WAITED].copy()

    @property
    def issuing(self) -> NDArray[np.int64]:
        """Cycles of each thread in which one of its instructions held a pipe."""
        return self._sums[:, _CYCLES] - self._sums[:, _WAITED] - self._sums[:, _RESTED]

    @property
    def lines(self) -> NDArray[np.int64]:
        """Cache lines that each thread touched."""
        return self._sums[:, _LINES].copy()

    @property
    def counts(self) -> dict[VectorFamily, NDArray[np.int64]]:
        """Instructions that each thread executed, by family."""
        return {family: self._sums[:, _FIRST_FAMILY + place].copy() for family, place in _PLACE.items()}

    @property
    def families(self) -> dict[VectorFamily, int]:
        """Instructions of all threads together, by family."""
        sums = self._sums[:, _FIRST_FAMILY:_SUMS].sum(axis=0).tolist()
        return dict(zip(_PLACE, sums, strict=True))

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions in all executed; None without any."""
        return vector_share(self.families)

    @property
    def by_part(self) -> NDArray[np.int64]:
        """Cycles of each thread by part of the program, int64[thread, part]; rows add up to `cycles`."""
        return self._sums[:, _SUMS : self._timing.width].copy()

    def __call__(self, note: RunNote) -> None:
        """Charge threads for the instructions of a note."""
        with _LOCK:
            table = self._timing.table(note.blocks, note.has_lines)
            table.run(note.words, note.starts, note.threads, self._state, self._sums)
