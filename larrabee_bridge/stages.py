"""Stages: how a core's cycles divide among rasterization, shader and the rest, and what that takes (5.4, figure 13).

Section numbers are those of Seiler et al. 2008. Cycles are given, by programs that ran; this is the arithmetic on them.
"""

from __future__ import annotations

from collections.abc import Mapping

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.records import record

__all__ = ["QuadCost", "StageCycles", "raster_share", "shader_length_at", "shares"]


@record
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


@record
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
