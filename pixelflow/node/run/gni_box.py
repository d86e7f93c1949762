"""The geometry network interface of a node, as a box: between its modules, its GPs and other nodes (2.2.1, 3.8).

It takes the parcels of the modules one after the other, 8 bytes a cycle, and passes each on when it has arrived as a
whole. It never takes more parcels than fit into its buffers, some for each GP (gni.gp_buffers), wherever that GP is: a
parcel frees its buffer when the GP's memory holds it. Loads go the other way, in parts. How the real GNI schedules its
work is not printed; everything here but the bandwidths is invented.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pixelflow.config import NodeConfig
from pixelflow.node.run.tasic_box import Collect, Grant, LoadPart, LoadRequest, Parcel
from pixelflow.node.transfer import TransferCommand
from pixelflow.observe import PathUsed
from pixelflow.simd.boxes import Box, Item
from pixelflow.simd.units import Cycle


def bytes_per_cycle(mb_per_second: int, clock_mhz: int) -> int:
    """Return the width of a path in bytes a cycle, which the configuration makes a whole number."""
    return mb_per_second // clock_mhz


class GniSpec(NamedTuple):
    """Sizes of the interface, and its place in the geometry network."""

    modules: int
    gps: int
    bytes_per_cycle: int
    gp_bytes_per_cycle: int
    window: int
    """Parcels on their way to one GP."""
    parts: int
    """Parts of a load on their way."""
    part_blocks: int
    """Blocks of 32 bytes in a part."""
    node: int = 0
    networked: bool = False

    @classmethod
    def of(cls, config: NodeConfig, *, node: int = 0, networked: bool = False) -> GniSpec:
        gni = config.gni
        return cls(
            config.array.modules,
            gni.gp_count,
            bytes_per_cycle(gni.mb_per_second, config.clock_mhz),
            bytes_per_cycle(gni.gp_memory_mb_per_second, config.clock_mhz),
            gni.gp_buffers,
            gni.load_parts,
            gni.part_blocks,
            node,
            networked,
        )


@dataclass(slots=True)
class GniState:
    """Items that wait or are on their way, and bytes passed."""

    requests: list[Parcel] = field(default_factory=list)
    input_free: int = 0
    in_flight: dict[tuple[int, int], int] = field(default_factory=dict)
    """Parcels of this node on their way, by node and GP."""
    queues: dict[str, list[Parcel | LoadPart]] = field(default_factory=dict)
    """Items waiting for each output wire."""
    free_at: dict[str, int] = field(default_factory=dict)
    """When each of these wires is free."""
    busy_cycles: dict[str, int] = field(default_factory=dict)
    """Cycles in which each of them carried bytes."""
    load: LoadRequest | None = None
    asked: int = 0
    """Blocks of the load requested so far."""
    parts_asked: int = 0
    acknowledged: int = 0
    from_modules_bytes: int = 0
    to_gps_bytes: int = 0
    to_network_bytes: int = 0
    from_network_bytes: int = 0
    from_gps_bytes: int = 0
    to_modules_bytes: int = 0


_FROM_MODULES, _FROM_GPS = ("request", "to_gni", "load_request", "loaded"), ("stored", "give")
"""Ports of which there is one for each module, or for each GP."""


class GniBox(Box[GniSpec, GniState]):
    """One node's interface."""

    def __init__(self, spec: GniSpec) -> None:
        super().__init__("gni", spec, GniState())
        modules, gps = range(spec.modules), range(spec.gps)
        per_module_out = ("grant", "delivered", "from_gni")
        network_in = ("network_in", "network_ack_in") if spec.networked else ()
        network_out = ("network_out", "network_ack_out") if spec.networked else ()
        self.inputs = (
            *(f"{port}{module}" for port in _FROM_MODULES for module in modules),
            *(f"{port}{gp}" for port in _FROM_GPS for gp in gps),
            *network_in,
        )
        self.outputs = (
            *(f"{port}{module}" for port in per_module_out for module in modules),
            *(f"{port}{gp}" for port in ("store", "ask") for gp in gps),
            *network_out,
        )

    def wired(self) -> None:
        counts = dict.fromkeys(_FROM_MODULES, self.spec.modules) | dict.fromkeys(_FROM_GPS, self.spec.gps)
        self._incoming = {port: [self.wires[f"{port}{at}"] for at in range(count)] for port, count in counts.items()}

    def next_event(self) -> Cycle | None:
        state = self.state
        times = [state.free_at[port] for port, queue in state.queues.items() if queue]
        return Cycle(min(times)) if times else None

    def tick(self, cycle: Cycle) -> None:
        self._take_parcels(cycle)
        self._take_acknowledgements(cycle)
        self._take_loads(cycle)
        self._grant(cycle)
        for port, queue in self.state.queues.items():
            if queue and self.state.free_at.get(port, 0) <= cycle:
                self._send(cycle, port, queue.pop(0))

    def _all(self, port: str, cycle: Cycle) -> list[Item]:
        """Return the items received at the ports of this name."""
        return [item for wire in self._incoming[port] if wire.waiting for item in wire.take_all(cycle)]

    # --- from modules to GPs ------------------------------------------------------------------------------------

    def _take_parcels(self, cycle: Cycle) -> None:
        state = self.state
        state.requests += self._all("request", cycle)
        for parcel in self._all("to_gni", cycle):
            state.from_modules_bytes += parcel.size
            self._pass_on(parcel)
        if self.spec.networked:
            for parcel in self.wires["network_in"].take_all(cycle):
                state.from_network_bytes += parcel.size
                self._pass_on(parcel)

    def _pass_on(self, parcel: Parcel) -> None:
        port = f"store{parcel.gp}" if parcel.node == self.spec.node else "network_out"
        self.state.queues.setdefault(port, []).append(parcel)

    def _take_acknowledgements(self, cycle: Cycle) -> None:
        for parcel in self._all("stored", cycle):
            if parcel.source == self.spec.node:
                self._delivered(parcel, cycle)
            else:
                self.wires["network_ack_out"].send(cycle, parcel)
        if self.spec.networked:
            for parcel in self.wires["network_ack_in"].take_all(cycle):
                self._delivered(parcel, cycle)

    def _delivered(self, parcel: Parcel, cycle: Cycle) -> None:
        self.state.in_flight[parcel.node, parcel.gp] -= 1
        self.wires[f"delivered{parcel.module}"].send(cycle, parcel)

    def _grant(self, cycle: Cycle) -> None:
        """Let modules send, in the order in which they asked, where a buffer for their GP is free."""
        state, left = self.state, []
        for parcel in state.requests:
            to = (parcel.node, parcel.gp)
            if state.in_flight.get(to, 0) == self.spec.window:
                left.append(parcel)
                continue
            at = max(cycle + 1, state.input_free)
            state.input_free = at + -(-parcel.size // self.spec.bytes_per_cycle)
            state.in_flight[to] = state.in_flight.get(to, 0) + 1
            self.wires[f"grant{parcel.module}"].send(cycle, Grant(at, parcel))
        state.requests = left

    def _send(self, cycle: Cycle, port: str, item: Parcel | LoadPart) -> None:
        wire, state = self.wires[port], self.state
        wire.send_bulk(cycle, item, item.size)
        cycles = -(-item.size // wire.bandwidth)
        state.free_at[port] = cycle + cycles
        state.busy_cycles[port] = state.busy_cycles.get(port, 0) + cycles
        self.bus.emit(PathUsed, cycle, port, cycle + cycles, item.size)
        if isinstance(item, LoadPart):
            state.to_modules_bytes += item.size
        elif item.node == self.spec.node:
            state.to_gps_bytes += item.size
        else:
            state.to_network_bytes += item.size

    # --- from a GP to modules --------------------------------------------------------------------------------------

    def _take_loads(self, cycle: Cycle) -> None:
        state, spec = self.state, self.spec
        for request in self._all("load_request", cycle):
            state.load, state.asked, state.parts_asked, state.acknowledged = request, 0, 0, 0
        for part in self._all("give", cycle):
            state.from_gps_bytes += part.size
            for module in range(spec.modules):
                if part.modules >> module & 1:
                    state.queues.setdefault(f"from_gni{module}", []).append(part)
        state.acknowledged += len(self._all("loaded", cycle))
        if state.load is None:
            return
        load, gp = state.load.load, state.load.gp
        loading = load.modules.bit_count()
        while state.asked < load.blocks and state.parts_asked - state.acknowledged // loading < spec.parts:
            part = LoadPart(load.modules, gp, state.asked, min(spec.part_blocks, load.blocks - state.asked))
            self.wires[f"ask{gp}"].send(cycle, part)
            state.asked += part.blocks
            state.parts_asked += 1
        if state.acknowledged == state.parts_asked * loading:
            state.load = None


# The path from one module's EMCs to the GNI, as a box: TASICs that pass bytes on instead of storing them (2.2.1, 3.8).
#
# Round by round all EMCs send their bytes in parallel; the TASICs hold a few rounds (gni.port_buffers), one that comes
# in and those that wait for the GNI. The thesis gives the path and its bandwidth, nothing else.


class GniPortSpec(NamedTuple):
    """The module and node of the box, the number of nodes, and the rounds that the TASICs hold."""

    module: int
    node: int
    nodes: int
    buffers: int

    @classmethod
    def of(cls, config: NodeConfig, module: int, *, node: int = 0, nodes: int = 1) -> GniPortSpec:
        return cls(module, node, nodes, config.gni.port_buffers)


@dataclass(slots=True)
class GniPortState:
    """Progress of the parcels of a command."""

    command: TransferCommand | None = None
    collected: int = 0
    """Parcels requested from the EMCs."""
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
            assert state.command is not None, "parcels are those of a command"
            if state.delivered == len(state.command.parcels):
                state.command = None
                self.wires["done"].send(cycle, "bytes delivered")

    def _collect(self, cycle: Cycle) -> None:
        """Request the next round from the EMCs where there is room, one round at a time."""
        state, command = self.state, self.state.command
        if command is None or state.coming or state.held == self.spec.buffers:
            return
        if state.collected == len(command.parcels):
            return
        size, to = command.parcels[state.collected], command.destination
        node = (self.spec.node + to.node) % self.spec.nodes
        parcel = Parcel(self.spec.node, self.spec.module, state.collected, node, to.gp, size)
        assert command.transfer.returned is not None, "parcels are returned by a transfer"
        self.wires["collect"].send(cycle, Collect(command.transfer.returned.size, size))
        state.coming.append(parcel)
        state.collected += 1
        state.held += 1


# The memory path of one GP, as a box: 200 MB/s each way on the thesis machine (3.8). The processor is not modelled.


class GpSpec(NamedTuple):
    """The width of the path. That it carries both ways at the same time is invented."""

    bytes_per_cycle: int


@dataclass(slots=True)
class GpState:
    """Parts of loads that wait, and bytes passed each way."""

    waiting: list[LoadPart] = field(default_factory=list)
    give_free: int = 0
    stored_bytes: int = 0
    given_bytes: int = 0


class GpBox(Box[GpSpec, GpState]):
    """Stores and acknowledges parcels; gives parts of loads, one after the other."""

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


# The geometry network between nodes, as a box: 800 MB/s that all nodes share (thesis 2.2.1, 3.8).
#
# It carries one parcel at a time, which is passed on when it has arrived as a whole. That it is one shared path, and
# its latency, are invented; the thesis prints the bandwidth.


class NetworkSpec(NamedTuple):
    """The number of nodes joined, and the width."""

    nodes: int
    bytes_per_cycle: int


@dataclass(slots=True)
class NetworkState:
    """Parcels that wait, the cycle in which the network is free, and bytes carried."""

    waiting: list[Parcel] = field(default_factory=list)
    free_at: int = 0
    carried_bytes: int = 0
    busy_cycles: int = 0


class NetworkBox(Box[NetworkSpec, NetworkState]):
    """Carries parcels to their nodes, and acknowledgements back."""

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
