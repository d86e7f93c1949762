"""The memory path of one GP, as a box: 200 MB/s each way on the thesis machine (3.8). The processor is not modelled."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.node.run.order.gni_items import LoadPart
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["GpBox", "GpSpec"]


@dataclass(frozen=True, slots=True)
class GpSpec:
    """How wide the path is. That it carries both ways at the same time is invented."""

    bytes_per_cycle: int


@dataclass(slots=True)
class GpState:
    """Parts of loads that wait, and bytes that went each way."""

    waiting: list[LoadPart] = field(default_factory=list)
    give_free: int = 0
    stored_bytes: int = 0
    given_bytes: int = 0


class GpBox(Box[GpSpec, GpState]):
    """Stores parcels and says so; gives parts of loads, one after the other."""

    inputs = ("store", "ask")
    outputs = ("stored", "give")

    def __init__(self, gp: int, spec: GpSpec) -> None:
        super().__init__(f"gp[{gp}]", spec, GpState())

    def next_event(self) -> Cycle | None:
        return Cycle(self.state.give_free) if self.state.waiting else None

    def tick(self, cycle: Cycle) -> None:
        state = self.state
        for parcel in self.wires["store"].take_all(cycle):
            state.stored_bytes += parcel.size
            self.wires["stored"].send(cycle, parcel)
        state.waiting += self.wires["ask"].take_all(cycle)
        if state.waiting and state.give_free <= cycle:
            part = state.waiting.pop(0)
            self.wires["give"].send_bulk(cycle, part, part.size)
            state.given_bytes += part.size
            state.give_free = cycle + -(-part.size // self.spec.bytes_per_cycle)
