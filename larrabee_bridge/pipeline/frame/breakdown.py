"""Breakdown of a frame's cycles, measured: rasterizer and back end run, and the length of the shader is varied (5.4,
figure 13).

Section numbers are those of Seiler et al. 2008. Cycles are those of threads, each alone on a core, in both halves, so
that their shares can be compared; what threads of one core win from each other is in neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from larrabee_bridge.pipeline.backend.render import render_back_end
from larrabee_bridge.pipeline.raster.rasterizer import rasterize
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import Fault, InputError

__all__ = ["Breakdown", "QuadCost", "StageCycles", "breakdown_of", "raster_share", "shader_length_at", "shares"]


@dataclass(frozen=True, slots=True)
class QuadCost:
    """Cycles of a qquad in the back end as a line: so many whatever the shader is, and so many an operation of it."""

    fixed: float
    """All of the back end but those operations: clear, set-up, planes, depth and stencil, blending, sort, resolve."""
    per_operation: float
    """For each vector operation of the pixel shader."""

    @classmethod
    def through(cls, short: tuple[int, float], long: tuple[int, float]) -> QuadCost:
        """Return the line through two measurements (vector operations, cycles a qquad); raises InputError for one."""
        if short[0] == long[0]:
            raise InputError(Fault(f"two measurements at {short[0]} operations tell no line", hint="two lengths"))
        slope = (long[1] - short[1]) / (long[0] - short[0])
        return cls(short[1] - slope * short[0], slope)

    def of(self, operations: float) -> float:
        """Return the cycles of a qquad whose shader has so many vector operations."""
        return self.fixed + self.per_operation * operations


@dataclass(frozen=True, slots=True)
class StageCycles:
    """Cycles of a frame that do not depend on the shader: ``raster``, and ``other`` (vertices)."""

    raster: int
    other: int
    quads: int
    """Qquads of the back end."""


def shares(cycles: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each stage in the sum of all; raises InputError where that is 0."""
    whole = sum(cycles.values())
    if not whole:
        raise InputError(Fault("stages without any cycles have no shares"))
    return {stage: value / whole for stage, value in cycles.items()}


def raster_share(stages: StageCycles, quad: QuadCost, operations: float) -> float:
    """Return the share of rasterization under a pixel shader of so many vector operations."""
    return stages.raster / (stages.raster + stages.other + stages.quads * quad.of(operations))


def shader_length_at(share: float, stages: StageCycles, quad: QuadCost) -> float:
    """Return the vector operations of the shader at which rasterization falls to a share; 0 where it is there without.

    From R / (R + O + Q (f + n c)) = s: n = ((R (1 / s - 1) - O) / Q - f) / c. Raises InputError for a share outside
    0 to 1 (both excluded), and where no shader helps: no qquads, or operations that cost nothing.
    """
    if not 0 < share < 1:
        raise InputError(Fault(f"a share of {share}", hint="allowed: above 0, below 1"))
    if raster_share(stages, quad, 0) <= share:
        return 0.0
    if not stages.quads or quad.per_operation <= 0:
        raise InputError(Fault(f"rasterization keeps more than {share:.0%} whatever the shader is"))
    return ((stages.raster * (1 / share - 1) - stages.other) / stages.quads - quad.fixed) / quad.per_operation


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Cycles of a frame by stage, without the additional operations; and how they grow with the shader."""

    cycles: dict[str, int]
    stages: StageCycles
    quad: QuadCost

    @property
    def shares(self) -> dict[str, float]:
        """Share of each stage."""
        return shares(self.cycles)

    def raster_share(self, operations: float = 0) -> float:
        """Return the share of rasterization with so many vector operations more in each shader."""
        return raster_share(self.stages, self.quad, operations)

    def length_at(self, share: float) -> float:
        """Return how many vector operations more in each shader bring rasterization down to a share; 0 without any."""
        return shader_length_at(share, self.stages, self.quad)


def breakdown_of(
    frame: Frame, *, tile: int = 64, config: CoreConfig | None = None, vertices: int = 0, longer: int = 40
) -> Breakdown:
    """Run rasterizer and back end of a frame, the latter twice: as it is, and with ``longer`` operations a shader.

    ``vertices`` are the cycles of the front end before the rasterizer, where they are known, and of planes, which are
    the host's here: how shares move with the shader is asked, not what a frame takes. Operations are carried out
    for quads of which something is seen; so one of them costs less than a cycle for each quad that there is.
    """
    raster, quads = 0, []
    for draw in frame.draws:
        found = rasterize(draw.triangles, frame.width, frame.height, tile=tile, samples=frame.samples, config=config)
        raster += int(found.set_up.cycles.sum() + found.descent.cycles.sum())
        quads.append(found.quads())
    count = sum(map(len, quads))
    short, long = (render_back_end(frame, quads, tile, config, length=length).stages for length in (0, longer))
    cycles = {"vertices": vertices, "raster": raster}
    cycles |= {stage.value: int(spent.sum()) for stage, spent in short.items()}
    back = [sum(int(spent.sum()) for spent in each.values()) / max(count, 1) for each in (short, long)]
    quad = QuadCost.through((0, back[0]), (longer, back[1]))
    return Breakdown(
        {stage: spent for stage, spent in cycles.items() if spent}, StageCycles(raster, vertices, count), quad
    )
