"""The local ports of the EMCs of one module, as a box: the pins that every byte into and out of a PE goes over."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.config import NodeConfig
from pixelflow.records import record
from pixelflow.sim import Box
from pixelflow.units import Cycle

__all__ = ["Collect", "EmcPortsBox", "EmcPortsSpec", "Fetch"]


@record
class EmcPortsSpec:
    """Sizes of the paths between one module's EMCs and its TASICs."""

    emcs: int
    port_bytes_per_cycle: int

    @classmethod
    def of(cls, config: NodeConfig) -> EmcPortsSpec:
        return cls(config.array.emcs_per_module, config.tasic.port_bytes_per_cycle)


@record
class Fetch:
    """A request for addresses and data of texture accesses: so many bytes from each EMC."""

    bytes_each: int


@record
class Collect:
    """A request for bytes that go to GP memory: so many from each EMC that has a PE left, and in all."""

    bytes_each: int
    total: int


@dataclass(slots=True)
class EmcPortsState:
    """When the pins are free, what still waits for them, and bytes that went through."""

    pins_free: int = 0
    waiting: list[tuple[int, str, object, int]] = field(default_factory=list)
    """(cycle, output, item, bytes), in order of time."""
    sent_bytes: int = 0
    collected_bytes: int = 0
    received_bytes: int = 0


class EmcPortsBox(Box[EmcPortsSpec, EmcPortsState]):
    """They send what they are asked for, one request after the other over the same pins, and take what comes."""

    inputs = ("fetch", "collect", "outbound")
    outputs = ("inbound", "collected")

    def __init__(self, module: int, spec: EmcPortsSpec) -> None:
        super().__init__(f"emcs[{module}]", spec, EmcPortsState())

    def next_event(self) -> Cycle | None:
        return Cycle(self.state.waiting[0][0]) if self.state.waiting else None

    def tick(self, cycle: Cycle) -> None:
        state = self.state
        for fetch in self.wires["fetch"].take_all(cycle):
            total = fetch.bytes_each * self.spec.emcs
            self._queue(cycle, "inbound", fetch, fetch.bytes_each, total)
            state.sent_bytes += total
        for collect in self.wires["collect"].take_all(cycle):
            self._queue(cycle, "collected", collect, collect.bytes_each, collect.total)
            state.collected_bytes += collect.total
        for command in self.wires["outbound"].take_all(cycle):
            state.received_bytes += command.outbound_bytes * self.spec.emcs
        while state.waiting and state.waiting[0][0] == cycle:
            _, port, item, total = state.waiting.pop(0)
            self.wires[port].send_bulk(cycle, item, total)

    def _queue(self, cycle: int, port: str, item: object, each: int, total: int) -> None:
        """Give a request its place on the pins: every EMC sends a byte a cycle, those without a PE nothing."""
        state, rate = self.state, self.spec.port_bytes_per_cycle
        end = max(cycle, state.pins_free) + -(-each // rate)
        state.pins_free = end
        # Where EMCs have nothing to send, the wire's width is not filled; what counts is when the last byte is there.
        state.waiting.append((end - -(-total // (rate * self.spec.emcs)), port, item, total))
