"""The front end (neither): from vertices to triangles on the screen and bins, with costs by PrimSet (4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.bins import Bins, members
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import SharedCore, WorkRecord
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import MEMORY_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu.rotation import RANGE
from larrabee_bridge.vpu.vector_unit import VectorUnit
from larrabee_bridge.vpu_run import execute
from pixelflow.simd.drawing import CENTRE, DEPTH_GUARD, FAR, REACH, SAMPLES, ScreenTriangles
from pixelflow.simd.errors import Fault, InputError, InternalError
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory

# Memory that is allocated piece by piece and grows, for the data of the front end's stages.


BLOCK = 512
"""Pieces begin at multiples of this many bytes: eight cache lines, which is one block of sixteen vertices."""


class Heap:
    """A memory whose first 64 KB are the programs' ranges; pieces follow, initially zero."""

    def __init__(self) -> None:
        self._memory = ByteMemory(MEMORY_BYTES)
        self._end = MEMORY_BYTES

    @property
    def memory(self) -> ByteMemory:
        """The memory, large enough for all pieces so far."""
        if self._end > self._memory.size:
            grown = ByteMemory(self._end)
            grown.data[:, : self._memory.size] = self._memory.data
            self._memory = grown
        return self._memory

    def take(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the starts of consecutive pieces of these sizes in bytes."""
        rounded = -(-np.asarray(sizes, np.int64) // BLOCK) * BLOCK
        begins = self._end + np.cumsum(rounded) - rounded
        self._end += int(rounded.sum())
        return begins

    def put(self, values: NDArray[np.generic]) -> int:
        """Take a piece for an array of 32-bit numbers, write it there and return its start."""
        begin = int(self.take(np.array([values.nbytes]))[0])
        self.words(begin, values.size)[:] = np.ascontiguousarray(values).view(np.int32).reshape(-1)
        return begin

    def words(self, begin: int, count: int) -> NDArray[np.int32]:
        """Return ``count`` words starting at byte ``begin``: a view that is valid until the next piece is taken."""
        return self.memory.data.reshape(-1)[begin : begin + 4 * count].view(np.int32)


# Inputs of the front end.


LARGEST = 2.0**60
"""Bound of coordinates in clip space, so that no product of the front end overflows."""

THREADS = 4
"""Hardware threads of a core (Seiler et al. 2008, 3.1)."""

_MOST_REPORTED = 20


class Cull(Enum):
    """Triangles to drop; the front is the side from which the corners run counterclockwise."""

    NONE = "none: both sides are drawn"
    FRONT = "those seen from the front"
    BACK = "those seen from behind"


class VertexMesh(NamedTuple):
    """Vertices and triangles: float32[vertex, xyz], int32[triangle, 3], colours int64[triangle, corner, rgb]."""

    positions: NDArray[np.float32]
    corners: NDArray[np.int32]
    colours: NDArray[np.int64]
    matrix: NDArray[np.float32]
    """Rows of the matrix that takes (x, y, z, 1) to clip space: the view is -w <= x, y <= w and 0 <= z <= w."""


class FrontEndSetting(NamedTuple):
    """Setting of the front end: the screen in pixels, sides of tiles, triangles of a PrimSet, threads of a core.

    With one sample a pixel boxes are around pixel centres; with four, around their samples.
    """

    width: int
    height: int
    tile: int = 64
    primset: int = 1000
    cull: Cull = Cull.NONE
    threads: int = THREADS
    samples: int = 1
    """Of a pixel: one in its centre, or four."""

    @property
    def columns(self) -> int:
        """Tiles in a row."""
        return -(-self.width // self.tile)

    @property
    def tiles(self) -> int:
        """Tiles of the screen."""
        return self.columns * -(-self.height // self.tile)


def checked(
    positions: NDArray[np.number],
    colours: NDArray[np.uint8],
    corners: NDArray[np.integer],
    matrix: NDArray[np.number],
) -> VertexMesh:
    """Return the mesh as the front end's numbers; raises InputError for vertices that they cannot hold."""
    with np.errstate(over="ignore"):
        rounded, rows = np.asarray(positions).astype(np.float32), np.asarray(matrix).astype(np.float32)
    faults = _of_numbers(rounded, rows)
    if faults:
        raise InputError(faults[:_MOST_REPORTED])
    by_corner = colours if colours.ndim == 3 else colours[corners]
    return VertexMesh(rounded, corners.astype(np.int32), by_corner.astype(np.int64), rows)


def _of_numbers(positions: NDArray[np.float32], matrix: NDArray[np.float32]) -> list[Fault]:
    found = [
        Fault(f"row {row + 1}, column {column + 1} of the matrix is not a finite float32")
        for row, column in np.argwhere(~np.isfinite(matrix)).tolist()
    ]
    finite = np.isfinite(positions).all(axis=1)
    wrong = np.flatnonzero(~finite)[:_MOST_REPORTED]
    count = len(positions)
    found += [Fault(f"vertex {number + 1} of {count} is not a point of finite float32 numbers") for number in wrong]
    if found:
        return found
    wide, across = np.abs(positions.astype(np.float64)), np.abs(matrix.astype(np.float64))
    reached = (wide @ across[:, :3].T + across[:, 3]).max(axis=1, initial=0.0)
    hint = "sums of products in clip space stay below 2^60"
    far = np.flatnonzero(reached >= LARGEST)[:_MOST_REPORTED]
    return [
        Fault(f"vertex {number + 1} of {count} reaches {reached[number]:.3g} in clip space", hint=hint)
        for number in far
    ]


# The programs of the front end, executed by the hardware threads of many PrimSets side by side, and their cost.


Place = tuple[str, int]
"""A parameter of a program."""


def program_of(name: str, parameters: tuple[Place, ...] = ()) -> VectorProgram:
    """Return a program of the front end, assembled once with parameters (name, value)."""
    return shipped(f"front_end/{name}.mc", **dict(parameters))


class StageCost(NamedTuple):
    """Cost of a stage: cycles of a PrimSet's threads, each alone on a core, int64[primset]; instructions by family."""

    cycles: NDArray[np.int64]
    counts: dict[VectorFamily, int]

    def plus(self, other: StageCost) -> StageCost:
        """Return the cost of both."""
        counts = {family: self.counts[family] + other.counts[family] for family in VectorFamily}
        return StageCost(self.cycles + other.cycles, counts)


class Stages:
    """Executes stages and adds up their cost: of each thread alone on a core, and of a PrimSet's core.

    The threads of a PrimSet take turns on its core, and a stage begins where the one before has ended.
    """

    def __init__(self, primsets: int, config: CoreConfig | None = None, *, engine: str = AUTO) -> None:
        self.primsets, self.config, self.engine = primsets, config or CoreConfig(), engine
        self.costs: dict[str, StageCost] = {}
        """By the name of the stage."""
        self.cores: dict[int, SharedCore] = {}
        """Account of each PrimSet's core, once `finish` has been called."""
        self._record = WorkRecord(self.config)
        self._phase = 0

    def run(
        self,
        stage: str,
        program: VectorProgram,
        memory: ByteMemory,
        primset: NDArray[np.int64],
        registers: Mapping[int, NDArray[np.int64]],
        floats: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> VectorUnit:
        """Execute a program on one thread for each of ``primset``, ascending: the PrimSet that the thread works for.

        ``registers`` are r0 to r15 of each thread, ``floats`` the contents of ranges of the program.
        """
        for name, laid in (floats or {}).items():
            start = program.range(name).start
            memory.data[0, start : start + laid.nbytes] = np.ascontiguousarray(laid).view(np.uint8).reshape(-1)
        done = execute(program, len(primset), memory, registers, config=self.config, engine=self.engine)
        self._keep(program, done.note, primset)
        cycles = np.zeros(self.primsets, np.int64)
        np.add.at(cycles, primset, done.core.cycles)
        cost = StageCost(cycles, done.families)
        self.costs[stage] = self.costs[stage].plus(cost) if stage in self.costs else cost
        return done.unit

    def finish(self) -> None:
        """Time the PrimSets that have passed through their stages."""
        self.cores |= self._record.count()
        self._phase = 0

    def _keep(self, program: VectorProgram, note: RunNote, primset: NDArray[np.int64]) -> None:
        record = self._record
        number = record.program(program)
        ranges = record.ranges(number, np.zeros((1, 0, RANGE), np.int64))
        work = primset[note.threads]
        thread = np.arange(len(work)) - np.searchsorted(work, work)
        record.add(number, note, work, thread, record.step() + note.threads, ranges, phase=self._phase)
        self._phase += 1


# PrimSets through the front end, several side by side: index, transform, assemble, cut, bin.
#
# A PrimSet belongs to one core (Seiler et al. 2008, 4.3). Its hardware threads share it, which is this model's choice:
# vertices and triangles are dealt out in runs of whole sixteens, and each stage waits for the one before. One thread
# finds the vertices that a PrimSet names, since each sixteen corners depend on those before. The host puts pieces of
# triangles that were cut in their places in the order, uncounted.


WORD, CORNERS_BYTES = 4, 12
PLACES = 192
"""Bytes of the corners of sixteen triangles."""
MASKS = 20
"""Bytes of the five masks of sixteen triangles."""
POLYGON = 10
"""Corners that a triangle which is cut by seven planes can have."""
SHARES = 256
"""Offset of a new corner's shares in a block (cut.mc)."""
PLANES = 9
"""Words of a triangle on its way into the bins (assemble.mc): first tile, further ones, corners, number, depths."""
FURTHER, CORNERS, NUMBER = 1, slice(2, 5), 5
ROOM = 128
"""A thread has room for a multiple of this many triangles, so that planes fill whole blocks."""


class DropReason(Enum):
    """Reason for leaving a triangle, or a piece of one that was cut, out of the bins."""

    OUTSIDE = "it is on the outer side of the view"
    NO_AREA = "its corners are on a line after rounding"
    TURNED_AWAY = "it is seen from the side that is culled"
    NO_PIXEL = "the box around it holds no pixel centre, or sample, of the screen"


@dataclass(slots=True, eq=False)
class Found:
    """Result of some PrimSets; arrays have one row for each triangle that is binned, in drawing order."""

    corners: NDArray[np.int64]
    depths: NDArray[np.int64]
    source: NDArray[np.int64]
    weights: NDArray[np.float64]
    primset: NDArray[np.int64]
    entries: NDArray[np.int64]
    """(tile, triangle) of every entry, int64[entry, 2]: by tile, in the order of the PrimSets' lists."""
    vertices: NDArray[np.int64]
    """Vertices that each PrimSet shaded."""
    dropped: dict[DropReason, int] = field(default_factory=lambda: dict.fromkeys(DropReason, 0))
    cut: int = 0


def shares(sixteens: NDArray[np.int64], threads: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Deal each PrimSet's sixteens out to its threads; return each thread's PrimSet, first sixteen and count."""
    bounds = sixteens[:, None] * np.arange(threads + 1) // threads
    counts = np.diff(bounds, axis=1)
    primset, thread = np.nonzero(counts)
    return primset, bounds[primset, thread], counts[primset, thread]


def places_within(samples: int) -> tuple[int, int]:
    """Return the first and the last position of samples in a pixel, across or down, in 1/256."""
    places = [place for each in ((CENTRE,) if samples == 1 else SAMPLES) for place in each]
    return min(places), max(places)


def _room(triangles: int) -> int:
    """Return a sufficient power of two, so that programs are assembled for few sizes."""
    return max(ROOM, 1 << (triangles - 1).bit_length())


class _Chosen(NamedTuple):
    """Choice of threads, each of a PrimSet ``owner``: words of the survivors, and lists of triangles to cut."""

    record: NDArray[np.int64]
    owner: NDArray[np.int64]
    room: int
    cut_at: NDArray[np.int64]
    to_cut: NDArray[np.int64]


class _Pass:
    """Some PrimSets of ``sizes`` triangles, starting at triangle ``first``, on their way through the stages."""

    def __init__(
        self,
        mesh: VertexMesh,
        setting: FrontEndSetting,
        stages: Stages,
        first: int,
        sizes: NDArray[np.int64],
        number: int,
    ):
        self.mesh, self.setting, self.stages = mesh, setting, stages
        self.first, self.sizes, self.number = first, sizes, number
        self.starts = np.cumsum(sizes) - sizes
        self.corners = mesh.corners[first : first + int(sizes.sum())]
        self.heap = Heap()
        self.dropped = dict.fromkeys(DropReason, 0)
        self.screen = (("WIDTH", setting.width), ("HEIGHT", setting.height))
        self.tiles = (("COLUMNS", setting.columns),)

    def run(
        self,
        stage: str,
        program: str,
        parameters: tuple[Place, ...],
        owner: NDArray[np.int64],
        registers: Mapping[int, NDArray[np.int64]],
        **floats: NDArray[np.float32],
    ) -> VectorUnit:
        """Execute a program on threads of the PrimSets that ``owner`` numbers; return the unit."""
        found = program_of(program, parameters)
        return self.stages.run(stage, found, self.heap.memory, owner + self.number, registers, floats)

    # --- stages ---------------------------------------------------------------------------------------------

    def index(self) -> None:
        """Find the vertices that each PrimSet names, and write the corners as positions in that list."""
        sixteens = -(-self.sizes // LANES)
        indices = self.heap.put(self.corners)
        table = self.heap.take(np.full(len(self.sizes), WORD * len(self.mesh.positions)))
        self.lists = self.heap.take(WORD * (3 * self.sizes + LANES))
        self.places_at = self.heap.take(PLACES * sixteens)
        between = self.heap.take(np.full(len(self.sizes), BLOCK))
        owner = np.arange(len(self.sizes))
        registers = {1: indices + CORNERS_BYTES * self.starts, 2: self.sizes, 3: table}
        registers |= {4: self.lists, 5: self.places_at, 6: between}
        self.vertices = self.run("index", "index", (("BLOCK", BLOCK),), owner, registers).scalar(7).astype(np.int64)
        words = [self.heap.words(at, 48 * n) for at, n in zip(self.places_at.tolist(), sixteens.tolist(), strict=True)]
        rows = [
            each.reshape(-1, 3, LANES).transpose(0, 2, 1).reshape(-1, 3)[:size]
            for each, size in zip(words, self.sizes.tolist(), strict=True)
        ]
        self.places = np.concatenate(rows).astype(np.int64)

    def transform(self) -> None:
        """Project the vertices to the screen."""
        sixteens = -(-self.vertices // LANES)
        positions = self.heap.put(self.mesh.positions)
        self.blocks = self.heap.take(BLOCK * sixteens)
        owner, first, count = shares(sixteens, self.setting.threads)
        registers = {1: self.lists[owner] + 64 * first, 2: self.blocks[owner] + BLOCK * first, 3: count}
        self._transform(owner, {**registers, 4: np.full(len(owner), positions)}, cut=0)

    def _transform(self, owner: NDArray[np.int64], registers: Mapping[int, NDArray[np.int64]], *, cut: int) -> None:
        limits = (("CUT", cut), ("REACH", REACH), ("FAR", FAR), ("GUARD", DEPTH_GUARD))
        self.run("transform", "transform", (*self.screen, *limits), owner, registers, viewing=self.mesh.matrix)

    def assemble(self) -> None:
        """Choose the triangles to bin, then cut those that must be cut and choose among the pieces."""
        sixteens = -(-self.sizes // LANES)
        owner, first, count = shares(sixteens, self.setting.threads)
        triangles = np.minimum(self.sizes[owner] - LANES * first, LANES * count)
        places = self.places_at[owner] + PLACES * first
        begin = self.starts[owner] + LANES * first
        chosen = self._choose(owner, places, triangles, begin)
        self.owner, self.record = owner, chosen.record
        self.thread_of = np.repeat(np.arange(len(owner)), triangles.astype(np.intp))
        # The table of pieces continues after that of the triangles.
        self.source = np.arange(len(self.corners))
        self.weights = np.broadcast_to(np.eye(3), (len(self.corners), 3, 3))
        self.cut = int(chosen.to_cut.sum())
        if self.cut:
            self._cut(chosen)

    def _choose(
        self,
        owner: NDArray[np.int64],
        places: NDArray[np.int64],
        triangles: NDArray[np.int64],
        begin: NDArray[np.int64],
        pieces: int = 0,
    ) -> _Chosen:
        """Assemble, for each thread, ``triangles`` with corners at ``places``, numbered starting at ``begin``."""
        sixteens = -(-triangles // LANES)
        room = _room(int(triangles.max()))
        at = self.heap.take(np.full(len(owner), PLANES * WORD * room))
        flags = self.heap.take(MASKS * sixteens)
        cut_at = self.heap.take(np.full(len(owner), 4 * WORD * room))
        registers = {1: places, 2: triangles, 3: self.blocks[owner], 4: at, 5: flags, 6: begin, 9: cut_at}
        culled = {Cull.NONE: 0, Cull.FRONT: -1, Cull.BACK: 1}[self.setting.cull]
        first, last = places_within(self.setting.samples)
        sizes = (("TILE", self.setting.tile), ("CAPACITY", room), ("CULLED", culled), ("PIECES", pieces))
        sampled = (("FIRST_PLACE", first), ("LAST_PLACE", last))
        unit = self.run("assemble", "assemble", (*self.screen, *self.tiles, *sizes, *sampled), owner, registers)
        kept, to_cut = unit.scalar(7).astype(np.int64), unit.scalar(10).astype(np.int64)
        for flag, count in zip(flags.tolist(), triangles.tolist(), strict=True):
            self._count_dropped(flag, count)
        return _Chosen(self._table(at, PLANES, room, kept), owner, room, cut_at, to_cut)

    def _table(self, at: NDArray[np.int64], planes: int, room: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the words that threads left in planes, ``counts`` of each thread: int64[plane, triangle]."""
        words = self.heap.words(int(at[0]), len(at) * planes * room).reshape(len(at), planes, room)
        return words.transpose(1, 0, 2)[:, np.arange(room) < counts[:, None]].astype(np.int64)

    def _count_dropped(self, at: int, triangles: int) -> None:
        """Count the reasons for dropped triangles, from their masks."""
        sixteens = -(-triangles // LANES)
        words = self.heap.words(at, 5 * sixteens).reshape(sixteens, 5)
        for column, reason in (
            (0, DropReason.OUTSIDE),
            (2, DropReason.NO_AREA),
            (3, DropReason.TURNED_AWAY),
            (4, DropReason.NO_PIXEL),
        ):
            self.dropped[reason] += int(np.bitwise_count(words[:, column]).sum())

    def _cut(self, chosen: _Chosen) -> None:
        """Cut triangles and pass the pieces through the remaining stages."""
        threads = np.flatnonzero(chosen.to_cut)
        owner, count = chosen.owner[threads], chosen.to_cut[threads]
        sixteens = -(-count // LANES)
        most = POLYGON * sixteens
        listed = self.heap.take(WORD * (most + 1))
        blocks = self.heap.take(BLOCK * most)
        polygons = self.heap.take(2 * BLOCK * most)
        room = _room((POLYGON - 2) * int(count.max()))
        pieces_at = self.heap.take(np.full(len(threads), 4 * WORD * room))
        registers = {1: chosen.cut_at[threads], 2: count, 3: self.blocks[owner], 4: listed}
        registers |= {5: pieces_at, 6: blocks - self.blocks[owner], 7: polygons}
        sizes = (("REACH", REACH), ("CAPACITY", chosen.room), ("ROOM", room))
        unit = self.run("cut", "cut", (*self.screen, *sizes), owner, registers)
        many, pieces = unit.scalar(9).astype(np.int64), unit.scalar(0).astype(np.int64)
        table = self._table(pieces_at, 4, room, pieces)
        self.dropped[DropReason.OUTSIDE] += int(count.sum()) - len(np.unique(table[3]))
        some = pieces > 0
        if not some.any():
            return
        self._transform(owner[some], {1: listed[some], 2: blocks[some], 3: many[some]}, cut=1)
        begin = len(self.source) + np.cumsum(pieces) - pieces
        rest = self._choose(owner[some], pieces_at[some], pieces[some], begin[some], room)
        if rest.to_cut.any():
            raise InternalError("a triangle that was cut must be cut again")
        thread = np.repeat(np.arange(len(threads)), pieces.astype(np.intp))
        place = table[:3].T
        shares = self._shares(place - (blocks - self.blocks[owner])[thread, None], listed[thread])
        self.source = np.append(self.source, table[3])
        self.places, self.weights = np.append(self.places, place, axis=0), np.append(self.weights, shares, axis=0)
        record = np.append(self.record, rest.record, axis=1)
        # Stable: the pieces of a triangle come in their order.
        self.record = record[:, np.argsort(self.source[record[NUMBER]], kind="stable")]

    def _shares(self, place: NDArray[np.int64], listed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the shares of pieces' corners, by their places in the blocks that ``listed`` names."""
        words = self.heap.memory.data.reshape(-1).view(np.int32)
        block = words[listed[:, None] // WORD + place // BLOCK].astype(np.int64)
        at = (block + place % BLOCK + SHARES)[..., None] + 64 * np.arange(3)
        return words.view(np.float32)[at // WORD].astype(np.float64)

    # --- bins -----------------------------------------------------------------------------------------------

    def bin(self) -> NDArray[np.int64]:
        """Put the triangles into lists of tiles; return the entries (tile, triangle)."""
        setting = self.setting
        thread = self.thread_of[self.source[self.record[NUMBER]]]
        owner, threads = self.owner, len(self.owner)
        count = np.bincount(thread, minlength=threads)
        room = _room(int(count.max()))
        planes = np.zeros((threads, PLANES, room), np.int64)
        within = members(count)[1]
        planes[thread, :, within] = self.record.T
        planes[thread, NUMBER, within] = np.arange(len(thread))
        at = self.heap.put(planes.astype(np.int32)) + PLANES * WORD * room * np.arange(threads)
        columns, rows = (self.record[FURTHER] & 0xFFFF) + 1, (self.record[FURTHER] >> 16) + 1
        nodes = self.heap.take(8 * np.bincount(thread, columns * rows, threads).astype(np.int64) + 8)
        lists = self.heap.take(np.full(threads, 8 * setting.tiles))
        registers = {1: at, 2: count, 3: lists, 4: nodes}
        for each in lists.tolist():
            heads = self.heap.words(each, 2 * setting.tiles).reshape(-1, 2)
            heads[:, 1] = each + 8 * np.arange(setting.tiles)
        self.run("bin", "bin", (*self.tiles, ("CAPACITY", room)), owner, registers)
        return self._entries(lists, int(nodes[0]))

    def _entries(self, lists: NDArray[np.int64], first: int) -> NDArray[np.int64]:
        """Follow all lists at once; their nodes begin at ``first`` and end where the lists begin."""
        tiles = self.setting.tiles
        heads = self.heap.words(int(lists[0]), int(lists[-1] - lists[0]) // WORD + 2 * tiles)
        heads = heads[(lists - lists[0])[:, None] // WORD + 2 * np.arange(tiles)].T.reshape(-1)
        following, number = self.heap.words(first, int(lists[0] - first) // WORD).reshape(-1, 2).T
        owner, begun = np.full(len(number), -1), np.flatnonzero(heads)
        owner[(heads[begun] - first) // 8] = begun
        # The first node of each node's list, and the steps to it: twice as many in each round.
        begin, inner, steps = np.arange(len(number)), np.flatnonzero(following), np.zeros(len(number), np.int64)
        begin[(following[inner] - first) // 8], steps[(following[inner] - first) // 8] = inner, 1
        while (begin[begin] != begin).any():
            steps, begin = steps + steps[begin], begin[begin]
        listed = np.flatnonzero(owner[begin] >= 0)
        list_of = owner[begin[listed]]
        order = np.lexsort((steps[listed], list_of))
        return np.stack([list_of // len(lists), number[listed]], axis=1)[order]

    def found(self) -> Found:
        """Return the result of all stages."""
        entries = self.bin()
        number = self.record[NUMBER]
        primset = np.searchsorted(self.starts, self.source[number], "right") - 1
        places = self.record[CORNERS].T
        at = self.blocks[primset][:, None] + places
        memory = self.heap.memory.data.reshape(-1).view(np.int32)
        x, y, z = (memory[(at + 64 * axis) // WORD].astype(np.int64) for axis in range(3))
        weights = self.weights[number].copy()
        turned = places[:, 1] != self.places[number, 1]
        weights[turned, 1:] = weights[turned, :0:-1]
        source = self.source[number] + self.first
        corners = np.stack([x, y], axis=-1)
        result = Found(corners, z, source, weights, primset + self.number, entries, self.vertices, self.dropped)
        result.cut = self.cut
        return result


def run_primsets(
    mesh: VertexMesh, setting: FrontEndSetting, stages: Stages, first: int, sizes: NDArray[np.int64], number: int
) -> Found:
    """Pass PrimSets of these sizes, starting at triangle ``first`` and PrimSet ``number``, through all stages."""
    way = _Pass(mesh, setting, stages, first, sizes, number)
    way.index()
    way.transform()
    way.assemble()
    found = way.found()
    stages.finish()
    return found


# The front end as a whole: from vertices to triangles on the screen and bins, with the cost of each PrimSet.


_SIDE_BY_SIDE = 1 << 27
"""Bytes of memory for PrimSets that are executed side by side."""


class FrontEndResult(NamedTuple):
    """Result of a front end for a mesh; triangles are those that are binned, in the order of drawing."""

    triangles: ScreenTriangles
    bins: Bins
    """By the box rule."""
    source: NDArray[np.int64]
    """Number of the mesh's triangle that each came from; several come from one that was cut."""
    weights: NDArray[np.float64]
    """float64[triangle, corner, 3]: share of each corner of that triangle, for its other attributes."""
    primset: NDArray[np.int64]
    """Sequence id of each triangle's PrimSet."""
    vertices: NDArray[np.int64]
    """Number of vertices that each PrimSet shaded."""
    distinct: int
    """Number of different vertices that were shaded; the others of ``vertices`` were shaded again."""
    costs: dict[str, StageCost]
    """By stage, of threads alone on a core: index, transform, assemble, cut if any triangle was, bin."""
    cores: dict[int, SharedCore]
    """Account of each PrimSet's core, on which its threads take turns, by sequence id."""
    dropped: dict[DropReason, int]
    cut: int
    """Triangles that were cut because they exceed the range of screen coordinates."""

    @property
    def account(self) -> FrontEndResult:
        """The cycles and PrimSets, without triangles and their bins, which are large."""
        none = np.zeros(0, np.int64)
        triangles, bins = self.triangles.part(none), self.bins._replace(starts=0 * self.bins.starts, triangles=none)
        return self._replace(triangles=triangles, bins=bins, source=none, weights=self.weights[:0].copy())

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles of each PrimSet on its core, all stages: int64[primset]."""
        return np.array([self.cores[number].cycles for number in range(len(self.vertices))], np.int64)

    @property
    def counts(self) -> dict[VectorFamily, int]:
        """Instructions that were executed, by family."""
        return {family: sum(cost.counts[family] for cost in self.costs.values()) for family in VectorFamily}


def run_front_end(
    positions: NDArray[np.number],
    colours: NDArray[np.uint8],
    corners: NDArray[np.integer],
    matrix: NDArray[np.number],
    setting: FrontEndSetting,
    *,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> FrontEndResult:
    """Shade, assemble, cull and bin a mesh on the vector unit, PrimSet by PrimSet.

    ``positions`` is float[vertex, 3], taken as float32; ``colours`` uint8[vertex, 3], or uint8[triangle, 3, 3] for each
    corner; ``corners`` int[triangle, 3]. ``matrix`` takes (x, y, z, 1) to clip space, where the view is
    -w <= x, y <= w and 0 <= z <= w; the first row of the screen is y = w. A PrimSet's
    threads take turns on its core.

    Raises InputError for numbers that are not finite or too large.
    """
    mesh = checked(positions, colours, corners, matrix)
    primset = setting.primset
    count = len(mesh.corners)
    sizes = np.minimum(primset, count - np.arange(0, count, primset))
    stages = Stages(len(sizes), config, engine=engine)
    many = _side_by_side(mesh, setting)
    parts = [
        run_primsets(mesh, setting, stages, number * primset, sizes[number : number + many], number)
        for number in range(0, len(sizes), many)
    ]
    return _together(mesh, setting, stages, parts)


def _side_by_side(mesh: VertexMesh, setting: FrontEndSetting) -> int:
    """Return the number of PrimSets to execute side by side."""
    size = min(setting.primset, len(mesh.corners))
    one = 4 * len(mesh.positions) + 400 * size + setting.threads * (12 * setting.tiles + 4096)
    return max(_SIDE_BY_SIDE // one, 1)


def _together(mesh: VertexMesh, setting: FrontEndSetting, stages: Stages, parts: list[Found]) -> FrontEndResult:
    source, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in ("source", "weights"))
    colours = np.rint(np.einsum("tck,tkr->tcr", weights, mesh.colours[source])).astype(np.int64)
    dropped = {reason: sum(part.dropped[reason] for part in parts) for reason in DropReason}
    triangles = ScreenTriangles(
        np.concatenate([part.corners for part in parts]),
        np.concatenate([part.depths for part in parts]),
        colours,
        dropped[DropReason.NO_AREA],
    )
    begins = np.cumsum([0] + [len(part.source) for part in parts[:-1]])
    entries = np.concatenate([part.entries + np.array([0, begin]) for part, begin in zip(parts, begins, strict=True)])
    entries = entries[np.argsort(entries[:, 0], kind="stable")]
    starts = np.searchsorted(entries[:, 0], np.arange(setting.tiles + 1))
    return FrontEndResult(
        triangles=triangles,
        bins=Bins(setting.tile, setting.columns, setting.tiles // setting.columns, starts, entries[:, 1].copy()),
        source=source,
        weights=weights,
        primset=np.concatenate([part.primset for part in parts]),
        vertices=np.concatenate([part.vertices for part in parts]),
        distinct=len(np.flatnonzero(np.bincount(mesh.corners.reshape(-1)))),
        costs=stages.costs,
        cores=stages.cores,
        dropped=dropped,
        cut=sum(part.cut for part in parts),
    )
