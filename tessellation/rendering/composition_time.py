"""How long the merging of nodes takes: the image composition network as a pipeline. A formula; nothing is executed.

The thesis says that regions are merged by depth and that a PE has 64 bytes for it (2.2.2, and the footnote to 3.6); it
gives no width, rate or latency, so those of the configuration (``composition.*``) are invented, and the result is a
*formula* of executed drawing times.

The nodes stand in a row, and after the last one comes the frame buffer. An EMC has its own wires to the same EMC of the
next node. It sends the bytes of its pixels one after the other, depths with the highest byte first, so that each node
knows the nearer pixel as soon as bytes differ and need not keep any. Bytes leave a node some cycles after they have
come in. A node takes part in a region once it has drawn it and copied it to image composition memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.config import THESIS, CompositionConfig, NodeConfig
from pixelflow.simd.errors import Fault, InputError
from tessellation.rendering.instructions import SENT_BYTES

__all__ = ["CompositionTime", "RegionWork", "composition_time", "region_cycles"]


@dataclass(frozen=True, slots=True)
class RegionWork:
    """What one node executes for one region: cycles of drawing, and of the copy to image composition memory."""

    drawing: int
    copying: int


@dataclass(frozen=True, slots=True)
class CompositionTime:
    """When a frame is composed, in cycles from the beginning of its first region. A formula.

    ``region_cycles`` is how long one region is on a wire, ``latency_cycles`` how much later its last byte leaves the
    last node than the first. ``waits`` are the cycles in which each node can neither draw nor copy, up to its last
    copy.
    """

    region_cycles: int
    latency_cycles: int
    cycles: int
    waits: tuple[int, ...]
    starts: tuple[int, ...]
    """When the first node begins to send each region."""


def region_cycles(config: NodeConfig, network: CompositionConfig, pixel_bytes: int = SENT_BYTES) -> int:
    """Return how long the pixels of an EMC are on their wires."""
    each = config.lanes // config.array.emcs
    return -(-each * pixel_bytes // network.emc_bytes_per_cycle)


def composition_time(
    works: Sequence[Sequence[RegionWork]],
    config: NodeConfig = THESIS,
    network: CompositionConfig | None = None,
    pixel_bytes: int = SENT_BYTES,
) -> CompositionTime:
    """Return when the regions ``works[node][region]`` have been drawn, merged and handed to the frame buffer.

    A copy waits until there is room: with one region held, until the one before has left the node. Without overlap
    drawing waits for that. A region begins its way when the one before is off the first wire and when no node is late
    for its first byte. ``network`` replaces that of the configuration. Raises InputError where nodes have not as many
    regions.
    """
    network = config.composition if network is None else network
    if not works or len({len(regions) for regions in works}) != 1:
        raise InputError(Fault("composition needs nodes that draw the same regions"))
    sending = region_cycles(config, network, pixel_bytes)
    later = [node * network.node_cycles for node in range(len(works))]
    gone: list[list[int]] = [[0] * len(works)]
    ready = [0] * len(works)
    waits = [0] * len(works)
    starts: list[int] = []
    for region in zip(*works, strict=True):
        room = gone[max(0, len(gone) - network.regions_held)]
        for node, work in enumerate(region):
            begin = ready[node] if network.overlap else max(ready[node], gone[-1][node])
            copy = max(begin + work.drawing, room[node])
            waits[node] += copy - ready[node] - work.drawing
            ready[node] = copy + work.copying
        earliest = [done - distance for done, distance in zip(ready, later, strict=True)]
        starts.append(max(*earliest, starts[-1] + sending if starts else 0, 0))
        gone.append([starts[-1] + distance + sending for distance in later])
    return CompositionTime(sending, later[-1], max(gone[-1]), tuple(waits), tuple(starts))
