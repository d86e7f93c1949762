"""Configuration: what the machine is given, and its presets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from pixelflow.simd.configuration import Value, check_values, leaves, param, section
from pixelflow.simd.errors import InputError, nearest
from pixelflow.simd.units import Standing

# Values of what comes before the rasterizer, of memory and of the display.


_PAPER = "Moya et al., ISPASS 2006: Tables 1 and 2, sections 2 and 5"
_CODE = "the early preset or a constant of the authors' public simulator"
_FITTED = "chosen so that measured whole frames come out"


@dataclass(frozen=True)
class GpuConfig:
    """What there is of each unit."""

    # fmt: off
    shaders: int = param(2, "shader units", unit="units", source=_PAPER, standing=Standing.DERIVED, allowed=(1, 2, 4))
    rops: int = param(2, "depth and colour units, side by side", unit="units", source=_PAPER,
        standing=Standing.DERIVED, allowed=(1, 2))
    vertex_ports: int = param(4, "ports by which vertices go to the shaders and come back", unit="ports",
        source=_PAPER, standing=Standing.DERIVED, low=1, high=8)
    pipelined_draws: bool = param(True, "geometry of a draw goes on while fragments of the one before are drawn",
        unit="", source=_PAPER, standing=Standing.DERIVED)
    # fmt: on


@dataclass(frozen=True)
class CommandConfig:
    """The command processor's fixed times, in cycles of the run."""

    # fmt: off
    ready_cycles: int = param(68, "registers and commands of a frame", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=0, high=10000)
    texture_cycles: int = param(16, "registers of each texture that is bound first", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=0, high=1000)
    index_cycles: int = param(6, "registers of an indexed draw", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=0, high=1000)
    test_cycles: int = param(5, "registers of depth and stencil of the first draw", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=0, high=1000)
    blend_cycles: int = param(5, "registers of blending of the first draw", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=0, high=1000)
    padding: int = param(16, "instructions that pad a program", unit="instructions", source=_CODE,
        standing=Standing.DERIVED, low=0, high=64)
    instruction_bytes: int = param(16, "bytes of an instruction", unit="bytes", source=_CODE,
        standing=Standing.DERIVED, allowed=(16,), because="no other is built")
    start_latency: int = param(1, "a command is on its way to a box", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=1, high=64)
    end_latency: int = param(2, "the end of a box is on its way back", unit="cycles", source=_FITTED,
        standing=Standing.FITTED, low=1, high=64)
    # fmt: on


@dataclass(frozen=True)
class MemoryConfig:
    """The memory controller, channels, and buses of the clients."""

    # fmt: off
    channels: int = param(4, "channels, each with its own modules", unit="channels", source=_PAPER,
        standing=Standing.DERIVED, allowed=(1, 2, 4, 8))
    bus_bits: int = param(64, "bits of a channel", unit="bits", source=_PAPER, standing=Standing.DERIVED,
        allowed=(32, 64, 128))
    interleave: int = param(256, "bytes after which the next channel follows", unit="bytes", source=_PAPER,
        standing=Standing.DERIVED, allowed=(64, 128, 256, 512, 1024, 2048, 4096))
    read_latency: int = param(10, "from the start of a read to its data", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    write_latency: int = param(6, "from the start of a write to its data", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    write_to_read: int = param(6, "after a write's data a read waits", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=0, high=256)
    page_bytes: int = param(4096, "bytes of a page of one channel", unit="bytes", source=_CODE,
        standing=Standing.DERIVED, allowed=(1024, 2048, 4096, 8192))
    open_pages: int = param(1, "pages that a channel keeps open", unit="pages", source=_CODE,
        standing=Standing.DERIVED, allowed=(1, 2, 4, 8))
    page_open: int = param(20, "after its last command a channel may open another page", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    max_reads: int = param(16, "reads in a row while a write waits", unit="transactions", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    max_writes: int = param(16, "writes in a row while a read waits", unit="transactions", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    request_queue: int = param(64, "requests that the controller holds", unit="requests", source=_CODE,
        standing=Standing.DERIVED, low=32, high=1024)
    reserve: int = param(2, "requests, and buffers of writes, kept free for each client that may send them: one cycle's"
        " that is on its way and one that is sent before it hears", unit="requests", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    service_queue: int = param(32, "answers that wait for their bus, in one order for all", unit="answers",
        source=_CODE, standing=Standing.DERIVED, low=1, high=1024)
    read_buffers: int = param(32, "reads whose data the controller holds", unit="transactions", source=_CODE,
        standing=Standing.DERIVED, low=1, high=1024)
    write_buffers: int = param(32, "writes whose data the controller holds", unit="transactions", source=_CODE,
        standing=Standing.DERIVED, low=11, high=1024)
    command_bus: int = param(8, "bus of the command processor", unit="bytes a cycle", source=_PAPER,
        standing=Standing.DERIVED, allowed=(8, 16, 32, 64))
    fetch_bus: int = param(64, "bus of the fetch of indices", unit="bytes a cycle", source=_CODE,
        standing=Standing.DERIVED, allowed=(8, 16, 32, 64))
    loader_bus: int = param(64, "bus of the loader of vertices", unit="bytes a cycle", source=_CODE,
        standing=Standing.DERIVED, allowed=(8, 16, 32, 64))
    depth_bus: int = param(64, "bus of each depth unit", unit="bytes a cycle", source=_CODE,
        standing=Standing.DERIVED, allowed=(8, 16, 32, 64))
    color_bus: int = param(64, "bus of each colour unit", unit="bytes a cycle", source=_CODE,
        standing=Standing.DERIVED, allowed=(8, 16, 32, 64))
    display_bus: int = param(64, "bus of the display", unit="bytes a cycle", source=_CODE, standing=Standing.DERIVED,
        allowed=(8, 16, 32, 64))
    texture_bus: int = param(64, "bus of each texture unit", unit="bytes a cycle", source=_CODE,
        standing=Standing.DERIVED, allowed=(8, 16, 32, 64))
    # fmt: on

    @property
    def transaction_cycles(self) -> int:
        """Cycles that 64 bytes hold a channel, which moves its bits twice a cycle."""
        return 8 * 64 // (2 * self.bus_bits)


@dataclass(frozen=True)
class StreamerConfig:
    """Fetch of indices, cache of shaded vertices, loader, commit."""

    # fmt: off
    indices: int = param(1, "indices a cycle", unit="indices", source=_PAPER, standing=Standing.DERIVED, allowed=(1,),
        because="no other is built")
    index_buffer: int = param(1024, "bytes of indices read ahead", unit="bytes", source=_CODE,
        standing=Standing.DERIVED, low=64, high=65536)
    output_queue: int = param(64, "vertices between fetch and assembly", unit="vertices", source=_CODE,
        standing=Standing.DERIVED, low=1, high=1024)
    output_memory: int = param(48, "shaded vertices that are kept", unit="vertices", source=_PAPER,
        standing=Standing.DERIVED, low=4, high=1024)
    vertices: int = param(1, "vertices a cycle to assembly", unit="vertices", source=_PAPER,
        standing=Standing.DERIVED, allowed=(1,), because="no other is built")
    attributes_sent: int = param(4, "attributes a cycle to assembly", unit="attributes", source=_CODE,
        standing=Standing.DERIVED, low=1, high=16)
    request_queue: int = param(8, "vertices that the loader reads ahead", unit="vertices", source=_CODE,
        standing=Standing.DERIVED, low=1, high=256)
    attributes: int = param(4, "attributes that the loader fetches, and reads, a cycle", unit="attributes",
        source=_CODE, standing=Standing.DERIVED, low=1, high=16)
    cache_lines: int = param(32, "lines of the loader's cache, fully associative", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=4, high=256)
    cache_line: int = param(64, "bytes of a line", unit="bytes", source=_CODE, standing=Standing.DERIVED, allowed=(64,
        128, 256))
    cache_port: int = param(16, "bytes of a port", unit="bytes", source=_CODE, standing=Standing.DERIVED, allowed=(4,
        8, 16, 32))
    cache_requests: int = param(4, "lines that may be missing at a time", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    cache_inputs: int = param(4, "lines that may be on their way from memory", unit="lines", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    # fmt: on


@dataclass(frozen=True)
class AssemblyConfig:
    """Assembly of triangles."""

    # fmt: off
    queue: int = param(8, "vertices that wait", unit="vertices", source=_PAPER, standing=Standing.DERIVED, low=4,
        high=256)
    bus_latency: int = param(10, "a vertex is on its way, besides its transmission", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=64)
    triangles: int = param(1, "triangles a cycle", unit="triangles", source=_PAPER, standing=Standing.DERIVED,
        allowed=(1,), because="no other is built")
    # fmt: on


@dataclass(frozen=True)
class ClippingConfig:
    """Rejection by the frustum."""

    # fmt: off
    units: int = param(1, "units side by side", unit="units", source=_CODE, standing=Standing.DERIVED, allowed=(1,),
        because="no other is built")
    start: int = param(1, "cycles after which the next triangle may begin", unit="cycles", source=_CODE,
        standing=Standing.DERIVED, low=1, high=16)
    latency: int = param(6, "a triangle takes", unit="cycles", source=_PAPER, standing=Standing.DERIVED, low=1,
        high=64)
    buffer: int = param(4, "triangles in it and past it", unit="triangles", source=_PAPER, standing=Standing.DERIVED,
        low=1, high=64)
    # fmt: on


@dataclass(frozen=True)
class DisplayConfig:
    """The display."""

    # fmt: off
    block: int = param(256, "bytes of a block of its states", unit="bytes", source=_CODE, standing=Standing.DERIVED,
        allowed=(256,), because="no other is built")
    queue: int = param(32, "blocks that are read ahead", unit="blocks", source=_CODE, standing=Standing.DERIVED,
        low=1, high=256)
    decompression: int = param(1, "a block is decompressed", unit="cycles", source=_CODE, standing=Standing.DERIVED,
        low=1, high=64)
    updated: int = param(1024, "blocks whose states are taken over a cycle", unit="blocks", source=_CODE,
        standing=Standing.DERIVED, low=1, high=65536)
    # fmt: on


# Values of rasterizer, queues, shaders and texture units.


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
        " recorded; rows of scan tiles have them all", unit="", source=_WHOLE, standing=Standing.DERIVED)
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


# Values of depth and colour units.


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


# Configuration of the whole machine, and the presets of the paper.


@dataclass(frozen=True)
class AttilaConfig:
    """What the machine is given; the defaults are the unified machine of the paper's Tables 1 and 2."""

    gpu: GpuConfig = section(GpuConfig)
    command: CommandConfig = section(CommandConfig)
    memory: MemoryConfig = section(MemoryConfig)
    streamer: StreamerConfig = section(StreamerConfig)
    assembly: AssemblyConfig = section(AssemblyConfig)
    clipper: ClippingConfig = section(ClippingConfig)
    setup: SetupConfig = section(SetupConfig)
    traversal: TraversingConfig = section(TraversingConfig)
    hz: HierarchicalConfig = section(HierarchicalConfig)
    fifo: FifoConfig = section(FifoConfig)
    shader: ShadingConfig = section(ShadingConfig)
    texture: TexturingConfig = section(TexturingConfig)
    depth: DepthConfig = section(DepthConfig)
    color: ColorConfig = section(ColorConfig)
    display: DisplayConfig = section(DisplayConfig)

    @property
    def values(self) -> Mapping[str, Value]:
        """Every value by its dotted key."""
        return MappingProxyType({key: value for key, _, value, _ in leaves(self)})

    @property
    def sha256(self) -> str:
        """A hash of all values."""
        return hashlib.sha256(json.dumps(dict(self.values), sort_keys=True).encode()).hexdigest()

    def with_values(self, changes: Mapping[str, Value]) -> AttilaConfig:
        """Return a copy with other values, by dotted key; raises InputError where one is unknown or out of range."""
        groups: dict[str, dict[str, Value]] = {}
        known = self.values
        for key, value in changes.items():
            if key not in known:
                close = nearest(key, known)
                raise InputError(f"unknown configuration key: {key}" + (f" (did you mean {close}?)" if close else ""))
            group, name = key.split(".")
            groups.setdefault(group, {})[name] = value
        changed = {group: replace(getattr(self, group), **values) for group, values in groups.items()}
        made = replace(self, **changed)
        check_values(made)
        return made


PAPER = AttilaConfig()
"""The unified machine of the paper's Tables 1 and 2; what they leave open is from the public code's early preset."""

CASE = PAPER.with_values(
    {
        "gpu.shaders": 1,
        "gpu.rops": 1,
        "gpu.vertex_ports": 1,
        "memory.channels": 2,
        "shader.threads": 368,
        "shader.registers": 1536,
        "shader.thread_rate": 12,
        "shader.fetch_delay": 12,
        "texture.units": 3,
        "texture.request_rate": 3,
        "texture.request_queue": 128,
    }
)
"""The machine of the paper's section 5: three shaders as one box with a window of 384 inputs, three texture units."""

PRESETS: Mapping[str, AttilaConfig] = MappingProxyType({"paper": PAPER, "case": CASE})
