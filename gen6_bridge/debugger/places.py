"""Places of a thread's state as people write them: registers, parts of them, ranges, in a form."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa.encoding.operands import GRF_REGISTERS, MRF_REGISTERS, REGISTER_BYTES
from gen6_bridge.code.isa.encoding.types import EuType
from gen6_bridge.code.isa.meanings.state import A0, ACC_FLOAT, ACC_LOW, CHANNELS, MRF, PC
from gen6_bridge.unit import ExecutionUnit
from pixelflow.simd.dialogue import refuse
from pixelflow.simd.errors import nearest

__all__ = ["FORMS", "ThreadPlace", "place_named"]

FORMS: dict[str, np.dtype[np.generic]] = {
    "UD": np.dtype("<u4"), "D": np.dtype("<i4"), "UW": np.dtype("<u2"), "W": np.dtype("<i2"), "UB": np.dtype("u1"),
    "B": np.dtype("i1"), "F": np.dtype("<f4"),
}  # fmt: skip
"""How bytes are shown, by type."""
_ROWS = {"acc": (ACC_LOW, "D"), "accf": (ACC_FLOAT, "F"), "pc": (PC, "UD")}
"""What channels hold besides registers, and its form."""
_REGISTER = re.compile(r"([grm])(\d{1,9})(?:\.(\d{1,9})|-[grm]?(\d{1,9}))?$")
_WRITTEN = "g10, g10-g13, g10.2, m1, f0, a0, acc, accf, pc; with a form: g10:F"


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """Bytes of each thread, or a word of each channel."""

    text: str
    form: str
    start: int
    size: int
    row: str = ""
    """The word of each channel; empty for bytes of the register file."""

    def bytes_of(self, unit: ExecutionUnit) -> NDArray[np.uint8]:
        """Return uint8[threads, bytes]."""
        if self.row == "f0":
            return np.ascontiguousarray(unit.flags[:, None]).view(np.uint8)
        if self.row:
            words = unit.lanes.get_word(self.row).reshape(unit.threads, CHANNELS)
            return np.ascontiguousarray(words).view(np.uint8)
        return unit.memory.data[:, self.start : self.start + self.size].copy()

    def write(self, unit: ExecutionUnit, threads: list[int], value: float) -> None:
        """Give every element of the place one value in some threads.

        Raises InputError for what no poke changes, and for a value that an element does not hold.
        """
        if self.row:
            refuse(f"{self.text} cannot be changed, so that going back stays true", "what can: g10, g10.2:F, m1, a0")
        kind = FORMS[self.form]
        try:
            with np.errstate(over="ignore"):
                element = np.array(value if kind.kind == "f" else int(value)).astype(kind)
            held = (
                np.isinf(element) == np.isinf(value)
                if kind.kind == "f"
                else int(element) == value or int(element) % (1 << 8 * kind.itemsize) == value
            )
        except (OverflowError, ValueError):
            held = False
        if not held:
            refuse(f"{self.text} does not hold {value:g} as {self.form}")
        values = np.full(self.size // kind.itemsize, element, kind).view(np.uint8)
        unit.memory.data[threads, self.start : self.start + self.size] = values

    def read(self, unit: ExecutionUnit) -> NDArray[np.uint32]:
        """Return uint32[threads, double words], zeros filled in."""
        found = self.bytes_of(unit)
        short = -found.shape[1] % 4
        return np.ascontiguousarray(np.pad(found, ((0, 0), (0, short)))).view(np.uint32)

    def values(self, unit: ExecutionUnit) -> NDArray[np.generic]:
        """Return [threads, elements] in the place's form."""
        return np.ascontiguousarray(self.bytes_of(unit)).view(FORMS[self.form])


def place_named(text: str) -> ThreadPlace:
    """Return a place; raises InputError with the forms."""
    name, colon, form = text.partition(":")
    form = form.upper()
    if colon and form not in FORMS:
        near = nearest(form, FORMS)
        refuse(f"{form or 'nothing'} is no form", f"did you mean {near}?" if near else ", ".join(FORMS))
    key = name.lower()
    if key in _ROWS:
        row, own = _ROWS[key]
        return ThreadPlace(text, form or own, 0, 4 * CHANNELS, row)
    if key in ("f0", "f"):
        return ThreadPlace(text, form or "UW", 0, 4, "f0")
    if key in ("a0", "a"):
        return ThreadPlace(text, form or "UW", A0, 16)
    found = _REGISTER.match(key)
    if found is None:
        refuse(f"{text!r} is no place of a thread", _WRITTEN)
    return _register(text, found, form or "UD")


def _register(text: str, found: re.Match[str], form: str) -> ThreadPlace:
    base, count = (MRF, MRF_REGISTERS) if found[1] == "m" else (0, GRF_REGISTERS)
    first = int(found[2])
    last = int(found[4]) if found[4] else first
    if not first <= last < count:
        refuse(f"{text}: no such registers", f"{found[1]}0 to {found[1]}{count - 1}")
    start, size = base + first * REGISTER_BYTES, (last - first + 1) * REGISTER_BYTES
    if found[3]:
        element = EuType[form].size
        start, size = start + int(found[3]) * element, element
        if int(found[3]) * element >= REGISTER_BYTES:
            refuse(f"{text}: no such element", f"0 to {REGISTER_BYTES // element - 1} of {form}")
    return ThreadPlace(text, form, start, size)
