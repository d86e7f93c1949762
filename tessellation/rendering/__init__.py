"""PixelFlow draws: triangles become instructions for the EMCs, region by region (thesis 2.2.2)."""

from tessellation.rendering.composition import NetworkTime, RecordWork, Roles, SampleWork, ShadingWork, run_network
from tessellation.rendering.composition.drawing import Composed, draw_on_nodes
from tessellation.rendering.composition.merging import merge, shares
from tessellation.rendering.instructions import COPY_STAGE, SENT_BYTES
from tessellation.rendering.projected import Projected, ProjectionDifference, project_samples
from tessellation.rendering.projection import Projection, ProjectionStage
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region, regions
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
