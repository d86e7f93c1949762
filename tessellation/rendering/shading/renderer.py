"""A frame on one node, region after region: records, shading, and what both took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import DEPTH_FRACTION, Frame, Picture
from tessellation.rendering.regions import REGION_HEIGHT, Region
from tessellation.rendering.renderer import collect, require_region
from tessellation.rendering.shading.materials import ShadedFrame
from tessellation.rendering.shading.raster import record_program
from tessellation.rendering.shading.record import SampleRecord
from tessellation.rendering.shading.shade import shade_region
from tessellation.rendering.shading.textures import load_textures

__all__ = ["ShadedRegion", "ShadedRendering", "read_pixels", "render_shaded"]


@dataclass(frozen=True, slots=True, eq=False)
class ShadedRegion:
    """What one region took."""

    left: int
    top: int
    triangles: int
    runs: tuple[Run, ...]
    """Of records, and of shading where there is something to do."""


@dataclass(frozen=True, slots=True, eq=False)
class ShadedRendering:
    """A picture and the node's account of it."""

    picture: Picture
    regions: tuple[ShadedRegion, ...]
    loading: Run | None
    """Of textures, once for all pictures with them; None where there are none."""

    @property
    def runs(self) -> list[Run]:
        """All that was run for this picture."""
        return [run for each in self.regions for run in each.runs]

    @property
    def cycles(self) -> int:
        """EMC cycles of all regions, loading of textures left out."""
        return sum(run.cycles for run in self.runs)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        """Cycles by what they were spent on."""
        totals: Counter[str] = Counter()
        for run in self.runs:
            totals.update(run.by_stage)
        return dict(totals)

    @property
    def drawn(self) -> int:
        """Triangles drawn, once for each region that they reach into."""
        return sum(each.triangles for each in self.regions)


def render_shaded(
    frame: Frame,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> ShadedRendering:
    """Draw a frame of opaque draws on a simulated node; arguments are those of `tessellation.rendering.render`.

    Raises InputError for what `require_deferred` refuses, and for a node without a PE for each pixel of a region.
    """
    require_region(config)
    shaded, node = ShadedFrame.of(frame, config), Node(config, engine)
    picture = Picture.empty(frame.width, frame.height)
    if watch is not None:
        watch(node)
    loading = load_textures(node, shaded.textures) if shaded.textures.textures else None
    done: list[ShadedRegion] = []
    for region in shaded.regions():
        if progress is not None and region.left == 0:
            progress(f"rows {region.top} to {min(region.top + REGION_HEIGHT, frame.height) - 1} of {frame.height}")
        runs = _region(node, shaded, region)
        collect(node, read_pixels(node, shaded.record), region, picture)
        done.append(ShadedRegion(region.left, region.top, len(region.triangles), runs))
    return ShadedRendering(picture, tuple(done), loading)


def _region(node: Node, shaded: ShadedFrame, region: Region) -> tuple[Run, ...]:
    records = node.run(record_program(shaded, region))
    shading = shade_region(node, shaded, shaded.present(region.triangles.tolist()))
    return (records,) if shading is None else (records, shading)


def read_pixels(node: Node, record: SampleRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return depths, int64[lane], and colours, uint8[lane, rgb], of records that were shaded."""
    depths = (node.read_word(record.depth.offset, 4) >> np.uint64(DEPTH_FRACTION)).astype(np.int64)
    return depths, np.stack([node.read_memory(place.offset)[0] for place in record.finished], axis=-1)
