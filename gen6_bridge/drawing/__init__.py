"""Neither meaning nor time: pictures whose pixels are shaded by threads, and what these took."""

from gen6_bridge.drawing.draw import draw_on_gen6

__all__ = ["draw_on_gen6"]
