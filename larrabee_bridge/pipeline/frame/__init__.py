"""Frame (neither): a whole picture from rasterizer to resolved tiles, and where its cycles go."""

from larrabee_bridge.pipeline.frame.breakdown import Breakdown, breakdown_of
from larrabee_bridge.pipeline.frame.drawing import draw_on_larrabee, side_of, work_of
from larrabee_bridge.pipeline.frame.renderer import PRIMSET, LarrabeeRun, render_on_larrabee

__all__ = [
    "PRIMSET",
    "Breakdown",
    "LarrabeeRun",
    "breakdown_of",
    "draw_on_larrabee",
    "render_on_larrabee",
    "side_of",
    "work_of",
]
