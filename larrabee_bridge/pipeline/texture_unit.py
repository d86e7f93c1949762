"""The texture unit of a core: fixed logic that filters, with its own cache (3.5); no program.

Section numbers are those of Seiler et al. 2008. Texels are stored in blocks of four by four, one cache line each; every
tile begins with an empty cache, since the order in which a core takes tiles is not known here. These are the texture
bytes of a run; `pipeline/traffic.py` counts texture lines through caches without sets, for the ratio of immediate mode
to tiles alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from larrabee_bridge.vpu.program import LINE_BYTES
from larrabee_bridge.vpu.ring import found_again
from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.drawing import Texture
from pixelflow.simd.drawing.mipmaps import details, filtered, levels_at, trilinear
from pixelflow.simd.drawing.triangles import TEXEL
from pixelflow.simd.units import Standing

_SIDE = 4
"""Texels of a block's side."""


@dataclass(frozen=True)
class TextureConfig:
    """Parameters of a texture unit; raises InputError for values out of their ranges."""

    # fmt: off
    cache_bytes: int = param(32768, "texture cache of a core", unit="bytes", source="Seiler et al. 2008, 3.5",
        standing=Standing.DERIVED, allowed=(8192, 16384, 32768, 65536), moved=(8192,))
    ways: int = param(8, "lines in each set of it", unit="lines", source="no source gives it",
        standing=Standing.INVENTED, allowed=(1, 2, 4, 8, 16), moved=(1,))
    pixels_per_cycle: int = param(4, "pixels that are filtered bilinearly in a cycle", unit="pixels",
        source="no source gives it", standing=Standing.INVENTED, low=1, high=16, moved=(1, 16))
    latency: int = param(200, "from a request to its answer, filled by other fibers of the work thread", unit="cycles",
        source='Seiler et al. 2008, 4.5: "hundreds of clocks"', standing=Standing.INVENTED, low=1, high=10000,
        moved=(50, 2000))
    fibers: int = param(0, "quads that take turns on a work thread; 0: as many as fill its latency, as far as "
        "their records fit half of the L1 cache", unit="fibers",
        source="Seiler et al. 2008, 4.5: enough that an access has had time to execute", standing=Standing.DERIVED,
        low=0, high=64, moved=(1, 4))
    switch_cycles: int = param(4, "from one fiber of a work thread to the next one", unit="cycles",
        source="no source gives it", standing=Standing.INVENTED, low=0, high=100, moved=(0, 20))
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)


@dataclass(eq=False)
class TileTextureUnit:
    """Texture unit of all tiles: filters for their quads and counts, tile by tile."""

    tiles: int
    config: TextureConfig = field(default_factory=TextureConfig)

    def __post_init__(self) -> None:
        self.requests = np.zeros((self.tiles, 3), np.int64)
        """Quads that asked for texels, by work thread: int64[tile, 3]."""
        self.pixels, self.cycles, self.hits, self.misses = (np.zeros(self.tiles, np.int64) for _ in range(4))
        """int64[tile] each: pixels filtered, cycles at the unit's rate, lines found in the cache and not found."""
        self._kept = self._nothing()
        self._bases: dict[int, np.ndarray] = {}
        self._next = 0

    @property
    def bytes(self) -> np.ndarray:
        """Bytes of texels from memory: int64[tile]."""
        return LINE_BYTES * self.misses

    def keep(self, texture: Texture) -> np.ndarray:
        """Return the first lines of the levels of a texture, behind those of textures kept before."""
        bases = self._bases.get(id(texture))
        if bases is None:
            counts = [-(-each.shape[0] // _SIDE) * -(-each.shape[1] // _SIDE) for each in texture.levels]
            bases = self._bases[id(texture)] = self._next + np.cumsum([0, *counts])
            self._next = int(bases[-1])
        return bases

    def finish(self) -> None:
        """Empty the caches: the tiles are done."""
        self._kept = self._nothing()

    @staticmethod
    def _nothing() -> tuple[np.ndarray, np.ndarray]:
        """Return the contents of empty caches: tiles and lines, each set's in the order of last use."""
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    def answer(
        self, texture: Texture, tile: np.ndarray, thread: np.ndarray, wanted: np.ndarray, u: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return texels for quads in the order of requests, uint8[quad, rgba, pixel], and the unit's work.

        The work is int64[2, quad]: cycles at its rate, and lines from memory.

        ``wanted`` is bool[quad, pixel], u and v are uint32[quad, pixel] in 1/65536 texel.
        """
        asking = wanted.any(axis=1)
        np.add.at(self.requests, (tile[asking], thread[asking]), 1)
        u, v = u.astype(np.int64), v.astype(np.int64)
        detail = _of_quads(u, v) if texture.mipmaps else np.zeros(u.shape, np.int64)
        level, weight = levels_at(texture, detail)
        between = wanted & (weight > 0)
        # A pixel between two levels is filtered in both.
        many = wanted.sum(axis=1) + between.sum(axis=1)
        np.add.at(self.pixels, tile, many)
        busy = -(-many // self.config.pixels_per_cycle)
        np.add.at(self.cycles, tile, busy)
        levels = [np.where(wanted, level, -1)] + [np.where(between, level + 1, -1)] * texture.mipmaps
        missed = self._touch(texture, tile, levels, u, v)
        texels = trilinear(texture, u, v, detail) if texture.mipmaps else filtered(texture, u, v)
        return texels.transpose(0, 2, 1).astype(np.uint8), np.stack([busy, missed])

    def _touch(
        self, texture: Texture, tile: np.ndarray, levels: list[np.ndarray], u: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        """Use the lines of texels; ``levels`` are the levels of each pixel, -1 for none."""
        bases = self.keep(texture)
        sides = np.array([each.shape[:2] for each in texture.levels])
        parts = []
        for level in levels:
            height, width = sides[level, 0], sides[level, 1]
            x, y = ((at >> np.maximum(level, 0)) - TEXEL // 2 >> 16 for at in (u, v))
            for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
                row, column = (y + down & height - 1) // _SIDE, (x + right & width - 1) // _SIDE
                parts.append(np.where(level >= 0, bases[level] + row * -(-width // _SIDE) + column, -1))
        lines = np.concatenate(parts, axis=1)
        lines.sort(axis=1)
        lines[:, 1:][lines[:, 1:] == lines[:, :-1]] = -1
        row, column = np.nonzero(lines >= 0)
        found = self._found(tile[row], lines[row, column])
        np.add.at(self.hits, tile[row[found]], 1)
        np.add.at(self.misses, tile[row[~found]], 1)
        return np.bincount(row[~found], minlength=len(tile))

    def _found(self, tile: np.ndarray, line: np.ndarray) -> np.ndarray:
        """Use lines of tiles, in their order; return which were in the tile's cache: bool[access]."""
        kept, ways = len(self._kept[0]), self.config.ways
        tile, line = np.concatenate([self._kept[0], tile]), np.concatenate([self._kept[1], line])
        sets = self.config.cache_bytes // (LINE_BYTES * ways)
        # Each set of each tile is a separate cache; the first accesses are its previous contents.
        which = tile * sets + line % sets
        order = np.argsort(which, kind="stable")
        names = tile[order] * self._next + line[order]
        found = np.empty(len(tile), bool)
        found[order] = found_again(names, ways)
        # The last uses of lines, as many of each set as it has ways.
        _, last = np.unique(names[::-1], return_index=True)
        last = np.sort(len(names) - 1 - last)
        set_of = which[order][last]
        from_end = np.searchsorted(set_of, set_of, side="right") - np.arange(len(last))
        last = order[last[from_end <= ways]]
        self._kept = tile[last], line[last]
        return found[kept:]


def _of_quads(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the detail of each pixel of quads of four by four: int64[quad, pixel]."""

    def blocks(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1, 2, 2, 2, 2).transpose(0, 1, 3, 2, 4).reshape(-1, 2, 2, 4)

    found = details(blocks(u), blocks(v))
    return np.repeat(np.repeat(found, 2, axis=1), 2, axis=2).reshape(len(u), -1)
