"""Configuration: every value of the machine in one table, with the values of each preset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from pixelflow.simd.configuration import PresetValue, Value, check_values, leaves, param, section
from pixelflow.simd.errors import InputError, nearest
from pixelflow.simd.units import Standing

_PAPER = "Moya et al., ISPASS 2006: Tables 1 and 2, sections 2 and 5"
_CODE = "the early preset or a constant of the authors' public simulator"
_FITTED = "chosen so that measured whole frames come out"
_BANDWIDTH = "the recorded wire of results carries 8 threads a cycle, two groups of four"
_WHOLE = "pictures are whole; the authors' public simulator leaves out what is further up than its screen is wide"
_DESCENT = "16 tiles of each level of the descent, four scan tiles of each"
_WATCHED = "a run ends where nothing is carried for 100,000 cycles"
_CASE = "case"

Kind = TypeVar("Kind", int, bool)


def _row(
    default: Kind,
    unit: str,
    text: str,
    low: int | None = None,
    high: int | None = None,
    *,
    of: tuple[int, ...] | None = None,
    source: str,
    standing: Standing = Standing.DERIVED,
    because: str = "",
    case: PresetValue | None = None,
) -> Kind:
    """Return the field of a value: ``low`` to ``high``, one ``of`` a few, or fixed if neither is given."""
    only = of is None and low is None and not isinstance(default, bool)
    return param(
        default,
        text,
        unit=unit,
        source=source,
        standing=standing,
        low=low,
        high=high,
        allowed=(default,) if only else of,
        because="no other is built" if only else because,
        presets={} if case is None else {_CASE: case},
    )


_printed = partial(_row, source=_PAPER)
_coded = partial(_row, source=_CODE)
_fitted = partial(_row, source=_FITTED, standing=Standing.FITTED)


def _read(value: int, because: str = "") -> PresetValue:
    """Return a value of the case study that section 5 prints or implies."""
    source = "Moya et al., ISPASS 2006: section 5"
    return PresetValue(value, Standing.DERIVED, f"{source}; {because}" if because else source)


def _guess(value: int, because: str) -> PresetValue:
    """Return a value of the case study without a source."""
    return PresetValue(value, Standing.INVENTED, f"section 5 does not give it: {because}")


# fmt: off


@dataclass(frozen=True)
class GpuConfig:
    """Number of units."""

    shaders: int = _printed(2, "units", "shader units", of=(1, 2, 4),
        case=_read(1, "three shaders with one window are one box"))
    rops: int = _printed(2, "units", "depth and colour units, side by side", of=(1, 2), case=_read(1))
    vertex_ports: int = _printed(4, "ports", "ports by which vertices go to the shaders and come back", 1, 8,
        case=_guess(1, "one for the one box"))
    pipelined_draws: bool = _printed(True, "", "geometry of a draw overlaps the fragments of the one before")


@dataclass(frozen=True)
class CommandConfig:
    """The command processor's fixed times, in cycles of the run."""

    ready_cycles: int = _fitted(66, "cycles", "registers and commands of a frame before its first draw", 0, 10000)
    frame_cycles: int = _fitted(1, "cycles", "the end of a frame is noted, before the command of its swap", 1, 100)
    texture_cycles: int = _fitted(16, "cycles", "registers of each texture that is bound first", 0, 1000)
    further_cycles: int = _fitted(4, "cycles", "more of them for each texture after the first", 0, 1000)
    level_cycles: int = _fitted(2, "cycles", "registers of each level after a texture's first", 0, 1000)
    attribute_cycles: int = _fitted(5, "cycles", "registers of each attribute after the second", 0, 1000)
    index_cycles: int = _fitted(6, "cycles", "registers of an indexed draw", 0, 1000)
    test_cycles: int = _fitted(5, "cycles", "registers of depth and stencil of the first draw", 0, 1000)
    blend_cycles: int = _fitted(5, "cycles", "registers of blending of the first draw", 0, 1000)
    array_cycles: int = _fitted(2, "cycles", "registers of each attribute of a draw after the first", 0, 1000)
    padding: int = _coded(16, "instructions", "instructions that pad a program", 0, 64)
    instruction_bytes: int = _coded(16, "bytes", "bytes of an instruction")
    start_latency: int = _fitted(1, "cycles", "a command is on its way to a box", 1, 64)
    setup_latency: int = _fitted(3, "cycles", "it is on its way to set-up, which hears it from the rasterizer", 1, 64)
    end_latency: int = _fitted(2, "cycles", "the end of a box is on its way back", 1, 64)


@dataclass(frozen=True)
class MemoryConfig:
    """The memory controller, channels, and buses of the clients."""

    channels: int = _printed(4, "channels", "channels, each with its own modules", of=(1, 2, 4, 8),
        case=_read(2))
    bus_bits: int = _printed(64, "bits", "bits of a channel", of=(32, 64, 128))
    interleave: int = _printed(256, "bytes",
        "bytes after which the next channel follows", of=(64, 128, 256, 512, 1024, 2048, 4096))
    read_latency: int = _coded(10, "cycles", "from the start of a read to its data", 1, 256)
    write_latency: int = _coded(6, "cycles", "from the start of a write to its data", 1, 256)
    write_to_read: int = _coded(6, "cycles", "after a write's data a read waits", 0, 256)
    page_bytes: int = _coded(4096, "bytes", "bytes of a page of one channel", of=(1024, 2048, 4096, 8192))
    open_pages: int = _coded(1, "pages", "pages that a channel keeps open", of=(1, 2, 4, 8))
    page_open: int = _coded(20, "cycles", "after its last command a channel may open another page", 1, 256)
    max_reads: int = _coded(16, "transactions",
        "reads in a row after which a waiting write goes; one that comes in a longer run waits for its end", 1, 256)
    max_writes: int = _coded(16, "transactions", "writes in a row while a read waits", 1, 256)
    request_queue: int = _coded(64, "requests", "requests that the controller holds", 32, 1024)
    reserve: int = _coded(2, "requests",
        "requests, and buffers of writes, kept free for each client that may send them: one cycle's that is on its way"
        " and one that is sent before it hears", 1, 64)
    service_queue: int = _coded(32, "answers", "answers that wait for their bus, in one order for all", 1, 1024)
    read_buffers: int = _coded(32, "transactions", "reads whose data the controller holds", 1, 1024)
    write_buffers: int = _coded(32, "transactions", "writes whose data the controller holds", 11, 1024)
    command_bus: int = _printed(8, "bytes a cycle", "bus of the command processor", of=(8, 16, 32, 64))
    fetch_bus: int = _coded(64, "bytes a cycle", "bus of the fetch of indices", of=(8, 16, 32, 64))
    loader_bus: int = _coded(64, "bytes a cycle", "bus of the loader of vertices", of=(8, 16, 32, 64))
    depth_bus: int = _coded(64, "bytes a cycle", "bus of each depth unit", of=(8, 16, 32, 64))
    color_bus: int = _coded(64, "bytes a cycle", "bus of each colour unit", of=(8, 16, 32, 64))
    display_bus: int = _coded(64, "bytes a cycle", "bus of the display", of=(8, 16, 32, 64))
    texture_bus: int = _coded(64, "bytes a cycle", "bus of each texture unit", of=(8, 16, 32, 64))

    @property
    def transaction_cycles(self) -> int:
        """Cycles that 64 bytes hold a channel, which moves its bits twice a cycle."""
        return 8 * 64 // (2 * self.bus_bits)


@dataclass(frozen=True)
class StreamerConfig:
    """Fetch of indices, cache of shaded vertices, loader, commit."""

    indices: int = _printed(1, "indices", "indices a cycle")
    index_buffer: int = _coded(1024, "bytes", "bytes of indices read ahead", 64, 65536)
    output_queue: int = _coded(64, "vertices", "vertices between fetch and assembly", 1, 1024)
    output_memory: int = _printed(48, "vertices", "shaded vertices that are kept", 4, 1024)
    vertices: int = _printed(1, "vertices", "vertices a cycle to assembly")
    attributes_sent: int = _coded(4, "attributes", "attributes a cycle to assembly", 1, 16)
    request_queue: int = _coded(8, "vertices", "vertices that the loader reads ahead", 1, 256)
    attributes: int = _coded(4, "attributes", "attributes that the loader fetches, and reads, a cycle", 1, 16)
    cache_lines: int = _coded(32, "lines", "lines of the loader's cache, fully associative", 4, 256)
    cache_line: int = _coded(64, "bytes", "bytes of a line", of=(64, 128, 256))
    cache_port: int = _coded(16, "bytes", "bytes of a port", of=(4, 8, 16, 32))
    cache_requests: int = _coded(4, "lines", "lines that may be missing at a time", 1, 64)
    cache_inputs: int = _coded(4, "lines", "lines that may be on their way from memory", 1, 64)


@dataclass(frozen=True)
class AssemblyConfig:
    """Assembly of triangles."""

    queue: int = _printed(8, "vertices", "vertices that wait", 4, 256)
    bus_latency: int = _coded(10, "cycles", "a vertex is on its way, past its transmission", 1, 64)
    triangles: int = _printed(1, "triangles", "triangles a cycle")


@dataclass(frozen=True)
class ClippingConfig:
    """Rejection by the frustum."""

    units: int = _coded(1, "units", "units side by side")
    start: int = _coded(1, "cycles", "cycles after which the next triangle may begin", 1, 16)
    latency: int = _printed(6, "cycles", "a triangle takes", 1, 64)
    buffer: int = _printed(4, "triangles", "triangles in it and past it", 1, 64)


@dataclass(frozen=True)
class SetupConfig:
    """Triangle set-up."""

    units: int = _coded(1, "units", "units side by side")
    fifo: int = _printed(12, "triangles", "triangles in it and past it", 1, 256)
    latency: int = _printed(10, "cycles", "a triangle takes", 1, 64)
    start: int = _coded(4, "cycles", "cycles after which the next triangle may begin", 1, 64)
    input_latency: int = _coded(2, "cycles", "a triangle is on its way to set-up", 1, 16)
    output_latency: int = _coded(2, "cycles", "a triangle is on its way to traversal", 1, 16)


@dataclass(frozen=True)
class TraversingConfig:
    """Traversal of triangles, generation of quads."""

    scan_tile: int = _coded(16, "pixels", "pixels along the edge of a scan tile")
    generation_tile: int = _printed(8, "pixels", "pixels along the edge of a tile whose quads are generated together")
    batch: int = _coded(4, "triangles", "triangles traversed at once")
    testers: int = _coded(4, "tiles", "tiles that are split a cycle", 1, 64)
    recursive: bool = _printed(True, "",
        "tiles are split for a batch at once; else rows of scan tiles are walked, triangle by triangle")
    square: bool = _coded(False, "",
        "of a frame higher than wide, tiles further up than the screen is wide are left out, as recorded; rows of scan"
        " tiles have them all", source=_WHOLE)
    queue: int = _printed(16, "triangles", "triangles that wait", 4, 256)
    steps: int = _printed(2, "steps", "steps of 16 quads a cycle", 1, 8,
        case=PresetValue(1, Standing.DERIVED, "one for each ROP, as recorded statistics of traversal show"))
    scan_queue: int = _coded(64, "tiles", "scan tiles that wait to be opened", 1, 256, source=_DESCENT)

    @property
    def at_once(self) -> int:
        """Triangles that are traversed together."""
        return self.batch if self.recursive else 1


@dataclass(frozen=True)
class HierarchicalConfig:
    """Hierarchical Z."""

    enabled: bool = _printed(True, "", "quads are tested against maxima of blocks")
    block_quads: int = _printed(16, "quads", "quads of a block")
    blocks: int = _printed(262144, "blocks", "blocks that the buffer holds", 1024, 1048576)
    cache_lines: int = _coded(8, "lines", "lines of its cache", 1, 64)
    cache_line: int = _coded(16, "blocks", "blocks of a line", of=(4, 8, 16, 32))
    queue: int = _coded(128, "quads",
        "quads that wait; the printed 64 deadlock, as ready needs more than 64 free", 65, 1024)
    access_latency: int = _coded(5, "cycles", "a read or write of the buffer takes", 1, 64)
    update_latency: int = _coded(4, "cycles", "a maximum is on its way from a depth unit", 1, 64)
    cleared: int = _coded(256, "blocks", "blocks cleared a cycle", 1, 4096)


@dataclass(frozen=True)
class FifoConfig:
    """Queues of quads, crossbar to the shaders."""

    generated: int = _coded(128, "quads", "quads of each ROP that wait for the depth test", 64, 1024)
    tested: int = _coded(32, "quads", "quads of each ROP past it", 4, 1024)
    interpolated: int = _coded(16, "quads", "quads of each ROP that are interpolated", 2, 1024)
    shaded: int = _coded(128, "quads", "quads of each ROP given to the shaders and not sent on", 4, 2048)
    shader_inputs: int = _coded(16, "inputs", "inputs that wait at each shader", 4, 1024)
    shader_batch: int = _coded(256, "inputs",
        "inputs of a shader before vertices go to the next, as quads run out", 4, 4096)
    vertex_inputs: int = _coded(16, "vertices", "vertices that wait to be shaded", 8, 256)
    vertex_outputs: int = _coded(48, "vertices", "vertices given to the shaders and not sent on", 4, 1024)
    interpolators: int = _coded(4, "attributes", "attributes interpolated a cycle", 1, 16)
    interpolation_latency: int = _coded(4, "cycles", "an interpolation takes, before its attributes", 1, 16)
    vertex_wait: int = _coded(1000, "cycles",
        "an incomplete group of vertices waits for more", 1, 50000, because=_WATCHED)


@dataclass(frozen=True)
class ShadingConfig:
    """Shaders: threads, issue."""

    threads: int = _printed(112, "threads", "inputs that are executed at a time", 4, 4096, case=_read(368))
    buffers: int = _printed(16, "threads", "further inputs that wait", 0, 256)
    registers: int = _printed(448, "registers", "registers that the threads share", 16, 65536, case=_read(1536))
    group: int = _printed(4, "threads", "threads that go in step")
    thread_rate: int = _coded(4, "threads", "threads that get an instruction a cycle", of=(4, 8, 12, 16),
        case=_read(12, "three groups a cycle"))
    window: bool = _printed(True, "", "any ready group goes next; else groups go in batches, in order")
    fetch_delay: int = _coded(0, "cycles", "a group waits after each fetch", 0, 64,
        case=_guess(12, "groups in order stay in step by it"))
    inputs: int = _printed(4, "inputs", "inputs a cycle")
    outputs: int = _printed(4, "outputs", "outputs a cycle")
    output_delay: int = _coded(3, "cycles", "an output is on its way, past its transmission", 1, 64)
    output_latency: int = _coded(11, "cycles", "an output is on its way at most", 4, 64)
    results: int = _coded(2, "groups",
        "groups whose results are written in one cycle, for each that is issued in one", 1, 16, source=_BANDWIDTH)
    batch_wait: int = _coded(64, "cycles", "an open batch is closed after its last input", 1, 50000, because=_WATCHED)


@dataclass(frozen=True)
class TexturingConfig:
    """Texture units and their caches."""

    units: int = _coded(1, "units", "texture units of each shader", 1, 4, case=_read(3))
    request_rate: int = _coded(1, "requests", "requests a cycle from a shader", 1, 4,
        case=_guess(3, "one to each unit"))
    request_group: int = _coded(64, "requests", "requests after which the next unit gets its turn", 1, 1024)
    address_latency: int = _coded(6, "cycles", "addresses take, past their bilinear steps", 1, 64)
    filter_latency: int = _coded(4, "cycles", "filtering takes, past its bilinear steps", 1, 64)
    request_queue: int = _coded(4, "requests", "requests that wait, and tickets for more", 1, 1024,
        case=_guess(128, "enough for every request"))
    access_queue: int = _coded(64, "accesses", "accesses in the unit", 1, 1024)
    result_queue: int = _coded(4, "results", "results that wait", 1, 256)
    wait_window: int = _coded(32, "samples", "samples that wait for lines", 1, 256)
    line: int = _printed(256, "bytes", "bytes of a line of the cache", of=(64, 128, 256))
    ways: int = _printed(4, "lines", "ways of the cache", of=(1, 2, 4, 8, 16))
    lines: int = _printed(16, "lines", "lines of a way", of=(1, 2, 4, 8, 16, 32, 64, 128))
    port: int = _coded(4, "bytes", "bytes of each of 16 ports", of=(4, 8, 16))
    cache_requests: int = _coded(4, "lines", "lines that may be missing at a time", 1, 256)
    cache_inputs: int = _coded(4, "lines", "lines that may be on their way from memory", 1, 256)
    misses: int = _coded(1, "lines", "misses that begin in a cycle", 1, 16)
    decompression: int = _coded(4, "cycles", "a line is decompressed", 1, 64)


@dataclass(frozen=True)
class RopConfig:
    """Units that end a pixel, and their caches: both kinds are built alike."""

    quads: int = _printed(1, "quads", "quads a cycle")
    input_queue: int = _coded(8, "quads", "quads that wait", 4, 256)
    fetch_queue: int = _printed(64, "quads", "quads whose lines have been asked for", 1, 1024)
    read_queue: int = _coded(16, "quads", "quads whose words have been read", 1, 256)
    op_queue: int = _coded(4, "quads", "quads past the arithmetic", 2, 256)
    write_queue: int = _coded(8, "quads", "quads that are written", 1, 256)
    alu_rate: int = _coded(1, "cycles", "cycles after which the arithmetic takes the next quad", 1, 16)
    alu_latency: int = _printed(2, "cycles", "the arithmetic takes", 1, 16)
    ways: int = _printed(4, "lines", "ways of the cache", of=(1, 2, 4, 8, 16))
    lines: int = _printed(16, "lines", "lines of a way", of=(1, 2, 4, 8, 16, 32, 64))
    line_quads: int = _printed(16, "quads", "quads of a line")
    port: int = _coded(32, "bytes", "bytes of a port", of=(16, 32, 64, 128, 256))
    extra_read_port: bool = _coded(True, "", "a second port to read")
    extra_write_port: bool = _coded(True, "", "a second port to write")
    cache_requests: int = _coded(8, "lines", "lines that may be on their way between cache and memory", 1, 64)
    cache_inputs: int = _coded(8, "lines", "lines that are read from memory at a time", 1, 64)
    cache_outputs: int = _coded(8, "lines", "lines that are written to memory at a time", 1, 64)
    block_states: int = _coded(262144, "blocks", "blocks whose states are kept", 1024, 1048576)
    cleared: int = _coded(1024, "blocks", "blocks cleared a cycle", 1, 65536)
    compress: bool = _printed(True, "", "lines are compressed when they are written back")
    compression: int = _coded(8, "cycles", "a line is compressed", 1, 64)
    decompression: int = _coded(8, "cycles", "a line is decompressed", 1, 64)


class DepthConfig(RopConfig):
    """Depth units and their caches."""


class ColorConfig(RopConfig):
    """Colour units and their caches."""


@dataclass(frozen=True)
class DisplayConfig:
    """The display."""

    block: int = _coded(256, "bytes", "bytes of a block of its states")
    queue: int = _coded(32, "blocks", "blocks that are read ahead", 1, 256)
    decompression: int = _coded(1, "cycles", "a block is decompressed", 1, 64)
    updated: int = _coded(1024, "blocks", "blocks whose states are taken over a cycle", 1, 65536)
# fmt: on


@dataclass(frozen=True)
class AttilaConfig:
    """Values of the machine; the defaults are the unified machine of the paper's Tables 1 and 2."""

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
        copy = replace(self, **changed)
        check_values(copy)
        return copy


PAPER = AttilaConfig()
"""Unified machine of the paper's Tables 1 and 2, completed from the public code's early preset."""

CASE = PAPER.with_values(
    {key: about.presets[_CASE].value for key, about, *_ in leaves(PAPER) if _CASE in about.presets}
)
"""Machine of the paper's section 5: three shaders as one box with a window of 384 inputs, three texture units."""

PRESETS: Mapping[str, AttilaConfig] = MappingProxyType({"paper": PAPER, _CASE: CASE})
