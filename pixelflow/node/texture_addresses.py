"""Three ways to address the texture memory of a module, and the mappings between them (thesis 4.3).

*Linear* space counts bytes, *texture* space is a row and a column of 4-byte texels, *physical* space is an SDRAM, a
bank, a row and a column. Each mapping only moves bits, so it is one to one both ways. What PEs and the address
generator give a TASIC is the *number* of a cell of one SDRAM: bank, row and column as the digits of 21 bits, the bank
uppermost (the order is invented; 2.2.7 says that there are 21).

Standing: derived. Figures 10 to 12, which hold the bit positions, are missing from the text. What the text says and
every choice here obeys: the word at linear address 0 is in SDRAM 0 at row 0 and column 0, the words at 4 and 8 are
there in SDRAMs 1 and 2; linear bits 2 to 4, and with them texture bits r0 and c0, select the SDRAM; physical c0 and c1
are not texture bits; linear space grows equally fast in texture rows and columns, so its footprint stays square; in
figure 12 linear bit 6 is the bank. From these and the sizes:

- a module has 2^22 texels, so both texture indices have 11 bits, and "equally fast" means that they alternate from
  linear bit 2 on: c0 r0 c1 r1 ... That the column comes first, which makes c1 the third select bit, is invented.
- Above the select bits come the physical column bits, beginning with c2, so that an 8-byte burst holds two words 32
  bytes apart, then the row. The bank is the uppermost bit in figure 11 (invented), and linear bit 6 in figure 12,
  where two points of a patch that differ in that bit alone have the same row and column in both banks (appendix B).
- Figure 12 could also keep the path from texture to physical space and bend that from linear to texture space. Here
  texture space is the same in both, so that footprints stay square.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import zip_longest
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import SdramConfig
from pixelflow.simd.errors import Fault, InputError, MachineFault

WORD_BYTES = 4
"""Bytes of a texel, and of the word that one SDRAM gives in one access (thesis 4.3)."""

_Place = TypeVar("_Place", int, NDArray[np.int64])
Numbers = int | NDArray[np.int64]
"""One address or a vector of them."""


class AddressForm(Enum):
    """The linear bit that selects the bank."""

    STANDARD = "figure 11"
    ALTERNATE = "figure 12"


class Physical(NamedTuple):
    """The place of a byte: the SDRAM, and bank, row and column in it."""

    device: Numbers
    bank: Numbers
    row: Numbers
    column: Numbers


class Cell(NamedTuple, Generic[_Place]):
    """The place of a byte, or of several, in an SDRAM."""

    bank: _Place
    row: _Place
    column: _Place


class Texel(NamedTuple):
    """A texture row and column, and the byte of the 4-byte texel there."""

    row: Numbers
    column: Numbers
    byte: Numbers = 0


class _Bit(NamedTuple):
    """The target of a linear bit: the index of a field of the other space, and a bit of it."""

    field: int
    bit: int


class _Run(NamedTuple):
    """``width`` neighbouring bits that stay neighbours: from linear bit ``low`` to bit ``bit`` of a field."""

    low: int
    field: int
    bit: int
    width: int


@dataclass(frozen=True)
class AddressMap:
    """The mappings of one module. Takes single addresses and vectors; all of them within the module's memory.

    Raises InputError for sizes that are not powers of two, which no bit mapping can address.
    """

    config: SdramConfig
    form: AddressForm = AddressForm.STANDARD
    _physical: tuple[_Bit, ...] = field(init=False, repr=False)
    _texture: tuple[_Bit, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        config = self.config
        sizes = {
            "devices_per_module": config.devices_per_module,
            "banks": config.banks,
            "rows": config.rows,
            "columns": config.columns,
        }
        faults = [
            Fault(f"sdram.{name}: {size} is not a power of two", hint="addresses are taken apart bit by bit")
            for name, size in sizes.items()
            if size & (size - 1)
        ]
        if faults:
            raise InputError(faults)
        object.__setattr__(self, "_physical", tuple(self._physical_bits()))
        object.__setattr__(self, "_texture", tuple(self._texture_bits()))

    def _physical_bits(self) -> Iterable[_Bit]:
        config = self.config
        byte = [_Bit(3, bit) for bit in range(2)]
        device = [_Bit(0, bit) for bit in range(_bits(config.devices_per_module))]
        bank = [_Bit(1, bit) for bit in range(_bits(config.banks))]
        cell = [_Bit(3, bit) for bit in range(2, _bits(config.columns))]
        cell += [_Bit(2, bit) for bit in range(_bits(config.rows))]
        # In figure 12 one column bit stays below the bank: the two words of an 8-byte burst.
        below = 1 if self.form is AddressForm.ALTERNATE else len(cell)
        return byte + device + cell[:below] + bank + cell[below:]

    def _texture_bits(self) -> Iterable[_Bit]:
        texel_bits = len(self._physical) - 2
        columns = [_Bit(1, bit) for bit in range((texel_bits + 1) // 2)]
        rows = [_Bit(0, bit) for bit in range(texel_bits // 2)]
        alternating = [each for pair in zip_longest(columns, rows) for each in pair if each is not None]
        return [_Bit(2, 0), _Bit(2, 1), *alternating]

    @property
    def size(self) -> int:
        """Bytes of a module."""
        return 1 << len(self._physical)

    @property
    def texture_rows(self) -> int:
        """Rows of texels of a module."""
        return 1 << sum(bit.field == 0 for bit in self._texture)

    @property
    def texture_columns(self) -> int:
        """Texels of a texture row."""
        return 1 << sum(bit.field == 1 for bit in self._texture)

    @property
    def bank_bit(self) -> int:
        """The lowest linear bit that selects the bank: 6 in figure 12."""
        return self._physical.index(_Bit(1, 0))

    def to_physical(self, linear: Numbers) -> Physical:
        """Return the physical address of a linear one."""
        self._check(linear, self.size, "linear address")
        return Physical(*_spread(linear, self._physical, 4))

    def from_physical(self, physical: Physical) -> Numbers:
        """Return the linear address of a physical one."""
        config = self.config
        limits = (config.devices_per_module, config.banks, config.rows, config.columns)
        for name, value, limit in zip(Physical._fields, physical, limits, strict=True):
            self._check(value, limit, name)
        return _gather(physical, self._physical)

    def cell(self, number: _Place) -> Cell[_Place]:
        """Return the place of the byte with a number below ``cells`` in its SDRAM."""
        line, rows = number // self.config.columns, self.config.rows
        return Cell(line // rows, line & rows - 1, number & self.config.columns - 1)

    def number(self, cell: Cell[_Place]) -> _Place:
        """Return the number of a cell."""
        return (cell.bank * self.config.rows + cell.row) * self.config.columns + cell.column

    def number_at(self, linear: Numbers) -> Numbers:
        """Return the number of the cell at a linear address."""
        at = self.to_physical(linear)
        return (at.bank * self.config.rows + at.row) * self.config.columns + at.column

    @property
    def cells(self) -> int:
        """Cells (bytes) of an SDRAM."""
        return self.size // self.config.devices_per_module

    def to_texture(self, linear: Numbers) -> Texel:
        """Return the texture row, column and byte of a linear address."""
        self._check(linear, self.size, "linear address")
        return Texel(*_spread(linear, self._texture, 3))

    def from_texture(self, texel: Texel) -> Numbers:
        """Return the linear address of a byte of a texel."""
        limits = (self.texture_rows, self.texture_columns, WORD_BYTES)
        for name, value, limit in zip(("texture row", "texture column", "byte"), texel, limits, strict=True):
            self._check(value, limit, name)
        return _gather(texel, self._texture)

    def _check(self, value: Numbers, limit: int, name: str) -> None:
        if isinstance(value, int):
            low = high = value
        else:
            low, high = (int(np.min(value)), int(np.max(value))) if np.size(value) else (0, 0)
        if low < 0 or high >= limit:
            raise MachineFault(f"texture memory: {name} {low if low < 0 else high} is outside 0..{limit - 1}")

    def figure(self) -> str:
        """Return the mapping in the form of figures 11 and 12: a column per bit, rows linear, texture and physical."""
        texture = [f"{('r', 'c', 'b')[bit.field]}{bit.bit}" for bit in self._texture]
        names = ("dev", "bank", "r", "c")
        physical = [f"{names[bit.field]}{bit.bit}" for bit in self._physical]
        linear = [f"a{bit}" for bit in range(len(physical))]
        rows = (("linear", linear), ("texture", texture), ("physical", physical))
        widths = [max(map(len, column)) for column in zip(linear, texture, physical, strict=True)]
        lines = []
        for title, cells in rows:
            shown = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
            lines.append(f"{title:<9}" + " ".join(reversed(shown)))
        return "\n".join(lines)


def _bits(size: int) -> int:
    return size.bit_length() - 1


@cache
def _runs(bits: tuple[_Bit, ...]) -> tuple[_Run, ...]:
    """Return the bits as the longest runs that move together."""
    runs: list[_Run] = []
    for low, each in enumerate(bits):
        last = runs[-1] if runs else None
        if last is not None and each == (last.field, last.bit + last.width):
            runs[-1] = _Run(last.low, last.field, last.bit, last.width + 1)
        else:
            runs.append(_Run(low, each.field, each.bit, 1))
    return tuple(runs)


def _spread(linear: Numbers, bits: tuple[_Bit, ...], count: int) -> list[Numbers]:
    """Take a linear address apart into ``count`` fields."""
    fields: list[Numbers] = [linear * 0] * count
    for run in _runs(bits):
        part = (linear >> run.low) & ((1 << run.width) - 1)
        fields[run.field] = fields[run.field] | part << run.bit
    return fields


def _gather(fields: Iterable[Numbers], bits: tuple[_Bit, ...]) -> Numbers:
    """Put a linear address together from its fields."""
    parts = list(fields)
    linear: Numbers = 0
    for run in _runs(bits):
        linear = linear | (parts[run.field] >> run.bit & ((1 << run.width) - 1)) << run.low
    return linear


def needs_addresses(config: SdramConfig) -> bool:
    """Return whether a run needs the address of every access, for its times or for the command checker."""
    return config.check_commands or not config.equal_slots
