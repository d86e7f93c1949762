"""Where a PE keeps what goes from its sample to instruction words: corners, coefficients, scratch."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.isa import MEMORY_BYTES
from pixelflow.simd.errors import Fault, InputError
from tessellation.plan.memory_map import AVAILABLE, AXES, FLOAT_BYTES, RESULTS, MemoryMap
from tessellation.rendering.projection import Places

__all__ = ["CORNER_BYTES", "RECORD_BYTES", "WordPlaces"]

CORNER_BYTES = 12
"""x and y in 1/256 pixel, depth, 3 bytes each; red, green, blue."""

RECORD_BYTES = 15
"""X, Y and W of binary32; red, green, blue."""

_MARK_BYTES = 4
_COEFFICIENT_BYTES = 79
_SETUP_SCRATCH = 98
_HERE_BYTES = 35


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """First bytes of what the programs share; points and normals of ``memory`` stay as they are.

    ``corners`` are four, of the own sample and those to the east, southeast and south. ``marks`` are the sample's
    column and row in its patch, the patch's last ones, and whether a cell begins here. From ``work`` on each program
    has its own. Where ``planes`` cut triangles, the sample is kept as it is before the division (``record``), and the
    corners are those of one polygon.
    """

    memory: MemoryMap
    planes: int = 0

    @classmethod
    def after(cls, memory: MemoryMap, planes: int = 0) -> WordPlaces:
        """Return the places past points and normals. Raises InputError where they do not fit."""
        found = cls(memory, planes)
        # No transfer is under way while a triangle is set up, so that its scratch may reach into the ports.
        if found.region_scratch > AVAILABLE or found.end > MEMORY_BYTES:
            message = f"instruction words need {found.region_scratch} bytes of a PE, {AVAILABLE} are there"
            raise InputError(Fault(message, hint="take mantissas of 3 bytes"))
        return found

    @property
    def _first(self) -> int:
        return max(self.memory[name].end for name in RESULTS)

    @property
    def record(self) -> int:
        """X, Y and W as floats and the colour of the own sample, where triangles are cut."""
        return self._first

    @property
    def marks(self) -> int:
        return self._first + (RECORD_BYTES if self.planes else 4 * CORNER_BYTES)

    @property
    def corners(self) -> int:
        return self.marks + _MARK_BYTES if self.planes else self._first

    @property
    def slots(self) -> int:
        """Corners that there are room for: of a cell, or of a polygon that so many planes have cut."""
        return 3 + self.planes if self.planes else 4

    @property
    def work(self) -> int:
        return max(self.marks + _MARK_BYTES, self.corners + self.slots * CORNER_BYTES)

    @property
    def cutting(self) -> int:
        """Where the scratch of the cutting begins, past polygons that are not divided yet."""
        return self.corners + self.slots * RECORD_BYTES

    @property
    def coefficients(self) -> int:
        """Where the coefficients of a triangle begin, past its three corners."""
        return self.work + 3 * CORNER_BYTES

    @property
    def scratch(self) -> int:
        """Where the scratch of a triangle's set-up begins, and later what holds in one region."""
        return self.coefficients + _COEFFICIENT_BYTES

    @property
    def region_scratch(self) -> int:
        return self.scratch + _HERE_BYTES

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.scratch + _SETUP_SCRATCH

    @property
    def projection(self) -> Places:
        """The places of the projection of the own sample."""
        return self.projection_at(self.work)

    def projection_at(self, first: int) -> Places:
        """Return places of a projection whose scratch begins at a byte."""
        point = tuple(self.memory[f"{axis}_point"].start for axis in AXES)
        x, y, depth, fixed_x, fixed_y, constant, product, scratch = (first + FLOAT_BYTES * index for index in range(8))
        return Places((point[0], point[1], point[2]), (x, y, depth), (fixed_x, fixed_y), constant, product, scratch)

    @property
    def normal(self) -> tuple[int, ...]:
        """Where the sample's normal is."""
        return tuple(self.memory[f"{axis}_normal"].start for axis in AXES)

    @property
    def light(self) -> tuple[int, ...]:
        """Three floats past what the projection has."""
        first = self.projection.end
        return tuple(first + FLOAT_BYTES * index for index in range(3))
