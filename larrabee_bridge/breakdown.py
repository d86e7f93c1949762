"""Where the cycles of a frame go, measured: rasterizer and back end run, and the length of the shader is varied (5.4).

Section numbers are those of Seiler et al. 2008. Cycles are those of threads, each alone on a core, in both halves, so
that their shares can be compared; what threads of one core win from each other is in neither.
"""

from __future__ import annotations

from larrabee_bridge.backend.render import render_back_end
from larrabee_bridge.core import CoreConfig
from larrabee_bridge.rasterizer import rasterize
from larrabee_bridge.stages import QuadCost, StageCycles, raster_share, shader_length_at, shares
from pixelflow.simd.drawing import Frame
from pixelflow.simd.records import record

__all__ = ["Breakdown", "breakdown_of"]


@record
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

    ``vertices`` are the cycles of the front end before the rasterizer, where they are known. Operations are carried out
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
