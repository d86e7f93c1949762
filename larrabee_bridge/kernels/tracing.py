"""Ray tracing (neither): a mesh in a tree of boxes, packets of sixteen rays through it, a picture and its cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import THREADS, CoreScaling, CoresRun, KernelResult, carry_out, scaled
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import counted, number

# Meshes that are traced: triangles with normals at their corners, and a knot above a mirroring floor.


@dataclass(frozen=True, slots=True, eq=False)
class TracedMesh:
    """Triangles, seen from where their corners go round against the clock."""

    corners: NDArray[np.float32]
    """float32[triangle, corner, xyz]."""
    normals: NDArray[np.float32]
    """The same of unit normals."""
    colours: NDArray[np.uint8]
    """uint8[triangle, 4]: red, green, blue, and how much of the light it reflects as a mirror."""

    def __post_init__(self) -> None:
        count = len(self.corners)
        shapes = self.corners.shape, self.normals.shape, self.colours.shape
        if not count or shapes != ((count, 3, 3), (count, 3, 3), (count, 4)):
            raise InputError(Fault(f"a mesh of shapes {shapes}", hint="corners and normals [n, 3, 3], colours [n, 4]"))
        if not np.isfinite(self.corners).all() or not np.isfinite(self.normals).all():
            raise InputError(Fault("a corner or a normal of a mesh that is not finite"))

    def __len__(self) -> int:
        return len(self.corners)

    @property
    def facing(self) -> NDArray[np.float32]:
        """Normals of the triangles themselves, of any length: float32[triangle, xyz]."""
        first = self.corners[:, 0]
        return np.cross(self.corners[:, 1] - first, self.corners[:, 2] - first)


def _grid(points: NDArray[np.float64], normals: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Return both as [triangle, corner, xyz], two triangles for each cell of a grid [row, column, xyz]."""
    found = []
    for values in (points, normals):
        a, b, c, d = values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]
        halves = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)], axis=2)
        found.append(halves.reshape(-1, 3, 3))
    return tuple(found)


def knot_on_floor(along: int = 1284, around: int = 80) -> TracedMesh:
    """Return a (2, 3) torus knot with waves, 2 x ``along`` x ``around`` triangles, above a floor of 2 x 16 x 16.

    1,284 x 80 are 205,952 with the floor. Raises InputError for fewer than three along or around.
    """
    if along < 3 or around < 3:
        raise InputError(Fault(f"a knot of {along} x {around} cells", hint="3 or more of each"))
    t, s = np.linspace(0, 2 * np.pi, along + 1), np.linspace(0, 2 * np.pi, around + 1)

    def centre(t: NDArray[np.float64]) -> NDArray[np.float64]:
        reach = 2 + np.cos(3 * t)
        return np.stack([reach * np.cos(2 * t), np.sin(3 * t), reach * np.sin(2 * t)], axis=-1)

    def surface(t: NDArray[np.float64], s: NDArray[np.float64]) -> NDArray[np.float64]:
        step = 1e-4
        forward = centre(t + step) - centre(t - step)
        forward /= np.linalg.norm(forward, axis=-1, keepdims=True)
        out = centre(t) * (1, 0, 1)
        out -= (out * forward).sum(-1, keepdims=True) * forward
        out /= np.linalg.norm(out, axis=-1, keepdims=True)
        across = np.cross(forward, out)
        radius = 0.52 + 0.045 * np.sin(40 * t) * np.cos(5 * s)
        return centre(t) + radius[..., None] * (np.cos(s)[..., None] * out + np.sin(s)[..., None] * across)

    rows, columns = np.meshgrid(t, s, indexing="ij")
    points = surface(rows, columns)
    step = 1e-4
    normals = np.cross(
        surface(rows, columns + step) - surface(rows, columns - step),
        surface(rows + step, columns) - surface(rows - step, columns),
    )
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    # The last row and column are the first again, to the bit, so that the surface is closed.
    for values in (points, normals):
        values[-1], values[:, -1] = values[0], values[:, 0]
    # Corners against the clock, seen from outside.
    knot, knot_normals = _grid(points, normals)
    cell = np.arange(len(knot)) // 2 // around
    hue = 2 * np.pi * cell / along
    shades = [0.62 + 0.33 * np.cos(hue + turn) for turn in (0, 2.1, 4.2)]
    colours = np.rint(255 * np.stack([*shades, np.full(len(knot), 0.2)], axis=1))
    side = np.linspace(-9, 9, 17)
    z, x = np.meshgrid(side, side, indexing="ij")
    flat = np.stack([x, np.full_like(x, -1.75), z], axis=-1)
    floor, floor_normals = _grid(flat.transpose(1, 0, 2), np.broadcast_to((0.0, 1.0, 0.0), flat.shape))
    cells = np.arange(len(floor)) // 2
    light = (cells // 16 + cells % 16) % 2
    shades = [*(np.where(light, each, 70) for each in (225, 222, 210)), np.full(len(cells), 90)]
    floor_colours = np.stack(shades, axis=1)
    return TracedMesh(
        np.concatenate([knot, floor]).astype(np.float32),
        np.concatenate([knot_normals, floor_normals]).astype(np.float32),
        np.concatenate([colours, floor_colours]).astype(np.uint8),
    )


# Views of a mesh: eye, light, and the words of the scene block that `trace.mc` reads.


Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class TracedView:
    """An eye that looks at a point, a light at a point, a sky, and how bright everything is."""

    eye: Point = (4.6, 3.6, 5.6)
    at: Point = (0.0, -0.55, 0.0)
    light: Point = (5.0, 8.0, -1.5)
    sky: Point = (0.55, 0.7, 0.9)
    ambient: float = 0.22
    diffuse: float = 0.85
    height: float = 0.85
    """Of the picture, at distance 1 from the eye."""

    def rays(self, size: int) -> NDArray[np.float32]:
        """Return the direction of pixel (0, 0), and what a pixel to the right and one down add: float32[3, xyz]."""
        eye = np.array(self.eye)
        forward = np.array(self.at) - eye
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, (0.0, 1.0, 0.0))
        right /= np.linalg.norm(right)
        down = np.cross(forward, right)
        step = self.height / size
        corner = forward - (size - 1) / 2 * step * (right + down)
        return np.stack([corner, step * right, step * down]).astype(np.float32)

    def words(self, size: int, root: int, shading: int) -> NDArray[np.uint32]:
        """Return the scene block for a picture of ``size`` x ``size`` pixels: uint32[32]."""
        floats = np.concatenate(
            [np.array(self.eye), self.rays(size).reshape(-1), self.light, self.sky, (self.ambient, self.diffuse)]
        ).astype(np.float32)
        words = np.zeros(32, np.uint32)
        words[: len(floats)] = floats.view(np.uint32)
        words[len(floats) : len(floats) + 2] = root, shading
        return words


# Tree of boxes over triangles, built by the host: cut where the surface area heuristic is least, level after level.


LEAF = 4
"""Most triangles of a leaf."""
_BINS = 16
_EMPTY = np.array([np.inf] * 3 + [-np.inf] * 3)


@dataclass(frozen=True, slots=True, eq=False)
class BoxTree:
    """Nodes of two children each."""

    boxes: NDArray[np.float32]
    """float32[node, child, 6]: low x y z, high x y z."""
    children: NDArray[np.int64]
    """int64[node, child]: a node; negative: leaf -1 - child."""
    first: NDArray[np.int64]
    """Where the triangles of each leaf begin in ``order``."""
    count: NDArray[np.int64]
    order: NDArray[np.int64]
    """Triangles, those of a leaf one after the other."""
    depth: int
    """Nodes from the root to the deepest leaf."""


def _area(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.maximum(boxes[..., 3:] - boxes[..., :3], 0)
    return size[..., 0] * size[..., 1] + size[..., 1] * size[..., 2] + size[..., 2] * size[..., 0]


def _joined(boxes: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the boxes of runs of boxes that begin at ``starts``."""
    low = np.minimum.reduceat(boxes[:, :3], starts)
    return np.concatenate([low, np.maximum.reduceat(boxes[:, 3:], starts)], axis=1)


def _sides(
    boxes: NDArray[np.float64], centres: NDArray[np.float64], owner: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which triangles go to the second child, where each ``owner`` is cut best.

    Of each axis sixteen bins of centres; of all cuts between them the one with the least area times triangles. What
    has no extent is cut in the middle of its order.
    """
    nodes = len(starts)
    low = np.minimum.reduceat(centres, starts)
    extent = np.maximum.reduceat(centres, starts) - low
    best = np.full(nodes, np.inf)
    second = np.zeros(len(owner), bool)
    scale = np.divide(_BINS, extent, out=np.zeros_like(extent), where=extent > 0)
    for axis in range(3):
        place = (centres[:, axis] - low[owner, axis]) * scale[owner, axis]
        bins = np.minimum(place.astype(np.int64), _BINS - 1)
        key = owner * _BINS + bins
        order = np.argsort(key, kind="stable")
        runs = np.flatnonzero(np.diff(key[order], prepend=-1))
        held = np.broadcast_to(_EMPTY, (nodes * _BINS, 6)).copy()
        held[key[order][runs]] = _joined(boxes[order], runs)
        held = held.reshape(nodes, _BINS, 6)
        counts = np.bincount(key, minlength=nodes * _BINS).reshape(nodes, _BINS)
        left = np.concatenate(
            [np.minimum.accumulate(held[..., :3], 1), np.maximum.accumulate(held[..., 3:], 1)], axis=2
        )
        back = held[:, ::-1]
        right = np.concatenate(
            [np.minimum.accumulate(back[..., :3], 1), np.maximum.accumulate(back[..., 3:], 1)], axis=2
        )[:, ::-1]
        before = np.cumsum(counts, 1)[:, :-1]
        after = counts.sum(1, keepdims=True) - before
        with np.errstate(invalid="ignore"):
            costs = _area(left[:, :-1]) * before + _area(right[:, 1:]) * after
        costs = np.where((before > 0) & (after > 0), costs, np.inf)
        cut = costs.argmin(1)
        cost = costs[np.arange(nodes), cut]
        better = cost < best
        best[better] = cost[better]
        chosen = better[owner]
        second[chosen] = bins[chosen] > cut[owner[chosen]]
    stuck = np.isinf(best)[owner]
    if stuck.any():
        size = np.diff(np.append(starts, len(owner)))
        middle = starts + size // 2
        second[stuck] = (np.arange(len(owner)) >= middle[owner])[stuck]
    return second


def tree_of(corners: NDArray[np.float32]) -> BoxTree:
    """Return the tree of triangles, float32[triangle, corner, xyz]; raises InputError for fewer than two."""
    if len(corners) < 2:
        raise InputError(
            Fault(f"a tree of {counted(len(corners), 'triangle')}", hint="2 or more: each node has two children")
        )
    boxes = np.concatenate([corners.min(1), corners.max(1)], axis=1).astype(np.float64)
    centres = (boxes[:, :3] + boxes[:, 3:]) / 2
    order = np.arange(len(corners))
    node_boxes: list[NDArray[np.float64]] = []
    links: list[NDArray[np.int64]] = []
    firsts: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    made, leaves, depth = 0, 0, 0
    starts, ends = np.zeros(1, np.int64), np.array([len(corners)])
    while len(starts):
        depth += 1
        size = ends - starts
        owner = np.repeat(np.arange(len(starts)), size.astype(np.intp))
        at = np.arange(len(owner)) + np.repeat(starts - np.cumsum(size) + size, size.astype(np.intp))
        inside = np.cumsum(size) - size
        held = order[at]
        second = _sides(boxes[held], centres[held], owner, inside)
        moved = np.lexsort((second, owner))
        order[at] = held[moved]
        seconds = np.bincount(owner, second, minlength=len(starts)).astype(np.int64)
        bounds = np.stack([starts, ends - seconds, ends], axis=1)
        runs = np.stack([inside, inside + size - seconds], axis=1).reshape(-1)
        node_boxes.append(_joined(boxes[order[at]], runs).reshape(-1, 2, 6))
        child_start, child_end = bounds[:, :2].reshape(-1), bounds[:, 1:].reshape(-1)
        child_size = child_end - child_start
        is_leaf = child_size <= LEAF
        reference = np.empty(len(child_size), np.int64)
        reference[is_leaf] = -1 - (leaves + np.arange(is_leaf.sum()))
        inner = ~is_leaf
        reference[inner] = made + len(starts) + np.arange(inner.sum())
        links.append(reference.reshape(-1, 2))
        firsts.append(child_start[is_leaf])
        sizes.append(child_size[is_leaf])
        leaves += int(is_leaf.sum())
        made += len(starts)
        starts, ends = child_start[inner], child_end[inner]
    return BoxTree(
        np.concatenate(node_boxes).astype(np.float32),
        np.concatenate(links),
        np.concatenate(firsts),
        np.concatenate(sizes),
        order,
        depth,
    )


# The ray tracer: mesh and tree laid down in memory, squares of pixels traced by threads, four of them a core.


SIDE = 16
"""Pixels of the side of a thread's square; the four threads of a core have a tile of 32x32."""
_FIRST = 4096
"""Bytes that are left to the program's own constants."""
_BLOCK = 4
_FIELD = 4 * SIDE * SIDE + LINE_BYTES
_STACK = 18 * _FIELD + 12 * SIDE * SIDE
_HOLD = _STACK + 1024
_OWN = _HOLD + LINE_BYTES
_DEEPEST = 1024 // 8 - 2
_AT_A_TIME = 128
"""Threads of a run: their notes are timed before the next ones are made."""


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A picture, uint8[size, size, rgb], and what it took."""

    picture: NDArray[np.uint8]
    rays: tuple[int, int, int, int]
    """Of the eye, from there to the light, reflected, from there to the light."""
    run: CoresRun
    """Its pieces are tiles of 32x32 pixels."""
    packets: int
    """Packets of sixteen rays that were traced: those of the lights' queue too."""
    tree_bytes: int
    """Nodes and triangles in memory."""
    scaling: CoreScaling

    @property
    def all_rays(self) -> int:
        """Rays of all kinds."""
        return sum(self.rays)

    @property
    def cycles_per_ray(self) -> float:
        """Cycles of a core for each ray."""
        return self.run.cycles / self.all_rays

    @property
    def fullness(self) -> float:
        """Share of the lanes of packets that hold a ray."""
        return self.all_rays / (LANES * self.packets)


@dataclass(frozen=True, slots=True)
class _Laid:
    """A memory with mesh and tree in it, and where its parts are."""

    memory: ByteMemory
    own: int
    pixels: int
    tree_bytes: int


def _laid(mesh: TracedMesh, tree: BoxTree, view: TracedView, size: int, threads: int) -> _Laid:
    nodes = _FIRST + 2 * LINE_BYTES
    triangles = nodes + LINE_BYTES * len(tree.boxes)
    shading = triangles + LINE_BYTES * len(mesh)
    own = shading + LINE_BYTES * len(mesh)
    pixels = own + threads * _OWN
    memory = ByteMemory(pixels + threads * SIDE * SIDE * 4)
    words = memory.data.view(np.uint32)[0]
    words[_FIRST // 4 : _FIRST // 4 + 32] = view.words(size, nodes, shading)
    node = words[nodes // 4 : triangles // 4].reshape(-1, 16)
    node[:, :12] = tree.boxes.reshape(-1, 12).view(np.uint32)
    leaf = np.where(tree.children < 0, -1 - tree.children, 0)
    of_leaf = triangles + LINE_BYTES * tree.first[leaf] + 2 * tree.count[leaf] + 1
    node[:, 12:14] = np.where(tree.children < 0, of_leaf, nodes + LINE_BYTES * tree.children)
    corners = mesh.corners[tree.order]
    record = words[triangles // 4 : shading // 4].reshape(-1, 16)
    first = corners[:, :1]
    parts = np.concatenate([first, corners[:, 1:] - first], axis=1).reshape(-1, 9)
    record[:, :9], record[:, 9] = parts.view(np.uint32), tree.order
    record = words[shading // 4 : own // 4].reshape(-1, 16)
    first = mesh.normals[:, :1]
    parts = np.concatenate([first, mesh.normals[:, 1:] - first], axis=1).reshape(-1, 9)
    record[:, :9] = parts.view(np.uint32)
    record[:, 9] = np.ascontiguousarray(mesh.colours).view("<u4")[:, 0]
    record[:, 10:13] = mesh.facing.view(np.uint32)
    return _Laid(memory, own, pixels, shading - nodes)


def _squares(size: int) -> Iterator[tuple[int, int]]:
    """Yield left and top of the threads' squares, the four of a tile one after the other."""
    for top in range(0, size, 2 * SIDE):
        for left in range(0, size, 2 * SIDE):
            yield from ((left + x, top + y) for y in (0, SIDE) for x in (0, SIDE))


def trace(
    mesh: TracedMesh,
    view: TracedView | None = None,
    size: int = 1024,
    *,
    config: CoreConfig | None = None,
    engine: str = AUTO,
    progress: Callable[[str], None] | None = None,
) -> Traced:
    """Trace a picture of ``size`` x ``size`` pixels: eye, one light with shadows, one reflection.

    Every ray of it is executed by `trace.mc`. Raises InputError for a size that is not a multiple of 32, a mesh of
    one triangle, and one whose tree is deeper than the program's stack.
    """
    if size < 1 or size % (2 * SIDE):
        raise InputError(Fault(f"a picture of {size} pixels", hint=f"a multiple of {2 * SIDE}: tiles of four threads"))
    tree = tree_of(mesh.corners)
    if tree.depth > _DEEPEST:
        raise InputError(Fault(f"a tree {tree.depth} nodes deep", hint=f"{_DEEPEST}: the program's stack"))
    squares = list(_squares(size))
    threads = min(_AT_A_TIME, len(squares))
    laid = _laid(mesh, tree, view or TracedView(), size, threads)
    program = shipped("tracing/trace.mc", SIDE=SIDE)
    run = _Run(program, laid, threads, config, engine)
    picture = np.zeros((size, size, 3), np.uint8)
    for first in range(0, len(squares), threads):
        some = squares[first : first + threads]
        for (left, top), square in zip(some, run.squares(some), strict=True):
            picture[top : top + SIDE, left : left + SIDE] = square
        if progress is not None:
            progress(f"{(first + len(some)) // THREADS} of {len(squares) // THREADS} tiles")
    whole = CoresRun.joined(run.runs)
    eye, lights, reflected, more = run.rays.tolist()
    rays = eye, lights, reflected, more
    return Traced(picture, rays, whole, run.packets, laid.tree_bytes, scaled([whole.pieces]))


class _Run:
    """Runs of the program, some squares at a time in the same memory, and their sums."""

    def __init__(
        self, program: VectorProgram, laid: _Laid, threads: int, config: CoreConfig | None, engine: str
    ) -> None:
        self.program, self.laid, self.config, self.engine = program, laid, config, engine
        self.rays = np.zeros(4, np.int64)
        self.runs: list[CoresRun] = []
        self.packets = 0
        self.own = laid.own + _OWN * np.arange(threads)

    def squares(self, some: list[tuple[int, int]]) -> NDArray[np.uint8]:
        """Trace squares; return them: uint8[square, row, column, rgb]."""
        words = self.laid.memory.data.view(np.uint32)[0]
        count = len(some)
        held = words[self.laid.own // 4 : self.laid.pixels // 4].reshape(-1, _OWN // 4)[:count]
        hold = held[:, _HOLD // 4 :]
        hold[:] = 0
        hold[:, :2] = np.array(some, np.float32).view(np.uint32)
        hold[:, 2] = self.laid.pixels + SIDE * SIDE * 4 * np.arange(count)
        unit = VectorUnit(self.program, count, self.laid.memory, self.engine)
        unit.set_scalar(14, self.own[:count])
        unit.set_scalar(15, _FIRST)
        self.runs.append(carry_out(unit, self.config))
        rays = hold[:, 4:8].astype(np.int64)
        self.rays += rays.sum(0)
        self.packets += int((-(-rays // LANES)).sum())
        blocks = SIDE // _BLOCK
        pixels = words[self.laid.pixels // 4 :][: count * SIDE * SIDE].view(np.uint8)
        grid = pixels.reshape(count, blocks, blocks, _BLOCK, _BLOCK, 4).transpose(0, 1, 3, 2, 4, 5)
        return grid.reshape(count, SIDE, SIDE, 4)[..., :3]


# The same picture in float64, ray against every triangle: no tree, no packets, no program.


Floats = NDArray[np.float64]
Hits = tuple[NDArray[np.int64], Floats, Floats, Floats]
"""Triangle (-1: none), distance in lengths of the direction, and both shares of the place within it."""
Nearest = Callable[[Floats, Floats], Hits]
"""What finds the nearest front that rays, origins and directions float64[n, xyz], hit."""
_PAIRS_AT_A_TIME = 1 << 21


def against_all(mesh: TracedMesh) -> Nearest:
    """Return the search that tries every triangle: the volumes of Moeller and Trumbore, in float64."""
    corners = mesh.corners.astype(np.float64)
    p0, e1, e2 = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(e1, e2)

    def some(origin: Floats, direction: Floats) -> Hits:
        det = -direction @ normal.T
        # Distances from p0 along the normal; u and v from products with o x d.
        height = origin @ normal.T - (p0 * normal).sum(1)
        moment = np.cross(direction, origin)
        u = -(moment @ e2.T) - direction @ np.cross(e2, p0).T
        v = moment @ e1.T + direction @ np.cross(e1, p0).T
        hit = (det > 0) & (u >= 0) & (v >= 0) & (u + v <= det) & (height > 0)
        far = np.where(hit, height / np.where(hit, det, 1), np.inf)
        which = far.argmin(1)
        rows = np.arange(len(origin))
        distance = far[rows, which]
        scale = np.where(np.isfinite(distance), det[rows, which], 1)
        found = np.where(np.isfinite(distance), which, -1)
        return found, distance, u[rows, which] / scale, v[rows, which] / scale

    def nearest(origin: Floats, direction: Floats) -> Hits:
        rows = max(_PAIRS_AT_A_TIME // len(mesh), 1)
        if not len(origin):
            nothing = np.zeros(0)
            return np.zeros(0, np.int64), nothing, nothing, nothing
        parts = [some(origin[at : at + rows], direction[at : at + rows]) for at in range(0, len(origin), rows)]
        found, distance, u, v = (np.concatenate(each) for each in zip(*parts, strict=True))
        return found, distance, u, v

    return nearest


def shaded(
    mesh: TracedMesh, view: TracedView, size: int, pixels: NDArray[np.int64], nearest: Nearest | None = None
) -> Floats:
    """Return the colours of pixels (x, y), int64[n, 2], of a picture of ``size`` x ``size``: float64[n, rgb], 0 to 1.

    What ``nearest`` finds is shaded as in `trace.mc`: light from everywhere, one light with shadows, one reflection.
    """
    nearest = nearest or against_all(mesh)
    corner, right, down = view.rays(size).astype(np.float64)
    direction = corner + pixels[:, :1] * right + pixels[:, 1:] * down
    origin = np.broadcast_to(np.array(view.eye, np.float32).astype(np.float64), direction.shape)
    colours = np.zeros((len(pixels), 3))
    _gather(mesh, view, nearest, origin, direction, np.ones(len(pixels)), np.arange(len(pixels)), colours, 1)
    return np.minimum(colours, 1)


def _gather(
    mesh: TracedMesh,
    view: TracedView,
    nearest: Nearest,
    origin: Floats,
    direction: Floats,
    weight: Floats,
    pixel: NDArray[np.int64],
    colours: Floats,
    bounces: int,
) -> None:
    found, distance, u, v = nearest(origin, direction)
    sky = found < 0
    colours[pixel[sky]] += weight[sky, None] * np.array(view.sky)
    hit = ~sky
    if not hit.any():
        return
    found, direction, weight, pixel = found[hit], direction[hit], weight[hit], pixel[hit]
    place = origin[hit] + distance[hit, None] * direction
    shares = np.stack([1 - u[hit] - v[hit], u[hit], v[hit]], axis=1)
    normal = (shares[..., None] * mesh.normals[found].astype(np.float64)).sum(1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    paint = mesh.colours[found] / 255
    facing = mesh.facing[found].astype(np.float64)
    light = np.array(view.light) - place
    cosine = (normal * light).sum(1) / np.linalg.norm(light, axis=1)
    reflected = direction - 2 * (direction * normal).sum(1, keepdims=True) * normal
    leaves = (facing * reflected).sum(1) > 0
    share = paint[:, 3] * weight * leaves if bounces else np.zeros(len(weight))
    kept = (weight - share)[:, None] * paint[:, :3]
    colours[pixel] += view.ambient * kept
    faces = (cosine > 0) & ((facing * light).sum(1) > 0)
    blocked = np.zeros(len(weight), bool)
    blocker, far, _, _ = nearest(place[faces], light[faces])
    blocked[faces] = (blocker >= 0) & (far < 1)
    lit = faces & ~blocked
    colours[pixel[lit]] += view.diffuse * cosine[lit, None] * kept[lit]
    mirrored = share > 0
    if bounces:
        _gather(
            mesh,
            view,
            nearest,
            *(place[mirrored], reflected[mirrored], share[mirrored], pixel[mirrored]),
            colours,
            bounces - 1,
        )


# The study of the ray tracer: a knot of 205,952 triangles above a mirroring floor, and rays that are traced again.


SIZE = 1024
"""Pixels of a side: figure 18."""
WHITE = 255
_COMPARED = 200
_SEED = 18


def traced_knot(config: CoreConfig | None = None, progress: Callable[[str], None] | None = None) -> Traced:
    """Trace the scene of the study; half a minute of the host."""
    return trace(knot_on_floor(), size=SIZE, config=config, progress=progress)


def ray_tracer(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Trace it, and 200 of its pixels again in float64 against every triangle."""
    mesh = knot_on_floor()
    found = trace(mesh, size=SIZE, config=config, progress=progress)
    pixels = np.random.default_rng(_SEED).integers(0, SIZE, (_COMPARED, 2))
    wanted = np.rint(shaded(mesh, TracedView(), SIZE, pixels) * WHITE)
    steps = np.abs(found.picture[pixels[:, 1], pixels[:, 0]] - wanted)
    eye, lights, reflected, more = found.rays
    memory = found.run.counts[VectorFamily.MEMORY] / sum(found.run.counts.values())
    return KernelResult(
        work=f"{number(len(mesh))} triangles, {SIZE}x{SIZE}; rays: {number(eye)} of the eye, {number(lights)} to the "
        f"light, {number(reflected)} reflected, {number(more)} from there to the light; tree of "
        f"{found.tree_bytes / 1e6:.1f} MB, built by the host",
        reference=f"{_COMPARED} pixels in float64 against every triangle",
        error=float(steps.max()),
        error_of="steps of 255",
        unit="ray",
        units=found.all_rays,
        phases=(found.run,),
        limit=f"boxes and triangles are tested for all sixteen rays while one needs them: packets are "
        f"{found.fullness:.1%} full of rays, yet masks shrink on the way down; compares, minima and tests of masks are "
        f"no flops; the longest tile is {found.scaling.longest / (found.run.cycles / 48):.0%} of a 48th of all; "
        f"memory instructions {memory:.1%}",
        picture=found.picture,
    )
