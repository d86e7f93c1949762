"""Points to the screen on the EMCs: the camera's matrix, the division and the viewport, where the samples were made.

The thesis lets the GPs transform vertices (2.2.2) and names projected points as what EMCs could return as well (3.1.2,
the second possibility). Here each PE takes the point that it has tessellated and works out, in binary32 by the
library's routines,

    X, Y, W = matrix [3, 4] times (x, y, z, 1)        X and Y in pixels times W, from the middle of the picture
    x, y    = X / W + middle of the picture           by one division, 1 / W, and two products
    depth   = scale / W + offset                      0 is near, 1 is far

and rounds x and y to 15.8 fixed point, half to even, as `pixelflow.simd.drawing` wants them: 1.5 * 2^15 is added, which
leaves a coordinate within 2^14 pixels exactly 8 bits of fraction, and taken off the pattern again as an integer. The
constants are immediates, the same for all PEs. What is done in which order, and with which operands, is invented.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.simd.errors import Fault, InputError
from tessellation.microprogram.libraries import FloatLibrary
from tessellation.picture import Standpoint
from tessellation.plan.memory_map import AXES, FLOAT_BYTES, RESULTS, MemoryMap

__all__ = [
    "Places",
    "Projection",
    "ProjectionStage",
    "emit_constant",
    "emit_division",
    "emit_matrix",
    "emit_projection",
    "projection_program",
]

_UNIT = 2.0**-24
"""The relative error of one operation that is rounded to nearest, in binary32."""

_LARGEST = 2.0**64
"""Extents up to here keep the constants that count, and what they are multiplied with, in the range of binary32."""

_SNAP = 1.5 * 2.0**15
"""Beside it the last bit of a binary32 number is 1/256."""

_SNAP_PATTERN = (0x40, 0x47)
"""Its upper two bytes; the lower two are 0."""

_SCRATCH_BYTES = 14


class ProjectionStage(StrEnum):
    """Names of the stages in cycle reports, in their order."""

    MATRIX = "matrix"
    DIVISION = "division"
    VIEWPORT = "viewport"
    SNAP = "fixed point"


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A camera as the constants of the program, each rounded once to binary32.

    ``matrix`` is float32[3, 4], rows for X, Y and W; ``middle`` float32[2] in pixels; ``depth`` float32[2], the scale
    of 1 / W and the offset.
    """

    matrix: np.ndarray
    middle: np.ndarray
    depth: np.ndarray

    @classmethod
    def of(cls, standpoint: Standpoint) -> Projection:
        """Return the constants for a standpoint, worked out in float64.

        Raises InputError for a model so large or small that they could leave the range of binary32.
        """
        if not 1 / _LARGEST <= standpoint.extent <= _LARGEST:
            message = f"a model of {standpoint.extent:.2g} units cannot be projected in binary32"
            raise InputError(Fault(message, hint="scale it: from 2^-64 to 2^64 units are possible"))
        camera = standpoint.camera
        right, up, back = camera.axes
        rows = np.stack([camera.focal * right, -camera.focal * up, -back]) / standpoint.extent
        last = -rows @ (standpoint.origin + standpoint.extent * camera.eye)
        matrix = np.concatenate([rows, last[:, None]], axis=1)
        scale = 1 / (standpoint.high - standpoint.low) if standpoint.high > standpoint.low else 0.0
        middle = np.array([camera.width / 2, camera.height / 2])
        depth = np.array([-scale, -scale * standpoint.low])
        return cls(matrix.astype(np.float32), middle.astype(np.float32), depth.astype(np.float32))

    def error_bounds(self, points: np.ndarray) -> np.ndarray:
        """Return how far x, y and depth may be from those in exact arithmetic: float64[point, 3], pixels and 0 to 1.

        ``points`` are the machine's, float32[point, xyz]. Every constant and every operation is off by 2^-24 of itself
        at most. A term of a row passes through its product and 3 sums, so the sum of |terms| times 4 u / (1 - 4 u)
        bounds those (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Infinite where W may be 0; what
        becomes 0 below 2^-126 is less than any of this.
        """
        u, constant = _UNIT, _UNIT / (1 - _UNIT)
        terms = np.concatenate([points, np.ones((len(points), 1))], axis=1, dtype=np.float64)
        matrix = self.matrix.astype(np.float64)
        x, y, w = (terms @ matrix.T).T
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = (np.abs(terms) @ np.abs(matrix).T).T / np.abs(w)
            # Parts of W that its constants, and the operations on them, may be off by.
            w_constants, w_rounding = constant * sizes[2], 4 * u / (1 - 4 * u) * sizes[2]
            inverse = (1 + u) / (1 - w_rounding) - 1
            through_constants = 1 / (1 - w_constants)
            found = []
            for value, size, middle in zip((x, y), sizes, self.middle.astype(np.float64), strict=False):
                place = value / w
                product = np.abs(place) * ((1 + inverse) * (1 + u) - 1)
                product += 4 * u / (1 - 4 * u) * size * (1 + inverse) * (1 + u)
                constants = (constant * size + np.abs(place) * w_constants) * through_constants
                found.append((1 + u) * product + u * np.abs(place + middle) + constants)
            scale, offset = self.depth.astype(np.float64)
            term = scale / w
            product = np.abs(term) * ((1 + inverse) * (1 + u) - 1)
            constants = np.abs(term) * ((1 + constant) * through_constants - 1) + constant * abs(offset)
            found.append((1 + u) * product + u * np.abs(term + offset) + constants)
        bounds = np.stack(found, axis=-1)
        lost = ~((w_rounding < 1) & (w_constants < 1))
        return np.where(lost[:, None] | np.isnan(bounds), np.inf, bounds)


@dataclass(frozen=True, slots=True)
class Places:
    """Where in a PE the program finds a point and leaves what it makes of it: addresses of first bytes.

    ``screen`` are x, y and depth as binary32, ``fixed`` x and y in 1/256 pixel as signed integers of 4 bytes.
    """

    point: tuple[int, int, int]
    screen: tuple[int, int, int]
    fixed: tuple[int, int]
    constant: int
    product: int
    scratch: int

    @classmethod
    def after(cls, memory: MemoryMap) -> Places:
        """Return places for the end of a pass, when Bernstein values and what follows have done their work."""
        floats = range(memory[RESULTS[-1]].end, memory.used, FLOAT_BYTES)
        x, y, depth, fixed_x, fixed_y, constant, product, scratch = floats[:8]
        point = tuple(memory[f"{axis}_point"].start for axis in AXES)
        return cls(point, (x, y, depth), (fixed_x, fixed_y), constant, product, scratch)

    @property
    def end(self) -> int:
        """One past the last byte that is written."""
        return self.scratch + _SCRATCH_BYTES


def projection_program(places: Places, projection: Projection, library: FloatLibrary) -> Program:
    """Return the program that projects the points of all PEs."""
    builder = Builder("project")
    library = replace(library, mantissa_bytes=FLOAT_BYTES - 1)
    library.include(builder, places.scratch)
    builder.mark(ProjectionStage.MATRIX.value)
    builder.emit("EMC_SetEnab")
    emit_projection(builder, places, projection, library)
    return builder.build()


def emit_projection(builder: Builder, places: Places, projection: Projection, library: FloatLibrary) -> None:
    """Emit the projection of the points of enabled PEs; the library must be included, for binary32.

    12 multiplications, 14 additions, one division and 20 constants of 4 cycles each.
    """
    emit_matrix(builder, places, projection, library)
    emit_division(builder, places, projection, library)


def emit_matrix(builder: Builder, places: Places, projection: Projection, library: FloatLibrary) -> None:
    """Emit X, Y and W of the points of enabled PEs, where x, y and depth will be."""
    constant, product = Mem(places.constant), Mem(places.product)
    builder.mark(ProjectionStage.MATRIX.value)
    for total, row in zip((Mem(address) for address in places.screen), projection.matrix, strict=True):
        for index, address in enumerate(places.point):
            emit_constant(builder, constant, row[index])
            library.multiply_add(builder, total, constant, Mem(address), product, first=index == 0)
        emit_constant(builder, constant, row[3])
        library.add(builder, total, total, constant)


def emit_division(builder: Builder, places: Places, projection: Projection, library: FloatLibrary) -> None:
    """Emit x, y and depth from X, Y and W in their places, and x and y in 1/256 pixel."""
    constant = Mem(places.constant)
    x, y, depth = (Mem(address) for address in places.screen)
    builder.mark(ProjectionStage.DIVISION.value)
    emit_constant(builder, constant, 1.0)
    library.divide(builder, depth, constant, depth)
    library.multiply(builder, x, x, depth)
    library.multiply(builder, y, y, depth)
    builder.mark(ProjectionStage.VIEWPORT.value)
    emit_constant(builder, constant, projection.depth[0])
    library.multiply(builder, depth, depth, constant)
    for place, value in ((x, projection.middle[0]), (y, projection.middle[1]), (depth, projection.depth[1])):
        emit_constant(builder, constant, value)
        library.add(builder, place, place, constant)
    builder.mark(ProjectionStage.SNAP.value)
    emit_constant(builder, constant, _SNAP)
    for place, address in zip((x, y), places.fixed, strict=True):
        _emit_snapped(builder, library, Mem(address), place, constant)


def _emit_snapped(builder: Builder, library: FloatLibrary, fixed: Mem, place: Mem, constant: Mem) -> None:
    """Emit the rounding of a coordinate: one addition, and 6 cycles for the difference of the patterns."""
    library.add(builder, fixed, place, constant)
    for mnemonic, index, byte in zip(("SUB", "SBC"), (2, 3), _SNAP_PATTERN, strict=True):
        builder.emit("LD", Register.R, Mem(fixed.offset + index))
        builder.emit(mnemonic, Register.R, Imm(byte))
        builder.emit("ST", Mem(fixed.offset + index), Register.R)


def emit_constant(builder: Builder, place: Mem, value: float) -> None:
    """Emit a constant, rounded to binary32, where enabled: 4 cycles."""
    for index, byte in enumerate(np.float32(value).tobytes()):
        builder.emit("STI", Mem(place.offset + index), Imm(byte))
