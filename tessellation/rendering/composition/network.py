"""The image composition network of a picture, run: boxes for its nodes, wires between them, a clock.

The thesis says that regions are merged by depth and that a PE has 64 bytes for it (2.2.2, and the footnote to 3.6). It
gives no width, rate or latency, so those of the configuration (``composition.*``) are invented, and so is the way in
which nodes agree (`node_box.py`). Each EMC has its own wires to the same EMC of the next node, and all work in step:
the wires here are those of one. What the bytes say is merged where they are (`merging.py`); here they only take time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pixelflow.config import THESIS, CompositionConfig, NodeConfig
from pixelflow.simd.boxes import Clock, Netlist
from pixelflow.simd.errors import Fault, InputError
from tessellation.rendering.composition.node_box import GRANT_LATENCY, LinkSpec, LinkState, NodeBox
from tessellation.rendering.composition.roles import (
    Doing,
    FrameBufferNode,
    RasterizerNode,
    RasterizerNodeSpec,
    RecordWork,
    ShaderNode,
    ShaderNodeSpec,
    ShadingWork,
    WorkingState,
)
from tessellation.rendering.composition.transfers import RegionTransfer, Roles, transfers_of

__all__ = ["PIXEL_BYTES", "NetworkTime", "NodeTime", "check_room", "emc_bytes", "run_network"]

PIXEL_BYTES = 3
"""Bytes of a finished pixel: red, green, blue."""


@dataclass(frozen=True, slots=True)
class NodeTime:
    """What a node did while the network ran, in cycles; ``sent_bytes`` are those of all of its EMCs."""

    name: str
    busy: int
    spans: tuple[tuple[Doing, int, int], ...]
    """What it did or waited for, from its first work to its last: from which cycle up to which."""
    sending: int
    sent_bytes: int

    @property
    def waited(self) -> dict[str, int]:
        """Cycles by what it waited for."""
        found: Counter[str] = Counter()
        for doing, begin, end in self.spans:
            if doing.waits:
                found[doing.value] += end - begin
        return dict(found)


@dataclass(frozen=True, slots=True)
class NetworkTime:
    """When a picture is composed, in cycles from the beginning of its first region. Executed, at invented rates.

    ``cycles`` is when all bytes are in the frame buffer, ``came`` when each region's were; ``transfer_cycles`` is how
    long a region's records of one sample are on the wires between two nodes.
    """

    roles: Roles
    cycles: int
    came: tuple[int, ...]
    nodes: tuple[NodeTime, ...]
    """Rasterizers and shaders, in the order in which they stand."""
    transfers: int
    transfer_cycles: int
    record_bytes: int

    @property
    def waits(self) -> tuple[int, ...]:
        """Cycles in which each node waited, between its first work and its last."""
        return tuple(sum(node.waited.values()) for node in self.nodes)


def emc_bytes(config: NodeConfig, pixel_bytes: int) -> int:
    """Return the bytes of a region that one EMC has."""
    return config.lanes // config.array.emcs * pixel_bytes


def pixel_cycles(config: NodeConfig) -> int:
    """Return the cycles in which the pixels of a region leave its EMCs."""
    return -(-emc_bytes(config, PIXEL_BYTES) // config.composition.emc_bytes_per_cycle)


def check_room(config: NodeConfig, record_bytes: int) -> None:
    """Raise InputError where image composition memory has no room for as many records as it is to hold."""
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

    ``drawn[rasterizer]`` is what each executes, region by region and within a region sample by sample;
    ``shaded[shader]`` likewise for the regions that are its. ``network`` replaces that of the configuration. Raises
    InputError where nodes have not as many regions.
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
    boxes = [
        *_rasterizers(roles, drawn, transfers, network),
        *_shaders(roles, shaded, transfers, network, shared=shared),
    ]
    frame_buffer = FrameBufferNode(roles.names[-1], LinkSpec(*_link(roles.frame_buffer, transfers, network)))
    cycles = Clock(_netlist([*boxes, frame_buffer], network), shuffle_seed=shuffle_seed).run()
    came = tuple(frame_buffer.state.came)
    spent = [sum(each.drawing + each.copying for each in works) for works in drawn]
    spent += [sum(each.cycles for each in works) for works in shaded]
    times = [_time(box, busy, config) for box, busy in zip(boxes, spent, strict=True)]
    sending = -(-record // network.emc_bytes_per_cycle)
    return NetworkTime(roles, int(cycles), came, tuple(times), len(transfers), sending, record_bytes)


_Link = tuple[int, tuple[RegionTransfer, ...], tuple[RegionTransfer, ...], int, int]


def _link(place: int, transfers: Sequence[RegionTransfer], network: CompositionConfig) -> _Link:
    """Return the fields of a `LinkSpec`."""
    coming = tuple(each for each in transfers if each.first < place <= each.last)
    going = tuple(each for each in transfers if each.first <= place < each.last)
    return place, coming, going, network.node_cycles, network.emc_bytes_per_cycle


def _rasterizers(
    roles: Roles, drawn: Sequence[Sequence[RecordWork]], transfers: Sequence[RegionTransfer], network: CompositionConfig
) -> list[RasterizerNode]:
    held, overlap = network.regions_held, network.overlap
    return [
        RasterizerNode(
            roles.names[place],
            RasterizerNodeSpec(*_link(place, transfers, network), works=tuple(works), held=held, overlap=overlap),
        )
        for place, works in enumerate(drawn)
    ]


def _shaders(
    roles: Roles,
    shaded: Sequence[Sequence[ShadingWork]],
    transfers: Sequence[RegionTransfer],
    network: CompositionConfig,
    *,
    shared: bool,
) -> list[ShaderNode]:
    how = {"held": network.regions_held, "shared": shared}
    return [
        ShaderNode(roles.names[place], ShaderNodeSpec(*_link(place, transfers, network), works=tuple(works), **how))
        for place, works in enumerate(shaded, roles.rasterizers)
    ]


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


def _time(box: RasterizerNode | ShaderNode, busy: int, config: NodeConfig) -> NodeTime:
    state: WorkingState = box.state
    return NodeTime(box.name, busy, tuple(state.spans), state.busy_cycles, state.sent_bytes * config.array.emcs)
