"""Marching cubes: the surface where a volume passes a level, its table of cases, and what it took."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

_FIRST = 4096
_ROWS = 8
"""Rows of cells of a thread."""
_SIDE = 64
_ENDS = tuple((low, low | 1 << axis) for axis in range(3) for low in range(8) if not low >> axis & 1)
"""The two corners of each of twelve edges; bits 0 to 2 of a corner are its x, y and z."""
_FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
"""Corners of each face, all in the same sense as seen from outside."""


def _loops(case: int) -> list[list[int]]:
    """Return the loops of edges that the surface passes through, where the corners of ``case`` are above the level.

    On each face, every run of corners above the level is cut off by a line of its own; both cells of a face so cut it
    alike, and the surface has no holes.
    """
    edge = {frozenset(ends): number for number, ends in enumerate(_ENDS)}
    following: dict[int, int] = {}
    for face in _FACES:
        for place in range(4):
            before, corner = face[place - 1], face[place]
            if case >> corner & 1 and not case >> before & 1:
                past = place
                while case >> face[past % 4] & 1:
                    past += 1
                leaves = edge[frozenset((face[(past - 1) % 4], face[past % 4]))]
                following[leaves] = edge[frozenset((before, corner))]
    found = []
    while following:
        start, at = next(iter(following.items()))
        loop = [start]
        del following[start]
        while at != start:
            loop.append(at)
            at = following.pop(at)
        found.append(loop)
    return found


@cache
def _cases() -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return the triangles of each case as edges: every loop as a fan."""
    return tuple(
        tuple((loop[0], loop[at + 1], loop[at]) for loop in _loops(case) for at in range(1, len(loop) - 1))
        for case in range(256)
    )


def surface_of(
    volume: ArrayLike, level: float = 0.0, config: CoreConfig | None = None
) -> tuple[NDArray[np.float32], CoresRun]:
    """Return the triangles where a volume, float[z, y, x], passes a level, float32[triangle, corner, xyz], and the run.

    Coordinates count from the first value, a cell is 1 wide; fronts look away from values above the level. Raises
    InputError unless x has a multiple of 16 cells, y a multiple of 8, and all values are finite.
    """
    given = np.asarray(volume, np.float32)
    if given.ndim != 3 or min(given.shape) < 2 or (given.shape[2] - 1) % LANES or (given.shape[1] - 1) % _ROWS:
        raise InputError(Fault(f"a volume of shape {given.shape}", hint=f"z, {_ROWS} n + 1, {LANES} n + 1 values"))
    if not np.isfinite(given).all():
        raise InputError(Fault("a value of a volume that is not finite"))
    layers, rows, columns = (side - 1 for side in given.shape)
    pitch = 4 * (columns + LANES)
    plane = pitch * (rows + 1)
    cases = _cases()
    most = max(map(len, cases))
    row_log = (12 * most - 1).bit_length()
    edges, lists = _FIRST + 1024, _FIRST + 1024 + 12 * 32
    data = lists + (256 << row_log)
    data += -data % LINE_BYTES
    above = given > level
    corners = [above[z : z + layers, y : y + rows, x : x + columns] for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    crossed = np.any(corners, axis=0) & ~np.all(corners, axis=0)
    threads = layers * rows // _ROWS
    # Each thread has room for all that its cells could have.
    room = 4 * most * crossed.reshape(threads, -1).sum(1) + 2 * LINE_BYTES
    room += -room % LINE_BYTES
    own = data + plane * (layers + 1)
    results = own + LINE_BYTES * threads + np.concatenate([[0], np.cumsum(9 * room)])
    memory = ByteMemory(int(results[-1]))
    words, floats = memory.data.view(np.uint32)[0], memory.data.view(np.float32)[0]
    words[_FIRST // 4 :][:256] = [len(each) for each in cases]
    table = np.zeros((256, (1 << row_log) // 4), np.uint32)
    for case, triangles in enumerate(cases):
        table[case, : 3 * len(triangles)] = np.array(triangles, np.uint32).reshape(-1)
    words[lists // 4 :][: table.size] = table.reshape(-1)
    for place, ends in enumerate(_ENDS):
        at = np.array([[end >> axis & 1 for axis in range(3)] for end in ends])
        words[edges // 4 + 8 * place :][:2] = at @ (4, pitch, plane)
        floats[edges // 4 + 8 * place + 2 :][:6] = [*at[0], *(at[1] - at[0])]
    floats[data // 4 : own // 4].reshape(layers + 1, rows + 1, -1)[..., : columns + 1] = given
    floats[data // 4 : own // 4].reshape(layers + 1, rows + 1, -1)[..., columns + 1 :] = level
    z, y = np.divmod(np.arange(threads), rows // _ROWS)
    places = floats[own // 4 :][: 16 * threads].reshape(threads, 16)
    places[:, 1], places[:, 2] = y * _ROWS, z
    program = shipped(
        "dense/cubes.mc",
        PITCH=pitch,
        PLANE=plane,
        ROW=1 << row_log,
        ROW_LOG=row_log,
        COUNTS=_FIRST,
        EDGES=edges,
        CASES=lists,
    )
    unit = VectorUnit(program, threads, memory)
    floats[next(each.start for each in program.ranges if each.name == "level") // 4] = level
    unit.set_scalar(1, data + z * plane + y * _ROWS * pitch)
    unit.set_scalar(2, _ROWS)
    unit.set_scalar(3, columns // LANES)
    unit.set_scalar(4, results[:-1])
    unit.set_scalar(5, room)
    unit.set_scalar(6, own + LINE_BYTES * np.arange(threads))
    run = carry_out(unit, config)
    counts = (unit.scalar(4) - results[:-1]) // 4
    parts = [
        floats[at // 4 :][: 9 * size // 4].reshape(9, -1)[:, :count]
        for at, size, count in zip(results[:-1], room, counts, strict=True)
    ]
    return np.concatenate(parts, axis=1).T.reshape(-1, 3, 3).copy(), run


def crossings(volume: ArrayLike, level: float = 0.0) -> NDArray[np.float64]:
    """Return where lines between neighbouring values pass a level, in float64: float64[n, xyz], `by_lines`."""
    given = np.asarray(volume, np.float32).astype(np.float64)
    found = []
    for axis in range(3):
        low = [slice(None)] * 3
        high = [slice(None)] * 3
        low[2 - axis], high[2 - axis] = slice(None, -1), slice(1, None)
        first, second = given[tuple(low)], given[tuple(high)]
        passes = (first > level) != (second > level)
        at = np.argwhere(passes)[:, ::-1].astype(np.float64)
        at[:, axis] += (level - first[passes]) / (second[passes] - first[passes])
        found.append(at)
    return by_lines(np.concatenate(found))


def by_lines(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points in the order of the lines that they lie on: of which axis, between which values."""
    axis = (points != np.round(points)).argmax(1)
    z, y, x = np.floor(points).T[::-1]
    return points[np.lexsort((x, y, z, axis))]


def cubes_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Find the surface of a heap of balls in 64 x 64 x 64 cells."""
    rng = np.random.default_rng(64)
    z, y, x = np.mgrid[0 : _SIDE + 1, 0 : _SIDE + 1, 0 : _SIDE + 1]
    volume = np.full(x.shape, -0.35)
    for centre, radius in zip(rng.uniform(14, 50, (24, 3)), rng.uniform(3, 7, 24), strict=True):
        square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2
        volume += np.exp(-square / radius**2)
    found, run = surface_of(volume, 0.0, config)
    points = np.unique(found.reshape(-1, 3), axis=0).astype(np.float64)
    wanted = crossings(volume)
    error = np.abs(by_lines(points) - wanted).max() if len(points) == len(wanted) else np.inf
    return KernelResult(
        work=f"{_SIDE}^3 cells, {number(len(found))} triangles",
        reference="every line between neighbours that passes the level, in float64",
        error=float(error),
        error_of="of a cell",
        unit="cell",
        units=_SIDE**3,
        phases=(run,),
        limit=f"most cells are empty and cost compares alone; a triangle takes 33 gathers, most of them of tables, and "
        f"is made while any of sixteen lanes has one: {run.cycles / len(found):.0f} cycles each, all cells included; "
        f"the longest of {len(run.pieces)} pieces is {run.pieces.max() / run.pieces.mean():.1f} times the mean",
    )
