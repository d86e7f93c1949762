"""What texture instructions do: bytes between local ports, corner turners, SDRAMs and GPs. It knows no time (2.2.7).

A transfer happens in two halves. `begin` takes what flows into the TASICs (addresses, and data to be written or sent
on) and accesses texture memory; `end` puts what flows out into the input ports and into GP memory. Between the two lie
the cycles that the transfer takes, in which the PEs must leave the ports alone.

Every EMC has an address and a data corner turner, which hold one round: what the last PE that was served gave or got.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa import Instruction
from pixelflow.isa.registers import INPUT_PORT, OUTPUT_PORT, PORT_BYTES
from pixelflow.isa.tas import Addressing
from pixelflow.node.parts.texture.access import TextureAccess
from pixelflow.node.parts.texture.addresses import needs_addresses
from pixelflow.node.parts.texture.gp_memory import GpMemory
from pixelflow.node.parts.texture.memory import TextureMemory
from pixelflow.node.parts.texture.read_cache import Asked, KeptRead, LastRound, ReadCache
from pixelflow.node.parts.texture.rereading import Rereading
from pixelflow.node.parts.texture.service_order import commands_of, in_groups, rounds_of, service_order
from pixelflow.node.parts.texture.state import DEVICES, NO_ADDRESS, Moving, TextureState
from pixelflow.node.parts.texture.transfer import (
    WAYS,
    BlockAccess,
    Destination,
    Direction,
    Load,
    Return,
    RoundAddresses,
    Transfer,
    TransferCommand,
)
from pixelflow.simd.errors import InternalError, MachineFault
from pixelflow.simd.lanes.engine import Engine

__all__ = ["DEVICES", "WAYS", "TextureUnit"]

_GIVEN = {Addressing.GENERATED: 0, Addressing.BASE: 3, Addressing.EXPLICIT: PORT_BYTES}
"""How many bytes of a port an address follows from; of other reads nothing is kept."""
_BASE_MASK = (1 << 24) - 1


class TextureUnit(TextureState):
    """The TASICs of all modules of a node; texture instructions act on it."""

    def __init__(
        self,
        config: NodeConfig,
        engine: Engine,
        memories: Sequence[TextureMemory],
        gp_memories: Sequence[GpMemory] = (),
        *,
        nodes: int = 1,
    ) -> None:
        super().__init__(**vars(TextureState.of(config)))
        self._config = config
        self._array = config.array
        self._engine = engine
        self._memories = memories
        self._access = TextureAccess(config, memories)
        self._kept = ReadCache(memories)
        self._coming: KeptRead | None = None
        """The read under way, unless it came from a saved state."""
        self._scheduled = needs_addresses(config.sdram)
        self.nodes = nodes
        """Nodes that the geometry network joins."""
        self.gps_of: Callable[[int], Sequence[GpMemory]] = lambda node: gp_memories
        """The GP memories of the node that lies so many places further along the geometry network."""
        self._addresses: list[tuple[RoundAddresses, ...]] | None = None
        self.accessed: BlockAccess | None = None
        """What the transfer accesses that has begun; None where it accesses nothing, or reads what was kept."""
        self.watched = False
        """Whether somebody wants to know of every access, so that no read is what was kept of one before."""

    # --- what texture instructions ask for ------------------------------------------------------------------------

    def read(self, size: int, sends: int, addressing: Addressing) -> None:
        self.transfer = Transfer(
            Direction.READ, size=size, sends=sends, addressing=addressing, alternate=self.alternate
        )

    def write(self, size: int, addressing: Addressing, held: bool, group: int = 0, half: int | None = None) -> None:
        self.transfer = Transfer(
            Direction.WRITE,
            size=size,
            addressing=addressing,
            held=held,
            alternate=self.alternate,
            group=group,
            half=half,
        )

    def loop_back(self) -> None:
        self.transfer = Transfer(Direction.LOOP_BACK)

    def give(self, modules: int, start: int, size: int) -> None:
        """Send a part of the ports to GP memory, beside the read that the instruction asked for, if it did."""
        if start + size > PORT_BYTES:
            raise MachineFault(f"bytes {start}..{start + size - 1} are outside a port of {PORT_BYTES}")
        returned = Return(self._present(modules), start, size)
        transfer = self.transfer or Transfer(Direction.RETURN)
        self.transfer = replace(transfer, returned=returned)

    def load(self, modules: int, blocks: int, address: int) -> None:
        self.transfer = Transfer(Direction.LOAD, load=Load(self._present(modules), address, blocks))

    def set_gp(self, modules: int, node: int, gp: int) -> None:
        self._present(modules)
        if node >= self.nodes or gp >= self._config.gni.gp_count:
            raise MachineFault(
                f"there is no GP {gp} in the node {node} places along the geometry network "
                f"(nodes: {self.nodes}, GPs of each: {self._config.gni.gp_count})"
            )
        for module in range(self._array.modules):
            if modules >> module & 1:
                self.destinations[module] = Destination(node, gp, 0)

    def set_gp_address(self, modules: int, address: int) -> None:
        self._present(modules)
        for module in range(self._array.modules):
            if modules >> module & 1:
                self.destinations[module] = replace(self.destinations[module], address=address)

    def _present(self, modules: int) -> int:
        if modules >> self._array.modules:
            raise MachineFault(f"modules {modules:#b}: the node has only {self._array.modules}")
        return modules

    def tell(self, instruction: Instruction) -> Transfer | None:
        """Carry out a texture instruction; return the transfer that it asks for."""
        self.transfer = None
        instruction.declaration.meaning(self, *instruction.operands)
        return self.transfer

    # --- the two halves of a transfer --------------------------------------------------------------------------------

    def begin(self, transfer: Transfer) -> None:
        """Take addresses and data from the PEs and access texture memory."""
        self._addresses = self._coming = self.accessed = None
        self.moving = Moving()
        match transfer.direction:
            case Direction.READ:
                self._begin_read(transfer)
            case Direction.WRITE:
                self._begin_write(transfer)
            case Direction.LOOP_BACK:
                self._begin_loop_back()
            case Direction.LOAD:
                self._begin_load(transfer.load)
        if transfer.returned is not None:
            self._begin_return(transfer.returned)
        if transfer.accesses and not transfer.group:
            rounds = rounds_of(transfer, self._engine.get_bit(transfer.mark), self._array)
            self.generator.advance(self.generator.step * max(rounds, default=0))

    def commands(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Return what the TASICs of each module are told of the transfer that has just begun, addresses included."""
        return commands_of(transfer, self._engine.get_bit, self.destinations, self._array, self._addresses)

    def end(self) -> None:
        """Put what the transfer brought into the input ports of the PEs and into GP memory."""
        moving, self.moving = self.moving, Moving()
        if self._coming is not None and moving.data is self._coming.served:
            engine = self._engine
            ports = self._coming.put(engine.shape.lanes, lambda: engine.get_rows(INPUT_PORT, PORT_BYTES))
            self._engine.set_rows(INPUT_PORT, ports)
        elif moving.lanes is not None and len(moving.lanes):
            port = self._engine.get_rows(INPUT_PORT, PORT_BYTES)
            port[:, moving.lanes] = moving.data.T
            self._engine.set_rows(INPUT_PORT, port)
        for where, data in moving.returned:
            self.gps_of(where.node)[where.gp].write(where.address, data)

    def _groups(self, transfer: Transfer, mark: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        panel_minor = self.panel_minor and transfer.sends == 1
        return in_groups(service_order(self._engine.get_bit(mark), self._array, panel_minor=panel_minor), transfer)

    def _port(self) -> NDArray[np.uint8]:
        """The output ports: uint8[lanes, 32]."""
        return np.ascontiguousarray(self._engine.get_rows(OUTPUT_PORT, PORT_BYTES).T)

    def _begin_read(self, transfer: Transfer) -> None:
        asked = self._asked(transfer)
        read = None if asked is None else self._kept.find(asked.all)
        if read is not None:
            read.came_again = True
            self._tell_addresses(transfer, read.addresses, read.valid)
        else:
            read = self._read(transfer)
            if asked is not None:
                read.marks, read.given = asked.marks, asked.given
                self._kept.keep(asked.all, read)
        self._count_read(transfer, read)

    def _asked(self, transfer: Transfer) -> Asked | None:
        """Return all that a read follows from besides texture memory; None where that is not looked at."""
        words = _GIVEN.get(transfer.addressing)
        if words is None or self.watched:
            return None
        marks, given = self._engine.get_bit("MR"), self._engine.get_rows(OUTPUT_PORT, words)
        registers = (self.panel_minor, self.generator.counter, self.generator.step, *self.generator.crossbar)
        return Asked((replace(transfer, returned=None), registers, marks.tobytes(), given.tobytes()), marks, given)

    def _count_read(self, transfer: Transfer, read: KeptRead) -> None:
        self.moving, self._coming = Moving(read.lanes, read.served), read
        self.moved["texture memory to TASICs"] += read.accesses * DEVICES * transfer.size
        self.moved["TASICs to PEs"] += len(read.lanes) * PORT_BYTES
        self._hold(transfer, read.last)

    def rereading(self, reads: Sequence[KeptRead]) -> Rereading:
        """Return how reads are made anew, of what is in texture memory then."""
        return Rereading(reads, self._access, self._memories)

    @property
    def versions(self) -> tuple[int, ...]:
        """What tells contents of texture memory from other ones."""
        return self._kept.versions()

    def cached_read(self, transfer: Transfer, *, new: bool) -> KeptRead | None:
        """Return the read that has just begun, if it can be begun again where the same PEs ask for the same.

        None for a read that has come once, unless that is only because its bytes are ``new``.
        """
        read = self._coming
        if read is None or not (new or read.came_again) or read.marks is None:
            return None
        return None if transfer.returned is not None or self._scheduled else read

    def begin_again(self, transfer: Transfer, read: KeptRead) -> None:
        """Begin a read with marks, ports, registers and contents of an earlier one.

        The caller must put ``read.served`` into the ports.
        """
        self._count_read(transfer, read)
        self.moving, self._coming = Moving(), None
        rounds = rounds_of(transfer, read.marks, self._array)
        self.generator.advance(self.generator.step * max(rounds, default=0))

    def _read(self, transfer: Transfer) -> KeptRead:
        """Access texture memory; raises MachineFault for addresses that no transfer may have."""
        givers, groups = self._groups(transfer, "MR")
        valid = groups[:, :, 0] >= 0
        addresses = self._where(transfer, givers, valid)
        self._tell_addresses(transfer, addresses, valid)
        self.accessed = BlockAccess(transfer, givers, groups, addresses, valid)
        data = self._access.carry_out(transfer, addresses, valid, givers)
        # Of 8 bytes the first PE gets the first 4 of each device, the second the other 4.
        halves = transfer.size // 4
        emc, index, turn = np.nonzero(groups >= 0)
        source = (emc * groups.shape[1] + index) * halves + turn % halves
        return KeptRead(addresses, valid, data, groups[emc, index, turn], source)

    def _begin_write(self, transfer: Transfer) -> None:
        givers, groups = self._groups(transfer, "MW")
        valid = groups[:, :, 0] >= 0
        addresses = self._where(transfer, givers, valid)
        self._tell_addresses(transfer, addresses, valid)
        if transfer.held:
            data = self._held(valid, transfer)
        else:
            words = self._port()[np.maximum(groups, 0)].reshape(*groups.shape, DEVICES, 4)
            words[groups < 0] = 0
            if transfer.half is not None:
                words = words[:, :, :, DEVICES // 2 :]
            words_each = words.shape[2] * words.shape[3] * 4 // transfer.size
            data = words.swapaxes(2, 3).reshape(*groups.shape[:2], words_each, transfer.size)
            self.moved["PEs to TASICs"] += int((groups >= 0).sum()) * 4 * words.shape[3]
        self.accessed = BlockAccess(transfer, givers, groups, addresses, valid, data)
        self._access.carry_out(transfer, addresses, valid, givers, data)
        self.moved["TASICs to texture memory"] += int(valid.sum()) * addresses.shape[2] * transfer.size
        self._hold(transfer, LastRound.of(addresses, valid, data))

    def _begin_loop_back(self) -> None:
        writers = service_order(self._engine.get_bit("MW"), self._array, panel_minor=self.panel_minor)
        readers = service_order(self._engine.get_bit("MR"), self._array, panel_minor=self.panel_minor)
        if np.any((writers >= 0).sum(axis=1) != (readers >= 0).sum(axis=1)):
            raise MachineFault("TAS_LoopBack: an EMC has not as many PEs marked for writing as for reading")
        taken = writers >= 0
        self.moving = Moving(readers[taken], self._port()[writers[taken]])
        self.moved["PEs to PEs"] += int(taken.sum()) * PORT_BYTES

    def _begin_load(self, load: Load) -> None:
        lowest = next(module for module in range(self._array.modules) if load.includes(module))
        source = self.destinations[lowest]
        if source.node:
            raise MachineFault("TAS_MemLoad loads from a GP of the own node")
        data = self.gps_of(0)[source.gp].read(source.address, load.blocks * PORT_BYTES)
        addresses = np.repeat(
            (load.address + 4 * np.arange(load.blocks, dtype=np.int64))[None, :, None], DEVICES, axis=2
        )
        there = np.ones(addresses.shape[:2], bool)
        self._access.check(Transfer(Direction.LOAD), addresses, there)
        for module, memory in enumerate(self._memories):
            if load.includes(module):
                memory.write(self._access.physical(addresses[0]), data.reshape(load.blocks, DEVICES, 4))
        self.moved["TASICs to texture memory"] += len(data) * load.modules.bit_count()
        self.destinations[lowest] = replace(source, address=source.address + len(data))
        self.moved["GPs to TASICs"] += len(data)

    def _begin_return(self, returned: Return) -> None:
        lanes = service_order(self._engine.get_bit("MW"), self._array, panel_minor=self.panel_minor)
        port = self._port()[:, returned.start : returned.start + returned.size]
        each = self._array.emcs_per_module
        parts = []
        for module, where in enumerate(self.destinations):
            if not returned.includes(module):
                continue
            # Round by round, within a round EMC by EMC.
            order = lanes[module * each : (module + 1) * each].T.ravel()
            data = port[order[order >= 0]].ravel()
            parts.append((where, data))
            self.destinations[module] = replace(where, address=where.address + len(data))
            self.moved["PEs to GPs"] += len(data)
        self.moving.returned = tuple(parts)

    # --- addresses, and what the corner turners hold ------------------------------------------------------------------

    def _where(self, transfer: Transfer, givers: NDArray[np.int64], valid: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the addresses of every round: int64[emcs, rounds, devices]; 0 where an EMC has no PE left."""
        shape = (*givers.shape, DEVICES)
        period = transfer.group or max(givers.shape[1], 1)
        offsets = np.array([self.generator.address(index % period) for index in range(givers.shape[1])], np.int64)
        match transfer.addressing:
            case Addressing.HELD:
                if np.any(self.act[valid.any(axis=1)] == NO_ADDRESS):
                    raise MachineFault("the address corner turner of an EMC that takes part holds no addresses")
                addresses = np.broadcast_to(self.act[:, None, :], shape)
            case Addressing.GENERATED:
                addresses = np.broadcast_to(offsets[None, :, None], shape)
            case Addressing.BASE:
                base = (self._words_of(givers)[:, :, :1] & _BASE_MASK).astype(np.int64)
                addresses = np.broadcast_to(base + offsets[None, :, None], shape)
            case Addressing.EXPLICIT:
                addresses = self._words_of(givers).astype(np.int64)
            case _:
                raise InternalError(f"no way of addressing has the number {transfer.addressing}")
        if transfer.half is not None:
            addresses = addresses[:, :, : DEVICES // 2]
        return np.where(valid[:, :, None], addresses, 0)

    def _tell_addresses(self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]) -> None:
        """Note where the transfer accesses texture memory, in runs that schedule every access."""
        if self._scheduled:
            self._addresses = self._access.by_round(transfer, addresses, valid)

    def _words_of(self, lanes: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the words in the output ports of these lanes: uint32[..., 8]."""
        return self._port().view("<u4")[np.maximum(lanes, 0)]

    def _held(self, valid: NDArray[np.bool_], transfer: Transfer) -> NDArray[np.uint8]:
        """Return what the data corner turners hold, once for every round."""
        held = self.dct
        if held is None or held.shape[1:] != (DEVICES, transfer.size):
            raise MachineFault(f"the data corner turners hold no {transfer.size} bytes for each SDRAM")
        return np.broadcast_to(held[:, None], (len(held), valid.shape[1], *held.shape[1:]))

    def _hold(self, transfer: Transfer, last: LastRound) -> None:
        """Keep addresses and data of the last round of each EMC; one that had no PE keeps what it held."""
        if transfer.half is not None:
            self.act[:] = NO_ADDRESS
            self.dct = None
            return
        each = last.data.shape[1:]
        if self.dct is None or self.dct.shape[1:] != each:
            self.dct = np.zeros((self._array.emcs, *each), np.uint8)
        self.act[last.emcs] = last.addresses
        self.dct[last.emcs] = last.data
