"""What a report says of nodes with roles: each one's cycles and waits, the wires, and their rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pixelflow.config import leaves
from pixelflow.simd.report import Column, Json, Table, Timeline, TimeSpan, counted, number, percent, share
from tessellation.rendering.composition.network import NetworkTime, NodeTime
from tessellation.rendering.composition.roles import Doing

if TYPE_CHECKING:
    from pixelflow.config import Effective

__all__ = ["NETWORK_KEYS", "network_facts", "network_figure", "network_object", "network_table", "set_for_nothing"]

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
    return Table(columns, rows, f"cycles of the nodes, {time.cycles:,} until all pixels are in the frame buffer")


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


def network_facts(time: NetworkTime, slowest: int, effective: Effective) -> list[tuple[str, str]]:
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


def rates(effective: Effective) -> Iterator[str]:
    """Yield the values of the network, and who says so."""
    for key, about, value, _ in leaves(effective.config.composition, NETWORK_KEYS):
        origin = effective.set_by[key]
        whose = about.standing.value if origin.startswith("preset ") else f"set by {origin}"
        yield f"{key.removeprefix(NETWORK_KEYS)} {str(value).lower()}, {whose}"


def set_for_nothing(effective: Effective) -> list[str]:
    """Return which values of the image composition network somebody set for a node that sends nothing."""
    return [
        f"note: {key} (set by {origin}) made no difference: one node alone has nothing to compose"
        for key, origin in effective.set_by.items()
        if key.startswith(NETWORK_KEYS) and not origin.startswith("preset ")
    ]


def network_object(time: NetworkTime, effective: Effective) -> dict[str, Json]:
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
