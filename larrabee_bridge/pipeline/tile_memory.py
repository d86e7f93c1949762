"""Tiles of the back end: costs of their threads, memory of a run, and stretches for the cores' timing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.back_end_programs import Attributes, TileStage, constants_of, program_of, stages_of
from larrabee_bridge.pipeline.bins import QUAD, Quads, begins_of, distinct, members
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import FREE, Queues, Requests, SharedCore, WorkRecord, begins_of_block
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import LINE_BYTES, MEMORY_BYTES, VectorProgram
from larrabee_bridge.vpu.ring import fewest_fibers
from larrabee_bridge.vpu.rotation import DEALS_A_QUAD, RANGE, TAKES_A_QUAD
from larrabee_bridge.vpu_run import execute
from pixelflow.simd.drawing import (
    CENTRE,
    DIVISOR,
    NUMERATORS,
    SAMPLES,
    Blend,
    Draw,
    ScreenTriangles,
    planes_of,
    quotients_of,
    texture_planes_of,
)
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory

THREADS = 4
"""One set-up thread and three work threads (Seiler et al. 2008, 4.5)."""

_TOGETHER = 4096
"""Threads that run side by side: more share the cost of an instruction, fewer wait for the longest."""


@dataclass(eq=False)
class Accounts:
    """Cycles of every tile: of its threads alone on a core, and of the core on which they take turns.

    Thread 0 sets up, threads 1 to 3 work.
    """

    tiles: int
    config: CoreConfig
    engine: str = AUTO
    texture: TextureConfig = field(default_factory=TextureConfig)
    cycles: np.ndarray = field(init=False)
    """int64[tile, thread]."""
    shared: dict[int, SharedCore] = field(init=False)
    """Account of each tile's core, by the tile's number."""
    requested: np.ndarray = field(init=False)
    """Texture requests of each tile so far: int64[tile]."""
    record: WorkRecord = field(init=False)
    """Stretches of tiles that are not timed yet."""
    stages: dict[TileStage, np.ndarray] = field(init=False)
    """Cycles of all threads of a tile by stage: int64[tile] each; their sum is that of ``cycles``."""
    families: dict[VectorFamily, int] = field(init=False)

    def __post_init__(self) -> None:
        self.cycles = np.zeros((self.tiles, THREADS), np.int64)
        self.shared = {}
        self.requested = np.zeros(self.tiles, np.int64)
        latency = self.texture.latency, self.texture.switch_cycles
        self.record = WorkRecord(self.config, queue=self.config.queued_quads, unit=latency, workers=(0, 0, 1, 2))
        self.stages = {stage: np.zeros(self.tiles, np.int64) for stage in TileStage}
        self.families = dict.fromkeys(VectorFamily, 0)

    def turns(self) -> np.ndarray:
        """Return the cycles of a core for each tile: int64[tile]; 0 without work."""
        found = np.zeros(self.tiles, np.int64)
        for tile, core in self.shared.items():
            found[tile] = core.cycles
        return found

    def finish(self, *, more: bool = False) -> None:
        """Time the tiles that are recorded; there may be ``more``."""
        self.shared |= self.record.count(more=more)

    def run(
        self,
        name: str,
        parameters: dict[str, int],
        memory: ByteMemory,
        tile: np.ndarray,
        thread: np.ndarray,
        scalars: dict[int, np.ndarray],
        work: np.ndarray,
        masks: dict[int, int] | None = None,
    ) -> list[tuple[np.ndarray, RunNote]]:
        """Run a program on threads side by side and charge them; return their numbers and notes.

        ``tile`` and ``thread`` are the owner of each, ``scalars`` and ``masks`` the initial registers r and k, ``work``
        an amount, so that threads with similar amounts run together.
        """
        program, stages = program_of(name, **parameters), stages_of(name, **parameters)
        found = list(dict.fromkeys(stages))
        parts = [found.index(stage) for stage in stages]
        order = np.argsort(-work, kind="stable")
        runs = []
        for start in range(0, len(order), _TOGETHER):
            these = order[start : start + _TOGETHER]
            given = {register: values[these] for register, values in scalars.items()}
            done = execute(
                program, len(these), memory, given, config=self.config, parts=parts, masks=masks, engine=self.engine
            )
            runs.append((these, done.note))
            whose, which = tile[these], thread[these]
            np.add.at(self.cycles, (whose, which), done.core.cycles)
            for stage, cycles in zip(found, done.core.by_part.T, strict=True):
                np.add.at(self.stages[stage], whose, cycles)
            for family, count in done.families.items():
                self.families[family] += count
        return runs


# Room for sorted fragments in each tile.
#
# Lists grow while a tile is drawn and have no limit: a work thread takes page after page of memory, twelve bytes for a
# fragment. Memory is reserved for all fragments of the quads of sorted draws; only used pages are touched.


WORKERS = 3
"""Work threads of a core (Seiler et al. 2008, 4.5)."""

_PLACE_BYTES = 2 * LINE_BYTES
"""Of the scratch memory in which `lists.mc` sorts: a line of depths and one of colours."""


class ListRoom(NamedTuple):
    """Largest size of the lists of tiles in bytes, multiples of a stream's: int64[tile, work thread] each."""

    scratch: NDArray[np.int64]
    pages: NDArray[np.int64]
    """Including the line with the place of the next fragment."""

    def of(self, tiles: NDArray[np.int64]) -> ListRoom:
        """Return the room of some tiles."""
        return ListRoom(self.scratch[tiles], self.pages[tiles])

    @property
    def bytes(self) -> NDArray[np.int64]:
        """Total of each tile: int64[tile]."""
        return (self.scratch + self.pages).sum(axis=1)


def worker_of(quads: Quads, tile: int) -> NDArray[np.int64]:
    """Return the work thread of each quad: int64[quad]."""
    return (quads.x % tile // QUAD + quads.y % tile // QUAD) % WORKERS


def list_room(draws: Sequence[Draw], quads: Sequence[Quads], tile: int, tiles: int, samples: int) -> ListRoom:
    """Return the room for the lists of a frame; zero without sorted draws."""
    shape = (tiles, WORKERS)
    some = [each for draw, each in zip(draws, quads, strict=True) if draw.state.blend is Blend.SORTED]
    if not some:
        return ListRoom(np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    layout, side = constants_of(samples, True, Attributes()), tile // QUAD
    counts, blocks = np.zeros(tiles * WORKERS, np.int64), np.zeros(tiles * side * side, np.int64)
    for each in some:
        counts += np.bincount(each.tile * WORKERS + worker_of(each, tile), minlength=len(counts))
        block = each.y % tile // QUAD * side + each.x % tile // QUAD
        blocks += np.bincount(each.tile * side * side + block, minlength=len(blocks))
    longest = blocks.reshape(tiles, -1).max(axis=1)
    scratch = np.repeat(_PLACE_BYTES * longest[:, None], WORKERS, axis=1)
    scratch += -scratch % layout["STREAM"]
    # A page ends where sixteen more might not fit.
    held = layout["STREAM"] // 4 - LANES
    pages = 1 + -(-LANES * samples * counts.reshape(shape) // held)
    return ListRoom(scratch, layout["STREAM"] + layout["PAGE"] * pages)


def list_bytes(where: NDArray[np.int64], pointers: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the size of lists whose rooms begin at ``where``, from their pointers to the next fragment."""
    layout = constants_of(1, True, Attributes())
    page, within = np.divmod(pointers - where - layout["STREAM"], layout["PAGE"])
    return 3 * (layout["STREAM"] * page + within)


# The memory of a run of tiles: their pixels, which stay for the whole frame, and the data of one draw.


_HEADER_WORDS = 16
AHEAD = 8
"""Triangles between a set-up thread's prefetch of a triangle's planes and their use."""
_QUEUES = 4
"""Of a tile's header: x, y, two unused words, then the next place in each queue."""


def draw_bytes(quads: Quads, samples: int, attributes: Attributes) -> int:
    """Return the largest number of bytes of a draw's data, without pixels."""
    layout = constants_of(samples, False, attributes)
    triangles, pairs = len(distinct(quads.triangle)), int(begins_of(quads.tile, quads.triangle).sum())
    lists = (8 + 4 * _HEADER_WORDS) * pairs + layout["ENTRY_BYTES"] * len(quads) + 4 * len(distinct(quads.tile))
    return (
        layout["TRIANGLE_BYTES"] * triangles
        + layout["QUAD_BYTES"] * len(quads)
        + lists
        + 5 * LINE_BYTES
        + layout["LOOK_BYTES"]
    )


class DealtDraw(NamedTuple):
    """Places of one draw's quads in memory."""

    pairs: np.ndarray
    """Tile of each pair of tile and triangle, by its place in the run: int64[pair]."""
    lists: np.ndarray
    """Start of each pair's quads in the list of its tile: int64[pair]."""
    headers: np.ndarray
    """Starts of their headers: int64[pair]."""
    sizes: np.ndarray
    """Quads of the pairs: int64[pair]."""
    ahead: np.ndarray
    """Place in its tile's list `AHEAD` triangles after each pair, or the end of the list: int64[pair]."""
    owner: np.ndarray
    """Tile and work thread of each queue with quads: int64[2, m]."""
    queues: np.ndarray
    """Starts of the queues: int64[m]."""
    counts: np.ndarray
    """Quads in the queues: int64[m]."""
    order: np.ndarray
    """Record of each quad, counted from the first queue: int64[quad]."""
    tile: np.ndarray
    """The tile of each quad, by its place in the run: int64[quad]."""
    thread: np.ndarray
    """Work thread of each quad: int64[quad]."""
    which: np.ndarray
    """The triangles that are in memory, one after the other."""


@dataclass(eq=False)
class TilePlaces:
    """Places of tiles in one memory: pixels, then lists of fragments; ``numbers`` on the screen are ascending."""

    numbers: np.ndarray
    tile: int
    samples: int
    sorts: bool
    room: ListRoom
    """For the lists of these tiles."""

    def __post_init__(self) -> None:
        layout = constants_of(self.samples, self.sorts, Attributes())
        self.block_bytes, stream = layout["BLOCK_BYTES"], layout["STREAM"]
        self.blocks = (self.tile // QUAD) ** 2
        self.count = len(self.numbers)
        self.pixels = MEMORY_BYTES
        self.rooms = self.pixels + self.count * self.blocks * self.block_bytes
        self.rooms += -self.rooms % stream if self.sorts else 0
        each = (self.room.scratch + self.room.pages).reshape(-1)
        ends = self.rooms + np.cumsum(each)
        self.scratches = (ends - each).reshape(-1, WORKERS)
        """Start of the scratch memory in which each work thread sorts: int64[tile, work thread]."""
        self.lists = self.scratches + self.room.scratch
        """Start of its room for fragments."""
        self.free = int(ends[-1]) if len(ends) else self.rooms

    def pixels_of(self, tiles: np.ndarray) -> np.ndarray:
        """Return the starts of the pixels of tiles: int64[tile]."""
        return self.pixels + tiles * self.blocks * self.block_bytes

    def ranges(self, frame: TilePlaces) -> np.ndarray:
        """Return the ranges of lines of these tiles, moved to their places among a frame's: int64[2, RANGE]."""
        first = int(np.searchsorted(frame.numbers, self.numbers[0]))
        table = np.zeros((2, RANGE), np.int64)
        table[0, :2] = self.rooms, first * self.blocks * self.block_bytes
        table[1, :2] = self.free, frame.scratches[first, 0] - self.scratches[0, 0]
        return table // LINE_BYTES

    def shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return every tile's blocks in three shares: tile, work thread, first block's address, blocks."""
        tile, thread = (each.reshape(-1) for each in np.mgrid[: self.count, :WORKERS])
        begin = self.blocks * np.arange(WORKERS + 1) // WORKERS
        return tile, thread, self.pixels_of(tile) + begin[thread] * self.block_bytes, np.diff(begin)[thread]


class DrawPlaces:
    """Places of a draw's triangles and lists in the memory of a frame, all tiles of which have been put there."""

    def __init__(self, quads: Quads, frame: TilePlaces, attributes: Attributes) -> None:
        layout = constants_of(frame.samples, frame.sorts, attributes)
        self.frame = frame
        self.lines = layout["TRIANGLE_BYTES"] // LINE_BYTES
        """Of a triangle."""
        self.quad_bytes = layout["QUAD_BYTES"]
        self._triangles = distinct(quads.triangle)
        new, first = begins_of(quads.tile, quads.triangle), np.flatnonzero(begins_of(quads.tile))
        pairs = np.append(np.cumsum(new)[first] - 1, new.sum())
        before = layout["ENTRY_BYTES"] * first + 4 * np.arange(len(first)) + 8 * pairs[:-1]
        headers = frame.free + layout["TRIANGLE_BYTES"] * len(self._triangles)
        self._lists = headers + 4 * _HEADER_WORDS * int(pairs[-1]) + before
        self.tiles = quads.tile[first]
        """Those with a quad of the draw."""
        each_quad, each_pair = self.quad_bytes + layout["ENTRY_BYTES"], layout["TRIANGLE_BYTES"] + 4 * _HEADER_WORDS + 8
        self.bytes = each_quad * np.diff(np.append(first, len(quads))) + each_pair * np.diff(pairs)
        """About what the draw takes of each of these tiles."""

    def triangles(self, which: np.ndarray) -> np.ndarray:
        """Return the first lines of triangles: int64[triangle]."""
        return self.frame.free // LINE_BYTES + self.lines * np.searchsorted(self._triangles, which)

    def list_of(self, tile: int) -> int:
        """Return the address of the list of a tile."""
        return int(self._lists[np.searchsorted(self.tiles, tile)])


@dataclass(eq=False)
class TileMemory:
    """One memory for the tiles of a run, ``columns`` in a row of the screen."""

    places: TilePlaces
    columns: int
    data_bytes: int
    """Room for the triangles, lists and quads of a draw."""
    memory: ByteMemory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = ByteMemory(self.places.free + -(-self.data_bytes // LINE_BYTES) * LINE_BYTES + LINE_BYTES)
        self.words = self.memory.data[0].view(np.uint32)

    def _part(self, start: int, count: int, size: int) -> np.ndarray:
        """Return ``count`` records of ``size`` bytes as words: uint32[record, word], not copied."""
        return self.words[start // 4 : start // 4 + count * size // 4].reshape(count, size // 4)

    # --- a draw ---------------------------------------------------------------------------------------------

    def put(
        self,
        triangles: ScreenTriangles,
        quads: Quads,
        attributes: Attributes,
        words: np.ndarray | None = None,
        frame: DrawPlaces | None = None,
    ) -> DealtDraw:
        """Put a draw's triangles and the quads of these tiles in memory, tile by tile, in their order.

        ``words`` are those of all triangles of the draw, if a program has computed them; lists begin within a line as
        they do in the memory of the ``frame``.
        """
        places = self.places
        layout = constants_of(places.samples, places.sorts, attributes)
        which = distinct(quads.triangle)
        known = words[which] if words is not None else triangle_words(triangles.part(which), places.samples, attributes)
        self._part(places.free, len(known), layout["TRIANGLE_BYTES"])[:] = known
        tile = np.searchsorted(places.numbers, quads.tile)
        thread = worker_of(quads, places.tile)
        queue = tile * WORKERS + thread
        counts = np.bincount(queue, minlength=places.count * WORKERS)
        sorting = np.argsort(queue, kind="stable")
        order = np.empty(len(quads), np.int64)
        order[sorting] = np.arange(len(quads))
        new = begins_of(quads.tile, quads.triangle)
        begins = np.flatnonzero(new)
        headers = places.free + len(which) * layout["TRIANGLE_BYTES"]
        lists = headers + 4 * _HEADER_WORDS * len(begins)
        lists += 0 if frame is None else frame.list_of(int(quads.tile[0])) % LINE_BYTES
        address = places.free + np.searchsorted(which, quads.triangle[begins]) * layout["TRIANGLE_BYTES"]
        starts, end = self._put_lists(lists, new, address, quads, layout)
        # Prefetches past the end of a list reach unused memory.
        queues = -(-(end + layout["LOOK_BYTES"]) // LINE_BYTES) * LINE_BYTES
        # Next places in the queues of its tile when the set-up thread reaches a triangle.
        before = np.stack([np.cumsum(np.append(0, thread == number))[begins] for number in range(WORKERS)], axis=1)
        first = np.cumsum(counts).reshape(-1, WORKERS) - counts.reshape(-1, WORKERS)
        earlier = before - before[np.searchsorted(tile[begins], tile[begins])]
        header = self._part(headers, len(begins), 4 * _HEADER_WORDS)
        at = quads.tile[begins]
        header[:, 0], header[:, 1] = at % self.columns * places.tile, at // self.columns * places.tile
        header[:, _QUEUES : _QUEUES + WORKERS] = queues + layout["QUAD_BYTES"] * (first[tile[begins]] + earlier)
        busy = np.flatnonzero(counts)
        return DealtDraw(
            pairs=tile[begins],
            lists=starts,
            headers=headers + 4 * _HEADER_WORDS * np.arange(len(begins)),
            sizes=np.diff(np.append(begins, len(quads))),
            ahead=_ahead(starts, tile[begins], np.diff(np.append(begins, len(quads))), layout["ENTRY_BYTES"]),
            owner=np.stack([busy // WORKERS, busy % WORKERS]),
            queues=queues + layout["QUAD_BYTES"] * (np.cumsum(counts) - counts)[busy],
            counts=counts[busy],
            order=order,
            tile=tile,
            thread=thread,
            which=which,
        )

    def _put_lists(
        self, start: int, new: np.ndarray, address: np.ndarray, quads: Quads, layout: dict[str, int]
    ) -> tuple[np.ndarray, int]:
        """Write triangle, count, quads, and so on, tile after tile; return the starts of triangles, and the end.

        The list of each tile ends with a word of 0: ``setup.mc`` reads the word past each quad before it tests for
        another one.
        """
        words = layout["ENTRY_BYTES"] // 4
        lists = np.cumsum(begins_of(quads.tile))
        at = np.arange(len(new)) * words + 2 * np.cumsum(new) + lists - 1
        begins = np.flatnonzero(new)
        found = np.zeros(len(new) * words + 2 * len(begins) + int(lists[-1]), np.uint32)
        found[at[begins] - 2] = address
        found[at[begins] - 1] = np.diff(np.append(begins, len(new)))
        side = self.places.tile // QUAD
        column, row = (each // QUAD % side for each in (quads.x, quads.y))
        block = row * side + column
        masks = quads.masks.astype(np.uint32)
        found[at] = masks[:, 0] | (block << 20).astype(np.uint32)
        if words > 1:
            found[at + 1] = masks[:, 1] | masks[:, 2] << np.uint32(16)
            found[at + 2] = masks[:, 3]
        self.words[start // 4 : start // 4 + len(found)] = found
        return start + 4 * (at[begins] - 2), start + 4 * len(found)

    def records(self, dealt: DealtDraw, attributes: Attributes) -> np.ndarray:
        """Return the quads of a draw as the work threads see them: uint32[record, word], not copied."""
        size = constants_of(self.places.samples, self.places.sorts, attributes)["QUAD_BYTES"]
        return self._part(int(dealt.queues[0]), int(dealt.counts.sum()), size)

    # --- pixels ---------------------------------------------------------------------------------------------

    def list_bytes(self) -> np.ndarray:
        """Return the size of the lists of fragments in bytes: int64[tile]."""
        places = self.places
        if not places.sorts:
            return np.zeros(places.count, np.int64)
        return list_bytes(places.lists, self.words[places.lists // 4]).sum(axis=1)

    def pixels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return colours and depths of sample 0: uint32[tile, row, column] each."""
        places = self.places
        side, count = places.tile // QUAD, places.count
        blocks = self._part(places.pixels, count * places.blocks, places.block_bytes)
        lines = blocks[:, :32].reshape(count, side, side, 2, QUAD, QUAD).transpose(3, 0, 1, 4, 2, 5)
        colours, depths = lines.reshape(2, count, places.tile, places.tile)
        return colours, depths


def _ahead(starts: np.ndarray, tile: np.ndarray, sizes: np.ndarray, entry: int) -> np.ndarray:
    """Return the place `AHEAD` triangles after each in the list of its tile, or the end of that list."""
    last = np.searchsorted(tile, tile, side="right") - 1
    later = np.arange(len(tile)) + AHEAD
    return np.where(later <= last, starts[np.minimum(later, last)], starts[last] + 8 + entry * sizes[last])


_COLOUR_SHIFT = 8
"""Colours have planes of 24 bits; shifted up, they wrap around with the words."""


def triangle_words(triangles: ScreenTriangles, samples: int, attributes: Attributes) -> np.ndarray:
    """Return the words of a draw's triangles, all or some, in the layout of ``layout.mc``: uint32[triangle, word].

    They are computed in numpy's integers, for no cycles; `plane_words` computes them by a program.
    """
    layout = constants_of(samples, False, attributes)
    places = (CENTRE,) if samples == 1 else SAMPLES
    terms = [_terms(triangles, place, attributes) for place in places]
    words = np.zeros((len(triangles), layout["TRIANGLE_BYTES"] // 4), np.uint32)
    # Each set of lanes has a line of A, one of B and one of C; lanes are planes, each with its samples.
    for row in range(3):
        lanes = np.stack([each[row] for each in terms], axis=-1).reshape(len(triangles), -1)
        for line in range(layout["SETS"]):
            part = lanes[:, LANES * line : LANES * (line + 1)]
            start = LANES * (3 * line + row)
            words[:, start : start + part.shape[1]] = part.astype(np.uint32)
    red, green, blue = triangles.colours[:, 0].T
    words[:, layout["COLOUR"] // 4] = red | green << 8 | blue << 16
    return words


def _terms(triangles: ScreenTriangles, place: tuple[int, int], attributes: Attributes) -> list[np.ndarray]:
    """Return A, B and C of the planes in their order at one place in the pixels: int64[triangle, plane] each."""
    planes = planes_of(triangles, place, colours=not attributes.correct)
    if attributes.correct:
        divided = quotients_of(triangles, place, textured=attributes.textured, bits=attributes.bits)
        order = [*range(NUMERATORS.start, NUMERATORS.stop), DIVISOR, *range(NUMERATORS.stop, divided.a.shape[1])]
        parts = [[getattr(planes, name), getattr(divided, name)[:, order]] for name in "abc"]
    else:
        found = [planes, *([texture_planes_of(triangles, place)] if attributes.textured else [])]
        parts = [[getattr(each, name) for each in found] for name in "abc"]
        for part in parts:
            part[0] = np.concatenate([part[0][:, :1], part[0][:, 1:] << _COLOUR_SHIFT], axis=1)
    return [np.concatenate(part, axis=1) for part in parts]


# Stretches of a tile's threads: the places of their lines on a core, queues between them, and fibers that take turns.
#
# In a run every tile has separate pixels, and every draw separate triangles, lists and records of quads. The modelled
# core has the records in a ring for each work thread, and the header of a set-up thread in one line; the others are
# where they would be if all tiles of the frame ran side by side, so that no cycle depends on how many do.


CLEARS, WORKS, LISTS, RESOLVES = range(4)
"""Phases of a tile's work threads: each waits for the previous one, since the phases divide the blocks differently."""

_KEPT = 1 << 49
"""Private lines of a core: the header of its set-up thread, then the rings of records."""
_RING = 1 << 16
_END = 1 << 40
_APART = 32
"""Data of the next draw are 2^32 lines further."""

Runs = Sequence[tuple[np.ndarray, RunNote]]


class DrawRequests(NamedTuple):
    """Texture requests of a draw, by the record of each quad."""

    asks: np.ndarray
    """1 if it asks, else 0: int64[record]."""
    busy: np.ndarray
    misses: np.ndarray
    """Cycles of the unit, and lines of texels from memory: int64[record] each."""
    fibers: int


def fibers_of(accounts: Accounts, between: float, quad_bytes: int) -> int:
    """Return the number of fibers of a work thread whose requests are ``between`` cycles apart."""
    texture, core = accounts.texture, accounts.config
    if texture.fibers:
        return texture.fibers
    wanted = fewest_fibers(max(round(between), 1), texture.latency + 2 * core.l2_cycles, texture.switch_cycles)
    return max(1, min(wanted, core.l1_bytes // 2 // (WORKERS * quad_bytes), 64))


def add_shared(
    accounts: Accounts, program: VectorProgram, places: TilePlaces, frame: TilePlaces, runs: Runs, phase: int
) -> None:
    """Add the stretches of work threads over all blocks of their tiles."""
    record = accounts.record
    number, step = record.program(program), record.step()
    ranges = record.ranges(number, places.ranges(frame)[None])
    tile, thread, _, _ = places.shares()
    for these, note in runs:
        record.add(number, note, places.numbers[tile[these]], thread[these] + 1, step + these, ranges, phase=phase)


def keep_programs(
    accounts: Accounts, set_up: Sequence[VectorProgram], work: Sequence[VectorProgram], quad_bytes: int
) -> None:
    """Register the programs of a draw, in the order of `DrawStretches`, and the private lines of its threads.

    They are in the caches before the first tile, whichever tiles the draw is in.
    """
    ahead, dealing = set_up
    accounts.record.program(ahead)
    accounts.record.program(dealing, _mark(dealing, DEALS_A_QUAD))
    for number, each in enumerate(work):
        accounts.record.program(each, {} if number else _mark(each, TAKES_A_QUAD))
    accounts.record.resident |= _private(_ring(accounts, quad_bytes, 0))


def _ring(accounts: Accounts, quad_bytes: int, fibers: int) -> int:
    """Return the lines of the ring of records of a work thread."""
    return quad_bytes // LINE_BYTES * (accounts.config.queued_quads + fibers + 2)


def _private(ring: int) -> set[int]:
    """Return the private lines of a core whose rings have ``ring`` lines each."""
    return {_KEPT, *(_KEPT + 1 + worker * _RING + at for worker in range(WORKERS) for at in range(ring))}


class DrawStretches:
    """Adds the stretches of one draw to the record of its tiles."""

    def __init__(self, accounts: Accounts, places: TilePlaces, dealt: DealtDraw, number: int, draw: DrawPlaces) -> None:
        """``draw`` is where the draw of that number is in the memory of its frame."""
        self.accounts, self.places, self.dealt, self.draw = accounts, places, dealt, draw
        self.lines = draw.quad_bytes // LINE_BYTES
        self.record = accounts.record
        counts = np.zeros(places.count * WORKERS, np.int64)
        tile, thread = dealt.owner
        counts[tile * WORKERS + thread] = dealt.counts
        self.starts = dealt.queues[0] // LINE_BYTES + self.lines * np.cumsum(np.append(0, counts))
        """First line of each queue's records, and the end: int64[tile * worker + 1]."""
        self.apart = (number + 1) << _APART
        self.triangles = self.record.lines(self.apart + draw.triangles(dealt.which))
        self.record.deal(Queues(places.numbers[dealt.tile], dealt.thread))

    def _ranges(self, program: int, fibers: int) -> np.ndarray:
        """Return the ranges of lines of each tile: int64[tile, 2]."""
        dealt, places, apart = self.dealt, self.places, self.apart
        ring = _ring(self.accounts, self.draw.quad_bytes, fibers)
        headers = int(dealt.headers[0]) // LINE_BYTES
        table = np.zeros((places.count, 6 + WORKERS, RANGE), np.int64)
        table[:, :2] = places.ranges(self.draw.frame)
        table[:, 2] = headers, -(places.free // LINE_BYTES), -self.draw.lines, self.triangles
        table[:, 3] = headers + len(dealt.pairs), 0, 1, _KEPT
        first = int(dealt.lists[0])
        among = self.draw.list_of(int(places.numbers[dealt.pairs[0]]))
        table[:, 4, :2] = int(self.starts[0]), apart + (among - first) // LINE_BYTES
        for worker in range(WORKERS):
            begin, past = self.starts[worker:-1:WORKERS], self.starts[worker + 1 :: WORKERS]
            table[:, 5 + worker, 0], table[:, 5 + worker, 1] = past, -begin
            table[:, 5 + worker, 2:] = ring, _KEPT + 1 + worker * _RING
        table[:, 5 + WORKERS, :2] = _END, apart
        self.record.resident |= _private(ring)
        return self.record.ranges(program, table)

    def look(self, program: VectorProgram, runs: Runs, tiles: np.ndarray) -> None:
        """Add the prefetches of set-up threads before their first triangle."""
        self._add(self.record.program(program), runs, tiles, np.zeros_like(tiles), FREE)

    def set_up(self, program: VectorProgram, runs: Runs, fibers: int) -> None:
        """Add the set-up threads, pair by pair."""
        number, tile = self.record.program(program, _mark(program, DEALS_A_QUAD)), self.dealt.pairs
        self._add(number, runs, tile, np.zeros_like(tile), FREE, fibers)

    def work(self, program: VectorProgram, runs: Runs) -> None:
        """Add the work threads of a draw without texture, queue by queue."""
        tile, thread = self.dealt.owner
        self._add(self.record.program(program, _mark(program, TAKES_A_QUAD)), runs, tile, thread + 1, WORKS)

    def _add(self, number: int, runs: Runs, tile: np.ndarray, thread: np.ndarray, phase: int, fibers: int = 0) -> None:
        ranges, step, numbers = self._ranges(number, fibers), self.record.step(), self.places.numbers[tile]
        for these, note in runs:
            place = numbers[these], thread[these], step + these, ranges[tile[these]]
            self.record.add(number, note, *place, phase=phase)

    def fibers(self, programs: Sequence[VectorProgram], runs: Sequence[Runs], asked: DrawRequests, texels: int) -> None:
        """Add the work threads of a draw with a texture: its two programs quad by quad, as fibers take turns.

        ``texels`` is the line of a record that receives the answer.
        """
        step = self.record.step()
        queue = np.repeat(np.arange(len(self.dealt.counts)), self.dealt.counts.astype(np.intp))
        tile, thread = self.dealt.owner[:, queue]
        order = _orders(asked.asks > 0, queue, asked.fibers)
        request = self._requests(asked, queue, tile, thread, texels)
        first = np.cumsum(self.dealt.counts) - self.dealt.counts
        for part, (program, its_runs) in enumerate(zip(programs, runs, strict=True)):
            number = self.record.program(program, {} if part else _mark(program, TAKES_A_QUAD))
            ranges = self._ranges(number, asked.fibers)
            for these, note in its_runs:
                begins, many = begins_of_block(note, program.index_of[program.labels["quad"]])
                place, within = members(many)
                which = first[these][place] + within
                begin = np.where(within == 0, note.starts[:-1][place], begins)
                past = np.where(within == many[place] - 1, note.starts[1:][place], np.append(begins[1:], 0))
                self.record.add(
                    number,
                    note,
                    self.places.numbers[tile[which]],
                    thread[which] + 1,
                    step + order[part, which],
                    ranges[tile[which]],
                    phase=WORKS,
                    cuts=(place, begin, past),
                    ask=-1 if part else request[which],
                    wait=request[which] if part else -1,
                )

    def _requests(
        self, asked: DrawRequests, queue: np.ndarray, tile: np.ndarray, thread: np.ndarray, texels: int
    ) -> np.ndarray:
        """Add the requests of the draw; return the number of each quad's request in its tile, or -1: int64[record]."""
        which = np.flatnonzero(asked.asks)
        ring = _ring(self.accounts, self.draw.quad_bytes, asked.fibers)
        line = _KEPT + 1 + thread * _RING + (self.lines * (np.arange(len(queue)) - _first_of(queue)) + texels) % ring
        work = self.places.numbers[tile[which]]
        found = np.full(len(queue), -1)
        found[which] = np.arange(len(which)) - _first_of(work) + self.accounts.requested[work]
        np.add.at(self.accounts.requested, work, 1)
        self.record.requests(Requests(work, asked.busy[which], asked.misses[which], line[which], found[which]))
        return found


def _first_of(values: np.ndarray) -> np.ndarray:
    """Return the start of the run of equal values that each place is in."""
    new = np.flatnonzero(np.diff(values, prepend=-1))
    return np.repeat(new, np.diff(np.append(new, len(values))).astype(np.intp))


def _orders(asks: np.ndarray, queue: np.ndarray, fibers: int) -> np.ndarray:
    """Return the position of each quad's first and second stretch among all: int64[part, record].

    Fibers form a circle and switch after a request only. So the second stretch of a quad begins when as many quads as
    there are fibers have asked, starting with itself, or when there are no more quads.
    """
    count = len(asks)
    asking = np.flatnonzero(asks)
    after = np.arange(len(asking)) + fibers - 1
    there = after < len(asking)
    there[there] = queue[asking[after[there]]] == queue[asking[there]]
    last = np.flatnonzero(np.diff(np.append(queue, -1)))
    second = 4 * np.arange(count) + 1
    second[asking[there]] = 4 * asking[after[there]] + 2
    second[asking[~there]] = 4 * last[queue[asking[~there]]] + 3
    order = np.lexsort((np.tile(np.arange(count), 2), np.concatenate([4 * np.arange(count), second])))
    found = np.empty(2 * count, np.int64)
    found[order] = np.arange(2 * count)
    return found.reshape(2, count)


def _mark(program: VectorProgram, mark: int) -> dict[int, int]:
    return {program.index_of[program.labels["quad"]]: mark}
