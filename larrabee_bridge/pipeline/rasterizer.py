"""Larrabee's rasterizer (neither): set-up and recursive descent as programs, with their cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from larrabee_bridge.pipeline.back_end_programs import Attributes, PlaneWords, plane_words
from larrabee_bridge.pipeline.bins import QUAD, TILES, BinRule, Bins, Quads, bin_triangles, distinct
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import SharedCore, WorkRecord
from larrabee_bridge.vpu.isa import LANES, VectorFamily, vector_share
from larrabee_bridge.vpu.program import shipped
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


class RasterWorks:
    """Recorder of the rasterizer's threads by their first triangle; `count` times them by PrimSets."""

    def __init__(self, triangles: int, bins: Bins, config: CoreConfig) -> None:
        self.bins = bins
        self.record = WorkRecord(config)
        self.record.resident |= set(range(_KEPT, _SCRATCH + 16 * THREADS))
        tile = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))
        order = np.lexsort((tile, bins.triangles))
        self._turn = np.empty(len(order), np.int64)
        self._turn[order] = np.arange(len(order))
        """Position of each pair in the order of a PrimSet: triangle by triangle, the tiles of each."""
        self._first = np.searchsorted(bins.triangles[order], np.arange(0, triangles + LANES, LANES))
        """Position of the first pair of each sixteen triangles."""
        self._step = self.record.step()
        self._batch = 0

    def set_up(self, done: VpuRun, fields: int) -> None:
        """Add set-ups, sixteen triangles a thread; their fields begin at line ``fields``."""
        record, note, group = self.record, done.note, done.note.threads
        number = record.program(done.program)
        table = np.zeros((1, 2, RANGE), np.int64)
        table[0, 0] = fields, 0, _CORNERS, _KEPT
        table[0, 1, :2] = _END, _CONSTANTS - fields
        # A thread sets up sixteen triangles, then descends for them.
        order = self._step + 2 * self._first[group]
        ranges = record.ranges(number, table, _CONSTANTS)
        record.add(number, note, LANES * group, group % THREADS, order, ranges, phase=0)

    def planes(self, made: PlaneWords, which: np.ndarray) -> None:
        """Add planes of triangles ``which``, ascending, sixteen a thread, after all descents."""
        record, note = self.record, made.done.note
        group, triangles = note.threads, made.line
        record.resident |= set(range(_GIVEN, _GIVEN + _VALUES))
        number = record.program(made.done.program)
        table = np.zeros((1, 2, RANGE), np.int64)
        table[0, 0] = triangles, 0, _VALUES, _GIVEN
        table[0, 1, :2] = _END, _PLANES - triangles
        order = record.step() + group
        ranges = record.ranges(number, table, _CONSTANTS)
        record.add(number, note, which[LANES * group], group % THREADS, order, ranges, phase=1)

    def descend(self, done: VpuRun, pairs: np.ndarray, lines: Sequence[int], scratch: int) -> None:
        """Add descents of pairs of triangle and tile.

        ``lines`` are the first lines of tiles, pairs, scratch memories of ``scratch`` lines each, and results.
        """
        record, note = self.record, done.note
        number = record.program(done.program)
        self._batch += 1
        tiles, table_of_pairs, scratches, results = lines
        table = np.zeros((1, 4, RANGE), np.int64)
        table[0, 0, 0] = tiles
        table[0, 1, :2] = table_of_pairs, _APART
        table[0, 2] = results, 0, 1, _PAIR
        table[0, 3, :2] = _END, (1 + self._batch) * _APART
        which = pairs[note.threads]
        triangle = self.bins.triangles[which]
        thread = triangle // LANES % THREADS
        first = scratches + scratch * note.threads
        own = np.stack([first, first + scratch, _SCRATCH + scratch * thread - first], axis=1)
        order = self._step + 2 * self._turn[which] + 1
        ranges = record.ranges(number, table, _CONSTANTS)
        record.add(number, note, triangle, thread, order, ranges, own=own, phase=0)

    def count(self, primsets: Sequence[np.ndarray]) -> list[dict[int, SharedCore]]:
        """Return the account of a core for each PrimSet, by the sequence ids of triangles: int64[triangle] each."""
        return [self.record.count(works=each, last=each is primsets[-1]) for each in primsets]


# Runs of the rasterizer's two programs: their memory, their threads and their counts.


_LINE = 64
_FIRST = 4096
"""Bytes reserved for the programs' constants."""
_CORNER_BYTES = 6 * _LINE
_TILE_BYTES = 320
_PAIR_BYTES = 16
_LARGEST = 1 << 25
"""Bytes of results of one batch of threads."""


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
    """Pairs of triangle and tile, each a thread of `descent.mc`, and the blocks that they find."""

    def __init__(self, set_up: SetUp, bins: Bins, screen: tuple[int, int], scan: bool, batch: int) -> None:
        self.set_up, self.bins, self.screen, self.scan = set_up, bins, screen, scan
        self.stride = 4 * set_up.samples
        self.tiles = _tiles(bins, screen)
        self.tile = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))
        self.room, key = self._rooms()
        batches = self._batches(key, batch)
        self.places = _Places(len(set_up.results), len(self.tiles), max((len(each) for each, _ in batches), default=0))
        results = (int((self._bytes(each, self.stride) + self._bytes(each, 4)).sum()) for each, _ in batches)
        self.memory = ByteMemory(self.places.end + max(results, default=0))
        data = self.memory.data[0]
        data[self.places.fields : self.places.tiles] = set_up.results
        data[self.places.tiles : self.places.pairs] = self.tiles.astype(np.int32).view(np.uint8).reshape(-1)
        self._found: list[tuple[np.ndarray, ...]] = []
        # Counted one by one: the registers of a batch are large.
        costs = [Counted.of([self._run(which, border)]) for which, border in batches]
        self.counted = _in_place(sum(costs, Counted.of([])), [which for which, _ in batches])
        none = np.zeros(0, np.int64)
        empty = (none, none, none, np.zeros((0, set_up.samples), np.uint16))
        del self.memory  # large, and read no more
        pair, place, size, masks = (np.concatenate(each) for each in zip(*(self._found or [empty]), strict=True))
        del self._found
        number, triangle = self.tile[pair], bins.triangles[pair]
        # Places are below 128 x 128, row by row, so blocks of a pair are in the order of the screen.
        order = np.argsort((number * (int(triangle.max(initial=0)) + 1) + triangle << 14) + place, kind="stable")
        x = number % bins.columns * bins.tile + (place & 127)
        y = number // bins.columns * bins.tile + (place >> 7)
        self.blocks = Blocks(*(each[order] for each in (number, triangle, x, y, size, masks)))

    def _rooms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each pair the largest number of blocks of 4x4, and a key that is close for similar pairs."""
        boxes, few = self.set_up.boxes()
        clipped = np.maximum(boxes[self.bins.triangles], self.tiles[self.tile, 4:8])
        sides = np.maximum(4 - clipped[:, :2] - clipped[:, 2:], 0) // 4
        room = sides[:, 0] * sides[:, 1]
        small = 4 * (2 - sides.sum(axis=1)) >= few[self.bins.triangles]
        return room, np.where(small, 64 * sides[:, 1] + sides[:, 0], (room << 12) + (1 << 24))

    def _batches(self, key: np.ndarray, batch: int) -> list[tuple[np.ndarray, int]]:
        """Return pairs that run side by side, and whether the screen's border cuts their tiles."""
        cut = ~uncut(self.bins, self.screen)[self.tile]
        found = []
        for border in (0, 1):
            which = np.flatnonzero(cut == border)
            which = which[np.argsort(key[which], kind="stable")]
            total = np.cumsum(self._bytes(which, self.stride) + self._bytes(which, 4))
            first = 0
            while first < len(which):
                before = total[first - 1] if first else 0
                last = max(int(np.searchsorted(total, before + _LARGEST, "right")), first + 1)
                found.append((which[first : min(last, first + batch)], border))
                first += len(found[-1][0])
        return found

    def _bytes(self, which: np.ndarray, stride: int) -> np.ndarray:
        """Return the space for the results of pairs, each in whole lines."""
        return -(-self.room[which] * stride // _LINE) * _LINE

    def _run(self, which: np.ndarray, border: int) -> VpuRun:
        set_up, places, threads = self.set_up, self.places, len(which)
        program = shipped("descent.mc", TILE=set_up.tile, SAMPLES=set_up.samples, BORDER=border, SCAN=int(self.scan))
        columns = set_up.column(self.bins.triangles[which])
        partial_bytes, full_bytes = self._bytes(which, self.stride), self._bytes(which, 4)
        partial = places.end + np.cumsum(partial_bytes) - partial_bytes
        full = places.end + int(partial_bytes.sum()) + np.cumsum(full_bytes) - full_bytes
        words = self.memory.data[0].view(np.uint32)
        table = words[places.pairs // 4 :][: 4 * threads].reshape(threads, 4)
        table[:, 0], table[:, 1] = places.fields + columns, places.tiles + self.tile[which] * _TILE_BYTES
        table[:, 2], table[:, 3] = partial, full
        number = np.arange(threads)
        scalars = {0: places.pairs + _PAIR_BYTES * number, 14: places.scratch + _Places.SCRATCH * number}
        done = execute(program, threads, self.memory, scalars, config=set_up.config, engine=set_up.engine)
        if set_up.shared is not None:
            lines = tuple(at // _LINE for at in (places.tiles, places.pairs, places.scratch, places.end))
            set_up.shared.descend(done, which, lines, _Places.SCRATCH // _LINE)
        self._take(which, words, partial, table[:, 2].astype(np.int64), self.stride, False)
        self._take(which, words, full, table[:, 3].astype(np.int64), 4, True)
        return done

    def _take(
        self, which: np.ndarray, words: np.ndarray, first: np.ndarray, end: np.ndarray, stride: int, full: bool
    ) -> None:
        """Read the words that threads wrote from ``first`` to ``end``, one block every ``stride`` bytes."""
        count = (end - first) // stride
        pair = np.repeat(which, count.astype(np.intp))
        within = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count.astype(np.intp))
        at = (np.repeat(first, count.astype(np.intp)) + within * stride) // 4
        word = words[at].astype(np.int64)
        if full:
            masks = np.full((len(at), self.set_up.samples), 0xFFFF, np.uint16)
        else:
            masks = (words[at[:, None] + np.arange(self.set_up.samples)] & 0xFFFF).astype(np.uint16)
        self._found.append((pair, word >> 16, word & 0xFFFF if full else np.full(len(at), 4), masks))


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
"""Threads that are simulated side by side; no result depends on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks of pixels, by tile row by row, in each tile by triangle in the order of drawing, then row by row.

    int64[block] each: ``x`` and ``y`` the left and top pixel on the screen, ``size`` the side in pixels: 4, 16, or
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


@dataclass(frozen=True, slots=True, eq=False)
class Rasterized:
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
        return replace(self, blocks=Blocks(*(empty,) * 5, self.blocks.masks[:0].copy()), words=None)

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
        which = np.repeat(np.arange(len(blocks)), (across * across).astype(np.intp))
        within = np.arange(len(which)) - np.repeat(
            np.cumsum(across * across) - across * across, (across * across).astype(np.intp)
        )
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
    shared = None if primset is None else RasterWorks(len(triangles), bins, config)
    set_up = SetUp(triangles, tile, samples, small, config, engine, shared)
    descent = Descent(set_up, bins, (width, height), scan == "instruction", batch)
    planes, words = Counted.of([]), None
    covering = distinct(descent.blocks.triangle)
    if attributes is not None and len(covering):
        made = plane_words(triangles.part(covering), samples, attributes, config, engine)
        words = np.zeros((len(triangles), made.words.shape[1]), np.uint32)
        planes, words[covering] = Counted.of([made.done]), made.words
        if shared is not None:
            shared.planes(made, covering)
    cores, *others = [{}] if shared is None or primset is None else shared.count([primset, *regrouped])
    return Rasterized(bins, descent.blocks, set_up.counted, descent.counted, planes, words, cores, tuple(others))


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


@dataclass(frozen=True, slots=True, eq=False)
class Ablation:
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
