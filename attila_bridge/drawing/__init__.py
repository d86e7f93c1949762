"""Neither meaning nor time: scenes drawn and timed, with their account, and frames of all machines as scenes."""

from attila_bridge.drawing.convert import scene_of_frame
from attila_bridge.drawing.draw import draw_on_attila

__all__ = ["draw_on_attila", "scene_of_frame"]
