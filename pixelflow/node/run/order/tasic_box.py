"""The TASICs of one module as a box: how long transfers with texture memory take (thesis 2.2.7, table 6).

In a round of a read, the TASICs access the SDRAMs once for each EMC of the module, one after the other, then send each
EMC its data, all EMCs side by side, a byte a cycle. Addresses of the next round come in meanwhile. In a round of a
write, data and addresses of the next round come in while the SDRAMs are written. One bulk item on a wire stands for
all bytes that go over it in a transfer; the bursts of the rounds are not single events.

Equal slots are counted; where times depend on addresses or on refresh, or where the command checker is on, every
access is scheduled (:mod:`pixelflow.node.parts.sdram.use`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.config import NodeConfig, SdramConfig
from pixelflow.node.parts.sdram.slots import equal_slot
from pixelflow.node.parts.sdram.use import SdramUse, access_pattern, needs_schedule, settle_cycles
from pixelflow.node.parts.texture.transfer import Direction, RoundAddresses, Transfer, TransferCommand
from pixelflow.node.run.order.emc_ports_box import Fetch
from pixelflow.node.run.order.gni_items import LoadPart, LoadRequest
from pixelflow.observe import Accessed
from pixelflow.simd.boxes import Box
from pixelflow.simd.errors import InternalError
from pixelflow.simd.snapshot import Snapshot
from pixelflow.simd.units import Cycle

__all__ = ["TasicBox", "TasicSpec", "access_cycles", "run_cycles"]


@dataclass(frozen=True, slots=True)
class TasicSpec:
    """Sizes and times of one module's texture path."""

    emcs: int
    read_overhead_cycles: int
    port_bytes_per_cycle: int
    sdram: SdramConfig

    @classmethod
    def of(cls, config: NodeConfig) -> TasicSpec:
        return cls(
            config.array.emcs_per_module,
            config.tasic.read_overhead_cycles,
            config.tasic.port_bytes_per_cycle,
            config.sdram,
        )


def access_cycles(spec: TasicSpec, transfer: Transfer) -> int:
    """Return the cycles of one access to the SDRAMs of a module: an equal slot, and what a read takes beyond it."""
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
        return own + max(rounds - 1, 0) * max(own, _port_cycles(spec, transfer.inbound_bytes(0)))
    return own + sum(max(own, _port_cycles(spec, transfer.inbound_bytes(index))) for index in range(1, rounds))


def _port_cycles(spec: TasicSpec, size: int) -> int:
    return -(-size // spec.port_bytes_per_cycle)


@dataclass(slots=True)
class TasicState:
    """What the TASICs of a module are doing."""

    command: TransferCommand | None = None
    parts: int = 0
    """What is still to be finished: accesses, bytes for a GP, a load."""
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

    inputs = ("command", "inbound", "gp_done", "from_gni")
    outputs = ("done", "fetch", "outbound", "gp_command", "load_request", "loaded")

    def __init__(self, module: int, spec: TasicSpec) -> None:
        super().__init__(f"tasic[{module}]", spec, TasicState())
        self.module = module
        self.sdrams = SdramUse(f"tasic[{module}]", spec.sdram) if needs_schedule(spec.sdram) else None
        """The schedule of every access, where there is one."""

    def snapshot(self) -> Snapshot:
        """Return the state, and that of the schedule of every access where there is one."""
        return super().snapshot() | {"sdrams": self.sdrams and self.sdrams.snapshot()}

    def restore(self, snapshot: Snapshot) -> None:
        """Put the box into the state of a snapshot."""
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
        for _ in self.wires["inbound"].take_all(cycle):
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
        self.wires["fetch"].send(cycle, Fetch(first))

    def _finish(self, cycle: Cycle) -> None:
        self.state.parts -= 1
        if not self.state.parts:
            self.state.command = None
            self.wires["done"].send(cycle, "transfer done")

    # --- accesses for PEs ----------------------------------------------------------------------------------------

    def _run(self, cycle: Cycle) -> None:
        """The first round has come in: from here on accesses and ports keep each other busy."""
        state, command = self.state, self.state.command
        state.filling = False
        begin = max(cycle, state.free_at)
        end = begin + run_cycles(self.spec, command)
        if self.sdrams is not None and command.transfer.accesses:
            end = self._schedule(begin, end)
        state.busy_cycles += end - begin
        self._tell(begin, end, command.transfer, command.rounds, command.used, self.spec.emcs * command.rounds)
        state.end_at = end
        if command.transfer.accesses:
            self._leave(command.transfer, end - _port_cycles(self.spec, command.transfer.outbound_bytes))
        rest = command.inbound_bytes - command.transfer.inbound_bytes(0)
        if rest:
            state.still_inbound = True
            self.wires["fetch"].send(cycle, Fetch(rest))
        if command.outbound_bytes:
            # The last byte leaves in the last cycle of the transfer.
            state.outbound_at = end - _port_cycles(self.spec, command.outbound_bytes)
            if state.outbound_at == cycle:
                state.outbound_at = None
                self._send_outbound(cycle)

    def _tell(self, begin: int, end: int, transfer: Transfer, rounds: int, accesses: int, slots: int) -> None:
        if transfer.direction is Direction.LOOP_BACK:
            accesses = slots = 0
        all_devices = self.spec.sdram.devices_per_module
        devices = all_devices if transfer.half is None else all_devices // 2
        what = transfer.direction.value
        self.bus.emit(Accessed, begin, self.module, end, what, rounds, accesses, devices, transfer.size, slots)

    def _leave(self, transfer: Transfer, end: int) -> None:
        """Note when another kind of access may follow the last one, which has its slot before ``end``."""
        pattern = access_pattern(alternate=transfer.alternate)
        write = transfer.direction is not Direction.READ
        spacing = 0 if write else self.spec.read_overhead_cycles
        settled = settle_cycles(self.spec.sdram, transfer.size, write=write, pattern=pattern, spacing=spacing)
        self.state.free_at = max(end, end - access_cycles(self.spec, transfer) + settled)

    def _schedule(self, begin: int, expected: int) -> int:
        """Give every access of the transfer its place; return the cycle after the last byte."""
        spec, command = self.spec, self.state.command
        transfer = command.transfer
        start = end = begin
        for index in range(command.rounds):
            if index:
                start = max(end, start + _port_cycles(spec, transfer.inbound_bytes(index)))
            end = self._round(start, self._addresses(command, index), transfer)
            end += _port_cycles(spec, transfer.outbound_bytes)
        if spec.sdram.equal_slots and not spec.sdram.refresh and end != expected:
            raise InternalError(f"{self.name}: equal slots end in cycle {expected}, the schedule of accesses in {end}")
        return end

    def _addresses(self, command: TransferCommand, index: int) -> RoundAddresses:
        """Return the addresses of a round; where PE data would give them and there are none, any will do."""
        if command.addresses is not None:
            return command.addresses[index]
        return self.sdrams.turns(self.spec.emcs)

    def _round(self, start: int, addresses: RoundAddresses, transfer: Transfer) -> int:
        write = transfer.direction is not Direction.READ
        overhead = 0 if write else self.spec.read_overhead_cycles
        pattern = access_pattern(alternate=transfer.alternate)
        return self.sdrams.round(start, addresses, transfer.size, write=write, pattern=pattern, overhead=overhead)

    def _send_outbound(self, cycle: Cycle) -> None:
        command = self.state.command
        self.wires["outbound"].send_bulk(cycle, command, command.outbound_bytes * self.spec.emcs)

    def _finish_run(self, cycle: Cycle) -> None:
        """The accesses are done when the last has its bytes and all that the EMCs had to send has come."""
        if self.state.end_at is None and not self.state.still_inbound:
            self._finish(cycle)

    # --- loads from GP memory ------------------------------------------------------------------------------------

    def _write_part(self, part: LoadPart, cycle: Cycle) -> None:
        """Write what has come from a GP, block after block."""
        state = self.state
        transfer = state.command.transfer
        begin = max(cycle, state.free_at)
        end = begin + part.blocks * access_cycles(self.spec, transfer)
        if self.sdrams is not None:
            first = transfer.load.address + 4 * part.first
            addresses = tuple((first + 4 * index,) for index in range(part.blocks))
            end = self._round(begin, addresses, transfer)
        self._leave(transfer, end)
        state.busy_cycles += end - begin
        self._tell(begin, end, transfer, 1, part.blocks, part.blocks)
        state.loaded_bytes += part.size
        state.loads.append((end, part))

    def _finish_load(self, cycle: Cycle) -> None:
        state = self.state
        _, part = state.loads.pop(0)
        self.wires["loaded"].send(cycle, part)
        state.blocks_left -= part.blocks
        if not state.blocks_left:
            self._finish(cycle)
