"""Two ways to turn accesses into SDRAM commands: equal slots, as the thesis counts, and a greedy controller.

Both take accesses in order, one at a time, and answer when each one has its bytes on the pins. The commands that are
settled can be drained at any time, in order, for a trace or a checker.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pixelflow.config import SdramConfig
from pixelflow.node.parts.sdram.commands import Access, CommandKind, SdramCommand, commands_of_rows, rows_of_commands
from pixelflow.node.parts.sdram.rules import BURSTS, Sdram
from pixelflow.node.parts.sdram.slots import Pattern, Slot, access_commands, change_cycles, equal_slot
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.report import counted
from pixelflow.simd.snapshot import Snapshot
from pixelflow.simd.units import Cycle

__all__ = ["AccessPlacement", "EqualSlots", "Greedy", "Scheduler"]


FIRST = Cycle(0)
"""The clock in which a schedule may begin."""


class AccessPlacement(NamedTuple):
    """When an access happens: its first command, its RD or WR, and its first and last byte on the pins."""

    start: Cycle
    column: Cycle
    first_byte: Cycle
    last_byte: Cycle


class Scheduler(ABC):
    """What both ways share: the devices, refresh, and the commands given so far."""

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
        """Take the commands that no later access can come before, in order of time."""
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
        """Go on from a snapshot of a schedule of the same kind and configuration."""
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
        """Give a command as early as the devices take it; return its clock."""
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

    The distance follows from the burst, the direction and the promise that ``pattern`` makes. Where burst or direction
    change, one longer gap comes in between. Every access opens and closes its row.
    """

    def __init__(self, config: SdramConfig, pattern: Pattern = Pattern.RANDOM) -> None:
        super().__init__(config)
        self.pattern = pattern
        self.spacing = 0
        self._slots: dict[tuple[int, bool], Slot] = {}
        self._last: Access | None = None
        self._start = Cycle(0)

    def promise(self, pattern: Pattern, spacing: int = 0) -> None:
        """Change what is promised about the banks, and how much longer than necessary slots are, from now on.

        The next access must come when the one before it has let every bank settle.
        """
        if (pattern, spacing) != (self.pattern, self.spacing):
            self.pattern, self.spacing = pattern, spacing
            self._slots.clear()

    def place(self, access: Access, *, not_before: Cycle = FIRST) -> AccessPlacement:
        """Give the next access its slot.

        Raises MachineFault where the pattern promises alternate banks and the access breaks the promise.
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
    """Every command as early as the devices take it, rows left open; an option, and not the thesis's machine.

    Accesses keep their order. An access is looked at as soon as the one before the last has its column command, so
    that its row opens while the last one is still transferring.
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
