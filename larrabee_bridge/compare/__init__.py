"""The same scene, and the same tessellation, on both machines, side by side."""

from larrabee_bridge.compare.bezier import BezierComparison, tessellate_on_both
from larrabee_bridge.compare.larrabee_side import draw_on_larrabee, side_of, work_of
from larrabee_bridge.compare.patches import mesh_on_larrabee
from larrabee_bridge.compare.pixelflow_side import draw_on_pixelflow
from larrabee_bridge.compare.sides import Comparison, DrawnFrame
from larrabee_bridge.compare.vertices import FromVertices, Offset, project_on_larrabee

__all__ = [
    "BezierComparison",
    "Comparison",
    "DrawnFrame",
    "FromVertices",
    "Offset",
    "draw_on_larrabee",
    "draw_on_pixelflow",
    "mesh_on_larrabee",
    "project_on_larrabee",
    "side_of",
    "tessellate_on_both",
    "work_of",
]
