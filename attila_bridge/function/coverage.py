"""Meaning: triangles of shaded vertices, their equations, and the quads that they cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.layout import QUAD_X, QUAD_Y, TILE
from attila_bridge.function.work import BatchWork
from attila_bridge.scene import Primitive

# Assembly of triangles from vertices, and their rejection by the Clipper.


_QUAD = ((0, 1, 3), (1, 2, 3))
_STRIP_QUAD = ((0, 1, 3), (2, 0, 3))


def assembled(primitive: Primitive, count: int) -> NDArray[np.int32]:
    """Return the triangles of a number of vertices, int32[n, 3] positions in the stream, without those left over."""
    match primitive:
        case Primitive.TRIANGLES:
            corners = np.arange(count // 3 * 3).reshape(-1, 3)
        case Primitive.TRIANGLE_STRIP:
            corners = np.arange(max(0, count - 2))[:, None] + np.arange(3)
            corners[1::2, :2] = corners[1::2, 1::-1]
        case Primitive.TRIANGLE_FAN:
            last = np.arange(2, count)
            corners = np.stack([np.zeros_like(last), last - 1, last], axis=-1)
        case Primitive.QUADS:
            corners = (4 * np.arange(count // 4)[:, None, None] + np.array(_QUAD)).reshape(-1, 3)
        case Primitive.QUAD_STRIP:
            quads = max(0, count // 2 - 1)
            corners = (2 * np.arange(quads)[:, None, None] + np.array(_STRIP_QUAD)).reshape(-1, 3)
    return corners.astype(np.int32).reshape(-1, 3)


def triangles_of(primitive: Primitive) -> int:
    """Return the triangles of one primitive: two of a quad."""
    return 2 if primitive in (Primitive.QUADS, Primitive.QUAD_STRIP) else 1


def names_twice(corners: NDArray[np.int32], indices: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return bool[n]: the triangles that name an index twice."""
    a, b, c = indices[corners].T
    return (a == b) | (b == c) | (a == c)


def is_outside(positions: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return the triangles with all corners outside of one plane of the frustum; float32[n, 3, 4] clip positions."""
    w = positions[..., 3]
    outside = np.zeros(len(positions), np.bool_)
    for axis in range(3):
        outside |= (positions[..., axis] < -w).all(axis=1) | (positions[..., axis] > w).all(axis=1)
    return outside


# Set-up of triangles: edge and depth equations in float64, faces, bounding boxes.
#
# Edges are the rows of the adjoint of the matrix of (x, y, w) of the corners (Olano and Greer, "Triangle Scan
# Conversion using 2D Homogeneous Coordinates", 1997): no corner is ever divided by its w.


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """Equations of triangles: the value at the centre of pixel (x, y) is a x + b y + c."""

    edges: Floats
    """[n, 3, 3]: edge, then a, b, c; positive inside."""
    depth: Floats
    """[n, 3]: a, b, c of the depth, -1 to 1."""
    empty: NDArray[np.bool_]
    """[n] True if the area is 0."""
    back: NDArray[np.bool_]
    """[n] True if it faces away (clockwise)."""
    area: Floats
    """[n] in pixels on the screen, negative where it faces away; meaningless where a corner is at w <= 0."""
    box: NDArray[np.int64]
    """[n, 4]: least x, least y, greatest x, greatest y in pixels, a pixel wider on each side, within the viewport."""

    def only(self, kept: NDArray[np.int64]) -> Setup:
        """Return the equations of some of the triangles."""
        return Setup(
            self.edges[kept], self.depth[kept], self.empty[kept], self.back[kept], self.area[kept], self.box[kept]
        )


def set_up(
    positions: NDArray[np.float32], width: int, height: int, window: tuple[int, int, int, int] | None = None
) -> Setup:
    """Return the equations of triangles with corners at float32[n, 3, 4] in clip coordinates.

    ``window`` (x, y, width, height) bounds the boxes instead of the viewport.
    """
    corners = positions.astype(np.float64)
    x, y, z, w = (corners[..., axis] for axis in range(4))
    rows = []
    for first, second in ((1, 2), (2, 0), (0, 1)):
        rows.append(
            [
                y[:, first] * w[:, second] - y[:, second] * w[:, first],
                x[:, second] * w[:, first] - x[:, first] * w[:, second],
                x[:, first] * y[:, second] - x[:, second] * y[:, first],
            ]
        )
    edges = np.array(rows).transpose(2, 0, 1).reshape(-1, 3, 3)
    area = edges[:, 0, 0] * x[:, 0] + edges[:, 0, 1] * y[:, 0] + edges[:, 0, 2] * w[:, 0]
    edges = _to_viewport(edges, width, height)
    with np.errstate(all="ignore"):
        depth = (edges[:, 0] * z[:, 0, None] + edges[:, 1] * z[:, 1, None] + edges[:, 2] * z[:, 2, None]) / area[
            :, None
        ]
        screen = area / w.prod(axis=1) * (width * height / 8)
    back = area < 0
    edges = np.where(back[:, None, None], -edges, edges)
    return Setup(
        edges, depth, area == 0, back, screen, _boxes(x, y, w, (width, height), window or (0, 0, width, height))
    )


def _to_viewport(edges: Floats, width: int, height: int) -> Floats:
    """Return equations in -1..1 as equations in pixels, at their centres."""
    a, b, c = (edges[..., at] for at in range(3))
    right, up = 2.0 * a / width, 2.0 * b / height
    return np.stack([right, up, c - a - b + (right + up) * 0.5], axis=-1)


def _boxes(
    x: Floats, y: Floats, w: Floats, viewport: tuple[int, int], window: tuple[int, int, int, int]
) -> NDArray[np.int64]:
    sides = []
    for at, size, start, length in ((x, viewport[0], window[0], window[2]), (y, viewport[1], window[1], window[3])):
        low, high = _span(at, w)
        # The position just past the last pixel counts as within.
        sides.append(
            [np.clip(each, start, start + length) for each in (_pixels(low, size) - 1, _pixels(high, size) + 1)]
        )
    (left, right), (bottom, top) = sides
    return np.stack([left, bottom, right, top], axis=-1)


def _span(at: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest position of the corners in -1..1; corners outside of a plane count as on it.

    A NaN counts as the greatest, as for colours.
    """
    with np.errstate(all="ignore"):
        plain = np.where(w > 0, at / w, 0.0)
    plain = np.where(np.isnan(plain), 1.0, plain)
    below, above = at < -w, at > w
    low = np.where(below, -1.0, np.where(above, 1.0, plain))
    high = np.where(above, 1.0, np.where(below, -1.0, plain))
    return low.min(axis=1), high.max(axis=1)


def _pixels(at: Floats, size: int) -> NDArray[np.int64]:
    return np.floor((at + 1.0) * 0.5 * size).astype(np.int64)


# Coverage: the steps of traversal as quads, with the covered fragments and their depths.


DEPTH_MOST = (1 << 24) - 1
_TINY = 1e-12
Integers = NDArray[np.int64]

_FRAGMENT = np.arange(4)
_X = (QUAD_X[:, None] + _FRAGMENT % 2).ravel()
_Y = (QUAD_Y[:, None] + _FRAGMENT // 2).ravel()
"""Positions of the 64 fragments of a tile, quad by quad."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of traversal, each one triangle in one 8x8 tile."""

    triangle: NDArray[np.int32]
    """[steps] position among the drawn triangles."""
    x: Integers
    y: Integers
    batch: Integers
    """[batches + 1] first step of each batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Coverage of steps."""

    inside: NDArray[np.bool_]
    """[quads, 4] within the triangle and the depth range."""
    covered: NDArray[np.bool_]
    """[quads, 4] these, within the window."""
    depth: NDArray[np.uint32]
    """[quads, 4] 24 bits; arbitrary where a fragment is not covered."""
    weights: NDArray[np.float64]
    """[3, 4, quads] values of the three edges at each fragment."""

    def only(self, kept: Integers) -> Cover:
        """Return the coverage of some of the quads."""
        return Cover(self.inside[kept], self.covered[kept], self.depth[kept], self.weights[:, :, kept])


def steps_of(batches: tuple[BatchWork, ...]) -> Steps:
    """Return the steps of all batches, and set the first step of each scan tile.

    A scan tile is opened into its four 8x8 tiles, row by row; each is one step for each triangle marked.
    """
    if not batches:
        nothing = np.zeros(0, np.int64)
        return Steps(np.zeros(0, np.int32), nothing, nothing, np.zeros(1, np.int64))
    scans = np.concatenate([each.scans for each in batches]).astype(np.int64)
    counts = np.array([len(each.scans) for each in batches])
    begins = np.cumsum([0, *(len(each.triangles) for each in batches[:-1])])
    batch = np.repeat(np.arange(len(batches)), counts)
    marked = (scans[:, 2, None] >> np.arange(4) & 1).astype(np.bool_)
    each_tile = marked.sum(axis=1)
    firsts = np.concatenate([[0], np.cumsum(4 * each_tile)])
    scan, tile, triangle = np.nonzero(np.repeat(marked[:, None], 4, axis=1))
    past = np.concatenate([[0], np.cumsum(counts)])
    for number, each in enumerate(batches):
        each.scans[:, 3] = firsts[past[number] : past[number + 1]]
    return Steps(
        (begins[batch[scan]] + triangle).astype(np.int32),
        scans[scan, 0] + TILE * (tile % 2),
        scans[scan, 1] + TILE * (tile // 2),
        firsts[past],
    )


def cover(
    setup: Setup, triangle: NDArray[np.int32], x: Integers, y: Integers, window: tuple[int, int, int, int]
) -> Cover:
    """Return the coverage of steps within a window of the screen (x, y, width, height).

    A fragment is inside where each edge is positive, or zero for a left edge or a level lower one, and its depth is
    within -1..1.
    """
    px, py = (x[:, None] + _X).astype(np.float64), (y[:, None] + _Y).astype(np.float64)
    left, low, width, height = window
    seen = (px >= left) & (px < left + width) & (py >= low) & (py < low + height)
    inside = np.ones(px.shape, np.bool_)
    edges = setup.edges[triangle]
    weights = np.empty((3, *px.shape))
    for at in range(3):
        a, b, c = (edges[:, at, which, None] for which in range(3))
        value = a * px + b * py + c
        owned = (a > 0) | ((a == 0) & (b >= 0))
        inside &= (value > _TINY) | ((np.abs(value) < _TINY) & owned)
        weights[at] = value
    a, b, c = (setup.depth[triangle, which, None] for which in range(3))
    z = a * px + b * py + c
    inside &= np.abs(z) <= 1 + _TINY
    with np.errstate(all="ignore"):
        depth = np.trunc((z * 0.5 + 0.5) * DEPTH_MOST)
    depth = np.where(inside, np.clip(depth, 0, DEPTH_MOST), 0).astype(np.uint32)
    return Cover(
        inside.reshape(-1, 4),
        (inside & seen).reshape(-1, 4),
        depth.reshape(-1, 4),
        weights.reshape(3, -1, 4).transpose(0, 2, 1),
    )
