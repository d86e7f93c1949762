"""Frames of the drawing that all machines share, as scenes of ATTILA, and their account."""

from attila_bridge.drawing.convert import scene_of_frame
from attila_bridge.drawing.draw import draw_on_attila

__all__ = ["draw_on_attila", "scene_of_frame"]
