"""The SDRAMs of one module in a run that schedules every access: a greedy controller, refresh, or the command checker.

Equal slots without refresh need none of this: their times follow from the number of accesses. Where the checker is
switched on, they are scheduled all the same, and the two must agree to the cycle.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from pixelflow.config import SdramConfig
from pixelflow.errors import InternalError
from pixelflow.node.sdram_checker import SdramChecker
from pixelflow.node.sdram_commands import Access, Command
from pixelflow.node.sdram_scheduler import EqualSlots, Greedy, Scheduler
from pixelflow.node.sdram_slots import Pattern, equal_slot
from pixelflow.node.transfer import RoundAddresses
from pixelflow.units import Cycle

__all__ = ["SdramUse", "access_pattern", "needs_addresses", "needs_schedule", "settle_cycles"]


def needs_addresses(config: SdramConfig) -> bool:
    """Whether a run must know the address of every access, because its times depend on them or are checked."""
    return config.check_commands or not config.equal_slots


def needs_schedule(config: SdramConfig) -> bool:
    """Whether a run must schedule every access by itself."""
    return needs_addresses(config) or config.refresh


def access_pattern(*, alternate: bool) -> Pattern:
    """Return what a transfer promises about its banks."""
    return Pattern.ALTERNATE if alternate else Pattern.RANDOM


def settle_cycles(config: SdramConfig, size: int, *, write: bool, pattern: Pattern, spacing: int = 0) -> int:
    """Return the cycles from the start of an access after which any other access may start, whatever its kind."""
    slot = equal_slot(config, size, write=write, pattern=pattern, spacing=spacing)
    return max(slot.cycles, slot.precharge + config.trp_cycles, config.trc_cycles)


@dataclass
class _Part:
    """Devices that have had the same commands so far."""

    devices: tuple[int, ...]
    scheduler: Scheduler
    commands: list[Command] = field(default_factory=list)


class SdramUse:
    """Schedules the accesses of one module, round by round.

    As long as all devices are given the same addresses, one schedule stands for all; from the first access with an
    address for each device on, each has its own (invented: commands then differ in bank, row and column, and under a
    greedy controller in time; a round ends with the last device).
    """

    def __init__(self, name: str, config: SdramConfig) -> None:
        self.name = name
        self.config = config
        self.parts = [_Part(tuple(range(config.devices_per_module)), self._scheduler())]
        self.accesses = 0

    def _scheduler(self) -> Scheduler:
        return EqualSlots(self.config) if self.config.equal_slots else Greedy(self.config)

    def round(
        self, start: int, addresses: RoundAddresses, size: int, *, write: bool, pattern: Pattern, overhead: int
    ) -> int:
        """Carry out the accesses of a round from cycle ``start`` on; return the cycle after the last.

        ``overhead`` cycles pass beyond the slot of each access; under a greedy controller they pass once a round.
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
        if equal:
            scheduler.promise(pattern, overhead)
            step = equal_slot(self.config, size, write=write, pattern=pattern, spacing=overhead).cycles
        at = end = start
        for each in addresses:
            address = None if each is None else each[0] if len(each) == 1 else each[part.devices[0]]
            if address is not None:
                placement = scheduler.place(self._access(address, size, write=write), not_before=Cycle(at))
                if equal:
                    at = placement.start
                else:
                    end = max(end, placement.last_byte + 1 + overhead)
                self._keep(part, scheduler.drain())
            if equal:
                # A place of an EMC that has no PE left passes unused.
                at += step
        return at if equal else end

    def _access(self, address: int, size: int, *, write: bool) -> Access:
        line, column = divmod(address, self.config.columns)
        bank, row = divmod(line, self.config.rows)
        return Access(bank, row, column, size, write)

    def _split(self) -> None:
        if len(self.parts) == 1 and len(self.parts[0].devices) > 1:
            whole = self.parts[0]
            self.parts = [
                _Part((device,), copy.deepcopy(whole.scheduler), list(whole.commands)) for device in whole.devices
            ]

    def _keep(self, part: _Part, commands: list[Command]) -> None:
        if self.config.check_commands:
            part.commands += commands

    def verify(self) -> int:
        """Close the banks and show all commands to the checker; return how many it saw.

        Raises InternalError where the checker finds a command that breaks a rule.
        """
        seen = 0
        for part in self.parts:
            self._keep(part, part.scheduler.finish())
            verdict = SdramChecker(self.config).check(part.commands)
            if not verdict.legal:
                raise InternalError(f"{self.name}, SDRAMs {part.devices}: {verdict}")
            seen += verdict.commands * len(part.devices)
        return seen
