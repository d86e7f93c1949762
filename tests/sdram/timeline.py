"""Command sequences as one writes them on paper: ``0:ACT0 3:RD0 8:PRE0`` is clock, command and bank.

A row stands after a dot (``0:ACT0.17``; 0 where there is none), a burst after an asterisk (``3:RD0*8``; 4 where there
is none), a column after an at sign (``3:RD0@508``).
"""

import re

from pixelflow.node.sdram_commands import CommandKind, SdramCommand

_STEP = re.compile(r"(\d+):([A-Z]+)(\d+)?(?:\.(\d+))?(?:@(\d+))?(?:\*(\d+))?$")


def commands(text: str) -> list[SdramCommand]:
    found = []
    for step in text.replace("|", " ").split():
        cycle, kind, bank, row, column, burst = _STEP.match(step).groups()
        kind = CommandKind(kind)
        transfers = kind in (CommandKind.READ, CommandKind.WRITE)
        size = int(burst or 4) if transfers else 0
        found.append(SdramCommand(int(cycle), kind, int(bank or 0), int(row or 0), int(column or 0), size))
    return found


def text(sequence: list[SdramCommand]) -> str:
    """The clocks, commands and banks of a sequence."""
    return " ".join(f"{each.cycle}:{each.kind}{each.bank}" for each in sequence)
