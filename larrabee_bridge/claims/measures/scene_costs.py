"""Cycles of large scenes: the rasterizer executed, the back end executed on some tiles and fitted to the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.pipeline.backend import render_back_end
from larrabee_bridge.pipeline.coverage.binning import Bins
from larrabee_bridge.pipeline.coverage.quads import Quads
from larrabee_bridge.pipeline.frame.renderer import PRIMSET
from larrabee_bridge.pipeline.raster.rasterizer import rasterize
from larrabee_bridge.pipeline.scheduling import FrameWork, PairCosts, frame_work, primset_numbers
from larrabee_bridge.vpu.isa import LANES
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles

__all__ = ["SceneCosts", "costs_of"]

_LENGTH = 50
"""Vector operations that a shader has more than it needs."""
_SAMPLE = {64: (12, 1.0), 128: (6, 0.5)}
"""By the size of tile: tiles that are executed, and up to which share of all, by their blocks.

The fullest of the large tiles would take minutes."""
_SMALLER = {128: 64}
"""Sizes of tiles whose executed tiles are fitted together with those of another size."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneCosts:
    """What a scene takes at one size of tile, in cycles of a core."""

    draws: tuple[int, ...]
    """The first triangle of each draw."""
    triangles: int
    bins: Bins
    set_up: np.ndarray
    """The set-up of all triangles, executed, sixteen side by side: int64[thread]."""
    descent: np.ndarray
    """The descents of all pairs of ``bins``, executed: int64[pair]. The blocks that came out are not kept."""
    turns: float
    """What threads of the rasterizer that take turns need of their cycles alone, executed by PrimSets of 1,000."""
    counts: np.ndarray
    """Of each tile, row by row: entries of its bin, and blocks of 4x4: int64[tile, 2]."""
    tiles: np.ndarray
    """The back end of each tile, int64[tile]: executed, or fitted by those two, 0 without any."""
    executed: np.ndarray
    """Numbers of the tiles whose back end was executed."""
    residual: float
    """Root mean square by which the fit misses those, as a share of their mean."""

    def work(self, name: str, primset: int) -> FrameWork:
        """Return the frame in PrimSets of a size."""
        set_up = np.zeros(self.triangles, np.float64)
        set_up[::LANES] = self.set_up
        costs = PairCosts(
            triangle=_whole(self.turns * set_up),
            front=_whole(self.turns * self.descent),
            back=np.zeros(self.bins.entries, np.int64),
            tile=self.tiles,
        )
        return frame_work(name, self.bins, costs, primset=primset, draws=self.draws)


def _whole(cycles: np.ndarray) -> np.ndarray:
    return np.maximum(np.rint(cycles), 0).astype(np.int64)


def costs_of(bench: SceneBench, name: str, tile: int) -> SceneCosts:
    """Return the costs of a scene, worked out once on a bench; vertices are left out.

    A tile takes some cycles, each entry of its bin some, and each block, by least squares. Entries and blocks of large
    tiles are those of small ones, so tiles of both sizes that were executed are fitted together.
    """

    def compute() -> SceneCosts:
        other = costs_of(bench, name, _SMALLER[tile]) if tile in _SMALLER else None
        return _costs(bench.frame(name), tile, other)

    return bench.once(f"costs of {name}, {tile}", compute)


def _costs(frame: Frame, tile: int, other: SceneCosts | None) -> SceneCosts:
    triangles = ScreenTriangles.joined([draw.triangles for draw in frame.draws])
    ids = primset_numbers(len(triangles), PRIMSET)
    found = rasterize(triangles, frame.width, frame.height, tile=tile, samples=frame.samples, primset=ids)
    quads, bins = found.quads(), found.bins
    counts = np.stack([np.diff(bins.starts), np.bincount(quads.tile, minlength=bins.columns * bins.rows)], axis=1)
    which = _sample(counts[:, 1], *_SAMPLE[tile])
    fewer, parts = _by_state(frame, quads, which)
    executed = render_back_end(fewer, parts, tile=tile, length=_LENGTH).cycles[which]
    fitted = _fitted(counts, which, executed, other)
    residual = float(np.sqrt(((fitted[which] - executed) ** 2).mean()) / executed.mean())
    tiles = _whole(np.where(counts[:, 1] > 0, fitted, 0))
    tiles[which] = executed
    first = np.cumsum([0, *(len(draw.triangles) for draw in frame.draws)])[:-1]
    alone = int(found.set_up.cycles.sum() + found.descent.cycles.sum())
    turns = sum(core.cycles for core in found.cores.values()) / max(alone, 1)
    return SceneCosts(
        draws=tuple(first.tolist()),
        triangles=len(triangles),
        bins=bins,
        set_up=found.set_up.cycles,
        descent=found.descent.cycles,
        turns=turns,
        counts=counts,
        tiles=tiles,
        executed=which,
        residual=residual,
    )


def _fitted(counts: np.ndarray, which: np.ndarray, executed: np.ndarray, other: SceneCosts | None) -> np.ndarray:
    """Return the cycles of every tile by least squares, float64[tile]."""
    rows, cycles = [_row(counts[which], 1, 0)], [executed]
    if other is not None:
        rows.append(_row(other.counts[other.executed], 0, 1))
        cycles.append(other.tiles[other.executed])
    found = np.linalg.lstsq(np.concatenate(rows).astype(np.float64), np.concatenate(cycles), rcond=None)[0]
    return found[0] + counts @ found[2:]


def _row(counts: np.ndarray, *tiles: int) -> np.ndarray:
    """Return the counts that the numbers stand for of tiles of either size."""
    return np.concatenate([np.tile(tiles, (len(counts), 1)), counts], axis=1)


def _sample(blocks: np.ndarray, count: int, share: float) -> np.ndarray:
    """Return tiles, ascending, spread evenly over those with blocks, up to a share of them, from the emptiest on."""
    filled = np.flatnonzero(blocks)
    by_blocks = filled[np.argsort(blocks[filled], kind="stable")]
    count = min(count, len(filled))
    places = ((2 * np.arange(count) + 1) / (2 * max(count, 1)) * share * len(filled)).astype(np.int64)
    return np.unique(by_blocks[places])


def _by_state(frame: Frame, quads: Quads, tiles: np.ndarray) -> tuple[Frame, list[Quads]]:
    """Return draws that follow each other in one state as one, which is executed sooner, with their quads there.

    Draws with a texture stay as they are. ``quads`` count triangles through all draws.
    """
    draws, parts, first = [], [], 0
    inside = np.isin(quads.tile, tiles)
    for _, group in groupby(frame.draws, key=lambda each: each.state if each.state.texture is None else id(each)):
        members = list(group)
        draw = members[0]
        if len(members) > 1:
            draw = Draw(draw.name, ScreenTriangles.joined([each.triangles for each in members]), draw.state)
        last = first + len(draw.triangles)
        here = inside & (quads.triangle >= first) & (quads.triangle < last)
        tile, triangle, x, y, masks = (getattr(quads, what)[here] for what in ("tile", "triangle", "x", "y", "masks"))
        draws.append(draw)
        parts.append(Quads(tile, triangle - first, x, y, masks))
        first = last
    return replace(frame, draws=tuple(draws)), parts
