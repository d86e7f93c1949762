"""The way from one module's EMCs to the GNI, as a box: TASICs that pass bytes on instead of storing them (2.2.1, 3.8).

Round by round the EMCs send their bytes, all side by side; the TASICs hold a few rounds (gni.port_buffers), one that
comes in and those that wait until the GNI takes them. The thesis names this path and its bandwidth and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.config import NodeConfig
from pixelflow.node.parts.texture.transfer import TransferCommand
from pixelflow.node.run.order.emc_ports_box import Collect
from pixelflow.node.run.order.gni_items import Grant, Parcel
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["GniPortBox", "GniPortSpec"]


@dataclass(frozen=True, slots=True)
class GniPortSpec:
    """Which module and node the box belongs to, how many nodes there are, and rounds that the TASICs hold."""

    module: int
    node: int
    nodes: int
    buffers: int

    @classmethod
    def of(cls, config: NodeConfig, module: int, *, node: int = 0, nodes: int = 1) -> GniPortSpec:
        return cls(module, node, nodes, config.gni.port_buffers)


@dataclass(slots=True)
class GniPortState:
    """How far the parcels of the command have come."""

    command: TransferCommand | None = None
    collected: int = 0
    """Parcels asked for from the EMCs."""
    held: int = 0
    """Parcels in the buffers, those that are coming in included."""
    coming: list[Parcel] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    delivered: int = 0
    sent_bytes: int = 0


class GniPortBox(Box[GniPortSpec, GniPortState]):
    """Collects parcels from the EMCs and hands them to the GNI when it grants that."""

    inputs = ("command", "collected", "grant", "delivered")
    outputs = ("collect", "request", "to_gni", "done")

    def __init__(self, spec: GniPortSpec) -> None:
        super().__init__(f"gni_port[{spec.module}]", spec, GniPortState())

    def next_event(self) -> Cycle | None:
        return Cycle(self.state.grants[0].at) if self.state.grants else None

    def tick(self, cycle: Cycle) -> None:
        state = self.state
        for command in self.wires["command"].take_all(cycle):
            state.command, state.collected, state.delivered = command, 0, 0
        for _ in self.wires["collected"].take_all(cycle):
            self.wires["request"].send(cycle, state.coming.pop(0))
        state.grants += self.wires["grant"].take_all(cycle)
        while state.grants and state.grants[0].at == cycle:
            parcel = state.grants.pop(0).parcel
            self.wires["to_gni"].send_bulk(cycle, parcel, parcel.size)
            state.sent_bytes += parcel.size
            state.held -= 1
        self._collect(cycle)
        for _ in self.wires["delivered"].take_all(cycle):
            state.delivered += 1
            if state.delivered == len(state.command.parcels):
                state.command = None
                self.wires["done"].send(cycle, "bytes delivered")

    def _collect(self, cycle: Cycle) -> None:
        """Ask the EMCs for the next round where there is room, one round at a time."""
        state, command = self.state, self.state.command
        if command is None or state.coming or state.held == self.spec.buffers:
            return
        if state.collected == len(command.parcels):
            return
        size, to = command.parcels[state.collected], command.destination
        node = (self.spec.node + to.node) % self.spec.nodes
        parcel = Parcel(self.spec.node, self.spec.module, state.collected, node, to.gp, size)
        self.wires["collect"].send(cycle, Collect(command.transfer.returned.size, size))
        state.coming.append(parcel)
        state.collected += 1
        state.held += 1
