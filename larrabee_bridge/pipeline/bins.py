"""Bins (meaning): which tiles each triangle goes to, and the blocks of 4x4 pixels that it covers, in exact integers."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from pixelflow.simd.drawing import CENTRE, SAMPLES, SUBPIXELS, ScreenTriangles, parts_of, spans_of
from pixelflow.simd.errors import Fault, InputError

# Distinct integers by sorting, which is much faster than the hash table of `np.unique`.


def begins_of(*columns: np.ndarray) -> np.ndarray:
    """Return which rows of columns of one length differ from the previous row; the first one does: bool[row]."""
    new = np.ones(len(columns[0]), bool)
    if len(new):
        new[1:] = False
    for values in columns:
        new[1:] |= values[1:] != values[:-1]
    return new


def distinct(values: np.ndarray) -> np.ndarray:
    """Return each value once, ascending."""
    ordered = np.sort(values, axis=None)
    return ordered[begins_of(ordered)]


def members(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return of each member of groups with these counts, group by group, its group and its number in it: int64 each."""
    group = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
    return group, np.arange(len(group)) - (np.cumsum(counts) - counts)[group]


# Qquads: blocks of 4x4 pixels that a triangle covers, in the order in which the back end takes them (4.5).
#
# Section numbers are those of Seiler et al. 2008. The paper's qquad is sixteen pixels; here four by four of them.


QUAD = 4
"""Pixels of a side."""


@dataclass(frozen=True, slots=True, eq=False)
class Quads:
    """Blocks of 4x4 pixels: by tile row by row, in each tile by triangle in the order of drawing, then row by row.

    ``tile``, ``triangle``, ``x`` and ``y`` are int32[quad], x and y the left and top pixel on the screen. ``masks`` is
    uint16[quad, sample]; pixel i across and j down of a quad is bit 4 j + i. Every quad has a pixel in some sample.
    """

    tile: np.ndarray
    triangle: np.ndarray
    x: np.ndarray
    y: np.ndarray
    masks: np.ndarray

    def __len__(self) -> int:
        return len(self.tile)

    def part(self, which: np.ndarray | slice) -> Quads:
        """Return some of the quads, or all in another order."""
        return Quads(self.tile[which], self.triangle[which], self.x[which], self.y[which], self.masks[which])

    @property
    def utilisation(self) -> float:
        """Share of the lanes of all quads that a triangle covers in some sample; 0 without quads."""
        touched = np.bitwise_or.reduce(self.masks, axis=1)
        return float(np.bitwise_count(touched).sum()) / (QUAD * QUAD * len(self)) if len(self) else 0.0

    def ordered(self) -> Quads:
        """Return the quads in the order of this class."""
        across, triangles = (int(each.max(initial=0)) + 1 for each in (self.x, self.triangle))
        pair, place = self.tile * np.int64(triangles) + self.triangle, self.y * across + self.x
        rises = pair[1:] - pair[:-1]
        if ((rises > 0) | (rises == 0) & (place[1:] >= place[:-1])).all():
            return self  # as blocks of 4x4 come out of the rasterizer
        return self.part(np.lexsort((place, pair)))


def quads_of(triangles: ScreenTriangles, width: int, height: int, tile: int = 64, samples: int = 1) -> Quads:
    """Return the quads of triangles on a screen, by their spans at each sample, in 64-bit integers."""
    count, side = max(len(triangles), 1), tile // QUAD
    parts = [_unsorted(part, first, width, height, samples) for first, part in parts_of(triangles, height)]
    number, x, y, masks = (np.concatenate(each) for each in zip(*parts, strict=True))
    place = y // tile * -(-width // tile) + x // tile
    order = np.argsort(((place * count + number) * side + y % tile // QUAD) * side + x % tile // QUAD)
    place, number, x, y = (each.astype(np.int32) for each in (place, number, x, y))
    return Quads(place, number, x, y, masks).part(order)


def _unsorted(
    triangles: ScreenTriangles, before: int, width: int, height: int, samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the quads of some triangles: their triangles, which ``before`` others precede, left and top, masks."""
    places = (CENTRE,) if samples == 1 else SAMPLES
    spans = [spans_of(triangles, width, height, place, empty=True) for place in places]
    triangle, row = spans[0].triangle, spans[0].row
    # Bands of quads of triangles, and the four rows of pixels of each; missing rows are empty.
    new = begins_of(triangle, row // QUAD)
    band = np.cumsum(new) - 1
    first, last = (np.full((samples, QUAD, int(new.sum())), none, np.int32) for none in (width, -1))
    for sample, each in enumerate(spans):
        first[sample, row % QUAD, band], last[sample, row % QUAD, band] = each.first, each.last
    left = first.min(axis=(0, 1), initial=width) // QUAD
    blocks = np.maximum(last.max(axis=(0, 1), initial=-1) // QUAD - left + 1, 0)
    which, x = members(blocks)
    x = QUAD * (x + left[which])
    masks = np.zeros((len(which), samples), np.uint16)
    from_left = (0xF << np.arange(QUAD + 1) & 0xF).astype(np.uint16)
    to_right = 0xF ^ from_left
    begin = x.astype(np.int32)
    for sample in range(samples):
        for below in range(QUAD):
            low, high = first[sample, below].take(which) - begin, last[sample, below].take(which) + 1 - begin
            row_mask = from_left.take(low, mode="clip") & to_right.take(high, mode="clip")
            masks[:, sample] |= row_mask << QUAD * below
    kept = masks.any(axis=1)
    which = which[kept]
    return before + triangle[new][which], x[kept], row[new][which] // QUAD * QUAD, masks[kept]


# Bins: which tiles of the screen each triangle goes to, in PrimSets that cores bin side by side (4.1 and 4.3).
#
# Section numbers are those of Seiler et al., "Larrabee: A Many-Core x86 Architecture for Visual Computing", 2008. Tiles
# are square; those at the right and lower border of the screen end with it.


TILES = (32, 64, 128)
"""Sides of a tile in pixels: 4.1 names 32x32 to 128x128."""


class BinRule(Enum):
    """Which tiles a triangle goes to."""

    BOX = "the box around its pixel centres reaches into the tile"
    COVERED = "it covers at least one pixel centre of the tile"


class Bins(NamedTuple):
    """For each tile, row by row, the triangles in it in the order of drawing.

    Tile t has ``triangles[starts[t] : starts[t + 1]]``.
    """

    tile: int
    columns: int
    rows: int
    starts: np.ndarray
    triangles: np.ndarray

    @property
    def entries(self) -> int:
        """Triangles in all bins together."""
        return len(self.triangles)

    def of(self, tile: int) -> np.ndarray:
        """Return the triangles of one tile."""
        return self.triangles[self.starts[tile] : self.starts[tile + 1]]

    @property
    def spread(self) -> float:
        """Entries beyond one for each triangle that is in any bin, as a share of those (4.1: "bin spread")."""
        binned = len(distinct(self.triangles))
        return self.entries / binned - 1 if binned else 0.0


def bin_triangles(
    triangles: ScreenTriangles, width: int, height: int, tile: int = 64, rule: BinRule = BinRule.COVERED
) -> Bins:
    """Sort triangles into the bins of a screen; raises InputError for a tile that does not exist."""
    if tile not in TILES:
        raise InputError(Fault(f"a tile of {tile} pixels", hint=f"allowed: {', '.join(map(str, TILES))}"))
    columns, rows = -(-width // tile), -(-height // tile)
    count = max(len(triangles), 1)
    if rule is BinRule.COVERED:
        keys = _covered(triangles, width, height, tile, columns)
    else:
        number, place = _boxed(triangles, width, height, tile, columns)
        keys = np.sort(place * count + number)
    place, number = np.divmod(keys, count)
    return Bins(tile, columns, rows, np.searchsorted(place, np.arange(columns * rows + 1)), number)


def _covered(triangles: ScreenTriangles, width: int, height: int, tile: int, columns: int) -> np.ndarray:
    """Return pairs of a tile and a triangle, tile x triangles + triangle, ascending: int64[pair]."""
    spans = spans_of(triangles, width, height)
    first, last = spans.first // tile, spans.last // tile
    band = spans.row // tile
    # Most rows of a triangle are in the same tiles as the row above.
    new = begins_of(spans.triangle, band, first, last)
    triangle, band, first, last = (each[new] for each in (spans.triangle, band, first, last))
    across = last - first + 1
    which, within = members(across)
    place = band[which] * columns + first[which] + within
    return distinct(place * max(len(triangles), 1) + triangle[which])


def _boxed(
    triangles: ScreenTriangles, width: int, height: int, tile: int, columns: int
) -> tuple[np.ndarray, np.ndarray]:
    half = SUBPIXELS // 2
    # The first and the last pixel whose centre is within the box, on the screen.
    low = np.maximum(-((half - triangles.corners.min(axis=1)) // SUBPIXELS), 0)
    high = np.minimum((triangles.corners.max(axis=1) - half) // SUBPIXELS, (width - 1, height - 1))
    there = np.flatnonzero((low <= high).all(axis=1))
    first, last = low[there] // tile, high[there] // tile
    across, down = (last - first + 1).T
    which, within = members(across * down)
    column = first[which, 0] + within % across[which]
    row = first[which, 1] + within // across[which]
    return there[which], row * columns + column


class SubBin(NamedTuple):
    """One core's part of the bin of a tile: entries of its PrimSets, each with the PrimSet's sequence id."""

    core: int
    entries: tuple[tuple[int, int], ...]
    """(sequence id, triangle)."""


def sub_bins(bins: Bins, tile: int, count: int, primset: int, cores: Sequence[int]) -> list[SubBin]:
    """Return the sub-bins of a tile when PrimSets of ``primset`` of the ``count`` triangles were binned by cores.

    ``cores[s]`` is the core that took PrimSet s.
    """
    taken: dict[int, list[tuple[int, int]]] = {core: [] for core in dict.fromkeys(cores)}
    members = bins.of(tile).tolist()
    by_set: dict[int, list[int]] = {}
    for triangle in members:
        by_set.setdefault(triangle // primset, []).append(triangle)
    for sequence in range(-(-count // primset)):
        taken[cores[sequence]] += [(sequence, triangle) for triangle in by_set.get(sequence, ())]
    return [SubBin(core, tuple(entries)) for core, entries in taken.items()]


def in_order(parts: Sequence[SubBin]) -> Iterator[int]:
    """Yield the triangles of a tile as the back end reads them: always from the sub-bin with the least id (4.3)."""
    for _, triangle in heapq.merge(*(part.entries for part in parts), key=lambda entry: entry[0]):
        yield triangle
