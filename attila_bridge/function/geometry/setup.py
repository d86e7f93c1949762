"""Setup of triangles: edge and depth equations in float64, faces, bounding boxes.

Edges are the rows of the adjoint of the matrix of (x, y, w) of the corners (Olano and Greer, "Triangle Scan Conversion
using 2D Homogeneous Coordinates", 1997): no corner is ever divided by its w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Setup", "set_up"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """Equations of triangles: value at pixel (x, y) is a x + b y + c, taken at the centre of the pixel."""

    edges: Floats
    """[n, 3, 3]: edge, then a, b, c; positive inside."""
    depth: Floats
    """[n, 3]: a, b, c of the depth, -1 to 1."""
    empty: NDArray[np.bool_]
    """[n] whether the area is 0."""
    back: NDArray[np.bool_]
    """[n] whether it faces away (clockwise)."""
    area: Floats
    """[n] in pixels on the screen, negative where it faces away; of no meaning where a corner is at w <= 0."""
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

    ``window`` (x, y, width, height) bounds the boxes; without it the viewport does.
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
    """Return equations in pixels, from such in -1..1, moved to the centres of pixels."""
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

    A position that is no number counts as the greatest, as such a colour does.
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
