"""Traffic (time): bytes to and from memory, of the binning renderer and of an immediate-mode one (4.5, 5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from larrabee_bridge.pipeline.bins import QUAD, Quads, begins_of, distinct, members, quads_of
from larrabee_bridge.vpu.ring import found_again, line_moves
from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.drawing import (
    CENTRE,
    FAR,
    SAMPLES,
    Blend,
    DepthTest,
    Draw,
    Frame,
    Interpolation,
    StencilStep,
    layers_of,
    stencilled,
)
from pixelflow.simd.drawing.mipmaps import filtered
from pixelflow.simd.drawing.triangles import TEXEL
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted
from pixelflow.simd.units import Standing

# Parameters of the byte counters: caches and compression of the immediate-mode renderer, sizes of bin entries.


SAMPLE_BYTES = 4
"""Of a colour (8 bits each of red, green, blue, alpha), and of depth with stencil (24 and 8)."""

BLOCK = 16
"""Pixels of a 4x4 block. Targets and textures are stored block by block: at four bytes, one line of 64."""

LINE_BYTES = BLOCK * SAMPLE_BYTES

_SEILER = "Seiler et al. 2008, 5.3"


def _cache(default: int, text: str, source: str = _SEILER) -> int:
    """Return a dataclass field for the size of a cache."""
    return param(default, text, unit="bytes", source=source, standing=Standing.DERIVED, low=0, high=1 << 26)


def _times(default: int, text: str) -> int:
    """Return a dataclass field for a ratio of compression."""
    return param(default, text, unit="times", source=_SEILER, standing=Standing.DERIVED, allowed=(1, 2, 4, 8, 16))


def _bytes(default: int, text: str, source: str) -> int:
    """Return a dataclass field for the size of an entry, which no source gives."""
    return param(default, text, unit="bytes", source=source, standing=Standing.INVENTED, low=0, high=1024)


@dataclass(frozen=True)
class TrafficConfig:
    """Parameters of both renderers; raises InputError for values out of their ranges."""

    # fmt: off
    colour_cache: int = _cache(1 << 20, "immediate mode: cache of colours, not compressed in it")
    depth_cache: int = _cache(1 << 20, "immediate mode: cache of depths, not compressed in it")
    texture_cache: int = _cache(128 << 10, "immediate mode: cache of texels")
    colour_compression: int = _times(2, "immediate mode, 1 sample: compression of colours in memory")
    depth_compression: int = _times(4, "immediate mode, 1 sample: compression of depths in memory")
    colour_compression_4: int = _times(4, "the same for colours at 4 samples")
    depth_compression_4: int = _times(8, "the same for depths at 4 samples")
    fast_clear: bool = param(False,
        "immediate mode: a block that was cleared and not written since is known, and not read", unit="",
        source="no source gives it: Seiler et al. 2008, 5.3, list what immediate mode is assumed to have, and not this",
        standing=Standing.INVENTED)
    clears_written: bool = param(False,
        "binned: a cleared tile in which nothing is drawn is written; else that is free, as clearing in immediate mode",
        unit="", source="no source gives it", standing=Standing.INVENTED)
    core_texture_cache: int = _cache(32 << 10, "binned: cache of texels of each core; empty at the begin of a tile",
        "Seiler et al. 2008, 3.5")
    entry_bytes: int = _bytes(16, "a triangle in a bin: three vertex indices of 4 bytes, state and count",
        "Seiler et al. 2008, 4.1: indices that reference the vertex data; their size is not given")
    position_bytes: int = _bytes(2, "place and kind of a block that is covered wholly (16x16 or 4x4), or of a mask",
        "Seiler et al. 2008, 4.1: a series of X,Y coordinates; their size is not given")
    mask_bytes: int = _bytes(2, "sixteen bits of coverage, for each sample",
        "one bit a pixel of a 4x4 block; Seiler et al. 2008, 4.1, do not give its size")
    vertex_bytes: int = _bytes(32,
        "a transformed vertex: position, colour, texture coordinates; written once, read in each tile that needs it",
        "Seiler et al. 2008, 4.3: transformed vertices are streamed out to main memory; their size is not given")
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)

    def compression(self, samples: int) -> tuple[int, int]:
        """Return how many times smaller colours and depths are in memory in immediate mode."""
        if samples == 1:
            return self.colour_compression, self.depth_compression
        return self.colour_compression_4, self.depth_compression_4


# Sums of bytes by purpose.


_TARGETS = ("colour", "depth")


class Traffic(NamedTuple):
    """Bytes from memory and to memory by purpose: colour, depth, texture, bins, vertices."""

    read: Mapping[str, int]
    written: Mapping[str, int]

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(self.read.values()) + sum(self.written.values())

    @property
    def targets(self) -> int:
        """Bytes of colours and depths alone."""
        return sum(values.get(name, 0) for values in (self.read, self.written) for name in _TARGETS)


# Accesses of a frame in drawing order: blocks of 4x4 pixels of targets, and lines of textures.
#
# Depth is tested first, and fragments that fail cost nothing ("perfect hierarchical depth culling", 5.3), unless the
# stencil steps on failure. A pixel sees the same fragments in the same order in either kind of renderer, so this is
# computed once for both. Texture lines are those of pixels that ask for texels, as in the back end: visible ones, or
# with a cutout those that pass the depth test. They are for the ratio of the two kinds of renderer; `TileTextureUnit`
# counts the texture bytes of a run.


@dataclass(frozen=True, slots=True, eq=False)
class Accesses:
    """Qquads that are partly visible, in drawing order: int64 or bool[quad].

    ``block`` numbers 4x4 blocks of the screen row by row, ``tile`` its tiles; ``triangle`` counts through all draws.
    Quad q reads texture lines ``lines[starts[q] : starts[q + 1]]``, each once.
    """

    samples: int
    block: np.ndarray
    tile: np.ndarray
    triangle: np.ndarray
    depth_read: np.ndarray
    depth_written: np.ndarray
    colour_read: np.ndarray
    colour_written: np.ndarray
    starts: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.block)

    def taken(self, order: np.ndarray) -> Accesses:
        """Return the accesses in another order."""
        counts = np.diff(self.starts)[order]
        which, within = members(counts)
        return Accesses(
            samples=self.samples,
            **{name: getattr(self, name)[order] for name in _COLUMNS if name != "counts"},
            starts=np.concatenate([[0], np.cumsum(counts)]),
            lines=self.lines[self.starts[:-1][order][which] + within],
        )


def accesses_of(frame: Frame, tile: int = 64, quads: tuple[Quads, ...] | None = None) -> Accesses:
    """Return the accesses of a frame; ``quads`` are those of each draw, if known.

    Sorted blends count as drawn.
    """
    found = _Found(frame)
    first = 0
    bases: dict[int, int] = {}
    next_line = 0
    for number, draw in enumerate(frame.draws):
        if quads is None:
            drawn = quads_of(draw.triangles, frame.width, frame.height, tile, frame.samples)
        else:
            drawn = quads[number]
        texture = draw.state.texture
        if texture is not None and id(texture) not in bases:
            bases[id(texture)] = next_line
            rows, columns = texture.texels.shape[:2]
            next_line += -(-rows // QUAD) * -(-columns // QUAD)
        found.draw(draw, drawn, first, bases.get(id(texture), 0))
        first += len(draw.triangles)
    return found.told()


_TOGETHER = 1 << 13
"""Quads at a time, at one sample."""
_COLUMNS = {
    "block": np.int64, "tile": np.int64, "triangle": np.int64, "depth_read": bool, "depth_written": bool,
    "colour_read": bool, "colour_written": bool, "counts": np.int64,
}  # fmt: skip
"""Of `Accesses`; ``counts`` are the lines of each quad."""


class _Found:
    """Depth and stencil of every block while a frame is drawn, and the accesses so far."""

    def __init__(self, frame: Frame) -> None:
        self.samples = frame.samples
        self.places = (CENTRE,) if frame.samples == 1 else SAMPLES
        self.columns = -(-frame.width // QUAD)
        blocks = self.columns * -(-frame.height // QUAD)
        self.depths = np.full((blocks, frame.samples, BLOCK), FAR, np.int32)
        self.stencils = np.zeros((blocks, frame.samples, BLOCK), np.uint8)
        self.found: dict[str, list[np.ndarray]] = {
            name: [np.zeros(0, kind)] for name, kind in {**_COLUMNS, "lines": np.int64}.items()
        }
        """Of all draws so far, each by triangle."""
        self.rows: list[tuple[np.ndarray, ...]] = []
        """Of the draw that is being drawn, with the place of each quad last."""
        self.lines: list[np.ndarray] = []

    def draw(self, draw: Draw, quads: Quads, first: int, base: int) -> None:
        textured = draw.state.texture is not None
        if draw.state.texture is not None and draw.state.texture.mipmaps:
            hint = "lines of several levels are counted by the texture unit of the back end alone"
            raise InputError(Fault(f"draw {draw.name}: accesses of a texture with mipmaps", hint=hint))
        planes = [Interpolation.of(draw.triangles, place, textured=textured, colours=False) for place in self.places]
        # Blocks do not see each other: the first quads of all blocks together, then the second ones.
        block = quads.y // QUAD * self.columns + quads.x // QUAD
        most = _TOGETHER // self.samples
        for layer in layers_of(block):
            for at in range(0, len(layer), most):
                chosen = layer[at : at + most]
                self._together(draw, quads.part(chosen), chosen, planes, (first, base))
        self._end_draw()

    def _together(
        self, draw: Draw, quads: Quads, places: np.ndarray, planes: list[Interpolation], names: tuple[int, int]
    ) -> None:
        """Take quads of different blocks; ``places`` are their places in the draw."""
        state = draw.state
        block = quads.y // QUAD * self.columns + quads.x // QUAD
        i = (quads.x[:, None] + np.arange(BLOCK) % QUAD).astype(np.uint32)
        j = (quads.y[:, None] + np.arange(BLOCK) // QUAD).astype(np.uint32)
        masks = quads.masks.astype("<u2", copy=False).view(np.uint8)
        covered = np.unpackbits(masks, axis=1, bitorder="little").reshape(len(quads), -1, BLOCK).view(bool)
        depths = np.empty(covered.shape, np.int32)
        for number, each in enumerate(planes):
            depths[:, number] = each.depths(quads.triangle[:, None], i, j)
        there = self.depths.take(block, axis=0)
        tested = state.depth_test is DepthTest.LESS
        nearer: np.ndarray = depths < there if tested else np.ones_like(covered)
        stencil = state.stencil
        steps = (stencil.failed, stencil.hidden) if stencil is not None else ()
        culls = tested and all(step is StencilStep.KEEP for step in steps)
        alive: np.ndarray = covered & nearer if culls else covered
        texture = state.texture if state.colour_write or state.cutout > 0 else None
        if texture is not None:
            quad, pixel = asking = np.nonzero(np.any(alive, axis=1))
            sample, uv = covered[quad, :, pixel].argmax(axis=1), np.empty((len(quad), 2), np.int64)
            for number, each in enumerate(planes):
                some = sample == number
                uv[some] = each.texels(*(values[some] for values in (quads.triangle[quad], i[asking], j[asking])))
            if state.cutout:
                passes = np.ones((len(quads), BLOCK), bool)
                passes[asking] = filtered(texture, *uv.T)[:, 3] >= state.cutout
                alive = alive & passes[:, None]
        seen, stepped = alive & nearer, np.zeros(len(quads), bool)
        if stencil is not None:
            passed, self.stencils[block], changed = stencilled(stencil, self.stencils[block], alive, nearer)
            seen, stepped = passed & nearer, _some(changed)
        counts = np.zeros(len(quads), np.int64)
        if texture is not None:
            wanted = slice(None) if state.cutout else np.any(seen, axis=1)[asking]
            lines, counts = _texture_lines(uv[wanted], quad[wanted], len(quads), texture.texels.shape[:2])
            self.lines.append(lines + names[1])
        if state.depth_write:
            self.depths[block] = np.where(seen, depths, there)
        touches, seen_quad = _some(alive), _some(seen)
        kept = np.flatnonzero(touches | (counts > 0))
        blended = state.blend is not Blend.REPLACE
        colour = seen_quad & state.colour_write
        depth_read, depth_written = touches & (tested or stencil is not None), seen_quad & state.depth_write | stepped
        targets = depth_read, depth_written, colour & blended, colour
        columns = block, quads.tile, names[0] + quads.triangle, *targets, counts, places
        self.rows.append(tuple(each.take(kept) for each in columns))

    def _end_draw(self) -> None:
        """Add the accesses of a draw to those of all, by triangle, once all of its quads have been taken."""
        if not self.rows:
            return
        columns = zip(*self.rows, strict=True)
        given = {name: np.concatenate(each) for name, each in zip((*_COLUMNS, "places"), columns, strict=True)}
        starts = np.cumsum(np.append(0, given.pop("counts")))
        lines = np.concatenate([np.zeros(0, np.int64), *self.lines])
        self.rows, self.lines = [], []
        order = np.lexsort((given.pop("places"), given["triangle"]))
        found = Accesses(samples=self.samples, starts=starts, lines=lines, **given).taken(order)
        for name, each in self.found.items():
            each.append(np.diff(found.starts) if name == "counts" else getattr(found, name))

    def told(self) -> Accesses:
        """Return the accesses of all draws."""
        found = {}
        for name, each in self.found.items():
            found[name] = np.concatenate(each)
            each.clear()
        return Accesses(samples=self.samples, starts=np.cumsum(np.append(0, found.pop("counts"))), **found)


def _some(bits: np.ndarray) -> np.ndarray:
    """Return for which quads some of the bits are true: bool[quad], from bool[quad, sample, pixel], eight at a time."""
    return np.any(bits.view(np.uint64), axis=(1, 2))


def _texture_lines(
    uv: np.ndarray, quad: np.ndarray, quads: int, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lines of the four texels of pixels, once a quad, and the count of each quad."""
    height, width = shape
    columns, rows = -(-width // QUAD), -(-height // QUAD)
    x, y = (at - TEXEL // 2 >> 16 for at in uv.T)
    keys = [
        (quad * rows + (y + down & height - 1) // QUAD) * columns + (x + across & width - 1) // QUAD
        for down in (0, 1)
        for across in (0, 1)
    ]
    of_quad, lines = np.divmod(distinct(np.concatenate(keys)), rows * columns)
    return lines, np.bincount(of_quad, minlength=quads)


# Binned mode: each tile is read once at most and written once at most; bins and vertices go to memory and back (4.5).
#
# Four things are saved: the read of a target that is cleared, the write of one that is not needed afterwards, samples
# that are resolved to one colour before the write, and every access between the first and the last.


class RenderTarget(NamedTuple):
    """A render target, named as in `Traffic`."""

    name: str
    cleared: bool = True
    """The first command clears it, so that it is not read."""
    needed: bool = True
    """It is read afterwards, so it is written."""
    resolved: bool = False
    """Its samples become one value a pixel before it is written."""


def default_targets(samples: int = 1) -> tuple[RenderTarget, ...]:
    """Return colour and depth of a frame: both cleared, colour resolved, depth not needed afterwards."""
    return RenderTarget("colour", resolved=samples > 1), RenderTarget("depth", needed=False)


class TileSizes(NamedTuple):
    """Pixels of each tile that are on the screen: int64[tile]."""

    pixels: np.ndarray

    @classmethod
    def of(cls, width: int, height: int, tile: int) -> TileSizes:
        """Return the tiles of a screen; those at the right and lower border end with it."""
        across = np.minimum(tile, width - np.arange(0, width, tile))
        down = np.minimum(tile, height - np.arange(0, height, tile))
        return cls(np.outer(down, across).ravel())


class BinContents(NamedTuple):
    """Contents of the bins of a frame."""

    tiles: np.ndarray
    """Tiles with entries, int64, ascending."""
    entries: np.ndarray
    """(tile, triangle) of each entry: int64[entry, 2]."""
    full_16: int
    """Blocks of 16x16 that are fully covered, in all samples."""
    full_4: int
    """Other blocks of 4x4 that are fully covered."""
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
    every, first, full_16, all_full, total = max(sum(counts), 1), 0, 0, 0, 0
    keys = []
    for each, count in zip(quads, counts, strict=True):
        if (last := int(each.triangle.max(initial=-1))) >= count:
            raise InputError(Fault(f"quads of triangle {last}, and its draw has {count}", hint="numbered from 0"))
        keys.append(distinct(each.tile * np.int64(every) + each.triangle + first))
        full, rows = (each.masks == 0xFFFF).all(axis=1), int(each.y.max(initial=0)) // 16 + 1
        pieces = np.sort(((each.x // 16 * rows + each.y // 16) * np.int64(every) + each.triangle)[full])
        full_16 += int((np.diff(np.flatnonzero(begins_of(pieces)), append=len(pieces)) == 16).sum())
        first, all_full, total = first + count, all_full + int(full.sum()), total + len(each)
    entries = np.stack(np.divmod(np.sort(np.concatenate(keys)), every), axis=1)
    return BinContents(
        tiles=distinct(entries[:, 0]),
        entries=entries,
        full_16=full_16,
        full_4=all_full - 16 * full_16,
        partial_4=total - all_full,
        samples=quads[0].masks.shape[1],
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
    """Return the bytes of a frame.

    Targets are read and written in tiles that have entries, and with ``clears_written`` cleared ones are written in
    all. ``accesses`` give the texture lines, for the ratio to immediate mode; those of a run are its texture unit's.
    ``corners`` are the numbers of each triangle's vertices, int64[triangle, 3]; without them triangles share none.
    """
    config = config or TrafficConfig()
    every, filled = int(sizes.pixels.sum()), int(sizes.pixels[contents.tiles].sum())
    read, written = {}, {}
    for target in targets:
        whole = SAMPLE_BYTES * contents.samples
        read[target.name] = 0 if target.cleared else filled * whole
        pixels = every if target.cleared and config.clears_written else filled
        written[target.name] = pixels * (SAMPLE_BYTES if target.resolved else whole) if target.needed else 0
    read["bins"] = written["bins"] = contents.bytes(config)
    vertices, uses = _vertices(contents.entries, corners)
    written["vertices"], read["vertices"] = vertices * config.vertex_bytes, uses * config.vertex_bytes
    if accesses is not None:
        read["texture"] = _missed_lines(accesses, config) * LINE_BYTES
    return Traffic(read, written)


def corners_of(frame: Frame) -> np.ndarray:
    """Return vertex numbers of all triangles of a frame: int64[triangle, 3]; equal corners of a draw are one vertex.

    Corners are equal in position, depth, colour, texture coordinates and nearness.
    """
    found, first = [np.zeros((0, 3), np.int64)], 0
    for draw in frame.draws:
        triangles = draw.triangles
        parts = [triangles.corners, triangles.depths[..., None], triangles.colours]
        parts += [triangles.coordinates] if triangles.coordinates is not None else []
        parts += [triangles.nearness[..., None]] if triangles.nearness is not None else []
        rows = _packed([part[..., place].reshape(-1) for part in parts for place in range(part.shape[-1])])
        order = np.lexsort(rows) if len(triangles) else np.zeros(0, np.int64)
        new = begins_of(*(row[order] for row in rows))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = first - 1 + np.cumsum(new)
        found.append(numbers.reshape(-1, 3))
        first += int(np.count_nonzero(new))
    return np.concatenate(found)


def _packed(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return fewer columns that distinguish the same rows, packed into 63 bits each."""
    found: list[np.ndarray] = []
    room = 0
    for column in columns:
        bits = (int(column.max(initial=0)) - int(column.min(initial=0))).bit_length()
        if not found or bits > room:
            found.append(column)
            room = 63 - bits
        else:
            found[-1] = (found[-1] << bits) + column
            room -= bits
    return found


def _vertices(entries: np.ndarray, corners: np.ndarray | None) -> tuple[int, int]:
    """Return the number of vertices in any bin, and of (tile, vertex) pairs: each is read once a tile."""
    if corners is None:
        return 3 * len(distinct(entries[:, 1])), 3 * len(entries)
    used = corners[entries[:, 1]]
    pairs = np.repeat(entries[:, 0], 3) * (int(used.max(initial=0)) + 1) + used.ravel()
    return len(distinct(used)), len(distinct(pairs))


def _missed_lines(accesses: Accesses, config: TrafficConfig) -> int:
    """Return the number of lines of texels from memory if every tile begins with an empty cache."""
    tile = np.repeat(accesses.tile, np.diff(accesses.starts).astype(np.intp))
    keys = tile * (int(accesses.lines.max(initial=0)) + 1) + accesses.lines
    by_tiles = keys[np.argsort(tile, kind="stable")]
    return int(np.count_nonzero(~found_again(by_tiles, config.core_texture_cache // LINE_BYTES)))


# Immediate mode: triangles in their order, targets and textures through caches, compressed in memory (5.3).


def immediate_traffic(accesses: Accesses, config: TrafficConfig | None = None) -> Traffic:
    """Return the bytes of a frame on cleared targets; dirty blocks go to memory at its end.

    A block is kept and moved as a whole, with all samples; a partial write needs no read. Clearing is free. Texture
    bytes are comparable with those of `binned_traffic`, not of a run.
    """
    config = config or TrafficConfig()
    block_bytes = LINE_BYTES * accesses.samples
    smaller_colour, smaller_depth = config.compression(accesses.samples)
    colour_read, colour_written = _target(
        accesses.block, accesses.colour_read, accesses.colour_written, config.colour_cache // block_bytes, config
    )
    depth_read, depth_written = _target(
        accesses.block, accesses.depth_read, accesses.depth_written, config.depth_cache // block_bytes, config
    )
    texels = int(np.count_nonzero(~found_again(accesses.lines, config.texture_cache // LINE_BYTES)))
    return Traffic(
        read={
            "colour": colour_read * block_bytes // smaller_colour,
            "depth": depth_read * block_bytes // smaller_depth,
            "texture": texels * LINE_BYTES,
        },
        written={
            "colour": colour_written * block_bytes // smaller_colour,
            "depth": depth_written * block_bytes // smaller_depth,
        },
    )


def _target(
    blocks: np.ndarray, reads: np.ndarray, writes: np.ndarray, lines: int, config: TrafficConfig
) -> tuple[int, int]:
    """Return the blocks of a target read from memory and written to it, with a cache of ``lines`` blocks."""
    used = reads | writes
    blocks, reads, writes = blocks[used], reads[used], writes[used]
    if config.fast_clear and len(blocks):
        # A block is known until it is written, and the first write needs no read.
        first = np.full(int(blocks.max()) + 1, len(blocks))
        np.minimum.at(first, blocks[writes], np.flatnonzero(writes))
        reads = reads & (np.arange(len(blocks)) > first[blocks])
    found, written = line_moves(blocks, writes, lines)
    return int(np.count_nonzero(reads & ~found)), written
