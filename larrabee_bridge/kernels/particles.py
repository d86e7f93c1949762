"""Particles with neighbours: densities and forces of smoothed particle hydrodynamics, and their cycles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, run_kernel
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

_FIRST = 4096
_EACH = 16
"""Particles of a thread."""
_PLANES = 12
"""Of memory: places, densities, neighbours, velocities, reciprocals of densities, forces."""


def _runs(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of particles by cell, nine runs of numbers for each cell, and the cell of each in that order."""
    size = cells.max(0) + 3
    key = ((cells[:, 2] + 1) * size[1] + cells[:, 1] + 1) * size[0] + cells[:, 0] + 1
    order = np.argsort(key, kind="stable")
    held = key[order]
    keys, cell = np.unique(held, return_inverse=True)
    around = (np.arange(-1, 2)[:, None] * size[1] + np.arange(-1, 2)).reshape(-1) * size[0]
    middle = keys[:, None] + around
    runs = np.stack([np.searchsorted(held, middle - 1), np.searchsorted(held, middle + 2)], axis=-1)
    return order, runs, cell


class FluidLaw(NamedTuple):
    """Law of forces: pressures are ``stiffness`` times the density above that at rest."""

    stiffness: float = 2.0
    rest: float = 3.0
    viscosity: float = 0.5


class Fluid:
    """Particles at float32[n, xyz] from 0 to 1,000 in the memory of the vector unit, in the order of their cells."""

    def __init__(self, points: NDArray[np.float32], velocities: NDArray[np.float32] | None = None) -> None:
        count = len(points)
        self.order, runs, cell = _runs(np.floor(points).astype(np.int64))
        self.plane = 4 * -(-(count + 2 * LANES) // LANES) * LANES
        self.cells = _FIRST + _PLANES * self.plane
        table = self.cells + self.plane
        self.law = table + -(-runs.size * 4 // LINE_BYTES) * LINE_BYTES
        self.memory = ByteMemory(self.law + LINE_BYTES)
        self.words = self.memory.data.view(np.uint32)[0]
        self.planes = self.words[_FIRST // 4 : self.cells // 4].view(np.float32).reshape(_PLANES, -1)
        self.planes[:3, :count] = points[self.order].T
        if velocities is not None:
            self.planes[5:8, :count] = velocities[self.order].T
        self.words[self.cells // 4 :][:count] = table + 72 * cell
        self.words[table // 4 :][: runs.size] = 4 * runs.reshape(-1)
        self.begin = np.arange(0, count, _EACH)
        self.past = np.minimum(self.begin + _EACH, count)

    def _run(self, name: str, config: CoreConfig | None, **parameters: int) -> CoresRun:
        program = shipped(f"physics/{name}.mc", PLANE=self.plane, FIRST=_FIRST, CELLS=self.cells, **parameters)
        unit = VectorUnit(program, len(self.begin), self.memory)
        unit.set_scalar(1, 4 * self.begin)
        unit.set_scalar(2, 4 * self.past)
        return run_kernel(unit, config)

    def densities(self, config: CoreConfig | None) -> CoresRun:
        """Find densities and numbers of neighbours."""
        return self._run("density", config)

    def forces(self, law: FluidLaw, config: CoreConfig | None) -> tuple[CoresRun, CoresRun, CoresRun]:
        """Find densities, their reciprocals, and forces."""
        values = np.array([law.stiffness / 2, law.rest, law.viscosity], np.float32)
        self.words[self.law // 4 :][:3] = values.view(np.uint32)
        inverse, pushing = ({"LAW": self.law, "INVERSE": step} for step in (1, 0))
        densities = self.densities(config)
        return densities, self._run("forces", config, **inverse), self._run("forces", config, **pushing)

    def back(self, which: int | slice) -> NDArray[np.float32]:
        """Return planes in the original order of the particles."""
        held = self.planes[which, : len(self.order)]
        found = np.empty_like(held)
        found[..., self.order] = held
        return found


def _brute_forces(
    points: NDArray[np.float32], velocities: NDArray[np.float32], law: FluidLaw
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return densities and forces, in float64; every particle is compared with every other one."""
    exact, speeds, density = points.astype(float), velocities.astype(float), np.empty(len(points))
    pairs = []
    for first in range(0, len(exact), 32):
        part = slice(first, first + 32)
        square = sum((exact[part, None, axis] - exact[None, :, axis]) ** 2 for axis in range(3))
        one, other = np.nonzero(square < 1)
        squares, shares = square[one, other], np.zeros(square.shape)
        shares[one, other] = (1 - squares) ** 3
        density[part] = shares.sum(1)
        pairs.append((one + first, other, squares))
    one, other, squares = (np.concatenate(each) for each in zip(*pairs, strict=True))
    one, other, distance = (each[squares > 0] for each in (one, other, np.sqrt(squares)))
    pressure = law.stiffness * (density - law.rest)
    push = (pressure[one] + pressure[other]) / (2 * density[other]) * (1 - distance) ** 2 / distance
    drag = law.viscosity * (1 - distance) / density[other]
    both = drag[:, None] * (speeds[other] - speeds[one]) - push[:, None] * (exact[other] - exact[one])
    return density, np.stack([np.bincount(one, each, len(exact)) for each in both.T], axis=1)


def particles_study(
    config: CoreConfig | None, progress: Callable[[str], None] | None, count: int = 12_288
) -> KernelResult:
    """Find the densities of particles of a dam of water, and the forces on them."""
    rng, law = np.random.default_rng(12), FluidLaw()
    points = (rng.uniform(0, 1, (count, 3)) * (8, 6, 8)).astype(np.float32)
    speeds = rng.normal(size=points.shape).astype(np.float32)
    fluid = Fluid(points, speeds)
    phases = fluid.forces(law, config)
    density, forces, near = fluid.back(3), fluid.back(slice(9, 12)).T, fluid.back(4)
    wanted, pushed = _brute_forces(points, speeds, law)
    errors = (
        np.abs(found - exact).max() / np.abs(exact).max() for found, exact in ((density, wanted), (forces, pushed))
    )
    shares = [each.cycles / sum(other.cycles for other in phases) for each in phases]
    return KernelResult(
        work=f"{number(count)} particles, {near.mean():.0f} neighbours each; the host sorts them by cells, which "
        "is not counted; densities, then forces of pressure and viscosity",
        reference="every particle with every other one in float64",
        error=float(max(errors)),
        error_of="of the largest density or force",
        unit="particle",
        units=count,
        phases=phases,
        limit="cells are cubes and neighbours a ball: at most 4.19 of 27 looked at are near; runs end within sixteen; "
        f"loads cross two lines; {shares[2]:.0%} of the cycles are forces, with a root for all sixteen where one "
        f"is near; {len(phases[0].pieces)} pieces in each of two phases, and a short one between",
    )
