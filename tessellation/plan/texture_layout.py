"""Layout of texture memory: the patch database, kept results and pictures (3.5, 4.1 and 4.3).

A patch is a run of 32-byte batches, in the order of use: the 8 words of a batch are at the same address of the 8 SDRAMs
of a module, so that one access brings them all. Addresses here are *logical linear* ones of one module (figure 11): the
word at linear address 32 b + 4 d is in SDRAM d at byte address 4 b. A patch begins at a multiple of the next power of
two of its size, so that the address generator's offset only fills bits that are zero in the base (appendix B).

Patches are placed from the lower end of a module, kept results and pictures from the upper one. `write` stores the
bytes at once, for no cycles; `gp_traffic.load` makes the node load them from GP memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig, SdramConfig
from pixelflow.node import EMC_WIDTH, AddressMap, Cell, Node, Texel
from pixelflow.simd.errors import Fault, InputError
from tessellation.plan.memory_map import BATCH_BYTES

# Places of the results of a pass in texture memory, by each way of appendix B (thesis 4.3 and appendix B).
#
# A base address is on a boundary of the next power of two of the generator's count. Three of four PEs write a word of
# every SDRAM, so that a base for three words takes four places and a quarter of them stays empty. For eight PEs, with
# three words in either bank, these are the appendix's six items in the room of eight. The way `split` breaks them into
# 4 + 2, two words a bank from one base and one from another, and leaves nothing empty.
#
# Cells are those of one SDRAM, of four bytes; the words of all eight have the same cell. The session chooses the begin
# of an area; the addresses inside it are those of `texture/caching.mc`, and differ from module to module by a distance
# of one group of PEs, as the LEE computes them from coordinates that do (invented).


FAR_WAYS = ("alternate", "split")
"""Ways in which EMCs take turns between the banks."""


class CellRun(NamedTuple):
    """Neighbouring cells of every SDRAM of a module: the number of the first one, and their count."""

    first: int
    cells: int


class ResultArea(NamedTuple):
    """The place of one pass's results; ``first`` is the number of its first cell, in the first bank if it takes
    both.
    """

    way: str
    first: int
    bank: int
    """Distance from a cell to the same one in the second bank."""
    columns: int
    """PEs of a module side by side."""
    modules: int

    @classmethod
    def at(cls, way: str, first: int, config: NodeConfig) -> ResultArea:
        """Return the area of a machine that begins at a cell."""
        bank = int(AddressMap(config.sdram).number(Cell(1, 0, 0)))
        return cls(way, first, bank, EMC_WIDTH * config.array.emcs_per_module, config.array.modules)

    @property
    def both_banks(self) -> bool:
        """True if the same cells of the second bank belong to it."""
        return self.way in FAR_WAYS

    @property
    def single(self) -> int:
        """Return where the third words begin, with sets of 4 + 2: past all modules' first sets."""
        return self.first + 16 * self.columns + 16 * (self.modules - 1)

    def pieces(self, module: int) -> tuple[CellRun, ...]:
        """Return its cells in a module, the same in each of its banks."""
        if self.way == "split":
            pairs = CellRun(self.first + 32 * module, 16 * self.columns)
            return pairs, CellRun(self.single + 16 * module, 8 * self.columns)
        each = 32 if self.both_banks else 64
        return (CellRun(self.first + 64 * module, each * self.columns),)

    @property
    def cells(self) -> int:
        """Cells from the first to the last that any module takes, in each bank."""
        last = self.pieces(self.modules - 1)[-1]
        return last.first + last.cells - self.first

    @property
    def taken_cells(self) -> int:
        """Cells that it takes in a module, in all banks."""
        return (2 if self.both_banks else 1) * sum(piece.cells for piece in self.pieces(0))


# Owners of the parts of texture memory: patches, kept results and pictures in one space (thesis 4.3).
#
# Every part has an address in three spaces (`pixelflow.node.AddressMap`): patches and results are runs of *linear*
# addresses, pictures are rectangles of rows and columns of *logical texture space*, and the mapping between the two
# keeps the footprint of a run square, so that large squares stay free for pictures. The unit is the size of one access
# to all SDRAMs of a module: 32 bytes of linear space, 2 rows of 4 texels on the thesis machine.
#
# Pictures are placed from the upper end of the memory, on a boundary of the power of two of their larger side if one is
# free; a rectangle takes no more than its own units, so that the rest of that square stays free.


class Owner(IntEnum):
    """Owner of a part of texture memory."""

    FREE = 0
    PATCHES = 1
    RESULTS = 2
    TEXTURES = 3
    WORK = 4
    """Working space of programs."""

    @property
    def title(self) -> str:
        """The name in reports."""
        return self.name.lower()

    @property
    def letter(self) -> str:
        """The letter in maps."""
        return "." if self is Owner.FREE else self.name[0].lower()


class Rectangle(NamedTuple):
    """Texels of logical texture space: the first row and column, and the numbers of rows and columns."""

    row: int
    column: int
    rows: int
    columns: int

    @property
    def text(self) -> str:
        """The rectangle in words."""
        return (
            f"rows {self.row} to {self.row + self.rows - 1}, columns {self.column} to {self.column + self.columns - 1}"
        )


class TextureSpace:
    """The owners of all units of the texture memories of a node's modules."""

    def __init__(self, config: SdramConfig, modules: int) -> None:
        self.map = AddressMap(config)
        self.unit = 4 * config.devices_per_module
        """Bytes of linear space in one unit."""
        self._owners = np.zeros((modules, self.map.size // self.unit), np.uint8)

    # --- runs of linear addresses -------------------------------------------------------------------------------------

    def is_free(self, module: int, start: int, size: int) -> bool:
        """Return True if a run of linear addresses has no owner."""
        return not self._owners[module, self._units(start, size)].any()

    def take(self, owner: Owner, modules: Iterable[int], start: int, size: int) -> None:
        """Give a run of linear addresses to an owner; `Owner.FREE` frees it."""
        for module in modules:
            self._owners[module, self._units(start, size)] = owner

    def find(
        self,
        modules: Sequence[int],
        size: int,
        align: int,
        limit: int,
        copies: Sequence[int] = (0,),
        *,
        last: bool = False,
    ) -> int | None:
        """Return the first address of ``size`` free bytes in all modules, below ``limit`` and a multiple of ``align``.

        With ``last`` the last such address, with ``copies`` one that is free at these distances as well; None if there
        is none.
        """
        units = align // self.unit
        pieces = -(-size // align)
        busy = np.zeros(limit // align, bool)
        for module in modules:
            for copy in copies:
                owners = self._owners[module, copy // self.unit :][: len(busy) * units]
                busy |= owners.reshape(-1, units).any(axis=1)
        if pieces > len(busy):
            return None
        before = np.concatenate([[0], np.cumsum(busy)])
        places = np.flatnonzero(before[pieces:] == before[:-pieces])
        return int(places[-1 if last else 0]) * align if len(places) else None

    # --- rectangles of texels -----------------------------------------------------------------------------------------

    @cached_property
    def _tile(self) -> tuple[int, int]:
        """Rows and columns of texels of a unit."""
        texels = self.map.to_texture(np.arange(0, self.unit, 4))
        return int(np.max(texels.row)) + 1, int(np.max(texels.column)) + 1

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The unit at each row and column of units: int64[rows, columns]."""
        first = self.map.to_texture(self.unit * np.arange(self._owners.shape[1], dtype=np.int64))
        rows, columns = first.row // self._tile[0], first.column // self._tile[1]
        places = np.zeros((int(np.max(rows)) + 1, int(np.max(columns)) + 1), np.int64)
        places[rows, columns] = np.arange(np.size(rows))
        return places

    def place(self, rows: int, columns: int) -> Rectangle | None:
        """Return a free rectangle of texels, the same in all modules, or None."""
        busy = (self._owners != Owner.FREE).any(axis=0)[self._places]
        height, width = -(-rows // self._tile[0]), -(-columns // self._tile[1])
        if height > busy.shape[0] or width > busy.shape[1]:
            return None
        sums = np.pad(busy.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32), ((1, 0), (1, 0)))
        taken = sums[height:, width:] - sums[:-height, width:] - sums[height:, :-width] + sums[:-height, :-width]
        side = 1 << (max(rows, columns) - 1).bit_length()
        while side:
            down, across = max(1, side // self._tile[0]), max(1, side // self._tile[1])
            free = np.argwhere(taken[::down, ::across] == 0) * (down, across)
            if len(free):
                row, column = free[np.argmax(self._places[free[:, 0], free[:, 1]])].tolist()
                return Rectangle(row * self._tile[0], column * self._tile[1], rows, columns)
            side = side // 2 if max(down, across) > 1 else 0
        return None

    def give(self, owner: Owner, rectangle: Rectangle) -> None:
        """Give the units of a rectangle, in all modules, to an owner; `Owner.FREE` frees them."""
        down, across = self._tile
        rows = slice(rectangle.row // down, -(-(rectangle.row + rectangle.rows) // down))
        columns = slice(rectangle.column // across, -(-(rectangle.column + rectangle.columns) // across))
        self._owners[:, self._places[rows, columns].ravel()] = owner

    def linear(self, rectangle: Rectangle) -> NDArray[np.int64]:
        """Return the linear addresses of the texels of a rectangle: int64[rows, columns]."""
        row = rectangle.row + np.arange(rectangle.rows, dtype=np.int64)[:, None]
        column = rectangle.column + np.arange(rectangle.columns, dtype=np.int64)[None, :]
        return np.asarray(self.map.from_texture(Texel(*np.broadcast_arrays(row, column))))

    # --- what there is ------------------------------------------------------------------------------------------------

    def bytes_of(self, owner: Owner, module: int) -> int:
        """Return the bytes of an owner in a module."""
        return int((self._owners[module] == owner).sum()) * self.unit

    @property
    def modules(self) -> int:
        """Modules, each with a separate memory."""
        return len(self._owners)

    def part(self, rows: int, columns: int) -> str:
        """Return the texels for a letter of a map of this many rows and columns, as text."""
        down, across = self._places.shape
        high, wide = down // min(rows, down) * self._tile[0], across // min(columns, across) * self._tile[1]
        return f"{wide}x{high}"

    def largest_square(self, module: int) -> int:
        """Return the texels along a side of the largest free square, a power of two on a boundary of that; 0 if none.

        The thesis calls it the largest remaining contiguous block.
        """
        busy = self._owners[module] != Owner.FREE
        side, texels = 0, self.unit // 4
        while not busy.all():
            # The footprint of a run is a square, or two next to each other.
            side = 1 << (texels.bit_length() - 1) // 2
            if len(busy) == 1:
                break
            busy, texels = busy.reshape(-1, 2).any(axis=1), 2 * texels
        return side

    def drawn(self, module: int, rows: int, columns: int) -> list[str]:
        """Return a map of logical texture space, with the letter of the largest owner for each part of it."""
        owners = self._owners[module][self._places]
        rows, columns = min(rows, owners.shape[0]), min(columns, owners.shape[1])
        parts = owners.reshape(rows, owners.shape[0] // rows, columns, owners.shape[1] // columns)
        counts = np.stack([(parts == owner).sum(axis=(1, 3)) for owner in list(Owner)[1:]])
        most = np.where(counts.any(axis=0), counts.argmax(axis=0) + 1, 0)
        return ["".join(Owner(each).letter for each in line) for line in most.tolist()]

    def _units(self, start: int, size: int) -> slice:
        return slice(start // self.unit, -(-(start + size) // self.unit))


REPLICATIONS = (1, 2, 4)
"""Modules that hold a patch: one, two as a compromise, or all four of a node (thesis 4.1)."""

SENDS = (16, 8, 4, 2, 1)
"""Sends per block of table 6: the PEs of a block to which the TASICs send a batch."""


class Image(NamedTuple):
    """Words for texture memory: their module and linear address, and the bytes reserved for them."""

    module: int
    address: int
    words: np.ndarray
    room: int


_AREA_BYTES = 4096
"""Areas of results and of programs begin at a multiple of this."""


class Stored(NamedTuple):
    """Place of a patch: its linear address in each module that has it."""

    batches: int
    addresses: dict[int, int]
    map: AddressMap

    def base(self, module: int) -> int:
        """Return the begin of the patch in each SDRAM of a module: the 21 bits that the PEs are loaded with."""
        return int(self.map.number_at(self.addresses[module]))


def slot_bytes(batches: int) -> int:
    """Return the bytes that a patch of this many batches takes: 512 for the 480 of a bicubic one."""
    return BATCH_BYTES * (1 << (batches - 1).bit_length())


class ModuleChoice:
    """Chooses the modules that store each patch: the least loaded ones, neighbours for several copies."""

    def __init__(self, modules: int, replication: int = 1) -> None:
        """Raises InputError for a replication that the thesis does not name or that needs more modules."""
        if replication not in REPLICATIONS or replication > modules:
            allowed = ", ".join(str(number) for number in REPLICATIONS if number <= modules)
            raise InputError(Fault(f"patches stored in {replication} modules", hint=f"allowed: {allowed}"))
        firsts = range(0, modules - replication + 1, replication)
        self._groups = [tuple(range(first, first + replication)) for first in firsts]
        self._loads = [0] * len(self._groups)

    def next(self, weight: int = 1) -> tuple[int, ...]:
        """Return the modules of one more patch."""
        least = self._loads.index(min(self._loads))
        self._loads[least] += weight
        return self._groups[least]


class HeldTexture(NamedTuple):
    """A picture in texture memory: its name, and its place in the logical texture space of every module."""

    name: str
    place: Rectangle


class TextureDatabase:
    """Addresses and contents of all patches and pictures in the texture memory of a node.

    With ``both_banks`` every patch is stored twice, at the same row and column of either bank, so that accesses can
    alternate between the banks (thesis 3.5); that takes twice the room.
    """

    def __init__(self, config: SdramConfig, modules: int, *, both_banks: bool = False) -> None:
        self.space = TextureSpace(config, modules)
        self._map = self.space.map
        self._bank = 1 << self._map.bank_bit
        # The bank is the uppermost of the bits: a copy in the next one is past all of the first (figure 11).
        self._size = self._bank if both_banks else self._map.size
        self._copies = (0, self._size) if both_banks else (0,)
        self._all = range(modules)
        self._next = [0] * modules
        self._images: list[Image] = []
        self._written = 0

    def store(self, values: np.ndarray, modules: Sequence[int]) -> Stored:
        """Give a patch an address in each of ``modules``; ``values`` are its words in the order of use: uint32[n].

        Raises InputError if a module has no room left.
        """
        batches = -(-len(values) * values.itemsize // BATCH_BYTES)
        slot = slot_bytes(batches)
        stored = Stored(batches, {module: self._slot(module, slot) for module in modules}, self._map)
        self._take(Owner.PATCHES, stored)
        self._put(stored, values)
        return stored

    def _slot(self, module: int, slot: int) -> int:
        """Return the place for a patch: after the last one, or if that is not free, in the first gap."""
        start = -(-self._next[module] // slot) * slot
        if start + slot > self._size or not all(
            self.space.is_free(module, start + copy, slot) for copy in self._copies
        ):
            found = self.space.find((module,), slot, slot, self._size, self._copies)
            if found is None:
                raise InputError(self._full((module,), f"no {slot:,} bytes are left of {self._size:,} for a patch"))
            start = found
        self._next[module] = start + slot
        return start

    def _full(self, modules: Sequence[int], what: str, hint: str = "") -> Fault:
        """Return the fault for lack of room, with the owners of the memory."""
        held = ", ".join(
            f"{owner.title} {taken:,}" for owner in Owner if (taken := self.space.bytes_of(owner, modules[0]))
        )
        where = f"module {modules[0]}" if len(modules) == 1 else "all modules"
        hint = hint or "fewer patches, or patches stored in fewer modules"
        return Fault(f"the texture memory of {where} is full: {what} ({held} bytes)", hint=hint)

    def _take(self, owner: Owner, stored: Stored) -> None:
        for module, start in stored.addresses.items():
            for copy in self._copies:
                self.space.take(owner, (module,), start + copy, slot_bytes(stored.batches))

    def _put(self, stored: Stored, values: np.ndarray) -> None:
        image = np.zeros(stored.batches * BATCH_BYTES // 4, np.uint32)
        image[: len(values)] = values
        room = slot_bytes(stored.batches)
        self._images += [
            Image(module, address + copy, image, room)
            for module, address in stored.addresses.items()
            for copy in self._copies
        ]

    def replace(self, stored: Stored, values: np.ndarray) -> Stored:
        """Replace the values of a patch, in its place, or in another one if their size differs.

        Returns the place; a former place becomes free. Raises InputError if a module has no room left.
        """
        if -(-len(values) * values.itemsize // BATCH_BYTES) != stored.batches:
            moved = self.store(values, tuple(stored.addresses))
            self._take(Owner.FREE, stored)
            return moved
        self._put(stored, values)
        return stored

    def reserve(self, size: int) -> int:
        """Reserve ``size`` bytes of every module as working space; return their linear address.

        Raises InputError if there is no room left.
        """
        start = self._room(size, both_banks=False)
        self.space.take(Owner.WORK, self._all, start, size)
        return start

    def reserve_results(self, way: str, config: NodeConfig) -> ResultArea:
        """Reserve and return the place of a pass's results; raise InputError if there is no room left."""
        width = 4 * config.sdram.devices_per_module
        empty = ResultArea.at(way, 0, config)
        start = self._room(empty.cells // 4 * width, both_banks=empty.both_banks)
        area = ResultArea.at(way, int(self._map.number_at(start)), config)
        self._give(Owner.RESULTS, area)
        return area

    def release_results(self, area: ResultArea) -> None:
        """Free the place of results."""
        self._give(Owner.FREE, area)

    def _give(self, owner: Owner, area: ResultArea) -> None:
        for module in self._all:
            for piece in area.pieces(module):
                start = piece.first // 4 * self.space.unit
                for bank in (0, self._bank) if area.both_banks else (0,):
                    self.space.take(owner, (module,), start + bank, piece.cells // 4 * self.space.unit)

    def _room(self, size: int, *, both_banks: bool) -> int:
        limit, copies = (self._bank, (0, self._bank)) if both_banks else (self._map.size, (0,))
        start = self.space.find(self._all, size, _AREA_BYTES, limit, copies, last=True)
        if start is None:
            what = f"{size:,} bytes are wanted next to the patches{', in either bank' * both_banks}"
            raise InputError(self._full(self._all, what, "fewer patches or pictures"))
        return start

    def hold(self, name: str, texels: np.ndarray) -> HeldTexture:
        """Store a picture, uint8[row, column, rgba], in the texture memory of every module (2.2.7); return its place.

        Raises InputError for another shape, and if no rectangle of that size is free.
        """
        if texels.ndim != 3 or texels.shape[2] != 4 or texels.dtype != np.uint8 or not texels.size:
            raise InputError(
                Fault(f"texture {name}: {texels.dtype}{list(texels.shape)}", hint="allowed: uint8[row, column, rgba]")
            )
        place = self.space.place(*texels.shape[:2])
        if place is None:
            side = max(self.space.largest_square(module) for module in self._all)
            what = f"no {texels.shape[1]}x{texels.shape[0]} texels are free for texture {name}"
            raise InputError(self._full(self._all, what, f"the largest free square has {side} texels a side"))
        self.space.give(Owner.TEXTURES, place)
        held = HeldTexture(name, place)
        # Neighbours in linear space make one run, as the GPs load it.
        linear = self.space.linear(place).ravel()
        order = np.argsort(linear)
        words = np.ascontiguousarray(texels).reshape(-1, 4).view("<u4").ravel()[order]
        ends = np.flatnonzero(np.diff(linear[order]) != 4) + 1
        runs = [
            (int(start[0]), run)
            for start, run in zip(np.split(linear[order], ends), np.split(words, ends), strict=True)
        ]
        whole = list(_whole_units(runs, self.space.unit))
        self._images += [Image(module, start, run, run.nbytes) for module in self._all for start, run in whole]
        return held

    def release(self, held: HeldTexture) -> None:
        """Free the place of a picture."""
        self.space.give(Owner.FREE, held.place)

    def new_images(self) -> Iterator[Image]:
        """Yield everything stored since the last call."""
        yield from self._images[self._written :]
        self._written = len(self._images)


def _whole_units(runs: Sequence[tuple[int, np.ndarray]], unit: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield runs of whole units; the rest of a unit that a picture begins or ends in gets zeros."""
    units: dict[int, np.ndarray] = {}
    for start, words in runs:
        if start % unit == 0 and 4 * len(words) % unit == 0:
            yield start, words
            continue
        for at, word in zip(range(start, start + 4 * len(words), 4), words, strict=True):
            units.setdefault(at // unit, np.zeros(unit // 4, np.uint32))[at % unit // 4] = word
    yield from ((unit * number, words) for number, words in units.items())


def write(database: TextureDatabase, node: Node) -> int:
    """Write everything stored since the last call to a node's texture memory; return the number of bytes."""
    # One write for each module: a write costs more than its words do.
    of: dict[int, list[tuple[int, np.ndarray]]] = {}
    for image in database.new_images():
        of.setdefault(image.module, []).append((image.address, image.words))
    total = 0
    for module, images in of.items():
        memory = node.texture_memory[module]
        words = np.concatenate([image for _, image in images]).astype("<u4").view(np.uint8).reshape(-1, 4)
        addresses = np.concatenate([address + 4 * np.arange(len(image)) for address, image in images])
        memory.write(AddressMap(memory.config).to_physical(addresses), words)
        total += words.size
    return total
