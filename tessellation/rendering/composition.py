"""Image composition: records of samples, their merging by depth, and pictures by nodes with roles (thesis 2.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.config import THESIS, ArrayConfig, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.attendance import Telling
from pixelflow.simd.configuration import leaves
from pixelflow.simd.drawing import Frame, Picture, State
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Column, Json, Table, Timeline, TimeSpan, counted, number, percent, share
from tessellation.rendering import instructions, network
from tessellation.rendering.materials import ShadedFrame, load_textures, read_record, receive_program
from tessellation.rendering.renderer import NodeRuns, RegionRun, collect, plain_triangles, render, require_region
from tessellation.rendering.shading import shade_region
from tessellation.rendering.shading_raster import record_program, sorted_layers

if TYPE_CHECKING:
    from pixelflow.simd.configuration import Effective

# Records: what rasterizers leave for each sample of a pixel, and how shaders finish it.


class FinishedRecords:
    """Records of plain frames at one sample, finished by the rasterizer: depth (highest byte first), red, green, blue.

    ``triangles`` is the number of triangles that rasterizers draw, ``size`` the bytes of a record that are sent.
    """

    size = instructions.SENT_BYTES
    samples = 1

    def __init__(self, frame: Frame) -> None:
        self._background = frame.background
        drawn = plain_triangles(frame)
        self._data = instructions.TriangleData.of(drawn)
        self.triangles = len(drawn)
        self.regions = list(instructions.regions(drawn, frame.width, frame.height))

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Load what a node needs before its first region, one that ``shades`` or one that draws; here nothing."""
        return None

    def program(self, region: instructions.Region, sample: int, place: int | None) -> Program:
        """Return the program that draws a sample of a region and copies the records to ``place``, if any."""
        return instructions.region_program(self._data, region, self._background, place)

    def read(self, node: Node, place: int | None) -> np.ndarray:
        """Return the records drawn by a node: uint8[byte, lane]."""
        assert place is not None  # they are made to be sent
        return node.read_memory(place, self.size)


class DeferredRecords:
    """Records of frames whose nearest samples are shaded once all is drawn (`tessellation.rendering.shading`)."""

    def __init__(self, frame: Frame, config: NodeConfig) -> None:
        self._shaded = ShadedFrame.of(frame, config)
        self.size = len(self._shaded.record.sent)
        self.samples = frame.samples
        self.triangles = self._shaded.opaque
        self.regions = self._shaded.regions()
        self._cut = any(draw.cutout for draw in self._shaded.draws)

    def loaded(self, node: Node, *, shades: bool) -> Run | None:
        """Load the textures into a shader, or into a rasterizer that needs them for cutouts."""
        textures = self._shaded.textures
        return load_textures(node, textures) if textures.textures and (shades or self._cut) else None

    def program(self, region: instructions.Region, sample: int, place: int | None) -> Program:
        return record_program(self._shaded, region, sample, place)

    def read(self, node: Node, place: int | None) -> np.ndarray:
        return read_record(node, self._shaded.record) if place is None else node.read_memory(place, self.size)

    def received(self, node: Node, place: int) -> Run:
        """Copy records from image composition memory to main memory."""
        return node.run(receive_program(self._shaded.record, place))

    def shaded(self, node: Node, region: instructions.Region, sample: int) -> tuple[Run, ...]:
        """Divide, texture and blend sorted layers, as far as the region has such triangles."""
        shading = shade_region(node, self._shaded, self._shaded.present(region.triangles.tolist()))
        layers = tuple(sorted_layers(node, self._shaded, region, sample))
        return layers if shading is None else (shading, *layers)

    @property
    def colours(self) -> tuple[int, int, int]:
        """Where red, green and blue are finished."""
        red, green, blue = (each.offset for each in self._shaded.record.finished)
        return red, green, blue


# Merging of records by depth, as the image composition network does it (thesis 2.2.2).
#
# A record begins with its depth, highest byte first, so a node that compares two of them byte by byte knows the nearer
# one as soon as they differ. Of equal depths the record of the first node in the row stays.


DEPTH_BYTES = 3


def merge(records: Sequence[np.ndarray]) -> np.ndarray:
    """Return the nearest record at each PE, given those of the nodes in row order: uint8[byte, lane] each."""
    nearest = records[0]
    for other in records[1:]:
        nearest = np.where(depths_of(other) < depths_of(nearest), other, nearest)
    return nearest


def depths_of(record: np.ndarray) -> np.ndarray:
    """Return the depths at the beginning of records: int64[lane]."""
    high, middle, low = record[:DEPTH_BYTES].astype(np.int64)
    return high << 16 | middle << 8 | low


def shares(triangles: int, nodes: int) -> list[range]:
    """Deal triangle numbers to nodes in consecutive shares, so that of equal depths the first drawn stays first."""
    each = np.array_split(np.arange(triangles), nodes)
    ends = np.cumsum([len(part) for part in each]).tolist()
    return [range(end - len(part), end) for end, part in zip(ends, each, strict=True)]


# The mean of shaded samples, (sum + 2) >> 2. Sums of two bytes for each of red, green and blue stay in main memory from
# sample to sample; finished pixels occupy the last bytes of image composition memory.


SAMPLE_STAGE = "samples added up"
FINISHING_STAGE = "finished pixels"
"""Names of stages in cycle reports."""

SUMS = 240
"""Address of the sums in main memory: six bytes. Layers (`shading_raster.py`) use the eight that follow."""

_CHANNELS = 3
_ROUNDING = 2
"""Half of four."""


def finished_place(array: ArrayConfig) -> int:
    """Return the address of finished pixels: red, green, blue."""
    return array.composition_start + array.composition_bytes - _CHANNELS


def _sums() -> list[tuple[Mem, Mem]]:
    return [(Mem(SUMS + 2 * channel), Mem(SUMS + 2 * channel + 1)) for channel in range(_CHANNELS)]


@cache
def sample_program(colours: Sequence[int], sample: int, samples: int) -> Program:
    """Return the program that adds a sample, whose colour bytes are at ``colours``, to the sums of its pixels."""
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
    """Return the program that stores the means of a region's samples at ``place``."""
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


# A picture drawn by nodes with roles: rasterizers, shaders, and the frame buffer that receives finished pixels.
#
# Each node is simulated by itself, region after region and sample after sample. Records of the rasterizers are merged
# and placed in the shader's image composition memory before it begins. The network (`network.py`) computes the time of
# the whole, waits included, from what each node has executed.


class Composed(NamedTuple):
    """A picture and the runs of each node; ``time`` is that of the network, if there are several nodes."""

    picture: Picture
    roles: network.Roles
    nodes: tuple[NodeRuns, ...]
    """Rasterizers, then shaders."""
    time: network.NetworkTime | None
    loading: tuple[Run, ...]
    """Loads of textures, one for each node that reads any: once for all pictures, not part of ``nodes``."""


def draw_on_nodes(
    frame: Frame,
    roles: network.Roles | None = None,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Telling | None = None,
    watch: Callable[[Node], None] | None = None,
) -> Composed:
    """Draw a frame; ``watch`` is called with each node before it runs. Raises InputError for what nodes do not draw."""
    roles = network.Roles() if roles is None else roles
    require_region(config)
    if roles.alone and frame.plain:
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        drawn = render(
            triangles, *size, background=frame.background, config=config, engine=engine, progress=progress, watch=watch
        )
        return Composed(drawn.picture, roles, (drawn,), None, ())
    if frame.plain and not roles.shaders:
        records: FinishedRecords | DeferredRecords = FinishedRecords(frame)
    else:
        records = DeferredRecords(frame, config)
        require_shaders(roles, (draw.state for draw in frame.draws), frame.samples)
    if not roles.alone:
        network.check_room(config, records.size)
    return _Drawing(frame, roles, records, config, engine, watch).composed(progress)


def require_shaders(roles: network.Roles, states: Iterable[State], samples: int) -> None:
    """Raise InputError for several nodes without a shader if draws in these states need one."""
    if roles.alone or roles.shaders:
        return
    if samples > 1 or not all(state.plain for state in states):
        what = f"{samples} samples a pixel" if samples > 1 else "textures or glass"
        text = f"{roles.rasterizers} nodes draw {what}, and none of them shades"
        raise InputError(Fault(text, hint="give --shaders 1 or more"))


class _Drawing:
    """The nodes of a picture at work."""

    def __init__(
        self,
        frame: Frame,
        roles: network.Roles,
        records: FinishedRecords | DeferredRecords,
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
        self.drawn: list[list[network.RecordWork]] = [[] for _ in self.rasterizers]
        self.shaded: list[list[network.ShadingWork]] = [[] for _ in range(roles.shaders)]
        self.shares = shares(records.triangles, roles.rasterizers)

    def composed(self, progress: Telling | None) -> Composed:
        """Draw region after region."""
        frame, roles, records = self.frame, self.roles, self.records
        loaded = [records.loaded(node, shades=roles.alone) for node in self.rasterizers]
        loaded += [records.loaded(node, shades=True) for node in self.shaders if roles.shaders]
        picture = Picture.empty(frame.width, frame.height)
        for number, region in enumerate(records.regions):
            if progress is not None:
                progress(f"region {number + 1} of {len(records.regions)}", share=number / len(records.regions))
            pixels = self._region(number, region)
            collect(self.rasterizers[0], pixels, region, picture)
        names = ("node",) if roles.alone else roles.names
        nodes = tuple(NodeRuns(tuple(runs), name) for runs, name in zip(self.runs, names, strict=False))
        time = None
        if not roles.alone:
            time = network.run_network(
                self.drawn, self.shaded, record_bytes=records.size, samples=records.samples, config=self.config
            )
        return Composed(picture, roles, nodes, time, tuple(run for run in loaded if run is not None))

    def _region(self, number: int, region: instructions.Region) -> tuple[np.ndarray, np.ndarray]:
        """Return depths, int64[lane], and colours, uint8[lane, rgb], of a region."""
        records, shaders = self.records, self.roles.shaders
        samples: list[np.ndarray] = []
        works: list[network.SampleWork] = []
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
            self.shaded[which].append(network.ShadingWork(tuple(works), finished))
        return depths, node.read_memory(place, network.PIXEL_BYTES).T

    def _slot(self, turn: int) -> int | None:
        """Return the address of a record in image composition memory, used in rotation; None for a node alone."""
        if self.roles.alone:
            return None
        held = self.config.composition.regions_held
        return self.config.array.composition_start + turn % held * self.records.size

    def _drawn(self, index: int, region: instructions.Region, sample: int, slot: int | None) -> np.ndarray:
        """Draw the share of a rasterizer and return its records as sent: uint8[byte, lane]."""
        node, share = self.rasterizers[index], self.shares[index]
        numbers = region.triangles
        own = region.only((numbers >= share.start) & (numbers < share.stop))
        run = node.run(program := self.records.program(own, sample, slot))
        program.forget()
        self.runs[index].append(RegionRun.of(region, len(own.triangles), run))
        copying = run.by_stage.get(instructions.COPY_STAGE, 0)
        self.drawn[index].append(network.RecordWork(run.cycles - copying, copying))
        return self.records.read(node, slot)

    def _shaded(
        self,
        records: DeferredRecords,
        which: int,
        region: instructions.Region,
        record: np.ndarray,
        sample: int,
        slot: int | None,
    ) -> network.SampleWork:
        """Receive, shade and accumulate a record on a shader; return its cycles."""
        node, receiving = self.shaders[which], 0
        if slot is not None:
            node.write_memory(slot, record)
            receiving = self._ran(which, region, records.received(node, slot), "receiving")
        runs = records.shaded(node, region, sample)
        added = node.run(sample_program(records.colours, sample, records.samples))
        return network.SampleWork(receiving, sum(self._ran(which, region, run, "shading") for run in (*runs, added)))

    def _ran(self, which: int, region: instructions.Region, run: Run, does: str) -> int:
        """Add a run to a shader's account; return its cycles."""
        number = which if self.roles.alone else self.roles.rasterizers + which
        self.runs[number].append(RegionRun.of(region, 0, run, does))
        return run.cycles


# Report of nodes with roles: cycles and waits of each, the wires, and their rates.


NETWORK_KEYS = "composition."
"""Prefix of the keys of the network's values."""

_WAITS = (network.Doing.STARVED, network.Doing.FULL, network.Doing.SENDING, network.Doing.HELD)


def network_table(time: network.NetworkTime) -> Table:
    """Return the time of each node: it works, it waits, or it is idle before its first and after its last work."""
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


def network_figure(time: network.NetworkTime) -> Timeline:
    """Return a timeline of the nodes, waits left out."""
    return Timeline(
        "what nodes did; where there is nothing they waited, or had not begun or were done", busy_spans(time)
    )


def busy_spans(time: network.NetworkTime) -> list[tuple[str, tuple[TimeSpan, ...]]]:
    """Return the activities of each node, waits left out."""
    return [
        (node.name, tuple(TimeSpan(doing.value, begin, end) for doing, begin, end in node.spans if not doing.waits))
        for node in time.nodes
    ]


def _reasons(node: network.NodeTime) -> Iterator[str]:
    for doing in _WAITS:
        if cycles := node.waited.get(doing.value, 0):
            yield f"{doing.value.removeprefix('waits ').removeprefix('for ')} {cycles:,}"


def network_facts(time: network.NetworkTime, slowest: int, effective: Effective[NodeConfig]) -> list[tuple[str, str]]:
    """Return the time of the network beyond the ``slowest`` cycles of the slowest node, and its rates."""
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
    """Yield the values of the network and their origin."""
    for key, about, value, _ in leaves(effective.config.composition, NETWORK_KEYS):
        origin = effective.set_by[key]
        whose = about.standing.value if origin.startswith("preset ") else f"set by {origin}"
        yield f"{key.removeprefix(NETWORK_KEYS)} {str(value).lower()}, {whose}"


def set_for_nothing(effective: Effective[NodeConfig]) -> list[str]:
    """Return a note for each value of the image composition network that was set for a node that sends nothing."""
    return [
        f"note: {key} (set by {origin}) made no difference: one node alone has nothing to compose"
        for key, origin in effective.set_by.items()
        if key.startswith(NETWORK_KEYS) and not origin.startswith("preset ")
    ]


def network_object(time: network.NetworkTime, effective: Effective[NodeConfig]) -> dict[str, Json]:
    """Return the account of the network for JSON."""
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
        "nodes": [
            {"node": each.name, "works": each.busy, "waits": each.waited, "sending": each.sending,
             "bytes": each.sent_bytes}
            for each in time.nodes
        ],
        "waits": list(time.waits),
    }  # fmt: skip
