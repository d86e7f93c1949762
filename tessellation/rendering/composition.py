"""Image composition: records of samples, their merging by depth, and pictures by nodes with roles (thesis 2.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.config import THESIS, ArrayConfig, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.attendance import Telling
from pixelflow.simd.configuration import leaves
from pixelflow.simd.drawing import Frame, Picture, State
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Column, Json, Table, Timeline, TimeSpan, counted, number, percent, share
from pixelflow.simd.workers import HERE, WorkerPool
from tessellation.rendering.instructions import (
    COPY_STAGE,
    REGION_HEIGHT,
    SENT_BYTES,
    Region,
    TriangleData,
    region_program,
    regions,
)
from tessellation.rendering.materials import ShadedFrame, load_textures, read_record, receive_program
from tessellation.rendering.network import (
    PIXEL_BYTES,
    Doing,
    NetworkTime,
    NodeTime,
    RecordWork,
    Roles,
    SampleWork,
    ShadingWork,
    check_room,
    run_network,
)
from tessellation.rendering.renderer import NodeRuns, RegionRun, collect, plain_triangles, render, require_region
from tessellation.rendering.shading import shade_region
from tessellation.rendering.shading_raster import record_program, sorted_layers

if TYPE_CHECKING:
    from pixelflow.simd.configuration import Effective

# Records: what rasterizers leave for each sample of a pixel, and what a shader has to do with it.


class FrameRecords(Protocol):
    """The records of a frame; where they are in image composition memory is ``place``, None for one node alone."""

    @property
    def size(self) -> int:
        """Bytes of a record that are sent, the depth first, highest byte first."""

    @property
    def samples(self) -> int:
        """Samples a pixel."""

    @property
    def triangles(self) -> int:
        """How many triangles rasterizers draw, from the first on."""

    @property
    def regions(self) -> Sequence[Region]:
        """The regions, and which triangles reach into each."""

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Load what a node needs before its first region, one that ``shades`` or one that draws; None for nothing."""

    def program(self, region: Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a sample of a region, and copies the records to ``place``."""

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return the records that a node has drawn: uint8[byte, lane]."""


class FinishedRecords:
    """Records of plain frames at one sample: depth, red, green, blue, which the rasterizer has finished."""

    size = SENT_BYTES
    samples = 1

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._triangles = plain_triangles(frame)
        self._data = TriangleData.of(self._triangles)

    @property
    def triangles(self) -> int:
        """How many triangles there are."""
        return len(self._triangles)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The regions, and which triangles reach into each."""
        return tuple(regions(self._triangles, self._frame.width, self._frame.height))

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Nothing is to be loaded."""
        return None

    def program(self, region: Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a region, and copies the records to ``place``."""
        return region_program(self._data, region, self._frame.background, place)

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return what is at ``place``: uint8[byte, lane]."""
        if place is None:
            raise ValueError("finished records are there to be sent")
        return node.read_memory(place, self.size)


class DeferredRecords:
    """Records of frames whose nearest samples are shaded when all is drawn (`tessellation.rendering.shading`)."""

    def __init__(self, frame: Frame, config: NodeConfig) -> None:
        self._shaded = ShadedFrame.of(frame, config)
        self.size = len(self._shaded.record.sent)
        self.samples = frame.samples
        self.regions = self._shaded.regions()
        self._cut = any(draw.cutout for draw in self._shaded.draws)

    @property
    def triangles(self) -> int:
        """How many triangles rasterizers draw: those that are opaque."""
        return self._shaded.opaque

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Load the textures: of a shader, and of a rasterizer that cuts out by them."""
        textures = self._shaded.textures
        return load_textures(node, textures) if textures.textures and (shades or self._cut) else None

    def program(self, region: Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a sample of a region, and copies the records to ``place``."""
        return record_program(self._shaded, region, sample, place)

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return the records: uint8[byte, lane]."""
        return read_record(node, self._shaded.record) if place is None else node.read_memory(place, self.size)

    def received(self, node: Node, place: int) -> Run:
        """Take records out of image composition memory."""
        return node.run(receive_program(self._shaded.record, place))

    def shaded(self, node: Node, region: Region, sample: int) -> tuple[Run, ...]:
        """Divide, read texels, multiply, lay sorted triangles over it, as far as the region has such triangles."""
        shading = shade_region(node, self._shaded, self._shaded.present(region.triangles.tolist()))
        layers = tuple(sorted_layers(node, self._shaded, region, sample))
        return layers if shading is None else (shading, *layers)

    @property
    def colours(self) -> tuple[int, int, int]:
        """Where red, green and blue are finished."""
        red, green, blue = (each.offset for each in self._shaded.record.finished)
        return red, green, blue


# Merging of records by depth: what the image composition network does with the bytes that it carries (thesis 2.2.2).
#
# A record begins with its depth, highest byte first, so that a node that compares two of them byte by byte knows the
# nearer one as soon as they differ. Of equal depths the record of the node that comes first in the row stays.


DEPTH_BYTES = 3


def merge(records: Sequence[np.ndarray]) -> np.ndarray:
    """Return the nearest record at each PE, of those of the nodes in their order: uint8[byte, lane] each."""
    found = records[0]
    for other in records[1:]:
        nearer = depths_of(other) < depths_of(found)
        found = np.where(nearer, other, found)
    return found


def depths_of(record: np.ndarray) -> np.ndarray:
    """Return the depths that records begin with: int64[lane]."""
    high, middle, low = record[:DEPTH_BYTES].astype(np.int64)
    return high << 16 | middle << 8 | low


def shares(triangles: int, nodes: int) -> list[range]:
    """Deal numbers of triangles to nodes in consecutive shares, so that the first of equal depths stays the first."""
    each = np.array_split(np.arange(triangles), nodes)
    ends = np.cumsum([len(part) for part in each]).tolist()
    return [range(end - len(part), end) for end, part in zip(ends, each, strict=True)]


# What a shader does with the samples of a region when they are shaded: their mean, and finished pixels that leave.
#
# The mean of four colours is (sum + 2) >> 2. Sums, of two bytes for each of red, green and blue, stay in main memory
# from
# sample to sample; finished pixels have the last bytes of image composition memory.


SAMPLE_STAGE = "samples added up"
FINISHING_STAGE = "finished pixels"
"""Names of stages in cycle reports."""

SUMS = 240
"""Where sums begin in main memory: six bytes. Layers (`shading_raster.py`) have the eight that follow."""

_CHANNELS = 3
_ROUNDING = 2
"""Half of four."""


def finished_place(array: ArrayConfig) -> int:
    """Return where finished pixels lie: red, green, blue."""
    return array.composition_start + array.composition_bytes - _CHANNELS


def _sums() -> list[tuple[Mem, Mem]]:
    return [(Mem(SUMS + 2 * channel), Mem(SUMS + 2 * channel + 1)) for channel in range(_CHANNELS)]


@cache
def sample_program(colours: Sequence[int], sample: int, samples: int) -> Program:
    """Return the program that adds a sample, whose colour bytes lie at ``colours``, to the sums of its pixels."""
    register = Register.R
    builder = Builder(f"sample {sample + 1} of {samples}")
    builder.mark(SAMPLE_STAGE)
    builder.emit("EMC_SetEnab")
    for place, (low, high) in zip(colours, _sums(), strict=True):
        builder.emit("LD", register, Mem(place))
        if samples == 1:
            builder.emit("ST", low, register)
            continue
        builder.emit("ADD", register, low if sample else Imm(_ROUNDING))
        builder.emit("ST", low, register)
        builder.emit("LD", register, high if sample else Imm(0))
        builder.emit("ADC", register, Imm(0))
        builder.emit("ST", high, register)
    return builder.build()


@cache
def finishing_program(place: int, samples: int) -> Program:
    """Return the program that puts the means of a region's samples to ``place``."""
    builder = Builder("finished pixels")
    builder.mark(FINISHING_STAGE)
    builder.emit("EMC_SetEnab")
    for channel, (low, high) in enumerate(_sums()):
        builder.emit("LD", Register.S, low)
        if samples > 1:
            builder.emit("LD", Register.R, high)
            builder.emit("SHRP")
            builder.emit("SHRP")
        builder.emit("ST", Mem(place + channel), Register.S)
    return builder.build()


# A picture drawn by nodes with roles: rasterizers, shaders, and the frame buffer that gets finished pixels.
#
# Each node is simulated by itself, region after region and sample after sample. What a rasterizer leaves in image
# composition memory is merged with what the others leave there, and is in the shader's when that begins. How long all
# that takes together, with waits, the network says (`network.py`), from what each node has executed.


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A picture, what each node executed for it, and where there is more than one what the network did."""

    picture: Picture
    roles: Roles
    nodes: tuple[NodeRuns, ...]
    """Rasterizers, then shaders."""
    time: NetworkTime | None
    loading: tuple[Run, ...]
    """Of textures, by each node that reads some: once for all pictures with them, and not among what they executed."""


def draw_on_nodes(
    frame: Frame,
    roles: Roles | None = None,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Telling | None = None,
    watch: Callable[[Node], None] | None = None,
    workers: WorkerPool = HERE,
) -> Composed:
    """Draw a frame; ``watch`` is called with each node before it runs. Raises InputError for what nodes do not draw.

    ``workers`` simulate the regions of a plain frame by one node, as in `render`; all others are drawn here.
    """
    roles = Roles() if roles is None else roles
    require_region(config)
    if roles.alone and frame.plain:
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        drawn = render(
            triangles, *size, background=frame.background, config=config, engine=engine, progress=progress,
            watch=watch, workers=workers,
        )  # fmt: skip
        return Composed(drawn.picture, roles, (drawn,), None, ())
    if frame.plain and not roles.shaders:
        records: FrameRecords = FinishedRecords(frame)
    else:
        records = DeferredRecords(frame, config)
        require_shaders(roles, (draw.state for draw in frame.draws), frame.samples)
    if not roles.alone:
        check_room(config, records.size)
    return _Drawing(frame, roles, records, config, engine, watch).composed(progress)


def require_shaders(roles: Roles, states: Iterable[State], samples: int) -> None:
    """Raise InputError for several nodes without a shader where draws in these states need one."""
    if roles.alone or roles.shaders:
        return
    if samples > 1 or not all(state.plain for state in states):
        what = f"{samples} samples a pixel" if samples > 1 else "textures or glass"
        text = f"{roles.rasterizers} nodes draw {what}, and none of them shades"
        raise InputError(Fault(text, hint="give --shaders 1 or more"))


class _Drawing:
    """The nodes of a picture, at work."""

    def __init__(
        self,
        frame: Frame,
        roles: Roles,
        records: FrameRecords,
        config: NodeConfig,
        engine: str,
        watch: Callable[[Node], None] | None,
    ) -> None:
        self.frame, self.roles, self.records, self.config = frame, roles, records, config
        self.deferred = records if isinstance(records, DeferredRecords) else None
        nodes = [Node(config, engine) for _ in range(roles.frame_buffer)]
        if watch is not None:
            for node in nodes:
                watch(node)
        self.rasterizers = nodes[: roles.rasterizers]
        self.shaders = nodes[roles.rasterizers :] or (nodes if roles.alone else [])
        self.runs: list[list[RegionRun]] = [[] for _ in nodes]
        self.drawn: list[list[RecordWork]] = [[] for _ in self.rasterizers]
        self.shaded: list[list[ShadingWork]] = [[] for _ in range(roles.shaders)]
        self.shares = shares(records.triangles, roles.rasterizers)

    def composed(self, progress: Telling | None) -> Composed:
        """Draw region after region."""
        frame, roles, records = self.frame, self.roles, self.records
        loaded = [records.loaded(node, shades=roles.alone) for node in self.rasterizers]
        loaded += [records.loaded(node, shades=True) for node in self.shaders if roles.shaders]
        picture = Picture.empty(frame.width, frame.height)
        for number, region in enumerate(records.regions):
            if progress is not None and region.left == 0:
                last = min(region.top + REGION_HEIGHT, frame.height) - 1
                progress(f"rows {region.top} to {last} of {frame.height}")
            pixels = self._region(number, region)
            collect(self.rasterizers[0], pixels, region, picture)
        names = ("node",) if roles.alone else roles.names
        nodes = tuple(NodeRuns(tuple(runs), name) for runs, name in zip(self.runs, names, strict=False))
        time = None
        if not roles.alone:
            time = run_network(
                self.drawn, self.shaded, record_bytes=records.size, samples=records.samples, config=self.config
            )
        return Composed(picture, roles, nodes, time, tuple(run for run in loaded if run is not None))

    def _region(self, number: int, region: Region) -> tuple[np.ndarray, np.ndarray]:
        """Return depths, int64[lane], and colours, uint8[lane, rgb], of a region."""
        records, shaders = self.records, self.roles.shaders
        samples: list[np.ndarray] = []
        works: list[SampleWork] = []
        which, turn = (self.roles.shader_of(number), number // shaders) if shaders else (0, number)
        for sample in range(records.samples):
            slot = self._slot(number * records.samples + sample)
            samples.append(merge([self._drawn(index, region, sample, slot) for index in range(self.roles.rasterizers)]))
            if self.deferred is not None:
                slot = self._slot(turn * records.samples + sample)
                works.append(self._shaded(self.deferred, which, region, samples[-1], sample, slot))
        depths = depths_of(samples[0])
        if self.deferred is None:
            return depths, samples[0][DEPTH_BYTES:].T
        node, place = self.shaders[which], finished_place(self.config.array)
        finished = self._ran(which, region, node.run(finishing_program(place, records.samples)), "finishing")
        if shaders:
            self.shaded[which].append(ShadingWork(tuple(works), finished))
        return depths, node.read_memory(place, PIXEL_BYTES).T

    def _slot(self, turn: int) -> int | None:
        """Return where a record is in image composition memory, which they fill in turn; None for a node alone."""
        if self.roles.alone:
            return None
        held = self.config.composition.regions_held
        return self.config.array.composition_start + turn % held * self.records.size

    def _drawn(self, index: int, region: Region, sample: int, slot: int | None) -> np.ndarray:
        """Let a rasterizer draw its share, and return its records as they are to leave: uint8[byte, lane]."""
        node, share = self.rasterizers[index], self.shares[index]
        numbers = region.triangles
        own = region.only((numbers >= share.start) & (numbers < share.stop))
        run = node.run(self.records.program(own, sample, slot))
        self.runs[index].append(RegionRun.of(region, len(own.triangles), run))
        copying = run.by_stage.get(COPY_STAGE, 0)
        self.drawn[index].append(RecordWork(run.cycles - copying, copying))
        return self.records.read(node, slot)

    def _shaded(
        self, records: DeferredRecords, which: int, region: Region, record: np.ndarray, sample: int, slot: int | None
    ) -> SampleWork:
        """Let a shader take a record, shade it and add it up; return its cycles."""
        node, receiving = self.shaders[which], 0
        if slot is not None:
            node.write_memory(slot, record)
            receiving = self._ran(which, region, records.received(node, slot), "receiving")
        runs = records.shaded(node, region, sample)
        added = node.run(sample_program(records.colours, sample, records.samples))
        return SampleWork(receiving, sum(self._ran(which, region, run, "shading") for run in (*runs, added)))

    def _ran(self, which: int, region: Region, run: Run, does: str) -> int:
        """Put a run to a shader's account; return its cycles."""
        number = which if self.roles.alone else self.roles.rasterizers + which
        self.runs[number].append(RegionRun.of(region, 0, run, does))
        return run.cycles


# What a report says of nodes with roles: each one's cycles and waits, the wires, and their rates.


NETWORK_KEYS = "composition."
"""How the keys of its values begin."""

_WAITS = (Doing.STARVED, Doing.FULL, Doing.SENDING, Doing.HELD)


def network_table(time: NetworkTime) -> Table:
    """Return where the time of each node went: it works, it waits, or it has not begun or is done."""
    columns = (
        Column("works", number, "works", bars=True), Column("share", str, fixed=True), Column("waits", number, "waits"),
        Column("idle", number, "idle"), Column("sends", number, "sends", unit="bytes"), Column("node", key="node"),
        Column("waits for", key="waits_for", optional=True),
    )  # fmt: skip
    rows = [
        (node.busy, share(node.busy, time.cycles), waited, time.cycles - node.busy - waited, node.sent_bytes, node.name,
         "; ".join(_reasons(node)))
        for node, waited in zip(time.nodes, time.waits, strict=True)
    ]  # fmt: skip
    title = f"cycles of the nodes, {time.cycles:,} until all pixels are in the frame buffer"
    return Table(columns, rows, title, "node_times")


def network_figure(time: NetworkTime) -> Timeline:
    """Return what each node did when."""
    lanes = [
        (node.name, [TimeSpan(doing.value, begin, end) for doing, begin, end in node.spans if not doing.waits])
        for node in time.nodes
    ]
    return Timeline("what nodes did; where there is nothing they waited, or had not begun or were done", lanes)


def _reasons(node: NodeTime) -> Iterator[str]:
    for doing in _WAITS:
        if cycles := node.waited.get(doing.value, 0):
            yield f"{doing.value.removeprefix('waits ').removeprefix('for ')} {cycles:,}"


def network_facts(time: NetworkTime, slowest: int, effective: Effective[NodeConfig]) -> list[tuple[str, str]]:
    """Return what the network took beside the slowest node's ``slowest`` cycles, and at which rates."""
    wires = max((node.sending for node in time.nodes), default=0)
    return [
        ("composition", f"{time.cycles - slowest:,} of them more than the slowest node has (executed, invented rates)"),
        ("", "in waits for records and for room, and on the wires"),
        ("", "; ".join(rates(effective))),
        ("", f"{time.transfer_cycles:,} cycles on the wires for {counted(time.record_bytes, 'byte')} of each pixel; "
             f"{counted(time.transfers, 'transfer')}"),
        ("", f"the wires that are busiest: {percent(wires / time.cycles)} of the time"),
    ]  # fmt: skip


def rates(effective: Effective[NodeConfig]) -> Iterator[str]:
    """Yield the values of the network, and who says so."""
    for key, about, value, _ in leaves(effective.config.composition, NETWORK_KEYS):
        origin = effective.set_by[key]
        whose = about.standing.value if origin.startswith("preset ") else f"set by {origin}"
        yield f"{key.removeprefix(NETWORK_KEYS)} {str(value).lower()}, {whose}"


def set_for_nothing(effective: Effective[NodeConfig]) -> list[str]:
    """Return which values of the image composition network somebody set for a node that sends nothing."""
    return [
        f"note: {key} (set by {origin}) made no difference: one node alone has nothing to compose"
        for key, origin in effective.set_by.items()
        if key.startswith(NETWORK_KEYS) and not origin.startswith("preset ")
    ]


def network_object(time: NetworkTime, effective: Effective[NodeConfig]) -> dict[str, Json]:
    """Return everything about it for JSON."""
    nodes: Sequence[Json] = [
        {"node": each.name, "works": each.busy, "waits": each.waited, "sending": each.sending, "bytes": each.sent_bytes}
        for each in time.nodes
    ]
    return {
        "standing": "executed; rates as listed",
        "rates": list(rates(effective)),
        "rasterizers": time.roles.rasterizers,
        "shaders": time.roles.shaders,
        "record_bytes": time.record_bytes,
        "transfers": time.transfers,
        "transfer_cycles": time.transfer_cycles,
        "frame_cycles": time.cycles,
        "regions_complete": list(time.came),
        "nodes": list(nodes),
        "waits": list(time.waits),
    }
