"""The dashboard: one frame, drawn from plain values, for a run that goes on and for one that stands still."""

from pixelflow.observe.dashboard.frame import drawing_of, frame, text_frame
from pixelflow.observe.dashboard.snapshot import Facts, Look, SemaphoreUse, snapshot
from pixelflow.observe.dashboard.state import DashboardState
from pixelflow.observe.dashboard.watch import Watch

__all__ = ["DashboardState", "Facts", "Look", "SemaphoreUse", "Watch", "drawing_of", "frame", "snapshot", "text_frame"]
