"""Inputs of the front end: meshes and settings, checked: every fault says what it is and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.coverage.binning import TILES
from pixelflow.simd.drawing import FAR, REACH, SAMPLES, DepthTest, State
from pixelflow.simd.errors import Fault, InputError

__all__ = ["LARGEST", "THREADS", "Cull", "FrontEndSetting", "HierarchicalDepth", "VertexMesh", "checked"]

LARGEST = 2.0**60
"""Coordinates in clip space are smaller, so that no product of the front end overflows."""

THREADS = 4
"""Hardware threads of a core (Seiler et al. 2008, 3.1)."""

_MOST_REPORTED = 20


class Cull(Enum):
    """Which triangles are dropped; the front is the side from which the corners run counterclockwise."""

    NONE = "none: both sides are drawn"
    FRONT = "those seen from the front"
    BACK = "those seen from behind"


@dataclass(frozen=True, slots=True, eq=False)
class VertexMesh:
    """Vertices and triangles: float32[vertex, xyz], int32[triangle, 3], colours int64[triangle, corner, rgb]."""

    positions: NDArray[np.float32]
    corners: NDArray[np.int32]
    colours: NDArray[np.int64]
    matrix: NDArray[np.float32]
    """Rows of the matrix that takes (x, y, z, 1) to clip space: the view is -w <= x, y <= w and 0 <= z <= w."""


@dataclass(frozen=True, slots=True, eq=False)
class HierarchicalDepth:
    """Depth test by whole tiles: it keeps triangles out of tiles where they are hidden.

    What hides them: the depths that tiles have beforehand, and triangles of the same thread that cover a whole tile, if
    the draw's state writes depth. Pictures stay the same; bins come to depend on PrimSets and threads.
    """

    state: State = field(default_factory=State)
    before: NDArray[np.int64] | None = None
    """The largest depth in each tile beforehand, int64[tile] row by row; None: FAR in all."""

    @property
    def covers(self) -> bool:
        """Whether what is drawn brings those depths down."""
        return self.state.depth_write and not self.state.cutout


@dataclass(frozen=True, slots=True, eq=False)
class FrontEndSetting:
    """How the front end works: the screen in pixels, sides of tiles, triangles of a PrimSet, threads of a core.

    With one of the ``samples`` of a pixel boxes are those around pixel centres; with four, those around their samples.
    """

    width: int
    height: int
    tile: int = 64
    primset: int = 1000
    cull: Cull = Cull.NONE
    threads: int = THREADS
    hierarchical: HierarchicalDepth | None = None
    samples: int = 1
    """Of a pixel: one in its centre, or four."""

    @property
    def columns(self) -> int:
        """Tiles in a row."""
        return -(-self.width // self.tile)

    @property
    def tiles(self) -> int:
        """Tiles of the screen."""
        return self.columns * -(-self.height // self.tile)

    @property
    def coarse(self) -> NDArray[np.int64] | None:
        """The largest depth in each tile beforehand, int64[tile]; None: no hierarchical depth test."""
        if self.hierarchical is None:
            return None
        before = self.hierarchical.before
        return np.full(self.tiles, FAR) if before is None else np.asarray(before, np.int64)


def checked(
    positions: NDArray[np.number],
    colours: NDArray[np.uint8],
    corners: NDArray[np.integer],
    matrix: NDArray[np.number],
    setting: FrontEndSetting,
) -> VertexMesh:
    """Return the mesh as the front end's numbers; raises InputError with every fault."""
    _raise(_of_setting(setting))
    matrix = np.asarray(matrix)
    positions, corners, colours = np.asarray(positions), np.asarray(corners), np.asarray(colours)
    _raise(_of_shapes(positions, colours, corners, matrix))
    _raise(_of_corners(corners, len(positions)))
    if len(corners) == 0:
        raise InputError(Fault("there is nothing to draw: a mesh without triangles"))
    with np.errstate(over="ignore"):
        rounded, rows = positions.astype(np.float32), matrix.astype(np.float32)
    _raise(_of_numbers(rounded, rows))
    by_corner = colours if colours.ndim == 3 else colours[corners]
    return VertexMesh(rounded, corners.astype(np.int32), by_corner.astype(np.int64), rows)


def _raise(faults: Iterable[Fault]) -> None:
    found = tuple(faults)
    if found:
        raise InputError(found[:_MOST_REPORTED])


def _of_setting(setting: FrontEndSetting) -> list[Fault]:
    found = []
    state = setting.hierarchical and setting.hierarchical.state
    if setting.tile not in TILES:
        found.append(Fault(f"a tile of {setting.tile} pixels", hint=f"allowed: {', '.join(map(str, TILES))}"))
    if not (0 < setting.width < REACH and 0 < setting.height < REACH):
        hint = f"sides are 1 to {REACH - 1} pixels"
        found.append(Fault(f"a screen of {setting.width}x{setting.height} pixels", hint=hint))
    if setting.primset < 1:
        found.append(Fault(f"a PrimSet of {setting.primset} triangles", hint="1 or more"))
    if not 1 <= setting.threads <= THREADS:
        found.append(Fault(f"{setting.threads} threads for a PrimSet", hint=f"a core has 1 to {THREADS}"))
    if setting.samples not in (1, len(SAMPLES)):
        found.append(Fault(f"{setting.samples} samples a pixel", hint=f"allowed: 1, {len(SAMPLES)}"))
    if state and setting.samples != 1:
        found.append(Fault(f"a hierarchical depth test with {setting.samples} samples a pixel", hint="allowed: 1"))
    if state and (state.depth_test is not DepthTest.LESS or state.stencil is not None):
        hint = "only where the depth test is LESS and no stencil steps may triangles be left out unseen"
        found.append(Fault("a hierarchical depth test in a state that needs hidden triangles", hint=hint))
    if not found and (coarse := setting.coarse) is not None:
        wrong = coarse.shape != (setting.tiles,)
        if wrong or (len(coarse) and not 0 <= coarse.min() <= coarse.max() <= FAR):
            hint = f"one for each of {setting.tiles} tiles, row by row, 0 to {FAR}"
            found.append(Fault(f"depths of tiles, {list(coarse.shape)} numbers", hint=hint))
    return found


def _of_shapes(
    positions: NDArray[np.number], colours: NDArray[np.uint8], corners: NDArray[np.integer], matrix: NDArray[np.number]
) -> list[Fault]:
    found = []
    if positions.ndim != 2 or positions.shape[1] != 3 or positions.dtype.kind not in "fiu":
        found.append(Fault(f"positions are float[vertex, 3], not {positions.dtype}{list(positions.shape)}"))
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
        found.append(Fault(f"corners are int[triangle, 3], not {corners.dtype}{list(corners.shape)}"))
    if matrix.shape != (4, 4) or matrix.dtype.kind not in "fiu":
        found.append(Fault(f"a matrix is float[4, 4], not {matrix.dtype}{list(matrix.shape)}"))
    if found:
        return found
    if colours.dtype != np.uint8 or colours.shape not in ((len(positions), 3), (len(corners), 3, 3)):
        hint = "uint8[vertex, 3], or uint8[triangle, 3, 3] for each corner"
        found.append(Fault(f"colours are {colours.dtype}{list(colours.shape)}", hint=hint))
    return found


def _of_corners(corners: NDArray[np.integer], vertices: int) -> list[Fault]:
    wrong = np.argwhere((corners < 0) | (corners >= vertices))
    return [
        Fault(
            f"triangle {triangle + 1}: corner {corner + 1} is vertex number {corners[triangle, corner]}",
            hint=f"numbers are 0 to {vertices - 1}" if vertices else "the mesh has no vertices",
        )
        for triangle, corner in wrong[:_MOST_REPORTED].tolist()
    ]


def _of_numbers(positions: NDArray[np.float32], matrix: NDArray[np.float32]) -> list[Fault]:
    found = [
        Fault(f"row {row + 1}, column {column + 1} of the matrix is not a finite float32")
        for row, column in np.argwhere(~np.isfinite(matrix)).tolist()
    ]
    finite = np.isfinite(positions).all(axis=1)
    wrong = np.flatnonzero(~finite)[:_MOST_REPORTED]
    count = len(positions)
    found += [Fault(f"vertex {number + 1} of {count} is not a point of finite float32 numbers") for number in wrong]
    if found:
        return found
    wide, across = np.abs(positions.astype(np.float64)), np.abs(matrix.astype(np.float64))
    reached = (wide @ across[:, :3].T + across[:, 3]).max(axis=1, initial=0.0)
    hint = "sums of products in clip space stay below 2^60"
    far = np.flatnonzero(reached >= LARGEST)[:_MOST_REPORTED]
    return [
        Fault(f"vertex {number + 1} of {count} reaches {reached[number]:.3g} in clip space", hint=hint)
        for number in far
    ]
