"""Watching a run: events, the bus that hands them on, and those who listen."""

from pixelflow.simd.observe.bus import Bus, Listener
from pixelflow.simd.observe.events import (
    Accessed,
    Blocked,
    Carried,
    EnablesChanged,
    Event,
    Executed,
    PathUsed,
    Progressed,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    Signalled,
    StageBegan,
    Taken,
    Waited,
)
from pixelflow.simd.observe.views import AccountView, ProgramView, RunView, StreamView

__all__ = [
    "Accessed",
    "AccountView",
    "Blocked",
    "Bus",
    "Carried",
    "EnablesChanged",
    "Event",
    "Executed",
    "Listener",
    "PathUsed",
    "ProgramView",
    "Progressed",
    "RoutineEntered",
    "RoutineLeft",
    "RunBegan",
    "RunEnded",
    "RunView",
    "Signalled",
    "StageBegan",
    "StreamView",
    "Taken",
    "Waited",
]
