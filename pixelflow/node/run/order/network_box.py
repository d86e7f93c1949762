"""The geometry network between nodes, as a box: 800 MB/s that all nodes share (thesis 2.2.1, 3.8).

One parcel at a time goes over it, and is passed on when it has arrived as a whole. That it is one shared path, and its
latency, are invented; the thesis prints the bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.node.run.order.gni_items import Parcel
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["NetworkBox", "NetworkSpec"]


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """How many nodes the network joins, and how wide it is."""

    nodes: int
    bytes_per_cycle: int


@dataclass(slots=True)
class NetworkState:
    """Parcels that wait, when the network is free, and bytes that went over it."""

    waiting: list[Parcel] = field(default_factory=list)
    free_at: int = 0
    carried_bytes: int = 0
    busy_cycles: int = 0


class NetworkBox(Box[NetworkSpec, NetworkState]):
    """Carries parcels to the node that they are for, and word of their arrival back."""

    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__("geometry_network", spec, NetworkState())
        self.inputs = tuple(f"{port}{node}" for port in ("from", "ack_from") for node in range(spec.nodes))
        self.outputs = tuple(f"{port}{node}" for port in ("to", "ack_to") for node in range(spec.nodes))

    def next_event(self) -> Cycle | None:
        return Cycle(self.state.free_at) if self.state.waiting else None

    def tick(self, cycle: Cycle) -> None:
        state = self.state
        for node in range(self.spec.nodes):
            state.waiting += self.wires[f"from{node}"].take_all(cycle)
            for parcel in self.wires[f"ack_from{node}"].take_all(cycle):
                self.wires[f"ack_to{parcel.source}"].send(cycle, parcel)
        if state.waiting and state.free_at <= cycle:
            parcel = state.waiting.pop(0)
            self.wires[f"to{parcel.node}"].send_bulk(cycle, parcel, parcel.size)
            cycles = -(-parcel.size // self.spec.bytes_per_cycle)
            state.free_at = cycle + cycles
            state.carried_bytes += parcel.size
            state.busy_cycles += cycles
