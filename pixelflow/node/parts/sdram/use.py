"""The SDRAMs of one module in a run that schedules every access: a greedy controller, refresh, or the command checker.

Equal slots without refresh need none of this: their times follow from the number of accesses. Where the checker is
switched on, they are scheduled all the same, and the two must agree to the cycle.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass

from pixelflow.config import SdramConfig
from pixelflow.node.parts.sdram.checker import SdramChecker
from pixelflow.node.parts.sdram.commands import Access, SdramCommand
from pixelflow.node.parts.sdram.scheduler import EqualSlots, Greedy, Scheduler
from pixelflow.node.parts.sdram.slots import Pattern, equal_slot
from pixelflow.node.parts.texture.addresses import AddressMap, Cell, needs_addresses
from pixelflow.node.parts.texture.transfer import RoundAddresses
from pixelflow.simd.errors import InternalError
from pixelflow.simd.snapshot import Snapshot
from pixelflow.simd.units import Cycle

__all__ = ["SdramUse", "access_pattern", "needs_schedule", "settle_cycles"]


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
    checker: SdramChecker | None
    """Sees all commands, in runs that have them checked."""

    def show(self, commands: Iterable[SdramCommand]) -> None:
        if self.checker is not None:
            self.checker.see(commands)


class SdramUse:
    """Schedules the accesses of one module, round by round.

    As long as all devices are given the same addresses, one schedule stands for all; from the first access with an
    address for each device on, each has its own (invented: commands then differ in bank, row and column, and under a
    greedy controller in time; a round ends with the last device).
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
                access = Access(*self._map.cell(address), size, write)
                placement = scheduler.place(access, not_before=Cycle(at))
                if equal:
                    at = placement.start
                else:
                    end = max(end, placement.last_byte + 1 + overhead)
                part.show(scheduler.drain())
            if equal:
                # A place of an EMC that has no PE left passes unused.
                at += step
        return at if equal else end

    def turns(self, count: int) -> RoundAddresses:
        """Return addresses for so many EMCs that take turns between two banks."""
        return tuple((self._map.number(Cell(emc % 2, 0, 0)),) for emc in range(count))

    def _split(self) -> None:
        if len(self.parts) == 1 and len(self.parts[0].devices) > 1:
            whole = self.parts[0]
            self.parts = [
                _Part((device,), copy.deepcopy(whole.scheduler), copy.deepcopy(whole.checker))
                for device in whole.devices
            ]

    def verify(self) -> int:
        """Close the banks and ask the checker, if there is one; return how many commands it saw.

        Raises InternalError where it found a command that breaks a rule.
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
        """Go on from a snapshot of a module of the same configuration."""
        self.parts = []
        for saved in snapshot["parts"]:
            part = self._part(saved["devices"])
            part.scheduler.restore(saved["scheduler"])
            if part.checker is not None:
                part.checker.restore(saved["checker"])
            self.parts.append(part)
        self.accesses = snapshot["accesses"]
