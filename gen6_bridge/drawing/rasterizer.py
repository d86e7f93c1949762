"""Fixed functions before the shader: coverage, and subspans packed into threads.

Coverage and depths are the integers of `pixelflow.simd.drawing`. A thread has subspans (blocks of 2x2 pixels) of one
triangle, whose planes are in its payload: two with eight channels, four with sixteen. All four pixels of a subspan are
dispatched; those that are hidden or not covered are shaded, and masked when colours are written.
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

    ``samples``, bool[pixel, sample], are those covered or visible, ``depths`` int64[pixel, sample] theirs; ``sample``
    is the first one that the triangle covers, which gives the pixel's colour.
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
        """Return some of the pixels, with other ``samples`` if given."""
        kept = self.samples[which] if samples is None else samples
        return Pixels(
            self.triangle[which], self.row[which], self.column[which], self.sample[which], kept, self.depths[which]
        )


def pixels_of(draw: Draw, target: Framebuffer) -> Pixels:
    """Return the pixels that a draw's triangles cover at the picture's samples, before any test."""
    batches = list(covered_samples(draw.triangles, target.width, target.height, target.places))
    triangle, row, column = (
        np.concatenate([getattr(batch, name) for batch, _ in batches] or [np.zeros(0, np.int64)])
        for name in ("triangle", "row", "column")
    )
    covered = np.concatenate([each for _, each in batches] or [np.zeros((0, len(target.places)), np.bool_)])
    planes = [planes_of(draw.triangles, place, colours=False) for place in target.places]
    depths = np.stack([each.depths_at(triangle, column, row) for each in planes], axis=1).astype(np.int64)
    return Pixels(triangle, row, column, covered.argmax(axis=1), covered, depths)


@dataclass(frozen=True, slots=True, eq=False)
class PixelThreads:
    """Threads of one draw: columns, rows and colour samples of their pixels, int64[thread, channel] each."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    sample: NDArray[np.int64]
    there: NDArray[np.bool_]
    """Channels that are dispatched."""
    pixel: NDArray[np.int64]
    """Index in `Pixels` of each channel's pixel; -1 where it is not written."""
    planes: NDArray[np.uint32]
    """Payload, starting at the first plane's register: uint32[thread, double word]."""

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def dispatched(self) -> NDArray[np.int64]:
        """Mask of each thread's channels."""
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
    """Pack pixels, one entry each per triangle, into threads: subspans of a triangle in the order of rows.

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

    def packed(values: NDArray[np.int64] | int, empty: int = 0) -> NDArray[np.int64]:
        """Return values of subspans in the channels of their threads; ``empty`` fills channels without a subspan."""
        channel_values = np.full(slots, empty)
        channel_values[thread, place % held] = values
        return channel_values.reshape(-1, channels)

    columns, rows = (packed(each) for each in places_of_pixels)
    planes = _payload(draw, subspans[begins, 0].repeat(threads), places)
    return PixelThreads(columns, rows, packed(sample), packed(1) > 0, packed(number, -1), planes)


def _payload(draw: Draw, triangle: NDArray[np.int64], places: Sequence[tuple[int, int]]) -> NDArray[np.uint32]:
    """Return the planes of each thread's triangle, r, g, b, u, v and their divisor: A, B, C at each place."""
    payload = np.zeros((len(triangle), _PLANES, PLANE_WORDS), np.int64)
    textured = draw.state.texture is not None
    for sample, place in enumerate(places):
        for plane, terms in _planes(draw.triangles, place, textured=textured).items():
            for term, values in zip((0, 1, 4 + sample), terms, strict=True):
                payload[:, plane, term] = values[triangle]
    return payload.reshape(len(triangle), _PLANES * PLANE_WORDS).astype(np.uint32)


def _planes(
    triangles: ScreenTriangles, place: tuple[int, int], *, textured: bool
) -> dict[int, list[NDArray[np.int64]]]:
    """Return A, B and C of the planes in use, by number."""
    if not bool(triangles.level.all()):
        quotients = quotients_of(triangles, place, textured=textured)
        above = range(NUMERATORS.start, quotients.a.shape[1])
        numbers = dict(enumerate(above)) | {_PLANES - 1: DIVISOR}
        terms = (quotients.a, quotients.b, quotients.c)
        return {plane: [each[:, at] for each in terms] for plane, at in numbers.items()}
    colours = planes_of(triangles, place)
    known = {plane: [each[:, 1 + plane] for each in (colours.a, colours.b, colours.c)] for plane in range(3)}
    if textured:
        texels = texture_planes_of(triangles, place)
        known |= {3 + plane: [each[:, plane] for each in (texels.a, texels.b, texels.c)] for plane in range(2)}
    return known
