"""Dashboard: one frame for live and still pictures of boxes and queues, and what frames of every machine share."""

from pixelflow.simd.dashboard.drawing import FrameDrawing
from pixelflow.simd.dashboard.frame import pipeline_drawing, pipeline_frame, pipeline_text
from pixelflow.simd.dashboard.history import History
from pixelflow.simd.dashboard.over_time import BusyTrack, Utilisation
from pixelflow.simd.dashboard.state import (
    BoxState,
    ByteTraffic,
    CacheHits,
    PhaseCycles,
    PipelineState,
    QueueFill,
    WireTraffic,
)
from pixelflow.simd.dashboard.watched import WatchedRun

__all__ = [
    "BoxState",
    "BusyTrack",
    "ByteTraffic",
    "CacheHits",
    "FrameDrawing",
    "History",
    "PhaseCycles",
    "PipelineState",
    "QueueFill",
    "Utilisation",
    "WatchedRun",
    "WireTraffic",
    "pipeline_drawing",
    "pipeline_frame",
    "pipeline_text",
]
