"""The TASICs of one module as a box: how long transfers with texture memory take (thesis 2.2.7, table 6).

In a round of a read, the TASICs access the SDRAMs once for each EMC of the module, one after the other, then send each
EMC its data, all EMCs in parallel, a byte a cycle. Addresses of the next round come in meanwhile. In a round of a
write, data and addresses of the next round come in while the SDRAMs are written. Those for another module's SDRAMs
cross a path in between, a round after the one before it. One bulk item on a wire represents all bytes of a transfer;
the bursts of the rounds are not single events.

Equal slots are counted; where times depend on addresses or on refresh, or where the command checker is on, every
access is scheduled (:mod:`pixelflow.node.sdram`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pixelflow.config import NodeConfig, SdramConfig
from pixelflow.isa.declarations import PORT_BYTES
from pixelflow.node.sdram import SdramUse, access_pattern, equal_slot, needs_schedule, settle_cycles
from pixelflow.node.transfer import Direction, Load, RoundAddresses, Transfer, TransferCommand
from pixelflow.observe import Accessed
from pixelflow.simd.boxes import Box
from pixelflow.simd.errors import InternalError
from pixelflow.simd.units import Cycle, Snapshot

# Items between TASICs, GNI, GPs and the geometry network.


@dataclass(frozen=True, slots=True)
class Parcel:
    """The bytes that the EMCs of a module send in one round, on their way to a GP."""

    source: int
    """The sending node."""
    module: int
    index: int
    node: int
    gp: int
    size: int

    def __str__(self) -> str:
        return f"parcel {self.index} of module {self.module}, node {self.source} ({self.size} bytes)"


class Grant(NamedTuple):
    """The GNI takes a parcel, beginning in cycle ``at``."""

    at: int
    parcel: Parcel


class LoadRequest(NamedTuple):
    """A module asks the GNI for blocks out of the memory of a GP."""

    load: Load
    gp: int


class LoadPart(NamedTuple):
    """Some of the blocks of a load, starting with number ``first``."""

    modules: int
    gp: int
    first: int
    blocks: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.blocks * PORT_BYTES


# The local ports of the EMCs: the pins of one module as a box, and the times in which ports are in use.


class EmcPortsSpec(NamedTuple):
    """Sizes of the paths between one module's EMCs and its TASICs."""

    emcs: int
    port_bytes_per_cycle: int

    @classmethod
    def of(cls, config: NodeConfig) -> EmcPortsSpec:
        return cls(config.array.emcs_per_module, config.tasic.port_bytes_per_cycle)


class Fetch(NamedTuple):
    """A request for addresses and data of texture accesses, in bytes from each EMC."""

    bytes_each: int
    """In a round, where there are several."""
    rounds: int = 1


class Collect(NamedTuple):
    """A request for bytes for GP memory: bytes from each EMC that has a PE left, and in total."""

    bytes_each: int
    total: int


@dataclass(slots=True)
class EmcPortsState:
    """The cycle in which the pins are free, items waiting for them, and bytes passed."""

    pins_free: int = 0
    waiting: list[tuple[int, str, object, int]] = field(default_factory=list)
    """(cycle, output, item, bytes), in order of time."""
    sent_bytes: int = 0
    collected_bytes: int = 0
    received_bytes: int = 0


class EmcPortsBox(Box[EmcPortsSpec, EmcPortsState]):
    """The EMCs' ports: they serve one request after the other over the same pins, and take incoming bytes."""

    inputs: tuple[str, ...] = ("fetch", "collect", "outbound")
    outputs: tuple[str, ...] = ("inbound", "collected")

    def __init__(self, module: int, spec: EmcPortsSpec) -> None:
        super().__init__(f"emcs[{module}]", spec, EmcPortsState())
        self._distances: Sequence[int] = ()

    def reach(self, distances: Sequence[int]) -> None:
        """Add paths to the TASICs at these distances, which are counted in modules."""
        self._distances = distances
        self.inputs += tuple(f"fetch{distance}" for distance in distances)
        self.outputs += tuple(f"over{distance}" for distance in distances)

    def next_event(self) -> Cycle | None:
        return Cycle(self.state.waiting[0][0]) if self.state.waiting else None

    def tick(self, cycle: Cycle) -> None:
        state = self.state
        for fetch in self.wires["fetch"].take_all(cycle):
            total = fetch.bytes_each * self.spec.emcs
            self._queue(cycle, "inbound", fetch, fetch.bytes_each, total)
            state.sent_bytes += total
        for distance in self._distances:
            for fetch in self.wires[f"fetch{distance}"].take_all(cycle):
                self._cross(cycle, f"over{distance}", fetch)
        for collect in self.wires["collect"].take_all(cycle):
            self._queue(cycle, "collected", collect, collect.bytes_each, collect.total)
            state.collected_bytes += collect.total
        for command in self.wires["outbound"].take_all(cycle):
            state.received_bytes += command.outbound_bytes * self.spec.emcs
        while state.waiting and state.waiting[0][0] == cycle:
            _, port, item, total = state.waiting.pop(0)
            self.wires[port].send_bulk(cycle, item, total)

    def _queue(self, cycle: int, port: str, item: object, each: int, total: int) -> None:
        """Schedule a request on the pins: every EMC with a PE left sends a byte a cycle."""
        state, rate = self.state, self.spec.port_bytes_per_cycle
        end = max(cycle, state.pins_free) + -(-each // rate)
        state.pins_free = end
        # Where EMCs have nothing to send, the wire's width is not filled; the arrival of the last byte counts.
        state.waiting.append((end - -(-total // (rate * self.spec.emcs)), port, item, total))

    def _cross(self, cycle: int, port: str, fetch: Fetch) -> None:
        """Schedule rounds that cross a path: the first as soon as it is there, the others with the last on time."""
        state, width = self.state, self.wires[port].bandwidth
        size, rest = fetch.bytes_each * self.spec.emcs, fetch.rounds - 1
        each, crossing = -(-fetch.bytes_each // self.spec.port_bytes_per_cycle), -(-size // width)
        first = max(cycle, state.pins_free) + each
        state.pins_free = first + rest * each
        state.waiting.append((first, port, fetch, size))
        if rest:
            begin = max(first + crossing, state.pins_free + crossing - -(-rest * size // width))
            state.waiting.append((begin, port, fetch, rest * size))
        state.sent_bytes += size * fetch.rounds


class TasicSpec(NamedTuple):
    """Sizes and times of one module's texture path."""

    emcs: int
    read_overhead_cycles: int
    port_bytes_per_cycle: int
    path_bytes_per_cycle: int
    sdram: SdramConfig

    @classmethod
    def of(cls, config: NodeConfig) -> TasicSpec:
        return cls(
            config.array.emcs_per_module,
            config.tasic.read_overhead_cycles,
            config.tasic.port_bytes_per_cycle,
            config.tasic.path_bytes_per_cycle,
            config.sdram,
        )


def access_cycles(spec: TasicSpec, transfer: Transfer) -> int:
    """Return the cycles of one access to the SDRAMs of a module: an equal slot, and the overhead of a read."""
    if transfer.direction is Direction.LOOP_BACK:
        return 0
    write = transfer.direction is not Direction.READ
    pattern = access_pattern(alternate=transfer.alternate)
    spacing = 0 if write else spec.read_overhead_cycles
    return equal_slot(spec.sdram, transfer.size, write=write, pattern=pattern, spacing=spacing).cycles


def run_cycles(spec: TasicSpec, command: TransferCommand) -> int:
    """Return the cycles from the first access to the last byte sent or written, once the first round has come in."""
    transfer, rounds = command.transfer, command.rounds
    own = spec.emcs * access_cycles(spec, transfer) + _port_cycles(spec, transfer.outbound_bytes)
    if not transfer.group:  # all rounds are alike
        return own + max(rounds - 1, 0) * max(own, _inbound_cycles(spec, transfer, 0))
    return own + sum(max(own, _inbound_cycles(spec, transfer, index)) for index in range(1, rounds))


def _inbound_cycles(spec: TasicSpec, transfer: Transfer, index: int) -> int:
    """Return the cycles from the arrival of a round to that of round ``index``, the next one."""
    size = transfer.inbound_bytes(index)
    crossed = -(-size * spec.emcs // spec.path_bytes_per_cycle) if transfer.over else 0
    return max(_port_cycles(spec, size), crossed)


def _port_cycles(spec: TasicSpec, size: int) -> int:
    return -(-size // spec.port_bytes_per_cycle)


@dataclass(slots=True)
class TasicState:
    """The state of the TASICs of a module."""

    command: TransferCommand | None = None
    parts: int = 0
    """Unfinished parts of the command: accesses, bytes for a GP, a load."""
    filling: bool = False
    outbound_at: int | None = None
    end_at: int | None = None
    still_inbound: bool = False
    free_at: int = 0
    """The first cycle in which the SDRAMs can take an access of any kind."""
    blocks_left: int = 0
    loads: list[tuple[int, LoadPart]] = field(default_factory=list)
    """Parts of a load that are being written, by the cycle after the last write."""
    busy_cycles: int = 0
    """Cycles from first access to last byte, over all transfers."""
    loaded_bytes: int = 0


class TasicBox(Box[TasicSpec, TasicState]):
    """All TASICs of one module."""

    inputs: tuple[str, ...] = ("command", "inbound", "gp_done", "from_gni")
    outputs: tuple[str, ...] = ("done", "fetch", "outbound", "gp_command", "load_request", "loaded")

    def __init__(self, module: int, spec: TasicSpec) -> None:
        super().__init__(f"tasic[{module}]", spec, TasicState())
        self.module = module
        self._rounds_by: tuple[str, ...] = ("inbound",)
        """The wires on which rounds arrive."""
        self.sdrams = SdramUse(f"tasic[{module}]", spec.sdram) if needs_schedule(spec.sdram) else None
        """The schedule of every access, where there is one."""

    def reach(self, distances: Sequence[int]) -> None:
        """Add paths from the EMCs of the modules at these distances."""
        paths = tuple(f"over{distance}" for distance in distances)
        self._rounds_by = ("inbound", *paths)
        self.inputs += paths
        self.outputs += tuple(f"fetch{distance}" for distance in distances)

    def snapshot(self) -> Snapshot:
        return super().snapshot() | {"sdrams": self.sdrams and self.sdrams.snapshot()}

    def restore(self, snapshot: Snapshot) -> None:
        super().restore({name: value for name, value in snapshot.items() if name != "sdrams"})
        if self.sdrams is not None:
            self.sdrams.restore(snapshot["sdrams"])

    def next_event(self) -> Cycle | None:
        state = self.state
        times = [at for at in (state.outbound_at, state.end_at) if at is not None]
        times += [at for at, _ in state.loads[:1]]
        return Cycle(min(times)) if times else None

    def tick(self, cycle: Cycle) -> None:
        state = self.state
        for command in self.wires["command"].take_all(cycle):
            self._begin(command, cycle)
        for port in self._rounds_by:
            for _ in self.wires[port].take_all(cycle):
                if state.filling:
                    self._run(cycle)
                else:
                    state.still_inbound = False
                    self._finish_run(cycle)
        for part in self.wires["from_gni"].take_all(cycle):
            self._write_part(part, cycle)
        if state.outbound_at == cycle:
            state.outbound_at = None
            self._send_outbound(cycle)
        if state.end_at == cycle:
            state.end_at = None
            self._finish_run(cycle)
        while state.loads and state.loads[0][0] == cycle:
            self._finish_load(cycle)
        for _ in self.wires["gp_done"].take_all(cycle):
            self._finish(cycle)

    @property
    def _command(self) -> TransferCommand:
        """The current command."""
        if self.state.command is None:
            raise InternalError(f"{self.name}: bytes have arrived without a transfer")
        return self.state.command

    def _begin(self, command: TransferCommand, cycle: Cycle) -> None:
        state, load = self.state, command.transfer.load
        state.command = command
        state.parts = bool(command.parcels) + bool(command.rounds)
        if command.parcels:
            self.wires["gp_command"].send(cycle, command)
        if load is not None and load.includes(self.module):
            state.parts += 1
            state.blocks_left = load.blocks
            if not load.modules & ((1 << self.module) - 1):
                self.wires["load_request"].send(cycle, LoadRequest(load, command.destination.gp))
        if not state.parts:
            state.command = None
            self.wires["done"].send(cycle, "nothing to transfer")
            return
        if not command.rounds:
            return
        first = command.transfer.inbound_bytes(0)
        if not first:
            self._run(cycle)
            return
        state.filling = True
        over = command.transfer.over
        self.wires[f"fetch{over or ''}"].send(cycle, Fetch(first, command.rounds if over else 1))

    def _finish(self, cycle: Cycle) -> None:
        self.state.parts -= 1
        if not self.state.parts:
            self.state.command = None
            self.wires["done"].send(cycle, "transfer done")

    # --- accesses for PEs ----------------------------------------------------------------------------------------

    def _run(self, cycle: Cycle) -> None:
        """Begin the rounds: the first one has come in."""
        state, command = self.state, self._command
        state.filling = False
        begin = max(cycle, state.free_at)
        end = begin + run_cycles(self.spec, command)
        if self.sdrams is not None and command.transfer.accesses:
            end = self._schedule(self.sdrams, begin, end)
        state.busy_cycles += end - begin
        self._emit(begin, end, command.transfer, command.rounds, command.used, self.spec.emcs * command.rounds)
        state.end_at = end
        if command.transfer.accesses:
            self._leave(command.transfer, end - _port_cycles(self.spec, command.transfer.outbound_bytes))
        rest = command.inbound_bytes - command.transfer.inbound_bytes(0)
        if rest:
            state.still_inbound = True
            if not command.transfer.over:
                self.wires["fetch"].send(cycle, Fetch(rest))
        if command.outbound_bytes:
            # The last byte leaves in the last cycle of the transfer.
            state.outbound_at = end - _port_cycles(self.spec, command.outbound_bytes)
            if state.outbound_at == cycle:
                state.outbound_at = None
                self._send_outbound(cycle)

    def _emit(self, begin: int, end: int, transfer: Transfer, rounds: int, accesses: int, slots: int) -> None:
        if transfer.direction is Direction.LOOP_BACK:
            accesses = slots = 0
        all_devices = self.spec.sdram.devices_per_module
        devices = all_devices if transfer.half is None else all_devices // 2
        self.bus.emit(Accessed, begin, self.module, end, transfer.what, rounds, accesses, devices, transfer.size, slots)

    def _leave(self, transfer: Transfer, end: int) -> None:
        """Set the cycle in which another kind of access may follow the last one, whose slot ends at ``end``."""
        pattern = access_pattern(alternate=transfer.alternate)
        write = transfer.direction is not Direction.READ
        spacing = 0 if write else self.spec.read_overhead_cycles
        settled = settle_cycles(self.spec.sdram, transfer.size, write=write, pattern=pattern, spacing=spacing)
        self.state.free_at = max(end, end - access_cycles(self.spec, transfer) + settled)

    def _schedule(self, sdrams: SdramUse, begin: int, expected: int) -> int:
        """Schedule every access of the transfer; return the cycle after the last byte."""
        spec, command = self.spec, self._command
        transfer = command.transfer
        start = end = begin
        for index in range(command.rounds):
            if index:
                start = max(end, start + _inbound_cycles(spec, transfer, index))
            end = self._round(sdrams, start, self._addresses(sdrams, command, index), transfer)
            end += _port_cycles(spec, transfer.outbound_bytes)
        if spec.sdram.equal_slots and not spec.sdram.refresh and end != expected:
            raise InternalError(f"{self.name}: equal slots end in cycle {expected}, the schedule of accesses in {end}")
        return end

    def _addresses(self, sdrams: SdramUse, command: TransferCommand, index: int) -> RoundAddresses:
        """Return the addresses of a round; placeholders in a timing-only run, where PEs would give them."""
        if command.addresses is not None:
            return command.addresses[index]
        return sdrams.turns(self.spec.emcs)

    def _round(self, sdrams: SdramUse, start: int, addresses: RoundAddresses, transfer: Transfer) -> int:
        write = transfer.direction is not Direction.READ
        overhead = 0 if write else self.spec.read_overhead_cycles
        pattern = access_pattern(alternate=transfer.alternate)
        return sdrams.round(start, addresses, transfer.size, write=write, pattern=pattern, overhead=overhead)

    def _send_outbound(self, cycle: Cycle) -> None:
        command = self._command
        self.wires["outbound"].send_bulk(cycle, command, command.outbound_bytes * self.spec.emcs)

    def _finish_run(self, cycle: Cycle) -> None:
        """Finish the accesses when the last byte is sent and all bytes from the EMCs have arrived."""
        if self.state.end_at is None and not self.state.still_inbound:
            self._finish(cycle)

    # --- loads from GP memory ------------------------------------------------------------------------------------

    def _write_part(self, part: LoadPart, cycle: Cycle) -> None:
        """Write a part of a load, block after block."""
        state = self.state
        transfer = self._command.transfer
        begin = max(cycle, state.free_at)
        end = begin + part.blocks * access_cycles(self.spec, transfer)
        if self.sdrams is not None:
            assert transfer.load is not None, "parts are those of a load"
            first = transfer.load.address + 4 * part.first
            addresses = tuple((first + 4 * index,) for index in range(part.blocks))
            end = self._round(self.sdrams, begin, addresses, transfer)
        self._leave(transfer, end)
        state.busy_cycles += end - begin
        self._emit(begin, end, transfer, 1, part.blocks, part.blocks)
        state.loaded_bytes += part.size
        state.loads.append((end, part))

    def _finish_load(self, cycle: Cycle) -> None:
        state = self.state
        _, part = state.loads.pop(0)
        self.wires["loaded"].send(cycle, part)
        state.blocks_left -= part.blocks
        if not state.blocks_left:
            self._finish(cycle)
