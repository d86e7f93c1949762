"""Values of rasterizer, queues, shaders and texture units."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.config.param import param
from pixelflow.simd.units import Standing

__all__ = ["FifoConfig", "HierarchicalConfig", "SetupConfig", "ShadingConfig", "TexturingConfig", "TraversingConfig"]

_PAPER = "Moya et al., ISPASS 2006: Tables 1 and 2, sections 2 and 5"
_CODE = "the early preset or a constant of the authors' public simulator"
_BANDWIDTH = "the recorded wire of results carries 8 threads a cycle, two groups of four"
_WHOLE = "pictures are whole; the authors' public simulator leaves out what lies further up than its screen is wide"
_DERIVED = "16 tiles of each level of the descent, four scan tiles of each"
_WATCHED = "a run ends where nothing is carried for 100,000 cycles"


@dataclass(frozen=True)
class SetupConfig:
    """Triangle set-up."""

    # fmt: off
    units: int = param(1, "units side by side", unit="units", source=_CODE, standing=Standing.DERIVED, allowed=(1,),
        because="no other is built")
    fifo: int = param(12, "triangles in it and past it", unit="triangles", source=_PAPER, standing=Standing.DERIVED,
        low=1, high=256)
    latency: int = param(10, "a triangle takes", unit="cycles", source=_PAPER, standing=Standing.DERIVED, low=1,
        high=64)
    start: int = param(4, "cycles after which the next triangle may begin", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    input_latency: int = param(2, "a triangle is on its way to set-up", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=16)
    output_latency: int = param(2, "a triangle is on its way to traversal", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=16)
    # fmt: on


@dataclass(frozen=True)
class TraversingConfig:
    """Traversal of triangles, generation of quads."""

    # fmt: off
    scan_tile: int = param(16, "pixels along the edge of a scan tile", unit="pixels", source=_CODE,
        standing=Standing.DERIVED, allowed=(16,), because="no other is built")
    generation_tile: int = param(8, "pixels along the edge of a tile whose quads are generated together",
        unit="pixels", source=_PAPER, standing=Standing.DERIVED, allowed=(8,), because="no other is built")
    batch: int = param(4, "triangles traversed at once", unit="triangles", source=_CODE, standing=Standing.DERIVED,
        allowed=(4,), because="no other is built")
    testers: int = param(4, "tiles that are split a cycle", unit="tiles", source=_CODE, standing=Standing.DERIVED,
        low=1, high=64)
    recursive: bool = param(True, "tiles are split for a batch at once; else rows of scan tiles are walked, triangle by"
        " triangle", unit="", source=_PAPER, standing=Standing.DERIVED)
    square: bool = param(False, "of a frame higher than wide, tiles further up than the screen is wide are left out, as"
        " recorded; rows of scan tiles have them all", unit="", source=_WHOLE, standing=Standing.INVENTED)
    queue: int = param(16, "triangles that wait", unit="triangles", source=_PAPER, standing=Standing.DERIVED, low=4,
        high=256)
    steps: int = param(2, "steps of 16 quads a cycle", unit="steps", source=_PAPER, standing=Standing.DERIVED, low=1,
        high=8)
    scan_queue: int = param(64, "scan tiles that wait to be opened", unit="tiles", source=_DERIVED,
        standing=Standing.DERIVED, low=1, high=256)
    # fmt: on

    @property
    def at_once(self) -> int:
        """Triangles that are traversed together."""
        return self.batch if self.recursive else 1


@dataclass(frozen=True)
class HierarchicalConfig:
    """Hierarchical Z."""

    # fmt: off
    enabled: bool = param(True, "quads are tested against maxima of blocks", unit="", source=_PAPER,
        standing=Standing.DERIVED)
    block_quads: int = param(16, "quads of a block", unit="quads", source=_PAPER, standing=Standing.DERIVED,
        allowed=(16,), because="no other is built")
    blocks: int = param(262144, "blocks that the buffer holds", unit="blocks", source=_PAPER,
        standing=Standing.DERIVED, low=1024, high=1048576)
    cache_lines: int = param(8, "lines of its cache", unit="lines", source=_CODE, standing=Standing.DERIVED, low=1,
        high=64)
    cache_line: int = param(16, "blocks of a line", unit="blocks", source=_CODE, standing=Standing.DERIVED,
        allowed=(4, 8, 16, 32))
    queue: int = param(128, "quads that wait; the printed 64 deadlock, as ready needs more than 64 free",
        unit="quads", source=_CODE, standing=Standing.DERIVED, low=65, high=1024)
    access_latency: int = param(5, "a read or write of the buffer takes", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    update_latency: int = param(4, "a maximum is on its way from a depth unit", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    cleared: int = param(256, "blocks cleared a cycle", unit="blocks", source=_CODE, standing=Standing.DERIVED, low=1,
        high=4096)
    # fmt: on


@dataclass(frozen=True)
class FifoConfig:
    """Queues of quads, crossbar to the shaders."""

    # fmt: off
    generated: int = param(128, "quads of each ROP that wait for the depth test", unit="quads", source=_CODE,
        standing=Standing.DERIVED, low=64, high=1024)
    tested: int = param(32, "quads of each ROP past it", unit="quads", source=_CODE, standing=Standing.DERIVED, low=4,
        high=1024)
    interpolated: int = param(16, "quads of each ROP that are interpolated", unit="quads", source=_CODE,
        standing=Standing.DERIVED, low=2, high=1024)
    shaded: int = param(128, "quads of each ROP from the shaders on", unit="quads", source=_CODE,
        standing=Standing.DERIVED, low=4, high=2048)
    shader_inputs: int = param(16, "inputs that wait at each shader", unit="inputs", source=_CODE,
        standing=Standing.DERIVED, low=4, high=1024)
    vertex_inputs: int = param(16, "vertices that wait to be shaded", unit="vertices", source=_CODE,
        standing=Standing.DERIVED, low=8, high=256)
    vertex_outputs: int = param(48, "vertices from the shaders on", unit="vertices", source=_CODE,
        standing=Standing.DERIVED, low=4, high=1024)
    interpolators: int = param(4, "attributes interpolated a cycle", unit="attributes", source=_CODE,
        standing=Standing.DERIVED, low=1, high=16)
    interpolation_latency: int = param(4, "an interpolation takes, besides its attributes", unit="cycles",
        source=_CODE, standing=Standing.DERIVED, low=1, high=16)
    vertex_wait: int = param(1000, "an incomplete group of vertices waits for more", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=50000, because=_WATCHED)
    # fmt: on


@dataclass(frozen=True)
class ShadingConfig:
    """Shaders: threads, issue."""

    # fmt: off
    threads: int = param(112, "inputs that are carried out at a time", unit="threads", source=_PAPER,
        standing=Standing.DERIVED, low=4, high=4096)
    buffers: int = param(16, "inputs that wait besides", unit="threads", source=_PAPER, standing=Standing.DERIVED,
        low=0, high=256)
    registers: int = param(448, "registers that the threads share", unit="registers", source=_PAPER,
        standing=Standing.DERIVED, low=16, high=65536)
    group: int = param(4, "threads that go in step", unit="threads", source=_PAPER, standing=Standing.DERIVED,
        allowed=(4,), because="no other is built")
    thread_rate: int = param(4, "threads that get an instruction a cycle", unit="threads", source=_CODE,
        standing=Standing.DERIVED, allowed=(4, 8, 12, 16))
    window: bool = param(True, "any ready group goes next; else groups go in batches, in order", unit="",
        source=_PAPER, standing=Standing.DERIVED)
    fetch_delay: int = param(0, "a group waits after each fetch", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=0, high=64)
    inputs: int = param(4, "inputs a cycle", unit="inputs", source=_PAPER, standing=Standing.DERIVED, allowed=(4,),
        because="no other is built")
    outputs: int = param(4, "outputs a cycle", unit="outputs", source=_PAPER, standing=Standing.DERIVED, allowed=(4,),
        because="no other is built")
    output_delay: int = param(3, "an output is on its way, besides its transmission", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    output_latency: int = param(11, "an output is on its way at most", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=4, high=64)
    results: int = param(2, "groups whose results are written in one cycle, for each that is issued in one",
        unit="groups", source=_BANDWIDTH, standing=Standing.DERIVED, low=1, high=16)
    batch_wait: int = param(64, "an open batch is closed after its last input", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=50000, because=_WATCHED)
    # fmt: on


@dataclass(frozen=True)
class TexturingConfig:
    """Texture units and their caches."""

    # fmt: off
    units: int = param(1, "texture units of each shader", unit="units", source=_CODE, standing=Standing.DERIVED,
        low=1, high=4)
    request_rate: int = param(1, "requests a cycle from a shader", unit="requests", source=_CODE,
        standing=Standing.DERIVED, low=1, high=4)
    request_group: int = param(64, "requests after which the next unit gets its turn", unit="requests", source=_CODE,
        standing=Standing.DERIVED, low=1, high=1024)
    address_latency: int = param(6, "addresses take, besides their bilinear steps", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    filter_latency: int = param(4, "filtering takes, besides its bilinear steps", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    request_queue: int = param(4, "requests that wait, and tickets for more", unit="requests", source=_CODE,
        standing=Standing.DERIVED, low=1, high=1024)
    access_queue: int = param(64, "accesses in the unit", unit="accesses", source=_CODE, standing=Standing.DERIVED,
        low=1, high=1024)
    result_queue: int = param(4, "results that wait", unit="results", source=_CODE, standing=Standing.DERIVED, low=1,
        high=256)
    wait_window: int = param(32, "samples that wait for lines", unit="samples", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    line: int = param(256, "bytes of a line of the cache", unit="bytes", source=_PAPER, standing=Standing.DERIVED,
        allowed=(64, 128, 256))
    ways: int = param(4, "ways of the cache", unit="lines", source=_PAPER, standing=Standing.DERIVED, allowed=(1, 2,
        4, 8, 16))
    lines: int = param(16, "lines of a way", unit="lines", source=_PAPER, standing=Standing.DERIVED, allowed=(1, 2, 4,
        8, 16, 32, 64, 128))
    port: int = param(4, "bytes of each of 16 ports", unit="bytes", source=_CODE, standing=Standing.DERIVED,
        allowed=(4, 8, 16))
    cache_requests: int = param(4, "lines that may be missing at a time", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    cache_inputs: int = param(4, "lines that may be on their way from memory", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    misses: int = param(1, "misses that begin in a cycle", unit="lines", source=_CODE, standing=Standing.DERIVED,
        low=1, high=16)
    decompression: int = param(4, "a line is decompressed", unit="cycles", source=_CODE, standing=Standing.DERIVED,
        low=1, high=64)
    # fmt: on
