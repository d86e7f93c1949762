"""PixelFlow draws: triangles become instructions for the EMCs, region by region (thesis 2.2.2)."""

from tessellation.rendering.composition import compose, shares
from tessellation.rendering.models import MESH_SUFFIXES, Model, read_model
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region, regions
from tessellation.rendering.renderer import RegionRun, Rendering, render
from tessellation.rendering.scene import lit_triangles

__all__ = [
    "MESH_SUFFIXES",
    "REGION_HEIGHT",
    "REGION_WIDTH",
    "Model",
    "Region",
    "RegionRun",
    "Rendering",
    "compose",
    "lit_triangles",
    "read_model",
    "regions",
    "render",
    "shares",
]
