"""Comparison (watching): one tessellation on both machines; scenes and patches of `tessellation` on Larrabee."""

from larrabee_bridge.compare.bezier import BezierComparison, mesh_on_larrabee, tessellate_on_both
from larrabee_bridge.compare.vertices import FromVertices, project_on_larrabee

__all__ = [
    "BezierComparison",
    "FromVertices",
    "mesh_on_larrabee",
    "project_on_larrabee",
    "tessellate_on_both",
]
