"""SDRAMs (time): the rules of their banks, equal slots, and schedules of the accesses of one module."""

from __future__ import annotations

import copy
import heapq
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from pixelflow.config import SdramConfig
from pixelflow.node.sdram_checker import SdramChecker
from pixelflow.node.sdram_commands import Access, CommandKind, SdramCommand, commands_of_rows, rows_of_commands
from pixelflow.node.texture_addresses import AddressMap, Cell, needs_addresses
from pixelflow.node.transfer import RoundAddresses
from pixelflow.simd.errors import InternalError, MachineFault
from pixelflow.simd.report import counted
from pixelflow.simd.units import Cycle, Snapshot

# The bank states of a synchronous DRAM: which command may come in which clock.
#
# The eight devices of a module get the same command in the same clock (thesis 2.2.1), so one state represents all. The
# table below has the rules: the earliest clock of a command, and the commands that must wait after it.


ACT, RD, WR, PRE, REF = CommandKind

BURSTS = (1, 2, 4, 8)
"""Bytes of one burst that parts of this family offer (standing: invented; the thesis uses 4 and 8)."""


class RuleScope(Enum):
    """The banks to which a rule applies, seen from the bank of the first command."""

    SAME = "same bank"
    OTHER = "other banks"
    ALL = "all banks"


class Rule(NamedTuple):
    """The least distance of two commands: a number of clocks that follows from the times and the burst."""

    name: str
    first: CommandKind
    then: tuple[CommandKind, ...]
    scope: RuleScope
    clocks: Callable[[SdramConfig, int], int]


# fmt: off
RULES = (
    #    name                  first  then        banks        clocks
    Rule("tRCD",               ACT,   (RD, WR),   RuleScope.SAME,  lambda t, burst: t.trcd_cycles),
    Rule("tRAS",               ACT,   (PRE,),     RuleScope.SAME,  lambda t, burst: t.tras_cycles),
    Rule("tRC",                ACT,   (ACT,),     RuleScope.SAME,  lambda t, burst: t.trc_cycles),
    Rule("tRRD",               ACT,   (ACT,),     RuleScope.OTHER, lambda t, burst: t.trrd_cycles),
    Rule("tRP",                PRE,   (ACT, REF), RuleScope.SAME,  lambda t, burst: t.trp_cycles),
    Rule("read to precharge",  RD,    (PRE,),     RuleScope.SAME,  lambda t, burst: t.cl_cycles + burst - 2),
    Rule("write to precharge", WR,    (PRE,),     RuleScope.SAME,  lambda t, burst: burst - 1 + t.twr_cycles),
    Rule("tRFC",               REF,   (ACT, REF), RuleScope.ALL,   lambda t, burst: t.trfc_cycles),
)
# fmt: on


class _Burst(NamedTuple):
    """Clocks in which the data pins are used, ends included."""

    first: int
    last: int
    write: bool


class Sdram:
    """The state of the devices of one module.

    Commands of one bank, activations, and column commands (RD, WR) must each come in order of time; beyond that a
    command may be put before one that was issued already, so that a scheduler can fill gaps.
    """

    def __init__(self, config: SdramConfig) -> None:
        self.config = config
        self.open_row: list[int | None] = [None] * config.banks
        banks = range(config.banks)
        self._ready: list[dict[CommandKind, int]] = [dict.fromkeys(CommandKind, 0) for _ in banks]
        self._taken: set[int] = set()
        self._bursts: deque[_Burst] = deque()
        self._effects = {
            (kind, burst): tuple(
                (rule.scope, then, rule.clocks(config, burst))
                for rule in RULES
                if rule.first is kind
                for then in rule.then
            )
            for kind in CommandKind
            for burst in (BURSTS if kind in (RD, WR) else (0,))
        }

    def earliest(self, kind: CommandKind, bank: int, burst: int = 0, *, not_before: int = 0) -> Cycle:
        """Return the first clock, starting at ``not_before``, in which the command breaks no rule.

        Raises MachineFault where waiting cannot help: ACT of an open bank, RD or WR of a closed one, REF with one open.
        """
        self._check_state(kind, bank)
        if kind is REF:
            cycle = max(not_before, *(ready[REF] for ready in self._ready))
        else:
            cycle = max(not_before, self._ready[bank][kind])
        column = kind is RD or kind is WR
        while True:
            moved = self._data_free(kind is WR, burst, cycle) if column else cycle
            if moved in self._taken:
                moved += 1
            if moved == cycle:
                return Cycle(cycle)
            cycle = moved

    def _check_state(self, kind: CommandKind, bank: int) -> None:
        if kind is REF:
            if any(row is not None for row in self.open_row):
                raise MachineFault("SDRAM: REF with an open bank")
        elif kind is ACT and self.open_row[bank] is not None:
            raise MachineFault(f"SDRAM: ACT of bank {bank}, whose row {self.open_row[bank]} is open")
        elif kind is not ACT and kind is not PRE and self.open_row[bank] is None:
            raise MachineFault(f"SDRAM: {kind} of bank {bank}, which is closed")

    def _data_free(self, write: bool, burst: int, cycle: int) -> int:
        """Return the first clock starting at ``cycle`` in which a column command finds the data pins free.

        One byte a clock; a written byte leaves one clock free after a read one, so that the pins can turn round.
        """
        delay = 0 if write else self.config.cl_cycles
        for held in self._bursts:
            gap = 1 if write and not held.write else 0
            first = cycle + delay
            if first <= held.last + gap and first + burst - 1 >= held.first:
                cycle = held.last + gap + 1 - delay
        return cycle

    def issue(self, command: SdramCommand) -> None:
        """Give a command to the devices; raises MachineFault where it is too early or does not fit the state."""
        cycle, kind, bank, row, _, burst = command
        soonest = self.earliest(kind, bank, burst, not_before=cycle)
        if soonest != cycle:
            raise MachineFault(f"SDRAM: {kind} of bank {bank} in clock {cycle}; the earliest is {soonest}")
        if (kind is RD or kind is WR) and self.open_row[bank] != row:
            raise MachineFault(f"SDRAM: {kind} of row {row}, but row {self.open_row[bank]} of bank {bank} is open")
        self._taken.add(cycle)
        if kind is ACT:
            self.open_row[bank] = row
        elif kind is PRE:
            self.open_row[bank] = None
        elif kind is not REF:
            first = cycle if kind is WR else cycle + self.config.cl_cycles
            self._bursts.append(_Burst(first, first + burst - 1, kind is WR))
        for scope, then, clocks in self._effects[kind, burst]:
            for other, ready in enumerate(self._ready):
                if scope is RuleScope.ALL or (other == bank) == (scope is RuleScope.SAME):
                    ready[then] = max(ready[then], cycle + clocks)

    def forget_before(self, cycle: int) -> None:
        """Drop the record of pins used before ``cycle``; later commands must not come earlier."""
        if len(self._taken) > 64:
            self._taken = {each for each in self._taken if each >= cycle}
        while self._bursts and self._bursts[0].last + 1 < cycle:
            self._bursts.popleft()

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the state, as plain numbers."""
        return {
            "open_row": list(self.open_row),
            "ready": [[ready[kind] for kind in CommandKind] for ready in self._ready],
            "taken": sorted(self._taken),
            "bursts": [list(burst) for burst in self._bursts],
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of devices of the same configuration."""
        self.open_row = list(snapshot["open_row"])
        self._ready = [dict(zip(CommandKind, ready, strict=True)) for ready in snapshot["ready"]]
        self._taken = set(snapshot["taken"])
        self._bursts = deque(_Burst(*burst) for burst in snapshot["bursts"])


def sdram_distances(config: SdramConfig) -> dict[str, int]:
    """Return the least clocks between commands by rule, each measured on a device."""
    device, late = Sdram(config), Cycle(1000)
    device.issue(SdramCommand(Cycle(0), ACT, 0))
    found = {
        "tRCD": device.earliest(RD, 0, 1),
        "tRRD": device.earliest(ACT, 1),
        "tRAS": device.earliest(PRE, 0),
    }
    device.issue(SdramCommand(found["tRAS"], PRE, 0))
    found["tRC"] = device.earliest(ACT, 0)
    device.issue(SdramCommand(late, PRE, 0))
    found["tRP"] = Cycle(device.earliest(ACT, 0, not_before=late) - late)
    return {name: int(clocks) for name, clocks in found.items()}


# Equal slots: the constant distance at which accesses to an SDRAM may follow each other indefinitely (thesis table 2).
#
# Slot lengths are found by search: an access has an activation, a column command and a precharge at fixed places of its
# slot, and the slot is the shortest distance at which such accesses, in every order of banks that the pattern allows,
# are accepted by the bank states.


class Pattern(Enum):
    """The promise about the banks of consecutive accesses (thesis table 2)."""

    RANDOM = "random access"
    """The next access may be in any bank and any row."""
    ALTERNATE = "alternate banks"
    """The next access is in another bank, in any row."""


class Slot(NamedTuple):
    """The places of the commands of an access, in clocks from its activation, and the distance of the next one."""

    cycles: int
    column: int
    """Clock of RD or WR."""
    precharge: int
    """Clock of PRE."""


def access_commands(
    slot: Slot, start: int, bank: int, row: int, column: int, burst: int, *, write: bool
) -> tuple[SdramCommand, SdramCommand, SdramCommand]:
    """Return the three commands of one access whose activation is in clock ``start``."""
    kind = CommandKind.WRITE if write else CommandKind.READ
    return (
        SdramCommand(Cycle(start), CommandKind.ACTIVATE, bank, row),
        SdramCommand(Cycle(start + slot.column), kind, bank, row, column, burst),
        SdramCommand(Cycle(start + slot.precharge), CommandKind.PRECHARGE, bank),
    )


@lru_cache
def equal_slot(config: SdramConfig, burst: int, *, write: bool, pattern: Pattern, spacing: int = 0) -> Slot:
    """Return the shortest slot for accesses of ``burst`` bytes that are all reads or all writes.

    With ``spacing`` it is at least that much longer, with its commands placed so that they do not collide.
    """
    if spacing:
        cycles = equal_slot(config, burst, write=write, pattern=pattern).cycles + spacing
        return _slot_from(config, burst, cycles, pattern, write=write)
    if pattern is Pattern.ALTERNATE and config.banks < 2:
        raise MachineFault("alternate banks need two banks")
    return _slot_from(config, burst, 1, pattern, write=write)


def _slot_from(config: SdramConfig, burst: int, cycles: int, pattern: Pattern, *, write: bool) -> Slot:
    """Return the shortest slot of ``cycles`` or more."""
    while True:
        for slot in _candidates(config, burst, cycles, write=write):
            if _steady(config, slot, burst, pattern, write=write):
                return slot
        cycles += 1


def _candidates(config: SdramConfig, burst: int, cycles: int, *, write: bool) -> list[Slot]:
    """Return places for the commands of an access, each as early as the times allow or up to two clocks later.

    Delays only avoid commands of different accesses in the same clock. The column command must avoid one place of the
    slot and the precharge two, so one and two clocks are enough.
    """
    slots = []
    for column in (config.trcd_cycles, config.trcd_cycles + 1):
        after = burst - 1 + config.twr_cycles if write else config.cl_cycles + burst - 2
        soonest = max(config.tras_cycles, column + after, column + 1)
        slots += [Slot(cycles, column, soonest + wait) for wait in range(3)]
    return sorted(slots, key=lambda slot: (slot.precharge, slot.column))


def _steady(config: SdramConfig, slot: Slot, burst: int, pattern: Pattern, *, write: bool) -> bool:
    """Return whether accesses at the slot's distance are legal in every order of banks that the pattern allows."""
    # The longest reach of a rule from one access to a later one.
    reach = slot.precharge + config.trc_cycles + config.trp_cycles + config.trrd_cycles + config.cl_cycles + burst
    # Three accesses quickly reject a slot that is much too short.
    return all(
        _legal(config, [(slot, index * slot.cycles, bank, burst, write) for index, bank in enumerate(banks)])
        for count in (3, reach // slot.cycles + 2)
        for banks in _bank_orders(config.banks, count, pattern)
    )


def _bank_orders(banks: int, count: int, pattern: Pattern) -> Iterator[tuple[int, ...]]:
    """Yield every order of banks that starts with bank 0 (the banks are equivalent)."""
    stack: list[tuple[int, ...]] = [(0,)]
    while stack:
        order = stack.pop()
        if len(order) == count:
            yield order
            continue
        stack += [(*order, bank) for bank in reversed(range(banks)) if pattern is Pattern.RANDOM or bank != order[-1]]


def _legal(config: SdramConfig, accesses: list[tuple[Slot, int, int, int, bool]]) -> bool:
    """Return whether the devices accept these accesses: (slot, start, bank, burst, write) each."""
    commands: list[SdramCommand] = []
    for slot, start, bank, burst, write in accesses:
        commands += access_commands(slot, start, bank, 0, 0, burst, write=write)
    sdram = Sdram(config)
    try:
        for command in sorted(commands, key=lambda command: command.cycle):
            sdram.issue(command)
    except MachineFault:
        return False
    return True


@lru_cache
def change_cycles(config: SdramConfig, first: tuple[int, bool], then: tuple[int, bool], pattern: Pattern) -> int:
    """Return the distance from the last access of one kind to the first of another, each given as (burst, write).

    The two may be in the same bank with any pattern, so that earlier accesses do not matter after the change.
    """
    before = equal_slot(config, first[0], write=first[1], pattern=pattern)
    after = equal_slot(config, then[0], write=then[1], pattern=pattern)
    same_kind = equal_slot(config, first[0], write=first[1], pattern=Pattern.RANDOM).cycles
    distance = same_kind
    while not all(
        _legal(
            config,
            [(before, index * before.cycles, bank, *first) for index, bank in enumerate(old)]
            + [
                (after, (len(old) - 1) * before.cycles + distance + index * after.cycles, (bank + turn) % 2, *then)
                for index, bank in enumerate(new)
            ],
        )
        for old in _bank_orders(min(config.banks, 2), 3, pattern)
        for new in _bank_orders(min(config.banks, 2), 3, pattern)
        for turn in (0, 1)
    ):
        distance += 1
    return distance


# Two ways to turn accesses into SDRAM commands: equal slots, as the thesis counts, and a greedy controller.
#
# Both take accesses in order, one at a time, and return the time of their bytes on the pins. Settled commands can be
# drained at any time, in order, for a trace or a checker.


FIRST = Cycle(0)
"""The clock in which a schedule may begin."""


class AccessPlacement(NamedTuple):
    """The clocks of an access: its first command, its RD or WR, and its first and last byte on the pins."""

    start: Cycle
    column: Cycle
    first_byte: Cycle
    last_byte: Cycle


class Scheduler(ABC):
    """The common part of both schedulers: devices, refresh, and the commands given so far."""

    def __init__(self, config: SdramConfig) -> None:
        self.config = config
        self.sdram = Sdram(config)
        self._refresh_due = config.refresh_interval_cycles if config.refresh else None
        self._commands: list[SdramCommand] = []
        self._settled = Cycle(0)

    @abstractmethod
    def place(self, access: Access, *, not_before: Cycle = FIRST) -> AccessPlacement:
        """Give the commands of the next access, the first of them in clock ``not_before`` or later."""

    def drain(self) -> list[SdramCommand]:
        """Take the commands that precede those of any later access, in order of time."""
        return self._take(self._settled)

    def finish(self) -> list[SdramCommand]:
        """Close the open banks and take all commands that are left."""
        for bank, row in enumerate(self.sdram.open_row):
            if row is not None:
                self._give(CommandKind.PRECHARGE, bank, not_before=self._settled)
        return self._take(None)

    def schedule(self, accesses: Iterable[Access]) -> Iterator[SdramCommand]:
        """Yield the commands of all accesses in order of time, then those that close the banks."""
        for access in accesses:
            self.place(access)
            yield from self.drain()
        yield from self.finish()

    def snapshot(self) -> Snapshot:
        """Return the state of the schedule and of the devices, as plain numbers."""
        return {
            "sdram": self.sdram.snapshot(),
            "refresh_due": self._refresh_due,
            "commands": rows_of_commands(self._commands),
            "settled": self._settled,
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of a schedule of the same kind and configuration."""
        self.sdram.restore(snapshot["sdram"])
        self._refresh_due = snapshot["refresh_due"]
        self._commands = commands_of_rows(snapshot["commands"])
        self._settled = snapshot["settled"]

    def _take(self, before: Cycle | None) -> list[SdramCommand]:
        taken, commands = [], self._commands
        while commands and (before is None or commands[0].cycle < before):
            taken.append(heapq.heappop(commands))
        return taken

    def _issue(self, command: SdramCommand) -> Cycle:
        self.sdram.issue(command)
        heapq.heappush(self._commands, command)
        return command.cycle

    def _give(
        self, kind: CommandKind, bank: int, row: int = 0, column: int = 0, burst: int = 0, *, not_before: int = 0
    ) -> Cycle:
        """Give a command as early as the devices accept it; return its clock."""
        cycle = self.sdram.earliest(kind, bank, burst, not_before=not_before)
        return self._issue(SdramCommand(cycle, kind, bank, row, column, burst))

    def _refresh(self, start: Cycle) -> Cycle:
        """Give the refreshes that are due by ``start``; return the clock from which the next access may start."""
        while self._refresh_due is not None and start >= self._refresh_due:
            for bank, row in enumerate(self.sdram.open_row):
                if row is not None:
                    self._give(CommandKind.PRECHARGE, bank, not_before=max(self._refresh_due, self._settled))
            given = self._give(CommandKind.REFRESH, 0, not_before=self._refresh_due)
            self._refresh_due += self.config.refresh_interval_cycles
            start = max(start, self.sdram.earliest(CommandKind.ACTIVATE, 0, not_before=given))
        return start

    def _placement(self, start: Cycle, column: Cycle, access: Access) -> AccessPlacement:
        first = column if access.write else Cycle(column + self.config.cl_cycles)
        return AccessPlacement(start, column, first, Cycle(first + access.burst - 1))

    def _check(self, access: Access) -> None:
        config = self.config
        if not (0 <= access.bank < config.banks and 0 <= access.row < config.rows):
            raise MachineFault(f"SDRAM: there is no row {access.row} of bank {access.bank}")
        if access.burst not in BURSTS:
            raise MachineFault(f"SDRAM: a burst has {' or '.join(map(str, BURSTS))} bytes, not {access.burst}")
        if not 0 <= access.column <= config.columns - access.burst:
            raise MachineFault(f"SDRAM: {access.burst} bytes from column {access.column} leave the row")


class EqualSlots(Scheduler):
    """Accesses at a constant distance; what the thesis counts (table 2).

    The distance follows from the burst, the direction and the promise of ``pattern``. Where burst or direction change,
    there is one longer gap. Every access opens and closes its row.
    """

    def __init__(self, config: SdramConfig, pattern: Pattern = Pattern.RANDOM) -> None:
        super().__init__(config)
        self.pattern = pattern
        self.spacing = 0
        self._slots: dict[tuple[int, bool], Slot] = {}
        self._last: Access | None = None
        self._start = Cycle(0)

    def promise(self, pattern: Pattern, spacing: int = 0) -> None:
        """Change the promise about the banks, and the additional length of slots, for later accesses.

        The next access must come when every bank has settled after the previous one.
        """
        if (pattern, spacing) != (self.pattern, self.spacing):
            self.pattern, self.spacing = pattern, spacing
            self._slots.clear()

    def place(self, access: Access, *, not_before: Cycle = FIRST) -> AccessPlacement:
        """Give the next access its slot.

        Raises MachineFault where the access breaks a promise of alternate banks.
        """
        self._check(access)
        last = self._last
        start = not_before
        if last is not None:
            start = max(start, Cycle(self._start + self._distance(last, access)))
            if self.pattern is Pattern.ALTERNATE and last.bank == access.bank:
                self._check_promise(last, access, start)
        start = self._refresh(start)
        slot = self._slot(access)
        self.sdram.forget_before(start)
        bank, row, column, burst, write = access
        commands = access_commands(slot, start, bank, row, column, burst, write=write)
        for command in commands:
            self._issue(command)
        self._last, self._start = access, start
        self._settled = Cycle(start + 1)
        return self._placement(start, commands[1].cycle, access)

    def snapshot(self) -> Snapshot:
        last = None if self._last is None else list(self._last)
        own = {"pattern": self.pattern.name, "spacing": self.spacing, "last": last, "start": self._start}
        return super().snapshot() | own

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self.promise(Pattern[snapshot["pattern"]], snapshot["spacing"])
        self._last = None if snapshot["last"] is None else Access(*snapshot["last"])
        self._start = snapshot["start"]

    def _slot(self, access: Access) -> Slot:
        key = (access.burst, access.write)
        if key not in self._slots:
            self._slots[key] = equal_slot(
                self.config, access.burst, write=access.write, pattern=self.pattern, spacing=self.spacing
            )
        return self._slots[key]

    def _distance(self, last: Access, access: Access) -> int:
        if (last.burst, last.write) == (access.burst, access.write):
            return self._slot(access).cycles
        return change_cycles(self.config, (last.burst, last.write), (access.burst, access.write), self.pattern)

    def _check_promise(self, last: Access, access: Access, start: Cycle) -> None:
        enough = equal_slot(self.config, last.burst, write=last.write, pattern=Pattern.RANDOM).cycles
        if start - self._start < enough:
            raise MachineFault(
                f"SDRAM, clock {start}: alternate banks were promised, but row {access.row} of bank {access.bank} "
                f"follows row {last.row} of the same bank after {counted(start - self._start, 'clock')}"
            )


class Greedy(Scheduler):
    """Every command as early as the devices accept it, rows left open; an option, not the thesis's machine.

    Accesses keep their order. An access is scheduled as soon as the one before the last has its column command, so that
    its row opens during the transfer of the last one.
    """

    def __init__(self, config: SdramConfig) -> None:
        super().__init__(config)
        self._columns = (Cycle(-1), Cycle(-1))

    def place(self, access: Access, *, not_before: Cycle = FIRST) -> AccessPlacement:
        """Give the next access its commands."""
        self._check(access)
        seen = self._refresh(max(not_before, Cycle(self._columns[0] + 1)))
        self.sdram.forget_before(seen)
        bank, row, column, burst, write = access
        start = None
        open_row = self.sdram.open_row[bank]
        if open_row != row:
            if open_row is not None:
                start = self._give(CommandKind.PRECHARGE, bank, not_before=seen)
            opened = self._give(CommandKind.ACTIVATE, bank, row, not_before=seen)
            start = opened if start is None else start
        kind = CommandKind.WRITE if write else CommandKind.READ
        in_order = max(seen, Cycle(self._columns[1] + 1))
        issued = self._give(kind, bank, row, column, burst, not_before=in_order)
        self._columns = (self._columns[1], issued)
        self._settled = Cycle(self._columns[0] + 1)
        return self._placement(issued if start is None else start, issued, access)

    def snapshot(self) -> Snapshot:
        return super().snapshot() | {"columns": list(self._columns)}

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        older, newer = snapshot["columns"]
        self._columns = (older, newer)


# The SDRAMs of one module in a run that schedules every access: a greedy controller, refresh, or the command checker.
#
# The times of equal slots without refresh follow from the number of accesses. With the checker they are scheduled as
# well, and the two must agree to the cycle.


def needs_schedule(config: SdramConfig) -> bool:
    """Return whether a run must schedule every access."""
    return needs_addresses(config) or config.refresh


def access_pattern(*, alternate: bool) -> Pattern:
    """Return the promise of a transfer about its banks."""
    return Pattern.ALTERNATE if alternate else Pattern.RANDOM


def settle_cycles(config: SdramConfig, size: int, *, write: bool, pattern: Pattern, spacing: int = 0) -> int:
    """Return the cycles from the start of an access to the start of an access of any other kind."""
    slot = equal_slot(config, size, write=write, pattern=pattern, spacing=spacing)
    return max(slot.cycles, slot.precharge + config.trp_cycles, config.trc_cycles)


@dataclass
class _Part:
    """Devices that received the same commands so far."""

    devices: tuple[int, ...]
    scheduler: Scheduler
    checker: SdramChecker | None
    """The checker of all commands, where that is switched on."""

    def show(self, commands: Iterable[SdramCommand]) -> None:
        if self.checker is not None:
            self.checker.see(commands)


class SdramUse:
    """Schedules the accesses of one module, round by round.

    As long as all devices get the same addresses, they share one schedule; after the first access with an address for
    each device they have separate ones (invented: commands then differ in bank, row and column, and under a greedy
    controller in time; a round ends with the last device).
    """

    def __init__(self, name: str, config: SdramConfig) -> None:
        self.name = name
        self.config = config
        self.parts = [self._part(range(config.devices_per_module))]
        self.accesses = 0
        self._map = AddressMap(config)

    def _part(self, devices: Iterable[int]) -> _Part:
        scheduler = EqualSlots(self.config) if self.config.equal_slots else Greedy(self.config)
        checker = SdramChecker(self.config) if self.config.check_commands else None
        return _Part(tuple(devices), scheduler, checker)

    def round(
        self, start: int, addresses: RoundAddresses, size: int, *, write: bool, pattern: Pattern, overhead: int
    ) -> int:
        """Execute the accesses of a round, beginning in cycle ``start``; return the cycle after the last.

        ``overhead`` cycles are added to the slot of each access; under a greedy controller once a round.
        """
        if any(each is not None and len(each) > 1 for each in addresses):
            self._split()
        ends = [
            self._run(part, start, addresses, size, write=write, pattern=pattern, overhead=overhead)
            for part in self.parts
        ]
        self.accesses += sum(each is not None for each in addresses)
        return max(ends)

    def _run(
        self,
        part: _Part,
        start: int,
        addresses: RoundAddresses,
        size: int,
        *,
        write: bool,
        pattern: Pattern,
        overhead: int,
    ) -> int:
        scheduler = part.scheduler
        equal = isinstance(scheduler, EqualSlots)
        if isinstance(scheduler, EqualSlots):
            scheduler.promise(pattern, overhead)
            step = equal_slot(self.config, size, write=write, pattern=pattern, spacing=overhead).cycles
        at = end = start
        for each in addresses:
            address = None if each is None else each[0] if len(each) == 1 else each[part.devices[0]]
            if address is not None:
                access = Access(*self._map.cell(address), size, write)
                placement = scheduler.place(access, not_before=Cycle(at))
                if equal:
                    at = placement.start
                else:
                    end = max(end, placement.last_byte + 1 + overhead)
                part.show(scheduler.drain())
            if equal:
                # The slot of an EMC without a PE left passes unused.
                at += step
        return at if equal else end

    def turns(self, count: int) -> RoundAddresses:
        """Return addresses for ``count`` EMCs that alternate between two banks."""
        return tuple((self._map.number(Cell(emc % 2, 0, 0)),) for emc in range(count))

    def _split(self) -> None:
        if len(self.parts) == 1 and len(self.parts[0].devices) > 1:
            whole = self.parts[0]
            self.parts = [
                _Part((device,), copy.deepcopy(whole.scheduler), copy.deepcopy(whole.checker))
                for device in whole.devices
            ]

    def verify(self) -> int:
        """Close the banks and check all commands; return their number, 0 without a checker.

        Raises InternalError where a command breaks a rule.
        """
        seen = 0
        for part in self.parts:
            part.show(part.scheduler.finish())
            if part.checker is not None:
                verdict = part.checker.verdict
                if not verdict.legal:
                    raise InternalError(f"{self.name}, SDRAMs {part.devices}: {verdict}")
                seen += verdict.commands * len(part.devices)
        return seen

    def snapshot(self) -> Snapshot:
        """Return the state of all schedules and checkers, as plain numbers and names."""
        parts = [
            {
                "devices": list(part.devices),
                "scheduler": part.scheduler.snapshot(),
                "checker": part.checker and part.checker.snapshot(),
            }
            for part in self.parts
        ]
        return {"parts": parts, "accesses": self.accesses}

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of a module of the same configuration."""
        self.parts = []
        for saved in snapshot["parts"]:
            part = self._part(saved["devices"])
            part.scheduler.restore(saved["scheduler"])
            if part.checker is not None:
                part.checker.restore(saved["checker"])
            self.parts.append(part)
        self.accesses = snapshot["accesses"]
