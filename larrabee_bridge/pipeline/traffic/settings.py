"""What the byte counters are given: caches and compression of the immediate-mode renderer, sizes of what bins hold."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.config.param import check_values, param
from pixelflow.simd.units import Standing

__all__ = ["BLOCK", "LINE_BYTES", "SAMPLE_BYTES", "TrafficConfig"]

SAMPLE_BYTES = 4
"""Of a colour (8 bits each of red, green, blue, alpha), and of depth with stencil (24 and 8)."""

BLOCK = 16
"""Pixels of a 4x4 block. Targets and textures lie in memory block by block: at four bytes, one line of 64."""

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
    colour_compression: int = _times(2, "immediate mode, 1 sample: colours are so much smaller in memory")
    depth_compression: int = _times(4, "immediate mode, 1 sample: depths are so much smaller in memory")
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
