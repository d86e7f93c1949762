"""Projection of points on the EMCs: the camera's matrix, the division and the viewport.

The thesis lets the GPs transform vertices (2.2.2); as a second possibility EMCs return projected points (3.1.2). Here
each PE takes the point that it has tessellated and computes, in binary32 by the library's routines,

    X, Y, W = matrix [3, 4] times (x, y, z, 1)        X and Y in pixels times W, from the middle of the picture
    x, y    = X / W + middle of the picture           by one division, 1 / W, and two products
    depth   = scale / W + offset                      0 is near, 1 is far

and rounds x and y to 15.8 fixed point, half to even, as `pixelflow.simd.drawing` does: adding 1.5 * 2^15 leaves a
coordinate within 2^14 pixels exactly 8 bits of fraction, and its pattern is subtracted as an integer. The constants are
immediates, the same for all PEs. The order of operations and operands is invented.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.drawing import REACH, SUBPIXELS
from pixelflow.simd.errors import Fault, InputError
from tessellation.host.session import PassBegins, Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.method import FloatLibrary, Method
from tessellation.microprogram.passes import Plan
from tessellation.picture import Standpoint, View
from tessellation.plan.memory_map import AXES, FLOAT_BYTES, RESULTS, MemoryMap
from tessellation.surface.patch import Patch, require_whole
from tessellation.surface.reference import evaluate

_UNIT = 2.0**-24
"""Relative error of one operation rounded to nearest in binary32."""

_LARGEST = 2.0**64
"""Largest extent for which all significant constants and products stay in the range of binary32."""

_SNAP = 1.5 * 2.0**15
"""A sum with it has 1/256 as its last bit in binary32."""

_SNAP_PATTERN = (0x40, 0x47)
"""Its upper two bytes; the lower two are 0."""

_SCRATCH_BYTES = 14


class ProjectionStage(StrEnum):
    """Names of the stages in cycle reports, in order."""

    MATRIX = "matrix"
    DIVISION = "division"
    VIEWPORT = "viewport"
    SNAP = "fixed point"


class Projection(NamedTuple):
    """A camera as the constants of the program, each rounded once to binary32.

    ``matrix`` is float32[3, 4], rows for X, Y and W; ``middle`` float32[2] in pixels; ``depth`` float32[2], the scale
    of 1 / W and the offset.
    """

    matrix: np.ndarray
    middle: np.ndarray
    depth: np.ndarray

    @classmethod
    def of(cls, standpoint: Standpoint) -> Projection:
        """Return the constants for a standpoint, computed in float64.

        Raises InputError for a model whose size could take them out of the range of binary32.
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
        """Return bounds of the errors of x, y and depth against exact arithmetic: float64[point, 3], pixels and 0 to 1.

        ``points`` are the machine's, float32[point, xyz]. The relative error of a constant or operation is at most
        2^-24. A term of a row passes through its product and 3 sums, so the sum of |terms| times 4 u / (1 - 4 u) bounds
        those (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Infinite where W may be 0; underflow below
        2^-126 is negligible.
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


class Places(NamedTuple):
    """Addresses of the program's operands and results in a PE.

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
        """Return places that reuse, after a pass, the memory from the Bernstein values upwards."""
        floats = range(memory[RESULTS[-1]].end, memory.used, FLOAT_BYTES)
        x, y, depth, fixed_x, fixed_y, constant, product, scratch = floats[:8]
        first, second, third = (memory[f"{axis}_point"].start for axis in AXES)
        return cls((first, second, third), (x, y, depth), (fixed_x, fixed_y), constant, product, scratch)

    @property
    def end(self) -> int:
        """One past the last byte written."""
        return self.scratch + _SCRATCH_BYTES


def projection_program(places: Places, projection: Projection, library: FloatLibrary) -> Program:
    """Return the program that projects the points of all PEs."""
    builder = Builder("project")
    library = library._replace(mantissa_bytes=FLOAT_BYTES - 1)
    library.include(builder, places.scratch)
    builder.mark(ProjectionStage.MATRIX.value)
    builder.emit("EMC_SetEnab")
    emit_projection(builder, places, projection, library)
    return builder.build()


def emit_projection(builder: Builder, places: Places, projection: Projection, library: FloatLibrary) -> None:
    """Emit the projection of the points of enabled PEs; the library must be included for binary32.

    12 multiplications, 14 additions, one division and 20 constants of 4 cycles each.
    """
    emit_matrix(builder, places, projection, library)
    emit_division(builder, places, projection, library)


def emit_matrix(builder: Builder, places: Places, projection: Projection, library: FloatLibrary) -> None:
    """Emit X, Y and W of the points of enabled PEs, in the places of x, y and depth."""
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


# A tessellation whose samples the EMCs project after each pass.


class ProjectionDifference(NamedTuple):
    """Largest differences of the machine's coordinates from those of the camera in 64 bits, for the same points.

    ``share`` is relative to the bound of rounding to binary32; ``moved`` counts samples rounded to another 1/256 pixel.
    """

    pixels: float
    depth: float
    share: float
    moved: int


class Projected(NamedTuple):
    """All samples on the screen, patch by patch in the caller's order, and the runs that projected them.

    ``screen`` is float32[sample, 3] from the PEs: x and y in pixels, and depth. ``fixed`` is int32[sample, 2], x and y
    in 1/256 pixel, valid for coordinates within 2^14 pixels. ``points`` is float32[sample, xyz], before projection.
    """

    standpoint: Standpoint
    projection: Projection
    points: np.ndarray
    screen: np.ndarray
    fixed: np.ndarray
    runs: tuple[Run, ...]

    @property
    def cycles(self) -> int:
        return sum(run.cycles for run in self.runs)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        total = stages_of(self.runs)
        return {stage.value: total.get(stage.value, 0) for stage in ProjectionStage}

    @property
    def vertices(self) -> np.ndarray:
        """x and y in pixels, rounded to 1/256 by the PEs, and depth: float64[sample, 3], for `lit_triangles`.

        Coordinates too large to be rounded are unchanged; `pixelflow.simd.drawing.snap` refuses them.
        """
        found = self.screen.astype(np.float64)
        place = found[:, :2]
        inside = (place >= -REACH) & (place < REACH)
        found[:, :2] = np.where(inside, self.fixed / SUBPIXELS, place)
        return found

    @property
    def difference(self) -> ProjectionDifference:
        """Difference from the camera in 64 bits."""
        expected = self.standpoint.project(self.points.astype(np.float64))
        off = np.abs(self.screen - expected)
        share = off / self.projection.error_bounds(self.points)
        moved = (np.rint(expected[:, :2] * SUBPIXELS) != self.fixed).any(axis=1)
        return ProjectionDifference(
            float(off[:, :2].max()), float(off[:, 2].max()), float(np.nanmax(share)), int(np.count_nonzero(moved))
        )


def project_samples(
    patches: Sequence[Patch],
    samples: int | Sequence[int],
    view: View,
    *,
    library: str | None = None,
    engine: str = "auto",
    config: NodeConfig = THESIS,
    method: Method | None = None,
    progress: Callable[[PassBegins], object] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> tuple[Tessellation, Projected]:
    """Tessellate patches and project every sample on the EMCs, pass by pass.

    The camera is fixed before the first pass, by the application's own evaluation of the patches in 64 bits; depths
    keep clear of 0 and 1 by the bound of rounding. Arguments are those of `tessellate`. Raises InputError as it does,
    for patches without extent, and if a triangle would have to be cut.
    """
    method = Method() if method is None else method
    standpoint = standpoint_for(patches, samples, view, single=method.single_database)
    projector = _Projector(Projection.of(standpoint))
    tessellation = tessellate(
        patches, samples, library=library, engine=engine, config=config, method=method, progress=progress, watch=watch,
        after=projector,
    )  # fmt: skip
    return tessellation, projector.result(standpoint)


def standpoint_for(patches: Sequence[Patch], samples: int | Sequence[int], view: View, *, single: bool) -> Standpoint:
    """Return the standpoint for the model's own points, its depth range widened by twice their error bound.

    ``single``: control points are rounded to binary32. Raises InputError for patches without extent and for samples in
    front of the near plane, since no triangle is cut.
    """
    points = sampled_points(patches, samples, single=single)
    standpoint = standpoint_of(points, view)
    nearer = int(np.count_nonzero(standpoint.distances(points) < standpoint.near))
    if nearer:
        hint = "move the eye back or near closer to it; with instruction words (emc-words) the EMCs cut triangles"
        raise InputError(Fault(f"{nearer:,} of {len(points):,} samples are in front of the near plane", hint=hint))
    bound = Projection.of(standpoint).error_bounds(points)[:, 2].max()
    return standpoint.widened(2 * bound)


def standpoint_of(points: np.ndarray, view: View) -> Standpoint:
    """Return the standpoint for samples, float64[sample, xyz]; raises InputError if they are one point."""
    if not np.ptp(points, axis=0).any():
        raise InputError(Fault("there is nothing to draw: all samples are one point"))
    return Standpoint.of(points, view)


def sampled_points(patches: Sequence[Patch], samples: int | Sequence[int], *, single: bool) -> np.ndarray:
    """Return the samples of patches by the application's own evaluation: float64[sample, xyz], in any order.

    Raises InputError for trimmed patches.
    """
    require_whole(patches, "its border has points that are not samples, and EMCs project samples")
    counts = [samples] * len(patches) if isinstance(samples, int) else [int(k) for k in samples]
    groups: dict[tuple[tuple[int, int], int], list[Patch]] = {}
    for patch, k in zip(patches, counts, strict=True):
        groups.setdefault((patch.counts, k), []).append(patch)
    return np.concatenate([
        evaluate(np.stack([patch.points for patch in members]), k, single=single).points.reshape(-1, 3)
        for (_, k), members in groups.items()
    ])  # fmt: skip


class _Projector:
    """Runs the projection after each pass and collects its results."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self._programs: dict[Places, Program] = {}
        self._runs: list[Run] = []
        self._found: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def __call__(self, session: Session, plan: Plan) -> None:
        places = Places.after(plan.memory)
        node = session.node
        if places not in self._programs:
            self._programs[places] = projection_program(places, self._projection, session.library)
        self._runs.append(node.run(self._programs[places]))
        point, screen = (
            np.stack([node.read_float(address) for address in addresses], axis=-1)
            for addresses in (places.point, places.screen)
        )
        words = [node.read_word(address, 4).astype(np.uint32).view(np.int32) for address in places.fixed]
        fixed = np.stack(words, axis=-1)
        for placement in plan.work.placements:
            lanes = placement.lanes(session.config.array).reshape(-1)
            self._found[placement.patch] = (point[lanes], screen[lanes], fixed[lanes])

    def result(self, standpoint: Standpoint) -> Projected:
        points, screen, fixed = (
            np.concatenate(parts) for parts in zip(*(self._found[n] for n in sorted(self._found)), strict=True)
        )
        return Projected(standpoint, self._projection, points, screen, fixed, tuple(self._runs))
