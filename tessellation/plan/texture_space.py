"""Who has which part of texture memory: patches, kept results and pictures side by side in one space (thesis 4.3).

Every part has an address in three spaces (`pixelflow.node.AddressMap`): patches and results are runs of *linear*
addresses, pictures are rectangles of rows and columns of *logical texture space*, and the mapping between the two keeps
the footprint of a run square, so that large squares stay free for pictures. One unit of account is what all SDRAMs of a
module give in one access: 32 bytes of linear space, 2 rows of 4 texels on the thesis machine.

Pictures come from the upper end of the memory, on a boundary of the power of two of their larger side where there is
one; a rectangle takes no more than its own units, so that the rest of that square stays free. Runs that patches take
come from the lower end (who does this is told in `texture_layout.py`). What is freed can be taken again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import SdramConfig
from pixelflow.node import AddressMap, Texel

__all__ = ["Owner", "Rectangle", "TextureSpace"]


class Owner(IntEnum):
    """Whose a part of texture memory is."""

    FREE = 0
    PATCHES = 1
    RESULTS = 2
    TEXTURES = 3
    WORK = 4
    """What programs lay down and take up again."""

    @property
    def title(self) -> str:
        """The name in reports."""
        return self.name.lower()

    @property
    def letter(self) -> str:
        """The letter in maps."""
        return "." if self is Owner.FREE else self.name[0].lower()


class Rectangle(NamedTuple):
    """Texels of logical texture space: from this row and column on, so many rows and columns."""

    row: int
    column: int
    rows: int
    columns: int

    @property
    def text(self) -> str:
        """The rectangle in words."""
        return (
            f"rows {self.row} to {self.row + self.rows - 1}, columns {self.column} to {self.column + self.columns - 1}"
        )


class TextureSpace:
    """The owners of all units of the texture memories of a node's modules."""

    def __init__(self, config: SdramConfig, modules: int) -> None:
        self.map = AddressMap(config)
        self.unit = 4 * config.devices_per_module
        """Bytes of linear space that one unit has."""
        self._owners = np.zeros((modules, self.map.size // self.unit), np.uint8)

    # --- runs of linear addresses -------------------------------------------------------------------------------------

    def is_free(self, module: int, start: int, size: int) -> bool:
        """Return whether nobody has a run of linear addresses."""
        return not self._owners[module, self._units(start, size)].any()

    def take(self, owner: Owner, modules: Iterable[int], start: int, size: int) -> None:
        """Give a run of linear addresses to somebody; `Owner.FREE` takes it back."""
        for module in modules:
            self._owners[module, self._units(start, size)] = owner

    def find(
        self,
        modules: Sequence[int],
        size: int,
        align: int,
        limit: int,
        copies: Sequence[int] = (0,),
        *,
        last: bool = False,
    ) -> int | None:
        """Return where ``size`` bytes below ``limit`` are free in all modules, at a multiple of ``align``, or None.

        That is the first such place, or the ``last``. With ``copies`` it is free at these distances as well.
        """
        units = align // self.unit
        pieces = -(-size // align)
        busy = np.zeros(limit // align, bool)
        for module in modules:
            for copy in copies:
                owners = self._owners[module, copy // self.unit :][: len(busy) * units]
                busy |= owners.reshape(-1, units).any(axis=1)
        if pieces > len(busy):
            return None
        before = np.concatenate([[0], np.cumsum(busy)])
        places = np.flatnonzero(before[pieces:] == before[:-pieces])
        return int(places[-1 if last else 0]) * align if len(places) else None

    # --- rectangles of texels -----------------------------------------------------------------------------------------

    @cached_property
    def _tile(self) -> tuple[int, int]:
        """Rows and columns of texels of a unit."""
        texels = self.map.to_texture(np.arange(0, self.unit, 4))
        return int(texels.row.max()) + 1, int(texels.column.max()) + 1

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The unit at each row and column of units: int64[rows, columns]."""
        first = self.map.to_texture(self.unit * np.arange(self._owners.shape[1], dtype=np.int64))
        rows, columns = first.row // self._tile[0], first.column // self._tile[1]
        found = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1), np.int64)
        found[rows, columns] = np.arange(len(rows))
        return found

    def place(self, rows: int, columns: int) -> Rectangle | None:
        """Return a free rectangle of texels, the same in all modules, or None where there is none."""
        busy = (self._owners != Owner.FREE).any(axis=0)[self._places]
        height, width = -(-rows // self._tile[0]), -(-columns // self._tile[1])
        if height > busy.shape[0] or width > busy.shape[1]:
            return None
        sums = np.pad(busy.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32), ((1, 0), (1, 0)))
        taken = sums[height:, width:] - sums[:-height, width:] - sums[height:, :-width] + sums[:-height, :-width]
        side = 1 << (max(rows, columns) - 1).bit_length()
        while side:
            down, across = max(1, side // self._tile[0]), max(1, side // self._tile[1])
            free = np.argwhere(taken[::down, ::across] == 0) * (down, across)
            if len(free):
                row, column = free[np.argmax(self._places[free[:, 0], free[:, 1]])].tolist()
                return Rectangle(row * self._tile[0], column * self._tile[1], rows, columns)
            side = side // 2 if max(down, across) > 1 else 0
        return None

    def give(self, owner: Owner, rectangle: Rectangle) -> None:
        """Give the units of a rectangle, in all modules, to somebody; `Owner.FREE` takes them back."""
        down, across = self._tile
        rows = slice(rectangle.row // down, -(-(rectangle.row + rectangle.rows) // down))
        columns = slice(rectangle.column // across, -(-(rectangle.column + rectangle.columns) // across))
        self._owners[:, self._places[rows, columns].ravel()] = owner

    def linear(self, rectangle: Rectangle) -> NDArray[np.int64]:
        """Return the linear addresses of the texels of a rectangle: int64[rows, columns]."""
        row = rectangle.row + np.arange(rectangle.rows, dtype=np.int64)[:, None]
        column = rectangle.column + np.arange(rectangle.columns, dtype=np.int64)[None, :]
        return np.asarray(self.map.from_texture(Texel(*np.broadcast_arrays(row, column))))

    # --- what there is ------------------------------------------------------------------------------------------------

    def bytes_of(self, owner: Owner, module: int) -> int:
        """Return the bytes that somebody has in a module."""
        return int((self._owners[module] == owner).sum()) * self.unit

    @property
    def modules(self) -> int:
        """Modules, each with a memory of its own."""
        return len(self._owners)

    def part(self, rows: int, columns: int) -> str:
        """Return how many texels a letter of a map of so many rows and columns stands for."""
        down, across = self._places.shape
        high, wide = down // min(rows, down) * self._tile[0], across // min(columns, across) * self._tile[1]
        return f"{wide}x{high}"

    def largest_square(self, module: int) -> int:
        """Return the texels along a side of the largest free square, a power of two on a boundary of that; 0 if none.

        What the thesis calls the largest remaining contiguous block.
        """
        busy = self._owners[module] != Owner.FREE
        found, texels = 0, self.unit // 4
        while not busy.all():
            # The footprint of a run is a square, or two beside each other.
            found = 1 << (texels.bit_length() - 1) // 2
            if len(busy) == 1:
                break
            busy, texels = busy.reshape(-1, 2).any(axis=1), 2 * texels
        return found

    def drawn(self, module: int, rows: int, columns: int) -> list[str]:
        """Return a map of logical texture space, a letter for each part of it: of those that have any, who has most."""
        owners = self._owners[module][self._places]
        rows, columns = min(rows, owners.shape[0]), min(columns, owners.shape[1])
        parts = owners.reshape(rows, owners.shape[0] // rows, columns, owners.shape[1] // columns)
        counts = np.stack([(parts == owner).sum(axis=(1, 3)) for owner in list(Owner)[1:]])
        most = np.where(counts.any(axis=0), counts.argmax(axis=0) + 1, 0)
        return ["".join(Owner(each).letter for each in line) for line in most.tolist()]

    def _units(self, start: int, size: int) -> slice:
        return slice(start // self.unit, -(-(start + size) // self.unit))
