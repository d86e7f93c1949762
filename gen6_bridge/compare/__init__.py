"""Comparison (watching): scenes of `tessellation` on Gen6, from their vertices on, and by the size of triangles."""

from gen6_bridge.compare.vertices import FromUnits, ShadeOffset, project_on_gen6

__all__ = ["FromUnits", "ShadeOffset", "project_on_gen6"]
