"""The bank states of a synchronous DRAM: which command may come in which clock.

The eight devices of a module get the same command in the same clock (thesis 2.2.1), so one state stands for all. The
table below is the rule book; a device asks it two things: when a command could come at the earliest, and what else
must wait once it has come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from pixelflow.config import SdramConfig
from pixelflow.node.parts.sdram.commands import CommandKind, SdramCommand
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.snapshot import Snapshot
from pixelflow.simd.units import Cycle

__all__ = ["BURSTS", "RULES", "Rule", "RuleScope", "Sdram", "sdram_distances"]

ACT, RD, WR, PRE, REF = CommandKind

BURSTS = (1, 2, 4, 8)
"""Bytes of one burst that parts of this family offer (standing: invented; the thesis uses 4 and 8)."""


class RuleScope(Enum):
    """For which banks a rule counts, seen from the bank of the first command."""

    SAME = "same bank"
    OTHER = "other banks"
    ALL = "all banks"


@dataclass(frozen=True, slots=True)
class Rule:
    """After one command, another must wait: a number of clocks that follows from the times and the burst."""

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
    """Clocks in which the data pins are taken, ends included."""

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
        """Return the first clock, from ``not_before`` on, in which the command breaks no rule.

        Raises MachineFault where no waiting helps: ACT of an open bank, RD or WR of a closed one, REF with an open one.
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
        """Return the first clock from ``cycle`` on in which a column command finds the data pins free.

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
        """Give a command to the devices; raises MachineFault where it comes too early or does not fit the state."""
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
        """Return what the devices remember, as plain numbers."""
        return {
            "open_row": list(self.open_row),
            "ready": [[ready[kind] for kind in CommandKind] for ready in self._ready],
            "taken": sorted(self._taken),
            "bursts": [list(burst) for burst in self._bursts],
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of devices of the same configuration."""
        self.open_row = list(snapshot["open_row"])
        self._ready = [dict(zip(CommandKind, ready, strict=True)) for ready in snapshot["ready"]]
        self._taken = set(snapshot["taken"])
        self._bursts = deque(_Burst(*burst) for burst in snapshot["bursts"])


def sdram_distances(config: SdramConfig) -> dict[str, int]:
    """Return by the names of their rules the least clocks between commands that a device takes, each tried on one."""
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
