"""Meaning: threads that execute programs, and the functions that answer their messages."""

from gen6_bridge.unit.execution_unit import (
    GATES,
    LONGEST,
    ChannelCounts,
    ExecutionUnit,
    StretchSubscriber,
    Subscriber,
    dispatched,
    thread_shape,
)
from gen6_bridge.unit.messages import BlockMemory, Request, RunFunctions, SharedFunctions

__all__ = [
    "GATES",
    "LONGEST",
    "BlockMemory",
    "ChannelCounts",
    "ExecutionUnit",
    "Request",
    "RunFunctions",
    "SharedFunctions",
    "StretchSubscriber",
    "Subscriber",
    "dispatched",
    "thread_shape",
]
