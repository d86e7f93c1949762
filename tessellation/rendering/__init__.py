"""PixelFlow draws: triangles become instructions for the EMCs, region by region (thesis 2.2.2)."""

from tessellation.rendering.composition_time import CompositionTime, RegionWork, composition_time
from tessellation.rendering.instructions import COPY_STAGE, SENT_BYTES
from tessellation.rendering.nodes import Composed, compose, render_frame, render_on_nodes, shares, works_of
from tessellation.rendering.projected import Projected, ProjectionDifference, project_samples
from tessellation.rendering.projection import Projection, ProjectionStage
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region, regions
from tessellation.rendering.renderer import RegionRun, Rendering, plain_triangles, render, require_plain, require_region

__all__ = [
    "COPY_STAGE",
    "REGION_HEIGHT",
    "REGION_WIDTH",
    "SENT_BYTES",
    "Composed",
    "CompositionTime",
    "Projected",
    "Projection",
    "ProjectionDifference",
    "ProjectionStage",
    "Region",
    "RegionRun",
    "RegionWork",
    "Rendering",
    "compose",
    "composition_time",
    "plain_triangles",
    "project_samples",
    "regions",
    "render",
    "render_frame",
    "render_on_nodes",
    "require_plain",
    "require_region",
    "shares",
    "works_of",
]
