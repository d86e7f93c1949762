"""The picture that every machine must draw: triangles in their order, nearest depth kept, the first of equals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pixelflow.simd.drawing.planes import CENTRE, Edges, Planes, edges_of, planes_of
from pixelflow.simd.drawing.triangles import FAR, SUBPIXELS, ScreenTriangles
from pixelflow.simd.records import record

__all__ = ["Box", "Picture", "boxes", "covered", "draw", "pixels_inside"]


@record(eq=False)
class Picture:
    """``colours`` is uint8[row, column, rgb], ``depths`` int64[row, column], FAR where nothing was drawn."""

    colours: np.ndarray
    depths: np.ndarray

    @classmethod
    def empty(cls, width: int, height: int, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
        """Return a picture without triangles."""
        colours = np.empty((height, width, 3), np.uint8)
        colours[:] = background
        return cls(colours, np.full((height, width), FAR, np.int64))

    def equals(self, other: Picture) -> bool:
        """Whether every pixel has the same depth and colour."""
        return np.array_equal(self.colours, other.colours) and np.array_equal(self.depths, other.depths)


def draw(triangles: ScreenTriangles, width: int, height: int, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
    """Draw triangles in 64-bit integers, one after the other."""
    picture = Picture.empty(width, height, background)
    edge, plane = edges_of(triangles), planes_of(triangles)
    for number, box in boxes(triangles, width, height):
        i, j, found = pixels_inside(edge, number, box)
        left, right, top, bottom = box
        depths = picture.depths[top:bottom, left:right]
        z, *rgb = (
            (plane.a[number, k] * i + plane.b[number, k] * j + plane.c[number, k]) % (1 << bits) >> fraction
            for k, (bits, fraction) in enumerate(zip(Planes.bits, Planes.fractions, strict=True))
        )
        seen = found & (z < depths)
        depths[seen] = z[seen]
        picture.colours[top:bottom, left:right][seen] = np.stack(rgb, axis=-1)[seen]
    return picture


def covered(triangles: ScreenTriangles, width: int, height: int, place: tuple[int, int] = CENTRE) -> np.ndarray:
    """Return how many triangles cover each pixel at a place in it, whatever their depths: int64[row, column]."""
    found = np.zeros((height, width), np.int64)
    edge = edges_of(triangles, place)
    for number, box in boxes(triangles, width, height):
        left, right, top, bottom = box
        found[top:bottom, left:right] += pixels_inside(edge, number, box)[2]
    return found


Box = tuple[int, int, int, int]
"""left, right, top, bottom in pixels; right and bottom lie outside."""


def boxes(triangles: ScreenTriangles, width: int, height: int) -> Iterator[tuple[int, Box]]:
    """Yield the triangles that may reach into the picture, each with the pixels that it may reach."""
    low = triangles.corners.min(axis=1) // SUBPIXELS
    high = triangles.corners.max(axis=1) // SUBPIXELS + 1
    columns = np.clip([low[:, 0], high[:, 0]], 0, width).T.tolist()
    rows = np.clip([low[:, 1], high[:, 1]], 0, height).T.tolist()
    for number, ((left, right), (top, bottom)) in enumerate(zip(columns, rows, strict=True)):
        if left < right and top < bottom:
            yield number, (left, right, top, bottom)


def pixels_inside(edge: Edges, number: int, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns and rows of a box as i and j, and which of its pixels are inside a triangle."""
    left, right, top, bottom = box
    i, j = np.arange(left, right), np.arange(top, bottom)[:, None]
    found = np.ones((bottom - top, right - left), bool)
    for a, b, c in zip(edge.a[number], edge.b[number], edge.c[number], strict=True):
        found &= a * i + b * j + c < 0
    return i, j, found
