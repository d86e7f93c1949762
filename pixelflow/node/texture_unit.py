"""Texture instructions (meaning): they move bytes between local ports, corner turners, SDRAMs and GPs (2.2.7).

A transfer has two halves. `begin` takes addresses and data from the PEs and accesses texture memory; `end` writes the
input ports and GP memory. Between them are the cycles of the transfer, in which the PEs must leave the ports alone.
Every EMC has an address and a data corner turner, which hold the addresses and data of the last round.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.isa import Instruction
from pixelflow.isa.declarations import INPUT_PORT, OUTPUT_PORT, PORT_BYTES
from pixelflow.isa.tas import ADDRESS_BITS, COUNTER_BITS, Addressing
from pixelflow.node.texture_addresses import AddressMap, Physical, needs_addresses
from pixelflow.node.texture_memory import FixedWords, GpMemory, TextureMemory
from pixelflow.node.transfer import (
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
from pixelflow.simd.report import counted

# The order in which marked PEs of an EMC are served, their groups, and the commands of a module (thesis 2.2.7).


def service_order(marks: NDArray[np.bool_], array: ArrayConfig, *, panel_minor: bool) -> NDArray[np.int64]:
    """Return the marked lanes of each EMC in the order of service: int64[emcs, most marked], -1 for none.

    PE minor serves panel after panel; panel minor takes one marked PE of each panel in turn (thesis 2.2.7).
    """
    marked = marks.reshape(array.emcs, array.panels_per_emc, array.pes_per_panel)
    key = np.arange(array.panels_per_emc * array.pes_per_panel, dtype=np.int64).reshape(marked.shape[1:])
    if panel_minor:
        # The first marked PE of every panel comes before the second one of any.
        rank = np.cumsum(marked, axis=2, dtype=np.int64) - 1
        keys = rank * array.panels_per_emc + np.arange(array.panels_per_emc)[None, :, None]
    else:
        keys = np.broadcast_to(key, marked.shape)
    flat = marked.reshape(array.emcs, -1)
    last = np.iinfo(keys.dtype).max
    order = np.argsort(np.where(flat, keys.reshape(array.emcs, -1), last), axis=1, kind="stable")
    counts = flat.sum(axis=1)
    most = int(counts.max(initial=0))
    lanes = order[:, :most] + np.arange(array.emcs, dtype=np.int64)[:, None] * flat.shape[1]
    return np.where(np.arange(most)[None, :] < counts[:, None], lanes, -1)


def in_groups(lanes: NDArray[np.int64], transfer: Transfer) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lane that gives the address of each round, and the lanes that are served; -1 where no PE is left.

    The shapes are int64[emcs, rounds] and int64[emcs, rounds, PEs of a round].
    """
    together, each = transfer.pes_per_group, transfer.pes_per_round
    padded = np.concatenate([lanes, np.full((len(lanes), -lanes.shape[1] % together), -1)], axis=1)
    groups = padded.reshape(len(lanes), -1, together)
    if not transfer.group:
        return groups[:, :, 0], groups
    givers = np.repeat(groups[:, :, 0], transfer.group, axis=1)
    served = groups[:, :, 1:].reshape(len(lanes), -1, each)
    rounds = max((transfer.rounds(int(count)) for count in (lanes >= 0).sum(axis=1)), default=0)
    return givers[:, :rounds], served[:, :rounds]


def _marked_of(marks: NDArray[np.bool_], array: ArrayConfig) -> list[list[int]]:
    """Return the marked PEs of each EMC, module by module."""
    found: list[list[int]] = marks.reshape(array.modules, array.emcs_per_module, -1).sum(axis=2).tolist()
    return found


def rounds_of(transfer: Transfer, marks: NDArray[np.bool_], array: ArrayConfig) -> tuple[int, ...]:
    """Return the rounds of each module: those of its EMC with the most marked PEs."""
    if not (transfer.accesses or transfer.direction is Direction.LOOP_BACK):
        return (0,) * array.modules
    return tuple(transfer.rounds(max(each)) for each in _marked_of(marks, array))


def _slots(transfer: Transfer, marks: NDArray[np.bool_], array: ArrayConfig) -> tuple[tuple[int, int, int], ...]:
    """Return for each module the used slots, and the bytes that EMCs give and take in these."""
    marked = [Counter(counts).items() for counts in _marked_of(marks, array)]
    moves = (transfer.rounds, transfer.given_bytes, transfer.taken_bytes)
    used, given, taken = ([sum([of(count) * emcs for count, emcs in each]) for each in marked] for of in moves)
    return tuple(zip(used, given, taken, strict=True))


def commands_of(
    transfer: Transfer,
    marks: Callable[[str], NDArray[np.bool_]],
    destinations: Sequence[Destination],
    array: ArrayConfig,
    addresses: Sequence[tuple[RoundAddresses, ...]] | None = None,
) -> tuple[TransferCommand, ...]:
    """Return the command for each module, which is that of the PEs of another one where their bytes go over to it.

    ``marks`` returns the marks MR or MW: bool[lanes].
    """
    rounds, slots = (0,) * array.modules, ((0, 0, 0),) * array.modules
    if transfer.accesses or transfer.direction is Direction.LOOP_BACK:
        rounds, slots = rounds_of(transfer, marks(transfer.mark), array), _slots(transfer, marks(transfer.mark), array)
    parcels: list[tuple[int, ...]] = [()] * array.modules
    if transfer.returned is not None:
        for module, counts in enumerate(_marked_of(marks("MW"), array)):
            if transfer.returned.includes(module):
                there = (sum(count > index for count in counts) for index in range(max(counts)))
                parcels[module] = tuple(transfer.returned.size * emcs for emcs in there)
    return tuple(
        TransferCommand(
            transfer,
            rounds[module],
            parcels[module],
            destinations[module],
            None if addresses is None else addresses[module],
            *slots[module],
        )
        for module in ((number - transfer.over) % array.modules for number in range(array.modules))
    )


# State of the texture unit of a node, without the texture memories (2.2.7).


DEVICES = PORT_BYTES // 4
"""SDRAMs of a module: 8, one for each 4-byte word of a port (thesis 2.2.7)."""

T = TypeVar("T")

NO_ADDRESS = -1
"""The initial content of an address corner turner."""


@dataclass
class AddressGenerator:
    """The TASICs' address generator, the same in all modules: a counter and a crossbar, in which all bits start as 0.

    The crossbar picks a counter bit for each address bit (2.2.7).
    """

    counter: int = 0
    step: int = 0
    """The increment of the counter after each round of a transfer."""
    crossbar: list[int | None] = field(default_factory=lambda: [None] * ADDRESS_BITS)
    """The counter bit for each address bit; None is 0."""

    def __post_init__(self) -> None:
        if any(source is not None and source not in range(COUNTER_BITS) for source in self.crossbar):
            raise ValueError(f"the counter has bits 0 to {COUNTER_BITS - 1}")

    def connect(self, bit: int, source: int | None) -> None:
        """Connect address bit ``bit`` to counter bit ``source``, or to 0."""
        self.crossbar[bit] = source

    def advance(self, delta: int) -> None:
        """Add to the counter, modulo 2^16."""
        self.counter = (self.counter + delta) % (1 << COUNTER_BITS)

    def address(self, rounds_ahead: int = 0) -> int:
        """Return the address for the counter as it will be after ``rounds_ahead`` more rounds."""
        counter = self.counter + rounds_ahead * self.step
        return sum(1 << bit for bit, source in enumerate(self.crossbar) if source is not None and counter >> source & 1)


@dataclass
class Moving:
    """Data of a transfer between its two halves: lanes and bytes for their input ports; bytes for each GP memory."""

    lanes: NDArray[np.int64] | None = None
    data: NDArray[np.uint8] | None = None
    returned: tuple[tuple[Destination, NDArray[np.uint8]], ...] = ()


@dataclass(eq=False)
class TextureState:
    """Registers and corner turners of the TASICs of all modules, and the current transfer; part of a checkpoint."""

    destinations: list[Destination]
    """The destination of each module's bytes for GPs."""
    act: NDArray[np.int64]
    """The address corner turners (ACT): addresses of the last round, int64[emc, device]; -1 before there are any."""
    dct: NDArray[np.uint8] | None = None
    """The data corner turners (DCT): data of the last round, uint8[emc, device, byte]; None before there are any."""
    generator: AddressGenerator = field(default_factory=AddressGenerator)
    panel_minor: bool = False
    alternate: bool = False
    """True if alternate banks are promised."""
    transfer: Transfer | None = None
    """The transfer that the last texture instruction asked for."""
    moving: Moving = field(default_factory=Moving)
    moved: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WAYS, 0))
    """Bytes of data moved since the start, by way, without addresses and idle slots."""

    @classmethod
    def of(cls, config: NodeConfig) -> TextureState:
        """Return the state in which the TASICs of a node start."""
        held = np.full((config.array.emcs, DEVICES), NO_ADDRESS, np.int64)
        return cls([Destination() for _ in range(config.array.modules)], held)

    def __post_init__(self) -> None:
        self.moved = dict.fromkeys(WAYS, 0) | self.moved  # an older file lacks a way

    def snapshot(self) -> TextureState:
        """Return a copy of the state."""
        return TextureState(**{each.name: _copied(getattr(self, each.name)) for each in fields(TextureState)})

    def restore(self, state: TextureState) -> None:
        """Restore a copy of a state."""
        for each in fields(TextureState):
            setattr(self, each.name, _copied(getattr(state, each.name)))

    @property
    def is_idle(self) -> bool:
        """True if no transfer has begun that has not ended."""
        return self.moving.lanes is None and not self.moving.returned

    def is_as(self, other: TextureState, *, dct: bool = True) -> bool:
        """Return whether both states are idle and have equal registers, and with ``dct`` equal data corner turners."""
        return (
            self.is_idle
            and other.is_idle
            and self.registers == other.registers
            and self.alternate == other.alternate
            and self.transfer == other.transfer
            and np.array_equal(self.act, other.act)
            and (not dct or _is_same(self.dct, other.dct))
        )

    @property
    def registers(self) -> tuple[object, ...]:
        """The registers that determine a read, not copied."""
        generator = self.generator
        return (self.panel_minor, generator.counter, generator.step, generator.crossbar, self.destinations)


def _is_same(one: NDArray[np.uint8] | None, other: NDArray[np.uint8] | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def _copied(value: T) -> T:
    """Return a copy of a part of the state, faster than `deepcopy`."""
    match value:
        case None | bool() | Transfer():
            return value
        case np.ndarray() | dict() | list():
            return cast("T", value.copy())
        case AddressGenerator():
            return replace(value, crossbar=list(value.crossbar))
    return copy.deepcopy(value)


class TextureAccess:
    """Accesses to the texture memories of a node, addressed by the number of a cell inside each device."""

    def __init__(self, config: NodeConfig, memories: Sequence[TextureMemory]) -> None:
        self._array = config.array
        self._sdram = config.sdram
        self._map = AddressMap(config.sdram)
        self._memories = memories

    def carry_out(
        self,
        transfer: Transfer,
        addresses: NDArray[np.int64],
        valid: NDArray[np.bool_],
        givers: NDArray[np.int64],
        data: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """Write ``data``, or read: uint8[emcs, rounds, devices, size], for addresses int64[emcs, rounds, devices].

        ``givers`` are the lanes that give the addresses, int64[emcs, rounds], for faults.

        The order is round by round, within a round EMC by EMC: the last write to an address counts. Raises MachineFault
        for an address outside the devices, and for a broken promise of alternate banks.
        """
        self.check(transfer, addresses, valid, givers)
        modules = self._array.modules
        rounds, devices = addresses.shape[1:]
        shape = (modules, self._array.emcs_per_module, rounds)
        found = np.zeros((*shape, devices, transfer.size), np.uint8)
        for number, memory in enumerate(self._memories):
            module = (number - transfer.over) % modules
            taken = valid.reshape(shape)[module].T
            where = addresses.reshape(*shape, devices)[module].swapaxes(0, 1)[taken]
            physical = self.physical(where, first=4 * (transfer.half or 0))
            if data is not None:
                memory.write(physical, data.reshape(found.shape)[module].swapaxes(0, 1)[taken])
            else:
                found[module].swapaxes(0, 1)[taken] = memory.read(physical, transfer.size)
        return data if data is not None else found.reshape(valid.shape[0], rounds, devices, transfer.size)

    def physical(self, addresses: NDArray[np.int64], *, first: int = 0) -> Physical:
        """Return bank, row and column of addresses inside the devices starting at ``first``: int64[n, devices] each."""
        devices = np.broadcast_to(first + np.arange(addresses.shape[-1], dtype=np.int64), addresses.shape)
        return Physical(devices, *self._map.cell(addresses))

    def check(
        self,
        transfer: Transfer,
        addresses: NDArray[np.int64],
        valid: NDArray[np.bool_],
        givers: NDArray[np.int64] | None = None,
    ) -> None:
        """Raise MachineFault for an address outside the devices, and for a broken promise of alternate banks."""
        limit = min(1 << ADDRESS_BITS, self._map.cells)
        wrong = ((addresses < 0) | (addresses >= limit) | (addresses & transfer.size - 1 != 0)) & valid[:, :, None]
        if wrong.any():
            emc, place, device = (int(each[0]) for each in np.nonzero(wrong))
            raise MachineFault(
                f"texture address {int(addresses[emc, place, device]):#x} is not a multiple of {transfer.size} below "
                f"{limit:#x}{'' if givers is None else self._whose(givers, emc, place)}"
            )
        if transfer.alternate:
            self._check_promise(transfer, addresses, valid)

    def _whose(self, givers: NDArray[np.int64], emc: int, place: int) -> str:
        """Return the place of a fault: module, EMC, PE, round."""
        lane = int(givers[emc, place])
        module, index = divmod(emc, self._array.emcs_per_module)
        position = ".".join(map(str, np.unravel_index(lane, self._array.shape)))
        return f": module {module}, EMC {index}, PE {lane} ({position}), round {place}"

    def _check_promise(self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]) -> None:
        """Check that neighbouring accesses are in different banks, except between the rounds of a read."""
        emcs = self._array.emcs_per_module
        by_round = (self._array.modules, emcs, addresses.shape[1])
        banks = np.asarray(self._map.cell(addresses).bank).reshape(*by_round, addresses.shape[2]).swapaxes(1, 2)
        there = valid.reshape(by_round).swapaxes(1, 2)
        if transfer.direction is Direction.WRITE:
            accesses = there.shape[1] * there.shape[2]
            banks = banks.reshape(len(banks), 1, accesses, banks.shape[-1])
            there = there.reshape(len(there), 1, accesses)
        same = (banks[:, :, 1:] == banks[:, :, :-1]).any(axis=-1) & there[:, :, 1:] & there[:, :, :-1]
        if not same.any():
            return
        module, row, index = (int(each[0]) for each in np.nonzero(same))
        place, emc = divmod(row * emcs + index + 1, emcs)
        raise MachineFault(
            f"alternate banks were promised, but module {module}, EMC {emc} accesses bank "
            f"{int(banks[module, row, index + 1, 0])} in round {place}, as the access before it did"
        )

    def by_round(
        self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]
    ) -> list[tuple[RoundAddresses, ...]]:
        """Return the addresses by module and round, for a run that schedules each access."""
        emcs, rounds, devices = addresses.shape
        first = 4 * (transfer.half or 0)
        alike = (addresses == addresses[:, :, :1]).all(axis=2) & (devices == self._sdram.devices_per_module)
        lists, same, there = addresses.tolist(), alike.tolist(), valid.tolist()
        left_out = self._sdram.devices_per_module - first - devices

        def one(emc: int, index: int) -> tuple[int | None, ...] | None:
            if not there[emc][index]:
                return None
            if same[emc][index]:
                return (lists[emc][index][0],)
            return (*[None] * first, *lists[emc][index], *[None] * left_out)

        each = self._array.emcs_per_module
        return [
            tuple(tuple(one(emc, index) for emc in range(start, start + each)) for index in range(rounds))
            for start in range(0, emcs, each)
        ]


# Cache of reads of texture memory: a read by the same PEs at the same addresses, with nothing written in between, has
# the same result. A repeated pass reads the same control points.


_KEPT = 32


class Asked(NamedTuple):
    """The inputs of a read except texture memory: ``all`` as a key, and of these the marks and the ports' bytes."""

    all: Hashable
    marks: NDArray[np.bool_]
    given: NDArray[np.uint8]


class LastRound(NamedTuple):
    """The contents of the corner turners after a transfer: addresses and data of each EMC that took part."""

    emcs: NDArray[np.int64] | slice
    addresses: NDArray[np.int64]
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, addresses: NDArray[np.int64], valid: NDArray[np.bool_], data: NDArray[np.uint8]) -> LastRound:
        """Return the last rounds of addresses and data by EMC and round."""
        emcs = np.flatnonzero(valid.any(axis=1))
        last = valid.sum(axis=1)[emcs] - 1
        return cls(emcs if len(emcs) < len(valid) else slice(None), addresses[emcs, last], data[emcs, last])


@dataclass(eq=False)
class KeptRead:
    """A read and its result: addresses, EMCs that took part, data by EMC and round, and the lanes served."""

    addresses: NDArray[np.int64]
    valid: NDArray[np.bool_]
    data: NDArray[np.uint8]
    lanes: NDArray[np.int64]
    source: NDArray[np.int64]
    """For each of ``lanes`` its block (`blocks`)."""
    marks: NDArray[np.bool_] | None = None
    """The marks, where the read is kept."""
    came_again: bool = False
    given: NDArray[np.uint8] | None = None
    """The first bytes of all output ports, those that matter: uint8[byte, lane]."""
    _ports: NDArray[np.uint8] | None = None
    _left: NDArray[np.uint8] | None = None

    @cached_property
    def accesses(self) -> int:
        """The number of accesses, one for each EMC and round."""
        return int(self.valid.sum())

    @cached_property
    def last(self) -> LastRound:
        """The contents of the corner turners after the read."""
        return LastRound.of(self.addresses, self.valid, self.data)

    @cached_property
    def served(self) -> NDArray[np.uint8]:
        """For each of ``lanes`` the bytes of its port: uint8[n, 32]."""
        return self.blocks[self.source]

    @property
    def halves(self) -> int:
        """Blocks of a round: one of the first 4 bytes of every SDRAM, and one of the other 4 where they give 8."""
        return self.data.shape[3] // 4

    @cached_property
    def blocks(self) -> NDArray[np.uint8]:
        """The data for PEs by EMC and round: uint8[block, 32]."""
        emcs, rounds, devices, _ = self.data.shape
        words = self.data.reshape(emcs, rounds, devices, self.halves, 4)
        return words.swapaxes(2, 3).reshape(-1, 4 * devices)

    def data_of(self, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return other blocks in the form of ``data``."""
        emcs, rounds, devices, size = self.data.shape
        words = blocks.reshape(emcs, rounds, self.halves, devices, 4)
        return words.swapaxes(2, 3).reshape(emcs, rounds, devices, size)

    def source_of(self, total: int) -> NDArray[np.int64]:
        """Return the block of each of ``total`` PEs, -1 for none."""
        source = np.full(total, -1, np.int64)
        source[self.lanes] = self.source
        return source

    @cached_property
    def marks_row(self) -> NDArray[np.uint8]:
        """The marks as engines compare them: uint8[1, lane] of 0 and 255."""
        assert self.marks is not None, "the read is kept"
        return np.where(self.marks, np.uint8(0xFF), np.uint8(0))[None]

    def put(self, total: int, held: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Return the input ports of ``total`` PEs after the read: uint8[32, total].

        ``held`` returns a copy of their contents before, called if some PE is not served.
        """
        if self._ports is None:
            nothing, source = np.zeros((1, self.blocks.shape[1]), np.uint8), self.source_of(total)
            self._ports = np.concatenate([self.blocks, nothing]).T.take(source, axis=1)
            self._left = np.where(source < 0, np.uint8(0xFF), np.uint8(0)) if len(self.lanes) < total else None
        if self._left is None:
            return self._ports
        ports = held()
        np.bitwise_and(ports, self._left, out=ports)
        return np.bitwise_or(ports, self._ports, out=ports)


class ReadCache:
    """The last reads of one node, by their inputs."""

    def __init__(self, memories: Sequence[TextureMemory]) -> None:
        self._memories = memories
        self._found: dict[tuple[Hashable, tuple[int, ...]], KeptRead] = {}

    def find(self, what: Hashable) -> KeptRead | None:
        """Return the read with the inputs ``what`` and the current contents of texture memory."""
        return self._found.get((what, self.versions()))

    def keep(self, what: Hashable, read: KeptRead) -> None:
        """Keep a read, and drop those of former contents."""
        versions = self.versions()
        self._found = {known: each for known, each in self._found.items() if known[1] == versions}
        if len(self._found) >= _KEPT:
            del self._found[next(iter(self._found))]
        self._found[what, versions] = read

    def versions(self) -> tuple[int, ...]:
        """Return a key for the contents of texture memory."""
        return tuple(memory.version for memory in self._memories)


class Rereading:
    """The reads of a run repeated together, at the same addresses and for the same PEs, of current contents."""

    def __init__(self, reads: Sequence[KeptRead], access: TextureAccess, memories: Sequence[TextureMemory]) -> None:
        ends = np.cumsum([len(read.blocks) for read in reads])
        self._blocks = np.zeros((ends[-1], PORT_BYTES // 4), np.uint32)
        self._parts = np.split(self._blocks, ends[:-1])
        self._found: list[tuple[NDArray[np.int64], FixedWords]] = []
        for module, memory in enumerate(memories):
            numbers, places = [], []
            for read, end in zip(reads, ends, strict=True):
                number, where = _places(read, access, module, len(memories))
                numbers.append(end - len(read.blocks) + number)
                places.append(where)
            where = Physical(*(np.concatenate(fields) for fields in zip(*places, strict=True)))
            self._found.append((np.concatenate(numbers), memory.fixed(where)))

    def blocks(self) -> list[NDArray[np.uint8]]:
        """Return the current result of every read, as `KeptRead.blocks`: uint8[block, 32]."""
        for numbers, words in self._found:
            self._blocks[numbers] = words.read()
        return [part.view(np.uint8) for part in self._parts]


def _places(read: KeptRead, access: TextureAccess, module: int, modules: int) -> tuple[NDArray[np.int64], Physical]:
    """Return the blocks of a read that come from a module, and the places of their eight words: int64[n, 8] each."""
    halves = read.halves
    emcs = len(read.valid) // modules
    own = np.zeros_like(read.valid)
    own[module * emcs : (module + 1) * emcs] = read.valid[module * emcs : (module + 1) * emcs]
    where = access.physical(read.addresses[own])
    later = 4 * np.arange(halves)[:, None]
    fields = [np.repeat(np.asarray(field)[:, None], halves, axis=1) for field in where]
    fields[3] = fields[3] + later
    number = halves * np.flatnonzero(own)[:, None] + np.arange(halves, dtype=np.int64)
    return number.reshape(-1), Physical(*(field.reshape(-1, field.shape[-1]) for field in fields))


_GIVEN = {Addressing.GENERATED: 0, Addressing.BASE: 3, Addressing.EXPLICIT: PORT_BYTES}
"""Bytes of a port that determine an address; other reads are not kept."""
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
        self.engine = engine
        self._memories = memories
        self._access = TextureAccess(config, memories)
        self._kept = ReadCache(memories)
        self._coming: KeptRead | None = None
        """The current read, unless it is from a saved state."""
        self._scheduled = needs_addresses(config.sdram)
        self.nodes = nodes
        """Nodes that the geometry network joins."""
        self.gps_of: Callable[[int], Sequence[GpMemory]] = lambda node: gp_memories
        """Return the GP memories of the node at a distance along the geometry network."""
        self._addresses: list[tuple[RoundAddresses, ...]] | None = None
        self.accessed: BlockAccess | None = None
        """The accesses of the current transfer; None where there are none, or a kept read is used."""
        self.watched = False
        """True if every access has subscribers, so that kept reads are not used."""

    # --- texture instructions -------------------------------------------------------------------------------------

    def read(self, size: int, sends: int, addressing: Addressing) -> None:
        self.transfer = Transfer(
            Direction.READ, size=size, sends=sends, addressing=addressing, alternate=self.alternate
        )

    def write(
        self,
        size: int,
        addressing: Addressing,
        held: bool,
        group: int = 0,
        half: int | None = None,
        over: int = 0,
    ) -> None:
        modules = self._array.modules
        if over >= modules:
            allowed = f", so 1 to {modules - 1} are allowed" if modules > 1 else ""
            raise MachineFault(f"no module is {over} further on: the node has {counted(modules, 'module')}{allowed}")
        self.transfer = Transfer(
            Direction.WRITE,
            size=size,
            addressing=addressing,
            held=held,
            alternate=self.alternate,
            group=group,
            half=half,
            over=over,
        )

    def loop_back(self) -> None:
        self.transfer = Transfer(Direction.LOOP_BACK)

    def give(self, modules: int, start: int, size: int) -> None:
        """Send a part of the ports to GP memory, in addition to a read by the same instruction."""
        if start + size > PORT_BYTES:
            raise MachineFault(f"bytes {start}..{start + size - 1} are outside a port of {PORT_BYTES}")
        returned = Return(self._present(modules), start, size)
        transfer = self.transfer or Transfer(Direction.RETURN)
        self.transfer = transfer._replace(returned=returned)

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
                self.destinations[module] = self.destinations[module]._replace(address=address)

    def _present(self, modules: int) -> int:
        if modules >> self._array.modules:
            raise MachineFault(f"modules {modules:#b}: the node has only {self._array.modules}")
        return modules

    def tell(self, instruction: Instruction) -> Transfer | None:
        """Execute a texture instruction; return the transfer that it asks for."""
        self.transfer = None
        instruction.declaration.meaning(self, *instruction.operands)
        return self.transfer

    # --- the two halves of a transfer --------------------------------------------------------------------------------

    def begin(self, transfer: Transfer) -> None:
        """Take addresses and data from the PEs and access texture memory; raises MachineFault."""
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
                assert transfer.load is not None
                self._begin_load(transfer.load)
        if transfer.returned is not None:
            self._begin_return(transfer.returned)
        if transfer.accesses and not transfer.group:
            rounds = rounds_of(transfer, self._marked(transfer.mark), self._array)
            self.generator.advance(self.generator.step * max(rounds, default=0))

    def commands(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Return the command for each module for the transfer that has just begun, with addresses."""
        return commands_of(transfer, self._marked, self.destinations, self._array, self._addresses)

    def end(self) -> None:
        """Write the data of the transfer into the input ports of the PEs and into GP memory."""
        moving, self.moving = self.moving, Moving()
        if self._coming is not None and moving.data is self._coming.served:
            engine = self.engine
            ports = self._coming.put(engine.shape.lanes, lambda: engine.get_rows(INPUT_PORT, PORT_BYTES))
            self.engine.set_rows(INPUT_PORT, ports)
        elif moving.lanes is not None and len(moving.lanes):
            assert moving.data is not None
            port = self.engine.get_rows(INPUT_PORT, PORT_BYTES)
            port[:, moving.lanes] = moving.data.T
            self.engine.set_rows(INPUT_PORT, port)
        for where, data in moving.returned:
            self.gps_of(where.node)[where.gp].write(where.address, data)

    def _marked(self, mark: str) -> NDArray[np.bool_]:
        """The PEs with a mark: bool[lane]."""
        return self.engine.get_bit(mark)

    def _groups(self, transfer: Transfer, mark: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        panel_minor = self.panel_minor and transfer.sends == 1
        return in_groups(service_order(self._marked(mark), self._array, panel_minor=panel_minor), transfer)

    def _port(self, count: int = PORT_BYTES) -> NDArray[np.uint8]:
        """The first bytes of the output ports: uint8[lanes, count]."""
        return np.ascontiguousarray(self.engine.get_rows(OUTPUT_PORT, count).T)

    def _begin_read(self, transfer: Transfer) -> None:
        asked = self._asked(transfer)
        read = None if asked is None else self._kept.find(asked.all)
        if read is not None:
            read.came_again = True
            self._note_addresses(transfer, read.addresses, read.valid)
        else:
            read = self._read(transfer)
            if asked is not None:
                read.marks, read.given = asked.marks, asked.given
                self._kept.keep(asked.all, read)
        self._count_read(transfer, read)

    def _asked(self, transfer: Transfer) -> Asked | None:
        """Return the inputs of a read except texture memory; None for one that is not kept."""
        words = _GIVEN.get(transfer.addressing)
        if words is None or self.watched:
            return None
        marks, given = self._marked("MR"), self.engine.get_rows(OUTPUT_PORT, words)
        registers = (self.panel_minor, self.generator.counter, self.generator.step, *self.generator.crossbar)
        return Asked((transfer._replace(returned=None), registers, marks.tobytes(), given.tobytes()), marks, given)

    def _count_read(self, transfer: Transfer, read: KeptRead) -> None:
        self.moving, self._coming = Moving(read.lanes, read.served), read
        self.moved["texture memory to TASICs"] += read.accesses * DEVICES * transfer.size
        self.moved["TASICs to PEs"] += len(read.lanes) * PORT_BYTES
        self._hold(transfer, read.last)

    def rereading(self, reads: Sequence[KeptRead]) -> Rereading:
        """Return the repetition of reads with later contents of texture memory."""
        return Rereading(reads, self._access, self._memories)

    @property
    def versions(self) -> tuple[int, ...]:
        """A key for the contents of texture memory."""
        return self._kept.versions()

    def cached_read(self, transfer: Transfer, *, new: bool) -> KeptRead | None:
        """Return the read that has just begun, if it can be reused where the same PEs ask for the same.

        None for a first read, unless only its bytes are ``new``.
        """
        read = self._coming
        if read is None or not (new or read.came_again) or read.marks is None:
            return None
        return None if transfer.returned is not None or self._scheduled else read

    def begin_again(self, transfer: Transfer, read: KeptRead) -> None:
        """Begin a read with the inputs of an earlier one; the caller must put ``read.served`` into the ports."""
        self._count_read(transfer, read)
        self.moving, self._coming = Moving(), None
        assert read.marks is not None, "the read is kept"
        rounds = rounds_of(transfer, read.marks, self._array)
        self.generator.advance(self.generator.step * max(rounds, default=0))

    def _read(self, transfer: Transfer) -> KeptRead:
        """Access texture memory; raises MachineFault for bad addresses."""
        givers, groups = self._groups(transfer, "MR")
        valid = groups[:, :, 0] >= 0
        addresses = self._where(transfer, givers, valid)
        self._note_addresses(transfer, addresses, valid)
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
        self._note_addresses(transfer, addresses, valid)
        if transfer.held:
            data = self._held(valid, transfer)
        else:
            words = self._port()[np.maximum(groups, 0)].reshape(*groups.shape, DEVICES, 4)
            words[groups < 0] = 0
            if transfer.half is not None:
                words = words[:, :, :, DEVICES // 2 :]
            words_each = words.shape[2] * words.shape[3] * 4 // transfer.size
            data = words.swapaxes(2, 3).reshape(*groups.shape[:2], words_each, transfer.size)
            moved = int((groups >= 0).sum()) * 4 * words.shape[3]
            self.moved["PEs to TASICs"] += moved
            self.moved["TASICs to TASICs"] += moved * bool(transfer.over)
        self.accessed = BlockAccess(transfer, givers, groups, addresses, valid, data)
        self._access.carry_out(transfer, addresses, valid, givers, data)
        self.moved["TASICs to texture memory"] += int(valid.sum()) * addresses.shape[2] * transfer.size
        self._hold(transfer, LastRound.of(addresses, valid, data))

    def _begin_loop_back(self) -> None:
        writers = service_order(self._marked("MW"), self._array, panel_minor=self.panel_minor)
        readers = service_order(self._marked("MR"), self._array, panel_minor=self.panel_minor)
        if np.any((writers >= 0).sum(axis=1) != (readers >= 0).sum(axis=1)):
            raise MachineFault("TAS_LoopBack: an EMC has not as many PEs marked for writing as for reading")
        taken = writers >= 0
        self.moving = Moving(readers[taken], self._port()[writers[taken]])
        self.moved["PEs to PEs"] += int(taken.sum()) * PORT_BYTES

    def _begin_load(self, load: Load) -> None:
        lowest = next(module for module in range(self._array.modules) if load.includes(module))
        source = self.destinations[lowest]
        if source.node:
            raise MachineFault("TAS_MemLoad loads from a GP of the same node")
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
        self.destinations[lowest] = source._replace(address=source.address + len(data))
        self.moved["GPs to TASICs"] += len(data)

    def _begin_return(self, returned: Return) -> None:
        lanes = service_order(self._marked("MW"), self._array, panel_minor=self.panel_minor)
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
            self.destinations[module] = where._replace(address=where.address + len(data))
            self.moved["PEs to GPs"] += len(data)
        self.moving.returned = tuple(parts)

    # --- addresses and corner turners ---------------------------------------------------------------------------------

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
                base = (self._words_of(givers, 1) & _BASE_MASK).astype(np.int64)
                addresses = np.broadcast_to(base + offsets[None, :, None], shape)
            case Addressing.EXPLICIT:
                addresses = self._words_of(givers, DEVICES).astype(np.int64)
            case _:
                raise InternalError(f"unknown addressing {transfer.addressing}")
        if transfer.half is not None:
            addresses = addresses[:, :, : DEVICES // 2]
        return np.where(valid[:, :, None], addresses, 0)

    def _note_addresses(self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]) -> None:
        """Keep the addresses of the transfer, in runs that schedule every access."""
        if self._scheduled:
            self._addresses = self._access.by_round(transfer, addresses, valid)

    def _words_of(self, lanes: NDArray[np.int64], count: int) -> NDArray[np.uint32]:
        """Return the first words in the output ports of these lanes: uint32[..., count]."""
        return self._port(4 * count).view("<u4")[np.maximum(lanes, 0)]

    def _held(self, valid: NDArray[np.bool_], transfer: Transfer) -> NDArray[np.uint8]:
        """Return the contents of the data corner turners for every round."""
        held = self.dct
        if held is None or held.shape[1:] != (DEVICES, transfer.size):
            raise MachineFault(f"the data corner turners hold no {transfer.size} bytes for each SDRAM")
        return np.broadcast_to(held[:, None], (len(held), valid.shape[1], *held.shape[1:]))

    def _hold(self, transfer: Transfer, last: LastRound) -> None:
        """Keep addresses and data of the last round of each EMC that took part."""
        if transfer.half is not None:
            self.act[:] = NO_ADDRESS
            self.dct = None
            return
        each = last.data.shape[1:]
        if self.dct is None or self.dct.shape[1:] != each:
            self.dct = np.zeros((self._array.emcs, *each), np.uint8)
        self.act[last.emcs] = last.addresses
        self.dct[last.emcs] = last.data
