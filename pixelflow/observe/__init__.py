"""Watching a node: the events of its runs, and those who subscribe to them."""

from pixelflow.observe.events import Accessed, Blocked, EnablesChanged, PathUsed, Signalled, Taken
from pixelflow.observe.views import NodeAccountView, NodeRunView, StreamView
from pixelflow.simd.observe import (
    Bus,
    Carried,
    Event,
    Executed,
    ProgramView,
    Progressed,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    StageBegan,
    Subscriber,
    Waited,
)

__all__ = [
    "Accessed",
    "Blocked",
    "Bus",
    "Carried",
    "EnablesChanged",
    "Event",
    "Executed",
    "NodeAccountView",
    "NodeRunView",
    "PathUsed",
    "ProgramView",
    "Progressed",
    "RoutineEntered",
    "RoutineLeft",
    "RunBegan",
    "RunEnded",
    "Signalled",
    "StageBegan",
    "StreamView",
    "Subscriber",
    "Taken",
    "Waited",
]
