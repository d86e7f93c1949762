"""Runs of the rasterizer's two programs: their memory, their threads, and what they counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.coverage.binning import Bins
from larrabee_bridge.pipeline.raster.works import RasterWorks
from larrabee_bridge.vpu.core import Core, CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily, vector_share
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.drawing import SAMPLES, ScreenTriangles
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["Counted", "Descent", "SetUp", "uncut"]

_LINE = 64
_FIRST = 4096
"""Bytes that are left to the programs' own constants."""
_CORNERS = 6 * _LINE
_TILE_BYTES = 320
_PAIR_BYTES = 16
_LARGEST = 1 << 25
"""Bytes of results of one batch of threads."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What threads took: int64[thread] cycles, alone on a core; instructions of all by family; lines touched by all."""

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
    def of(cls, cores: list[Core]) -> Counted:
        """Return what the threads of cores took together, one core after the other."""
        cycles = np.concatenate([each.cycles for each in cores]) if cores else np.zeros(0, np.int64)
        return cls(cycles, {family: sum(int(core.counts[family].sum()) for core in cores) for family in VectorFamily})


def _names(program: VectorProgram) -> dict[str, int]:
    return {each.name: each.start for each in program.ranges}


class Fields:
    """Where `fields.mc` puts the fields of sixteen triangles."""

    def __init__(self, samples: int) -> None:
        edge = 832 + (320 if samples > 1 else 0)
        self.left, self.few, self.size = 3 * edge, 3 * edge + 256, 3 * edge + 320


class SetUp:
    """The edges of triangles, worked out by `setup.mc`."""

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
        """``shared`` takes what threads carry out, for cores on which they take turns."""
        self.tile, self.samples, self.config, self.engine = tile, samples, config, engine
        self.shared = shared
        self.fields = Fields(samples)
        places = {f"{axis}{number}": at[k] // 16 for number, at in enumerate(SAMPLES) for k, axis in enumerate("XY")}
        self.program = shipped("setup.mc", TILE=tile, SAMPLES=samples, SMALL=small, **places)
        groups = -(-len(triangles) // LANES)
        memory = ByteMemory(_FIRST + groups * (_CORNERS + self.fields.size))
        threads = max(groups, 1)
        unit, core = VectorUnit(self.program, threads, memory, engine), Core(self.program, threads, config)
        corners = np.zeros((groups * LANES, 6), np.int64)
        corners[: len(triangles)] = triangles.corners.reshape(-1, 6)
        here = corners.reshape(groups, LANES, 6).transpose(0, 2, 1).astype(np.int32)
        end = _FIRST + groups * _CORNERS
        memory.data[0, _FIRST:end] = np.ascontiguousarray(here).view(np.uint8).reshape(-1)
        if groups:
            unit.set_scalar(0, _FIRST + _CORNERS * np.arange(groups))
            unit.set_scalar(1, end + self.fields.size * np.arange(groups))
            if shared is None:
                unit.run(core)
            else:
                notes: list[RunNote] = []
                unit.run(notes.append, lines=True)
                note = RunNote.joined(notes)
                core(note)
                shared.set_up(self.program, note, end // _LINE)
        self.counted = Counted.of([core])
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
    """Pairs of triangle and tile, each a thread of `descent.mc`.

    ``blocks`` are pair, place within the tile (128 y + x), side, and masks of each block that came out.
    """

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
        cores = [self._run(which, border) for which, border in batches]
        self.counted = _in_place(Counted.of(cores), [which for which, _ in batches])
        none = np.zeros(0, np.int64)
        empty = (none, none, none, np.zeros((0, set_up.samples), np.uint16))
        self.blocks = tuple(np.concatenate(each) for each in zip(*(self._found or [empty]), strict=True))

    @property
    def program(self) -> VectorProgram:
        """The program of pairs whose tile lies on the screen."""
        return self._program(0)

    def _program(self, border: int) -> VectorProgram:
        set_up = self.set_up
        return shipped("descent.mc", TILE=set_up.tile, SAMPLES=set_up.samples, BORDER=border, SCAN=int(self.scan))

    def _rooms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each pair the most blocks of 4x4 that come out, and a number that is near for like pairs."""
        boxes, few = self.set_up.boxes()
        clipped = np.maximum(boxes[self.bins.triangles], self.tiles[self.tile, 4:8])
        sides = np.maximum(4 - clipped[:, :2] - clipped[:, 2:], 0) // 4
        room = sides[:, 0] * sides[:, 1]
        small = 4 * (2 - sides.sum(axis=1)) >= few[self.bins.triangles]
        return room, np.where(small, 64 * sides[:, 1] + sides[:, 0], (room << 12) + (1 << 24))

    def _batches(self, key: np.ndarray, batch: int) -> list[tuple[np.ndarray, int]]:
        """Return pairs that run side by side, and whether the screen cuts their tiles."""
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
        """Return what the results of pairs may take, each from the beginning of a line on."""
        return -(-self.room[which] * stride // _LINE) * _LINE

    def _run(self, which: np.ndarray, border: int) -> Core:
        set_up, places, threads = self.set_up, self.places, len(which)
        program = self._program(border)
        columns = set_up.column(self.bins.triangles[which])
        partial_bytes, full_bytes = self._bytes(which, self.stride), self._bytes(which, 4)
        partial = places.end + np.cumsum(partial_bytes) - partial_bytes
        full = places.end + int(partial_bytes.sum()) + np.cumsum(full_bytes) - full_bytes
        words = self.memory.data[0].view(np.uint32)
        table = words[places.pairs // 4 :][: 4 * threads].reshape(threads, 4)
        table[:, 0], table[:, 1] = places.fields + columns, places.tiles + self.tile[which] * _TILE_BYTES
        table[:, 2], table[:, 3] = partial, full
        unit = VectorUnit(program, threads, self.memory, set_up.engine)
        core = Core(program, threads, set_up.config)
        unit.set_scalar(0, places.pairs + _PAIR_BYTES * np.arange(threads))
        unit.set_scalar(14, places.scratch + _Places.SCRATCH * np.arange(threads))
        if set_up.shared is not None:
            notes: list[RunNote] = []
            unit.run(notes.append, lines=True)
            note = RunNote.joined(notes)
            core(note)
            lines = tuple(at // _LINE for at in (places.tiles, places.pairs, places.scratch, places.end))
            set_up.shared.descend(program, note, which, lines, _Places.SCRATCH // _LINE)
        else:
            unit.run(core)
        self._take(which, words, partial, table[:, 2].astype(np.int64), self.stride, False)
        self._take(which, words, full, table[:, 3].astype(np.int64), 4, True)
        return core

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
    """Where things lie in the memory of a batch."""

    SCRATCH = 1024

    def __init__(self, fields: int, tiles: int, threads: int) -> None:
        self.fields = _FIRST
        self.tiles = self.fields + fields
        self.pairs = self.tiles + tiles * _TILE_BYTES
        self.scratch = -(-(self.pairs + threads * _PAIR_BYTES) // _LINE) * _LINE
        self.end = self.scratch + threads * self.SCRATCH


def uncut(bins: Bins, screen: tuple[int, int]) -> np.ndarray:
    """Return which tiles lie on the screen with all their pixels: bool[tile]."""
    number = np.arange(bins.columns * bins.rows)
    right, bottom = (number % bins.columns + 1) * bins.tile, (number // bins.columns + 1) * bins.tile
    return (right <= screen[0]) & (bottom <= screen[1])


def _tiles(bins: Bins, screen: tuple[int, int]) -> np.ndarray:
    """Return what `descent.mc` knows of each tile: int64[tile, word]."""
    number = np.arange(bins.columns * bins.rows)
    found = np.zeros((len(number), _TILE_BYTES // 4), np.int64)
    for axis, place in enumerate((number % bins.columns, number // bins.columns)):
        first = place * bins.tile
        left = np.minimum(screen[axis] - first, bins.tile)
        found[:, axis] = found[:, 4 + axis] = first
        found[:, 2] -= first << (23 if axis else 16)
        found[:, 6 + axis] = -(first + (left - 1) // 4 * 4)
        found[:, 8 + axis] = left
        # Of each column or row of blocks, as many columns or rows of pixels as lie on the screen.
        some = np.clip(left[:, None] - 4 * np.arange(32), 0, 4)
        across = np.array([0x0000, 0x1111, 0x3333, 0x7777, 0xFFFF])
        down = np.array([0x0000, 0x000F, 0x00FF, 0x0FFF, 0xFFFF])
        found[:, 16 + 32 * axis : 48 + 32 * axis] = (down if axis else across)[some]
    return found


def _in_place(counted: Counted, members: list[np.ndarray]) -> Counted:
    """Return what threads took in the order of the pairs that they had."""
    cycles = np.zeros(len(counted.cycles), np.int64)
    if members:
        cycles[np.concatenate(members)] = counted.cycles
    return Counted(cycles, counted.instructions)
