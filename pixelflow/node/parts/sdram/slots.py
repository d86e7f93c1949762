"""Equal slots: the constant distance at which accesses to an SDRAM may follow each other for ever (thesis table 2).

No slot length stands here. A slot is found by trying: an access takes an activation, a column command and a
precharge at fixed places of its slot, and the shortest distance is taken at which such accesses, in every order of
banks that the pattern allows, are accepted by the bank states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from pixelflow.config import SdramConfig
from pixelflow.node.parts.sdram.commands import CommandKind, SdramCommand
from pixelflow.node.parts.sdram.rules import Sdram
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.units import Cycle

__all__ = ["Pattern", "Slot", "access_commands", "change_cycles", "equal_slot"]


class Pattern(Enum):
    """What is promised about the banks of accesses that follow each other (thesis table 2)."""

    RANDOM = "random access"
    """The next access may be in any bank and any row."""
    ALTERNATE = "alternate banks"
    """The next access is in another bank, in any row."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where an access has its commands, in clocks from its activation, and when the next may start."""

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

    With ``spacing`` it is at least so much longer than that, its commands placed so that they do not meet.
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
    """Return places for the commands of an access, each as early as the times allow or a little later.

    Waiting helps against one thing only: commands of different accesses in the same clock. The column command must
    miss one place of the slot and the precharge two, so one and two clocks are enough.
    """
    slots = []
    for column in (config.trcd_cycles, config.trcd_cycles + 1):
        after = burst - 1 + config.twr_cycles if write else config.cl_cycles + burst - 2
        soonest = max(config.tras_cycles, column + after, column + 1)
        slots += [Slot(cycles, column, soonest + wait) for wait in range(3)]
    return sorted(slots, key=lambda slot: (slot.precharge, slot.column))


def _steady(config: SdramConfig, slot: Slot, burst: int, pattern: Pattern, *, write: bool) -> bool:
    """Whether accesses at the slot's distance are legal in every order of banks that the pattern allows."""
    # No rule reaches further than this from one access to a later one.
    reach = slot.precharge + config.trc_cycles + config.trp_cycles + config.trrd_cycles + config.cl_cycles + burst
    # Three accesses show at once that a slot is much too short.
    return all(
        _legal(config, [(slot, index * slot.cycles, bank, burst, write) for index, bank in enumerate(banks)])
        for count in (3, reach // slot.cycles + 2)
        for banks in _bank_orders(config.banks, count, pattern)
    )


def _bank_orders(banks: int, count: int, pattern: Pattern) -> Iterator[tuple[int, ...]]:
    """Yield every order of banks that starts with bank 0 (the banks are alike)."""
    stack = [(0,)]
    while stack:
        order = stack.pop()
        if len(order) == count:
            yield order
            continue
        stack += [(*order, bank) for bank in reversed(range(banks)) if pattern is Pattern.RANDOM or bank != order[-1]]


def _legal(config: SdramConfig, accesses: list[tuple[Slot, int, int, int, bool]]) -> bool:
    """Whether the devices accept these accesses: (slot, start, bank, burst, write) each."""
    commands = []
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

    The two may be in the same bank whatever the pattern, so that nothing earlier reaches across the change.
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
