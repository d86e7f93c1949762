"""Accesses of the TASICs to SDRAMs, and the commands on the pins that execute them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from pixelflow.simd.units import Cycle


class CommandKind(StrEnum):
    """The commands of a synchronous DRAM, by the names that command traces use."""

    ACTIVATE = "ACT"
    READ = "RD"
    WRITE = "WR"
    PRECHARGE = "PRE"
    REFRESH = "REF"


class SdramCommand(NamedTuple):
    """One command on the pins, given to all devices of a module in lock step.

    ``row`` is for ACT, RD and WR, ``column`` and ``burst`` (bytes) for RD and WR; they are 0 elsewhere. REF is for all
    banks. (RD and WR have no row on the pins; the checker compares it.)
    """

    cycle: Cycle
    kind: CommandKind
    bank: int
    row: int = 0
    column: int = 0
    burst: int = 0


_KINDS = tuple(CommandKind)


def rows_of_commands(commands: Iterable[SdramCommand]) -> list[list[int]]:
    """Return commands as rows of plain numbers, the kind by its position in `CommandKind`."""
    return [[each.cycle, _KINDS.index(each.kind), *each[2:]] for each in commands]


def commands_of_rows(rows: Iterable[Iterable[int]]) -> list[SdramCommand]:
    """Return the commands of `rows_of_commands`; raises IndexError or TypeError for other rows."""
    return [SdramCommand(Cycle(cycle), _KINDS[kind], *rest) for cycle, kind, *rest in rows]


class Access(NamedTuple):
    """One word to be read or written in every device of a module: place and bytes."""

    bank: int
    row: int
    column: int
    burst: int = 4
    write: bool = False
