"""Binned mode: each tile is read once at most and written once at most; bins and vertices go to memory and back (4.5).

Four things are saved: the read of a target that is cleared, the write of one that nobody needs afterwards, samples that
are resolved to one colour before the write, and every access between the first and the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.coverage.distinct import begins_of, distinct
from larrabee_bridge.pipeline.coverage.quads import Quads
from larrabee_bridge.pipeline.traffic.accesses import Accesses
from larrabee_bridge.pipeline.traffic.settings import LINE_BYTES, SAMPLE_BYTES, TrafficConfig
from larrabee_bridge.pipeline.traffic.sums import Traffic
from larrabee_bridge.vpu.memory.reuse import found_again
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

__all__ = [
    "BinContents",
    "RenderTarget",
    "TileSizes",
    "bin_contents",
    "binned_traffic",
    "corners_of",
    "default_targets",
]


@dataclass(frozen=True, slots=True)
class RenderTarget:
    """A render target of an RTset: its name is one of those of :class:`Traffic`."""

    name: str
    cleared: bool = True
    """The first command clears it, so that it is not read."""
    needed: bool = True
    """Somebody reads it afterwards, so that it is written."""
    resolved: bool = False
    """Its samples become one value a pixel before it is written."""
    changed: bool = True
    """The RTset writes to it; one that is only tested against is not written back."""


def default_targets(samples: int = 1, *, cleared: bool = True, keep_depth: bool = False) -> tuple[RenderTarget, ...]:
    """Return colour and depth, both ``cleared`` or read, colour resolved, depth needed afterwards or not."""
    return RenderTarget("colour", cleared, resolved=samples > 1), RenderTarget("depth", cleared, needed=keep_depth)


@dataclass(frozen=True, slots=True, eq=False)
class TileSizes:
    """Pixels of each tile that lie on the screen: int64[tile]."""

    pixels: np.ndarray

    @classmethod
    def of(cls, width: int, height: int, tile: int) -> TileSizes:
        """Return the tiles of a screen; those at the right and lower border end with it."""
        across = np.minimum(tile, width - np.arange(0, width, tile))
        down = np.minimum(tile, height - np.arange(0, height, tile))
        return cls(np.outer(down, across).ravel())


@dataclass(frozen=True, slots=True, eq=False)
class BinContents:
    """What the bins of an RTset hold."""

    tiles: np.ndarray
    """Tiles with entries, int64, ascending."""
    entries: np.ndarray
    """(tile, triangle) of each entry: int64[entry, 2]."""
    full_16: int
    """Blocks of 16x16 that are covered wholly, in all samples."""
    full_4: int
    """Blocks of 4x4 that are, and are not among those."""
    partial_4: int
    samples: int

    def bytes(self, config: TrafficConfig) -> int:
        """Return the size of the bin set."""
        mask = config.mask_bytes * self.samples
        places = self.full_16 + self.full_4 + self.partial_4
        return len(self.entries) * config.entry_bytes + places * config.position_bytes + self.partial_4 * mask


def bin_contents(quads: Sequence[Quads], triangles: Sequence[int] | None = None) -> BinContents:
    """Return the contents of bins that hold the quads of draws.

    The quads of each draw number its triangles from 0; ``triangles`` counts those of each draw, and may be left out for
    a single one. Entries have them counted through all draws. Raises InputError for counts that do not fit the quads.
    """
    if not quads:
        none = np.zeros(0, np.int64)
        return BinContents(none, np.zeros((0, 2), np.int64), 0, 0, 0, 1)
    if triangles is None and len(quads) == 1:
        triangles = [int(quads[0].triangle.max(initial=0)) + 1]
    counts = list(triangles or ())
    if len(counts) != len(quads):
        raise InputError(Fault(f"quads of {counted(len(quads), 'draw')}, and triangles of {len(counts)}"))
    for each, count in zip(quads, counts, strict=True):
        if (last := int(each.triangle.max(initial=-1))) >= count:
            raise InputError(Fault(f"quads of triangle {last}, and its draw has {count}", hint="numbered from 0"))
    first = np.cumsum([0, *counts])
    triangle = np.concatenate([each.triangle + start for each, start in zip(quads, first, strict=False)])
    tile, x, y = (np.concatenate([getattr(each, name) for each in quads]) for name in ("tile", "x", "y"))
    masks = np.concatenate([each.masks for each in quads])
    full = (masks == 0xFFFF).all(axis=1)
    every = max(int(first[-1]), 1)
    entries = distinct(tile * every + triangle)
    rows = int(y.max(initial=0)) // 16 + 1
    _, pieces = np.unique((x // 16 * rows + y // 16)[full] * every + triangle[full], return_counts=True)
    full_16 = int((pieces == 16).sum())
    return BinContents(
        tiles=distinct(tile),
        entries=np.stack(np.divmod(entries, every), axis=1),
        full_16=full_16,
        full_4=int(full.sum()) - 16 * full_16,
        partial_4=int((~full).sum()),
        samples=masks.shape[1],
    )


def binned_traffic(
    sizes: TileSizes,
    contents: BinContents,
    targets: Sequence[RenderTarget],
    *,
    accesses: Accesses | None = None,
    corners: np.ndarray | None = None,
    config: TrafficConfig | None = None,
) -> Traffic:
    """Return the bytes of an RTset.

    Targets are read and written in tiles that have entries, and where it is so configured cleared ones written in all.
    ``accesses`` tell the texture lines, for the ratio to immediate mode; those of a run are its `TextureUnit`'s, so
    that it gives none. ``corners`` are the numbers of each triangle's vertices, int64[triangle, 3]; without them no
    triangle shares any. Raises InputError for a target that stands twice.
    """
    config = config or TrafficConfig()
    names = [target.name for target in targets]
    if len(set(names)) != len(names):
        raise InputError(Fault(f"a target stands twice among {', '.join(names)}"))
    every, filled = int(sizes.pixels.sum()), int(sizes.pixels[contents.tiles].sum())
    read, written = {}, {}
    for target in targets:
        whole = SAMPLE_BYTES * contents.samples
        read[target.name] = 0 if target.cleared else filled * whole
        pixels = every if target.cleared and config.clears_written else filled
        kept = target.changed and target.needed
        written[target.name] = pixels * (SAMPLE_BYTES if target.resolved else whole) if kept else 0
    read["bins"] = written["bins"] = contents.bytes(config)
    vertices, uses = _vertices(contents.entries, corners)
    written["vertices"], read["vertices"] = vertices * config.vertex_bytes, uses * config.vertex_bytes
    if accesses is not None:
        read["texture"] = _texture_lines(accesses.by_tiles(), config) * LINE_BYTES
    return Traffic(read, written)


def corners_of(frame: Frame) -> np.ndarray:
    """Return vertex numbers of all triangles of a frame: int64[triangle, 3]; corners of a draw that are alike are one.

    What a corner is made of is its place, depth, colour, texture coordinates and how near it is.
    """
    found, first = [np.zeros((0, 3), np.int64)], 0
    for draw in frame.draws:
        triangles = draw.triangles
        parts = [triangles.corners, triangles.depths[..., None], triangles.colours]
        parts += [triangles.coordinates] if triangles.coordinates is not None else []
        parts += [triangles.nearness[..., None]] if triangles.nearness is not None else []
        joined = np.concatenate(parts, axis=-1)
        rows = _packed(joined.reshape(-1, joined.shape[-1]))
        order = np.lexsort(rows) if len(triangles) else np.zeros(0, np.int64)
        new = begins_of(*(row[order] for row in rows))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = first - 1 + np.cumsum(new)
        found.append(numbers.reshape(-1, 3))
        first += int(np.count_nonzero(new))
    return np.concatenate(found)


def _packed(rows: np.ndarray) -> list[np.ndarray]:
    """Return fewer columns that tell the same rows apart: as many side by side in one as 63 bits hold."""
    found: list[np.ndarray] = []
    room = 0
    for column in rows.T:
        least = int(column.min(initial=0))
        bits = (int(column.max(initial=0)) - least).bit_length()
        if not found or bits > room:
            found.append(column - least)
            room = 63 - bits
        else:
            found[-1] = (found[-1] << bits) + (column - least)
            room -= bits
    return found


def _vertices(entries: np.ndarray, corners: np.ndarray | None) -> tuple[int, int]:
    """Return how many vertices are in any bin, and in how many (tile, vertex) pairs: each is read once a tile."""
    if corners is None:
        return 3 * len(distinct(entries[:, 1])), 3 * len(entries)
    used = corners[entries[:, 1]]
    pairs = np.repeat(entries[:, 0], 3) * (int(used.max(initial=0)) + 1) + used.ravel()
    return len(distinct(used)), len(distinct(pairs))


def _texture_lines(accesses: Accesses, config: TrafficConfig) -> int:
    """Return how many lines of texels come from memory, where every tile begins with an empty cache."""
    tile = np.repeat(accesses.tile, np.diff(accesses.starts).astype(np.intp))
    keys = tile * (int(accesses.lines.max(initial=0)) + 1) + accesses.lines
    return int(np.count_nonzero(~found_again(keys, config.core_texture_cache // LINE_BYTES)))
