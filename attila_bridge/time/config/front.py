"""Values of what comes before the rasterizer, of memory and of the display."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.config.param import param
from pixelflow.simd.units import Standing

__all__ = [
    "AssemblyConfig",
    "ClippingConfig",
    "CommandConfig",
    "DisplayConfig",
    "GpuConfig",
    "MemoryConfig",
    "StreamerConfig",
]

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
