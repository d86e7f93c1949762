"""Larrabee's rasterizer as programs for the vector unit: which blocks and pixels of its tiles does each triangle cover?

`setup.mc` works out edges, sixteen triangles side by side; `descent.mc` takes one pair of triangle and tile a thread
(Seiler et al. 2008, 4.4). What is counted here is what the threads carried out, each alone on a core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from larrabee_bridge.pipeline.backend.planes import plane_words
from larrabee_bridge.pipeline.backend.programs import Attributes
from larrabee_bridge.pipeline.coverage.binning import TILES, BinRule, Bins, bin_triangles
from larrabee_bridge.pipeline.coverage.distinct import distinct
from larrabee_bridge.pipeline.coverage.quads import QUAD, Quads
from larrabee_bridge.pipeline.raster.runs import Counted, Descent, SetUp
from larrabee_bridge.pipeline.raster.works import RasterWorks
from larrabee_bridge.vpu.core import CoreConfig, SharedCore
from pixelflow.simd.drawing import CENTRE, SAMPLES, ScreenTriangles
from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.lanes.choice import AUTO

__all__ = ["Blocks", "Rasterized", "Scan", "rasterize", "sampled_bins"]

Scan = Literal["instruction", "loop"]
"""How the next bit of a mask is found: by the scalar bit scan, or by a loop that looks at one bit after the other."""

SMALL = 10
"""Where the blocks of 4x4 pixels across and down a triangle's box in a tile are at most so many, each is tried."""

BATCH = 4096
"""Threads that are simulated side by side; no result depends on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What came out, by tile row by row, in each tile by triangle in the order of drawing, then row by row.

    int64[block] each: ``x`` and ``y`` the left and top pixel on the screen, ``size`` the side in pixels: 4, 16, or
    more. ``masks`` is uint16[block, sample], all ones but for a block of 4x4 that is covered in part; there pixel i
    across and j down is bit 4 j + i.
    """

    tile: np.ndarray
    triangle: np.ndarray
    x: np.ndarray
    y: np.ndarray
    size: np.ndarray
    masks: np.ndarray

    def __len__(self) -> int:
        return len(self.tile)


@dataclass(frozen=True, slots=True, eq=False)
class Rasterized:
    """Triangles as blocks of pixels, and what that took.

    ``set_up`` has one thread for sixteen triangles in their order, ``descent`` one for each pair in the order of
    ``bins``: cycles alone on a core, and instructions by family.
    """

    bins: Bins
    samples: int
    small: int
    scan: Scan
    config: CoreConfig
    blocks: Blocks
    set_up: Counted
    descent: Counted
    planes: Counted
    """Of one thread for sixteen triangles that cover something, in their order, where planes were asked for."""
    words: np.ndarray | None
    """Triangles with their planes, as the back end reads them: uint32[triangle, word], zeros for those that cover
    nothing; None where there is none, or planes were not asked for."""
    cores: dict[int, SharedCore]
    """What a core did for set-up, planes and descents of each PrimSet, by its sequence id; empty without PrimSets."""

    @property
    def pairs(self) -> int:
        """Pairs of triangle and tile."""
        return self.bins.entries

    @property
    def tiles(self) -> np.ndarray:
        """The tile of each pair: int64[pair]."""
        return np.repeat(np.arange(self.bins.columns * self.bins.rows), np.diff(self.bins.starts).astype(np.intp))

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions in all of both programs; None before any was carried out."""
        return (self.set_up + self.descent).vector_share

    def quads(self) -> Quads:
        """Return the blocks as blocks of 4x4 pixels: full ones are cut up."""
        blocks = self.blocks
        across = blocks.size // QUAD
        which = np.repeat(np.arange(len(blocks)), (across * across).astype(np.intp))
        within = np.arange(len(which)) - np.repeat(
            np.cumsum(across * across) - across * across, (across * across).astype(np.intp)
        )
        x = blocks.x[which] + within % across[which] * QUAD
        y = blocks.y[which] + within // across[which] * QUAD
        return Quads(blocks.tile[which], blocks.triangle[which], x, y, blocks.masks[which]).ordered()


def rasterize(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    *,
    tile: int = 64,
    samples: int = 1,
    bins: Bins | None = None,
    config: CoreConfig | None = None,
    scan: Scan = "instruction",
    small: int = SMALL,
    batch: int = BATCH,
    primset: np.ndarray | None = None,
    attributes: Attributes | None = None,
    engine: str = AUTO,
) -> Rasterized:
    """Rasterize triangles on a screen of ``width`` x ``height`` pixels, in tiles of ``tile`` pixels.

    ``bins`` say which tiles each triangle is tried in (too many cost time, too few lose pixels); by default those in
    which it covers a sample. ``scan="loop"`` does without the scalar bit scan, and ``batch`` threads are simulated side
    by side, on ``engine``. ``primset`` is the sequence id of each triangle, int64[triangle]: then what a core takes for
    each PrimSet is counted too. ``attributes`` asks for planes of the triangles that cover something, with those of a
    texture or without; None asks for none.

    Raises InputError for a tile other than 32, 64 or 128 pixels (within larger ones edge values do not fit 32 bits),
    for other than 1 or 4 samples, another scan, less than one thread, and for bins of another tile or screen, or of
    triangles that are not there.
    """
    _check(tile, samples, scan, batch)
    config = config or CoreConfig()
    if bins is None:
        bins = (
            bin_triangles(triangles, width, height, tile)
            if samples == 1
            else sampled_bins(triangles, width, height, tile)
        )
    _check_bins(bins, len(triangles), width, height, tile)
    shared = None if primset is None else RasterWorks(primset, bins, config)
    set_up = SetUp(triangles, tile, samples, small, config, engine, shared)
    descent = Descent(set_up, bins, (width, height), scan == "instruction", batch)
    pair, place, size, masks = descent.blocks
    number = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))[pair]
    x = number % bins.columns * tile + (place & 127)
    y = number // bins.columns * tile + (place >> 7)
    triangle = bins.triangles[pair]
    # Places are below 128 x 128, row by row: blocks of a pair lie as those of the screen do.
    order = np.argsort((number * max(len(triangles), 1) + triangle << 14) + place, kind="stable")
    blocks = Blocks(*(each[order] for each in (number, triangle, x, y, size, masks)))
    planes, words = Counted.of([]), None
    covering = distinct(triangle)
    if attributes is not None and len(covering):
        made = plane_words(triangles.part(covering), samples, attributes, config, engine)
        words = np.zeros((len(triangles), made.words.shape[1]), np.uint32)
        planes, words[covering] = Counted.of([made.core]), made.words
        if shared is not None:
            shared.planes(made, covering)
    cores = {} if shared is None else shared.count()
    return Rasterized(bins, samples, small, scan, config, blocks, set_up.counted, descent.counted, planes, words, cores)


def sampled_bins(triangles: ScreenTriangles, width: int, height: int, tile: int = 64) -> Bins:
    """Sort triangles into the tiles in which they cover at least one of the four samples of a pixel."""
    keys = []
    for x, y in SAMPLES:
        # A sample of a pixel lies in a triangle where the centre lies in one that is shifted by their difference.
        corners = triangles.corners + (np.array(CENTRE) - (x, y))
        moved = ScreenTriangles(corners, triangles.depths, triangles.colours)
        found = bin_triangles(moved, width, height, tile, BinRule.COVERED)
        number = np.repeat(np.arange(found.columns * found.rows), np.diff(found.starts).astype(np.intp))
        keys.append(number * len(triangles) + found.triangles)
    number, triangle = np.divmod(distinct(np.concatenate(keys)), max(len(triangles), 1))
    starts = np.searchsorted(number, np.arange(found.columns * found.rows + 1))
    return Bins(tile, found.columns, found.rows, starts, triangle)


def _check(tile: int, samples: int, scan: str, batch: int) -> None:
    if tile not in TILES:
        hint = f"allowed: {', '.join(map(str, TILES))}"
        if tile > max(TILES):
            hint += "; edge values within a larger tile do not fit the 32 bits of a lane"
        raise InputError(Fault(f"a tile of {tile} pixels", hint=hint))
    if samples not in (1, len(SAMPLES)):
        raise InputError(Fault(f"{samples} samples a pixel", hint=f"allowed: 1, {len(SAMPLES)}"))
    if scan not in get_args(Scan):
        near = nearest(scan, get_args(Scan))
        hint = f"did you mean {near}?" if near else f"allowed: {', '.join(get_args(Scan))}"
        raise InputError(Fault(f"no scan is called {scan!r}", hint=hint))
    if batch < 1:
        raise InputError(Fault(f"{batch} threads side by side", hint="1 or more"))


def _check_bins(bins: Bins, triangles: int, width: int, height: int, tile: int) -> None:
    shape = (tile, -(-width // tile), -(-height // tile))
    if (bins.tile, bins.columns, bins.rows) != shape:
        given = f"bins of {bins.columns} x {bins.rows} tiles of {bins.tile} pixels do not fit the screen"
        hint = f"a screen of {width} x {height} pixels has {shape[1]} x {shape[2]} tiles of {tile}"
        raise InputError(Fault(given, hint=hint))
    if bins.entries and not 0 <= int(bins.triangles.min()) <= int(bins.triangles.max()) < triangles:
        given = f"bins of triangles {bins.triangles.min()} to {bins.triangles.max()}"
        hint = f"there are {triangles}, numbered from 0; were the bins made of others?"
        raise InputError(Fault(given, hint=hint))
