"""Traversal: batches of up to four triangles walk a tree of tiles; its order is the order of everything after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.geometry.setup import Setup
from attila_bridge.function.layout import SCAN_TILE
from attila_bridge.function.work import NONE, BatchWork

__all__ = ["BATCH", "traverse"]

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
    """For each tile the numbers of the tiles below that stay, in the next smaller level."""


def traverse(
    setup: Setup, numbers: NDArray[np.int32], reach: tuple[int, int], testers: int = 4
) -> tuple[BatchWork, ...]:
    """Return the batches of drawn triangles ``numbers`` (positions in the assembly; ``setup`` is about these only).

    Tiles that begin past ``reach``, in pixels to the right and upwards, are left out.

    Scan tiles are in the order in which they are opened, their first steps still 0.
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
    edges[count:, :, 2] = -1.0  # what is not there is outside of everything
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
    return tuple(
        _batch(
            number,
            tuple(int(each) for each in numbers[at : at + BATCH]),
            corner[number],
            int(top[number]),
            levels,
            testers,
        )
        for number, at in enumerate(first)
    )


def _split(above: _Level, tile: int, edges: NDArray[np.float64], reach: tuple[int, int]) -> _Level:
    """Return the children that stay of all tiles of a level, and note them with their parents."""
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
    """Return which triangles have, for none of their edges, all corners of the tile outside; float64[n, 4, 3, 3].

    A parent is looked at in nine points: at 0, its half, and its full size and one pixel. So of two children side by
    side the first ends where the second begins, and the second ends one pixel further out.
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


def _batch(
    number: int, triangles: tuple[int, ...], corner: Integers, top: int, levels: dict[int, _Level], testers: int
) -> BatchWork:
    """Return a batch with its scan tiles in the order in which they are opened.

    Depth first: up to ``testers`` tiles of the present level are split; as soon as there are children, theirs is the
    present level; a level without tiles gives way to the one above.
    """
    level = levels[top]
    begins = _position(level, number)
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
    return BatchWork(
        triangles,
        (int(corner[0]), int(corner[1]), top),
        np.array(descents, np.int32).reshape(-1, 3),
        scans,
    )


def _position(level: _Level, number: int) -> int:
    """Return where the top tile of a batch stands: the tiles of tops are the last ones of a level, by batch."""
    return int(np.flatnonzero(level.batch == number)[-1])
