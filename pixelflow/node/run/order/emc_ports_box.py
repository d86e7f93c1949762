"""The local ports of the EMCs: the pins of one module as a box, and the times in which ports are in use."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node.parts.texture.transfer import Transfer
from pixelflow.node.run.streams.ports import PortUse, sharing
from pixelflow.simd.boxes import Box
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.units import Cycle

__all__ = ["Collect", "EmcPortsBox", "EmcPortsSpec", "Fetch", "PortTimes"]


@dataclass(frozen=True, slots=True)
class EmcPortsSpec:
    """Sizes of the paths between one module's EMCs and its TASICs."""

    emcs: int
    port_bytes_per_cycle: int

    @classmethod
    def of(cls, config: NodeConfig) -> EmcPortsSpec:
        return cls(config.array.emcs_per_module, config.tasic.port_bytes_per_cycle)


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request for addresses and data of texture accesses: so many bytes from each EMC."""

    bytes_each: int


@dataclass(frozen=True, slots=True)
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


@dataclass
class PortState:
    """Which transfer uses the ports, and when PEs last did."""

    transfer: Transfer | None = None
    since: int = 0
    until: int = -1
    touched_from: int = 0
    touched_until: int = -1
    touched_by: int = -1
    """The instruction that began in ``touched_from``; others may have followed it at once (`StraightCode.shared`)."""
    next_touch: int | None = None
    """When PEs will use a port again, where a transfer has begun between two instructions that do."""
    next_by: int = -1


class PortTimes:
    """Sees to it that transfers and PE instructions of a program do not use the local ports at the same time."""

    def __init__(self, program: Program, use: PortUse) -> None:
        self._program = program
        self.use = use
        self.state = PortState()

    def touch(self, index: int, cycle: int, end: int) -> None:
        """PE instructions use a port or set a mark from ``cycle`` on and before ``end``.

        Raises MachineFault where a transfer is using the ports.
        """
        state = self.state
        state.touched_from, state.touched_until, state.touched_by = cycle, end - 1, index
        if state.transfer is not None or cycle <= state.until:
            raise self._conflict(index, f"in use from cycle {state.since}", cycle)

    def begin(self, transfer: Transfer, cycle: int) -> None:
        """A transfer uses the ports from ``cycle`` on; raises MachineFault where a PE instruction does."""
        state, cycles = self.state, self._program.cycles
        state.transfer, state.since = transfer, cycle
        if cycle > state.touched_until:
            return
        index, begins = state.touched_by, state.touched_from
        while begins + cycles[index] <= cycle:
            begins, index = begins + cycles[index], index + 1
        if self._touches(index):
            raise self._conflict(index, "taken in this cycle", cycle)
        while not self._touches(index):
            begins, index = begins + cycles[index], index + 1
        state.next_touch, state.next_by = begins, index

    def _touches(self, index: int) -> bool:
        """Whether an instruction that began in or after ``touched_from`` uses a port or sets a mark.

        Where that depends on parameters, the first did, and those that followed it at once do not.
        """
        return index == self.state.touched_by or sharing(self._program.by_kind[index]) is True

    def end(self, cycle: int) -> None:
        """The transfer has ended; raises MachineFault where a PE instruction has used the ports meanwhile."""
        state = self.state
        if state.next_touch is not None and state.next_touch <= cycle:
            raise self._conflict(state.next_by, f"in use from cycle {state.since}", state.next_touch)
        state.transfer, state.until, state.next_touch = None, cycle, None

    def _conflict(self, index: int, how: str, cycle: int) -> MachineFault:
        who = f"{self._program.instructions[index].text()} at {self._program.where(index)}"
        return MachineFault(f"port conflict in cycle {cycle}: {who}, while the ports are {how} by a texture transfer")
