"""Larrabee's rasterizer (neither): set-up and recursive descent as programs, with their cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.back_end_programs import Attributes, PlaneWords, constants_of, plane_program, plane_words
from larrabee_bridge.pipeline.bins import QUAD, TILES, BinRule, Bins, Quads, bin_triangles, distinct, members
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import CoreImage, SharedCore, WorkRecord
from larrabee_bridge.vpu.isa import LANES, VectorFamily, vector_share
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import VectorProgram, shipped
from larrabee_bridge.vpu.rotation import RANGE
from larrabee_bridge.vpu_run import VpuRun, execute
from pixelflow.simd.drawing import CENTRE, SAMPLES, ScreenTriangles
from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory

# Works of the rasterizer: the set-up and the descents of a PrimSet's triangles by the four threads of a core.
#
# They are the last part of a PrimSet's front end (Seiler et al. 2008, figure 7): a thread sets up sixteen triangles and
# descends into the tiles of each, so that their fields are still in its caches. The masks go to the bins. Planes follow
# for triangles that cover something.


THREADS = 4
"""Of a core (Seiler et al. 2008, 3.1)."""

_CONSTANTS = 64
"""Lines of the programs' constants."""
_CORNERS = 6 * 64
"""Lines of the corners that a PrimSet's front end leaves in the L2 slice, for the largest PrimSet."""
_KEPT = 1 << 49
_PAIR = _KEPT + _CORNERS
_SCRATCH = _PAIR + 1
_GIVEN = _SCRATCH + 16 * THREADS
_VALUES = 24 * 64
"""Lines of the corners' values for planes, left there as well."""
_PLANES = 1 << 45
_APART = 1 << 33
_END = 1 << 40


_PART = 1 << 14
"""Pairs that end a part of a draw with the PrimSet that has them; the notes of two parts are kept at most."""


class RasterWorks:
    """Recorder of the rasterizer's threads, part by part of a draw's triangles, and its cores, by PrimSets.

    A part is whole PrimSets of each of ``primsets``, which are the sequence ids of triangles, int64[triangle] each.
    """

    def __init__(self, triangles: int, bins: Bins, primsets: Sequence[np.ndarray], config: CoreConfig) -> None:
        self.bins, self.primsets, self.config = bins, primsets, config
        self.cores: list[dict[int, SharedCore]] = [{} for _ in primsets]
        """Account of a core for each PrimSet, by sequence id, of the parts that have been counted."""
        tile = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))
        order = np.lexsort((tile, bins.triangles))
        self._turn = np.empty(len(order), np.int64)
        self._turn[order] = np.arange(len(order))
        """Position of each pair in the order of a PrimSet: triangle by triangle, the tiles of each."""
        self._first = np.searchsorted(bins.triangles[order], np.arange(triangles + LANES))
        """Position of the first pair of each triangle."""
        self.bounds = _bounds(primsets, self._first[:triangles])
        """First triangle of each part, and their number."""
        self._records = [WorkRecord(config) for _ in self.bounds[1:]]
        self._counted = 0
        """Parts that have been counted."""
        self._images: list[CoreImage] = []

    def program(self, program: VectorProgram) -> None:
        """Register a program, before the first part is counted; the threads of all run on cores with each."""
        for record in self._records:
            record.program(program)

    def _threads(self, note: RunNote, triangles: np.ndarray) -> Iterator[tuple[WorkRecord, RunNote, NDArray[np.int64]]]:
        """Yield for each part the record, the note of its threads and their places, by their triangles, ascending."""
        bounds = np.searchsorted(triangles, self.bounds)
        for record, (first, past) in zip(self._records, pairwise(bounds.tolist()), strict=True):
            if first < past:
                yield record, note.part(first, past), np.arange(first, past)

    def set_up(self, done: VpuRun, fields: int) -> None:
        """Add set-ups, sixteen triangles a thread; their fields begin at line ``fields``."""
        self.program(done.program)
        table = np.zeros((1, 2, RANGE), np.int64)
        table[0, 0] = fields, 0, _CORNERS, _KEPT
        table[0, 1, :2] = _END, _CONSTANTS - fields
        # A thread sets up sixteen triangles, then descends for them.
        triangle = LANES * done.note.threads
        for record, note, group in self._threads(done.note, triangle):
            number = record.program(done.program)
            ranges = record.ranges(number, table, _CONSTANTS)
            order = 2 * self._first[triangle[group]]
            record.add(number, note, triangle[group], group % THREADS, order, ranges, phase=0)

    def planes(self, made: PlaneWords, which: np.ndarray, before: int) -> None:
        """Add planes of triangles ``which``, ascending, sixteen a thread, after all descents and ``before`` threads."""
        table = np.zeros((1, 2, RANGE), np.int64)
        table[0, 0] = made.line, before * made.given, _VALUES, _GIVEN
        table[0, 1, :2] = _END, _PLANES - made.line + before * made.taken
        triangle = which[LANES * made.done.note.threads]
        for record, note, group in self._threads(made.done.note, triangle):
            number = record.program(made.done.program)
            ranges = record.ranges(number, table, _CONSTANTS)
            thread, order = (before + group) % THREADS, 2 * len(self._turn) + 1 + before + group
            record.add(number, note, triangle[group], thread, order, ranges, phase=1)

    def descend(
        self, done: VpuRun, pairs: np.ndarray, lines: Sequence[int], scratch: int, results: Sequence[np.ndarray]
    ) -> None:
        """Add descents of pairs of triangle and tile of a part.

        ``lines`` are the first lines of tiles, pairs, scratch memories of ``scratch`` lines each, and results. Those of
        each pair are of two kinds: ``results`` has where the first kind ends, and by how much each is shifted.
        """
        which = pairs[done.note.threads]
        triangle = self.bins.triangles[which]
        record = self._records[int(np.searchsorted(self.bounds, triangle[0], "right")) - 1]
        number = record.program(done.program)
        tiles, table_of_pairs, scratches, first_result = lines
        table = np.zeros((len(which), 5, RANGE), np.int64)
        table[:, 0, 0] = tiles
        table[:, 1, :2] = table_of_pairs, _APART
        table[:, 2] = first_result, 0, 1, _PAIR
        table[:, 3, 0], table[:, 3, 1], table[:, 4, 1] = results
        table[:, 4, 0] = _END
        thread = triangle // LANES % THREADS
        first = scratches + scratch * done.note.threads
        own = np.stack([first, first + scratch, _SCRATCH + scratch * thread - first], axis=1)
        order = 2 * self._turn[which] + 1
        ranges = record.ranges(number, table, _CONSTANTS)
        record.add(number, done.note, triangle, thread, order, ranges, own=own, phase=0)

    def count(self, before: int, planes: bool) -> None:
        """Time the PrimSets of the parts whose triangles are all below ``before``, once all programs are registered.

        ``planes`` is True if triangles have planes, whose values are in the L2 slice beforehand.
        """
        past = int(np.searchsorted(self.bounds, before, "right")) - 1
        if past > self._counted and not self._images:
            record = self._records[0]
            record.resident |= set(range(_KEPT, _SCRATCH + 16 * THREADS))
            record.resident |= set(range(_GIVEN, _GIVEN + _VALUES)) if planes else set()
            self._images = [record.core() for _ in self.primsets]
        for record in self._records[self._counted : past]:
            for cores, works, image in zip(self.cores, self.primsets, self._images, strict=True):
                cores |= record.count(works=works, core=image, last=works is self.primsets[-1])
        self._counted = max(past, self._counted)


def _bounds(primsets: Sequence[np.ndarray], first: np.ndarray) -> np.ndarray:
    """Return the first triangle of each part, and their number, from the position of each triangle's first pair."""
    count = len(first)
    begins = np.ones(count, bool)
    for each in primsets:
        later = np.minimum.accumulate(each[::-1])[::-1]
        begins[1:] &= np.maximum.accumulate(each)[:-1] < later[1:]
    found = [0]
    for triangle in np.flatnonzero(begins).tolist():
        if first[triangle] - first[found[-1]] >= _PART:
            found.append(triangle)
    return np.array([*found, count] if count else [0], np.int64)


# Runs of the rasterizer's two programs: their memory, their threads and their counts.


_LINE = 64
_FIRST = 4096
"""Bytes reserved for the programs' constants."""
_CORNER_BYTES = 6 * _LINE
_TILE_BYTES = 320
_PAIR_BYTES = 16
_LARGEST, _MODELLED = 1 << 23, 1 << 25
"""Bytes of results of one batch of threads, and (invented) of those that are together on the modelled core."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Cost of threads: int64[thread] cycles, alone on a core; instructions of all by family."""

    cycles: np.ndarray
    instructions: dict[VectorFamily, int]

    @property
    def carried_out(self) -> int:
        """Instructions of all threads together."""
        return sum(self.instructions.values())

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions; None without any."""
        return vector_share(self.instructions)

    def __add__(self, other: Counted) -> Counted:
        both = {family: self.instructions[family] + other.instructions[family] for family in VectorFamily}
        return Counted(np.concatenate([self.cycles, other.cycles]), both)

    @classmethod
    def of(cls, runs: Sequence[VpuRun]) -> Counted:
        """Return the cycles and instructions of consecutive runs."""
        cycles = np.concatenate([np.zeros(0, np.int64), *(each.core.cycles for each in runs)])
        found = [each.families for each in runs]
        return cls(cycles, {family: sum(each[family] for each in found) for family in VectorFamily})


class Fields:
    """Offsets of the fields of sixteen triangles, as `fields.mc` lays them out."""

    def __init__(self, samples: int) -> None:
        edge = 832 + (320 if samples > 1 else 0)
        self.left, self.few, self.size = 3 * edge, 3 * edge + 256, 3 * edge + 320


class SetUp:
    """The edges of triangles, computed by `setup.mc`."""

    def __init__(
        self,
        triangles: ScreenTriangles,
        tile: int,
        samples: int,
        small: int,
        config: CoreConfig | None,
        engine: str = AUTO,
        shared: RasterWorks | None = None,
    ) -> None:
        """``shared`` records the threads for cores on which they take turns."""
        self.tile, self.samples, self.config, self.engine = tile, samples, config, engine
        self.shared = shared
        self.fields = Fields(samples)
        places = {f"{axis}{number}": at[k] // 16 for number, at in enumerate(SAMPLES) for k, axis in enumerate("XY")}
        program = shipped("setup.mc", TILE=tile, SAMPLES=samples, SMALL=small, **places)
        groups = -(-len(triangles) // LANES)
        memory = ByteMemory(_FIRST + groups * (_CORNER_BYTES + self.fields.size))
        corners = np.zeros((groups * LANES, 6), np.int64)
        corners[: len(triangles)] = triangles.corners.reshape(-1, 6)
        here = corners.reshape(groups, LANES, 6).transpose(0, 2, 1).astype(np.int32)
        end = _FIRST + groups * _CORNER_BYTES
        memory.data[0, _FIRST:end] = np.ascontiguousarray(here).view(np.uint8).reshape(-1)
        runs = []
        if groups:
            number = np.arange(groups)
            scalars = {0: _FIRST + _CORNER_BYTES * number, 1: end + self.fields.size * number}
            runs = [execute(program, groups, memory, scalars, config=config, engine=engine)]
            if shared is not None:
                shared.set_up(runs[0], end // _LINE)
        self.counted = Counted.of(runs)
        self.results = memory.data[0, end:]
        """Bytes of all groups, one after the other."""

    def column(self, triangle: np.ndarray) -> np.ndarray:
        """Return where the columns of triangles begin in the results."""
        return triangle // LANES * self.fields.size + triangle % LANES * 4

    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the boxes (first column and row, last ones negative) and the limits of small ones: [triangle]."""
        words = self.results.view(np.int32).reshape(-1, self.fields.size // 4)
        left, few = self.fields.left // 4, self.fields.few // 4
        boxes = words[:, left : left + 4 * LANES].reshape(-1, 4, LANES).transpose(0, 2, 1).reshape(-1, 4)
        return boxes.astype(np.int64), words[:, few : few + LANES].reshape(-1)


class Descent:
    """Pairs of triangle and tile, each a thread of `descent.mc`, and the blocks that they find, part by part."""

    def __init__(self, set_up: SetUp, bins: Bins, screen: tuple[int, int], scan: bool, batch: int) -> None:
        self.set_up, self.bins, self.screen, self.scan = set_up, bins, screen, scan
        self.stride = 4 * set_up.samples
        self.tiles = _tiles(bins, screen)
        self.tile = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))
        self.room, key = self._rooms()
        shared = set_up.shared
        part = np.searchsorted([0] if shared is None else shared.bounds, bins.triangles, "right") - 1
        count = 1 if shared is None else len(shared.bounds) - 1
        self.parts = [self._batches(np.flatnonzero(part == number), key, batch) for number in range(count)]
        """Pairs that run side by side, and whether the screen's border cuts their tiles, in each part."""
        every = [each for part in self.parts for each in part]
        self.places = self._places(every)
        if shared is not None:
            for border in sorted({border for _, border in every}):
                shared.program(self._program(border))
            self._lines = self._modelled(key)
        self.memory = ByteMemory(
            self.places.end + max((int(self._bytes(which).sum()) for which, _ in every), default=0)
        )
        data = self.memory.data[0]
        data[self.places.fields : self.places.tiles] = set_up.results
        data[self.places.tiles : self.places.pairs] = self.tiles.astype(np.int32).view(np.uint8).reshape(-1)
        none = np.zeros(0, np.int32)
        self._found = [(none, none, none, np.zeros((0, set_up.samples), np.uint16))]
        self._costs = [Counted.of([])]
        """Of each batch: the registers of its run are large."""

    def run(self, part: int) -> np.ndarray:
        """Execute the pairs of a part; return the triangles that cover something, ascending."""
        before = len(self._found)
        self._costs += [Counted.of([self._run(which, border)]) for which, border in self.parts[part]]
        pairs = [self._found[0][0], *(pair for pair, *_ in self._found[before:])]
        return distinct(self.bins.triangles[np.concatenate(pairs)])

    def finish(self) -> tuple[Blocks, Counted]:
        """Return the blocks of all parts and the cost of all pairs, once they have been executed."""
        counted = _in_place(sum(self._costs, Counted.of([])), [which for part in self.parts for which, _ in part])
        del self.memory  # large, and read no more
        pair, place, size, masks = (np.concatenate(each) for each in zip(*self._found, strict=True))
        del self._found
        bins = self.bins
        number, triangle = self.tile[pair], bins.triangles[pair]
        # Places are below 128 x 128, row by row, so blocks of a pair are in the order of the screen.
        order = np.argsort((number * (int(triangle.max(initial=0)) + 1) + triangle << 14) + place, kind="stable")
        x = number % bins.columns * bins.tile + (place & 127)
        y = number // bins.columns * bins.tile + (place >> 7)
        number, triangle, x, y, size = (each.astype(np.int32)[order] for each in (number, triangle, x, y, size))
        return Blocks(number, triangle, x, y, size, masks[order]), counted

    def _rooms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each pair the largest number of blocks of 4x4, and a key that is close for similar pairs."""
        boxes, few = self.set_up.boxes()
        clipped = np.maximum(boxes[self.bins.triangles], self.tiles[self.tile, 4:8])
        sides = np.maximum(4 - clipped[:, :2] - clipped[:, 2:], 0) // 4
        room = sides[:, 0] * sides[:, 1]
        small = 4 * (2 - sides.sum(axis=1)) >= few[self.bins.triangles]
        return room, np.where(small, 64 * sides[:, 1] + sides[:, 0], (room << 12) + (1 << 24))

    def _batches(
        self, pairs: np.ndarray, key: np.ndarray, batch: int, largest: int = _LARGEST
    ) -> list[tuple[np.ndarray, int]]:
        """Return pairs that run side by side, and whether the screen's border cuts their tiles."""
        cut = ~uncut(self.bins, self.screen)[self.tile[pairs]]
        found = []
        for border in (0, 1):
            which = pairs[cut == border]
            which = which[np.argsort(key[which], kind="stable")]
            total = np.cumsum(self._bytes(which).sum(axis=0))
            first = 0
            while first < len(which):
                before = total[first - 1] if first else 0
                last = max(int(np.searchsorted(total, before + largest, "right")), first + 1)
                found.append((which[first : min(last, first + batch)], border))
                first += len(found[-1][0])
        return found

    def _places(self, batches: Sequence[tuple[np.ndarray, int]]) -> _Places:
        threads = max((len(which) for which, _ in batches), default=0)
        return _Places(len(self.set_up.results), len(self.tiles), threads)

    def _bytes(self, which: np.ndarray) -> np.ndarray:
        """Return the space for the results of pairs, cut blocks and full ones, each in whole lines: int64[2, pair]."""
        return -(-self.room[which] * np.array([[self.stride], [4]]) // _LINE) * _LINE

    def _modelled(self, key: np.ndarray) -> np.ndarray:
        """Return the first lines of the results of each pair on the modelled core, of both kinds: int64[2, pair].

        They are where all pairs leave them in batches of `BATCH`, however many run side by side.
        """
        found = np.zeros((2, len(self.tile)), np.int64)
        batches = self._batches(np.arange(len(self.tile)), key, BATCH, _MODELLED)
        end = self._places(batches).end
        for number, (which, _) in enumerate(batches, 2):
            found[:, which] = number * _APART + _starts(end, self._bytes(which)) // _LINE
        return found

    def _program(self, border: int) -> VectorProgram:
        set_up = self.set_up
        return shipped("descent.mc", TILE=set_up.tile, SAMPLES=set_up.samples, BORDER=border, SCAN=int(self.scan))

    def _run(self, which: np.ndarray, border: int) -> VpuRun:
        set_up, places, threads = self.set_up, self.places, len(which)
        columns = set_up.column(self.bins.triangles[which])
        sizes = self._bytes(which)
        partial, full = starts = _starts(places.end, sizes)
        words = self.memory.data[0].view(np.uint32)
        table = words[places.pairs // 4 :][: 4 * threads].reshape(threads, 4)
        table[:, 0], table[:, 1] = places.fields + columns, places.tiles + self.tile[which] * _TILE_BYTES
        table[:, 2], table[:, 3] = partial, full
        number = np.arange(threads)
        scalars = {0: places.pairs + _PAIR_BYTES * number, 14: places.scratch + _Places.SCRATCH * number}
        program = self._program(border)
        done = execute(program, threads, self.memory, scalars, config=set_up.config, engine=set_up.engine)
        if set_up.shared is not None:
            lines = tuple(at // _LINE for at in (places.tiles, places.pairs, places.scratch, places.end))
            results = (partial + sizes[0]) // _LINE, *(self._lines[:, which] - starts // _LINE)
            set_up.shared.descend(done, which, lines, _Places.SCRATCH // _LINE, results)
        self._take(which, words, partial, table[:, 2].astype(np.int64), self.stride, False)
        self._take(which, words, full, table[:, 3].astype(np.int64), 4, True)
        return done

    def _take(
        self, which: np.ndarray, words: np.ndarray, first: np.ndarray, end: np.ndarray, stride: int, full: bool
    ) -> None:
        """Read the words that threads wrote from ``first`` to ``end``, one block every ``stride`` bytes."""
        count = (end - first) // stride
        pair, within = members(count)
        at = (first[pair] + within * stride) // 4
        word = words[at].astype(np.int64)
        if full:
            masks = np.full((len(at), self.set_up.samples), 0xFFFF, np.uint16)
        else:
            masks = (words[at[:, None] + np.arange(self.set_up.samples)] & 0xFFFF).astype(np.uint16)
        size = word & 0xFFFF if full else np.full(len(at), 4)
        pair, place, size = (each.astype(np.int32) for each in (which[pair], word >> 16, size))
        self._found.append((pair, place, size, masks))


def _starts(end: int, sizes: np.ndarray) -> np.ndarray:
    """Return where results begin, one after the other from byte ``end``."""
    return end + np.cumsum(sizes).reshape(sizes.shape) - sizes


class _Places:
    """Layout of a batch's memory."""

    SCRATCH = 1024

    def __init__(self, fields: int, tiles: int, threads: int) -> None:
        self.fields = _FIRST
        self.tiles = self.fields + fields
        self.pairs = self.tiles + tiles * _TILE_BYTES
        self.scratch = -(-(self.pairs + threads * _PAIR_BYTES) // _LINE) * _LINE
        self.end = self.scratch + threads * self.SCRATCH


def uncut(bins: Bins, screen: tuple[int, int]) -> np.ndarray:
    """Return which tiles are on the screen with all their pixels: bool[tile]."""
    number = np.arange(bins.columns * bins.rows)
    right, bottom = (number % bins.columns + 1) * bins.tile, (number // bins.columns + 1) * bins.tile
    return (right <= screen[0]) & (bottom <= screen[1])


def _tiles(bins: Bins, screen: tuple[int, int]) -> np.ndarray:
    """Return the data of each tile for `descent.mc`: int64[tile, word]."""
    number = np.arange(bins.columns * bins.rows)
    found = np.zeros((len(number), _TILE_BYTES // 4), np.int64)
    for axis, place in enumerate((number % bins.columns, number // bins.columns)):
        first = place * bins.tile
        left = np.minimum(screen[axis] - first, bins.tile)
        found[:, axis] = found[:, 4 + axis] = first
        found[:, 2] -= first << (23 if axis else 16)
        found[:, 6 + axis] = -(first + (left - 1) // 4 * 4)
        found[:, 8 + axis] = left
        # For each column or row of blocks, the number of its columns or rows of pixels on the screen.
        some = np.clip(left[:, None] - 4 * np.arange(32), 0, 4)
        across = np.array([0x0000, 0x1111, 0x3333, 0x7777, 0xFFFF])
        down = np.array([0x0000, 0x000F, 0x00FF, 0x0FFF, 0xFFFF])
        found[:, 16 + 32 * axis : 48 + 32 * axis] = (down if axis else across)[some]
    return found


def _in_place(counted: Counted, members: list[np.ndarray]) -> Counted:
    """Return the cost of threads in the order of their pairs."""
    cycles = np.zeros(len(counted.cycles), np.int64)
    if members:
        cycles[np.concatenate(members)] = counted.cycles
    return Counted(cycles, counted.instructions)


# Larrabee's rasterizer as programs for the vector unit: the blocks and pixels of its tiles that each triangle covers.
#
# `setup.mc` computes edges, sixteen triangles side by side; `descent.mc` takes one pair of triangle and tile a thread
# (Seiler et al. 2008, 4.4). Counts are those of the threads, each alone on a core.


Scan = Literal["instruction", "loop"]
"""Search for the next bit of a mask: by the scalar bit scan, or by a loop over the bits."""

SMALL = 10
"""Largest sum of the blocks of 4x4 pixels across and down a triangle's box in a tile for trying each block."""

BATCH = 4096
"""Threads that are simulated side by side; as many (invented) leave their results together on the modelled core."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks of pixels, by tile row by row, in each tile by triangle in the order of drawing, then row by row.

    int32[block] each: ``x`` and ``y`` the left and top pixel on the screen, ``size`` the side in pixels: 4, 16, or
    more. ``masks`` is uint16[block, sample], all ones but for a block of 4x4 that is covered in part; there pixel i
    across and j down is bit 4 j + i.
    """

    tile: np.ndarray
    triangle: np.ndarray
    x: np.ndarray
    y: np.ndarray
    size: np.ndarray
    masks: np.ndarray

    def __len__(self) -> int:
        return len(self.tile)


class Rasterized(NamedTuple):
    """Triangles as blocks of pixels, and their cost.

    ``set_up`` has one thread for sixteen triangles in their order, ``descent`` one for each pair in the order of
    ``bins``: cycles alone on a core, and instructions by family.
    """

    bins: Bins
    blocks: Blocks
    set_up: Counted
    descent: Counted
    planes: Counted
    """One thread for sixteen triangles that cover something, in their order, if planes were requested."""
    words: np.ndarray | None
    """Triangles with their planes, as the back end reads them: uint32[triangle, word], zeros for those that cover
    nothing; None if all do, or planes were not requested."""
    cores: dict[int, SharedCore]
    """Account of a core for set-up, planes and descents of each PrimSet, by sequence id; empty without PrimSets."""
    regrouped: tuple[dict[int, SharedCore], ...] = ()
    """The same for other PrimSets of these triangles."""

    @property
    def account(self) -> Rasterized:
        """The cycles and counts, without blocks and planes, which are large."""
        empty = np.zeros(0, np.int64)
        return self._replace(blocks=Blocks(*(empty,) * 5, self.blocks.masks[:0].copy()), words=None)

    @property
    def before_planes(self) -> int:
        """Cycles of the cores of all PrimSets for set-up and descents; planes follow."""
        return sum(core.first for core in self.cores.values())

    @property
    def pairs(self) -> int:
        """Pairs of triangle and tile."""
        return self.bins.entries

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions in both programs; None without any."""
        return (self.set_up + self.descent).vector_share

    def quads(self) -> Quads:
        """Return the blocks as blocks of 4x4 pixels: full ones are cut up."""
        blocks = self.blocks
        across = blocks.size // QUAD
        which, within = members(across * across)
        within = within.astype(np.int32)
        x = blocks.x[which] + within % across[which] * QUAD
        y = blocks.y[which] + within // across[which] * QUAD
        return Quads(blocks.tile[which], blocks.triangle[which], x, y, blocks.masks[which]).ordered()


def rasterize(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    *,
    tile: int = 64,
    samples: int = 1,
    bins: Bins | None = None,
    config: CoreConfig | None = None,
    scan: Scan = "instruction",
    small: int = SMALL,
    batch: int = BATCH,
    primset: np.ndarray | None = None,
    regrouped: Sequence[np.ndarray] = (),
    attributes: Attributes | None = None,
    engine: str = AUTO,
) -> Rasterized:
    """Rasterize triangles on a screen of ``width`` x ``height`` pixels, in tiles of ``tile`` pixels.

    ``bins`` are the tiles in which each triangle is tried (too many cost time, too few lose pixels); by default those
    in which it covers a sample. ``scan="loop"`` avoids the scalar bit scan; ``batch`` threads are simulated together.
    ``primset`` is the sequence id of each triangle, int64[triangle]: with it the cores of PrimSets are timed too, and
    then those of other PrimSets, ``regrouped``.
    ``attributes`` requests planes of the triangles that cover something.

    Raises InputError for a tile other than 32, 64 or 128 pixels (within larger ones edge values do not fit 32 bits),
    for other than 1 or 4 samples, another scan, less than one thread, and for bins of another tile or screen, or of
    triangles that are not there.
    """
    _check(tile, samples, scan, batch)
    config = config or CoreConfig()
    if bins is None:
        bins = (
            bin_triangles(triangles, width, height, tile)
            if samples == 1
            else sampled_bins(triangles, width, height, tile)
        )
    _check_bins(bins, len(triangles), width, height, tile)
    primsets = [] if primset is None else [primset, *regrouped]
    shared = RasterWorks(len(triangles), bins, primsets, config) if primsets else None
    set_up = SetUp(triangles, tile, samples, small, config, engine, shared)
    descent = Descent(set_up, bins, (width, height), scan == "instruction", batch)
    planes, words, groups = Counted.of([]), None, 0
    waiting = np.zeros(0, np.int64)  # for the planes of sixteen triangles
    for part in range(len(descent.parts)):
        found, last = descent.run(part), part == len(descent.parts) - 1
        if attributes is not None and len(waiting := np.append(waiting, found)):
            if words is None:
                size = constants_of(samples, False, attributes)["TRIANGLE_BYTES"]
                words = np.zeros((len(triangles), size // 4), np.uint32)
                if shared is not None:
                    shared.program(plane_program(samples, attributes))
            ready, waiting = np.split(waiting, [len(waiting) if last else len(waiting) // LANES * LANES])
            if len(ready):
                made = plane_words(triangles.part(ready), samples, attributes, config, engine)
                planes, words[ready] = planes + Counted.of([made.done]), made.words
                if shared is not None:
                    shared.planes(made, ready, groups)
                groups += len(ready) // LANES
        if shared is not None and (last or attributes is None or words is not None):
            shared.count(int(waiting[0]) if len(waiting) else int(shared.bounds[part + 1]), words is not None)
    blocks, descents = descent.finish()
    cores, *others = [{}] if shared is None else shared.cores
    return Rasterized(bins, blocks, set_up.counted, descents, planes, words, cores, tuple(others))


def sampled_bins(triangles: ScreenTriangles, width: int, height: int, tile: int = 64) -> Bins:
    """Sort triangles into the tiles in which they cover at least one of the four samples of a pixel."""
    keys = []
    for x, y in SAMPLES:
        # A triangle contains a sample if the triangle shifted by their difference contains the pixel's centre.
        corners = triangles.corners + (np.array(CENTRE) - (x, y))
        moved = ScreenTriangles(corners, triangles.depths, triangles.colours)
        found = bin_triangles(moved, width, height, tile, BinRule.COVERED)
        number = np.repeat(np.arange(found.columns * found.rows), np.diff(found.starts).astype(np.intp))
        keys.append(number * len(triangles) + found.triangles)
    number, triangle = np.divmod(distinct(np.concatenate(keys)), max(len(triangles), 1))
    starts = np.searchsorted(number, np.arange(found.columns * found.rows + 1))
    return Bins(tile, found.columns, found.rows, starts, triangle)


def _check(tile: int, samples: int, scan: str, batch: int) -> None:
    if tile not in TILES:
        hint = f"allowed: {', '.join(map(str, TILES))}"
        if tile > max(TILES):
            hint += "; edge values within a larger tile do not fit the 32 bits of a lane"
        raise InputError(Fault(f"a tile of {tile} pixels", hint=hint))
    if samples not in (1, len(SAMPLES)):
        raise InputError(Fault(f"{samples} samples a pixel", hint=f"allowed: 1, {len(SAMPLES)}"))
    if scan not in get_args(Scan):
        near = nearest(scan, get_args(Scan))
        hint = f"did you mean {near}?" if near else f"allowed: {', '.join(get_args(Scan))}"
        raise InputError(Fault(f"no scan is called {scan!r}", hint=hint))
    if batch < 1:
        raise InputError(Fault(f"{batch} threads side by side", hint="1 or more"))


def _check_bins(bins: Bins, triangles: int, width: int, height: int, tile: int) -> None:
    shape = (tile, -(-width // tile), -(-height // tile))
    if (bins.tile, bins.columns, bins.rows) != shape:
        given = f"bins of {bins.columns} x {bins.rows} tiles of {bins.tile} pixels do not fit the screen"
        hint = f"a screen of {width} x {height} pixels has {shape[1]} x {shape[2]} tiles of {tile}"
        raise InputError(Fault(given, hint=hint))
    if bins.entries and not 0 <= int(bins.triangles.min()) <= int(bins.triangles.max()) < triangles:
        given = f"bins of triangles {bins.triangles.min()} to {bins.triangles.max()}"
        hint = f"there are {triangles}, numbered from 0; were the bins made of others?"
        raise InputError(Fault(given, hint=hint))


# The value of the rasterizer's bit scans: the same triangles with them and without.


class Ablation(NamedTuple):
    """The same triangles with the scalar bit scan, and with a loop over the bits."""

    instruction: Rasterized
    loop: Rasterized

    @property
    def extra(self) -> float:
        """Additional cycles of the descent without the bit scan, as a share of those with it."""
        with_scan, without = (int(each.descent.cycles.sum()) for each in (self.instruction, self.loop))
        return without / with_scan - 1 if with_scan else 0.0


def ablation(triangles: ScreenTriangles, width: int, height: int) -> Ablation:
    """Rasterize triangles with and without the bit scan (Abrash 2009: scans and their like are worth about 10 %)."""
    first = rasterize(triangles, width, height)
    return Ablation(first, rasterize(triangles, width, height, bins=first.bins, scan="loop"))
