"""Watching: the events of a run, the bus that hands them to subscribers, statistics as a mechanism."""

from pixelflow.simd.observe.bus import Bus, Subscriber
from pixelflow.simd.observe.events import (
    Carried,
    Event,
    Executed,
    Progressed,
    QueueFilled,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    StageBegan,
    Waited,
)
from pixelflow.simd.observe.views import AccountView, ProgramView, RunView

__all__ = [
    "AccountView",
    "Bus",
    "Carried",
    "Event",
    "Executed",
    "ProgramView",
    "Progressed",
    "QueueFilled",
    "RoutineEntered",
    "RoutineLeft",
    "RunBegan",
    "RunEnded",
    "RunView",
    "StageBegan",
    "Subscriber",
    "Waited",
]
