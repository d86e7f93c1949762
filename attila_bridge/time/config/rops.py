"""Values of depth and colour units."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.config.param import param
from pixelflow.simd.units import Standing

__all__ = ["ColorConfig", "DepthConfig", "RopConfig"]

_PAPER = "Moya et al., ISPASS 2006: Tables 1 and 2, sections 2 and 5"
_CODE = "the early preset or a constant of the authors' public simulator"


@dataclass(frozen=True)
class RopConfig:
    """Units that end a pixel, and their caches: both kinds are built alike."""

    # fmt: off
    quads: int = param(1, "quads a cycle", unit="quads", source=_PAPER, standing=Standing.DERIVED, allowed=(1,),
        because="no other is built")
    input_queue: int = param(8, "quads that wait", unit="quads", source=_CODE, standing=Standing.DERIVED, low=4,
        high=256)
    fetch_queue: int = param(64, "quads whose lines have been asked for", unit="quads", source=_PAPER,
        standing=Standing.DERIVED, low=1, high=1024)
    read_queue: int = param(16, "quads whose words have been read", unit="quads", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    op_queue: int = param(4, "quads past the arithmetic", unit="quads", source=_CODE, standing=Standing.DERIVED,
        low=2, high=256)
    write_queue: int = param(8, "quads that are written", unit="quads", source=_CODE, standing=Standing.DERIVED,
        low=1, high=256)
    alu_rate: int = param(1, "cycles after which the arithmetic takes the next quad", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=16)
    alu_latency: int = param(2, "the arithmetic takes", unit="cycles", source=_PAPER, standing=Standing.DERIVED,
        low=1, high=16)
    ways: int = param(4, "ways of the cache", unit="lines", source=_PAPER, standing=Standing.DERIVED, allowed=(1, 2,
        4, 8, 16))
    lines: int = param(16, "lines of a way", unit="lines", source=_PAPER, standing=Standing.DERIVED, allowed=(1, 2, 4,
        8, 16, 32, 64))
    line_quads: int = param(16, "quads of a line", unit="quads", source=_PAPER, standing=Standing.DERIVED,
        allowed=(16,), because="no other is built")
    port: int = param(32, "bytes of a port", unit="bytes", source=_CODE, standing=Standing.DERIVED, allowed=(16, 32,
        64, 128, 256))
    extra_read_port: bool = param(True, "a second port to read", unit="", source=_CODE, standing=Standing.DERIVED)
    extra_write_port: bool = param(True, "a second port to write", unit="", source=_CODE, standing=Standing.DERIVED)
    cache_requests: int = param(8, "lines that may be on their way between cache and memory", unit="lines",
        source=_CODE, standing=Standing.DERIVED, low=1, high=64)
    cache_inputs: int = param(8, "lines that are read from memory at a time", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    cache_outputs: int = param(8, "lines that are written to memory at a time", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    block_states: int = param(262144, "blocks whose states are kept", unit="blocks", source=_CODE,
        standing=Standing.DERIVED, low=1024, high=1048576)
    cleared: int = param(1024, "blocks cleared a cycle", unit="blocks", source=_CODE, standing=Standing.DERIVED,
        low=1, high=65536)
    compress: bool = param(True, "lines are compressed when they are written back", unit="", source=_PAPER,
        standing=Standing.DERIVED)
    compression: int = param(8, "a line is compressed", unit="cycles", source=_CODE, standing=Standing.DERIVED, low=1,
        high=64)
    decompression: int = param(8, "a line is decompressed", unit="cycles", source=_CODE, standing=Standing.DERIVED,
        low=1, high=64)
    # fmt: on


@dataclass(frozen=True)
class DepthConfig(RopConfig):
    """Depth units and their caches."""


@dataclass(frozen=True)
class ColorConfig(RopConfig):
    """Colour units and their caches."""
