"""Cloth: points that keep their distances while they fall on a ball, and the cycles of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, run_kernel
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.program import shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory

_FIRST = 4096
_PAD = 2
_AWAY = 1000.0
"""Position of points outside of the cloth, which pull with weight 0."""
_SIXTEENS = 3
"""Sixteens of points of a thread."""
_SIDE, _STEPS = 96, 150
_NEIGHBOURS = (
    *((0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0), (-1, -1, 1), (1, 1, 1), (1, -1, 1), (-1, 1, 1)),
    *((0, -2, 2), (0, 2, 2), (-2, 0, 2), (2, 0, 2)),
)
"""Row, column and distance of each neighbour, in the order of `cloth.mc`."""


class ClothLaw(NamedTuple):
    """Law of motion; lengths in radii of the ball."""

    spacing: float = 0.036
    damping: float = 0.985
    fall: float = -0.0005
    """Of a step, squared, times gravity."""
    share: float = 0.14
    """Share of a distance's error that a relaxation corrects at either end."""
    radius: float = 1.0
    relaxations: int = 3
    """In a step; odd, so that points end in the plane that they are read from."""

    @property
    def words(self) -> NDArray[np.float32]:
        """The law as words of `cloth.mc`."""
        rest = self.spacing * np.array([1, np.sqrt(2), 2])
        return np.array([self.damping, self.fall, self.share, self.radius, self.radius**2, *rest], np.float32)


class Cloth:
    """A square of points in the memory of the vector unit, falling step by step."""

    def __init__(self, points: NDArray[np.float32], law: ClothLaw | None = None) -> None:
        """``points`` is float32[side, side, xyz], the side a multiple of 48."""
        self.law = law or ClothLaw()
        self.side = side = len(points)
        columns = side + 2 * LANES
        self.stride, self.plane = 4 * columns, 4 * columns * (side + 2 * _PAD)
        self.memory = ByteMemory(_FIRST + 11 * self.plane)
        held = self.memory.data.view(np.float32)[0, _FIRST // 4 :].reshape(11, -1, columns)
        self._points = held[:, _PAD : _PAD + side, LANES : LANES + side]
        held[:6] = _AWAY
        self._points[0:3] = self._points[6:9] = points.transpose(2, 0, 1)
        self._points[9:] = 1

    @property
    def points(self) -> NDArray[np.float32]:
        """Positions: float32[side, side, xyz]."""
        return self._points[:3].transpose(1, 2, 0).copy()

    @property
    def before(self) -> NDArray[np.float32]:
        """Positions one step earlier: float32[side, side, xyz]."""
        return self._points[6:9].transpose(1, 2, 0).copy()

    def _unit(self, relax: int, read: int, write: int) -> VectorUnit:
        program = shipped("physics/cloth.mc", RELAX=relax, STRIDE=self.stride, PLANE=self.plane)
        law = next(each.start for each in program.ranges if each.name == "law")
        parts = self.side // (LANES * _SIXTEENS)
        row, part = np.divmod(np.arange(self.side * parts), parts)
        inside = (row + _PAD) * self.stride + 4 * LANES * (1 + _SIXTEENS * part) + _FIRST
        unit = VectorUnit(program, len(row), self.memory)
        self.memory.data.view(np.float32)[0, law // 4 :][:8] = self.law.words
        for register, plane in ((1, read), (2, write), (5, 6), (6, 9), (7, 10)):
            unit.set_scalar(register, inside + plane * self.plane)
        unit.set_scalar(3, 1)
        unit.set_scalar(4, _SIXTEENS)
        return unit

    def _units(self) -> list[tuple[int, int, int]]:
        sides = (0, 3)
        return [(int(turn > 0), sides[turn % 2], sides[1 - turn % 2]) for turn in range(1 + self.law.relaxations)]

    def step(self) -> None:
        """Make a step without timing it."""
        for phase in self._units():
            self._unit(*phase).run()

    def timed_step(self, config: CoreConfig | None = None) -> tuple[CoresRun, ...]:
        """Make a step; return the runs of its phases."""
        return tuple(run_kernel(self._unit(*phase), config) for phase in self._units())


def fallen(
    points: NDArray[np.float32], steps: int, law: ClothLaw | None = None, before: NDArray[np.float32] | None = None
) -> NDArray[np.float64]:
    """Return the positions after ``steps`` steps in float64, computed on whole arrays.

    ``before`` are the positions one step earlier; without it the points start at rest.
    """
    law = law or ClothLaw()
    damping, fall, share, radius, square, *rest = law.words.astype(np.float64)
    now = points.astype(np.float64)
    ago = now if before is None else before.astype(np.float64)
    side = len(now)
    for _ in range(steps):
        now, ago = now + damping * (now - ago) + (0, fall, 0), now
        for _ in range(law.relaxations):
            pulls = np.zeros_like(now)
            for down, right, which in _NEIGHBOURS:
                rows = slice(max(-down, 0), side - max(down, 0)), slice(max(-right, 0), side - max(right, 0))
                other = slice(max(down, 0), side + min(down, 0)), slice(max(right, 0), side + min(right, 0))
                way = now[other] - now[rows]
                pulls[rows] += way * (1 - rest[which] / np.linalg.norm(way, axis=-1, keepdims=True))
            now = now + share * pulls
            length = np.linalg.norm(now, axis=-1, keepdims=True)
            now = np.where(length**2 < square, now * radius / length, now)
    return now


def flat(side: int, law: ClothLaw) -> NDArray[np.float32]:
    """Return a flat cloth above the ball, turned and off centre, so that nothing is symmetrical."""
    at = (np.arange(side) - (side - 1) / 2) * law.spacing
    z, x = np.meshgrid(at, at, indexing="ij")
    turn = 0.4
    points = [x * np.cos(turn) - z * np.sin(turn) + 0.1, np.full_like(x, law.radius + 0.05)]
    return np.stack([*points, x * np.sin(turn) + z * np.cos(turn) - 0.05], axis=-1).astype(np.float32)


def cloth_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Let a cloth of 96 x 96 points fall on a ball for 150 steps; the last one is timed."""
    law = ClothLaw()
    cloth = Cloth(flat(_SIDE, law), law)
    for number in range(_STEPS - 1):
        cloth.step()
        if progress is not None:
            progress(f"cloth, step {number + 1} of {_STEPS}")
    state, before = cloth.points, cloth.before
    phases = cloth.timed_step(config)
    wanted = fallen(state, 1, law, before)
    both = CoresRun.joined(phases)
    loads = both.counts[VectorFamily.CONVERT] / both.vector
    return KernelResult(
        work=f"{_SIDE} x {_SIDE} points, twelve distances each, a ball; {_STEPS} steps of {law.relaxations} "
        "relaxations, the last one timed (cycles do not depend on values)",
        reference="the last step in float64 on whole arrays",
        error=float(np.abs(cloth.points - wanted).max() / law.spacing),
        error_of="of the spacing of points",
        unit="point and step",
        units=_SIDE * _SIDE,
        phases=phases,
        limit=f"{len(phases)} phases that wait for each other, {len(phases[0].pieces)} pieces each; roots by "
        f"iteration; {loads:.0%} of vector instructions are loads and copies, most across two lines",
    )
