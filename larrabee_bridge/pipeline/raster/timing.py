"""What the rasterizer's bit scans are worth: the same triangles with them and without."""

from __future__ import annotations

from dataclasses import dataclass

from larrabee_bridge.pipeline.raster.rasterizer import Rasterized, rasterize
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.drawing import ScreenTriangles

__all__ = ["Ablation", "ablation"]


@dataclass(frozen=True, slots=True, eq=False)
class Ablation:
    """The same triangles with the scalar bit scan and without it, where a loop looks at one bit after the other."""

    instruction: Rasterized
    loop: Rasterized

    @property
    def extra(self) -> float:
        """Cycles of the descent that are added without the bit scan, as a share of those with it."""
        with_scan, without = (int(each.descent.cycles.sum()) for each in (self.instruction, self.loop))
        return without / with_scan - 1 if with_scan else 0.0


def ablation(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    *,
    tile: int = 64,
    samples: int = 1,
    config: CoreConfig | None = None,
) -> Ablation:
    """Rasterize triangles with and without the bit scan (Abrash 2009: scans and their like are worth about 10 %)."""
    first = rasterize(triangles, width, height, tile=tile, samples=samples, config=config)
    other = rasterize(triangles, width, height, tile=tile, samples=samples, config=config, bins=first.bins, scan="loop")
    return Ablation(first, other)
