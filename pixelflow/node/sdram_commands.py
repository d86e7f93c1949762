"""Accesses of the TASICs to SDRAMs, the commands on the pins that execute them, and command traces."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError, Place, nearest
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


# Command traces as text: the columns trace, cycle, cmd, bank, row, col, bl, one command a line.


HEADER = ("trace", "cycle", "cmd", "bank", "row", "col", "bl")
FAULT_LIMIT = 20
"""Most faults listed."""

_BY_NAME = {kind.value: kind for kind in CommandKind}


def read_traces(text: str, file: str = "trace") -> dict[int, list[SdramCommand]]:
    """Return the commands of every trace of a text by trace number, in the order of the text.

    Raises InputError with the faults of all lines. Order and legality of the commands are left to the checker.
    """
    lines = text.splitlines()
    if not lines or tuple(lines[0].split(",")) != HEADER:
        found = lines[0][:60] if lines else "nothing"
        raise InputError(Fault(f"expected the columns {','.join(HEADER)}, found {found}", Place(file, 1)))
    traces: dict[int, list[SdramCommand]] = {}
    faults: list[Fault] = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        before = len(faults)
        command = _command(line, Place(file, number, text=line[:160]), faults)
        if command is not None:
            traces.setdefault(command[0], []).append(command[1])
        if len(faults) > before and len(faults) >= FAULT_LIMIT:
            break
    if faults:
        raise InputError(faults)
    return traces


def _command(line: str, place: Place, faults: list[Fault]) -> tuple[int, SdramCommand] | None:
    """Return the trace number and command of a line, or None and a fault."""
    cells = line.split(",")
    if len(cells) != len(HEADER):
        faults.append(Fault(f"expected {len(HEADER)} values, found {len(cells)}", place))
        return None
    kind = _BY_NAME.get(cells[2])
    if kind is None:
        close = nearest(cells[2], _BY_NAME)
        hint = f"did you mean {close}?" if close else f"known: {', '.join(_BY_NAME)}"
        faults.append(Fault(f"there is no command {cells[2][:20]!r}", place, hint))
        return None
    numbers = []
    for name, cell in zip(HEADER, cells, strict=True):
        if name == "cmd":
            continue
        # A dozen digits are a day of clocks; int() also accepts signs, blanks and underscores.
        if not (cell.isascii() and cell.isdigit() and len(cell) <= 15):
            faults.append(Fault(f"{name} must be a whole number, found {cell[:20]!r}", place))
            return None
        numbers.append(int(cell))
    trace, cycle, bank, row, column, burst = numbers
    return trace, SdramCommand(Cycle(cycle), kind, bank, row, column, burst)


def write_traces(traces: Mapping[int, Iterable[SdramCommand]]) -> str:
    """Return traces as text that :func:`read_traces` reads."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    for number, commands in traces.items():
        rows.writerows((number, each.cycle, each.kind.value, *each[2:]) for each in commands)
    return text.getvalue()
