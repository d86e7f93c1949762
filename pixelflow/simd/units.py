"""Integers that travel between packages, and the snapshot of a part."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, NamedTuple, NewType, TypeAlias


def whole_number(text: str, least: int = 1, most: float = math.inf, wanted: str = "a whole number above 0") -> int:
    """Return a whole number in a range, underscores between digits allowed; raises ValueError with a text for users."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise ValueError(f"expected {wanted}, found {text[:40]!r}")
    return value


# Names for the integers that travel between packages.
#
# They cost nothing at run time and give a reader (and a type checker) the unit of a number.


Cycle = NewType("Cycle", int)
"""A count of machine clock cycles; always an integer (one cycle is 10 ns at 100 MHz)."""

ByteAddress = NewType("ByteAddress", int)
"""An address in PE memory, 0 to 383 on the thesis machine."""

WordAddress = NewType("WordAddress", int)
"""An address in control store, counted in 32-bit words."""

LaneIndex = NewType("LaneIndex", int)
"""One PE of a node: ((module * 8 + emc) * 8 + panel) * 32 + pe."""


class Standing(StrEnum):
    """How well founded a number or a rule of the model is."""

    THESIS = "thesis"
    """Printed in Keller's thesis (UNC TR95-043)."""
    DERIVED = "derived"
    """Computed from printed numbers."""
    FITTED = "fitted"
    """Chosen so that a printed table comes out."""
    INVENTED = "invented"
    """Needed by the model, documented nowhere."""


GUESSED = (Standing.FITTED, Standing.INVENTED)
"""The standings of assumptions: values and costs that no source prints."""


class Constant(NamedTuple):
    """A number of a model, or of the machine that it models."""

    key: str
    value: int | float | bool | str
    standing: Standing
    source: str
    text: str = ""
    """Explanation, where the key is not enough."""
    unit: str = ""

    @property
    def shown(self) -> str:
        """Its value with the unit."""
        if isinstance(self.value, bool):
            value = str(self.value).lower()
        elif isinstance(self.value, str) or self.key == "year":
            value = str(self.value)
        else:
            value = f"{int(self.value) if self.value == int(self.value) else self.value:,}"
        return f"{value} {self.unit}".rstrip()


# Snapshot of a part: what `snapshot` returns and `restore` takes.


Snapshot: TypeAlias = dict[str, Any]
"""State by stable name: plain values, arrays, dataclasses, and snapshots of the parts inside.

Only the part that made it knows what is under a name; a saved file that holds anything else is refused as damaged.
"""
