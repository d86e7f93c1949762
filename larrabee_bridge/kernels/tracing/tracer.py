"""The ray tracer: mesh and tree laid down in memory, squares of pixels traced by threads, four of them a core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.timing import THREADS, CoreScaling, CoresRun, carry_out, scaled
from larrabee_bridge.kernels.tracing.mesh import TracedMesh
from larrabee_bridge.kernels.tracing.scene import TracedView
from larrabee_bridge.kernels.tracing.tree import BoxTree, tree_of
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.program import LINE_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["SIDE", "Traced", "trace"]

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

    Every ray of it is carried out by `trace.mc`. Raises InputError for a size that is no multiple of 32, a mesh of
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
