"""Schedule: threads take turns on execution units, instruction by instruction, by the policy of Kanter's article.

In each slot of issue: a thread whose last instruction was atomic issues again; else the one that issued last goes on
while its next instruction is ready and it has not asked for a switch; else the ready thread of the highest priority,
the one that has waited longest first. A thread that ends is followed in its place by the next one at once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.time.caches import LINE_BYTES, LINE_INSTRUCTIONS, InstructionCaches
from gen6_bridge.time.config import EuConfig
from gen6_bridge.time.dependences import ACCUMULATOR, FLAG, EuDependences, dependences
from gen6_bridge.time.traces import CarriedStep
from gen6_bridge.unit.messages import TARGET_NAMES

__all__ = ["Account", "Carrier", "Stretches", "ThreadAccount", "Watcher", "schedule"]

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
    """Cycles in which no part was held, by what the first thread that could go on had waited for."""
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
        """What its next instruction waits for but its part; None until somebody asks."""

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
    """Return what threads take that carry out these steps, each on the unit that has its turn.

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
