"""A small z-buffer rasterizer for previews: which triangle is seen at each pixel, and where in it."""

from __future__ import annotations

import numpy as np

from pixelflow.simd.records import record

__all__ = ["Coverage", "rasterize"]


@record(eq=False)
class Coverage:
    """For each pixel: depth (infinity where nothing is), the triangle (-1), and its screen barycentric weights."""

    depth: np.ndarray
    triangle: np.ndarray
    weights: np.ndarray


def rasterize(corners: np.ndarray, width: int, height: int) -> Coverage:
    """Return what is nearest at each pixel centre.

    ``corners`` is float64 [triangle, corner, (x, y, depth)] in pixels, y growing downwards; smaller depth is nearer.
    Depth and weights vary linearly on the screen. Triangles seen edge-on are left out; both sides count.
    """
    depth = np.full((height, width), np.inf)
    triangle = np.full((height, width), -1, dtype=np.int32)
    weights = np.zeros((height, width, 3))
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = _cross(b - a, c - a)
    low = np.ceil(corners[..., :2].min(axis=1) - 0.5).astype(int)
    high = np.floor(corners[..., :2].max(axis=1) - 0.5).astype(int)
    x0, y0 = np.maximum(low, 0).T
    x1, y1 = np.minimum(high, (width - 1, height - 1)).T
    seen = (np.abs(area) > 1e-12) & (x0 <= x1) & (y0 <= y1)
    for t in np.flatnonzero(seen):
        xs = np.arange(x0[t], x1[t] + 1) + 0.5
        ys = (np.arange(y0[t], y1[t] + 1) + 0.5)[:, None]
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners[t]
        wa = ((bx - xs) * (cy - ys) - (by - ys) * (cx - xs)) / area[t]
        wb = ((cx - xs) * (ay - ys) - (cy - ys) * (ax - xs)) / area[t]
        wc = 1.0 - wa - wb
        here = wa * az + wb * bz + wc * cz
        box = np.s_[y0[t] : y1[t] + 1, x0[t] : x1[t] + 1]
        nearer = (wa >= 0) & (wb >= 0) & (wc >= 0) & (here < depth[box])
        if nearer.any():
            depth[box][nearer] = here[nearer]
            triangle[box][nearer] = t
            weights[box][nearer] = np.stack([wa[nearer], wb[nearer], wc[nearer]], axis=-1)
    return Coverage(depth, triangle, weights)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
