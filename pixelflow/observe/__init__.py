"""Watching a node: the events of its runs, and those who subscribe to them."""

from pixelflow.observe.events import Accessed, Blocked, EnablesChanged, PathUsed, Signalled, Taken
from pixelflow.observe.views import AccountView, RunView, StreamView
from pixelflow.simd.observe import (
    Bus,
    Carried,
    Event,
    Executed,
    Listener,
    ProgramView,
    Progressed,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    StageBegan,
    Waited,
)

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
