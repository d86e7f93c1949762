"""Schedule: threads take turns on execution units, instruction by instruction, by the policy of Kanter's article.

In each slot of issue: a thread whose last instruction was atomic issues again; else the one that issued last continues
while its next instruction is ready and did not follow a request to switch; else the ready thread of the highest
priority, of equals the one that has waited longest. When a thread ends, the next one takes its place at once.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.declarations import EuInstruction
from gen6_bridge.isa.operands import GRF_REGISTERS, REGISTER_BYTES, EuDestination, SourceRegion
from gen6_bridge.time.config import EuConfig
from gen6_bridge.time.dependences import ACCUMULATOR, FLAG, EuDependences, dependences
from gen6_bridge.unit import ExecutionUnit
from gen6_bridge.unit.messages import TARGET_NAMES

# Instruction caches: one for each row of units, one for all; lines of 64 bytes; the least recently used is replaced.


LINE_BYTES = 64
LINE_INSTRUCTIONS = 4
"""Instructions of a line, and of a thread's fetch buffer."""


class _Level:
    """One cache: sets of lines in the order of their last use."""

    def __init__(self, size: int, ways: int) -> None:
        lines = size // LINE_BYTES
        self._sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(max(1, lines // ways))]
        self._ways = ways
        self.hits = self.misses = 0

    def look(self, line: int) -> bool:
        """Return whether a line is present, and make it the last used one."""
        held = self._sets[line % len(self._sets)]
        present = line in held
        if present:
            held.move_to_end(line)
            self.hits += 1
        else:
            self.misses += 1
            held[line] = None
            if len(held) > self._ways:
                held.popitem(last=False)
        return present


class InstructionCaches:
    """Caches of all units; each row has one port, which serves one fetch a cycle in order of arrival."""

    def __init__(self, config: EuConfig) -> None:
        rows = -(-config.units // config.row)
        self._config = config
        self._first = [_Level(config.l1_bytes, config.ways) for _ in range(rows)]
        self._second = _Level(config.l2_bytes, config.ways)
        self._ports = [0] * rows
        self._coming: dict[tuple[int, int], int] = {}
        """Cycle in which a line that a row has asked for arrives; row -1 is the second level."""

    def fetch(self, unit: int, line: int, cycle: int) -> int:
        """Return the cycle in which a line that a unit's thread requests in ``cycle`` is in the thread's buffer."""
        row = unit // self._config.row
        start = max(cycle, self._ports[row])
        self._ports[row] = start + 1
        if self._first[row].look(line):
            return max(start + 1, self._coming.get((row, line), 0))
        if self._second.look(line):
            arrival = max(start + self._config.l1_miss_cycles, self._coming[-1, line])
        else:
            arrival = self._coming[-1, line] = start + self._config.l2_miss_cycles
        self._coming[row, line] = arrival
        return arrival

    def count(self, account: Account) -> None:
        """Enter fetches and misses in an account."""
        account.l1_misses = sum(each.misses for each in self._first)
        account.l2_misses = self._second.misses
        account.fetches = account.l1_misses + sum(each.hits for each in self._first)


# Traces of threads: the instructions of each in order, whatever their times.


class CarriedStep(NamedTuple):
    """Instruction that a thread executed."""

    number: int
    reads: tuple[int, ...] = ()
    """General registers chosen by an address register."""
    writes: tuple[int, ...] = ()


class ThreadTraces:
    """Subscriber that records the instructions of each thread."""

    def __init__(self, unit: ExecutionUnit) -> None:
        self._unit = unit
        self.steps: list[list[CarriedStep]] = [[] for _ in range(unit.threads)]
        self._plain = [CarriedStep(number) for number in range(len(unit.instructions))]
        self._indirect = [instruction.indirect for instruction in unit.instructions]

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        """Record an instruction before it is executed."""
        if not self._indirect[number]:
            plain = self._plain[number]
            for thread in np.flatnonzero(active).tolist():
                self.steps[thread].append(plain)
            return
        addresses = self._unit.addresses
        for thread in np.flatnonzero(active).tolist():
            self.steps[thread].append(self._chosen(number, addresses[thread].tolist()))

    def stretch(self, first: int, past: int, active: NDArray[np.bool_]) -> None:
        """Record consecutive instructions without indirect operands."""
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
"""A wait in consecutive pieces: the cycle in which each ends, and its cause."""

Watcher = Callable[[int, int, int, int, int, Stretches], None]
"""Called for each issue: thread, instruction, first cycle of the wait, cycle of issue, cycles held, the wait."""

Carrier = Callable[[int, str, int, int, int], None]
"""Called for each message and each line: thread, path, cycle of the request, cycle of arrival, bytes."""

_FRONT = "front"


@dataclass(slots=True)
class ThreadAccount:
    """Account of a thread."""

    unit: int
    begin: int
    end: int = 0
    """The cycle in which its last issue ends."""
    issued: int = 0
    waited: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Account:
    """Account of all threads."""

    config: EuConfig
    threads: list[ThreadAccount]
    held: Counter[str] = field(default_factory=Counter)
    """Cycles for which each part was held, over all units."""
    together: int = 0
    """Cycles in which both pipes of a unit were held, over all units; ``held`` has them twice."""
    idle: Counter[str] = field(default_factory=Counter)
    """Cycles in which no part was held, by the cause for which the next thread to issue waited."""
    switches: int = 0
    """Issues of another thread than the unit's previous one, if that has not ended."""
    banked: int = 0
    messages: Counter[int] = field(default_factory=Counter)
    """Messages by target."""
    served: Counter[int] = field(default_factory=Counter)
    """Cycles for which each target is held by them: answers wait for it, threads without an answer do not."""
    fetches: int = 0
    l1_misses: int = 0
    l2_misses: int = 0

    @property
    def cycles(self) -> int:
        """Until the last issue of the last thread ends."""
        return max((each.end for each in self.threads), default=0)

    @property
    def ended(self) -> list[int]:
        """When the last issue of each unit ends, 0 for a unit without threads."""
        ends = [0] * self.config.units
        for each in self.threads:
            ends[each.unit] = max(ends[each.unit], each.end)
        return ends

    @property
    def issued(self) -> int:
        """Instructions of all threads."""
        return sum(each.issued for each in self.threads)

    def utilisation(self, part: str = "fpu") -> float:
        """Return the share of cycles for which a part was held, over all units."""
        units = len({each.unit for each in self.threads})
        return self.held[part] / (self.cycles * units) if self.cycles else 0.0


class _Slot:
    """Thread that is dispatched on a unit."""

    def __init__(self, number: int, steps: Sequence[CarriedStep], account: ThreadAccount, priority: int) -> None:
        self.number, self.steps, self.account, self.priority = number, steps, account, priority
        self.at = 0
        self.since = account.begin
        """Cycle in which its last instruction issued."""
        self.after = account.begin
        """First cycle in which its next instruction may issue."""
        self.fetched = account.begin
        self.line: int | None = None
        self.pending: dict[int, tuple[int, str]] = {}
        """For each register the cycle in which it is ready, and the cause."""
        self.waits: list[tuple[int, str]] | None = None
        """Waits of its next instruction other than for its part; None before they are computed."""

    @property
    def step(self) -> CarriedStep:
        return self.steps[self.at]


class _Unit:
    """Execution unit: its slots, its parts, and the threads that wait to be dispatched."""

    def __init__(self, number: int, queue: deque[int]) -> None:
        self.number, self.queue = number, queue
        self.now = self.next = 0
        """First cycle in which it may issue, and the one in which it will."""
        self.slots: list[_Slot] = []
        self.chosen: _Slot
        """Thread that issues next."""
        self.free = {"fpu": 0, "math": 0, _FRONT: 0}
        self.last: _Slot | None = None
        self.stays = True
        self.atomic = False
        self.covered = 0
        """Cycles before this one are accounted as held or idle."""


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
    """Return the account of threads that execute these steps, dealt to the units in turn.

    Threads with larger ``priorities`` go first; all are equal by default. ``come`` is called before each issue with
    the cycle in which it ends and the instruction.
    """
    schedule = _Schedule(config, traces, priorities or [0] * len(traces), watcher, carrier, come)
    return schedule.run([dependences(each, config) for each in instructions])


@dataclass(slots=True)
class _Schedule:
    _config: EuConfig
    _traces: Sequence[Sequence[CarriedStep]]
    _priorities: Sequence[int]
    _watcher: Watcher | None
    _carrier: Carrier | None
    _come: Callable[[int, int], None] | None
    _known: Sequence[EuDependences] = ()
    _targets: Counter[int] = field(default_factory=Counter)
    """Cycle in which each target of messages is free."""
    _caches: InstructionCaches | None = field(init=False)
    _account: Account = field(init=False)

    def run(self, known: Sequence[EuDependences]) -> Account:
        """Schedule all threads; ``known`` are the dependences of each instruction."""
        units = [_Unit(number, deque()) for number in range(self._config.units)]
        for number, steps in enumerate(self._traces):
            if steps:
                units[number % len(units)].queue.append(number)
        self._known = known
        self._caches = InstructionCaches(self._config) if self._config.caches else None
        self._account = Account(self._config, [ThreadAccount(at % len(units), 0) for at in range(len(self._traces))])
        for unit in units:
            self._dispatch(unit, 0)
        while going := [each for each in units if each.slots]:
            self._slot(min(going, key=lambda each: (each.next, each.number)))
        if self._caches is not None:
            self._caches.count(self._account)
        return self._account

    def _dispatch(self, unit: _Unit, cycle: int) -> None:
        """Let threads begin in the places that are free, and look for the unit's next issue."""
        while unit.queue and len(unit.slots) < self._config.threads:
            number = unit.queue.popleft()
            account = self._account.threads[number]
            account.begin = cycle
            slot = _Slot(number, self._traces[number], account, self._priorities[number])
            unit.slots.append(slot)
            self._fetch(unit, slot, cycle)
        self._look(unit)

    def _look(self, unit: _Unit) -> None:
        """Choose the thread that issues next; no other unit changes that."""
        if unit.slots:
            when = {slot: self._when(unit, slot) for slot in unit.slots}
            unit.chosen = self._choose(unit, when)
            unit.next = max(unit.now, when[unit.chosen])

    def _fetch(self, unit: _Unit, slot: _Slot, cycle: int) -> None:
        line = slot.step.number // LINE_INSTRUCTIONS
        if self._caches is None or line == slot.line:
            return
        slot.line = line
        slot.fetched = self._caches.fetch(unit.number, line, cycle)
        if self._carrier is not None:
            self._carrier(slot.number, "instruction fetch", cycle, slot.fetched, LINE_BYTES)

    # --- one slot of issue ----------------------------------------------------------------------------------------

    def _own_waits(self, slot: _Slot) -> list[tuple[int, str]]:
        """Return the end and the cause of each wait of a thread's next instruction other than for its part, in order.

        They are known once the instruction before has issued: nothing but the thread itself changes them.
        """
        if slot.waits is None:
            known, step = self._known[slot.step.number], slot.step
            waits = {(slot.fetched, "fetch")}
            for register in (*known.awaited, *step.reads, *step.writes):
                if register in slot.pending:
                    waits.add(slot.pending[register])
            slot.waits = [(slot.after, _FRONT), *sorted(each for each in waits if each[0] > slot.after)]
        return slot.waits

    def _ready(self, unit: _Unit, slot: _Slot) -> list[tuple[int, str]]:
        """Return the end and the cause of each wait of a thread's next instruction, in order."""
        waits, part = self._own_waits(slot), self._known[slot.step.number].part
        if part == _FRONT or unit.free[part] <= slot.after:
            return waits
        return [waits[0], *sorted({*waits[1:], (unit.free[part], f"{part} held")})]

    def _when(self, unit: _Unit, slot: _Slot) -> int:
        """Return the first cycle in which a thread's next instruction can issue."""
        own, part = self._own_waits(slot)[-1][0], self._known[slot.step.number].part
        return own if part == _FRONT else max(own, unit.free[part])

    def _slot(self, unit: _Unit) -> None:
        """Issue the next instruction of a unit."""
        chosen, cycle = unit.chosen, unit.next
        waits = self._ready(unit, chosen)
        for until, what in (*waits, (cycle, waits[-1][1])):
            if until > unit.covered:
                self._account.idle[what] += until - unit.covered
                unit.covered = until
        self._issue(unit, chosen, cycle, waits)

    def _choose(self, unit: _Unit, when: dict[_Slot, int]) -> _Slot:
        last = unit.last if unit.last in when else None
        if last is not None and unit.atomic:
            return last
        cycle = max(unit.now, min(when.values()))
        ready = [slot for slot, first in when.items() if first <= cycle]
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
            # Issues follow each other: whatever still holds the other pipe began before this one.
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
            self._dispatch(unit, slot.after)  # the front end that a last message holds is its thread's alone
        else:
            self._fetch(unit, slot, cycle)
            self._look(unit)

    def _mark(self, slot: _Slot, step: CarriedStep, known: EuDependences, cycle: int) -> None:
        """Note when the registers that an instruction writes are ready."""
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
