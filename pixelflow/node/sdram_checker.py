"""Checker of sequences of SDRAM commands; it shares no code with the scheduler.

For each command it checks whether an earlier one forbids it. The rules are those of a 2M x 8 part with two banks; their
clocks come from the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from pixelflow.config import SdramConfig
from pixelflow.node.sdram_commands import CommandKind, SdramCommand, commands_of_rows, rows_of_commands
from pixelflow.simd.errors import InputError
from pixelflow.simd.report import counted
from pixelflow.simd.units import Cycle, Snapshot


class Breach(StrEnum):
    """The ways to break the rules."""

    TRCD = "tRCD"
    TRP = "tRP"
    TRAS = "tRAS"
    TRC = "tRC"
    TRRD = "tRRD"
    TRFC = "tRFC"
    READ_TO_PRECHARGE = "read to precharge"
    WRITE_TO_PRECHARGE = "write to precharge"
    ONE_COMMAND = "one command per cycle"
    DATA_BUS = "data bus overlap"
    TURNAROUND = "data bus turnaround"
    OPEN_BANK = "ACT to open bank"
    CLOSED_BANK = "RD or WR to closed bank"
    REFRESH_OPEN = "REF with open bank"
    WRONG_ROW = "wrong row"
    BURST = "burst length"
    BANK_RANGE = "bank range"
    ROW_RANGE = "row range"
    COLUMN_RANGE = "column range"


class Verdict(NamedTuple):
    """The result of a check: legal, or the first illegal cycle and every rule broken in it."""

    commands: int
    """Commands seen, up to the end of the first bad cycle."""
    first_bad_cycle: Cycle | None = None
    rules: tuple[Breach, ...] = ()
    """In the order of their names."""
    culprits: tuple[SdramCommand, ...] = ()
    """The commands of that cycle that break a rule."""

    @property
    def legal(self) -> bool:
        """True if no rule is broken."""
        return self.first_bad_cycle is None

    def __str__(self) -> str:
        if self.legal:
            return f"legal: {counted(self.commands, 'command')}"
        named = "; ".join(f"{each.kind} bank {each.bank} row {each.row}" for each in self.culprits)
        return f"illegal in cycle {self.first_bad_cycle}: {', '.join(self.rules)} ({named})"


@dataclass(slots=True)
class _Bank:
    """The history of one bank."""

    row: int | None = None
    activated: int | None = None
    precharged: int | None = None
    columns: list[SdramCommand] = field(default_factory=list)
    """Column commands that may still forbid a precharge."""


BURSTS = (1, 2, 4, 8)
"""Burst lengths that the part offers."""


class SdramChecker:
    """Checks one command sequence against the rules: as a whole (:meth:`check`), or piece by piece (:meth:`see`)."""

    def __init__(self, config: SdramConfig) -> None:
        self.config = config
        # Cycles after which a column command has no effect on later ones.
        self._memory = config.cl_cycles + config.twr_cycles + 2 * max(BURSTS) + 2
        self._start()

    def _start(self) -> None:
        self._banks = [_Bank() for _ in range(self.config.banks)]
        self._refreshed: int | None = None
        self._pins: list[tuple[int, int, CommandKind]] = []
        self._last: Cycle | None = None
        self._seen = 0
        self._broken: set[Breach] = set()
        self._culprits: list[SdramCommand] = []

    def check(self, commands: Iterable[SdramCommand]) -> Verdict:
        """Return the verdict on commands in order of time (InputError where they are not in order); starts anew."""
        self._start()
        self.see(commands)
        return self.verdict

    def see(self, commands: Iterable[SdramCommand]) -> None:
        """Check the next commands; those after the first illegal cycle are ignored."""
        for command in commands:
            if self._last is not None and command.cycle < self._last:
                raise InputError(f"SDRAM commands out of order: cycle {command.cycle} after cycle {self._last}")
            if self._broken and command.cycle != self._last:
                break
            found = set(self._breaches(command))
            if command.cycle == self._last:
                found.add(Breach.ONE_COMMAND)
            if found:
                self._broken |= found
                self._culprits.append(command)
            self._last, self._seen = command.cycle, self._seen + 1

    @property
    def verdict(self) -> Verdict:
        """The verdict on all commands so far."""
        if not self._broken:
            return Verdict(self._seen)
        return Verdict(self._seen, self._last, tuple(sorted(self._broken)), tuple(self._culprits))

    def snapshot(self) -> Snapshot:
        """Return the state, as plain numbers and names."""
        return {
            "banks": [
                [each.row, each.activated, each.precharged, rows_of_commands(each.columns)] for each in self._banks
            ],
            "refreshed": self._refreshed,
            "pins": [[first, last, kind.value] for first, last, kind in self._pins],
            "last": self._last,
            "seen": self._seen,
            "broken": sorted(each.value for each in self._broken),
            "culprits": rows_of_commands(self._culprits),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of a checker of the same configuration."""
        self._banks = [
            _Bank(row, activated, precharged, commands_of_rows(columns))
            for row, activated, precharged, columns in snapshot["banks"]
        ]
        self._refreshed, self._last, self._seen = snapshot["refreshed"], snapshot["last"], snapshot["seen"]
        self._pins = [(first, last, CommandKind(kind)) for first, last, kind in snapshot["pins"]]
        self._broken = {Breach(each) for each in snapshot["broken"]}
        self._culprits = commands_of_rows(snapshot["culprits"])

    def _breaches(self, command: SdramCommand) -> list[Breach]:
        """Return the rules that a command breaks, and note the command."""
        if command.kind is CommandKind.REFRESH:
            return self._refresh(command.cycle)
        if not 0 <= command.bank < self.config.banks:
            return [Breach.BANK_RANGE]
        bank = self._banks[command.bank]
        match command.kind:
            case CommandKind.ACTIVATE:
                return self._activate(command, bank)
            case CommandKind.PRECHARGE:
                return self._precharge(command.cycle, bank)
            case _:
                return self._column(command, bank)

    def _activate(self, command: SdramCommand, bank: _Bank) -> list[Breach]:
        times, cycle, broken = self.config, command.cycle, []
        if bank.row is not None:
            broken.append(Breach.OPEN_BANK)
        if not 0 <= command.row < times.rows:
            broken.append(Breach.ROW_RANGE)
        if _sooner(cycle, bank.precharged, times.trp_cycles):
            broken.append(Breach.TRP)
        if _sooner(cycle, bank.activated, times.trc_cycles):
            broken.append(Breach.TRC)
        if any(_sooner(cycle, other.activated, times.trrd_cycles) for other in self._banks if other is not bank):
            broken.append(Breach.TRRD)
        if _sooner(cycle, self._refreshed, times.trfc_cycles):
            broken.append(Breach.TRFC)
        bank.row, bank.activated = command.row, cycle
        return broken

    def _precharge(self, cycle: int, bank: _Bank) -> list[Breach]:
        times, broken = self.config, []
        if _sooner(cycle, bank.activated, times.tras_cycles):
            broken.append(Breach.TRAS)
        for each in bank.columns:
            if each.kind is CommandKind.READ and cycle < each.cycle + times.cl_cycles + each.burst - 2:
                broken.append(Breach.READ_TO_PRECHARGE)
            if each.kind is CommandKind.WRITE and cycle < each.cycle + each.burst - 1 + times.twr_cycles:
                broken.append(Breach.WRITE_TO_PRECHARGE)
        bank.row, bank.precharged = None, cycle
        return broken

    def _column(self, command: SdramCommand, bank: _Bank) -> list[Breach]:
        times, cycle, broken = self.config, command.cycle, []
        if bank.row is None:
            broken.append(Breach.CLOSED_BANK)
        elif bank.row != command.row:
            broken.append(Breach.WRONG_ROW)
        if _sooner(cycle, bank.activated, times.trcd_cycles):
            broken.append(Breach.TRCD)
        if command.burst not in BURSTS:
            broken.append(Breach.BURST)
        if command.column < 0 or command.column >= times.columns or command.column + command.burst > times.columns:
            broken.append(Breach.COLUMN_RANGE)
        bank.columns = [each for each in bank.columns if cycle - each.cycle < self._memory]
        bank.columns.append(command)
        return broken + self._data(command)

    def _data(self, command: SdramCommand) -> list[Breach]:
        """Check the bytes of a RD or WR against those of earlier commands on the pins."""
        cycle, kind = command.cycle, command.kind
        first = cycle + self.config.cl_cycles if kind is CommandKind.READ else cycle
        last = first + command.burst - 1
        broken = []
        self._pins = [held for held in self._pins if held[1] >= cycle - 1]
        for held_first, held_last, held_kind in self._pins:
            if first <= held_last and held_first <= last:
                broken.append(Breach.DATA_BUS)
            if kind is not held_kind:
                # A written byte must not come in the clock after a read one.
                read, write = ((first, last), (held_first, held_last))[:: 1 if kind is CommandKind.READ else -1]
                if read[0] + 1 <= write[1] and write[0] <= read[1] + 1:
                    broken.append(Breach.TURNAROUND)
        self._pins.append((first, last, kind))
        return broken

    def _refresh(self, cycle: int) -> list[Breach]:
        times, broken = self.config, []
        if any(bank.row is not None for bank in self._banks):
            broken.append(Breach.REFRESH_OPEN)
        if any(_sooner(cycle, bank.precharged, times.trp_cycles) for bank in self._banks if bank.row is None):
            broken.append(Breach.TRP)
        if _sooner(cycle, self._refreshed, times.trfc_cycles):
            broken.append(Breach.TRFC)
        self._refreshed = cycle
        return broken


def _sooner(cycle: int, before: int | None, clocks: int) -> bool:
    """Return whether fewer than ``clocks`` have passed since ``before``, if that is not None."""
    return before is not None and cycle < before + clocks
