"""Traversal: batches of up to four triangles descend a tree of tiles, which determines the order of all later work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntFlag, auto

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.coverage import Setup
from attila_bridge.function.layout import OVER_TILE, SCAN_TILE
from attila_bridge.function.work import NONE, BatchWork

BATCH = 4
"""Triangles of a batch."""
_CHILDREN = ((0, 0), (1, 0), (0, 1), (1, 1))
Integers = NDArray[np.int64]


@dataclass(slots=True)
class _Level:
    """Tiles of one size, of all batches."""

    batch: Integers
    x: Integers
    y: Integers
    marks: Integers
    """Bit k: triangle k of the batch."""
    children: list[list[int]]
    """For each tile its remaining children, as numbers of the next smaller level."""


def traverse(
    setup: Setup, numbers: NDArray[np.int32], reach: tuple[int, int], testers: int = 4
) -> tuple[BatchWork, ...]:
    """Return the batches of the drawn triangles ``numbers``, of which ``setup`` has the equations.

    Tiles that begin past ``reach``, in pixels to the right and upwards, are left out. Scan tiles are in the order in
    which they are opened; their first steps are still 0.
    """
    count = len(numbers)
    if not count:
        return ()
    batches = -(-count // BATCH)
    first = np.arange(batches) * BATCH
    low = np.minimum.reduceat(setup.box[:, :2], first)
    high = np.maximum.reduceat(setup.box[:, 2:], first)
    corner = low // SCAN_TILE * SCAN_TILE
    extent = (high - corner + 1).max(axis=1)
    top = np.full(batches, SCAN_TILE)
    while (top < extent).any():
        top = np.where(top < extent, 2 * top, top)
    edges = np.zeros((batches * BATCH, 3, 3))
    edges[:count] = setup.edges
    edges[count:, :, 2] = -1.0  # an absent triangle has every tile outside
    sides = edges.reshape(batches, BATCH, 3, 3)
    there = np.minimum(count - first, BATCH)
    levels: dict[int, _Level] = {}
    tile = int(top.max())
    while tile >= SCAN_TILE:
        mine = np.flatnonzero(top == tile)
        added = _Level(mine, corner[mine, 0], corner[mine, 1], (1 << there[mine]) - 1, [[] for _ in mine])
        above = levels.get(2 * tile)
        levels[tile] = added if above is None else _joined(_split(above, tile, sides, reach), added)
        tile //= 2
    of_batch = (tuple(numbers[at : at + BATCH].tolist()) for at in first)
    return tuple(_batch(number, each, int(top[number]), levels, testers) for number, each in enumerate(of_batch))


def _split(above: _Level, tile: int, edges: NDArray[np.float64], reach: tuple[int, int]) -> _Level:
    """Return the remaining children of all tiles of a level, and list them with their parents."""
    offsets = np.array(_CHILDREN) * tile
    x = (above.x[:, None] + offsets[:, 0]).ravel()
    y = (above.y[:, None] + offsets[:, 1]).ravel()
    batch = np.repeat(above.batch, len(_CHILDREN))
    marks = np.zeros(len(x), np.int64)
    for start in range(0, len(x), 1 << 14):
        part = slice(start, start + (1 << 14))
        marks[part] = _touched(x[part], y[part], tile, edges[batch[part]])
    marks &= np.repeat(above.marks, len(_CHILDREN))
    stays = np.flatnonzero((marks != 0) & (x <= reach[0]) & (y <= reach[1]))
    for number, child in enumerate(stays.tolist()):
        above.children[child // len(_CHILDREN)].append(number)
    return _Level(batch[stays], x[stays], y[stays], marks[stays], [[] for _ in stays])


def _touched(x: Integers, y: Integers, tile: int, edges: NDArray[np.float64]) -> Integers:
    """Return the triangles, as bits, without an edge that has all corners of the tile outside; float64[n, 4, 3, 3].

    A parent is tested at nine points: at 0, half its size, and its size plus one pixel. So of two adjacent children the
    first ends where the second begins, and the second ends one pixel further out.
    """
    a, b, c = (edges[..., at] for at in range(3))
    inside = np.zeros(a.shape, np.bool_)
    column, row = np.tile(_CHILDREN, (len(x) // len(_CHILDREN), 1)).T
    for right in (0 * column, tile + column):
        for up in (0 * row, tile + row):
            inside |= a * (x + right)[:, None, None] + b * (y + up)[:, None, None] + c >= 0
    return (inside.all(axis=2) << np.arange(BATCH)).sum(axis=1)


def _joined(split: _Level, added: _Level) -> _Level:
    return _Level(
        np.concatenate([split.batch, added.batch]),
        np.concatenate([split.x, added.x]),
        np.concatenate([split.y, added.y]),
        np.concatenate([split.marks, added.marks]),
        split.children + added.children,
    )


def _batch(number: int, triangles: tuple[int, ...], top: int, levels: dict[int, _Level], testers: int) -> BatchWork:
    """Return a batch with its scan tiles in the order in which they are opened.

    Depth first: up to ``testers`` tiles of the present level are split; if they have children, those are the present
    level; when a level is empty, the one above continues.
    """
    # The top tiles of batches are the last ones of a level.
    begins = int(np.flatnonzero(levels[top].batch == number)[-1])
    waiting: dict[int, list[int]] = {size: [] for size in levels if size <= top}
    waiting[top] = [begins]
    opened: list[tuple[int, int]] = [(begins, NONE)] if top == SCAN_TILE else []
    descents: list[tuple[int, int, int]] = []
    tile = top
    while tile <= top and top > SCAN_TILE:
        queue = waiting[tile]
        if not queue:
            tile *= 2
            continue
        taken, waiting[tile] = queue[:testers], queue[testers:]
        children = [child for each in taken for child in levels[tile].children[each]]
        descents.append((tile, len(taken), len(children)))
        if tile == 2 * SCAN_TILE:
            opened += [(child, len(descents) - 1) for child in children]
        elif children:
            waiting[tile // 2] += children
            tile //= 2
    scans = np.zeros((len(opened), 5), np.int32)
    if opened:
        bottom = levels[SCAN_TILE]
        chosen = np.array([each for each, _ in opened])
        scans[:, 0], scans[:, 1], scans[:, 2] = bottom.x[chosen], bottom.y[chosen], bottom.marks[chosen]
        scans[:, 4] = [after for _, after in opened]
    return BatchWork(triangles, np.array(descents, np.int32).reshape(-1, 3), scans)


# Scanline traversal: one triangle at a time, from scan tile to scan tile.
#
# The walk begins in the middle of the triangle's box and follows the rows of scan tiles of one over-tile after the
# other, remembering one place each to the right, above and below for later. For a triangle whose box is cut off it
# begins in a corner of the box, or searches along the borders. Every scan tile visited is generated, those of the
# search too.
#
# The walk is that of the public simulator, which may visit a tile twice after such a search, and miss others. Here a
# tile is generated once, and missed tiles follow at the end; no recorded run has either.


_TINY = 1e-12
_OVER = OVER_TILE // SCAN_TILE
Tile = tuple[int, int]
"""A place in scan tiles."""
Window = tuple[int, int, int, int]


class _Way(IntFlag):
    """Direction; as a set, the directions that are still to be followed."""

    UP = 1
    DOWN = 2
    LEFT = 4
    RIGHT = 8
    CENTER = 3
    SIDES = 12
    ALL = 15


class _Border(Enum):
    """Side of the box along which the search for a beginning goes."""

    TOP = auto()
    LEFT = auto()
    BOTTOM = auto()


_STEPS = {_Way.UP: (0, 1), _Way.DOWN: (0, -1), _Way.LEFT: (-1, 0), _Way.RIGHT: (1, 0)}
_WIDER = {
    _Way.UP: (0, 1, 2, 3), _Way.DOWN: (-1, -2, 1, 0), _Way.LEFT: (-2, 0, 0, 2), _Way.RIGHT: (1, -1, 3, 1),
}  # fmt: skip
"""Area tested instead of the neighbour of the first tile: sides in tiles from that tile, by direction."""
_SEARCH = {
    _Border.TOP: (_Way.DOWN, _Way.LEFT, _Border.LEFT),
    _Border.LEFT: (_Way.RIGHT, _Way.DOWN, _Border.BOTTOM),
    _Border.BOTTOM: (_Way.UP, _Way.RIGHT, None),
}
"""Of each border: direction of the triangle, direction of the search, and the next border."""


def scan_lines(setup: Setup, numbers: NDArray[np.int32], window: Window) -> tuple[BatchWork, ...]:
    """Return a batch for each of the drawn triangles ``numbers``, of which ``setup`` has the equations.

    ``window`` is the drawable part of the screen: x, y, width, height in pixels.
    """
    batches = []
    for number, edges, box in zip(numbers.tolist(), setup.edges.tolist(), setup.box.tolist(), strict=True):
        tiles = np.array(list(_Scan(edges, box, window).tiles()), np.int32) * SCAN_TILE
        scans = np.zeros((len(tiles), 5), np.int32)
        scans[:, :2], scans[:, 2], scans[:, 4] = tiles, 1, NONE
        batches.append(BatchWork((number,), np.zeros((0, 3), np.int32), scans))
    return tuple(batches)


class _Scan:
    """Walk through one triangle."""

    def __init__(self, edges: list[list[float]], box: list[int], window: Window) -> None:
        self._edges, self._box, self._window = edges, box, window
        start, way = self._start()
        self._at: Tile = start[0] // SCAN_TILE, start[1] // SCAN_TILE
        self._ways = _Way.CENTER
        self._border: _Border | None = None
        if isinstance(way, _Border):
            self._border = way
        else:
            self._ways = way
        self._over_ways = _Way.ALL
        self._first = True
        self._kept: dict[_Way, Tile] = {}
        """Places still to be visited in this over-tile; `_kept_over` has those in adjacent ones."""
        self._kept_over: dict[_Way, Tile] = {}

    def tiles(self) -> Iterator[Tile]:
        """Yield the scan tiles in order, each once."""
        seen: set[Tile] = set()
        while True:
            if self._at not in seen:
                seen.add(self._at)
                yield self._at
            if self._walk() if self._border is None else self._search(self._border):
                continue
            left = next((tile for tile in self._touched() if tile not in seen), None)
            if left is None:
                return
            self._at, self._ways, self._over_ways, self._border = left, _Way.CENTER, _Way.ALL, None

    def _touched(self) -> Iterator[Tile]:
        """Yield the scan tiles that the triangle may cover, row by row."""
        x, y, width, height = self._window
        left, low, right, high = self._box
        for row in range(max(low, y) // SCAN_TILE, -(-min(high + 1, y + height) // SCAN_TILE)):
            for column in range(max(left, x) // SCAN_TILE, -(-min(right + 1, x + width) // SCAN_TILE)):
                if self._touches(column, row, column + 1, row + 1):
                    yield column, row

    def _start(self) -> tuple[Tile, _Way | _Border]:
        """Return the first pixel of the walk and its direction, or the border where a search begins."""
        left, low, right, high = self._box
        x, y, width, height = self._window
        middle = left + (right - left) // 2, low + (high - low) // 2
        if not (left == x or low == y or right == x + width or high == y + height) or self._is_inside(middle):
            return middle, _Way.CENTER
        for corner, way in (
            ((right - 1, high - 1), _Way.DOWN),
            ((left, high - 1), _Way.DOWN),
            ((right - 1, low), _Way.UP),
            ((left, low), _Way.UP),
        ):
            if self._is_inside(corner):
                return corner, way
        return (right, high), _Border.TOP

    def _is_inside(self, at: Tile) -> bool:
        return all(a * at[0] + b * at[1] + c > -_TINY for a, b, c in self._edges)

    def _walk(self) -> bool:
        """Note the places above, below and to the right; go left or to a noted place. False: none is left."""
        first, self._first = self._first, False
        for way in (_Way.UP, _Way.DOWN):
            if way & self._ways:
                self._note(way, first)
        if not self._ways & _Way.SIDES:
            self._note(_Way.RIGHT, first)
        # The public simulator does not look further to the left where the first tile goes down.
        wide = first and self._ways != _Way.DOWN
        left = bool(self._ways & _Way.LEFT) or not self._ways & _Way.SIDES
        return self._go(_Way.LEFT if left else _Way.RIGHT, wide) or self._next()

    def _search(self, border: _Border) -> bool:
        """Search for the triangle along a border of its box; False: not found."""
        inwards, along, after = _SEARCH[border]
        if inwards not in self._kept and self._reaches(inwards, self._first):
            self._kept[inwards] = self._next_to(inwards)
        found = self._next()
        if not found:
            if self._ends(along):
                self._border = after
                return after is not None
            found = self._reaches(along, wide=False)
            self._at = self._next_to(along)
        if found:
            self._border, self._ways = None, _Way.CENTER
        return True

    def _note(self, way: _Way, wide: bool) -> None:
        """Keep the adjacent tile for later, unless one in that direction is kept already."""
        if self._is_last(way):
            if way & self._over_ways and way not in self._kept_over and self._reaches(way, wide):
                self._kept_over[way] = self._next_to(way)
        elif way not in self._kept and self._reaches(way, wide):
            self._kept[way] = self._next_to(way)

    def _go(self, way: _Way, wide: bool) -> bool:
        """Continue within the row if triangle and over-tile do."""
        if self._is_last(way):
            self._note(way, wide)
            return False
        if not self._reaches(way, wide):
            return False
        self._at = self._next_to(way)
        self._ways = self._ways | _Way.SIDES if way is _Way.LEFT else self._ways & ~_Way.LEFT | _Way.RIGHT
        return True

    def _next(self) -> bool:
        """Go to a kept place, in this over-tile first."""
        for way in (_Way.RIGHT, _Way.UP, _Way.DOWN):
            if way in self._kept:
                self._at = self._kept.pop(way)
                self._ways = self._ways & ~_Way.LEFT | _Way.RIGHT if way is _Way.RIGHT else way
                return True
        for way in (_Way.LEFT, _Way.RIGHT, _Way.UP, _Way.DOWN):
            if way in self._kept_over:
                self._at = self._kept_over.pop(way)
                if way & _Way.SIDES:
                    self._ways = _Way.ALL if way is _Way.LEFT else _Way.ALL & ~_Way.LEFT
                    self._over_ways = self._over_ways & ~_Way.SIDES | way
                else:
                    self._ways = way
                    self._over_ways = _Way.SIDES | way
                return True
        return False

    def _next_to(self, way: _Way) -> Tile:
        right, up = _STEPS[way]
        return self._at[0] + right, self._at[1] + up

    def _is_last(self, way: _Way) -> bool:
        """Return whether the adjacent tile is in another over-tile."""
        axis = 0 if way & _Way.SIDES else 1
        return self._at[axis] // _OVER != self._next_to(way)[axis] // _OVER

    def _ends(self, way: _Way) -> bool:
        """Return whether the box ends at this tile."""
        axis = 0 if way & _Way.SIDES else 1
        place = self._next_to(way)[axis]
        return not self._box[axis] // SCAN_TILE <= place <= self._box[axis + 2] // SCAN_TILE

    def _reaches(self, way: _Way, wide: bool) -> bool:
        """Return whether the triangle may cover a part of the adjacent tile.

        It cannot if all four corners are outside of one edge. ``wide`` tests a square of twice the size.
        """
        x, y = self._next_to(way)
        axis = 0 if way & _Way.SIDES else 1
        place, low, length = (x, y)[axis], self._window[axis], self._window[axis + 2]
        if self._ends(way) or not (low // SCAN_TILE <= place and place * SCAN_TILE < low + length):
            return False
        # At the top, unlike to the right, a box that ends where the tile begins does not reach it.
        if way is _Way.UP and y * SCAN_TILE >= self._box[3]:
            return False
        if not wide:
            return self._touches(x, y, x + 1, y + 1)
        left, low, right, high = _WIDER[way]
        x, y = self._at
        return self._touches(x + left, y + low, x + right, y + high)

    def _touches(self, *sides: int) -> bool:
        """Return whether no edge has all four corners of a square outside; its sides are in scan tiles."""
        x0, y0, x1, y1 = (SCAN_TILE * side for side in sides)
        return all(any(a * px + b * py + c >= 0 for px in (x0, x1) for py in (y0, y1)) for a, b, c in self._edges)
