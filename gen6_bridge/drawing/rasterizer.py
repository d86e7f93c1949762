"""Fixed functions before the shader: coverage, and subspans packed into threads.

Coverage and depths are the integers of `pixelflow.simd.drawing`. A thread has subspans, blocks of 2x2 pixels, of one
triangle, since its payload holds the planes of one: two of them with eight channels, four with sixteen. All four pixels
of a subspan are dispatched; those that the triangle does not cover, or that are hidden, are shaded and masked when
colours are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.drawing.shaders import PLANE_WORDS
from pixelflow.simd.drawing import (
    CENTRE,
    DIVISOR,
    NUMERATORS,
    Draw,
    Framebuffer,
    ScreenTriangles,
    covered_samples,
    first_samples,
    planes_of,
    quotients_of,
    texture_planes_of,
)

_SUBSPAN = 4
_PLANES = 6


@dataclass(frozen=True, slots=True, eq=False)
class Pixels:
    """Pixels of a draw's triangles, in the order of drawing: int64[pixel] each.

    ``samples`` says at which samples they are covered, or seen: bool[pixel, sample]; ``depths`` are int64 likewise.
    ``sample`` is the first that the triangle covers, which gives the pixel's colour.
    """

    triangle: NDArray[np.int64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    sample: NDArray[np.int64]
    samples: NDArray[np.bool_]
    depths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.triangle)

    def part(self, which: NDArray[np.bool_] | NDArray[np.int64], samples: NDArray[np.bool_] | None = None) -> Pixels:
        """Return some of the pixels, at other ``samples`` where they are given."""
        kept = self.samples[which] if samples is None else samples
        return Pixels(
            self.triangle[which], self.row[which], self.column[which], self.sample[which], kept, self.depths[which]
        )


def pixels_of(draw: Draw, target: Framebuffer) -> Pixels:
    """Return the pixels that a draw's triangles cover, at the samples of a picture, before any test."""
    batches = list(covered_samples(draw.triangles, target.width, target.height, target.places))
    triangle, row, column = (
        np.concatenate([getattr(batch, name) for batch, _ in batches] or [np.zeros(0, np.int64)])
        for name in ("triangle", "row", "column")
    )
    covered = np.concatenate([each for _, each in batches] or [np.zeros((0, len(target.places)), np.bool_)])
    planes = [planes_of(draw.triangles, place, colours=False) for place in target.places]
    depths = np.stack([each.at(triangle, column, row, slice(1))[:, 0] for each in planes], axis=1)
    return Pixels(triangle, row, column, covered.argmax(axis=1), covered, depths)


@dataclass(frozen=True, slots=True, eq=False)
class PixelThreads:
    """Threads of one draw: columns, rows of their pixels, and whose colour they take: int64[thread, channel]."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    sample: NDArray[np.int64]
    there: NDArray[np.bool_]
    """Channels that are dispatched."""
    pixel: NDArray[np.int64]
    """Which of the `Pixels` a channel shades; -1 where it shades one that is not written."""
    planes: NDArray[np.uint32]
    """uint32[thread, double word]: the payload from the first plane's register on."""

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def dispatched(self) -> NDArray[np.int64]:
        """The mask of each thread's channels, as a number."""
        return (self.there * (1 << np.arange(self.there.shape[1]))).sum(axis=1)

    def part(self, begin: int, end: int) -> PixelThreads:
        """Return some of the threads."""
        cut = slice(begin, end)
        return PixelThreads(
            self.columns[cut], self.rows[cut], self.sample[cut], self.there[cut], self.pixel[cut], self.planes[cut]
        )


def pixel_threads(
    draw: Draw, pixels: Pixels, channels: int = 16, places: Sequence[tuple[int, int]] = (CENTRE,)
) -> PixelThreads:
    """Pack pixels, each of them once a triangle, into threads: subspans of a triangle in the order of rows.

    ``places`` are those of the samples in a pixel.
    """
    key = np.stack([pixels.triangle, pixels.row // 2, pixels.column // 2], axis=1)
    subspans, which = np.unique(key, axis=0, return_inverse=True)
    within = (which.reshape(-1), pixels.row % 2 * 2 + pixels.column % 2)
    number = np.full((len(subspans), _SUBSPAN), -1)
    number[within] = np.arange(len(pixels))
    places_of_pixels = (2 * subspans[:, 2, None] + [0, 1, 0, 1], 2 * subspans[:, 1, None] + [0, 0, 1, 1])
    sample = first_samples(
        draw.triangles, places, subspans[:, 0].repeat(_SUBSPAN), *(each.reshape(-1) for each in places_of_pixels)
    ).reshape(-1, _SUBSPAN)
    begins = np.flatnonzero(np.diff(subspans[:, 0], prepend=-1))
    counts = np.diff(begins, append=len(subspans))
    place = np.arange(len(subspans)) - np.repeat(begins, counts)
    held = channels // _SUBSPAN
    threads = -(-counts // held)
    thread = np.repeat(np.cumsum(threads) - threads, counts) + place // held
    slots = (int(threads.sum()), held, _SUBSPAN)
    found = {name: np.zeros(slots, np.int64) for name in ("columns", "rows", "sample", "there")}
    found["pixel"] = np.full(slots, -1)
    for name, values in (
        ("columns", places_of_pixels[0]), ("rows", places_of_pixels[1]),
        ("sample", sample), ("there", 1), ("pixel", number),
    ):  # fmt: skip
        found[name][thread, place % held] = values
    columns, rows, sample, there, pixel = (
        found[name].reshape(-1, channels) for name in ("columns", "rows", "sample", "there", "pixel")
    )
    own = subspans[begins, 0].repeat(threads)
    return PixelThreads(columns, rows, sample, there > 0, pixel, _payload(draw, own, places))


def _payload(draw: Draw, triangle: NDArray[np.int64], places: Sequence[tuple[int, int]]) -> NDArray[np.uint32]:
    """Return the planes of each thread's triangle, r, g, b, u, v and their divisor: A, B, C at each place."""
    found = np.zeros((len(triangle), _PLANES, PLANE_WORDS), np.int64)
    textured = draw.state.texture is not None
    for sample, place in enumerate(places):
        for plane, terms in _planes(draw.triangles, place, textured=textured).items():
            for term, values in zip((0, 1, 4 + sample), terms, strict=True):
                found[:, plane, term] = values[triangle]
    return found.reshape(len(triangle), _PLANES * PLANE_WORDS).astype(np.uint32)


def _planes(
    triangles: ScreenTriangles, place: tuple[int, int], *, textured: bool
) -> dict[int, list[NDArray[np.int64]]]:
    """Return A, B and C of the planes that there are, by their number."""
    if not bool(triangles.level.all()):
        found = quotients_of(triangles, place, textured=textured)
        above = range(NUMERATORS.start, found.a.shape[1])
        numbers = dict(enumerate(above)) | {_PLANES - 1: DIVISOR}
        return {plane: [each[:, at] for each in (found.a, found.b, found.c)] for plane, at in numbers.items()}
    colours = planes_of(triangles, place)
    known = {plane: [each[:, 1 + plane] for each in (colours.a, colours.b, colours.c)] for plane in range(3)}
    if textured:
        texels = texture_planes_of(triangles, place)
        known |= {3 + plane: [each[:, plane] for each in (texels.a, texels.b, texels.c)] for plane in range(2)}
    return known
