"""The image composition network (time): nodes with roles as boxes, the wires between them, and its transfers."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple, TypeVar

from pixelflow.config import THESIS, CompositionConfig, NodeConfig
from pixelflow.simd.boxes import Box, Clock, Netlist
from pixelflow.simd.errors import Fault, InputError, InternalError, UsageError
from pixelflow.simd.report import counted
from pixelflow.simd.units import Cycle
from tessellation.commands import MOST_NODES

# Transfers over the image composition network: which nodes each goes through, and the order in which all go.
#
# The nodes form a row: rasterizers, shaders, frame buffer. A record travels from the first rasterizer through all the
# others, merged by depth on its way, to the shader of its region, or to the frame buffer if there are no shaders.
# Finished pixels travel from a shader to the frame buffer. Regions are dealt to the shaders in turn.
#
# All nodes take part in the transfers in one order, so no two of them wait for each other. The finished pixels of a
# region follow the records of the next region of its shader, or precede them if they use the place of a record.


class Cargo(Enum):
    """Contents of a transfer: one sample of each pixel of a region, or its pixels."""

    RECORD = "records"
    PIXELS = "finished pixels"


@dataclass(frozen=True, slots=True)
class Roles:
    """Number of nodes that rasterize and that shade; the frame buffer follows. Raises InputError for no rasterizer."""

    rasterizers: int = 1
    shaders: int = 0

    def __post_init__(self) -> None:
        if self.rasterizers < 1 or self.shaders < 0:
            hint = "1 or more rasterizers, 0 or more shaders"
            raise InputError(Fault(f"{self.rasterizers} rasterizer and {self.shaders} shader nodes", hint=hint))

    @classmethod
    def told(cls, nodes: int, shaders: int) -> Roles:
        """Return the roles for a command's options; raises UsageError for more nodes than a machine has."""
        if nodes + shaders > MOST_NODES:
            asked = f"{counted(nodes, 'node')} and {counted(shaders, 'shader')}"
            text = f"{asked}, in addition to the frame buffer; a machine has {MOST_NODES} nodes"
            raise UsageError("--shaders", text)
        return cls(nodes, shaders)

    @property
    def alone(self) -> bool:
        """True if one node does everything and nothing crosses the network."""
        return self.rasterizers == 1 and not self.shaders

    @property
    def frame_buffer(self) -> int:
        """Position of the frame buffer in the row."""
        return self.rasterizers + self.shaders

    def shader_of(self, region: int) -> int:
        """Return the shader of a region, numbered from 0."""
        return region % self.shaders

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in row order."""
        drawing = tuple(f"rasterizer {number + 1}" for number in range(self.rasterizers))
        return (*drawing, *(f"shader {number + 1}" for number in range(self.shaders)), "frame buffer")


class RegionTransfer(NamedTuple):
    """Transfer of a region's records or finished pixels from node ``first`` to node ``last``."""

    number: int
    """Position in the common order."""
    kind: Cargo
    region: int
    sample: int
    first: int
    last: int
    size: int
    """Bytes per EMC."""

    def __str__(self) -> str:
        return f"{self.kind.value} of region {self.region + 1}, sample {self.sample + 1}"


def transfers_of(
    roles: Roles, regions: int, samples: int, record: int, pixels: int, *, shared: bool = False
) -> tuple[RegionTransfer, ...]:
    """Return all transfers of a picture in order; ``record`` and ``pixels`` are the bytes per EMC of each kind.

    ``shared``: finished pixels use the place of a record.
    """
    found: list[RegionTransfer] = []

    def finished(region: int) -> None:
        source = roles.rasterizers + roles.shader_of(region)
        found.append(RegionTransfer(len(found), Cargo.PIXELS, region, 0, source, roles.frame_buffer, pixels))

    for region in range(regions):
        taker = roles.rasterizers + (roles.shader_of(region) if roles.shaders else 0)
        before = region - roles.shaders if roles.shaders and region >= roles.shaders else None
        if shared and before is not None:
            finished(before)
        for sample in range(samples):
            found.append(RegionTransfer(len(found), Cargo.RECORD, region, sample, 0, taker, record))
        if not shared and before is not None:
            finished(before)
    for region in range(max(0, regions - roles.shaders), regions):
        finished(region)
    return tuple(found)


# A node on the image composition network, as a box: grants go up the row, bytes come down it.
#
# A node has wires from the previous node and to the next one, and a wire back over which it grants transfers. It grants
# one when the next node has granted it, its own part is in image composition memory, and its wires will be free when
# the first byte arrives. The destination grants when it has room. Hence bytes never stop on their way: a node passes on
# what arrives, merged with its own, and stores none of it.


GRANT_LATENCY = 1
"""Cycles of a grant from a node to the previous one (invented)."""


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """Position of a node and its transfers: ``coming`` over the wires to it, ``going`` over those from it."""

    place: int
    coming: tuple[RegionTransfer, ...]
    going: tuple[RegionTransfer, ...]
    latency: int
    """Cycles of a byte from its departure at a node to its departure at the next."""
    width: int
    """Bytes per cycle of an EMC."""


@dataclass(slots=True)
class LinkState:
    """Progress of a node through its transfers."""

    granted: int = 0
    """Incoming transfers granted."""
    promised: int = 0
    """Those of them that end here."""
    begun: int = 0
    """Outgoing transfers begun."""
    gone: int = 0
    """Outgoing transfers completed."""
    grants: set[int] = field(default_factory=set)
    """Numbers that the next node has granted."""
    free_at: int = 0
    """First cycle in which the wires to the next node are free."""
    passed_on: bool = False
    """True if the last outgoing transfer came from the previous node."""
    sent: int = 0
    """Transfers of this node begun."""
    sent_bytes: int = 0
    busy_cycles: int = 0
    event: int | None = 0

    @property
    def left(self) -> int:
        """Transfers of this node completed."""
        return self.sent - (self.gone < self.begun and not self.passed_on)


Spec = TypeVar("Spec", bound=LinkSpec, covariant=True)
State = TypeVar("State", bound=LinkState, covariant=True)


class NodeBox(Box[Spec, State]):
    """The link shared by all roles; a subclass adds what the node holds and its work."""

    def __init__(self, name: str, spec: Spec, state: State) -> None:
        super().__init__(name, spec, state)
        self.inputs = (*(("begin_in", "data_in") if spec.coming else ()), *(("grant_in",) if spec.going else ()))
        self.outputs = (*(("begin_out", "data_out") if spec.going else ()), *(("grant_out",) if spec.coming else ()))

    @abstractmethod
    def holds(self, transfer: RegionTransfer) -> bool:
        """Return whether the node's own part of an outgoing transfer is ready."""

    @abstractmethod
    def has_room(self) -> bool:
        """Return whether the node may grant one more transfer that ends here."""

    @abstractmethod
    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        """Record that all bytes of a transfer to this node have arrived."""

    @abstractmethod
    def work(self, cycle: Cycle) -> None:
        """Continue the work of the role as far as this cycle allows."""

    @abstractmethod
    def work_until(self) -> int | None:
        """Return the cycle in which the current work ends, or None while waiting."""

    def next_event(self) -> Cycle | None:
        return None if self.state.event is None else Cycle(self.state.event)

    def why_blocked(self) -> str | None:
        state, spec = self.state, self.spec
        if state.begun < len(spec.going):
            return f"has not sent {spec.going[state.begun]}"
        if state.granted < len(spec.coming):
            return f"has not granted {spec.coming[state.granted]}"
        return None

    def tick(self, cycle: Cycle) -> None:
        state, spec = self.state, self.spec
        if state.gone < state.begun and cycle >= state.free_at:
            state.gone = state.begun
        begins: list[RegionTransfer] = []
        if spec.going:
            state.grants.update(self.wires["grant_in"].take_all(cycle))
        if spec.coming:
            begins = self.wires["begin_in"].take_all(cycle)
            for transfer in self.wires["data_in"].take_all(cycle):
                if transfer.last == spec.place:
                    self.took(transfer, cycle)
        self.work(cycle)
        for transfer in begins:
            if transfer.last != spec.place:
                self._pass_on(transfer, cycle)
        self._send_own(cycle)
        again = self._grant(cycle)
        later = [self.work_until(), again, state.free_at if state.gone < state.begun else None]
        state.event = min((each for each in later if each is not None), default=None)

    def _pass_on(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        expected = self.spec.going[self.state.begun]
        if transfer is not expected or not self.holds(transfer):
            raise InternalError(f"cycle {cycle}, {self.name}: {transfer} comes, and it was not ready for that")
        self._begin(transfer, cycle, passed_on=True)

    def _send_own(self, cycle: Cycle) -> None:
        """Begin the next transfer if it starts here, is granted and ready, and the wires are free."""
        state, going = self.state, self.spec.going
        if state.begun == len(going) or cycle < state.free_at:
            return
        transfer = going[state.begun]
        if transfer.first == self.spec.place and transfer.number in state.grants and self.holds(transfer):
            self._begin(transfer, cycle, passed_on=False)

    def _begin(self, transfer: RegionTransfer, cycle: Cycle, *, passed_on: bool) -> None:
        state, size = self.state, transfer.size
        self.wires["begin_out"].send(cycle, transfer)
        self.wires["data_out"].send_bulk(cycle, transfer, size)
        cycles = -(-size // self.spec.width)
        state.begun += 1
        state.gone = state.begun - 1
        state.passed_on = passed_on
        state.sent += not passed_on
        state.free_at = cycle + cycles
        state.busy_cycles += cycles
        state.sent_bytes += size
        state.grants.discard(transfer.number)

    def _grant(self, cycle: Cycle) -> int | None:
        """Grant the next incoming transfer if possible; return the cycle in which to try again, or None."""
        state, coming = self.state, self.spec.coming
        if state.granted == len(coming):
            return None
        transfer = coming[state.granted]
        if transfer.last == self.spec.place:
            if not self.has_room():
                return None
            state.promised += 1
        else:
            following = self.spec.going[state.begun] if state.begun < len(self.spec.going) else None
            if following is not transfer or transfer.number not in state.grants or not self.holds(transfer):
                return None
            soonest = state.free_at - GRANT_LATENCY - self.spec.latency
            if not state.passed_on and cycle < soonest:
                return soonest
        self.wires["grant_out"].send(cycle, transfer.number)
        state.granted += 1
        return cycle + 1


# The boxes of the three roles: a rasterizer draws and copies, a shader receives and shades, the frame buffer stores.
# Durations are what nodes have executed; the boxes determine when each begins.


class RecordWork(NamedTuple):
    """Cycles of a rasterizer for one sample of a region: drawing, and the copy to be sent."""

    drawing: int
    copying: int


class SampleWork(NamedTuple):
    """Cycles of a shader for one sample of a region: until the record has left its place, and after that."""

    receiving: int
    shading: int


class ShadingWork(NamedTuple):
    """Cycles of a shader for a region: each sample, and the finished pixels."""

    samples: tuple[SampleWork, ...]
    finishing: int

    @property
    def cycles(self) -> int:
        return sum(each.receiving + each.shading for each in self.samples) + self.finishing


class Doing(Enum):
    """Activities of a node."""

    DRAWING = "draws"
    FULL = "waits for room in image composition memory"
    COPYING = "copies"
    SENDING = "waits until what it copied has gone"
    STARVED = "waits for records"
    RECEIVING = "takes a record"
    SHADING = "shades"
    HELD = "waits until its pixels have gone"
    FINISHING = "finishes pixels"
    DONE = "has nothing more to do"

    @property
    def waits(self) -> bool:
        """True if the node is idle meanwhile."""
        return self not in _BUSY


_BUSY = (Doing.DRAWING, Doing.COPYING, Doing.RECEIVING, Doing.SHADING, Doing.FINISHING)


@dataclass(slots=True)
class WorkingState(LinkState):
    """Current activity of a node, its first cycle and, unless it waits, its end; and all earlier ones."""

    doing: Doing = Doing.DONE
    until: int = 0
    since: int = 0
    spans: list[tuple[Doing, int, int]] = field(default_factory=list)
    """Activity, first cycle, and the cycle after the last."""


Working = TypeVar("Working", bound=WorkingState, covariant=True)


class WorkingNode(NodeBox[Spec, Working]):
    """A node that does one thing after another and waits in between."""

    def work_until(self) -> int | None:
        return self.state.until if self.state.doing in _BUSY else None

    def work(self, cycle: Cycle) -> None:
        state = self.state
        while state.doing not in _BUSY or cycle >= state.until:
            following = self.following(cycle)
            if following is None:
                return
            if cycle > state.since:
                state.spans.append((state.doing, state.since, cycle))
            state.doing, cycles = following
            state.since, state.until = cycle, cycle + cycles

    @abstractmethod
    def following(self, cycle: Cycle) -> tuple[Doing, int] | None:
        """Return the next activity and its cycles, or None to continue waiting."""


@dataclass(frozen=True, slots=True)
class RasterizerNodeSpec(LinkSpec):
    """Work of a rasterizer, the records it can hold, and whether it draws while one is sent."""

    works: tuple[RecordWork, ...]
    held: int
    overlap: bool


@dataclass(slots=True)
class RasterizerNodeState(WorkingState):
    """Number of records copied."""

    copied: int = 0


class RasterizerNode(WorkingNode[RasterizerNodeSpec, RasterizerNodeState]):
    """Draws record after record and copies each to image composition memory when there is room."""

    def __init__(self, name: str, spec: RasterizerNodeSpec) -> None:
        super().__init__(name, spec, RasterizerNodeState(doing=Doing.SENDING if spec.works else Doing.DONE))

    def holds(self, transfer: RegionTransfer) -> bool:
        return self.state.copied > self.state.begun

    def has_room(self) -> bool:
        return False

    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        """Nothing ends here."""

    def following(self, cycle: Cycle) -> tuple[Doing, int] | None:
        state, spec = self.state, self.spec
        match state.doing:
            case Doing.SENDING if spec.overlap or state.gone == state.copied:
                return Doing.DRAWING, spec.works[state.copied].drawing
            case Doing.DRAWING:
                return Doing.FULL, 0
            case Doing.FULL if state.copied - state.gone < spec.held:
                return Doing.COPYING, spec.works[state.copied].copying
            case Doing.COPYING:
                state.copied += 1
                return (Doing.SENDING if state.copied < len(spec.works) else Doing.DONE), 0
        return None


@dataclass(frozen=True, slots=True)
class ShaderNodeSpec(LinkSpec):
    """Work of a shader and the records it can hold; ``shared`` if finished pixels use their place."""

    works: tuple[ShadingWork, ...]
    held: int
    shared: bool


@dataclass(slots=True)
class ShaderNodeState(WorkingState):
    """Progress of a shader; ``taken``, ``received`` and ``shaded`` count records, ``finished`` regions."""

    taken: int = 0
    received: int = 0
    shaded: int = 0
    finished: int = 0


class ShaderNode(WorkingNode[ShaderNodeSpec, ShaderNodeState]):
    """Shades records as they arrive and sends the pixels of a region after its last record.

    A record keeps its place in image composition memory until it is received into main memory. The finished pixels of
    one region have a separate place there, or use that of a record if there is no room.
    """

    def __init__(self, name: str, spec: ShaderNodeSpec) -> None:
        super().__init__(name, spec, ShaderNodeState(doing=Doing.STARVED if spec.works else Doing.DONE))
        self._samples = len(spec.works[0].samples) if spec.works else 1

    def holds(self, transfer: RegionTransfer) -> bool:
        return transfer.first != self.spec.place or self.state.sent < self.state.finished

    def has_room(self) -> bool:
        state, spec = self.state, self.spec
        if spec.shared and state.promised // self._samples > state.left:
            return False
        return state.promised - state.received < spec.held

    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        self.state.taken += 1

    def following(self, cycle: Cycle) -> tuple[Doing, int] | None:
        state, works = self.state, self.spec.works
        match state.doing:
            case Doing.STARVED if state.taken > state.shaded:
                return Doing.RECEIVING, self._work().receiving
            case Doing.RECEIVING:
                state.received += 1
                return Doing.SHADING, self._work().shading
            case Doing.SHADING:
                state.shaded += 1
                return (Doing.STARVED if state.shaded % self._samples else Doing.HELD), 0
            case Doing.HELD if state.left == state.finished:
                return Doing.FINISHING, works[state.finished].finishing
            case Doing.FINISHING:
                state.finished += 1
                return (Doing.STARVED if state.finished < len(works) else Doing.DONE), 0
        return None

    def _work(self) -> SampleWork:
        region, sample = divmod(self.state.shaded, self._samples)
        return self.spec.works[region].samples[sample]


@dataclass(slots=True)
class FrameBufferNodeState(LinkState):
    """Cycle in which each transfer was complete."""

    came: list[int] = field(default_factory=list)


class FrameBufferNode(NodeBox[LinkSpec, FrameBufferNodeState]):
    """Takes every region as it arrives; what becomes of the pixels is not modelled."""

    def __init__(self, name: str, spec: LinkSpec) -> None:
        super().__init__(name, spec, FrameBufferNodeState())

    def holds(self, transfer: RegionTransfer) -> bool:
        return False

    def has_room(self) -> bool:
        return True

    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        self.state.came.append(cycle)

    def work_until(self) -> int | None:
        return None

    def work(self, cycle: Cycle) -> None:
        """Does nothing."""


# The network of a picture, run: boxes for its nodes, wires between them, a clock.
#
# The thesis says that regions are merged by depth and that a PE has 64 bytes for it (2.2.2, and the footnote to 3.6).
# It gives no width, rate or latency, so those of the configuration (``composition.*``) are invented, as is the protocol
# of grants. Each EMC has its own wires to the same EMC of the next node, and all work in step: the wires here are those
# of one. Bytes are merged in `composition.py`; here they only take time.


PIXEL_BYTES = 3
"""Bytes of a finished pixel: red, green, blue."""


class NodeTime(NamedTuple):
    """Cycles of a node while the network ran; ``sent_bytes`` counts all of its EMCs."""

    name: str
    busy: int
    spans: tuple[tuple[Doing, int, int], ...]
    """From its first work to its last: activity, first cycle, and the cycle after the last."""
    sending: int
    sent_bytes: int

    @property
    def waited(self) -> dict[str, int]:
        """Cycles by reason for waiting."""
        found: Counter[str] = Counter()
        for doing, begin, end in self.spans:
            if doing.waits:
                found[doing.value] += end - begin
        return dict(found)


class NetworkTime(NamedTuple):
    """Times of composing a picture, in cycles from the beginning of its first region. Executed, at invented rates.

    ``cycles``: all bytes are in the frame buffer; ``came``: those of each region are; ``transfer_cycles``: time of a
    region's records of one sample on the wires between two nodes.
    """

    roles: Roles
    cycles: int
    came: tuple[int, ...]
    nodes: tuple[NodeTime, ...]
    """Rasterizers and shaders, in row order."""
    transfers: int
    transfer_cycles: int
    record_bytes: int

    @property
    def waits(self) -> tuple[int, ...]:
        """Cycles of waiting of each node between its first work and its last."""
        return tuple(sum(node.waited.values()) for node in self.nodes)


def emc_bytes(config: NodeConfig, pixel_bytes: int) -> int:
    """Return the bytes of a region in one EMC."""
    return config.lanes // config.array.emcs * pixel_bytes


def pixel_cycles(config: NodeConfig) -> int:
    """Return the cycles in which the pixels of a region leave its EMCs."""
    return -(-emc_bytes(config, PIXEL_BYTES) // config.composition.emc_bytes_per_cycle)


def check_room(config: NodeConfig, record_bytes: int) -> None:
    """Raise InputError if ``composition.regions_held`` records do not fit image composition memory."""
    held, room = config.composition.regions_held, config.array.composition_bytes
    if held * record_bytes > room:
        text = f"composition.regions_held: {held} records of {record_bytes} bytes do not fit image composition memory"
        raise InputError(Fault(text, hint=f"there is room for {room // record_bytes}"))


def run_network(
    drawn: Sequence[Sequence[RecordWork]],
    shaded: Sequence[Sequence[ShadingWork]] = (),
    *,
    record_bytes: int,
    samples: int = 1,
    config: NodeConfig = THESIS,
    network: CompositionConfig | None = None,
    shuffle_seed: int | None = None,
) -> NetworkTime:
    """Run the network of a picture.

    ``drawn[rasterizer]`` is the work of each, region by region and within a region sample by sample;
    ``shaded[shader]`` likewise for its own regions. ``network`` replaces that of the configuration. Raises InputError
    if the numbers of regions differ.
    """
    network = config.composition if network is None else network
    roles = Roles(len(drawn), len(shaded))
    counts = {len(works) for works in drawn}
    regions = counts.pop() // samples
    dealt = [len(range(shader, regions, roles.shaders)) for shader in range(roles.shaders)]
    if counts or [len(works) for works in shaded] != dealt:
        raise InputError(Fault("composition needs nodes that draw and shade the same regions"))
    record = emc_bytes(config, record_bytes)
    shared = network.regions_held * record_bytes + PIXEL_BYTES > config.array.composition_bytes
    transfers = transfers_of(roles, regions, samples, record, emc_bytes(config, PIXEL_BYTES), shared=shared)
    held, links = network.regions_held, [_link(place, transfers, network) for place in range(roles.frame_buffer + 1)]
    boxes: list[NodeBox[LinkSpec, WorkingState]] = []
    for works, link in zip(drawn, links, strict=False):
        raster = RasterizerNodeSpec(*link, works=tuple(works), held=held, overlap=network.overlap)
        boxes.append(RasterizerNode(roles.names[raster.place], raster))
    for shading, link in zip(shaded, links[roles.rasterizers :], strict=False):
        shader = ShaderNodeSpec(*link, works=tuple(shading), held=held, shared=shared)
        boxes.append(ShaderNode(roles.names[shader.place], shader))
    frame_buffer = FrameBufferNode(roles.names[-1], LinkSpec(*links[-1]))
    cycles = Clock(_netlist([*boxes, frame_buffer], network), shuffle_seed=shuffle_seed).run()
    came = tuple(frame_buffer.state.came)
    spent = [sum(each.drawing + each.copying for each in node) for node in drawn]
    spent += [sum(each.cycles for each in node) for node in shaded]
    times = [_time(box, busy, config) for box, busy in zip(boxes, spent, strict=True)]
    sending = -(-record // network.emc_bytes_per_cycle)
    return NetworkTime(roles, int(cycles), came, tuple(times), len(transfers), sending, record_bytes)


_Link = tuple[int, tuple[RegionTransfer, ...], tuple[RegionTransfer, ...], int, int]


def _link(place: int, transfers: Sequence[RegionTransfer], network: CompositionConfig) -> _Link:
    """Return the fields of a `LinkSpec`."""
    coming = tuple(each for each in transfers if each.first < place <= each.last)
    going = tuple(each for each in transfers if each.first <= place < each.last)
    return place, coming, going, network.node_cycles, network.emc_bytes_per_cycle


def _netlist(boxes: Sequence[NodeBox[LinkSpec, LinkState]], network: CompositionConfig) -> Netlist:
    """Return the boxes in a row, each wired to the next."""
    net = Netlist("image composition network")
    for box in boxes:
        net.add(box)
    for number, (box, following) in enumerate(pairwise(boxes), 1):
        if box.spec.going:
            latency, width = network.node_cycles, network.emc_bytes_per_cycle
            net.connect(f"begin {number}", (box, "begin_out"), (following, "begin_in"), latency=latency)
            net.connect(
                f"data {number}", (box, "data_out"), (following, "data_in"),
                latency=latency, bandwidth=width, unit="bytes of an EMC",
            )  # fmt: skip
            net.connect(f"grant {number}", (following, "grant_out"), (box, "grant_in"), latency=GRANT_LATENCY)
    return net


def _time(box: NodeBox[LinkSpec, WorkingState], busy: int, config: NodeConfig) -> NodeTime:
    state = box.state
    return NodeTime(box.name, busy, tuple(state.spans), state.busy_cycles, state.sent_bytes * config.array.emcs)
