"""PixelFlow draws: triangles become instructions for the EMCs, region by region (thesis 2.2.2)."""

from tessellation.rendering.composition import Composed, draw_on_nodes, merge, shares
from tessellation.rendering.instructions import COPY_STAGE, REGION_HEIGHT, REGION_WIDTH, SENT_BYTES, Region, regions
from tessellation.rendering.network import NetworkTime, RecordWork, Roles, SampleWork, ShadingWork, run_network
from tessellation.rendering.projection import (
    Projected,
    Projection,
    ProjectionDifference,
    ProjectionStage,
    project_samples,
)
from tessellation.rendering.renderer import (
    NodeRuns,
    RegionRun,
    Rendering,
    plain_triangles,
    render,
    require_plain,
    require_region,
)

__all__ = [
    "COPY_STAGE",
    "REGION_HEIGHT",
    "REGION_WIDTH",
    "SENT_BYTES",
    "Composed",
    "NetworkTime",
    "NodeRuns",
    "Projected",
    "Projection",
    "ProjectionDifference",
    "ProjectionStage",
    "RecordWork",
    "Region",
    "RegionRun",
    "Rendering",
    "Roles",
    "SampleWork",
    "ShadingWork",
    "draw_on_nodes",
    "merge",
    "plain_triangles",
    "project_samples",
    "regions",
    "render",
    "require_plain",
    "require_region",
    "run_network",
    "shares",
]
