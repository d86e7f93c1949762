"""Neither meaning nor time: pictures whose vertices and pixels are shaded by threads, and what these took."""

from gen6_bridge.drawing.draw import draw_on_gen6
from gen6_bridge.drawing.shaders import ShadedVertices, VertexConstants, on_the_screen, shade_vertices

__all__ = ["ShadedVertices", "VertexConstants", "draw_on_gen6", "on_the_screen", "shade_vertices"]
