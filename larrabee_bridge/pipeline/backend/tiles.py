"""The memory of a run of tiles: their pixels, which stay for the whole frame, and what one draw puts beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from larrabee_bridge.pipeline.backend.lists import WORKERS, ListRoom, list_bytes, worker_of
from larrabee_bridge.pipeline.backend.programs import Attributes, constants_of
from larrabee_bridge.pipeline.coverage.distinct import begins_of, distinct
from larrabee_bridge.pipeline.coverage.quads import QUAD, Quads
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.program import LINE_BYTES, MEMORY_BYTES
from pixelflow.simd.drawing import (
    CENTRE,
    DIVISOR,
    NUMERATORS,
    SAMPLES,
    ScreenTriangles,
    planes_of,
    quotients_of,
    texture_planes_of,
)
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["AHEAD", "WORKERS", "DealtDraw", "TileMemory", "draw_bytes"]

_HEADER_WORDS = 16
AHEAD = 8
"""A set-up thread asks for the planes of a triangle so many triangles before it takes it."""
_QUEUES = 4
"""Of a tile's header: x, y, two words of nothing, then where each queue goes on."""


def draw_bytes(quads: Quads, samples: int, attributes: Attributes) -> int:
    """Return how many bytes the data of a draw need beside the pixels, at most."""
    layout = constants_of(samples, False, attributes)
    triangles, pairs = len(distinct(quads.triangle)), int(begins_of(quads.tile, quads.triangle).sum())
    lists = (8 + 4 * _HEADER_WORDS) * pairs + layout["ENTRY_BYTES"] * len(quads) + 4 * len(distinct(quads.tile))
    return (
        layout["TRIANGLE_BYTES"] * triangles
        + layout["QUAD_BYTES"] * len(quads)
        + lists
        + 4 * LINE_BYTES
        + layout["LOOK_BYTES"]
    )


@dataclass(frozen=True, slots=True, eq=False)
class DealtDraw:
    """Where the quads of one draw lie in memory, once they are put there."""

    pairs: np.ndarray
    """Tile of each pair of tile and triangle, by its place in the run: int64[pair]."""
    lists: np.ndarray
    """Where the quads of the pairs begin in the list of their tile: int64[pair]."""
    headers: np.ndarray
    """Where their headers begin: int64[pair]."""
    sizes: np.ndarray
    """Quads of the pairs: int64[pair]."""
    ahead: np.ndarray
    """Where in its tile's list what comes `AHEAD` triangles after a pair stands, or the list ends: int64[pair]."""
    owner: np.ndarray
    """Tile and work thread of each queue with quads: int64[2, m]."""
    queues: np.ndarray
    """Where the queues begin: int64[m]."""
    counts: np.ndarray
    """Quads in them: int64[m]."""
    order: np.ndarray
    """Which record, from the first queue on, each quad is in: int64[quad]."""
    tile: np.ndarray
    """The tile of each quad, by its place in the run: int64[quad]."""
    thread: np.ndarray
    """And its work thread: int64[quad]."""


@dataclass(eq=False)
class TileMemory:
    """One memory for the tiles of a run; ``numbers`` are those on the screen, ascending, ``columns`` in a row of it."""

    numbers: np.ndarray
    columns: int
    tile: int
    samples: int
    sorts: bool
    beside: int
    """Bytes for the data of a draw."""
    room: ListRoom
    """For the lists of these tiles."""
    memory: ByteMemory = field(init=False)

    def __post_init__(self) -> None:
        self.block_bytes = constants_of(self.samples, self.sorts, Attributes())["BLOCK_BYTES"]
        self.blocks = (self.tile // QUAD) ** 2
        self.count = len(self.numbers)
        self._pixels = MEMORY_BYTES
        layout = constants_of(self.samples, self.sorts, Attributes())
        self._stream = layout["STREAM"]
        lists = self._pixels + self.count * self.blocks * self.block_bytes
        lists += -lists % self._stream if self.sorts else 0
        each = (self.room.scratch + self.room.pages).reshape(-1)
        ends = lists + np.cumsum(each)
        self.scratches = (ends - each).reshape(-1, WORKERS)
        """Where the scratch memory of each work thread begins, in which it sorts: int64[tile, work thread]."""
        self.lists = self.scratches + self.room.scratch
        """And its room for fragments."""
        self.free = int(ends[-1]) if len(ends) else lists
        self.memory = ByteMemory(self.free + -(-self.beside // LINE_BYTES) * LINE_BYTES + LINE_BYTES)
        self.words = self.memory.data[0].view(np.uint32)

    def _part(self, start: int, count: int, size: int) -> np.ndarray:
        """Return ``count`` records of ``size`` bytes as words: uint32[record, word], not copied."""
        return self.words[start // 4 : start // 4 + count * size // 4].reshape(count, size // 4)

    def pixels_of(self, tiles: np.ndarray) -> np.ndarray:
        """Return where the pixels of tiles begin: int64[tile]."""
        return self._pixels + tiles * self.blocks * self.block_bytes

    def shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return every tile's blocks in three shares: tile, work thread, first block's address, blocks."""
        tile, thread = (each.reshape(-1) for each in np.mgrid[: self.count, :WORKERS])
        begin = self.blocks * np.arange(WORKERS + 1) // WORKERS
        return tile, thread, self.pixels_of(tile) + begin[thread] * self.block_bytes, np.diff(begin)[thread]

    # --- a draw ---------------------------------------------------------------------------------------------

    def put(
        self, triangles: ScreenTriangles, quads: Quads, attributes: Attributes, words: np.ndarray | None = None
    ) -> DealtDraw:
        """Put a draw's triangles and the quads of these tiles in memory; quads lie tile by tile, in their order.

        ``words`` are those of all triangles of the draw, where a program has worked them out.
        """
        layout = constants_of(self.samples, self.sorts, attributes)
        which = distinct(quads.triangle)
        known = words[which] if words is not None else triangle_words(triangles.part(which), self.samples, attributes)
        self._part(self.free, len(known), layout["TRIANGLE_BYTES"])[:] = known
        tile = np.searchsorted(self.numbers, quads.tile)
        thread = worker_of(quads, self.tile)
        queue = tile * WORKERS + thread
        counts = np.bincount(queue, minlength=self.count * WORKERS)
        sorting = np.argsort(queue, kind="stable")
        order = np.empty(len(quads), np.int64)
        order[sorting] = np.arange(len(quads))
        new = begins_of(quads.tile, quads.triangle)
        begins = np.flatnonzero(new)
        headers = self.free + len(which) * layout["TRIANGLE_BYTES"]
        lists = headers + 4 * _HEADER_WORDS * len(begins)
        address = self.free + np.searchsorted(which, quads.triangle[begins]) * layout["TRIANGLE_BYTES"]
        starts, end = self._put_lists(lists, new, address, quads, layout)
        # What is asked for ahead of the end of a list is nobody's.
        queues = -(-(end + layout["LOOK_BYTES"]) // LINE_BYTES) * LINE_BYTES
        # Where the queues of its tile go on when the set-up thread comes to a triangle.
        before = np.stack([np.cumsum(np.append(0, thread == number))[begins] for number in range(WORKERS)], axis=1)
        first = np.cumsum(counts).reshape(-1, WORKERS) - counts.reshape(-1, WORKERS)
        earlier = before - before[np.searchsorted(tile[begins], tile[begins])]
        header = self._part(headers, len(begins), 4 * _HEADER_WORDS)
        at = quads.tile[begins]
        header[:, 0], header[:, 1] = at % self.columns * self.tile, at // self.columns * self.tile
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
        )

    def _put_lists(
        self, start: int, new: np.ndarray, address: np.ndarray, quads: Quads, layout: dict[str, int]
    ) -> tuple[np.ndarray, int]:
        """Write triangle, count, quads, and so on, tile after tile; return where triangles begin, and the end.

        The list of each tile ends with a word of 0: ``setup.mc`` reads the word past each quad before it looks whether
        another one follows.
        """
        words = layout["ENTRY_BYTES"] // 4
        lists = np.cumsum(begins_of(quads.tile))
        at = np.arange(len(new)) * words + 2 * np.cumsum(new) + lists - 1
        begins = np.flatnonzero(new)
        found = np.zeros(len(new) * words + 2 * len(begins) + int(lists[-1]), np.uint32)
        found[at[begins] - 2] = address
        found[at[begins] - 1] = np.diff(np.append(begins, len(new)))
        column, row = (each % self.tile // QUAD for each in (quads.x, quads.y))
        block = row * (self.tile // QUAD) + column
        masks = quads.masks.astype(np.uint32)
        found[at] = masks[:, 0] | (block << 20).astype(np.uint32)
        if words > 1:
            found[at + 1] = masks[:, 1] | masks[:, 2] << np.uint32(16)
            found[at + 2] = masks[:, 3]
        self.words[start // 4 : start // 4 + len(found)] = found
        return start + 4 * (at[begins] - 2), start + 4 * len(found)

    def records(self, dealt: DealtDraw, attributes: Attributes) -> np.ndarray:
        """Return the quads of a draw as the work threads have them: uint32[record, word], not copied."""
        size = constants_of(self.samples, self.sorts, attributes)["QUAD_BYTES"]
        return self._part(int(dealt.queues[0]), int(dealt.counts.sum()), size)

    # --- pixels ---------------------------------------------------------------------------------------------

    def fill(self, colour: int, farthest: int) -> None:
        """Put a background into all pixels, as if it had come from memory."""
        blocks = self._part(self._pixels, self.count * self.blocks, self.block_bytes)
        blocks[:] = 0
        if self.sorts:
            self.words[self.lists // 4] = self.lists + self._stream
        for sample in range(self.samples):
            blocks[:, 32 * sample : 32 * sample + 16] = colour
            blocks[:, 32 * sample + 16 : 32 * sample + 32] = farthest

    def list_bytes(self) -> np.ndarray:
        """Return how many bytes the lists of fragments have taken: int64[tile]."""
        if not self.sorts:
            return np.zeros(self.count, np.int64)
        return list_bytes(self.lists, self.words[self.lists // 4]).sum(axis=1)

    def pixels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return colours and depths of sample 0: uint32[tile, row, column] each."""
        side = self.tile // QUAD
        blocks = self._part(self._pixels, self.count * self.blocks, self.block_bytes)
        lines = blocks[:, :32].reshape(self.count, side, side, 2, QUAD, QUAD).transpose(3, 0, 1, 4, 2, 5)
        colours, depths = lines.reshape(2, self.count, self.tile, self.tile)
        return colours, depths


def _ahead(starts: np.ndarray, tile: np.ndarray, sizes: np.ndarray, entry: int) -> np.ndarray:
    """Return where what comes `AHEAD` triangles after each stands in the list of its tile, or that list ends."""
    last = np.searchsorted(tile, tile, side="right") - 1
    later = np.arange(len(tile)) + AHEAD
    return np.where(later <= last, starts[np.minimum(later, last)], starts[last] + 8 + entry * sizes[last])


_COLOUR_SHIFT = 8
"""Colours have planes of 24 bits; moved up, they wrap round as the words do."""


def triangle_words(triangles: ScreenTriangles, samples: int, attributes: Attributes) -> np.ndarray:
    """Return the words of a draw's triangles, all or some, laid out as ``layout.mc`` says: uint32[triangle, word].

    They are worked out here in numpy's integers, for no cycles; `plane_words` lets a program do it.
    """
    layout = constants_of(samples, False, attributes)
    places = (CENTRE,) if samples == 1 else SAMPLES
    terms = [_terms(triangles, place, attributes) for place in places]
    words = np.zeros((len(triangles), layout["TRIANGLE_BYTES"] // 4), np.uint32)
    # Of each set of lanes a line of A, one of B, one of C; lanes are planes, of each the samples.
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
    """Return A, B and C of the planes in their order, one place in the pixels: int64[triangle, plane] each."""
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
