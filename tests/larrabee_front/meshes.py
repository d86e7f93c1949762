"""Meshes that the tests of the front end draw."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.pipeline.bins import BinRule, bin_triangles
from larrabee_bridge.pipeline.front_end import FrontEndResult, FrontEndSetting, run_front_end
from pixelflow.simd.drawing import perspective
from tessellation.picture import Camera, View, frame


def sphere(across: int = 10, down: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and triangles of an open sphere, counterclockwise from outside."""
    around, from_pole = np.meshgrid(np.linspace(0, 2 * np.pi, across), np.linspace(0.2, np.pi - 0.2, down))
    points = np.stack([np.cos(around) * np.sin(from_pole), np.sin(around) * np.sin(from_pole), np.cos(from_pole)], -1)
    return points.reshape(-1, 3), grid(across, down)


def grid(across: int, down: int) -> np.ndarray:
    """Return the triangles of a grid of vertices, row by row."""
    first = (np.arange(down - 1)[:, None] * across + np.arange(across - 1)).reshape(-1)
    upper = np.stack([first, first + across, first + 1], axis=1)
    lower = np.stack([first + 1, first + across, first + across + 1], axis=1)
    return np.stack([upper, lower], axis=1).reshape(-1, 3)


def camera(points: np.ndarray, width: int, height: int) -> tuple[Camera, np.ndarray]:
    """Return a camera before a model, and its matrix."""
    found = frame(points, View(width=width, height=height))
    distances = -((points - found.eye) @ found.axes[2])
    span = (0.9 * distances.min(), 1.1 * distances.max())
    return found, perspective(found.eye, found.axes, found.focal, width, height, *span)


def colours(count: int) -> np.ndarray:
    """Return a colour for each vertex."""
    return np.random.default_rng(count).integers(0, 256, (count, 3)).astype(np.uint8)


def front_end(positions, colours, corners, matrix, width: int, height: int, **how) -> FrontEndResult:
    """Run a mesh; ``how`` are further fields of the setting, and what `run_front_end` takes beside it."""
    run = {name: how.pop(name) for name in ("turns", "config") if name in how}
    return run_front_end(positions, colours, corners, matrix, FrontEndSetting(width, height, **how), **run)


def soup(points: np.ndarray, width: int, height: int, **how) -> FrontEndResult:
    """Run triangles, float[triangle, corner, xyz] in clip space with w = 1, each with corners of its own."""
    positions = np.asarray(points, float).reshape(-1, 3)
    corners = np.arange(len(positions)).reshape(-1, 3)
    return front_end(positions, colours(len(positions)), corners, np.eye(4), width, height, **how)


def in_pixels(points: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return points whose x, y are given in pixels, and depths from 0 to 1, in clip space."""
    points = np.asarray(points, float)
    return np.stack([2 * points[..., 0] / width - 1, 1 - 2 * points[..., 1] / height, points[..., 2]], axis=-1)


def has_the_bins_of_boxes(result: FrontEndResult, width: int, height: int) -> bool:
    """Whether the bins are those of the box rule, entry by entry."""
    expected = bin_triangles(result.triangles, width, height, result.bins.tile, BinRule.BOX)
    same = (expected.columns, expected.rows) == (result.bins.columns, result.bins.rows)
    return (
        same
        and np.array_equal(expected.starts, result.bins.starts)
        and np.array_equal(expected.triangles, result.bins.triangles)
    )


def same_triangles(a: FrontEndResult, b: FrontEndResult) -> bool:
    """Whether two runs gave the same triangles and the same bins."""
    pairs = [(getattr(a.triangles, name), getattr(b.triangles, name)) for name in ("corners", "depths", "colours")]
    pairs += [(a.bins.starts, b.bins.starts), (a.bins.triangles, b.bins.triangles), (a.source, b.source)]
    return all(np.array_equal(one, other) for one, other in pairs) and a.dropped == b.dropped
