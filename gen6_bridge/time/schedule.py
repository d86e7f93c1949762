"""Schedule: threads take turns on execution units, instruction by instruction, by the policy of Kanter's article.

In each slot of issue: a thread whose last instruction was atomic issues again; else the one that issued last continues
while its next instruction is ready and it has not asked for a switch; else the ready thread of the highest priority,
the one that has waited longest first. A thread that ends is followed in its place by the next one at once.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.declarations import EuInstruction
from gen6_bridge.isa.operands import GRF_REGISTERS, REGISTER_BYTES, EuDestination, SourceRegion
from gen6_bridge.time.config import EuConfig
from gen6_bridge.time.dependences import ACCUMULATOR, FLAG, EuDependences, dependences
from gen6_bridge.unit import ExecutionUnit
from gen6_bridge.unit.messages import TARGET_NAMES

# Instruction caches: one for each row of units, one for all, lines of 64 bytes, least recently used goes.


LINE_BYTES = 64
LINE_INSTRUCTIONS = 4
"""Instructions in a line, which is also what a thread's fetch buffer holds."""


class _Level:
    """One cache: sets of lines in the order of their use."""

    def __init__(self, size: int, ways: int) -> None:
        lines = size // LINE_BYTES
        self._sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(max(1, lines // ways))]
        self._ways = ways
        self.hits = self.misses = 0

    def look(self, line: int) -> bool:
        """Return whether a line is there; it is from now on, as the one that was used last."""
        held = self._sets[line % len(self._sets)]
        found = line in held
        if found:
            held.move_to_end(line)
            self.hits += 1
        else:
            self.misses += 1
            held[line] = None
            if len(held) > self._ways:
                held.popitem(last=False)
        return found


@dataclass(slots=True)
class InstructionCaches:
    """The caches of some units; each row has one port, which serves one fetch a cycle, in turn."""

    config: EuConfig
    rows: int
    _first: list[_Level] = field(init=False)
    _second: _Level = field(init=False)
    _ports: list[int] = field(init=False)
    _coming: dict[tuple[int, int], int] = field(init=False)

    def __post_init__(self) -> None:
        self._first = [_Level(self.config.l1_bytes, self.config.ways) for _ in range(self.rows)]
        self._second = _Level(self.config.l2_bytes, self.config.ways)
        self._ports = [0] * self.rows
        self._coming = {}

    def fetch(self, row: int, line: int, cycle: int) -> int:
        """Return the cycle from which on a line is in a thread's buffer that asks for it in ``cycle``."""
        start = max(cycle, self._ports[row])
        self._ports[row] = start + 1
        coming = self._coming.get((row, line), 0)
        if self._first[row].look(line):
            return max(start + 1, coming)
        wait = self.config.l1_miss_cycles
        if not self._second.look(line):
            wait = self.config.l2_miss_cycles
        self._coming[row, line] = start + wait
        return start + wait

    @property
    def l1_misses(self) -> int:
        """Lines that a row's cache did not have."""
        return sum(each.misses for each in self._first)

    @property
    def l1_hits(self) -> int:
        """Lines that a row's cache had, or had asked for already."""
        return sum(each.hits for each in self._first)

    @property
    def l2_misses(self) -> int:
        """Lines that the second level did not have."""
        return self._second.misses


# Traces of threads: what each executed, in order; when it does so changes nothing of it.


@dataclass(frozen=True, slots=True)
class CarriedStep:
    """An instruction that a thread executed."""

    number: int
    reads: tuple[int, ...] = ()
    """General registers that an address register chose."""
    writes: tuple[int, ...] = ()


class ThreadTraces:
    """A subscriber of a unit that keeps what each of its threads executes."""

    def __init__(self, unit: ExecutionUnit) -> None:
        self._unit = unit
        self.steps: list[list[CarriedStep]] = [[] for _ in range(unit.threads)]
        self._plain = [CarriedStep(number) for number in range(len(unit.instructions))]
        self._indirect = [instruction.indirect for instruction in unit.instructions]

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        """Note an instruction, before it is executed."""
        if not self._indirect[number]:
            plain = self._plain[number]
            for thread in np.flatnonzero(active).tolist():
                self.steps[thread].append(plain)
            return
        addresses = self._unit.addresses
        for thread in np.flatnonzero(active).tolist():
            self.steps[thread].append(self._chosen(number, addresses[thread].tolist()))

    def stretch(self, first: int, past: int, active: NDArray[np.bool_]) -> None:
        """Note instructions that no address register leads, one after the other."""
        plain = self._plain[first:past]
        for thread in np.flatnonzero(active).tolist():
            self.steps[thread] += plain

    def _chosen(self, number: int, addresses: list[int]) -> CarriedStep:
        instruction = self._unit.instructions[number]
        size = instruction.controls.size
        reads: set[int] = set()
        writes: set[int] = set()
        for operand in instruction.operands:
            if isinstance(operand, SourceRegion | EuDestination) and operand.address is not None:
                registers = {operand.chosen(each, addresses) // REGISTER_BYTES for each in range(size)}
                reads |= registers if isinstance(operand, SourceRegion) else set()
                writes |= registers if isinstance(operand, EuDestination) else set()
        within = range(GRF_REGISTERS)
        return CarriedStep(
            number, tuple(each for each in reads if each in within), tuple(each for each in writes if each in within)
        )


Stretches = Sequence[tuple[int, str]]
"""A wait from a cycle on, piece by piece: up to which cycle, and for what."""

Watcher = Callable[[int, int, int, int, int, Stretches], None]
"""Called for each issue: thread, instruction, cycle from which it waited, of issue, cycles held, why it waited."""

Carrier = Callable[[int, str, int, int, int], None]
"""Called for each message and each line: thread, the way, cycle in which it is asked for, arrival, bytes."""

_FRONT = "front"


@dataclass(slots=True)
class ThreadAccount:
    """What became of a thread."""

    unit: int
    begin: int
    end: int = 0
    """The cycle in which its last issue ends."""
    issued: int = 0
    waited: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Account:
    """What all threads took together."""

    config: EuConfig
    threads: list[ThreadAccount]
    held: Counter[str] = field(default_factory=Counter)
    """Cycles for which each part was held, over all units."""
    together: int = 0
    """Cycles in which a unit's both pipes were held, over all units: they are in ``held`` twice."""
    idle: Counter[str] = field(default_factory=Counter)
    """Cycles in which no part was held, by what the first thread that could continue had waited for."""
    switches: int = 0
    """Issues of another thread than the unit's last."""
    banked: int = 0
    messages: Counter[int] = field(default_factory=Counter)
    """Messages by target."""
    served: Counter[int] = field(default_factory=Counter)
    """Cycles for which each target is held by them: answers wait for it, threads that want none do not."""
    fetches: int = 0
    l1_misses: int = 0
    l2_misses: int = 0

    @property
    def cycles(self) -> int:
        """Until the last issue of the last thread ends."""
        return max((each.end for each in self.threads), default=0)

    @property
    def ended(self) -> list[int]:
        """When the last issue of each unit ends, 0 where it has no thread."""
        found = [0] * self.config.units
        for each in self.threads:
            found[each.unit] = max(found[each.unit], each.end)
        return found

    @property
    def issued(self) -> int:
        """Instructions of all threads."""
        return sum(each.issued for each in self.threads)

    def utilisation(self, part: str = "fpu") -> float:
        """Return the share of cycles for which a part was held, over all units."""
        units = len({each.unit for each in self.threads})
        return self.held[part] / (self.cycles * units) if self.cycles else 0.0


class _Slot:
    """A thread that is on a unit."""

    def __init__(self, number: int, steps: Sequence[CarriedStep], account: ThreadAccount, priority: int) -> None:
        self.number, self.steps, self.account, self.priority = number, steps, account, priority
        self.at = 0
        self.since = account.begin
        """When its last instruction issued."""
        self.after = account.begin
        """Before that its next one cannot, whatever it waits for."""
        self.fetched = account.begin
        self.line: int | None = None
        self.pending: dict[int, tuple[int, str]] = {}
        """For each register when it can be used, and what it waits for."""
        self.waits: list[tuple[int, str]] | None = None
        """What its next instruction waits for but its part; None until it is asked for."""

    @property
    def step(self) -> CarriedStep:
        return self.steps[self.at]


class _Unit:
    """An execution unit: its slots, its parts, and the threads that wait to be dispatched."""

    def __init__(self, number: int, queue: deque[int]) -> None:
        self.number, self.queue = number, queue
        self.now = 0
        self.slots: list[_Slot] = []
        self.free = {"fpu": 0, "math": 0, _FRONT: 0}
        self.last: _Slot | None = None
        self.stays = True
        self.atomic = False
        self.covered = 0
        """Up to here cycles are known to be held or idle."""


def schedule(
    instructions: Sequence[EuInstruction],
    traces: Sequence[Sequence[CarriedStep]],
    config: EuConfig,
    *,
    priorities: Sequence[int] | None = None,
    watcher: Watcher | None = None,
    carrier: Carrier | None = None,
    come: Callable[[int, int], None] | None = None,
) -> Account:
    """Return what threads take that execute these steps, each on the unit that has its turn.

    ``priorities`` are larger for threads that go first; all are the same without them. ``come`` hears of each
    issue, before it, the cycle in which it ends, and the instruction.
    """
    return _Schedule(instructions, traces, config, priorities, watcher, carrier, come).run()


class _Schedule:
    def __init__(
        self,
        instructions: Sequence[EuInstruction],
        traces: Sequence[Sequence[CarriedStep]],
        config: EuConfig,
        priorities: Sequence[int] | None,
        watcher: Watcher | None,
        carrier: Carrier | None,
        come: Callable[[int, int], None] | None,
    ) -> None:
        self._config, self._traces, self._watcher = config, traces, watcher
        self._carrier, self._come = carrier, come
        self._priorities = priorities or [0] * len(traces)
        self._known: list[EuDependences] = [dependences(each, config) for each in instructions]
        self._units = [_Unit(number, deque()) for number in range(config.units)]
        for number in range(len(traces)):
            if traces[number]:
                self._units[number % config.units].queue.append(number)
        self._caches = InstructionCaches(config, -(-config.units // config.row)) if config.caches else None
        self._targets: Counter[int] = Counter()
        self._account = Account(config, [ThreadAccount(number % config.units, 0) for number in range(len(traces))])

    def run(self) -> Account:
        for unit in self._units:
            self._dispatch(unit)
        while going := [each for each in self._units if each.slots]:
            self._slot(min(going, key=lambda each: (each.now, each.number)))
        if self._caches is not None:
            self._account.l1_misses, self._account.l2_misses = self._caches.l1_misses, self._caches.l2_misses
            self._account.fetches = self._caches.l1_hits + self._caches.l1_misses
        return self._account

    def _dispatch(self, unit: _Unit) -> None:
        while unit.queue and len(unit.slots) < self._config.threads:
            number = unit.queue.popleft()
            account = self._account.threads[number]
            account.begin = unit.now
            slot = _Slot(number, self._traces[number], account, self._priorities[number])
            unit.slots.append(slot)
            self._fetch(unit, slot, unit.now)

    def _fetch(self, unit: _Unit, slot: _Slot, cycle: int) -> None:
        line = slot.step.number // LINE_INSTRUCTIONS
        if self._caches is None or line == slot.line:
            return
        slot.line = line
        slot.fetched = self._caches.fetch(unit.number // self._config.row, line, cycle)
        if self._carrier is not None:
            self._carrier(slot.number, "instruction fetch", cycle, slot.fetched, LINE_BYTES)

    # --- one slot of issue ----------------------------------------------------------------------------------------

    def _own_waits(self, slot: _Slot) -> list[tuple[int, str]]:
        """Return what a thread's next instruction waits for but its part, with the cycle in which each wait ends.

        In order; known once the instruction before has issued, since only the thread itself changes it.
        """
        if slot.waits is None:
            known, step = self._known[slot.step.number], slot.step
            waits = {(slot.fetched, "fetch")}
            looked = known.reads if known.unchecked else known.looked
            for register in (*looked, *step.reads, *step.writes):
                if register in slot.pending:
                    waits.add(slot.pending[register])
            slot.waits = [(slot.after, _FRONT), *sorted(each for each in waits if each[0] > slot.after)]
        return slot.waits

    def _ready(self, unit: _Unit, slot: _Slot) -> list[tuple[int, str]]:
        """Return all that a thread's next instruction waits for, in order."""
        waits, part = self._own_waits(slot), self._known[slot.step.number].part
        if part == _FRONT or unit.free[part] <= slot.after:
            return waits
        return [waits[0], *sorted({*waits[1:], (unit.free[part], f"{part} held")})]

    def _when(self, unit: _Unit, slot: _Slot) -> int:
        """Return the cycle from which on a thread's next instruction can issue."""
        own, part = self._own_waits(slot)[-1][0], self._known[slot.step.number].part
        return own if part == _FRONT else max(own, unit.free[part])

    def _slot(self, unit: _Unit) -> None:
        """Let one thread of a unit issue, in this cycle or the first in which one can."""
        chosen = self._choose(unit, {slot: self._when(unit, slot) for slot in unit.slots})
        waits = self._ready(unit, chosen)
        ready, cause = waits[-1]
        cycle = max(ready, unit.now)
        for until, what in (*waits, (cycle, cause)):
            if until > unit.covered:
                self._account.idle[what] += until - unit.covered
                unit.covered = until
        self._issue(unit, chosen, cycle, waits)

    def _choose(self, unit: _Unit, found: dict[_Slot, int]) -> _Slot:
        last = unit.last if unit.last in found else None
        if last is not None and unit.atomic:
            return last
        cycle = max(unit.now, min(found.values()))
        ready = [slot for slot, when in found.items() if when <= cycle]
        stays = unit.stays and not self._config.always_switch
        if last is not None and last in ready and (stays or len(ready) == 1):
            return last
        others = [slot for slot in ready if slot is not last] or ready
        return min(others, key=lambda slot: (-slot.priority, slot.since, slot.number))

    def _issue(self, unit: _Unit, slot: _Slot, cycle: int, waits: list[tuple[int, str]]) -> None:
        step, known, account = slot.step, self._known[slot.step.number], slot.account
        if self._come is not None:
            self._come(cycle + known.held, step.number)
        stretches, since = [], slot.after
        for until, cause in (*waits[1:], (cycle, "other threads")):
            if until > since:
                account.waited[cause] += until - since
                stretches.append((until, cause))
                since = until
        if self._watcher is not None:
            self._watcher(slot.number, step.number, slot.after, cycle, known.held, stretches)
        if unit.last is not None and unit.last is not slot:
            self._account.switches += 1
        end = cycle + known.held
        if known.part == _FRONT:
            slot.after = end
        else:
            unit.free[known.part] = end
            # Issues follow each other, so that what the other pipe is held for from here on began before.
            self._account.together += max(0, min(unit.free["fpu"], unit.free["math"]) - cycle)
            slot.after = cycle + 1
        self._account.held[known.part] += known.held
        unit.covered = max(unit.covered, end)
        self._mark(slot, step, known, cycle)
        self._account.banked += known.banked
        account.issued += 1
        account.end = end
        slot.since = cycle
        unit.now = cycle + 1
        unit.last, unit.stays, unit.atomic = slot, not known.switches, known.atomic
        slot.at += 1
        slot.waits = None
        if known.ends or slot.at == len(slot.steps):
            unit.slots.remove(slot)
            unit.last, unit.atomic = None, False
            unit.now = max(unit.now, end) if known.part == _FRONT else unit.now
            self._dispatch(unit)
        else:
            self._fetch(unit, slot, cycle)

    def _mark(self, slot: _Slot, step: CarriedStep, known: EuDependences, cycle: int) -> None:
        """Note when what an instruction writes can be used."""
        for register in (*known.writes, *step.writes):
            latency, what = known.latency, "operand"
            if register == FLAG:
                latency, what = known.flag_latency, "flag"
            elif register == ACCUMULATOR:
                latency, what = self._config.accumulator_cycles, "accumulator"
            elif known.part == "math":
                what = "math result"
            slot.pending[register] = (cycle + latency, what)
        if known.target is not None:
            self._account.messages[known.target] += 1
            start = max(cycle, self._targets[known.target])
            self._targets[known.target] = start + known.target_busy
            self._account.served[known.target] += known.target_busy
            if self._carrier is not None:
                way = TARGET_NAMES.get(known.target, str(known.target))
                self._carrier(slot.number, way, cycle, start + known.answer_cycles, known.bytes)
            for register in known.answers:
                slot.pending[register] = (start + known.answer_cycles, "message")
