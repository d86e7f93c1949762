"""PixelFlow draws: triangles become instructions for the EMCs, region by region (thesis 2.2.2)."""

from tessellation.picture.camera import Standpoint
from tessellation.picture.lit import lit_corners, lit_triangles
from tessellation.picture.models import MESH_SUFFIXES, Model, read_model
from tessellation.rendering.composition import compose, shares
from tessellation.rendering.composition_time import (
    CompositionTime,
    RegionWork,
    composition_time,
    works_of,
)
from tessellation.rendering.instructions import COPY_STAGE, SENT_BYTES
from tessellation.rendering.plain import plain_triangles
from tessellation.rendering.projected import Difference, Projected, project_samples
from tessellation.rendering.projection import Projection, ProjectionStage
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region, regions
from tessellation.rendering.renderer import RegionRun, Rendering, render, require_region

__all__ = [
    "COPY_STAGE",
    "MESH_SUFFIXES",
    "REGION_HEIGHT",
    "REGION_WIDTH",
    "SENT_BYTES",
    "CompositionTime",
    "Difference",
    "Model",
    "Projected",
    "Projection",
    "ProjectionStage",
    "Region",
    "RegionRun",
    "RegionWork",
    "Rendering",
    "Standpoint",
    "compose",
    "composition_time",
    "lit_corners",
    "lit_triangles",
    "plain_triangles",
    "project_samples",
    "read_model",
    "regions",
    "render",
    "require_region",
    "shares",
    "works_of",
]
